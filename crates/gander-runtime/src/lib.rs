//! Cancellation, the memory limit, pseudo-random numbers, and fault injection for tests.
//!
//! - [`Cancellation`] is the one way to stop work: a flag, a deadline and actions. Long loops call
//!   [`check_cancelled`].
//! - [`memory`] keeps the limit on the memory of this process and its children.
//! - [`Random`] is the one generator of pseudo-random numbers.
//! - [`fault`] makes one chosen operation of a run fail, in debug builds only.
//!
//! ```
//! use gander_runtime::{Cancellation, Stopped, check_cancelled};
//!
//! let cancellation = Cancellation::new();
//! cancellation.cancel();
//! let endless = || {
//!     loop {
//!         check_cancelled();
//!     }
//! };
//! assert_eq!(cancellation.run_cancellable(endless), Err::<(), Stopped>(Stopped::Cancelled));
//! ```

mod cancellation;
pub mod fault;
pub mod memory;
mod random;

pub use cancellation::{
    CancelGuard, Cancellation, Stopped, check_before_allocating, check_cancelled,
    check_cancelled_now, lock,
};
pub use random::Random;
