//! The steps of a composition: each instance alone, and synchronisations.
//!
//! A participant of a synchronisation *takes* one transition; then the joint step is one
//! transition of the composition for each combination. Or it *chooses* among several: the joint
//! step is one transition, whose guard and effect distinguish the cases. A receiver of a broadcast
//! always chooses, as it may also stay as it is.

use gander_term::{IBig, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{ComposeError, Composed, NODE, PartMove, Sync, combinations};
use crate::aggregate::Shape;
use crate::builder::{SystemBuilder, TransitionDraft};
use crate::origin::{ElementKind, ElementName, Span};
use crate::system::{Effect, Range, Role, Transition, TransitionId, VarId};

/// Names of joint steps list at most this many participants.
const NAMED_PARTICIPANTS: usize = 6;

/// What is known of a transition of the composition.
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

/// A transition that a participant may take: the condition, without and with the choice among
/// several.
struct Case {
    transition: TransitionId,
    enabled: TermId,
    taken: TermId,
    params: Vec<SymbolId>,
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
            let mut first: Option<(usize, String)> = None;
            for (i, gate) in sync.participants() {
                let system = self.instances[*i].system;
                for t in self.with_gate(*i, gate) {
                    let params = &system.transition(t).params;
                    let Some(param) = params.iter().find(|p| p.name == *name) else { continue };
                    let sort = param.sort.name(&system.pool).into_owned();
                    match &first {
                        None => first = Some((*i, sort)),
                        Some((_, known)) if *known == sort => {}
                        Some((other, _)) => {
                            let names = [*other, *i].map(|i| self.instances[i].name.to_string());
                            return Err(ComposeError::SharedSorts {
                                sync: number,
                                parameter: name.clone(),
                                instances: names,
                            });
                        }
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

    /// Keeps which parameters are parts of one. A shared one has its own name, another one that of
    /// its instance in front.
    fn describe_params(
        &self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        step: &Step,
    ) {
        let names: Vec<String> = draft.params().iter().map(|p| p.name.clone()).collect();
        let mut found: Vec<(usize, String, &Shape)> = Vec::new();
        for participant in &step.participants {
            let Participant::Takes(i, t) = participant else { continue };
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
                    // What is written once is one range.
                    if span.is_none() || ranges.iter().all(|known| known.span != span) {
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
    fn own_params(
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
            let term = part.transcriber.apply(&mut builder.pool, g.term.term())?;
            builder.guard(draft, term, info.span)?;
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

    /// An instance takes one of several transitions, or stays as it is.
    fn add_choice(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        choosing: &Choosing<'_>,
        shared: &FxHashMap<String, SymbolId>,
    ) -> Result<(), ComposeError> {
        let cases = self.cases(builder, draft, choosing, shared)?;
        let taken: Vec<TermId> = cases.iter().map(|c| c.taken).collect();
        let some = builder.pool.or(taken);
        let span = self.choice_span(choosing);
        if choosing.required {
            builder.guard(draft, some, span)?;
        } else {
            let able = self.can_receive(builder, &cases, shared);
            let stays = builder.pool.not(able);
            let whole = builder.pool.or([some, stays]);
            if builder.pool.as_bool(whole) != Some(true) && able != some {
                builder.guard(draft, whole, span)?;
            }
        }
        self.choice_effects(builder, draft, choosing, &cases)?;
        let part = &mut self.instances[choosing.instance];
        for case in cases {
            part.moves[case.transition.index()].push(PartMove {
                transition: draft.id(),
                condition: Some(case.taken),
                params: case.params,
                is_joint: true,
            });
        }
        Ok(())
    }

    fn choice_span(&self, choosing: &Choosing<'_>) -> Option<Span> {
        self.instances[choosing.instance].system.transition(choosing.transitions[0]).span
    }

    fn cases(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        choosing: &Choosing<'_>,
        shared: &FxHashMap<String, SymbolId>,
    ) -> Result<Vec<Case>, ComposeError> {
        let instance = choosing.instance;
        let name = self.instances[instance].name;
        let several = choosing.transitions.len() > 1;
        let mut cases: Vec<Case> = Vec::new();
        for &t in choosing.transitions {
            let own = format!("{name}.{}", self.instances[instance].system.transition(t).name);
            let prefix = if several { own.as_str() } else { name };
            let params = self.own_params(builder, draft, (instance, t), shared, Some(prefix))?;
            let part = &mut self.instances[instance];
            let old = part.system.transition(t);
            let mut parts = vec![part.transcriber.at(&mut builder.pool, old.source)?];
            for g in &old.guard {
                parts.push(part.transcriber.apply(&mut builder.pool, g.term.term())?);
            }
            let enabled = builder.pool.and(parts);
            cases.push(Case { transition: t, enabled, taken: enabled, params });
        }
        if self.may_overlap(instance, choosing.transitions) {
            let last = IBig::from(cases.len() as u64 - 1);
            let range = Range { low: IBig::from(0), high: last };
            let choice = builder.param(draft, &format!("{name}.choice"), Sort::Int, Some(range))?;
            let choice = builder.pool.var(choice);
            for (i, case) in cases.iter_mut().enumerate() {
                let number = builder.pool.int(i as i64);
                let chosen = builder.pool.eq(choice, number);
                case.taken = builder.pool.and([chosen, case.enabled]);
            }
        }
        Ok(cases)
    }

    /// True if two of the transitions leave one node.
    fn may_overlap(&self, instance: usize, transitions: &[TransitionId]) -> bool {
        let system = self.instances[instance].system;
        let mut seen = FxHashSet::default();
        !transitions.iter().all(|&t| seen.insert(system.transition(t).source))
    }

    /// The formula that some case is enabled for some values of the parameters that are not shared.
    fn can_receive(
        &self,
        builder: &mut SystemBuilder,
        cases: &[Case],
        shared: &FxHashMap<String, SymbolId>,
    ) -> TermId {
        let mut able = Vec::new();
        for case in cases {
            let (mut bound, mut renamed) = (Vec::new(), FxHashMap::default());
            for &s in case.params.iter().filter(|s| !shared.values().any(|k| k == *s)) {
                let (name, sort) =
                    (builder.pool.symbol(s).name.clone(), builder.pool.symbol(s).sort);
                let b = builder.pool.declare_bound(&name, sort);
                bound.push(b);
                renamed.insert(s, builder.pool.var(b));
            }
            let enabled = builder.pool.substitute(case.enabled, &renamed);
            able.push(builder.pool.exists(&bound, enabled));
        }
        builder.pool.or(able)
    }

    /// The next values of an instance that chooses: those of the case that is taken.
    fn choice_effects(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        choosing: &Choosing<'_>,
        cases: &[Case],
    ) -> Result<(), ComposeError> {
        let system = self.instances[choosing.instance].system;
        let open = open_vars(system, choosing.transitions);
        let effects = self.case_effects(builder, choosing, cases)?;
        let span_of = |v: VarId| effects.iter().find_map(|e| e.spans.get(&v).copied().flatten());
        let part = &mut self.instances[choosing.instance];
        if let Some(location) = part.location {
            let mut targets = Vec::new();
            for case in cases {
                let target = system.transition(case.transition).target;
                targets.push(part.transcriber.node_value(&mut builder.pool, target)?);
            }
            let symbol = builder.so_far().var(location).current;
            let current = builder.pool.var(symbol);
            let value = choose(builder, cases, &targets, current, choosing.required);
            if value != current {
                builder.control_assign(draft, location, value)?;
            }
        }
        for v in system.var_ids().filter(|v| system.var(*v).role == Role::State) {
            if open.contains(&v) || part.linked[v.index()] {
                continue;
            }
            let new = part.vars[v.index()];
            let symbol = builder.so_far().var(new).current;
            let current = builder.pool.var(symbol);
            let by_case: Vec<TermId> =
                effects.iter().map(|e| e.values.get(&v).copied().unwrap_or(current)).collect();
            let value = choose(builder, cases, &by_case, current, choosing.required);
            if value != current {
                builder.assign(draft, new, value, span_of(v))?;
            }
        }
        for &v in &open {
            builder.free(draft, part.vars[v.index()]);
        }
        if open.is_empty() && effects.iter().all(|e| e.constraints.is_empty()) {
            return Ok(());
        }
        let relation = self.open_relation(builder, choosing, cases, &effects, &open);
        let span = self.choice_span(choosing);
        builder.constrain(draft, relation, span)?;
        Ok(())
    }

    /// By case: what its transition does.
    fn case_effects(
        &mut self,
        builder: &mut SystemBuilder,
        choosing: &Choosing<'_>,
        cases: &[Case],
    ) -> Result<Vec<CaseEffect>, ComposeError> {
        let part = &mut self.instances[choosing.instance];
        let mut effects = Vec::new();
        for case in cases {
            let old: &Transition = part.system.transition(case.transition);
            let terms: Vec<TermId> = case.params.iter().map(|&s| builder.pool.var(s)).collect();
            part.transcriber.for_parameters(old.params.iter().map(|p| p.symbol).zip(terms));
            let mut done = CaseEffect::default();
            for e in &old.effect {
                match *e {
                    Effect::Assign { id, var, value } => {
                        let value = part.transcriber.apply(&mut builder.pool, value.term())?;
                        done.values.insert(var, value);
                        done.spans.insert(var, part.system.elements[id.index()].span);
                    }
                    Effect::Keep { var, .. } if part.linked[var.index()] => {}
                    Effect::Keep { var, .. } => {
                        let symbol = builder.so_far().var(part.vars[var.index()]).current;
                        done.values.insert(var, builder.pool.var(symbol));
                    }
                    Effect::Constrain { relation, .. } => {
                        let relation =
                            part.transcriber.apply(&mut builder.pool, relation.term())?;
                        done.constraints.push(relation);
                    }
                }
            }
            effects.push(done);
        }
        Ok(effects)
    }

    /// The relation between both states for variables that some case does not give a value: what
    /// the case that is taken demands, or that they keep their values if none is.
    fn open_relation(
        &self,
        builder: &mut SystemBuilder,
        choosing: &Choosing<'_>,
        cases: &[Case],
        effects: &[CaseEffect],
        open: &[VarId],
    ) -> TermId {
        let part = &self.instances[choosing.instance];
        let next_of = |builder: &mut SystemBuilder, v: VarId| {
            let symbol = builder.so_far().var(part.vars[v.index()]).next;
            builder.pool.var(symbol)
        };
        let mut conjuncts = Vec::new();
        for (case, effect) in cases.iter().zip(effects) {
            let mut demanded = effect.constraints.clone();
            for &v in open {
                if let Some(&value) = effect.values.get(&v) {
                    let next = next_of(builder, v);
                    demanded.push(builder.pool.eq(next, value));
                }
            }
            let demanded = builder.pool.and(demanded);
            conjuncts.push(builder.pool.implies(case.taken, demanded));
        }
        if !choosing.required {
            let mut same = Vec::new();
            for &v in open {
                let symbol = builder.so_far().var(part.vars[v.index()]).current;
                let (current, next) = (builder.pool.var(symbol), next_of(builder, v));
                same.push(builder.pool.eq(next, current));
            }
            let kept = builder.pool.and(same);
            let taken = cases.iter().map(|c| c.taken);
            conjuncts.push(builder.pool.or(taken.chain([kept])));
        }
        builder.pool.and(conjuncts)
    }
}

/// What a transition does, in terms of the composition.
#[derive(Default)]
struct CaseEffect {
    /// The next values of the variables that it assigns or keeps.
    values: FxHashMap<VarId, TermId>,
    constraints: Vec<TermId>,
    /// Where assignments are written.
    spans: FxHashMap<VarId, Option<Span>>,
}

/// A range that a participant declares for a shared parameter.
struct SharedRange {
    range: Range,
    span: Option<Span>,
}

/// An instance that chooses among transitions.
struct Choosing<'a> {
    instance: usize,
    transitions: &'a [TransitionId],
    required: bool,
}

/// The value of the first case that is taken; the last one needs no condition if a case must be
/// taken.
fn choose(
    builder: &mut SystemBuilder,
    cases: &[Case],
    values: &[TermId],
    current: TermId,
    required: bool,
) -> TermId {
    let mut value = current;
    for (i, (case, &here)) in cases.iter().zip(values).enumerate().rev() {
        value = if required && i + 1 == cases.len() {
            here
        } else {
            builder.pool.ite(case.taken, here, value)
        };
    }
    value
}

/// Where the range of a parameter is written.
fn range_span(system: &crate::system::System, t: TransitionId, param: usize) -> Option<Span> {
    let named = ElementName::OfParam(t, param as u32);
    let guard = system.transition(t).guard.iter();
    guard.map(|g| &system.elements[g.id.index()]).find(|info| info.name == named)?.span
}

/// State variables that some of the transitions neither assigns nor keeps.
fn open_vars(system: &crate::system::System, transitions: &[TransitionId]) -> Vec<VarId> {
    let given = |t: TransitionId, v: VarId| {
        system.transition(t).effect.iter().any(|e| match e {
            Effect::Assign { var, .. } | Effect::Keep { var, .. } => *var == v,
            Effect::Constrain { .. } => false,
        })
    };
    system
        .var_ids()
        .filter(|&v| system.var(v).role == Role::State)
        .filter(|&v| transitions.iter().any(|&t| !given(t, v)))
        .collect()
}
