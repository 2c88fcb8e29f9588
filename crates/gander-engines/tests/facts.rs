//! The invariants that the engine publishes hold in every state that the oracle reaches, and are
//! k-inductive as stated.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gander_engines::{
    Advance, Cancellation, CheckConfig, Cursor, Engine, EngineContext, EngineInfo, Fact,
    NullObserver, ProvedInvariant, check_with, engines,
};
use gander_oracle::{Limits, Reachable, generate};
use gander_smt::Solvers;
use gander_system::{ClaimId, System};
use gander_term::{Value, evaluate};

/// The published invariants, and their system.
static PUBLISHED: Mutex<Vec<(Arc<System>, ProvedInvariant)>> = Mutex::new(Vec::new());

/// The engine `invariants`, with a recorder for its published facts.
struct Recorder {
    engine: Box<dyn Engine>,
    cursor: Cursor,
}

impl Engine for Recorder {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let answer = self.engine.advance(context);
        for fact in context.blackboard().facts_since(&mut self.cursor) {
            if let Fact::Invariant(found) = &*fact {
                let mut published = PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner);
                published.push((Arc::clone(context.system()), found.clone()));
            }
        }
        answer
    }

    fn obstacle(&self, claim: ClaimId) -> Option<String> {
        self.engine.obstacle(claim)
    }
}

fn invariants() -> EngineInfo {
    *engines().iter().find(|e| e.name == "invariants").expect("there is such an engine")
}

#[test]
fn published_invariants_hold_in_all_reachable_states() {
    let overheard = EngineInfo {
        open: |context| {
            Box::new(Recorder { engine: (invariants().open)(context), cursor: Cursor::default() })
        },
        ..invariants()
    };
    let solvers = Arc::new(Solvers::from_environment());
    let (mut facts, mut conjuncts) = (0, 0);
    for seed in 800_000..800_030 {
        let made = generate(seed);
        let claims = (0..made.system.claims().len()).map(ClaimId::from).collect();
        let mut config = CheckConfig::new(Arc::clone(&solvers), claims);
        config.jobs = 1;
        config.timeout = Some(Duration::from_secs(20));
        config.options.invariants.max_rounds = Some(4);
        let report =
            check_with(&made.system, &config, &Cancellation::new(), &NullObserver, &[overheard]);
        assert!(report.internal_errors.is_empty(), "{seed}: {:?}", report.internal_errors);
        for (system, found) in PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            facts += 1;
            conjuncts += found
                .formulas
                .by_node
                .iter()
                .map(|&f| found.formulas.pool.args(f).len())
                .sum::<usize>();
            assert!(found.k >= 1 && !found.loop_free && !found.no_restart);
            // The reduced system has no more states than the given one.
            let limits = Limits { states: 100_000, work: 20_000_000 };
            let reachable =
                Reachable::explore(&system, system.pool(), limits).expect("a small system");
            for (node, values) in &reachable.states {
                let value = |s| {
                    system.vars().iter().position(|v| v.current == s).map(|i| values[i].clone())
                };
                let formula = found.formulas.by_node[node.index()];
                let truth = evaluate(&found.formulas.pool, formula, &value);
                let text = found.formulas.pool.display(formula);
                assert_eq!(truth, Ok(Value::Bool(true)), "{seed}: {text} at {node:?} {values:?}");
            }
        }
    }
    assert!(facts > 10 && conjuncts > 50, "{facts} facts with {conjuncts} conjuncts");
}
