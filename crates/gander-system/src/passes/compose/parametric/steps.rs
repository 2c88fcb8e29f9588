//! The steps of a system for all sizes: each instance alone, and synchronisations.
//!
//! A step *writes* elements of the arrays that hold the variables of a family: `x := x[i := e]`. If
//! an effect only restricts the next value, the element is open: `x' == x[i := x'[i]]`. In a
//! broadcast every instance of the family may change: `forall j in 0..N. x'[j] == ...`.

use gander_term::{IBig, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::{IndexedSync, Parametric, ParametricError, PartMove, Participant, at_index, within};
use crate::builder::{SystemBuilder, TransitionDraft};
use crate::origin::{ElementKind, Span};
use crate::passes::compose::{NODE, combinations};
use crate::system::{Effect, Range, Role, TransitionId, VarId};

/// The largest number of combinations of the members' transitions in a synchronisation.
const MAX_COMBINATIONS: usize = 64;

/// Values with the conditions under which they are assigned.
type ConditionalValues = Vec<(TermId, TermId)>;

/// Where a transition of the system comes from, and what it changes.
pub(super) struct Done {
    /// The synchronisation; `None` for a step of one instance.
    pub(super) sync: Option<usize>,
    /// The member that moves, or the first of several.
    pub(super) leader: usize,
    /// The indices of the synchronisation.
    pub(super) indices: Vec<TermId>,
    /// The parameters that are indices.
    pub(super) index_params: Vec<SymbolId>,
    /// What it changes; `None` if a family receives, so that any number of instances change.
    pub(super) writes: Option<Vec<Write>>,
}

/// A change of a variable of an instance.
#[derive(Clone)]
pub(super) struct Write {
    pub(super) part: usize,
    pub(super) index: Option<TermId>,
    pub(super) var: VarId,
    /// `None` if the effect leaves it open.
    pub(super) value: Option<TermId>,
    span: Option<Span>,
    is_control: bool,
}

/// A change of the elements of an array: the condition and the value of the element at the bound
/// index.
struct Pointwise {
    var: VarId,
    cases: Vec<(TermId, TermId)>,
}

/// What is recorded with a finished step, and whether its effect can always be completed.
struct Ending {
    sync: Option<usize>,
    leader: usize,
    indices: Vec<TermId>,
    index_params: Vec<SymbolId>,
    is_completable: bool,
}

/// One instance that takes a transition.
struct Taken {
    part: usize,
    index: Option<TermId>,
    transition: TransitionId,
    /// The prefix of its parameters; empty if it moves alone.
    text: String,
}

impl Parametric<'_> {
    /// Adds the steps. Conditions on parameters of synchronisations are added by the caller.
    pub fn add_steps(
        &mut self,
        builder: &mut SystemBuilder,
        syncs: &[IndexedSync],
    ) -> Result<(), ParametricError> {
        for part in 0..self.parts.len() {
            let system = self.parts[part].system;
            for t in system.transition_ids() {
                self.add_alone(builder, part, t, syncs)?;
            }
        }
        for (number, sync) in syncs.iter().enumerate() {
            self.add_joint(builder, number, sync)?;
        }
        Ok(())
    }

    /// The transitions of a member with a gate.
    fn with_gate(&self, part: usize, gate: &str) -> Vec<TransitionId> {
        let system = self.parts[part].system;
        let is = |t: &TransitionId| {
            system.transition(*t).gate.is_some_and(|g| system.gates[g.index()] == gate)
        };
        system.transition_ids().filter(is).collect()
    }

    /// A step of one instance.
    fn add_alone(
        &mut self,
        builder: &mut SystemBuilder,
        part: usize,
        t: TransitionId,
        syncs: &[IndexedSync],
    ) -> Result<(), ParametricError> {
        let (system, name, size) =
            (self.parts[part].system, self.parts[part].name, self.parts[part].size);
        let old = system.transition(t);
        let gate = old.gate.map(|g| system.gates[g.index()].as_str());
        // Whether the transition exists depends on the index, which is not declared yet.
        let placeholder = builder.pool.var(self.parts[part].index);
        let listed = match gate {
            Some(gate) => self.listed(builder, part, gate, placeholder, syncs),
            None => builder.pool.ff(),
        };
        if builder.pool.as_bool(listed) == Some(true) {
            return Ok(());
        }
        let index_name = if old.params.iter().any(|p| p.name == "i") { "index" } else { "i" };
        let full = match size {
            Some(_) => format!("{name}[{index_name}].{}", old.name),
            None => format!("{name}.{}", old.name),
        };
        let gate = gate.map(|g| builder.gate(&format!("{name}.{g}")));
        let mut draft = builder.transition(&full, gate, NODE, NODE, old.span)?;
        let mut index_params = Vec::new();
        let index = match size {
            None => None,
            Some(size) => {
                let symbol = builder.param(&mut draft, index_name, Sort::Int, None)?;
                index_params.push(symbol);
                let index = builder.pool.var(symbol);
                let inside = within(&mut builder.pool, index, size);
                builder.control_guard(&mut draft, inside)?;
                Some(index)
            }
        };
        let listed = at_index(&mut builder.pool, self.parts[part].index, index, listed);
        if builder.pool.as_bool(listed) != Some(false) {
            let free = builder.pool.not(listed);
            builder.control_guard(&mut draft, free)?;
        }
        let taken = Taken { part, index, transition: t, text: String::new() };
        let mut writes = Vec::new();
        let shared = FxHashMap::default();
        self.add_taken(builder, &mut draft, &taken, &shared, &mut writes)?;
        let ending = Ending {
            sync: None,
            leader: part,
            indices: Vec::new(),
            index_params,
            is_completable: old.causal,
        };
        self.finish(builder, draft, writes, None, ending)
    }

    /// True if a synchronisation lists this gate for the instance with this index.
    fn listed(
        &self,
        builder: &mut SystemBuilder,
        part: usize,
        gate: &str,
        index: TermId,
        syncs: &[IndexedSync],
    ) -> TermId {
        let mut all = Vec::new();
        let is = |p: &&Participant| p.part == part && p.gate == gate;
        for sync in syncs {
            for one in sync.members.iter().filter(is) {
                all.push(self.lists(builder, sync, one, index, Vec::new()));
            }
            for one in sync.receivers.iter().filter(is) {
                // A member of the step is not a receiver of it.
                let mut others = Vec::new();
                for member in sync.members.iter().filter(|m| m.part == part) {
                    others.push(match member.index {
                        Some(at) => builder.pool.ne(at, index),
                        None => builder.pool.ff(),
                    });
                }
                all.push(self.lists(builder, sync, one, index, others));
            }
        }
        builder.pool.or(all)
    }

    /// True if the synchronisation exists for indices that satisfy `others` and make the instance
    /// the participant `one`.
    fn lists(
        &self,
        builder: &mut SystemBuilder,
        sync: &IndexedSync,
        one: &Participant,
        index: TermId,
        others: Vec<TermId>,
    ) -> TermId {
        let mut rest: Vec<(SymbolId, TermId)> =
            sync.indices.iter().map(|i| (i.symbol, i.size)).collect();
        let mut conditions = vec![self.choice_exists(builder, sync)];
        for other in others {
            conditions.push(builder.pool.simplify(other));
        }
        if let Some(at) = one.index {
            // The index is determined if the participant is selected by a bijection of it.
            let direct = builder.pool.as_symbol(at).map(|s| (s, index));
            let inverse = one.inverse.map(|(s, inverse)| {
                let placeholder = self.parts[one.part].index;
                (s, at_index(&mut builder.pool, placeholder, Some(index), inverse))
            });
            let found = direct.into_iter().chain(inverse).find_map(|(s, value)| {
                rest.iter().position(|(r, _)| *r == s).map(|position| (position, value))
            });
            match found {
                Some((position, value)) => {
                    let (symbol, size) = rest.remove(position);
                    let map = FxHashMap::from_iter([(symbol, value)]);
                    for c in &mut conditions {
                        *c = builder.pool.substitute(*c, &map);
                        *c = builder.pool.simplify(*c);
                    }
                    if Some(size) != self.parts[one.part].size {
                        conditions.push(within(&mut builder.pool, index, size));
                    }
                }
                None => conditions.push(builder.pool.eq(at, index)),
            }
        }
        let whole = builder.pool.and(conditions);
        // An index that is not mentioned needs no quantifier, because no family is empty.
        let mentioned = builder.pool.free_symbols(&[whole]);
        rest.retain(|(s, _)| mentioned.contains(s));
        if let [(symbol, size)] = rest[..] {
            let other = builder.pool.var(symbol);
            let differ = builder.pool.ne(other, index);
            let differ = builder.pool.simplify(differ);
            // `exists j in 0..N. j != i` for an `i` in this range.
            if differ == whole && Some(size) == self.parts[one.part].size {
                let one = builder.pool.int(1);
                return builder.pool.lt(one, size);
            }
        }
        let mut map = FxHashMap::default();
        let mut bound = Vec::new();
        let mut inside = Vec::new();
        for (symbol, size) in rest {
            let b = builder.pool.declare_bound("j", Sort::Int);
            let term = builder.pool.var(b);
            bound.push(b);
            map.insert(symbol, term);
            inside.push(within(&mut builder.pool, term, size));
        }
        let whole = builder.pool.substitute(whole, &map);
        let whole = builder.pool.and(inside.into_iter().chain([whole]));
        builder.pool.exists(&bound, whole)
    }

    /// The condition that a synchronisation exists for a choice of its indices: its `where`, and
    /// that no instance is a member twice.
    fn choice_exists(&self, builder: &mut SystemBuilder, sync: &IndexedSync) -> TermId {
        let mut all: Vec<TermId> = sync.condition.into_iter().collect();
        for (i, a) in sync.members.iter().enumerate() {
            for b in sync.members[..i].iter().filter(|b| b.part == a.part) {
                if let (Some(a), Some(b)) = (a.index, b.index) {
                    all.push(builder.pool.ne(a, b));
                }
            }
        }
        let whole = builder.pool.and(all);
        builder.pool.simplify(whole)
    }

    fn add_joint(
        &mut self,
        builder: &mut SystemBuilder,
        number: usize,
        sync: &IndexedSync,
    ) -> Result<(), ParametricError> {
        let able: Vec<Vec<TransitionId>> =
            sync.members.iter().map(|m| self.with_gate(m.part, &m.gate)).collect();
        let counts: Vec<usize> = able.iter().map(Vec::len).collect();
        let Some(all) = combinations(&counts, MAX_COMBINATIONS) else {
            let what = format!("more than {MAX_COMBINATIONS} combinations of transitions");
            return Err(ParametricError::Unsupported { sync: Some(number), what });
        };
        for picked in all {
            let transitions: Vec<TransitionId> =
                able.iter().zip(picked).map(|(list, at)| list[at]).collect();
            self.add_joint_step(builder, number, sync, &transitions)?;
        }
        Ok(())
    }

    fn add_joint_step(
        &mut self,
        builder: &mut SystemBuilder,
        number: usize,
        sync: &IndexedSync,
        transitions: &[TransitionId],
    ) -> Result<(), ParametricError> {
        let unsupported =
            |what: String| Err(ParametricError::Unsupported { sync: Some(number), what });
        let mut names: Vec<String> = sync
            .members
            .iter()
            .zip(transitions)
            .map(|(m, t)| format!("{}.{}", m.text, self.parts[m.part].system.transition(*t).name))
            .collect();
        names.extend(sync.receivers.iter().map(|r| format!("{}.{}", r.text, r.gate)));
        let full = unused_name(builder, format!("{}({})", sync.name, names.join(", ")));
        let gate = Some(builder.gate(&sync.name));
        let mut draft = builder.transition(&full, gate, NODE, NODE, sync.span)?;
        let mut values = FxHashMap::default();
        let (mut indices, mut index_params) = (Vec::new(), Vec::new());
        for index in &sync.indices {
            let symbol = builder.param(&mut draft, &index.name, Sort::Int, None)?;
            index_params.push(symbol);
            let term = builder.pool.var(symbol);
            let inside = within(&mut builder.pool, term, index.size);
            builder.control_guard(&mut draft, inside)?;
            values.insert(index.symbol, term);
            indices.push(term);
        }
        let exists = self.choice_exists(builder, sync);
        let exists = builder.pool.substitute(exists, &values);
        if builder.pool.as_bool(exists) != Some(true) {
            builder.control_guard(&mut draft, exists)?;
        }
        let shared = self.shared_params(builder, &mut draft, sync, transitions)?;
        let mut writes = Vec::new();
        let mut members = Vec::new();
        for (m, &transition) in sync.members.iter().zip(transitions) {
            let index = m.index.map(|i| builder.pool.substitute(i, &values));
            let taken = Taken { part: m.part, index, transition, text: m.text.clone() };
            self.add_taken(builder, &mut draft, &taken, &shared, &mut writes)?;
            members.push((m.part, index));
        }
        let mut pointwise: Vec<Pointwise> = Vec::new();
        let mut receiving: Vec<usize> = Vec::new();
        let mut bound = None;
        for r in &sync.receivers {
            let is_member = members.iter().any(|(part, index)| *part == r.part && index.is_none());
            if is_member || receiving.contains(&r.part) {
                if r.index.is_some() {
                    return unsupported(format!(
                        "a second receiver of `{}`",
                        self.parts[r.part].name
                    ));
                }
                continue;
            }
            receiving.push(r.part);
            let at = r.index.map(|i| builder.pool.substitute(i, &values));
            let copy = self.parts[r.part]
                .size
                .map(|_| *bound.get_or_insert_with(|| builder.pool.declare_bound("j", Sort::Int)));
            self.add_receiver(
                builder,
                &draft,
                r,
                (at, copy),
                &members,
                &shared,
                (&mut writes, &mut pointwise),
                number,
            )?;
        }
        let is_plain = |(m, t): (&Participant, &TransitionId)| {
            let effect = &self.parts[m.part].system.transition(*t).effect;
            !effect.iter().any(|e| matches!(e, Effect::Constrain { .. }))
        };
        let ending = Ending {
            sync: Some(number),
            leader: sync.members[0].part,
            indices,
            index_params,
            // Equations for all elements of the arrays of the receivers.
            is_completable: sync.members.iter().zip(transitions).all(is_plain),
        };
        self.finish(builder, draft, writes, bound.map(|b| (b, pointwise)), ending)
    }

    /// The shared parameters of a joint step, by name. All ranges declared for one apply.
    fn shared_params(
        &self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        sync: &IndexedSync,
        transitions: &[TransitionId],
    ) -> Result<FxHashMap<String, SymbolId>, ParametricError> {
        let mut found = FxHashMap::default();
        for name in &sync.shared {
            let mut sort = None;
            let mut bounds: (Option<IBig>, Option<IBig>) = (None, None);
            let members = sync.members.iter().zip(transitions).map(|(m, t)| (m.part, *t, true));
            let receivers = sync.receivers.iter().flat_map(|r| {
                self.with_gate(r.part, &r.gate).into_iter().map(|t| (r.part, t, false))
            });
            for (part, t, is_member) in members.chain(receivers) {
                let params = &self.parts[part].system.transition(t).params;
                let Some(p) = params.iter().find(|p| p.name == *name) else { continue };
                if sort.is_none() {
                    sort = Some(self.sort(builder, part, p.sort)?);
                }
                // The range of a receiver's parameter decides whether it can receive.
                if let (Some(range), true) = (&p.range, is_member) {
                    let low = range.low.clone();
                    let high = range.high.clone();
                    bounds.0 = Some(bounds.0.map_or(low.clone(), |b| b.max(low)));
                    bounds.1 = Some(bounds.1.map_or(high.clone(), |b| b.min(high)));
                }
            }
            let Some(sort) = sort else { continue };
            let range = match bounds {
                (Some(low), Some(high)) => Some(Range { low, high }),
                _ => None,
            };
            let is_empty = range.as_ref().is_some_and(|r| r.low > r.high);
            let symbol = builder.param(draft, name, sort, range.filter(|_| !is_empty))?;
            if is_empty {
                let never = builder.pool.ff();
                builder.guard(draft, never, sync.span)?;
            }
            found.insert(name.clone(), symbol);
        }
        Ok(found)
    }

    /// An instance takes a transition: parameters, guard, and what it writes.
    fn add_taken(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        taken: &Taken,
        shared: &FxHashMap<String, SymbolId>,
        writes: &mut Vec<Write>,
    ) -> Result<(), ParametricError> {
        let &Taken { part, index, transition: t, .. } = taken;
        let system = self.parts[part].system;
        let old = system.transition(t);
        let mut transcriber = self.transcriber(builder, part, index)?;
        let mut params = Vec::new();
        for p in &old.params {
            params.push(match shared.get(&p.name) {
                Some(&symbol) => symbol,
                None => {
                    let sort = transcriber.sort(&mut builder.pool, p.sort)?;
                    let name = match taken.text.as_str() {
                        "" => p.name.clone(),
                        text => format!("{text}.{}", p.name),
                    };
                    builder.param(draft, &name, sort, p.range.clone())?
                }
            });
        }
        let terms: Vec<TermId> = params.iter().map(|&s| builder.pool.var(s)).collect();
        transcriber.for_parameters(old.params.iter().map(|p| p.symbol).zip(terms));
        if let Some(location) = self.parts[part].location {
            let here = transcriber.at(&mut builder.pool, old.source)?;
            builder.control_guard(draft, here)?;
            if old.target != old.source {
                let there = transcriber.node_value(&mut builder.pool, old.target)?;
                writes.push(Write {
                    part,
                    index,
                    var: location,
                    value: Some(there),
                    span: None,
                    is_control: true,
                });
            }
        }
        for g in &old.guard {
            let info = &system.elements[g.id.index()];
            if info.kind == ElementKind::ParameterRange {
                continue;
            }
            let term = transcriber.apply(&mut builder.pool, g.term.term())?;
            builder.guard(draft, term, info.span)?;
            builder.set_last_kind(info.kind);
        }
        let mut open = vec![true; system.vars.len()];
        for e in &old.effect {
            let span = |id: crate::origin::ElementId| system.elements[id.index()].span;
            match *e {
                Effect::Assign { id, var, value } => {
                    open[var.index()] = false;
                    let value = transcriber.apply(&mut builder.pool, value.term())?;
                    let Some(new) = self.parts[part].vars[var.index()] else { continue };
                    let (value, span) = (Some(value), span(id));
                    writes.push(Write { part, index, var: new, value, span, is_control: false });
                }
                Effect::Keep { var, .. } => open[var.index()] = false,
                Effect::Constrain { id, relation } => {
                    let relation = transcriber.apply(&mut builder.pool, relation.term())?;
                    builder.constrain(draft, relation, span(id))?;
                }
            }
        }
        for (v, new) in system.vars.iter().zip(&self.parts[part].vars).enumerate().filter_map(
            |(at, (v, new))| (open[at] && v.role == Role::State).then_some((v, (*new)?)),
        ) {
            writes.push(Write {
                part,
                index,
                var: new,
                value: None,
                span: v.span,
                is_control: false,
            });
        }
        let is_joint = !taken.text.is_empty();
        self.parts[part].moves[t.index()].push(PartMove {
            transition: draft.id(),
            condition: None,
            index,
            params,
            is_joint,
        });
        Ok(())
    }

    /// A receiver takes a transition if it can. `bound` is the generic index of a family.
    #[allow(clippy::too_many_arguments)]
    fn add_receiver(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &TransitionDraft,
        r: &Participant,
        (at, bound): (Option<TermId>, Option<SymbolId>),
        members: &[(usize, Option<TermId>)],
        shared: &FxHashMap<String, SymbolId>,
        (writes, pointwise): (&mut Vec<Write>, &mut Vec<Pointwise>),
        number: usize,
    ) -> Result<(), ParametricError> {
        let (system, name) = (self.parts[r.part].system, self.parts[r.part].name);
        let unsupported = |what: &str| {
            let what = format!("{what} of the receiver `{name}`");
            Err(ParametricError::Unsupported { sync: Some(number), what })
        };
        let transitions = self.with_gate(r.part, &r.gate);
        let index = bound.map(|b| builder.pool.var(b));
        let mut transcriber = self.transcriber(builder, r.part, index)?;
        // Which instances may receive.
        let mut may: Vec<TermId> = Vec::new();
        if let (Some(index), Some(size)) = (index, self.parts[r.part].size) {
            may.push(within(&mut builder.pool, index, size));
            may.extend(at.map(|at| builder.pool.eq(at, index)));
            for (_, member) in members.iter().filter(|(part, _)| *part == r.part) {
                may.extend(member.map(|m| builder.pool.ne(m, index)));
            }
        }
        let sources: Vec<_> = transitions.iter().map(|t| system.transition(*t).source).collect();
        if (1..sources.len()).any(|i| sources[..i].contains(&sources[i])) {
            return unsupported("a choice among transitions of one node");
        }
        // By variable of the system: conditions and values.
        let mut cases: Vec<(VarId, bool, ConditionalValues)> = Vec::new();
        for &t in &transitions {
            let old = system.transition(t);
            let own = old.params.iter().map(|p| shared.get(&p.name).copied());
            let Some(own) = own.collect::<Option<Vec<SymbolId>>>() else {
                return unsupported("parameters that are not shared");
            };
            let terms: Vec<TermId> = own.iter().map(|&s| builder.pool.var(s)).collect();
            transcriber.for_parameters(old.params.iter().map(|p| p.symbol).zip(terms));
            let mut able = may.clone();
            able.push(transcriber.at(&mut builder.pool, old.source)?);
            for g in &old.guard {
                able.push(transcriber.apply(&mut builder.pool, g.term.term())?);
            }
            let able = builder.pool.and(able);
            let mut add = |var: VarId, is_control: bool, value: TermId| match cases
                .iter_mut()
                .find(|(known, ..)| *known == var)
            {
                Some((_, _, list)) => list.push((able, value)),
                None => cases.push((var, is_control, vec![(able, value)])),
            };
            if let Some(location) = self.parts[r.part].location
                && old.target != old.source
            {
                let there = transcriber.node_value(&mut builder.pool, old.target)?;
                add(location, true, there);
            }
            let mut open = vec![true; system.vars.len()];
            for e in &old.effect {
                match *e {
                    Effect::Assign { var, value, .. } => {
                        open[var.index()] = false;
                        let value = transcriber.apply(&mut builder.pool, value.term())?;
                        if let Some(new) = self.parts[r.part].vars[var.index()] {
                            add(new, false, value);
                        }
                    }
                    Effect::Keep { var, .. } => open[var.index()] = false,
                    Effect::Constrain { .. } => {
                        return unsupported("an effect with a primed variable");
                    }
                }
            }
            let is_open = |at: usize| {
                open[at]
                    && system.vars[at].role == Role::State
                    && self.parts[r.part].vars[at].is_some()
            };
            if (0..open.len()).any(is_open) {
                return unsupported("an effect with `any`");
            }
            let condition = match bound {
                Some(b) => builder.pool.exists(&[b], able),
                None => able,
            };
            self.parts[r.part].moves[t.index()].push(PartMove {
                transition: draft.id(),
                condition: Some(condition),
                index: None,
                params: own,
                is_joint: true,
            });
        }
        for (var, is_control, cases) in cases {
            if bound.is_some() {
                pointwise.push(Pointwise { var, cases });
                continue;
            }
            let current = builder.so_far().var(var).current;
            let mut value = builder.pool.var(current);
            for (able, new) in cases {
                value = builder.pool.ite(able, new, value);
            }
            let value = Some(value);
            writes.push(Write { part: r.part, index: None, var, value, span: None, is_control });
        }
        Ok(())
    }

    /// Turns what a step writes into its effect.
    fn finish(
        &mut self,
        builder: &mut SystemBuilder,
        mut draft: TransitionDraft,
        writes: Vec<Write>,
        broadcast: Option<(SymbolId, Vec<Pointwise>)>,
        ending: Ending,
    ) -> Result<(), ParametricError> {
        let mut vars: Vec<VarId> = writes.iter().map(|w| w.var).collect();
        let all =
            || broadcast.iter().flat_map(|(bound, list)| list.iter().map(move |p| (*bound, p)));
        vars.extend(all().map(|(_, p)| p.var));
        vars.sort_unstable();
        vars.dedup();
        for var in vars {
            let mine: Vec<&Write> = writes.iter().filter(|w| w.var == var).collect();
            let (current, next) =
                (builder.so_far().var(var).current, builder.so_far().var(var).next);
            let (current, next) = (builder.pool.var(current), builder.pool.var(next));
            let span = mine.iter().find_map(|w| w.span);
            let is_control = mine.iter().any(|w| w.is_control);
            let is_open = mine.iter().any(|w| w.value.is_none());
            let mut value = current;
            for w in &mine {
                value = match (w.index, w.value) {
                    (None, Some(new)) => new,
                    (None, None) => next,
                    (Some(index), Some(new)) => builder.pool.store(value, index, new),
                    (Some(index), None) => {
                        let element = builder.pool.select(next, index);
                        builder.pool.store(value, index, element)
                    }
                };
            }
            if let Some((bound, p)) = all().find(|(_, p)| p.var == var) {
                let index = builder.pool.var(bound);
                let mut element = builder.pool.select(value, index);
                for &(able, new) in &p.cases {
                    element = builder.pool.ite(able, new, element);
                }
                let whole = builder.pool.select(next, index);
                let same = builder.pool.eq(whole, element);
                let part = self
                    .parts
                    .iter()
                    .find(|part| part.location == Some(var) || part.vars.contains(&Some(var)));
                let Some(size) = part.and_then(|p| p.size) else { continue };
                let inside = within(&mut builder.pool, index, size);
                let body = builder.pool.implies(inside, same);
                let relation = builder.pool.forall(&[bound], body);
                builder.constrain(&mut draft, relation, span)?;
            } else if is_open {
                if mine.iter().all(|w| w.index.is_none()) {
                    builder.free(&mut draft, var);
                } else {
                    let relation = builder.pool.eq(next, value);
                    builder.constrain(&mut draft, relation, span)?;
                }
            } else if is_control {
                builder.control_assign(&mut draft, var, value)?;
            } else {
                builder.assign(&mut draft, var, value, span)?;
            }
        }
        if ending.is_completable {
            builder.set_causal(&mut draft);
        }
        builder.add(draft)?;
        let Ending { sync, leader, indices, index_params, .. } = ending;
        let writes = broadcast.is_none().then_some(writes);
        self.steps.push(Done { sync, leader, indices, index_params, writes });
        Ok(())
    }
}

/// The name, with a number if a transition has it already.
fn unused_name(builder: &SystemBuilder, name: String) -> String {
    let taken = |n: &str| builder.so_far().transitions.iter().any(|t| t.name == n);
    let mut full = name.clone();
    let mut number = 2;
    while taken(&full) {
        full = format!("{name} ({number})");
        number += 1;
    }
    full
}
