//! The server over real sockets: what is served, what is refused, and that nothing is lost when
//! clients misbehave.

mod client;
mod refusals;
mod sessions;
