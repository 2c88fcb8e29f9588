//! Nodes: instances, their bodies, calls and contracts.

pub(in crate::lustre::elaborate) mod assumptions;
pub(in crate::lustre::elaborate) mod blocks;
pub(in crate::lustre::elaborate) mod calls;
pub(in crate::lustre::elaborate) mod contracts;
pub(in crate::lustre::elaborate) mod equations;
pub(in crate::lustre::elaborate) mod instances;
pub(in crate::lustre::elaborate) mod module;
