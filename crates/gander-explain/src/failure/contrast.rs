//! The nearest run that ends otherwise.
//!
//! Of the runs of the same length in which nothing is broken (or the goal is not met, or that can go on or may stop) one that makes as few choices
//! otherwise as possible; first along the same transitions, and if there is none, along any.

use std::sync::Arc;

use gander_smt::{Literal, Template};
use gander_system::NodeId;
use gander_term::{IBig, TermId, Value};

use super::choices::{Choice, Giving};
use super::ending::{Ending, Going, Stage, at_node, goes};
use super::flat::FlatRun;
use super::maxsat::{Fulfilled, fulfil};
use super::search::Search;
use super::smooth::{Target, equals, towards, value_of};

/// A run that ends otherwise.
pub(crate) struct Nearest {
    pub run: FlatRun,
    /// It takes the same transitions.
    pub same_way: bool,
    /// No run that ends otherwise (along the same transitions, if it takes them) makes fewer choices otherwise.
    pub least: bool,
}

/// What was found.
pub(crate) enum Otherwise {
    Run(Nearest),
    /// Every run of this length ends alike.
    None,
    Unknown,
}

/// Looks for the nearest run.
pub(crate) fn nearest(search: &mut Search, giving: &Giving, run: &FlatRun, ending: &Ending) -> Otherwise {
    let steps = run.len();
    let mut demanded = search.length(steps);
    match ending {
        Ending::Goals(stages) => match &stages[..] {
            [Stage::State(goal)] => {
                let not = search.pool.not(*goal);
                let template = search.compile(not);
                demanded.extend((0..=steps).map(|i| search.literal_at(&template, i)));
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
                demanded.extend((0..steps).map(|i| search.literal_at(&template, i)));
            }
            _ => return Otherwise::Unknown,
        },
        Ending::Sinkhole(n) => {
            let ways = open_ways(search, Some(*n));
            demanded.push(search.literal_at(&ways, steps));
        }
        Ending::Deadlock => {
            let ways = open_ways(search, None);
            demanded.push(search.literal_at(&ways, steps));
        }
    }
    let choices = giving.choices(&Arc::clone(&search.system), run);
    let way = search.same_way(run);
    let wishes: Vec<Literal> = choices.iter().map(|&c| equals(search, c, run, &value_of(run, c))).collect();
    let mut along = demanded.clone();
    along.extend(&way);
    match fulfil(search, &along, &wishes) {
        Fulfilled::Best(best) => {
            let Some(other) = search.read(steps) else { return Otherwise::Unknown };
            along.extend(best.assumptions);
            let other = nearer_values(search, along, (&choices, run), other);
            return Otherwise::Run(Nearest { run: other, same_way: true, least: best.least });
        }
        Fulfilled::Unknown => return Otherwise::Unknown,
        Fulfilled::Impossible => {}
    }
    let mut wishes = wishes;
    wishes.extend(&way);
    match fulfil(search, &demanded, &wishes) {
        Fulfilled::Best(best) => match search.read(steps) {
            Some(other) => Otherwise::Run(Nearest { run: other, same_way: false, least: best.least }),
            None => Otherwise::Unknown,
        },
        Fulfilled::Impossible => Otherwise::None,
        Fulfilled::Unknown => Otherwise::Unknown,
    }
}

/// The last state is not a sinkhole at the node, or not a deadlock. That a transition can be taken is said of the parameters and
/// the next values that follow the run: there some exist if they can.
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
                let how = if sinkhole.is_some() { Going::Enabled } else { Going::Completed };
                for &t in system.leaving(n) {
                    let goes = goes(&system, pool, t, how);
                    ways.push(pool.and([at, goes]));
                }
            }
        }
    }
    let ways = pool.or(ways);
    search.compile(ways)
}

/// The same choices otherwise, as little otherwise as possible, one after the other.
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

/// The choices that differ between two runs of one length; where transitions differ, these are not compared.
pub(crate) fn differing(giving: &Giving, system: &gander_system::System, a: &FlatRun, b: &FlatRun) -> Vec<Choice> {
    let same_step = |i: usize| a.steps.get(i).map(|s| s.0) == b.steps.get(i).map(|s| s.0);
    giving
        .choices(system, a)
        .into_iter()
        .filter(|&c| match c {
            Choice::Var(i, v) => {
                b.states.get(i as usize).is_none_or(|s| s[v.index()] != a.states[i as usize][v.index()])
            }
            Choice::Param(i, _) => same_step(i as usize) && value_of(a, c) != value_of(b, c),
        })
        .collect()
}
