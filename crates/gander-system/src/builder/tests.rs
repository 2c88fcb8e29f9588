use super::*;
use crate::testing::Model;

fn model() -> Model {
    let mut m = Model::new("Checked", &["A", "B"]);
    m.var("x", Sort::Int);
    m.var("p", Sort::Bool);
    m.input("i", Sort::Int);
    m
}

fn scope_error<T: fmt::Debug>(result: Result<T, BuildError>) -> (String, String) {
    match result {
        Err(BuildError::Scope { place, symbol }) => (place, symbol),
        other => panic!("{other:?}"),
    }
}

fn draft(m: &mut Model, name: &str) -> TransitionDraft {
    m.builder.transition(name, None, NodeId(0), NodeId(1), None).unwrap()
}

#[test]
fn terms_out_of_scope_are_rejected() {
    let mut m = model();
    let mut first = draft(&mut m, "first");
    m.builder.param(&mut first, "a", Sort::Int, None).unwrap();
    m.builder.add(first).unwrap();
    let mut t = draft(&mut m, "second");
    m.builder.param(&mut t, "b", Sort::Int, None).unwrap();
    let (primed, located) = (m.term("x' > 0"), m.term("@node == @Node.A"));
    let (own, foreign) = (m.term("second.b > 0"), m.term("second.b > first.a"));
    let b = &mut m.builder;
    assert_eq!(scope_error(b.state_formula(primed, "claim")), ("claim".into(), "x'".into()));
    assert_eq!(scope_error(b.state_formula(own, "claim")).1, "second.b");
    assert!(b.state_formula(located, "claim").is_ok());
    assert_eq!(scope_error(b.start("s", NodeId(0), &[(located, None)], None)).0, "s constraint 1");
    assert_eq!(scope_error(b.guard(&mut t, primed, None)), ("second guard 1".into(), "x'".into()));
    assert_eq!(scope_error(b.guard(&mut t, located, None)).1, "@node");
    assert_eq!(scope_error(b.guard(&mut t, foreign, None)).1, "first.a");
    assert_eq!(scope_error(b.constrain(&mut t, located, None)).0, "second effect 1");
    assert_eq!(scope_error(b.assign(&mut t, VarId(1), primed, None)).0, "second p :=");
    assert!(b.guard(&mut t, own, None).is_ok());
    assert!(b.constrain(&mut t, primed, None).is_ok());
    let unknown = b.pool.variable("stranger", Sort::Bool);
    assert_eq!(scope_error(b.state_formula(unknown, "claim")).1, "stranger");
}

#[test]
fn terms_of_the_wrong_sort_are_rejected() {
    let mut m = model();
    let mut t = draft(&mut m, "t");
    let number = m.term("x + 1");
    let b = &mut m.builder;
    assert!(matches!(b.state_formula(number, "claim"), Err(BuildError::Sort { .. })));
    assert!(matches!(b.guard(&mut t, number, None), Err(BuildError::Sort { .. })));
    assert!(matches!(b.constrain(&mut t, number, None), Err(BuildError::Sort { .. })));
    assert!(matches!(b.assign(&mut t, VarId(1), number, None), Err(BuildError::Sort { .. })));
}

#[test]
fn an_effect_determines_a_variable_in_one_way() {
    let (one, two) = ("x := 1", "x := 2");
    for effects in [[one, two], [one, "x' > 3"], [one, "any x"]] {
        let mut m = model();
        let mut t = draft(&mut m, "t");
        for e in effects {
            if let Some((_, value)) = e.split_once(":=") {
                let value = m.term(value);
                m.builder.assign(&mut t, VarId(0), value, None).unwrap();
            } else if e.starts_with("any") {
                m.builder.free(&mut t, VarId(0));
            } else {
                let relation = m.term(e);
                m.builder.constrain(&mut t, relation, None).unwrap();
            }
        }
        let error = m.builder.add(t).unwrap_err();
        assert_eq!(error, BuildError::Conflict { transition: "t".into(), variable: "x".into() });
    }
}

#[test]
fn unmentioned_variables_are_kept_except_inputs() {
    let mut m = model();
    m.step("A", "go", "B", &[], &[], &["x' > x"]);
    let s = m.finish();
    let kept: Vec<VarId> = (s.transitions[0].effect.iter())
        .filter_map(|e| match e {
            Effect::Keep { var, .. } => Some(*var),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [VarId(1)]);
}

#[test]
fn names_are_unique_within_their_kind() {
    let mut m = model();
    let duplicate = |name: &str| BuildError::Duplicate(name.to_string());
    let b = &mut m.builder;
    assert_eq!(b.var("x", Sort::Int, Role::State, None, None).unwrap_err(), duplicate("x"));
    b.start("s", NodeId(0), &[], None).unwrap();
    assert_eq!(b.start("s", NodeId(0), &[], None).unwrap_err(), duplicate("s"));
    let mut t = b.transition("t", None, NodeId(0), NodeId(0), None).unwrap();
    b.param(&mut t, "a", Sort::Int, None).unwrap();
    assert_eq!(b.param(&mut t, "a", Sort::Int, None).unwrap_err(), duplicate("a"));
    b.add(t).unwrap();
    assert_eq!(b.transition("t", None, NodeId(0), NodeId(0), None).unwrap_err(), duplicate("t"));
    let twice = [("A", None), ("A", None)];
    assert_eq!(SystemBuilder::new("Twice", Pool::new(), &twice).unwrap_err(), duplicate("A"));
    assert_eq!(SystemBuilder::new("None", Pool::new(), &[]).unwrap_err(), BuildError::NoNode);
}

#[test]
fn ranges_become_claims_assumptions_and_guards() {
    let mut m = model();
    let range = || Some(Range { low: 1.into(), high: 3.into() });
    m.builder.var("s", Sort::Int, Role::State, range(), None).unwrap();
    m.builder.var("j", Sort::Int, Role::Input, range(), None).unwrap();
    let mut t = draft(&mut m, "t");
    m.builder.param(&mut t, "a", Sort::Int, range()).unwrap();
    m.builder.add(t).unwrap();
    let s = m.finish();
    assert_eq!(
        (s.claims[0].name.as_str(), s.claims[0].origin),
        ("range of s", ClaimOrigin::Range(VarId(3)))
    );
    assert_eq!(s.pool.display(s.assumptions[0].term.term()).to_string(), "1 <= j and j <= 3");
    let guard = &s.transitions[0].guard[0];
    assert_eq!(s.elements[guard.id.index()].kind, ElementKind::ParameterRange);
    assert_eq!(s.element_name(guard.id), "t range of a");
}

#[test]
fn elements_are_named_by_place() {
    let mut m = model();
    m.start("A", &["x == 0"]);
    m.step("A", "go", "B", &[], &["p"], &["x := x + 1", "i' > 3"]);
    let s = m.finish();
    let names: Vec<String> =
        (0..s.elements.len()).map(|i| s.element_name(ElementId(i as u32))).collect();
    assert_eq!(
        names,
        ["start 0 constraint 1", "A.go guard 1", "A.go x :=", "A.go effect 2", "A.go keeps p"]
    );
}
