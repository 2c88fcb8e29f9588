//! SMT-LIB 2 solver sessions over child processes.
//!
//! [`Solvers`] finds the solvers of this machine and chooses one by the features of a formula
//! ([`gander_term::Features`]). A [`Session`] is an incremental conversation with one solver
//! process: assertions, scopes, assumptions ([`Literal`]), models, limits per query ([`Limits`]). A
//! [`CoreSession`] also gives cores. A formula that is asserted at many steps is compiled once
//! ([`Template`]): an instance costs only writing its text. [`setup`] installs z3 and yices-smt2.
//!
//! Invariants of this crate:
//! - if a solver dies, hangs, floods or prints nonsense, the answer to the query is
//!   [`Answer::Unknown`] with the [`Reason`], and [`Session::restart`] starts a new process;
//! - a [`gander_runtime::Cancellation`] ends a query at any moment from any thread;
//! - every operator has the meaning of docs/semantics.md in the text for the solver;
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

mod horn;
mod session;
pub mod setup;
mod smtlib;
mod solver;

pub use horn::lists::{PathAnswer, PathQuery};
pub use horn::{Applied, Horn, HornAnswer, HornClause, read_formula};
pub use session::answer::{Answer, Limits, Reason};
pub use session::core_session::CoreSession;
pub use session::records::{Records, in_file_name};
pub use session::{Literal, Session, SessionConfig, StepSymbol};
pub use smtlib::template::{Placement, Template};
pub use smtlib::value::read_value;
pub use solver::conformance::{Entry, Outcome, Report, conformance};
pub use solver::dialect::{Solver, SolverKind};
pub use solver::registry::{Search, Solvers};
