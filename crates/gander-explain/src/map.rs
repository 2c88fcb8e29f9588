//! The map of sets of parts: which are still unexplored.
//!
//! A truth variable for each part; a model is a set about which nothing is known yet. Above an adequate set and below an
//! inadequate one everything is known. (M. Liffiton, A. Previti, A. Malik, J. Marques-Silva: Fast, flexible MUS
//! enumeration, 2016.)

use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};

use crate::set::PartSet;

/// See the module's documentation.
pub(crate) struct Map {
    solver: BasicSolver,
    vars: Vec<Var>,
}

impl Map {
    /// Nothing is known of the sets of `n` parts.
    pub(crate) fn new(n: usize) -> Map {
        let mut solver = BasicSolver::default();
        let vars = (0..n).map(|_| solver.new_var_default()).collect();
        Map { solver, vars }
    }

    /// The set and what is above it is known.
    pub(crate) fn block_up(&mut self, set: &PartSet) {
        let mut clause: Vec<Lit> = set.iter().map(|p| Lit::new(self.vars[p], false)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    /// The set and what is below it is known.
    pub(crate) fn block_down(&mut self, set: &PartSet) {
        let mut clause: Vec<Lit> = set.complement().iter().map(|p| Lit::new(self.vars[p], true)).collect();
        self.solver.add_clause_reuse(&mut clause);
    }

    fn solve(&mut self, fixed: &[Lit]) -> Option<PartSet> {
        if self.solver.solve_limited(fixed) != lbool::TRUE {
            return None;
        }
        let n = self.vars.len();
        Some(PartSet::of(n, (0..n).filter(|&p| self.solver.value_var(self.vars[p]) == lbool::TRUE)))
    }

    /// A maximal unexplored set that has all of `base`; none if there is none.
    pub(crate) fn maximal_above(&mut self, base: &PartSet) -> Option<PartSet> {
        let mut fixed: Vec<Lit> = base.iter().map(|p| Lit::new(self.vars[p], true)).collect();
        let mut set = self.solve(&fixed)?;
        let mut decided = base.clone();
        loop {
            for p in set.iter().filter(|&p| !decided.has(p)) {
                fixed.push(Lit::new(self.vars[p], true));
            }
            decided = decided.union(&set);
            let Some(next) = set.complement().iter().find(|&p| !decided.has(p)) else { return Some(set) };
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
    fn maximal_sets_until_nothing_is_left() {
        let mut map = Map::new(3);
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
    fn a_map_of_nothing() {
        let mut map = Map::new(0);
        assert_eq!(map.maximal(), Some(PartSet::none(0)));
        map.block_up(&PartSet::none(0));
        assert_eq!(map.maximal(), None);
    }
}
