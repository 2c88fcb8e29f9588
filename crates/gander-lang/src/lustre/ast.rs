//! The abstract syntax of Lustre: what JKind accepts (Ghassabani 2018, chapter 4.3) and what the public model sets use
//! of Kind 2's language.
//!
//! Expressions and types live in two arenas and are named by ids. Invariant: children have smaller ids than their
//! parent, so that a pass over an arena in order is a bottom-up pass, and nothing needs to recurse: an expression may
//! be a million operators deep.

use crate::Span;
use gander_term::{IBig, RBig};

/// An interned word of the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Word(pub u32);

/// A name where it occurs.
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
    /// All type expressions, children before parents. (The bounds and sizes in them are expressions.)
    pub types: Vec<Type>,
    /// The text of each [`Word`].
    pub words: Vec<Box<str>>,
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
        /// What it stands for.
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
    /// Its value; none for a free constant: any value, the same at every instant.
    pub value: Option<ExprId>,
    /// The whole declaration.
    pub span: Span,
}

/// Node or function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// May have memory.
    Node,
    /// Its outputs depend on nothing but its inputs at the same instant.
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
    /// `imported`, or a JKind `function` that has no body: its outputs are known by its contract only.
    pub imported: bool,
    /// Names of type parameters, `node N<T>`.
    pub type_params: Vec<Name>,
    /// Inputs; constant ones among them.
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
    /// All of it.
    pub span: Span,
}

/// A declared variable, one for each name.
#[derive(Clone, Debug)]
pub struct VarDecl {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeId,
    /// `const`: the same at every instant, and known when a call gives a constant.
    pub constant: bool,
    /// `x: T when c`.
    pub clock: Option<Clock>,
    /// `x: T | predicate`, Kind 2's short form of a subtype.
    pub refinement: Option<ExprId>,
}

/// What a stream is sampled on.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// The clock variable.
    pub variable: Name,
    /// What value of the clock samples.
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

/// Whether the branches of a choice are all evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branches {
    /// All are: what a called function assumes is demanded at every instant.
    Strict,
    /// Only the one that is taken.
    Lazy,
}

/// A part of a node's body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `x, y[i], r.f = e;`
    Equation(Equation),
    /// `assert e;`
    Assert {
        /// What is assumed.
        expr: ExprId,
        /// All of it.
        span: Span,
    },
    /// `--%PROPERTY e;` and its other spellings, `check e;`, `check "name" e;`, `check e provided g;`,
    /// `check reachable e;`
    Property(Property),
    /// `--%MAIN`
    Main(Span),
    /// `--%IVC a, b;`: elements whose part in a proof is asked for. `r.f` and `a[0]` are given as written.
    Ivc(Vec<(ExprId, Span)>),
    /// `--%REALIZABLE a, b;`
    Realizable(Vec<Name>, Span),
    /// An imperative `if c then … elsif … else … fi`, or a lazy `when … end` or `cond … end`.
    If {
        /// Whether all branches are evaluated.
        branches: Branches,
        /// Conditions with their statements, in order.
        arms: Vec<(ExprId, Vec<Statement>)>,
        /// The statements of `else`; empty without one.
        otherwise: Vec<Statement>,
        /// All of it.
        span: Span,
    },
    /// `frame (x, y) x = 0; let … tel`: what is not defined in the body keeps its last value.
    Frame {
        /// The framed variables.
        vars: Vec<Name>,
        /// Their initial values.
        initial: Vec<Equation>,
        /// The body.
        body: Vec<Statement>,
        /// All of it.
        span: Span,
    },
}

/// An equation.
#[derive(Clone, Debug)]
pub struct Equation {
    /// What is defined; empty for `() = call(…)`.
    pub left: Vec<Target>,
    /// The right-hand side.
    pub right: ExprId,
    /// All of it, with the semicolon.
    pub span: Span,
}

/// What an equation defines.
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable.
    pub name: Name,
    /// `[i][j]` (each an index variable or a constant), `.f`
    pub path: Vec<Selector>,
    /// All of it.
    pub span: Span,
}

/// A part of a target's path.
#[derive(Clone, Copy, Debug)]
pub enum Selector {
    /// `[e]`; a name that is not otherwise declared is bound here and stands for every index.
    Index(ExprId),
    /// `.f`
    Field(Name),
    /// `.%2`
    Component(u32, Span),
}

/// A property.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name, if given one. An unnamed property that is just a variable is named after it.
    pub name: Option<(String, Span)>,
    /// What must hold at every instant, or be reached.
    pub expr: ExprId,
    /// `provided g`: what holds when `g` does.
    pub provided: Option<ExprId>,
    /// Whether it is to hold always, or to be reachable.
    pub aim: Aim,
    /// All of it.
    pub span: Span,
}

/// What is asked of a property.
#[derive(Clone, Debug)]
pub enum Aim {
    /// It holds at every instant.
    Always,
    /// It can be reached.
    Reachable(Reach),
}

/// When something is to be reached.
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
    /// What it says.
    pub contract: Contract,
    /// All of it.
    pub span: Span,
}

/// The items of a contract.
#[derive(Clone, Debug)]
pub struct Contract {
    /// In the order of the text.
    pub items: Vec<ContractItem>,
    /// All of it.
    pub span: Span,
}

/// A part of a contract.
#[derive(Clone, Debug)]
pub enum ContractItem {
    /// `const c: T = e;`
    Const(Const),
    /// `var x: T = e;` (ghost variable); a tuple of them shares one expression.
    Ghost {
        /// What is declared.
        vars: Vec<VarDecl>,
        /// The value.
        value: ExprId,
        /// All of it.
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
        /// All of it.
        span: Span,
    },
    /// `import C(e, …) returns (x, …);`
    Import {
        /// The contract.
        contract: Name,
        /// Types for its type parameters.
        type_args: Vec<TypeId>,
        /// What its inputs are.
        inputs: Vec<ExprId>,
        /// What its outputs are.
        outputs: Vec<ExprId>,
        /// All of it.
        span: Span,
    },
    /// `decreases e, …;`, the termination measure of a recursive function.
    Decreases(Vec<ExprId>, Span),
}

/// A formula of a contract.
#[derive(Clone, Debug)]
pub struct ContractClause {
    /// Its name, if given one.
    pub name: Option<(String, Span)>,
    /// The formula.
    pub expr: ExprId,
    /// `weakly`
    pub weakly: bool,
    /// All of it.
    pub span: Span,
}

/// A type expression.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// What a type expression is.
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
        /// Two's complement, or without sign.
        signed: bool,
        /// Bits.
        width: u32,
    },
    /// `subrange [low, high] of int`; `*` is no bound. `subrange` over a machine type keeps it as base.
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
        /// How many.
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
        /// What its values satisfy.
        predicate: ExprId,
    },
    /// `datatype T = C(f: T, …) | D`, the type of a declaration. Constructors with their fields.
    Data(Vec<(Name, Vec<(Name, TypeId)>)>),
    /// A type we know of and do not support; a diagnostic was given. The text names it (`set`, `map`, `datatype`).
    Unsupported(&'static str),
    /// Where no type could be read; a diagnostic was given.
    Error,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
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
    /// `/`: of reals, and as Kind 2 has it of ints (then `div`).
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
    /// `a | b`, arrays one after the other
    Concat,
}

/// What a value is turned into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastTo {
    /// `int(e)`, `int e`, `floor(e)`
    Int,
    /// `real(e)`
    Real,
    /// `int8 e` …
    Machine {
        /// Two's complement, or without sign.
        signed: bool,
        /// Bits.
        width: u32,
    },
}

/// For all, or there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuantifierKind {
    /// `forall`
    Forall,
    /// `exists`
    Exists,
}

/// What an expression is.
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
    /// `#(a, b, …)`: at most one is true. The source documents do not define it; classical Lustre does.
    AtMostOne(Vec<ExprId>),
    /// `if c then a else b`
    If(ExprId, ExprId, ExprId),
    /// Kind 2's lazy `when c then a else b`: the same value, but what the branch that is not taken demands does not count.
    Lazy(ExprId, ExprId, ExprId),
    /// A cast.
    Cast(CastTo, ExprId),
    /// `N(a, b)`, `N@<T>(a, b)`, `(restart N every r)(…)`, `(activate N every c)(…)` and their combinations,
    /// `condact(c, N(…), d, …)`
    Call(Box<Call>),
    /// `e when c`
    When(ExprId, Clock),
    /// `merge c (true -> a) (false -> b)`, `merge(c; a; b)`, `merge c (V1 -> a) …`
    Merge {
        /// The clock.
        clock: Name,
        /// What the stream is, by the value of the clock.
        arms: Vec<(ClockValue, ExprId)>,
    },
    /// `(a, b)`: a list of values, as several outputs of a call are.
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
    /// `T@<int> {f = a; g = b}`: a record of a type that is given with its arguments
    RecordOf(TypeId, Vec<(Name, ExprId)>),
    /// `e.f`
    Field(ExprId, Name),
    /// `a[i]`
    Index(ExprId, ExprId),
    /// JKind's `e{f := v}` and `a[i := v]`, Kind 2's `(e with f = v)`, `(a with [i] = v)`: e with one part changed.
    Update {
        /// What is changed.
        base: ExprId,
        /// Which part.
        path: Vec<Selector>,
        /// Its new value.
        value: ExprId,
    },
    /// `forall (i: T; …) body`
    Quantifier(QuantifierKind, Vec<(Name, TypeId)>, ExprId),
    /// Kind 2's `any@<T>`, `any T`, `any { x: T | p }`: some value, chosen anew at every instant.
    Any {
        /// The type of the value.
        ty: TypeId,
        /// The variable and what it satisfies if possible.
        such_that: Option<(Name, ExprId)>,
        /// `choose`: the same value for the same arguments. Its meaning needs more than a free choice.
        deterministic: bool,
    },
    /// `last x`
    Last(Name),
    /// `match e with | pattern: a | … end`
    Match(ExprId, Vec<(Pattern, ExprId)>),
    /// `C?(e)`: e was built with the constructor C
    Tester(Name, ExprId),
    /// `C@<T>`: a constructor without fields, of a type that is given with its arguments
    Constructor(Name, Vec<TypeId>),
    /// An expression we know of and do not support; a diagnostic that names it was given.
    Unsupported(&'static str),
    /// Where no expression could be read; a diagnostic was given.
    Error,
}

/// What an arm of a `match` asks of a value.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// What a pattern is. Patterns are nested no deeper than types.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`: any value
    Any,
    /// A constructor without fields if there is one with this name, else any value, which the name stands for.
    Name(Name),
    /// `C(p, …)`
    Constructor(Name, Vec<Pattern>),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The node or function.
    pub callee: Name,
    /// Types for its type parameters; may be left out.
    pub type_args: Vec<TypeId>,
    /// What its inputs are.
    pub args: Vec<ExprId>,
    /// The callee runs only when this is true: `condact(c, …)`, `activate N every c`.
    pub activation: Option<Activation>,
    /// The callee begins anew when this is true: `restart N every r`.
    pub restart: Option<ExprId>,
}

/// When a call runs.
#[derive(Clone, Debug)]
pub struct Activation {
    /// When.
    pub condition: ExprId,
    /// What the outputs are before it ran first; `initial default` or the last arguments of `condact`. Without them
    /// the outputs are sampled on the condition (`activate N every c` inside `merge`).
    pub defaults: Option<Vec<ExprId>>,
}
