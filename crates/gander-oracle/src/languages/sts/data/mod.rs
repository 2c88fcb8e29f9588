//! Random `.sts` models with records, data and lists, and their meaning by docs/semantics.md:
//! values are trees, not parts.

mod generate;
mod interpret;
mod print;

use crate::languages::Model;
use crate::random::Random;

/// A field or element of one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Leaf {
    Bool,
    /// `Red` or `Green`
    Colour,
    /// With the range 0..1 as a field.
    Int,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Type {
    Leaf(Leaf),
    Record,
    Data,
    List(usize, Box<Type>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Value {
    Bool(bool),
    Colour(usize),
    Int(i64),
    Record(Vec<Value>),
    /// The constructor and its fields.
    Data(usize, Vec<Value>),
    List(Vec<Value>),
}

/// The declared sorts: one record `R` and one data sort `D`. One may be a field of the other.
#[derive(Clone, Debug)]
struct Sorts {
    /// The fields of the record, `a`, `b`.
    record: Vec<Type>,
    /// The fields of data, `f`, `g`, `h`.
    fields: Vec<Type>,
    /// The constructors: their fields.
    constructors: Vec<Vec<usize>>,
}

#[derive(Clone, Debug)]
enum Expr {
    Value(Value),
    Var(usize),
    Next(usize),
    Parameter,
    /// A name bound by a quantifier or pattern, counted from the outermost.
    Bound(usize),
    /// The field of a record.
    Select(Box<Expr>, usize),
    /// The field of data.
    SelectData(Box<Expr>, usize),
    WithField(Box<Expr>, usize, Box<Expr>),
    WithDataField(Box<Expr>, usize, Box<Expr>),
    Is(Box<Expr>, usize),
    /// For each constructor a case, whose names are bound.
    Match(Box<Expr>, Vec<Expr>),
    Make(Vec<Expr>),
    Construct(usize, Vec<Expr>),
    Equal(Box<Expr>, Box<Expr>),
    Less(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The sum modulo 2.
    Sum(Box<Expr>, Box<Expr>),
    Exists(Type, Box<Expr>),
    Forall(Type, Box<Expr>),
    /// The list and the type of its elements.
    At(Box<Expr>, Box<Expr>, Type),
    Head(Box<Expr>, Type),
    Last(Box<Expr>, Type),
    Length(Box<Expr>),
    Tail(Box<Expr>),
    Contains(Box<Expr>, Box<Expr>),
    /// The list, the element, and the limit.
    Append(Box<Expr>, Box<Expr>, usize),
    Cons(Box<Expr>, Box<Expr>, usize),
    WithElement(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Debug)]
struct Variable {
    ty: Type,
    is_input: bool,
}

#[derive(Clone, Debug)]
enum Part {
    Assign(usize, Expr),
    /// The field of a record, or of data.
    AssignField(usize, usize, Expr),
    Any(usize),
    AnyField(usize, usize),
    Constraint(Expr),
}

#[derive(Clone, Debug)]
struct Step {
    parameter: Option<Type>,
    guard: Option<Expr>,
    effect: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Claim {
    Always(Expr),
    Reachable(Expr),
    Eventually(Expr),
    Recurs(Expr),
    LeadsTo(Expr, Expr),
    Possible(Expr),
    ExistsAlways(Expr),
    NoDeadlock,
    InfiniteRun,
}

#[derive(Clone, Debug)]
struct Sts {
    sorts: Sorts,
    variables: Vec<Variable>,
    start: Vec<Expr>,
    steps: Vec<Step>,
    claims: Vec<Claim>,
}

impl Sts {
    fn claim_name(&self, i: usize) -> String {
        match &self.claims[i] {
            Claim::NoDeadlock => "no deadlock".to_string(),
            Claim::InfiniteRun => "infinite run".to_string(),
            _ => format!("p{i}"),
        }
    }
}

impl Sorts {
    /// All values of a type; ints are fields with the range 0..1.
    fn domain(&self, ty: &Type) -> Vec<Value> {
        let tuples = |types: Vec<&Type>| {
            let mut all: Vec<Vec<Value>> = vec![Vec::new()];
            for ty in types {
                let values = self.domain(ty);
                let with = |known: Vec<Value>| {
                    values
                        .iter()
                        .map(|v| known.iter().chain([v]).cloned().collect())
                        .collect::<Vec<Vec<Value>>>()
                };
                all = all.into_iter().flat_map(with).collect();
            }
            all
        };
        match ty {
            Type::Leaf(Leaf::Bool) => vec![Value::Bool(false), Value::Bool(true)],
            Type::Leaf(Leaf::Colour) => vec![Value::Colour(0), Value::Colour(1)],
            Type::Leaf(Leaf::Int) => vec![Value::Int(0), Value::Int(1)],
            Type::Record => {
                tuples(self.record.iter().collect()).into_iter().map(Value::Record).collect()
            }
            Type::Data => {
                let of = |(c, own): (usize, &Vec<usize>)| {
                    let fields = own.iter().map(|&f| &self.fields[f]).collect();
                    tuples(fields).into_iter().map(move |v| Value::Data(c, v)).collect::<Vec<_>>()
                };
                self.constructors.iter().enumerate().flat_map(of).collect()
            }
            Type::List(limit, element) => (0..=*limit)
                .flat_map(|n| tuples(vec![&**element; n]).into_iter().map(Value::List))
                .collect(),
        }
    }

    fn default(&self, ty: &Type) -> Value {
        match ty {
            Type::Leaf(Leaf::Bool) => Value::Bool(false),
            Type::Leaf(Leaf::Colour) => Value::Colour(0),
            Type::Leaf(Leaf::Int) => Value::Int(0),
            Type::Record => Value::Record(self.record.iter().map(|t| self.default(t)).collect()),
            Type::Data => {
                let own = self.constructors[0].iter().map(|&f| self.default(&self.fields[f]));
                Value::Data(0, own.collect())
            }
            Type::List(..) => Value::List(Vec::new()),
        }
    }

    fn has_ints(&self, ty: &Type) -> bool {
        match ty {
            Type::Leaf(leaf) => *leaf == Leaf::Int,
            Type::Record => self.record.iter().any(|t| self.has_ints(t)),
            Type::Data => {
                let used = self.constructors.iter().flatten();
                used.into_iter().any(|&f| self.has_ints(&self.fields[f]))
            }
            Type::List(_, element) => self.has_ints(element),
        }
    }
}

/// The model of a seed; `None` if it has too many states.
pub(super) fn model(random: &mut Random) -> Option<Model> {
    let sts = generate::generate(random);
    let claims = interpret::decide(&sts)?;
    Some(Model { text: print::text(&sts), claims })
}
