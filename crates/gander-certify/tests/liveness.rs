//! Evidence about maximal runs and about what is always possible is accepted if right, and rejected
//! after any change.

mod support;

use gander_system::passes::{Aspect, liveness_to_safety};
use gander_system::{
    Choice, Choices, ClaimId, ClaimKind, Evidence, FairnessId, FairnessKind, NodeTerms, Rounds,
    Run, System, TransitionId, Verdict,
};
use gander_term::{Pool, Sort, parse_term};
use support::*;

fn lasso(run: Run, back_to: u64) -> Evidence {
    Evidence::Lasso { run, back_to }
}

fn eventually(text: &str) -> impl FnOnce(&mut Model) -> ClaimKind + '_ {
    |m| ClaimKind::Eventually { goal: m.formula(text), under: Vec::new() }
}

/// `x` goes up and down between 0 and 2, `y` gets arbitrary values.
fn swing() -> Model {
    Model::new(&["N"])
        .var("x", Sort::Int)
        .var("y", Sort::Int)
        .start(0, "x == 0 and y == 0")
        .step("up", 0, 0, "x < 2", &["x := x + 1", "any y"])
        .step("down", 0, 0, "x > 0", &["x := x - 1"])
}

#[test]
fn a_loop_must_return_to_the_same_values() {
    let s = swing().claim(eventually("x == 2"));
    let around = |y: i64| run(0, &[0, 0], vec![to(0, &[], &[1, y]), go(1)]);
    accepts(&s, fails(lasso(around(0), 0)));
    refuses(&s, fails(lasso(around(7), 0)), "not the one that it is said to come back to");
    refuses(&s, fails(lasso(around(0), 1)), "not the one that it is said to come back to");
    refuses(&s, fails(lasso(around(0), 2)), "no step");
    refuses(&s, fails(lasso(around(0), 3)), "no step");
    refuses(&s, holds(lasso(around(0), 0)), "cannot show");
    let far = run(0, &[0, 0], vec![to(0, &[], &[1, 0]), to(0, &[], &[2, 0]), go(1), go(1)]);
    refuses(&s, fails(lasso(far, 0)), "does not stay");
}

#[test]
fn a_loop_is_checked_against_its_claim() {
    // The stem passes 2, the loop does not.
    let legs = vec![to(0, &[], &[1, 0]), to(0, &[], &[2, 0]), go(1), go(1), to(0, &[], &[1, 0])];
    let late = || lasso(run(0, &[0, 0], legs.clone()), 3);
    refuses(&swing().claim(eventually("x == 2")), fails(late()), "does not stay");
    let always = |text: &'static str| {
        swing().claim(|m| ClaimKind::AlwaysEventually { goal: m.formula(text), under: Vec::new() })
    };
    accepts(&always("x == 2"), fails(late()));
    refuses(&always("x == 1"), fails(late()), "does not stay");
    let leads = |from: &'static str, to: &'static str| {
        swing().claim(|m| ClaimKind::LeadsTo {
            from: m.formula(from),
            to: m.formula(to),
            under: Vec::new(),
        })
    };
    accepts(&leads("x == 1", "x == 2"), fails(late()));
    // `from` is met only before `to`.
    refuses(&leads("x == 7", "x == 2"), fails(late()), "does not stay");
    refuses(&leads("x == 1", "x == 0"), fails(late()), "does not stay");
    accepts(&swing().claim(|_| ClaimKind::InfiniteRun), holds(late()));
    accepts(&swing().claim(|m| ClaimKind::ExistsAlways(m.formula("x <= 2"))), holds(late()));
    refuses(
        &swing().claim(|m| ClaimKind::ExistsAlways(m.formula("x <= 1"))),
        holds(late()),
        "does not stay",
    );
}

/// `eventually goal` for `swing`, under one fairness constraint.
fn under(kind: impl FnOnce(&mut Model) -> FairnessKind) -> System {
    let mut m = swing();
    let kind = kind(&mut m);
    m.builder.fairness("fair", kind, None).unwrap();
    m.claim(|m| ClaimKind::AlwaysEventually {
        goal: m.formula("y == 5"),
        under: vec![FairnessId(0)],
    })
}

#[test]
fn loops_must_be_fair() {
    let low = || lasso(run(0, &[0, 0], vec![to(0, &[], &[1, 0]), go(1)]), 0);
    accepts(&under(|m| FairnessKind::Justice(m.formula("x == 1"))), fails(low()));
    refuses(&under(|m| FairnessKind::Justice(m.formula("x == 2"))), fails(low()), "not fair");
    let (up, down) = (TransitionId(0), TransitionId(1));
    accepts(&under(|_| FairnessKind::Weak(vec![up])), fails(low()));
    accepts(&under(|_| FairnessKind::Strong(vec![down])), fails(low()));
    let with_jump = |kind: fn(Vec<TransitionId>) -> FairnessKind, guard: &str| {
        let mut m = swing().step("jump", 0, 0, guard, &["x := 0", "y := 5"]);
        m.builder.fairness("fair", kind(vec![TransitionId(2)]), None).unwrap();
        m.claim(|m| ClaimKind::AlwaysEventually {
            goal: m.formula("y == 5"),
            under: vec![FairnessId(0)],
        })
    };
    refuses(&with_jump(FairnessKind::Weak, "true"), fails(low()), "not fair");
    refuses(&with_jump(FairnessKind::Strong, "x == 1"), fails(low()), "not fair");
    // Not continuously possible; never possible.
    accepts(&with_jump(FairnessKind::Weak, "x == 1"), fails(low()));
    accepts(&with_jump(FairnessKind::Strong, "x == 2"), fails(low()));
}

/// `x` grows forever; `stop` is possible only below 0.
fn growing() -> Model {
    Model::new(&["N", "End!"])
        .var("x", Sort::Int)
        .start(0, "x == 1")
        .step_with("grow", 0, 0, &[("by", Sort::Int)], "grow.by >= 0 - 1", &["x := x + grow.by"])
        .step("stop", 0, 1, "x < 0", &[])
}

fn choices(system: &System, list: &[(u32, &str, Option<&str>)]) -> Choices {
    let mut pool = Pool::fork(system.pool());
    let mut made = Vec::new();
    for &(t, when, param) in list {
        let transition = TransitionId(t);
        let when = parse_term(&mut pool, when).unwrap();
        let params = vec![
            param.map(|p| parse_term(&mut pool, p).unwrap());
            system.transition(transition).params.len()
        ];
        made.push(Choice { transition, when, params, next: vec![None; system.vars().len()] });
    }
    Choices { pool: pool.freeze(), list: made }
}

#[test]
fn choices_must_stay_in_the_recurrent_set() {
    let s = growing().claim(eventually("`@node` == `@Node`.End"));
    let make = |set: &[&str], list: &[(u32, &str, Option<&str>)], first: i64| {
        let set = formulas(&s, set);
        fails(Evidence::Recurrent {
            run: run(0, &[first], vec![]),
            set,
            choices: choices(&s, list),
        })
    };
    accepts(&s, make(&["x > 0", "false"], &[(0, "true", Some("1"))], 1));
    accepts(&s, make(&["x > 0", "false"], &[(0, "true", None)], 1));
    accepts(&s, make(&["x > 0", "false"], &[(0, "x < 5", Some("x")), (0, "x >= 5", Some("0"))], 1));
    refuses(
        &s,
        make(&["x > 0", "false"], &[(0, "true", Some("-1"))], 1),
        "does not lead where it should",
    );
    refuses(&s, make(&["x > 0", "false"], &[(0, "x < 5", Some("1"))], 1), "no choice applies");
    refuses(&s, make(&["x > 1", "false"], &[(0, "true", Some("1"))], 1), "does not end in the set");
    refuses(&s, make(&["x > 0", "true"], &[(0, "true", Some("1"))], 1), "must not be");
    refuses(
        &s,
        make(&["x > 0", "false"], &[(1, "true", None)], 1),
        "does not lead where it should",
    );
    refuses(&s, make(&["x > 0", "false"], &[(0, "true", Some("1"))], 2), "does not satisfy");
}

fn ranks(system: &System, by_node: &[&[&str]]) -> NodeTerms {
    let mut pool = Pool::fork(system.pool());
    let by_node = by_node
        .iter()
        .map(|tuple| tuple.iter().map(|t| parse_term(&mut pool, t).unwrap()).collect())
        .collect();
    NodeTerms { pool: pool.freeze(), by_node }
}

/// `x` goes down to 0 while `y` is arbitrary; then `y` goes down.
fn sinking() -> Model {
    Model::new(&["N", "End!"])
        .var("x", Sort::Int)
        .var("y", Sort::Int)
        .start(0, "x >= 0 and y >= 0")
        .step("first", 0, 0, "x > 0", &["x := x - 1", "any y"])
        .step("second", 0, 0, "x <= 0 and y > 0", &["y := y - 1"])
        .step("end", 0, 1, "x <= 0 and y <= 0", &[])
}

fn ranked(s: &System, stuck: &[&str], inv: &[&str], tuples: &[&[&str]]) -> Evidence {
    let of_stuck = liveness_to_safety(s, ClaimId(0), &Aspect::Stuck).unwrap().system;
    let of = liveness_to_safety(s, ClaimId(0), &Aspect::Rounds).unwrap().system;
    let rounds = Rounds::Ranking { invariant: formulas(&of, inv), ranks: ranks(&of, tuples) };
    Evidence::NoSuchRun { stuck: Some(Box::new(invariant(&of_stuck, stuck))), rounds }
}

#[test]
fn ranks_must_decrease_and_be_bounded() {
    let s = sinking().claim(eventually("`@node` == `@Node`.End"));
    let all = ["true"; 4];
    let inv = ["true", "true"];
    // Pending nodes: N, End.
    let good: &[&[&str]] = &[&["x", "y"], &["0", "0"]];
    accepts(&s, holds(ranked(&s, &all, &inv, good)));
    refuses(
        &s,
        holds(ranked(&s, &all, &inv, &[&["y", "x"], &["0", "0"]])),
        "does not make the ranks smaller",
    );
    refuses(
        &s,
        holds(ranked(&s, &all, &inv, &[&["x"], &["0"]])),
        "does not make the ranks smaller",
    );
    refuses(&s, holds(ranked(&s, &all, &inv, &[&["x", "y"], &["0"]])), "cannot be compared");
    // It decreases, but is not bounded below.
    refuses(
        &s,
        holds(ranked(&s, &all, &inv, &[&["x - 5", "y"], &["0", "0"]])),
        "does not make the ranks smaller",
    );
    refuses(&s, holds(ranked(&s, &all, &["y >= 0", "true"], good)), "does not keep the invariant");
    refuses(
        &s,
        holds(ranked(&s, &["false", "true", "true", "true"], &inv, good)),
        "does not hold after",
    );
    refuses(&s, fails(ranked(&s, &all, &inv, good)), "cannot show");
    let Evidence::NoSuchRun { rounds, .. } = ranked(&s, &all, &inv, good) else { unreachable!() };
    refuses(
        &s,
        holds(Evidence::NoSuchRun { stuck: None, rounds }),
        "nothing is said about finite runs",
    );
}

#[test]
fn finite_maximal_runs_count() {
    // Without `end` the last state is stuck.
    let s = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x >= 0")
        .step("down", 0, 0, "x > 0", &["x := x - 1"])
        .claim(eventually("x < 0"));
    let all = ["true"; 2];
    refuses(&s, holds(ranked(&s, &all, &["true"], &[&["x"]])), "does not exclude");
    let infinite = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x >= 0")
        .step("down", 0, 0, "x > 0", &["x := x - 1"])
        .claim(|_| ClaimKind::InfiniteRun);
    let of = liveness_to_safety(&infinite, ClaimId(0), &Aspect::Rounds).unwrap().system;
    let rounds =
        Rounds::Ranking { invariant: formulas(&of, &["true"]), ranks: ranks(&of, &[&["x"]]) };
    accepts(&infinite, fails(Evidence::NoSuchRun { stuck: None, rounds }));
}

/// At most three steps to the end.
fn short() -> System {
    Model::new(&["N", "End!"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 0, "x < 3", &["x := x + 1"])
        .step("end", 0, 1, "x == 3", &[])
        .claim(eventually("`@node` == `@Node`.End"))
}

fn stuck_proof(s: &System) -> Option<Box<Evidence>> {
    let of = liveness_to_safety(s, ClaimId(0), &Aspect::Stuck).unwrap().system;
    Some(Box::new(invariant(&of, &["x <= 3", "true", "true", "true"])))
}

#[test]
fn bounds_on_rounds_are_exact() {
    let s = short();
    let at_most = |k: u32, text: &str| {
        let of = liveness_to_safety(&s, ClaimId(0), &Aspect::AtMost(k)).unwrap().system;
        let rounds = Rounds::AtMost { k, proof: Box::new(invariant(&of, &[text, "true"])) };
        holds(Evidence::NoSuchRun { stuck: stuck_proof(&s), rounds })
    };
    accepts(&s, at_most(3, "`@count` == x and x <= 3"));
    refuses(&s, at_most(2, "`@count` == x and x <= 3"), "does not exclude");
    refuses(&s, at_most(1, "`@count` == x and x <= 3"), "does not keep");
    refuses(&s, at_most(2, "`@count` <= 3 and x <= 3"), "does not exclude");
    // The proof of another bound.
    let of = liveness_to_safety(&s, ClaimId(0), &Aspect::AtMost(3)).unwrap().system;
    let proof = Box::new(invariant(&of, &["`@count` == x and x <= 3", "true"]));
    let rounds = Rounds::AtMost { k: 1, proof };
    refuses(&s, holds(Evidence::NoSuchRun { stuck: stuck_proof(&s), rounds }), "does not");
}

#[test]
fn no_repetition_needs_bounds_on_every_variable() {
    let s = short();
    let never = |bounds: Vec<Option<(gander_term::IBig, gander_term::IBig)>>, text: &str| {
        let of =
            liveness_to_safety(&s, ClaimId(0), &Aspect::Repetition(bounds.clone())).unwrap().system;
        let proof = Box::new(invariant(&of, &[text, "true"]));
        holds(Evidence::NoSuchRun {
            stuck: stuck_proof(&s),
            rounds: Rounds::NoRepetition { bounds, proof },
        })
    };
    let text = "(`@saved` -> `@old_x` < x) and 0 <= x and x <= 3";
    accepts(&s, never(vec![Some((0.into(), 3.into()))], text));
    refuses(&s, never(vec![None], text), "infinitely many values");
    refuses(&s, never(vec![Some((0.into(), 2.into()))], text), "does not exclude");
    // Bounds make ints finite, not reals.
    let halving = Model::new(&["N"])
        .var("x", Sort::Real)
        .start(0, "x == 1.0")
        .step("halve", 0, 0, "true", &["x := x / 2.0"])
        .claim(eventually("x < 0.0"));
    let bounds = vec![Some((0.into(), 1.into()))];
    let of = liveness_to_safety(&halving, ClaimId(0), &Aspect::Repetition(bounds.clone()))
        .unwrap()
        .system;
    let stuck = liveness_to_safety(&halving, ClaimId(0), &Aspect::Stuck).unwrap().system;
    let proof = Box::new(invariant(&of, &["x > 0.0 and (`@saved` -> `@old_x` > x)"]));
    let stuck = Some(Box::new(invariant(&stuck, &["true", "true"])));
    let rounds = Rounds::NoRepetition { bounds, proof };
    refuses(&halving, holds(Evidence::NoSuchRun { stuck, rounds }), "infinitely many values");
    // A run that grows forever repeats no state.
    let grows = Model::new(&["N"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 0, "true", &["x := x + 1"])
        .claim(eventually("x < 0"));
    let of =
        liveness_to_safety(&grows, ClaimId(0), &Aspect::Repetition(vec![None])).unwrap().system;
    let stuck = liveness_to_safety(&grows, ClaimId(0), &Aspect::Stuck).unwrap().system;
    let proof = Box::new(invariant(&of, &["`@saved` -> `@old_x` < x"]));
    let rounds = Rounds::NoRepetition { bounds: vec![None], proof };
    let stuck = Some(Box::new(invariant(&stuck, &["true", "true"])));
    refuses(&grows, holds(Evidence::NoSuchRun { stuck, rounds }), "infinitely many values");
}

#[test]
fn ranks_of_a_way_to_the_goal_must_decrease() {
    let lift = || {
        Model::new(&["N"])
            .var("x", Sort::Int)
            .start(0, "x == 0")
            .step("up", 0, 0, "true", &["x := x + 1"])
            .step("down", 0, 0, "x > 0", &["x := x - 1"])
    };
    let s = lift().claim(|m| ClaimKind::AlwaysPossible(m.formula("x == 0")));
    let make = |set: &str, proof: &str, rank: &str, list: &[(u32, &str, Option<&str>)]| {
        holds(Evidence::Possible {
            set: formulas(&s, &[set]),
            proof: Box::new(invariant(&s, &[proof])),
            ranks: ranks(&s, &[&[rank]]),
            choices: choices(&s, list),
        })
    };
    accepts(&s, make("x >= 0", "x >= 0", "x", &[(1, "true", None)]));
    refuses(
        &s,
        make("x >= 0", "x >= 0", "x", &[(0, "true", None)]),
        "does not lead where it should",
    );
    refuses(
        &s,
        make("x >= 0", "x >= 0", "0 - x", &[(0, "true", None)]),
        "does not lead where it should",
    );
    refuses(&s, make("x >= 0", "x >= 0", "x", &[(1, "x < 7", None)]), "no choice applies");
    refuses(&s, make("x >= 0", "true", "x", &[(1, "true", None)]), "does not exclude");
    refuses(&s, make("true", "true", "x", &[(1, "true", None)]), "does not lead where it should");
}

#[test]
fn impossible_needs_a_state_from_which_the_goal_is_unreachable() {
    let s = Model::new(&["N", "Out"])
        .var("x", Sort::Int)
        .start(0, "x == 0")
        .step("up", 0, 0, "true", &["x := x + 1"])
        .step("out", 0, 1, "true", &[])
        .step("on", 1, 1, "true", &["x := x + 1"])
        .claim(|m| ClaimKind::AlwaysPossible(m.formula("x == 5")));
    let lost = |legs: Vec<_>, texts: &[&str]| {
        fails(Evidence::Impossible {
            run: run(0, &[0], legs),
            proof: Box::new(invariant(&s, texts)),
        })
    };
    let six = || vec![times(6, vec![go(0)])];
    accepts(&s, lost(six(), &["x > 5", "x > 5"]));
    refuses(&s, lost(vec![times(5, vec![go(0)])], &["x >= 5", "x >= 5"]), "does not exclude");
    refuses(&s, lost(vec![go(1)], &["x != 5", "x != 5"]), "does not keep");
    let direction = Verdict::Holds(match lost(six(), &["x > 5", "x > 5"]) {
        Verdict::Fails(e) => e,
        other => panic!("{other:?}"),
    });
    refuses(&s, direction, "cannot show");
}
