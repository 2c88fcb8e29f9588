//! A model under construction: one root with all instances that it calls, as one system.

use gander_system::{SystemBuilder, UndefinedValue};
use gander_term::{Op, Pool, Sort, TermId, Value, evaluate};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::Conditionals;
use crate::lustre::ast::*;
use crate::lustre::elaborate::checks::dialect::only_in_kind2;
use crate::lustre::elaborate::expressions::clocks::Clocks;
use crate::lustre::elaborate::expressions::values::{Cell, ClockId, Val};
use crate::lustre::elaborate::globals::Globals;
use crate::lustre::elaborate::nodes::instances::Instance;
use crate::lustre::elaborate::report::Report;
use crate::lustre::elaborate::system::streams::Streams;
use crate::lustre::elaborate::types::layout::{BOOL, INT, Shape, Ty, Types};
use crate::lustre::modules::ClaimRole;
use crate::{Code, Span};

/// Limits on the size of the system that a text can produce.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) struct Limits {
    /// The number of scalar operations created.
    pub(in crate::lustre::elaborate) cells: usize,
    /// The number of scalar streams.
    pub(in crate::lustre::elaborate) streams: usize,
    /// The number of scalars in one value.
    pub(in crate::lustre::elaborate) width: usize,
}

pub(in crate::lustre::elaborate) const LIMITS: Limits =
    Limits { cells: 20_000_000, streams: 1_000_000, width: 100_000 };

/// A formula to be proved or assumed, with its name and clock.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Formula {
    pub(in crate::lustre::elaborate) name: String,
    pub(in crate::lustre::elaborate) text: String,
    pub(in crate::lustre::elaborate) cell: Cell,
    pub(in crate::lustre::elaborate) clock: ClockId,
    pub(in crate::lustre::elaborate) span: Span,
}

/// A future claim.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Obligation {
    pub(in crate::lustre::elaborate) formula: Formula,
    pub(in crate::lustre::elaborate) goal: Goal,
    pub(in crate::lustre::elaborate) role: ClaimRole,
    /// The instance whose contract, declaration or property it comes from.
    pub(in crate::lustre::elaborate) instance: usize,
}

/// Whether the formula must always hold or must be reachable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) enum Goal {
    Always,
    Reachable,
}

/// See the module's documentation; the fields are the state of elaboration.
pub(in crate::lustre::elaborate) struct Model<'a> {
    pub(in crate::lustre::elaborate) file: &'a File,
    pub(in crate::lustre::elaborate) globals: &'a Globals<'a>,
    pub(in crate::lustre::elaborate) report: &'a mut Report,
    pub(in crate::lustre::elaborate) builder: SystemBuilder,
    pub(in crate::lustre::elaborate) types: Types,
    pub(in crate::lustre::elaborate) streams: Streams,
    pub(in crate::lustre::elaborate) clocks: Clocks,
    pub(in crate::lustre::elaborate) instances: Vec<Instance<'a>>,
    /// Values of global constants.
    pub(in crate::lustre::elaborate) constants: FxHashMap<Word, Val>,
    /// Declared types without parameters; `None` while one is being resolved.
    pub(in crate::lustre::elaborate) named_types:
        FxHashMap<Word, Option<crate::lustre::elaborate::types::resolve::Resolved>>,
    /// Datatypes that are currently being resolved.
    pub(in crate::lustre::elaborate) open_datatypes: Vec<TypeId>,
    /// Index variables bound around the current expression.
    pub(in crate::lustre::elaborate) bindings: Vec<(Word, Val)>,
    /// The index variables that are bound symbols of the logic.
    pub(in crate::lustre::elaborate) binders:
        Vec<crate::lustre::elaborate::arrays::open_arrays::Binder>,
    /// The binders of definitions of elements of arrays of unknown size.
    pub(in crate::lustre::elaborate) ranges:
        Vec<Vec<crate::lustre::elaborate::arrays::open_arrays::Binder>>,
    /// The number of quantifiers over infinitely many values, and of function calls inside them,
    /// around the current expression.
    pub(in crate::lustre::elaborate) pure_depth: usize,
    /// By `choose` expression: its values, each with the condition on it, which depends on
    /// constants of the instance.
    pub(in crate::lustre::elaborate) chosen: FxHashMap<Span, Vec<(Val, Option<Cell>)>>,
    /// For each enclosing lazy choice, innermost last: the condition under which the current
    /// expression is evaluated.
    pub(in crate::lustre::elaborate) lazy: Vec<Cell>,
    /// The definitions of the open imperative blocks, innermost last.
    pub(in crate::lustre::elaborate) blocks: Vec<crate::lustre::elaborate::nodes::blocks::Block>,
    /// The default values of the variables of the open `frame`.
    pub(in crate::lustre::elaborate) frame:
        Option<FxHashMap<crate::lustre::elaborate::system::streams::StreamId, Cell>>,
    pub(in crate::lustre::elaborate) obligations: Vec<Obligation>,
    pub(in crate::lustre::elaborate) assumptions: Vec<Formula>,
    /// JKind accepts the program, too: where it reads it differently, there are two readings.
    pub(in crate::lustre::elaborate) read_by_jkind: bool,
    /// Assertions of called nodes in a program that JKind accepts: JKind ignores them.
    pub(in crate::lustre::elaborate) called_assertions: Vec<Formula>,
    /// A constant of the system: true if reads outside of arrays give any value, false if they
    /// give the last element, as in JKind.
    pub(in crate::lustre::elaborate) reads_any_outside: Option<Cell>,
    /// The arbitrary values of partial operations, which the program reads where the operation is
    /// not defined.
    pub(in crate::lustre::elaborate) undefined: Vec<UndefinedValue>,
    /// Conditions of claims; each has the name of its claim.
    pub(in crate::lustre::elaborate) conditions: Vec<Formula>,
    /// Hints for proofs, formulas that probably hold at every instant: the assumptions of calls
    /// have held so far.
    pub(in crate::lustre::elaborate) hints: Vec<(String, gander_term::TermId, Span)>,
    /// Names already used for claims.
    pub(in crate::lustre::elaborate) claim_names: FxHashSet<String>,
    /// Paths already used for instances.
    pub(in crate::lustre::elaborate) paths: FxHashSet<String>,
    /// Functions without a body.
    pub(in crate::lustre::elaborate) functions:
        crate::lustre::elaborate::expressions::functions::Functions,
    /// The file has several roots: start and step are named after the root.
    pub(in crate::lustre::elaborate) qualified: bool,
    /// Nodes whose calls are represented by their contracts.
    pub(in crate::lustre::elaborate) abstracted: FxHashSet<Word>,
    /// The instance being elaborated.
    pub(in crate::lustre::elaborate) instance: usize,
    /// The number of scalar operations created so far.
    pub(in crate::lustre::elaborate) spent: usize,
    /// A limit was exceeded, or the builder rejected something: stop.
    pub(in crate::lustre::elaborate) stopped: bool,
}

impl<'a> Model<'a> {
    pub(in crate::lustre::elaborate) fn new(
        globals: &'a Globals<'a>,
        root: &str,
        span: Span,
        report: &'a mut Report,
    ) -> Option<Model<'a>> {
        let mut pool = Pool::new();
        let types = Types::new(globals.file, &mut pool);
        let builder = match SystemBuilder::new(root, pool, &[(root, Some(span))]) {
            Ok(builder) => builder,
            Err(error) => {
                report.add(Diagnostic::new(
                    Code::E0901,
                    span,
                    format!("the system cannot be built: {error}"),
                ));
                return None;
            }
        };
        Some(Model {
            file: globals.file,
            globals,
            report,
            builder,
            types,
            streams: Streams::default(),
            clocks: Clocks::default(),
            instances: Vec::new(),
            constants: FxHashMap::default(),
            named_types: FxHashMap::default(),
            open_datatypes: Vec::new(),
            pure_depth: 0,
            bindings: Vec::new(),
            binders: Vec::new(),
            ranges: Vec::new(),
            lazy: Vec::new(),
            chosen: FxHashMap::default(),
            blocks: Vec::new(),
            frame: None,
            obligations: Vec::new(),
            assumptions: Vec::new(),
            read_by_jkind: only_in_kind2(globals.file).is_none(),
            called_assertions: Vec::new(),
            reads_any_outside: None,
            undefined: Vec::new(),
            conditions: Vec::new(),
            hints: Vec::new(),
            claim_names: FxHashSet::default(),
            paths: FxHashSet::default(),
            functions: crate::lustre::elaborate::expressions::functions::Functions::default(),
            qualified: false,
            abstracted: FxHashSet::default(),
            instance: 0,
            spent: 0,
            stopped: false,
        })
    }

    /// The text of a word.
    pub(in crate::lustre::elaborate) fn word(&self, word: Word) -> &'a str {
        self.file.text(word)
    }

    /// The source text of a span, on one line and without comments.
    pub(in crate::lustre::elaborate) fn source(&self, span: Span) -> String {
        let text = self.globals.text.get(span.range()).unwrap_or_default();
        let mut words: Vec<&str> = Vec::new();
        for line in text.lines() {
            let line = line.split("--").next().unwrap_or_default();
            words.extend(line.split_whitespace());
        }
        words.join(" ")
    }

    pub(in crate::lustre::elaborate) fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) {
        self.report.add(Diagnostic::new(code, span, message));
    }

    /// Reports a construct that is not supported.
    pub(in crate::lustre::elaborate) fn unsupported(&mut self, span: Span, construct: &str) {
        self.report.add(Diagnostic::new(Code::E0510, span, format!("{construct}: not supported")));
    }

    pub(in crate::lustre::elaborate) fn type_name(&self, ty: Ty) -> String {
        self.types.name(self.file, ty)
    }

    /// The sort of a scalar type; `None` with a diagnostic if it has none.
    pub(in crate::lustre::elaborate) fn sort(&mut self, ty: Ty, span: Span) -> Option<Sort> {
        let sort = self.types.sort(ty);
        if sort.is_none() && !matches!(self.types.shape(ty), Shape::Error) {
            let name = self.type_name(ty);
            self.unsupported(span, &format!("the type `{name}`"));
        }
        sort
    }

    /// Counts created scalars; returns false once the limit is exceeded.
    pub(in crate::lustre::elaborate) fn spend(&mut self, cells: usize, span: Span) -> bool {
        self.spent = self.spent.saturating_add(cells);
        if self.spent > LIMITS.cells && !self.stopped {
            self.stopped = true;
            let message = format!(
                "the model is too large: more than {} scalar operations once calls are inlined",
                LIMITS.cells
            );
            self.error(Code::E1602, span, message);
        }
        !self.stopped
    }

    /// Builds a term; constants are folded.
    pub(in crate::lustre::elaborate) fn mk(&mut self, op: Op, args: &[TermId]) -> TermId {
        let pool = &mut self.builder.pool;
        match (op, args) {
            (Op::Not, [a]) => return pool.not(*a),
            (Op::And, _) => return pool.and(args.iter().copied()),
            (Op::Or, _) => return pool.or(args.iter().copied()),
            (Op::Implies, [a, b]) => return pool.implies(*a, *b),
            (Op::Eq, [a, b]) => return pool.eq(*a, *b),
            (Op::Ite, [c, a, b]) => return self.choose(*c, *a, *b),
            _ => {}
        }
        let constant = args.iter().all(|&a| matches!(pool.op(a), Op::Bool(_) | Op::Const(_)));
        match pool.mk(op, args) {
            Ok(term) if constant => match evaluate(pool, term, &|_| None) {
                Ok(value) => pool.constant(value),
                Err(_) => term,
            },
            Ok(term) => term,
            // Unreachable because types were checked before. A truth value keeps the model
            // well-formed.
            Err(_) => {
                self.stopped = true;
                self.report.add(Diagnostic::new(
                    Code::E0901,
                    Span::at(0),
                    format!("an ill-sorted `{}`", op.name()),
                ));
                self.builder.pool.tt()
            }
        }
    }

    /// If-then-else; between truth values it is written with connectives, unless conditional
    /// expressions are kept.
    fn choose(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        let pool = &mut self.builder.pool;
        if self.globals.conditionals == Conditionals::AsWritten
            && pool.as_bool(c).is_none()
            && let Ok(term) = pool.mk(Op::Ite, &[c, a, b])
        {
            return term;
        }
        match (pool.as_bool(a), pool.as_bool(b)) {
            (Some(true), Some(false)) => c,
            (Some(false), Some(true)) => pool.not(c),
            (Some(true), None) => pool.or([c, b]),
            (None, Some(true)) => pool.implies(c, a),
            (None, Some(false)) => pool.and([c, a]),
            (Some(false), None) => {
                let not_c = pool.not(c);
                pool.and([not_c, b])
            }
            _ => pool.ite(c, a, b),
        }
    }

    /// Applies an operator to streams, at the first instant and at later ones.
    pub(in crate::lustre::elaborate) fn lift(&mut self, op: Op, args: &[Cell]) -> Cell {
        let first: Vec<TermId> = args.iter().map(|c| c.first).collect();
        let later: Vec<TermId> = args.iter().map(|c| c.later).collect();
        let term = self.mk(op, &first);
        let then = if first == later { term } else { self.mk(op, &later) };
        Cell { first: term, later: then, instant: args.iter().all(|c| c.instant) }
    }

    /// A term with the same value at every instant.
    pub(in crate::lustre::elaborate) fn rigid(&mut self, term: TermId) -> Cell {
        Cell { first: term, later: term, instant: true }
    }

    pub(in crate::lustre::elaborate) fn constant(&mut self, value: Value) -> Cell {
        let term = self.builder.pool.constant(value);
        self.rigid(term)
    }

    pub(in crate::lustre::elaborate) fn truth(&mut self, value: bool) -> Val {
        let cell = self.constant(Value::Bool(value));
        Val::one(BOOL, None, cell)
    }

    pub(in crate::lustre::elaborate) fn int(&mut self, value: impl Into<gander_term::IBig>) -> Val {
        let cell = self.constant(Value::Int(value.into()));
        Val::one(INT, None, cell)
    }

    /// The value of a scalar that is a known constant.
    pub(in crate::lustre::elaborate) fn known(&self, cell: Cell) -> Option<Value> {
        if cell.first == cell.later { self.builder.pool.as_constant(cell.first) } else { None }
    }

    /// The common clock of parts on these clocks; reports a mismatch.
    pub(in crate::lustre::elaborate) fn join(
        &mut self,
        a: Option<ClockId>,
        b: Option<ClockId>,
        span: Span,
    ) -> Option<ClockId> {
        match (a, b) {
            (Some(x), Some(y)) if x != y => {
                let (x, y) = (self.clocks.name(x), self.clocks.name(y));
                self.report.add(
                    Diagnostic::new(
                        Code::E1407,
                        span,
                        format!("streams on different clocks: {x} and {y}"),
                    )
                    .note("`when` samples a stream, `merge` and `current` bring it back"),
                );
                a
            }
            (None, _) => b,
            _ => a,
        }
    }
}
