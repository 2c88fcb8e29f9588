//! A transition system as other tools write it: variables, a first state, a relation, what always holds, properties.
//!
//! It becomes a system with one node and one transition, or several if the relation is a disjunction of steps. Nothing is kept implicitly: what the relation does not
//! determine is arbitrary. Claims are those of the file and no others.
//!
//! Temporal properties of these files are about infinite runs, and maximal runs that end count in a [`System`]. So these
//! claims are about a system where every run may leave for a node `ended` at any time, and is of no interest then: for `F p` it is
//! *eventually p or at `ended`*, under the fairness that the file states. Where the relation is evidently total there is no such node.
//!
//! Inputs are state variables that no step keeps. In some languages they belong to steps: an input that allows no step does
//! not exist there. Infinite runs have none. An invariant that mentions inputs is about steps in these languages
//! ([`Asked::EveryStep`]): a variable keeps what the last step made of it.

mod total;

use crate::smtlib::relation;
use crate::span::Span;
use gander_system::{
    BuildError, ClaimKind, ClaimOrigin, FairnessKind, NodeId, Numerals, Role, StateTerm, Structure, System,
    SystemBuilder, VarId,
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

/// What is asked.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    /// It holds in every reachable state, with any inputs.
    Always(TermId),
    /// It holds in every step from a reachable state, with the inputs of the step.
    EveryStep(TermId),
    /// It holds at some time in every infinite run.
    Eventually(TermId),
    /// It holds again and again in every infinite run.
    AlwaysEventually(TermId),
    /// In every infinite run the first is followed by the second.
    LeadsTo(TermId, TermId),
    /// No infinite run has each of these infinitely often; runs that end do not matter.
    NotForEver(Vec<TermId>),
}

/// A property with its name and text.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub name: String,
    pub asked: Asked,
    pub text: String,
    pub span: Option<Span>,
}

/// The system, as the formulas of a file say it.
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

/// A name without the prime that marks next values.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = name.replace('\'', "_prime");
    if plain.is_empty() { "_".to_string() } else { plain }
}

/// The name of a system: that of its file.
pub(crate) fn file_stem(file_name: &str) -> String {
    let stem = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let name = stem.rsplit_once('.').map_or(stem, |(name, _)| name);
    if name.is_empty() { "system".to_string() } else { name.to_string() }
}

/// A name that is not taken yet, near to the wanted one.
pub(crate) fn untaken(taken: &mut FxHashSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_string();
    let mut n = 1;
    while !taken.insert(name.clone()) {
        n += 1;
        name = format!("{wanted}_{n}");
    }
    name
}

/// What a machine is asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    All,
    Infinite,
}

impl Machine {
    /// The system; a second one if there are properties about infinite runs beside others.
    pub(crate) fn build(mut self) -> Result<Vec<System>, BuildError> {
        let matters = |p: &Property| !matches!(p.asked, Asked::Always(_) | Asked::NotForEver(_));
        let is_total = self.properties.iter().any(matters) && total::is_total(&self);
        let about_infinite = |p: &Property| match p.asked {
            Asked::NotForEver(_) => true,
            Asked::Always(_) | Asked::EveryStep(_) => false,
            _ => !is_total,
        };
        let (infinite, all): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.properties).into_iter().partition(about_infinite);
        if infinite.is_empty() || all.is_empty() {
            let runs = if infinite.is_empty() { Runs::All } else { Runs::Infinite };
            self.properties = if infinite.is_empty() { all } else { infinite };
            self.ask_of_steps(is_total);
            return Ok(vec![self.system(runs)?]);
        }
        let (mut first, mut second) = (self.clone(), self);
        first.properties = all;
        second.properties = infinite;
        first.ask_of_steps(is_total);
        Ok(vec![first.system(Runs::All)?, second.system(Runs::Infinite)?])
    }

    /// Makes properties of steps into properties of variables that keep what the last step made of them. Where every state
    /// has a step with any inputs, they are properties of states.
    fn ask_of_steps(&mut self, is_total: bool) {
        for k in 0..self.properties.len() {
            let p = &self.properties[k];
            let Asked::EveryStep(t) = p.asked else { continue };
            if is_total {
                self.properties[k].asked = Asked::Always(t);
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
            self.variables.push(Variable { name, sort: Sort::Bool, current, next: Some(next), numerals, span });
            self.properties[k].asked = Asked::Always(held);
        }
    }

    fn system(self, runs: Runs) -> Result<System, BuildError> {
        let nodes: &[(&str, Option<Span>)] = match runs {
            Runs::All => &[("main", None)],
            Runs::Infinite => &[("main", None), ("ended", None)],
        };
        let mut builder = SystemBuilder::new(&self.name, self.pool, nodes)?;
        builder.set_structure(Structure::Foreign);
        let (main, ended) = (NodeId::from(0), NodeId::from(1));
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut next: FxHashMap<SymbolId, VarId> = FxHashMap::default();
        let mut names = FxHashSet::default();
        for v in &self.variables {
            let role = if v.next.is_some() { Role::State } else { Role::Input };
            let name = untaken(&mut names, &plain_name(&v.name));
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
        let mut rename = |builder: &mut SystemBuilder, t: TermId| renaming.apply(&mut builder.pool, t);
        let init: Vec<TermId> = self.init.iter().map(|t| rename(&mut builder, *t)).collect();
        let trans: Vec<TermId> = self.trans.iter().map(|t| rename(&mut builder, *t)).collect();
        for (k, t) in self.invariant.iter().enumerate() {
            let t = rename(&mut builder, *t);
            let formula = builder.state_formula(t, "an invariant")?;
            builder.assumption(&format!("constraint {}", k + 1), formula, None);
        }
        let start: Vec<(TermId, Option<Span>)> =
            relation::conjuncts(&builder.pool, &init).into_iter().map(|t| (t, None)).collect();
        builder.start("start", main, &start, None)?;
        let ways = relation::ways(&builder.pool, &trans, &next);
        for (k, way) in ways.iter().enumerate() {
            let name = if ways.len() == 1 { "step".to_string() } else { format!("step {}", k + 1) };
            let mut draft = builder.transition(&name, None, main, main, None)?;
            let relation = relation::split(&mut builder.pool, way, &next);
            relation.write(&mut builder, &mut draft, |_| false)?;
            builder.add(draft)?;
        }
        if runs == Runs::Infinite {
            for (name, from) in [("end", main), ("stay", ended)] {
                let mut draft = builder.transition(name, None, from, ended, None)?;
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
            // What a run has to come to, if it does not end.
            let goal = |builder: &mut SystemBuilder, goal: StateTerm| match runs {
                Runs::All => Ok(goal),
                Runs::Infinite => {
                    let over = at_node(builder, ended)?;
                    let either = builder.pool.or([goal.term(), over.term()]);
                    builder.state_formula(either, &p.name)
                }
            };
            let kind = match p.asked.clone() {
                Asked::NotForEver(formulas) => {
                    let (mut under, mut made) = (Vec::new(), Vec::new());
                    for t in formulas {
                        made.push(formula(&mut builder, t)?);
                    }
                    for (k, t) in made.into_iter().enumerate() {
                        let name = untaken(&mut taken, &format!("{} again {}", p.name, k + 1));
                        under.push(builder.fairness(&name, FairnessKind::Justice(t), p.span)?);
                    }
                    let goal = at_node(&mut builder, ended)?;
                    ClaimKind::Eventually { goal, under }
                }
                Asked::Always(t) | Asked::EveryStep(t) => ClaimKind::Always(formula(&mut builder, t)?),
                Asked::Eventually(t) => {
                    let t = formula(&mut builder, t)?;
                    ClaimKind::Eventually { goal: goal(&mut builder, t)?, under: Vec::new() }
                }
                Asked::AlwaysEventually(t) => {
                    let t = formula(&mut builder, t)?;
                    ClaimKind::AlwaysEventually { goal: goal(&mut builder, t)?, under: Vec::new() }
                }
                Asked::LeadsTo(from, to) => {
                    let (from, to) = (formula(&mut builder, from)?, formula(&mut builder, to)?);
                    let to = goal(&mut builder, to)?;
                    ClaimKind::LeadsTo { from, to, under: Vec::new() }
                }
            };
            let name = untaken(&mut taken, &p.name);
            builder.claim(&name, kind, ClaimOrigin::Written, &p.text, p.span)?;
        }
        Ok(builder.finish())
    }
}

/// The formula that the run is at a node.
fn at_node(builder: &mut SystemBuilder, node: NodeId) -> Result<StateTerm, BuildError> {
    let location = builder.so_far().location;
    let here = builder.pool.var(location);
    let Sort::Enum(id) = builder.pool.symbol(location).sort else { unreachable!("@node is of an enumeration") };
    let there = builder.pool.constant(Value::Enum(id, node.0));
    let formula = builder.pool.eq(here, there);
    builder.state_formula(formula, "a node")
}
