//! Clocks, and the meaning of `pre`, `->` and `current` on a clock.
//!
//! The base clock, that of the system, is always on. A clock below another has a condition (it is
//! on when the condition holds and the other clock is on), a restart condition, or both. A stream
//! on a clock holds its value while the clock is off, so `pre x` is the value of `x` at the
//! previous instant of its clock.
//!
//! On the base clock `x -> y` is `x` at the first instant and `y` later, and `pre x` is the current
//! (unprimed) symbol of `x` in the step. On another clock, the first instants are those where the
//! flag *fresh* is true: the clock has not been on since its beginning or its last restart:
//!
//! ```text
//! fresh = true -> (restart and on) or fresh of the clock above or (pre fresh and not pre on)
//! ```

use gander_term::{Op, Value};
use rustc_hash::FxHashMap;

use crate::Span;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId, Val};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{Definition, NewStream, StreamId};
use gander_system::{Role, StreamKind};
use gander_term::Sort;

/// A clock below another.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Clock {
    pub(in crate::lustre::elaborate) parent: ClockId,
    /// When it is on, including the condition of its parent; `None` if it is always on.
    pub(in crate::lustre::elaborate) on: Option<Cell>,
    restart: Option<Cell>,
    fresh: Option<StreamId>,
    /// The name of the clock in messages.
    name: String,
    path: String,
    span: Span,
}

/// All clocks. The base clock, number 0, is not in the list.
#[derive(Debug, Default)]
pub(in crate::lustre::elaborate) struct Clocks {
    list: Vec<Clock>,
    ids: FxHashMap<(ClockId, Cell2, Cell2), ClockId>,
}

type Cell2 = Option<(gander_term::TermId, gander_term::TermId)>;

impl Clocks {
    pub(in crate::lustre::elaborate) fn get(&self, id: ClockId) -> Option<&Clock> {
        (id.0 as usize).checked_sub(1).map(|i| &self.list[i])
    }

    pub(in crate::lustre::elaborate) fn name(&self, id: ClockId) -> String {
        self.get(id).map_or("the base clock".to_string(), |c| c.name.clone())
    }

    /// The condition under which a clock is on; `None` if it is always on.
    pub(in crate::lustre::elaborate) fn on(&self, id: ClockId) -> Option<Cell> {
        self.get(id).and_then(|c| c.on)
    }

    pub(in crate::lustre::elaborate) fn parent(&self, id: ClockId) -> ClockId {
        self.get(id).map_or(BASE, |c| c.parent)
    }
}

/// The properties of a new clock.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct NewClock {
    pub(in crate::lustre::elaborate) parent: ClockId,
    pub(in crate::lustre::elaborate) condition: Option<Cell>,
    pub(in crate::lustre::elaborate) restart: Option<Cell>,
    pub(in crate::lustre::elaborate) name: String,
    pub(in crate::lustre::elaborate) path: String,
    pub(in crate::lustre::elaborate) span: Span,
}

impl Model<'_> {
    /// The clock below `parent` with these conditions; equal conditions without restart give the
    /// same clock.
    pub(in crate::lustre::elaborate) fn clock(&mut self, new: NewClock) -> ClockId {
        let pair = |c: Option<Cell>| c.map(|c| (c.first, c.later));
        let key = (new.parent, pair(new.condition), pair(new.restart));
        if new.restart.is_none()
            && let Some(&id) = self.clocks.ids.get(&key)
        {
            return id;
        }
        let on = match (self.clocks.on(new.parent), new.condition) {
            (Some(above), Some(here)) => Some(self.lift(Op::And, &[above, here])),
            (above, here) => here.or(above),
        };
        let restart = match (new.restart, on) {
            (Some(restart), Some(on)) => Some(self.lift(Op::And, &[restart, on])),
            (restart, _) => restart,
        };
        self.clocks.list.push(Clock {
            parent: new.parent,
            on,
            restart,
            fresh: None,
            name: new.name,
            path: new.path,
            span: new.span,
        });
        let id = ClockId(self.clocks.list.len() as u32);
        self.clocks.ids.insert(key, id);
        id
    }

    /// The flag *fresh* of a clock other than the base clock.
    pub(in crate::lustre::elaborate) fn fresh(&mut self, id: ClockId) -> Cell {
        // Define the flags of parent clocks first. A loop instead of recursion: the chain may be
        // long.
        let mut chain = vec![id];
        while let Some(&last) = chain.last() {
            let parent = self.clocks.parent(last);
            if parent == BASE || self.clocks.get(parent).is_some_and(|c| c.fresh.is_some()) {
                break;
            }
            chain.push(parent);
        }
        let mut flag = None;
        for id in chain.into_iter().rev() {
            flag = Some(self.fresh_below(id));
        }
        flag.unwrap_or_else(|| self.constant(Value::Bool(false)))
    }

    fn fresh_below(&mut self, id: ClockId) -> Cell {
        let Some(clock) = self.clocks.get(id).cloned() else {
            return self.constant(Value::Bool(false));
        };
        if let Some(fresh) = clock.fresh {
            return self.read(fresh);
        }
        let name = self.numbered(&clock.path, "fresh");
        let stream = self.stream(NewStream {
            name,
            sort: Sort::Bool,
            kind: StreamKind::Internal,
            role: Role::State,
            clock: BASE,
            range: None,
            span: clock.span,
            free: false,
        });
        self.clocks.list[id.0 as usize - 1].fresh = Some(stream);
        let mut parts = Vec::new();
        parts.extend(clock.restart.map(|r| r.later));
        let above = self.clocks.get(clock.parent).and_then(|c| c.fresh);
        parts.extend(above.map(|f| self.streams.get(f).next));
        if let Some(on) = clock.on {
            let was_on = self.as_stream(on, BASE, &clock.path, "on", clock.span);
            let was_on = self.streams.get(was_on).current;
            let not_yet = self.builder.pool.not(was_on);
            let fresh = self.streams.get(stream).current;
            parts.push(self.builder.pool.and([fresh, not_yet]));
        }
        let later = self.builder.pool.or(parts);
        let first = self.builder.pool.tt();
        let cell = Cell { first, later, instant: false };
        self.streams.list[stream.index()].definition =
            Some(Definition { cell, span: clock.span, over: None });
        self.read(stream)
    }

    /// `a -> b` on a clock: `a` at the clock's first instant, and again after a restart, and `b`
    /// otherwise.
    pub(in crate::lustre::elaborate) fn arrow(&mut self, a: Cell, b: Cell, clock: ClockId) -> Cell {
        if (a.first, a.later) == (b.first, b.later) {
            return a;
        }
        if clock == BASE {
            return Cell { first: a.first, later: b.later, instant: false };
        }
        let fresh = self.fresh(clock);
        let later = self.mk(Op::Ite, &[fresh.later, a.later, b.later]);
        Cell { first: a.first, later, instant: false }
    }

    /// `pre` of a scalar on a clock: the value of its stream at the previous instant of the clock.
    /// At the first instant it is [`Model::before`]. `open` is true for an unguarded `pre`, whose
    /// first value can be read.
    pub(in crate::lustre::elaborate) fn previous(
        &mut self,
        cell: Cell,
        clock: ClockId,
        open: bool,
        path: &str,
        span: Span,
    ) -> Cell {
        if self.depends_on_index(&[cell]) {
            return self.previous_of_element(cell, clock, open, path, span);
        }
        let stream = self.as_stream(cell, clock, path, "pre", span);
        let current = self.streams.get(stream).current;
        let (before, before_now) = self.before(stream);
        let later = if open && clock != BASE {
            // At the first instant of the clock, and after a restart, the value is arbitrary, as at
            // the first instant of the system.
            let fresh = self.fresh(clock);
            self.mk(Op::Ite, &[fresh.later, before_now, current])
        } else {
            current
        };
        Cell { first: before, later, instant: false }
    }

    /// The right-hand side of an equation on a clock: `value` while the clock is on, the previous
    /// value while it is off.
    pub(in crate::lustre::elaborate) fn held(&mut self, stream: StreamId, value: Cell) -> Cell {
        let clock = self.streams.get(stream).clock;
        let Some(on) = self.clocks.on(clock) else { return value };
        let (before, _) = self.before(stream);
        let before = self.defined_part(stream, before);
        let current = self.defined_part(stream, self.streams.get(stream).current);
        let first = self.mk(Op::Ite, &[on.first, value.first, before]);
        let later = self.mk(Op::Ite, &[on.later, value.later, current]);
        Cell { first, later, instant: false }
    }

    /// A formula that must hold only while its clock is on.
    pub(in crate::lustre::elaborate) fn while_on(&mut self, formula: Cell, clock: ClockId) -> Cell {
        match self.clocks.on(clock) {
            Some(on) => self.lift(Op::Implies, &[on, formula]),
            None => formula,
        }
    }

    /// `current`: the value on the parent clock, held since the clock was last on.
    pub(in crate::lustre::elaborate) fn current(
        &mut self,
        value: &Val,
        path: &str,
        span: Span,
    ) -> Val {
        let Some(clock) = value.clock else { return value.clone() };
        let parent = self.clocks.parent(clock);
        let cells = value
            .cells()
            .iter()
            .map(|&cell| {
                if self.depends_on_index(&[cell]) {
                    return self.held_elements(cell, clock, path, span);
                }
                let stream = self.as_stream(cell, clock, path, "current", span);
                self.read(stream)
            })
            .collect();
        Val::many(value.ty, Some(parent), cells)
    }
}
