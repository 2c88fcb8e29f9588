//! Sessions with unsatisfiable cores: assumptions that suffice for the answer `unsat`.
//!
//! Cores must be enabled before the first assertion and slow the solver down. So this is a separate
//! type, and an ordinary session has no method `core`.
//!
//! ```compile_fail
//! # use gander_smt::{Limits, Session};
//! fn of_an_ordinary_session(session: &mut Session) {
//!     let _ = session.core(Limits::NONE);
//! }
//! ```

use std::borrow::{Borrow, BorrowMut};
use std::ops::{Deref, DerefMut};

use gander_term::smtlib::Sexpr;

use crate::session::answer::{Limits, Reason};
use crate::session::conversation::ProcessPool;
use crate::session::{Cores, Last, Literal, Session, SessionConfig};
use crate::solver::dialect::Solver;

/// A [`Session`] with cores; see the module's documentation.
pub struct CoreSession(Session);

impl CoreSession {
    /// Starts a solver. If that fails, the first query returns the reason.
    pub fn start(solver: &Solver, config: SessionConfig) -> CoreSession {
        CoreSession(Session::with(solver, config, Cores::Kept, None))
    }

    /// [`Session::pooled`] with cores.
    pub(crate) fn pooled(solver: &Solver, config: SessionConfig, pool: ProcessPool) -> CoreSession {
        CoreSession(Session::pooled(solver, config, Cores::Kept, pool))
    }

    /// Assumptions of the last query that suffice for its answer, which must have been `unsat`.
    pub fn core(&mut self, limits: Limits) -> Result<Vec<Literal>, Reason> {
        if let Some(reason) = self.0.conversation.failure() {
            return Err(reason.clone());
        }
        let Last::Unsat(assumptions) = self.0.last.clone() else {
            return Err(Reason::NotAvailable("core"));
        };
        if assumptions.is_empty() {
            return Ok(Vec::new());
        }
        self.0.conversation.commands().push_str("(get-unsat-assumptions)\n");
        let reply = self.0.conversation.query(limits)?;
        let answer = reply.root();
        let members: Option<Vec<Literal>> =
            answer.list().and_then(|items| items.into_iter().map(literal).collect());
        match members {
            Some(members) if members.iter().all(|m| assumptions.contains(m)) => {
                Ok(assumptions.into_iter().filter(|a| members.contains(a)).collect())
            }
            _ => Err(self.0.conversation.fail(Reason::Garbage(format!("`{answer}` as a core")))),
        }
    }
}

impl Deref for CoreSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0
    }
}

impl DerefMut for CoreSession {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.0
    }
}

impl Borrow<Session> for CoreSession {
    fn borrow(&self) -> &Session {
        self
    }
}

impl BorrowMut<Session> for CoreSession {
    fn borrow_mut(&mut self) -> &mut Session {
        self
    }
}

/// `a7@!` or `(not a7@!)`.
fn literal(printed: Sexpr<'_>) -> Option<Literal> {
    let (atom, positive) = match printed.atom() {
        Some(atom) => (atom, true),
        None => match printed.elements()? {
            [not, atom] if not.atom() == Some("not") => (atom.atom()?, false),
            _ => return None,
        },
    };
    let number = atom.strip_prefix('a')?.strip_suffix("@!")?.parse().ok()?;
    Some(Literal { number, positive })
}
