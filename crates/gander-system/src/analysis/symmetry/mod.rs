//! Symmetries of composed systems: automorphisms that permute instances.
//!
//! An *automorphism* is a bijection on variables, starts and transitions (with their parameters)
//! under which the system is the same: renaming the variables turns the set of starts, the set of
//! transitions, the assumptions and the final condition into themselves. It maps every run to a
//! run of the same length, and so the evidence for a claim to evidence for the renamed claim (Ip
//! and Dill, *Better verification through symmetry*, 1996; Clarke, Enders, Filkorn and Jha,
//! *Exploiting symmetry in temporal logic model checking*, 1996).
//!
//! [`Symmetries::of`] tries permutations of instances that the composition suggests
//! ([`candidates`]): transpositions, rotations and reflections, of one family or of several
//! families of one size together. Each is verified: the renamed parts and the parts of the system
//! must be equal terms, up to the order of commutative arguments ([`normal`]). So an instance that
//! only resembles another one is never exchanged with it. If terms are equivalent but not equal, a
//! symmetry is missed, and engines work on more claims.
//!
//! Only parts that mention a moved instance are renamed. The cost of each permutation is the size
//! of these parts; the number of permutations is limited.

mod candidates;
mod evidence;
mod normal;
mod parts;

use std::collections::VecDeque;

use gander_term::{Sort, Substitution, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::claim::{ClaimId, FairnessId};
use crate::evidence::Verdict;
use crate::system::{StartId, System, TransitionId, VarId};

use parts::{Parts, Renamed, TransitionKey};

/// The largest product of the number of generators and the number of parts of the system: each
/// generator takes some bytes for each part.
const MAX_PARTS: usize = 40_000_000;

/// In a system with more terms, no symmetries are searched for.
const MAX_TERMS: usize = 4_000_000;

/// A bijection on the parts of a system under which the system is the same; see the module's
/// documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automorphism {
    vars: Vec<VarId>,
    starts: Vec<StartId>,
    transitions: Vec<TransitionId>,
    /// The positions of parameters in the image of a transition, if they change.
    params: FxHashMap<TransitionId, Vec<usize>>,
    /// `None` if the renamed claim is no claim of the system.
    claims: Vec<Option<ClaimId>>,
}

impl Automorphism {
    /// The one that changes nothing.
    pub fn identity(system: &System) -> Automorphism {
        Automorphism {
            vars: system.var_ids().collect(),
            starts: (0..system.starts.len()).map(StartId::from).collect(),
            transitions: system.transition_ids().collect(),
            params: FxHashMap::default(),
            claims: (0..system.claims.len()).map(|c| Some(ClaimId::from(c))).collect(),
        }
    }

    /// This one, and then the other.
    #[must_use]
    pub fn then(&self, other: &Automorphism) -> Automorphism {
        let mut params = FxHashMap::default();
        for (i, &image) in self.transitions.iter().enumerate() {
            let t = TransitionId::from(i);
            let positions = match (self.params.get(&t), other.params.get(&image)) {
                (Some(first), Some(second)) => first.iter().map(|&p| second[p]).collect(),
                (Some(only), None) | (None, Some(only)) => only.clone(),
                (None, None) => continue,
            };
            params.insert(t, positions);
        }
        Automorphism {
            vars: self.vars.iter().map(|v| other.vars[v.index()]).collect(),
            starts: self.starts.iter().map(|s| other.starts[s.index()]).collect(),
            transitions: self.transitions.iter().map(|t| other.transitions[t.index()]).collect(),
            params,
            claims: self.claims.iter().map(|c| other.claims[(*c)?.index()]).collect(),
        }
    }

    /// The variable that takes the place of a variable.
    pub fn var(&self, v: VarId) -> VarId {
        self.vars[v.index()]
    }

    /// The renamed transition.
    pub fn transition(&self, t: TransitionId) -> TransitionId {
        self.transitions[t.index()]
    }

    /// The renamed claim, if it is a claim of the system.
    pub fn claim(&self, c: ClaimId) -> Option<ClaimId> {
        self.claims[c.index()]
    }
}

/// Generators of a group of automorphisms; empty if none was found.
#[derive(Clone, Debug, Default)]
pub struct Symmetries {
    generators: Vec<Automorphism>,
}

impl Symmetries {
    /// The symmetries of a composed system that permute its instances.
    pub fn of(system: &System) -> Symmetries {
        if system.instances.len() < 2 || system.nodes.len() != 1 || system.pool.len() > MAX_TERMS {
            return Symmetries::default();
        }
        let mut search = Search::new(system);
        let generators = candidates::generators(&mut search);
        // Then normal forms could be equal for different terms.
        if !search.parts.normal.is_reliable() {
            return Symmetries::default();
        }
        Symmetries { generators }
    }

    /// Automorphisms that generate the group.
    pub fn generators(&self) -> &[Automorphism] {
        &self.generators
    }

    /// True if there is none but the identity.
    pub fn is_trivial(&self) -> bool {
        self.generators.is_empty()
    }

    /// By claim: the claim of its orbit with the least number. Claims have one orbit if an
    /// automorphism of the group maps one to the other.
    pub fn representatives(&self, claims: usize) -> Vec<ClaimId> {
        let mut parent: Vec<usize> = (0..claims).collect();
        fn root(parent: &mut [usize], mut c: usize) -> usize {
            while parent[c] != c {
                parent[c] = parent[parent[c]];
                c = parent[c];
            }
            c
        }
        for g in &self.generators {
            for (c, image) in g.claims.iter().enumerate() {
                let Some(image) = image else { continue };
                let (a, b) = (root(&mut parent, c), root(&mut parent, image.index()));
                parent[a.max(b)] = a.min(b);
            }
        }
        (0..claims).map(|c| ClaimId::from(root(&mut parent, c))).collect()
    }

    /// The other claims of the orbit of a claim, each with an automorphism that maps the claim to
    /// it.
    pub fn orbit(&self, system: &System, claim: ClaimId) -> Vec<(ClaimId, Automorphism)> {
        let mut seen: FxHashSet<ClaimId> = FxHashSet::from_iter([claim]);
        let mut found = Vec::new();
        let mut queue = VecDeque::from([(claim, Automorphism::identity(system))]);
        while let Some((from, way)) = queue.pop_front() {
            for g in &self.generators {
                gander_runtime::check_cancelled();
                if let Some(to) = g.claim(from)
                    && seen.insert(to)
                {
                    let way = way.then(g);
                    found.push((to, way.clone()));
                    queue.push_back((to, way));
                }
            }
        }
        found
    }

    /// Verdicts about other claims of the orbit of a decided claim, with renamed evidence: about
    /// those that are `wanted`. Empty if the evidence is of a kind that is not renamed.
    pub fn transfer(
        &self,
        system: &System,
        claim: ClaimId,
        verdict: &Verdict,
        wanted: impl Fn(ClaimId) -> bool,
    ) -> Vec<(ClaimId, Verdict)> {
        let mut images = self.orbit(system, claim);
        images.retain(|(c, _)| wanted(*c));
        if images.is_empty() { Vec::new() } else { evidence::transfer(system, verdict, &images) }
    }
}

/// Looks for automorphisms of a system.
struct Search<'a> {
    parts: Parts<'a>,
    /// Placeholders that begin with the name of an instance: the instance, the rest of the name,
    /// and the sort.
    owned_params: Vec<(SymbolId, usize, String, Sort)>,
    /// By instance: the transitions that mention it.
    transitions_of: Vec<Vec<TransitionId>>,
    /// The number of generators that may still be found.
    left: usize,
}

impl<'a> Search<'a> {
    fn new(system: &'a System) -> Search<'a> {
        let parts = Parts::of(system);
        let mut owner: FxHashMap<SymbolId, usize> = FxHashMap::default();
        for (i, instance) in system.instances.iter().enumerate() {
            for &v in instance.vars.iter().chain(&instance.location) {
                owner.insert(system.var(v).current, i);
                owner.insert(system.var(v).next, i);
            }
        }
        let names: FxHashMap<&str, usize> =
            system.instances.iter().enumerate().map(|(i, n)| (n.name.as_str(), i)).collect();
        let mut owned_params = Vec::new();
        for (name, sort, symbol) in parts.placeholders() {
            // The longest prefix that is an instance.
            let dots = name.rmatch_indices('.').map(|(at, _)| at);
            let Some((at, &i)) = dots.into_iter().find_map(|d| Some((d, names.get(&name[..d])?)))
            else {
                continue;
            };
            owner.insert(symbol, i);
            owned_params.push((symbol, i, name[at..].to_string(), sort));
        }
        owned_params.sort_unstable_by_key(|p| p.0);
        let mut transitions_of = vec![Vec::new(); system.instances.len()];
        for t in system.transition_ids() {
            let mut instances: Vec<usize> =
                parts.symbols_of(t).iter().filter_map(|s| owner.get(s).copied()).collect();
            instances.sort_unstable();
            instances.dedup();
            for i in instances {
                transitions_of[i].push(t);
            }
        }
        let size = system.vars.len() + system.transitions.len() + system.claims.len();
        Search { parts, owned_params, transitions_of, left: MAX_PARTS / size.max(1) }
    }

    /// The automorphism that permutes the instances in this way, if it is one.
    fn verify(&mut self, permutation: &[usize]) -> Option<Automorphism> {
        if self.left == 0 {
            return None;
        }
        let system = self.parts.system;
        let moved: Vec<usize> = (0..permutation.len()).filter(|&i| permutation[i] != i).collect();
        let mut found = Automorphism::identity(system);
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        for &i in &moved {
            let (one, other) = (&system.instances[i], &system.instances[permutation[i]]);
            if one.vars.len() != other.vars.len()
                || one.location.is_some() != other.location.is_some()
            {
                return None;
            }
            let own = one.vars.iter().chain(&one.location);
            for (&from, &to) in own.zip(other.vars.iter().chain(&other.location)) {
                if self.parts.var_key(from) != self.parts.var_key(to) {
                    return None;
                }
                found.vars[from.index()] = to;
                let (from, to) = (system.var(from), system.var(to));
                map.insert(from.current, self.parts.pool.var(to.current));
                map.insert(from.next, self.parts.pool.var(to.next));
            }
        }
        for at in 0..self.owned_params.len() {
            let (symbol, i, rest, sort) = self.owned_params[at].clone();
            if permutation[i] != i {
                let name = format!("{}{rest}", system.instances[permutation[i]].name);
                let image = self.parts.placeholder(&name, sort);
                map.insert(symbol, self.parts.pool.var(image));
            }
        }
        let mut terms = Substitution::new(&mut self.parts.pool, &map);
        self.transitions(&moved, &map, &mut terms, &mut found)?;
        self.states(&mut terms, &mut found)?;
        self.claims(&mut terms, &mut found);
        self.left -= 1;
        Some(found)
    }

    /// The normal form of a renamed part.
    fn renamed(&mut self, terms: &mut Substitution, t: TermId) -> TermId {
        let renamed = terms.apply(&mut self.parts.pool, t);
        self.parts.normal.of(&mut self.parts.pool, renamed)
    }

    /// Finds the images of the transitions that mention a moved instance.
    fn transitions(
        &mut self,
        moved: &[usize],
        map: &FxHashMap<SymbolId, TermId>,
        terms: &mut Substitution,
        found: &mut Automorphism,
    ) -> Option<()> {
        let mut seen: FxHashSet<TransitionId> = FxHashSet::default();
        for &i in moved {
            for at in 0..self.transitions_of[i].len() {
                let t = self.transitions_of[i][at];
                if !seen.insert(t) {
                    continue;
                }
                let image = self.renamed_key(t, map, terms, &found.vars);
                let own = &self.parts.by_key[&self.parts.transitions[t.index()]];
                let list = self.parts.by_key.get(&image)?;
                if own.len() != list.len() {
                    return None;
                }
                let to = list[own.iter().position(|o| *o == t)?];
                found.transitions[t.index()] = to;
                let params = &self.parts.params;
                let positions: Option<Vec<usize>> = params[t.index()]
                    .iter()
                    .map(|p| {
                        let p = self.renamed_symbol(*p, map);
                        params[to.index()].iter().position(|q| *q == p)
                    })
                    .collect();
                let positions = positions?;
                if positions.iter().enumerate().any(|(i, p)| i != *p) {
                    found.params.insert(t, positions);
                }
            }
        }
        Some(())
    }

    fn renamed_symbol(&self, s: SymbolId, map: &FxHashMap<SymbolId, TermId>) -> SymbolId {
        map.get(&s).and_then(|t| self.parts.pool.as_symbol(*t)).unwrap_or(s)
    }

    fn renamed_key(
        &mut self,
        t: TransitionId,
        map: &FxHashMap<SymbolId, TermId>,
        terms: &mut Substitution,
        vars: &[VarId],
    ) -> TransitionKey {
        let mut key = self.parts.transitions[t.index()].clone();
        for p in &mut key.params {
            *p = self.renamed_symbol(*p, map);
        }
        key.params.sort_unstable();
        key.guard = self.renamed(terms, key.guard);
        key.constraint = self.renamed(terms, key.constraint);
        for (v, value) in &mut key.assigned {
            *v = vars[v.index()];
            *value = self.renamed(terms, *value);
        }
        key.assigned.sort_unstable();
        for v in &mut key.unkept {
            *v = vars[v.index()];
        }
        key.unkept.sort_unstable();
        key
    }

    /// Compares assumptions and the final condition, and finds the images of the starts.
    fn states(&mut self, terms: &mut Substitution, found: &mut Automorphism) -> Option<()> {
        let assumptions = self.parts.assumptions;
        if self.renamed(terms, assumptions) != assumptions {
            return None;
        }
        if let Some(ends) = self.parts.final_condition
            && self.renamed(terms, ends) != ends
        {
            return None;
        }
        let starts = self.parts.starts.clone();
        for (i, &(target, term)) in starts.iter().enumerate() {
            let image = (target, self.renamed(terms, term));
            let same = |key: (u32, TermId)| {
                starts.iter().enumerate().filter(move |(_, k)| **k == key).map(|(i, _)| i)
            };
            let at = same((target, term)).position(|s| s == i)?;
            if same(image).count() != same((target, term)).count() {
                return None;
            }
            found.starts[i] = StartId::from(same(image).nth(at)?);
        }
        Some(())
    }

    /// Finds the images of fairness constraints and claims, as far as there are any.
    fn claims(&mut self, terms: &mut Substitution, found: &mut Automorphism) {
        let system = self.parts.system;
        let mut fairness: Vec<Option<FairnessId>> = Vec::new();
        for (f, constraint) in system.fairness.iter().enumerate() {
            let key = self.parts.fairness_key(&constraint.kind, &mut Renamed::default());
            let mut renamed = Renamed {
                terms: Some(terms),
                transitions: Some(&found.transitions),
                fairness: None,
            };
            let image = self.parts.fairness_key(&constraint.kind, &mut renamed);
            let to = counterpart(&self.parts.fairness_keys, key, image, f);
            fairness.push(to.map(FairnessId::from));
        }
        for (c, claim) in system.claims.iter().enumerate() {
            let key = self.parts.claim_key(&claim.kind, &mut Renamed::default());
            let mut renamed = Renamed {
                terms: Some(terms),
                transitions: Some(&found.transitions),
                fairness: Some(&fairness),
            };
            let image = self.parts.claim_key(&claim.kind, &mut renamed);
            let to = counterpart(&self.parts.claim_keys, key, image, c);
            found.claims[c] = to.map(ClaimId::from);
        }
    }
}

/// Of the parts with the key `image`, the one at the position that `part` has among those with its
/// own key.
fn counterpart(
    lists: &FxHashMap<parts::Key, Vec<usize>>,
    key: Option<parts::Key>,
    image: Option<parts::Key>,
    part: usize,
) -> Option<usize> {
    let (own, list) = (lists.get(&key?)?, lists.get(&image?)?);
    let at = own.iter().position(|p| *p == part)?;
    (own.len() == list.len()).then(|| list.get(at).copied()).flatten()
}

#[cfg(test)]
mod tests;
