//! Passes over the elements of a system: a finer division of them, and mutations of them.

mod granules;
mod mutants;

pub use granules::{Divided, Fork, Grain, Granule, granules, is_part_symbol};
pub use mutants::{Mistake, Moment, Mutant, Mutants, mutants};
