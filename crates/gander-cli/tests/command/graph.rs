use expect_test::expect;

use crate::support::{COUNTER, Folder};

#[test]
fn dot() {
    let ran = Folder::with("counter.sts", COUNTER).run(&["graph", "--format", "dot", "counter.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        digraph "Counter" {
          node [shape=box, style=rounded, fontname=monospace, fontsize=11];
          edge [fontname=monospace, fontsize=10];
          n0 [label="Low"];
          n1 [label="High"];
          s0 [shape=point, width=0.12, label=""];
          s0 -> n0 [label="x == 0\lnot seen\l"];
          n0 -> n0 [label="up\lwhen x < 3\lx := x + 1\l"];
          n0 -> n1 [label="rise\lwhen x == 3\lseen := true\l"];
          n1 -> n0 [label="down\lx := 0\l"];
        }
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn the_name_of_the_output_says_the_format() {
    let folder = Folder::with("counter.sts", COUNTER);
    for (name, begins) in [("g.svg", "<svg "), ("g.dot", "digraph "), ("g.gv", "digraph "), ("g", "<svg ")] {
        let ran = folder.run(&["graph", "counter.sts", "-o", name]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
        assert!(folder.read(name).starts_with(begins), "{name}");
    }
    let ran = folder.run(&["graph", "counter.sts", "-o", "none/g.svg"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("none/g.svg cannot be written"), "{}", ran.err);
}

#[test]
fn a_graph_too_large_to_draw_is_still_text() {
    let nodes: String = (0..4000).map(|i| format!("node N{i} {{ go -> N{} }}\n", (i + 1) % 4000)).collect();
    let folder = Folder::with("big.sts", format!("spec Big\nstart -> N0 {{ }}\n{nodes}"));
    let ran = folder.run(&["graph", "big.sts"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("too large to be drawn") && ran.err.contains("--format dot"), "{}", ran.err);
    let ran = folder.run(&["graph", "big.sts", "--format", "dot"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 3 + 4000 + 2 + 4000 + 1));
}
