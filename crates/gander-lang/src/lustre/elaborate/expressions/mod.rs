//! Values of expressions at the first instant and at later ones. `evaluate` walks an expression;
//! the other modules build the value of each construct.

pub(in crate::lustre::elaborate) mod aggregates;
pub(in crate::lustre::elaborate) mod choice;
pub(in crate::lustre::elaborate) mod clocks;
pub(in crate::lustre::elaborate) mod evaluate;
pub(in crate::lustre::elaborate) mod functions;
pub(in crate::lustre::elaborate) mod operators;
pub(in crate::lustre::elaborate) mod sampling;
pub(in crate::lustre::elaborate) mod values;
