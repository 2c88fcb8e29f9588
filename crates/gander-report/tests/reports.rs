//! What people and programs read, as snapshots.

mod account;

use account::{account, modest, two_deposits};
use expect_test::expect;
use gander_report::describe::{Answered, claim_view, graph_view, trace_view};
use gander_report::*;
use gander_system::{Evidence, Obstacle, Verdict};
use serde_json::json;

fn claim(name: &str, origin: Origin, verdict: VerdictView) -> ClaimView {
    ClaimView {
        name: name.to_string(),
        kind: "always".to_string(),
        text: format!("always {name} > 0"),
        origin,
        verdict,
        engine: Some("induction".to_string()),
        seconds: 0.01,
        shortest: None,
        abstracted: Vec::new(),
        because: Vec::new(),
        contradiction: Vec::new(),
        shown_in: None,
        within: None,
        claimed: Vec::new(),
        basis: None,
        invariant: None,
        induction: None,
        warnings: Vec::new(),
    }
}

fn by(shown: ShownEvidence) -> EvidenceView {
    EvidenceView { shown, saved: json!({ "kind": "test" }) }
}

fn proof(k: u32) -> EvidenceView {
    by(ShownEvidence::Invariant {
        k,
        loop_free: k > 2,
        by_node: vec![("Open".into(), "balance >= 0".into())],
    })
}

fn unknown() -> VerdictView {
    VerdictView::Unknown {
        explored_through: Some(20),
        why: vec![
            ObstacleView {
                engine: "bmc".into(),
                reason: "the time limit of 5 s was reached".into(),
            },
            ObstacleView { engine: "induction".into(), reason: "no proof up to k = 12".into() },
        ],
    }
}

fn view() -> CheckView {
    let system = account();
    let c = modest(&system);
    let verdict = Verdict::Fails(Evidence::Run(two_deposits()));
    let warnings = vec!["the run cannot be extended".to_string()];
    let answered = Answered {
        claim: &c,
        verdict: &verdict,
        engine: "bmc",
        seconds: 1.25,
        warnings: &warnings,
        shortest: Some(false),
        flow: None,
    };
    let mut claims = vec![
        claim("solvent", Origin::Written, VerdictView::Holds(proof(1))),
        claim("deep", Origin::Written, VerdictView::Holds(proof(3))),
        claim_view(&system, answered, json!({ "kind": "run" })),
        claim("open question", Origin::Written, unknown()),
        claim("never", Origin::Written, VerdictView::Fails(proof(1))),
        claim(
            "empty",
            Origin::Written,
            VerdictView::Fails(by(ShownEvidence::Refutation {
                why: "no state satisfies it".into(),
            })),
        ),
        claim("finite", Origin::Written, VerdictView::Holds(by(ShownEvidence::Diameter { k: 1 }))),
    ];
    let structural = |n: usize| {
        claim(&format!("can enable {n}"), Origin::Structural, VerdictView::Holds(proof(1)))
    };
    claims.extend((0..5).map(structural));
    let trace = trace_view(&system, &two_deposits(), None);
    claims.push(claim(
        "seen",
        Origin::Written,
        VerdictView::Holds(by(ShownEvidence::Trace(trace))),
    ));
    CheckView {
        file: "account.sts".into(),
        claims,
        diagnostics: Vec::new(),
        internal_errors: Vec::new(),
        schedules: Vec::new(),
        tools: Vec::new(),
        disagreements: Vec::new(),
        stopped: None,
        nothing_claimed: false,
        seconds: 2.0,
    }
}

#[test]
fn text_has_a_line_for_each_claim() {
    expect![[r#"
        holds    solvent        inductive invariant, induction
        holds    deep           3-inductive invariant over loop-free paths, induction
        fails    modest         after 3 steps (a shorter run may exist), bmc, 1.2 s
                 always balance < 1000
                 warning: the run cannot be extended
                 0  start                      Open  balance = 50, note = ""
                 1  deposit(amount = 1/3)      Open  balance = 151/3
                 3  deposit(amount = 475) x 2  Open  balance = 3001/3
        unknown  open question
                 always open question > 0
                 not decided by any run of up to 20 steps
                 bmc: the time limit of 5 s was reached
                 induction: no proof up to k = 12
        fails    never          inductive invariant, induction
                 always never > 0
                 no run does it, because every reachable state satisfies
                   at Open  balance >= 0
        fails    empty          no solution, induction
                 always empty > 0
                 no state satisfies it
        holds    finite         all runs seen, at most 1 step without a loop, induction
        holds    seen           in 3 steps, induction
                 0  start                      Open  balance = 50, note = ""
                 1  deposit(amount = 1/3)      Open  balance = 151/3
                 3  deposit(amount = 475) x 2  Open  balance = 3001/3
        holds    5 structural checks: 5 nodes have no sinkhole
        9 hold, 3 fail, 1 unknown
    "#]]
    .assert_eq(&check_text(&view(), CheckText { files: 1, ..CheckText::default() }));
}

#[test]
fn quiet_text_has_only_what_does_not_hold() {
    let quiet = CheckText { detail: Detail::Quiet, files: 1, ..CheckText::default() };
    expect![[r#"
        account.sts: fails modest
        account.sts: unknown open question
        account.sts: fails never
        account.sts: fails empty
    "#]]
    .assert_eq(&check_text(&view(), quiet));
}

#[test]
fn a_report_without_failures_has_one_line_for_each_claim() {
    let mut v = view();
    v.claims.retain(|c| c.verdict.word() == "holds" && c.name != "seen");
    expect![[r#"
        account.sts
        holds    solvent  inductive invariant, induction
        holds    deep     3-inductive invariant over loop-free paths, induction
        holds    finite   all runs seen, at most 1 step without a loop, induction
        holds    5 structural checks: 5 nodes have no sinkhole
    "#]]
    .assert_eq(&check_text(&v, CheckText { files: 2, ..CheckText::default() }));
}

#[test]
fn colour_is_only_added() {
    let plain = check_text(&view(), CheckText { files: 1, ..CheckText::default() });
    let coloured =
        check_text(&view(), CheckText { files: 1, paint: Paint::Colour, ..CheckText::default() });
    assert!(coloured.contains("\x1b[1;31mfails\x1b[0m"));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find('\x1b') {
        stripped.push_str(&rest[..at]);
        rest = rest[at..].split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn each_verdict_has_its_json_form() {
    let mut v = view();
    v.claims.truncate(4);
    v.claims.remove(1);
    v.stopped = Some("stopped by the user".into());
    let text = serde_json::to_string_pretty(&file_json(&v)).unwrap();
    expect![[r#"
        {
          "schema": "gander/1",
          "file": "account.sts",
          "results": [
            {
              "claim": "solvent",
              "kind": "always",
              "verdict": "holds",
              "engine": "induction",
              "seconds": 0.01,
              "length": null,
              "shortest": null,
              "explored_through": null,
              "why": null,
              "rests_on": null,
              "abstracted": [],
              "evidence": {
                "kind": "test"
              }
            },
            {
              "claim": "modest",
              "kind": "always",
              "verdict": "fails",
              "engine": "bmc",
              "seconds": 1.25,
              "length": 3,
              "shortest": false,
              "explored_through": null,
              "why": null,
              "rests_on": null,
              "abstracted": [],
              "evidence": {
                "kind": "run"
              }
            },
            {
              "claim": "open question",
              "kind": "always",
              "verdict": "unknown",
              "engine": "induction",
              "seconds": 0.01,
              "length": null,
              "shortest": null,
              "explored_through": 20,
              "why": [
                {
                  "engine": "bmc",
                  "reason": "the time limit of 5 s was reached"
                },
                {
                  "engine": "induction",
                  "reason": "no proof up to k = 12"
                }
              ],
              "rests_on": null,
              "abstracted": [],
              "evidence": null
            }
          ],
          "diagnostics": [
            {
              "code": "verdict",
              "severity": "warning",
              "message": "modest: the run cannot be extended",
              "file": null,
              "line": null,
              "column": null,
              "end_line": null,
              "end_column": null,
              "help": []
            },
            {
              "code": "stopped",
              "severity": "note",
              "message": "stopped by the user",
              "file": null,
              "line": null,
              "column": null,
              "end_line": null,
              "end_column": null,
              "help": []
            }
          ],
          "schedules": []
        }"#]]
    .assert_eq(&text);
}

#[test]
fn unknown_keeps_its_reasons() {
    let system = account();
    let c = modest(&system);
    let why = vec![Obstacle { engine: "bmc".into(), reason: "memory".into() }];
    let verdict = Verdict::Unknown { explored_through: None, why };
    let view = claim_view(
        &system,
        Answered {
            claim: &c,
            verdict: &verdict,
            engine: "",
            seconds: 0.0,
            warnings: &[],
            shortest: None,
            flow: None,
        },
        json!(null),
    );
    assert_eq!(view.engine, None);
    assert!(
        matches!(view.verdict, VerdictView::Unknown { explored_through: None, ref why } if why[0].reason == "memory")
    );
}

#[test]
fn exit_codes_follow_the_semantics() {
    assert_eq!(view().exit_code(), 1);
    let mut v = view();
    v.claims.retain(|c| c.verdict.word() != "fails");
    assert_eq!(v.exit_code(), 3);
    v.claims.retain(|c| c.verdict.word() == "holds");
    assert_eq!(v.exit_code(), 0);
    v.internal_errors.push("x".into());
    assert_eq!(v.exit_code(), 4);
    assert_eq!(worst_exit_code([0, 3, 1, 3]), 1);
    assert_eq!(worst_exit_code([1, 2]), 2);
    assert_eq!(worst_exit_code([2, 4, 0]), 4);
    assert_eq!(worst_exit_code([0, 3]), 3);
    assert_eq!(worst_exit_code([]), 0);
}

#[test]
fn a_graph_is_written_as_dot() {
    expect![[r#"
        digraph "Account <&>" {
          node [shape=box, style=rounded, fontname=monospace, fontsize=11];
          edge [fontname=monospace, fontsize=10];
          n0 [label="Open"];
          n1 [label="Frozen"];
          n2 [label="Closed", peripheries=2];
          s0 [shape=point, width=0.12, label=""];
          s0 -> n0 [label="balance == 50.0"];
          n0 -> n0 [label="deposit(amount: real)\lwhen 0.0 < amount\lbalance := balance + amount\l"];
          n0 -> n1 [label="freeze"];
          n1 -> n0 [label="unfreeze"];
          n0 -> n2 [label="close\lwhen balance == 0.0\lnote := \"<bye & \\\"thanks\\\">\"\l"];
          n1 -> n2 [label="close\lbalance' <= balance\l"];
        }
    "#]]
    .assert_eq(&to_dot(&graph_view(&account())));
}

#[test]
fn svg_is_well_formed_and_complete() {
    let svg = to_svg(&graph_view(&account())).unwrap();
    assert_eq!(svg, to_svg(&graph_view(&account())).unwrap());
    assert!(svg.contains("<title>Account &lt;&amp;&gt;</title>"));
    assert_eq!(svg.matches("class=\"node\"").count(), 3);
    assert_eq!(svg.matches("class=\"final\"").count(), 1);
    assert_eq!(svg.matches("class=\"dot\"").count(), 1);
    assert_eq!(svg.matches("class=\"edge\"").count(), 6);
    for text in [
        ">deposit(amount: real)<",
        ">when 0.0 &lt; amount<",
        ">balance := balance + amount<",
        "balance&apos; &lt;= balance",
    ] {
        assert!(
            svg.contains(text) || svg.contains(&text.replace("&apos;", "'")),
            "{text} in {svg}"
        );
    }
    assert_eq!(svg.matches('<').count(), svg.matches('>').count());
}
