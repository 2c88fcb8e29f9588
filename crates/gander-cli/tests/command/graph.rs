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
          g0_n0 -> g0_n1 [label="give (in transfer)\lwhen has == 1\lhas := has - 1\l"];
          g0_n0 -> g0_n0 [label="rest"];
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
fn the_diagram_of_an_instance_is_that_of_its_specification() {
    let model = "spec Shop(limit: int)
var stock: int
start -> Open { stock == 3 }
node Open {
  call when stock > 1 and limit > 0 { stock := stock - 1 }
  sell(n: int 1..9) when n <= stock { stock := stock - n }
}
spec Guest(shop: Shop)
var has: int
start -> Out { has == 0 }
node Out { wake -> In when has == 0 { has := 1 } }
node In {
  buy(n: int 1..3) when has < 5 { has := has + n }
  back -> Out when shop.stock > 12
}
system Town = shop: Shop(5) || guests: Guest[2](shop)
    sync bell(shop.call) to (guests.wake)
    sync sale(n) forall i (shop.sell, guests[i].buy)
always p: shop.stock <= 3
";
    let ran = Folder::with("town.sts", model).run(&["graph", "--format", "dot", "town.sts"]);
    ran.prints(&[
        r#"[label="call (in bell)\lwhen stock > 1\l and limit > 0\lstock := stock - 1\l"]"#,
        r#"[label="sell(n: int 1..9) (in sale)\lwhen n <= stock\lstock := stock - n\l"]"#,
        r#"[label="wake (in bell)\lwhen has == 0\lhas := 1\l"]"#,
        r#"[label="buy(n: int 1..3) (in sale)\lwhen has < 5\lhas := has + n\l"]"#,
        r#"[label="back\lwhen shop.stock > 12\l"]"#,
    ]);
    assert_eq!(ran.out.matches("wake (in bell)").count(), 2, "{}", ran.out);
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
        ran.complains(&["graphs are written as .svg, .dot, .gv or .json", "Graphviz"]);
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

/// Labels of scripts are rules as they are written, without what ranges and `MAXSTEPS` add.
#[test]
fn labels_of_scripts_are_their_rules() {
    let robot = include_str!("../../../../examples/script/robot.script");
    let ran =
        Folder::with("robot.script", robot).run(&["graph", "--format", "dot", "robot.script"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!ran.out.contains("steps"), "{}", ran.out);
    let model = "\
MAXSTEPS: 40
VARS:
  int c : 0..256;
  int z;
  proc P = adder;
  proc Q = adder;
INIT:
  c = 1;
  z >= 0;
PROGRAM:
  P >: Q
REACH: c == 27

PROCESS adder:
  VARS:
    int t : 0..256;
    state Load, Add;
  INIT:
    t = 0;
    state = Load;
  TRANS:
    Load -> Add { t = c };
    ? c < 100 : Add -> Load { c, z = t + c, z + 1 };
";
    let ran = Folder::with("m.script", model).run(&["graph", "--format", "dot", "m.script"]);
    ran.prints(&[
        r#"[label="c = 1\lz >= 0\lP.t == 0\lQ.t == 0\l"]"#,
        r#"[label="P.rule1\lt = c\l"]"#,
        r#"[label="P.rule2\lwhen c < 100\lc, z = t + c, z + 1\l"]"#,
        r#"[label="Q.rule1\lwhen no process before it can move\lt = c\l"]"#,
    ]);
    assert!(!ran.out.contains("256") && !ran.out.contains("40"), "{}", ran.out);
}

/// The names in it are those of evidence, so a program can follow a run.
#[test]
fn graphs_are_written_as_json_with_the_names_of_evidence() {
    let folder = Folder::with("counter.sts", COUNTER);
    let json: serde_json::Value =
        serde_json::from_str(&folder.run(&["graph", "--format", "json", "counter.sts"]).out)
            .unwrap();
    assert_eq!(json["schema"], "gander-graph/1");
    let graph = &json["graphs"][0];
    let names: Vec<&str> =
        graph["nodes"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Low", "High"]);
    let edges = graph["edges"].as_array().unwrap();
    let rise = edges.iter().find(|e| e["transitions"] == serde_json::json!(["rise"])).unwrap();
    assert_eq!((&rise["source"], &rise["target"]), (&0.into(), &1.into()));
    assert_eq!(rise["guard"], serde_json::json!(["x == 3"]));
    assert_eq!(graph["starts"][0]["target"], 0);
    // The ending of the output says the format, too.
    assert_eq!(folder.run(&["graph", "counter.sts", "-o", "g.json"]).code, 0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&folder.read("g.json")).unwrap(), json);
    // A call graph has no transitions.
    folder.write("n.lus", "node n(x: int) returns (y: int);\nlet y = x; tel\n");
    let calls = folder.run(&["graph", "--format", "json", "n.lus"]).out;
    assert!(calls.contains("\"name\":\"n\""), "{calls}");
}
