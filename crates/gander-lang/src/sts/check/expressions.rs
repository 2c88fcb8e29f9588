//! Translates expressions to terms: names, literals, calls, quantifiers; dispatches operators.
//!
//! Recursion is bounded: the parser reports expressions deeper than its limit, and the checker does
//! not run on trees with errors.

use super::data::{LIST_FUNCTIONS, Ty, Val};
use super::names::{Definition, NameKind};
use super::{Checker, Place, bits};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::lexer::unescape;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::{NodeId, Range, Role, Shape, VarId};
use gander_term::{EnumId, IBig, Op, RBig, Sort, SymbolId, TermId, Value};

const FUNCTIONS: &[&str] = &["min", "max", "abs", "to_real", "to_int"];

impl Checker {
    /// Translates an expression whose value has one part. `expected` only helps to choose between
    /// values of the same name.
    pub(super) fn expression(
        &mut self,
        node: &SyntaxNode,
        expected: Option<Sort>,
    ) -> Option<TermId> {
        let expected = expected.map(Ty::Sort);
        let value = self.value(node, expected.as_ref())?;
        self.one_part(value, node)
    }

    /// Translates an expression. `expected` helps to choose between values of the same name, and
    /// gives lists their sort.
    pub(super) fn value(&mut self, node: &SyntaxNode, expected: Option<&Ty>) -> Option<Val> {
        match node.kind() {
            K::NameExpr => self.name_expression(node, expected.and_then(Ty::sort)),
            K::FieldExpr => self.field_expression(node),
            K::SelectExpr => self.select(node),
            K::MemberExpr => self.member_expression(node),
            K::ParenExpr => self.value(&tree::expression(node)?, expected),
            K::IfExpr => self.if_expression(node, expected),
            K::CallExpr => self.call(node, expected),
            K::IndexExpr => self.index(node, expected),
            K::FillExpr => self.fill(node, expected),
            K::RecordExpr => self.record_value(node),
            K::ListExpr => self.list_value(node, expected),
            K::MatchExpr => self.matched(node, expected),
            _ => self.one_part_expression(node, expected.and_then(Ty::sort)).map(Val::Term),
        }
    }

    /// An expression of a kind whose values have one part.
    fn one_part_expression(&mut self, node: &SyntaxNode, expected: Option<Sort>) -> Option<TermId> {
        match node.kind() {
            K::Literal => self.literal(node),
            K::NegExpr => self.negation(node),
            K::NotExpr => {
                let operand = tree::expression(node)?;
                let term = self.bool_operand(&operand, "not")?;
                self.pool().mk(Op::Not, &[term]).ok()
            }
            K::PowerExpr => self.power(node),
            K::MulExpr => self.product(node, expected),
            K::AddExpr => self.sum(node),
            K::RelExpr => self.comparison(node),
            K::EqExpr => self.equality(node),
            K::AndExpr | K::OrExpr => self.junction(node),
            K::ImpliesExpr => self.implication(node),
            K::IffExpr => self.equivalence(node),
            K::IsExpr => self.tester(node),
            K::QuantExpr => self.quantified(node),
            K::FamilyExpr => self.family_expression(node),
            K::InExpr => self.in_expression(node),
            _ => None,
        }
    }

    fn literal(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let green = node.green();
        let token = tree::leaves(&green, 0).next()?;
        let value = match token.kind {
            K::Int => Value::Int(digits(token.text)?),
            K::Decimal => Value::Real(decimal(token.text)?),
            K::Text => Value::str(&unescape(token.text)),
            _ => Value::Bool(token.text == "true"),
        };
        Some(self.pool().constant(value))
    }

    fn name_expression(&mut self, node: &SyntaxNode, expected: Option<Sort>) -> Option<Val> {
        let green = node.green();
        let mut leaves = tree::leaves(&green, 0);
        let (name, span) = (leaves.next()?.text, tree::span(node));
        if leaves.next().is_some_and(|leaf| leaf.kind == K::Prime) {
            return self.primed_variable(name, span);
        }
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == name) {
            return Some(local.value.clone());
        }
        if let Some(index) = self.index_value(name) {
            return Some(Val::Term(index));
        }
        if let Some(location) = self.instances.get(name).and_then(|instance| instance.location) {
            return Some(Val::Term(location));
        }
        match self.names.use_of(name).map(|found| found.kind.clone()) {
            Some(NameKind::Var(id)) => {
                let symbol = self.builder.so_far().var(id).current;
                Some(Val::Term(self.pool().var(symbol)))
            }
            Some(NameKind::Aggregate(shape, first)) => Some(self.current_value(&shape, first)),
            Some(NameKind::Const(value)) => Some(value),
            Some(NameKind::Define(definition)) => self.definition_use(name, &definition, span),
            Some(NameKind::Values(values)) => {
                self.enum_value(name, &values, expected, span).map(Val::Term)
            }
            Some(NameKind::Constructor(made, position)) => {
                self.constructed(&made, position, &[], span)
            }
            Some(NameKind::Type(made)) => {
                let help = match made.tag {
                    None => format!("write its value with all fields: `{name}{{…}}`"),
                    Some(_) => "write a value with its constructor".to_owned(),
                };
                let message = format!("`{name}` is a sort, not a value");
                self.report(Diagnostic::new(Code::E0208, span, message).help(help));
                None
            }
            Some(NameKind::Sort(_)) => {
                let diagnostic =
                    Diagnostic::new(Code::E0208, span, format!("`{name}` is a sort, not a value"))
                        .help(format!(
                            "name one of its values, for example `{}`",
                            self.some_value(name)
                        ));
                self.report(diagnostic);
                None
            }
            Some(NameKind::Pending) => {
                let diagnostic = Diagnostic::new(
                    Code::E0307,
                    span,
                    format!("the value of `{name}` is not known before the first step"),
                )
                .here("a constant or a bound of a range cannot depend on it")
                .help("use literals, other constants and operators on them");
                self.report(diagnostic);
                None
            }
            Some(NameKind::Broken) => None,
            None => {
                self.unknown_name(name, span);
                None
            }
        }
    }

    fn some_value(&self, sort: &str) -> String {
        let pool = &self.builder.pool;
        let values = pool.find_enum(sort).map(|id| &pool.enumeration(id).variants);
        values.and_then(|values| values.first()).cloned().unwrap_or_default()
    }

    fn enum_value(
        &mut self,
        name: &str,
        values: &[(EnumId, u32)],
        expected: Option<Sort>,
        span: Span,
    ) -> Option<TermId> {
        let chosen = match values {
            [only] => Some(only),
            _ => values.iter().find(|(id, _)| expected == Some(Sort::Enum(*id))),
        };
        if let Some((id, at)) = chosen {
            return Some(self.pool().constant(Value::Enum(*id, *at)));
        }
        let sorts: Vec<String> =
            values.iter().map(|(id, _)| self.sort_name(Sort::Enum(*id))).collect();
        let qualified: Vec<String> = sorts.iter().map(|sort| format!("`{sort}.{name}`")).collect();
        let diagnostic = Diagnostic::new(
            Code::E0210,
            span,
            format!("`{name}` is a value of several enumerations: {}", sorts.join(", ")),
        )
        .help(format!("write {}", qualified.join(" or ")));
        self.report(diagnostic);
        None
    }

    fn definition_use(&mut self, name: &str, definition: &Definition, span: Span) -> Option<Val> {
        if !definition.params.is_empty() {
            let diagnostic = Diagnostic::new(
                Code::E0304,
                span,
                format!("`{name}` needs {}", arguments(definition.params.len())),
            )
            .help(format!("write `{name}(…)`"));
            self.report(diagnostic);
            return None;
        }
        self.may_mention_node(
            definition.mentions_node,
            span,
            &format!("`{name}` asks which node the system is in"),
        )?;
        Some(definition.body.clone())
    }

    /// The value of a variable of several parts.
    pub(super) fn current_value(&mut self, shape: &Shape, first: VarId) -> Val {
        let parts: Vec<TermId> = (0..shape.width())
            .map(|at| {
                let symbol = self.builder.so_far().var(VarId::from(first.index() + at)).current;
                self.pool().var(symbol)
            })
            .collect();
        Val::Parts(shape.clone(), parts)
    }

    /// Checks that a formula in this place may refer to the current node, if `mentions` is true.
    fn may_mention_node(&mut self, mentions: bool, span: Span, message: &str) -> Option<()> {
        if !mentions {
            return Some(());
        }
        self.mentions_node = true;
        if self.place.may_mention_node() {
            return Some(());
        }
        let place = self.place.noun();
        let help = match self.place {
            Place::Guard | Place::Effect | Place::Invariant => {
                "leave it out: what is written inside a node is about that node"
            }
            Place::Start => "the node of a start is its target: `start -> Node { … }`",
            _ => "ask in a claim instead",
        };
        let diagnostic =
            Diagnostic::new(Code::E0405, span, format!("{message}, which {place} cannot do"))
                .help(help);
        self.report(diagnostic);
        None
    }

    /// `x'`
    fn primed_variable(&mut self, name: &str, span: Span) -> Option<Val> {
        if self.locals.iter().any(|local| local.name == name) {
            return self.cannot_prime(name, "a parameter or quantified variable", span);
        }
        let kind = self.names.use_of(name).map(|found| found.kind.clone());
        match kind {
            Some(NameKind::Var(_) | NameKind::Aggregate(..)) => {
                if self.place != Place::Effect {
                    let place = self.place.noun();
                    let mut diagnostic = Diagnostic::new(
                        Code::E0404,
                        span,
                        format!("{place} cannot speak of `{name}'`, the value after the step"),
                    );
                    diagnostic = match self.place {
                        Place::Guard => diagnostic
                            .help(format!("move the condition into the effect: `{{ {name}' … }}`")),
                        _ => diagnostic
                            .help(format!("write `{name}` without the prime"))
                            .fix(span, name),
                    };
                    self.report(diagnostic);
                    return None;
                }
                let (shape, first) = match kind {
                    Some(NameKind::Aggregate(shape, first)) => (shape, first),
                    Some(NameKind::Var(id)) => (Shape::Scalar, id),
                    _ => return None,
                };
                let mut parts = Vec::new();
                for at in 0..shape.width() {
                    let id = VarId::from(first.index() + at);
                    self.primed.push((id, span));
                    let symbol = self.builder.so_far().var(id).next;
                    parts.push(self.pool().var(symbol));
                }
                let value = Val::of(&shape, &parts);
                if value.term().is_none() {
                    self.primed_values.push(value.clone());
                }
                Some(value)
            }
            Some(NameKind::Broken | NameKind::Pending) => None,
            Some(NameKind::Const(_)) => self.cannot_prime(name, "a constant", span),
            Some(NameKind::Define(_)) => self.cannot_prime(name, "a definition", span),
            Some(
                NameKind::Values(_)
                | NameKind::Sort(_)
                | NameKind::Type(_)
                | NameKind::Constructor(..),
            ) => self.cannot_prime(name, "a value", span),
            None => {
                self.unknown_name(name, Span::new(span.start, span.start + name.len() as u32));
                None
            }
        }
    }

    fn cannot_prime(&mut self, name: &str, what: &str, span: Span) -> Option<Val> {
        let diagnostic = Diagnostic::new(
            Code::E0403,
            span,
            format!("`{name}` is {what}, so there is no `{name}'`"),
        )
        .here("only variables declared with `var` or `input` have a next value")
        .help(format!("write `{name}` without the prime"))
        .fix(span, name);
        self.report(diagnostic);
        None
    }

    /// `Sort.Value`, `variable.field`, or `instance.variable` in a composed system.
    fn field_expression(&mut self, node: &SyntaxNode) -> Option<Val> {
        let (first, second) = tree::dotted(node);
        let (first, second) = (first?, second?);
        let span = tree::span(node);
        let primed = tree::tokens(node).any(|token| token.kind() == K::Prime);
        if let Some(value) = self.of_several_parts(first.text(), tree::token_span(&first)) {
            if primed {
                let message = "the prime belongs to the variable, not to its field";
                let help = format!("write `{}'.{}`", first.text(), second.text());
                self.report(Diagnostic::new(Code::E0404, span, message).help(help));
                return None;
            }
            return self.selected(&value, &second);
        }
        if primed {
            let name = format!("{}.{}", first.text(), second.text());
            return self.cannot_prime(&name, "not a variable of this specification", span);
        }
        if let Some(found) = self.referred(&first, &second) {
            return found;
        }
        if self.is_composed() {
            return self.instance_member(&first, &second, span);
        }
        match self.names.use_of(first.text()).map(|found| found.kind.clone()) {
            Some(NameKind::Sort(id)) => {
                let found = self.builder.pool.enumeration(id).position(second.text());
                if let Some(at) = found {
                    self.names.use_of(second.text());
                    return Some(Val::Term(self.pool().constant(Value::Enum(id, at))));
                }
                let variants = self.builder.pool.enumeration(id).variants.clone();
                let near = nearest(second.text(), variants.iter().map(String::as_str));
                let diagnostic = Diagnostic::new(
                    Code::E0202,
                    tree::token_span(&second),
                    format!("`{}` has no value `{}`", first.text(), second.text()),
                )
                .did_you_mean(near);
                self.report(diagnostic);
            }
            Some(NameKind::Broken) => {}
            Some(
                NameKind::Var(_) | NameKind::Const(_) | NameKind::Define(_) | NameKind::Pending,
            ) => {
                let message = format!("`{}` has no fields", first.text());
                let diagnostic = Diagnostic::new(Code::E0212, span, message)
                    .help("only records and data have fields");
                self.report(diagnostic);
            }
            _ => {
                let diagnostic = Diagnostic::new(
                    Code::E0702,
                    tree::token_span(&first),
                    format!("`{}` is not an instance or an enumeration", first.text()),
                )
                .note("`a.x` is the variable `x` of the instance `a` of a system, or the value `x` of the enumeration `a`");
                self.report(diagnostic);
            }
        }
        None
    }

    /// The value with this name, if it has several parts.
    fn of_several_parts(&mut self, name: &str, span: Span) -> Option<Val> {
        if let Some(local) = self.locals.iter().rev().find(|local| local.name == name) {
            return Some(local.value.clone()).filter(|value| value.term().is_none());
        }
        match self.names.get(name).map(|found| found.kind.clone())? {
            NameKind::Aggregate(shape, first) => {
                self.names.use_of(name);
                Some(self.current_value(&shape, first))
            }
            NameKind::Const(value @ Val::Parts(..)) => {
                self.names.use_of(name);
                Some(value)
            }
            NameKind::Define(definition)
                if definition.params.is_empty() && definition.body.term().is_none() =>
            {
                self.names.use_of(name);
                self.definition_use(name, &definition, span)
            }
            _ => None,
        }
    }

    /// `in Node`, `in {A, B}`, `instance in Node`
    fn in_expression(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let span = tree::span(node);
        let refs: Vec<SyntaxNode> = tree::references(node).collect();
        let words: Vec<SyntaxToken> =
            tree::tokens(node).filter(|token| token.kind() == K::Ident).collect();
        let instance = words.first().filter(|word| word.text() != "in").cloned();
        if let Some(instance) = instance.as_ref().filter(|i| self.references.contains_key(i.text()))
        {
            let mut parts = Vec::new();
            for reference in &refs {
                parts.push(self.referred_at(instance, &tree::ident(reference)?)??);
            }
            return Some(self.pool().or(parts));
        }
        // In a composed system, the node of an instance is the value of a variable.
        if !self.is_composed() {
            self.may_mention_node(true, span, "this asks which node the system is in")?;
        }
        let family = tree::expression(node).filter(|base| self.is_indexed_instance(base));
        let named = match (&family, &instance) {
            (Some(base), _) => Some((self.indexed_instance(base)?, tree::span(base))),
            (None, Some(token)) => Some((token.text().to_owned(), tree::token_span(token))),
            (None, None) => None,
        };
        self.node_condition(named.as_ref().map(|(name, at)| (name.as_str(), *at)), &refs)
    }

    /// The formula that the current node is one of these.
    pub(super) fn node_condition(
        &mut self,
        instance: Option<(&str, Span)>,
        refs: &[SyntaxNode],
    ) -> Option<TermId> {
        let mut parts = Vec::new();
        let mut good = true;
        for reference in refs {
            let here = if !self.is_composed() {
                let node = tree::ident(reference).and_then(|token| self.node_named(&token));
                node.map(|node| self.at_node(node))
            } else {
                self.instance_at(instance, reference)
            };
            match here {
                Some(here) => parts.push(here),
                None => good = false,
            }
        }
        good.then(|| self.pool().or(parts))
    }

    fn at_node(&mut self, node: NodeId) -> TermId {
        let location = self.builder.so_far().location();
        let here = self.pool().var(location);
        let sort = self.node_sort;
        let constant = self.pool().constant(Value::Enum(sort, node.0));
        self.pool().eq(here, constant)
    }

    /// The node with this name.
    pub(super) fn node_named(&mut self, token: &SyntaxToken) -> Option<NodeId> {
        if let Some(node) = self.graph.nodes.get(token.text()) {
            return Some(*node);
        }
        if self.is_full() {
            return None;
        }
        let mut known: Vec<&str> = self.graph.nodes.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = nearest(token.text(), known.iter().copied());
        let mut diagnostic = Diagnostic::new(
            Code::E0203,
            tree::token_span(token),
            format!("there is no node `{}`", token.text()),
        );
        diagnostic = match near {
            Some(_) => diagnostic.did_you_mean(near),
            None => diagnostic.help(format!("declare it: `node {} {{ … }}`", token.text())),
        };
        self.report(diagnostic);
        None
    }

    fn call(&mut self, node: &SyntaxNode, expected: Option<&Ty>) -> Option<Val> {
        let token = tree::ident(node)?;
        let args: Vec<SyntaxNode> = tree::expressions(node).collect();
        let name = token.text();
        let span = tree::token_span(&token);
        if let Some(kind) = self.names.use_of(name).map(|found| found.kind.clone()) {
            return match kind {
                NameKind::Define(definition) if !definition.params.is_empty() => {
                    self.expansion(name, &definition, &args, span)
                }
                NameKind::Constructor(made, position) => {
                    self.constructed(&made, position, &args, span)
                }
                NameKind::Broken => None,
                _ => {
                    let diagnostic =
                        Diagnostic::new(Code::E0206, span, format!("`{name}` takes no arguments"))
                            .help(format!(
                                "write `{name}` alone, or put an operator before the parenthesis"
                            ));
                    self.report(diagnostic);
                    None
                }
            };
        }
        if LIST_FUNCTIONS.contains(&name) {
            return self.list_function(name, &args, span, expected);
        }
        self.built_in(name, &args, span).map(Val::Term)
    }

    fn built_in(&mut self, name: &str, args: &[SyntaxNode], span: Span) -> Option<TermId> {
        match name {
            "min" | "max" => {
                self.count(name, args, 2, usize::MAX, span)?;
                let op = if name == "min" { Op::Min } else { Op::Max };
                let terms = self.numbers(args, name)?;
                self.pool().mk(op, &terms).ok()
            }
            "abs" => {
                self.count(name, args, 1, 1, span)?;
                let terms = self.numbers(args, "abs")?;
                self.pool().mk(Op::Abs, &terms).ok()
            }
            "to_real" => {
                self.count(name, args, 1, 1, span)?;
                let term = self.expression(&args[0], Some(Sort::Int))?;
                self.expect_sort(term, Sort::Real, &args[0])
            }
            "to_int" => {
                self.count(name, args, 1, 1, span)?;
                let term = self.expression(&args[0], Some(Sort::Real))?;
                let term = self.expect_sort(term, Sort::Real, &args[0])?;
                self.pool().mk(Op::ToInt, &[term]).ok()
            }
            _ if bits::is_function(name) => self.bit_function(name, args, span),
            _ => {
                let defined: Vec<String> = self.functions();
                let near = nearest(
                    name,
                    FUNCTIONS
                        .iter()
                        .chain(LIST_FUNCTIONS)
                        .copied()
                        .chain(defined.iter().map(String::as_str)),
                );
                let mut diagnostic =
                    Diagnostic::new(Code::E0206, span, format!("there is no function `{name}`"));
                diagnostic = match near {
                    Some(_) => diagnostic.did_you_mean(near),
                    None => diagnostic.help(
                        "the functions are `min`, `max`, `abs`, `to_real`, `to_int` and definitions with parameters",
                    ),
                };
                self.report(diagnostic);
                None
            }
        }
    }

    fn functions(&self) -> Vec<String> {
        let names = self.names.sorted().into_iter();
        names
            .filter(|name| {
                let kind = self.names.get(name).map(|found| &found.kind);
                matches!(kind, Some(NameKind::Define(definition)) if !definition.params.is_empty())
            })
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn count(
        &mut self,
        name: &str,
        args: &[SyntaxNode],
        least: usize,
        most: usize,
        span: Span,
    ) -> Option<()> {
        if (least..=most).contains(&args.len()) {
            return Some(());
        }
        let wanted = if most == usize::MAX {
            format!("at least {}", arguments(least))
        } else {
            arguments(least)
        };
        let diagnostic = Diagnostic::new(
            Code::E0304,
            span,
            format!("`{name}` takes {wanted}, and {} given", number_given(args.len())),
        );
        self.report(diagnostic);
        None
    }

    /// A definition with its parameters replaced by arguments.
    fn expansion(
        &mut self,
        name: &str,
        definition: &Definition,
        args: &[SyntaxNode],
        span: Span,
    ) -> Option<Val> {
        let params = &definition.params;
        self.count(name, args, params.len(), params.len(), span)?;
        self.may_mention_node(
            definition.mentions_node,
            span,
            &format!("`{name}` asks which node the system is in"),
        )?;
        let mut map = rustc_hash::FxHashMap::default();
        let mut good = true;
        for (param, arg) in params.iter().zip(args) {
            let ty = self.ty(param);
            let Some(value) = self.typed(arg, &ty) else {
                good = false;
                continue;
            };
            for (&param, &part) in param.parts().iter().zip(value.parts()) {
                if let Op::Symbol(symbol) = self.builder.pool.op(param) {
                    map.insert(symbol, part);
                }
            }
        }
        if !good {
            return None;
        }
        let parts: Vec<TermId> = definition
            .body
            .parts()
            .iter()
            .map(|&part| self.pool().substitute(part, &map))
            .collect();
        Some(match &definition.body {
            Val::Term(_) => Val::Term(parts[0]),
            Val::Parts(shape, _) => Val::Parts(shape.clone(), parts),
        })
    }

    fn quantified(&mut self, node: &SyntaxNode) -> Option<TermId> {
        let word = tree::ident(node)?;
        let universal = word.text() == "forall";
        let scope = self.locals.len();
        let mut bound: Vec<SymbolId> = Vec::new();
        let mut limits: Vec<TermId> = Vec::new();
        let mut good = true;
        for param in tree::children(node, K::Param) {
            let Some(ty) = self.type_of(&param) else {
                good = false;
                continue;
            };
            let has_range = tree::child(&param, K::RangeBounds).is_some();
            let bounds = match ty.sort() {
                Some(sort) => self.bounds(&param, sort),
                None => None,
            };
            if ty.sort().is_some() {
                good &= bounds.is_some() == has_range;
            }
            for token in tree::names(&param) {
                let names = ty.shape().part_names(token.text());
                let mut symbols = Vec::new();
                for (name, &sort) in names.iter().zip(ty.sorts()) {
                    symbols.push(self.pool().declare_bound(name, sort));
                }
                bound.extend_from_slice(&symbols);
                if let Some(bounds) = &bounds {
                    limits.push(self.within(symbols[0], bounds));
                }
                let value = self.value_of_symbols(&ty, &symbols);
                if value.term().is_none() {
                    for (range, &symbol) in self.part_ranges(&ty).into_iter().zip(&symbols) {
                        let Some(Range { low, high }) = range else { continue };
                        let pool = self.pool();
                        let (low, high, x) = (pool.int(low), pool.int(high), pool.var(symbol));
                        let (above, below) = (pool.le(low, x), pool.le(x, high));
                        limits.extend([above, below]);
                    }
                }
                match self.limits(&param, &value) {
                    Some(found) => limits.extend(found),
                    None => good = false,
                }
                self.push_local(&token, value);
            }
        }
        let body = tree::expression(node);
        let body = match (&body, good) {
            (Some(body), true) => self.bool_operand(body, word.text()),
            _ => None,
        };
        self.locals.truncate(scope);
        let body = body?;
        let limit = self.pool().and(limits);
        Some(if universal {
            let body = self.pool().implies(limit, body);
            self.pool().forall(&bound, body)
        } else {
            let body = self.pool().and([limit, body]);
            self.pool().exists(&bound, body)
        })
    }

    /// True if a variable is an input.
    pub(super) fn is_input(&self, id: gander_system::VarId) -> bool {
        self.builder.so_far().var(id).role == Role::Input
    }
}

fn arguments(count: usize) -> String {
    if count == 1 { "one argument".to_owned() } else { format!("{count} arguments") }
}

fn number_given(count: usize) -> String {
    match count {
        0 => "none is".to_owned(),
        1 => "one is".to_owned(),
        _ => format!("{count} are"),
    }
}

fn digits(text: &str) -> Option<IBig> {
    // Fast path: most numbers are short.
    if let Ok(small) = text.parse::<u64>() {
        return Some(small.into());
    }
    text.replace('_', "").parse().ok()
}

fn decimal(text: &str) -> Option<RBig> {
    let text = text.replace('_', "");
    let (whole, fraction) = text.split_once('.')?;
    let numerator: IBig = format!("{whole}{fraction}").parse().ok()?;
    let denominator = IBig::from(10).pow(fraction.len());
    Some(RBig::from(numerator) / RBig::from(denominator))
}
