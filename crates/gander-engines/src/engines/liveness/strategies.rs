//! Strategies for deciding one claim about maximal runs.
//!
//! Either a run of the kind asked for is found: one that ends in a pending state ([`Aspect::Stuck`]), a lasso
//! ([`Aspect::Repetition`]), a recurrent set. Or there is none: then two proofs are needed, that no pending state is stuck,
//! and that no run has infinitely many rounds, for which there are several ways. Every way is a [`Strategy`]; the strategy that has
//! used the least time takes the next turn.

use std::time::{Duration, Instant};

use gander_system::passes::{Asked, Aspect, Finding, LivenessToSafety, liveness_to_safety};
use gander_system::{ClaimId, Evidence, Rounds, System, Verdict};
use gander_term::IBig;

use super::eg::GreatestFixpoint;
use super::fair_cycle::FairCycleSearch;
use super::nested_check::{Inquiry, Path, Reply, Whom};
use super::ranking::Ranking;
use super::recurrent_set::Recurrent;
use crate::core::EngineContext;
#[cfg(test)]
use crate::seeded_bugs::SeededBug;

/// Bounds on rounds are tried up to this.
const MOST_ROUNDS: u32 = 1 << 20;

/// For this long the search for fair cycles runs alone.
const FAIR_CYCLES_FIRST: Duration = Duration::from_millis(100);

/// The fixpoint of `EG` may use this many times as much time as the others.
const SHARE_OF_EG: u32 = 4;

/// The search for lassos may use this many times as much time as the others.
const SHARE_OF_LASSOS: u32 = 3;

/// One way to an answer.
enum Way {
    /// Fair cycles in the graph of all states.
    FairCycles(Box<FairCycleSearch>),
    /// The greatest fixpoint of `EG`, on polyhedra.
    Eg(Box<GreatestFixpoint>),
    /// Whether a pending state is stuck.
    Stuck(LivenessToSafety, Inquiry),
    /// Whether a pending state comes again.
    Repetition { bounds: Vec<Option<(IBig, IBig)>>, of: LivenessToSafety, question: Inquiry },
    /// Whether there are at most `k` rounds.
    Count { k: u32, question: Inquiry },
    /// Whether ranks decrease.
    Rank(Box<Ranking>),
    /// Whether a run can stay in a set for ever.
    Stay(Box<Recurrent>),
}

struct Strategy {
    way: Way,
    used: Duration,
}

/// What a piece of work on a strategy led to.
pub(super) enum Found {
    /// A run of the kind asked for.
    Run(Evidence),
    /// No pending state is stuck.
    NotStuck(Evidence),
    /// Finitely many rounds.
    Finite(Rounds),
    /// More to do here.
    More,
    /// This way leads nowhere.
    Nothing(String),
}

/// See the module's documentation.
pub(super) struct ClaimStrategies {
    pub claim: ClaimId,
    finding: Finding,
    strategies: Vec<Strategy>,
    /// Finite runs do not count, or none is pending: what shows it.
    not_stuck: Option<Option<Box<Evidence>>>,
    finite: Option<Rounds>,
    used: Duration,
    over: bool,
    why: Vec<String>,
}

impl ClaimStrategies {
    pub(super) fn new(context: &EngineContext, claim: ClaimId) -> Option<ClaimStrategies> {
        let system: &System = context.given();
        let asked = Asked::by(&system.claims.get(claim.index())?.kind)?;
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
        #[cfg(test)]
        let unfair = super::bugs::without_fairness(context, system, claim);
        #[cfg(test)]
        let system = unfair.as_ref().unwrap_or(system);
        #[cfg(test)]
        let fair_cycle = super::bugs::is_surveyed(context);
        #[cfg(not(test))]
        let fair_cycle = true;
        if fair_cycle {
            strategies.follow(Ok(Way::FairCycles(Box::new(FairCycleSearch::new(system, claim, asked.finite)))));
        }
        if fair_cycle && let Some(eg) = GreatestFixpoint::new(context.given(), claim, asked.clone()) {
            strategies.follow(Ok(Way::Eg(Box::new(eg))));
        }
        if asked.finite {
            let made = liveness_to_safety(system, claim, &Aspect::Stuck).map(|of| {
                let question = Inquiry::new(of.system.clone(), Whom::All);
                Way::Stuck(of, question)
            });
            strategies.follow(made.map_err(|e| e.to_string()));
        }
        let ranking = liveness_to_safety(system, claim, &Aspect::Rounds);
        strategies
            .follow(ranking.map(|of| Way::Rank(Box::new(Ranking::new(system, claim, of)))).map_err(|e| e.to_string()));
        let bounds = range_bounds(system);
        let repetition = |whom| repetition(system, claim, bounds.clone(), whom);
        strategies.follow(repetition(Whom::All));
        if bounds.iter().any(Option::is_some) {
            // Where others could prove that there is none, those that find runs would get a small share only.
            strategies.follow(repetition(Whom::RunFinders));
        }
        strategies.follow(Ok(Way::Stay(Box::new(Recurrent::new(claim, asked)))));
        strategies.follow(count(system, claim, 1));
        Some(strategies)
    }

    fn follow(&mut self, way: Result<Way, String>) {
        match way {
            Ok(way) => self.strategies.push(Strategy { way, used: Duration::ZERO }),
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
        let open = match (&self.not_stuck, &self.finite) {
            (Some(_), Some(_)) => return None,
            (None, Some(_)) => "whether every run can go on is open",
            (Some(Some(_)), None) => "every run can go on, but whether one does so for ever is open",
            (_, None) => "neither a lasso nor a rank nor a bound was found",
        };
        let why: Vec<&str> = self.why.iter().map(String::as_str).collect();
        Some(if why.is_empty() { open.to_string() } else { format!("{open}; {}", why.join("; ")) })
    }

    /// One piece of work.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        let needed = |t: &Strategy| match t.way {
            Way::FairCycles(_) => true,
            Way::Eg(_) => self.finite.is_none(),
            Way::Stuck(..) => self.not_stuck.is_none(),
            Way::Repetition { .. } | Way::Stay(_) => self.finite.is_none(),
            Way::Count { .. } | Way::Rank(_) => self.finite.is_none(),
        };
        let waits = |t: &Strategy| match t.way {
            Way::FairCycles(_) if t.used < FAIR_CYCLES_FIRST => Duration::ZERO,
            Way::Eg(ref eg) if eg.is_fresh(t.used) => Duration::ZERO,
            Way::Eg(_) => t.used / SHARE_OF_EG,
            Way::Repetition { ref question, .. } if question.finds_runs_only() => t.used / SHARE_OF_LASSOS,
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
        let found = self.strategies[at].way.follow(context, self.claim);
        let used = begun.elapsed();
        self.strategies[at].used += used;
        self.used += used;
        #[cfg(test)]
        let found = super::bugs::spoil(context, found);
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
        #[cfg(test)]
        super::bugs::forget_ends(context, &mut self.not_stuck);
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

/// Bounds of ints as they are declared.
fn range_bounds(system: &System) -> Vec<Option<(IBig, IBig)>> {
    let bounds = |v: &gander_system::StateVar| match (&v.range, v.sort) {
        (Some(r), gander_term::Sort::Int) => Some((r.low.clone(), r.high.clone())),
        _ => None,
    };
    system.vars.iter().map(bounds).collect()
}

/// The question whether a state comes again, for all engines if it can be answered in both ways.
fn repetition(system: &System, claim: ClaimId, bounds: Vec<Option<(IBig, IBig)>>, whom: Whom) -> Result<Way, String> {
    let of = liveness_to_safety(system, claim, &Aspect::Repetition(bounds.clone())).map_err(|e| e.to_string())?;
    let whom = if of.finite { whom } else { Whom::RunFinders };
    let question = Inquiry::new(of.system.clone(), whom);
    Ok(Way::Repetition { bounds, of, question })
}

fn count(system: &System, claim: ClaimId, k: u32) -> Result<Way, String> {
    let of = liveness_to_safety(system, claim, &Aspect::AtMost(k)).map_err(|e| e.to_string())?;
    Ok(Way::Count { k, question: Inquiry::new(of.system, Whom::All) })
}

impl Way {
    fn follow(&mut self, context: &EngineContext, claim: ClaimId) -> Found {
        match self {
            Way::FairCycles(fair_cycle) => fair_cycle.advance(context),
            Way::Eg(eg) => eg.advance(context.cancellation()),
            Way::Stuck(of, question) => match question.ask(context) {
                Reply::Holds(evidence) => Found::NotStuck(evidence),
                Reply::Fails(Evidence::Run(run)) => match of.run(&run) {
                    Some(run) => Found::Run(Evidence::Run(run)),
                    None => Found::Nothing(String::new()),
                },
                Reply::Fails(_) => Found::Nothing(String::new()),
                Reply::Later => Found::More,
                Reply::Never(why) => Found::Nothing(why),
            },
            Way::Repetition { bounds, of, question } => match question.ask(context) {
                Reply::Holds(proof) if of.finite => {
                    Found::Finite(Rounds::NoRepetition { bounds: bounds.clone(), proof: Box::new(proof) })
                }
                Reply::Holds(_) => Found::Nothing(String::new()),
                Reply::Fails(Evidence::Run(run)) => match lasso(of, &run) {
                    Some(evidence) => Found::Run(evidence),
                    // A value out of its bounds.
                    None => match repetition(context.given(), claim, vec![None; bounds.len()], Whom::All) {
                        Ok(way) if bounds.iter().any(Option::is_some) => {
                            *self = way;
                            Found::More
                        }
                        _ => Found::Nothing(String::new()),
                    },
                },
                Reply::Fails(_) => Found::Nothing(String::new()),
                Reply::Later => Found::More,
                Reply::Never(why) => Found::Nothing(why),
            },
            Way::Count { k, question } => match question.ask(context) {
                Reply::Holds(proof) => Found::Finite(Rounds::AtMost { k: *k, proof: Box::new(proof) }),
                #[cfg(test)]
                Reply::Fails(Evidence::Run(run)) if super::bugs::is_on(context, SeededBug::LassoOverSlice) => {
                    super::bugs::sliced_lasso(context, claim, *k, &run).map_or(Found::More, Found::Run)
                }
                Reply::Fails(_) if *k < MOST_ROUNDS => match count(context.given(), claim, *k * 2) {
                    Ok(way) => {
                        *self = way;
                        Found::More
                    }
                    Err(why) => Found::Nothing(why),
                },
                Reply::Fails(_) => Found::Nothing(format!("there can be more than {MOST_ROUNDS} rounds")),
                Reply::Later => Found::More,
                Reply::Never(why) => Found::Nothing(why),
            },
            Way::Rank(ranking) => match ranking.advance(context) {
                Some(Some(rounds)) => Found::Finite(rounds),
                Some(None) => Found::More,
                None => Found::Nothing(String::new()),
            },
            Way::Stay(recurrent) => match recurrent.advance(context) {
                Some(Some(evidence)) => Found::Run(evidence),
                Some(None) => Found::More,
                None => Found::Nothing(String::new()),
            },
        }
    }
}

/// The lasso that a run of a repetition system stands for; none if its last state is not the saved one.
fn lasso(of: &LivenessToSafety, run: &gander_system::Run) -> Option<Evidence> {
    let path = Path::of(&of.system, run)?;
    let back_to = path.steps.iter().position(|s| of.saves(s.transition))?;
    let old = of.run(run)?;
    let (home, end) = (&path.states[back_to], path.states.last()?);
    let same = of.old_node(home.node) == of.old_node(end.node)
        && home.values.iter().zip(&end.values).take(of.old_vars()).all(|(a, b)| a == b);
    same.then_some(Evidence::Lasso { run: old, back_to: back_to as u64 })
}
