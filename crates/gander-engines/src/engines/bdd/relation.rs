//! Starts and transitions as BDDs; images and pre-images.
//!
//! A state is the bits of its variables; each node has a separate set. The relation of a transition
//! is a list of parts, whose conjunction it is: guard, constraints, and one part per bit of a next
//! value. Kept variables have no next bits there. Variables are quantified as soon as no later part
//! mentions them (Burch, Clarke and Long, *Symbolic model checking with partitioned transition
//! relations*, 1991; Ranjan, Aziz, Brayton, Plessier and Pixley, 1995, for the order of parts).
//!
//! An unknown int (a parameter, or an unassigned next value) equals a term, or lies between bounds
//! that formulas state; the number of bits of the bounds suffices for it. The next value of a state
//! variable is computed with all its bits. The states in which it does not fit are the relation's
//! overflow, which must contain no reachable state.

use gander_system::{Effect, NodeId, StartId, System, TransitionId};
use gander_term::{Pool, Sort, SymbolId, TermId};
use oxidd::{BooleanFunction, Function};
use rustc_hash::{FxHashMap, FxHashSet};

use super::encode::{Encoder, bits_for};
use super::limits::LIMITS;
use super::manager::{Bdd, BddManager, Halt, Renaming, Work};
use super::vector::Vector;
use crate::arith::eliminate::solution_of;
use crate::arith::pieces::{Piece, flatten, meet, pieces};

/// The bits of a state variable, lowest first.
#[derive(Clone, Debug)]
pub(super) struct VarBits {
    pub now: Vec<u32>,
    pub next: Vec<u32>,
}

/// How to read the value of a parameter from a solution.
#[derive(Clone, Debug)]
pub(super) enum ParamValue {
    Bits(Vec<u32>),
    /// It equals a term.
    Term(TermId),
}

/// A part of a relation, and the variables that are quantified with it.
struct Part {
    formula: Bdd,
    cube: Bdd,
}

/// The parts in the order for one direction.
struct Schedule {
    first: Bdd,
    parts: Vec<Part>,
}

/// See the module's documentation.
pub(super) struct Relation {
    pub transition: TransitionId,
    pub source: NodeId,
    pub target: NodeId,
    pub params: Vec<ParamValue>,
    /// All parts, for single steps.
    parts: Vec<Bdd>,
    forward: Schedule,
    backward: Schedule,
    to_now: Renaming,
    to_next: Renaming,
    /// By variable: the states in which its next value does not fit.
    pub overflow: Vec<(usize, Bdd)>,
    /// The variables that a step of this transition changes.
    pub changed: Vec<usize>,
}

/// Builds relations.
pub(super) struct RelationBuilder<'k> {
    pub manager: &'k mut BddManager,
    pub system: &'k System,
    pub pool: &'k mut Pool,
    pub bits: &'k [VarBits],
    /// Bits for choices, shared by all transitions.
    spare: Vec<u32>,
}

/// Unknowns with their bits, and the formulas about them.
struct Solved {
    env: FxHashMap<SymbolId, Vector>,
    /// Unknowns and the bits of their choice.
    chosen: FxHashMap<SymbolId, Vec<u32>>,
    /// Unknowns that equal terms.
    equal: FxHashMap<SymbolId, TermId>,
    parts: Vec<Bdd>,
    choices: Vec<u32>,
}

impl<'k> RelationBuilder<'k> {
    pub(super) fn new(
        manager: &'k mut BddManager,
        system: &'k System,
        pool: &'k mut Pool,
        bits: &'k [VarBits],
    ) -> RelationBuilder<'k> {
        RelationBuilder { manager, system, pool, bits, spare: Vec::new() }
    }

    fn vector(&self, bits: &[u32]) -> Vector {
        bits.iter().map(|&b| self.manager.var(b).clone()).collect()
    }

    /// The current symbols as vectors.
    fn now(&self) -> FxHashMap<SymbolId, Vector> {
        self.system
            .vars()
            .iter()
            .zip(self.bits)
            .map(|(v, b)| (v.current, self.vector(&b.now)))
            .collect()
    }

    fn assumptions(&mut self, n: NodeId) -> TermId {
        self.system.assumption_term(self.pool, n)
    }

    /// A formula over the state.
    pub(super) fn state(&mut self, formula: TermId) -> Work<Bdd> {
        let env = self.now();
        Encoder::new(self.manager, env).formula(self.pool, formula)
    }

    /// The states for which some values of the unknowns satisfy the formula.
    pub(super) fn state_with(&mut self, unknowns: &[SymbolId], formula: TermId) -> Work<Bdd> {
        if unknowns.is_empty() {
            return self.state(formula);
        }
        let solved = self.solve(self.now(), unknowns, &[], &[formula])?;
        self.conjunction(&solved.parts, &solved.choices)
    }

    /// Excludes bit patterns that are not values of the sort.
    fn valid(&self, sort: Sort, v: &Vector) -> Work<Bdd> {
        let Sort::Enum(id) = sort else { return Ok(self.manager.constant(true)) };
        let last = self.pool.enumeration(id).variants.len() - 1;
        let last: Vector =
            (0..v.len()).map(|i| self.manager.constant(last >> i & 1 == 1)).collect();
        self.manager.below(v, &last, true)
    }

    fn choice_bits(&mut self, from: usize, count: usize) -> Work<Vec<u32>> {
        while self.spare.len() < from + count {
            let new = self.manager.fresh()?;
            self.spare.push(new);
        }
        Ok(self.spare[from..from + count].to_vec())
    }

    /// Allocates bits for unknowns and encodes the formulas. `places` are unknowns that have bits
    /// already.
    fn solve(
        &mut self,
        env: FxHashMap<SymbolId, Vector>,
        unknowns: &[SymbolId],
        places: &[(SymbolId, Vec<u32>)],
        formulas: &[TermId],
    ) -> Work<Solved> {
        let mut solved = Solved {
            env,
            chosen: FxHashMap::default(),
            equal: FxHashMap::default(),
            parts: Vec::new(),
            choices: Vec::new(),
        };
        let mut open: FxHashSet<SymbolId> = unknowns.iter().copied().collect();
        let mut conjuncts = flatten(self.pool, formulas);
        // Unknowns of finite sorts get bits at once.
        for &x in unknowns {
            let sort = self.pool.symbol(x).sort;
            let count = match sort {
                Sort::Bool => 1,
                Sort::Enum(id) => bits_for(self.pool.enumeration(id).variants.len()),
                Sort::BitVec(w) => w.bits() as usize,
                Sort::Int => continue,
                _ => {
                    return Err(Halt::Obstacle(format!(
                        "`{}` has no bits",
                        self.pool.symbol(x).name
                    )));
                }
            };
            let bits = match places.iter().find(|p| p.0 == x) {
                Some((_, bits)) => bits.clone(),
                None => {
                    let bits = self.choice_bits(solved.choices.len(), count)?;
                    solved.choices.extend(&bits);
                    bits
                }
            };
            let v = self.vector(&bits);
            solved.parts.push(self.valid(sort, &v)?);
            solved.env.insert(x, v);
            solved.chosen.insert(x, bits);
            open.remove(&x);
        }
        while !open.is_empty() {
            if !self.solve_one(unknowns, &mut conjuncts, &mut open, &mut solved)? {
                let name = unknowns
                    .iter()
                    .find(|x| open.contains(x))
                    .map(|&x| self.pool.symbol(x).name.clone());
                let name = name.unwrap_or_default();
                return Err(Halt::Obstacle(format!(
                    "`{name}` is chosen from infinitely many values"
                )));
            }
        }
        let mut encoder = Encoder::new(self.manager, std::mem::take(&mut solved.env));
        for c in conjuncts {
            solved.parts.push(encoder.formula(self.pool, c)?);
        }
        solved.env = encoder.into_env();
        Ok(solved)
    }

    /// Allocates bits for one int that is still open.
    fn solve_one(
        &mut self,
        unknowns: &[SymbolId],
        conjuncts: &mut Vec<TermId>,
        open: &mut FxHashSet<SymbolId>,
        solved: &mut Solved,
    ) -> Work<bool> {
        let known = |pool: &Pool, t: TermId, open: &FxHashSet<SymbolId>| {
            pool.free_symbols(&[t]).iter().all(|s| !open.contains(s))
        };
        for &x in unknowns.iter().filter(|x| open.contains(x)) {
            let equation = conjuncts.iter().enumerate().find_map(|(i, &c)| {
                let e = solution_of(self.pool, x, c)?;
                known(self.pool, e, open).then_some((i, e))
            });
            if let Some((i, e)) = equation {
                conjuncts.remove(i);
                let v = Encoder::new(self.manager, solved.env.clone()).term(self.pool, e)?;
                solved.env.insert(x, v);
                solved.equal.insert(x, e);
                open.remove(&x);
                return Ok(true);
            }
        }
        for &x in unknowns.iter().filter(|x| open.contains(x)) {
            let mut all = vec![Piece::default()];
            for &c in conjuncts.iter() {
                if self.pool.free_symbols(&[c]).contains(&x) {
                    let found = pieces(self.pool, x, c, open);
                    all = meet(&all, &found);
                }
            }
            if !all.iter().all(Piece::is_bounded) {
                continue;
            }
            // The value lies between terms with this many bits.
            let mut encoder = Encoder::new(self.manager, solved.env.clone());
            let mut count = 1;
            for t in all.iter().flat_map(|p| p.lower.iter().chain(&p.upper)) {
                count = count.max(encoder.term(self.pool, *t)?.len());
            }
            let bits = self.choice_bits(solved.choices.len(), count)?;
            solved.choices.extend(&bits);
            solved.env.insert(x, self.vector(&bits));
            solved.chosen.insert(x, bits);
            open.remove(&x);
            return Ok(true);
        }
        Ok(false)
    }

    /// `exists vars. all parts`
    fn conjunction(&self, parts: &[Bdd], vars: &[u32]) -> Work<Bdd> {
        let schedule = schedule(self.manager, parts, vars)?;
        schedule.apply(self.manager, &self.manager.constant(true))
    }

    /// The start states of a start, with assumptions.
    pub(super) fn start(&mut self, s: StartId) -> Work<Bdd> {
        let system = self.system;
        let target = system.starts()[s.index()].target;
        let formulas = [system.start_term(self.pool, s), self.assumptions(target)];
        let unknowns: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        let places: Vec<(SymbolId, Vec<u32>)> =
            system.vars().iter().zip(self.bits).map(|(v, b)| (v.current, b.now.clone())).collect();
        let mut solved = self.solve(FxHashMap::default(), &unknowns, &places, &formulas)?;
        let mut overflows = Vec::new();
        let mut fitting = Vec::new();
        for (i, v) in system.vars().iter().enumerate().filter(|(_, v)| v.sort == Sort::Int) {
            let value = solved.env[&v.current].clone();
            let width = self.bits[i].now.len();
            overflows.push((i, self.manager.fits(&value, width)?));
            fitting.extend(self.same_bits(&self.bits[i].now, &value)?);
        }
        for (i, fits) in overflows {
            let out = self.manager.not(&fits)?;
            let mut parts = solved.parts.clone();
            parts.push(out);
            let all: Vec<u32> = (0..self.manager.len() as u32).collect();
            if self.conjunction(&parts, &all)?.satisfiable() {
                return Err(Halt::Widen(i));
            }
        }
        solved.parts.extend(fitting);
        self.conjunction(&solved.parts, &solved.choices)
    }

    /// The bits equal those of an int; one formula per bit.
    fn same_bits(&self, bits: &[u32], value: &Vector) -> Work<Vec<Bdd>> {
        let value = self.manager.extended(value, bits.len());
        bits.iter().zip(&value).map(|(&b, v)| self.manager.same(self.manager.var(b), v)).collect()
    }

    /// The relation of a transition; with `further`, restricted to the steps that satisfy a formula
    /// over state and parameters.
    pub(super) fn relation(&mut self, t: TransitionId, further: Option<TermId>) -> Work<Relation> {
        let system = self.system;
        let transition = system.transition(t);
        let mut assigned = FxHashMap::default();
        let mut kept = FxHashSet::default();
        let mut formulas = vec![system.guard_term(self.pool, t)];
        formulas.extend(further);
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    assigned.insert(system.var(var).next, value.term());
                }
                Effect::Keep { var, .. } => {
                    let now = self.pool.var(system.var(var).current);
                    kept.insert(var.index());
                    assigned.insert(system.var(var).next, now);
                }
                Effect::Constrain { relation, .. } => formulas.push(relation.term()),
            }
        }
        let mut formulas: Vec<TermId> =
            formulas.into_iter().map(|f| self.pool.substitute(f, &assigned)).collect();
        let mut behind = FxHashMap::default();
        for v in system.vars() {
            let value = match assigned.get(&v.next) {
                Some(&value) => value,
                None => self.pool.var(v.next),
            };
            behind.insert(v.current, value);
        }
        let assumptions = self.assumptions(transition.target);
        formulas.push(self.pool.substitute(assumptions, &behind));
        let mut unknowns: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        unknowns.extend(system.vars().iter().map(|v| v.next).filter(|n| !assigned.contains_key(n)));
        let places: Vec<(SymbolId, Vec<u32>)> =
            system.vars().iter().zip(self.bits).map(|(v, b)| (v.next, b.next.clone())).collect();
        let mut solved = self.solve(self.now(), &unknowns, &places, &formulas)?;
        let mut encoder = Encoder::new(self.manager, solved.env);
        let (mut fits, mut sets) = (Vec::new(), Vec::new());
        let changed: Vec<usize> = (0..system.vars().len()).filter(|i| !kept.contains(i)).collect();
        for &i in &changed {
            let v = &system.vars()[i];
            let value = match assigned.get(&v.next) {
                Some(&term) => encoder.term(self.pool, term)?,
                // It has its own bits already.
                None if v.sort != Sort::Int => continue,
                None => {
                    let next = self.pool.var(v.next);
                    encoder.term(self.pool, next)?
                }
            };
            if v.sort == Sort::Int {
                fits.push((i, self.manager.fits(&value, self.bits[i].next.len())?));
            }
            sets.extend(self.same_bits(&self.bits[i].next, &value)?);
        }
        let next_bits: Vec<u32> = changed.iter().flat_map(|&i| self.bits[i].next.clone()).collect();
        let now_bits: Vec<u32> = changed.iter().flat_map(|&i| self.bits[i].now.clone()).collect();
        let with_choices =
            |bits: &[u32]| bits.iter().chain(&solved.choices).copied().collect::<Vec<u32>>();
        let mut overflow = Vec::new();
        for (i, fits) in fits {
            if fits.valid() {
                continue;
            }
            let out = self.manager.not(&fits)?;
            let mut parts = solved.parts.clone();
            parts.push(out);
            overflow.push((i, self.conjunction(&parts, &with_choices(&next_bits))?));
        }
        solved.parts.extend(sets);
        let parts: Vec<Bdd> = solved.parts.iter().filter(|p| !p.valid()).cloned().collect();
        let pairs: Vec<(u32, u32)> =
            next_bits.iter().copied().zip(now_bits.iter().copied()).collect();
        let back: Vec<(u32, u32)> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        let params = transition.params.iter().map(|p| match solved.chosen.get(&p.symbol) {
            Some(bits) => ParamValue::Bits(bits.clone()),
            None => ParamValue::Term(solved.equal[&p.symbol]),
        });
        let target = transition.target;
        Ok(Relation {
            transition: t,
            source: transition.source,
            target,
            params: params.collect(),
            forward: schedule(self.manager, &parts, &with_choices(&now_bits))?,
            backward: schedule(self.manager, &parts, &with_choices(&next_bits))?,
            to_now: self.manager.renaming(&pairs),
            to_next: self.manager.renaming(&back),
            parts,
            overflow,
            changed,
        })
    }
}

impl Relation {
    /// The targets of steps from `states`.
    pub(super) fn image(&self, manager: &BddManager, states: &Bdd) -> Work<Bdd> {
        let next = self.forward.apply(manager, states)?;
        manager.rename(&next, &self.to_now)
    }

    /// The sources of steps to `states`.
    pub(super) fn pre_image(&self, manager: &BddManager, states: &Bdd) -> Work<Bdd> {
        let next = manager.rename(states, &self.to_next)?;
        self.backward.apply(manager, &next)
    }

    /// The steps from `from` to `to`, over the bits of both states and of choices.
    pub(super) fn steps(&self, manager: &BddManager, from: &Bdd, to: &Bdd) -> Work<Bdd> {
        let mut all = manager.rename(to, &self.to_next)?;
        all = manager.and(&all, from)?;
        for part in &self.parts {
            all = manager.and(&all, part)?;
        }
        Ok(all)
    }
}

impl Schedule {
    fn apply(&self, manager: &BddManager, to: &Bdd) -> Work<Bdd> {
        let mut all = manager.exists(to, &self.first)?;
        for part in &self.parts {
            all = manager.and_exists(&all, &part.formula, &part.cube)?;
        }
        Ok(all)
    }
}

/// Orders the parts so that variables are quantified early.
fn schedule(manager: &BddManager, parts: &[Bdd], vars: &[u32]) -> Work<Schedule> {
    let wanted: FxHashSet<u32> = vars.iter().copied().collect();
    let mut left: Vec<(Bdd, FxHashSet<u32>)> = Vec::new();
    for p in parts {
        left.push((p.clone(), support(manager, p).into_iter().collect()));
    }
    let mut uses: FxHashMap<u32, usize> = FxHashMap::default();
    for v in left.iter().flat_map(|l| &l.1).filter(|v| wanted.contains(v)) {
        *uses.entry(*v).or_insert(0) += 1;
    }
    let unused: Vec<u32> = vars.iter().copied().filter(|v| !uses.contains_key(v)).collect();
    let first = manager.cube(&unused)?;
    let mut done: Vec<(Bdd, Vec<u32>)> = Vec::new();
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    while !left.is_empty() {
        // Choose the part that frees most variables and introduces fewest.
        let score = |s: &FxHashSet<u32>| {
            let freed = s.iter().filter(|v| uses.get(v) == Some(&1)).count() as i64;
            let new = s.iter().filter(|v| !seen.contains(v)).count() as i64;
            2 * freed - new
        };
        let best =
            (0..left.len()).max_by_key(|&i| (score(&left[i].1), std::cmp::Reverse(i))).unwrap_or(0);
        let (formula, support) = left.remove(best);
        let mut freed = Vec::new();
        for v in &support {
            seen.insert(*v);
            if let Some(n) = uses.get_mut(v) {
                *n -= 1;
                if *n == 0 {
                    uses.remove(v);
                    freed.push(*v);
                }
            }
        }
        match done.last_mut() {
            // Merged with the previous part, whose variables are then quantified with this one.
            Some((before, freed_before))
                if before.node_count() + formula.node_count() < LIMITS.part_nodes =>
            {
                *before = manager.and(before, &formula)?;
                freed_before.extend(freed);
            }
            _ => done.push((formula, freed)),
        }
    }
    let mut list = Vec::new();
    for (formula, freed) in done {
        list.push(Part { formula, cube: manager.cube(&freed)? });
    }
    Ok(Schedule { first, parts: list })
}

/// The variables that a BDD depends on.
#[allow(clippy::mutable_key_type, reason = "what a diagram is equal to never changes")]
pub(super) fn support(manager: &BddManager, a: &Bdd) -> Vec<u32> {
    let mut seen: FxHashSet<Bdd> = FxHashSet::default();
    let mut vars: FxHashSet<u32> = FxHashSet::default();
    let mut stack = vec![a.clone()];
    while let Some(f) = stack.pop() {
        let Some(top) = manager.top(&f) else { continue };
        if !seen.insert(f.clone()) {
            continue;
        }
        vars.insert(top);
        if let Some((high, low)) = f.cofactors() {
            stack.extend([high, low]);
        }
    }
    let mut vars: Vec<u32> = vars.into_iter().collect();
    vars.sort_unstable();
    vars
}
