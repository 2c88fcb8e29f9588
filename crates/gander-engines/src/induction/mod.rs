//! k-induction.
