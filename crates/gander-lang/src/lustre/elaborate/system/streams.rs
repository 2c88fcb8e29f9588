//! Streams: the state variables of the system, with their equations.

use gander_system::{Range, Role, StreamKind, VarId};
use gander_term::{Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId};
use crate::lustre::elaborate::system::model::{LIMITS, Model};
use crate::{Code, Span};

/// A stream, an index into [`Streams::list`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(in crate::lustre::elaborate) struct StreamId(pub(in crate::lustre::elaborate) u32);

impl StreamId {
    pub(in crate::lustre::elaborate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An equation of a stream.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) struct Definition {
    pub(in crate::lustre::elaborate) cell: Cell,
    pub(in crate::lustre::elaborate) span: Span,
    /// The indices of an element-wise definition, in [`Model::ranges`]; `None` if it defines the
    /// whole stream.
    pub(in crate::lustre::elaborate) over: Option<u32>,
}

/// The value of `pre` before the first instant: see [`Model::before`].
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) struct Before {
    pub(in crate::lustre::elaborate) symbol: SymbolId,
    /// The stream of the value; `None` for elements of an array that have no separate stream.
    pub(in crate::lustre::elaborate) of: Option<StreamId>,
    pub(in crate::lustre::elaborate) span: Span,
}

/// A scalar stream.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Stream {
    pub(in crate::lustre::elaborate) name: String,
    pub(in crate::lustre::elaborate) sort: Sort,
    pub(in crate::lustre::elaborate) var: VarId,
    pub(in crate::lustre::elaborate) current: TermId,
    pub(in crate::lustre::elaborate) next: TermId,
    pub(in crate::lustre::elaborate) clock: ClockId,
    pub(in crate::lustre::elaborate) span: Span,
    pub(in crate::lustre::elaborate) definition: Option<Definition>,
    /// No equation is expected: an input, an arbitrary value or a free constant.
    pub(in crate::lustre::elaborate) free: bool,
    pub(in crate::lustre::elaborate) range: Option<Range>,
}

/// The properties of a new stream.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct NewStream {
    pub(in crate::lustre::elaborate) name: String,
    pub(in crate::lustre::elaborate) sort: Sort,
    pub(in crate::lustre::elaborate) kind: StreamKind,
    pub(in crate::lustre::elaborate) role: Role,
    pub(in crate::lustre::elaborate) clock: ClockId,
    pub(in crate::lustre::elaborate) range: Option<Range>,
    pub(in crate::lustre::elaborate) span: Span,
    /// No equation will define it.
    pub(in crate::lustre::elaborate) free: bool,
}

/// All streams of a model.
#[derive(Debug, Default)]
pub(in crate::lustre::elaborate) struct Streams {
    pub(in crate::lustre::elaborate) list: Vec<Stream>,
    by_next: FxHashMap<TermId, StreamId>,
    pub(in crate::lustre::elaborate) by_current: FxHashMap<TermId, StreamId>,
    /// Streams created to remember an expression on a clock: by the two terms of the expression and
    /// the clock.
    pub(in crate::lustre::elaborate) memories: FxHashMap<(TermId, TermId, ClockId), StreamId>,
    /// Values before the first instant.
    pub(in crate::lustre::elaborate) befores: Vec<Before>,
    counter: FxHashMap<String, u32>,
}

impl Streams {
    pub(in crate::lustre::elaborate) fn get(&self, id: StreamId) -> &Stream {
        &self.list[id.index()]
    }

    /// The stream whose primed symbol is this term.
    pub(in crate::lustre::elaborate) fn of_next(&self, term: TermId) -> Option<StreamId> {
        self.by_next.get(&term).copied()
    }
}

impl Model<'_> {
    /// Declares a stream.
    pub(in crate::lustre::elaborate) fn stream(&mut self, new: NewStream) -> StreamId {
        let id = StreamId(self.streams.list.len() as u32);
        if self.streams.list.len() >= LIMITS.streams && !self.stopped {
            self.stopped = true;
            let message = format!(
                "the model is too large: more than {} streams once calls are inlined",
                LIMITS.streams
            );
            self.report.add(Diagnostic::new(Code::E1602, new.span, message));
        }
        let mut name = new.name.clone();
        let var = loop {
            match self.builder.var(&name, new.sort, new.role, None, Some(new.span)) {
                Ok(var) => break var,
                Err(_) => name.push('~'),
            }
        };
        self.builder.set_stream(var, Some(new.kind));
        let declared = self.builder.so_far().var(var);
        let (current, next) = (declared.current, declared.next);
        let (current, next) = (self.builder.pool.var(current), self.builder.pool.var(next));
        self.streams.by_next.insert(next, id);
        self.streams.by_current.insert(current, id);
        self.streams.list.push(Stream {
            name,
            sort: new.sort,
            var,
            current,
            next,
            clock: new.clock,
            span: new.span,
            definition: None,
            free: new.free,
            range: new.range,
        });
        id
    }

    /// The value of a stream at its own instant.
    pub(in crate::lustre::elaborate) fn read(&self, id: StreamId) -> Cell {
        let s = self.streams.get(id);
        Cell { first: s.current, later: s.next, instant: true }
    }

    /// A fresh name below a path: `path.what#n`.
    pub(in crate::lustre::elaborate) fn numbered(&mut self, path: &str, what: &str) -> String {
        let stem = if path.is_empty() { what.to_string() } else { format!("{path}.{what}") };
        let count = self.streams.counter.entry(stem.clone()).or_default();
        *count += 1;
        format!("{stem}#{count}")
    }

    /// An arbitrary value, chosen separately at every instant.
    pub(in crate::lustre::elaborate) fn arbitrary(
        &mut self,
        path: &str,
        what: &str,
        sort: Sort,
        span: Span,
    ) -> StreamId {
        let name = self.numbered(path, what);
        self.stream(NewStream {
            name,
            sort,
            kind: StreamKind::Choice,
            role: Role::Input,
            clock: BASE,
            range: None,
            span,
            free: true,
        })
    }

    /// Declares a stream defined by an expression. It takes new values when `clock` is on.
    pub(in crate::lustre::elaborate) fn named(
        &mut self,
        name: String,
        cell: Cell,
        clock: ClockId,
        span: Span,
    ) -> StreamId {
        let sort = self.builder.pool.sort(cell.first);
        let id = self.stream(NewStream {
            name,
            sort,
            kind: StreamKind::Internal,
            role: Role::State,
            clock,
            range: None,
            span,
            free: false,
        });
        self.streams.list[id.index()].definition = Some(Definition { cell, span, over: None });
        id
    }

    /// A stream equal to an expression: an existing one, or a new one. On a clock, the stream holds
    /// its value while the clock is off.
    pub(in crate::lustre::elaborate) fn as_stream(
        &mut self,
        cell: Cell,
        clock: ClockId,
        path: &str,
        what: &str,
        span: Span,
    ) -> StreamId {
        if let Some(id) = self.streams.of_next(cell.later) {
            let s = self.streams.get(id);
            if s.current == cell.first && s.clock == clock {
                return id;
            }
        }
        let key = (cell.first, cell.later, clock);
        if let Some(&id) = self.streams.memories.get(&key) {
            return id;
        }
        let name = self.numbered(path, what);
        let id = self.named(name, cell, clock, span);
        self.streams.memories.insert(key, id);
        id
    }

    /// The value of `pre` of a stream before the first instant, as a current symbol and as a next
    /// symbol; the latter is used after a restart. The value is arbitrary and separate for each
    /// `pre`, as in Kind 2. In JKind every `pre` of a stream has the same value there, so claims
    /// that hold here also hold in JKind. The symbol becomes a variable of the system only if an
    /// equation reads it.
    pub(in crate::lustre::elaborate) fn before(&mut self, id: StreamId) -> (TermId, TermId) {
        let s = self.streams.get(id);
        let (name, sort, span) = (s.name.clone(), s.sort, s.span);
        self.before_with(&name, sort, Some(id), span)
    }

    /// [`Model::before`] for a given name and sort.
    pub(in crate::lustre::elaborate) fn before_with(
        &mut self,
        name: &str,
        sort: Sort,
        of: Option<StreamId>,
        span: Span,
    ) -> (TermId, TermId) {
        let symbol = self.builder.pool.declare_fresh(&format!("{name}@before"), sort);
        self.streams.befores.push(Before { symbol, of, span });
        let name = format!("{}'", self.builder.pool.symbol(symbol).name);
        let current = self.builder.pool.var(symbol);
        let next = match self.builder.pool.declare(&name, sort) {
            Ok(next) => self.builder.pool.var(next),
            Err(_) => current,
        };
        (current, next)
    }

    /// The declared range of a stream, which its values before the first instant also keep.
    pub(in crate::lustre::elaborate) fn range_of(&self, id: StreamId) -> Option<Range> {
        self.streams.get(id).range.clone()
    }
}
