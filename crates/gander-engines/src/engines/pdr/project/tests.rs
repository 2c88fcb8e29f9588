use super::super::implicant::{CandidateTerms, implicant};
use super::*;
use gander_runtime::Random;
use gander_term::{evaluate, parse_term};

fn symbols(pool: &mut Pool, sort: Sort, names: &[&str]) -> Vec<SymbolId> {
    names.iter().map(|n| pool.declare(n, sort).unwrap()).collect()
}

fn number(sort: Sort, i: i64) -> Value {
    if sort == Sort::Int { Value::int(i) } else { Value::whole(i) }
}

fn holds(pool: &Pool, literals: &[TermId], model: &Model) -> bool {
    literals
        .iter()
        .all(|&l| evaluate(pool, l, &|s| model.get(&s).cloned()) == Ok(Value::Bool(true)))
}

/// The cube of a formula in a model, where `kept` are the state variables.
fn cube(pool: &mut Pool, formula: TermId, model: &Model, kept: &[SymbolId]) -> Vec<TermId> {
    let kept: FxHashSet<SymbolId> = kept.iter().copied().collect();
    let mut candidate_terms = CandidateTerms::new(kept.clone(), FxHashMap::default());
    let found = implicant(pool, &mut candidate_terms, model, &[formula]).unwrap();
    project(pool, model, &kept, found).unwrap().literals
}

fn shown(text: &str, kept: &[(&str, i64)], other: &[(&str, i64)]) -> String {
    let mut pool = Pool::new();
    let mut model = Model::default();
    let mut names = Vec::new();
    for (i, (name, value)) in kept.iter().chain(other).enumerate() {
        let s = pool.declare(name, Sort::Int).unwrap();
        model.insert(s, Value::int(*value));
        if i < kept.len() {
            names.push(s);
        }
    }
    let formula = parse_term(&mut pool, text).unwrap();
    let found = cube(&mut pool, formula, &model, &names);
    let conjunction = pool.and(found);
    pool.display(conjunction).to_string()
}

#[test]
fn equations_bounds_and_quotients_are_projected() {
    assert_eq!(shown("y == a + 1 and y <= 5", &[("a", 2)], &[("y", 3)]), "a <= 4");
    assert_eq!(shown("a <= y and y <= b", &[("a", 0), ("b", 9)], &[("y", 3)]), "a <= b");
    assert_eq!(shown("a <= y", &[("a", 0)], &[("y", 3)]), "true");
    assert_eq!(shown("2 * y == a", &[("a", 6)], &[("y", 3)]), "a mod 2 == 0");
    assert_eq!(
        shown("(a + y) mod 3 == 1 and y == 2", &[("a", 2)], &[("y", 2)]),
        "(a + 1) mod 3 == 0"
    );
    assert_eq!(
        shown("if a > 0 then y == a else y == b", &[("a", 2), ("b", 7)], &[("y", 2)]),
        "1 <= a"
    );
    assert_eq!(shown("y * a == 6 and y > 0", &[("a", 2)], &[("y", 3)]), "a <= 2 and 2 <= a");
}

#[test]
fn every_state_of_a_cube_has_a_value_for_the_projected_variable() {
    for sort in [Sort::Int, Sort::Real] {
        let mut random = Random::new(7);
        let mut pool = Pool::new();
        let kept = symbols(&mut pool, sort, &["a", "b"]);
        let other = symbols(&mut pool, sort, &["y"]);
        for _ in 0..400 {
            let mut model = Model::default();
            kept.iter().chain(&other).for_each(|&s| {
                model.insert(s, number(sort, random.between(-6, 6)));
            });
            // Random constraints that the model satisfies.
            let mut parts = Vec::new();
            for _ in 0..random.between(1, 4) {
                let c: Vec<i64> = (0..4).map(|_| random.between(-3, 3)).collect();
                let shape = random.between(0, if sort == Sort::Int { 3 } else { 2 });
                let text = match shape {
                    0 => format!("{} * a + {} * b + {} * y <= {}", c[0], c[1], c[2], c[3]),
                    1 => format!("{} * a + {} * b + {} * y < {}", c[0], c[1], c[2], c[3]),
                    2 => format!("{} * a + {} * b + {} * y == {}", c[0], c[1], c[2], c[3]),
                    _ => format!("({} * a + {} * b + {} * y) mod 4 == 1", c[0], c[1], c[2]),
                };
                let text = if sort == Sort::Real { reals(&text) } else { text };
                let part = parse_term(&mut pool, &text).unwrap();
                if holds(&pool, &[part], &model) {
                    parts.push(part);
                }
            }
            let formula = pool.and(parts);
            let found = cube(&mut pool, formula, &model, &kept);
            assert!(holds(&pool, &found, &model));
            assert!(!pool.free_symbols(&found).contains(&other[0]));
            for _ in 0..20 {
                let mut state = model.clone();
                kept.iter().for_each(|&s| {
                    state.insert(s, number(sort, random.between(-9, 9)));
                });
                if !holds(&pool, &found, &state) {
                    continue;
                }
                // Some value of y satisfies the formula; on reals a fine grid suffices.
                let steps = if sort == Sort::Int { 1 } else { 12 };
                let witness = (-120 * steps..=120 * steps).any(|i| {
                    let value = match sort {
                        Sort::Int => Value::int(i),
                        _ => Value::Real(RBig::from(i) / RBig::from(steps)),
                    };
                    state.insert(other[0], value);
                    holds(&pool, &[formula], &state)
                });
                let cube = pool.and(found.clone());
                let (what, states) = (pool.display(formula), pool.display(cube));
                assert!(witness, "{what} is not possible in a state of {states}");
            }
        }
    }
}

/// The text with its numbers written as reals.
fn reals(text: &str) -> String {
    text.split(' ')
        .map(|w| if w.parse::<i64>().is_ok() { format!("{w}.0") } else { w.to_string() })
        .collect::<Vec<_>>()
        .join(" ")
}
