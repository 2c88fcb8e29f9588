//! What the caller supplies: a prover, solvers and limits.

use std::sync::Arc;
use std::time::Duration;

use gander_runtime::Cancellation;
use gander_smt::Solvers;
use gander_system::{ClaimId, System, Verdict};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// Decides claims and checks evidence. This crate knows no engine; its caller supplies them through
/// this trait.
pub trait Prover {
    /// Decides a claim of a system within a time limit. The evidence in the verdict must have been
    /// checked.
    fn prove(&mut self, system: &Arc<System>, claim: ClaimId, time: Duration) -> Verdict;

    /// Checks the evidence in a verdict; an error says why it is not accepted.
    fn certify(&mut self, system: &System, claim: ClaimId, verdict: &Verdict)
    -> Result<(), String>;

    /// Another prover for use on another thread at the same time; `None` if there is none.
    fn helper(&self) -> Option<Box<dyn Prover + Send>> {
        None
    }

    /// A formula equivalent to `exists symbols. formula`, without a quantifier if possible: few
    /// solvers support quantifiers.
    fn eliminate(&mut self, pool: &mut Pool, symbols: &[SymbolId], formula: TermId) -> TermId {
        let mut bound = Vec::new();
        let mut map = FxHashMap::default();
        for &s in symbols {
            let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
            bound.push(pool.declare_bound(&name, sort));
            map.insert(s, pool.var(bound[bound.len() - 1]));
        }
        let formula = pool.substitute(formula, &map);
        pool.exists(&bound, formula)
    }
}

/// Solvers and time limits of an explanation.
#[derive(Clone, Debug)]
pub struct ExplainConfig {
    /// The solvers to use.
    pub solvers: Arc<Solvers>,
    /// Time limit for one claim; when it is reached, the result says what is known.
    pub timeout: Option<Duration>,
    /// Time limit for the engines on one relaxation that the known invariants do not decide.
    pub share: Duration,
    /// Cancels the work from another thread.
    pub cancellation: Cancellation,
}

impl ExplainConfig {
    /// Uses these solvers, without a time limit for the claim.
    pub fn new(solvers: &Arc<Solvers>) -> ExplainConfig {
        ExplainConfig {
            solvers: Arc::clone(solvers),
            timeout: None,
            share: Duration::from_secs(2),
            cancellation: Cancellation::new(),
        }
    }
}
