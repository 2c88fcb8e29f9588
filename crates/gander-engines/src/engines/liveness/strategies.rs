//! Strategies for one claim about maximal runs.
//!
//! A run of the kind asked for is found by a stuck pending state ([`Aspect::Stuck`]), a lasso
//! ([`Aspect::Repetition`]) or a recurrent set. The absence of such runs needs two proofs: that no
//! pending state is stuck, and that no run has infinitely many rounds; there are several strategies
//! for the second. The [`Strategy`] that has used the least time takes the next turn.

use std::time::{Duration, Instant};

use gander_system::passes::{Aspect, DecidingRuns, Finding, LivenessToSafety, liveness_to_safety};
use gander_system::{ClaimId, Evidence, Rounds, System, Verdict};
use gander_term::IBig;

use super::eg::GreatestFixpoint;
use super::fair_cycle::FairCycleSearch;
use super::limits::LIMITS;
use super::nested_check::{EngineSelection, NestedQuestion, Path, Reply};
use super::ranking::Ranking;
use super::recurrent_set::Recurrent;
use crate::core::{EngineContext, Method as EngineMethod};

/// A method of a strategy.
enum Method {
    /// Search for fair cycles in the graph of all states.
    FairCycles(Box<FairCycleSearch>),
    /// The greatest fixpoint of `EG`, on polyhedra.
    Eg(Box<GreatestFixpoint>),
    /// Is a pending state stuck?
    Stuck(LivenessToSafety, NestedQuestion),
    /// Is a pending state repeated?
    Repetition { bounds: Vec<Option<(IBig, IBig)>>, of: LivenessToSafety, question: NestedQuestion },
    /// Are there at most `k` rounds?
    KLiveness { k: u32, question: NestedQuestion },
    /// Is there a ranking function?
    Ranking(Box<Ranking>),
    /// Is there a recurrent set?
    RecurrentSet(Box<Recurrent>),
}

struct Strategy {
    method: Method,
    used: Duration,
}

/// The result of a unit of work on a strategy.
pub(super) enum Found {
    /// A run of the kind asked for.
    Run(Evidence),
    /// No pending state is stuck.
    NotStuck(Evidence),
    /// A bound on the number of rounds.
    Finite(Rounds),
    /// There is more to do.
    More,
    /// The strategy has failed, for this reason.
    Nothing(String),
}

/// See the module's documentation.
pub(super) struct ClaimStrategies {
    pub claim: ClaimId,
    finding: Finding,
    strategies: Vec<Strategy>,
    /// Set if finite runs do not count (`None` inside), or once it is proved that no pending state
    /// is stuck.
    not_stuck: Option<Option<Box<Evidence>>>,
    finite: Option<Rounds>,
    used: Duration,
    over: bool,
    why: Vec<String>,
}

impl ClaimStrategies {
    pub(super) fn new(context: &EngineContext, claim: ClaimId) -> Option<ClaimStrategies> {
        let system: &System = context.given();
        let asked = DecidingRuns::of(&system.claims().get(claim.index())?.kind)?;
        let mut strategies = ClaimStrategies {
            claim,
            finding: asked.finding,
            strategies: Vec::new(),
            not_stuck: if asked.finite { None } else { Some(None) },
            finite: None,
            used: Duration::ZERO,
            over: false,
            why: Vec::new(),
        };
        let fair_cycles = FairCycleSearch::new(system, claim, asked.finite);
        strategies.follow(Ok(Method::FairCycles(Box::new(fair_cycles))));
        let eg = context.config().options.uses(EngineMethod::PolyhedralEg);
        let eg = eg.then(|| GreatestFixpoint::new(context.given(), claim, asked.clone())).flatten();
        if let Some(eg) = eg {
            strategies.follow(Ok(Method::Eg(Box::new(eg))));
        }
        if asked.finite {
            let made = liveness_to_safety(system, claim, &Aspect::Stuck).map(|of| {
                let question = NestedQuestion::new(of.system.clone(), EngineSelection::All);
                Method::Stuck(of, question)
            });
            strategies.follow(made.map_err(|e| e.to_string()));
        }
        let ranking = liveness_to_safety(system, claim, &Aspect::Rounds);
        strategies.follow(
            ranking
                .map(|of| Method::Ranking(Box::new(Ranking::new(system, claim, of))))
                .map_err(|e| e.to_string()),
        );
        let bounds = range_bounds(system);
        let repetition = |selection| repetition(system, claim, bounds.clone(), selection);
        strategies.follow(repetition(EngineSelection::All));
        if bounds.iter().any(Option::is_some) {
            // Without this separate strategy, the engines that find runs would share their time
            // with those that try to prove the absence of a repetition.
            strategies.follow(repetition(EngineSelection::RunFinders));
        }
        strategies.follow(Ok(Method::RecurrentSet(Box::new(Recurrent::new(claim, asked)))));
        strategies.follow(count(system, claim, 1));
        Some(strategies)
    }

    fn follow(&mut self, method: Result<Method, String>) {
        match method {
            Ok(method) => self.strategies.push(Strategy { method, used: Duration::ZERO }),
            Err(why) => self.why.push(why),
        }
    }

    pub(super) fn used(&self) -> Duration {
        self.used
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn stop(&mut self) {
        self.over = true;
    }

    pub(super) fn obstacle(&self) -> Option<String> {
        let ending = match &self.not_stuck {
            None => RunsThatEnd::Open,
            Some(None) => RunsThatEnd::DoNotCount,
            Some(Some(_)) => RunsThatEnd::Excluded,
        };
        let infinite = match &self.finite {
            None => InfiniteRuns::Open,
            Some(_) => InfiniteRuns::Excluded,
        };
        let search = if self.over { Search::Ended } else { Search::Stopped };
        let open = open_question(self.finding, ending, infinite, search)?;
        let why: Vec<&str> = self.why.iter().map(String::as_str).collect();
        Some(if why.is_empty() { open } else { format!("{open}; {}", why.join("; ")) })
    }

    /// Does a unit of work.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        let needed = |t: &Strategy| match t.method {
            Method::FairCycles(_) => true,
            Method::Eg(_) => self.finite.is_none(),
            Method::Stuck(..) => self.not_stuck.is_none(),
            Method::Repetition { .. } | Method::RecurrentSet(_) => self.finite.is_none(),
            Method::KLiveness { .. } | Method::Ranking(_) => self.finite.is_none(),
        };
        let waits = |t: &Strategy| match t.method {
            Method::FairCycles(_) if t.used < LIMITS.cycles_alone => Duration::ZERO,
            Method::Eg(ref eg) if eg.is_fresh(t.used) => Duration::ZERO,
            Method::Eg(_) => t.used / LIMITS.eg_share,
            Method::Repetition { ref question, .. } if question.finds_runs_only() => {
                t.used / LIMITS.lasso_share
            }
            _ => t.used.max(Duration::from_nanos(1)),
        };
        let at = (0..self.strategies.len())
            .filter(|&i| needed(&self.strategies[i]))
            .min_by_key(|&i| waits(&self.strategies[i]));
        let Some(at) = at else {
            self.over = true;
            return;
        };
        let begun = Instant::now();
        let found = self.strategies[at].method.follow(context, self.claim);
        let used = begun.elapsed();
        self.strategies[at].used += used;
        self.used += used;
        match found {
            Found::More => {}
            Found::Run(evidence) => {
                self.over = true;
                context.propose_given(
                    self.claim,
                    match self.finding {
                        Finding::Shows => Verdict::Holds(evidence),
                        Finding::Breaks => Verdict::Fails(evidence),
                    },
                );
            }
            Found::NotStuck(evidence) => self.not_stuck = Some(Some(Box::new(evidence))),
            Found::Finite(rounds) => self.finite = Some(rounds),
            Found::Nothing(why) => {
                let _ = self.strategies.remove(at);
                if !why.is_empty() && !self.why.contains(&why) {
                    self.why.push(why);
                }
            }
        }
        if let (Some(stuck), Some(rounds), false) = (&self.not_stuck, &self.finite, self.over) {
            let evidence = Evidence::NoSuchRun { stuck: stuck.clone(), rounds: rounds.clone() };
            self.over = true;
            context.propose_given(
                self.claim,
                match self.finding {
                    Finding::Shows => Verdict::Fails(evidence),
                    Finding::Breaks => Verdict::Holds(evidence),
                },
            );
        }
    }
}

/// What is known of the runs that end and decide a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RunsThatEnd {
    /// The claim is about infinite runs only.
    DoNotCount,
    /// There is none.
    Excluded,
    /// There may be one.
    Open,
}

/// What is known of the infinite runs that decide a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum InfiniteRuns {
    /// There is none.
    Excluded,
    /// There may be one.
    Open,
}

/// Whether there was more to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Search {
    /// Every strategy has come to its end.
    Ended,
    /// Some strategy was not done, so what was not found may exist.
    Stopped,
}

/// What is left to decide, and what is known; `None` if nothing is left.
fn open_question(
    finding: Finding,
    ending: RunsThatEnd,
    infinite: InfiniteRuns,
    search: Search,
) -> Option<String> {
    let does = match finding {
        Finding::Shows => "shows it",
        Finding::Breaks => "breaks it",
    };
    Some(match (ending, infinite) {
        (RunsThatEnd::DoNotCount | RunsThatEnd::Excluded, InfiniteRuns::Excluded) => return None,
        (RunsThatEnd::Open, InfiniteRuns::Excluded) => {
            format!("no infinite run {does}; whether a run that ends {does} is open")
        }
        (RunsThatEnd::Excluded, InfiniteRuns::Open) => {
            format!("no run that ends {does}; whether an infinite run {does} is open")
        }
        (RunsThatEnd::DoNotCount | RunsThatEnd::Open, InfiniteRuns::Open) => match search {
            Search::Ended => "neither a lasso nor a rank nor a bound was found".to_string(),
            Search::Stopped => "stopped before a lasso, a rank or a bound was found".to_string(),
        },
    })
}

/// The declared bounds of ints.
fn range_bounds(system: &System) -> Vec<Option<(IBig, IBig)>> {
    let bounds = |v: &gander_system::StateVar| match (&v.range, v.sort) {
        (Some(r), gander_term::Sort::Int) => Some((r.low.clone(), r.high.clone())),
        _ => None,
    };
    system.vars().iter().map(bounds).collect()
}

/// The strategy for a repeated state. All engines are used if its absence would prove anything.
fn repetition(
    system: &System,
    claim: ClaimId,
    bounds: Vec<Option<(IBig, IBig)>>,
    selection: EngineSelection,
) -> Result<Method, String> {
    let of = liveness_to_safety(system, claim, &Aspect::Repetition(bounds.clone()))
        .map_err(|e| e.to_string())?;
    let selection = if of.finite { selection } else { EngineSelection::RunFinders };
    let question = NestedQuestion::new(of.system.clone(), selection);
    Ok(Method::Repetition { bounds, of, question })
}

fn count(system: &System, claim: ClaimId, k: u32) -> Result<Method, String> {
    let of = liveness_to_safety(system, claim, &Aspect::AtMost(k)).map_err(|e| e.to_string())?;
    Ok(Method::KLiveness { k, question: NestedQuestion::new(of.system, EngineSelection::All) })
}

impl Method {
    fn follow(&mut self, context: &EngineContext, claim: ClaimId) -> Found {
        match self {
            Method::FairCycles(fair_cycle) => fair_cycle.advance(context),
            Method::Eg(eg) => eg.advance(context.cancellation()),
            Method::Stuck(of, question) => match question.ask(context) {
                Reply::Holds(evidence) => Found::NotStuck(evidence),
                Reply::Fails(Evidence::Run(run)) => match of.run(&run) {
                    Some(run) => Found::Run(Evidence::Run(run)),
                    None => Found::Nothing(String::new()),
                },
                Reply::Fails(_) => Found::Nothing(String::new()),
                Reply::Undecided => Found::More,
                Reply::Unsupported(why) => Found::Nothing(format!("runs that end: {why}")),
            },
            Method::Repetition { bounds, of, question } => match question.ask(context) {
                Reply::Holds(proof) if of.finite => Found::Finite(Rounds::NoRepetition {
                    bounds: bounds.clone(),
                    proof: Box::new(proof),
                }),
                Reply::Holds(_) => Found::Nothing(String::new()),
                Reply::Fails(Evidence::Run(run)) => match lasso(of, &run) {
                    Some(evidence) => Found::Run(evidence),
                    // The run leaves the bounds of a value.
                    None => match repetition(
                        context.given(),
                        claim,
                        vec![None; bounds.len()],
                        EngineSelection::All,
                    ) {
                        Ok(method) if bounds.iter().any(Option::is_some) => {
                            *self = method;
                            Found::More
                        }
                        _ => Found::Nothing(String::new()),
                    },
                },
                Reply::Fails(_) => Found::Nothing(String::new()),
                Reply::Undecided => Found::More,
                Reply::Unsupported(why) => {
                    Found::Nothing(format!("runs with a repeated state: {why}"))
                }
            },
            Method::KLiveness { k, question } => match question.ask(context) {
                Reply::Holds(proof) => {
                    Found::Finite(Rounds::AtMost { k: *k, proof: Box::new(proof) })
                }
                Reply::Fails(_) if *k < LIMITS.rounds => {
                    match count(context.given(), claim, *k * 2) {
                        Ok(method) => {
                            *self = method;
                            Found::More
                        }
                        Err(why) => Found::Nothing(why),
                    }
                }
                Reply::Fails(_) => {
                    Found::Nothing(format!("there can be more than {} rounds", LIMITS.rounds))
                }
                Reply::Undecided => Found::More,
                Reply::Unsupported(why) => {
                    Found::Nothing(format!("runs with more than {k} rounds: {why}"))
                }
            },
            Method::Ranking(ranking) => match ranking.advance(context) {
                Some(Some(rounds)) => Found::Finite(rounds),
                Some(None) => Found::More,
                None => Found::Nothing(String::new()),
            },
            Method::RecurrentSet(recurrent) => match recurrent.advance(context) {
                Some(Some(evidence)) => Found::Run(evidence),
                Some(None) => Found::More,
                None => Found::Nothing(String::new()),
            },
        }
    }
}

/// The lasso of a run of the repetition system; `None` if its last state is not the saved one.
fn lasso(of: &LivenessToSafety, run: &gander_system::Run) -> Option<Evidence> {
    let path = Path::of(&of.system, run)?;
    let back_to = path.steps.iter().position(|s| of.saves(s.transition))?;
    let old = of.run(run)?;
    let (home, end) = (&path.states[back_to], path.states.last()?);
    let same = of.old_node(home.node) == of.old_node(end.node)
        && home.values.iter().zip(&end.values).take(of.old_vars()).all(|(a, b)| a == b);
    same.then_some(Evidence::Lasso { run: old, back_to: back_to as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_obstacle_says_only_which_deciding_runs_are_excluded() {
        let text =
            |finding, ending, infinite| open_question(finding, ending, infinite, Search::Ended);
        assert_eq!(
            text(Finding::Breaks, RunsThatEnd::Excluded, InfiniteRuns::Open).as_deref(),
            Some("no run that ends breaks it; whether an infinite run breaks it is open")
        );
        assert_eq!(
            text(Finding::Shows, RunsThatEnd::Open, InfiniteRuns::Excluded).as_deref(),
            Some("no infinite run shows it; whether a run that ends shows it is open")
        );
        assert_eq!(
            text(Finding::Shows, RunsThatEnd::DoNotCount, InfiniteRuns::Open).as_deref(),
            Some("neither a lasso nor a rank nor a bound was found")
        );
        let open = RunsThatEnd::Open;
        let stopped = open_question(Finding::Breaks, open, InfiniteRuns::Open, Search::Stopped);
        assert_eq!(stopped.as_deref(), Some("stopped before a lasso, a rank or a bound was found"));
        for ending in [RunsThatEnd::DoNotCount, RunsThatEnd::Excluded] {
            assert_eq!(text(Finding::Breaks, ending, InfiniteRuns::Excluded), None);
        }
    }
}
