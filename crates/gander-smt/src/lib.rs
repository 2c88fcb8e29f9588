//! SMT-LIB 2 solver sessions over child processes.
//!
//! [`Solvers`] says what is on this machine and which solver to ask what ([`gander_term::Features`]). A [`Session`] is an
//! incremental conversation with one solver process: assertions, scopes, assumptions ([`Literal`]), models,
//! limits per query ([`Limits`]). What not every session can do has a type of its own: a [`CoreSession`] gives cores too, a
//! A [`gander_runtime::Cancellation`] ends a solver from another thread. A formula that is asserted at many steps is compiled once ([`Template`]): an
//! instance costs no more than writing its text. [`setup`] brings z3 and yices-smt2.
//!
//! Invariants of this crate:
//! - a solver that dies, hangs, floods or talks nonsense costs that query: its answer is [`Answer::Unknown`] with the
//!   [`Reason`], and [`Session::restart`] gives a fresh process;
//! - a [`gander_runtime::Cancellation`] ends a query at any moment from any thread;
//! - every operator means to the solver what docs/semantics.md says;
//! - nothing recurses over terms, and text is linear in the number of distinct subterms.
//!
//! ```
//! use gander_smt::{Answer, CoreSession, Limits, Placement, SessionConfig, Solvers, StepSymbol};
//! use gander_term::{Pool, Sort, Value};
//!
//! // x = 0 at the start; each step adds one. Can x be 3 after three steps?
//! let mut pool = Pool::new();
//! let (x, next) = (pool.variable("x", Sort::Int), pool.variable("x'", Sort::Int));
//! let (xs, nexts) = (pool.as_symbol(x).unwrap(), pool.as_symbol(next).unwrap());
//! let (zero, one, three) = (pool.int(0), pool.int(1), pool.int(3));
//! let start = pool.eq(x, zero);
//! let more = pool.add(x, one);
//! let step = pool.eq(next, more);
//! let goal = pool.eq(x, three);
//!
//! let solvers = Solvers::from_environment();
//! let features = pool.features(&[start, step, goal]);
//! let Some(solver) = solvers.choose(features) else { return };
//! let mut session = CoreSession::start(solver, SessionConfig::default());
//! let place = |s| match s {
//!     s if s == nexts => Placement::At { symbol: xs, offset: 1 },
//!     s => Placement::At { symbol: s, offset: 0 },
//! };
//! let start = session.compile(&pool, start, &place);
//! let step = session.compile(&pool, step, &place);
//! let goal = session.compile(&pool, goal, &place);
//! session.assert_at(&pool, &start, 0);
//! for k in 0..3 {
//!     session.assert_at(&pool, &step, k);
//! }
//! let reached = session.literal_at(&pool, &goal, 3);
//! assert_eq!(session.check(&[reached], Limits::NONE), Answer::Sat);
//! let values = session.values(&pool, &[StepSymbol::at(xs, 2)], Limits::NONE).unwrap();
//! assert_eq!(values, [Value::int(2)]);
//! assert_eq!(session.check(&[!reached], Limits::NONE), Answer::Unsat);
//! assert_eq!(session.core(Limits::NONE).unwrap(), [!reached]);
//! ```

mod answer;
mod conformance;
mod conversation;
mod core_session;
mod dialect;
pub mod guard;
mod horn;
mod lease;
mod lists;
pub mod memory;
mod names;
mod power;
mod print;
mod process;
mod query;
mod records;
mod registry;
mod session;
pub mod setup;
mod sexpr;
mod template;
mod value;
mod version;

pub use answer::{Answer, Limits, Reason};
pub use conformance::{Entry, Outcome, Report, conformance};
pub use core_session::CoreSession;
pub use dialect::{Solver, SolverKind};
pub use horn::{Applied, Horn, HornAnswer, HornClause, read_formula};
pub use lease::Lease;
pub use lists::{PathAnswer, PathQuery};
pub use process::SolverProcesses;
pub use records::{Records, in_file_name};
pub use registry::{Search, Solvers};
pub use session::{Literal, Session, SessionConfig, StepSymbol};
pub use sexpr::{Malformed, Sexpr};
pub use template::{Placement, Template};
pub use value::read_value;
