//! Child processes under supervision: solvers, other model checkers, jobs of the benchmark, pip.
//!
//! Every child runs in its own process group and has limits on memory, time and output. There are
//! two ways to use one:
//! - [`Interactive`] is a conversation over pipes, for solver sessions;
//! - [`Batch`] runs a program to its end and captures its output.
//!
//! Invariants:
//! - no call blocks past its deadline, nor after its [`gander_runtime::Cancellation`] is cancelled;
//! - the output that is kept of a child is bounded;
//! - a child does not outlive its owner: dropping it kills the process group and reaps the child. A
//!   [`Batch`] also kills descendants that left the group;
//! - if this process is killed, the [`guard`] process kills the children. Where there is no guard,
//!   the limit on processor time of the children expires (`lease.rs`).
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use gander_process::{Batch, Ending};
//!
//! let mut batch = Batch::new("/bin/sh");
//! batch.arguments = vec!["-c".into(), "echo hello; exit 3".into()];
//! // It is stopped at this time, with its descendants.
//! batch.deadline = Some(Instant::now() + Duration::from_secs(60));
//! let finished = batch.run()?;
//! assert_eq!((finished.ending, finished.exit), (Ending::Exited, Some(3)));
//! assert_eq!(finished.stdout, "hello\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod batch;
mod descendants;
pub mod guard;
mod interactive;
mod lease;
pub mod memory;
mod pipe;
mod proc_fs;
mod supervised;

pub use batch::{Batch, Capture, Ending, Environment, Excess, Finished, MemoryLimit};
pub use interactive::{ChildSet, Interactive, InteractiveLimits, Owner, Stop};
