//! The sets of parts that are still unexplored, as the models of a propositional formula.
//!
//! Each part is a Boolean variable; a model is an unexplored set. Supersets of an adequate set and
//! subsets of an inadequate one are blocked by clauses. (M. Liffiton, A. Previti, A. Malik, J.
//! Marques-Silva: Fast, flexible MUS enumeration, 2016.)

use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};

use crate::parts::set::PartSet;

/// See the module documentation.
pub(crate) struct UnexploredSets {
    solver: BasicSolver,
    vars: Vec<Var>,
}

impl UnexploredSets {
    /// All sets of `n` parts are unexplored.
    pub(crate) fn new(n: usize) -> UnexploredSets {
        let mut solver = BasicSolver::default();
        let vars = (0..n).map(|_| solver.new_var_default()).collect();
        UnexploredSets { solver, vars }
    }

    /// Blocks the set and its supersets.
    pub(crate) fn block_up(&mut self, set: &PartSet) {
        let mut clause: Vec<Lit> = set.iter().map(|p| Lit::new(self.vars[p], false)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    /// Blocks the set and its subsets.
    pub(crate) fn block_down(&mut self, set: &PartSet) {
        let mut clause: Vec<Lit> =
            set.complement().iter().map(|p| Lit::new(self.vars[p], true)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    fn solve(&mut self, fixed: &[Lit]) -> Option<PartSet> {
        if self.solver.solve_limited(fixed) != lbool::TRUE {
            return None;
        }
        let n = self.vars.len();
        Some(PartSet::of(n, (0..n).filter(|&p| self.solver.value_var(self.vars[p]) == lbool::TRUE)))
    }

    /// A maximal unexplored superset of `base`; `None` if there is none.
    pub(crate) fn maximal_above(&mut self, base: &PartSet) -> Option<PartSet> {
        let mut fixed: Vec<Lit> = base.iter().map(|p| Lit::new(self.vars[p], true)).collect();
        let mut set = self.solve(&fixed)?;
        let mut decided = base.clone();
        loop {
            for p in set.iter().filter(|&p| !decided.has(p)) {
                fixed.push(Lit::new(self.vars[p], true));
            }
            decided = decided.union(&set);
            let Some(next) = set.complement().iter().find(|&p| !decided.has(p)) else {
                return Some(set);
            };
            decided.insert(next);
            fixed.push(Lit::new(self.vars[next], true));
            match self.solve(&fixed) {
                Some(larger) => set = larger,
                None => drop(fixed.pop()),
            }
        }
    }

    /// A maximal unexplored set.
    pub(crate) fn maximal(&mut self) -> Option<PartSet> {
        let none = PartSet::none(self.vars.len());
        self.maximal_above(&none)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximal_returns_each_unexplored_set_until_all_are_blocked() {
        let mut map = UnexploredSets::new(3);
        assert_eq!(map.maximal(), Some(PartSet::all(3)));
        map.block_up(&PartSet::of(3, [0, 1]));
        let set = map.maximal().unwrap();
        assert_eq!(set.len(), 2);
        assert!(set.has(2));
        map.block_down(&PartSet::of(3, [0, 2]));
        assert_eq!(map.maximal(), Some(PartSet::of(3, [1, 2])));
        map.block_down(&PartSet::of(3, [1, 2]));
        assert_eq!(map.maximal(), None);
    }

    #[test]
    fn the_empty_set_is_unexplored_when_there_are_no_parts() {
        let mut map = UnexploredSets::new(0);
        assert_eq!(map.maximal(), Some(PartSet::none(0)));
        map.block_up(&PartSet::none(0));
        assert_eq!(map.maximal(), None);
    }
}
