//! Reading and changing parts: `p.x`, `p[x := 3]`, `match`.

use gander_system::Shape;
use gander_term::TermId;

use super::{Ty, Val, offset, owners};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::check::{Checker, text};
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;

/// A field of a value: its parts, and the condition under which the value has them.
pub(in crate::sts::check) struct Field {
    pub(in crate::sts::check) from: usize,
    pub(in crate::sts::check) shape: Shape,
    pub(in crate::sts::check) when: Option<TermId>,
}

impl Checker {
    /// The field of a value with this name; reports a name that is none.
    pub(in crate::sts::check) fn field(
        &mut self,
        value: &Val,
        name: &SyntaxToken,
    ) -> Option<Field> {
        let found = match value {
            Val::Parts(Shape::Record { fields, .. }, _) => {
                let at = fields.iter().position(|(field, _)| field == name.text());
                at.map(|at| Field {
                    from: offset(fields, at),
                    shape: fields[at].1.clone(),
                    when: None,
                })
            }
            Val::Parts(Shape::Data { fields, constructors, .. }, parts) => {
                let at = fields.iter().position(|(field, _)| field == name.text());
                at.map(|at| {
                    let has = self.has_constructor(parts[0], &owners(constructors, at));
                    let always = self.builder.pool.as_bool(has) == Some(true);
                    Field {
                        from: 1 + offset(fields, at),
                        shape: fields[at].1.clone(),
                        when: (!always).then_some(has),
                    }
                })
            }
            _ => None,
        };
        if found.is_none() {
            let ty = self.ty(value);
            self.unknown_field(&ty, name);
        }
        found
    }

    /// `value.field`; the default value if the constructor of the value does not have the field.
    pub(in crate::sts::check) fn selected(
        &mut self,
        value: &Val,
        name: &SyntaxToken,
    ) -> Option<Val> {
        let field = self.field(value, name)?;
        let width = field.shape.width();
        let own = Val::of(&field.shape, &value.parts()[field.from..field.from + width]);
        let Some(when) = field.when else { return Some(own) };
        let ty = self.ty(&own);
        let otherwise = self.default_value(&ty);
        Some(self.either(when, &own, &otherwise))
    }

    /// `base.field` for an expression.
    pub(in crate::sts::check) fn select(&mut self, node: &SyntaxNode) -> Option<Val> {
        let base = tree::expression(node)?;
        let name = tree::tokens(node).find(|token| token.kind() == K::Ident)?;
        let primes = self.primed.len();
        let values = self.primed_values.len();
        let value = self.value(&base, None)?;
        if tree::tokens(node).any(|token| token.kind() == K::Prime) {
            self.prime_on_field(node, &base);
            return None;
        }
        let selected = self.selected(&value, &name)?;
        self.narrow_primes(primes, values, &value, &selected);
        Some(selected)
    }

    /// Reports `p.x'`.
    pub(in crate::sts::check) fn prime_on_field(&mut self, node: &SyntaxNode, base: &SyntaxNode) {
        let whole = crate::sts::format::one_line(node, 60);
        let base = crate::sts::format::one_line(base, 60);
        let field = whole.trim_end_matches('\'').rsplit('.').next().unwrap_or_default().to_owned();
        let message = "the prime belongs to the variable, not to its field";
        let diagnostic = Diagnostic::new(Code::E0404, tree::span(node), message)
            .help(format!("write `{base}'.{field}`"));
        self.report(diagnostic);
    }

    /// After `p'.x` for a record `p`, only the field `x` of `p` counts as primed.
    fn narrow_primes(&mut self, primes: usize, values: usize, whole: &Val, selected: &Val) {
        if !matches!(whole, Val::Parts(Shape::Record { .. }, _)) || self.primed.len() == primes {
            return;
        }
        let tail = self.primed.split_off(primes);
        let next = |checker: &mut Checker, var| {
            let symbol = checker.builder.so_far().var(var).next;
            checker.pool().var(symbol)
        };
        let all: Vec<TermId> = tail.iter().map(|(var, _)| next(self, *var)).collect();
        if all != whole.parts() {
            self.primed.extend(tail);
            return;
        }
        let kept = tail.into_iter().zip(all).filter(|(_, term)| selected.parts().contains(term));
        self.primed.extend(kept.map(|(prime, _)| prime));
        self.primed_values.truncate(values);
        self.primed_values.push(selected.clone());
    }

    /// `p[x := 3]`: the value with another value of a field. A value whose constructor does not
    /// have the field stays as it is.
    pub(in crate::sts::check) fn with_field(
        &mut self,
        value: &Val,
        index: &SyntaxNode,
        new: &SyntaxNode,
    ) -> Option<Val> {
        let name = tree::ident(index).filter(|_| index.kind() == K::NameExpr);
        let Some(name) = name else {
            let ty = self.ty(value);
            let message =
                format!("the name of a field of `{}` is needed here", self.type_name(&ty));
            let help = "write for example `p[x := 3]`";
            self.report(Diagnostic::new(Code::E0212, tree::span(index), message).help(help));
            return None;
        };
        let field = self.field(value, &name)?;
        let range = field.from..field.from + field.shape.width();
        let old = Val::of(&field.shape, &value.parts()[range.clone()]);
        let ty = self.ty(&old);
        let mut new = self.typed(new, &ty)?;
        if let Some(when) = field.when {
            new = self.either(when, &new, &old);
        }
        let Val::Parts(shape, mut parts) = value.clone() else { return None };
        parts[range].copy_from_slice(new.parts());
        Some(Val::Parts(shape, parts))
    }

    /// `match s { Circle(r) -> r, Empty -> 0 }`
    pub(in crate::sts::check) fn matched(
        &mut self,
        node: &SyntaxNode,
        expected: Option<&Ty>,
    ) -> Option<Val> {
        let operand = tree::expression(node)?;
        let value = self.value(&operand, None)?;
        let count = match (self.ty(&value), &value) {
            (_, Val::Parts(Shape::Data { constructors, .. }, _)) => constructors.len(),
            (Ty::Sort(gander_term::Sort::Enum(id)), _) => {
                self.builder.pool.enumeration(id).variants.len()
            }
            (ty, _) => {
                let found = self.a_type(&ty);
                let message =
                    format!("`match` takes a value of a `data` sort, but this is {found}");
                self.report(Diagnostic::new(Code::E0302, tree::span(&operand), message));
                return None;
            }
        };
        let mut seen: Vec<Option<Span>> = vec![None; count];
        let mut bodies: Vec<(Option<usize>, SyntaxNode, Option<Val>)> = Vec::new();
        let mut expected = expected.cloned();
        let mut otherwise: Option<Span> = None;
        let mut good = true;
        for arm in tree::children(node, K::MatchArm) {
            let (Some(pattern), Some(body)) =
                (tree::child(&arm, K::Pattern), tree::expression(&arm))
            else {
                continue;
            };
            let span = tree::span(&pattern);
            let scope = self.locals.len();
            let position = match tree::reference(&pattern) {
                Some(token) => match self.position_of(&value, &token, &operand) {
                    Some(position) => Some(position),
                    None => {
                        good = false;
                        continue;
                    }
                },
                None => None,
            };
            let earlier = match position {
                Some(position) => seen[position].replace(span).or(otherwise),
                None if seen.iter().all(Option::is_some) => otherwise.or(seen[0]),
                None => otherwise.replace(span),
            };
            if let Some(earlier) = earlier {
                let message = "this case is never taken";
                let diagnostic = Diagnostic::new(Code::E0310, span, message)
                    .label(earlier, "an earlier case is taken instead");
                self.report(diagnostic);
                good = false;
            }
            if let Some(position) = position {
                good &= self.bind(&value, position, &pattern).is_some();
            }
            let result = if good { self.value(&body, expected.as_ref()) } else { None };
            self.locals.truncate(scope);
            good &= result.is_some();
            if let (None, Some(result)) = (&expected, &result) {
                expected = Some(self.ty(result));
            }
            bodies.push((position, body, result));
        }
        self.is_exhaustive(node, &value, &seen, otherwise)?;
        if !good {
            return None;
        }
        let mut cases: Vec<(Option<usize>, Val)> = Vec::new();
        // An int in one case and a real in another are reals.
        let real = bodies.iter().flat_map(|(_, _, v)| v).any(|v| {
            v.term().is_some_and(|term| self.builder.pool.sort(term) == gander_term::Sort::Real)
        });
        let ty = if real { Ty::Sort(gander_term::Sort::Real) } else { expected? };
        for (position, body, result) in bodies {
            cases.push((position, self.expect_type(result?, &ty, &body)?));
        }
        // All values are covered, so the last case needs no condition.
        cases.sort_by_key(|(position, _)| position.is_none());
        let (_, mut result) = cases.pop()?;
        for (position, case) in cases.into_iter().rev() {
            let when = self.has_constructor(value.parts()[0], &[position?]);
            result = self.either(when, &case, &result);
        }
        Some(result)
    }

    /// Makes the names of a pattern known. In its case the value has the fields.
    fn bind(&mut self, value: &Val, position: usize, pattern: &SyntaxNode) -> Option<()> {
        let names: Vec<SyntaxToken> = tree::names(pattern).collect();
        let none = (Vec::new(), None);
        let (own, data) = match value {
            Val::Parts(Shape::Data { constructors, fields, .. }, parts) => {
                (constructors[position].1.clone(), Some((fields.clone(), parts)))
            }
            _ => none,
        };
        if names.len() != own.len() {
            let message = match own.len() {
                1 => "this constructor has one field".to_owned(),
                n => format!("this constructor has {n} fields"),
            };
            let diagnostic = Diagnostic::new(Code::E0304, tree::span(pattern), message)
                .help("a pattern names each of them; `_` names one that is not needed");
            self.report(diagnostic);
            return None;
        }
        let Some((fields, parts)) = data else { return Some(()) };
        let mut bound: Vec<String> = Vec::new();
        for (name, &field) in names.iter().zip(&own) {
            if name.text() == "_" {
                continue;
            }
            if bound.iter().any(|known| known == name.text()) {
                let message = format!("`{}` is twice in this pattern", name.text());
                self.report(Diagnostic::new(Code::E0201, tree::token_span(name), message));
                return None;
            }
            bound.push(text(name));
            let from = 1 + offset(&fields, field);
            let shape = &fields[field].1;
            let part = Val::of(shape, &parts[from..from + shape.width()]);
            self.push_local(name, part);
        }
        Some(())
    }

    fn is_exhaustive(
        &mut self,
        node: &SyntaxNode,
        value: &Val,
        seen: &[Option<Span>],
        otherwise: Option<Span>,
    ) -> Option<()> {
        if otherwise.is_some() || seen.iter().all(Option::is_some) {
            return Some(());
        }
        let names: Vec<String> = match (value, self.ty(value)) {
            (Val::Parts(Shape::Data { constructors, .. }, _), _) => {
                constructors.iter().map(|(name, _)| name.clone()).collect()
            }
            (_, Ty::Sort(gander_term::Sort::Enum(id))) => {
                self.builder.pool.enumeration(id).variants.clone()
            }
            _ => Vec::new(),
        };
        let missing: Vec<String> = names
            .iter()
            .zip(seen)
            .filter(|(_, seen)| seen.is_none())
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        let message = format!("this `match` has no case for {}", missing.join(", "));
        let diagnostic = Diagnostic::new(Code::E0310, tree::span(node), message)
            .help("add the cases, or `else -> …` for all others");
        self.report(diagnostic);
        None
    }
}
