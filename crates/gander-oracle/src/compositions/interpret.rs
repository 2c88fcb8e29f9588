//! The states and steps of a composition, by the text of docs/semantics.md, section 6.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    Comparator, Composition, Formula, Kind, Place, Spec, Synchronisation, Term, Transition, Update,
};

/// By instance: its node, and the values of its variables.
pub type State = Vec<(usize, Vec<i64>)>;

const EXPANDED: &str = "formulas are expanded before they are evaluated";

/// Values of parameters, by name.
type Values = Vec<(String, i64)>;

/// The rules by which steps are enumerated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// Those of the section.
    Section,
    /// Wrong: a receiver that can receive may stay as it is.
    ReceiversMayRefuse,
    /// Wrong: a receiver that cannot receive prevents the step.
    ReceiversMustReceive,
    /// Wrong: every participant chooses the values of shared parameters for itself.
    NothingIsShared,
    /// Wrong: the range of a shared parameter is that of the first participant that has it.
    FirstRangeOfShared,
    /// Wrong: a participant can also take a synchronised gate alone.
    AloneAsWell,
    /// Wrong: the condition of a synchronisation decides who can receive.
    ConditionDecidesWhoReceives,
}

/// Transitions that instances take in one step, with values of their parameters, such that all
/// guards hold.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The synchronisation; `None` for an instance alone.
    pub sync: Option<usize>,
    /// Values of the shared parameters.
    pub shared: Values,
    /// The instance, its transition, and the values of its parameters.
    pub parts: Vec<(usize, usize, Values)>,
    /// True if some next values satisfy all effects, whether or not the next state exists.
    pub completable: bool,
    /// The states that steps lead to.
    pub successors: BTreeSet<State>,
}

/// The reachable states of a composition.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// The least number of steps to each state, and its joint choices.
    pub found: BTreeMap<State, (u64, Vec<Joint>)>,
    /// By combination of the instances' starts, that of the last instance varying fastest: whether
    /// it has a start state.
    pub started: Vec<bool>,
}

impl States {
    /// The reachable states; `None` if there are more than `limit`, or more joint choices than 20
    /// times that.
    pub fn of(composition: &Composition, rules: Rules, limit: usize) -> Option<States> {
        let interpreter = Interpreter { composition, rules };
        let mut states = States::default();
        let mut queue = VecDeque::new();
        let starts = (0..composition.instances.len())
            .map(|i| composition.spec_of(i).starts.iter().collect())
            .collect::<Vec<Vec<_>>>();
        for picked in product(&starts) {
            let parts = picked.iter().enumerate().map(|(i, start)| {
                let domains: Vec<Vec<i64>> = (composition.spec_of(i).vars.iter())
                    .zip(&start.init)
                    .map(|(v, &(low, high))| v.input.unwrap_or((low, high)))
                    .map(|(low, high)| (low..=high).collect())
                    .collect();
                product(&domains).into_iter().map(|values| (start.target, values)).collect()
            });
            let mut any = false;
            for state in product(&parts.collect::<Vec<Vec<_>>>()) {
                if interpreter.exists(&state) {
                    any = true;
                    queue.push_back((state, 0));
                }
            }
            states.started.push(any);
        }
        let mut joints = 0;
        while let Some((state, distance)) = queue.pop_front() {
            if states.found.contains_key(&state) {
                continue;
            }
            let choices = interpreter.choices(&state);
            joints += choices.len();
            if states.found.len() >= limit || joints > 20 * limit {
                return None;
            }
            for next in choices.iter().flat_map(|c| &c.successors) {
                queue.push_back((next.clone(), distance + 1));
            }
            states.found.insert(state, (distance, choices));
        }
        Some(states)
    }

    /// The answers to the claims of the instances, to those of the whole, and to the structural
    /// claims *can enable* and *no sinkhole*.
    pub fn decide(&self, composition: &Composition) -> BTreeMap<String, bool> {
        let interpreter = Interpreter { composition, rules: Rules::Section };
        let mut answers = BTreeMap::new();
        for i in 0..composition.instances.len() {
            let (spec, name) = (composition.spec_of(i), composition.name(i));
            for claim in &spec.claims {
                let holds = self.claim(&interpreter, Some(i), &claim.kind);
                answers.insert(format!("{name}.{}", claim.name), holds);
            }
            for (at, t) in spec.transitions.iter().enumerate() {
                let takes = |j: &Joint| j.parts.iter().any(|p| p.0 == i && p.1 == at);
                let holds = self.found.values().any(|(_, joints)| joints.iter().any(takes));
                answers.insert(format!("can enable {name}.{}", t.name), holds);
            }
            for (at, n) in spec.nodes.iter().enumerate() {
                if n.is_final || !spec.transitions.iter().any(|t| t.source == at) {
                    continue;
                }
                let holds = self.found.iter().all(|(state, (_, joints))| {
                    state[i].0 != at || interpreter.is_final(state) || !joints.is_empty()
                });
                answers.insert(format!("no sinkhole {name}.{}", n.name), holds);
            }
        }
        for claim in &composition.claims {
            let kind = composition.expand_claim(claim);
            answers.insert(claim.name.clone(), self.claim(&interpreter, None, &kind));
        }
        let stuck = |(state, (_, joints)): (&State, &(u64, Vec<Joint>))| {
            !interpreter.is_final(state) && joints.iter().all(|j| j.successors.is_empty())
        };
        answers.insert("no deadlock".to_string(), !self.found.iter().any(stuck));
        answers.insert("infinite run".to_string(), self.has_cycle());
        answers
    }

    /// True if in all reachable states all joint choices can be completed.
    pub fn all_completable(&self) -> bool {
        self.found.values().all(|(_, joints)| joints.iter().all(|j| j.completable))
    }

    fn claim(&self, interpreter: &Interpreter<'_>, owner: Option<usize>, kind: &Kind) -> bool {
        let holds = |state: &State, f: &Formula| interpreter.holds(state, owner, &[], &[], f);
        match kind {
            Kind::Always(f) => self.found.keys().all(|s| holds(s, f)),
            Kind::Reachable(f) => self.found.keys().any(|s| holds(s, f)),
            Kind::Taken(gate, f) => self.found.iter().any(|(state, (_, joints))| {
                joints.iter().filter(|j| !j.successors.is_empty()).any(|j| match owner {
                    Some(i) => j.parts.iter().filter(|p| p.0 == i).any(|(_, t, values)| {
                        let t = &interpreter.composition.spec_of(i).transitions[*t];
                        t.gate.as_ref() == Some(gate)
                            && interpreter.holds(state, owner, values, &[], f)
                    }),
                    None => {
                        let syncs = &interpreter.composition.syncs;
                        j.sync.is_some_and(|s| syncs[s].name == *gate)
                            && interpreter.holds(state, None, &j.shared, &j.parts, f)
                    }
                })
            }),
        }
    }

    /// True if some run is infinite: states without successors among the others are removed until
    /// none is left or each has one.
    fn has_cycle(&self) -> bool {
        let mut left: BTreeSet<&State> = self.found.keys().collect();
        loop {
            let ends = |s: &State| {
                let mut next = self.found[s].1.iter().flat_map(|j| &j.successors);
                !next.any(|n| left.contains(n))
            };
            let removed: Vec<&State> = left.iter().copied().filter(|s| ends(s)).collect();
            if removed.is_empty() {
                return !left.is_empty();
            }
            removed.iter().for_each(|s| _ = left.remove(s));
        }
    }
}

/// All ways to pick one element of each list, the last one varying fastest.
fn product<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        all = all
            .iter()
            .flat_map(|picked: &Vec<T>| {
                list.iter().map(|x| picked.iter().chain([x]).cloned().collect())
            })
            .collect();
    }
    all
}

struct Interpreter<'a> {
    composition: &'a Composition,
    rules: Rules,
}

/// What one instance does in a step: a transition with the values of its parameters, or nothing.
type Part = Option<(usize, usize, Values)>;

impl Interpreter<'_> {
    /// All joint choices in a state.
    fn choices(&self, state: &State) -> Vec<Joint> {
        let mut joints = Vec::new();
        for i in 0..state.len() {
            for part in self.options(state, i, &|t| self.may_move_alone(i, t), &[]) {
                joints.push(self.joint(state, None, Vec::new(), vec![part]));
            }
        }
        for (s, sync) in self.composition.syncs.iter().enumerate() {
            for shared in product(&self.shared_values(sync)) {
                let shared: Values = sync.shared.iter().cloned().zip(shared).collect();
                for parts in self.together(state, sync, &shared) {
                    joints.push(self.joint(state, Some(s), shared.clone(), parts));
                }
            }
        }
        joints
    }

    /// *An instance never takes a gate alone that a synchronisation lists for it, as member or as
    /// receiver.*
    fn may_move_alone(&self, instance: usize, t: &Transition) -> bool {
        let Some(gate) = &t.gate else { return true };
        let lists = |s: &Synchronisation| {
            s.participants().any(|(other, listed)| *other == instance && listed == gate)
        };
        self.rules == Rules::AloneAsWell || !self.composition.syncs.iter().any(lists)
    }

    /// The transitions with these properties that leave the instance's node, with all values of
    /// their parameters with which their guard holds. Shared parameters have the given values.
    fn options(
        &self,
        state: &State,
        instance: usize,
        wanted: &dyn Fn(&Transition) -> bool,
        shared: &[(String, i64)],
    ) -> Vec<(usize, usize, Values)> {
        let spec = self.composition.spec_of(instance);
        let mut options = Vec::new();
        for (at, t) in spec.transitions.iter().enumerate() {
            if t.source != state[instance].0 || !wanted(t) {
                continue;
            }
            let domains: Vec<Vec<i64>> = (t.params.iter())
                .map(|p| match shared.iter().find(|(name, _)| *name == p.name) {
                    Some(&(_, v)) if self.rules == Rules::FirstRangeOfShared => vec![v],
                    Some(&(_, v)) => (p.low..=p.high).filter(|&x| x == v).collect(),
                    None => (p.low..=p.high).collect(),
                })
                .collect();
            for values in product(&domains) {
                let values: Values = t.params.iter().map(|p| p.name.clone()).zip(values).collect();
                if self.holds(state, Some(instance), &values, &[], &t.guard) {
                    options.push((instance, at, values));
                }
            }
        }
        options
    }

    /// The values to be tried for each shared parameter. A member each of whose transitions has the
    /// parameter bounds it. Otherwise it may have any int; those beyond the ranges and the numbers
    /// that occur in formulas make no difference.
    fn shared_values(&self, sync: &Synchronisation) -> Vec<Vec<i64>> {
        let with = |(instance, gate): &(usize, String)| {
            let all = self.composition.spec_of(*instance).transitions.iter();
            all.filter(|t| t.gate.as_ref() == Some(gate)).collect::<Vec<&Transition>>()
        };
        let values = |name: &String| {
            if self.rules == Rules::FirstRangeOfShared {
                let transitions: Vec<&Transition> = sync.participants().flat_map(with).collect();
                let first = transitions.iter().flat_map(|t| &t.params).find(|p| p.name == *name);
                return first.map_or(vec![0], |p| (p.low..=p.high).collect());
            }
            let bounds = |member: &&(usize, String)| with(member).iter().all(|t| t.has(name));
            match sync.members.iter().find(bounds) {
                Some(member) => {
                    let params = with(member).into_iter().flat_map(|t| &t.params);
                    let mine: Vec<_> = params.filter(|p| p.name == *name).collect();
                    let low = mine.iter().map(|p| p.low).min().unwrap_or(0);
                    let high = mine.iter().map(|p| p.high).max().unwrap_or(0);
                    (low..=high).collect()
                }
                None => (-12..=12).collect(),
            }
        };
        sync.shared.iter().map(values).collect()
    }

    /// What the participants of a synchronisation can do together.
    fn together(
        &self,
        state: &State,
        sync: &Synchronisation,
        shared: &Values,
    ) -> Vec<Vec<(usize, usize, Values)>> {
        let fixed: &[_] = if self.rules == Rules::NothingIsShared { &[] } else { shared };
        let options = |(instance, gate): &(usize, String)| {
            self.options(state, *instance, &|t| t.gate.as_ref() == Some(gate), fixed)
        };
        let mut lists: Vec<Vec<Part>> = Vec::new();
        for member in &sync.members {
            lists.push(options(member).into_iter().map(Some).collect());
        }
        let condition = |parts: &[(usize, usize, Values)]| {
            let when = sync.when.as_ref();
            when.is_none_or(|f| self.holds(state, None, shared, parts, f))
        };
        for receiver in &sync.receivers {
            let mut can: Vec<Part> = options(receiver).into_iter().map(Some).collect();
            if self.rules == Rules::ConditionDecidesWhoReceives && !condition(&[]) {
                can.clear();
            }
            let may_stay = match self.rules {
                Rules::ReceiversMayRefuse => true,
                Rules::ReceiversMustReceive => false,
                _ => can.is_empty(),
            };
            if may_stay {
                can.push(None);
            }
            lists.push(can);
        }
        product(&lists)
            .into_iter()
            .map(|parts| parts.into_iter().flatten().collect::<Vec<_>>())
            .filter(|parts| self.rules == Rules::ConditionDecidesWhoReceives || condition(parts))
            .collect()
    }

    /// The joint choice with its steps.
    fn joint(
        &self,
        state: &State,
        sync: Option<usize>,
        shared: Values,
        parts: Vec<(usize, usize, Values)>,
    ) -> Joint {
        let mut nodes: Vec<usize> = state.iter().map(|s| s.0).collect();
        let mut domains: Vec<Vec<Vec<i64>>> =
            (state.iter()).map(|(_, values)| values.iter().map(|&v| vec![v]).collect()).collect();
        for (instance, t, values) in &parts {
            let t = &self.composition.spec_of(*instance).transitions[*t];
            nodes[*instance] = t.target;
            let value = |e: &Term| self.value(state, Some(*instance), values, &[], e);
            for (var, update) in &t.effect {
                domains[*instance][*var] = match update {
                    Update::Assign(e) => vec![value(e)],
                    Update::Between(low, high) => (value(low)..=value(high)).collect(),
                };
            }
        }
        let completable = domains.iter().flatten().all(|d| !d.is_empty());
        let mut next: Vec<Vec<(usize, Vec<i64>)>> = Vec::new();
        for (i, mut domains) in domains.into_iter().enumerate() {
            let vars = &self.composition.spec_of(i).vars;
            for (domain, var) in domains.iter_mut().zip(vars) {
                if let Some((low, high)) = var.input {
                    *domain = (low..=high).collect();
                }
            }
            next.push(product(&domains).into_iter().map(|values| (nodes[i], values)).collect());
        }
        let successors = product(&next).into_iter().filter(|s| self.exists(s)).collect();
        Joint { sync, shared, parts, completable, successors }
    }

    /// True if all assumptions hold.
    fn exists(&self, state: &State) -> bool {
        (0..state.len()).all(|i| {
            let assumption = self.composition.spec_of(i).assume.as_ref();
            assumption.is_none_or(|f| self.holds(state, Some(i), &[], &[], f))
        })
    }

    /// *Such a state is final iff every instance is at a final node, or satisfies the `final`
    /// condition of its specification.*
    fn is_final(&self, state: &State) -> bool {
        (0..state.len()).all(|i| {
            let spec: &Spec = self.composition.spec_of(i);
            let condition = spec.final_when.as_ref();
            spec.nodes[state[i].0].is_final
                || condition.is_some_and(|f| self.holds(state, Some(i), &[], &[], f))
        })
    }

    fn holds(
        &self,
        state: &State,
        owner: Option<usize>,
        params: &[(String, i64)],
        parts: &[(usize, usize, Values)],
        formula: &Formula,
    ) -> bool {
        let holds = |f: &Formula| self.holds(state, owner, params, parts, f);
        match formula {
            Formula::True => true,
            Formula::Compare(by, a, b) => {
                let a = self.value(state, owner, params, parts, a);
                let b = self.value(state, owner, params, parts, b);
                match by {
                    Comparator::Eq => a == b,
                    Comparator::Ne => a != b,
                    Comparator::Lt => a < b,
                    Comparator::Le => a <= b,
                }
            }
            Formula::At(place, node) => state[self.instance(owner, *place)].0 == *node,
            Formula::Not(f) => !holds(f),
            Formula::And(a, b) => holds(a) && holds(b),
            Formula::Or(a, b) => holds(a) || holds(b),
            Formula::Over { .. } => unreachable!("{EXPANDED}"),
        }
    }

    fn instance(&self, owner: Option<usize>, place: Place) -> usize {
        match place {
            Place::Here => owner.expect("a formula of a specification"),
            Place::Peer(p) => {
                self.composition.instances[owner.expect("a formula of a specification")].peers[p]
            }
            Place::Of(i) => i,
            Place::Chosen(_) => unreachable!("{EXPANDED}"),
        }
    }

    fn value(
        &self,
        state: &State,
        owner: Option<usize>,
        params: &[(String, i64)],
        parts: &[(usize, usize, Values)],
        term: &Term,
    ) -> i64 {
        let value = |e: &Term| self.value(state, owner, params, parts, e);
        let named = |values: &[(String, i64)], name: &str| {
            values.iter().find(|(n, _)| n == name).map_or(0, |v| v.1)
        };
        match term {
            Term::Int(n) => *n,
            Term::Var(v) => state[self.instance(owner, Place::Here)].1[*v],
            Term::Param(name) => named(params, name),
            Term::Constant(c) => {
                self.composition.instances[self.instance(owner, Place::Here)].constants[*c]
            }
            Term::Peer(p, v) => state[self.instance(owner, Place::Peer(*p))].1[*v],
            Term::Of(i, v) => state[*i].1[*v],
            Term::ParamOf(i, name) => {
                parts.iter().find(|p| p.0 == *i).map_or(0, |p| named(&p.2, name))
            }
            Term::Add(a, b) => value(a) + value(b),
            Term::Sub(a, b) => value(a) - value(b),
            Term::Mod(a, n) => value(a).rem_euclid(*n),
            Term::Truth(f) => i64::from(self.holds(state, owner, params, parts, f)),
            Term::OfChosen(..) | Term::ParamOfChosen(..) | Term::Count(..) | Term::Sum(..) => {
                unreachable!("{EXPANDED}")
            }
        }
    }
}
