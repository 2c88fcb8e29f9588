//! Expressions: operator precedence with an explicit stack.
//!
//! From tight to loose; JKind and Kind 2 agree unless noted:
//! - `.f`, `[i]`, `{f := v}`, `[i := v]`;
//! - `^`;
//! - `not`, `!`, `pre`, `current`, casts to `int` and `real`, unary `-`. Kind 2 gives unary `-` the
//!   level of subtraction, so that `-a div b` is `-(a div b)` there; here it is `(-a) div b`, as in
//!   JKind;
//! - `lsh rsh`; `&&`; `||`; `++`;
//! - `* / div mod`; `+ -`; `< <= > >= = <>`; `in`; `and`; `or xor`; `=>` (right associative);
//! - the body of `forall` and `exists`;
//! - `->` and `fby` (right associative);
//! - the branch after `else`;
//! - `when c` and `|`;
//! - casts to machine integers: `int8 a + b` is `int8 (a + b)`, as in Kind 2.
//!
//! A frame of the stack is either an operator that waits for its right operand, and has a level, or
//! a bracket or keyword that waits for its partner, and has no level. A new operator first
//! completes all waiting operators on top of the stack that bind tighter.

use super::{K, Parser};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::lustre::ast::{
    Activation, Binary, Branches, CastTo, ClockValue, ExprId, ExprKind, Name, Pattern,
    QuantifierKind, Selector, TypeId, Unary,
};

/// Binding strength of an operator; larger is tighter.
pub(super) type Level = u8;

const ANY: Level = 0;
pub(super) const MACHINE_CAST: Level = 1;
const WHEN: Level = 2;
const ELSE: Level = 3;
const ARROW: Level = 4;
const QUANTIFIER: Level = 5;
const IMPLIES: Level = 6;
const OR: Level = 7;
const AND: Level = 8;
const IN: Level = 9;
const RELATION: Level = 10;
/// Sums and tighter operators.
pub(super) const SUM: Level = 11;
const PRODUCT: Level = 12;
const CONCATENATION: Level = 13;
const BIT_OR: Level = 14;
const BIT_AND: Level = 15;
const SHIFT: Level = 16;
pub(super) const PREFIX: Level = 17;
const POWER: Level = 18;

/// A call whose arguments are not yet parsed.
pub(super) struct Head {
    pub(super) start: u32,
    pub(super) callee: Name,
    pub(super) type_args: Vec<TypeId>,
    pub(super) activation: Option<Activation>,
    pub(super) restart: Option<ExprId>,
    /// Inside `condact`, where default values follow.
    pub(super) condact: bool,
}

/// A frame of the stack.
pub(super) enum Frame {
    Unary(Unary, u32),
    Cast(CastTo, u32, Level),
    Binary(Binary, ExprId, Level),
    /// `in`, `++`: parsed, but not supported
    Unsupported(&'static str, ExprId, Level),
    Quantifier(QuantifierKind, u32, Vec<(Name, TypeId)>),
    /// A lazy `and then`, `or else` or `==>`
    Lazy(Binary, ExprId, Level),
    /// After `if`
    Condition(Branches, u32),
    /// After `then`
    Then(Branches, u32, ExprId),
    /// After `else`
    Else(Branches, u32, ExprId, ExprId),
    Paren(u32, Vec<ExprId>),
    Tuple(u32, Vec<ExprId>),
    Array(u32, Vec<ExprId>),
    AtMostOne(u32, Vec<ExprId>),
    /// After `a[`
    Index(ExprId, u32),
    /// After `a[i :=`
    IndexUpdate(ExprId, ExprId, u32),
    /// After `e{f :=`
    FieldUpdate(ExprId, Name, u32),
    /// After `(e with …[`
    WithIndex(u32, ExprId, Vec<Selector>),
    /// After `(e with path =`
    WithValue(u32, ExprId, Vec<Selector>),
    Record(Box<RecordHead>),
    Arguments(Box<Head>, Vec<ExprId>),
    CondactCondition(u32),
    CondactDefaults(Box<Head>, Vec<ExprId>, Vec<ExprId>),
    /// After `(restart N every`, possibly inside `activate`
    Restart(Box<Head>, RestartPlace),
    /// After `(activate N every`
    Activate(Box<Head>),
    /// After `initial default`
    Defaults(Box<Head>, Vec<ExprId>),
    /// After `merge(c;`
    MergePair(u32, Name, Option<ExprId>),
    /// After `match`
    Scrutinee(u32),
    /// After `match e with … | pattern :`
    MatchArm(Box<MatchHead>),
    /// After `C?(`
    Tester(u32, Name),
    /// After `merge c (V ->`
    MergeArm(u32, Name, Box<(Vec<(ClockValue, ExprId)>, ClockValue)>),
}

/// The position of a `restart`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RestartPlace {
    /// `(restart N every r)(…)`
    Alone,
    /// `(activate (restart N every r) every c)(…)`
    InsideActivate,
    /// `(activate N every c restart every r)(…)`
    AfterActivate,
    /// `condact(c, (restart N every r)(…), …)`
    InsideCondact,
}

/// A record with fields not yet parsed.
pub(super) struct RecordHead {
    pub(super) start: u32,
    pub(super) name: Name,
    pub(super) ty: Option<TypeId>,
    pub(super) fields: Vec<(Name, ExprId)>,
    pub(super) field: Name,
}

/// A `match` with arms not yet parsed.
pub(super) struct MatchHead {
    pub(super) start: u32,
    pub(super) scrutinee: ExprId,
    pub(super) arms: Vec<(Pattern, ExprId)>,
    pub(super) pattern: Pattern,
}

impl Frame {
    /// The binding strength of an operator; `None` for a frame that waits for a partner.
    fn level(&self) -> Option<Level> {
        Some(match self {
            Frame::Unary(..) => PREFIX,
            Frame::Cast(_, _, level) | Frame::Unsupported(_, _, level) => *level,
            Frame::Binary(_, _, level) | Frame::Lazy(_, _, level) => *level,
            Frame::Quantifier(..) => QUANTIFIER,
            Frame::Else(..) => ELSE,
            _ => return None,
        })
    }
}

/// A kind of list in brackets.
struct List {
    kind: fn(Vec<ExprId>) -> ExprKind,
    /// The frame of the list with its items so far.
    frame: fn(u32, Vec<ExprId>) -> Frame,
    close: K,
}

/// The next part of an expression.
pub(super) enum Next {
    /// An operand; the frames before it are on the stack.
    Operand,
    /// An operator, with this as its left operand.
    Operator(ExprId),
    /// Nothing: the expression is complete.
    Done(ExprId),
}

/// An expression being parsed.
pub(super) struct Machine {
    pub(super) stack: Vec<Frame>,
    /// The number of frames that wait for a partner.
    waiting: usize,
    /// Operators that bind looser than this end the expression.
    min_level: Level,
}

impl Machine {
    pub(super) fn push(&mut self, frame: Frame) {
        self.waiting += usize::from(frame.level().is_none());
        self.stack.push(frame);
    }

    /// True if a `|` starts the next arm of a `match`.
    fn in_match(&self) -> bool {
        let partner = self.stack.iter().rev().find(|frame| frame.level().is_none());
        matches!(partner, Some(Frame::MatchArm(_)))
    }

    fn pop(&mut self) -> Option<Frame> {
        let frame = self.stack.pop()?;
        self.waiting -= usize::from(frame.level().is_none());
        Some(frame)
    }
}

#[derive(Clone, Copy)]
enum Operator {
    Known(Binary),
    Lazy(Binary),
    Unsupported(&'static str),
}

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> Option<ExprId> {
        self.expression_of(ANY)
    }

    /// An expression whose operators outside brackets bind at least as tightly as `min_level`. A
    /// level above `ANY` also excludes `^`. The size of an array type is such an expression.
    pub(super) fn expression_of(&mut self, min_level: Level) -> Option<ExprId> {
        self.enter()?;
        let mut machine = Machine { stack: Vec::new(), waiting: 0, min_level };
        let found = self.run(&mut machine);
        if found.is_none() {
            self.open_braces += machine
                .stack
                .iter()
                .filter(|frame| matches!(frame, Frame::Record(..) | Frame::FieldUpdate(..)))
                .count();
        }
        self.leave();
        found
    }

    fn run(&mut self, machine: &mut Machine) -> Option<ExprId> {
        let mut next = Next::Operand;
        loop {
            next = match next {
                Next::Operand => self.operand(machine)?,
                Next::Operator(left) => self.operator(machine, left)?,
                Next::Done(whole) => return Some(whole),
            };
        }
    }

    pub(super) fn span_of(&self, id: ExprId) -> Span {
        self.file.exprs[id.0 as usize].span
    }

    /// Adds an expression that ends here and started at `start`.
    pub(super) fn add_since(&mut self, kind: ExprKind, start: u32) -> ExprId {
        let span = self.since(start);
        self.add(kind, span)
    }

    // Parsing after an operand.

    fn operator(&mut self, machine: &mut Machine, left: ExprId) -> Option<Next> {
        let start = self.span_of(left).start;
        match self.kind(0) {
            K::Dot if self.kind(1) == K::Word => {
                self.bump();
                let field = self.take_name();
                return Some(Next::Operator(self.add_since(ExprKind::Field(left, field), start)));
            }
            K::DotPercent => {
                self.bump();
                let component = self.component()?;
                return Some(Next::Operator(
                    self.add_since(ExprKind::Component(left, component), start),
                ));
            }
            K::LBracket => {
                machine.push(Frame::Index(left, self.start()));
                self.bump();
                return Some(Next::Operand);
            }
            K::LBrace if self.kind(1) == K::Word && self.kind(2) == K::Assign => {
                let opened = self.start();
                self.bump();
                let field = self.take_name();
                self.bump();
                machine.push(Frame::FieldUpdate(left, field, opened));
                return Some(Next::Operand);
            }
            _ => {}
        }
        if self.at(K::Bar) && machine.in_match() {
            return self.partner(machine, left);
        }
        if let Some((operator, level)) = self.infix() {
            let outside = machine.waiting == 0;
            if outside && (level < machine.min_level || machine.min_level > ANY && level == POWER) {
                return self.partner(machine, left);
            }
            self.warn_of_minus(machine, operator, level);
            let right_associative = matches!(level, IMPLIES | ARROW);
            let left = self.complete(machine, left, level + u8::from(right_associative));
            self.take_infix();
            machine.push(match operator {
                Operator::Known(binary) => Frame::Binary(binary, left, level),
                Operator::Lazy(binary) => Frame::Lazy(binary, left, level),
                Operator::Unsupported(construct) => Frame::Unsupported(construct, left, level),
            });
            return Some(Next::Operand);
        }
        if self.at_word("when") && !(machine.waiting == 0 && machine.min_level > ANY) {
            let left = self.complete(machine, left, WHEN);
            let start = self.span_of(left).start;
            self.bump();
            let sampled = match self.clock()? {
                Some(clock) => self.add_since(ExprKind::When(left, clock), start),
                None => left,
            };
            return Some(Next::Operator(sampled));
        }
        self.partner(machine, left)
    }

    pub(super) fn component(&mut self) -> Option<u32> {
        let number = match self.kind(0) {
            K::Int => self.text_of(self.at).parse().ok(),
            _ => None,
        };
        if number.is_none() {
            self.report_expected("the number of a component");
        } else {
            self.bump();
        }
        number
    }

    /// The infix operator at the next token, and its binding strength.
    fn infix(&mut self) -> Option<(Operator, Level)> {
        let known = |operator, level| Some((Operator::Known(operator), level));
        match self.kind(0) {
            K::Arrow => known(Binary::Arrow, ARROW),
            K::Implies => known(Binary::Implies, IMPLIES),
            K::LazyImplies => Some((Operator::Lazy(Binary::Implies), IMPLIES)),
            K::Equals => known(Binary::Eq, RELATION),
            K::NotEq => known(Binary::Ne, RELATION),
            K::Less => known(Binary::Lt, RELATION),
            K::LessEq => known(Binary::Le, RELATION),
            K::Greater => known(Binary::Gt, RELATION),
            K::GreaterEq => known(Binary::Ge, RELATION),
            K::Plus => known(Binary::Add, SUM),
            K::Minus => known(Binary::Sub, SUM),
            K::Star => known(Binary::Mul, PRODUCT),
            K::Slash => known(Binary::Divide, PRODUCT),
            K::PlusPlus => {
                Some((Operator::Unsupported("concatenation of machine integers"), CONCATENATION))
            }
            K::BarBar => known(Binary::BitOr, BIT_OR),
            K::And2 => known(Binary::BitAnd, BIT_AND),
            K::Caret => Some((Operator::Known(Binary::Concat), POWER)),
            K::Bar => known(Binary::Concat, WHEN),
            K::EqEq => {
                self.foreign("==", "=");
                known(Binary::Eq, RELATION)
            }
            K::BangEq => {
                self.foreign("!=", "<>");
                known(Binary::Ne, RELATION)
            }
            K::Word => match self.word(0) {
                "and" if self.word(1) == "then" => Some((Operator::Lazy(Binary::And), AND)),
                "and" => known(Binary::And, AND),
                "or" if self.word(1) == "else" => Some((Operator::Lazy(Binary::Or), OR)),
                "or" => known(Binary::Or, OR),
                "xor" => known(Binary::Xor, OR),
                "div" => known(Binary::IntDiv, PRODUCT),
                "mod" => known(Binary::Mod, PRODUCT),
                "fby" => known(Binary::Fby, ARROW),
                "lsh" => known(Binary::ShiftLeft, SHIFT),
                "rsh" => known(Binary::ShiftRight, SHIFT),
                "in" => Some((Operator::Unsupported("sets"), IN)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `-a div b`, `pre -a * b`: JKind and Kind 2 differ; gander reads it as JKind does.
    fn warn_of_minus(&mut self, machine: &Machine, operator: Operator, level: Level) {
        let [below @ .., Frame::Unary(Unary::Neg, start)] = &machine.stack[..] else { return };
        let delayed = matches!(below.last(), Some(Frame::Unary(Unary::Pre, _)));
        let same = matches!(operator, Operator::Known(Binary::Mul | Binary::Divide)) && !delayed;
        if level < PRODUCT || level == POWER || same {
            return;
        }
        let span = Span::new(*start, self.span(0).end);
        let message = "JKind and Kind 2 read this minus differently";
        self.diagnostics.push(
            Diagnostic::new(Code::W0821, span, message)
                .here("read as `(-a) op b`, as JKind does; Kind 2 reads `-(a op b)`")
                .help("write parentheses"),
        );
    }

    fn take_infix(&mut self) {
        // `and then`, `or else`: the same value, evaluated lazily.
        let lazy = matches!((self.word(0), self.word(1)), ("and", "then") | ("or", "else"));
        self.bump();
        if lazy {
            self.bump();
        }
    }

    fn foreign(&mut self, wrong: &str, right: &str) {
        let span = self.span(0);
        let diagnostic =
            Diagnostic::new(Code::E0130, span, format!("`{wrong}` is not an operator of Lustre"))
                .help(format!("write `{right}`"))
                .fix(span, right);
        self.report(diagnostic);
    }

    /// Completes the waiting operators that bind at least as tightly as `level`.
    fn complete(&mut self, machine: &mut Machine, mut right: ExprId, level: Level) -> ExprId {
        while machine.stack.last().and_then(Frame::level).is_some_and(|waiting| waiting >= level) {
            let Some(frame) = machine.pop() else { break };
            right = self.operation(frame, right);
        }
        right
    }

    fn operation(&mut self, frame: Frame, right: ExprId) -> ExprId {
        let end = self.span_of(right).end;
        let (kind, start) = match frame {
            Frame::Unary(operator, start) => (ExprKind::Unary(operator, right), start),
            Frame::Cast(to, start, _) => (ExprKind::Cast(to, right), start),
            Frame::Binary(Binary::Concat, left, POWER) => {
                (ExprKind::Repeat(left, right), self.span_of(left).start)
            }
            Frame::Binary(operator, left, _) => {
                (ExprKind::Binary(operator, left, right), self.span_of(left).start)
            }
            Frame::Unsupported(construct, left, _) => {
                let start = self.span_of(left).start;
                self.report_unsupported(construct, Span::new(start, end));
                (ExprKind::Unsupported(construct), start)
            }
            Frame::Quantifier(kind, start, variables) => {
                (ExprKind::Quantifier(kind, variables, right), start)
            }
            Frame::Lazy(operator, left, _) => {
                let start = self.span_of(left).start;
                // The value where the right operand is not evaluated.
                let rest = ExprKind::Bool(operator != Binary::And);
                let rest = self.add(rest, Span::new(start, end));
                let (then, otherwise) =
                    if operator == Binary::Or { (rest, right) } else { (right, rest) };
                (ExprKind::Lazy(left, then, otherwise), start)
            }
            Frame::Else(Branches::Strict, start, condition, then) => {
                (ExprKind::If(condition, then, right), start)
            }
            Frame::Else(Branches::Lazy, start, condition, then) => {
                (ExprKind::Lazy(condition, then, right), start)
            }
            _ => return right,
        };
        self.add(kind, Span::new(start, end))
    }

    /// No operator follows: the innermost waiting bracket or keyword gets its partner, or the
    /// expression ends.
    fn partner(&mut self, machine: &mut Machine, last: ExprId) -> Option<Next> {
        let value = self.complete(machine, last, ANY);
        let Some(frame) = machine.pop() else { return Some(Next::Done(value)) };
        match frame {
            Frame::Condition(branches, start) => {
                self.expect_word("then")?;
                machine.push(Frame::Then(branches, start, value));
            }
            Frame::Then(branches, start, condition) => {
                self.expect_else(start)?;
                machine.push(Frame::Else(branches, start, condition, value));
            }
            Frame::Paren(start, items) => return self.after_paren(machine, start, items, value),
            Frame::Tuple(start, items) => {
                let list = List { kind: ExprKind::Tuple, frame: Frame::Tuple, close: K::RParen };
                return self.after_item(machine, list, start, items, value);
            }
            Frame::Array(start, items) => {
                let list = List { kind: ExprKind::Array, frame: Frame::Array, close: K::RBracket };
                return self.after_item(machine, list, start, items, value);
            }
            Frame::AtMostOne(start, items) => {
                let list =
                    List { kind: ExprKind::AtMostOne, frame: Frame::AtMostOne, close: K::RParen };
                return self.after_item(machine, list, start, items, value);
            }
            Frame::Index(base, opened) => return self.after_index(machine, base, opened, value),
            Frame::IndexUpdate(base, index, opened) => {
                return self.after_index_update(machine, base, index, opened, value);
            }
            Frame::FieldUpdate(base, field, opened) => {
                self.expect_close(K::RBrace, "`}`", Span::new(opened, opened + 1))?;
                let start = self.span_of(base).start;
                let update = ExprKind::Update { base, path: vec![Selector::Field(field)], value };
                return Some(Next::Operator(self.add_since(update, start)));
            }
            Frame::WithIndex(start, base, mut path) => {
                self.expect(K::RBracket, "`]`")?;
                path.push(Selector::Index(value));
                return self.with_path(machine, start, base, path);
            }
            Frame::WithValue(start, base, path) => {
                self.expect_close(K::RParen, "`)`", Span::new(start, start + 1))?;
                let update = ExprKind::Update { base, path, value };
                return Some(Next::Operator(self.add_since(update, start)));
            }
            Frame::Record(head) => return self.after_field(machine, head, value),
            Frame::Arguments(head, mut args) => {
                args.push(value);
                if !self.eat(K::Comma) {
                    return self.close_arguments(machine, head, args);
                }
                machine.push(Frame::Arguments(head, args));
            }
            Frame::CondactCondition(start) => return self.condact_call(machine, start, value),
            Frame::CondactDefaults(head, args, mut defaults) => {
                defaults.push(value);
                if !self.eat(K::Comma) {
                    return self.close_condact(*head, args, defaults);
                }
                machine.push(Frame::CondactDefaults(head, args, defaults));
            }
            Frame::Restart(head, place) => return self.after_restart(machine, head, place, value),
            Frame::Activate(head) => return self.after_activation(machine, head, value),
            Frame::Defaults(head, defaults) => {
                return self.after_default(machine, head, defaults, value);
            }
            Frame::MergePair(start, clock, first) => {
                return self.after_merge_pair(machine, start, clock, first, value);
            }
            Frame::MergeArm(start, clock, arms) => {
                return self.after_merge_arm(machine, start, clock, *arms, value);
            }
            Frame::Scrutinee(start) => {
                self.expect_word("with")?;
                self.eat(K::Bar);
                return self.match_arm(machine, start, value, Vec::new());
            }
            Frame::MatchArm(head) => return self.after_match_arm(machine, *head, value),
            Frame::Tester(start, name) => {
                self.expect(K::RParen, "`)`")?;
                return Some(Next::Operator(self.add_since(ExprKind::Tester(name, value), start)));
            }
            // Unreachable: operators were completed above.
            Frame::Unary(..)
            | Frame::Cast(..)
            | Frame::Binary(..)
            | Frame::Lazy(..)
            | Frame::Unsupported(..)
            | Frame::Quantifier(..)
            | Frame::Else(..) => return Some(Next::Operator(value)),
        }
        Some(Next::Operand)
    }

    /// After an item of a list: the next item or the end of the list.
    fn after_item(
        &mut self,
        machine: &mut Machine,
        list: List,
        start: u32,
        mut items: Vec<ExprId>,
        item: ExprId,
    ) -> Option<Next> {
        items.push(item);
        if self.eat(K::Comma) {
            machine.push((list.frame)(start, items));
            return Some(Next::Operand);
        }
        let expected = if list.close == K::RParen { "`,` or `)`" } else { "`,` or `]`" };
        self.expect_close(list.close, expected, Span::new(start, start + 1))?;
        Some(Next::Operator(self.add_since((list.kind)(items), start)))
    }

    /// After the value in `m[i := value`: another element, or the end of the update.
    fn after_index_update(
        &mut self,
        machine: &mut Machine,
        base: ExprId,
        index: ExprId,
        opened: u32,
        value: ExprId,
    ) -> Option<Next> {
        let path = vec![Selector::Index(index)];
        let start = self.span_of(base).start;
        let update = ExprKind::Update { base, path, value };
        if self.eat(K::Semicolon) {
            // `m[i := a; j := b]` is `m[i := a][j := b]`
            let once = self.add_since(update, start);
            machine.push(Frame::Index(once, opened));
            return Some(Next::Operand);
        }
        self.expect_close(K::RBracket, "`]`", Span::new(opened, opened + 1))?;
        Some(Next::Operator(self.add_since(update, start)))
    }

    /// After the condition of `activate`: its defaults, or the call.
    fn after_activation(
        &mut self,
        machine: &mut Machine,
        mut head: Box<Head>,
        condition: ExprId,
    ) -> Option<Next> {
        head.activation = Some(Activation { condition, defaults: None });
        if self.at_word("initial") && self.word(1) == "default" {
            self.bump();
            self.bump();
            machine.push(Frame::Defaults(head, Vec::new()));
            return Some(Next::Operand);
        }
        self.after_activate(machine, head)
    }

    /// After a default of `activate`: the next one, or the call.
    fn after_default(
        &mut self,
        machine: &mut Machine,
        mut head: Box<Head>,
        mut defaults: Vec<ExprId>,
        default: ExprId,
    ) -> Option<Next> {
        defaults.push(default);
        if self.eat(K::Comma) {
            machine.push(Frame::Defaults(head, defaults));
            return Some(Next::Operand);
        }
        let defaults = self.flat(defaults);
        if let Some(activation) = &mut head.activation {
            activation.defaults = Some(defaults);
        }
        self.after_activate(machine, head)
    }
}
