//! What editors ask about a text: symbols, names and their uses, colours, folds, completion.
//!
//! [`outline`] reads a text once and gives an [`Outline`]: definitions with the part of the text in
//! which each is visible, uses of names with the definitions that they refer to, tokens with their
//! roles, folds and nested regions. The functions of [`queries`] answer every question from it, for
//! all languages alike. One module per language knows the syntax.
//!
//! Invariants:
//! - any text has an outline, also one with errors; spans are inside of the text, at the borders of
//!   characters;
//! - definitions, uses and tokens are in the order of the text, tokens do not overlap;
//! - a use refers to the visible definition with the smallest scope.

mod build;
mod lustre;
pub mod queries;
mod script;
mod sts;
mod system;
mod tokens;
pub mod words;

use crate::Span;
use crate::language::Language;

pub use queries::{Completion, RenameError, SignatureHelp};
pub use system::outline_of_system;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum DefinitionKind {
    /// A specification, or a contract of Lustre.
    Module,
    /// A system of instances.
    System,
    /// An instance of a specification, or a process of a script.
    Instance,
    /// A node or function of Lustre.
    Function,
    /// A definition of `.sts`.
    Macro,
    /// A type or enumeration.
    Type,
    /// A value of an enumeration, or a constructor.
    EnumValue,
    /// A field of a record.
    Field,
    /// A constant.
    Constant,
    /// A state variable or local variable.
    Variable,
    /// An input.
    Input,
    /// An output.
    Output,
    /// A parameter of a transition or definition, or a bound variable.
    Parameter,
    /// A node of a control graph, or a state of a process.
    Node,
    /// A transition or rule.
    Transition,
    /// A start.
    Start,
    /// An assumption.
    Assumption,
    /// A claim.
    Claim,
    /// A fairness condition.
    Fairness,
    /// A mode of a contract.
    Mode,
}

impl DefinitionKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            DefinitionKind::Module => "specification",
            DefinitionKind::System => "system",
            DefinitionKind::Instance => "instance",
            DefinitionKind::Function => "node",
            DefinitionKind::Macro => "definition",
            DefinitionKind::Type => "type",
            DefinitionKind::EnumValue => "value",
            DefinitionKind::Field => "field",
            DefinitionKind::Constant => "constant",
            DefinitionKind::Variable => "variable",
            DefinitionKind::Input => "input",
            DefinitionKind::Output => "output",
            DefinitionKind::Parameter => "parameter",
            DefinitionKind::Node => "node",
            DefinitionKind::Transition => "transition",
            DefinitionKind::Start => "start",
            DefinitionKind::Assumption => "assumption",
            DefinitionKind::Claim => "claim",
            DefinitionKind::Fairness => "fairness condition",
            DefinitionKind::Mode => "mode",
        }
    }

    /// The names that may be confused with it: two definitions of different classes may have one
    /// name.
    pub(crate) fn class(self) -> Class {
        use DefinitionKind as D;
        match self {
            D::Module => Class::Module,
            D::System => Class::Claim,
            D::Instance => Class::Instance,
            D::Function => Class::Function,
            D::Type => Class::Type,
            D::Field => Class::Field,
            D::Macro
            | D::EnumValue
            | D::Constant
            | D::Variable
            | D::Input
            | D::Output
            | D::Parameter => Class::Value,
            D::Node => Class::Node,
            D::Transition => Class::Transition,
            D::Start => Class::Start,
            D::Assumption | D::Claim => Class::Claim,
            D::Fairness => Class::Fairness,
            D::Mode => Class::Mode,
        }
    }
}

/// Definitions that are looked up together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    Value,
    Type,
    Module,
    Instance,
    Function,
    Field,
    Node,
    Transition,
    Start,
    Claim,
    Fairness,
    Mode,
}

/// A definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Its name; for what has none, the words that begin it.
    pub name: String,
    /// What it stands for.
    pub kind: DefinitionKind,
    /// The name in the text; where it has none, the place to show.
    pub span: Span,
    /// False if the text gives it no name, so that it cannot be renamed.
    pub is_named: bool,
    /// The whole definition.
    pub whole: Span,
    /// The part of the text in which its name is visible.
    pub scope: Span,
    /// The definition that it is part of.
    pub parent: Option<usize>,
    /// Its declaration on one line, shortened.
    pub detail: String,
    /// Its sort or the specification of the instance, as written.
    pub sort: Option<String>,
    /// Its parameters as written, if it takes some.
    pub parameters: Option<Vec<String>>,
    /// The first definition of the same name, class and scope: several transitions may share a
    /// gate.
    pub group: usize,
}

/// A use of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The name in the text.
    pub span: Span,
    /// The definition; none if it is not in this text.
    pub definition: Option<usize>,
}

/// The role of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TokenRole {
    /// A word of the language.
    Keyword,
    /// A name of this kind; `true` at its definition.
    Name(DefinitionKind, bool),
    /// A sort or function of the language.
    Builtin,
    /// A number.
    Number,
    /// A text.
    Text,
    /// A comment.
    Comment,
    /// An annotation, such as `--%PROPERTY`.
    Annotation,
    /// An operator.
    Operator,
}

/// A token to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Where it is.
    pub span: Span,
    /// Its role.
    pub role: TokenRole,
}

/// A call with arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The name of what is called.
    pub name: Span,
    /// The arguments with their parentheses.
    pub arguments: Span,
    /// The definition of what is called.
    pub definition: Option<usize>,
}

/// Lines that can be folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    /// What is folded.
    pub span: Span,
    /// It is a comment.
    pub is_comment: bool,
}

/// What a text defines and uses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// The definitions, in the order of the text.
    pub definitions: Vec<Definition>,
    /// The uses of names, in the order of the text.
    pub uses: Vec<Use>,
    /// The tokens, in the order of the text.
    pub tokens: Vec<Token>,
    /// The parts of the text that can be folded.
    pub folds: Vec<Fold>,
    /// Nested parts of the text, by start; outer ones first.
    pub regions: Vec<Span>,
    /// The calls.
    pub calls: Vec<CallSite>,
    /// The words of the language.
    pub keywords: &'static [&'static str],
}

/// Reads a text of a language. Languages without a module here have an empty outline; see
/// [`outline_of_system`] for them.
pub fn outline(language: &Language, text: &str) -> Outline {
    match language.name {
        "sts" => sts::outline(text),
        "lustre" => lustre::outline(text),
        "script" => script::outline(text),
        _ => Outline::default(),
    }
}
