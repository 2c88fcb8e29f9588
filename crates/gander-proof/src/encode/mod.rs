//! The encoding of a formula as clauses. Trusted.
//!
//! Formulas become literals, bit-vectors and enumerations become words of literals, and numbers
//! become linear forms; a comparison of numbers becomes an atom. Any other term is a fresh literal,
//! word or number, the same one wherever the term occurs: an arbitrary value of its sort. The
//! encoding depends on the formula only.
//!
//! Terms with a value that other terms determine get *defining* clauses: conditional numbers,
//! quotients and remainders by constants, absolute values, minima and maxima, conversions, elements
//! of arrays after a store.

mod arrays;
mod circuit;
mod numbers;
mod words;

use gander_term::{BvOp, IBig, Op, Pool, RBig, Sort, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::literal::Literal;
use circuit::{Circuit, truth};
use words::Word;

pub use numbers::Atom;
pub(crate) use numbers::{Bounds, Linear, Number};

/// Formulas with more clauses are not encoded.
const MAX_CLAUSES: usize = 2_000_000;

/// The encoding of a formula.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// The clauses.
    pub clauses: Vec<Vec<Literal>>,
    /// By variable: its bound, if it is an atom.
    pub atoms: Vec<Option<Atom>>,
    pub(crate) bounds: Bounds,
    /// The encoding of free symbols, for models.
    pub(crate) symbols: Vec<(TermId, Meaning)>,
}

/// The encoding of a term.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Truth(Literal),
    Word(Word),
    Number(Linear),
    /// Not encoded: a string, an array.
    Opaque,
}

impl Encoding {
    /// The encoding of a formula; `None` if it has more than `most` terms or too many clauses.
    pub fn of(pool: &Pool, formula: TermId, most: usize) -> Option<Encoding> {
        if pool.sort(formula) != Sort::Bool {
            return None;
        }
        let order = postorder(pool, formula, most)?;
        let mut encoder = Encoder {
            pool,
            circuit: Circuit::new(),
            bounds: Bounds::default(),
            atoms: numbers::Atoms::default(),
            meanings: FxHashMap::default(),
            numbers: FxHashMap::default(),
            reads: arrays::Reads::default(),
        };
        for &t in &order {
            let meaning = encoder.encode(t)?;
            encoder.meanings.insert(t, meaning);
            if encoder.circuit.clauses.len() > MAX_CLAUSES {
                return None;
            }
        }
        let Some(Meaning::Truth(root)) = encoder.meanings.get(&formula) else { return None };
        let root = *root;
        encoder.circuit.require(&[root]);
        encoder.relate_reads()?;
        encoder.atoms.order(&mut encoder.circuit);
        let mut atoms = vec![None; encoder.circuit.variables];
        for (variable, atom) in encoder.atoms.by_variable {
            atoms[variable] = Some(atom);
        }
        let symbols = order
            .into_iter()
            .filter(|t| matches!(pool.op(*t), Op::Symbol(_)))
            .filter_map(|t| Some((t, encoder.meanings.remove(&t)?)))
            .collect();
        Some(Encoding { clauses: encoder.circuit.clauses, atoms, bounds: encoder.bounds, symbols })
    }
}

/// The terms of a formula, arguments first, without those below quantifiers; `None` if there are
/// more than `most`.
fn postorder(pool: &Pool, formula: TermId, most: usize) -> Option<Vec<TermId>> {
    let (mut order, mut seen, mut stack) =
        (Vec::new(), FxHashSet::default(), vec![(formula, false)]);
    while let Some((t, done)) = stack.pop() {
        if done {
            order.push(t);
            continue;
        }
        if !seen.insert(t) {
            continue;
        }
        if seen.len() > most {
            return None;
        }
        stack.push((t, true));
        if !matches!(pool.op(t), Op::Forall | Op::Exists) {
            stack.extend(pool.args(t).iter().map(|&a| (a, false)));
        }
    }
    Some(order)
}

/// Numbers that count as variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Term(TermId),
    /// The Euclidean quotient and remainder of a term by a constant other than 0.
    Quotient(TermId, IBig),
    Remainder(TermId, IBig),
    /// 1 if the literal is true, else 0.
    Bit(Literal),
}

struct Encoder<'p> {
    pool: &'p Pool,
    circuit: Circuit,
    bounds: Bounds,
    atoms: numbers::Atoms,
    meanings: FxHashMap<TermId, Meaning>,
    numbers: FxHashMap<Key, Number>,
    reads: arrays::Reads,
}

impl Encoder<'_> {
    fn truth(&self, t: TermId) -> Option<Literal> {
        match self.meanings.get(&t) {
            Some(Meaning::Truth(l)) => Some(*l),
            _ => None,
        }
    }

    fn word(&self, t: TermId) -> Option<Word> {
        match self.meanings.get(&t) {
            Some(Meaning::Word(w)) => Some(w.clone()),
            _ => None,
        }
    }

    fn linear(&self, t: TermId) -> Option<Linear> {
        match self.meanings.get(&t) {
            Some(Meaning::Number(l)) => Some(l.clone()),
            _ => None,
        }
    }

    /// The number for the key, and whether it is new.
    fn number(&mut self, key: Key, is_int: bool) -> (Number, bool) {
        if let Some(&n) = self.numbers.get(&key) {
            return (n, false);
        }
        let n = self.bounds.new_number(is_int);
        self.numbers.insert(key, n);
        (n, true)
    }

    /// The literal for `a <= b`, or `a < b` if it is strict.
    fn at_most(&mut self, a: &Linear, b: &Linear, strict: bool) -> Literal {
        self.atoms.at_most_zero(&mut self.circuit, &self.bounds, &a.minus(b), strict)
    }

    fn equal_numbers(&mut self, a: &Linear, b: &Linear) -> Literal {
        let (below, above) = (self.at_most(a, b, false), self.at_most(b, a, false));
        self.circuit.and(below, above)
    }

    /// Requires that the numbers are equal if the condition is true.
    fn require_equal_if(&mut self, condition: Literal, a: &Linear, b: &Linear) {
        for (a, b) in [(a, b), (b, a)] {
            let at_most = self.at_most(a, b, false);
            self.circuit.require(&[!condition, at_most]);
        }
    }

    /// The encoding of a term whose arguments are encoded.
    fn encode(&mut self, t: TermId) -> Option<Meaning> {
        Some(match self.pool.sort(t) {
            Sort::Bool => Meaning::Truth(self.formula(t)?),
            Sort::Int | Sort::Real => Meaning::Number(self.sum(t)?),
            Sort::Enum(_) | Sort::BitVec(_) => Meaning::Word(self.bits(t)?),
            Sort::String | Sort::Array(_) => Meaning::Opaque,
        })
    }

    fn formula(&mut self, t: TermId) -> Option<Literal> {
        let pool = self.pool;
        let args = pool.args(t);
        let truths = |encoder: &Self| {
            args.iter().map(|&a| encoder.truth(a)).collect::<Option<Vec<Literal>>>()
        };
        Some(match pool.op(t) {
            Op::Bool(b) => truth(b),
            Op::Not => !*truths(self)?.first()?,
            Op::And => {
                let of = truths(self)?;
                self.circuit.all(of)
            }
            Op::Or => {
                let of = truths(self)?;
                self.circuit.any(of)
            }
            Op::Implies => match truths(self)?[..] {
                [a, b] => self.circuit.or(!a, b),
                _ => return None,
            },
            Op::Ite => match truths(self)?[..] {
                [c, a, b] => self.circuit.mux(c, a, b),
                _ => return None,
            },
            Op::Eq => self.equal(*args.first()?, *args.get(1)?),
            op @ (Op::Lt | Op::Le | Op::Gt | Op::Ge) => {
                let (a, b) = (self.linear(*args.first()?)?, self.linear(*args.get(1)?)?);
                match op {
                    Op::Lt => self.at_most(&a, &b, true),
                    Op::Le => self.at_most(&a, &b, false),
                    Op::Gt => self.at_most(&b, &a, true),
                    _ => self.at_most(&b, &a, false),
                }
            }
            Op::Bv(op) => {
                let (a, b) = (self.word(*args.first()?)?, self.word(*args.get(1)?)?);
                self.circuit.comparison(op, &a, &b)?
            }
            Op::Select => match self.element(t)? {
                Meaning::Truth(l) => l,
                _ => return None,
            },
            // Symbols and quantifiers.
            _ => self.circuit.fresh(),
        })
    }

    /// The literal for the equality of two terms of any sort.
    fn equal(&mut self, a: TermId, b: TermId) -> Literal {
        if a == b {
            return truth(true);
        }
        match (self.meanings.get(&a).cloned(), self.meanings.get(&b).cloned()) {
            (Some(a), Some(b)) => {
                self.equal_meanings(&a, &b).unwrap_or_else(|| self.circuit.fresh())
            }
            _ => self.circuit.fresh(),
        }
    }

    /// The literal for the equality of two values; `None` if they are not encoded.
    fn equal_meanings(&mut self, a: &Meaning, b: &Meaning) -> Option<Literal> {
        match (a, b) {
            (Meaning::Truth(a), Meaning::Truth(b)) => Some(self.circuit.iff(*a, *b)),
            (Meaning::Word(a), Meaning::Word(b)) if a.len() == b.len() => {
                Some(self.circuit.equal_words(a, b))
            }
            (Meaning::Number(a), Meaning::Number(b)) => Some(self.equal_numbers(a, b)),
            _ => None,
        }
    }

    /// The number of bits of a finite sort; `None` for other sorts.
    fn width(&self, sort: Sort) -> Option<usize> {
        match sort {
            Sort::BitVec(w) => Some(w.bits() as usize),
            Sort::Enum(e) => {
                let most = self.pool.enumeration(e).variants.len().saturating_sub(1);
                Some((usize::BITS - most.leading_zeros()).max(1) as usize)
            }
            _ => None,
        }
    }

    /// A fresh word: an arbitrary value of a finite sort.
    fn any_word(&mut self, sort: Sort) -> Option<Word> {
        let width = self.width(sort)?;
        let word = self.circuit.fresh_word(width);
        if let Sort::Enum(e) = sort {
            let most = self.pool.enumeration(e).variants.len().saturating_sub(1) as u64;
            let most: Word = (0..width).map(|i| truth(most >> i & 1 == 1)).collect();
            let beyond = self.circuit.less(&most, &word);
            self.circuit.require(&[!beyond]);
        }
        Some(word)
    }

    fn bits(&mut self, t: TermId) -> Option<Word> {
        let (pool, sort) = (self.pool, self.pool.sort(t));
        let args = pool.args(t);
        Some(match pool.op(t) {
            Op::Const(v) => match pool.value(v) {
                Value::Enum(_, at) => {
                    (0..self.width(sort)?).map(|i| truth(at >> i & 1 == 1)).collect()
                }
                Value::BitVec(b) => (0..b.width().bits()).map(|i| truth(b.bit(i))).collect(),
                _ => return None,
            },
            Op::Ite => {
                let (c, a, b) = (self.truth(args[0])?, self.word(args[1])?, self.word(args[2])?);
                self.circuit.mux_words(c, &a, &b)
            }
            Op::Bv(BvOp::FromInt(width)) => self.wrapped(args[0], width.bits() as usize)?,
            Op::Bv(op) => {
                let words = args.iter().map(|&a| self.word(a)).collect::<Option<Vec<Word>>>()?;
                self.circuit.word(op, &words)?
            }
            Op::Select => match self.element(t)? {
                Meaning::Word(w) => w,
                _ => return None,
            },
            _ => self.any_word(sort)?,
        })
    }

    /// The number `sum of 2^i` over the bits that are true.
    fn number_of(&mut self, word: &[Literal]) -> Linear {
        let mut sum = Linear::default();
        let (zero, one) = (Linear::default(), Linear::constant(RBig::ONE));
        let mut weight = RBig::ONE;
        for &bit in word {
            if bit == truth(true) {
                sum.constant += &weight;
            } else if bit != truth(false) {
                let (n, new) = self.number(Key::Bit(bit), true);
                let number = Linear::number(n);
                if new {
                    let (least, most) =
                        (self.at_most(&zero, &number, false), self.at_most(&number, &one, false));
                    let is_one = self.at_most(&one, &number, false);
                    self.circuit.require(&[least]);
                    self.circuit.require(&[most]);
                    self.circuit.require(&[!bit, is_one]);
                    self.circuit.require(&[bit, !is_one]);
                }
                sum.add(&number, &weight);
            }
            weight *= RBig::from(IBig::from(2));
        }
        sum
    }

    /// A number modulo `2^width`.
    fn wrapped(&mut self, of: TermId, width: usize) -> Option<Word> {
        let number = self.linear(of)?;
        let word = self.circuit.fresh_word(width);
        let mut sum = self.number_of(&word);
        let wraps = self.bounds.new_number(true);
        sum.add(&Linear::number(wraps), &RBig::from(IBig::from(2).pow(width)));
        self.require_equal_if(truth(true), &number, &sum);
        Some(word)
    }

    fn sum(&mut self, t: TermId) -> Option<Linear> {
        let pool = self.pool;
        let args = pool.args(t);
        Some(match pool.op(t) {
            Op::Const(_) => Linear::constant(constant(pool, t)?),
            Op::Add => {
                let mut sum = Linear::default();
                for &a in args {
                    sum.add(&self.linear(a)?, &RBig::ONE);
                }
                sum
            }
            Op::Sub => self.linear(args[0])?.minus(&self.linear(args[1])?),
            Op::Neg => Linear::default().minus(&self.linear(args[0])?),
            // The value of an int as a real is that of the int.
            Op::ToReal => self.linear(args[0])?,
            Op::Mul => self.product(t)?,
            Op::Div => match constant(pool, args[1]) {
                Some(by) if by != RBig::ZERO => {
                    let mut scaled = Linear::default();
                    scaled.add(&self.linear(args[0])?, &(RBig::ONE / by));
                    scaled
                }
                _ => self.opaque(t),
            },
            Op::Ite => {
                let (c, a, b) =
                    (self.truth(args[0])?, self.linear(args[1])?, self.linear(args[2])?);
                if c == truth(true) {
                    return Some(a);
                }
                if c == truth(false) {
                    return Some(b);
                }
                let choice = self.opaque(t);
                self.require_equal_if(c, &choice, &a);
                self.require_equal_if(!c, &choice, &b);
                choice
            }
            op @ (Op::IntDiv | Op::Mod) => match constant(pool, args[1]) {
                Some(by) if by != RBig::ZERO => self.division(op, args[0], by.numerator())?,
                _ => self.opaque(t),
            },
            Op::Abs => {
                let (of, size) = (self.linear(args[0])?, self.opaque(t));
                let negated = Linear::default().minus(&of);
                self.extreme(&size, &[of, negated], Extreme::Greatest);
                size
            }
            op @ (Op::Min | Op::Max) => {
                let of = args.iter().map(|&a| self.linear(a)).collect::<Option<Vec<Linear>>>()?;
                let extreme = self.opaque(t);
                self.extreme(
                    &extreme,
                    &of,
                    if op == Op::Min { Extreme::Least } else { Extreme::Greatest },
                );
                extreme
            }
            Op::ToInt => {
                let (of, floor) = (self.linear(args[0])?, self.opaque(t));
                let mut next = floor.clone();
                next.constant += RBig::ONE;
                let (below, above) =
                    (self.at_most(&floor, &of, false), self.at_most(&of, &next, true));
                self.circuit.require(&[below]);
                self.circuit.require(&[above]);
                floor
            }
            Op::Bv(BvOp::ToInt) => {
                let word = self.word(args[0])?;
                self.number_of(&word)
            }
            Op::Bv(BvOp::ToSignedInt) => {
                let word = self.word(args[0])?;
                let (sign, low) = word.split_last()?;
                let mut sum = self.number_of(low);
                let sign = self.number_of(&[*sign]);
                sum.add(&sign, &-RBig::from(IBig::from(2).pow(low.len())));
                sum
            }
            Op::Select => match self.element(t)? {
                Meaning::Number(l) => l,
                _ => return None,
            },
            _ => self.opaque(t),
        })
    }

    /// A number without constraints.
    fn opaque(&mut self, t: TermId) -> Linear {
        let is_int = self.pool.sort(t) == Sort::Int;
        Linear::number(self.number(Key::Term(t), is_int).0)
    }

    fn product(&mut self, t: TermId) -> Option<Linear> {
        let mut product = Linear::constant(RBig::ONE);
        for &a in self.pool.args(t) {
            let factor = self.linear(a)?;
            let (scale, of) = if factor.of.is_empty() {
                (factor.constant, product)
            } else if product.of.is_empty() {
                (product.constant, factor)
            } else {
                return Some(self.opaque(t));
            };
            product = Linear::default();
            product.add(&of, &scale);
        }
        Some(product)
    }

    /// The Euclidean quotient or remainder of a term by a constant other than 0.
    fn division(&mut self, op: Op, of: TermId, by: &IBig) -> Option<Linear> {
        let (quotient, new) = self.number(Key::Quotient(of, by.clone()), true);
        let (remainder, _) = self.number(Key::Remainder(of, by.clone()), true);
        let (quotient, remainder) = (Linear::number(quotient), Linear::number(remainder));
        if new {
            let mut sum = remainder.clone();
            sum.add(&quotient, &RBig::from(by.clone()));
            let of = self.linear(of)?;
            self.require_equal_if(truth(true), &of, &sum);
            let size = Linear::constant(RBig::from(dashu_base::Abs::abs(by.clone())));
            let (least, most) = (
                self.at_most(&Linear::default(), &remainder, false),
                self.at_most(&remainder, &size, true),
            );
            self.circuit.require(&[least]);
            self.circuit.require(&[most]);
        }
        Some(if op == Op::IntDiv { quotient } else { remainder })
    }

    /// Requires that a number is the least or the greatest of some.
    fn extreme(&mut self, extreme: &Linear, of: &[Linear], which: Extreme) {
        let mut reached = Vec::with_capacity(of.len());
        for each in of {
            let (a, b) = match which {
                Extreme::Least => (extreme, each),
                Extreme::Greatest => (each, extreme),
            };
            let bounded = self.at_most(a, b, false);
            self.circuit.require(&[bounded]);
            reached.push(self.at_most(b, a, false));
        }
        self.circuit.require(&reached);
    }
}

#[derive(Clone, Copy)]
enum Extreme {
    Least,
    Greatest,
}

/// The value of a constant number.
fn constant(pool: &Pool, t: TermId) -> Option<RBig> {
    match pool.op(t) {
        Op::Const(v) => match pool.value(v) {
            Value::Int(i) => Some(RBig::from(i.clone())),
            Value::Real(r) => Some(r.clone()),
            _ => None,
        },
        _ => None,
    }
}
