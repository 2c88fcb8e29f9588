//! The steps of a composition: each instance alone, and synchronisations.
//!
//! If each participant of a synchronisation *takes* a given transition, the composition has one
//! transition for each combination. If a participant *chooses* among several, one transition stands
//! for all of them, and its guard and effect distinguish the cases. A receiver of a broadcast
//! always chooses, because it may also stay as it is.

use gander_term::{Pool, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::choices::Choosing;
use super::{ComposeError, Composed, NODE, PartMove, Sync, combinations};
use crate::aggregate::{Aggregate, Shape};
use crate::builder::{SystemBuilder, TransitionDraft};
use crate::origin::{ElementKind, ElementName, Span};
use crate::system::{Effect, Param, Range, System, Transition, TransitionId};

/// Names of joint steps list at most this many participants.
const NAMED_PARTICIPANTS: usize = 6;

/// Where a transition of the composition comes from.
pub(super) struct Joined {
    /// The synchronisation; `None` for a step of one instance.
    pub(super) sync: Option<usize>,
    /// The instance that moves, or the first of several.
    pub(super) leader: usize,
}

/// The part that an instance has in a step.
enum Participant {
    /// It takes this transition.
    Takes(usize, TransitionId),
    /// It takes one of these transitions. If `required` is false, it stays as it is if it can take
    /// none.
    Chooses { instance: usize, transitions: Vec<TransitionId>, required: bool },
}

impl Participant {
    fn instance(&self) -> usize {
        match self {
            Participant::Takes(instance, _) | Participant::Chooses { instance, .. } => *instance,
        }
    }
}

/// A transition of the composition that is not built yet.
struct Step {
    sync: Option<usize>,
    participants: Vec<Participant>,
}

impl Composed<'_> {
    pub(super) fn add_steps(
        &mut self,
        builder: &mut SystemBuilder,
        syncs: &[Sync],
    ) -> Result<(), ComposeError> {
        self.check_syncs(syncs)?;
        let steps = self.steps_of(syncs)?;
        let vars = builder.so_far().vars.len();
        if steps.len().saturating_mul(vars) > self.limits.frames {
            return Err(ComposeError::TooLarge { transitions: steps.len(), vars });
        }
        let mut names: Vec<String> = steps.iter().map(|s| self.step_name(s, syncs)).collect();
        super::transcribe::make_unique(&mut names);
        builder.expect_transitions(steps.len());
        for (step, name) in steps.iter().zip(&names) {
            self.add_step(builder, step, name, syncs)?;
        }
        Ok(())
    }

    fn check_syncs(&self, syncs: &[Sync]) -> Result<(), ComposeError> {
        let mut known = FxHashSet::default();
        for (number, sync) in syncs.iter().enumerate() {
            let mut seen = FxHashSet::default();
            for (i, gate) in sync.participants() {
                let Some(part) = self.instances.get(*i) else {
                    return Err(ComposeError::UnknownInstance { sync: number, instance: *i });
                };
                let instance = part.name.to_string();
                if !seen.insert(*i) {
                    return Err(ComposeError::TwiceInSync { sync: number, instance });
                }
                if !part.system.gates.contains(gate) {
                    let gate = gate.clone();
                    return Err(ComposeError::UnknownGate { sync: number, instance, gate });
                }
            }
            if sync.members.is_empty() {
                return Err(ComposeError::EmptySync { sync: number });
            }
            if !known.insert((sync.name.as_str(), &sync.members, &sync.receivers)) {
                return Err(ComposeError::SameSync { sync: number });
            }
            self.check_shared(number, sync)?;
        }
        Ok(())
    }

    /// Every shared parameter is a parameter of some participant, and has one sort.
    fn check_shared(&self, number: usize, sync: &Sync) -> Result<(), ComposeError> {
        for name in &sync.shared {
            let taking = || {
                let participants = sync.participants();
                participants.flat_map(|(i, gate)| {
                    let system = self.instances[*i].system;
                    let transitions = self.with_gate(*i, gate);
                    transitions.into_iter().map(move |t| (*i, system, system.transition(t)))
                })
            };
            // A parameter of several parts has a part of this name.
            let of_parts = |a: &&Aggregate| a.shape.part_names(&a.name).contains(name);
            let whole = taking().find_map(|(.., t)| t.aggregates.iter().find(of_parts));
            let whole = whole.map_or(name, |a| &a.name);
            let mut first: Option<(usize, WrittenSort)> = None;
            for (i, system, t) in taking() {
                let Some(sort) = written_sort(system, t, whole) else { continue };
                match &first {
                    None => first = Some((i, sort)),
                    Some((_, known)) if *known == sort => {}
                    Some((other, _)) => {
                        let names = [*other, i].map(|i| self.instances[i].name.to_string());
                        return Err(ComposeError::SharedSorts {
                            sync: number,
                            parameter: whole.clone(),
                            instances: names,
                        });
                    }
                }
            }
            if first.is_none() {
                return Err(ComposeError::NotShared { sync: number, parameter: name.clone() });
            }
        }
        Ok(())
    }

    /// The transitions of an instance with a gate.
    fn with_gate(&self, instance: usize, gate: &str) -> Vec<TransitionId> {
        let system = self.instances[instance].system;
        let is = |t: &TransitionId| {
            system.transition(*t).gate.is_some_and(|g| system.gates[g.index()] == gate)
        };
        system.transition_ids().filter(is).collect()
    }

    fn steps_of(&self, syncs: &[Sync]) -> Result<Vec<Step>, ComposeError> {
        let mut synced: FxHashSet<(usize, &str)> = FxHashSet::default();
        for (i, gate) in syncs.iter().flat_map(Sync::participants) {
            synced.insert((*i, gate));
        }
        let mut steps = Vec::new();
        for (i, part) in self.instances.iter().enumerate() {
            for t in part.system.transition_ids() {
                let gate = part.system.transition(t).gate;
                let gate = gate.map(|g| part.system.gates[g.index()].as_str());
                if gate.is_none_or(|g| !synced.contains(&(i, g))) {
                    steps.push(Step { sync: None, participants: vec![Participant::Takes(i, t)] });
                }
            }
        }
        for (number, sync) in syncs.iter().enumerate() {
            self.joint_steps(number, sync, &mut steps);
            if steps.len() > self.limits.transitions {
                return Err(ComposeError::TooManyTransitions(self.limits.transitions));
            }
        }
        Ok(steps)
    }

    fn joint_steps(&self, number: usize, sync: &Sync, steps: &mut Vec<Step>) {
        let able: Vec<(usize, Vec<TransitionId>)> =
            sync.members.iter().map(|(i, gate)| (*i, self.with_gate(*i, gate))).collect();
        if able.iter().any(|(_, transitions)| transitions.is_empty()) {
            return;
        }
        let receivers = || {
            let able = sync.receivers.iter().map(|(i, gate)| (*i, self.with_gate(*i, gate)));
            able.filter(|(_, transitions)| !transitions.is_empty()).map(
                |(instance, transitions)| Participant::Chooses {
                    instance,
                    transitions,
                    required: false,
                },
            )
        };
        let counts: Vec<usize> = able.iter().map(|(_, transitions)| transitions.len()).collect();
        match combinations(&counts, self.limits.combinations) {
            Some(all) => steps.extend(all.into_iter().map(|picked| {
                let members =
                    able.iter().zip(picked).map(|((i, t), k)| Participant::Takes(*i, t[k]));
                Step { sync: Some(number), participants: members.chain(receivers()).collect() }
            })),
            None => {
                let members = able.into_iter().map(|(instance, transitions)| {
                    Participant::Chooses { instance, transitions, required: true }
                });
                let participants = members.chain(receivers()).collect();
                steps.push(Step { sync: Some(number), participants });
            }
        }
    }

    fn step_name(&self, step: &Step, syncs: &[Sync]) -> String {
        let one = |p: &Participant| {
            let part = &self.instances[p.instance()];
            match p {
                Participant::Takes(_, t) => {
                    format!("{}.{}", part.name, part.system.transition(*t).name)
                }
                Participant::Chooses { transitions, .. } => {
                    let first = part.system.transition(transitions[0]);
                    let gate = first
                        .gate
                        .map_or(first.name.as_str(), |g| part.system.gates[g.index()].as_str());
                    format!("{}.{gate}", part.name)
                }
            }
        };
        let mut parts: Vec<String> =
            step.participants.iter().take(NAMED_PARTICIPANTS).map(one).collect();
        if step.participants.len() > NAMED_PARTICIPANTS {
            parts.push(format!("{} more", step.participants.len() - NAMED_PARTICIPANTS));
        }
        match step.sync {
            Some(s) => format!("{}({})", syncs[s].name, parts.join(", ")),
            None => parts.join(", "),
        }
    }

    fn add_step(
        &mut self,
        builder: &mut SystemBuilder,
        step: &Step,
        name: &str,
        syncs: &[Sync],
    ) -> Result<(), ComposeError> {
        let leader = step.participants[0].instance();
        let sync = step.sync.map(|s| &syncs[s]);
        let (gate, span) = match (&step.participants[0], sync) {
            (_, Some(sync)) => (Some(sync.name.clone()), sync.span),
            (Participant::Takes(i, t), None) => {
                let (part, t) = (&self.instances[*i], self.instances[*i].system.transition(*t));
                let gate =
                    t.gate.map(|g| format!("{}.{}", part.name, part.system.gates[g.index()]));
                (gate, t.span)
            }
            (Participant::Chooses { .. }, None) => {
                unreachable!("one instance takes its transition")
            }
        };
        let gate = gate.map(|g| builder.gate(&g));
        let mut draft = builder.transition(name, gate, NODE, NODE, span)?;
        let shared = self.shared_params(builder, &mut draft, step, sync)?;
        for participant in &step.participants {
            match participant {
                Participant::Takes(i, t) => {
                    self.add_taken(builder, &mut draft, (*i, *t), &shared, sync.is_some())?;
                }
                Participant::Chooses { instance, transitions, required } => {
                    let at = Choosing { instance: *instance, transitions, required: *required };
                    self.add_choice(builder, &mut draft, &at, &shared)?;
                }
            }
        }
        self.describe_params(builder, &mut draft, step);
        builder.add(draft)?;
        self.steps.push(Joined { sync: step.sync, leader });
        Ok(())
    }

    /// Records which parameters are parts of one parameter. A shared one is named `parameter`,
    /// another one `instance.parameter`.
    fn describe_params(
        &self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        step: &Step,
    ) {
        let names: Vec<String> = draft.params().iter().map(|p| p.name.clone()).collect();
        let mut found: Vec<(usize, String, &Shape)> = Vec::new();
        for participant in &step.participants {
            let (i, t) = match participant {
                Participant::Takes(i, t) => (i, t),
                // Parameters that all transitions of a choice have.
                Participant::Chooses { instance, transitions, required: true } => {
                    (instance, &transitions[0])
                }
                Participant::Chooses { .. } => continue,
            };
            let part = &self.instances[*i];
            for a in &part.system.transition(*t).aggregates {
                for name in [a.name.clone(), format!("{}.{}", part.name, a.name)] {
                    let wanted = a.shape.part_names(&name);
                    let Some(first) = names.iter().position(|n| *n == wanted[0]) else { continue };
                    if names.get(first..first + wanted.len()) == Some(&wanted[..])
                        && !found.iter().any(|(known, ..)| *known == first)
                    {
                        found.push((first, name, &a.shape));
                    }
                }
            }
        }
        found.sort_by_key(|(first, ..)| *first);
        for (first, name, shape) in found {
            builder.param_aggregate(draft, &name, shape.clone(), first);
        }
    }

    /// The shared parameters of a joint step, by name. All ranges declared for one apply.
    fn shared_params(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        step: &Step,
        sync: Option<&Sync>,
    ) -> Result<FxHashMap<String, SymbolId>, ComposeError> {
        let mut found = FxHashMap::default();
        let Some(sync) = sync else { return Ok(found) };
        for name in &sync.shared {
            let mut sort = None;
            let mut ranges: Vec<SharedRange> = Vec::new();
            for participant in &step.participants {
                let required = !matches!(participant, Participant::Chooses { required: false, .. });
                let one;
                let transitions: &[TransitionId] = match participant {
                    Participant::Takes(_, t) => {
                        one = [*t];
                        &one
                    }
                    Participant::Chooses { transitions, .. } => transitions,
                };
                let part = &mut self.instances[participant.instance()];
                for t in transitions {
                    let params = &part.system.transition(*t).params;
                    let Some(at) = params.iter().position(|p| p.name == *name) else { continue };
                    let p = &params[at];
                    if sort.is_none() {
                        sort = Some(part.transcriber.sort(&mut builder.pool, p.sort)?);
                    }
                    // The range of a shared parameter applies if the case is taken: it stays in
                    // the guard of the case.
                    let Some(range) =
                        p.range.clone().filter(|_| required && transitions.len() == 1)
                    else {
                        continue;
                    };
                    let span = range_span(part.system, *t, at);
                    // What is written once is one range, if constants do not make it several.
                    let is_new = |known: &SharedRange| known.span != span || known.range != range;
                    if span.is_none() || ranges.iter().all(is_new) {
                        ranges.push(SharedRange { range, span });
                    }
                }
            }
            let Some(sort) = sort else { continue };
            let low = ranges.iter().map(|r| &r.range.low).max();
            let high = ranges.iter().map(|r| &r.range.high).min();
            let is_empty = low > high;
            let mut ranges = ranges.into_iter().filter(|_| !is_empty);
            let first = ranges.next();
            let span = first.as_ref().and_then(|r| r.span);
            let symbol = builder.param(draft, name, sort, first.map(|r| r.range))?;
            builder.set_range_span(draft, span);
            for other in ranges {
                builder.range_guard(draft, symbol, &other.range, other.span)?;
            }
            found.insert(name.clone(), symbol);
            if is_empty {
                let never = builder.pool.ff();
                builder.guard(draft, never, sync.span)?;
            }
        }
        Ok(found)
    }

    /// The symbols of the parameters of an instance's transition in the composed one. With
    /// `prefix`, those that are not shared are named `prefix.name`.
    pub(super) fn own_params(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        (instance, t): (usize, TransitionId),
        shared: &FxHashMap<String, SymbolId>,
        prefix: Option<&str>,
    ) -> Result<Vec<SymbolId>, ComposeError> {
        let part = &mut self.instances[instance];
        let mut symbols = Vec::new();
        for (i, p) in part.system.transition(t).params.iter().enumerate() {
            let symbol = match shared.get(&p.name) {
                Some(&symbol) => symbol,
                None => {
                    let sort = part.transcriber.sort(&mut builder.pool, p.sort)?;
                    let name = match prefix {
                        Some(prefix) => format!("{prefix}.{}", p.name),
                        None => p.name.clone(),
                    };
                    let symbol = builder.param(draft, &name, sort, p.range.clone())?;
                    builder.set_range_span(draft, range_span(part.system, t, i));
                    symbol
                }
            };
            symbols.push(symbol);
        }
        let terms: Vec<TermId> = symbols.iter().map(|&s| builder.pool.var(s)).collect();
        let old = &part.system.transition(t).params;
        part.transcriber.for_parameters(old.iter().map(|p| p.symbol).zip(terms));
        Ok(symbols)
    }

    /// An instance takes a transition in every step of the composed one.
    fn add_taken(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        (instance, t): (usize, TransitionId),
        shared: &FxHashMap<String, SymbolId>,
        is_joint: bool,
    ) -> Result<(), ComposeError> {
        let name = self.instances[instance].name;
        let prefix = is_joint.then_some(name);
        let params = self.own_params(builder, draft, (instance, t), shared, prefix)?;
        let part = &mut self.instances[instance];
        let old = part.system.transition(t);
        if let Some(location) = part.location {
            let here = part.transcriber.at(&mut builder.pool, old.source)?;
            builder.control_guard(draft, here)?;
            if old.target != old.source {
                let there = part.transcriber.node_value(&mut builder.pool, old.target)?;
                builder.control_assign(draft, location, there)?;
            }
        }
        for g in &old.guard {
            let info = &part.system.elements[g.id.index()];
            if info.kind == ElementKind::ParameterRange {
                continue;
            }
            let (kind, span) = (info.kind, info.span);
            let term = part.transcriber.apply(&mut builder.pool, g.term.term())?;
            builder.guard(draft, term, span)?;
            builder.set_last_kind(kind);
        }
        let mut free = vec![true; part.system.vars.len()];
        for e in &old.effect {
            let span = |id: crate::origin::ElementId| part.system.elements[id.index()].span;
            match *e {
                Effect::Assign { id, var, value } => {
                    free[var.index()] = false;
                    let value = part.transcriber.apply(&mut builder.pool, value.term())?;
                    builder.assign(draft, part.vars[var.index()], value, span(id))?;
                }
                Effect::Keep { var, .. } => {
                    free[var.index()] = false;
                    if !part.linked[var.index()] {
                        builder.keep(draft, part.vars[var.index()]);
                    }
                }
                Effect::Constrain { id, relation } => {
                    let relation = part.transcriber.apply(&mut builder.pool, relation.term())?;
                    builder.constrain(draft, relation, span(id))?;
                }
            }
        }
        for (v, _) in free.iter().enumerate().filter(|(v, free)| **free && !part.linked[*v]) {
            builder.free(draft, part.vars[v]);
        }
        if old.causal && !is_joint {
            builder.set_causal(draft);
        }
        part.moves[t.index()].push(PartMove {
            transition: draft.id(),
            condition: None,
            params,
            is_joint,
        });
        Ok(())
    }
}

/// A range that a participant declares for a shared parameter.
struct SharedRange {
    range: Range,
    span: Option<Span>,
}

/// The sort of a parameter as authors see it: its shape, and the sorts of its parts.
type WrittenSort = (Shape, Vec<String>);

/// The sort of a parameter with this name; `None` if the transition has none.
fn written_sort(system: &System, t: &Transition, name: &str) -> Option<WrittenSort> {
    let structure = |p: &Param| structure(&system.pool, p.sort);
    if let Some(a) = t.aggregates.iter().find(|a| a.name == name) {
        let parts = t.params.get(a.first..a.first + a.shape.width())?;
        return Some((a.shape.clone(), parts.iter().map(structure).collect()));
    }
    let param = t.params.iter().find(|p| p.name == name)?;
    Some((Shape::Scalar, vec![structure(param)]))
}

/// A sort with the values of its enumerations: two sorts may have one name.
fn structure(pool: &Pool, sort: Sort) -> String {
    match sort {
        Sort::Enum(e) => {
            let enumeration = pool.enumeration(e);
            format!("{} {{{}}}", enumeration.name, enumeration.variants.join(", "))
        }
        Sort::Array(array) => {
            format!("{} -> {}", structure(pool, array.index()), structure(pool, array.element()))
        }
        _ => sort.name(pool).into_owned(),
    }
}

/// Where the range of a parameter is written.
fn range_span(system: &System, t: TransitionId, param: usize) -> Option<Span> {
    let named = ElementName::OfParam(t, param as u32);
    let guard = system.transition(t).guard.iter();
    guard.map(|g| &system.elements[g.id.index()]).find(|info| info.name == named)?.span
}
