//! The engines, one folder each.
//!
//! Engines do not import each other; they exchange facts over the blackboard. [`engines`] is the
//! only list of them.

mod accelerate;
mod backward;
mod bdd;
mod bmc;
mod explicit;
mod guided;
mod horn;
mod indexed;
mod induction;
mod invariants;
mod liveness;
mod nodes;
mod paths;
mod pdr;
mod simulate;
mod sizes;
mod smt_only;

use std::sync::OnceLock;

use crate::core::EngineInfo;
use crate::portfolio::{Portfolio, PortfolioError};

/// Every engine, in the order in which a check starts them: the cheap ones first.
pub fn engines() -> &'static [EngineInfo] {
    static ENGINES: &[EngineInfo] = &[
        simulate::INFO,
        bmc::INFO,
        sizes::INFO,
        indexed::INFO,
        induction::INFO,
        nodes::INFO,
        explicit::INFO,
        guided::INFO,
        bdd::INFO,
        invariants::INFO,
        pdr::INFO,
        horn::INFO,
        accelerate::INFO,
        liveness::INFO,
        backward::INFO,
        paths::INFO,
        smt_only::INFO,
    ];
    ENGINES
}

impl Portfolio {
    /// Reads a portfolio in TOML whose engines are those of [`engines`].
    pub fn parse(text: &str) -> Result<Portfolio, PortfolioError> {
        let known: Vec<&str> = engines().iter().map(|e| e.name).collect();
        Portfolio::read(text, &known)
    }
}

impl Default for Portfolio {
    fn default() -> Portfolio {
        static DEFAULT: OnceLock<Portfolio> = OnceLock::new();
        DEFAULT
            .get_or_init(|| {
                Portfolio::parse(Portfolio::DEFAULT).expect("a test reads the default portfolio")
            })
            .clone()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{Receiver, channel};

    use crate::core::{
        Advance, Blackboard, CheckConfig, Engine, EngineContext, Message, Reduction,
    };

    use gander_oracle::{GeneratedSystem, Settings, generate_with};
    use gander_process::ChildSet;
    use gander_runtime::{Cancellation, Stopped};
    use gander_smt::Solvers;
    use gander_system::{ClaimId, Verdict};

    /// A context for an engine, its cancellation, and the receiver of its messages.
    pub(crate) fn context(
        solvers: &Arc<Solvers>,
        made: &GeneratedSystem,
        info: &EngineInfo,
    ) -> (EngineContext, Cancellation, Receiver<Message>) {
        let claims: Vec<ClaimId> = (0..made.system.claims().len()).map(ClaimId::from).collect();
        let decides = |c: &ClaimId| (info.decides)(&made.system.claims()[c.index()].kind);
        let (messages, heard) = channel();
        let cancellation = Cancellation::new();
        let context = EngineContext {
            engine: info.name,
            shortest: info.finds_shortest,
            reduction: Reduction::of(&made.system, &Cancellation::new()),
            config: Arc::new(CheckConfig::new(Arc::clone(solvers), claims.clone())),
            claims: claims.into_iter().filter(decides).collect(),
            deferred: Arc::default(),
            blackboard: Arc::new(Blackboard::new(&made.system)),
            settled: Arc::new(
                made.system.claims().iter().map(|_| AtomicBool::new(false)).collect(),
            ),
            cancellation: cancellation.clone(),
            processes: ChildSet::default(),
            records: None,
            messages,
            nested_check: crate::director::check,
        };
        (context, cancellation, heard)
    }

    /// Asserts that every proposal of an engine is right.
    fn assert_proposals_are_right(
        made: &GeneratedSystem,
        info: &EngineInfo,
        heard: Receiver<Message>,
    ) {
        for message in heard {
            let Message::Proposal(p) = message else { continue };
            let holds = matches!(p.verdict, Verdict::Holds(_));
            let name = &made.system.claims()[p.claim.index()].name;
            assert_eq!(
                holds,
                made.answers[p.claim.index()].holds,
                "{}, seed {}: {name}",
                info.name,
                made.seed
            );
        }
    }

    fn few_turns(engine: &mut dyn Engine, context: &EngineContext) {
        for _ in 0..4 {
            if engine.advance(context) == Advance::Finished {
                break;
            }
        }
    }

    /// An engine that is cancelled before its first query proposes nothing wrong.
    #[test]
    fn cancelled_engines_propose_nothing_wrong() {
        let solvers = Arc::new(Solvers::from_environment());
        for seed in 0..12 {
            let made = generate_with(seed, Settings::few_states().linear());
            for info in engines() {
                let (context, cancel, heard) = context(&solvers, &made, info);
                let mut engine = (info.open)(&context);
                cancel.cancel();
                few_turns(&mut *engine, &context);
                drop((engine, context));
                assert_proposals_are_right(&made, info, heard);
            }
        }
    }

    /// An engine that is unwound at any point of its work proposes nothing wrong.
    #[test]
    fn unwound_engines_propose_nothing_wrong() {
        let solvers = Arc::new(Solvers::from_environment().kept_running());
        let mut unwound = 0;
        for seed in 0..4 {
            let made = generate_with(seed, Settings::few_states().linear());
            for info in engines() {
                for checks in [1, 40, 400, 3000] {
                    let (context, cancel, heard) = context(&solvers, &made, info);
                    let work = || few_turns(&mut *(info.open)(&context), &context);
                    unwound += u32::from(
                        Cancellation::after_checks(checks).run_cancellable(work)
                            == Err(Stopped::Cancelled),
                    );
                    cancel.cancel();
                    drop(context);
                    assert_proposals_are_right(&made, info, heard);
                }
            }
        }
        assert!(unwound > 60, "{unwound}");
    }
}
