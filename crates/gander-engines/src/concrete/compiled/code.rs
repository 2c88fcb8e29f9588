//! Terms compiled to instructions over 64-bit slots.
//!
//! A frame is an array of 64-bit numbers: constants, the values of a state, unknowns, and a slot
//! for the result of every instruction. Booleans are 0 and 1, enumeration values their index,
//! bit-vectors of at most 64 bits their bits, and ints themselves. Arithmetic that overflows 64
//! bits is detected ([`StepError::Overflow`]). Terms without instructions (quantifiers, powers,
//! parts over reals or strings) are [`Slow`] programs of the evaluator, which is exact.

use gander_term::{
    BvOp, EvalError, Op, Pool, Program, Scratch, Sort, SymbolId, TermId, Value, Width,
};
use rustc_hash::FxHashMap;

/// The operation of an instruction on slots `a`, `b`, `c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    Not,
    And,
    Or,
    Implies,
    Eq,
    Ite,
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Abs,
    Min,
    Max,
    Lt,
    Le,
    /// A bit-vector operator, and the widths of its arguments.
    Bits(BvOp, u8, u8),
    /// Position in [`Frame::slow`].
    Slow(u32),
    /// Continues only if slot `a` is true.
    Require,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Instruction {
    code: Code,
    to: u32,
    a: u32,
    b: u32,
    c: u32,
}

/// Why a value cannot be computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepError {
    /// A number needs more than 64 bits.
    Overflow,
    /// The evaluator failed.
    Evaluator(EvalError),
    /// Too many values to try.
    TooMany,
    /// The work was cancelled.
    Cancelled,
}

impl StepError {
    pub(crate) fn describe(self, pool: &Pool) -> String {
        match self {
            StepError::Overflow => "a number needs more than 64 bits".into(),
            StepError::Evaluator(e) => e.describe(pool),
            StepError::TooMany => "a value is to be chosen from too many".into(),
            StepError::Cancelled => "interrupted".into(),
        }
    }
}

/// A term that is computed by the evaluator.
#[derive(Debug)]
pub(crate) struct Slow {
    program: Program,
    inputs: Vec<(u32, Sort)>,
}

/// The layout of frames, shared by all code compiled for a system.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// Initial contents: constants, and zeros.
    pub initial: Vec<i64>,
    pub slow: Vec<Slow>,
    /// The slots of global symbols, and of constants.
    symbols: FxHashMap<SymbolId, u32>,
    constants: FxHashMap<i64, u32>,
}

/// The frame of a worker.
#[derive(Debug)]
pub(crate) struct Slots {
    pub values: Vec<i64>,
    scratch: Vec<Scratch>,
    inputs: Vec<Value>,
}

/// The number that represents a value.
pub(crate) fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Bool(b) => Some(i64::from(*b)),
        Value::Int(i) => i64::try_from(i).ok(),
        Value::Enum(_, i) => Some(i64::from(*i)),
        Value::BitVec(v) if v.width().bits() <= 64 => {
            u64::try_from(v.bits()).ok().map(|w| w as i64)
        }
        Value::BitVec(_) | Value::Real(_) | Value::Str(_) | Value::Array(_) => None,
    }
}

/// The value that a number represents.
pub(crate) fn value(sort: Sort, number: i64) -> Value {
    match sort {
        Sort::Bool => Value::Bool(number != 0),
        Sort::Enum(id) => Value::Enum(id, number as u32),
        Sort::BitVec(width) => Value::bits(width, number as u64),
        _ => Value::int(number),
    }
}

/// Whether values of the sort are represented by numbers.
pub(crate) fn is_numbered(sort: Sort) -> bool {
    match sort {
        Sort::Bool | Sort::Int | Sort::Enum(_) => true,
        Sort::BitVec(width) => width.bits() <= 64,
        Sort::Real | Sort::String | Sort::Array(_) => false,
    }
}

impl Frame {
    pub(crate) fn slots(&self) -> Slots {
        let scratch = self.slow.iter().map(|_| Scratch::new()).collect();
        Slots { values: self.initial.clone(), scratch, inputs: Vec::new() }
    }

    /// A new slot.
    pub(crate) fn slot(&mut self) -> u32 {
        self.initial.push(0);
        self.initial.len() as u32 - 1
    }

    /// Allocates a slot for a symbol, valid everywhere.
    pub(crate) fn place(&mut self, s: SymbolId) -> u32 {
        let slot = self.slot();
        self.symbols.insert(s, slot);
        slot
    }

    fn constant(&mut self, n: i64) -> u32 {
        if let Some(&slot) = self.constants.get(&n) {
            return slot;
        }
        let slot = self.slot();
        self.initial[slot as usize] = n;
        self.constants.insert(n, slot);
        slot
    }
}

/// Compiles terms that are evaluated in sequence; a term that was computed is not computed again.
pub(crate) struct Compiler<'f> {
    pub frame: &'f mut Frame,
    known: FxHashMap<TermId, u32>,
}

impl<'f> Compiler<'f> {
    pub(crate) fn new(frame: &'f mut Frame) -> Compiler<'f> {
        Compiler { frame, known: FxHashMap::default() }
    }

    /// Declares that the value of the term is in this slot from here on.
    pub(crate) fn bind(&mut self, t: TermId, slot: u32) {
        self.known.insert(t, slot);
    }

    /// Appends the instructions for `t` and returns the slot of its value. The symbols of `t` must
    /// be known. The error says what cannot be compiled.
    pub(crate) fn compile(
        &mut self,
        pool: &Pool,
        t: TermId,
        tape: &mut Vec<Instruction>,
    ) -> Result<u32, String> {
        let mut stack = vec![t];
        while let Some(&u) = stack.last() {
            if self.known.contains_key(&u) {
                stack.pop();
                continue;
            }
            let slot = match pool.op(u) {
                Op::Symbol(s) => match self.frame.symbols.get(&s) {
                    Some(&slot) => slot,
                    None => return Err(format!("`{}` is not known in time", pool.symbol(s).name)),
                },
                Op::Bool(b) => self.frame.constant(i64::from(b)),
                Op::Const(v) => match number(pool.value(v)) {
                    Some(n) => self.frame.constant(n),
                    None => return Err("a constant does not fit into 64 bits".into()),
                },
                op if !is_native(pool, u, op) => self.slow(pool, u, tape)?,
                op => {
                    let before = stack.len();
                    stack.extend(pool.args(u).iter().rev().filter(|a| !self.known.contains_key(a)));
                    if stack.len() > before {
                        continue;
                    }
                    let args: Vec<u32> = pool.args(u).iter().map(|a| self.known[a]).collect();
                    self.emit(pool, u, op, &args, tape)
                }
            };
            stack.pop();
            self.known.insert(u, slot);
        }
        Ok(self.known[&t])
    }

    /// Discards what `f` computed, so that later code does not rely on it.
    pub(crate) fn scoped<T>(&mut self, f: impl FnOnce(&mut Compiler<'f>) -> T) -> T {
        let before = self.known.clone();
        let result = f(self);
        self.known = before;
        result
    }

    /// [`Compiler::compile`] of a formula, followed by a `Require`.
    pub(crate) fn require(
        &mut self,
        pool: &Pool,
        t: TermId,
        tape: &mut Vec<Instruction>,
    ) -> Result<(), String> {
        let slot = self.compile(pool, t, tape)?;
        tape.push(Instruction { code: Code::Require, to: 0, a: slot, b: 0, c: 0 });
        Ok(())
    }

    fn push(&mut self, code: Code, a: u32, b: u32, c: u32, tape: &mut Vec<Instruction>) -> u32 {
        let to = self.frame.slot();
        tape.push(Instruction { code, to, a, b, c });
        to
    }

    fn emit(
        &mut self,
        pool: &Pool,
        u: TermId,
        op: Op,
        args: &[u32],
        tape: &mut Vec<Instruction>,
    ) -> u32 {
        let code = match op {
            Op::Not => Code::Not,
            Op::And => Code::And,
            Op::Or => Code::Or,
            Op::Implies => Code::Implies,
            Op::Eq => Code::Eq,
            Op::Ite => return self.push(Code::Ite, args[0], args[1], args[2], tape),
            Op::Neg => Code::Neg,
            Op::Add => Code::Add,
            Op::Sub => Code::Sub,
            Op::Mul => Code::Mul,
            Op::IntDiv => Code::Div,
            Op::Mod => Code::Mod,
            Op::Abs => Code::Abs,
            Op::Min => Code::Min,
            Op::Max => Code::Max,
            Op::Lt => Code::Lt,
            Op::Le => Code::Le,
            Op::Gt => return self.push(Code::Lt, args[1], args[0], 0, tape),
            Op::Ge => return self.push(Code::Le, args[1], args[0], 0, tape),
            Op::Bv(op) => {
                let width = |at: usize| match pool.args(u).get(at).map(|&a| pool.sort(a)) {
                    Some(Sort::BitVec(w)) => w.bits() as u8,
                    _ => 0,
                };
                let (first, last) = (args[0], args[args.len() - 1]);
                return self.push(
                    Code::Bits(op, width(0), width(args.len() - 1)),
                    first,
                    last,
                    0,
                    tape,
                );
            }
            _ => unreachable!("only native operators are emitted"),
        };
        match *args {
            [a] => self.push(code, a, a, 0, tape),
            [first, ref rest @ ..] => {
                rest.iter().fold(first, |done, &next| self.push(code, done, next, 0, tape))
            }
            [] => unreachable!("operators have arguments"),
        }
    }

    fn slow(&mut self, pool: &Pool, u: TermId, tape: &mut Vec<Instruction>) -> Result<u32, String> {
        if !is_numbered(pool.sort(u)) {
            return Err("values of this sort are not enumerated".into());
        }
        let program = Program::compile(pool, &[u]);
        let mut inputs = Vec::new();
        for &s in program.inputs() {
            let symbol = pool.symbol(s);
            let slot = self
                .known
                .iter()
                .find(|(t, _)| pool.as_symbol(**t) == Some(s))
                .map(|(_, slot)| *slot);
            let slot = slot.or_else(|| self.frame.symbols.get(&s).copied());
            match slot {
                Some(slot) if is_numbered(symbol.sort) => inputs.push((slot, symbol.sort)),
                _ => return Err(format!("`{}` is not known in time", symbol.name)),
            }
        }
        self.frame.slow.push(Slow { program, inputs });
        let at = self.frame.slow.len() as u32 - 1;
        Ok(self.push(Code::Slow(at), 0, 0, 0, tape))
    }
}

/// True if there is an instruction for the operator and its arguments are numbers.
fn is_native(pool: &Pool, u: TermId, op: Op) -> bool {
    let has_code = !matches!(
        op,
        Op::Div | Op::Pow | Op::ToReal | Op::ToInt | Op::Concat | Op::Forall | Op::Exists
    );
    let fits = |a: TermId| match pool.op(a) {
        Op::Const(v) => number(pool.value(v)).is_some(),
        _ => is_numbered(pool.sort(a)),
    };
    has_code && is_numbered(pool.sort(u)) && pool.args(u).iter().all(|&a| fits(a))
}

/// Executes instructions; false if a requirement fails.
pub(crate) fn execute(
    tape: &[Instruction],
    frame: &Frame,
    slots: &mut Slots,
) -> Result<bool, StepError> {
    for ins in tape {
        let v = &slots.values;
        let (a, b) = (v[ins.a as usize], v[ins.b as usize]);
        let result = match ins.code {
            Code::Require => {
                if a == 0 {
                    return Ok(false);
                }
                continue;
            }
            Code::Not => a ^ 1,
            Code::And => a & b,
            Code::Or => a | b,
            Code::Implies => (a ^ 1) | b,
            Code::Eq => i64::from(a == b),
            Code::Ite => {
                if a != 0 {
                    b
                } else {
                    v[ins.c as usize]
                }
            }
            Code::Lt => i64::from(a < b),
            Code::Le => i64::from(a <= b),
            Code::Min => a.min(b),
            Code::Max => a.max(b),
            Code::Add => a.checked_add(b).ok_or(StepError::Overflow)?,
            Code::Sub => a.checked_sub(b).ok_or(StepError::Overflow)?,
            Code::Mul => a.checked_mul(b).ok_or(StepError::Overflow)?,
            Code::Neg => a.checked_neg().ok_or(StepError::Overflow)?,
            Code::Abs => a.checked_abs().ok_or(StepError::Overflow)?,
            Code::Div if b == 0 => 0,
            Code::Div => a.checked_div_euclid(b).ok_or(StepError::Overflow)?,
            Code::Mod if b == 0 => a,
            Code::Mod => a.checked_rem_euclid(b).ok_or(StepError::Overflow)?,
            Code::Bits(op, wa, wb) => bits(op, (a, wa), (b, wb))?,
            Code::Slow(at) => slow(&frame.slow[at as usize], at as usize, slots)?,
        };
        slots.values[ins.to as usize] = result;
    }
    Ok(true)
}

fn bits(op: BvOp, (a, wa): (i64, u8), (b, wb): (i64, u8)) -> Result<i64, StepError> {
    let unused = |w: u8| 64 - u32::from(w.clamp(1, 64));
    Ok(match op {
        BvOp::ToInt if a < 0 => return Err(StepError::Overflow),
        BvOp::ToInt => a,
        BvOp::ToSignedInt => a << unused(wa) >> unused(wa),
        BvOp::FromInt(width) => (a as u64 & (u64::MAX >> (64 - Width::bits(width).min(64)))) as i64,
        op => op.on_words((a as u64, u32::from(wa)), (b as u64, u32::from(wb))) as i64,
    })
}

#[cold]
fn slow(slow: &Slow, at: usize, slots: &mut Slots) -> Result<i64, StepError> {
    slots.inputs.clear();
    for &(slot, sort) in &slow.inputs {
        slots.inputs.push(value(sort, slots.values[slot as usize]));
    }
    let results =
        slow.program.run(&slots.inputs, &mut slots.scratch[at]).map_err(StepError::Evaluator)?;
    results.first().and_then(number).ok_or(StepError::Overflow)
}
