//! Literals.

use std::fmt;
use std::ops::Not;

/// A propositional variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal(u32);

impl Literal {
    /// The variable with this number, or its negation.
    pub fn new(variable: usize, positive: bool) -> Literal {
        // Encodings have far fewer than 2^31 variables.
        Literal((variable as u32) << 1 | u32::from(!positive))
    }

    /// The variable.
    pub fn variable(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// True if it is the variable itself.
    pub fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }

    /// An index for tables: twice the variable, plus one for a negation.
    pub(crate) fn code(self) -> usize {
        self.0 as usize
    }
}

impl Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_positive() { "" } else { "-" }, self.variable())
    }
}
