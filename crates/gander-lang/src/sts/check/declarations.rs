//! Enumerations, constants, definitions, variables, ranges.

use super::names::{Definition, NameKind};
use super::{Checker, Graph, Local, Names, Place, Spec, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;
use gander_system::{NodeId, Range, Role, SystemBuilder};
use gander_term::{EnumId, IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The name of the single node of a specification without nodes.
pub(super) const ONLY_NODE: &str = "main";

/// Bounds of a range, as constants of the variable's sort.
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
    let location = builder.so_far().location();
    let Sort::Enum(node_sort) = builder.pool.symbol(location).sort else { return None };
    Some(Checker {
        builder,
        errors: diagnostics.len(),
        diagnostics,
        reported: FxHashSet::default(),
        names,
        graph,
        locals: Vec::new(),
        place: Place::Claim,
        primed: Vec::new(),
        mentions_node: false,
        changed: FxHashSet::default(),
        node_sort,
        instances: FxHashMap::default(),
        references: FxHashMap::default(),
        leaders: Vec::new(),
    })
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
        let variables = |item: &&SyntaxNode| matches!(item.kind(), K::VarDecl | K::InputDecl);
        for item in spec.items.iter().filter(variables) {
            for token in tree::names(item) {
                self.declare(token.text(), NameKind::Pending, tree::token_span(&token));
            }
        }
        let ordered = self.definitions_in_order(spec);
        for item in ordered.iter().filter(|item| item.kind() == K::ConstDecl) {
            let kind = self.constant(item).unwrap_or(NameKind::Broken);
            self.define(item, kind);
        }
        for item in spec.items.iter().filter(variables) {
            self.variables(item);
        }
        for item in ordered.iter().filter(|item| item.kind() == K::DefineDecl) {
            let kind = self.definition(item).unwrap_or(NameKind::Broken);
            self.define(item, kind);
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
        let sort = self.sort_of(item);
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

    /// Adds the claim or assumption of a range whose bounds are not integers.
    fn fractional_range(&mut self, id: gander_system::VarId, bounds: &Bounds, span: Span) {
        let var = self.builder.so_far().var(id).clone();
        let within = self.within(var.current, bounds);
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

    /// The sort written in a declaration.
    pub(super) fn sort_of(&mut self, item: &SyntaxNode) -> Option<Sort> {
        let written = tree::child(item, K::SortRef)?;
        let mut sorts = Vec::new();
        for name in tree::children(&written, K::NameRef) {
            let token = tree::ident(&name)?;
            sorts.push(self.sort_named(token.text(), tree::token_span(&token))?);
        }
        let mut sort = sorts.pop()?;
        while let Some(index) = sorts.pop() {
            sort = self.array_sort(index, sort, tree::span(&written))?;
        }
        Some(sort)
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
    fn constant_value(&mut self, term: TermId, node: &SyntaxNode, what: &str) -> Option<Value> {
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
            Some(_) => Some(self.sort_of(item)?),
            None => None,
        };
        let body = tree::expression(item)?;
        let term = self.expression(&body, declared)?;
        let term = match declared {
            Some(sort) => self.expect_sort(term, sort, &body)?,
            None => term,
        };
        let value = self.constant_value(term, &body, "the value of a constant")?;
        Some(NameKind::Const(self.pool().constant(value)))
    }

    fn definition(&mut self, item: &SyntaxNode) -> Option<NameKind> {
        self.place = Place::Definition;
        self.mentions_node = false;
        let declared = match tree::child(item, K::SortRef) {
            Some(_) => Some(self.sort_of(item)?),
            None => None,
        };
        let mut params = Vec::new();
        let mut good = true;
        if let Some(list) = tree::child(item, K::ParamList) {
            for param in tree::children(&list, K::Param) {
                let Some(sort) = self.sort_of(&param) else {
                    good = false;
                    continue;
                };
                for token in tree::names(&param) {
                    let symbol = self.pool().declare_fresh(&format!("@{}", token.text()), sort);
                    params.push(symbol);
                    self.push_local(&token, symbol);
                }
            }
        }
        let body = tree::expression(item);
        let term = match (&body, good) {
            (Some(body), true) => self.expression(body, declared),
            _ => None,
        };
        self.locals.clear();
        let (term, body) = (term?, body?);
        let term = match declared {
            Some(sort) => self.expect_sort(term, sort, &body)?,
            None => term,
        };
        Some(NameKind::Define(Definition { body: term, params, mentions_node: self.mentions_node }))
    }

    /// Adds a parameter or quantified variable to the scope.
    pub(super) fn push_local(&mut self, token: &crate::sts::syntax::SyntaxToken, symbol: SymbolId) {
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
        self.locals.push(Local { name, symbol });
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
