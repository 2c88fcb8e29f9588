//! Enumerations, constants, definitions, variables, ranges.

use super::data::{Ty, Val};
use super::names::{Definition, NameKind};
use super::{Checker, Graph, Local, Names, Place, Spec, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;
use gander_system::{NodeId, Range, Role, SystemBuilder};
use gander_term::{EnumId, IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

/// The name of the single node of a specification without nodes.
pub(super) const ONLY_NODE: &str = "main";

/// Bounds of a range, as constants of the variable's sort.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub low: TermId,
    pub high: TermId,
    /// The bounds as integers, if they are integers.
    pub whole: Option<Range>,
}

/// A checker with the enumerations and nodes of a specification.
pub(super) fn open(spec: &Spec) -> Option<Checker> {
    let mut pool = Pool::new();
    let mut diagnostics = Vec::new();
    let mut names = Names::default();
    for item in spec.items.iter().filter(|item| item.kind() == K::EnumDecl) {
        declare_enum(item, &mut pool, &mut names, &mut diagnostics);
    }
    let mut graph = Graph::default();
    let mut nodes: Vec<(String, Span)> = Vec::new();
    let mut finals = Vec::new();
    for item in spec.items.iter().filter(|item| item.kind() == K::NodeDecl) {
        let is_final = tree::ident(item).is_some_and(|word| word.text() == "final");
        for token in tree::names(item) {
            let (name, span) = (text(&token), tree::token_span(&token));
            if let Some(first) = graph.nodes.get(&name) {
                let first = graph.node_spans[first.index()];
                diagnostics.push(duplicate(&name, span, first));
                continue;
            }
            let id = NodeId::from(nodes.len());
            graph.nodes.insert(name.clone(), id);
            graph.node_spans.push(span);
            nodes.push((name, span));
            if is_final {
                finals.push(id);
            }
        }
    }
    if nodes.is_empty() {
        graph.nodes.insert(ONLY_NODE.to_owned(), NodeId::from(0));
        graph.node_spans.push(spec.span);
        nodes.push((ONLY_NODE.to_owned(), spec.span));
    }
    let listed: Vec<(&str, Option<Span>)> =
        nodes.iter().map(|(name, span)| (name.as_str(), Some(*span))).collect();
    let mut builder = SystemBuilder::new(&spec.name, pool, &listed).ok()?;
    finals.into_iter().for_each(|node| builder.set_final(node));
    let errors = diagnostics.len();
    let checker = Checker::new(builder, names)?;
    Some(Checker { errors, diagnostics, graph, ..checker })
}

fn duplicate(name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::E0201, span, format!("`{name}` is declared twice"))
        .here("declared again here")
        .label(first, "first declared here")
        .help("rename one of them, or remove it")
}

fn declare_enum(
    item: &SyntaxNode,
    pool: &mut Pool,
    names: &mut Names,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut tokens = tree::names(item);
    let Some(token) = tokens.next() else { return };
    let (name, span) = (text(&token), tree::token_span(&token));
    let mut values: Vec<(String, Span)> = Vec::new();
    let mut seen: FxHashMap<String, Span> = FxHashMap::default();
    for value in tokens {
        let (value, span) = (text(&value), tree::token_span(&value));
        match seen.get(&value) {
            Some(first) => diagnostics.push(duplicate(&value, span, *first)),
            None => {
                seen.insert(value.clone(), span);
                values.push((value, span));
            }
        }
    }
    if let Some(earlier) = names.get(&name) {
        diagnostics.push(duplicate(&name, span, earlier.span));
        return;
    }
    let listed: Vec<&str> = values.iter().map(|(value, _)| value.as_str()).collect();
    if listed.is_empty() {
        let diagnostic =
            Diagnostic::new(Code::E0503, span, format!("the enumeration `{name}` has no values"))
                .help(format!("write for example `enum {name} {{ First, Second }}`"));
        diagnostics.push(diagnostic);
        names.values_unknown = true;
        names.insert(name, NameKind::Broken, span);
        return;
    }
    let Ok(id) = pool.declare_enum(&name, &listed) else { return };
    names.insert(name, NameKind::Sort(id), span);
    for (at, (value, span)) in values.into_iter().enumerate() {
        declare_value(names, diagnostics, value, (id, at as u32), span);
    }
}

/// Several enumerations may share a value; a name that is also something else is an error.
fn declare_value(
    names: &mut Names,
    diagnostics: &mut Vec<Diagnostic>,
    value: String,
    which: (EnumId, u32),
    span: Span,
) {
    match names.get(&value).map(|found| (found.kind.clone(), found.span)) {
        Some((NameKind::Values(mut values), _)) => {
            values.push(which);
            names.set(&value, NameKind::Values(values));
        }
        Some((_, first)) => diagnostics.push(duplicate(&value, span, first)),
        None => names.insert(value, NameKind::Values(vec![which]), span),
    }
}

impl Checker {
    /// Declares constants, variables and definitions. Names are declared first, so that a constant
    /// that mentions a variable gets the right message.
    pub(super) fn declarations(&mut self, spec: &Spec) {
        for (name, value) in &spec.given {
            let term = self.pool().int(value.clone());
            self.given.entry(name.clone()).or_insert(term);
        }
        let variables = |item: &&SyntaxNode| matches!(item.kind(), K::VarDecl | K::InputDecl);
        for item in spec.items.iter().filter(variables) {
            for token in tree::names(item) {
                self.declare(token.text(), NameKind::Pending, tree::token_span(&token));
            }
        }
        let ordered = self.definitions_in_order(spec);
        self.declare_types(&spec.items);
        let foreign = std::mem::take(&mut self.foreign_types);
        self.known_types(&foreign);
        for item in ordered.iter().filter(|item| item.kind() == K::ConstDecl) {
            let kind = self.constant(item).unwrap_or(NameKind::Broken);
            self.define(item, kind);
        }
        self.declare_field_bounds(&spec.items);
        for item in spec.items.iter().filter(variables) {
            self.variables(item);
        }
        for item in ordered.iter().filter(|item| item.kind() == K::DefineDecl) {
            let kind = self.definition(item).unwrap_or(NameKind::Broken);
            self.define(item, kind);
        }
    }

    /// `final when P`: the states in which runs may end, beside final nodes.
    pub(super) fn final_conditions(&mut self, spec: &Spec) {
        let mut parts = Vec::new();
        for item in spec.items.iter().filter(|item| item.kind() == K::FinalDecl) {
            let formula = tree::expression(item);
            parts.extend(formula.and_then(|formula| self.formula(&formula, Place::Claim)));
        }
        if parts.is_empty() {
            return;
        }
        let any = self.pool().or(parts);
        match self.builder.state_formula(any, "final") {
            Ok(formula) => self.builder.set_final_condition(formula),
            Err(error) => self.internal(error, spec.span),
        }
    }

    fn define(&mut self, item: &SyntaxNode, kind: NameKind) {
        if let Some(token) = tree::name(item) {
            self.names.set(token.text(), kind);
        }
    }

    fn variables(&mut self, item: &SyntaxNode) {
        let role = if item.kind() == K::VarDecl { Role::State } else { Role::Input };
        self.place = Place::Constant;
        let ty = self.type_of(item);
        if let Some(ty @ Ty::Parts(..)) = &ty {
            return self.variables_of_parts(item, ty, role);
        }
        let sort = ty.and_then(|ty| ty.sort());
        let bounds = sort.and_then(|sort| self.bounds(item, sort));
        for token in tree::names(item) {
            let (name, span) = (text(&token), tree::token_span(&token));
            // A second declaration of the name was already reported.
            if self.names.get(&name).is_none_or(|known| known.span != span) {
                continue;
            }
            let Some(sort) = sort else {
                self.names.set(&name, NameKind::Broken);
                continue;
            };
            let whole = bounds.as_ref().and_then(|bounds| bounds.whole.clone());
            match self.builder.var(&name, sort, role, whole, Some(span)) {
                Ok(id) => {
                    self.names.set(&name, NameKind::Var(id));
                    if let Some(bounds) = bounds.as_ref().filter(|bounds| bounds.whole.is_none()) {
                        self.fractional_range(id, bounds, span);
                    }
                }
                Err(error) => self.internal(error, span),
            }
        }
    }

    /// Variables of several parts.
    fn variables_of_parts(&mut self, item: &SyntaxNode, ty: &Ty, role: Role) {
        let good = tree::child(item, K::SortRef)
            .and_then(|sort| self.no_ranges_inside(ty, tree::span(&sort)));
        for token in tree::names(item) {
            let (name, span) = (text(&token), tree::token_span(&token));
            // A second declaration of the name was already reported.
            if self.names.get(&name).is_none_or(|known| known.span != span) {
                continue;
            }
            self.names.set(&name, NameKind::Broken);
            if good.is_none() {
                continue;
            }
            let Some(first) = self.declare_parts(&name, ty, role, span) else { continue };
            let shape = ty.shape();
            let value = self.current_value(&shape, first);
            let Some(ranges) = self.ranges(item, &value) else { continue };
            for range in ranges {
                let id = gander_system::VarId::from(first.index() + range.part);
                let within = self.within(self.builder.so_far().var(id).current, &range.bounds);
                let always = self.builder.pool.as_bool(range.when) == Some(true);
                let formula = self.pool().implies(range.when, within);
                self.range_claim(id, formula, span);
                if always {
                    self.builder.set_range(id, range.bounds.whole);
                }
            }
            if role == Role::Input {
                for (at, term) in self.valid(&value).into_iter().enumerate() {
                    let title = format!("form of {name} {}", at + 1);
                    match self.builder.state_formula(term, &title) {
                        Ok(formula) => {
                            self.builder.assumption(&title, formula, Some(span));
                            self.builder.mark_form();
                        }
                        Err(error) => self.internal(error, span),
                    }
                }
            }
            self.names.set(&name, NameKind::Aggregate(shape, first));
        }
    }

    /// Declares the variables that hold a value of several parts.
    pub(super) fn declare_parts(
        &mut self,
        name: &str,
        ty: &Ty,
        role: Role,
        span: Span,
    ) -> Option<gander_system::VarId> {
        let mut first = None;
        for (part, &sort) in ty.shape().part_names(name).iter().zip(ty.sorts()) {
            match self.builder.var(part, sort, role, None, Some(span)) {
                Ok(id) => first = first.or(Some(id)),
                Err(error) => {
                    self.internal(error, span);
                    return None;
                }
            }
        }
        self.builder.aggregate(name, ty.shape(), first?);
        first
    }

    /// Adds the claim or assumption of a range whose bounds are not integers.
    fn fractional_range(&mut self, id: gander_system::VarId, bounds: &Bounds, span: Span) {
        let var = self.builder.so_far().var(id).clone();
        let within = self.within(var.current, bounds);
        self.range_claim(id, within, span);
    }

    /// Adds the claim, of an input the assumption, that a variable is in its range.
    fn range_claim(&mut self, id: gander_system::VarId, within: TermId, span: Span) {
        let var = self.builder.so_far().var(id).clone();
        let name = format!("range of {}", var.name);
        let formula = match self.builder.state_formula(within, &name) {
            Ok(formula) => formula,
            Err(error) => return self.internal(error, span),
        };
        if var.role == Role::Input {
            self.builder.assumption(&name, formula, Some(span));
            return;
        }
        let kind = gander_system::ClaimKind::Always(formula);
        let origin = gander_system::ClaimOrigin::Range(id);
        let text = format!("always {} in its range", var.name);
        if let Err(error) = self.builder.claim(&name, kind, origin, &text, Some(span)) {
            self.internal(error, span);
        }
    }

    /// `low <= x and x <= high`
    pub(super) fn within(&mut self, symbol: SymbolId, bounds: &Bounds) -> TermId {
        let x = self.pool().var(symbol);
        let (above, below) = (self.pool().le(bounds.low, x), self.pool().le(x, bounds.high));
        self.pool().and([above, below])
    }

    /// The range in a declaration, if it has a valid one.
    pub(super) fn bounds(&mut self, item: &SyntaxNode, sort: Sort) -> Option<Bounds> {
        let range = tree::child(item, K::RangeBounds)?;
        let span = tree::span(&range);
        if !sort.is_numeric() {
            let name = self.sort_name(sort);
            let diagnostic = Diagnostic::new(Code::E0306, span, format!("`{name}` has no ranges"))
                .help("only ints and reals can have a range `low..high`");
            self.report(diagnostic);
            return None;
        }
        let mut values = Vec::new();
        for bound in tree::expressions(&range) {
            let before = std::mem::replace(&mut self.place, Place::Constant);
            let term = self
                .expression(&bound, Some(sort))
                .and_then(|term| self.expect_sort(term, sort, &bound));
            self.place = before;
            values.push(
                term.and_then(|term| self.constant_value(term, &bound, "a bound of a range"))?,
            );
        }
        let [low, high]: [Value; 2] = values.try_into().ok()?;
        if low > high {
            let diagnostic = Diagnostic::new(
                Code::E0308,
                span,
                "this range is empty: its lower bound is above its upper bound",
            )
            .help("write the smaller number first");
            self.report(diagnostic);
            return None;
        }
        let whole =
            whole_number(&low).zip(whole_number(&high)).map(|(low, high)| Range { low, high });
        Some(Bounds { low: self.pool().constant(low), high: self.pool().constant(high), whole })
    }

    /// The value of a term that must be constant.
    pub(super) fn constant_value(
        &mut self,
        term: TermId,
        node: &SyntaxNode,
        what: &str,
    ) -> Option<Value> {
        match gander_term::evaluate(&self.builder.pool, term, &|_| None) {
            Ok(value) => Some(value),
            Err(error) => {
                let why = error.describe(&self.builder.pool);
                let diagnostic = Diagnostic::new(
                    Code::E0307,
                    tree::span(node),
                    format!("{what} must be known before the first step"),
                )
                .here(why)
                .help("use literals, constants and operators on them");
                self.report(diagnostic);
                None
            }
        }
    }

    /// Constants and definitions in dependency order.
    fn definitions_in_order(&mut self, spec: &Spec) -> Vec<SyntaxNode> {
        let mut items: Vec<SyntaxNode> = Vec::new();
        let mut index: FxHashMap<String, usize> = FxHashMap::default();
        for item in &spec.items {
            if !matches!(item.kind(), K::ConstDecl | K::DefineDecl) {
                continue;
            }
            let Some(token) = tree::name(item) else { continue };
            if self.declare(token.text(), NameKind::Pending, tree::token_span(&token)) {
                index.insert(text(&token), items.len());
                items.push(item.clone());
            }
        }
        self.in_order(&items, &index).into_iter().map(|at| items[at].clone()).collect()
    }

    /// Positions of the items, dependencies first. Reports items on a cycle and marks their names
    /// as broken.
    fn in_order(&mut self, items: &[SyntaxNode], index: &FxHashMap<String, usize>) -> Vec<usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let needs: Vec<Vec<usize>> = items.iter().map(|item| mentioned(item, index)).collect();
        let mut marks = vec![Mark::New; items.len()];
        let mut order = Vec::with_capacity(items.len());
        for root in 0..items.len() {
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 {
                    if marks[at] != Mark::New {
                        continue;
                    }
                    marks[at] = Mark::Open;
                }
                let Some(&need) = needs[at].get(next) else {
                    marks[at] = Mark::Done;
                    order.push(at);
                    continue;
                };
                stack.push((at, next + 1));
                match marks[need] {
                    Mark::New => stack.push((need, 0)),
                    Mark::Open => self.circular(items, &stack, need),
                    Mark::Done => {}
                }
            }
        }
        order
    }

    fn circular(&mut self, items: &[SyntaxNode], stack: &[(usize, usize)], first: usize) {
        let from = stack.iter().position(|(at, _)| *at == first).unwrap_or(0);
        let cycle: Vec<String> = stack[from..]
            .iter()
            .map(|(at, _)| *at)
            .chain([first])
            .filter_map(|at| tree::name(&items[at]))
            .map(|token| format!("`{}`", token.text()))
            .collect();
        for (at, _) in &stack[from..] {
            self.define(&items[*at], NameKind::Broken);
        }
        let Some(token) = tree::name(&items[first]) else { return };
        let shown = if cycle.len() > 8 {
            format!("{} … {}", cycle[..4].join(" needs "), cycle[cycle.len() - 1])
        } else {
            cycle.join(" needs ")
        };
        let diagnostic = Diagnostic::new(
            Code::E0207,
            tree::token_span(&token),
            format!("`{}` is defined by itself", token.text()),
        )
        .note(shown)
        .help("a value that depends on its own earlier value is a `var` that transitions change");
        self.report(diagnostic);
    }

    fn constant(&mut self, item: &SyntaxNode) -> Option<NameKind> {
        self.place = Place::Constant;
        let declared = match tree::child(item, K::SortRef) {
            Some(_) => Some(self.type_of(item)?),
            None => None,
        };
        let Some(body) = tree::expression(item) else { return self.constant_without_value(item) };
        let value = match &declared {
            Some(ty) => self.typed(&body, ty)?,
            None => self.value(&body, None)?,
        };
        if value.term().is_some_and(|term| self.is_of_sizes(term)) {
            return Some(NameKind::Const(value));
        }
        let mut parts = Vec::new();
        for &part in value.parts() {
            let known = self.constant_value(part, &body, "the value of a constant")?;
            parts.push(self.pool().constant(known));
        }
        Some(NameKind::Const(match value {
            Val::Term(_) => Val::Term(parts[0]),
            Val::Parts(shape, _) => Val::Parts(shape, parts),
        }))
    }

    /// `const N: int 2..10`
    fn constant_without_value(&mut self, item: &SyntaxNode) -> Option<NameKind> {
        let token = tree::name(item)?;
        if let Some(&term) = self.given.get(token.text()) {
            return Some(NameKind::Const(Val::Term(term)));
        }
        let message = format!("`{}` has no value", token.text());
        let diagnostic = Diagnostic::new(Code::E0307, tree::token_span(&token), message)
            .note("only a constant of a system, declared after `system`, can be without a value: the size of families")
            .help(format!("write `const {0} = 3`, or `var {0}: int`", token.text()));
        self.report(diagnostic);
        None
    }

    fn definition(&mut self, item: &SyntaxNode) -> Option<NameKind> {
        self.place = Place::Definition;
        self.mentions_node = false;
        let declared = match tree::child(item, K::SortRef) {
            Some(_) => Some(self.type_of(item)?),
            None => None,
        };
        let mut params = Vec::new();
        let mut good = true;
        if let Some(list) = tree::child(item, K::ParamList) {
            for param in tree::children(&list, K::Param) {
                let Some(ty) = self.type_of(&param) else {
                    good = false;
                    continue;
                };
                for token in tree::names(&param) {
                    let names = ty.shape().part_names(token.text());
                    let mut symbols = Vec::new();
                    for (name, &sort) in names.iter().zip(ty.sorts()) {
                        symbols.push(self.pool().declare_fresh(&format!("@{name}"), sort));
                    }
                    let value = self.value_of_symbols(&ty, &symbols);
                    params.push(value.clone());
                    self.push_local(&token, value);
                }
            }
        }
        let body = tree::expression(item);
        let value = match (&body, good, &declared) {
            (Some(body), true, Some(ty)) => self.typed(body, ty),
            (Some(body), true, None) => self.value(body, None),
            _ => None,
        };
        self.locals.clear();
        let mentions_node = self.mentions_node;
        Some(NameKind::Define(Definition { body: value?, params, mentions_node }))
    }

    /// Adds a parameter or quantified variable to the scope.
    pub(super) fn push_local(&mut self, token: &crate::sts::syntax::SyntaxToken, value: Val) {
        let (name, span) = (text(token), tree::token_span(token));
        if let Some(hidden) = self.names.get(&name) {
            let first = hidden.span;
            let diagnostic = Diagnostic::new(
                Code::W0804,
                span,
                format!("`{name}` hides a declaration of the same name"),
            )
            .here("this is meant from here on")
            .label(first, "this is hidden")
            .help("rename one of them");
            self.report(diagnostic);
        }
        self.locals.push(Local { name, value });
    }

    /// `term` converted to the expected sort; an int becomes a real.
    pub(super) fn expect_sort(
        &mut self,
        term: TermId,
        sort: Sort,
        node: &SyntaxNode,
    ) -> Option<TermId> {
        let found = self.builder.pool.sort(term);
        if found == sort {
            return Some(term);
        }
        if sort == Sort::Real && found == Sort::Int {
            return Some(self.as_real(term));
        }
        if let (Sort::BitVec(width), Sort::Int) = (sort, found) {
            let bits = self.as_bits(term, width);
            if bits != term {
                return Some(bits);
            }
        }
        let (wanted, got) = (self.a_sort(sort), self.a_sort(found));
        let mut diagnostic = Diagnostic::new(
            Code::E0301,
            tree::span(node),
            format!("expected {wanted}, found {got}"),
        )
        .here(format!("this is {got}"));
        if sort == Sort::Int && found == Sort::Real {
            diagnostic =
                diagnostic.help("`to_int(…)` gives the greatest int that is not above a real");
        }
        self.report(diagnostic);
        None
    }

    /// An int as a real.
    pub(super) fn as_real(&mut self, term: TermId) -> TermId {
        match self.builder.pool.as_constant(term) {
            Some(Value::Int(value)) => self.pool().constant(Value::whole(value)),
            _ => self.pool().mk(Op::ToReal, &[term]).unwrap_or(term),
        }
    }
}

/// The items that an item mentions.
fn mentioned(item: &SyntaxNode, index: &FxHashMap<String, usize>) -> Vec<usize> {
    let own: Vec<String> = tree::child(item, K::ParamList)
        .into_iter()
        .flat_map(|list| tree::children(&list, K::Param).collect::<Vec<_>>())
        .flat_map(|param| tree::names(&param).map(|token| text(&token)).collect::<Vec<_>>())
        .collect();
    let mut needs: Vec<usize> = item
        .descendants()
        .filter(|node| matches!(node.kind(), K::NameExpr | K::CallExpr))
        .filter_map(|node| tree::ident(&node))
        .filter(|token| !own.iter().any(|name| name == token.text()))
        .filter_map(|token| index.get(token.text()).copied())
        .collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

fn whole_number(value: &Value) -> Option<IBig> {
    match value {
        Value::Int(value) => Some(value.clone()),
        Value::Real(value) if value.is_int() => Some(value.numerator().clone()),
        _ => None,
    }
}
