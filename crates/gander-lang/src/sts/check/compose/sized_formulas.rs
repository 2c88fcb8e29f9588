//! Formulas about families whose size has no value: `f[i].x` is an element of an array, quantifiers
//! are quantifiers of the logic, and `count` and `sum` are variables with this value.

use super::super::data::Val;
use super::super::{Checker, Place};
use super::families::selected_family;
use super::instances::Instance;
use super::plan::Ranges;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::sts::format::one_line;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;
use gander_system::{Role, TransitionId, VarId};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The length up to which the name of a sum is made from its text.
const NAME_LENGTH: usize = 80;

/// The families of a system for all sizes, and the indices in scope.
#[derive(Default)]
pub(in crate::sts::check) struct SizedFamilies {
    pub(super) families: Vec<(String, Family)>,
    /// The constants without a value, with their ranges.
    pub(super) sizes: Vec<(TermId, IBig, Option<IBig>)>,
    /// Names of indices with their terms and the sizes of their families; inner ones last.
    pub(super) indices: Vec<(String, TermId, TermId)>,
    /// Conditions on the indices in scope.
    pub(super) conditions: Vec<TermId>,
    /// The sums that formulas mention: the family, the term over its placeholder, the variable.
    pub(super) sums: Vec<(usize, TermId, VarId)>,
    /// By transition: the parameters that are indices.
    pub(super) index_params: Vec<Vec<SymbolId>>,
}

/// A family.
pub(super) struct Family {
    /// Its position among the members of the composition.
    pub part: usize,
    pub size: TermId,
    /// Stands for the index of an instance.
    pub placeholder: SymbolId,
    /// The terms of its variables, over the placeholder.
    pub vars: Vec<(String, Val)>,
    /// The term of its node, over the placeholder.
    pub location: Option<TermId>,
    /// The formulas that the instance is at a node, over the placeholder.
    pub nodes: Vec<(String, TermId)>,
    /// Gates and names of transitions, with the transitions of the system, the condition under
    /// which an instance takes part, and its index.
    pub gates: Vec<(String, Vec<Taking>)>,
}

/// A transition of the system in which an instance of a family takes part: the condition, and the
/// index of the instance.
pub(super) type Taking = (TransitionId, Option<TermId>, Option<TermId>);

impl SizedFamilies {
    pub(in crate::sts::check) fn is_family(&self, name: &str) -> bool {
        self.family(name).is_some()
    }

    pub(super) fn family(&self, name: &str) -> Option<&Family> {
        self.families.iter().find(|(known, _)| known == name).map(|(_, family)| family)
    }

    /// The term of an index in scope.
    pub(in crate::sts::check) fn index_term(&self, name: &str) -> Option<TermId> {
        self.indices.iter().rev().find(|(known, ..)| known == name).map(|(_, term, _)| *term)
    }

    pub(in crate::sts::check) fn index_params(&self, transition: TransitionId) -> &[SymbolId] {
        self.index_params.get(transition.index()).map_or(&[], Vec::as_slice)
    }

    /// Positions of the families, by name.
    pub(super) fn positions(&self) -> FxHashMap<String, usize> {
        self.families.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect()
    }
}

impl Checker {
    /// True if a term is a constant that depends on the sizes.
    pub(in crate::sts::check) fn is_of_sizes(&self, term: TermId) -> bool {
        let Some(sized) = &self.sized else { return false };
        let free = self.builder.pool.free_symbols(&[term]);
        let is_size = |s: &SymbolId| {
            sized.sizes.iter().any(|(t, ..)| self.builder.pool.as_symbol(*t) == Some(*s))
        };
        !free.is_empty() && free.iter().all(is_size)
    }

    /// `forall i in f. P`, `exists i in f. P`, `count i in f. P`, `sum i in f. e`
    pub(super) fn sized_family_expression(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let word = tree::ident(node)?;
        let expressions: Vec<SyntaxNode> = tree::expressions(node).collect();
        let body = expressions.last()?.clone();
        let selected = |index: &str| selected_family(&body, index);
        let positions = self.sized.as_ref()?.positions();
        let ranges = match Ranges::of(node, &positions, &selected) {
            Ok(ranges) => ranges,
            Err(diagnostic) => {
                self.report(*diagnostic);
                return None;
            }
        };
        let adds = matches!(word.text(), "count" | "sum");
        if adds && ranges.names.len() != 1 {
            let message =
                format!("`{}` over a family whose size has no value takes one index", word.text());
            self.report(Diagnostic::new(Code::E0510, tree::span(node), message));
            return None;
        }
        let sized = self.sized.as_ref()?;
        let (outer, conditions) = (sized.indices.len(), sized.conditions.len());
        let mut bound = Vec::new();
        let mut inside = Vec::new();
        for (name, at) in &ranges.names {
            let (size, placeholder) = {
                let family = &self.sized.as_ref()?.families[*at].1;
                (family.size, family.placeholder)
            };
            let term = if adds {
                self.pool().var(placeholder)
            } else {
                let symbol = self.pool().declare_bound(name, Sort::Int);
                bound.push(symbol);
                self.pool().var(symbol)
            };
            inside.push(self.in_range(term, size));
            self.sized.as_mut()?.indices.push((name.clone(), term, size));
        }
        let place = self.place;
        let mut good = true;
        if let Some(condition) = &ranges.condition {
            match self.formula(condition, Place::Constant) {
                Some(term) => inside.push(term),
                None => good = false,
            }
        }
        self.place = place;
        for (a, b) in ranges.different() {
            let terms = [a, b].map(|at| self.sized.as_ref().map(|s| s.indices[outer + at].1));
            if let [Some(a), Some(b)] = terms {
                inside.push(self.pool().ne(a, b));
            }
        }
        self.sized.as_mut()?.conditions.extend(inside.iter().copied());
        let term = if good { self.family_body(&body, word.text()) } else { None };
        let sized = self.sized.as_mut()?;
        sized.indices.truncate(outer);
        sized.conditions.truncate(conditions);
        let term = term?;
        let pool = self.pool();
        match word.text() {
            "forall" => {
                let inside = pool.and(inside);
                let body = pool.implies(inside, term);
                Some(pool.forall(&bound, body))
            }
            "exists" => {
                inside.push(term);
                let body = pool.and(inside);
                Some(pool.exists(&bound, body))
            }
            word => {
                let sort = if word == "count" { Sort::Int } else { pool.sort(term) };
                let (zero, one) = match sort {
                    Sort::Real => (pool.real(0), pool.real(1)),
                    _ => (pool.int(0), pool.int(1)),
                };
                let value = if word == "count" { pool.ite(term, one, zero) } else { term };
                // The first conjunct is the range of the index.
                let condition = pool.and(inside.into_iter().skip(1));
                let value = pool.ite(condition, value, zero);
                self.sum_of(node, ranges.names[0].1, value)
            }
        }
    }

    /// The variable that is the sum of a term over a family.
    fn sum_of(&mut self, node: &SyntaxNode, family: usize, value: TermId) -> Option<TermId> {
        let sized = self.sized.as_ref()?;
        let family = &sized.families[family].1;
        let (part, own) = (family.part, family.placeholder);
        if let Some((.., var)) = sized.sums.iter().find(|(p, t, _)| (*p, *t) == (part, value)) {
            let symbol = self.builder.so_far().var(*var).current;
            return Some(self.pool().var(symbol));
        }
        // An index or parameter from outside would need a variable for each of its values.
        let free = self.builder.pool.free_symbols(&[value]);
        let is_current = |s: &SymbolId| {
            *s == own || self.builder.so_far().vars().iter().any(|v| v.current == *s)
        };
        let outer = sized.indices.iter().filter_map(|(_, t, _)| self.builder.pool.as_symbol(*t));
        let all = self.builder.pool.postorder(&[value]);
        let mentioned: Vec<SymbolId> =
            all.iter().filter_map(|t| self.builder.pool.as_symbol(*t)).collect();
        let nested = outer.into_iter().any(|s| s != own && mentioned.contains(&s));
        if nested || !free.iter().all(is_current) {
            let message = "a sum over a family whose size has no value cannot depend on an outer index or a parameter";
            let diagnostic = Diagnostic::new(Code::E0510, tree::span(node), message)
                .help("check it for some sizes: `--const N=3`");
            self.report(diagnostic);
            return None;
        }
        let sort = self.builder.pool.sort(value);
        let stem = one_line(node, NAME_LENGTH);
        let mut name = stem.clone();
        let mut number = 2;
        while self.builder.so_far().vars().iter().any(|v| v.name == name) {
            name = format!("{stem} ({number})");
            number += 1;
        }
        match self.builder.var(&name, sort, Role::State, None, Some(tree::span(node))) {
            Ok(var) => {
                self.sized.as_mut()?.sums.push((part, value, var));
                let symbol = self.builder.so_far().var(var).current;
                Some(self.pool().var(symbol))
            }
            Err(error) => {
                self.internal(error, tree::span(node));
                None
            }
        }
    }

    fn in_range(&mut self, index: TermId, size: TermId) -> TermId {
        let pool = self.pool();
        let zero = pool.int(0);
        let (low, high) = (pool.le(zero, index), pool.lt(index, size));
        pool.and([low, high])
    }

    /// The index term of `f[i]`, with the position of the family.
    pub(super) fn sized_index(&mut self, node: &SyntaxNode) -> Option<(usize, TermId)> {
        let parts: Vec<SyntaxNode> = tree::expressions(node).collect();
        let (base, index) = (parts.first()?, parts.get(1)?);
        let token = tree::ident(base).filter(|_| base.kind() == K::NameExpr)?;
        let at = *self.sized.as_ref()?.positions().get(token.text())?;
        let term = self.sized_index_term(at, index)?;
        Some((at, term))
    }

    /// An index of the family at this position.
    pub(super) fn sized_index_term(&mut self, at: usize, index: &SyntaxNode) -> Option<TermId> {
        let place = std::mem::replace(&mut self.place, Place::Constant);
        let term = self.expression(index, Some(Sort::Int));
        self.place = place;
        let term = self.expect_sort(term?, Sort::Int, index)?;
        let (name, size) = {
            let (name, family) = &self.sized.as_ref()?.families[at];
            (name.clone(), family.size)
        };
        let found = self.within_family(term, size);
        if found.is_none() {
            let message = format!("this may be outside of the family `{name}`, for some size");
            let diagnostic = Diagnostic::new(Code::E0705, tree::span(index), message)
                .help("restrict the index with `where`, or use `mod` with the size of the family");
            self.report(diagnostic);
        }
        found
    }

    /// The term, if it is an index of a family of this size for all sizes. `(i + 1) mod N` becomes
    /// `if i + 1 < N then i + 1 else i + 1 - N`.
    fn within_family(&mut self, term: TermId, size: TermId) -> Option<TermId> {
        let sized = self.sized.as_ref()?;
        let pool = &self.builder.pool;
        let mut facts: Vec<Linear> = Vec::new();
        for (_, index, size) in &sized.indices {
            let (index, size) = (Linear::of(pool, *index), Linear::of(pool, *size));
            facts.push(index.clone());
            facts.push(size.minus(&index).plus_constant(-1));
        }
        for (size, low, high) in &sized.sizes {
            let size = Linear::of(pool, *size);
            facts.push(size.minus(&Linear::constant(low)));
            facts.extend(high.as_ref().map(|high| Linear::constant(high).minus(&size)));
        }
        for &condition in &sized.conditions {
            facts_of(pool, condition, &mut facts);
        }
        let whole = Linear::of(pool, size);
        facts.push(whole.plus_constant(-1));
        let same_size = match (pool.op(term), pool.args(term)) {
            (Op::Mod, &[dividend, divisor]) if divisor == size => Some(dividend),
            _ => None,
        };
        let Some(dividend) = same_size else {
            let index = Linear::of(pool, term);
            let inside =
                follows(&facts, &index) && follows(&facts, &whole.minus(&index).plus_constant(-1));
            return inside.then_some(term);
        };
        let index = Linear::of(pool, dividend);
        let below_twice = whole.plus(&whole).minus(&index).plus_constant(-1);
        let at_least_minus = index.plus(&whole);
        let below = whole.minus(&index).plus_constant(-1);
        let around = if follows(&facts, &index) && follows(&facts, &below_twice) {
            let pool = self.pool();
            let small = pool.lt(dividend, size);
            let less = pool.sub(dividend, size);
            pool.ite(small, dividend, less)
        } else if follows(&facts, &at_least_minus) && follows(&facts, &below) {
            let pool = self.pool();
            let zero = pool.int(0);
            let large = pool.le(zero, dividend);
            let more = pool.add(dividend, size);
            pool.ite(large, dividend, more)
        } else {
            term
        };
        Some(around)
    }

    /// For an index `(i + c) mod N` of a family of size `N`, where `i` is an index of such a
    /// family: `i`, and its value if the index is `placeholder`.
    pub(super) fn inverse_of(
        &mut self,
        at: usize,
        index: &SyntaxNode,
        placeholder: TermId,
    ) -> Option<(SymbolId, TermId)> {
        self.place = Place::Constant;
        let term = self.expression(index, Some(Sort::Int))?;
        let size = self.sized.as_ref()?.families[at].1.size;
        let pool = &self.builder.pool;
        let (Op::Mod, &[dividend, divisor]) = (pool.op(term), pool.args(term)) else { return None };
        if divisor != size {
            return None;
        }
        // Multiples of the size do not matter.
        let mut sum = Linear::of(pool, dividend);
        sum.terms.remove(&size);
        let (&own, factor) = sum.terms.iter().next()?;
        let known = self.sized.as_ref()?.indices.iter().any(|(_, t, s)| (*t, *s) == (own, size));
        if sum.terms.len() != 1 || *factor != IBig::from(1) || !known {
            return None;
        }
        let symbol = pool.as_symbol(own)?;
        // `(placeholder - c) mod N`, without `mod` if `c` is less than every size.
        let least = self.sized.as_ref()?.sizes.iter().find(|(t, ..)| *t == size);
        let least = least.map_or(IBig::from(1), |(_, low, _)| low.clone());
        let offset = sum.constant;
        let pool = self.pool();
        let shift = pool.int(offset.clone());
        let back = pool.sub(placeholder, shift);
        let zero = pool.int(0);
        let value = if offset >= IBig::from(0) && offset <= least {
            let large = pool.le(zero, back);
            let more = pool.add(back, size);
            pool.ite(large, back, more)
        } else if offset < IBig::from(0) && -offset <= least {
            let small = pool.lt(back, size);
            let less = pool.sub(back, size);
            pool.ite(small, back, less)
        } else {
            pool.mk(Op::Mod, &[back, size]).ok()?
        };
        Some((symbol, value))
    }

    /// The instance `f[i]`, made known under its text.
    pub(super) fn sized_instance(&mut self, node: &SyntaxNode) -> Option<String> {
        let (at, index) = self.sized_index(node)?;
        let name = one_line(node, NAME_LENGTH);
        let family = &self.sized.as_ref()?.families[at].1;
        let placeholder = family.placeholder;
        let (vars, nodes, location, gates) =
            (family.vars.clone(), family.nodes.clone(), family.location, family.gates.clone());
        let map = FxHashMap::from_iter([(placeholder, index)]);
        let pool = self.pool();
        let mut here = |term: TermId| pool.substitute(term, &map);
        let instance = Instance {
            vars: vars.into_iter().map(|(name, value)| (name, value.map(&mut here))).collect(),
            nodes: nodes.into_iter().map(|(name, term)| (name, here(term))).collect(),
            location: location.map(here),
        };
        self.instances.insert(name.clone(), instance);
        for (gate, list) in gates {
            let full = format!("{name}.{gate}");
            let mut steps = Vec::new();
            for (step, condition, own) in list {
                // A receiver has no index of its own: its condition is about some instance.
                let Some(own) = own else { continue };
                let same = self.pool().eq(own, index);
                let condition = self.pool().and(condition.into_iter().chain([same]));
                self.graph.conditions.insert((full.clone(), step), vec![condition]);
                steps.push(step);
            }
            steps.sort_unstable();
            steps.dedup();
            self.graph.gates.insert(full, steps);
        }
        Some(name)
    }
}

/// A sum of terms with factors, and a constant.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Linear {
    terms: BTreeMap<TermId, IBig>,
    constant: IBig,
}

impl Linear {
    fn constant(value: &IBig) -> Linear {
        Linear { terms: BTreeMap::new(), constant: value.clone() }
    }

    /// The form of an int; what is not linear counts as unknown.
    fn of(pool: &Pool, term: TermId) -> Linear {
        let mut sum = Linear::default();
        let mut work = vec![(term, IBig::from(1))];
        while let Some((t, factor)) = work.pop() {
            let args = pool.args(t);
            match (pool.op(t), pool.as_constant(t)) {
                (_, Some(Value::Int(value))) => sum.constant += factor * value,
                (Op::Add, _) => work.extend(args.iter().map(|&a| (a, factor.clone()))),
                (Op::Sub, _) => {
                    let (first, rest) = args.split_at(1);
                    work.push((first[0], factor.clone()));
                    work.extend(rest.iter().map(|&a| (a, -factor.clone())));
                }
                (Op::Neg, _) => work.push((args[0], -factor)),
                (Op::Mul, _) if args.len() == 2 => {
                    let constants = [pool.as_constant(args[0]), pool.as_constant(args[1])];
                    match constants {
                        [Some(Value::Int(a)), _] => work.push((args[1], factor * a)),
                        [_, Some(Value::Int(b))] => work.push((args[0], factor * b)),
                        _ => sum.add_term(t, factor),
                    }
                }
                _ => sum.add_term(t, factor),
            }
        }
        sum
    }

    fn add_term(&mut self, term: TermId, factor: IBig) {
        let now = self.terms.entry(term).or_default();
        *now += factor;
        if *now == IBig::from(0) {
            self.terms.remove(&term);
        }
    }

    fn plus(&self, other: &Linear) -> Linear {
        let mut sum = self.clone();
        sum.constant += &other.constant;
        for (term, factor) in &other.terms {
            sum.add_term(*term, factor.clone());
        }
        sum
    }

    fn minus(&self, other: &Linear) -> Linear {
        let terms = other.terms.iter().map(|(t, f)| (*t, -f.clone())).collect();
        self.plus(&Linear { terms, constant: -other.constant.clone() })
    }

    fn plus_constant(&self, value: i32) -> Linear {
        let mut sum = self.clone();
        sum.constant += IBig::from(value);
        sum
    }
}

/// Adds the forms that a condition says to be at least 0.
fn facts_of(pool: &Pool, condition: TermId, facts: &mut Vec<Linear>) {
    let mut work = vec![condition];
    while let Some(t) = work.pop() {
        let args = pool.args(t);
        let (less, strict) = match pool.op(t) {
            Op::And => {
                work.extend_from_slice(args);
                continue;
            }
            Op::Lt => ((args[0], args[1]), true),
            Op::Le => ((args[0], args[1]), false),
            Op::Gt => ((args[1], args[0]), true),
            Op::Ge => ((args[1], args[0]), false),
            Op::Eq if pool.sort(args[0]) == Sort::Int => {
                let (a, b) = (Linear::of(pool, args[0]), Linear::of(pool, args[1]));
                facts.extend([a.minus(&b), b.minus(&a)]);
                continue;
            }
            _ => continue,
        };
        if pool.sort(less.0) == Sort::Int {
            let form = Linear::of(pool, less.1).minus(&Linear::of(pool, less.0));
            facts.push(form.plus_constant(-i32::from(strict)));
        }
    }
}

/// True if `goal >= 0` follows from a sum of at most three of the facts.
fn follows(facts: &[Linear], goal: &Linear) -> bool {
    // `-goal - 1 >= 0` and the facts must add up to something negative.
    let negated = Linear::default().minus(goal).plus_constant(-1);
    let refuted = |sum: &Linear| sum.terms.is_empty() && sum.constant < IBig::from(0);
    let mut level = vec![(negated, 0)];
    for _ in 0..=3 {
        if level.iter().any(|(sum, _)| refuted(sum)) {
            return true;
        }
        let more = level
            .iter()
            .flat_map(|(sum, from)| (*from..facts.len()).map(move |at| (sum.plus(&facts[at]), at)));
        level = more.collect();
    }
    false
}
