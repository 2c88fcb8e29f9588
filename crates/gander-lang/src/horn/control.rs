//! Translates linear clauses to a control graph: a node for each predicate, with its arguments as
//! variables.
//!
//! At other nodes the variables of a predicate are 0 or false, so that equal states are not
//! distinguished by unused variables. In large systems predicates share variables of the same sort.

use super::clauses::{Applied, Clause};
use crate::machine::{plain_name, unused_name};
use crate::smtlib::relation::{self, solve};
use gander_system::{
    BuildError, ClaimKind, ClaimOrigin, NodeId, Role, Structure, System, SystemBuilder, VarId,
};
use gander_term::{Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of variables times clauses above which predicates share variables.
const MAX_ASSIGNMENTS: usize = 100_000;

struct Control<'a> {
    builder: SystemBuilder,
    predicates: &'a [(String, Vec<Sort>)],
    /// The node and the variables of each predicate that occurs.
    places: FxHashMap<usize, (NodeId, Vec<VarId>)>,
    /// The start node of facts with additional variables.
    begin: Option<NodeId>,
    /// The target nodes of queries with additional variables, one for each query.
    errors: FxHashMap<usize, NodeId>,
    starts: usize,
}

/// Builds the system.
pub(super) fn system(
    name: &str,
    pool: Pool,
    predicates: &[(String, Vec<Sort>)],
    clauses: &[Clause],
) -> Result<System, BuildError> {
    let mut used: Vec<usize> =
        clauses.iter().flat_map(|c| c.body.iter().chain(&c.head)).map(|(p, _)| *p).collect();
    used.sort_unstable();
    used.dedup();
    let mut names: Vec<String> = Vec::new();
    let mut taken = FxHashSet::default();
    for &p in &used {
        names.push(unused_name(&mut taken, &predicates[p].0));
    }
    let needs_begin = clauses.iter().any(|c| c.body.is_empty());
    let begin = needs_begin.then(|| NodeId::from(names.len()));
    if needs_begin {
        names.push(unused_name(&mut taken, "begin"));
    }
    let mut errors = FxHashMap::default();
    let mut pool = pool;
    for (k, c) in clauses.iter().enumerate().filter(|(_, c)| c.head.is_none()) {
        if needs_error_node(&mut pool, c) {
            errors.insert(k, NodeId::from(names.len()));
            names.push(unused_name(&mut taken, "error"));
        }
    }
    if names.is_empty() {
        names.push("empty".to_string());
    }
    let nodes: Vec<(&str, Option<gander_system::Span>)> =
        names.iter().map(|n| (n.as_str(), None)).collect();
    let mut builder = SystemBuilder::new(name, pool, &nodes)?;
    builder.set_structure(Structure::Foreign);
    let mut control =
        Control { builder, predicates, places: FxHashMap::default(), begin, errors, starts: 0 };
    control.variables(&used, clauses)?;
    control.begin()?;
    for (k, c) in clauses.iter().enumerate() {
        match &c.head {
            Some(head) => control.transition(k, c, Some(head))?,
            None if control.errors.contains_key(&k) => control.transition(k, c, None)?,
            None => {}
        }
    }
    control.claims(clauses)?;
    Ok(control.builder.finish())
}

/// True if a query has variables that are not arguments of its predicate, or has no predicate.
fn needs_error_node(pool: &mut Pool, c: &Clause) -> bool {
    let [(_, args)] = &c.body[..] else { return true };
    let given: FxHashSet<SymbolId> = args.iter().filter_map(|a| pool.as_symbol(*a)).collect();
    !pool.free_symbols(&c.terms()).iter().all(|s| given.contains(s))
}

fn zero(pool: &mut Pool, sort: Sort) -> TermId {
    pool.constant(sort.first_value())
}

impl Control<'_> {
    /// Declares the variables.
    fn variables(&mut self, used: &[usize], clauses: &[Clause]) -> Result<(), BuildError> {
        let count: usize = used.iter().map(|&p| self.predicates[p].1.len()).sum();
        if count.saturating_mul(clauses.len()) > MAX_ASSIGNMENTS {
            return self.shared_variables(used);
        }
        let names = self.names(clauses);
        let mut taken = FxHashSet::default();
        for (n, &p) in used.iter().enumerate() {
            let (name, sorts) = &self.predicates[p];
            let named = names.get(&p);
            let mut vars = Vec::new();
            for (i, sort) in sorts.iter().enumerate() {
                let plain =
                    named.map_or_else(|| format!("{name}.{i}"), |names| plain_name(&names[i]));
                let wanted = if used.len() > 1 && named.is_some() {
                    format!("{name}.{plain}")
                } else {
                    plain
                };
                vars.push(self.variable(&mut taken, &wanted, *sort)?);
            }
            self.places.insert(p, (NodeId::from(n), vars));
        }
        Ok(())
    }

    /// Names for the arguments of each predicate, taken from the first occurrence with distinct
    /// variables as arguments.
    fn names(&self, clauses: &[Clause]) -> FxHashMap<usize, Vec<String>> {
        let pool = &self.builder.pool;
        let mut names: FxHashMap<usize, Vec<String>> = FxHashMap::default();
        // The arguments of a query by name are not from the text.
        let clauses = clauses.iter().filter(|c| c.name.is_none());
        for (p, args) in clauses.flat_map(|c| c.body.iter().chain(&c.head)) {
            if names.contains_key(p) {
                continue;
            }
            let symbols: Option<Vec<SymbolId>> = args.iter().map(|a| pool.as_symbol(*a)).collect();
            if let Some(symbols) = symbols
                && symbols.iter().collect::<FxHashSet<_>>().len() == symbols.len()
            {
                names.insert(*p, symbols.iter().map(|s| pool.symbol(*s).name.clone()).collect());
            }
        }
        names
    }

    fn variable(
        &mut self,
        taken: &mut FxHashSet<String>,
        wanted: &str,
        sort: Sort,
    ) -> Result<VarId, BuildError> {
        // Quantified variables of the clauses may already use these names as symbols.
        let mut unique = unused_name(taken, wanted);
        while self.builder.pool.find_symbol(&unique).is_some()
            || self.builder.pool.find_symbol(&format!("{unique}'")).is_some()
        {
            unique = unused_name(taken, &format!("{wanted}."));
        }
        self.builder.var(&unique, sort, Role::State, None, None)
    }

    /// Declares variables that all predicates share, by sort and position: a state is at one node
    /// only.
    fn shared_variables(&mut self, used: &[usize]) -> Result<(), BuildError> {
        let mut taken = FxHashSet::default();
        let mut shared: FxHashMap<Sort, Vec<VarId>> = FxHashMap::default();
        for (n, &p) in used.iter().enumerate() {
            let mut vars = Vec::new();
            let mut counts: FxHashMap<Sort, usize> = FxHashMap::default();
            for &sort in &self.predicates[p].1 {
                let at = counts.entry(sort).or_default();
                if shared.get(&sort).is_none_or(|vars| vars.len() <= *at) {
                    let word = plain_name(&sort.name(&self.builder.pool));
                    let var = self.variable(&mut taken, &format!("{word}.{at}"), sort)?;
                    shared.entry(sort).or_default().push(var);
                }
                vars.push(shared[&sort][*at]);
                *at += 1;
            }
            self.places.insert(p, (NodeId::from(n), vars));
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), BuildError> {
        let Some(begin) = self.begin else { return Ok(()) };
        let mut all = Vec::new();
        for v in self.builder.so_far().var_ids() {
            let (sort, current) =
                (self.builder.so_far().var(v).sort, self.builder.so_far().var(v).current);
            let (x, value) = (self.builder.pool.var(current), zero(&mut self.builder.pool, sort));
            all.push((self.builder.pool.eq(x, value), None));
        }
        self.starts += 1;
        self.builder.set_entry(begin);
        self.builder.start("start", begin, &all, None)?;
        Ok(())
    }

    /// Maps variables of the clause to the variables of the predicate; other arguments become
    /// additional equations.
    fn bind(
        &mut self,
        applied: &Applied,
        next: bool,
        map: &mut FxHashMap<SymbolId, TermId>,
        more: &mut Vec<(TermId, TermId)>,
    ) {
        let vars = self.places[&applied.0].1.clone();
        for (var, arg) in vars.into_iter().zip(&applied.1) {
            let v = self.builder.so_far().var(var);
            let symbol = if next { v.next } else { v.current };
            let place = self.builder.pool.var(symbol);
            match self.builder.pool.as_symbol(*arg) {
                Some(s) if !map.contains_key(&s) => {
                    map.insert(s, place);
                }
                _ => more.push((place, *arg)),
            }
        }
    }

    fn transition(
        &mut self,
        number: usize,
        c: &Clause,
        head: Option<&Applied>,
    ) -> Result<(), BuildError> {
        let source = match (c.body.first(), self.begin) {
            (Some((p, _)), _) => self.places[p].0,
            (None, Some(begin)) => begin,
            (None, None) => return Ok(()),
        };
        let target = match head {
            Some((p, _)) => self.places[p].0,
            None => self.errors[&number],
        };
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut more = Vec::new();
        if let Some(applied) = c.body.first() {
            self.bind(applied, false, &mut map, &mut more);
        }
        if let Some(applied) = head {
            self.bind(applied, true, &mut map, &mut more);
        }
        let mut conjuncts = Vec::new();
        for (place, arg) in more {
            let arg = self.builder.pool.substitute(arg, &map);
            conjuncts.push(self.builder.pool.eq(place, arg));
        }
        for t in &c.constraint {
            conjuncts.push(self.builder.pool.substitute(*t, &map));
        }
        let mut next: FxHashMap<SymbolId, VarId> = FxHashMap::default();
        for v in self.builder.so_far().var_ids() {
            next.insert(self.builder.so_far().var(v).next, v);
        }
        // Eliminates variables of the clause that equal a known term; the others become parameters.
        let current: FxHashSet<SymbolId> =
            self.builder.so_far().var_ids().map(|v| self.builder.so_far().var(v).current).collect();
        let free = |pool: &Pool, terms: &[TermId]| -> Vec<SymbolId> {
            let symbols = pool.free_symbols(terms);
            symbols.into_iter().filter(|s| !current.contains(s) && !next.contains_key(s)).collect()
        };
        let locals = free(&self.builder.pool, &conjuncts);
        let mut unknown: FxHashSet<SymbolId> = locals.iter().copied().collect();
        unknown.extend(next.keys());
        let solved = solve(&mut self.builder.pool, &conjuncts, &unknown);
        let mut conjuncts = solved.rest;
        let mut values: Vec<(SymbolId, TermId)> = solved.values.into_iter().collect();
        values.sort_by_key(|(s, _)| *s);
        for (s, value) in values {
            if next.contains_key(&s) {
                let place = self.builder.pool.var(s);
                conjuncts.push(self.builder.pool.eq(place, value));
            }
        }
        let name = format!("clause {}", number + 1);
        let mut draft = self.builder.transition(&name, None, source, target, Some(c.span))?;
        let mut params: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        let mut taken = FxHashSet::default();
        for s in free(&self.builder.pool, &conjuncts) {
            let symbol = self.builder.pool.symbol(s).clone();
            let unique = unused_name(&mut taken, &symbol.name);
            let param = self.builder.param(&mut draft, &unique, symbol.sort, None)?;
            let term = self.builder.pool.var(param);
            params.insert(s, term);
        }
        let conjuncts: Vec<TermId> =
            conjuncts.iter().map(|t| self.builder.pool.substitute(*t, &params)).collect();
        let mut relation = relation::split(&mut self.builder.pool, &conjuncts, &next);
        // Set the variables of other predicates to 0.
        let here: FxHashSet<VarId> = head
            .map_or_else(FxHashSet::default, |(p, _)| self.places[p].1.iter().copied().collect());
        for v in self.builder.so_far().var_ids() {
            if !here.contains(&v) {
                let sort = self.builder.so_far().var(v).sort;
                let value = zero(&mut self.builder.pool, sort);
                relation.assignments.push((v, value));
            }
        }
        relation.write(&mut self.builder, &mut draft, |_| false)?;
        self.builder.add(draft)?;
        Ok(())
    }

    fn claims(&mut self, clauses: &[Clause]) -> Result<(), BuildError> {
        let location = self.builder.so_far().location();
        let Sort::Enum(nodes) = self.builder.pool.symbol(location).sort else { return Ok(()) };
        let queries: Vec<usize> =
            (0..clauses.len()).filter(|k| clauses[*k].head.is_none()).collect();
        for (number, &k) in queries.iter().enumerate() {
            let c = &clauses[k];
            let at = self.builder.pool.var(location);
            let formula = if let Some(error) = self.errors.get(&k) {
                let there = self.builder.pool.constant(Value::Enum(nodes, error.0));
                self.builder.pool.ne(at, there)
            } else {
                let mut map = FxHashMap::default();
                let mut more = Vec::new();
                self.bind(&c.body[0], false, &mut map, &mut more);
                let mut bad = Vec::new();
                for (place, arg) in more {
                    let arg = self.builder.pool.substitute(arg, &map);
                    bad.push(self.builder.pool.eq(place, arg));
                }
                for t in &c.constraint {
                    bad.push(self.builder.pool.substitute(*t, &map));
                }
                let node = self.places[&c.body[0].0].0;
                let there = self.builder.pool.constant(Value::Enum(nodes, node.0));
                let here = self.builder.pool.eq(at, there);
                bad.insert(0, here);
                let bad = self.builder.pool.and(bad);
                self.builder.pool.not(bad)
            };
            let formula = self.builder.state_formula(formula, "a query")?;
            let wanted = match &c.name {
                Some(name) if queries.len() == 1 => format!("no {name}"),
                Some(name) => format!("no {name} {}", number + 1),
                None if queries.len() == 1 => "safe".to_string(),
                None => format!("safe {}", number + 1),
            };
            let text = "the clause to false never applies";
            self.builder.claim(
                &wanted,
                ClaimKind::Always(formula),
                ClaimOrigin::Written,
                text,
                Some(c.span),
            )?;
        }
        Ok(())
    }
}
