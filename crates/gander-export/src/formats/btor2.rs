//! BTOR2, for finite systems.
//!
//! A bool is one bit; an enumeration value or an int is a signed vector as wide as its bounds need.
//! Ints need ranges that hold in every state. Each operator is as wide as needed to exclude
//! overflow: interval arithmetic computes the bounds of every subterm. The transition relation is
//! not a function, so every variable has an input `x__next` with its next value; `valid` records
//! that the inputs so far form a run. A `bad` line asks for a valid run to a state that violates a
//! property, a `justice` line for an infinite valid run. There are no `constraint` lines, as these
//! would also exclude runs that end.

use std::fmt::Write as _;

use gander_term::{BvOp, IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::encode::flat::Flat;

/// Limits the bits of a number; wider numbers are refused.
const WIDEST: u32 = 128;

/// The suffix of the input with the next value of a variable.
pub(crate) const NEXT: &str = "__next";

/// A line of the file as a value.
#[derive(Clone, Debug)]
struct Bits {
    line: usize,
    width: u32,
    /// The bounds, if it is a (signed) number.
    bounds: Option<(IBig, IBig)>,
}

struct Writer {
    text: String,
    lines: usize,
    sorts: FxHashMap<u32, usize>,
    symbols: FxHashMap<SymbolId, Bits>,
    known: FxHashMap<TermId, Bits>,
}

fn refuse<T>(what: &str) -> Result<T, Refusal> {
    Err(Refusal(format!("{what} cannot be written in BTOR2")))
}

/// The number of bits of a signed number within bounds.
fn width_of(low: &IBig, high: &IBig) -> Result<u32, Refusal> {
    let mut width = 1;
    while *low < -(IBig::ONE << (width as usize - 1)) || *high >= IBig::ONE << (width as usize - 1)
    {
        width += 1;
        if width > WIDEST {
            return refuse(&format!("a number of more than {WIDEST} bits"));
        }
    }
    Ok(width)
}

impl Writer {
    fn line(&mut self, rest: &str) -> usize {
        self.lines += 1;
        let _ = writeln!(self.text, "{} {rest}", self.lines);
        self.lines
    }

    fn sort(&mut self, width: u32) -> usize {
        if let Some(sort) = self.sorts.get(&width) {
            return *sort;
        }
        let sort = self.line(&format!("sort bitvec {width}"));
        self.sorts.insert(width, sort);
        sort
    }

    fn op(&mut self, name: &str, width: u32, args: &[usize]) -> usize {
        let sort = self.sort(width);
        let args: String = args.iter().map(|a| format!(" {a}")).collect();
        self.line(&format!("{name} {sort}{args}"))
    }

    fn constant(&mut self, width: u32, value: &IBig) -> usize {
        let sort = self.sort(width);
        self.line(&format!("constd {sort} {value}"))
    }

    /// Sign-extends a number to this width.
    fn widened(&mut self, bits: &Bits, width: u32) -> usize {
        if bits.width >= width {
            return bits.line;
        }
        let sort = self.sort(width);
        self.line(&format!("sext {sort} {} {}", bits.line, width - bits.width))
    }

    fn one_bit(&self, line: usize) -> Bits {
        Bits { line, width: 1, bounds: None }
    }

    /// Bits for a variable of this sort, and its bounds if it is a number.
    fn shape(
        pool: &Pool,
        name: &str,
        sort: Sort,
        range: Option<&(IBig, IBig)>,
    ) -> Result<Bits, Refusal> {
        let number = |low: IBig, high: IBig| {
            Ok(Bits { line: 0, width: width_of(&low, &high)?, bounds: Some((low, high)) })
        };
        match (sort, range) {
            (Sort::Bool, _) => Ok(Bits { line: 0, width: 1, bounds: None }),
            (Sort::BitVec(w), _) => Ok(Bits { line: 0, width: w.bits(), bounds: None }),
            (Sort::Enum(id), _) => {
                number(IBig::ZERO, IBig::from(pool.enumeration(id).variants.len()) - IBig::ONE)
            }
            (Sort::Int, Some((low, high))) => number(low.clone(), high.clone()),
            (Sort::Int, None) => {
                refuse(&format!("`{name}`, an int without a range that certainly holds,"))
            }
            _ => refuse(&format!("`{name}`, which is of sort {},", sort.name(pool))),
        }
    }

    /// The constraint that a number is within its bounds, as its bits may represent other numbers.
    fn within(&mut self, bits: &Bits) -> Option<usize> {
        let (low, high) = bits.bounds.clone()?;
        let (low, high) = (self.constant(bits.width, &low), self.constant(bits.width, &high));
        let (above, below) =
            (self.op("sgte", 1, &[bits.line, low]), self.op("slte", 1, &[bits.line, high]));
        Some(self.op("and", 1, &[above, below]))
    }

    fn term(&mut self, pool: &Pool, root: TermId) -> Result<Bits, Refusal> {
        for t in pool.postorder(&[root]) {
            if !self.known.contains_key(&t) {
                let bits = self.node(pool, t)?;
                self.known.insert(t, bits);
            }
        }
        Ok(self.known[&root].clone())
    }

    fn node(&mut self, pool: &Pool, t: TermId) -> Result<Bits, Refusal> {
        let args: Vec<Bits> = pool.args(t).iter().map(|a| self.known[a].clone()).collect();
        let lines: Vec<usize> = args.iter().map(|a| a.line).collect();
        match pool.op(t) {
            Op::Symbol(s) => match self.symbols.get(&s) {
                Some(bits) => Ok(bits.clone()),
                None => refuse(&format!("the symbol `{}`", pool.symbol(s).name)),
            },
            Op::Bool(b) => {
                let line = self.constant(1, &IBig::from(u8::from(b)));
                Ok(self.one_bit(line))
            }
            Op::Const(v) => match pool.value(v) {
                Value::Int(i) => self.number(i.clone()),
                Value::Enum(_, k) => self.number(IBig::from(*k)),
                Value::BitVec(b) => {
                    let line = self.constant(b.width().bits(), &b.unsigned());
                    Ok(Bits { line, width: b.width().bits(), bounds: None })
                }
                Value::Bool(b) => {
                    let line = self.constant(1, &IBig::from(u8::from(*b)));
                    Ok(self.one_bit(line))
                }
                _ => refuse("a constant that is neither a truth value nor a whole number"),
            },
            Op::Not => {
                let line = self.op("not", 1, &lines);
                Ok(self.one_bit(line))
            }
            Op::And => self.fold("and", &lines),
            Op::Or => self.fold("or", &lines),
            Op::Implies => {
                let line = self.op("implies", 1, &lines);
                Ok(self.one_bit(line))
            }
            Op::Eq => self.compare("eq", &args),
            Op::Lt => self.compare("slt", &args),
            Op::Le => self.compare("slte", &args),
            Op::Gt => self.compare("sgt", &args),
            Op::Ge => self.compare("sgte", &args),
            Op::Ite => {
                let (width, lines, bounds) = self.joined(&args[1..]);
                let line = self.op("ite", width, &[args[0].line, lines[0], lines[1]]);
                Ok(Bits { line, width, bounds })
            }
            Op::Neg | Op::Add | Op::Sub | Op::Mul | Op::Abs | Op::Min | Op::Max => {
                self.arithmetic(pool.op(t), args)
            }
            Op::IntDiv | Op::Mod => {
                let divisor = pool.as_constant(pool.args(t)[1]);
                match divisor {
                    Some(Value::Int(c)) if c > IBig::ZERO => self.division(pool.op(t), &args[0], c),
                    _ => refuse("a quotient of ints by something else than a positive constant"),
                }
            }
            Op::Bv(op) => self.vector(op, pool.sort(t), &args),
            Op::ToReal | Op::ToInt | Op::Div => refuse("a real"),
            Op::Pow => refuse("a power"),
            Op::Forall | Op::Exists => refuse("a quantifier"),
            _ => refuse("a string or an array"),
        }
    }

    fn number(&mut self, i: IBig) -> Result<Bits, Refusal> {
        let width = width_of(&i, &i)?;
        let line = self.constant(width, &i);
        Ok(Bits { line, width, bounds: Some((i.clone(), i)) })
    }

    fn fold(&mut self, name: &str, lines: &[usize]) -> Result<Bits, Refusal> {
        let mut line = lines[0];
        for &next in &lines[1..] {
            line = self.op(name, 1, &[line, next]);
        }
        Ok(self.one_bit(line))
    }

    /// Extends values to their largest width; also returns their common bounds.
    fn joined(&mut self, args: &[Bits]) -> (u32, Vec<usize>, Option<(IBig, IBig)>) {
        let width = args.iter().map(|a| a.width).max().unwrap_or(1);
        let lines = args.iter().map(|a| self.widened(a, width)).collect();
        let mut bounds: Option<(IBig, IBig)> = None;
        for (low, high) in args.iter().filter_map(|a| a.bounds.clone()) {
            bounds = Some(match bounds {
                None => (low, high),
                Some((l, h)) => (l.min(low), h.max(high)),
            });
        }
        (width, lines, bounds)
    }

    fn compare(&mut self, name: &str, args: &[Bits]) -> Result<Bits, Refusal> {
        let (_, lines, _) = self.joined(args);
        let line = self.op(name, 1, &lines);
        Ok(self.one_bit(line))
    }

    fn arithmetic(&mut self, op: Op, args: Vec<Bits>) -> Result<Bits, Refusal> {
        let mut args = args.into_iter();
        let Some(mut sum) = args.next() else { return refuse("an operator without arguments") };
        let bounds = |b: &Bits| {
            b.bounds.clone().ok_or_else(|| Refusal("a real cannot be written in BTOR2".to_string()))
        };
        if matches!(op, Op::Neg | Op::Abs) {
            let (low, high) = bounds(&sum)?;
            let (negative_low, negative_high) = (-&high, -&low);
            let width = width_of(
                &low.clone().min(negative_low.clone()),
                &high.clone().max(negative_high.clone()),
            )?;
            // The bounds may be narrower than the argument.
            let width = width.max(sum.width);
            let wide = self.widened(&sum, width);
            let negative = self.op("neg", width, &[wide]);
            if op == Op::Neg {
                return Ok(Bits {
                    line: negative,
                    width,
                    bounds: Some((negative_low, negative_high)),
                });
            }
            let zero = self.constant(width, &IBig::ZERO);
            let is_negative = self.op("slt", 1, &[wide, zero]);
            let line = self.op("ite", width, &[is_negative, negative, wide]);
            return Ok(Bits {
                line,
                width,
                bounds: Some((IBig::ZERO, high.max(negative_high).max(IBig::ZERO))),
            });
        }
        for next in args {
            let ((a, b), (c, d)) = (bounds(&sum)?, bounds(&next)?);
            if matches!(op, Op::Min | Op::Max) {
                let (width, lines, _) = self.joined(&[sum, next]);
                let first = self.op(if op == Op::Min { "slte" } else { "sgte" }, 1, &lines);
                let line = self.op("ite", width, &[first, lines[0], lines[1]]);
                let bounds =
                    if op == Op::Min { (a.min(c), b.min(d)) } else { (a.max(c), b.max(d)) };
                sum = Bits { line, width, bounds: Some(bounds) };
                continue;
            }
            let (name, low, high) = match op {
                Op::Add => ("add", &a + &c, &b + &d),
                Op::Sub => ("sub", &a - &d, &b - &c),
                _ => {
                    let ends = [&a * &c, &a * &d, &b * &c, &b * &d];
                    let low = ends.iter().min().cloned().unwrap_or_default();
                    let high = ends.iter().max().cloned().unwrap_or_default();
                    ("mul", low, high)
                }
            };
            let width = width_of(&low, &high)?.max(sum.width).max(next.width);
            let (x, y) = (self.widened(&sum, width), self.widened(&next, width));
            let line = self.op(name, width, &[x, y]);
            sum = Bits { line, width, bounds: Some((low, high)) };
        }
        Ok(sum)
    }

    /// Division by a positive constant. `smod` has the sign of the divisor, so it is the Euclidean
    /// remainder.
    fn division(&mut self, op: Op, x: &Bits, c: IBig) -> Result<Bits, Refusal> {
        let Some((low, high)) = x.bounds.clone() else { return refuse("a real") };
        // The remainder is subtracted from the dividend, so bounds are wider by the divisor.
        let width = width_of(&(&low - &c), &high.clone().max(c.clone()))?.max(x.width);
        let wide = self.widened(x, width);
        let divisor = self.constant(width, &c);
        let rest = self.op("smod", width, &[wide, divisor]);
        if op == Op::Mod {
            return Ok(Bits { line: rest, width, bounds: Some((IBig::ZERO, c - IBig::ONE)) });
        }
        let multiple = self.op("sub", width, &[wide, rest]);
        let line = self.op("sdiv", width, &[multiple, divisor]);
        Ok(Bits {
            line,
            width,
            bounds: Some(((&low).min(&IBig::ZERO).clone(), high.max(IBig::ZERO))),
        })
    }

    fn vector(&mut self, op: BvOp, sort: Sort, args: &[Bits]) -> Result<Bits, Refusal> {
        let lines: Vec<usize> = args.iter().map(|a| a.line).collect();
        let width = match sort {
            Sort::BitVec(w) => w.bits(),
            _ => 1,
        };
        let name = match op {
            BvOp::Neg => "neg",
            BvOp::Not => "not",
            BvOp::Add => "add",
            BvOp::Sub => "sub",
            BvOp::Mul => "mul",
            BvOp::Udiv => "udiv",
            BvOp::Urem => "urem",
            BvOp::Sdiv => "sdiv",
            BvOp::Srem => "srem",
            BvOp::Smod => "smod",
            BvOp::And => "and",
            BvOp::Or => "or",
            BvOp::Xor => "xor",
            BvOp::Shl => "sll",
            BvOp::Lshr => "srl",
            BvOp::Ashr => "sra",
            BvOp::Concat => "concat",
            BvOp::Ult => "ult",
            BvOp::Ule => "ulte",
            BvOp::Ugt => "ugt",
            BvOp::Uge => "ugte",
            BvOp::Slt => "slt",
            BvOp::Sle => "slte",
            BvOp::Sgt => "sgt",
            BvOp::Sge => "sgte",
            BvOp::Extract { high, low } => {
                let sort = self.sort(width);
                let line = self.line(&format!("slice {sort} {} {high} {low}", lines[0]));
                return Ok(Bits { line, width, bounds: None });
            }
            BvOp::ZeroExtend(n) | BvOp::SignExtend(n) => {
                let sort = self.sort(width);
                let name = if matches!(op, BvOp::ZeroExtend(_)) { "uext" } else { "sext" };
                let line = self.line(&format!("{name} {sort} {} {n}", lines[0]));
                return Ok(Bits { line, width, bounds: None });
            }
            BvOp::ToInt => {
                let width = args[0].width + 1;
                let sort = self.sort(width);
                let line = self.line(&format!("uext {sort} {} 1", lines[0]));
                let high = (IBig::ONE << (width as usize - 1)) - IBig::ONE;
                return Ok(Bits { line, width, bounds: Some((IBig::ZERO, high)) });
            }
            BvOp::ToSignedInt => {
                let width = args[0].width;
                let half = IBig::ONE << (width as usize - 1);
                return Ok(Bits {
                    line: lines[0],
                    width,
                    bounds: Some((-&half, half - IBig::ONE)),
                });
            }
            BvOp::FromInt(w) => {
                let (from, to) = (args[0].width, w.bits());
                let line = if from > to {
                    let sort = self.sort(to);
                    self.line(&format!("slice {sort} {} {} 0", lines[0], to - 1))
                } else {
                    self.widened(&args[0], to)
                };
                return Ok(Bits { line, width: to, bounds: None });
            }
        };
        // BTOR2 operators are binary; terms may have more arguments.
        let mut line = match &lines[..] {
            [one] => self.op(name, width, &[*one]),
            [a, b, ..] => self.op(name, width, &[*a, *b]),
            [] => return refuse("an operator without arguments"),
        };
        for &next in lines.iter().skip(2) {
            line = self.op(name, width, &[line, next]);
        }
        Ok(Bits { line, width, bounds: None })
    }
}

pub(crate) fn write(flat: &mut Flat) -> Result<String, Refusal> {
    let recurrence = flat.recurrence_claims(usize::MAX);
    let invariants = flat.invariants();
    let text = format!("{}{}", flat.header(";"), flat.opposites(";"));
    let (first, relation) = (flat.first(), flat.relation());
    let (symbols, known) = (FxHashMap::default(), FxHashMap::default());
    let mut writer = Writer { text, lines: 0, sorts: FxHashMap::default(), symbols, known };
    let (mut now, mut later, mut states) = (Vec::new(), Vec::new(), Vec::new());
    for v in &flat.vars {
        let shape = Writer::shape(&flat.pool, &v.name, v.sort, v.range.as_ref())?;
        let sort = writer.sort(shape.width);
        let state =
            Bits { line: writer.line(&format!("state {sort} {}", v.name)), ..shape.clone() };
        let next = Bits { line: writer.line(&format!("input {sort} {}{NEXT}", v.name)), ..shape };
        now.extend(writer.within(&state));
        later.extend(writer.within(&next));
        states.push((sort, state.line, next.line));
        writer.symbols.insert(v.current, state);
        writer.symbols.insert(v.next, next);
    }
    for ((name, sort, symbol), range) in flat.params.iter().zip(&flat.param_ranges) {
        let shape = Writer::shape(&flat.pool, name, *sort, range.as_ref())?;
        let sort = writer.sort(shape.width);
        let input = Bits { line: writer.line(&format!("input {sort} {name}")), ..shape };
        later.extend(writer.within(&input));
        writer.symbols.insert(*symbol, input);
    }
    let bit = writer.sort(1);
    let (zero, one) = (writer.constant(1, &IBig::ZERO), writer.constant(1, &IBig::ONE));
    let begin = flat.names.fit("begin");
    let valid = flat.names.fit("valid");
    let begin = writer.line(&format!("state {bit} {begin}"));
    writer.line(&format!("init {bit} {begin} {one}"));
    writer.line(&format!("next {bit} {begin} {zero}"));
    let valid = writer.line(&format!("state {bit} {valid}"));
    writer.line(&format!("init {bit} {valid} {one}"));
    now.push(writer.term(&flat.pool, first)?.line);
    let is_first = writer.fold("and", &now)?.line;
    let is_first = writer.op("implies", 1, &[begin, is_first]);
    let valid_now = writer.op("and", 1, &[valid, is_first]);
    later.push(writer.term(&flat.pool, relation)?.line);
    let is_step = writer.fold("and", &later)?.line;
    let valid_next = writer.op("and", 1, &[valid_now, is_step]);
    writer.line(&format!("next {bit} {valid} {valid_next}"));
    for (sort, state, next) in states {
        writer.line(&format!("next {sort} {state} {next}"));
    }
    for (name, p) in invariants {
        let p = writer.term(&flat.pool, p)?.line;
        let violated = writer.op("not", 1, &[p]);
        let bad = writer.op("and", 1, &[valid_now, violated]);
        writer.line(&format!("bad {bad} {name}"));
    }
    for claim in recurrence {
        let mut conditions = vec![valid_now];
        for t in claim.recurring {
            conditions.push(writer.term(&flat.pool, t)?.line);
        }
        let listed: String = conditions.iter().map(|c| format!(" {c}")).collect();
        writer.line(&format!("justice {}{listed} {}", conditions.len(), claim.name));
    }
    Ok(writer.text)
}
