//! Declared sorts of several parts, and variables of them.

use std::sync::Arc;

use gander_system::{Range, Shape};
use gander_term::{Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::{MAX_DEPTH, MAX_PARTS, Ty, TypeDecl, Val, at_most, less, offset, owners};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::check::declarations::Bounds;
use crate::sts::check::names::NameKind;
use crate::sts::check::{Checker, Place, text};
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode};
use crate::sts::tree;

/// A part with a declared range.
pub(in crate::sts::check) struct Bounded {
    /// The position of the part.
    pub(in crate::sts::check) part: usize,
    pub(in crate::sts::check) bounds: Bounds,
    /// The condition under which the value has the part.
    pub(in crate::sts::check) when: TermId,
}

impl Checker {
    /// Declares the records and data sorts of a specification, those that others consist of first.
    pub(in crate::sts::check) fn declare_types(&mut self, items: &[SyntaxNode]) {
        let mut index: FxHashMap<String, usize> = FxHashMap::default();
        let mut declared: Vec<SyntaxNode> = Vec::new();
        for item in items.iter().filter(|i| matches!(i.kind(), K::RecordDecl | K::DataDecl)) {
            let Some(token) = tree::name(item) else { continue };
            if self.declare(token.text(), NameKind::Broken, tree::token_span(&token)) {
                index.insert(text(&token), declared.len());
                declared.push(item.clone());
            }
        }
        for at in self.parts_first(&declared, &index) {
            let item = &declared[at];
            let Some(token) = tree::name(item) else { continue };
            let made = match item.kind() {
                K::RecordDecl => self.record_type(item),
                _ => self.data_type(item),
            };
            let made = made.map(Arc::new);
            if let Some(made) = &made {
                self.names.set(token.text(), NameKind::Type(made.clone()));
            }
            let constructors = tree::children(item, K::Constructor).filter_map(|c| tree::name(&c));
            for (position, name) in constructors.enumerate() {
                let span = tree::token_span(&name);
                match &made {
                    Some(made) => {
                        let kind = NameKind::Constructor(made.clone(), position);
                        self.declare(name.text(), kind, span);
                    }
                    None if self.names.get(name.text()).is_none() => {
                        self.names.insert(text(&name), NameKind::Broken, span);
                    }
                    None => {}
                }
            }
        }
    }

    /// Makes the sorts of another specification known, which was checked, as far as their names
    /// are free.
    pub(in crate::sts::check) fn known_types(&mut self, items: &[SyntaxNode]) {
        let declares = |i: &&SyntaxNode| matches!(i.kind(), K::RecordDecl | K::DataDecl);
        let free: Vec<SyntaxNode> = items
            .iter()
            .filter(declares)
            .filter(|item| tree::name(item).is_some_and(|n| self.names.get(n.text()).is_none()))
            .cloned()
            .collect();
        let (diagnostics, reported, errors) =
            (self.diagnostics.len(), self.reported.clone(), self.errors);
        self.declare_types(&free);
        self.diagnostics.truncate(diagnostics);
        self.reported = reported;
        self.errors = errors;
        // What could not be declared is unknown, so that uses of it are reported.
        let constructors = free.iter().flat_map(|item| tree::children(item, K::Constructor));
        let constructors: Vec<SyntaxNode> = constructors.collect();
        for token in free.iter().chain(&constructors).filter_map(tree::name) {
            self.names.remove_broken(token.text());
        }
    }

    /// Positions of the sorts, parts before wholes. Reports sorts that contain themselves.
    fn parts_first(
        &mut self,
        items: &[SyntaxNode],
        index: &FxHashMap<String, usize>,
    ) -> Vec<usize> {
        let mentioned = |item: &SyntaxNode| -> Vec<usize> {
            let references = item.descendants().filter(|node| node.kind() == K::SortRef);
            let names = references.flat_map(|sort| tree::references(&sort).collect::<Vec<_>>());
            let tokens = names.filter_map(|name| tree::ident(&name));
            tokens.filter_map(|token| index.get(token.text()).copied()).collect()
        };
        let needs: Vec<Vec<usize>> = items.iter().map(mentioned).collect();
        // 0: new, 1: begun, 2: done
        let mut marks = vec![0u8; items.len()];
        let mut order = Vec::new();
        for root in 0..items.len() {
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 {
                    if marks[at] != 0 {
                        continue;
                    }
                    marks[at] = 1;
                }
                let Some(&need) = needs[at].get(next) else {
                    marks[at] = 2;
                    order.push(at);
                    continue;
                };
                stack.push((at, next + 1));
                match marks[need] {
                    0 => stack.push((need, 0)),
                    1 => self.recursive(&items[need]),
                    _ => {}
                }
            }
        }
        order
    }

    fn recursive(&mut self, item: &SyntaxNode) {
        let Some(token) = tree::name(item) else { return };
        let name = token.text();
        let message = format!("`{name}` contains itself");
        let diagnostic = Diagnostic::new(Code::E0507, tree::token_span(&token), message)
            .note("a value of a record or data sort has a fixed number of parts")
            .help(format!(
                "for a sequence use a list, `list[8] of T` or `list of T`; for a linked structure \
                 an array of `{name}` whose fields are indices of other elements"
            ));
        self.report(diagnostic);
    }

    /// The fields of a record or constructor: names, types, and where they are written.
    fn fields(&mut self, list: &SyntaxNode) -> Option<Vec<(String, Ty, Span)>> {
        let mut fields = Vec::new();
        let mut good = true;
        for param in tree::children(list, K::Param) {
            let ty = self.type_of(&param);
            for token in tree::names(&param) {
                match &ty {
                    Some(ty) => fields.push((text(&token), ty.clone(), tree::token_span(&token))),
                    None => good = false,
                }
                if token.text() == "is" {
                    let message = "`is` cannot be the name of a field: `s is C` asks for the \
                                   constructor of a value";
                    self.report(Diagnostic::new(Code::E0113, tree::token_span(&token), message));
                    good = false;
                }
            }
        }
        good.then_some(fields)
    }

    fn record_type(&mut self, item: &SyntaxNode) -> Option<TypeDecl> {
        let token = tree::name(item)?;
        let listed = self.fields(item)?;
        let mut fields: Vec<(String, Shape)> = Vec::new();
        let mut spans: FxHashMap<String, Span> = FxHashMap::default();
        let mut sorts = Vec::new();
        for (name, ty, span) in listed {
            if let Some(first) = spans.insert(name.clone(), span) {
                self.duplicate(&name, span, first);
                return None;
            }
            sorts.extend_from_slice(ty.sorts());
            fields.push((name, ty.shape()));
            self.is_small(&sorts, &fields, &token)?;
        }
        if fields.is_empty() {
            let message = format!("the record `{}` has no fields", token.text());
            let help = format!("write for example `record {} {{ x: int }}`", token.text());
            let diagnostic = Diagnostic::new(Code::E0508, tree::token_span(&token), message);
            self.report(diagnostic.help(help));
            return None;
        }
        let shape = Shape::Record { name: token.text().into(), fields: fields.into() };
        Some(TypeDecl { ty: Ty::Parts(shape, sorts.into()), tag: None })
    }

    /// Fields of one name in several constructors are one field.
    fn data_type(&mut self, item: &SyntaxNode) -> Option<TypeDecl> {
        let token = tree::name(item)?;
        let mut constructors: Vec<(String, Vec<usize>)> = Vec::new();
        let mut spans: FxHashMap<String, Span> = FxHashMap::default();
        let mut fields: Vec<(String, Shape)> = Vec::new();
        let mut known: FxHashMap<String, (usize, Ty, Span)> = FxHashMap::default();
        let mut sorts = Vec::new();
        for constructor in tree::children(item, K::Constructor) {
            let name = tree::name(&constructor)?;
            if let Some(first) = spans.insert(text(&name), tree::token_span(&name)) {
                self.duplicate(name.text(), tree::token_span(&name), first);
                return None;
            }
            let mut own = Vec::new();
            let listed = match tree::child(&constructor, K::ParamList) {
                Some(list) => self.fields(&list)?,
                None => Vec::new(),
            };
            for (field, ty, span) in listed {
                let at = match known.get(&field) {
                    Some((at, _, first)) if own.contains(at) => {
                        let first = *first;
                        self.duplicate(&field, span, first);
                        return None;
                    }
                    Some((at, same, _)) if *same == ty => *at,
                    Some((_, other, first)) => {
                        let (first, other, ty) =
                            (*first, self.type_name(other), self.type_name(&ty));
                        let message =
                            format!("the field `{field}` has two sorts: `{other}` and `{ty}`");
                        let diagnostic = Diagnostic::new(Code::E0301, span, message)
                            .label(first, "declared here before")
                            .note("constructors that have a field of one name share it")
                            .help("rename one of them");
                        self.report(diagnostic);
                        return None;
                    }
                    None => {
                        sorts.extend_from_slice(ty.sorts());
                        fields.push((field.clone(), ty.shape()));
                        self.is_small(&sorts, &fields, &token)?;
                        known.insert(field, (fields.len() - 1, ty, span));
                        fields.len() - 1
                    }
                };
                own.push(at);
            }
            constructors.push((text(&name), own));
        }
        if constructors.is_empty() {
            let message = format!("`{}` has no constructors, so it has no values", token.text());
            let help =
                format!("write for example `data {} {{ Nothing, Some(n: int) }}`", token.text());
            let diagnostic = Diagnostic::new(Code::E0508, tree::token_span(&token), message);
            self.report(diagnostic.help(help));
            return None;
        }
        let names: Vec<&str> = constructors.iter().map(|(name, _)| name.as_str()).collect();
        let tag_name = format!("{}.is", token.text());
        let Ok(tag) = self.pool().declare_enum(&tag_name, &names) else {
            let message = format!("there are two different sorts `{}`", token.text());
            let diagnostic = Diagnostic::new(Code::E0201, tree::token_span(&token), message);
            self.report(diagnostic.help("rename one of them"));
            return None;
        };
        sorts.insert(0, Sort::Enum(tag));
        let shape = Shape::Data {
            name: token.text().into(),
            constructors: constructors.into(),
            fields: fields.into(),
        };
        Some(TypeDecl { ty: Ty::Parts(shape, sorts.into()), tag: Some(tag) })
    }

    fn is_small(
        &mut self,
        sorts: &[Sort],
        fields: &[(String, Shape)],
        token: &crate::sts::syntax::SyntaxToken,
    ) -> Option<()> {
        let deep = fields.last().is_some_and(|(_, shape)| depth(shape) >= MAX_DEPTH);
        self.within_limits(sorts.len(), deep, tree::token_span(token))
    }

    /// Reports a sort with too many parts.
    pub(super) fn within_limits(&mut self, parts: usize, deep: bool, span: Span) -> Option<()> {
        if parts <= MAX_PARTS && !deep {
            return Some(());
        }
        let message = match deep {
            true => format!("sorts are nested at most {MAX_DEPTH} deep"),
            false => format!("a value of this sort has more than {MAX_PARTS} parts"),
        };
        let diagnostic = Diagnostic::new(Code::E0508, span, message)
            .note("each field, and each element that a list can have, is a part")
            .help("use fewer or shorter lists, or an array");
        self.report(diagnostic);
        None
    }

    /// The type written in a declaration.
    pub(in crate::sts::check) fn type_of(&mut self, item: &SyntaxNode) -> Option<Ty> {
        let written = tree::child(item, K::SortRef)?;
        let span = tree::span(&written);
        let mut before: Vec<SyntaxNode> = written.children().collect();
        let last = before.pop().filter(|node| node.kind() == K::NameRef)?;
        let token = tree::ident(&last)?;
        let mut ty = self.type_named(token.text(), tree::token_span(&token))?;
        while let Some(node) = before.pop() {
            ty = if node.kind() == K::ListOf {
                self.list_type(&node, &ty)?
            } else {
                let token = tree::ident(&node)?;
                let index = self.sort_named(token.text(), tree::token_span(&token))?;
                self.array_type(index, &ty, span)?
            };
        }
        Some(ty)
    }

    pub(in crate::sts::check) fn type_named(&mut self, name: &str, span: Span) -> Option<Ty> {
        if let Some(NameKind::Type(made)) = self.names.get(name).map(|found| found.kind.clone()) {
            self.names.use_of(name);
            return Some(made.ty.clone());
        }
        self.sort_named(name, span).map(Ty::Sort)
    }

    /// Arrays from `index` to elements of a type.
    pub(in crate::sts::check) fn array_type(
        &mut self,
        index: Sort,
        element: &Ty,
        span: Span,
    ) -> Option<Ty> {
        if has_lists(&element.shape()) {
            let message = "the elements of an array cannot be or contain lists";
            let help = "use a list of lists, `list[8] of list[4] of int`";
            self.report(Diagnostic::new(Code::E0510, span, message).help(help));
            return None;
        }
        let mut sorts = Vec::new();
        for &sort in element.sorts() {
            sorts.push(self.array_sort(index, sort, span)?);
        }
        Some(match element {
            Ty::Sort(_) => Ty::Sort(sorts[0]),
            Ty::Parts(shape, _) => Ty::Parts(Shape::Array(Arc::new(shape.clone())), sorts.into()),
        })
    }

    fn list_type(&mut self, node: &SyntaxNode, element: &Ty) -> Option<Ty> {
        let span = tree::span(node);
        let shape = Arc::new(element.shape());
        let deep = depth(&shape) >= MAX_DEPTH;
        let Some(written) = tree::expression(node) else {
            if has_lists(&shape) {
                let message = "the elements of a list without a limit cannot be or contain lists";
                let help = "give it a limit: `list[8] of …`";
                self.report(Diagnostic::new(Code::E0510, span, message).help(help));
                return None;
            }
            self.within_limits(2 + shape.width(), deep, span)?;
            let mut sorts = vec![Sort::Int, Sort::Int];
            for &sort in element.sorts() {
                sorts.push(self.array_sort(Sort::Int, sort, span)?);
            }
            return Some(Ty::Parts(Shape::Unbounded(shape), sorts.into()));
        };
        let before = std::mem::replace(&mut self.place, Place::Constant);
        let term = self.expression(&written, Some(Sort::Int));
        let term = term.and_then(|term| self.expect_sort(term, Sort::Int, &written));
        self.place = before;
        let limit = self.constant_value(term?, &written, "the limit of a list")?;
        let limit = match limit {
            Value::Int(limit) => usize::try_from(&limit).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        if limit == 0 {
            let message = "a list that can have no elements";
            self.report(Diagnostic::new(Code::E0508, tree::span(&written), message));
            return None;
        }
        let parts = limit.saturating_mul(shape.width()).saturating_add(1);
        self.within_limits(parts, deep, tree::span(&written))?;
        let mut sorts = vec![Sort::Int];
        (0..limit).for_each(|_| sorts.extend_from_slice(element.sorts()));
        Some(Ty::Parts(Shape::Bounded { limit: limit as u32, element: shape }, sorts.into()))
    }

    /// The name of a type in messages.
    pub(in crate::sts::check) fn type_name(&self, ty: &Ty) -> String {
        let Ty::Parts(shape, sorts) = ty else {
            return ty.sort().map_or_else(String::new, |sort| self.sort_name(sort));
        };
        let element = || ty.element().map_or_else(String::new, |e| self.type_name(&e));
        match shape {
            Shape::Scalar => String::new(),
            Shape::Record { name, .. } | Shape::Data { name, .. } => name.to_string(),
            Shape::Array(_) => match sorts.first() {
                Some(Sort::Array(array)) => {
                    format!("array[{}] of {}", self.sort_name(array.index()), element())
                }
                _ => String::new(),
            },
            Shape::Bounded { limit, .. } => format!("list[{limit}] of {}", element()),
            Shape::Unbounded(_) => format!("list of {}", element()),
        }
    }

    /// A type with its article, for messages.
    pub(in crate::sts::check) fn a_type(&self, ty: &Ty) -> String {
        match ty {
            Ty::Sort(sort) => self.a_sort(*sort),
            Ty::Parts(Shape::Record { .. } | Shape::Data { .. }, _) => {
                format!("a value of `{}`", self.type_name(ty))
            }
            Ty::Parts(..) => format!("a `{}`", self.type_name(ty)),
        }
    }

    /// The type of a value.
    pub(in crate::sts::check) fn ty(&self, value: &Val) -> Ty {
        let pool = &self.builder.pool;
        match value {
            Val::Term(term) => Ty::Sort(pool.sort(*term)),
            Val::Parts(shape, parts) => {
                Ty::Parts(shape.clone(), parts.iter().map(|&part| pool.sort(part)).collect())
            }
        }
    }

    /// A value of variables.
    pub(in crate::sts::check) fn value_of_symbols(&mut self, ty: &Ty, symbols: &[SymbolId]) -> Val {
        let terms: Vec<TermId> = symbols.iter().map(|&symbol| self.pool().var(symbol)).collect();
        Val::of(&ty.shape(), &terms)
    }

    /// What an arbitrary value satisfies: lengths of lists are possible ones, and parts that the
    /// value does not have are the default values.
    pub(in crate::sts::check) fn valid(&mut self, value: &Val) -> Vec<TermId> {
        let mut found = Vec::new();
        if let Val::Parts(shape, parts) = value {
            let tt = self.pool().tt();
            self.add_valid(shape, parts, tt, &mut found);
        }
        found
    }

    fn add_valid(
        &mut self,
        shape: &Shape,
        parts: &[TermId],
        when: TermId,
        found: &mut Vec<TermId>,
    ) {
        match shape {
            Shape::Scalar | Shape::Array(_) => {
                if self.builder.pool.as_bool(when) == Some(true) {
                    return;
                }
                for &part in parts {
                    let sort = self.builder.pool.sort(part);
                    let pool = self.pool();
                    let default = pool.constant(sort.first_value());
                    let unused = pool.eq(part, default);
                    found.push(pool.or([when, unused]));
                }
            }
            Shape::Record { fields, .. } => {
                for (at, (_, inner)) in fields.iter().enumerate() {
                    let from = offset(fields, at);
                    self.add_valid(inner, &parts[from..from + inner.width()], when, found);
                }
            }
            Shape::Data { fields, constructors, .. } => {
                self.add_valid(&Shape::Scalar, &parts[..1], when, found);
                for (at, (_, inner)) in fields.iter().enumerate() {
                    let from = 1 + offset(fields, at);
                    let has = self.has_constructor(parts[0], &owners(constructors, at));
                    let when = self.pool().and([when, has]);
                    self.add_valid(inner, &parts[from..from + inner.width()], when, found);
                }
            }
            Shape::Bounded { limit, element } => {
                let length = parts[0];
                self.add_valid(&Shape::Scalar, &parts[..1], when, found);
                let zero = self.pool().int(0);
                let limit = self.pool().int(i64::from(*limit));
                found.push(at_most(self.pool(), zero, length));
                found.push(at_most(self.pool(), length, limit));
                for (i, own) in parts[1..].chunks(element.width()).enumerate() {
                    let i = self.pool().int(i as i64);
                    let has = less(self.pool(), i, length);
                    let when = self.pool().and([when, has]);
                    self.add_valid(element, own, when, found);
                }
            }
            Shape::Unbounded(_) => {
                let zero = self.pool().int(0);
                found.push(at_most(self.pool(), zero, parts[1]));
                self.add_valid(&Shape::Scalar, parts, when, found);
            }
        }
    }

    /// The ranges that the parts of a value have in any case; parts that the value does not have
    /// are 0.
    pub(in crate::sts::check) fn part_ranges(&self, ty: &Ty) -> Vec<Option<Range>> {
        let mut found = Vec::new();
        self.add_part_ranges(&ty.shape(), false, &mut found);
        found
    }

    fn add_part_ranges(&self, shape: &Shape, optional: bool, found: &mut Vec<Option<Range>>) {
        match shape {
            Shape::Scalar => found.push(None),
            Shape::Record { name, fields } => {
                for field in fields.iter() {
                    self.add_field_range(name, field, optional, found);
                }
            }
            Shape::Data { name, fields, constructors } => {
                found.push(None);
                for (at, field) in fields.iter().enumerate() {
                    let some = owners(constructors, at).len() < constructors.len();
                    self.add_field_range(name, field, optional || some, found);
                }
            }
            Shape::Bounded { limit, element } => {
                found.push(Some(Range { low: 0.into(), high: (*limit).into() }));
                for _ in 0..*limit {
                    self.add_part_ranges(element, true, found);
                }
            }
            Shape::Array(_) | Shape::Unbounded(_) => {
                found.extend((0..shape.width()).map(|_| None));
            }
        }
    }

    fn add_field_range(
        &self,
        owner: &str,
        (field, shape): &(String, Shape),
        optional: bool,
        found: &mut Vec<Option<Range>>,
    ) {
        if *shape != Shape::Scalar {
            return self.add_part_ranges(shape, optional, found);
        }
        let bounds = self.field_bounds.get(&(owner.to_owned(), field.clone()));
        let whole = bounds.and_then(|bounds| bounds.whole.clone());
        found.push(whole.map(|range| match optional {
            true => Range { low: range.low.min(0.into()), high: range.high.max(0.into()) },
            false => range,
        }));
    }

    /// What an arbitrary value of the type that `item` declares satisfies, beside the ranges that
    /// its parts have in any case.
    pub(in crate::sts::check) fn limits(
        &mut self,
        item: &SyntaxNode,
        value: &Val,
    ) -> Option<Vec<TermId>> {
        let mut found = self.valid(value);
        if value.term().is_none() {
            let ty = self.ty(value);
            self.no_ranges_inside(&ty, tree::span(item))?;
        }
        for range in self.ranges(item, value)? {
            // The builder adds ranges that hold in any case, see [`Checker::part_ranges`].
            if range.bounds.whole.is_some() && self.builder.pool.as_bool(range.when) == Some(true) {
                continue;
            }
            let x = value.parts()[range.part];
            let pool = self.pool();
            let (above, below) = (pool.le(range.bounds.low, x), pool.le(x, range.bounds.high));
            let within = pool.and([above, below]);
            found.push(pool.implies(range.when, within));
        }
        Some(found)
    }

    /// The parts of a value that have a range. `item` declares the type of the value.
    pub(in crate::sts::check) fn ranges(
        &mut self,
        item: &SyntaxNode,
        value: &Val,
    ) -> Option<Vec<Bounded>> {
        let Val::Parts(shape, parts) = value else { return Some(Vec::new()) };
        if let Some(range) = tree::child(item, K::RangeBounds) {
            let ty = self.ty(value);
            let message = format!("`{}` has no ranges", self.type_name(&ty));
            let diagnostic = Diagnostic::new(Code::E0306, tree::span(&range), message);
            self.report(diagnostic.help("give ranges to the fields of its declaration"));
            return None;
        }
        let mut found = Vec::new();
        let tt = self.pool().tt();
        self.add_ranges(shape, parts, 0, tt, &mut found)?;
        Some(found)
    }

    fn add_ranges(
        &mut self,
        shape: &Shape,
        parts: &[TermId],
        at: usize,
        when: TermId,
        found: &mut Vec<Bounded>,
    ) -> Option<()> {
        match shape {
            Shape::Scalar => {}
            Shape::Record { name, fields } => {
                for (k, (field, inner)) in fields.iter().enumerate() {
                    let from = offset(fields, k);
                    let own = &parts[from..from + inner.width()];
                    self.field_ranges((name, field), inner, own, at + from, when, found)?;
                }
            }
            Shape::Data { name, fields, constructors } => {
                for (k, (field, inner)) in fields.iter().enumerate() {
                    let from = 1 + offset(fields, k);
                    let own = &parts[from..from + inner.width()];
                    let has = self.has_constructor(parts[0], &owners(constructors, k));
                    let when = self.pool().and([when, has]);
                    self.field_ranges((name, field), inner, own, at + from, when, found)?;
                }
            }
            // Refused where the sort is declared, if the elements have ranges.
            Shape::Array(_) | Shape::Unbounded(_) => {}
            Shape::Bounded { element, .. } => {
                for (i, own) in parts[1..].chunks(element.width()).enumerate() {
                    let pool = self.pool();
                    let i_term = pool.int(i as i64);
                    let has = less(pool, i_term, parts[0]);
                    let when = pool.and([when, has]);
                    self.add_ranges(element, own, at + 1 + i * element.width(), when, found)?;
                }
            }
        }
        Some(())
    }

    fn field_ranges(
        &mut self,
        (owner, field): (&str, &str),
        shape: &Shape,
        parts: &[TermId],
        at: usize,
        when: TermId,
        found: &mut Vec<Bounded>,
    ) -> Option<()> {
        if *shape == Shape::Scalar {
            if let Some(bounds) = self.field_bounds.get(&(owner.to_owned(), field.to_owned())) {
                found.push(Bounded { part: at, bounds: bounds.clone(), when });
            }
            return Some(());
        }
        self.add_ranges(shape, parts, at, when, found)
    }

    /// Evaluates the ranges of fields, which may mention constants.
    pub(in crate::sts::check) fn declare_field_bounds(&mut self, items: &[SyntaxNode]) {
        for item in items.iter().filter(|i| matches!(i.kind(), K::RecordDecl | K::DataDecl)) {
            let Some(owner) = tree::name(item) else { continue };
            let mut seen: FxHashMap<String, Option<(TermId, TermId)>> = FxHashMap::default();
            for param in item.descendants().filter(|node| node.kind() == K::Param) {
                let ranged = tree::child(&param, K::RangeBounds);
                let bounds = match &ranged {
                    Some(range) => {
                        let Some(ty) = self.type_of(&param) else { continue };
                        let Some(sort) = ty.sort() else {
                            let message = format!("`{}` has no ranges", self.type_name(&ty));
                            self.report(Diagnostic::new(Code::E0306, tree::span(range), message));
                            continue;
                        };
                        let Some(bounds) = self.bounds(&param, sort) else { continue };
                        Some(bounds)
                    }
                    None => None,
                };
                let limits = bounds.as_ref().map(|b| (b.low, b.high));
                for token in tree::names(&param) {
                    let before = seen.insert(text(&token), limits);
                    if before.is_some_and(|before| before != limits) {
                        let message = format!("the field `{}` has two ranges", token.text());
                        let span = tree::token_span(&token);
                        let help = "constructors share fields of one name: give it one range";
                        self.report(Diagnostic::new(Code::E0301, span, message).help(help));
                    }
                    if let Some(bounds) = &bounds {
                        let key = (text(&owner), text(&token));
                        self.field_bounds.insert(key, bounds.clone());
                    }
                }
            }
        }
    }

    /// Reports ranges inside arrays and unbounded lists, which would need a quantifier.
    pub(in crate::sts::check) fn no_ranges_inside(&mut self, ty: &Ty, span: Span) -> Option<()> {
        let mut stack = vec![(ty.shape(), false)];
        while let Some((shape, inside)) = stack.pop() {
            match &shape {
                Shape::Scalar => {}
                Shape::Record { name, fields } | Shape::Data { name, fields, .. } => {
                    for (field, shape) in fields.iter() {
                        let key = (name.to_string(), field.clone());
                        if inside && self.field_bounds.contains_key(&key) {
                            let message = format!(
                                "the field `{field}` of `{name}` has a range, which elements of \
                                 arrays and of lists without a limit cannot have"
                            );
                            let help = "use a list with a limit, or remove the range and claim it";
                            self.report(Diagnostic::new(Code::E0306, span, message).help(help));
                            return None;
                        }
                        stack.push((shape.clone(), inside));
                    }
                }
                Shape::Array(element) | Shape::Unbounded(element) => {
                    stack.push(((**element).clone(), true));
                }
                Shape::Bounded { element, .. } => stack.push(((**element).clone(), inside)),
            }
        }
        Some(())
    }
}

fn depth(shape: &Shape) -> usize {
    match shape {
        Shape::Scalar => 0,
        Shape::Record { fields, .. } | Shape::Data { fields, .. } => {
            1 + fields.iter().map(|(_, shape)| depth(shape)).max().unwrap_or(0)
        }
        Shape::Array(element) | Shape::Unbounded(element) | Shape::Bounded { element, .. } => {
            1 + depth(element)
        }
    }
}

/// True if a part of a value is a list.
fn has_lists(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar => false,
        Shape::Record { fields, .. } | Shape::Data { fields, .. } => {
            fields.iter().any(|(_, shape)| has_lists(shape))
        }
        Shape::Array(element) => has_lists(element),
        Shape::Bounded { .. } | Shape::Unbounded(_) => true,
    }
}
