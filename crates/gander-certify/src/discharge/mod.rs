//! Obligations: formulas that must have no solution, and how they are decided.
//!
//! A formula is first tried in this process, with a proof that is verified ([`in_process`]). What
//! is not decided there goes to a solver: the one that suits the features of the formula, then the
//! others, in rounds of growing time slices ([`query`]). If [`crate::Trust`] requires it, a second
//! solver has to agree ([`agreement`]). What solvers refuted can be kept for checks of later
//! versions of a system ([`refutations`]). Many obligations are refuted with few queries
//! ([`batch`]), and bounded arguments are asserted step by step in one session ([`script`]).
//!
//! Invariants: a model of a solver counts only if the formula evaluates to true in it, or, where a
//! quantifier cannot be evaluated, if the trust level accepts one solver. What no solver decides is
//! undecided, never refuted. Every check uses its own sessions; a solver process of an earlier
//! check is reset before it serves another pool of terms.

mod agreement;
mod batch;
mod context;
mod guess;
mod in_process;
pub(crate) mod known;
mod query;
pub(crate) mod refutations;
mod script;

use gander_term::{SymbolId, TermId, Value};

pub(crate) use context::CheckContext;
pub(crate) use script::Line;

/// A formula that must have no solution, and the message if it has one.
pub(crate) type Obligation = (TermId, String);

/// Values of symbols that satisfy a formula.
pub(crate) type Model = Vec<(SymbolId, Value)>;
