//! Abstract interpretation with octagons (which include intervals), up to an inductive element.
//!
//! An element of the domain has an octagon for each node and each value of a mode variable, over
//! the numeric variables that steps read. The iteration starts with the octagons around sampled
//! states. Instead of transfer functions per operator, it uses the best abstract transformer,
//! computed with a solver (Reps, Sagiv and Yorsh, *Symbolic implementation of the best
//! transformer*, 2004): a model is a step from the element to a state outside; the element is
//! widened to include that state, with the constants of the system as thresholds, until there is no
//! such step. The bounds of all intermediate elements are kept as candidates: Houdini finds the
//! tightest inductive ones, which replaces narrowing.
//!
//! The result is only a set of candidates, so an error here cannot make a verdict wrong.

use std::sync::Arc;

use gander_system::{NodeId, State};
use gander_term::{Pool, RBig, Sort, TermId, Value};
use rustc_hash::FxHashSet;

use crate::candidates::candidate::Candidate;
use crate::encode::encoding::Encoding;

use super::limits::LIMITS;
use crate::arith::number::rational;
use crate::arith::octagon::{Bound, Octagon};
use crate::candidates::candidate_terms::CandidateTerms;

/// An octagon for the states at a node in which a mode variable has a value.
struct Cell {
    node: NodeId,
    mode: Option<(usize, Value)>,
    sort: Sort,
    variables: Vec<usize>,
    /// `None` if no such state was seen.
    octagon: Option<Octagon>,
}

impl Cell {
    fn values(&self, state: &State) -> Option<Vec<RBig>> {
        let meant = state.node == self.node
            && self.mode.as_ref().is_none_or(|(v, value)| state.values[*v] == *value);
        if !meant {
            return None;
        }
        self.variables.iter().map(|v| rational(&state.values[*v])).collect()
    }
}

/// See the module's documentation.
pub(crate) struct OctagonAnalysis {
    cells: Vec<Cell>,
    ints: Vec<RBig>,
    reals: Vec<RBig>,
    /// The bounds of earlier elements.
    passed: FxHashSet<Candidate>,
    models: usize,
}

impl OctagonAnalysis {
    /// Starts with the octagons around sampled states; `None` if there are no numbers to bound or
    /// too many nodes.
    pub(crate) fn new(
        e: &mut Encoding,
        nodes: &[NodeId],
        candidate_terms: &CandidateTerms,
        samples: &dyn Fn(NodeId) -> Vec<State>,
    ) -> Option<OctagonAnalysis> {
        if nodes.len() > LIMITS.octagon_nodes {
            return None;
        }
        let (system, memory) = (Arc::clone(&e.system), e.memory());
        let numbers: FxHashSet<TermId> = candidate_terms.numbers.iter().copied().collect();
        let mut of_sort = Vec::new();
        for sort in [Sort::Int, Sort::Real] {
            let mut variables: Vec<usize> = Vec::new();
            for (v, var) in system.vars().iter().enumerate() {
                if var.sort == sort && memory[v] && numbers.contains(&e.pool.var(var.current)) {
                    variables.push(v);
                }
            }
            variables.truncate(LIMITS.octagon_variables);
            if !variables.is_empty() {
                of_sort.push((sort, variables));
            }
        }
        if of_sort.is_empty() {
            return None;
        }
        let modes = modes(e, candidate_terms);
        let mut cells = Vec::new();
        for &node in nodes {
            for (sort, variables) in &of_sort {
                for mode in std::iter::once(None).chain(modes.iter().cloned().map(Some)) {
                    cells.push(Cell {
                        node,
                        mode,
                        sort: *sort,
                        variables: variables.clone(),
                        octagon: None,
                    });
                }
            }
        }
        let near = |constants: Vec<RBig>| {
            let mut all: Vec<RBig> =
                constants.iter().flat_map(|c| [c - RBig::ONE, c.clone(), c + RBig::ONE]).collect();
            // A lower bound is an upper bound of the negated term.
            all.extend(all.clone().into_iter().map(|c| -c));
            all.sort_unstable();
            all.dedup();
            all
        };
        let ints = near(candidate_terms.ints.iter().map(|i| RBig::from(i.clone())).collect());
        let reals = near(candidate_terms.reals.clone());
        let mut analysis =
            OctagonAnalysis { cells, ints, reals, passed: FxHashSet::default(), models: 0 };
        for &node in nodes {
            for state in samples(node) {
                analysis.meet(&state, |octagon, values, _| octagon.include(values));
            }
        }
        Some(analysis)
    }

    fn meet(&mut self, state: &State, grow: impl Fn(&mut Octagon, &[RBig], &[RBig])) {
        for cell in &mut self.cells {
            let Some(values) = cell.values(state) else { continue };
            let thresholds = if cell.sort == Sort::Int { &self.ints } else { &self.reals };
            match &mut cell.octagon {
                Some(octagon) => grow(octagon, &values, thresholds),
                none => *none = Some(Octagon::point(&values)),
            }
        }
    }

    /// Widens the element to include the target of a step; false if the limit on models is reached.
    pub(crate) fn widen(&mut self, e: &mut Encoding, state: &State) -> bool {
        self.passed.extend(self.element(e));
        self.meet(state, |octagon, values, thresholds| octagon.widen(values, thresholds));
        self.models += 1;
        self.models < LIMITS.octagon_models
    }

    /// The element as candidates. It is inductive if no step from states that satisfy all of them
    /// violates one.
    pub(crate) fn element(&self, e: &mut Encoding) -> Vec<Candidate> {
        let mut found = Vec::new();
        for cell in &self.cells {
            match &cell.octagon {
                None => found.push(guarded(e, cell, None)),
                Some(octagon) => {
                    found.extend(octagon.bounds().iter().map(|b| guarded(e, cell, Some(b))))
                }
            }
        }
        found
    }

    /// The candidates: the element, the closure of each octagon, and the bounds of all earlier
    /// elements.
    pub(crate) fn candidates(&self, e: &mut Encoding) -> Vec<Candidate> {
        let mut found = self.element(e);
        for cell in &self.cells {
            let Some(octagon) = &cell.octagon else { continue };
            found.extend(octagon.closed().bounds().iter().map(|b| guarded(e, cell, Some(b))));
        }
        let mut passed: Vec<Candidate> = self.passed.iter().copied().collect();
        passed.sort_unstable();
        found.extend(passed);
        let mut seen = FxHashSet::default();
        found.retain(|c| e.pool.as_bool(c.formula) != Some(true) && seen.insert(*c));
        found
    }
}

/// The values of the mode variable: the first enumeration variable, or Boolean candidate term, that
/// steps read.
fn modes(e: &mut Encoding, candidate_terms: &CandidateTerms) -> Vec<(usize, Value)> {
    let (system, memory) = (Arc::clone(&e.system), e.memory());
    let truths: FxHashSet<TermId> = candidate_terms.truths.iter().copied().collect();
    for (v, var) in system.vars().iter().enumerate().filter(|(v, _)| memory[*v]) {
        match var.sort {
            Sort::Enum(id) => {
                let count = e.pool.enumeration(id).variants.len();
                if count <= LIMITS.octagon_modes {
                    return (0..count as u32).map(|i| (v, Value::Enum(id, i))).collect();
                }
            }
            Sort::Bool if truths.contains(&e.pool.var(var.current)) => {
                return [false, true].map(|b| (v, Value::Bool(b))).to_vec();
            }
            _ => {}
        }
    }
    Vec::new()
}

/// `mode -> bound`, or that there is no such state.
fn guarded(e: &mut Encoding, cell: &Cell, bound: Option<&Bound>) -> Candidate {
    let system = Arc::clone(&e.system);
    let said = match bound {
        Some(bound) => formula(&mut e.pool, cell, bound, &|v| system.vars()[v].current),
        None => e.pool.ff(),
    };
    let formula = match &cell.mode {
        None => said,
        Some((v, value)) => {
            let variable = e.pool.var(system.vars()[*v].current);
            let value = e.pool.constant(value.clone());
            let mode = e.pool.eq(variable, value);
            e.pool.implies(mode, said)
        }
    };
    Candidate { node: cell.node, formula }
}

fn formula(
    pool: &mut Pool,
    cell: &Cell,
    bound: &Bound,
    symbol: &dyn Fn(usize) -> gander_term::SymbolId,
) -> TermId {
    let constant = |pool: &mut Pool, r: &RBig| match cell.sort {
        // For ints, round the bound down.
        Sort::Int => pool.int(r.floor()),
        _ => pool.real(r.clone()),
    };
    let variable = |pool: &mut Pool, v: usize| pool.var(symbol(cell.variables[v]));
    let (x, plus) = bound.first;
    let x = variable(pool, x);
    let (term, negated) = match bound.second {
        None => (x, !plus),
        Some((y, same)) => {
            let y = variable(pool, y);
            match (plus, same) {
                (true, true) => (pool.add(x, y), false),
                (true, false) => (pool.sub(x, y), false),
                (false, true) => (pool.sub(y, x), false),
                (false, false) => (pool.add(x, y), true),
            }
        }
    };
    if negated {
        let rounded = match cell.sort {
            Sort::Int => RBig::from(bound.bound.floor()),
            _ => bound.bound.clone(),
        };
        let c = constant(pool, &-rounded);
        pool.le(c, term)
    } else {
        let c = constant(pool, &bound.bound);
        pool.le(term, c)
    }
}
