use gander_term::{ArrayValue, Pool, Sort, TermId, Value as TermValue, parse_term};
use serde_json::{Value, json};

use super::*;
use crate::testing::{account, ints, named, step};
use crate::{
    Choice, Choices, ClaimKind, Leg, NodeFormulas, NodeId, NodeTerms, Rounds, Run, StartId, State,
    Step, System, Verdict, passes,
};

fn system() -> System {
    let mut m = account();
    m.always("balance >= 0");
    let (rich, frozen) = (m.state_goal("balance > 60"), m.state_goal("@node == @Node.Frozen"));
    m.claim("trip", ClaimKind::Reachable(vec![rich, frozen]));
    m.finish()
}

fn formulas(s: &System, texts: &[&str]) -> NodeFormulas {
    let mut pool = Pool::fork(&s.pool);
    let by_node = texts.iter().map(|t| parse_term(&mut pool, t).unwrap()).collect();
    NodeFormulas { pool: pool.freeze(), by_node }
}

fn run(s: &System) -> Run {
    let t = |name: &str| named(s, name);
    Run {
        start: StartId(0),
        first: State { node: NodeId(0), values: ints(&[50, 1, -7]) },
        legs: vec![
            step(t("Open.deposit"), &[10], &[60, 1, 7]),
            Leg::Repeat {
                times: 1999,
                body: vec![
                    Leg::Step(Step {
                        transition: t("Open.deposit"),
                        params: ints(&[1]),
                        next: None,
                    }),
                    Leg::Repeat { times: 2, body: vec![step(t("Open.freeze"), &[], &[0, 0, 0])] },
                ],
            },
        ]
        .into(),
    }
}

fn written(s: &System, claim: u32, verdict: &Verdict) -> Value {
    write_evidence(s, ClaimId(claim), verdict).unwrap()
}

/// Asserts that reading and writing a file gives the same file.
fn round_trip(s: &System, json: &Value) -> EvidenceFile {
    let text = serde_json::to_string(json).unwrap();
    let file = read_evidence_text(s, &text).unwrap();
    let verdict = match file.verdict {
        Decided::Holds => Verdict::Holds(file.evidence.clone()),
        Decided::Fails => Verdict::Fails(file.evidence.clone()),
    };
    assert_eq!(&write_evidence(s, file.claim, &verdict).unwrap(), json);
    file
}

#[test]
fn runs_round_trip() {
    let s = system();
    let json = written(&s, 0, &Verdict::Fails(Evidence::Run(run(&s))));
    assert_eq!(json["evidence"]["first"]["values"]["day"], "-7");
    assert_eq!(json["evidence"]["steps"][1]["repeat"], 1999);
    let file = round_trip(&s, &json);
    assert_eq!((file.claim, file.verdict), (ClaimId(0), Decided::Fails));
    let Evidence::Run(back) = file.evidence else { panic!("a run") };
    assert_eq!(back, run(&s));
}

#[test]
fn every_other_kind_of_evidence_round_trips() {
    let s = system();
    let i = || {
        formulas(
            &s,
            &["balance >= 0", "balance >= 0 and fee == 1", "exists k: int. balance == 2 * k"],
        )
    };
    let kinds = [
        Evidence::Invariant(i()),
        Evidence::KInductive { k: 3, invariant: i(), loop_free: true, no_restart: false },
        Evidence::Diameter { k: 7 },
        Evidence::ClosedSet { states: 5_000_000_000 },
        Evidence::Refutation,
        Evidence::Outside { trap: i(), proof: Box::new(Evidence::ClosedSet { states: 3 }) },
        Evidence::Outside {
            trap: i(),
            proof: Box::new(Evidence::Invariant(formulas(&s, &["true", "fee == 1", "false"]))),
        },
    ];
    for e in kinds {
        round_trip(&s, &written(&s, 0, &Verdict::Holds(e)));
    }
}

#[test]
fn evidence_of_a_chain_is_about_the_chain_system() {
    let s = system();
    let c = passes::chain(&s, ClaimId(1)).unwrap();
    let texts: Vec<&str> = (0..9).map(|i| if i < 3 { "balance <= 60" } else { "false" }).collect();
    let inner = Evidence::Invariant(formulas(&c.system, &texts));
    let json = written(&s, 1, &Verdict::Fails(Evidence::OfChain(Box::new(inner))));
    assert_eq!(json["evidence"]["evidence"]["formulas"]["Frozen/0"], "balance <= 60");
    let file = round_trip(&s, &json);
    assert!(matches!(file.evidence, Evidence::OfChain(_)));
    // The other claim is not a chain.
    let mut wrong = json.clone();
    wrong["claim"] = json!("always balance >= 0");
    assert_eq!(read_evidence(&s, &wrong).unwrap_err().path, "evidence.kind");
    let mut nested = json;
    nested["evidence"]["evidence"] =
        json!({ "kind": "chain", "evidence": { "kind": "refutation" } });
    assert_eq!(read_evidence(&s, &nested).unwrap_err().path, "evidence.evidence.kind");
}

/// `t(n+1) = t(n) + t(n)`: a tree of 2^n leaves.
fn doubled(pool: &mut Pool, x: TermId, n: usize) -> TermId {
    let mut t = x;
    for _ in 0..n {
        t = pool.add(t, t);
    }
    t
}

#[test]
fn shared_subterms_are_written_once() {
    let s = system();
    let mut pool = Pool::fork(&s.pool);
    let x = pool.variable("balance", Sort::Int);
    let t = doubled(&mut pool, x, 200);
    let zero = pool.int(0);
    let f = pool.le(zero, t);
    let g = pool.le(t, zero);
    let invariant = NodeFormulas { pool: pool.freeze(), by_node: vec![f, g, f].into() };
    let json = written(&s, 0, &Verdict::Holds(Evidence::Invariant(invariant)));
    assert!(serde_json::to_string(&json).unwrap().len() < 20_000);
    let file = round_trip(&s, &json);
    let Evidence::Invariant(back) = file.evidence else { panic!("an invariant") };
    let mut pool = Pool::fork(&back.pool);
    let x = pool.variable("balance", Sort::Int);
    let t = doubled(&mut pool, x, 200);
    let zero = pool.int(0);
    assert_eq!(back.by_node[0], pool.le(zero, t));
    assert_eq!(back.by_node[2], back.by_node[0]);
}

#[test]
fn bound_variables_stay_below_their_quantifier() {
    let s = system();
    let big = "balance + fee * 2 + k * k";
    let text = format!(
        "exists k: int. {big} > 1 and {big} < 9 and (exists j: int. j + j + j + j == balance)"
    );
    let more = "(exists j: int. j + j + j + j == balance) and fee + balance * 2 > 0";
    let json =
        written(&s, 0, &Verdict::Holds(Evidence::Invariant(formulas(&s, &[&text, more, more]))));
    for d in json["evidence"]["definitions"].as_array().unwrap() {
        let free_k = d["is"].as_str().unwrap().contains('k');
        assert!(!free_k, "{d}");
    }
    round_trip(&s, &json);
}

#[test]
fn sharing_under_a_quantifier_has_a_limit() {
    let s = system();
    let mut pool = Pool::fork(&s.pool);
    let k = pool.declare_bound("k", Sort::Int);
    let kv = pool.var(k);
    let t = doubled(&mut pool, kv, 80);
    let zero = pool.int(0);
    let body = pool.le(zero, t);
    let f = pool.forall(&[k], body);
    let invariant = NodeFormulas { pool: pool.freeze(), by_node: vec![f, f, f].into() };
    let error = write_evidence(&s, ClaimId(0), &Verdict::Holds(Evidence::Invariant(invariant)))
        .unwrap_err();
    assert!(error.message.contains("too large"));
}

#[test]
fn unknown_verdicts_have_no_file() {
    let s = system();
    let unknown = Verdict::Unknown { explored_through: None, why: Vec::new() };
    assert!(write_evidence(&s, ClaimId(0), &unknown).is_err());
}

/// The error of a file with one changed value.
fn error_of(json: &Value, pointer: &str, new: Value) -> EvidenceFileError {
    let mut changed = json.clone();
    *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = new;
    read_evidence(&system(), &changed).unwrap_err()
}

#[test]
fn errors_name_their_path() {
    let s = system();
    let json = written(&s, 0, &Verdict::Fails(Evidence::Run(run(&s))));
    let cases = [
        ("/schema", json!("gander-evidence/2"), "schema"),
        ("/system", json!("Loan"), "system"),
        ("/claim", json!("nothing"), "claim"),
        ("/verdict", json!("unknown"), "verdict"),
        ("/evidence", json!([]), "evidence"),
        ("/evidence/kind", json!("guess"), "evidence.kind"),
        ("/evidence/start", json!("begin"), "evidence.start"),
        ("/evidence/first/node", json!("Nowhere"), "evidence.first.node"),
        ("/evidence/first/values/balance", json!("1/2"), "evidence.first.values.balance"),
        ("/evidence/first/values/balance", json!(50), "evidence.first.values.balance"),
        ("/evidence/first/values", json!({ "balance": "50" }), "evidence.first.values.fee"),
        ("/evidence/steps/0/transition", json!("Open.steal"), "evidence.steps[0].transition"),
        ("/evidence/steps/0/params/amount", json!("true"), "evidence.steps[0].params.amount"),
        ("/evidence/steps/0/params", json!({}), "evidence.steps[0].params.amount"),
        ("/evidence/steps/0/next", json!(null), "evidence.steps[0].next"),
        ("/evidence/steps/1/repeat", json!(0), "evidence.steps[1].repeat"),
        ("/evidence/steps/1/repeat", json!(-3), "evidence.steps[1].repeat"),
        ("/evidence/steps/1/body/1/body", json!(7), "evidence.steps[1].body[1].body"),
    ];
    for (pointer, new, path) in cases {
        assert_eq!(error_of(&json, pointer, new).path, path, "{pointer}");
    }
    let mut extra = json.clone();
    extra["evidence"]["first"]["values"]["colour"] = json!("red");
    assert_eq!(read_evidence(&s, &extra).unwrap_err().path, "evidence.first.values.colour");
    let mut extra = json;
    extra["note"] = json!("hello");
    assert_eq!(read_evidence(&s, &extra).unwrap_err().path, "note");
}

#[test]
fn formulas_must_be_over_state_variables() {
    let s = system();
    let json = written(
        &s,
        0,
        &Verdict::Holds(Evidence::Invariant(formulas(&s, &["true", "true", "balance == 0"]))),
    );
    let cases = [
        ("balance' >= 0", "balance'"),
        ("`@node` == `@Node`.Open", "@node"),
        ("Open.deposit.amount > 0", "Open.deposit.amount"),
        ("balance + 1", "not a formula"),
        ("nothing > 1", "nothing"),
        ("balance >", ""),
        ("", ""),
    ];
    for (text, mentions) in cases {
        let error = error_of(&json, "/evidence/formulas/Open", json!(text));
        assert_eq!(error.path, "evidence.formulas.Open");
        assert!(error.message.contains(mentions), "{error}");
    }
    assert_eq!(
        error_of(&json, "/evidence/formulas", json!({ "Open": "true" })).path,
        "evidence.formulas.Frozen"
    );
    let mut clash = json.clone();
    clash["evidence"]["definitions"] = json!([{ "name": "fee", "is": "1" }]);
    assert_eq!(read_evidence(&s, &clash).unwrap_err().path, "evidence.definitions[0].name");
    clash["evidence"]["definitions"] =
        json!([{ "name": "part1", "is": "part2" }, { "name": "part2", "is": "1" }]);
    assert_eq!(read_evidence(&s, &clash).unwrap_err().path, "evidence.definitions[0].is");
}

#[test]
fn deep_nesting_is_an_error() {
    let s = system();
    let deep = |n: usize| {
        let steps = format!(
            "{}{}",
            r#"[{"repeat":2,"body":"#.repeat(n),
            "[]".to_string() + &"}]".repeat(n)
        );
        format!(
            r#"{{"schema":"gander-evidence/1","system":"Account","claim":"trip","verdict":"holds","evidence":
            {{"kind":"run","start":"start 0","first":{{"node":"Open","values":{{"balance":"1","fee":"1","day":"1"}}}},
            "steps":{steps}}}}}"#
        )
    };
    assert!(read_evidence_text(&s, &deep(MAX_REPEAT_DEPTH)).is_ok());
    let error = read_evidence_text(&s, &deep(MAX_REPEAT_DEPTH + 1)).unwrap_err();
    assert!(error.message.contains("nested"), "{error}");
    assert!(read_evidence_text(&s, &deep(100_000)).is_err());
    let mut body = Vec::new();
    for _ in 0..=MAX_REPEAT_DEPTH {
        body = vec![Leg::Repeat { times: 1, body }];
    }
    let nested = Run { legs: body.into(), ..run(&s) };
    assert!(write_evidence(&s, ClaimId(0), &Verdict::Fails(Evidence::Run(nested))).is_err());
}

#[test]
fn mutated_files_are_errors_or_well_formed() {
    let s = system();
    let invariant =
        formulas(&s, &["balance >= 0", "balance >= 0 or fee > 1", "forall k: int. k * k >= 0"]);
    let files = [
        written(&s, 0, &Verdict::Fails(Evidence::Run(run(&s)))),
        written(&s, 0, &Verdict::Holds(Evidence::Invariant(invariant))),
    ];
    let mut random = gander_runtime::Random::new(1);
    let (mut errors, mut fine) = (0, 0);
    for round in 0..4000 {
        let mut text = serde_json::to_string(&files[round % 2]).unwrap().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => text[at] = b"{}[]\",:0159-aeno `'()"[random.below(21)],
                1 => drop(text.remove(at)),
                2 => text.insert(at, b"{}[]\",:0159-aeno `'()"[random.below(21)]),
                _ => {
                    let end = (at + random.below(40)).min(text.len());
                    text.drain(at..end);
                }
            }
        }
        let Ok(text) = String::from_utf8(text) else { continue };
        match read_evidence_text(&s, &text) {
            Err(_) => errors += 1,
            Ok(file) => {
                fine += 1;
                evidence_json(&s, file.claim, &file.evidence).unwrap();
            }
        }
    }
    assert!(errors > 1000 && fine > 10, "{errors} errors, {fine} readable");
}

#[test]
fn values_of_every_sort_round_trip() {
    let mut m = crate::testing::Model::new("Sorts", &["Only"]);
    let colour = Sort::Enum(m.builder.pool.declare_enum("Colour", &["Red", "Deep Blue"]).unwrap());
    let wide = gander_term::Width::new(70).unwrap();
    let bits = [Sort::BitVec(gander_term::Width::W8), Sort::BitVec(wide)];
    let strings = m.builder.pool.array_sort(colour, Sort::String).unwrap();
    let rows = m.builder.pool.array_sort(Sort::Int, strings).unwrap();
    let sorts = [Sort::Bool, Sort::Int, Sort::Real, Sort::String, colour]
        .into_iter()
        .chain(bits)
        .chain([rows]);
    for (i, sort) in sorts.enumerate() {
        m.var(&format!("v{i}"), sort);
    }
    m.start("Only", &[]);
    m.always("true");
    let s = m.finish();
    let (Sort::Enum(colour), Sort::Array(strings), Sort::Array(rows)) = (colour, strings, rows)
    else {
        panic!("sorts")
    };
    let said = vec![(TermValue::Enum(colour, 1), TermValue::str("a: {b}, `c`"))];
    let row = ArrayValue::new(strings, TermValue::str(""), said).unwrap();
    let none = ArrayValue::constant(strings, TermValue::str("else")).unwrap();
    let table = ArrayValue::new(
        rows,
        TermValue::array(none),
        vec![(TermValue::int(-3), TermValue::array(row))],
    )
    .unwrap();
    let values = vec![
        TermValue::Bool(true),
        TermValue::int(-12),
        TermValue::Real(gander_term::RBig::from_parts((-1).into(), 3u8.into())),
        TermValue::str("say \"hi\" \u{1F600}\n\\"),
        TermValue::Enum(colour, 1),
        TermValue::bits(gander_term::Width::W8, -1),
        TermValue::bits(wide, -2),
        TermValue::array(table),
    ];
    let first = State { node: NodeId(0), values };
    let run = Run { start: StartId(0), first, legs: crate::Legs::new() };
    let json = written(&s, 0, &Verdict::Fails(Evidence::Run(run.clone())));
    let Evidence::Run(back) = round_trip(&s, &json).evidence else { panic!("a run") };
    assert_eq!(back, run);
}

/// A system with liveness claims.
fn live_system() -> System {
    let mut m = account();
    let closed = m.term("@node == @Node.Closed");
    let goal = m.builder.state_formula(closed, "closes").unwrap();
    m.claim("closes", ClaimKind::Eventually { goal, under: Vec::new() });
    m.claim("possible", ClaimKind::AlwaysPossible(goal));
    m.finish()
}

fn ranks(s: &System, text: &str) -> NodeTerms {
    let mut pool = Pool::fork(&s.pool);
    let t = parse_term(&mut pool, text).unwrap();
    let zero = pool.int(0);
    NodeTerms { by_node: vec![vec![t, zero]; s.nodes.len()], pool: pool.freeze() }
}

fn choices(s: &System) -> Choices {
    let mut pool = Pool::fork(&s.pool);
    let (when, amount) =
        (parse_term(&mut pool, "balance > 0").unwrap(), parse_term(&mut pool, "fee + 1").unwrap());
    let transition = named(s, "Open.deposit");
    let (params, next) = (vec![Some(amount)], vec![None; s.vars.len()]);
    Choices { list: vec![Choice { transition, when, params, next }], pool: pool.freeze() }
}

#[test]
fn evidence_about_maximal_runs_round_trips() {
    let s = live_system();
    let all = vec!["balance >= 0"; s.nodes.len()];
    let stuck = passes::liveness_to_safety(&s, ClaimId(0), &passes::Aspect::Stuck).unwrap().system;
    let stuck =
        Box::new(Evidence::Invariant(formulas(&stuck, &vec!["balance >= 0"; stuck.nodes.len()])));
    let rounds =
        passes::liveness_to_safety(&s, ClaimId(0), &passes::Aspect::Rounds).unwrap().system;
    let counted =
        passes::liveness_to_safety(&s, ClaimId(0), &passes::Aspect::AtMost(3)).unwrap().system;
    let counting = vec!["`@count` <= 3"; counted.nodes.len()];
    let bounds = vec![Some((0.into(), 9.into())), None, None];
    let repeated =
        passes::liveness_to_safety(&s, ClaimId(0), &passes::Aspect::Repetition(bounds.clone()))
            .unwrap()
            .system;
    let saving = vec!["`@old_balance` >= 0 or `@saved`"; repeated.nodes.len()];
    let ways = [
        Rounds::AtMost {
            k: 3,
            proof: Box::new(Evidence::Invariant(formulas(&counted, &counting))),
        },
        Rounds::NoRepetition {
            bounds,
            proof: Box::new(Evidence::Invariant(formulas(&repeated, &saving))),
        },
        Rounds::Ranking {
            invariant: formulas(&rounds, &vec!["true"; rounds.nodes.len()]),
            ranks: ranks(&rounds, "balance + 1"),
        },
    ];
    let mut all_kinds = vec![
        (0, Verdict::Fails(Evidence::Lasso { run: run(&s), back_to: 3 })),
        (
            0,
            Verdict::Fails(Evidence::Recurrent {
                run: run(&s),
                set: formulas(&s, &all),
                choices: choices(&s),
            }),
        ),
        (
            1,
            Verdict::Holds(Evidence::Possible {
                set: formulas(&s, &all),
                proof: Box::new(Evidence::Diameter { k: 2 }),
                ranks: ranks(&s, "balance"),
                choices: choices(&s),
            }),
        ),
        (
            1,
            Verdict::Fails(Evidence::Impossible {
                run: run(&s),
                proof: Box::new(Evidence::Diameter { k: 2 }),
            }),
        ),
    ];
    for rounds in ways {
        all_kinds
            .push((0, Verdict::Holds(Evidence::NoSuchRun { stuck: Some(stuck.clone()), rounds })));
    }
    for (claim, verdict) in all_kinds {
        let json = written(&s, claim, &verdict);
        round_trip(&s, &json);
        // Strict: no additional key, no missing key.
        let mut more = json.clone();
        more["evidence"]["more"] = json!(1);
        assert!(read_evidence(&s, &more).is_err());
        for key in json["evidence"].as_object().unwrap().keys().filter(|k| *k != "stuck") {
            let mut less = json.clone();
            less["evidence"].as_object_mut().unwrap().remove(key);
            assert!(read_evidence(&s, &less).is_err(), "without {key}");
        }
    }
}

#[test]
fn ranks_and_choices_must_be_over_state_variables() {
    let s = live_system();
    let set = formulas(&s, &vec!["true"; s.nodes.len()]);
    let evidence = Evidence::Recurrent { run: run(&s), set, choices: choices(&s) };
    let mut json = written(&s, 0, &Verdict::Fails(evidence));
    json["evidence"]["choices"][0]["when"] = json!("missing > 0");
    assert!(read_evidence(&s, &json).is_err());
    json["evidence"]["choices"][0]["when"] = json!("balance + 1");
    assert!(read_evidence(&s, &json).is_err());
}

#[test]
fn examples_of_the_documentation_are_valid_files() {
    let mut m = account();
    let t = m.term("balance >= 0");
    let t = m.builder.state_formula(t, "solvent").unwrap();
    m.claim("solvent", ClaimKind::Always(t));
    let closed = m.term("@node == @Node.Closed");
    let goal = m.builder.state_formula(closed, "closes").unwrap();
    m.claim("closes", ClaimKind::Eventually { goal, under: Vec::new() });
    let (rich, frozen) = (m.state_goal("balance > 60"), m.state_goal("@node == @Node.Frozen"));
    m.claim("trip", ClaimKind::Reachable(vec![rich, frozen]));
    let s = m.finish();
    let page = include_str!("../../../../../docs/evidence.md");
    let mut count = 0;
    for part in page.split("```json").skip(1) {
        let example = part.split("```").next().unwrap();
        if let Err(e) = read_evidence_text(&s, example) {
            panic!("{e} in {example}");
        }
        count += 1;
    }
    assert_eq!(count, 6);
}
