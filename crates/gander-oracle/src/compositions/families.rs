//! Families of instances: what is written once for several of them, and what it stands for.
//!
//! docs/semantics.md, section 6: a synchronisation with indices is one synchronisation for each
//! choice of the indices, a family that is listed as a receiver stands for all its instances that
//! are not members, and a quantifier over a family is the conjunction, disjunction, number or sum
//! over its instances.

use super::{Claim, Composition, Formula, Kind, Place, Synchronisation, Term};

/// Several instances of one specification.
#[derive(Clone, Debug)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// Its first instance; the others follow.
    pub first: usize,
    /// The number of its instances.
    pub size: usize,
    /// What the instance with index `i` reads.
    pub peers: Vec<PeerOf>,
    /// The constants that it is given.
    pub constants: Vec<Given>,
}

/// An instance that the members of a family read.
#[derive(Clone, Copy, Debug)]
pub enum PeerOf {
    /// The same for all.
    Fixed(usize),
    /// `f[(i + k) mod n]` of a family with `n` instances.
    Shifted(usize, usize),
}

/// A constant that the members of a family are given.
#[derive(Clone, Copy, Debug)]
pub enum Given {
    /// The same for all.
    Number(i64),
    /// `(i + k) mod 3`
    Index(i64),
}

/// `f[(i + shift) mod n]`, where `f` is the family of the index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chosen {
    /// The position of the index among those that are bound, the outermost first.
    pub index: usize,
    /// What is added to it.
    pub shift: usize,
}

/// Who takes part in an indexed synchronisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// An instance.
    One(usize),
    /// An instance of a family, by an index.
    Chosen(Chosen),
    /// All instances of a family that are not members; only as a receiver.
    All(usize),
}

/// Which choices of the indices there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// All.
    Any,
    /// Those with `i != j`.
    Different,
    /// Those with `i < j`.
    Less,
}

/// A synchronisation as it is written.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its name.
    pub name: String,
    /// Parameters with one value for all.
    pub shared: Vec<String>,
    /// By index: its family.
    pub indices: Vec<usize>,
    /// Which choices there are.
    pub choices: Where,
    /// Who takes part, with the gates.
    pub members: Vec<(Who, String)>,
    /// Who takes part if it can.
    pub receivers: Vec<(Who, String)>,
    /// The condition.
    pub when: Option<Formula>,
}

/// The values of the indices that are bound, each with its family.
type Indices = [(usize, usize)];

impl Composition {
    /// The family of an instance and its index in it.
    pub fn family_of(&self, instance: usize) -> Option<(usize, usize)> {
        let within = |f: &Family| (f.first..f.first + f.size).contains(&instance);
        let family = self.families.iter().position(within)?;
        Some((family, instance - self.families[family].first))
    }

    /// The synchronisations that a pattern stands for.
    pub fn expand(&self, pattern: &Pattern) -> Vec<Synchronisation> {
        let mut syncs = Vec::new();
        for indices in self.choices(&pattern.indices) {
            let kept = match (pattern.choices, &indices[..]) {
                (Where::Different, [a, b, ..]) => a.1 != b.1,
                (Where::Less, [a, b, ..]) => a.1 < b.1,
                _ => true,
            };
            let one = |who: &Who| match who {
                Who::One(i) => Some(*i),
                Who::Chosen(chosen) => Some(self.instance_at(&indices, *chosen)),
                Who::All(_) => None,
            };
            let members: Vec<(usize, String)> = (pattern.members.iter())
                .filter_map(|(who, gate)| Some((one(who)?, gate.clone())))
                .collect();
            let twice =
                (1..members.len()).any(|i| members[..i].iter().any(|m| m.0 == members[i].0));
            if !kept || twice {
                continue;
            }
            let mut receivers = Vec::new();
            for (who, gate) in &pattern.receivers {
                let all = match who {
                    Who::All(f) => self.members_of(*f).collect(),
                    who => one(who).into_iter().collect::<Vec<_>>(),
                };
                let free = all.into_iter().filter(|i| !members.iter().any(|m| m.0 == *i));
                receivers.extend(free.map(|i| (i, gate.clone())));
            }
            syncs.push(Synchronisation {
                name: pattern.name.clone(),
                shared: pattern.shared.clone(),
                members,
                receivers,
                when: pattern.when.as_ref().map(|f| self.formula_at(f, &indices)),
            });
        }
        syncs
    }

    /// A claim without quantifiers over families.
    pub fn expand_claim(&self, claim: &Claim) -> Kind {
        match &claim.kind {
            Kind::Always(f) => Kind::Always(self.formula_at(f, &[])),
            Kind::Reachable(f) => Kind::Reachable(self.formula_at(f, &[])),
            Kind::Taken(gate, f) => Kind::Taken(gate.clone(), self.formula_at(f, &[])),
        }
    }

    fn members_of(&self, family: usize) -> std::ops::Range<usize> {
        let family = &self.families[family];
        family.first..family.first + family.size
    }

    /// All values of indices over these families, the last one varying fastest.
    fn choices(&self, families: &[usize]) -> Vec<Vec<(usize, usize)>> {
        let mut all = vec![Vec::new()];
        for &family in families {
            let sizes = 0..self.families[family].size;
            all = (all.iter())
                .flat_map(|chosen: &Vec<_>| {
                    sizes.clone().map(|i| chosen.iter().copied().chain([(family, i)]).collect())
                })
                .collect();
        }
        all
    }

    fn instance_at(&self, indices: &Indices, chosen: Chosen) -> usize {
        let (family, value) = indices[chosen.index];
        let family = &self.families[family];
        family.first + (value + chosen.shift) % family.size
    }

    fn term_at(&self, term: &Term, indices: &Indices) -> Term {
        let two = |a: &Term, b: &Term| {
            (Box::new(self.term_at(a, indices)), Box::new(self.term_at(b, indices)))
        };
        match term {
            Term::OfChosen(chosen, var) => Term::Of(self.instance_at(indices, *chosen), *var),
            Term::ParamOfChosen(chosen, name) => {
                Term::ParamOf(self.instance_at(indices, *chosen), name.clone())
            }
            Term::Count(family, f) => {
                self.sum(*family, indices, |i| Term::Truth(Box::new(self.formula_at(f, i))))
            }
            Term::Sum(family, e) => self.sum(*family, indices, |i| self.term_at(e, i)),
            Term::Truth(f) => Term::Truth(Box::new(self.formula_at(f, indices))),
            Term::Add(a, b) => {
                let (a, b) = two(a, b);
                Term::Add(a, b)
            }
            Term::Sub(a, b) => {
                let (a, b) = two(a, b);
                Term::Sub(a, b)
            }
            Term::Mod(a, n) => Term::Mod(Box::new(self.term_at(a, indices)), *n),
            other => other.clone(),
        }
    }

    fn sum(&self, family: usize, indices: &Indices, part: impl Fn(&Indices) -> Term) -> Term {
        let parts = (0..self.families[family].size)
            .map(|i| part(&indices.iter().copied().chain([(family, i)]).collect::<Vec<_>>()));
        parts.fold(Term::Int(0), |sum, part| Term::Add(Box::new(sum), Box::new(part)))
    }

    fn formula_at(&self, formula: &Formula, indices: &Indices) -> Formula {
        let inner = |f: &Formula| Box::new(self.formula_at(f, indices));
        match formula {
            Formula::True => Formula::True,
            Formula::Compare(by, a, b) => {
                Formula::Compare(*by, self.term_at(a, indices), self.term_at(b, indices))
            }
            Formula::At(Place::Chosen(chosen), node) => {
                Formula::At(Place::Of(self.instance_at(indices, *chosen)), *node)
            }
            Formula::At(place, node) => Formula::At(*place, *node),
            Formula::Not(f) => Formula::Not(inner(f)),
            Formula::And(a, b) => Formula::And(inner(a), inner(b)),
            Formula::Or(a, b) => Formula::Or(inner(a), inner(b)),
            Formula::Over { all, families, different, body } => {
                let mut parts = Vec::new();
                for choice in self.choices(families) {
                    if *different && choice.len() > 1 && choice[0].1 == choice[1].1 {
                        continue;
                    }
                    let bound: Vec<_> = indices.iter().copied().chain(choice).collect();
                    parts.push(self.formula_at(body, &bound));
                }
                let both = |a, b| match all {
                    true => Formula::And(Box::new(a), Box::new(b)),
                    false => Formula::Or(Box::new(a), Box::new(b)),
                };
                let none = match all {
                    true => Formula::True,
                    false => Formula::Not(Box::new(Formula::True)),
                };
                parts.into_iter().fold(none, both)
            }
        }
    }
}
