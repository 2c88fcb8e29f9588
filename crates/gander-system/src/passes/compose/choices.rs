//! Synchronisations in which an instance chooses among several transitions: the joint step is one
//! transition, whose guard and effect distinguish the cases.

use std::iter;

use gander_term::{IBig, Sort, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{ComposeError, Composed, PartMove};
use crate::builder::{SystemBuilder, TransitionDraft};
use crate::origin::Span;
use crate::system::{Effect, Range, Role, System, Transition, TransitionId, VarId};

/// An instance that chooses among transitions.
pub(super) struct Choosing<'a> {
    pub(super) instance: usize,
    pub(super) transitions: &'a [TransitionId],
    pub(super) required: bool,
}

/// The value of the first case that is taken, else `current`. If some case must be taken, the last
/// one needs no condition.
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

/// A transition that a participant may take: `enabled` says that it can be taken, `taken` that it
/// is also the one that was chosen.
struct Case {
    transition: TransitionId,
    enabled: TermId,
    taken: TermId,
    params: Vec<SymbolId>,
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

impl Composed<'_> {
    /// An instance takes one of several transitions, or stays as it is.
    pub(super) fn add_choice(
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
        let mut known = shared.clone();
        if several && choosing.required {
            known.extend(self.common_params(builder, draft, choosing, shared)?);
        }
        let mut cases: Vec<Case> = Vec::new();
        for &t in choosing.transitions {
            let own = format!("{name}.{}", self.instances[instance].system.transition(t).name);
            let prefix = if several { own.as_str() } else { name };
            let params = self.own_params(builder, draft, (instance, t), &known, Some(prefix))?;
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

    /// The parameters that all transitions of the choice have, with one sort: each is one parameter
    /// of the composed transition, named `instance.parameter` as if a single transition were taken,
    /// so that conditions can mention it. The range of each transition stays in the guard of its
    /// case; if all have one, the parameter lies between the least and the greatest bound.
    fn common_params(
        &mut self,
        builder: &mut SystemBuilder,
        draft: &mut TransitionDraft,
        choosing: &Choosing<'_>,
        shared: &FxHashMap<String, SymbolId>,
    ) -> Result<FxHashMap<String, SymbolId>, ComposeError> {
        let part = &mut self.instances[choosing.instance];
        let (first, others) = choosing.transitions.split_first().expect("a choice has transitions");
        let mut found = FxHashMap::default();
        for p in &part.system.transition(*first).params {
            if shared.contains_key(&p.name) {
                continue;
            }
            let same = |t: &TransitionId| {
                let params = &part.system.transition(*t).params;
                params.iter().find(|q| q.name == p.name && q.sort == p.sort)
            };
            let Some(others) = others.iter().map(same).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let ranges = iter::once(p).chain(others).map(|q| q.range.as_ref());
            let range = ranges.collect::<Option<Vec<_>>>().and_then(|ranges| {
                let low = ranges.iter().map(|r| &r.low).min()?.clone();
                let high = ranges.iter().map(|r| &r.high).max()?.clone();
                Some(Range { low, high })
            });
            let sort = part.transcriber.sort(&mut builder.pool, p.sort)?;
            let name = format!("{}.{}", part.name, p.name);
            found.insert(p.name.clone(), builder.param(draft, &name, sort, range)?);
        }
        Ok(found)
    }

    /// True if two of the transitions leave one node.
    fn may_overlap(&self, instance: usize, transitions: &[TransitionId]) -> bool {
        let system = self.instances[instance].system;
        let mut seen = FxHashSet::default();
        !transitions.iter().all(|&t| seen.insert(system.transition(t).source))
    }

    /// True if some case is enabled for some values of the parameters that are not shared.
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

    /// The relation between both states for variables without a value in some case: the constraints
    /// of the case that is taken; if none is taken, they keep their values.
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

/// State variables that some of the transitions neither assigns nor keeps.
fn open_vars(system: &System, transitions: &[TransitionId]) -> Vec<VarId> {
    system
        .var_ids()
        .filter(|&v| system.var(v).role == Role::State)
        .filter(|&v| transitions.iter().any(|&t| !system.transition(t).determines(v)))
        .collect()
}
