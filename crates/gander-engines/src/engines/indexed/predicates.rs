//! Predicates about no, one or two instances of a family: the atoms of guards, effects and claims,
//! and values of enumerations.

use gander_system::{Effect, Family, Role, System, VarId};
use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::instances::replace;
use super::limits::LIMITS;

/// A predicate. Those of one group exclude each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Predicate {
    pub term: TermId,
    pub group: Option<u32>,
}

/// The predicates of a family. Terms mention the symbols `i` and `j` for instances.
pub(super) struct Predicates {
    pub i: TermId,
    pub j: TermId,
    pub globals: Vec<Predicate>,
    pub own: Vec<Predicate>,
    pub pairs: Vec<Predicate>,
    groups: u32,
    seen: FxHashSet<TermId>,
}

impl Predicates {
    /// The predicates about a family of the system.
    pub(super) fn of(system: &System, pool: &mut Pool, family: &Family) -> Predicates {
        let (i, j) = (pool.declare_fresh("i", Sort::Int), pool.declare_fresh("j", Sort::Int));
        let mut found = Predicates {
            i: pool.var(i),
            j: pool.var(j),
            globals: Vec::new(),
            own: Vec::new(),
            pairs: Vec::new(),
            groups: 0,
            seen: FxHashSet::default(),
        };
        found.values(system, pool, family);
        let frozen: Vec<SymbolId> =
            system.sizes().iter().map(|s| system.var(s.var).current).collect();
        found.assigned(system, pool, family);
        for root in roots(system) {
            found.atoms(system, pool, family, root, &frozen);
        }
        found.globals.truncate(LIMITS.predicates);
        found.own.truncate(LIMITS.predicates);
        found.pairs.truncate(LIMITS.pairs);
        found
    }

    /// Values of enumerations and bools.
    fn values(&mut self, system: &System, pool: &mut Pool, family: &Family) {
        for id in system.var_ids() {
            let v = system.var(id);
            if v.role == Role::Input {
                continue;
            }
            let whole = pool.var(v.current);
            let (term, sort, own) = match v.sort {
                Sort::Array(array) if family.arrays.contains(&id) => {
                    (pool.select(whole, self.i), array.element(), true)
                }
                sort => (whole, sort, false),
            };
            let mut terms = Vec::new();
            match sort {
                Sort::Bool => terms.push(term),
                Sort::Enum(e) => {
                    let count = pool.enumeration(e).variants.len();
                    for at in (0..count).filter(|_| count <= LIMITS.variants) {
                        let value = pool.constant(Value::Enum(e, at as u32));
                        terms.push(pool.eq(term, value));
                    }
                }
                // A sum over the family.
                Sort::Int if !own && v.name.contains(' ') => {
                    for n in [0, 1] {
                        let value = pool.int(n);
                        terms.push(pool.eq(term, value));
                    }
                }
                _ => {}
            }
            self.groups += 1;
            let group = (sort != Sort::Bool).then_some(self.groups);
            for term in terms {
                self.add(term, if own { 1 } else { 0 }, group);
            }
        }
    }

    fn add(&mut self, term: TermId, indices: usize, group: Option<u32>) {
        if self.seen.insert(term) {
            let list = match indices {
                0 => &mut self.globals,
                1 => &mut self.own,
                _ => &mut self.pairs,
            };
            list.push(Predicate { term, group });
        }
    }

    /// Equations with what is assigned: constants and indices.
    fn assigned(&mut self, system: &System, pool: &mut Pool, family: &Family) {
        for t in system.transitions() {
            let is_param = |s: SymbolId| t.params.iter().any(|p| p.symbol == s);
            for e in &t.effect {
                let Effect::Assign { var, value, .. } = *e else { continue };
                let mut target = pool.var(system.var(var).current);
                let mut value = value.term();
                let own = family.arrays.contains(&var);
                if own {
                    let (Op::Store, &[_, _, stored]) = (pool.op(value), pool.args(value)) else {
                        continue;
                    };
                    target = pool.select(target, self.i);
                    value = stored;
                }
                if pool.sort(value) != Sort::Int {
                    continue;
                }
                let constant = pool.as_constant(value).is_some();
                let index = pool.as_symbol(value).is_some_and(is_param);
                match (constant, index, own) {
                    (true, ..) => {
                        let term = pool.eq(target, value);
                        self.add(term, usize::from(own), None);
                    }
                    (_, true, false) => {
                        let term = pool.eq(target, self.i);
                        self.add(term, 1, None);
                    }
                    (_, true, true) => {
                        let term = pool.eq(target, self.j);
                        self.add(term, 2, None);
                    }
                    _ => {}
                }
            }
        }
    }

    fn atoms(
        &mut self,
        system: &System,
        pool: &mut Pool,
        family: &Family,
        root: TermId,
        frozen: &[SymbolId],
    ) {
        let state: FxHashMap<SymbolId, VarId> =
            system.var_ids().map(|v| (system.var(v).current, v)).collect();
        for t in pool.postorder(&[root]) {
            let is_atom =
                matches!(pool.op(t), Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Select)
                    && pool.sort(t) == Sort::Bool
                    && !pool.has_quantifier(t)
                    && !(pool.op(t) == Op::Eq && pool.sort(pool.args(t)[0]) == Sort::Bool);
            if !is_atom {
                continue;
            }
            let mut indices: Vec<TermId> = Vec::new();
            let mut arrays = Vec::new();
            let mut good = true;
            let mut only_sizes = true;
            for part in pool.postorder(&[t]) {
                let Some(symbol) = pool.as_symbol(part) else { continue };
                match state.get(&symbol) {
                    Some(&v) => {
                        only_sizes &= frozen.contains(&symbol);
                        good &= system.var(v).role == Role::State;
                        if matches!(pool.sort(part), Sort::Array(_)) {
                            arrays.push(v);
                        }
                    }
                    None if pool.sort(part) == Sort::Int => indices.push(part),
                    None => good = false,
                }
            }
            let foreign = |v: &VarId| !family.arrays.contains(v);
            if !good || only_sizes || indices.len() > 2 || arrays.iter().any(foreign) {
                continue;
            }
            match indices[..] {
                [] => self.add(t, 0, None),
                [x] => {
                    let term = replace(pool, t, &FxHashMap::from_iter([(x, self.i)]));
                    self.add(term, 1, None);
                }
                [x, y] => {
                    for (a, b) in [(self.i, self.j), (self.j, self.i)] {
                        let term = replace(pool, t, &FxHashMap::from_iter([(x, a), (y, b)]));
                        self.add(term, 2, None);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The formulas of the system.
fn roots(system: &System) -> Vec<TermId> {
    let mut all = Vec::new();
    for claim in system.claims() {
        match &claim.kind {
            gander_system::ClaimKind::Always(p) => all.push(p.term()),
            gander_system::ClaimKind::Reachable(goals) => {
                all.extend(goals.iter().filter_map(|g| match g {
                    gander_system::Goal::State(p) => Some(p.term()),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    for node in system.nodes() {
        all.extend(node.hints.iter().map(|h| h.term.term()));
    }
    for t in system.transitions() {
        all.extend(t.guard.iter().map(|g| g.term.term()));
        for e in &t.effect {
            match *e {
                Effect::Assign { value, .. } => all.push(value.term()),
                Effect::Constrain { relation, .. } => all.push(relation.term()),
                Effect::Keep { .. } => {}
            }
        }
    }
    for s in system.starts() {
        all.extend(s.constraint.iter().map(|c| c.term.term()));
    }
    all
}
