//! Sessions that can be asked for cores: which assumptions an answer rests on.
//!
//! A solver is told before anything else that it will be asked, and keeps more books then. So this is a type of its own: an ordinary
//! session has no `core` that would be asked in vain.
//!
//! ```compile_fail
//! # use gander_smt::{Limits, Session};
//! fn of_an_ordinary_session(session: &mut Session) {
//!     let _ = session.core(Limits::NONE);
//! }
//! ```

use std::borrow::{Borrow, BorrowMut};
use std::ops::{Deref, DerefMut};

use crate::answer::{Limits, Reason};
use crate::conversation::Shelf;
use crate::dialect::Solver;
use crate::session::{Cores, Last, Literal, Session, SessionConfig};
use crate::sexpr::Sexpr;

/// A [`Session`] that can be asked for cores; see the module's documentation.
pub struct CoreSession(Session);

impl CoreSession {
    /// Starts a solver. If that fails, the first query tells.
    pub fn start(solver: &Solver, config: SessionConfig) -> CoreSession {
        CoreSession(Session::with(solver, config, Cores::Kept, None))
    }

    /// [`Session::shelved`] that can be asked for cores.
    pub(crate) fn shelved(solver: &Solver, config: SessionConfig, shelf: Shelf) -> CoreSession {
        CoreSession(Session::shelved(solver, config, Cores::Kept, shelf))
    }

    /// Assumptions of the last query, which must have been unsatisfiable, that suffice for that.
    pub fn core(&mut self, limits: Limits) -> Result<Vec<Literal>, Reason> {
        if let Some(reason) = self.0.talk.failure() {
            return Err(reason.clone());
        }
        let Last::Unsat(assumptions) = self.0.last.clone() else {
            return Err(Reason::NotAvailable("core"));
        };
        if assumptions.is_empty() {
            return Ok(Vec::new());
        }
        self.0.talk.commands().push_str("(get-unsat-assumptions)\n");
        let answer = self.0.talk.query(limits)?;
        let members = answer.list().and_then(|items| items.iter().map(literal).collect::<Option<Vec<_>>>());
        match members {
            Some(members) if members.iter().all(|m| assumptions.contains(m)) => {
                Ok(assumptions.into_iter().filter(|a| members.contains(a)).collect())
            }
            _ => Err(self.0.talk.fail(Reason::Garbage(format!("`{answer}` as a core")))),
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
fn literal(printed: &Sexpr) -> Option<Literal> {
    let (atom, positive) = match printed {
        Sexpr::Atom(a) => (a.as_str(), true),
        Sexpr::List(items) => match items.as_slice() {
            [not, atom] if not.atom() == Some("not") => (atom.atom()?, false),
            _ => return None,
        },
        Sexpr::Text(_) => return None,
    };
    let number = atom.strip_prefix('a')?.strip_suffix("@!")?.parse().ok()?;
    Some(Literal { number, positive })
}
