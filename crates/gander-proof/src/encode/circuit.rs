//! Gates: propositional functions of literals, as clauses (Tseitin's encoding). Trusted.

use rustc_hash::FxHashMap;

use crate::literal::Literal;

/// Clauses over variables, and the gates among them.
#[derive(Clone, Debug)]
pub(crate) struct Circuit {
    pub(crate) clauses: Vec<Vec<Literal>>,
    /// The number of variables.
    pub(crate) variables: usize,
    gates: FxHashMap<Gate, Literal>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Gate {
    And(Literal, Literal),
    Xor(Literal, Literal),
    Mux(Literal, Literal, Literal),
    All(Vec<Literal>),
}

/// The constant literal with this truth value.
pub(crate) fn truth(value: bool) -> Literal {
    Literal::new(0, value)
}

impl Circuit {
    pub(crate) fn new() -> Circuit {
        Circuit { clauses: vec![vec![truth(true)]], variables: 1, gates: FxHashMap::default() }
    }

    pub(crate) fn fresh(&mut self) -> Literal {
        self.variables += 1;
        Literal::new(self.variables - 1, true)
    }

    pub(crate) fn require(&mut self, clause: &[Literal]) {
        if clause.contains(&truth(true)) {
            return;
        }
        self.clauses.push(clause.iter().copied().filter(|l| *l != truth(false)).collect());
    }

    pub(crate) fn and(&mut self, a: Literal, b: Literal) -> Literal {
        if a == truth(false) || b == truth(false) || a == !b {
            return truth(false);
        }
        if a == truth(true) || a == b {
            return b;
        }
        if b == truth(true) {
            return a;
        }
        let key = Gate::And(a.min(b), a.max(b));
        if let Some(&known) = self.gates.get(&key) {
            return known;
        }
        let out = self.fresh();
        self.require(&[!out, a]);
        self.require(&[!out, b]);
        self.require(&[out, !a, !b]);
        self.gates.insert(key, out);
        out
    }

    pub(crate) fn or(&mut self, a: Literal, b: Literal) -> Literal {
        !self.and(!a, !b)
    }

    /// The conjunction of any number of literals.
    pub(crate) fn all(&mut self, of: impl IntoIterator<Item = Literal>) -> Literal {
        let mut of: Vec<Literal> = of.into_iter().filter(|l| *l != truth(true)).collect();
        of.sort_unstable();
        of.dedup();
        // A literal and its negation are neighbours.
        if of.contains(&truth(false)) || of.windows(2).any(|w| w[0] == !w[1]) {
            return truth(false);
        }
        match of[..] {
            [] => return truth(true),
            [one] => return one,
            [a, b] => return self.and(a, b),
            _ => {}
        }
        let key = Gate::All(of.clone());
        if let Some(&known) = self.gates.get(&key) {
            return known;
        }
        let out = self.fresh();
        let mut long = vec![out];
        for &l in &of {
            self.require(&[!out, l]);
            long.push(!l);
        }
        self.require(&long);
        self.gates.insert(key, out);
        out
    }

    /// The disjunction of any number of literals.
    pub(crate) fn any(&mut self, of: impl IntoIterator<Item = Literal>) -> Literal {
        let negated: Vec<Literal> = of.into_iter().map(|l| !l).collect();
        !self.all(negated)
    }

    pub(crate) fn xor(&mut self, a: Literal, b: Literal) -> Literal {
        // Move negations outside.
        let flip = a.is_positive() == b.is_positive();
        let (a, b) = (Literal::new(a.variable(), true), Literal::new(b.variable(), true));
        let plain = if a == b {
            truth(false)
        } else if a == truth(true) {
            !b
        } else if b == truth(true) {
            !a
        } else {
            let key = Gate::Xor(a.min(b), a.max(b));
            match self.gates.get(&key) {
                Some(&known) => known,
                None => {
                    let out = self.fresh();
                    self.require(&[!out, a, b]);
                    self.require(&[!out, !a, !b]);
                    self.require(&[out, !a, b]);
                    self.require(&[out, a, !b]);
                    self.gates.insert(key, out);
                    out
                }
            }
        };
        if flip { plain } else { !plain }
    }

    pub(crate) fn iff(&mut self, a: Literal, b: Literal) -> Literal {
        !self.xor(a, b)
    }

    /// `a` if the condition is true, else `b`.
    pub(crate) fn mux(&mut self, condition: Literal, a: Literal, b: Literal) -> Literal {
        if condition == truth(true) || a == b {
            return a;
        }
        if condition == truth(false) {
            return b;
        }
        if a == !b {
            return self.iff(condition, a);
        }
        if a == truth(true) || a == condition {
            return self.or(condition, b);
        }
        if a == truth(false) || a == !condition {
            return self.and(!condition, b);
        }
        if b == truth(true) || b == !condition {
            return self.or(!condition, a);
        }
        if b == truth(false) || b == condition {
            return self.and(condition, a);
        }
        let key = Gate::Mux(condition, a, b);
        if let Some(&known) = self.gates.get(&key) {
            return known;
        }
        let out = self.fresh();
        self.require(&[!condition, !a, out]);
        self.require(&[!condition, a, !out]);
        self.require(&[condition, !b, out]);
        self.require(&[condition, b, !out]);
        // Implied, but improves propagation.
        self.require(&[!a, !b, out]);
        self.require(&[a, b, !out]);
        self.gates.insert(key, out);
        out
    }

    /// Sum and carry of three bits.
    pub(crate) fn full_adder(&mut self, a: Literal, b: Literal, c: Literal) -> (Literal, Literal) {
        let half = self.xor(a, b);
        let sum = self.xor(half, c);
        let both = self.and(a, b);
        let passed = self.and(half, c);
        (sum, self.or(both, passed))
    }
}
