//! The independent checker of evidence.
//!
//! [`Checker::check`] takes a system as the front-end produced it, a claim and a verdict, and
//! decides whether the evidence in the verdict shows the claim. The rules are those of
//! docs/semantics.md, sections 3 and 5: runs are replayed step by step, formulas become obligations
//! that must have no solution. Easy obligations are refuted by proofs that `gander-linear` and
//! `gander-proof` find and verify; the others go to the checker's own solver sessions, and to two
//! solvers where [`Trust`] requires it.
//!
//! Invariants of this crate:
//! - it knows no engine and shares no code with any. Both derive obligations from claims, unroll
//!   transitions, eliminate quantifiers and enumerate states, each with its own code. This
//!   duplication is deliberate: a mistake in one is found by the other. Evidence about a derived
//!   system (a chain, liveness as safety) is the exception: the pass that defines that system, in
//!   `gander_system::passes`, is shared, and the checker runs it again;
//! - it trusts nothing in the evidence: it checks ids, sorts, numbers of values and the scopes of
//!   formulas;
//! - it accepts evidence only if every obligation was discharged. What is neither refuted nor
//!   discharged is [`Rejection::Undecided`];
//! - it accepts a solver's model only if the evaluator confirms it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use gander_certify::{CheckLimits, Checker, Ground, Rejection};
//! use gander_smt::{Search, Solvers};
//! use gander_system::{
//!     ClaimId, ClaimKind, ClaimOrigin, Evidence, NodeFormulas, NodeId, Role, SystemBuilder,
//!     Verdict,
//! };
//! use gander_term::{Pool, Sort, parse_term};
//!
//! // A counter: `n` starts at 0 and is incremented forever.
//! let mut builder = SystemBuilder::new("counter", Pool::new(), &[("Loop", None)])?;
//! let node = NodeId(0);
//! let n = builder.var("n", Sort::Int, Role::State, None, None)?;
//! let zero = parse_term(&mut builder.pool, "n == 0")?;
//! builder.start("start", node, &[(zero, None)], None)?;
//! let mut count = builder.transition("count", None, node, node, None)?;
//! let next = parse_term(&mut builder.pool, "n + 1")?;
//! builder.assign(&mut count, n, next, None)?;
//! builder.add(count)?;
//! // The claims `always n >= 0` and `always n < 10`.
//! for text in ["n >= 0", "n < 10"] {
//!     let formula = parse_term(&mut builder.pool, text)?;
//!     let formula = builder.state_formula(formula, text)?;
//!     builder.claim(text, ClaimKind::Always(formula), ClaimOrigin::Written, text, None)?;
//! }
//! let system = builder.finish();
//!
//! // Evidence that both hold: `n >= 0` is an inductive invariant.
//! let ClaimKind::Always(formula) = system.claims()[0].kind else { unreachable!() };
//! let invariant =
//!     NodeFormulas { pool: Arc::clone(system.pool()), by_node: [formula.term()].into() };
//! let holds = Verdict::Holds(Evidence::Invariant(invariant));
//!
//! // No solver is needed here: the obligations are refuted by verified proofs.
//! let solvers = Arc::new(Solvers::find(Search { named: Vec::new(), cache: None, path: None }));
//! let mut checker = Checker::new(&solvers, CheckLimits::default());
//! let certified = checker.check(&system, ClaimId(0), &holds)?;
//! assert_eq!(certified.basis.ground, Ground::Checked);
//!
//! // The same invariant does not show the second claim.
//! assert!(matches!(checker.check(&system, ClaimId(1), &holds), Err(Rejection::Wrong(_))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod basis;
mod checker;
mod discharge;
mod evidence;
mod formula;
mod rejection;

pub use gander_linear::Budget;

pub use basis::{Basis, Ground, Trust};
pub use checker::{Certified, CheckLimits, Checker, Gap, LogSink, Panel, claims_in_file_name};
pub use discharge::refutations::Refutations;
pub use formula::eliminate::exists as eliminated;
pub use rejection::Rejection;
