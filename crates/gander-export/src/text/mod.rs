//! Names and terms as text.
//!
//! - [`names`]: identifiers that the output language accepts;
//! - [`name_map`]: the map from these identifiers back to the system;
//! - [`printer`]: terms as text, with definitions for shared and long subterms;
//! - [`smtlib`]: terms in SMT-LIB.

pub(crate) mod name_map;
pub(crate) mod names;
pub(crate) mod printer;
pub(crate) mod smtlib;
