//! Values of several parts: records, data and lists, as authors see them.
//!
//! A system has no such sorts. A front-end declares a variable or parameter for each part, and an
//! [`Aggregate`] that says which parts belong together and how to show them. Nothing but the
//! presentation of runs reads it: the meaning of a system does not depend on it.
//!
//! The parts of a shape, in order:
//! - a scalar: itself;
//! - a record: the parts of its fields;
//! - data: the constructor, a value of an enumeration, then the parts of all fields;
//! - an array: for each part of its elements, an array;
//! - a bounded list: its length, then the parts of as many elements as it can have;
//! - an unbounded list: the index of its first element, its length, and for each part of its
//!   elements an array.
//!
//! Parts that a value does not have (fields of other constructors, elements behind the length) are
//! not shown. The front-end keeps them at the default value of their sort, except in arrays of data
//! and beyond the ends of an unbounded list (docs/semantics.md, section 1); nothing here relies on
//! it.

use std::sync::Arc;

use gander_term::{ArrayValue, IBig, Value};

use crate::system::{System, Transition, VarId};

/// The structure of a value of several parts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// A value of a sort.
    Scalar,
    /// A record.
    Record {
        /// The name of its sort.
        name: Arc<str>,
        /// Its fields, in the order of the declaration.
        fields: Arc<[(String, Shape)]>,
    },
    /// A value that one of several constructors makes.
    Data {
        /// The name of its sort.
        name: Arc<str>,
        /// The constructors with their fields, as positions in `fields`.
        constructors: Arc<[(String, Vec<usize>)]>,
        /// The fields of all constructors.
        fields: Arc<[(String, Shape)]>,
    },
    /// An array whose elements have several parts.
    Array(Arc<Shape>),
    /// A list of at most `limit` elements.
    Bounded {
        /// The greatest length.
        limit: u32,
        /// The shape of its elements.
        element: Arc<Shape>,
    },
    /// A list of any length.
    Unbounded(Arc<Shape>),
}

/// A variable or parameter of several parts. Its parts are consecutive variables of the system, or
/// parameters of the transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aggregate {
    /// Its name.
    pub name: String,
    /// Its structure.
    pub shape: Shape,
    /// The position of its first part.
    pub first: usize,
}

/// A variable as authors see it.
#[derive(Clone, Copy, Debug)]
pub struct ShownVar<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its structure.
    pub shape: &'a Shape,
    /// The first of the variables of the system that hold it.
    pub first: VarId,
    /// The number of variables that hold it.
    pub width: usize,
}

impl ShownVar<'_> {
    /// The variables that hold it.
    pub fn parts(&self) -> impl Iterator<Item = VarId> + use<> {
        (self.first.index()..self.first.index() + self.width).map(VarId::from)
    }
}

impl System {
    /// The variables of several parts, in the order of their parts.
    pub fn aggregates(&self) -> &[Aggregate] {
        &self.aggregates
    }

    /// The variables as authors see them, in the order of the system.
    pub fn shown_vars(&self) -> impl Iterator<Item = ShownVar<'_>> {
        let mut aggregates = self.aggregates.iter().peekable();
        let mut at = 0;
        std::iter::from_fn(move || {
            let var = self.vars.get(at)?;
            let first = VarId::from(at);
            let shown = match aggregates.next_if(|a| a.first == at) {
                Some(a) => {
                    ShownVar { name: &a.name, shape: &a.shape, first, width: a.shape.width() }
                }
                None => ShownVar { name: &var.name, shape: &Shape::Scalar, first, width: 1 },
            };
            at += shown.width.max(1);
            Some(shown)
        })
    }

    /// The value of a variable in a state as the author writes it; `scalar` shows one of its parts.
    /// The part is not known inside arrays.
    pub fn show_var(
        &self,
        var: &ShownVar<'_>,
        state: &[Value],
        scalar: &dyn Fn(Option<VarId>, &Value) -> String,
    ) -> String {
        let first = var.first.index();
        let leaf =
            |at: Option<usize>, value: &Value| scalar(at.map(|at| VarId::from(first + at)), value);
        var.shape.show(part(state, first, var.width), Some(0), &leaf)
    }
}

impl Transition {
    /// The parameters as authors see them: names and values. `texts` has a text for each parameter,
    /// which is shown for it where it is not part of an array; `values` are their values.
    pub fn show_params(&self, values: &[Value], texts: &[String]) -> Vec<(String, String)> {
        let mut aggregates = self.aggregates.iter().peekable();
        let mut shown = Vec::new();
        let mut at = 0;
        while let Some(param) = self.params.get(at) {
            let text = |at: usize| texts.get(at).cloned().unwrap_or_default();
            match aggregates.next_if(|a| a.first == at) {
                Some(a) => {
                    let width = a.shape.width();
                    // Elements of arrays have no text of their own: arrays are shown as they are.
                    let leaf = |part: Option<usize>, _: &Value| {
                        part.map_or_else(String::new, |part| text(at + part))
                    };
                    let value = match a.shape.has_arrays() {
                        true => texts.get(at..at + width).unwrap_or_default().join(", "),
                        false => a.shape.show(part(values, at, width), Some(0), &leaf),
                    };
                    shown.push((a.name.clone(), value));
                    at += width.max(1);
                }
                None => {
                    shown.push((param.name.clone(), text(at)));
                    at += 1;
                }
            }
        }
        shown
    }
}

impl Shape {
    /// The number of parts.
    pub fn width(&self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Record { fields, .. } => fields.iter().map(|(_, s)| s.width()).sum(),
            Shape::Data { fields, .. } => 1 + fields.iter().map(|(_, s)| s.width()).sum::<usize>(),
            Shape::Array(element) => element.width(),
            Shape::Bounded { limit, element } => 1 + *limit as usize * element.width(),
            Shape::Unbounded(element) => 2 + element.width(),
        }
    }

    /// The names of the parts of a value with this name: `p.x`, `s.is`, `q.length`, `q[0]`.
    pub fn part_names(&self, name: &str) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        self.add_part_names(name.to_owned(), &mut names);
        names
    }

    fn add_part_names(&self, name: String, names: &mut Vec<String>) {
        match self {
            Shape::Scalar => names.push(name),
            Shape::Record { fields, .. } => {
                for (field, shape) in fields.iter() {
                    shape.add_part_names(format!("{name}.{field}"), names);
                }
            }
            Shape::Data { fields, .. } => {
                names.push(format!("{name}.is"));
                for (field, shape) in fields.iter() {
                    shape.add_part_names(format!("{name}.{field}"), names);
                }
            }
            Shape::Array(element) => element.add_part_names(name, names),
            Shape::Bounded { limit, element } => {
                names.push(format!("{name}.length"));
                for i in 0..*limit {
                    element.add_part_names(format!("{name}[{i}]"), names);
                }
            }
            Shape::Unbounded(element) => {
                names.push(format!("{name}.first"));
                names.push(format!("{name}.length"));
                element.add_part_names(format!("{name}.elements"), names);
            }
        }
    }

    /// True if a part of it is an array.
    pub fn has_arrays(&self) -> bool {
        match self {
            Shape::Scalar => false,
            Shape::Record { fields, .. } | Shape::Data { fields, .. } => {
                fields.iter().any(|(_, s)| s.has_arrays())
            }
            Shape::Bounded { element, .. } => element.has_arrays(),
            Shape::Array(_) | Shape::Unbounded(_) => true,
        }
    }

    /// A value as the author writes it. `values` are the values of its parts, of which the first is
    /// the part number `at` of the whole, if that is known. `scalar` shows one of them.
    fn show(&self, values: &[Value], at: Option<usize>, scalar: &ShowScalar<'_>) -> String {
        let inner = |shape: &Shape, offset: usize| {
            let values = part(values, offset, shape.width());
            shape.show(values, at.map(|at| at + offset), scalar)
        };
        match self {
            Shape::Scalar => values.first().map(|v| scalar(at, v)).unwrap_or_default(),
            Shape::Record { name, fields } => {
                let mut offset = 0;
                let mut shown = Vec::with_capacity(fields.len());
                for (field, shape) in fields.iter() {
                    shown.push(format!("{field}: {}", inner(shape, offset)));
                    offset += shape.width();
                }
                format!("{name}{{{}}}", shown.join(", "))
            }
            Shape::Data { constructors, fields, .. } => {
                let position = match values.first() {
                    Some(Value::Enum(_, position)) => *position as usize,
                    _ => 0,
                };
                let Some((name, own)) = constructors.get(position) else { return String::new() };
                let offset = |field: usize| {
                    1 + fields[..field].iter().map(|(_, s)| s.width()).sum::<usize>()
                };
                let shown: Vec<String> =
                    own.iter().map(|&field| inner(&fields[field].1, offset(field))).collect();
                if own.is_empty() { name.clone() } else { format!("{name}({})", shown.join(", ")) }
            }
            Shape::Array(element) => show_array(element, values, scalar),
            Shape::Bounded { limit, element } => {
                let length = length(values.first()).min(*limit as usize);
                let shown: Vec<String> =
                    (0..length).map(|i| inner(element, 1 + i * element.width())).collect();
                format!("[{}]", shown.join(", "))
            }
            Shape::Unbounded(element) => {
                let Some(Value::Int(first)) = values.first() else { return String::new() };
                let length = length(values.get(1));
                let arrays = values.get(2..).unwrap_or_default();
                let mut shown: Vec<String> = (0..length.min(MAX_SHOWN))
                    .map(|i| {
                        let index = Value::Int(first.clone() + IBig::from(i));
                        element.show(&at_index(arrays, &index), None, scalar)
                    })
                    .collect();
                if length > MAX_SHOWN {
                    shown.push(format!("… {} more", length - MAX_SHOWN));
                }
                format!("[{}]", shown.join(", "))
            }
        }
    }
}

/// Shows a value, which is the part with this number.
type ShowScalar<'a> = dyn Fn(Option<usize>, &Value) -> String + 'a;

/// Of longer lists, the rest is counted.
const MAX_SHOWN: usize = 1000;

fn part(values: &[Value], at: usize, width: usize) -> &[Value] {
    values.get(at..at + width).unwrap_or_default()
}

fn length(value: Option<&Value>) -> usize {
    match value {
        Some(Value::Int(length)) => usize::try_from(length).unwrap_or(0),
        _ => 0,
    }
}

/// The elements of arrays at an index.
fn at_index(arrays: &[Value], index: &Value) -> Vec<Value> {
    let element = |array: &Value| match array {
        Value::Array(array) => array.get(index).clone(),
        other => other.clone(),
    };
    arrays.iter().map(element).collect()
}

/// `{3: Point{x: 1}, else: Point{x: 0}}`
fn show_array(element: &Shape, arrays: &[Value], scalar: &ShowScalar<'_>) -> String {
    let parts: Vec<&ArrayValue> = arrays
        .iter()
        .filter_map(|array| if let Value::Array(array) = array { Some(&**array) } else { None })
        .collect();
    let mut indices: Vec<&Value> =
        parts.iter().flat_map(|array| array.exceptions().iter().map(|(index, _)| index)).collect();
    indices.sort();
    indices.dedup();
    let mut out = String::from("{");
    for index in indices {
        let values = at_index(arrays, index);
        out += &format!("{}: {}, ", scalar(None, index), element.show(&values, None, scalar));
    }
    let rest: Vec<Value> = parts.iter().map(|array| array.default().clone()).collect();
    out + "else: " + &element.show(&rest, None, scalar) + "}"
}
