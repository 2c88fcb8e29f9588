//! Records, data and lists (docs/language.md, docs/semantics.md section 1).
//!
//! The terms of a system have no such sorts. A value of several parts is a [`Val::Parts`]: a
//! [`Shape`] and a term for each part, as `gander_system::Shape` lists them. A variable or
//! parameter of several parts is one for each part.
//!
//! Parts that a value does not have (fields of another constructor, elements behind the end of a
//! list) do not matter: every operation that reads a part asks first whether the value has it
//! (selection, equality, `match`), so no proof needs an invariant about them. Nevertheless they are
//! the default values, so that equal values have equal parts, runs come back to a state, and
//! finite sorts stay finite: operations keep this, and constraints ensure it wherever a value is
//! arbitrary, as they ensure that lengths are possible ones ([`Checker::valid`]). Exceptions are
//! arrays of data, and lists without a limit.

mod declare;
mod lists;
mod select;
mod values;

use std::sync::Arc;

use gander_system::Shape;
use gander_term::{EnumId, Pool, Sort, TermId, Value};

pub(super) use lists::LIST_FUNCTIONS;

/// The number of parts of a value.
const MAX_PARTS: usize = 1000;
/// The nesting depth of shapes.
const MAX_DEPTH: usize = 32;

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    /// A value of one part.
    Sort(Sort),
    /// A value of several parts, and the sort of each.
    Parts(Shape, Arc<[Sort]>),
}

impl Ty {
    /// The sort of a value of one part.
    pub(super) fn sort(&self) -> Option<Sort> {
        match self {
            Ty::Sort(sort) => Some(*sort),
            Ty::Parts(..) => None,
        }
    }

    pub(super) fn shape(&self) -> Shape {
        match self {
            Ty::Sort(_) => Shape::Scalar,
            Ty::Parts(shape, _) => shape.clone(),
        }
    }

    pub(super) fn sorts(&self) -> &[Sort] {
        match self {
            Ty::Sort(sort) => std::slice::from_ref(sort),
            Ty::Parts(_, sorts) => sorts,
        }
    }

    fn of(shape: &Shape, sorts: &[Sort]) -> Ty {
        match (shape, sorts) {
            (Shape::Scalar, [sort]) => Ty::Sort(*sort),
            _ => Ty::Parts(shape.clone(), sorts.into()),
        }
    }

    /// The type of the elements of an array or list of elements of several parts.
    pub(super) fn element(&self) -> Option<Ty> {
        let Ty::Parts(shape, sorts) = self else { return None };
        let of_arrays = |element: &Shape, arrays: &[Sort]| {
            let sorts: Option<Vec<Sort>> = arrays
                .iter()
                .map(|sort| if let Sort::Array(a) = sort { Some(a.element()) } else { None })
                .collect();
            Some(Ty::of(element, &sorts?))
        };
        match shape {
            Shape::Array(element) => of_arrays(element, sorts),
            Shape::Unbounded(element) => of_arrays(element, sorts.get(2..)?),
            Shape::Bounded { element, .. } => {
                Some(Ty::of(element, sorts.get(1..1 + element.width())?))
            }
            _ => None,
        }
    }
}

/// The value of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Val {
    /// A value of one part.
    Term(TermId),
    /// A value of several parts.
    Parts(Shape, Vec<TermId>),
}

impl Val {
    pub(super) fn of(shape: &Shape, parts: &[TermId]) -> Val {
        match (shape, parts) {
            (Shape::Scalar, [term]) => Val::Term(*term),
            _ => Val::Parts(shape.clone(), parts.to_vec()),
        }
    }

    pub(super) fn parts(&self) -> &[TermId] {
        match self {
            Val::Term(term) => std::slice::from_ref(term),
            Val::Parts(_, parts) => parts,
        }
    }

    /// The value with each of its parts replaced.
    pub(super) fn map(self, replaced: impl FnMut(TermId) -> TermId) -> Val {
        match self {
            Val::Parts(shape, parts) => {
                Val::Parts(shape, parts.into_iter().map(replaced).collect())
            }
            Val::Term(term) => Val::Term({ replaced }(term)),
        }
    }

    pub(super) fn term(&self) -> Option<TermId> {
        match self {
            Val::Term(term) => Some(*term),
            Val::Parts(..) => None,
        }
    }
}

impl From<TermId> for Val {
    fn from(term: TermId) -> Val {
        Val::Term(term)
    }
}

/// A declared record or data sort.
#[derive(Clone, Debug)]
pub(super) struct TypeDecl {
    pub(super) ty: Ty,
    /// The enumeration of the constructors; none of a record.
    pub(super) tag: Option<EnumId>,
}

/// The positions of the constructors that have a field.
fn owners(constructors: &[(String, Vec<usize>)], field: usize) -> Vec<usize> {
    let has = |(at, (_, own)): (usize, &(String, Vec<usize>))| own.contains(&field).then_some(at);
    constructors.iter().enumerate().filter_map(has).collect()
}

/// Where the parts of a field of a record begin, or of data behind the constructor.
fn offset(fields: &[(String, Shape)], field: usize) -> usize {
    fields[..field].iter().map(|(_, shape)| shape.width()).sum()
}

/// `a < b`; lengths and indices are often constants.
fn less(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    match (pool.as_constant(a), pool.as_constant(b)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) => pool.constant(Value::Bool(a < b)),
        _ => pool.lt(a, b),
    }
}

/// `a <= b`
fn at_most(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    match (pool.as_constant(a), pool.as_constant(b)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) => pool.constant(Value::Bool(a <= b)),
        _ => pool.le(a, b),
    }
}

/// `a + b`
fn plus(pool: &mut Pool, a: TermId, b: TermId) -> TermId {
    match (pool.as_constant(a), pool.as_constant(b)) {
        (Some(Value::Int(a)), Some(Value::Int(b))) => pool.constant(Value::Int(a + b)),
        _ => pool.add(a, b),
    }
}
