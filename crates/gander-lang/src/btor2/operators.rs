//! The operators of BTOR2 on terms, with one-bit vectors as bools.

use super::words::{argument, plain_number};
use super::{File, Kind, Node, Problem, wrong};
use gander_term::{BvOp, IBig, Op, Sort, TermId, Width};

impl File {
    /// The value of an operator line.
    pub(super) fn operator(
        &mut self,
        word: &str,
        words: &[&str],
    ) -> Result<(TermId, Kind), Problem> {
        let number = |k: usize| argument(words, k).ok();
        if let (Some(first), Some(second)) = (number(3), number(4)) {
            let third = number(5);
            let kind = |file: &File, n: i64| {
                n.checked_abs().and_then(|n| file.nodes.get(&n)).map(|(_, kind)| *kind)
            };
            let is_array = |file: &File, n: i64| matches!(kind(file, n), Some(Kind::Array { .. }));
            match (word, third) {
                ("read", _) => return self.read(first, second),
                ("write", Some(third)) => return self.write(first, second, third),
                ("ite", Some(third)) if is_array(self, second) => {
                    return self.choose(first, second, third);
                }
                ("eq" | "neq", _) if is_array(self, first) => {
                    return self.compare_arrays(word, first, second);
                }
                _ => {}
            }
        }
        let node = self.on_vectors(word, words)?;
        Ok((node.term, Kind::Bits(node.width)))
    }

    fn read(&mut self, array: i64, index: i64) -> Result<(TermId, Kind), Problem> {
        let ((a, kind), i) = (self.any_node(array)?, self.node(index)?);
        match kind {
            Kind::Array { index, element } if index == i.width => {
                Ok((self.made_of(Op::Select, &[a, i.term])?, Kind::Bits(element)))
            }
            _ => wrong("`read` takes an array and an index of its sort"),
        }
    }

    fn write(&mut self, array: i64, index: i64, element: i64) -> Result<(TermId, Kind), Problem> {
        let ((a, kind), i, v) = (self.any_node(array)?, self.node(index)?, self.node(element)?);
        match kind {
            Kind::Array { index, element } if index == i.width && element == v.width => {
                Ok((self.made_of(Op::Store, &[a, i.term, v.term])?, kind))
            }
            _ => wrong("`write` takes an array, an index and an element of its sorts"),
        }
    }

    fn choose(&mut self, condition: i64, yes: i64, no: i64) -> Result<(TermId, Kind), Problem> {
        let (c, (a, kind), (b, other)) =
            (self.node(condition)?, self.any_node(yes)?, self.any_node(no)?);
        if c.width != Width::W1 || kind != other {
            return wrong("`ite` takes one bit and two values of one sort");
        }
        Ok((self.pool.ite(c.term, a, b), kind))
    }

    fn compare_arrays(&mut self, word: &str, a: i64, b: i64) -> Result<(TermId, Kind), Problem> {
        let ((a, kind), (b, other)) = (self.any_node(a)?, self.any_node(b)?);
        if kind != other {
            return wrong(format!("`{word}` takes two values of one sort"));
        }
        let same = self.pool.eq(a, b);
        let term = if word == "eq" { same } else { self.pool.not(same) };
        Ok((term, Kind::Bits(Width::W1)))
    }

    /// An operator that does not involve arrays.
    fn on_vectors(&mut self, word: &str, words: &[&str]) -> Result<Node, Problem> {
        let number = |k: usize| argument(words, k);
        match word {
            "read" | "write" => return wrong(format!("`{word}` takes an array and more")),
            "slice" => {
                let (x, high, low) =
                    (self.node(number(3)?)?, plain_number(words, 4)?, plain_number(words, 5)?);
                if high < low || high >= x.width.bits() {
                    return wrong(format!(
                        "the bits {high} to {low} of {} do not exist",
                        x.width.bits()
                    ));
                }
                return Ok(self.slice(x, high as u16, low as u16));
            }
            "uext" | "sext" => {
                let (x, by) = (self.node(number(3)?)?, plain_number(words, 4)?);
                return self.extend(x, by, word == "sext");
            }
            _ => {}
        }
        let a = self.node(number(3)?)?;
        if let Some(made) = self.unary(word, a) {
            return Ok(made);
        }
        let b = self.node(number(4)?)?;
        if word == "ite" {
            let c = self.node(number(5)?)?;
            if a.width != Width::W1 || b.width != c.width {
                return wrong("`ite` takes one bit and two values of one sort");
            }
            let term = self.pool.ite(a.term, b.term, c.term);
            return Ok(Node { term, width: b.width });
        }
        if word == "concat" {
            let Some(width) = Width::new(a.width.bits() + b.width.bits()) else {
                return wrong("too many bits");
            };
            let (a, b) = (self.vector(a), self.vector(b));
            return Ok(Node { term: self.pool.bv(BvOp::Concat, &[a, b]), width });
        }
        if a.width != b.width {
            return wrong(format!("`{word}` takes two values of one sort"));
        }
        self.binary(word, a, b)
    }

    /// The value as a vector, also for one bit.
    fn vector(&mut self, x: Node) -> TermId {
        if self.pool.sort(x.term) != Sort::Bool {
            return x.term;
        }
        let (one, zero) = (self.pool.bits(Width::W1, 1), self.pool.bits(Width::W1, 0));
        self.pool.ite(x.term, one, zero)
    }

    /// A vector of this width as a node; one bit becomes a bool.
    fn bit_or_vector(&mut self, term: TermId, width: Width) -> Node {
        if width != Width::W1 || self.pool.sort(term) == Sort::Bool {
            return Node { term, width };
        }
        let one = self.pool.bits(Width::W1, 1);
        Node { term: self.pool.eq(term, one), width }
    }

    fn bit(&mut self, term: TermId) -> Node {
        Node { term, width: Width::W1 }
    }

    pub(super) fn inverted(&mut self, x: Node) -> Node {
        let term = if x.width == Width::W1 {
            self.pool.not(x.term)
        } else {
            self.pool.bv(BvOp::Not, &[x.term])
        };
        Node { term, width: x.width }
    }

    fn slice(&mut self, x: Node, high: u16, low: u16) -> Node {
        let bits = u32::from(high - low) + 1;
        if bits == x.width.bits() {
            return x;
        }
        let term = self.pool.bv(BvOp::Extract { high, low }, &[x.term]);
        let width = Width::new(bits).unwrap_or(x.width);
        self.bit_or_vector(term, width)
    }

    fn extend(&mut self, x: Node, by: u32, signed: bool) -> Result<Node, Problem> {
        if by == 0 {
            return Ok(x);
        }
        let Some(width) = x.width.bits().checked_add(by).and_then(Width::new) else {
            return wrong("too many bits");
        };
        let vector = self.vector(x);
        let op = if signed { BvOp::SignExtend(by) } else { BvOp::ZeroExtend(by) };
        Ok(Node { term: self.pool.bv(op, &[vector]), width })
    }

    fn constant_like(&mut self, x: Node, value: i64) -> Node {
        let term = self.constant(x.width, IBig::from(value));
        Node { term, width: x.width }
    }

    fn unary(&mut self, word: &str, x: Node) -> Option<Node> {
        Some(match word {
            "not" => self.inverted(x),
            "neg" | "inc" | "dec" => {
                let vector = self.vector(x);
                let one = self.pool.bits(x.width, 1);
                let term = match word {
                    "neg" => self.pool.bv(BvOp::Neg, &[vector]),
                    "inc" => self.pool.bv(BvOp::Add, &[vector, one]),
                    _ => self.pool.bv(BvOp::Sub, &[vector, one]),
                };
                self.bit_or_vector(term, x.width)
            }
            "redor" => {
                let zero = self.constant_like(x, 0);
                let term = self.pool.ne(x.term, zero.term);
                self.bit(term)
            }
            "redand" => {
                let ones = self.constant_like(x, -1);
                let term = self.pool.eq(x.term, ones.term);
                self.bit(term)
            }
            "redxor" => {
                let mut parity = self.pool.ff();
                for k in 0..x.width.bits() as u16 {
                    let bit = self.slice(x, k, k);
                    parity = self.pool.ne(parity, bit.term);
                }
                self.bit(parity)
            }
            _ => return None,
        })
    }

    /// An operator directly on bools.
    fn logic(&mut self, word: &str, a: TermId, b: TermId) -> Option<TermId> {
        Some(match word {
            "and" => self.pool.and([a, b]),
            "or" => self.pool.or([a, b]),
            "nand" => {
                let both = self.pool.and([a, b]);
                self.pool.not(both)
            }
            "nor" => {
                let one = self.pool.or([a, b]);
                self.pool.not(one)
            }
            "implies" => self.pool.implies(a, b),
            "xor" | "neq" => self.pool.ne(a, b),
            "xnor" | "iff" | "eq" => self.pool.eq(a, b),
            _ => return None,
        })
    }

    fn binary(&mut self, word: &str, a: Node, b: Node) -> Result<Node, Problem> {
        if a.width == Width::W1
            && let Some(term) = self.logic(word, a.term, b.term)
        {
            return Ok(self.bit(term));
        }
        let width = a.width;
        let (x, y) = (self.vector(a), self.vector(b));
        let plain = match word {
            "and" | "nand" => Some(BvOp::And),
            "or" | "nor" => Some(BvOp::Or),
            "xor" | "xnor" => Some(BvOp::Xor),
            "add" => Some(BvOp::Add),
            "sub" => Some(BvOp::Sub),
            "mul" => Some(BvOp::Mul),
            "udiv" => Some(BvOp::Udiv),
            "urem" => Some(BvOp::Urem),
            "sdiv" => Some(BvOp::Sdiv),
            "srem" => Some(BvOp::Srem),
            "smod" => Some(BvOp::Smod),
            "sll" => Some(BvOp::Shl),
            "srl" => Some(BvOp::Lshr),
            "sra" => Some(BvOp::Ashr),
            _ => None,
        };
        if let Some(op) = plain {
            let mut term = self.pool.bv(op, &[x, y]);
            if matches!(word, "nand" | "nor" | "xnor") {
                term = self.pool.bv(BvOp::Not, &[term]);
            }
            return Ok(self.bit_or_vector(term, width));
        }
        let compared = match word {
            "ult" => Some(BvOp::Ult),
            "ulte" => Some(BvOp::Ule),
            "ugt" => Some(BvOp::Ugt),
            "ugte" => Some(BvOp::Uge),
            "slt" => Some(BvOp::Slt),
            "slte" => Some(BvOp::Sle),
            "sgt" => Some(BvOp::Sgt),
            "sgte" => Some(BvOp::Sge),
            _ => None,
        };
        if let Some(op) = compared {
            let term = self.pool.bv(op, &[x, y]);
            return Ok(self.bit(term));
        }
        match word {
            "eq" | "neq" => {
                let same = self.pool.eq(x, y);
                let term = if word == "eq" { same } else { self.pool.not(same) };
                Ok(self.bit(term))
            }
            "rol" | "ror" => Ok(self.rotate(word == "rol", x, y, width)),
            "uaddo" | "saddo" | "usubo" | "ssubo" | "umulo" | "smulo" | "sdivo" => {
                self.overflow(word, x, y, width)
            }
            _ => Err(Problem::Unsupported(format!("the operator `{word}`"))),
        }
    }

    /// Rotation by a variable amount, as two shifts by the amount modulo the width.
    fn rotate(&mut self, left: bool, x: TermId, amount: TermId, width: Width) -> Node {
        let bits = i64::from(width.bits());
        let modulus = self.pool.bits(width, bits);
        // If the width itself does not fit into the vector, every amount is smaller.
        let fits = width.bits() >= 64 || bits < (1i64 << width.bits());
        let by = if fits { self.pool.bv(BvOp::Urem, &[amount, modulus]) } else { amount };
        let back = self.pool.bv(BvOp::Sub, &[modulus, by]);
        let (first, second) = if left { (BvOp::Shl, BvOp::Lshr) } else { (BvOp::Lshr, BvOp::Shl) };
        let (a, b) = (self.pool.bv(first, &[x, by]), self.pool.bv(second, &[x, back]));
        let turned = self.pool.bv(BvOp::Or, &[a, b]);
        let zero = self.pool.bits(width, 0);
        let still = self.pool.eq(by, zero);
        let term = self.pool.ite(still, x, turned);
        self.bit_or_vector(term, width)
    }

    /// True if an operation overflows: the result computed with twice the width differs.
    fn overflow(
        &mut self,
        word: &str,
        x: TermId,
        y: TermId,
        width: Width,
    ) -> Result<Node, Problem> {
        let bits = width.bits();
        if word == "sdivo" {
            let least = self.pool.bits(width, IBig::ONE << (bits as usize - 1));
            let minus_one = self.pool.bits(width, -1);
            let (a, b) = (self.pool.eq(x, least), self.pool.eq(y, minus_one));
            let term = self.pool.and([a, b]);
            return Ok(self.bit(term));
        }
        let signed = word.starts_with('s');
        let op = match &word[1..4] {
            "add" => BvOp::Add,
            "sub" => BvOp::Sub,
            _ => BvOp::Mul,
        };
        if Width::new(2 * bits).is_none() {
            return wrong("too many bits");
        }
        let wider = if signed { BvOp::SignExtend(bits) } else { BvOp::ZeroExtend(bits) };
        let (wide_x, wide_y) = (self.pool.bv(wider, &[x]), self.pool.bv(wider, &[y]));
        let exact = self.pool.bv(op, &[wide_x, wide_y]);
        let wrapped = self.pool.bv(op, &[x, y]);
        let wrapped = self.pool.bv(wider, &[wrapped]);
        let same = self.pool.eq(exact, wrapped);
        let term = match self.pool.mk(Op::Not, &[same]) {
            Ok(term) => term,
            Err(_) => return wrong("an overflow of no number"),
        };
        Ok(self.bit(term))
    }
}
