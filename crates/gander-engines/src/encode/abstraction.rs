//! Abstraction refinement for effects: a path begins without the effects of its transitions, and
//! those that a model violates are added.
//!
//! After the lecture on Kind 2 (Champion 2016): a formula that is unsatisfiable without some
//! equations is unsatisfiable with them, and proofs often need few. A part of an effect that was
//! added stays, at every step.

use std::sync::Arc;

use gander_system::{Effect, TransitionId};
use gander_term::{TermId, Value, evaluate};

use crate::encode::encoding::Encoding;
use crate::encode::unrolling::Path;

/// The parts of effects that a path has.
#[derive(Debug)]
pub(crate) struct Abstraction {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    transition: TransitionId,
    /// The part over the transition's own parameters.
    plain: TermId,
    /// `take t -> part`, over shared parameters.
    guarded: TermId,
    present: bool,
}

impl Abstraction {
    /// The abstraction without any effect.
    pub(crate) fn new(e: &mut Encoding) -> Abstraction {
        let system = Arc::clone(&e.system);
        let mut parts = Vec::new();
        for transition in system.transition_ids() {
            for effect in &system.transition(transition).effect {
                let plain = match *effect {
                    Effect::Constrain { relation, .. } => relation.term(),
                    Effect::Assign { var, value, .. } => {
                        let next = e.pool.var(system.var(var).next);
                        e.pool.eq(next, value.term())
                    }
                    Effect::Keep { var, .. } => {
                        let (now, next) =
                            (e.pool.var(system.var(var).current), e.pool.var(system.var(var).next));
                        e.pool.eq(next, now)
                    }
                };
                let shared = e.with_shared(transition, plain);
                let take = e.take(transition);
                let guarded = e.pool.implies(take, shared);
                parts.push(Part { transition, plain, guarded, present: false });
            }
        }
        Abstraction { parts }
    }

    /// The parts that every step has.
    pub(crate) fn present(&self) -> impl Iterator<Item = TermId> + '_ {
        self.parts.iter().filter(|p| p.present).map(|p| p.guarded)
    }

    /// Adds the parts that the path violates, at its last violating step, and returns them. Empty
    /// if it violates none.
    pub(crate) fn refine(&mut self, e: &Encoding, path: &Path) -> Vec<TermId> {
        let system = &e.system;
        for (i, (transition, params)) in path.steps.iter().enumerate().rev() {
            let (Some(now), Some(next)) = (path.states.get(i), path.states.get(i + 1)) else {
                continue;
            };
            let own = &system.transition(*transition).params;
            let at = |of: fn(&gander_system::StateVar) -> gander_term::SymbolId, s| {
                system.vars().iter().position(|v| of(v) == s)
            };
            let value = |s| {
                let now = at(|v| v.current, s).map(|v| now.values[v].clone());
                let next = || at(|v| v.next, s).map(|v| next.values[v].clone());
                let param = || own.iter().position(|p| p.symbol == s).map(|p| params[p].clone());
                now.or_else(next).or_else(param)
            };
            let mut back = Vec::new();
            for part in self.parts.iter_mut().filter(|p| p.transition == *transition && !p.present)
            {
                if evaluate(&e.pool, part.plain, &value) != Ok(Value::Bool(true)) {
                    part.present = true;
                    back.push(part.guarded);
                }
            }
            if !back.is_empty() {
                return back;
            }
        }
        Vec::new()
    }
}
