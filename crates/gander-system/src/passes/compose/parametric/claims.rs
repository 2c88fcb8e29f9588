//! The claims of the specifications, restated for all instances of a family; and sums over
//! families.
//!
//! | claim of the family `f` | in the system for all sizes |
//! |---|---|
//! | always p | p holds of every instance |
//! | reachable p, reachable g, can enable t | some instance of some size |
//! | others | left out; those of one instance are carried over as usual |

use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::FxHashMap;

use super::{Parametric, ParametricError, within};
use crate::builder::SystemBuilder;
use crate::claim::{Claim, ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal};
use crate::formula::StateTerm;
use crate::passes::compose::LeftOut;
use crate::passes::enabled::enabled_when;
use crate::system::{Effect, Role, TransitionId, VarId};

impl Parametric<'_> {
    /// Adds the claims and the fairness constraints of the members.
    pub fn add_claims(&mut self, builder: &mut SystemBuilder) -> Result<(), ParametricError> {
        for at in 0..self.parts.len() {
            let (system, name) = (self.parts[at].system, self.parts[at].name);
            let mut fairness = Vec::new();
            for f in &system.fairness {
                let kind = match &f.kind {
                    FairnessKind::Justice(p) => FairnessKind::Justice(self.state(builder, at, *p)?),
                    FairnessKind::Weak(t) => FairnessKind::Weak(self.fair_moves(at, t)?),
                    FairnessKind::Strong(t) => FairnessKind::Strong(self.fair_moves(at, t)?),
                };
                fairness.push(builder.fairness(&format!("{name}.{}", f.name), kind, f.span)?);
            }
            for claim in system.claims.iter().filter(|c| c.origin != ClaimOrigin::Structural) {
                let kind = match self.parts[at].size {
                    Some(_) => self.of_family(builder, at, claim)?,
                    None => self.of_instance(builder, at, claim, &fairness)?,
                };
                let Some(kind) = kind else {
                    let reason = match claim.kind {
                        ClaimKind::NoDeadlock | ClaimKind::InfiniteRun => {
                            "it speaks of a whole system: ask it of the composition"
                        }
                        _ => "claims of this kind are not checked of families of any size",
                    };
                    self.left_out.push(LeftOut { instance: at, claim: claim.name.clone(), reason });
                    continue;
                };
                let (full, origin) = match claim.origin {
                    ClaimOrigin::Range(v) => {
                        let origin = match (self.parts[at].size, self.parts[at].vars[v.index()]) {
                            (None, Some(own)) => ClaimOrigin::Range(own),
                            _ => ClaimOrigin::Written,
                        };
                        (format!("range of {name}.{}", system.var(v).name), origin)
                    }
                    origin => (format!("{name}.{}", claim.name), origin),
                };
                let text = format!("{name}: {}", claim.text);
                builder.claim(&full, kind, origin, &text, claim.span)?;
            }
        }
        Ok(())
    }

    fn fair_moves(
        &self,
        part: usize,
        transitions: &[TransitionId],
    ) -> Result<Vec<TransitionId>, ParametricError> {
        let mut all = Vec::new();
        for &t in transitions {
            for (m, condition, _) in self.moves(part, t) {
                if condition.is_some() {
                    let what = format!("fairness of the receiver `{}`", self.parts[part].name);
                    return Err(ParametricError::Unsupported { sync: None, what });
                }
                all.push(m);
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// A formula of one instance about a state.
    fn state(
        &mut self,
        builder: &mut SystemBuilder,
        part: usize,
        term: StateTerm,
    ) -> Result<StateTerm, ParametricError> {
        let mut transcriber = self.transcriber(builder, part, None)?;
        Ok(StateTerm(transcriber.apply(&mut builder.pool, term.term())?))
    }

    fn of_family(
        &mut self,
        builder: &mut SystemBuilder,
        at: usize,
        claim: &Claim,
    ) -> Result<Option<ClaimKind>, ParametricError> {
        let copy = self.generic(builder, at);
        Ok(match &claim.kind {
            ClaimKind::Always(p) => {
                let mut transcriber = self.transcriber(builder, at, copy.map(|c| c.1))?;
                let term = transcriber.apply(&mut builder.pool, p.term())?;
                let all = self.for_all(builder, at, copy, term);
                Some(ClaimKind::Always(builder.state_formula(all, &claim.name)?))
            }
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => {
                    let mut transcriber = self.transcriber(builder, at, copy.map(|c| c.1))?;
                    let term = transcriber.apply(&mut builder.pool, p.term())?;
                    let some = self.for_some(builder, at, copy, term);
                    let goal = Goal::State(builder.state_formula(some, &claim.name)?);
                    Some(ClaimKind::Reachable(vec![goal]))
                }
                [goal @ Goal::Step { .. }] => {
                    self.step_goal(builder, at, goal)?.map(|g| ClaimKind::Reachable(vec![g]))
                }
                _ => None,
            },
            ClaimKind::CanEnable(t) => {
                let goal = self.can_enable(builder, at, *t);
                Some(ClaimKind::Reachable(vec![Goal::State(builder.state_formula(goal, "goal")?)]))
            }
            _ => None,
        })
    }

    fn of_instance(
        &mut self,
        builder: &mut SystemBuilder,
        at: usize,
        claim: &Claim,
        fairness: &[FairnessId],
    ) -> Result<Option<ClaimKind>, ParametricError> {
        let under =
            |list: &[FairnessId]| list.iter().map(|f| fairness[f.index()]).collect::<Vec<_>>();
        Ok(Some(match &claim.kind {
            ClaimKind::Always(p) => ClaimKind::Always(self.state(builder, at, *p)?),
            ClaimKind::Reachable(goals) => {
                let mut all = Vec::new();
                for goal in goals {
                    all.push(match goal {
                        Goal::State(p) => Goal::State(self.state(builder, at, *p)?),
                        step => match self.step_goal(builder, at, step)? {
                            Some(goal) => goal,
                            None => return Ok(None),
                        },
                    });
                }
                ClaimKind::Reachable(all)
            }
            ClaimKind::CanEnable(t) => {
                let goal = self.can_enable(builder, at, *t);
                ClaimKind::Reachable(vec![Goal::State(builder.state_formula(goal, "goal")?)])
            }
            ClaimKind::Eventually { goal, under: f } => {
                ClaimKind::Eventually { goal: self.state(builder, at, *goal)?, under: under(f) }
            }
            ClaimKind::AlwaysEventually { goal, under: f } => ClaimKind::AlwaysEventually {
                goal: self.state(builder, at, *goal)?,
                under: under(f),
            },
            ClaimKind::LeadsTo { from, to, under: f } => ClaimKind::LeadsTo {
                from: self.state(builder, at, *from)?,
                to: self.state(builder, at, *to)?,
                under: under(f),
            },
            ClaimKind::AlwaysPossible(p) => ClaimKind::AlwaysPossible(self.state(builder, at, *p)?),
            ClaimKind::ExistsAlways(p) => ClaimKind::ExistsAlways(self.state(builder, at, *p)?),
            _ => return Ok(None),
        }))
    }

    /// True if a step is enabled in which some instance takes this transition.
    fn can_enable(&self, builder: &mut SystemBuilder, at: usize, t: TransitionId) -> TermId {
        let mut all = Vec::new();
        for (m, condition, _) in self.moves(at, t) {
            let transition = builder.so_far().transition(m).clone();
            all.push(enabled_when(&mut builder.pool, &transition, condition));
        }
        builder.pool.or(all)
    }

    /// A step goal of some instance; none if it is met by receivers with a condition on parameters.
    fn step_goal(
        &mut self,
        builder: &mut SystemBuilder,
        at: usize,
        goal: &Goal,
    ) -> Result<Option<Goal>, ParametricError> {
        let Goal::Step { choices, gate } = goal else { return Ok(None) };
        let mut all = Vec::new();
        for &(t, formula) in choices {
            for m in self.parts[at].moves[t.index()].clone() {
                if m.index.is_none() && self.parts[at].size.is_some() {
                    return Ok(None);
                }
                let mut transcriber = self.transcriber(builder, at, m.index)?;
                let terms: Vec<TermId> = m.params.iter().map(|&s| builder.pool.var(s)).collect();
                let old = self.parts[at].system.transition(t).params.iter().map(|p| p.symbol);
                transcriber.for_parameters(old.zip(terms));
                let met = transcriber.apply(&mut builder.pool, formula.term())?;
                let met = builder.pool.and(m.condition.into_iter().chain([met]));
                all.push((m.transition, met));
            }
        }
        let part = &self.parts[at];
        let gate = gate.map(|g| format!("{}.{}", part.name, part.system.gates[g.index()]));
        let gate = gate.map(|g| builder.gate(&g));
        Ok(Some(builder.step_goal(gate, &all, "goal")?))
    }

    /// Defines `var`, which no transition mentions yet, as `sum i in f. term` in every state.
    /// `term` is over the placeholder [`Parametric::index`] of the family.
    ///
    /// If `term` is about the variables of one instance only, each step adds the difference that it
    /// makes. The first value is a multiple of the size if the start gives all instances the same
    /// term. Otherwise it is the last element of an array of partial sums: `sums[0] == 0`,
    /// `sums[k + 1] == sums[k] + term(k)`. If `term` is about more than one instance, the partial
    /// sums are constrained in every state.
    pub fn define_sum(
        &mut self,
        builder: &mut SystemBuilder,
        part: usize,
        var: VarId,
        term: TermId,
    ) -> Result<(), ParametricError> {
        let Some(size) = self.parts[part].size else { return Ok(()) };
        let sort = builder.pool.sort(term);
        let full = format!("sums of {}", builder.so_far().var(var).name);
        let zero = zero(&mut builder.pool, sort);
        let deltas = self.deltas(builder, part, term);
        let current = builder.so_far().var(var).current;
        let current = builder.pool.var(current);
        let known = match deltas {
            Some(_) => self.sum_at_start(builder, part, size, term),
            None => None,
        };
        if let (Some(deltas), Some(known)) = (&deltas, known) {
            let total = builder.pool.eq(current, known);
            builder.start_on(&[total])?;
            return add_deltas(builder, var, deltas);
        }
        let array = builder
            .pool
            .array_sort(Sort::Int, sort)
            .ok_or_else(|| ParametricError::Unsupported { sync: None, what: full.clone() })?;
        let role = if deltas.is_some() { Role::State } else { Role::Input };
        let sums_var = builder.var(&full, array, role, None, None)?;
        let sums = builder.so_far().var(sums_var).current;
        let sums = builder.pool.var(sums);
        let nothing = builder.pool.int(0);
        let first = builder.pool.select(sums, nothing);
        let first = builder.pool.eq(first, zero);
        let bound = builder.pool.declare_bound("i", Sort::Int);
        let index = builder.pool.var(bound);
        let own = self.placed(&mut builder.pool, part, index, term);
        let one = builder.pool.int(1);
        let after = builder.pool.add(index, one);
        let (here, there) = (builder.pool.select(sums, index), builder.pool.select(sums, after));
        let grown = builder.pool.add(here, own);
        let step = builder.pool.eq(there, grown);
        let inside = within(&mut builder.pool, index, size);
        let body = builder.pool.implies(inside, step);
        let all = builder.pool.forall(&[bound], body);
        let last = builder.pool.select(sums, size);
        let total = builder.pool.eq(current, last);
        let defined = [first, all, total];
        let Some(deltas) = deltas else {
            let defined = builder.pool.and(defined);
            let formula = builder.state_formula(defined, &full)?;
            builder.assumption(&full, formula, None);
            return Ok(());
        };
        builder.start_on(&defined)?;
        for at in 0..deltas.len() {
            builder.keep_on(TransitionId::from(at), sums_var);
        }
        add_deltas(builder, var, &deltas)
    }

    /// The sum in the first state, if the start gives the instances equal terms, or all but one.
    fn sum_at_start(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        size: TermId,
        term: TermId,
    ) -> Option<TermId> {
        let placeholder = builder.pool.var(self.parts[part].index);
        // The constraints of the start on elements of arrays.
        let mut values: FxHashMap<gander_term::SymbolId, TermId> = FxHashMap::default();
        let constraint: Vec<TermId> =
            builder.so_far().starts.first()?.constraint.iter().map(|c| c.term.term()).collect();
        for c in constraint {
            let pool = &mut builder.pool;
            let (Op::Forall, &[bound, body]) = (pool.op(c), pool.args(c)) else { continue };
            let (Op::Implies, &[range, said]) = (pool.op(body), pool.args(body)) else { continue };
            if range != within(pool, bound, size) {
                continue;
            }
            let (element, value) = match (pool.op(said), pool.args(said)) {
                (Op::Eq, &[a, b]) if pool.op(a) == Op::Select => (a, b),
                (Op::Eq, &[a, b]) => (b, a),
                (Op::Not, &[a]) => (a, pool.ff()),
                _ => (said, pool.tt()),
            };
            let (Op::Select, &[array, index]) = (pool.op(element), pool.args(element)) else {
                continue;
            };
            if let (Some(symbol), true) = (pool.as_symbol(array), index == bound) {
                let value = in_place(pool, value, bound, placeholder);
                values.insert(symbol, value);
            }
        }
        let first = self.after(&mut builder.pool, part, placeholder, term, &values);
        let first = builder.pool.simplify(first);
        let pool = &mut builder.pool;
        let times = |pool: &mut Pool, value: TermId, count: TermId| match pool.as_constant(value) {
            Some(gander_term::Value::Int(_)) => Some(pool.mul(value, count)),
            Some(gander_term::Value::Real(_)) => {
                let count = pool.mk(Op::ToReal, &[count]).ok()?;
                Some(pool.mul(value, count))
            }
            _ => None,
        };
        if pool.as_constant(first).is_some() {
            let total = times(pool, first, size)?;
            return Some(pool.simplify(total));
        }
        // `if i == k then a else b`
        let (Op::Ite, &[condition, a, b]) = (pool.op(first), pool.args(first)) else { return None };
        let (Op::Eq, &[x, y]) = (pool.op(condition), pool.args(condition)) else { return None };
        let at = if x == placeholder {
            y
        } else if y == placeholder {
            x
        } else {
            return None;
        };
        let zero = pool.int(0);
        if at != zero || pool.as_constant(a).is_none() {
            return None;
        }
        let one = pool.int(1);
        let rest = pool.sub(size, one);
        let rest = times(pool, b, rest)?;
        let total = pool.add(a, rest);
        Some(pool.simplify(total))
    }

    /// The term for the instance with this index.
    fn placed(&self, pool: &mut Pool, part: usize, index: TermId, term: TermId) -> TermId {
        pool.substitute(term, &FxHashMap::from_iter([(self.parts[part].index, index)]))
    }

    /// By transition: how it changes the sum of `term` over the family. `None` if `term` is not
    /// about the variables of one instance alone, or a step changes any number of instances.
    fn deltas(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        term: TermId,
    ) -> Option<Vec<Option<Delta>>> {
        let own = &self.parts[part];
        let placeholder = builder.pool.var(own.index);
        let mine: Vec<VarId> = own.vars.iter().copied().flatten().chain(own.location).collect();
        let is_element = |pool: &Pool, t: TermId| {
            pool.op(t) == Op::Select
                && pool.args(t)[1] == placeholder
                && pool
                    .as_symbol(pool.args(t)[0])
                    .and_then(|s| mine.iter().find(|v| builder.so_far().var(**v).current == s))
                    .is_some_and(|v| builder.so_far().var(*v).role == Role::State)
        };
        // Every variable occurs as the element of this instance, and what else occurs is constant.
        let mut work = vec![term];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(t) = work.pop() {
            if !seen.insert(t) || is_element(&builder.pool, t) {
                continue;
            }
            if let Some(symbol) = builder.pool.as_symbol(t) {
                let is_constant = symbol == own.index
                    || builder.pool.symbol(symbol).bound
                    || builder.so_far().vars.iter().any(|v| v.current == symbol)
                        && self.is_frozen(builder, symbol);
                if !is_constant {
                    return None;
                }
            }
            work.extend_from_slice(builder.pool.args(t));
        }
        let mut found = Vec::new();
        for step in &self.steps {
            let writes = step.writes.as_ref()?;
            let mut places: Vec<Option<TermId>> =
                writes.iter().filter(|w| w.part == part).map(|w| w.index).collect();
            places.dedup();
            let (mut sum, mut open) = (Vec::new(), false);
            for place in places.into_iter().flatten() {
                let mut after = FxHashMap::default();
                for w in writes.iter().filter(|w| w.part == part && w.index == Some(place)) {
                    let v = builder.so_far().var(w.var);
                    let (current, next) = (v.current, v.next);
                    if builder.pool.free_symbols(&[term]).contains(&current) {
                        open |= w.value.is_none();
                    }
                    let value = w.value.unwrap_or_else(|| {
                        let next = builder.pool.var(next);
                        builder.pool.select(next, place)
                    });
                    after.insert(current, value);
                }
                let before = self.placed(&mut builder.pool, part, place, term);
                let after = self.after(&mut builder.pool, part, place, term, &after);
                let after = builder.pool.simplify(after);
                if after != before {
                    sum.push(builder.pool.sub(after, before));
                }
            }
            found.push(match (sum.len(), open) {
                (0, false) => None,
                (_, open) => {
                    let sort = builder.pool.sort(term);
                    let zero = zero(&mut builder.pool, sort);
                    let total = sum.into_iter().fold(zero, |a, b| builder.pool.add(a, b));
                    let total = builder.pool.simplify(total);
                    Some(if open { Delta::Open(total) } else { Delta::Known(total) })
                }
            });
        }
        Some(found)
    }

    /// The term of the instance `index` after a step that gives its elements these values.
    fn after(
        &self,
        pool: &mut Pool,
        part: usize,
        index: TermId,
        term: TermId,
        values: &FxHashMap<gander_term::SymbolId, TermId>,
    ) -> TermId {
        // Replace the elements, children first.
        let placeholder = self.parts[part].index;
        let mut done: FxHashMap<TermId, TermId> = FxHashMap::default();
        for t in pool.postorder(&[term]) {
            let args: Vec<TermId> = pool.args(t).to_vec();
            let element = match args[..] {
                [array, at]
                    if pool.op(t) == Op::Select && pool.as_symbol(at) == Some(placeholder) =>
                {
                    pool.as_symbol(array).and_then(|s| values.get(&s).copied())
                }
                _ => None,
            };
            let new = match element {
                Some(value) => value,
                None if pool.as_symbol(t) == Some(placeholder) => index,
                None => {
                    let new: Vec<TermId> = args.iter().map(|a| done[a]).collect();
                    if new == args {
                        t
                    } else {
                        pool.mk(pool.op(t), &new).expect("the replaced terms have the same sorts")
                    }
                }
            };
            done.insert(t, new);
        }
        done[&term]
    }

    /// True if no step changes the variable.
    fn is_frozen(&self, builder: &SystemBuilder, symbol: gander_term::SymbolId) -> bool {
        let system = builder.so_far();
        let Some(var) = system.var_ids().find(|v| system.var(*v).current == symbol) else {
            return false;
        };
        system.var(var).role == Role::State
            && system.transitions.iter().all(|t| {
                t.effect.iter().any(|e| matches!(e, Effect::Keep { var: kept, .. } if *kept == var))
            })
    }
}

/// Lets each step update a sum by the difference that it makes.
fn add_deltas(
    builder: &mut SystemBuilder,
    var: VarId,
    deltas: &[Option<Delta>],
) -> Result<(), ParametricError> {
    let current = builder.so_far().var(var).current;
    let current = builder.pool.var(current);
    for (at, delta) in deltas.iter().enumerate() {
        let t = TransitionId::from(at);
        match *delta {
            None => builder.keep_on(t, var),
            Some(Delta::Known(delta)) => {
                let value = builder.pool.add(current, delta);
                builder.assign_on(t, var, value)?;
            }
            Some(Delta::Open(delta)) => {
                let next = builder.so_far().var(var).next;
                let next = builder.pool.var(next);
                let value = builder.pool.add(current, delta);
                let relation = builder.pool.eq(next, value);
                builder.constrain_on(t, relation)?;
            }
        }
    }
    Ok(())
}

/// The term with one subterm replaced.
fn in_place(pool: &mut Pool, t: TermId, old: TermId, new: TermId) -> TermId {
    let mut done: FxHashMap<TermId, TermId> = FxHashMap::from_iter([(old, new)]);
    for t in pool.postorder(&[t]) {
        if done.contains_key(&t) {
            continue;
        }
        let args: Vec<TermId> = pool.args(t).to_vec();
        let rebuilt: Vec<TermId> = args.iter().map(|a| done[a]).collect();
        let rebuilt = match rebuilt == args {
            true => t,
            false => pool.mk(pool.op(t), &rebuilt).expect("a term of the same sort"),
        };
        done.insert(t, rebuilt);
    }
    done[&t]
}

fn zero(pool: &mut Pool, sort: Sort) -> TermId {
    match sort {
        Sort::Real => pool.real(0),
        _ => pool.int(0),
    }
}

/// How a step changes a sum.
enum Delta {
    /// By a term over the state and the parameters.
    Known(TermId),
    /// By a term that mentions next values.
    Open(TermId),
}
