//! Transition systems as other tools write them: variables, initial states, a transition relation,
//! invariants, properties.
//!
//! A machine becomes a system with one node and one transition, or several if the relation is a
//! disjunction of steps. Variables that the relation does not determine are arbitrary. The claims
//! are exactly those of the file.
//!
//! Temporal properties of these files are about infinite runs, whereas the claims of a [`System`]
//! also count maximal finite runs. So these claims are checked on a system in which every run may
//! move to a node `ended` at any time, where the claims are satisfied: `F p` becomes *eventually p
//! or at `ended`*, under the fairness that the file states. If the relation is syntactically total,
//! the node `ended` is not needed.
//!
//! Inputs are state variables that no step keeps. In some languages inputs belong to steps: input
//! values without a step do not exist. For infinite runs this makes no difference. In these
//! languages an invariant that mentions inputs is about steps ([`PropertyKind::EveryStep`]): an
//! additional variable stores its value in the last step.

mod total;

use crate::diagnostics::span::Span;
use crate::smtlib::relation;
use gander_system::{
    BuildError, ClaimKind, ClaimOrigin, FairnessKind, NodeId, Numerals, Role, StateTerm, Structure,
    System, SystemBuilder, VarId,
};
use gander_term::{Pool, Sort, Substitution, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// A variable with the symbols that the formulas use for it.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub sort: Sort,
    pub current: SymbolId,
    /// The symbol of its next value; an input has none.
    pub next: Option<SymbolId>,
    pub numerals: Numerals,
    pub span: Option<Span>,
}

/// The meaning of a property.
#[derive(Clone, Debug)]
pub(crate) enum PropertyKind {
    /// Holds in every reachable state, for all inputs.
    Always(TermId),
    /// Holds in every step from a reachable state, with the inputs of the step.
    EveryStep(TermId),
    /// Holds at some time in every infinite run.
    Eventually(TermId),
    /// Holds infinitely often in every infinite run.
    AlwaysEventually(TermId),
    /// In every infinite run, the first is eventually followed by the second.
    LeadsTo(TermId, TermId),
    /// No infinite run satisfies each of these infinitely often; finite runs do not matter.
    NotInfinitelyOften(Vec<TermId>),
}

/// A property with its name and text.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub name: String,
    pub kind: PropertyKind,
    pub text: String,
    pub span: Option<Span>,
}

/// A transition system given by formulas.
#[derive(Clone)]
pub(crate) struct Machine {
    pub name: String,
    pub pool: Pool,
    pub variables: Vec<Variable>,
    pub init: Vec<TermId>,
    pub trans: Vec<TermId>,
    pub invariant: Vec<TermId>,
    pub properties: Vec<Property>,
}

/// A name with primes replaced, since a prime marks next values.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = name.replace('\'', "_prime");
    if plain.is_empty() { "_".to_string() } else { plain }
}

/// The name of a system: the name of its file, without folders and extension.
pub(crate) fn file_stem(file_name: &str) -> String {
    let stem = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let name = stem.rsplit_once('.').map_or(stem, |(name, _)| name);
    if name.is_empty() { "system".to_string() } else { name.to_string() }
}

/// An unused name similar to `wanted`.
pub(crate) fn unused_name(taken: &mut FxHashSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_string();
    let mut n = 1;
    while !taken.insert(name.clone()) {
        n += 1;
        name = format!("{wanted}_{n}");
    }
    name
}

/// The runs that a property is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    All,
    Infinite,
}

/// The node of all states of the machine.
const MAIN: NodeId = NodeId(0);
/// The node of runs that have ended, for [`Runs::Infinite`].
const ENDED: NodeId = NodeId(1);

impl Machine {
    /// The system, and a second one if some but not all properties are about infinite runs.
    pub(crate) fn build(mut self) -> Result<Vec<System>, BuildError> {
        let matters = |p: &Property| {
            !matches!(p.kind, PropertyKind::Always(_) | PropertyKind::NotInfinitelyOften(_))
        };
        let is_total = self.properties.iter().any(matters) && total::is_total(&self);
        let about_infinite = |p: &Property| match p.kind {
            PropertyKind::NotInfinitelyOften(_) => true,
            PropertyKind::Always(_) | PropertyKind::EveryStep(_) => false,
            _ => !is_total,
        };
        let (infinite, all): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.properties).into_iter().partition(about_infinite);
        if infinite.is_empty() || all.is_empty() {
            let runs = if infinite.is_empty() { Runs::All } else { Runs::Infinite };
            self.properties = if infinite.is_empty() { all } else { infinite };
            self.lower_step_properties(is_total);
            return Ok(vec![self.system(runs)?]);
        }
        let (mut first, mut second) = (self.clone(), self);
        first.properties = all;
        second.properties = infinite;
        first.lower_step_properties(is_total);
        Ok(vec![first.system(Runs::All)?, second.system(Runs::Infinite)?])
    }

    /// Turns properties of steps into properties of additional variables that store their value in
    /// the last step. If every state has a step for all inputs, they become properties of states.
    fn lower_step_properties(&mut self, is_total: bool) {
        for k in 0..self.properties.len() {
            let p = &self.properties[k];
            let PropertyKind::EveryStep(t) = p.kind else { continue };
            if is_total {
                self.properties[k].kind = PropertyKind::Always(t);
                continue;
            }
            let (name, span) = (format!("{}.held", p.name), p.span);
            let current = self.pool.declare_fresh(&name, Sort::Bool);
            let next = self.pool.declare_fresh(&format!("next({name})"), Sort::Bool);
            let (held, primed) = (self.pool.var(current), self.pool.var(next));
            self.init.push(held);
            let kept = self.pool.eq(primed, t);
            self.trans.push(kept);
            let numerals = Numerals::Unsigned;
            self.variables.push(Variable {
                name,
                sort: Sort::Bool,
                current,
                next: Some(next),
                numerals,
                span,
            });
            self.properties[k].kind = PropertyKind::Always(held);
        }
    }

    fn system(self, runs: Runs) -> Result<System, BuildError> {
        let nodes: &[(&str, Option<Span>)] = match runs {
            Runs::All => &[("main", None)],
            Runs::Infinite => &[("main", None), ("ended", None)],
        };
        let mut builder = SystemBuilder::new(&self.name, self.pool, nodes)?;
        builder.set_structure(Structure::Foreign);
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut next: FxHashMap<SymbolId, VarId> = FxHashMap::default();
        let mut names = FxHashSet::default();
        for v in &self.variables {
            let role = if v.next.is_some() { Role::State } else { Role::Input };
            let name = unused_name(&mut names, &plain_name(&v.name));
            let id = builder.var(&name, v.sort, role, None, v.span)?;
            builder.set_numerals(id, v.numerals);
            let made = builder.so_far().var(id);
            let (current, primed) = (made.current, made.next);
            map.insert(v.current, builder.pool.var(current));
            if let Some(symbol) = v.next {
                map.insert(symbol, builder.pool.var(primed));
            }
            next.insert(primed, id);
        }
        let mut renaming = Substitution::new(&mut builder.pool, &map);
        let mut rename =
            |builder: &mut SystemBuilder, t: TermId| renaming.apply(&mut builder.pool, t);
        let init: Vec<TermId> = self.init.iter().map(|t| rename(&mut builder, *t)).collect();
        let trans: Vec<TermId> = self.trans.iter().map(|t| rename(&mut builder, *t)).collect();
        for (k, t) in self.invariant.iter().enumerate() {
            let t = rename(&mut builder, *t);
            let formula = builder.state_formula(t, "an invariant")?;
            builder.assumption(&format!("constraint {}", k + 1), formula, None);
        }
        let start: Vec<(TermId, Option<Span>)> =
            relation::conjuncts(&builder.pool, &init).into_iter().map(|t| (t, None)).collect();
        builder.start("start", MAIN, &start, None)?;
        let ways = relation::ways(&builder.pool, &trans, &next);
        for (k, way) in ways.iter().enumerate() {
            let name = if ways.len() == 1 { "step".to_string() } else { format!("step {}", k + 1) };
            let mut draft = builder.transition(&name, None, MAIN, MAIN, None)?;
            let relation = relation::split(&mut builder.pool, way, &next);
            relation.write(&mut builder, &mut draft, |_| false)?;
            builder.add(draft)?;
        }
        if runs == Runs::Infinite {
            for (name, from) in [("end", MAIN), ("stay", ENDED)] {
                let mut draft = builder.transition(name, None, from, ENDED, None)?;
                for v in 0..self.variables.len() {
                    builder.keep(&mut draft, VarId::from(v));
                }
                builder.add(draft)?;
            }
        }
        let mut taken = FxHashSet::default();
        for p in &self.properties {
            let mut formula = |builder: &mut SystemBuilder, t: TermId| {
                let t = rename(builder, t);
                builder.state_formula(t, &p.name)
            };
            let kind = claim_kind(&mut builder, p, &mut formula, runs, &mut taken)?;
            let name = unused_name(&mut taken, &p.name);
            builder.claim(&name, kind, ClaimOrigin::Written, &p.text, p.span)?;
        }
        Ok(builder.finish())
    }
}

/// The claim of a property. For [`Runs::Infinite`], a run that has ended stays at [`ENDED`], and
/// that counts as reaching its goal.
fn claim_kind(
    builder: &mut SystemBuilder,
    p: &Property,
    formula: &mut dyn FnMut(&mut SystemBuilder, TermId) -> Result<StateTerm, BuildError>,
    runs: Runs,
    taken: &mut FxHashSet<String>,
) -> Result<ClaimKind, BuildError> {
    // The goal of a run, or that it has ended.
    let goal = |builder: &mut SystemBuilder, goal: StateTerm| match runs {
        Runs::All => Ok(goal),
        Runs::Infinite => {
            let over = at_node(builder, ENDED)?;
            let either = builder.pool.or([goal.term(), over.term()]);
            builder.state_formula(either, &p.name)
        }
    };
    Ok(match p.kind.clone() {
        PropertyKind::NotInfinitelyOften(formulas) => {
            let (mut under, mut made) = (Vec::new(), Vec::new());
            for t in formulas {
                made.push(formula(builder, t)?);
            }
            for (k, t) in made.into_iter().enumerate() {
                let name = unused_name(taken, &format!("{} again {}", p.name, k + 1));
                under.push(builder.fairness(&name, FairnessKind::Justice(t), p.span)?);
            }
            let goal = at_node(builder, ENDED)?;
            ClaimKind::Eventually { goal, under }
        }
        PropertyKind::Always(t) | PropertyKind::EveryStep(t) => {
            ClaimKind::Always(formula(builder, t)?)
        }
        PropertyKind::Eventually(t) => {
            let t = formula(builder, t)?;
            ClaimKind::Eventually { goal: goal(builder, t)?, under: Vec::new() }
        }
        PropertyKind::AlwaysEventually(t) => {
            let t = formula(builder, t)?;
            ClaimKind::AlwaysEventually { goal: goal(builder, t)?, under: Vec::new() }
        }
        PropertyKind::LeadsTo(from, to) => {
            let (from, to) = (formula(builder, from)?, formula(builder, to)?);
            let to = goal(builder, to)?;
            ClaimKind::LeadsTo { from, to, under: Vec::new() }
        }
    })
}

/// The formula that a state is at a node.
fn at_node(builder: &mut SystemBuilder, node: NodeId) -> Result<StateTerm, BuildError> {
    let location = builder.so_far().location();
    let here = builder.pool.var(location);
    let Sort::Enum(id) = builder.pool.symbol(location).sort else {
        unreachable!("@node is of an enumeration")
    };
    let there = builder.pool.constant(Value::Enum(id, node.0));
    let formula = builder.pool.eq(here, there);
    builder.state_formula(formula, "a node")
}
