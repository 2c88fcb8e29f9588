use expect_test::expect;

use crate::support::{COUNTER, Folder};

#[test]
fn dot_is_printed() {
    let ran =
        Folder::with("counter.sts", COUNTER).run(&["graph", "--format", "dot", "counter.sts"]);
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
    for (name, begins) in
        [("g.svg", "<svg "), ("g.dot", "digraph "), ("g.gv", "digraph "), ("g", "<svg ")]
    {
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
    let nodes: String =
        (0..4000).map(|i| format!("node N{i} {{ go -> N{} }}\n", (i + 1) % 4000)).collect();
    let folder = Folder::with("big.sts", format!("spec Big\nstart -> N0 {{ }}\n{nodes}"));
    let ran = folder.run(&["graph", "big.sts"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("too large to be drawn") && ran.err.contains("--format dot"),
        "{}",
        ran.err
    );
    let ran = folder.run(&["graph", "big.sts", "--format", "dot"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 3 + 4000 + 2 + 4000 + 1));
}

#[test]
fn labels_are_the_text_of_the_source() {
    let model = "spec S\nconst MAX: int = 5\ndefine free = MAX - x\nvar x: int 0..MAX\n\
                 start -> A { x == 0 }\nnode A {\n  add(by: int 1..MAX) when by <= free { x := x + by }\n  \
                 over -> B when x >= MAX - 1\n}\nfinal node B\n";
    let ran = Folder::with("s.sts", model).run(&["graph", "--format", "dot", "s.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    ran.prints(&[
        "n0 -> n0 [label=\"add(by: int 1..MAX)\\lwhen by <= free\\lx := x + by\\l\"];",
        "n0 -> n1 [label=\"over\\lwhen x >= MAX - 1\\l\"];",
    ]);
}

const PAIR: &str = "\
spec Giver
var has: int
start -> G { has == 5 }
node G {
  give -> Empty when has == 1 { has := has - 1 }
  rest
}
final node Empty

spec Taker
var got: int
start -> T { got == 0 }
node T { take when got < 9 { got := got + 1 } }

system Pair = g: Giver || t: Taker || u: Taker sync transfer(g.give, t.take)
";

#[test]
fn a_composition_has_a_diagram_for_each_instance() {
    let folder = Folder::with("pair.sts", PAIR);
    let ran = folder.run(&["graph", "--format", "dot", "pair.sts"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        digraph graphs {
          node [shape=box, style=rounded, fontname=monospace, fontsize=11];
          edge [fontname=monospace, fontsize=10];
          subgraph cluster_0 {
          label="Pair, instance g";
          g0_n0 [label="G"];
          g0_n1 [label="Empty", peripheries=2];
          g0_s0 [shape=point, width=0.12, label=""];
          g0_s0 -> g0_n0 [label="has == 5"];
          g0_n0 -> g0_n0 [label="rest"];
          g0_n0 -> g0_n1 [label="give (in transfer)\lwhen has == 1\lhas := has - 1\l"];
          }
          subgraph cluster_1 {
          label="Pair, instance t";
          g1_n0 [label="T"];
          g1_s0 [shape=point, width=0.12, label=""];
          g1_s0 -> g1_n0 [label="got == 0"];
          g1_n0 -> g1_n0 [label="take (in transfer)\lwhen got < 9\lgot := got + 1\l"];
          }
          subgraph cluster_2 {
          label="Pair, instance u";
          g2_n0 [label="T"];
          g2_s0 [shape=point, width=0.12, label=""];
          g2_s0 -> g2_n0 [label="got == 0"];
          g2_n0 -> g2_n0 [label="take\lwhen got < 9\lgot := got + 1\l"];
          }
        }
    "#]]
    .assert_eq(&ran.out);
    let svg = folder.run(&["graph", "pair.sts"]).out;
    assert_eq!(svg.matches("instance ").count(), 3, "{svg}");
}

#[test]
fn a_lustre_file_has_a_call_graph() {
    let model = "node inner(x: int) returns (y: int);\nlet y = x + 1; tel\n\
                 node middle(x: int) returns (y: int);\nlet y = inner(x) + inner(x + 1); tel\n\
                 node top(x: int) returns (y: int);\nlet y = middle(x) + inner(x); tel\n";
    let ran = Folder::with("m.lus", model).run(&["graph", "--format", "dot", "m.lus"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        digraph "m.lus" {
          node [shape=box, style=rounded, fontname=monospace, fontsize=11];
          edge [fontname=monospace, fontsize=10];
          n0 [label="inner"];
          n1 [label="middle"];
          n2 [label="top\lroot\l"];
          n1 -> n0 [label="2 calls"];
          n2 -> n1 [label=""];
          n2 -> n0 [label=""];
        }
    "#]]
    .assert_eq(&ran.out);
}

#[test]
fn formats_that_are_not_written_are_refused() {
    let folder = Folder::with("counter.sts", COUNTER);
    for name in ["g.pdf", "g.png", "g.PNG"] {
        let ran = folder.run(&["graph", "counter.sts", "-o", name]);
        assert_eq!(ran.code, 2, "{name}");
        ran.complains(&["graphs are written as .svg, .dot or .gv", "Graphviz"]);
    }
    assert_eq!(folder.names(), ["counter.sts"]);
    // A format that is named counts, whatever the file is called.
    assert_eq!(folder.run(&["graph", "counter.sts", "--format", "dot", "-o", "g.txt"]).code, 0);
}

/// What is drawn reaches the right margin: no part of the picture is blank.
#[test]
fn a_picture_is_as_wide_as_what_is_drawn() {
    let loan = include_str!("../../../../examples/banking/non_interest_loan.sts");
    let svg = Folder::with("loan.sts", loan).run(&["graph", "loan.sts"]).out;
    let number = |text: &str| text.split('"').next().and_then(|n| n.parse::<f64>().ok());
    let width = svg.split("width=\"").nth(1).and_then(number).unwrap();
    assert!(width < 700.0, "{width}: {svg}");
}

/// An element of a script is no formula of its text: its label is the formula.
#[test]
fn labels_of_scripts_are_formulas() {
    let robot = include_str!("../../../../examples/script/robot.script");
    let ran =
        Folder::with("robot.script", robot).run(&["graph", "--format", "dot", "robot.script"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(
        !ran.out.contains("steps := 8") && ran.out.contains("steps := steps + 1"),
        "{}",
        ran.out
    );
}
