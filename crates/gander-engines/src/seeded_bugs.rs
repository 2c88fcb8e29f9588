//! Bugs to be put in on purpose, for tests that show that each of them is caught.

use gander_system::{Effect, System, TransitionId};
use gander_term::{Pool, TermId};

/// A mistake that an engine can be told to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SeededBug {
    /// The depth that was searched is taken for one more than it is.
    OffByOneDepth,
    /// Effects forget what they keep.
    DroppedFrame,
    /// Transitions lead to the node after the right one.
    WrongNode,
    /// Assumptions are not looked at.
    DroppedAssumption,
    /// States count as equal if they agree on the first variable.
    LoopFreeOverSlice,
    /// The step case assumes what it is to show.
    CircularStep,
    /// Some states that are met are not kept.
    LostState,
    /// Candidates for invariants need not hold in start states.
    ForgottenStart,
    /// Candidates that were dropped are still assumed.
    StaleAssumption,
    /// Octagons lose points when they are closed.
    WrongClosure,
    /// Candidates are `k`-inductive without having been looked at in the first `k` states.
    ShortBase,
    /// The closed form of a loop is that of one round less.
    OneRoundLess,
    /// What must hold in every round of a loop is looked at in the first only.
    OnlyTheFirstRound,
    /// What a loop sets is taken for what it would be set to a round later.
    DelayForgotten,
    /// A loop may be done no times, or fewer.
    NoRounds,
    /// Pre-images forget the guard.
    ForgottenGuard,
    /// A set is dropped if it contains another one, not if it is contained.
    SubsumedTheWrongWay,
    /// A parameter that is left in a pre-image is the same at every step.
    ParameterNotRenamed,
    /// A parameter is the same choice at every step of a path.
    ChoicesShared,
    /// A step is feasible if its own conditions are.
    PathForgotten,
    /// Steps to numbers that have no room are left out.
    IgnoredOverflow,
    /// A run comes back where its first variable does.
    LassoOverSlice,
    /// A loop begins one state later than it does.
    LateLoop,
    /// Loops need not be fair.
    DroppedFairness,
    /// Ranks may decrease for ever.
    UnboundedRank,
    /// There is one round less than there may be.
    OneRoundTooFew,
    /// Runs do not end.
    ForgottenEnds,
    /// A goal that was not found is lost.
    LostTooSoon,
    /// The last two frames are taken for equal.
    FramesTakenForEqual,
    /// A set that lost conjuncts is taken for what can be reached.
    TakenForExact,
    /// Of the values that a quantifier ranges over the last is left out.
    LastInstanceForgotten,
    /// Some of many is taken for all of them, and the other way round.
    QuantifiersSwapped,
    /// Every second depth is left out.
    DepthSkipped,
    /// The smallest size is never tried.
    SizeSkipped,
    /// A lemma is put into the frame after the one that it was shown for.
    LemmaTooHigh,
}

impl SeededBug {
    /// Those of closed forms.
    pub(crate) const OF_ACCELERATION: [SeededBug; 4] =
        [SeededBug::OneRoundLess, SeededBug::OnlyTheFirstRound, SeededBug::DelayForgotten, SeededBug::NoRounds];

    /// Those that the encoding, bounded model checking or induction make.
    pub(crate) const ALL: [SeededBug; 6] = [
        SeededBug::OffByOneDepth,
        SeededBug::DroppedFrame,
        SeededBug::WrongNode,
        SeededBug::DroppedAssumption,
        SeededBug::LoopFreeOverSlice,
        SeededBug::CircularStep,
    ];
}

pub(crate) fn effect_without_frames(system: &System, pool: &mut Pool, t: TransitionId) -> TermId {
    let effects = &system.transition(t).effect;
    let kept = effects.iter().filter(|e| !matches!(e, Effect::Keep { .. }));
    let parts: Vec<TermId> = kept.map(|e| system.effect_part(pool, e)).collect();
    pool.and(parts)
}

mod tests {
    use super::*;
    use crate::engines::engines;
    use std::sync::Arc;
    use std::time::Duration;

    use gander_oracle::{GeneratedSystem, OpenRun, OpenSystem, Tier, generate, generate_open};
    use gander_smt::Solvers;
    use gander_system::{ClaimId, Evidence, Verdict};

    use crate::{Cancellation, CheckConfig, NullObserver, check};

    /// How a bug was noticed on a system, if it was.
    fn noticed(
        solvers: &Arc<Solvers>,
        made: &GeneratedSystem,
        bug: Option<SeededBug>,
        engines: &[&str],
    ) -> Option<String> {
        let system = &made.system;
        let claims = (0..system.claims.len()).map(ClaimId::from).collect();
        let mut config = CheckConfig::new(Arc::clone(solvers), claims);
        config.engines = Some(engines.iter().map(|e| e.to_string()).collect());
        config.jobs = 1;
        config.timeout = Some(Duration::from_secs(20));
        config.options.max_depth = Some(3);
        config.options.induction.max_k = Some(5);
        config.options.invariants.max_rounds = Some(4);
        config.options.bug = bug;
        let report = check(system, &config, &Cancellation::new(), &NullObserver);
        if let Some(e) = report.internal_errors.first() {
            return Some(format!("the checker: {}", e.problem));
        }
        for (outcome, expected) in report.outcomes.iter().zip(&made.answers) {
            let (holds, evidence) = match &outcome.verdict {
                Verdict::Holds(e) => (true, e),
                Verdict::Fails(e) => (false, e),
                Verdict::Unknown { explored_through, .. } => {
                    if expected.length.is_some_and(|n| explored_through.is_some_and(|d| n <= u64::from(d))) {
                        return Some("the oracle: a run within the depth that was explored".into());
                    }
                    continue;
                }
            };
            let length = match evidence {
                Evidence::Run(run) => Some(run.length()),
                _ => None,
            };
            // Runs of property-directed reachability need not be shortest.
            let wrong_length =
                if engines.contains(&"pdr") { length < expected.length } else { length != expected.length };
            if holds != expected.holds || (length.is_some() && wrong_length) {
                return Some("the oracle: another answer".into());
            }
        }
        None
    }

    #[test]
    fn every_seeded_bug_is_caught() {
        if !Tier::is_full("every_seeded_bug_is_caught") {
            return;
        }
        // Without simulation, which shares nothing of the encoding and would answer in time.
        are_caught(&SeededBug::ALL, &["bmc", "induction"]);
    }

    /// How a bug in the search with small sizes was noticed on a system with arrays of an open size, if it was.
    fn noticed_in_open(solvers: &Arc<Solvers>, open: &OpenSystem, bug: Option<SeededBug>) -> Option<String> {
        let claims = (0..open.system.claims.len()).map(ClaimId::from).collect();
        let mut config = CheckConfig::new(Arc::clone(solvers), claims);
        config.engines = Some(vec!["sizes".into()]);
        config.timeout = Some(Duration::from_secs(10));
        config.options.max_depth = Some(3);
        config.options.bug = bug;
        let begun = std::time::Instant::now();
        let report = check(&open.system, &config, &Cancellation::new(), &NullObserver);
        let in_time = config.timeout.is_none_or(|t| begun.elapsed() < t);
        let decides = engines().iter().find(|e| e.name == "sizes").expect("it is an engine").decides;
        if let Some(e) = report.internal_errors.first() {
            return Some(format!("the checker: {}", e.problem));
        }
        for (i, outcome) in report.outcomes.iter().enumerate() {
            let (holds, run) = match &outcome.verdict {
                Verdict::Holds(Evidence::Run(run)) => (true, run),
                Verdict::Fails(Evidence::Run(run)) => (false, run),
                _ => {
                    let kind = &open.system.claims[i].kind;
                    let due = open.shortest(i).is_some_and(|(_, length)| length <= 3);
                    if in_time && decides(kind) && due {
                        return Some("the oracle: a run that was not found".into());
                    }
                    continue;
                }
            };
            let size = match &run.first.values[open.sizes[0].index()] {
                gander_term::Value::Int(n) => i64::try_from(n).ok(),
                _ => None,
            };
            if !open.agrees(i, OpenRun { holds, size, length: run.length() }) {
                return Some("the oracle: another run".into());
            }
        }
        None
    }

    #[test]
    fn bugs_of_small_sizes_are_caught() {
        if !Tier::is_full("bugs_of_small_sizes_are_caught") {
            return;
        }
        use SeededBug::*;
        let solvers = Arc::new(Solvers::from_environment().kept_running());
        for bug in [LastInstanceForgotten, QuantifiersSwapped, DepthSkipped, SizeSkipped] {
            let look = |seed, bug| noticed_in_open(&solvers, &generate_open(seed), bug);
            let caught = (0..200).find_map(|seed| look(seed, Some(bug)).map(|how| (seed, how)));
            let (seed, _) = caught.unwrap_or_else(|| panic!("{bug:?} is not caught"));
            assert_eq!(look(seed, None), None, "without {bug:?} nothing is wrong");
        }
    }

    fn are_caught(bugs: &[SeededBug], engines: &[&str]) {
        let solvers = Arc::new(Solvers::from_environment());
        for &bug in bugs {
            let look = |seed, bug| noticed(&solvers, &generate(seed), bug, engines);
            let caught = (0..400).find_map(|seed| look(seed, Some(bug)).map(|how| (seed, how)));
            let (seed, _) = caught.unwrap_or_else(|| panic!("{bug:?} is not caught"));
            assert_eq!(look(seed, None), None, "without {bug:?} nothing is wrong");
        }
    }

    #[test]
    fn bugs_of_diagrams_are_caught() {
        if !Tier::is_full("bugs_of_diagrams_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[DroppedAssumption, IgnoredOverflow, WrongNode], &["bdd"]);
    }

    #[test]
    fn bugs_of_explicit_search_are_caught() {
        if !Tier::is_full("bugs_of_explicit_search_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[DroppedFrame, WrongNode, DroppedAssumption, LostState], &["explicit"]);
    }

    #[test]
    fn bugs_of_property_directed_reachability_are_caught() {
        if !Tier::is_full("bugs_of_property_directed_reachability_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[ForgottenStart, FramesTakenForEqual, LemmaTooHigh, DroppedAssumption], &["pdr"]);
    }

    #[test]
    fn bugs_of_the_search_for_invariants_are_caught() {
        if !Tier::is_full("bugs_of_the_search_for_invariants_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[ForgottenStart, StaleAssumption, ShortBase], &["invariants"]);
    }

    /// A counter with a copy of its value a step before, and a limit.
    fn counter() -> Arc<System> {
        use gander_system::{ClaimKind, ClaimOrigin, NodeId, Role, SystemBuilder};
        use gander_term::{Sort, parse_term};
        let mut b = SystemBuilder::new("counter", Pool::new(), &[("N", None)]).unwrap();
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let old = b.var("old", Sort::Int, Role::State, None, None).unwrap();
        let begin = parse_term(&mut b.pool, "x == 0 and old == 0").unwrap();
        b.start("go", NodeId(0), &[(begin, None)], None).unwrap();
        let mut draft = b.transition("up", None, NodeId(0), NodeId(0), None).unwrap();
        let guard = parse_term(&mut b.pool, "x < 100").unwrap();
        b.guard(&mut draft, guard, None).unwrap();
        for (var, text) in [(x, "x + 1"), (old, "x")] {
            let value = parse_term(&mut b.pool, text).unwrap();
            b.assign(&mut draft, var, value, None).unwrap();
        }
        b.add(draft).unwrap();
        for text in ["x < 60", "old < 50", "x < 150", "x >= 0"] {
            let formula = parse_term(&mut b.pool, text).unwrap();
            let formula = b.state_formula(formula, "claim").unwrap();
            b.claim(text, ClaimKind::Always(formula), ClaimOrigin::Written, text, None).unwrap();
        }
        Arc::new(b.finish())
    }

    /// What acceleration makes of the counter: a word for each claim, and what went wrong inside.
    fn accelerated(solvers: &Arc<Solvers>, bug: Option<SeededBug>) -> (Vec<String>, usize) {
        let system = counter();
        let claims = (0..system.claims.len()).map(ClaimId::from).collect();
        let mut config = CheckConfig::new(Arc::clone(solvers), claims);
        config.engines = Some(vec!["accelerate".into()]);
        config.timeout = Some(Duration::from_secs(20));
        config.options.max_depth = Some(6);
        config.options.bug = bug;
        let report = check(&system, &config, &Cancellation::new(), &NullObserver);
        let word = |verdict: &Verdict| match verdict {
            Verdict::Holds(_) => "holds".to_string(),
            Verdict::Fails(Evidence::Run(run)) => format!("fails after {}", run.length()),
            Verdict::Fails(_) => "fails".to_string(),
            Verdict::Unknown { why, .. } => {
                let broken = why.iter().any(|o| o.reason.contains("could not be written down"));
                if broken { "broken".to_string() } else { "not decided".to_string() }
            }
        };
        (report.outcomes.iter().map(|o| word(&o.verdict)).collect(), report.internal_errors.len())
    }

    #[test]
    fn every_seeded_bug_of_acceleration_is_caught() {
        if !Tier::is_full("every_seeded_bug_of_acceleration_is_caught") {
            return;
        }
        let solvers = Arc::new(Solvers::from_environment());
        let (right, errors) = accelerated(&solvers, None);
        assert_eq!(right[..2], ["fails after 60", "fails after 51"]);
        assert!(right[2..].iter().all(|w| w == "holds" || w == "not decided"), "{right:?}");
        assert_eq!(errors, 0);
        for bug in SeededBug::OF_ACCELERATION {
            let (words, errors) = accelerated(&solvers, Some(bug));
            let caught = errors > 0 || words.iter().any(|w| w == "broken");
            assert!(caught, "{bug:?} is not caught: {words:?}");
        }
    }

    #[test]
    fn bugs_of_backward_search_are_caught() {
        if !Tier::is_full("bugs_of_backward_search_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[ForgottenGuard, SubsumedTheWrongWay, ParameterNotRenamed], &["backward"]);
    }

    #[test]
    fn bugs_of_node_invariants_are_caught() {
        if !Tier::is_full("bugs_of_node_invariants_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[ForgottenGuard, DroppedFrame, DroppedAssumption, ForgottenStart, TakenForExact], &["nodes"]);
    }

    #[test]
    fn bugs_of_directed_search_are_caught() {
        if !Tier::is_full("bugs_of_directed_search_are_caught") {
            return;
        }
        use SeededBug::*;
        are_caught(&[DroppedFrame, WrongNode, DroppedAssumption], &["guided"]);
    }

    #[test]
    fn bugs_of_path_search_are_caught() {
        if !Tier::is_full("bugs_of_path_search_are_caught") {
            return;
        }
        are_caught(&[SeededBug::ChoicesShared, SeededBug::PathForgotten], &["paths"]);
    }
    /// Octagons make candidates only: a wrong one is sifted out, and no answer is wrong for it.
    #[test]
    fn a_wrong_closure_of_octagons_costs_candidates_only() {
        if !Tier::is_full("a_wrong_closure_of_octagons_costs_candidates_only") {
            return;
        }
        let solvers = Arc::new(Solvers::from_environment());
        for seed in 0..40 {
            let how = noticed(&solvers, &generate(seed), Some(SeededBug::WrongClosure), &["invariants"]);
            assert_eq!(how, None, "{seed}");
        }
    }
}
