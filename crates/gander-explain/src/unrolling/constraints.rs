//! The constraints of a system: what its starts, states and steps satisfy, one constraint for each
//! element.
//!
//! A constraint belongs to a part, to an element that is no part and is always kept, or to the
//! control graph. The refutations of the first proof say which constraints they use; later queries
//! need only these.

use std::sync::Arc;

use gander_system::{ElementId, NodeId, System, VarId};
use gander_term::{Op, Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::parts::Parts;
use crate::unrolling::cone::{Restriction, restrictions};

/// Where a constraint applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// In the first state of a run.
    First,
    /// In every state.
    State,
    /// At every step.
    Step,
}

/// Where a constraint comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Owner {
    Part(usize),
    /// An element that is no part.
    NoPart,
    /// The control graph.
    Graph,
}

/// A formula that starts, states or steps satisfy.
pub(crate) struct Constraint {
    pub when: When,
    pub owner: Owner,
    pub element: Option<ElementId>,
    /// The formula asserted of a path: `said`, if the start or transition is taken.
    pub term: TermId,
    /// The formula about the start, state or step itself.
    pub said: TermId,
    /// The variable it defines: of the first state, or of the state after a step.
    pub defines: Option<VarId>,
    /// The variables it mentions of the state, or of the state after a step.
    pub here: Vec<VarId>,
    /// The variables it mentions of the state before a step.
    pub before: Vec<VarId>,
}

/// All constraints of a system.
pub(crate) struct Constraints {
    pub list: Vec<Constraint>,
    pub some_start: TermId,
    pub some_step: TermId,
    /// The symbol for the node after a step.
    pub next_node: SymbolId,
    /// Boolean symbols for the start and the transitions that a path takes.
    pub begins: Vec<SymbolId>,
    pub takes: Vec<SymbolId>,
    /// By variable: the constraints that define it, and those that define nothing and mention it.
    pub about: Vec<Vec<u32>>,
    /// The symbols of variables in a state, and in the state after a step.
    pub current: FxHashMap<SymbolId, VarId>,
    pub next: FxHashMap<SymbolId, VarId>,
    /// The restrictions on states.
    pub restrictions: Vec<Restriction>,
}

/// `symbol == node`
fn at_node(system: &System, pool: &mut Pool, symbol: SymbolId, node: NodeId) -> TermId {
    let (symbol, node) = (pool.var(symbol), system.node_constant(pool, node));
    pool.eq(symbol, node)
}

/// A formula without `@node` if there is only one node.
pub(crate) fn local(system: &System, pool: &mut Pool, term: TermId) -> TermId {
    if system.nodes().len() > 1 || !pool.free_symbols(&[term]).contains(&system.location()) {
        return term;
    }
    let here = system.node_constant(pool, NodeId(0));
    let map = FxHashMap::from_iter([(system.location(), here)]);
    pool.substitute(term, &map)
}

/// The symbol that a formula defines: `x == e`, `x` or `not x`.
pub(crate) fn defined_symbol(
    pool: &Pool,
    t: TermId,
    is_one: impl Fn(SymbolId) -> bool,
) -> Option<SymbolId> {
    let known = |t: TermId| pool.as_symbol(t).filter(|s| is_one(*s));
    match (pool.op(t), pool.args(t)) {
        (Op::Symbol(_), _) => known(t),
        (Op::Not, &[a]) => known(a),
        (Op::Eq, &[a, b]) => known(a).or_else(|| known(b)),
        _ => None,
    }
}

/// Collects constraints.
struct Collection<'a> {
    parts: &'a Parts,
    current: FxHashMap<SymbolId, VarId>,
    next: FxHashMap<SymbolId, VarId>,
    list: Vec<Constraint>,
}

impl Collection<'_> {
    /// Adds `condition -> term` for an element, or for the control graph if `element` is `None`.
    fn add(
        &mut self,
        pool: &mut Pool,
        when: When,
        element: Option<ElementId>,
        condition: Option<TermId>,
        term: TermId,
    ) {
        let owner = match element {
            None => Owner::Graph,
            Some(e) => self.parts.part_of(e).map_or(Owner::NoPart, Owner::Part),
        };
        let symbols = pool.free_symbols(&[term]);
        let vars = |of: &FxHashMap<SymbolId, VarId>| {
            symbols.iter().filter_map(|s| of.get(s).copied()).collect()
        };
        let (here, before, at) = match when {
            When::Step => (vars(&self.next), vars(&self.current), &self.next),
            When::First | When::State => (vars(&self.current), Vec::new(), &self.current),
        };
        // An assumption restricts variables and defines none.
        let defines = match when {
            When::State => None,
            _ => defined_symbol(pool, term, |s| at.contains_key(&s))
                .and_then(|s| at.get(&s).copied()),
        };
        let said = term;
        let term = condition.map_or(term, |c| pool.implies(c, term));
        self.list.push(Constraint { when, owner, element, term, said, defines, here, before });
    }
}

impl Constraints {
    /// The constraints of a system, over its symbols and fresh ones for the starts and transitions
    /// that a path takes.
    pub(crate) fn of(system: &Arc<System>, parts: &Parts, pool: &mut Pool) -> Constraints {
        let many = system.nodes().len() > 1;
        let next_node = pool.declare_fresh("@next", pool.symbol(system.location()).sort);
        let mut choices = |what: &str, n: usize| -> Vec<SymbolId> {
            (0..n).map(|i| pool.declare_fresh(&format!("@{what}.{i}"), Sort::Bool)).collect()
        };
        let begins = choices("begin", system.starts().len());
        let takes = choices("take", system.transitions().len());
        let by = |symbol: fn(&gander_system::StateVar) -> SymbolId| -> FxHashMap<SymbolId, VarId> {
            system.var_ids().map(|v| (symbol(system.var(v)), v)).collect()
        };
        let mut all = Collection {
            parts,
            current: by(|v| v.current),
            next: by(|v| v.next),
            list: Vec::new(),
        };
        for a in system.assumptions() {
            let term = local(system, pool, a.term.term());
            all.add(pool, When::State, Some(a.id), None, term);
        }
        for (s, &begin) in system.starts().iter().zip(&begins) {
            let begin = pool.var(begin);
            if many {
                let at = at_node(system, pool, system.location(), s.target);
                all.add(pool, When::First, None, Some(begin), at);
            }
            for e in &s.constraint {
                all.add(pool, When::First, Some(e.id), Some(begin), e.term.term());
            }
        }
        for (t, &take) in system.transitions().iter().zip(&takes) {
            let take = pool.var(take);
            if many {
                let at = at_node(system, pool, system.location(), t.source);
                let to = at_node(system, pool, next_node, t.target);
                let both = pool.and([at, to]);
                all.add(pool, When::Step, None, Some(take), both);
            }
            for e in &t.guard {
                all.add(pool, When::Step, Some(e.id), Some(take), e.term.term());
            }
            for e in &t.effect {
                let term = system.effect_part(pool, e);
                all.add(pool, When::Step, Some(e.id()), Some(take), term);
            }
        }
        let mut some = |symbols: &[SymbolId]| {
            let all: Vec<TermId> = symbols.iter().map(|&s| pool.var(s)).collect();
            pool.or(all)
        };
        let (some_start, some_step) = (some(&begins), some(&takes));
        let mut about: Vec<Vec<u32>> = vec![Vec::new(); system.vars().len()];
        for (i, constraint) in all.list.iter().enumerate() {
            match constraint.defines {
                Some(v) => about[v.index()].push(i as u32),
                None => constraint
                    .here
                    .iter()
                    .chain(&constraint.before)
                    .for_each(|v| about[v.index()].push(i as u32)),
            }
        }
        let Collection { list, current, next, .. } = all;
        let mut constraints = Constraints {
            list,
            some_start,
            some_step,
            next_node,
            begins,
            takes,
            about,
            current,
            next,
            restrictions: Vec::new(),
        };
        constraints.restrictions = restrictions(&constraints, pool);
        constraints
    }

    /// All formulas, for the choice of a solver.
    pub(crate) fn terms(&self) -> Vec<TermId> {
        self.list
            .iter()
            .map(|constraint| constraint.term)
            .chain([self.some_start, self.some_step])
            .collect()
    }
}
