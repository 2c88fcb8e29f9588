//! BDD operations with limits: every operation can fail because memory is exhausted or the work is
//! cancelled.

use std::sync::Arc;

use oxidd::bcdd::{BCDDFunction, BCDDManagerRef};
use oxidd::util::{OptBool, OutOfMemory};
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager,
    ManagerRef, Subst,
};
use rustc_hash::FxHashMap;

use super::pause::PauseControl;

/// A decision diagram.
pub(super) type Bdd = BCDDFunction;

/// Why work on BDDs ended early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    /// The node table is full.
    Memory,
    Cancelled,
    /// An int variable, by index, has values that do not fit its bits.
    Widen(usize),
    /// A feature that cannot be encoded, as text for the report.
    Obstacle(String),
}

impl From<OutOfMemory> for Halt {
    fn from(_: OutOfMemory) -> Halt {
        Halt::Memory
    }
}

pub(super) type Work<T> = Result<T, Halt>;

/// The capacity of a manager: nodes, and cached results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capacity {
    pub nodes: usize,
    pub cache: usize,
}

/// A BDD manager and its variables in order.
pub(super) struct BddManager {
    manager: BCDDManagerRef,
    vars: Vec<Bdd>,
    pause: Arc<PauseControl>,
}

impl BddManager {
    pub(super) fn new(capacity: Capacity, pause: &Arc<PauseControl>) -> BddManager {
        let manager = oxidd::bcdd::new_manager(capacity.nodes, capacity.cache, 1);
        BddManager { manager, vars: Vec::new(), pause: Arc::clone(pause) }
    }

    /// A new variable, below all others.
    pub(super) fn fresh(&mut self) -> Work<u32> {
        let var = self.manager.with_manager_exclusive(|m| {
            let new = m.add_vars(1);
            Bdd::var(m, new.start)
        })?;
        self.vars.push(var);
        Ok(self.vars.len() as u32 - 1)
    }

    pub(super) fn len(&self) -> usize {
        self.vars.len()
    }

    pub(super) fn var(&self, v: u32) -> &Bdd {
        &self.vars[v as usize]
    }

    pub(super) fn constant(&self, b: bool) -> Bdd {
        self.manager.with_manager_shared(|m| if b { Bdd::t(m) } else { Bdd::f(m) })
    }

    /// Fails if the work is cancelled; waits while it is paused.
    pub(super) fn check_pause(&self) -> Work<()> {
        if self.pause.may_go_on() { Ok(()) } else { Err(Halt::Cancelled) }
    }

    pub(super) fn and(&self, a: &Bdd, b: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.and(b)?)
    }

    pub(super) fn or(&self, a: &Bdd, b: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.or(b)?)
    }

    pub(super) fn xor(&self, a: &Bdd, b: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.xor(b)?)
    }

    pub(super) fn same(&self, a: &Bdd, b: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.equiv(b)?)
    }

    pub(super) fn not(&self, a: &Bdd) -> Work<Bdd> {
        Ok(a.not()?)
    }

    pub(super) fn ite(&self, c: &Bdd, a: &Bdd, b: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(c.ite(a, b)?)
    }

    pub(super) fn minus(&self, a: &Bdd, b: &Bdd) -> Work<Bdd> {
        let not = self.not(b)?;
        self.and(a, &not)
    }

    /// The conjunction of variables, which represents a set of them.
    pub(super) fn cube(&self, vars: &[u32]) -> Work<Bdd> {
        let mut all = self.constant(true);
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        for &v in sorted.iter().rev() {
            all = self.and(self.var(v), &all)?;
        }
        Ok(all)
    }

    /// `exists vars. a`
    pub(super) fn exists(&self, a: &Bdd, cube: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.exists(cube)?)
    }

    /// `exists vars. a and b`
    pub(super) fn and_exists(&self, a: &Bdd, b: &Bdd, cube: &Bdd) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.apply_exists(BooleanOperator::And, b, cube)?)
    }

    /// A substitution of variables for variables.
    pub(super) fn renaming(&self, pairs: &[(u32, u32)]) -> Renaming {
        let (from, to) = pairs.iter().map(|&(a, b)| (a, self.var(b).clone())).unzip();
        Renaming(Subst::new(from, to))
    }

    pub(super) fn rename(&self, a: &Bdd, by: &Renaming) -> Work<Bdd> {
        self.check_pause()?;
        Ok(a.substitute(&by.0)?)
    }

    /// The values of variables in a solution. Irrelevant variables are false.
    pub(super) fn pick(&self, a: &Bdd) -> Option<Vec<bool>> {
        let cube = a.pick_cube(|_, _, _| false)?;
        // Variables are never reordered, so indices are levels.
        let mut values: Vec<bool> = cube.into_iter().map(|v| v == OptBool::True).collect();
        values.resize(self.vars.len(), false);
        Some(values)
    }

    /// The BDD that is true exactly for these values of these variables.
    pub(super) fn point(&self, values: &[(u32, bool)]) -> Work<Bdd> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let mut all = self.constant(true);
        for &(v, b) in sorted.iter().rev() {
            let literal = if b { self.var(v).clone() } else { self.not(self.var(v))? };
            all = self.and(&literal, &all)?;
        }
        Ok(all)
    }

    /// The level of the topmost variable; `None` for a constant.
    pub(super) fn top(&self, a: &Bdd) -> Option<u32> {
        use oxidd::{HasLevel, Node};
        a.with_manager_shared(|m, edge| match m.get_node(edge) {
            Node::Inner(node) => Some(node.level()),
            Node::Terminal(_) => None,
        })
    }

    /// The number of solutions over these variables, which must include all that `a` depends on.
    #[allow(clippy::mutable_key_type, reason = "what a diagram is equal to never changes")]
    pub(super) fn count(&self, a: &Bdd, vars: &[u32]) -> Option<u64> {
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        let rank: FxHashMap<u32, usize> = sorted.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        // Counts over the variables from the node's level down.
        let mut known: FxHashMap<Bdd, u64> = FxHashMap::default();
        let mut stack = vec![a.clone()];
        let level =
            |f: &Bdd| self.top(f).and_then(|v| rank.get(&v).copied()).unwrap_or(sorted.len());
        let shifted = |n: u64, by: usize| {
            if n == 0 { Some(0) } else { n.checked_mul(1u64.checked_shl(by as u32)?) }
        };
        while let Some(f) = stack.last().cloned() {
            if known.contains_key(&f) {
                stack.pop();
                continue;
            }
            let Some((high, low)) = f.cofactors() else {
                known.insert(f.clone(), u64::from(f.satisfiable()));
                stack.pop();
                continue;
            };
            match (known.get(&high), known.get(&low)) {
                (Some(&h), Some(&l)) => {
                    let here = level(&f);
                    let h = shifted(h, level(&high) - here - 1)?;
                    let l = shifted(l, level(&low) - here - 1)?;
                    known.insert(f, h.checked_add(l)?);
                    stack.pop();
                }
                (h, l) => {
                    let missing: Vec<Bdd> = [(h, &high), (l, &low)]
                        .into_iter()
                        .filter(|(k, _)| k.is_none())
                        .map(|(_, f)| f.clone())
                        .collect();
                    stack.extend(missing);
                }
            }
        }
        shifted(known[a], level(a))
    }

    /// The number of nodes in use.
    pub(super) fn nodes(&self) -> usize {
        self.manager.with_manager_shared(|m| m.approx_num_inner_nodes())
    }
}

/// See [`BddManager::renaming`].
pub(super) struct Renaming(Subst<Bdd>);

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> Arc<PauseControl> {
        let pause = Arc::new(PauseControl::default());
        pause.go();
        pause
    }

    fn manager(vars: u32) -> BddManager {
        let mut manager = BddManager::new(Capacity { nodes: 1 << 12, cache: 1 << 10 }, &running());
        for _ in 0..vars {
            manager.fresh().unwrap();
        }
        manager
    }

    #[test]
    fn count_gives_the_number_of_solutions() {
        let manager = manager(6);
        let (a, b) = (manager.var(1), manager.var(3));
        let either = manager.or(a, b).unwrap();
        assert_eq!(manager.count(&either, &[1, 3]), Some(3));
        assert_eq!(manager.count(&either, &[0, 1, 3, 5]), Some(12));
        assert_eq!(manager.count(&manager.constant(false), &[0, 1]), Some(0));
        assert_eq!(manager.count(&manager.constant(true), &[0, 1]), Some(4));
    }

    #[test]
    fn operations_fail_after_stop() {
        let pause = running();
        let mut manager = BddManager::new(Capacity { nodes: 1 << 10, cache: 1 << 10 }, &pause);
        let (a, b) = (manager.fresh().unwrap(), manager.fresh().unwrap());
        assert!(manager.and(manager.var(a), manager.var(b)).is_ok());
        pause.stop();
        pause.go();
        assert!(matches!(manager.and(manager.var(a), manager.var(b)), Err(Halt::Cancelled)));
    }
}
