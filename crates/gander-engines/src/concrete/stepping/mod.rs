//! Random steps: the values of parameters and inputs are sampled, not enumerated.

pub(crate) mod formula;
pub(crate) mod machine;
pub(crate) mod order;
pub(crate) mod random;
pub(crate) mod sample;
