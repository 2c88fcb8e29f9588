//! The loop library: steps as functions, learned loops, and their expansion to runs.

use std::sync::Arc;

use gander_system::passes::Shortcut;
use gander_system::{Leg, NodeId, State, Step, System, TransitionId};
use gander_term::{Pool, Simplifier, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::candidate::Candidate;

use super::closed_form::{Body, Closed, Closing, Declined, binomials};
use super::cube::{Cube, Expr, as_count, cube};
use super::functional_step::{FunctionalStep, functional_step};
use super::limits::LIMITS;
use super::literal::Literal;
use super::proof::suggested;
use super::stride::Striding;
use crate::arith::linear::LinearForm;

/// A step of the system with learned loops: its states and its choices.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The index of a transition of the system, or, after these, of a learned loop.
    pub functional_step: usize,
    pub from: State,
    /// In the order of [`FunctionalStep::params`].
    pub choices: Vec<Value>,
    pub to: State,
}

/// A part of a loop's body.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Part {
    pub functional_step: usize,
    /// The loop's symbols for the choices of the functional step.
    pub choices: Vec<SymbolId>,
}

/// A learned loop. Its functional step has the same position after the system's transitions.
#[derive(Clone, Debug)]
pub(super) struct Learned {
    pub parts: Vec<Part>,
    /// The number of rounds and its binomials: the first choices of the functional step.
    pub counts: Vec<SymbolId>,
    /// The guard of a single round.
    pub once: TermId,
    /// The steps of a round, with inner loops taken once: see [`LoopLibrary::word`].
    word: Vec<usize>,
}

/// See the module's documentation.
pub(super) struct LoopLibrary {
    pub system: Arc<System>,
    pub pool: Pool,
    functional_steps: Vec<Option<FunctionalStep>>,
    pub learned: Vec<Learned>,
    shortcuts: Vec<Shortcut>,
    simplifier: Simplifier,
    /// Numbers of steps, by functional step and cube.
    kinds: FxHashMap<(usize, Vec<Literal>, Vec<Expr>), usize>,
    /// Candidates for invariants that loops suggest.
    pub suggested: Vec<Candidate>,
    /// Bodies that were tried.
    tried: FxHashSet<(Vec<usize>, Vec<Literal>, Vec<Expr>)>,
}

impl LoopLibrary {
    pub(super) fn new(system: &Arc<System>) -> LoopLibrary {
        LoopLibrary {
            system: Arc::clone(system),
            pool: Pool::fork(system.pool()),
            functional_steps: vec![None; system.transitions().len()],
            learned: Vec::new(),
            shortcuts: Vec::new(),
            simplifier: Simplifier::new(),
            kinds: FxHashMap::default(),
            suggested: Vec::new(),
            tried: FxHashSet::default(),
        }
    }

    /// The number of transitions of the system; functional steps from this index on are learned
    /// loops.
    pub(super) fn transition_count(&self) -> usize {
        self.system.transitions().len()
    }

    /// The loops as transitions.
    pub(super) fn shortcuts(&self) -> &[Shortcut] {
        &self.shortcuts
    }

    /// A step as a function.
    pub(super) fn functional_step(&mut self, at: usize) -> FunctionalStep {
        if let Some(known) = &self.functional_steps[at] {
            return known.clone();
        }
        let made = functional_step(&self.system, &mut self.pool, TransitionId::from(at));
        self.functional_steps[at] = Some(made.clone());
        made
    }

    /// A step of the system with learned loops, with its choices.
    pub(super) fn taken_step(
        &mut self,
        t: TransitionId,
        params: &[Value],
        from: &State,
        to: &State,
    ) -> Taken {
        let functional_step = self.functional_step(t.index());
        let mut choices = params.to_vec();
        choices.extend(functional_step.free.iter().map(|&v| to.values[v].clone()));
        Taken { functional_step: t.index(), from: from.clone(), choices, to: to.clone() }
    }

    fn model(
        &self,
        state: &State,
        params: &[SymbolId],
        choices: &[Value],
    ) -> FxHashMap<SymbolId, Value> {
        let vars = self.system.vars().iter().map(|v| v.current).zip(state.values.iter().cloned());
        vars.chain(params.iter().copied().zip(choices.iter().cloned())).collect()
    }

    /// The cube of a step.
    pub(super) fn cube(&mut self, taken: &Taken) -> Option<Cube> {
        let functional_step = self.functional_step(taken.functional_step);
        let model = self.model(&taken.from, &functional_step.params, &taken.choices);
        cube(&mut self.pool, &functional_step, &model)
    }

    /// The conjunction of a cube's literals.
    pub(super) fn formula(&mut self, cube: &Cube) -> Option<TermId> {
        let parts: Vec<TermId> =
            cube.literals.iter().map(|l| l.build(&mut self.pool)).collect::<Option<_>>()?;
        Some(self.pool.and(parts))
    }

    /// The closed form of a body, unless it was tried before; followed by the one with the largest
    /// strides, if that differs.
    pub(super) fn accelerate(&mut self, steps: &[Taken], cubes: &[Cube]) -> Vec<Loop> {
        self.closed_forms(steps, cubes).unwrap_or_default()
    }

    fn closed_forms(&mut self, steps: &[Taken], cubes: &[Cube]) -> Option<Vec<Loop>> {
        let (first, last) = (steps.first()?, steps.last()?);
        let word = self.word(steps, cubes);
        if is_power(&word)
            || self.learned.iter().filter(|l| is_rotation(&l.word, &word)).count() >= LIMITS.alike
        {
            return None;
        }
        let parts: Vec<Part> =
            (0..steps.len()).map(|k| self.part(k, steps[k].functional_step)).collect();
        let body = self.compose(&parts, cubes)?;
        let key = (
            steps.iter().map(|s| s.functional_step).collect(),
            body.literals.clone(),
            body.values.clone(),
        );
        if !self.tried.insert(key) {
            return None;
        }
        let mut model = self.model(&last.to, &[], &[]);
        for (part, step) in parts.iter().zip(steps) {
            model.extend(part.choices.iter().copied().zip(step.choices.iter().cloned()));
        }
        let counts =
            ["n", "n2", "n3"].map(|name| self.symbol(&format!("@count.{name}"), Sort::Int));
        let vars: Vec<(SymbolId, Sort)> =
            self.system.vars().iter().map(|v| (v.current, v.sort)).collect();
        let close =
            |pool: &mut Pool, model: &FxHashMap<SymbolId, Value>| -> Result<Closed, Declined> {
                let mut closing = Closing { pool, vars: &vars, model, counts };
                closing.close(&body)
            };
        let closed = close(&mut self.pool, &model).ok()?;
        let symbols: Vec<TermId> = vars.iter().map(|v| self.pool.var(v.0)).collect();
        let states: Vec<&State> = steps.iter().map(|s| &s.from).collect();
        self.suggested.extend(suggested(&mut self.pool, &symbols, &closed.hints, &states));
        let mut striding = Striding { pool: &mut self.pool, vars: &vars, body: &body };
        let farther = striding.farthest(&closed.restricted, &model);
        let farther = farther.and_then(|model| close(&mut self.pool, &model).ok());
        let all = [Some(closed), farther].into_iter().flatten();
        let node = first.from.node;
        Some(
            all.map(|closed| Loop { node, parts: parts.clone(), word: word.clone(), closed })
                .collect(),
        )
    }

    /// The numbers of the steps in a round. Loops whose words are equal up to rotation do nearly
    /// the same.
    fn word(&mut self, steps: &[Taken], cubes: &[Cube]) -> Vec<usize> {
        let mut word = Vec::new();
        for (step, cube) in steps.iter().zip(cubes) {
            match step.functional_step.checked_sub(self.transition_count()) {
                Some(l) => word.extend_from_slice(&self.learned[l].word),
                None => {
                    let next = self.kinds.len();
                    let key = (step.functional_step, cube.literals.clone(), cube.values.clone());
                    word.push(*self.kinds.entry(key).or_insert(next));
                }
            }
        }
        word
    }

    /// Declares an internal symbol. Names that begin with `@` are reserved for this.
    fn symbol(&mut self, name: &str, sort: Sort) -> SymbolId {
        match self.pool.declare(name, sort) {
            Ok(s) => s,
            Err(_) => self.pool.declare_fresh(name, sort),
        }
    }

    /// The symbols for the choices of a functional step at a position of a body.
    fn part(&mut self, position: usize, at: usize) -> Part {
        let functional_step = self.functional_step(at);
        let mut choices = Vec::with_capacity(functional_step.params.len());
        for (j, &p) in functional_step.params.iter().enumerate() {
            let sort = self.pool.symbol(p).sort;
            let name = format!("@{position}.{j}.{}", sort.name(&self.pool));
            choices.push(self.symbol(&name, sort));
        }
        Part { functional_step: at, choices }
    }

    /// Composes the cubes in sequence, over the state at the loop's head.
    fn compose(&mut self, parts: &[Part], cubes: &[Cube]) -> Option<Body> {
        let system = Arc::clone(&self.system);
        let start = |pool: &mut Pool, s: SymbolId, sort: Sort| {
            let t = pool.var(s);
            if matches!(sort, Sort::Int | Sort::Real) {
                Expr::Number(LinearForm::atom(t))
            } else {
                Expr::Other(t)
            }
        };
        let mut now: Vec<Expr> = Vec::with_capacity(system.vars().len());
        for v in system.vars() {
            now.push(start(&mut self.pool, v.current, v.sort));
        }
        let mut literals = Vec::new();
        for (part, cube) in parts.iter().zip(cubes) {
            let functional_step = self.functional_step(part.functional_step);
            let mut exprs: FxHashMap<SymbolId, Expr> = FxHashMap::default();
            exprs.extend(system.vars().iter().map(|v| v.current).zip(now.iter().cloned()));
            for (&p, &c) in functional_step.params.iter().zip(&part.choices) {
                let sort = self.pool.symbol(c).sort;
                exprs.insert(p, start(&mut self.pool, c, sort));
            }
            let mut putting = Substituter::new(&mut self.pool, exprs)?;
            for literal in &cube.literals {
                literals.extend(putting.literal(&mut self.pool, literal)?);
            }
            let mut next = Vec::with_capacity(now.len());
            for value in &cube.values {
                next.push(putting.expr(&mut self.pool, value)?);
            }
            now = next;
        }
        literals.sort();
        literals.dedup();
        Some(Body { literals, values: now })
    }

    /// Adds a loop to the library.
    pub(super) fn learn(&mut self, found: Loop) {
        let name = format!("@loop{}", self.learned.len());
        // Fresh symbols for all choices.
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut params: Vec<(String, SymbolId)> = Vec::new();
        let Loop { node, parts, closed, word } = found;
        let mut own = |pool: &mut Pool, s: SymbolId, called: String| {
            let symbol = pool.declare_fresh(&format!("{name}.{called}"), pool.symbol(s).sort);
            map.insert(s, pool.var(symbol));
            params.push((called, symbol));
            symbol
        };
        let mut counts = Vec::new();
        for (k, &s) in closed.counts.iter().enumerate() {
            counts.push(own(&mut self.pool, s, format!("n{}", k + 1)));
        }
        let mut new_parts = Vec::new();
        for (k, part) in parts.into_iter().enumerate() {
            let mut choices = Vec::new();
            for (j, &s) in part.choices.iter().enumerate() {
                choices.push(own(&mut self.pool, s, format!("p{k}.{j}")));
            }
            new_parts.push(Part { functional_step: part.functional_step, choices });
        }
        let mut rename = gander_term::Substitution::new(&mut self.pool, &map);
        let mut tidy = |pool: &mut Pool, simplifier: &mut Simplifier, t: TermId| {
            let t = rename.apply(pool, t);
            simplifier.simplify(pool, t)
        };
        let (pool, simplifier) = (&mut self.pool, &mut self.simplifier);
        let guard: Vec<TermId> = closed.guard.iter().map(|&g| tidy(pool, simplifier, g)).collect();
        let values: Vec<TermId> =
            closed.values.iter().map(|&v| tidy(pool, simplifier, v)).collect();
        let whole = pool.and(guard.iter().copied());
        let single: FxHashMap<SymbolId, TermId> =
            counts.iter().enumerate().map(|(k, &s)| (s, pool.int(i64::from(k == 0)))).collect();
        let once = pool.substitute(whole, &single);
        let once = simplifier.simplify(pool, once);
        self.functional_steps.push(Some(FunctionalStep {
            target: node,
            params: params.iter().map(|p| p.1).collect(),
            free: Vec::new(),
            guard: whole,
            values: values.clone(),
        }));
        self.shortcuts.push(Shortcut { name, source: node, target: node, params, guard, values });
        self.learned.push(Learned { parts: new_parts, counts, once, word });
    }

    /// The number of steps in a round of a loop; `None` if it contains a loop.
    pub(super) fn steps_in_round(&self, l: usize) -> Option<u64> {
        let parts = &self.learned[l].parts;
        parts
            .iter()
            .all(|p| p.functional_step < self.transition_count())
            .then_some(parts.len() as u64)
    }

    /// The positions among a loop's choices that count rounds: its own and those of inner loops.
    /// Inner loops were learned before.
    pub(super) fn count_positions(&self, l: usize) -> Vec<usize> {
        let mut positions = Vec::new();
        let mut stack = vec![(l, 0)];
        while let Some((l, offset)) = stack.pop() {
            positions.push(offset);
            let learned = &self.learned[l];
            let mut at = offset + learned.counts.len();
            for part in &learned.parts {
                if part.functional_step >= self.transition_count() {
                    stack.push((part.functional_step - self.transition_count(), at));
                }
                at += part.choices.len();
            }
        }
        positions
    }

    /// Expands a step to legs of a run. The steps of a repetition have the values of its last
    /// round.
    pub(super) fn legs(&mut self, taken: &Taken) -> Option<Vec<Leg>> {
        let (legs, end) =
            self.expand(taken.functional_step, &taken.from, &taken.choices, LIMITS.nesting)?;
        (end == taken.to).then_some(legs)
    }

    /// `depth` bounds the recursion.
    fn expand(
        &mut self,
        at: usize,
        from: &State,
        choices: &[Value],
        depth: u32,
    ) -> Option<(Vec<Leg>, State)> {
        let depth = depth.checked_sub(1)?;
        let functional_step = self.functional_step(at);
        let model = self.model(from, &functional_step.params, choices);
        if at < self.transition_count() {
            let to = State {
                node: functional_step.target,
                values: self.evaluated(&functional_step.values, &model)?,
            };
            let own = functional_step.params.len() - functional_step.free.len();
            let step = Step {
                transition: TransitionId::from(at),
                params: choices[..own].to_vec(),
                next: Some(to.values.clone()),
            };
            return Some((vec![Leg::Step(step)], to));
        }
        let learned = self.learned[at - self.transition_count()].clone();
        let rounds = as_count(choices.first()?)?;
        let mut state = from.clone();
        if rounds > 1 {
            let mut earlier = model.clone();
            earlier.extend(
                learned.counts.iter().copied().zip(binomials(rounds - 1, learned.counts.len())?),
            );
            state.values = self.evaluated(&functional_step.values, &earlier)?;
        }
        let mut body = Vec::new();
        for part in &learned.parts {
            let choices: Vec<Value> =
                part.choices.iter().map(|s| model.get(s).cloned()).collect::<Option<_>>()?;
            let (legs, next) = self.expand(part.functional_step, &state, &choices, depth)?;
            body.extend(legs);
            state = next;
        }
        let legs = if rounds == 1 { body } else { vec![Leg::Repeat { times: rounds, body }] };
        Some((legs, state))
    }

    fn evaluated(
        &self,
        terms: &[TermId],
        model: &FxHashMap<SymbolId, Value>,
    ) -> Option<Vec<Value>> {
        terms.iter().map(|&t| evaluate(&self.pool, t, &|s| model.get(&s).cloned()).ok()).collect()
    }
}

/// A closed form with its body.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub node: NodeId,
    pub parts: Vec<Part>,
    pub closed: Closed,
    word: Vec<usize>,
}

/// True if the word is a repetition of a shorter one.
fn is_power(word: &[usize]) -> bool {
    let whole = word.len();
    (1..whole)
        .any(|part| whole.is_multiple_of(part) && (part..whole).all(|i| word[i] == word[i - part]))
}

/// True if the words are equal up to rotation.
fn is_rotation(a: &[usize], b: &[usize]) -> bool {
    a.len() == b.len()
        && (0..a.len().max(1)).any(|k| a.iter().skip(k).chain(a.iter().take(k)).eq(b))
}

impl Loop {
    /// The guard with at least two rounds. A loop for which this is unsatisfiable is useless.
    pub(super) fn twice(&self, pool: &mut Pool) -> TermId {
        let (n, two) = (pool.var(self.closed.counts[0]), pool.int(2));
        let twice = pool.le(two, n);
        pool.and(self.closed.guard.iter().copied().chain([twice]))
    }
}

/// Substitutes expressions for symbols.
struct Substituter {
    exprs: FxHashMap<SymbolId, Expr>,
    terms: gander_term::Substitution,
}

impl Substituter {
    fn new(pool: &mut Pool, exprs: FxHashMap<SymbolId, Expr>) -> Option<Substituter> {
        let mut map = FxHashMap::default();
        for (&s, e) in &exprs {
            let sort = pool.symbol(s).sort;
            map.insert(s, term_of(pool, e, sort)?);
        }
        let terms = gander_term::Substitution::new(pool, &map);
        Some(Substituter { exprs, terms })
    }

    fn form(&mut self, pool: &mut Pool, form: &LinearForm) -> Option<LinearForm> {
        let mut result = LinearForm::number(form.constant.clone());
        for (&t, c) in &form.terms {
            let by = match pool.as_symbol(t).and_then(|s| self.exprs.get(&s)) {
                Some(Expr::Number(form)) => form.clone(),
                Some(Expr::Other(_)) => return None,
                None => LinearForm::atom(self.terms.apply(pool, t)),
            };
            result.add(c, &by);
        }
        Some(result)
    }

    /// The outer `None` means unsupported, the inner `None` means true.
    fn literal(&mut self, pool: &mut Pool, literal: &Literal) -> Option<Option<Literal>> {
        Some(match literal {
            Literal::Number { form, relation } => {
                let form = self.form(pool, form)?;
                // A constant literal is true, because it is true in the model.
                form.as_number().is_none().then(|| Literal::number(pool, form, relation.clone()))
            }
            Literal::Other(t) => {
                let t = self.terms.apply(pool, *t);
                let t = Simplifier::new().simplify(pool, t);
                (pool.as_bool(t) != Some(true)).then_some(Literal::Other(t))
            }
        })
    }

    fn expr(&mut self, pool: &mut Pool, e: &Expr) -> Option<Expr> {
        Some(match e {
            Expr::Number(form) => Expr::Number(self.form(pool, form)?),
            Expr::Other(t) => Expr::Other(self.terms.apply(pool, *t)),
        })
    }
}

fn term_of(pool: &mut Pool, e: &Expr, sort: Sort) -> Option<TermId> {
    match e {
        Expr::Number(form) => form.mixed_term(pool, sort),
        Expr::Other(t) => Some(*t),
    }
}
