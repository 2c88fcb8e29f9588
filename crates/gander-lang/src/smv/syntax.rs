//! The abstract syntax of SMV files. Parts of expressions come before wholes.

use crate::diagnostics::span::Span;
use gander_term::{IBig, RBig};

#[derive(Clone, Debug)]
pub(super) struct Name {
    pub text: String,
    pub span: Span,
}

/// An expression: positions in [`File::parts`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Expr {
    pub root: u32,
    pub first: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Int(IBig),
    Bool(bool),
    /// `f'1/3`
    Real(RBig),
    /// `0ud8_4`: whether it is signed, the bits, the value.
    Word(bool, u32, IBig),
    /// A dotted name.
    Name(String),
    Unary(&'static str, u32),
    Binary(&'static str, u32, u32),
    Ite(u32, u32, u32),
    /// Conditions and values, alternating.
    Case(Vec<u32>),
    Set(Vec<u32>),
    Range(u32, u32),
    /// A word's bits.
    Bits(u32, u32, u32),
    /// An element of an array.
    Index(u32, u32),
    /// `next(e)` and other functions.
    Call(String, Vec<u32>),
}

#[derive(Clone, Debug)]
pub(super) enum Type {
    Boolean,
    Integer,
    Real,
    /// Whether it is signed, and the number of bits.
    Word(bool, u32),
    Range(Expr, Expr),
    /// Symbols or numbers.
    Values(Vec<String>),
    Module(Name, Vec<Expr>),
    /// The least and the greatest index, and the type of the elements.
    Array(Expr, Expr, Box<Type>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    State,
    Input,
    Frozen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Init,
    Next,
    Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spec {
    Invariant,
    Linear,
    Branching,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Module {
    pub name: String,
    pub params: Vec<Name>,
    pub vars: Vec<(Role, Name, Type)>,
    pub defines: Vec<(Name, Expr)>,
    pub assigns: Vec<(When, Name, Expr)>,
    pub init: Vec<Expr>,
    pub trans: Vec<Expr>,
    pub invar: Vec<Expr>,
    pub specs: Vec<(Spec, Option<Name>, Expr, Span)>,
}

#[derive(Debug, Default)]
pub(super) struct File {
    pub modules: Vec<Module>,
    pub parts: Vec<(Part, Span)>,
}

impl File {
    pub fn span(&self, e: Expr) -> Span {
        self.parts[e.root as usize].1
    }
}
