//! Finds the nearest run with a different end.
//!
//! Among the runs of the same length that violate nothing (or miss the goal, or can continue or may
//! stop), finds one with the least number of different choices; first along the same transitions,
//! then along any.

use std::sync::Arc;

use gander_smt::{Literal, Template};
use gander_system::NodeId;
use gander_term::{IBig, TermId, Value};

use super::choices::{Choice, DefinitionTable};
use super::ending::{Ending, Extent, Stage, at_node, step_formula};
use super::flat::FlatRun;
use super::maxsat::{Optimum, maximise};
use super::search::Search;
use super::smooth::{Target, equals, towards, value_of};

/// A run with a different end.
pub(crate) struct Nearest {
    pub run: FlatRun,
    /// True if it takes the same transitions.
    pub same_way: bool,
    /// True if no run with a different end (along the same transitions, if it takes them) has fewer
    /// different choices.
    pub least: bool,
}

/// The result of the search.
pub(crate) enum ContrastResult {
    Run(Nearest),
    /// Every run of this length has the same end.
    None,
    Unknown,
}

/// Searches for the nearest run with a different end.
pub(crate) fn nearest(
    search: &mut Search,
    table: &DefinitionTable,
    run: &FlatRun,
    ending: &Ending,
) -> ContrastResult {
    let steps = run.len();
    let mut hard = search.length(steps);
    match ending {
        Ending::Goals(stages) => match &stages[..] {
            [Stage::State(goal)] => {
                let not = search.pool.not(*goal);
                let template = search.compile(not);
                hard.extend((0..=steps).map(|i| search.literal_at(&template, i)));
            }
            [Stage::Step(choices)] => {
                let mut met: Vec<TermId> = Vec::new();
                for (t, f) in choices {
                    let take = search.pool.var(search.takes[t.index()]);
                    met.push(search.pool.and([take, *f]));
                }
                let met = search.pool.or(met);
                let not = search.pool.not(met);
                let template = search.compile(not);
                hard.extend((0..steps).map(|i| search.literal_at(&template, i)));
            }
            _ => return ContrastResult::Unknown,
        },
        Ending::Sinkhole(n) => {
            let ways = open_ways(search, Some(*n));
            hard.push(search.literal_at(&ways, steps));
        }
        Ending::Deadlock => {
            let ways = open_ways(search, None);
            hard.push(search.literal_at(&ways, steps));
        }
    }
    let choices = table.choices(&Arc::clone(&search.system), run);
    let way = search.same_transitions(run);
    let soft: Vec<Literal> =
        choices.iter().map(|&c| equals(search, c, run, &value_of(run, c))).collect();
    let mut along = hard.clone();
    along.extend(&way);
    match maximise(search, &along, &soft) {
        Optimum::Best(best) => {
            let Some(other) = search.read(steps) else { return ContrastResult::Unknown };
            along.extend(best.assumptions);
            let other = nearer_values(search, along, (&choices, run), other);
            return ContrastResult::Run(Nearest { run: other, same_way: true, least: best.least });
        }
        Optimum::Unknown => return ContrastResult::Unknown,
        Optimum::Impossible => {}
    }
    let mut soft = soft;
    soft.extend(&way);
    match maximise(search, &hard, &soft) {
        Optimum::Best(best) => match search.read(steps) {
            Some(other) => {
                ContrastResult::Run(Nearest { run: other, same_way: false, least: best.least })
            }
            None => ContrastResult::Unknown,
        },
        Optimum::Impossible => ContrastResult::None,
        Optimum::Unknown => ContrastResult::Unknown,
    }
}

/// A formula: the last state is not a sinkhole at the node, or not a deadlock. The parameters and
/// next values after the run are unconstrained symbols, so the formula is satisfiable if a
/// transition can be taken.
fn open_ways(search: &mut Search, sinkhole: Option<NodeId>) -> Template {
    let system = Arc::clone(&search.system);
    let pool = &mut search.pool;
    let mut ways: Vec<TermId> = Vec::new();
    for n in system.node_ids() {
        let at = at_node(&system, pool, n);
        match sinkhole {
            Some(sinkhole) if n != sinkhole => ways.push(at),
            None if system.node(n).is_final => ways.push(at),
            _ => {
                let how = if sinkhole.is_some() { Extent::Enabled } else { Extent::Completed };
                for &t in system.leaving(n) {
                    let step_formula = step_formula(&system, pool, t, how);
                    ways.push(pool.and([at, step_formula]));
                }
            }
        }
    }
    let ways = pool.or(ways);
    search.compile(ways)
}

/// Moves the differing integer choices as close to their original values as possible, one after the
/// other.
fn nearer_values(
    search: &mut Search,
    mut assumptions: Vec<Literal>,
    (choices, run): (&[Choice], &FlatRun),
    mut other: FlatRun,
) -> FlatRun {
    for &choice in choices {
        let own = value_of(run, choice);
        if value_of(&other, choice) == own {
            continue;
        }
        if let Value::Int(number) = own {
            let target = Target { number, enough: IBig::from(1) };
            towards(search, choice, &mut assumptions, &mut other, &target);
        }
        let value = value_of(&other, choice);
        assumptions.push(equals(search, choice, &other, &value));
    }
    other
}

/// The choices of `a` whose values differ in `b`, a run of the same length. Parameters of different
/// transitions are not compared.
pub(crate) fn differing(
    table: &DefinitionTable,
    system: &gander_system::System,
    a: &FlatRun,
    b: &FlatRun,
) -> Vec<Choice> {
    let same_step = |i: usize| a.steps.get(i).map(|s| s.0) == b.steps.get(i).map(|s| s.0);
    table
        .choices(system, a)
        .into_iter()
        .filter(|&c| match c {
            Choice::Var(i, v) => b
                .states
                .get(i as usize)
                .is_none_or(|s| s[v.index()] != a.states[i as usize][v.index()]),
            Choice::Param(i, _) => same_step(i as usize) && value_of(a, c) != value_of(b, c),
        })
        .collect()
}
