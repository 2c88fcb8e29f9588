//! The kinds of tokens and nodes of the lossless syntax tree.

/// Declares [`SyntaxKind`] and the table that converts numbers back to it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// Kind of a token or node.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum SyntaxKind { $($(#[$doc])* $kind,)* }

        const ALL: &[SyntaxKind] = &[$(SyntaxKind::$kind,)*];
    };
}

kinds! {
    // Tokens.
    Whitespace,
    LineComment,
    BlockComment,
    Ident,
    Int,
    Decimal,
    Text,
    Stray,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LBracket,
    RBracket,
    Comma,
    Semicolon,
    Colon,
    Dot,
    DotDot,
    Assign,
    Equals,
    EqEq,
    NotEq,
    LessEq,
    Less,
    GreaterEq,
    Greater,
    Plus,
    PlusPlus,
    Minus,
    Star,
    Slash,
    Percent,
    Caret,
    Bang,
    AndAnd,
    BarBar,
    Arrow,
    DoubleArrow,
    Prime,
    EndOfFile,
    // Nodes.
    SourceFile,
    SpecHeader,
    Reference,
    SystemDecl,
    Instance,
    FamilySize,
    Argument,
    Allow,
    Sync,
    SharedParams,
    SyncIndices,
    SyncMember,
    Receivers,
    SyncCondition,
    FinalDecl,
    EnumDecl,
    RecordDecl,
    DataDecl,
    Constructor,
    ConstDecl,
    VarDecl,
    InputDecl,
    DefineDecl,
    AssumeDecl,
    StartDecl,
    NodeDecl,
    NodeBody,
    Invariant,
    StepDecl,
    Transition,
    TransitionLabel,
    ParamList,
    Param,
    Index,
    SortRef,
    ListOf,
    RangeBounds,
    Target,
    Guard,
    EffectBlock,
    Assignment,
    Release,
    Constraint,
    Claim,
    ClaimWords,
    ReachStep,
    InNodes,
    WithClause,
    LeadsTo,
    Under,
    FairDecl,
    Name,
    NameRef,
    Literal,
    NameExpr,
    FieldExpr,
    SelectExpr,
    RecordExpr,
    ListExpr,
    IsExpr,
    MatchExpr,
    ParenExpr,
    NegExpr,
    NotExpr,
    PowerExpr,
    MulExpr,
    AddExpr,
    RelExpr,
    EqExpr,
    AndExpr,
    OrExpr,
    ImpliesExpr,
    IffExpr,
    IfExpr,
    CallExpr,
    IndexExpr,
    FillExpr,
    QuantExpr,
    FamilyExpr,
    MemberExpr,
    InExpr,
    FieldValue,
    MatchArm,
    Pattern,
    Error,
}

use SyntaxKind as K;

impl SyntaxKind {
    /// True if the token is layout: without meaning, but kept.
    pub fn is_trivia(self) -> bool {
        matches!(self, K::Whitespace | K::LineComment | K::BlockComment)
    }

    /// True for kinds of tokens.
    pub fn is_token(self) -> bool {
        (self as u16) < K::SourceFile as u16
    }

    /// True if the token is a comment.
    pub fn is_comment(self) -> bool {
        matches!(self, K::LineComment | K::BlockComment)
    }

    /// True if the node is an expression.
    pub fn is_expression(self) -> bool {
        (K::Literal as u16..=K::InExpr as u16).contains(&(self as u16))
    }

    /// The name of the token in messages.
    pub fn describe(self) -> &'static str {
        match self {
            K::Ident => "a name",
            K::Int | K::Decimal => "a number",
            K::Text => "a string",
            K::LParen => "`(`",
            K::RParen => "`)`",
            K::LBrace => "`{`",
            K::RBrace => "`}`",
            K::LBracket => "`[`",
            K::RBracket => "`]`",
            K::Comma => "`,`",
            K::Semicolon => "`;`",
            K::Colon => "`:`",
            K::Dot => "`.`",
            K::DotDot => "`..`",
            K::Assign => "`:=`",
            K::Equals => "`=`",
            K::Arrow => "`->`",
            K::BarBar => "`||`",
            K::EndOfFile => "the end of the file",
            _ => "something else",
        }
    }
}

/// The `.sts` language for [`rowan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sts {}

impl rowan::Language for Sts {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        ALL.get(raw.0 as usize).copied().unwrap_or(K::Error)
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

/// A node of the tree.
pub type SyntaxNode = rowan::SyntaxNode<Sts>;
/// A token of the tree.
pub type SyntaxToken = rowan::SyntaxToken<Sts>;
/// A node or a token of the tree.
pub type SyntaxElement = rowan::SyntaxElement<Sts>;

/// Words that cannot be names, because formulas would be ambiguous.
pub const RESERVED: &[&str] = &[
    "and", "or", "not", "implies", "iff", "div", "mod", "if", "then", "else", "true", "false",
    "forall", "exists", "in", "when",
];

/// True if a word cannot be a name.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}
