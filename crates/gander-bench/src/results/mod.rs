//! Results on disk: records of jobs ([`record`]), recorded answers of other machines
//! ([`recorded`]), and the folder of a run ([`folder`]).

pub mod folder;
pub mod record;
pub mod recorded;
