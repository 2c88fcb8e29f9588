//! Constructors for code that knows its sorts: engines, passes, encoders.
//!
//! They simplify (constants, nested `and` and `or`, double negation) and panic on ill-sorted
//! arguments, which are a bug of the caller. Front-ends, whose arguments come from a user, use
//! [`Pool::mk`].

use crate::bits::{BvOp, Width};
use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};

impl Pool {
    fn mk_or_panic(&mut self, op: Op, args: &[TermId]) -> TermId {
        match self.mk(op, args) {
            Ok(t) => t,
            Err(e) => panic!("ill-sorted term: {e}, got {:?}", e.found),
        }
    }

    /// `true`
    pub fn tt(&mut self) -> TermId {
        self.constant(Value::Bool(true))
    }

    /// `false`
    pub fn ff(&mut self) -> TermId {
        self.constant(Value::Bool(false))
    }

    /// An integer constant.
    pub fn int(&mut self, i: impl Into<IBig>) -> TermId {
        self.constant(Value::Int(i.into()))
    }

    /// A real constant.
    pub fn real(&mut self, r: impl Into<RBig>) -> TermId {
        self.constant(Value::Real(r.into()))
    }

    /// A bit-vector constant: the integer modulo `2^w`.
    pub fn bits(&mut self, width: Width, i: impl Into<IBig>) -> TermId {
        self.constant(Value::bits(width, i))
    }

    /// An operator on bit-vectors.
    pub fn bv(&mut self, op: BvOp, args: &[TermId]) -> TermId {
        self.mk_or_panic(Op::Bv(op), args)
    }

    /// `a[i]`
    pub fn select(&mut self, a: TermId, i: TermId) -> TermId {
        self.mk_or_panic(Op::Select, &[a, i])
    }

    /// `a[i := v]`
    pub fn store(&mut self, a: TermId, i: TermId, v: TermId) -> TermId {
        self.mk_or_panic(Op::Store, &[a, i, v])
    }

    /// A declared free variable as a term; panics if the name has another sort.
    pub fn variable(&mut self, name: &str, sort: Sort) -> TermId {
        let s = self.declare(name, sort).expect("one sort per name");
        self.var(s)
    }

    /// The truth value of a constant term.
    pub fn as_bool(&self, t: TermId) -> Option<bool> {
        match self.op(t) {
            Op::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// Negation.
    pub fn not(&mut self, t: TermId) -> TermId {
        match self.op(t) {
            Op::Bool(b) => self.constant(Value::Bool(!b)),
            Op::Not => self.args(t)[0],
            _ => self.mk_or_panic(Op::Not, &[t]),
        }
    }

    /// Conjunction of any number of terms.
    pub fn and(&mut self, terms: impl IntoIterator<Item = TermId>) -> TermId {
        self.junction(Op::And, terms)
    }

    /// Disjunction of any number of terms.
    pub fn or(&mut self, terms: impl IntoIterator<Item = TermId>) -> TermId {
        self.junction(Op::Or, terms)
    }

    fn junction(&mut self, op: Op, terms: impl IntoIterator<Item = TermId>) -> TermId {
        let neutral = op == Op::And;
        let mut args: Vec<TermId> = Vec::new();
        for t in terms {
            match self.op(t) {
                Op::Bool(b) if b == neutral => {}
                Op::Bool(_) => return t,
                o if o == op => args.extend_from_slice(self.args(t)),
                _ => args.push(t),
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        if args.len() > 1 {
            args.retain(|&a| seen.insert(a));
        }
        match args[..] {
            [] => self.constant(Value::Bool(neutral)),
            [one] => one,
            _ => self.mk_or_panic(op, &args),
        }
    }

    /// Implication.
    pub fn implies(&mut self, a: TermId, b: TermId) -> TermId {
        match (self.op(a), self.op(b)) {
            (Op::Bool(true), _) => b,
            (Op::Bool(false), _) | (_, Op::Bool(true)) => self.tt(),
            (_, Op::Bool(false)) => self.not(a),
            _ => self.mk_or_panic(Op::Implies, &[a, b]),
        }
    }

    /// Equality.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        if a == b {
            return self.tt();
        }
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) if x.sort() == y.sort() => self.constant(Value::Bool(x == y)),
            (Some(Value::Bool(x)), None) => {
                if x {
                    b
                } else {
                    self.not(b)
                }
            }
            (None, Some(Value::Bool(y))) => {
                if y {
                    a
                } else {
                    self.not(a)
                }
            }
            _ => self.mk_or_panic(Op::Eq, &[a, b]),
        }
    }

    /// Disequality.
    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let e = self.eq(a, b);
        self.not(e)
    }

    /// If-then-else.
    pub fn ite(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        match self.op(c) {
            Op::Bool(true) => a,
            Op::Bool(false) => b,
            _ if a == b => a,
            _ => self.mk_or_panic(Op::Ite, &[c, a, b]),
        }
    }

    /// `a < b`
    pub fn lt(&mut self, a: TermId, b: TermId) -> TermId {
        self.mk_or_panic(Op::Lt, &[a, b])
    }

    /// `a <= b`
    pub fn le(&mut self, a: TermId, b: TermId) -> TermId {
        self.mk_or_panic(Op::Le, &[a, b])
    }

    /// Sum of two.
    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.mk_or_panic(Op::Add, &[a, b])
    }

    /// Difference.
    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.mk_or_panic(Op::Sub, &[a, b])
    }

    /// Product of two.
    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.mk_or_panic(Op::Mul, &[a, b])
    }

    /// For all values of `bound`; `body` itself if `bound` is empty or `body` is a constant.
    pub fn forall(&mut self, bound: &[SymbolId], body: TermId) -> TermId {
        self.quantify(Op::Forall, bound, body)
    }

    /// For some values of `bound`; `body` itself if `bound` is empty or `body` is a constant.
    pub fn exists(&mut self, bound: &[SymbolId], body: TermId) -> TermId {
        self.quantify(Op::Exists, bound, body)
    }

    fn quantify(&mut self, op: Op, bound: &[SymbolId], body: TermId) -> TermId {
        if bound.is_empty() || self.as_bool(body).is_some() {
            return body;
        }
        let mut args: Vec<TermId> = bound.iter().map(|&s| self.var(s)).collect();
        args.push(body);
        self.mk_or_panic(op, &args)
    }
}
