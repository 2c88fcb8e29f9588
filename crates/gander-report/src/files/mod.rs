//! Runs as files for other tools.

pub(crate) mod csv;
mod vcd;

pub use csv::streams_csv;
pub use vcd::streams_vcd;
