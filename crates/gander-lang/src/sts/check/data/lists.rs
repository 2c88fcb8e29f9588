//! Lists: literals, elements, `length`, `head`, `tail`, `last`, `append`, `cons`, `contains`.

use gander_system::Shape;
use gander_term::{Op, Sort, TermId};

use super::{Ty, Val, at_most, less, plus};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::sts::check::Checker;
use crate::sts::syntax::SyntaxNode;
use crate::sts::tree;

/// The functions on lists.
pub(in crate::sts::check) const LIST_FUNCTIONS: &[&str] =
    &["length", "head", "tail", "last", "append", "cons", "contains"];

impl Checker {
    /// `[a, b]`
    pub(in crate::sts::check) fn list_value(
        &mut self,
        node: &SyntaxNode,
        expected: Option<&Ty>,
    ) -> Option<Val> {
        let span = tree::span(node);
        let list =
            expected.filter(|ty| matches!(ty.shape(), Shape::Bounded { .. } | Shape::Unbounded(_)));
        let Some(ty) = list else {
            let message = match expected {
                Some(ty) => format!("expected {}, found a list", self.a_type(ty)),
                None => "it is not clear of which sort this list is".to_owned(),
            };
            let help = "compare it with a list, or assign it to one";
            self.report(Diagnostic::new(Code::E0301, span, message).help(help));
            return None;
        };
        let element = ty.element()?;
        let written: Vec<SyntaxNode> = tree::expressions(node).collect();
        if let Shape::Bounded { limit, .. } = ty.shape()
            && written.len() > limit as usize
        {
            let message = format!(
                "this list has {} elements, and a `{}` has at most {limit}",
                written.len(),
                self.type_name(ty)
            );
            self.report(Diagnostic::new(Code::E0301, span, message));
            return None;
        }
        let values: Vec<Option<Val>> =
            written.iter().map(|value| self.typed(value, &element)).collect();
        let values: Vec<Val> = values.into_iter().collect::<Option<_>>()?;
        let mut list = self.default_value(ty);
        for value in values {
            list = self.append(&list, &value);
        }
        Some(list)
    }

    /// `f(…)` for a function on lists.
    pub(in crate::sts::check) fn list_function(
        &mut self,
        name: &str,
        args: &[SyntaxNode],
        span: Span,
        expected: Option<&Ty>,
    ) -> Option<Val> {
        let count = if matches!(name, "append" | "cons" | "contains") { 2 } else { 1 };
        self.count(name, args, count, count, span)?;
        let at = usize::from(name == "cons");
        let wanted = if matches!(name, "tail" | "append" | "cons") { expected } else { None };
        let list = self.value(&args[at], wanted)?;
        let ty = self.ty(&list);
        if !matches!(ty.shape(), Shape::Bounded { .. } | Shape::Unbounded(_)) {
            let found = self.a_type(&ty);
            let message = format!("`{name}` takes a list, but this is {found}");
            let mut diagnostic = Diagnostic::new(Code::E0302, tree::span(&args[at]), message);
            if name == "cons" {
                diagnostic = diagnostic.help("the element comes first: `cons(x, q)`");
            }
            self.report(diagnostic);
            return None;
        }
        let element = ty.element()?;
        let given = match count {
            2 => Some(self.typed(&args[1 - at], &element)?),
            _ => None,
        };
        let zero = self.pool().int(0);
        Some(match (name, given) {
            ("length", _) => Val::Term(length(&list)),
            ("head", _) => self.element_or_default(&list, zero),
            ("last", _) => {
                let one = self.pool().int(1);
                let last = self.pool().mk(Op::Sub, &[length(&list), one]).ok()?;
                self.element_or_default(&list, last)
            }
            ("tail", _) => self.tail(&list),
            ("append", Some(given)) => self.append(&list, &given),
            ("cons", Some(given)) => self.cons(&given, &list),
            (_, Some(given)) => Val::Term(self.contains(&list, &given, args, span)?),
            _ => return None,
        })
    }

    /// `q[i]`, and the default value if the list has no such element.
    pub(in crate::sts::check) fn element_or_default(&mut self, list: &Val, i: TermId) -> Val {
        let Some(element) = self.ty(list).element() else { return list.clone() };
        let parts = list.parts();
        let mut result = self.default_value(&element);
        let zero = self.pool().int(0);
        if let Val::Parts(Shape::Bounded { element, .. }, parts) = list {
            for (k, own) in parts[1..].chunks(element.width()).enumerate().rev() {
                let pool = self.pool();
                let k = pool.int(k as i64);
                let (here, inside) = (pool.eq(i, k), less(pool, k, parts[0]));
                let when = pool.and([here, inside]);
                result = self.either(when, &Val::of(element, own), &result);
            }
            return result;
        }
        let own = self.element_at(parts, i);
        let pool = self.pool();
        let (low, high) = (at_most(pool, zero, i), less(pool, i, parts[1]));
        let when = pool.and([low, high]);
        self.either(when, &Val::of(&element.shape(), &own), &result)
    }

    /// `q[i := v]`; a list without such an element stays as it is.
    pub(in crate::sts::check) fn with_element(&mut self, list: &Val, i: TermId, new: &Val) -> Val {
        match list {
            Val::Parts(shape @ Shape::Bounded { element, .. }, parts) => {
                let mut result = vec![parts[0]];
                for (k, own) in parts[1..].chunks(element.width()).enumerate() {
                    let pool = self.pool();
                    let k = pool.int(k as i64);
                    let (here, inside) = (pool.eq(i, k), less(pool, k, parts[0]));
                    let when = pool.and([here, inside]);
                    let value = self.either(when, new, &Val::of(element, own));
                    result.extend_from_slice(value.parts());
                }
                Val::Parts(shape.clone(), result)
            }
            Val::Parts(shape @ Shape::Unbounded(_), parts) => {
                let pool = self.pool();
                let zero = pool.int(0);
                let (low, high) = (at_most(pool, zero, i), less(pool, i, parts[1]));
                let inside = pool.and([low, high]);
                let index = plus(pool, parts[0], i);
                let mut result = parts[..2].to_vec();
                for (&array, &value) in parts[2..].iter().zip(new.parts()) {
                    let stored = pool.mk(Op::Store, &[array, index, value]).unwrap_or(array);
                    result.push(pool.ite(inside, stored, array));
                }
                Val::Parts(shape.clone(), result)
            }
            _ => list.clone(),
        }
    }

    fn tail(&mut self, list: &Val) -> Val {
        let Val::Parts(shape, parts) = list else { return list.clone() };
        let pool = self.pool();
        let (zero, one) = (pool.int(0), pool.int(1));
        let old = length(list);
        let some = less(pool, zero, old);
        let shorter = pool.mk(Op::Sub, &[old, one]).unwrap_or(old);
        let shorter = pool.ite(some, shorter, zero);
        match shape {
            Shape::Bounded { element, .. } => {
                let width = element.width();
                let mut result = vec![shorter];
                result.extend_from_slice(&parts[1 + width..]);
                for &part in &parts[1..1 + width] {
                    let sort = pool.sort(part);
                    result.push(pool.constant(sort.first_value()));
                }
                Val::Parts(shape.clone(), result)
            }
            _ => {
                let next = plus(pool, parts[0], one);
                let mut result = parts.clone();
                result[0] = pool.ite(some, next, parts[0]);
                result[1] = shorter;
                Val::Parts(shape.clone(), result)
            }
        }
    }

    /// The list with an element more at its end; a full list stays as it is.
    fn append(&mut self, list: &Val, new: &Val) -> Val {
        let Val::Parts(shape, parts) = list else { return list.clone() };
        let one = self.pool().int(1);
        let old = length(list);
        let longer = plus(self.pool(), old, one);
        match shape {
            Shape::Bounded { limit, element } => {
                let full = self.pool().int(i64::from(*limit));
                let room = less(self.pool(), old, full);
                let mut result = vec![self.pool().ite(room, longer, old)];
                for (k, own) in parts[1..].chunks(element.width()).enumerate() {
                    let k = self.pool().int(k as i64);
                    let here = self.pool().eq(old, k);
                    let value = self.either(here, new, &Val::of(element, own));
                    result.extend_from_slice(value.parts());
                }
                Val::Parts(shape.clone(), result)
            }
            _ => {
                let pool = self.pool();
                let index = plus(pool, parts[0], old);
                let mut result = vec![parts[0], longer];
                for (&array, &value) in parts[2..].iter().zip(new.parts()) {
                    result.push(pool.mk(Op::Store, &[array, index, value]).unwrap_or(array));
                }
                Val::Parts(shape.clone(), result)
            }
        }
    }

    /// The list with an element more at its beginning; a full list stays as it is.
    fn cons(&mut self, new: &Val, list: &Val) -> Val {
        let Val::Parts(shape, parts) = list else { return list.clone() };
        let one = self.pool().int(1);
        let old = length(list);
        let longer = plus(self.pool(), old, one);
        match shape {
            Shape::Bounded { limit, element } => {
                let width = element.width();
                let full = self.pool().int(i64::from(*limit));
                let room = less(self.pool(), old, full);
                let mut moved = vec![longer];
                moved.extend_from_slice(new.parts());
                moved.extend_from_slice(&parts[1..parts.len() - width]);
                self.either(room, &Val::Parts(shape.clone(), moved), list)
            }
            _ => {
                let pool = self.pool();
                let first = pool.mk(Op::Sub, &[parts[0], one]).unwrap_or(parts[0]);
                let mut result = vec![first, longer];
                for (&array, &value) in parts[2..].iter().zip(new.parts()) {
                    result.push(pool.mk(Op::Store, &[array, first, value]).unwrap_or(array));
                }
                Val::Parts(shape.clone(), result)
            }
        }
    }

    fn contains(
        &mut self,
        list: &Val,
        wanted: &Val,
        args: &[SyntaxNode],
        span: Span,
    ) -> Option<TermId> {
        let Val::Parts(shape, parts) = list else { return None };
        let found = match shape {
            Shape::Bounded { element, .. } => {
                let mut any = Vec::new();
                for (k, own) in parts[1..].chunks(element.width()).enumerate() {
                    let equal = self.equal_values(&Val::of(element, own), wanted);
                    let Some(equal) = equal else { break };
                    let k = self.pool().int(k as i64);
                    let inside = less(self.pool(), k, parts[0]);
                    any.push(self.pool().and([inside, equal]));
                }
                (any.len() * element.width() + 1 == parts.len()).then(|| self.pool().or(any))
            }
            Shape::Unbounded(element) => {
                let bound = self.pool().declare_bound("i", Sort::Int);
                let i = self.pool().var(bound);
                let own = self.element_at(parts, i);
                let equal = self.equal_values(&Val::of(element, &own), wanted);
                equal.map(|equal| {
                    let pool = self.pool();
                    let zero = pool.int(0);
                    let (low, high) = (at_most(pool, zero, i), less(pool, i, parts[1]));
                    let body = pool.and([low, high, equal]);
                    pool.exists(&[bound], body)
                })
            }
            _ => None,
        };
        if found.is_none() {
            let ty = self.ty(wanted);
            self.no_equality(&ty, args.get(1).map_or(span, tree::span));
        }
        found
    }

    /// Reports a comparison of arrays of data.
    pub(in crate::sts::check) fn no_equality(&mut self, ty: &Ty, span: Span) {
        let message = format!("values of `{}` cannot be compared", self.type_name(ty));
        let diagnostic = Diagnostic::new(Code::E0510, span, message)
            .note("arrays of data are equal if all their elements are, which takes a quantifier")
            .help("write it: `forall i: int. a[i] == b[i]`");
        self.report(diagnostic);
    }
}

/// The length of a list.
fn length(list: &Val) -> TermId {
    match list {
        Val::Parts(Shape::Unbounded(_), parts) => parts[1],
        _ => list.parts()[0],
    }
}
