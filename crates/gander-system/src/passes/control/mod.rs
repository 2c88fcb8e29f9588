//! Passes that change the control graph: remove it, recover it from variables, add transitions.

mod flatten;
mod recover;
mod shortcuts;

pub use flatten::{Flat, flatten};
pub use recover::{Recovered, recover_control};
pub use shortcuts::{Shortcut, with_shortcuts};
