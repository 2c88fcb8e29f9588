//! Jobs: the tools that can be run ([`tool`]), and the order in which jobs run ([`schedule`]).

pub mod schedule;
pub mod tool;
