//! A system without its control graph: variables, first states, steps, assumptions and properties,
//! as terms.
//!
//! If there are several nodes, the node becomes a variable (`passes::flatten`). Parameters of steps
//! become variables of the step. Inputs are variables that no step determines.

use gander_system::passes::flatten;
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Effect, FairnessKind, Goal, NodeId, System, VarId,
};
use gander_term::{EnumId, IBig, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::encode::assumed_ranges::{assumed, input_range};
use crate::encode::structural::Questions;
use crate::encode::temporal::Monitors;
use crate::text::name_map::{NameMap, Place, WrittenClaim};
use crate::text::names::{Names, legend, missing};
use crate::{Eliminate, Refusal, Selection};

/// A variable of the flat system.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    /// Its name in the text.
    pub name: String,
    pub sort: Sort,
    pub current: SymbolId,
    pub next: SymbolId,
    /// The range of an int, if it holds in every state.
    pub range: Option<(IBig, IBig)>,
}

/// Whether structural claims are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StructuralClaims {
    LeftOut,
    /// As properties about states and parameters of steps.
    Written,
}

/// A property of the system.
#[derive(Clone, Debug)]
pub(crate) enum Property {
    /// The formula always holds.
    Always(TermId),
    /// Some reachable state satisfies the formula.
    Reachable(TermId),
    /// The formula becomes true on every run that satisfies each of the further formulas infinitely
    /// often.
    Eventually(TermId, Vec<TermId>),
    AlwaysEventually(TermId),
    LeadsTo(TermId, TermId),
    /// Some run is infinite: not every run reaches a state that satisfies the formula, where no
    /// guard holds.
    InfiniteRun(TermId),
}

impl Property {
    /// True if the negation is written, as output languages state properties of all runs.
    pub(crate) fn is_opposite(&self) -> bool {
        matches!(self, Property::Reachable(_) | Property::InfiniteRun(_))
    }
}

/// A flat system.
pub(crate) struct Flat {
    pub name: String,
    /// The header's note on how the source is read.
    reading: Option<String>,
    /// What the text assumes beyond the system.
    assumed: Vec<String>,
    pub pool: Pool,
    pub vars: Vec<Var>,
    /// Parameters of the steps.
    pub params: Vec<(String, Sort, SymbolId)>,
    /// By parameter: its range, which its guard implies.
    pub param_ranges: Vec<Option<(IBig, IBig)>>,
    /// The constraint of each start; one of them holds.
    pub starts: Vec<TermId>,
    /// Name, guard, effect.
    pub steps: Vec<(String, TermId, TermId)>,
    pub assumptions: Vec<TermId>,
    /// Name in the text, name of the claim, property.
    pub claims: Vec<(String, String, Property)>,
    /// Claims that are not written.
    pub left_out: Vec<String>,
    /// What each variable, parameter and claim is in the system.
    origins: Origins,
    /// Names of enumeration values in the text, if the language has such names.
    pub values: Vec<(String, EnumId, u32)>,
    /// Names in the text, with the original names.
    pub renamed: Vec<(String, String)>,
    /// The allocator of names.
    pub names: Names,
    /// True if every step can be completed, so that runs end exactly in states where no guard
    /// holds.
    pub completable: bool,
    /// True if a state where no guard holds is its own successor.
    pub repeats: bool,
    /// Constraints on the monitor variables, which are not part of the system.
    pub monitors: Monitors,
    /// The temporal claims that are written as queries about infinite runs.
    pub written: Vec<String>,
}

/// A comment that says that the system has the runs of the wider of two readings of its source, if
/// there are two.
pub(crate) fn reading(comment: &str, system: &System) -> String {
    match system.ambiguity() {
        Some(ambiguity) => {
            format!(
                "{comment} this has the runs of one reading only: {}\n",
                ambiguity.text.replace(['\n', '\r'], " ")
            )
        }
        None => String::new(),
    }
}

/// What the variables, parameters and claims of a flat system are in the system, in order.
#[derive(Default)]
struct Origins {
    vars: Vec<Place>,
    params: Vec<Place>,
    claims: Vec<ClaimId>,
}

/// Reserved words of the output languages and of solvers.
const RESERVED: &[&str] = &[
    "state", "next", "init", "main", "TRUE", "FALSE", "true", "false", "and", "or", "not", "mod",
    "div", "in", "union", "case", "esac", "self", "abs", "max", "min", "bool", "word", "word1",
    "count", "A", "E", "F", "G", "X", "U", "V", "H", "O", "Y", "Z", "S", "T", "let", "ite",
    "distinct", "xor", "xnor", "real", "integer", "boolean", "step", "trans", "array", "of",
    "process", "signed", "unsigned", "extend", "resize", "toint", "EX", "AX", "EF", "AF", "EG",
    "AG", "EBF", "ABF", "BU", "EBG", "ABG", "B", "forall", "exists", "assert", "par", "as", "VAR",
    "IVAR", "INIT", "TRANS", "INVAR", "DEFINE", "ASSIGN", "MODULE", "to_real", "to_int", "is_int",
    "concat", "extract", "repeat", "start",
];

/// The node of a system without a control graph.
const ONLY_NODE: NodeId = NodeId(0);

impl Flat {
    /// The flat system of a system, with the selected claims. `words` are further reserved words.
    pub(crate) fn of(
        system: &System,
        selection: Selection<'_>,
        words: &[&str],
        structural: StructuralClaims,
        eliminate: Option<Eliminate>,
    ) -> Result<Flat, Refusal> {
        let holder;
        let source: &System = if system.nodes().len() > 1 {
            holder = flatten(system)?.system;
            &holder
        } else {
            system
        };
        let mut names = Names::without(RESERVED);
        names.reserve(words);
        let mut flat = Flat {
            name: system.name().to_owned(),
            assumed: Vec::new(),
            reading: system.ambiguity().map(|_| reading("", system)),
            pool: Pool::fork(source.pool()),
            vars: Vec::new(),
            params: Vec::new(),
            param_ranges: Vec::new(),
            starts: Vec::new(),
            steps: Vec::new(),
            assumptions: Vec::new(),
            claims: Vec::new(),
            left_out: Vec::new(),
            origins: Origins::default(),
            values: Vec::new(),
            renamed: Vec::new(),
            names,
            completable: false,
            repeats: false,
            monitors: Monitors::default(),
            written: Vec::new(),
        };
        let node_name = if words.contains(&"node") { "location" } else { "node" };
        flat.add_vars(system, source, node_name);
        flat.starts = (0..source.starts().len())
            .map(|s| source.start_term(&mut flat.pool, s.into()))
            .collect();
        let total = flat.add_steps(source);
        let questions = Questions { system, eliminate, total };
        flat.add_claims(source, selection, structural, &questions);
        Ok(flat)
    }

    /// Adds the assumptions and the variables of `source`, which is the system or its flattened
    /// form. The latter has a further variable, which is called `node_name`.
    fn add_vars(&mut self, system: &System, source: &System, node_name: &str) {
        self.assumptions = source
            .assumptions()
            .iter()
            .map(|a| source.at_node(&mut self.pool, a.term, ONLY_NODE))
            .collect();
        let assumed = assumed(&self.pool, &self.assumptions);
        for (i, v) in source.vars().iter().enumerate() {
            self.origins.vars.push(if i < system.vars().len() {
                Place::Var(VarId::from(i))
            } else {
                Place::Node
            });
            let original = if v.name.starts_with("@node") { node_name } else { &v.name };
            let name = self.names.fit(original);
            self.renamed.push((name.clone(), v.name.clone()));
            let certain = i < system.vars().len() && system.has_certain_range(VarId::from(i));
            let range = v.range.as_ref().filter(|_| certain && v.sort == Sort::Int);
            let range = range.map(|r| (r.low.clone(), r.high.clone()));
            let range =
                range.or_else(|| assumed.get(&v.current).cloned().filter(|_| v.sort == Sort::Int));
            self.vars.push(Var { name, sort: v.sort, current: v.current, next: v.next, range });
        }
    }

    /// Adds the steps and their parameters. True if each step whose guard holds for some parameters
    /// can be completed with them.
    fn add_steps(&mut self, source: &System) -> bool {
        // A step whose guard holds can be completed, as nothing restricts the next state but the
        // ranges of inputs, which have a value.
        let inputs: Vec<Option<VarId>> =
            source.assumptions().iter().map(|a| input_range(source, a.term)).collect();
        let mut total = inputs.iter().all(Option::is_some);
        for t in source.transition_ids() {
            let transition = source.transition(t);
            for (index, p) in transition.params.iter().enumerate() {
                self.origins.params.push(Place::Param { transition: t, index });
                let original = format!("{}.{}", transition.name, p.name);
                let name = self.names.fit(&original);
                self.renamed.push((name.clone(), original));
                self.params.push((name, p.sort, p.symbol));
                let range = p.range.as_ref().filter(|_| p.sort == Sort::Int);
                self.param_ranges.push(range.map(|r| (r.low.clone(), r.high.clone())));
            }
            total &= transition.effect.iter().all(|e| match e {
                Effect::Constrain { .. } => false,
                Effect::Assign { var, .. } | Effect::Keep { var, .. } => {
                    !inputs.contains(&Some(*var))
                }
            });
            let guard = source.guard_term(&mut self.pool, t);
            let effect = source.effect_term(&mut self.pool, t);
            self.steps.push((transition.name.clone(), guard, effect));
        }
        self.completable = total && self.params.is_empty();
        total
    }

    /// Adds the selected claims that the form can express; the others are left out.
    fn add_claims(
        &mut self,
        source: &System,
        selection: Selection<'_>,
        structural: StructuralClaims,
        questions: &Questions<'_>,
    ) {
        let some = self.pool.or(self.steps.iter().map(|(_, guard, _)| *guard).collect::<Vec<_>>());
        let ended = self.pool.not(some);
        for (i, claim) in source
            .claims()
            .iter()
            .enumerate()
            .filter(|(i, _)| selection.includes(ClaimId::from(*i)))
        {
            let original = &questions.system.claims()[i];
            let is_structural = original.origin == ClaimOrigin::Structural;
            if is_structural && structural == StructuralClaims::LeftOut {
                self.left_out.push(claim.name.clone());
                continue;
            }
            let question = questions.property(&mut self.pool, &original.kind);
            let property = question.or_else(|| self.property(source, &claim.kind, ended));
            let quantified = |t: &TermId| self.pool.has_quantifier(*t);
            let property = property.filter(|p| match p {
                Property::Always(p)
                | Property::Reachable(p)
                | Property::InfiniteRun(p)
                | Property::AlwaysEventually(p) => !quantified(p),
                Property::Eventually(p, under) => !quantified(p) && !under.iter().any(quantified),
                Property::LeadsTo(p, q) => !quantified(p) && !quantified(q),
            });
            match property {
                Some(property) => {
                    let name = self.names.fit(&claim.name);
                    self.renamed.push((name.clone(), claim.name.clone()));
                    self.origins.claims.push(ClaimId::from(i));
                    self.claims.push((name, claim.name.clone(), property));
                }
                None => self.left_out.push(claim.name.clone()),
            }
        }
    }

    /// The property that a claim of the flat system is; `ended` holds where no guard does.
    fn property(&mut self, source: &System, claim: &ClaimKind, ended: TermId) -> Option<Property> {
        let mut at = |t| source.at_node(&mut self.pool, t, ONLY_NODE);
        match claim {
            ClaimKind::Always(p) => Some(Property::Always(at(*p))),
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => Some(Property::Reachable(at(*p))),
                _ => None,
            },
            ClaimKind::InfiniteRun if self.completable => Some(Property::InfiniteRun(ended)),
            ClaimKind::Eventually { goal, under } => {
                let justice = under.iter().map(|f| match source.fairness()[f.index()].kind {
                    FairnessKind::Justice(j) => Some(at(j)),
                    _ => None,
                });
                let under: Option<Vec<TermId>> = justice.collect();
                under.map(|under| Property::Eventually(at(*goal), under))
            }
            ClaimKind::AlwaysEventually { goal, under } if under.is_empty() => {
                Some(Property::AlwaysEventually(at(*goal)))
            }
            ClaimKind::LeadsTo { from, to, under } if under.is_empty() => {
                Some(Property::LeadsTo(at(*from), at(*to)))
            }
            _ => None,
        }
    }

    /// The map from names in the text to the system. Call it after the text is written.
    pub(crate) fn name_map(&self) -> NameMap {
        let vars = self.vars.iter().map(|v| v.name.clone()).zip(self.origins.vars.iter().copied());
        let params = self
            .params
            .iter()
            .map(|(name, _, _)| name.clone())
            .zip(self.origins.params.iter().copied());
        let ids = self.claims.iter().zip(&self.origins.claims);
        let claims = ids.filter(|((_, original, _), _)| !self.left_out.contains(original)).map(
            |((name, _, property), id)| WrittenClaim {
                name: name.clone(),
                claim: *id,
                opposite: property.is_opposite(),
                temporal: !matches!(property, Property::Always(_) | Property::Reachable(_)),
            },
        );
        NameMap {
            places: vars.chain(params).collect(),
            claims: claims.collect(),
            values: self.values.iter().map(|(name, id, k)| (name.clone(), (*id, *k))).collect(),
        }
    }

    /// The comment at the top of a text: origin, names, omitted claims.
    pub(crate) fn header(&self, comment: &str) -> String {
        let name = self.name.replace(['\n', '\r'], " ");
        let mut text = format!("{comment} `{name}`, written by gander export\n");
        text.push_str(&legend(comment, &self.renamed));
        text.push_str(
            &self.reading.as_ref().map_or(String::new(), |line| format!("{comment}{line}")),
        );
        for line in &self.assumed {
            text.push_str(&format!("{comment} {line}\n"));
        }
        text.push_str(&missing(comment, &self.left_out));
        text
    }

    /// Lists sentences as assumptions of the text.
    pub(crate) fn assume(&mut self, sentences: &[String]) {
        self.assumed.extend_from_slice(sentences);
    }

    /// A start constraint and all assumptions hold.
    pub(crate) fn first(&mut self) -> TermId {
        let any = self.pool.or(self.starts.clone());
        let monitors = self.monitors.first.clone();
        self.pool.and(std::iter::once(any).chain(self.assumptions.clone()).chain(monitors))
    }

    /// A step is taken, and all assumptions hold after it.
    pub(crate) fn relation(&mut self) -> TermId {
        let mut ways = Vec::new();
        for (_, guard, effect) in self.steps.clone() {
            ways.push(self.pool.and([guard, effect]));
        }
        if self.repeats {
            ways.push(self.repetition());
        }
        let any = self.pool.or(ways);
        let then: Vec<TermId> =
            self.assumptions.clone().into_iter().map(|a| self.primed(a)).collect();
        let monitors = self.monitors.step.clone();
        self.pool.and(std::iter::once(any).chain(then).chain(monitors))
    }

    /// No guard holds.
    pub(crate) fn ended(&mut self) -> TermId {
        let guards: Vec<TermId> = self.steps.iter().map(|(_, guard, _)| *guard).collect();
        let some = self.pool.or(guards);
        self.pool.not(some)
    }

    /// No guard holds, and the state stays as it is.
    fn repetition(&mut self) -> TermId {
        let mut stays = vec![self.ended()];
        // Monitor variables may still change.
        for v in self.vars.iter().take(self.origins.vars.len()) {
            let (now, next) = (self.pool.var(v.current), self.pool.var(v.next));
            stays.push(self.pool.eq(next, now));
        }
        self.pool.and(stays)
    }

    /// A formula about the next state.
    pub(crate) fn primed(&mut self, t: TermId) -> TermId {
        let mut map = FxHashMap::default();
        for v in &self.vars {
            let next = self.pool.var(v.next);
            map.insert(v.current, next);
        }
        self.pool.substitute(t, &map)
    }

    /// Invariants: the `Always` properties, and the negations of the `Reachable` ones.
    pub(crate) fn invariants(&mut self) -> Vec<(String, TermId)> {
        let mut found = Vec::new();
        for (name, original, property) in self.claims.clone() {
            match property {
                Property::Always(p) => found.push((name, p)),
                Property::Reachable(p) => found.push((name, self.pool.not(p))),
                _ if self.written.contains(&original) => {}
                _ => self.left_out.push(original),
            }
        }
        found
    }

    /// A comment for each claim whose negation is written: its verdict is the opposite of the
    /// property's.
    pub(crate) fn opposites(&self, comment: &str) -> String {
        let lines = self.claims.iter().filter_map(|(name, original, property)| {
            let word = match property {
                Property::Reachable(_) => "reachable",
                Property::InfiniteRun(_) => "infinite run",
                _ => return None,
            };
            let written = !self.left_out.contains(original);
            written.then(|| {
                format!("{comment} {name} is `{word}`: it holds if the property here is violated\n")
            })
        });
        lines.collect()
    }
}
