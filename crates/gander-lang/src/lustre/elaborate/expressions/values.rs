//! Values of expressions: pairs of terms, for the first instant and for a later one.

use std::rc::Rc;

use gander_term::TermId;

use crate::lustre::elaborate::types::layout::Ty;

/// A stream of scalars as a pair of terms.
///
/// `first` is over the current symbols, which denote the values at the first instant. `later` is
/// over next (primed) symbols, which denote the values at this instant, and current symbols, which
/// denote those at the previous instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) struct Cell {
    pub(in crate::lustre::elaborate) first: TermId,
    pub(in crate::lustre::elaborate) later: TermId,
    /// `later` is `first` with primes: the stream depends on its own instant only, and `first`
    /// gives its value in every state.
    pub(in crate::lustre::elaborate) instant: bool,
}

impl Cell {
    /// True if the stream is known to be constant over the whole run. Equal terms are not enough:
    /// in `x -> pre x` they are equal, but current symbols denote this instant in `first` and the
    /// previous one in `later`.
    pub(in crate::lustre::elaborate) fn is_rigid(self) -> bool {
        self.instant && self.first == self.later
    }
}

/// A clock, an index into [`crate::lustre::elaborate::expressions::clocks::Clocks`]; [`BASE`] is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(in crate::lustre::elaborate) struct ClockId(pub(in crate::lustre::elaborate) u32);

/// The base clock, that of the system.
pub(in crate::lustre::elaborate) const BASE: ClockId = ClockId(0);

/// The scalars of a value.
#[derive(Clone, Debug)]
enum Cells {
    One(Cell),
    /// A part of a shared sequence.
    Many(Rc<[Cell]>, u32, u32),
}

/// The value of an expression.
#[derive(Clone, Debug)]
pub(in crate::lustre::elaborate) struct Val {
    pub(in crate::lustre::elaborate) ty: Ty,
    /// The clock; `None` for constants, which fit every clock.
    pub(in crate::lustre::elaborate) clock: Option<ClockId>,
    cells: Cells,
}

impl Val {
    pub(in crate::lustre::elaborate) fn one(ty: Ty, clock: Option<ClockId>, cell: Cell) -> Val {
        Val { ty, clock, cells: Cells::One(cell) }
    }

    pub(in crate::lustre::elaborate) fn many(
        ty: Ty,
        clock: Option<ClockId>,
        cells: Vec<Cell>,
    ) -> Val {
        match cells[..] {
            [cell] => Val::one(ty, clock, cell),
            _ => {
                let len = cells.len() as u32;
                Val { ty, clock, cells: Cells::Many(cells.into(), 0, len) }
            }
        }
    }

    /// The value of an erroneous expression; a diagnostic was given.
    pub(in crate::lustre::elaborate) fn error() -> Val {
        Val::many(crate::lustre::elaborate::types::layout::ERROR, None, Vec::new())
    }

    pub(in crate::lustre::elaborate) fn is_error(&self) -> bool {
        self.ty == crate::lustre::elaborate::types::layout::ERROR
    }

    pub(in crate::lustre::elaborate) fn cells(&self) -> &[Cell] {
        match &self.cells {
            Cells::One(cell) => std::slice::from_ref(cell),
            Cells::Many(cells, start, len) => &cells[*start as usize..(*start + *len) as usize],
        }
    }

    /// The only scalar; the first one if there are several.
    pub(in crate::lustre::elaborate) fn cell(&self) -> Option<Cell> {
        self.cells().first().copied()
    }

    /// A part of the scalars, as a value of type `ty`. Shares the cells.
    pub(in crate::lustre::elaborate) fn part(&self, ty: Ty, start: usize, len: usize) -> Val {
        match &self.cells {
            Cells::One(cell) if len == 1 => Val::one(ty, self.clock, *cell),
            Cells::Many(cells, base, _) if len == 1 => {
                Val::one(ty, self.clock, cells[*base as usize + start])
            }
            Cells::Many(cells, base, _) => Val {
                ty,
                clock: self.clock,
                cells: Cells::Many(Rc::clone(cells), base + start as u32, len as u32),
            },
            Cells::One(_) => Val::many(ty, self.clock, Vec::new()),
        }
    }

    /// The same scalars on another clock.
    pub(in crate::lustre::elaborate) fn on(&self, clock: Option<ClockId>) -> Val {
        Val { clock, ..self.clone() }
    }

    /// The same scalars as a value of another type.
    pub(in crate::lustre::elaborate) fn as_type(&self, ty: Ty) -> Val {
        Val { ty, ..self.clone() }
    }
}
