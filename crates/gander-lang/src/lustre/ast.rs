//! The abstract syntax of Lustre: JKind's language (Ghassabani 2018, chapter 4.3) and the part of
//! Kind 2's language that public model sets use.
//!
//! Expressions and types are stored in two arenas and referred to by ids. Invariant: children have
//! smaller ids than their parent. So a pass over an arena in order is bottom-up and needs no
//! recursion; an expression may be a million operators deep.

use crate::Span;
use gander_term::{IBig, RBig};

/// An interned word of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Word(pub u32);

/// An occurrence of a name.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    /// The word.
    pub word: Word,
    /// The place.
    pub span: Span,
}

/// An expression, an index into [`File::exprs`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ExprId(pub u32);

/// A type expression, an index into [`File::types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub u32);

/// A file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// The declarations in the order of the text.
    pub items: Vec<Item>,
    /// All expressions, children before parents.
    pub exprs: Vec<Expr>,
    /// All type expressions, children before parents. (The bounds and sizes in them are
    /// expressions.)
    pub types: Vec<Type>,
    /// The text of each [`Word`].
    pub words: Vec<Box<str>>,
    /// The root that the user chose, in place of those of the text.
    pub main: Option<Word>,
}

impl File {
    /// The text of a word.
    pub fn text(&self, word: Word) -> &str {
        &self.words[word.0 as usize]
    }

    /// An expression.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// A type expression.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }
}

/// A declaration.
#[derive(Clone, Debug)]
pub enum Item {
    /// `type T = …;`; without a right-hand side the type is abstract.
    Type {
        /// Its name.
        name: Name,
        /// Names of type parameters, `type T<A> = …`.
        type_params: Vec<Name>,
        /// The type that it abbreviates.
        definition: Option<TypeId>,
    },
    /// `const c: T = e;`, one for each name declared.
    Const(Const),
    /// A node or function.
    Node(Node),
    /// `contract C(…) returns (…); let … tel`
    Contract(ContractDecl),
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Const {
    /// Its name.
    pub name: Name,
    /// Its type, if written.
    pub ty: Option<TypeId>,
    /// Its value; `None` for a free constant, which has an arbitrary value that never changes.
    pub value: Option<ExprId>,
    /// The whole declaration.
    pub span: Span,
}

/// Node or function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// May have memory.
    Node,
    /// Has no memory: its outputs depend only on its inputs at the same instant.
    Function,
}

/// A node or function.
#[derive(Clone, Debug)]
pub struct Node {
    /// Node or function.
    pub kind: NodeKind,
    /// Its name.
    pub name: Name,
    /// `function rec`.
    pub recursive: Option<Span>,
    /// `imported`, or a JKind `function` without a body: its contract alone describes its outputs.
    pub imported: bool,
    /// Names of type parameters, `node N<T>`.
    pub type_params: Vec<Name>,
    /// Inputs, including constant ones.
    pub inputs: Vec<VarDecl>,
    /// Outputs.
    pub outputs: Vec<VarDecl>,
    /// The contract, `(*@contract … *)`; several blocks are joined.
    pub contract: Option<Contract>,
    /// Local variables.
    pub locals: Vec<VarDecl>,
    /// Local constants.
    pub consts: Vec<Const>,
    /// The body in the order of the text.
    pub body: Vec<Statement>,
    /// The header, from `node` to the end of `returns (…)`.
    pub header: Span,
    /// The whole span.
    pub span: Span,
}

/// A declared variable, one for each name.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeId,
    /// `const`: the same at every instant; known if the argument of a call is a constant.
    pub constant: bool,
    /// `x: T when c`.
    pub clock: Option<Clock>,
    /// `x: T | predicate`, Kind 2's short form of a subtype.
    pub refinement: Option<ExprId>,
}

/// The clock that a stream is sampled on.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The clock variable.
    pub variable: Name,
    /// The value of the clock variable at which the stream is sampled.
    pub value: ClockValue,
}

/// The value of a clock at which a sampled stream has a value.
#[derive(Clone, Copy, Debug)]
pub enum ClockValue {
    /// `when c`
    True,
    /// `when not c`
    False,
    /// `when Variant(c)`
    Variant(Name),
}

/// Whether all branches of a choice are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branches {
    /// All branches are: the assumptions of called functions are required at every instant.
    Strict,
    /// Only the branch that is taken.
    Lazy,
}

/// A part of a node's body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `x, y[i], r.f = e;`
    Equation(Equation),
    /// `assert e;`
    Assert {
        /// The assumed formula.
        expr: ExprId,
        /// The whole span.
        span: Span,
    },
    /// `--%PROPERTY e;` and its other spellings, `check e;`, `check "name" e;`, `check e provided
    /// g;`, `check reachable e;`
    Property(Property),
    /// `--%MAIN`
    Main(Span),
    /// `--%IVC a, b;`: elements whose role in a proof is requested. `r.f` and `a[0]` are given as
    /// written.
    Ivc(Vec<(ExprId, Span)>),
    /// `--%REALIZABLE a, b;`
    Realizable(Vec<Name>, Span),
    /// An imperative `if c then … elsif … else … fi`, or a lazy `when … end` or `cond … end`.
    If {
        /// Whether all branches are evaluated.
        branches: Branches,
        /// Conditions with their statements, in order.
        arms: Vec<(ExprId, Vec<Statement>)>,
        /// The statements of `else`; empty without `else`.
        otherwise: Vec<Statement>,
        /// The whole span.
        span: Span,
    },
    /// `frame (x, y) x = 0; let … tel`: a variable that the body does not define keeps its previous
    /// value.
    Frame {
        /// The framed variables.
        vars: Vec<Name>,
        /// Their initial values.
        initial: Vec<Equation>,
        /// The body.
        body: Vec<Statement>,
        /// The whole span.
        span: Span,
    },
}

/// An equation.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The defined variables or parts; empty for `() = call(…)`.
    pub left: Vec<Target>,
    /// The right-hand side.
    pub right: ExprId,
    /// The whole span, with the semicolon.
    pub span: Span,
}

/// The left-hand side of an equation.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable.
    pub name: Name,
    /// `[i][j]` (each an index variable or a constant), `.f`
    pub path: Vec<Selector>,
    /// The whole span.
    pub span: Span,
}

/// A part of a target's path.
#[derive(Clone, Copy, Debug)]
pub enum Selector {
    /// `[e]`; a name that is not declared elsewhere is bound here and ranges over all indices.
    Index(ExprId),
    /// `.f`
    Field(Name),
    /// `.%2`
    Component(u32, Span),
}

/// A property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name, if given. An unnamed property that is a single variable is named after it.
    pub name: Option<(String, Span)>,
    /// The formula that must hold at every instant, or be reached.
    pub expr: ExprId,
    /// `provided g`: the property is claimed only where `g` holds.
    pub provided: Option<ExprId>,
    /// Whether it must always hold or must be reachable.
    pub kind: PropertyKind,
    /// The whole span.
    pub span: Span,
}

/// The kind of a property.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// It holds at every instant.
    Always,
    /// It can be reached.
    Reachable(Reach),
}

/// The steps at which a goal must be reached.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// `from n`: at step n or later.
    pub from: Option<u64>,
    /// `within n`: at step n at the latest.
    pub within: Option<u64>,
    /// `at n`
    pub at: Option<u64>,
}

/// A `contract` declaration.
#[derive(Clone, Debug)]
pub struct ContractDecl {
    /// Its name.
    pub name: Name,
    /// Names of type parameters.
    pub type_params: Vec<Name>,
    /// Inputs.
    pub inputs: Vec<VarDecl>,
    /// Outputs.
    pub outputs: Vec<VarDecl>,
    /// Its items.
    pub contract: Contract,
    /// The whole span.
    pub span: Span,
}

/// The items of a contract.
#[derive(Clone, Debug)]
pub struct Contract {
    /// In the order of the text.
    pub items: Vec<ContractItem>,
    /// The whole span.
    pub span: Span,
}

/// A part of a contract.
#[derive(Clone, Debug)]
pub enum ContractItem {
    /// `const c: T = e;`
    Const(Const),
    /// `var x: T = e;` (ghost variable); a tuple of them shares one expression.
    Ghost {
        /// The declared variables.
        vars: Vec<VarDecl>,
        /// The value.
        value: ExprId,
        /// The whole span.
        span: Span,
    },
    /// `[weakly] assume ["name"] e;`
    Assume(ContractClause),
    /// `[weakly] guarantee ["name"] e;`
    Guarantee(ContractClause),
    /// `mode m ( require …; ensure …; );`
    Mode {
        /// Its name.
        name: Name,
        /// The conjuncts of its requirement.
        requires: Vec<ContractClause>,
        /// The conjuncts of what it ensures.
        ensures: Vec<ContractClause>,
        /// The whole span.
        span: Span,
    },
    /// `import C(e, …) returns (x, …);`
    Import {
        /// The contract.
        contract: Name,
        /// Types for its type parameters.
        type_args: Vec<TypeId>,
        /// The arguments for its inputs.
        inputs: Vec<ExprId>,
        /// The arguments for its outputs.
        outputs: Vec<ExprId>,
        /// The whole span.
        span: Span,
    },
    /// `decreases e, …;`, the termination measure of a recursive function.
    Decreases(Vec<ExprId>, Span),
}

/// A formula of a contract.
#[derive(Clone, Debug)]
pub struct ContractClause {
    /// Its name, if given.
    pub name: Option<(String, Span)>,
    /// The formula.
    pub expr: ExprId,
    /// `weakly`
    pub weakly: bool,
    /// The whole span.
    pub span: Span,
}

/// A type expression.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its kind.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of type expressions.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `real`
    Real,
    /// `int8` … `int64`, `uint8` … `uint64`, `sint<n>`, `uint<n>`
    Machine {
        /// True for two's complement, false for unsigned.
        signed: bool,
        /// The number of bits.
        width: u32,
    },
    /// `subrange [low, high] of int`; `*` means no bound. A `subrange` of a machine type has that
    /// type as base.
    Subrange {
        /// Least value.
        low: Option<ExprId>,
        /// Greatest value.
        high: Option<ExprId>,
        /// The type of the values.
        base: TypeId,
    },
    /// `enum { A, B }`
    Enum(Vec<Name>),
    /// `struct { f: T; … }`
    Record(Vec<(Name, TypeId)>),
    /// `[T, U]`
    Tuple(Vec<TypeId>),
    /// `T^n` and JKind's `T[n]`
    Array {
        /// The type of an element.
        element: TypeId,
        /// The number of elements.
        size: ExprId,
    },
    /// A declared type or a type parameter, with type arguments if any.
    Named(Name, Vec<TypeId>),
    /// `subtype { x: T | predicate }`
    Subtype {
        /// The variable.
        variable: Name,
        /// Its type.
        base: TypeId,
        /// The condition on its values.
        predicate: ExprId,
    },
    /// `datatype T = C(f: T, …) | D`, the type of a declaration. Constructors with their fields.
    Data(Vec<(Name, Vec<(Name, TypeId)>)>),
    /// A type that is recognised but not supported; a diagnostic was given. The text names it
    /// (`set`, `map`, `datatype`).
    Unsupported(&'static str),
    /// A type that could not be parsed; a diagnostic was given.
    Error,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its kind.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// `not`
    Not,
    /// `-`
    Neg,
    /// `pre`
    Pre,
    /// `!` on machine integers
    BitNot,
    /// `current`
    Current,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    And,
    Or,
    Xor,
    Implies,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    /// `/`: division of reals; on ints it means `div`, as in Kind 2.
    Divide,
    /// `div`
    IntDiv,
    /// `mod`
    Mod,
    /// `->`
    Arrow,
    /// `fby`: `a -> pre b`
    Fby,
    /// `&&` on machine integers
    BitAnd,
    /// `||` on machine integers
    BitOr,
    /// `lsh`
    ShiftLeft,
    /// `rsh`
    ShiftRight,
    /// `a | b`, concatenation of arrays
    Concat,
}

/// The target type of a cast.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastTo {
    /// `int(e)`, `int e`, `floor(e)`
    Int,
    /// `real(e)`
    Real,
    /// `int8 e` …
    Machine {
        /// True for two's complement, false for unsigned.
        signed: bool,
        /// The number of bits.
        width: u32,
    },
}

/// The kind of a quantifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuantifierKind {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// `12`, `0x1F`, `0b101`
    Int(IBig),
    /// `1.5`, `1e-3`
    Real(RBig),
    /// A variable, constant or variant.
    Name(Name),
    /// `::mode`, `::contract::mode`
    Mode(Vec<Name>),
    /// An operator with one operand.
    Unary(Unary, ExprId),
    /// An operator with two operands.
    Binary(Binary, ExprId, ExprId),
    /// `#(a, b, …)`: at most one is true, as in classical Lustre; the documents of JKind and Kind 2
    /// do not define it.
    AtMostOne(Vec<ExprId>),
    /// `if c then a else b`
    If(ExprId, ExprId, ExprId),
    /// Kind 2's lazy `when c then a else b`: the same value as `if`, but the assumptions of
    /// functions in the branch that is not taken are not required.
    Lazy(ExprId, ExprId, ExprId),
    /// A cast.
    Cast(CastTo, ExprId),
    /// `N(a, b)`, `N@<T>(a, b)`, `(restart N every r)(…)`, `(activate N every c)(…)` and their
    /// combinations, `condact(c, N(…), d, …)`
    Call(Box<Call>),
    /// `e when c`
    When(ExprId, Clock),
    /// `merge c (true -> a) (false -> b)`, `merge(c; a; b)`, `merge c (V1 -> a) …`
    Merge {
        /// The clock.
        clock: Name,
        /// The expression for each value of the clock.
        arms: Vec<(ClockValue, ExprId)>,
    },
    /// `(a, b)`: a list of values, like the outputs of a call.
    List(Vec<ExprId>),
    /// `{a, b}`: one tuple value
    Tuple(Vec<ExprId>),
    /// `e.%2`
    Component(ExprId, u32),
    /// `[a, b]`
    Array(Vec<ExprId>),
    /// `e^n`
    Repeat(ExprId, ExprId),
    /// `T {f = a; g = b}`
    Record(Name, Vec<(Name, ExprId)>),
    /// `T@<int> {f = a; g = b}`: a record whose type has type arguments
    RecordOf(TypeId, Vec<(Name, ExprId)>),
    /// `e.f`
    Field(ExprId, Name),
    /// `a[i]`
    Index(ExprId, ExprId),
    /// JKind's `e{f := v}` and `a[i := v]`, Kind 2's `(e with f = v)`, `(a with [i] = v)`: `e` with
    /// one part replaced.
    Update {
        /// The value before the update.
        base: ExprId,
        /// The path to the replaced part.
        path: Vec<Selector>,
        /// Its new value.
        value: ExprId,
    },
    /// `forall (i: T; …) body`
    Quantifier(QuantifierKind, Vec<(Name, TypeId)>, ExprId),
    /// Kind 2's `any@<T>`, `any T`, `any { x: T | p }`: an arbitrary value, chosen separately at
    /// every instant.
    Any {
        /// The type of the value.
        ty: TypeId,
        /// The variable and the condition that it satisfies if possible.
        such_that: Option<(Name, ExprId)>,
        /// `choose`: equal arguments give equal values, so a separate choice at every instant is
        /// too weak.
        deterministic: bool,
    },
    /// `last x`
    Last(Name),
    /// `match e with | pattern: a | … end`
    Match(ExprId, Vec<(Pattern, ExprId)>),
    /// `C?(e)`: true if `e` was built with the constructor C
    Tester(Name, ExprId),
    /// `C@<T>`: a constructor without fields whose type has type arguments
    Constructor(Name, Vec<TypeId>),
    /// An expression that is recognised but not supported; a diagnostic that names it was given.
    Unsupported(&'static str),
    /// An expression that could not be parsed; a diagnostic was given.
    Error,
}

/// The pattern of an arm of a `match`.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Its kind.
    pub kind: PatternKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of patterns. Patterns are nested no deeper than types.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`: any value
    Any,
    /// A constructor without fields if one has this name; otherwise a variable that matches any
    /// value.
    Name(Name),
    /// `C(p, …)`
    Constructor(Name, Vec<Pattern>),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The node or function.
    pub callee: Name,
    /// Types for its type parameters; may be omitted.
    pub type_args: Vec<TypeId>,
    /// The arguments.
    pub args: Vec<ExprId>,
    /// The callee runs only when this is true: `condact(c, …)`, `activate N every c`.
    pub activation: Option<Activation>,
    /// The callee restarts when this is true: `restart N every r`.
    pub restart: Option<ExprId>,
}

/// The condition under which a call runs.
#[derive(Clone, Debug)]
pub struct Activation {
    /// The condition.
    pub condition: ExprId,
    /// The outputs before the first run: `initial default`, or the last arguments of `condact`. If
    /// omitted, the outputs are sampled on the condition (`activate N every c` inside `merge`).
    pub defaults: Option<Vec<ExprId>>,
}
