//! Random compositions. Gates and parameters have few names, so that several transitions have one
//! gate and sharing matters.

use super::{
    Chosen, Claim, Comparator, Composition, Family, Formula, Given, Instance, Kind, Node, Param,
    Pattern, PeerOf, Place, Spec, Start, Synchronisation, Term, Transition, Update, Variable,
    Where, Who,
};
use crate::random::Random;

/// What compositions may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// Specifications ask for the node of others.
    pub peer_nodes: bool,
    /// Synchronisations have conditions.
    pub conditions: bool,
    /// Some instances are families.
    pub families: bool,
}

impl Features {
    /// All that the language has.
    pub const ALL: Features = Features { peer_nodes: true, conditions: true, families: true };
}

const GATES: [&str; 3] = ["a", "b", "c"];
const PARAMS: [&str; 3] = ["p", "q", "r"];

/// The composition of a seed.
pub fn composition(seed: u64, features: Features) -> Composition {
    let mut maker =
        Maker { random: Random::new(seed, 6), features, composition: Composition::default() };
    maker.outlines();
    for spec in 0..maker.composition.specs.len() {
        maker.fill(spec);
    }
    if features.families {
        maker.families();
    } else {
        maker.instances();
    }
    for number in 0..maker.random.weighted(&[8, 40, 35, 17]) {
        if features.families && maker.random.chance(75) {
            maker.indexed_synchronisation(number);
        } else {
            maker.synchronisation(number);
        }
    }
    for number in 0..4 {
        let kind = maker.claim_of_whole();
        maker.composition.claims.push(Claim { name: format!("w{number}"), kind });
    }
    maker.composition
}

/// What a formula may mention.
#[derive(Clone, Default)]
struct Scope {
    terms: Vec<Term>,
    /// A place and the number of its nodes.
    places: Vec<(Place, usize)>,
    /// In formulas that may have quantifiers over families: the families of the indices that are
    /// bound.
    indices: Option<Vec<usize>>,
}

/// The most instances of a composition with families.
const MANY: usize = 5;

struct Maker {
    random: Random,
    features: Features,
    composition: Composition,
}

impl Maker {
    /// Variables, nodes and what is read, for all specifications.
    fn outlines(&mut self) {
        let random = &mut self.random;
        let count = 1 + random.weighted(&[35, 45, 20]);
        for number in 0..count {
            let letter = ["x", "y", "z"][number];
            let mut vars: Vec<Variable> = (0..random.weighted(&[10, 60, 30]))
                .map(|i| Variable { name: format!("{letter}{i}"), input: None })
                .collect();
            if random.chance(10) {
                vars.push(Variable { name: format!("{letter}in"), input: Some((0, 1)) });
            }
            let nodes = 1 + random.weighted(&[20, 50, 30]);
            let node = |i, random: &mut Random| Node {
                name: format!("{}{i}", ["L", "M", "N"][number]),
                is_final: random.chance(25),
            };
            let nodes = (0..nodes).map(|i| node(i, random)).collect();
            let peers = match random.weighted(&[60, 30, 10]) {
                0 => Vec::new(),
                n => (0..n).map(|_| random.below(count)).collect(),
            };
            self.composition.specs.push(Spec {
                name: ["Alpha", "Beta", "Gamma"][number].to_string(),
                constants: usize::from(random.chance(25)),
                peers,
                vars,
                nodes,
                ..Spec::default()
            });
        }
    }

    /// What the formulas of a specification may mention.
    fn scope_of(&self, spec: &Spec) -> Scope {
        let own = (0..spec.vars.len()).map(Term::Var);
        let constants = (0..spec.constants).map(Term::Constant);
        let specs = &self.composition.specs;
        let peers = spec.peers.iter().enumerate();
        let read = peers.clone().flat_map(|(p, &of)| {
            (0..specs[of].vars.len()).map(move |v| Term::Peer(p, v)).collect::<Vec<_>>()
        });
        let places = match self.features.peer_nodes {
            true => peers.map(|(p, &of)| (Place::Peer(p), specs[of].nodes.len())).collect(),
            false => Vec::new(),
        };
        Scope { terms: own.chain(constants).chain(read).collect(), places, indices: None }
    }

    /// Starts, transitions and claims of a specification.
    fn fill(&mut self, number: usize) {
        let spec = self.composition.specs[number].clone();
        let scope = self.scope_of(&spec);
        let nodes = spec.nodes.len();
        let mut here = scope.clone();
        here.places.push((Place::Here, nodes));
        let starts = 1 + self.random.weighted(&[75, 25]);
        let starts = (0..starts)
            .map(|i| Start {
                name: format!("s{i}"),
                target: self.random.below(nodes),
                init: spec.vars.iter().map(|_| self.initial()).collect(),
            })
            .collect();
        let gates = 1 + self.random.below(GATES.len());
        let transitions = 2 + self.random.below(4);
        let transitions: Vec<Transition> =
            (0..transitions).map(|i| self.transition(&spec, &scope, i, gates)).collect();
        let mut claims = Vec::new();
        for i in 0..3 {
            let kind = match self.random.weighted(&[35, 30, 35]) {
                0 => Kind::Always(self.formula(&here, 2)),
                1 => Kind::Reachable(self.formula(&here, 2)),
                _ => {
                    let gated: Vec<_> = transitions.iter().filter(|t| t.gate.is_some()).collect();
                    if gated.is_empty() {
                        continue;
                    }
                    let gate = self.random.pick(&gated).gate.clone().unwrap_or_default();
                    let with = gated.iter().filter(|t| t.gate.as_ref() == Some(&gate));
                    let with: Vec<&Transition> = with.copied().collect();
                    let params: Vec<&str> =
                        PARAMS.into_iter().filter(|p| with.iter().all(|t| t.has(p))).collect();
                    let mut scope = scope.clone();
                    scope.terms.extend(params.iter().map(|p| Term::Param(p.to_string())));
                    let with = if self.random.chance(60) {
                        self.formula(&scope, 1)
                    } else {
                        Formula::True
                    };
                    Kind::Taken(gate, with)
                }
            };
            claims.push(Claim { name: format!("k{i}"), kind });
        }
        let assume = self.random.chance(8).then(|| self.formula(&here, 1));
        let final_when = self.random.chance(10).then(|| self.formula(&here, 1));
        let spec = &mut self.composition.specs[number];
        (spec.starts, spec.transitions, spec.claims) = (starts, transitions, claims);
        (spec.assume, spec.final_when) = (assume, final_when);
    }

    fn initial(&mut self) -> (i64, i64) {
        let low = self.random.between(0, 1);
        (low, low + i64::from(self.random.chance(15)))
    }

    fn transition(
        &mut self,
        spec: &Spec,
        scope: &Scope,
        number: usize,
        gates: usize,
    ) -> Transition {
        let random = &mut self.random;
        let nodes = spec.nodes.len();
        let gate = random.chance(88).then(|| GATES[random.below(gates)].to_string());
        let mut names = PARAMS[..2].to_vec();
        if random.chance(15) {
            names = PARAMS.to_vec();
        }
        let mut params = Vec::new();
        for _ in 0..random.weighted(&[30, 45, 25]) {
            let name = names.remove(random.below(names.len()));
            let low = random.between(0, 1);
            let high = low + random.between(0, 2 - low);
            params.push(Param { name: name.to_string(), low, high });
        }
        let mut scope = scope.clone();
        scope.terms.extend(params.iter().map(|p| Term::Param(p.name.clone())));
        // Parameters that are not used do not matter.
        scope.terms.extend(params.iter().map(|p| Term::Param(p.name.clone())));
        let guard = if self.random.chance(70) { self.formula(&scope, 2) } else { Formula::True };
        let mut effect = Vec::new();
        for (v, var) in spec.vars.iter().enumerate() {
            if var.input.is_some() || self.random.chance(30) {
                continue;
            }
            let update = match self.random.chance(12) {
                true => Update::Between(self.small(&scope), self.small(&scope)),
                false => Update::Assign(self.small(&scope)),
            };
            effect.push((v, update));
        }
        let source = self.random.below(nodes);
        let target = self.random.below(nodes);
        Transition { name: format!("t{number}"), gate, source, target, params, guard, effect }
    }

    /// A term with few values.
    fn small(&mut self, scope: &Scope) -> Term {
        let modulus = self.random.between(2, 3);
        Term::Mod(Box::new(self.term(scope, 2)), modulus)
    }

    fn term(&mut self, scope: &Scope, depth: usize) -> Term {
        if let Some(family) = self.quantified(scope, 12) {
            let inner = self.within(scope, &[family]);
            return match self.random.chance(50) {
                true => Term::Count(family, Box::new(self.formula(&inner, 1))),
                false => Term::Sum(family, Box::new(self.term(&inner, 1))),
            };
        }
        let random = &mut self.random;
        if depth > 0 && random.chance(45) {
            let plus = random.chance(75);
            let a = Box::new(self.term(scope, depth - 1));
            let b = Box::new(self.term(scope, depth - 1));
            return if plus { Term::Add(a, b) } else { Term::Sub(a, b) };
        }
        if scope.terms.is_empty() || random.chance(20) {
            return Term::Int(random.between(0, 2));
        }
        random.pick(&scope.terms).clone()
    }

    /// Sometimes a family, if the formula may have a quantifier here.
    fn quantified(&mut self, scope: &Scope, percent: usize) -> Option<usize> {
        let families = self.composition.families.len();
        let bound = scope.indices.as_ref()?.len();
        (families > 0 && bound < 3 && self.random.chance(percent))
            .then(|| self.random.below(families))
    }

    /// The scope within indices over these families.
    fn within(&mut self, scope: &Scope, families: &[usize]) -> Scope {
        let mut inner = scope.clone();
        let indices = inner.indices.get_or_insert_with(Vec::new);
        for &family in families {
            let at = indices.len();
            indices.push(family);
            let Family { first, size, .. } = self.composition.families[family];
            let spec = self.composition.spec_of(first);
            for shift in [0, 0, 1 + self.random.below(size - 1)] {
                let chosen = Chosen { index: at, shift };
                inner.terms.extend((0..spec.vars.len()).map(|v| Term::OfChosen(chosen, v)));
                inner.places.push((Place::Chosen(chosen), spec.nodes.len()));
            }
        }
        inner
    }

    fn formula(&mut self, scope: &Scope, depth: usize) -> Formula {
        if let Some(family) = self.quantified(scope, 30) {
            let mut families = vec![family];
            if self.random.chance(40) {
                families.push(self.random.below(self.composition.families.len()));
            }
            let different = families.len() == 2 && families[0] == families[1];
            let different = different && self.random.chance(60);
            let inner = self.within(scope, &families);
            let body = Box::new(self.formula(&inner, 1));
            return Formula::Over { all: self.random.chance(50), families, different, body };
        }
        let random = &mut self.random;
        if depth > 0 && random.chance(40) {
            let kind = random.weighted(&[20, 35, 45]);
            let a = Box::new(self.formula(scope, depth - 1));
            if kind == 0 {
                return Formula::Not(a);
            }
            let b = Box::new(self.formula(scope, depth - 1));
            return if kind == 1 { Formula::And(a, b) } else { Formula::Or(a, b) };
        }
        if !scope.places.is_empty() && random.chance(30) {
            let (place, nodes) = *random.pick(&scope.places);
            return Formula::At(place, random.below(nodes));
        }
        let by = *random.pick(&[Comparator::Eq, Comparator::Ne, Comparator::Lt, Comparator::Le]);
        let b =
            if random.chance(50) { Term::Int(random.between(0, 2)) } else { self.term(scope, 1) };
        let a = self.term(scope, 1);
        if self.random.chance(50) { Formula::Compare(by, a, b) } else { Formula::Compare(by, b, a) }
    }

    /// At least one instance of each specification, so that all can be given what they read.
    fn instances(&mut self) {
        let specs = self.composition.specs.len();
        let count = specs.max(2 + self.random.weighted(&[35, 45, 20]));
        for i in 0..count {
            let spec = if i < specs { i } else { self.random.below(specs) };
            let constants =
                (0..self.composition.specs[spec].constants).map(|_| self.random.between(0, 2));
            let constants = constants.collect();
            let instance = Instance { spec, peers: Vec::new(), constants };
            self.composition.instances.push(instance);
        }
        for i in 0..count {
            let wanted = self.composition.spec_of(i).peers.clone();
            for spec in wanted {
                let fitting: Vec<usize> =
                    (0..count).filter(|&k| self.composition.instances[k].spec == spec).collect();
                let peer = *self.random.pick(&fitting);
                self.composition.instances[i].peers.push(peer);
            }
        }
    }

    fn synchronisation(&mut self, number: usize) {
        let mut left: Vec<usize> = (0..self.composition.instances.len()).collect();
        let mut participants = Vec::new();
        let wanted = 1 + self.random.weighted(&[6, 52, 30, 12]);
        while participants.len() < wanted && !left.is_empty() {
            let instance = left.remove(self.random.below(left.len()));
            let transitions = &self.composition.spec_of(instance).transitions;
            let gates: Vec<String> = transitions.iter().filter_map(|t| t.gate.clone()).collect();
            if !gates.is_empty() {
                participants.push((instance, self.random.pick(&gates).clone()));
            }
        }
        if participants.is_empty() {
            return;
        }
        let receivers = if self.random.chance(70) {
            participants.split_off(1 + self.random.below(participants.len()))
        } else {
            Vec::new()
        };
        let mut sync = Synchronisation {
            name: format!("sync{number}"),
            shared: Vec::new(),
            members: participants,
            receivers,
            when: None,
        };
        let same = |s: &Synchronisation| {
            s.members.iter().all(|m| sync.members.contains(m))
                && s.receivers.iter().all(|r| sync.receivers.contains(r))
        };
        if self.composition.syncs.iter().any(same) {
            return;
        }
        for name in PARAMS {
            let have = sync.participants().flat_map(|p| self.transitions_of(p));
            if have.into_iter().any(|t| t.has(name)) && self.random.chance(60) {
                sync.shared.push(name.to_string());
            }
        }
        if self.features.conditions && self.random.chance(40) {
            let mut scope = Scope { indices: None, ..self.scope_of_whole() };
            if !self.features.families {
                // The pass does not let conditions ask for nodes.
                scope.places.clear();
            }
            for name in self.bounded(&sync) {
                scope.terms.extend([Term::Param(name.clone()), Term::Param(name)]);
            }
            for member in &sync.members {
                for name in PARAMS.into_iter().filter(|p| !sync.shared.iter().any(|s| s == p)) {
                    if self.transitions_of(member).iter().all(|t| t.has(name)) {
                        scope.terms.push(Term::ParamOf(member.0, name.to_string()));
                    }
                }
            }
            sync.when = Some(self.formula(&scope, 1));
        }
        let one = |parts: &[(usize, String)]| {
            parts.iter().map(|(i, gate)| (Who::One(*i), gate.clone())).collect()
        };
        self.composition.patterns.push(Pattern {
            name: sync.name.clone(),
            shared: sync.shared.clone(),
            indices: Vec::new(),
            choices: Where::Any,
            members: one(&sync.members),
            receivers: one(&sync.receivers),
            when: sync.when.clone(),
        });
        let expanded = self
            .composition
            .expand(&self.composition.patterns[self.composition.patterns.len() - 1]);
        self.composition.syncs.extend(expanded);
    }

    /// Instances of which at least one family, each given instances and constants that depend on
    /// its index.
    fn families(&mut self) {
        let specs = self.composition.specs.len();
        let mut spec = 0;
        let wanted = specs.max(1 + self.random.weighted(&[60, 40]));
        while spec < wanted {
            let of = if spec < specs { spec } else { self.random.below(specs) };
            let first = self.composition.instances.len();
            let room = MANY.saturating_sub(first + wanted - spec - 1);
            let size = match (spec == 0 || self.random.chance(50)) && room >= 2 {
                true => 2 + self.random.below(room.min(3) - 1),
                false => 1,
            };
            let constants = self.composition.specs[of].constants;
            let mut given = Vec::new();
            for _ in 0..constants {
                given.push(match self.random.chance(60) {
                    true => Given::Index(self.random.between(0, 2)),
                    false => Given::Number(self.random.between(0, 2)),
                });
            }
            for index in 0..size {
                let constant = |given: &Given| match *given {
                    Given::Number(n) => n,
                    Given::Index(k) if size > 1 => (index as i64 + k) % 3,
                    Given::Index(k) => k,
                };
                let constants = given.iter().map(constant).collect();
                self.composition.instances.push(Instance {
                    spec: of,
                    peers: Vec::new(),
                    constants,
                });
            }
            if size > 1 {
                let name = format!("f{}", self.composition.families.len());
                let family = Family { name, first, size, peers: Vec::new(), constants: given };
                self.composition.families.push(family);
            }
            spec += 1;
        }
        self.peers();
    }

    /// Gives each instance, and each family, what its specification reads.
    fn peers(&mut self) {
        let count = self.composition.instances.len();
        let mut i = 0;
        while i < count {
            let family = self.composition.family_of(i).map(|(family, _)| family);
            let size = family.map_or(1, |f| self.composition.families[f].size);
            for spec in self.composition.spec_of(i).peers.clone() {
                let fitting: Vec<usize> =
                    (0..count).filter(|&k| self.composition.instances[k].spec == spec).collect();
                let one = *self.random.pick(&fitting);
                let shifted = self.composition.family_of(one).filter(|_| self.random.chance(70));
                let Some(family) = family else {
                    self.composition.instances[i].peers.push(one);
                    continue;
                };
                let peer = match shifted {
                    Some((of, k)) => PeerOf::Shifted(of, k),
                    None => PeerOf::Fixed(one),
                };
                for index in 0..size {
                    let instance = match peer {
                        PeerOf::Fixed(one) => one,
                        PeerOf::Shifted(of, k) => {
                            let of = &self.composition.families[of];
                            of.first + (index + k) % of.size
                        }
                    };
                    self.composition.instances[i + index].peers.push(instance);
                }
                self.composition.families[family].peers.push(peer);
            }
            i += size;
        }
    }

    /// A gate of an instance.
    fn gate_of(&mut self, instance: usize) -> Option<String> {
        let transitions = &self.composition.spec_of(instance).transitions;
        let gates: Vec<String> = transitions.iter().filter_map(|t| t.gate.clone()).collect();
        (!gates.is_empty()).then(|| self.random.pick(&gates).clone())
    }

    /// A synchronisation with one or two indices, of which members are chosen by them.
    fn indexed_synchronisation(&mut self, number: usize) {
        let families = self.composition.families.len();
        let count = self.composition.instances.len();
        let mut indices: Vec<usize> =
            (0..1 + self.random.weighted(&[60, 40])).map(|_| self.random.below(families)).collect();
        if self.random.chance(50) {
            indices = vec![indices[0]; indices.len()];
        }
        let mut members: Vec<(Who, String)> = Vec::new();
        let size = |maker: &Maker, at: usize| maker.composition.families[indices[at]].size;
        for (at, &family) in indices.iter().enumerate() {
            let shift = if self.random.chance(80) { 0 } else { self.random.below(size(self, at)) };
            let Some(gate) = self.gate_of(self.composition.families[family].first) else {
                return;
            };
            members.push((Who::Chosen(Chosen { index: at, shift }), gate));
        }
        match self.random.weighted(&[40, 35, 25]) {
            0 => {}
            // The next one in the family.
            1 => {
                let shift = 1 + self.random.below(size(self, 0) - 1);
                let Some(gate) = self.gate_of(self.composition.families[indices[0]].first) else {
                    return;
                };
                members.push((Who::Chosen(Chosen { index: 0, shift }), gate));
            }
            _ => {
                let one = self.random.below(count);
                if let Some(gate) = self.gate_of(one) {
                    members.push((Who::One(one), gate));
                }
            }
        }
        let mut receivers: Vec<(Who, String)> = Vec::new();
        if self.random.chance(40) {
            let family = self.random.below(families);
            if let Some(gate) = self.gate_of(self.composition.families[family].first) {
                receivers.push((Who::All(family), gate));
            }
        }
        let alone: Vec<usize> = (0..count)
            .filter(|&i| {
                self.composition.family_of(i).is_none()
                    && !members.iter().any(|(who, _)| *who == Who::One(i))
            })
            .collect();
        if !alone.is_empty() && self.random.chance(25) {
            let one = *self.random.pick(&alone);
            if let Some(gate) = self.gate_of(one) {
                receivers.push((Who::One(one), gate));
            }
        }
        let choices = match indices[..] {
            [f, g] if f == g => *self.random.pick(&[Where::Any, Where::Different, Where::Less]),
            _ => Where::Any,
        };
        let mut pattern = Pattern {
            name: format!("sync{number}"),
            shared: Vec::new(),
            indices,
            choices,
            members,
            receivers,
            when: None,
        };
        let expanded = self.composition.expand(&pattern);
        let Some(first) = expanded.first().cloned() else { return };
        let known = self.composition.syncs.iter().chain(&expanded);
        let same = |a: &Synchronisation, b: &Synchronisation| {
            a.members.iter().all(|m| b.members.contains(m))
                && a.receivers.iter().all(|r| b.receivers.contains(r))
        };
        let known: Vec<&Synchronisation> = known.collect();
        let twice = |(i, a): (usize, &&Synchronisation)| known[..i].iter().any(|b| same(a, b));
        if known.iter().enumerate().any(twice) {
            return;
        }
        for name in PARAMS {
            let have = first.participants().flat_map(|p| self.transitions_of(p));
            if have.into_iter().any(|t| t.has(name)) && self.random.chance(60) {
                pattern.shared.push(name.to_string());
            }
        }
        if self.features.conditions && self.random.chance(40) {
            let shared = Synchronisation { shared: pattern.shared.clone(), ..first };
            pattern.when = Some(self.condition(&pattern, &shared));
        }
        let expanded = self.composition.expand(&pattern);
        self.composition.syncs.extend(expanded);
        self.composition.patterns.push(pattern);
    }

    /// A condition of an indexed synchronisation; `one` is what it stands for with some indices.
    fn condition(&mut self, pattern: &Pattern, one: &Synchronisation) -> Formula {
        let whole = Scope { indices: None, ..self.scope_of_whole() };
        let mut scope = self.within(&whole, &pattern.indices);
        for name in self.bounded(one) {
            scope.terms.extend([Term::Param(name.clone()), Term::Param(name)]);
        }
        for ((who, _), member) in pattern.members.iter().zip(&one.members) {
            for name in PARAMS.into_iter().filter(|p| !one.shared.iter().any(|s| s == p)) {
                if !self.transitions_of(member).iter().all(|t| t.has(name)) {
                    continue;
                }
                scope.terms.push(match *who {
                    Who::Chosen(chosen) => Term::ParamOfChosen(chosen, name.to_string()),
                    _ => Term::ParamOf(member.0, name.to_string()),
                });
            }
        }
        self.formula(&scope, 1)
    }

    /// The transitions of an instance with a gate.
    fn transitions_of(&self, (instance, gate): &(usize, String)) -> Vec<&Transition> {
        let all = self.composition.spec_of(*instance).transitions.iter();
        all.filter(|t| t.gate.as_ref() == Some(gate)).collect()
    }

    /// The shared parameters that every transition of some member has. A value that nothing bounds
    /// cannot be enumerated.
    fn bounded(&self, sync: &Synchronisation) -> Vec<String> {
        let bounds = |name: &String| {
            let mut members = sync.members.iter();
            members.any(|m| self.transitions_of(m).iter().all(|t| t.has(name)))
        };
        sync.shared.iter().filter(|name| bounds(name)).cloned().collect()
    }

    fn scope_of_whole(&self) -> Scope {
        let instances = 0..self.composition.instances.len();
        let terms = instances
            .clone()
            .flat_map(|i| (0..self.composition.spec_of(i).vars.len()).map(move |v| Term::Of(i, v)));
        let nodes = |i: usize| self.composition.spec_of(i).nodes.len();
        let places = instances.clone().map(|i| (Place::Of(i), nodes(i))).collect();
        let indices = self.features.families.then(Vec::new);
        Scope { terms: terms.collect(), places, indices }
    }

    fn claim_of_whole(&mut self) -> Kind {
        let scope = self.scope_of_whole();
        let syncs = self.composition.syncs.len();
        match self.random.weighted(&[35, 35, 30]) {
            0 => Kind::Always(self.formula(&scope, 2)),
            2 if syncs > 0 => {
                let at = self.random.below(syncs);
                let sync = &self.composition.syncs[at];
                let (name, bounded) = (sync.name.clone(), self.bounded(sync));
                if bounded.is_empty() || self.random.chance(40) {
                    return Kind::Taken(name, Formula::True);
                }
                let terms = bounded.into_iter().map(Term::Param).collect();
                let with = self.formula(&Scope { terms, ..Scope::default() }, 1);
                Kind::Taken(name, with)
            }
            _ => Kind::Reachable(self.formula(&scope, 2)),
        }
    }
}
