//! VMT-LIB and MCMT (sally): random transition systems given by two formulas, their text and their
//! meaning.
//!
//! A state assigns values to the state variables. Runs begin in states that satisfy the initial
//! formula; a step is a pair of states that satisfy the transition formula for some values of the
//! inputs. In VMT-LIB the inputs are the variables without `:next`; an `:invar-property` holds if
//! every reachable state satisfies it (every step from one, if it mentions inputs), a
//! `:live-property` if on every infinite run its formula holds from some state on. In MCMT, states
//! that violate an `assume` do not exist.

use std::fmt::Write as _;

use super::expression::{Expr, Op, Sort};
use super::graph::{Graph, RunFairness};
use super::random_expression::Grammar;
use super::smt::{self, Terms};
use super::{Expected, LIMIT, Language, Model};
use crate::random::Random;

#[derive(Clone, Debug)]
struct Variable {
    sort: Sort,
    domain: Vec<i64>,
    is_input: bool,
}

#[derive(Clone, Debug)]
enum Property {
    Invariant(Expr),
    Live(Expr),
}

#[derive(Clone, Debug)]
struct Relation {
    variables: Vec<Variable>,
    init: Vec<Expr>,
    trans: Vec<Expr>,
    assumed: Vec<Expr>,
    properties: Vec<Property>,
}

fn generate(random: &mut Random, language: Language) -> Relation {
    let variables = variables(random);
    let leaves = Leaves::of(&variables);
    let mut grammar = smt::grammar();
    grammar.widths = variables
        .iter()
        .map(|v| v.sort)
        .filter(|s| matches!(s, Sort::Bits { .. }))
        .map(Sort::width)
        .collect();
    let (mut init, mut trans) = (Vec::new(), Vec::new());
    for (i, v) in variables.iter().enumerate() {
        constrain(random, &grammar, &leaves, (i, v), &mut init, &mut trans);
    }
    let over = |leaves: &[Expr]| -> Grammar { grammar.over(leaves.to_vec()) };
    if random.chance(30) {
        init.push(over(&leaves.now).make(random, Sort::Bool, 2));
    }
    for _ in 0..2 {
        if random.chance(25) {
            trans.push(over(&leaves.both).make(random, Sort::Bool, 3));
        }
    }
    let mut assumed = Vec::new();
    if language == Language::Mcmt && random.chance(25) {
        assumed.push(over(&leaves.now).make(random, Sort::Bool, 2));
    }
    let mut properties = Vec::new();
    for _ in 0..random.between(1, 3) {
        // In VMT-LIB, an invariant that mentions inputs is about steps.
        let about_steps = language == Language::Vmt && random.chance(15);
        let over_these = if about_steps { &leaves.with_inputs } else { &leaves.now };
        let p = over(over_these).make(random, Sort::Bool, 3);
        let about_steps = p.any(&|e| matches!(e, Expr::Var(_, i) if variables[*i].is_input));
        let live = !about_steps && language == Language::Vmt && random.chance(35);
        properties.push(if live { Property::Live(p) } else { Property::Invariant(p) });
    }
    Relation { variables, init, trans, assumed, properties }
}

/// Variables with at most 64 states and 6 inputs together.
fn variables(random: &mut Random) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    let (mut states, mut inputs) = (1, 1);
    for _ in 0..random.between(1, 4) {
        let is_input = !variables.is_empty() && random.chance(25);
        let most = if is_input { 6 / inputs } else { 64 / states };
        let (sort, domain): (Sort, Vec<i64>) = match random.below(7) {
            0..=2 if most >= 3 && (!is_input || random.chance(20)) => {
                let low = random.between(-2, 1);
                (Sort::Int, (low..=low + random.between(1, (most - 1).min(4))).collect())
            }
            3 | 4 if most >= 8 => {
                let width = random.between(1, 3) as u32;
                (Sort::bits(width), (0..1 << width).collect())
            }
            5 if most >= 16 => (Sort::Array { index: 1, element: 2 }, (0..16).collect()),
            _ if most >= 2 => (Sort::Bool, vec![0, 1]),
            _ => continue,
        };
        if is_input {
            inputs *= domain.len() as i64;
        } else {
            states *= domain.len() as i64;
        }
        variables.push(Variable { sort, domain, is_input });
    }
    variables
}

/// The leaves of formulas.
struct Leaves {
    /// State variables before the step.
    now: Vec<Expr>,
    /// Those and the inputs.
    with_inputs: Vec<Expr>,
    /// Those and the state variables after the step.
    both: Vec<Expr>,
}

impl Leaves {
    fn of(variables: &[Variable]) -> Leaves {
        let now: Vec<Expr> = variables
            .iter()
            .enumerate()
            .filter(|(_, v)| !v.is_input)
            .map(|(i, v)| Expr::Var(v.sort, i))
            .collect();
        let with_inputs: Vec<Expr> =
            variables.iter().enumerate().map(|(i, v)| Expr::Var(v.sort, i)).collect();
        let mut both = with_inputs.clone();
        both.extend(now.iter().map(|e| match e {
            Expr::Var(sort, i) => Expr::Next(*sort, *i),
            other => other.clone(),
        }));
        Leaves { now, with_inputs, both }
    }
}

/// Adds the range of a variable, and perhaps equations for its first and its next value.
fn constrain(
    random: &mut Random,
    grammar: &Grammar,
    leaves: &Leaves,
    (i, v): (usize, &Variable),
    init: &mut Vec<Expr>,
    trans: &mut Vec<Expr>,
) {
    let over = |leaves: &[Expr]| -> Grammar { grammar.over(leaves.to_vec()) };
    let range = |e: &Expr| Expr::within(e, v.domain[0], v.domain[v.domain.len() - 1]);
    let (var, next) = (Expr::Var(v.sort, i), Expr::Next(v.sort, i));
    if v.sort == Sort::Int {
        // The formulas bound the ints.
        if v.is_input {
            trans.push(range(&var));
        } else {
            init.push(range(&var));
            trans.push(range(&next));
        }
    }
    if v.is_input {
        return;
    }
    if random.chance(65) {
        let value = if v.sort == Sort::Int {
            Expr::int(*random.pick(&v.domain))
        } else {
            over(&[]).make(random, v.sort, 1)
        };
        init.push(Expr::two(Sort::Bool, Op::Eq, var.clone(), value));
    }
    if random.chance(75) {
        let depth = random.between(1, 3) as usize;
        let mut value = over(if random.chance(85) { &leaves.with_inputs } else { &leaves.both })
            .make(random, v.sort, depth);
        if v.sort == Sort::Int && random.chance(70) {
            value = Expr::Op(
                Sort::Int,
                Op::Ite,
                vec![range(&value), value, Expr::int(*random.pick(&v.domain))],
            );
        }
        trans.push(Expr::two(Sort::Bool, Op::Eq, next, value));
    }
}

fn decide(model: &Relation) -> Option<Vec<Expected>> {
    let all = |of_inputs: bool| {
        let mut found = vec![vec![0; model.variables.len()]];
        for (i, v) in model.variables.iter().enumerate().filter(|(_, v)| v.is_input == of_inputs) {
            found = found
                .into_iter()
                .flat_map(|s| {
                    v.domain.iter().map(move |x| {
                        let mut s = s.clone();
                        s[i] = *x;
                        s
                    })
                })
                .collect();
        }
        found
    };
    let mut states: Vec<Vec<i64>> = all(false);
    states.retain(|s| model.assumed.iter().all(|e| e.holds(s, s)));
    let inputs: Vec<Vec<i64>> = all(true);
    let initial =
        states.iter().filter(|s| model.init.iter().all(|e| e.holds(s, s))).cloned().collect();
    let with = |s: &[i64], input: &[i64]| -> Vec<i64> {
        let value = |(i, v): (usize, &Variable)| if v.is_input { input[i] } else { s[i] };
        model.variables.iter().enumerate().map(value).collect()
    };
    let step = |now: &Vec<i64>, next: &Vec<i64>| model.trans.iter().all(|e| e.holds(now, next));
    let successors = |s: &Vec<i64>| {
        let possible = |next: &&Vec<i64>| inputs.iter().any(|input| step(&with(s, input), next));
        states.iter().filter(possible).map(|next| (0, next.clone())).collect()
    };
    let (graph, reached) = Graph::explore(initial, successors, LIMIT)?;
    let set = |e: &Expr| reached.iter().map(|s| e.holds(s, s)).collect::<Vec<bool>>();
    let mentions_input =
        |e: &Expr| e.any(&|e| matches!(e, Expr::Var(_, i) if model.variables[*i].is_input));
    let answers = model.properties.iter().map(|p| match p {
        _ if graph.initial == 0 => Expected::NoRun,
        Property::Invariant(p) if mentions_input(p) => {
            let broken = |s: &Vec<i64>| {
                let all = inputs.iter().map(|input| with(s, input));
                all.filter(|now| !p.holds(now, now))
                    .any(|now| states.iter().any(|next| step(&now, next)))
            };
            Expected::of(!reached.iter().any(broken))
        }
        Property::Invariant(p) => Expected::of(!set(p).contains(&false)),
        Property::Live(p) => {
            let again = RunFairness::Justice(set(p).iter().map(|b| !b).collect());
            Expected::of(!graph.some_initial(&graph.stays(
                &vec![true; graph.len()],
                false,
                &[again],
            )))
        }
    });
    Some(answers.collect())
}

/// The conjunction of formulas.
fn all_of(texts: Vec<String>) -> String {
    match texts.len() {
        0 => "true".to_string(),
        1 => texts.into_iter().next().unwrap_or_default(),
        _ => format!("(and {})", texts.join(" ")),
    }
}

fn vmt(model: &Relation, random: &mut Random) -> String {
    let mut out = String::new();
    for (i, v) in model.variables.iter().enumerate() {
        let sort = smt::sort(v.sort);
        if v.is_input {
            let _ = writeln!(out, "(declare-fun i{i} () {sort})");
        } else {
            let _ =
                writeln!(out, "(declare-fun x{i} () {sort})\n(declare-fun x{i}.next () {sort})");
            let _ = writeln!(out, "(define-fun .sv{i} () {sort} (! x{i} :next x{i}.next))");
        }
    }
    let names = |e: &Expr| match e {
        Expr::Var(_, i) if model.variables[*i].is_input => format!("i{i}"),
        Expr::Var(_, i) => format!("x{i}"),
        Expr::Next(_, i) => format!("x{i}.next"),
        _ => String::new(),
    };
    let mut terms = Terms { random, names, lets: 0 };
    let texts = |terms: &mut Terms<_>, formulas: &[Expr]| {
        all_of(formulas.iter().map(|e| terms.term(e)).collect())
    };
    let _ = writeln!(
        out,
        "(define-fun .init () Bool (! {} :init true))",
        texts(&mut terms, &model.init)
    );
    let _ = writeln!(
        out,
        "(define-fun .trans () Bool (! {} :trans true))",
        texts(&mut terms, &model.trans)
    );
    for (i, p) in model.properties.iter().enumerate() {
        let (word, e) = match p {
            Property::Invariant(e) => ("invar", e),
            Property::Live(e) => ("live", e),
        };
        let _ =
            writeln!(out, "(define-fun p{i} () Bool (! {} :{word}-property {i}))", terms.term(e));
    }
    out
}

fn mcmt(model: &Relation, random: &mut Random) -> String {
    let prefixed = random.chance(50);
    let list = |inputs: bool| {
        let named = model.variables.iter().enumerate().filter(|(_, v)| v.is_input == inputs);
        named
            .map(|(i, v)| format!("(x{i} {})", smt::sort(v.sort)))
            .collect::<Vec<String>>()
            .join(" ")
    };
    let inputs = list(true);
    let inputs = if inputs.is_empty() { String::new() } else { format!(" ({inputs})") };
    let mut out = format!("(define-state-type st ({}){inputs})\n", list(false));
    let names = |e: &Expr| match e {
        Expr::Var(_, i) if model.variables[*i].is_input => format!("input.x{i}"),
        Expr::Var(_, i) if prefixed => format!("state.x{i}"),
        Expr::Var(_, i) => format!("x{i}"),
        Expr::Next(_, i) => format!("next.x{i}"),
        _ => String::new(),
    };
    let state_names = |e: &Expr| match e {
        Expr::Var(_, i) => format!("x{i}"),
        _ => String::new(),
    };
    let mut terms = Terms { random: &mut *random, names: state_names, lets: 0 };
    let init = all_of(model.init.iter().map(|e| terms.term(e)).collect());
    let assumed: Vec<String> = model.assumed.iter().map(|e| terms.term(e)).collect();
    let queries: Vec<String> = model
        .properties
        .iter()
        .map(|p| match p {
            Property::Invariant(e) | Property::Live(e) => terms.term(e),
        })
        .collect();
    let mut terms = Terms { random: &mut *random, names, lets: 1_000 };
    let trans = all_of(model.trans.iter().map(|e| terms.term(e)).collect());
    let _ = writeln!(out, "(define-states first st {init})\n(define-transition step st {trans})");
    let _ = writeln!(out, "(define-transition-system T st first step)");
    for a in assumed {
        let _ = writeln!(out, "(assume T {a})");
    }
    for q in queries {
        let _ = writeln!(out, "(query T {q})");
    }
    out
}

/// The model of a seed.
pub(super) fn model(random: &mut Random, language: Language) -> Option<Model> {
    let model = generate(random, language);
    let answers = decide(&model)?;
    let count = answers.len();
    let name = |i: usize| match language {
        Language::Mcmt if count == 1 => "query".to_string(),
        Language::Mcmt => format!("query {}", i + 1),
        _ => format!("p{i}"),
    };
    let claims = answers.into_iter().enumerate().map(|(i, e)| (name(i), e)).collect();
    let text = if language == Language::Mcmt { mcmt(&model, random) } else { vmt(&model, random) };
    Some(Model { text, claims })
}
