//! Terms compiled to a flat tape.
//!
//! Slots hold the inputs, then the constants, then one result per instruction; an instruction reads
//! only slots before its own. Operators with many arguments become chains of instructions. Ints,
//! reals and truth values of usual size are computed without allocation; on overflow of 64 bits the
//! instruction falls back to [`apply`] on exact values. Each quantifier has a nested program, run
//! once for every combination of values of its bound symbols.

use crate::bits::{BvOp, apply_word, mask, sign_extend};
use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::Sort;
use crate::value::{IBig, Value};
use gander_runtime::check_cancelled;

use super::cell::Cell;
use super::{EvalError, MAX_INSTANCES, apply, compile};

/// The operation of an instruction. `I` works on ints, `R` on reals; truth values and variants are
/// small cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Code {
    Not,
    And,
    Or,
    Implies,
    Eq,
    Ite,
    NegI,
    AddI,
    SubI,
    MulI,
    MinI,
    MaxI,
    AbsI,
    LtI,
    LeI,
    IntDiv,
    Mod,
    NegR,
    AbsR,
    MinR,
    MaxR,
    AddR,
    SubR,
    MulR,
    DivR,
    LtR,
    LeR,
    ToReal,
    ToInt,
    /// An operator on bit-vectors of at most 64 bits each, by position in `Program::rare`.
    Bits,
    /// An operator on exact values, by position in `Program::rare`.
    Rare,
    /// A quantifier, by position in `Program::quantifiers`.
    Quantifier,
    /// A quantifier that cannot be enumerated.
    Unbounded,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub code: Code,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

/// An operator without an instruction code.
#[derive(Clone, Debug)]
pub(super) struct Rare {
    pub op: Op,
    pub args: Vec<(u32, Sort)>,
    /// For `Code::Bits`, the slots of the arguments with their widths; an operator with one
    /// argument has it twice.
    pub words: [(u32, u32); 2],
}

/// A bound of an int as in the `domain` module, with slots instead of terms.
#[derive(Clone, Debug)]
pub(super) struct SlotBound {
    pub plus: Vec<u32>,
    pub minus: Vec<u32>,
    pub strict: bool,
}

/// The values of a bound symbol: an interval with bounds, or the size of a finite sort.
#[derive(Clone, Debug)]
pub(super) enum SlotDomain {
    Finite(u32),
    Between { lower: Vec<SlotBound>, upper: Vec<SlotBound> },
}

#[derive(Clone, Debug)]
pub(super) struct Quantifier {
    pub exists: bool,
    pub body: Program,
    /// Pairs of a slot of the outer program and the input of the body that it is copied to.
    pub gather: Vec<(u32, u32)>,
    /// Inputs of the body to enumerate.
    pub bound: Vec<(u32, SlotDomain)>,
}

/// Compiled terms; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Program {
    /// Identifies the program, so that a scratch knows which constants it contains.
    pub(super) id: u64,
    pub(super) inputs: Vec<SymbolId>,
    pub(super) input_sorts: Vec<Sort>,
    pub(super) constants: Vec<Cell>,
    pub(super) code: Vec<Instruction>,
    pub(super) rare: Vec<Rare>,
    pub(super) quantifiers: Vec<Quantifier>,
    pub(super) roots: Vec<(u32, Sort)>,
}

/// The memory of a running program; reusable for many runs and for any program.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    program: u64,
    cells: Vec<Cell>,
    outputs: Vec<Value>,
    bodies: Vec<Scratch>,
}

impl Scratch {
    /// An empty scratch.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    fn prepare(&mut self, program: &Program) {
        if self.program == program.id {
            return;
        }
        self.program = program.id;
        self.cells.clear();
        self.cells.resize(program.inputs.len(), Cell::Small(0));
        self.cells.extend_from_slice(&program.constants);
        self.cells.resize(self.cells.len() + program.code.len(), Cell::Small(0));
        self.bodies.clear();
        self.bodies.resize_with(program.quantifiers.len(), Scratch::default);
    }
}

impl Program {
    /// Compiles `roots`; one run evaluates them all.
    pub fn compile(pool: &Pool, roots: &[TermId]) -> Program {
        compile::compile(pool, roots)
    }

    /// The symbols whose values a run needs, sorted by id; [`Program::run`] takes them in this
    /// order.
    pub fn inputs(&self) -> &[SymbolId] {
        &self.inputs
    }

    /// The number of instructions: operator applications per run, without the bodies of
    /// quantifiers.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// True if every root is a constant or a symbol.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// The values of the roots; `inputs` has the values of [`Program::inputs`].
    pub fn run<'s>(
        &self,
        inputs: &[Value],
        scratch: &'s mut Scratch,
    ) -> Result<&'s [Value], EvalError> {
        check_cancelled();
        scratch.prepare(self);
        if let Some(&missing) = self.inputs.get(inputs.len()) {
            return Err(EvalError::Unassigned(missing));
        }
        for (i, sort) in self.input_sorts.iter().enumerate() {
            if inputs[i].sort() != *sort {
                return Err(EvalError::WrongSort(self.inputs[i]));
            }
            scratch.cells[i] = Cell::new(&inputs[i]);
        }
        let mut fuel = MAX_INSTANCES;
        self.execute(scratch, &mut fuel)?;
        scratch.outputs.clear();
        scratch.outputs.extend(
            self.roots.iter().map(|&(slot, sort)| scratch.cells[slot as usize].value(sort)),
        );
        Ok(&scratch.outputs)
    }

    /// Runs the tape on a prepared scratch with its inputs set. Recurses over nested quantifiers
    /// only, whose depth the compiler limits.
    fn execute(&self, scratch: &mut Scratch, fuel: &mut u64) -> Result<(), EvalError> {
        let first = self.inputs.len() + self.constants.len();
        for (i, ins) in self.code.iter().enumerate() {
            let (done, rest) = scratch.cells.split_at_mut(first + i);
            let result = match ins.code {
                Code::Quantifier => {
                    self.quantifier(ins.a as usize, done, &mut scratch.bodies, fuel)?
                }
                Code::Bits => match bit_step(&self.rare[ins.a as usize], done) {
                    Some(cell) => cell,
                    None => self.rare(ins.a as usize, done)?,
                },
                Code::Rare => self.rare(ins.a as usize, done)?,
                Code::Unbounded => return Err(EvalError::Unbounded),
                _ => step(*ins, done)?,
            };
            rest[0] = result;
        }
        Ok(())
    }

    #[cold]
    fn rare(&self, i: usize, cells: &[Cell]) -> Result<Cell, EvalError> {
        let rare = &self.rare[i];
        let values: Vec<Value> =
            rare.args.iter().map(|&(slot, sort)| cells[slot as usize].value(sort)).collect();
        Ok(Cell::new(&apply(rare.op, &values)?))
    }

    #[inline(never)]
    fn quantifier(
        &self,
        i: usize,
        cells: &[Cell],
        bodies: &mut [Scratch],
        fuel: &mut u64,
    ) -> Result<Cell, EvalError> {
        let q = &self.quantifiers[i];
        let scratch = &mut bodies[i];
        scratch.prepare(&q.body);
        for &(from, to) in &q.gather {
            scratch.cells[to as usize] = cells[from as usize].clone();
        }
        let mut ranges: Vec<(i64, i64)> = Vec::with_capacity(q.bound.len());
        let mut empty = false;
        for (_, domain) in &q.bound {
            let Some((low, high)) = range(domain, cells)? else {
                empty = true;
                break;
            };
            ranges.push((low, high));
        }
        if empty {
            return Ok(Cell::bool(!q.exists));
        }
        for (&(input, _), &(low, _)) in q.bound.iter().zip(&ranges) {
            scratch.cells[input as usize] = Cell::Small(low);
        }
        let root = q.body.roots[0].0 as usize;
        loop {
            check_cancelled();
            *fuel = fuel.checked_sub(1).ok_or(EvalError::Unbounded)?;
            q.body.execute(scratch, fuel)?;
            if scratch.cells[root].truth() == q.exists {
                return Ok(Cell::bool(q.exists));
            }
            // Advance like an odometer, the last symbol fastest.
            let mut advanced = false;
            for (&(input, _), &(low, high)) in q.bound.iter().zip(&ranges).rev() {
                let cell = &mut scratch.cells[input as usize];
                match cell {
                    Cell::Small(n) if *n < high => {
                        *n += 1;
                        advanced = true;
                        break;
                    }
                    _ => *cell = Cell::Small(low),
                }
            }
            if !advanced {
                return Ok(Cell::bool(!q.exists));
            }
        }
    }
}

/// The first and last value of a domain; `None` if it is empty.
fn range(domain: &SlotDomain, cells: &[Cell]) -> Result<Option<(i64, i64)>, EvalError> {
    match domain {
        SlotDomain::Finite(n) => Ok(Some((0, i64::from(*n) - 1))),
        SlotDomain::Between { lower, upper } => {
            let int = |slot: &u32| match cells[*slot as usize].value(Sort::Int) {
                Value::Int(i) => i,
                _ => IBig::ZERO,
            };
            let total = |b: &SlotBound| {
                b.plus.iter().map(int).sum::<IBig>() - b.minus.iter().map(int).sum::<IBig>()
            };
            let low = lower.iter().map(|b| total(b) + i32::from(b.strict)).max();
            let high = upper.iter().map(|b| total(b) - i32::from(b.strict)).min();
            let (low, high) = low.zip(high).ok_or(EvalError::Unbounded)?;
            if low > high {
                return Ok(None);
            }
            match (i64::try_from(low), i64::try_from(high)) {
                (Ok(low), Ok(high)) => Ok(Some((low, high))),
                _ => Err(EvalError::Unbounded),
            }
        }
    }
}

/// Executes one instruction that has a fast path.
#[inline(always)]
fn step(ins: Instruction, cells: &[Cell]) -> Result<Cell, EvalError> {
    let a = &cells[ins.a as usize];
    let b = &cells[ins.b as usize];
    /// The result of 64-bit arithmetic, or `None` if it overflows or an operand is not small.
    macro_rules! small {
        (|$x:ident, $y:ident| $result:expr) => {
            match (a, b) {
                (Cell::Small($x), Cell::Small($y)) => $result.map(Cell::Small),
                _ => None,
            }
        };
    }
    macro_rules! ratio {
        (|$n:ident, $d:ident, $m:ident, $e:ident| $result:expr) => {
            match (a, b) {
                (&Cell::Ratio($n, $d), &Cell::Ratio($m, $e)) => $result,
                _ => None,
            }
        };
    }
    let (op, sort, fast) = match ins.code {
        Code::Not => return Ok(Cell::bool(!a.truth())),
        Code::And => return Ok(Cell::bool(a.truth() & b.truth())),
        Code::Or => return Ok(Cell::bool(a.truth() | b.truth())),
        Code::Implies => return Ok(Cell::bool(!a.truth() | b.truth())),
        Code::Eq => {
            return Ok(Cell::bool(match (a, b) {
                (Cell::Small(x), Cell::Small(y)) => x == y,
                _ => a == b,
            }));
        }
        Code::Ite => return Ok(if a.truth() { b.clone() } else { cells[ins.c as usize].clone() }),
        Code::LtI => (Op::Lt, Sort::Int, small!(|x, y| Some(i64::from(x < y)))),
        Code::LeI => (Op::Le, Sort::Int, small!(|x, y| Some(i64::from(x <= y)))),
        Code::AddI => (Op::Add, Sort::Int, small!(|x, y| x.checked_add(*y))),
        Code::SubI => (Op::Sub, Sort::Int, small!(|x, y| x.checked_sub(*y))),
        Code::MulI => (Op::Mul, Sort::Int, small!(|x, y| x.checked_mul(*y))),
        Code::MinI => (Op::Min, Sort::Int, small!(|x, y| Some(*x.min(y)))),
        Code::MaxI => (Op::Max, Sort::Int, small!(|x, y| Some(*x.max(y)))),
        Code::NegI => (Op::Neg, Sort::Int, small!(|x, _y| x.checked_neg())),
        Code::AbsI => (Op::Abs, Sort::Int, small!(|x, _y| x.checked_abs())),
        Code::IntDiv => (
            Op::IntDiv,
            Sort::Int,
            small!(|x, y| if *y == 0 { Some(0) } else { x.checked_div_euclid(*y) }),
        ),
        Code::Mod => (
            Op::Mod,
            Sort::Int,
            small!(|x, y| if *y == 0 { Some(*x) } else { x.checked_rem_euclid(*y) }),
        ),
        Code::LtR => (Op::Lt, Sort::Real, ratio!(|n, d, m, e| Some(Cell::bool(less(n, d, m, e))))),
        Code::LeR => (Op::Le, Sort::Real, ratio!(|n, d, m, e| Some(Cell::bool(!less(m, e, n, d))))),
        Code::NegR => match a {
            Cell::Ratio(n, d) => (Op::Neg, Sort::Real, n.checked_neg().map(|n| Cell::Ratio(n, *d))),
            _ => (Op::Neg, Sort::Real, None),
        },
        Code::AbsR => match a {
            Cell::Ratio(n, d) => (Op::Abs, Sort::Real, n.checked_abs().map(|n| Cell::Ratio(n, *d))),
            _ => (Op::Abs, Sort::Real, None),
        },
        Code::MinR => {
            let least =
                |n, d, m, e| if less(m, e, n, d) { Cell::Ratio(m, e) } else { Cell::Ratio(n, d) };
            (Op::Min, Sort::Real, ratio!(|n, d, m, e| Some(least(n, d, m, e))))
        }
        Code::MaxR => {
            let greatest =
                |n, d, m, e| if less(n, d, m, e) { Cell::Ratio(m, e) } else { Cell::Ratio(n, d) };
            (Op::Max, Sort::Real, ratio!(|n, d, m, e| Some(greatest(n, d, m, e))))
        }
        Code::ToInt => match a {
            Cell::Ratio(n, d) => return Ok(Cell::Small(n.div_euclid(*d))),
            _ => (Op::ToInt, Sort::Real, None),
        },
        Code::AddR => (Op::Add, Sort::Real, ratio!(|n, d, m, e| sum(n, d, m, e))),
        Code::SubR => (
            Op::Sub,
            Sort::Real,
            ratio!(|n, d, m, e| if m == i64::MIN { None } else { sum(n, d, -m, e) }),
        ),
        Code::MulR => (Op::Mul, Sort::Real, ratio!(|n, d, m, e| product(n, d, m, e))),
        Code::DivR => (
            Op::Div,
            Sort::Real,
            ratio!(|n, d, m, e| match m {
                0 => Some(Cell::Ratio(0, 1)),
                i64::MIN => None,
                m if m < 0 => product(n, d, -e, -m),
                m => product(n, d, e, m),
            }),
        ),
        Code::ToReal => match a {
            Cell::Small(n) => return Ok(Cell::Ratio(*n, 1)),
            _ => (Op::ToReal, Sort::Int, None),
        },
        Code::Bits | Code::Rare | Code::Quantifier | Code::Unbounded => {
            unreachable!("handled by the loop")
        }
    };
    match fast {
        Some(cell) => Ok(cell),
        None => exact(op, sort, a, b),
    }
}

/// An operator on words; `None` if an int argument or result does not fit.
#[inline]
fn bit_step(ins: &Rare, cells: &[Cell]) -> Option<Cell> {
    let Op::Bv(op) = ins.op else { return None };
    let [(a, width), (b, width_b)] = ins.words;
    let (Cell::Small(a), Cell::Small(b)) = (&cells[a as usize], &cells[b as usize]) else {
        return None;
    };
    let (a, b) = (*a as u64, *b as u64);
    Some(Cell::Small(match op {
        BvOp::ToInt => i64::try_from(a).ok()?,
        BvOp::ToSignedInt => sign_extend(a, width),
        BvOp::FromInt(width) => (a & mask(width.bits())) as i64,
        op => apply_word(op, (a, width), (b, width_b)) as i64,
    }))
}

#[inline]
fn less(n: i64, d: i64, m: i64, e: i64) -> bool {
    if d == e { n < m } else { i128::from(n) * i128::from(e) < i128::from(m) * i128::from(d) }
}

#[inline]
fn sum(n: i64, d: i64, m: i64, e: i64) -> Option<Cell> {
    if d == 1 && e == 1 {
        return n.checked_add(m).map(|s| Cell::Ratio(s, 1));
    }
    let (n, d, m, e) = (i128::from(n), i128::from(d), i128::from(m), i128::from(e));
    Cell::ratio(n * e + m * d, d * e)
}

#[inline]
fn product(n: i64, d: i64, m: i64, e: i64) -> Option<Cell> {
    if d == 1 && e == 1 {
        return n.checked_mul(m).map(|s| Cell::Ratio(s, 1));
    }
    Cell::ratio(i128::from(n) * i128::from(m), i128::from(d) * i128::from(e))
}

/// The slow path, on exact values.
#[cold]
fn exact(op: Op, sort: Sort, a: &Cell, b: &Cell) -> Result<Cell, EvalError> {
    let unary = matches!(op, Op::Neg | Op::Abs | Op::ToReal | Op::ToInt);
    let values = [a.value(sort), b.value(sort)];
    let args = if unary { &values[..1] } else { &values[..] };
    Ok(Cell::new(&apply(op, args)?))
}
