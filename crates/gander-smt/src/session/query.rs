//! Queries: satisfiability and values of models.

use std::time::{Duration, Instant};

use gander_term::smtlib::{Sexpr, Tree};
use gander_term::{Pool, Sort, Value};

use crate::session::answer::{Answer, Limits, Reason};
use crate::session::{Last, Literal, Session, StepSymbol};
use crate::smtlib::value::{self, BadValue};
use crate::solver::dialect::SolverKind;

/// Values in one `get-value` command.
const VALUES_AT_ONCE: usize = 2000;

/// Denominators with which a rational model is searched if that of the solver is irrational.
const DENOMINATORS: [u32; 4] = [1, 60, 1000, 5_040_000];

/// Time for each search of a rational model if the query has no limit.
const RATIONAL_SEARCH: Duration = Duration::from_secs(2);

/// Additional time for a solver that keeps its limit itself, before it is killed.
const GRACE: Duration = Duration::from_millis(50);

/// Longer limits are not given to the solver: Z3's own limit costs 75 microseconds a query, and a
/// long limit is usually that of the whole run, after which the session is not needed.
const LONGEST_SOFT_LIMIT: Duration = Duration::from_secs(5);

/// The rest of a time limit.
struct Clock {
    end: Option<Instant>,
}

impl Clock {
    fn start(limits: Limits) -> Clock {
        Clock { end: limits.time.and_then(|t| Instant::now().checked_add(t)) }
    }

    fn left(&self) -> Limits {
        Limits { time: self.end.map(|e| e.saturating_duration_since(Instant::now())) }
    }
}

impl Session {
    /// Checks whether the assertions are satisfiable together with the assumptions.
    pub fn check(&mut self, assumptions: &[Literal], limits: Limits) -> Answer {
        self.discard_model();
        match self.try_check(assumptions, limits) {
            Ok(answer) => answer,
            Err(reason) => Answer::Unknown(reason),
        }
    }

    fn try_check(&mut self, assumptions: &[Literal], limits: Limits) -> Result<Answer, Reason> {
        if let Some(reason) = self.conversation.failure() {
            return Err(reason.clone());
        }
        if let Some(what) = self.unsupported.first() {
            return Err(Reason::Unsupported(what.clone()));
        }
        if assumptions.iter().any(|&l| !self.is_live(l)) {
            return Err(Reason::NotAvailable("such literal: its scope was left"));
        }
        let clock = Clock::start(limits);
        match self.ask(assumptions, &clock)? {
            Answer::Sat => {
                self.avoid_unwritten_powers(assumptions, &clock)?;
                self.make_rational(assumptions, &clock)?;
                self.last = Last::Sat;
                Ok(Answer::Sat)
            }
            Answer::Unsat => {
                self.last = Last::Unsat(assumptions.to_vec());
                Ok(Answer::Unsat)
            }
            unknown => Ok(unknown),
        }
    }

    /// Sends the query whether the assertions are satisfiable, without waiting for the answer, so
    /// that the solver and the caller work at the same time. [`Session::end_check`] must be the
    /// next call.
    pub fn begin_check(&mut self, limits: Limits) {
        self.discard_model();
        if self.conversation.failure().is_some() || !self.unsupported.is_empty() {
            return;
        }
        self.limit_softly(limits);
        self.conversation.mark();
        self.conversation.commands().push_str("(check-sat)\n");
        self.conversation.send_available();
        self.begun = true;
    }

    /// Waits for the answer to [`Session::begin_check`].
    pub fn end_check(&mut self, limits: Limits) -> Answer {
        let begun = std::mem::take(&mut self.begun);
        if let Some(reason) = self.conversation.failure() {
            return Answer::Unknown(reason.clone());
        }
        if let Some(what) = self.unsupported.first() {
            return Answer::Unknown(Reason::Unsupported(what.clone()));
        }
        if !begun {
            return Answer::Unknown(Reason::NotAvailable("question that was begun"));
        }
        let clock = Clock::start(limits);
        let answer =
            self.conversation.query(clock.left()).and_then(|reply| match reply.root().atom() {
                Some("sat") => {
                    self.avoid_unwritten_powers(&[], &clock)?;
                    self.make_rational(&[], &clock)?;
                    self.last = Last::Sat;
                    Ok(Answer::Sat)
                }
                Some("unsat") => {
                    self.last = Last::Unsat(Vec::new());
                    Ok(Answer::Unsat)
                }
                Some("unknown") => Ok(Answer::Unknown(self.why_unknown(&clock)?)),
                _ => Err(self.conversation.fail(Reason::Garbage(format!(
                    "`{}` as an answer to check-sat",
                    reply.root()
                )))),
            });
        answer.unwrap_or_else(Answer::Unknown)
    }

    fn ask(&mut self, assumptions: &[Literal], clock: &Clock) -> Result<Answer, Reason> {
        let limits = self.limit_softly(clock.left());
        self.conversation.mark();
        let out = self.conversation.commands();
        if assumptions.is_empty() {
            out.push_str("(check-sat)\n");
        } else {
            out.push_str("(check-sat-assuming (");
            for (i, literal) in assumptions.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { " " });
                literal.push_to(out);
            }
            out.push_str("))\n");
        }
        let reply = self.conversation.query(limits)?;
        let answer = reply.root();
        match answer.atom() {
            Some("sat") => Ok(Answer::Sat),
            Some("unsat") => Ok(Answer::Unsat),
            Some("unknown") => Ok(Answer::Unknown(self.why_unknown(clock)?)),
            _ => Err(self
                .conversation
                .fail(Reason::Garbage(format!("`{answer}` as an answer to check-sat")))),
        }
    }

    /// Gives the time limit to a solver that can keep it itself, and so survives it; returns the
    /// limit for the process, which is a little longer.
    fn limit_softly(&mut self, limits: Limits) -> Limits {
        if self.solver.kind != SolverKind::Z3 {
            return limits;
        }
        let short = limits.time.filter(|t| *t <= LONGEST_SOFT_LIMIT);
        let milliseconds = short.map(|t| u32::try_from(t.as_millis()).unwrap_or(u32::MAX).max(1));
        if self.soft_limit != milliseconds {
            self.tell_soft_limit(milliseconds);
        }
        match short {
            Some(t) => Limits::time(t + t / 8 + GRACE),
            None => limits,
        }
    }

    /// Sets or removes the limit that the solver keeps itself.
    pub(crate) fn tell_soft_limit(&mut self, milliseconds: Option<u32>) {
        self.soft_limit = milliseconds;
        let text = format!("(set-option :timeout {})\n", milliseconds.unwrap_or(u32::MAX));
        self.conversation.commands().push_str(&text);
    }

    fn why_unknown(&mut self, clock: &Clock) -> Result<Reason, Reason> {
        self.conversation.mark();
        self.conversation.commands().push_str("(get-info :reason-unknown)\n");
        let reply =
            self.conversation.query(Limits { time: clock.left().time.map(|t| t + GRACE) })?;
        let answer = reply.root();
        let why = match answer.elements() {
            Some([_, why]) => match (why.atom(), why.string()) {
                (Some(atom), _) => atom.to_string(),
                (None, Some(text)) => text,
                (None, None) => why.to_string(),
            },
            None => answer.to_string(),
        };
        Ok(match why.as_str() {
            "timeout" | "canceled" => Reason::Timeout,
            "memout" | "out of memory" | "max. memory exceeded" => Reason::Memory,
            _ => Reason::Incomplete(why),
        })
    }

    /// If the model uses a power with an exponent beyond the written cases, it is not a model: asks
    /// for another one.
    fn avoid_unwritten_powers(
        &mut self,
        assumptions: &[Literal],
        clock: &Clock,
    ) -> Result<(), Reason> {
        if self.powers.is_empty() {
            return Ok(());
        }
        let conditions = self.powers.clone();
        let replies = self.ask_values(&conditions, clock)?;
        if printed_values(&replies).all(|v| v.atom() == Some("false")) {
            return Ok(());
        }
        self.open_repair();
        for condition in &conditions {
            self.conversation.commands().push_str(&format!("(assert (not {condition}))\n"));
        }
        match self.ask(assumptions, clock)? {
            Answer::Sat => Ok(()),
            Answer::Unsat => {
                Err(Reason::Incomplete("the exponent of a power is not bounded".into()))
            }
            Answer::Unknown(reason) => Err(reason),
        }
    }

    /// If a real has an irrational value in the model, asks for a model with rational values.
    fn make_rational(&mut self, assumptions: &[Literal], clock: &Clock) -> Result<(), Reason> {
        if !self.features.nonlinear || self.reals.is_empty() {
            return Ok(());
        }
        let mut suspects = self.irrational_reals(clock)?;
        for denominator in DENOMINATORS {
            if suspects.is_empty() {
                return Ok(());
            }
            self.open_repair();
            for name in &suspects {
                let helper = self.helper_name();
                self.conversation.commands().push_str(&format!(
                    "(declare-fun {helper} () Int)\n(assert (= (* {denominator}.0 {name}) (to_real {helper})))\n"
                ));
            }
            let time = clock.left().time.map_or(RATIONAL_SEARCH, |left| left / 2);
            match self.ask(assumptions, &Clock::start(Limits::time(time)))? {
                Answer::Sat => suspects = self.irrational_reals(clock)?,
                Answer::Unsat | Answer::Unknown(_) => {
                    self.conversation.commands().push_str("(pop 1)\n");
                    self.repairs -= 1;
                }
            }
        }
        if suspects.is_empty() { Ok(()) } else { Err(Reason::Irrational) }
    }

    fn irrational_reals(&mut self, clock: &Clock) -> Result<Vec<String>, Reason> {
        let names = self.reals.clone();
        let replies = self.ask_values(&names, clock)?;
        let pool = Pool::new();
        let mut found = Vec::new();
        for (name, printed) in names.into_iter().zip(printed_values(&replies)) {
            match value::read(&pool, self.solver.kind.enums(), Sort::Real, printed) {
                Ok(_) => {}
                Err(BadValue::Irrational) => found.push(name),
                // The solver may print an array as a function that is not a list of exceptions.
                Err(BadValue::WrongSort(_)) if self.features.arrays => {
                    return Err(Reason::Incomplete(
                        "the value of an array is not a list of elements".into(),
                    ));
                }
                Err(BadValue::WrongSort(what)) => {
                    return Err(self.conversation.fail(Reason::Garbage(what)));
                }
            }
        }
        Ok(found)
    }

    fn open_repair(&mut self) {
        self.conversation.commands().push_str("(push 1)\n");
        self.repairs += 1;
    }

    /// The values of symbols in the model of the last query, which must have been satisfiable.
    ///
    /// A symbol that no assertion mentions gets the default value of its sort.
    pub fn values(
        &mut self,
        pool: &Pool,
        symbols: &[StepSymbol],
        limits: Limits,
    ) -> Result<Vec<Value>, Reason> {
        if let Some(reason) = self.conversation.failure() {
            return Err(reason.clone());
        }
        if self.last != Last::Sat {
            return Err(Reason::NotAvailable("model"));
        }
        let clock = Clock::start(limits);
        let known: Vec<StepSymbol> =
            symbols.iter().copied().filter(|&s| self.is_declared(s)).collect();
        let names: Vec<String> = known.iter().map(|&s| self.name(pool, s)).collect();
        let replies = self.ask_values(&names, &clock)?;
        let mut values = Vec::with_capacity(symbols.len());
        let mut printed = printed_values(&replies);
        for &s in symbols {
            let sort = pool.symbol(s.symbol).sort;
            if !self.is_declared(s) {
                // No assertion mentions it.
                values.push(sort.first_value());
                continue;
            }
            let Some(printed) = printed.next() else { break };
            match value::read(pool, self.solver.kind.enums(), sort, printed) {
                Ok(value) => values.push(value),
                Err(BadValue::Irrational) => return Err(Reason::Irrational),
                // Solvers may give the definition of a symbol in place of its value.
                Err(BadValue::WrongSort(_)) if self.features.quantifiers => {
                    return Err(Reason::Incomplete("a value depends on a quantifier".into()));
                }
                // The solver may print an array as a function that is not a list of exceptions.
                Err(BadValue::WrongSort(_)) if self.features.arrays => {
                    return Err(Reason::Incomplete(
                        "the value of an array is not a list of elements".into(),
                    ));
                }
                Err(BadValue::WrongSort(what)) => {
                    return Err(self.conversation.fail(Reason::Garbage(what)));
                }
            }
        }
        Ok(values)
    }

    /// What the solver prints as the values of terms: lists of a term and its value.
    fn ask_values(
        &mut self,
        terms: &[String],
        clock: &Clock,
    ) -> Result<Vec<Tree<'static>>, Reason> {
        let mut replies = Vec::new();
        for chunk in terms.chunks(VALUES_AT_ONCE) {
            self.conversation.mark();
            let out = self.conversation.commands();
            out.push_str("(get-value (");
            for (i, term) in chunk.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { " " });
                out.push_str(term);
            }
            out.push_str("))\n");
            let reply = self.conversation.query(clock.left())?;
            let answer = reply.root();
            let Some(pairs) = answer.list() else {
                let what = format!("`{answer}` as an answer to get-value");
                return Err(self.conversation.fail(Reason::Garbage(what)));
            };
            if pairs.len() != chunk.len() {
                let what = format!("{} values where {} were asked for", pairs.len(), chunk.len());
                return Err(self.conversation.fail(Reason::Garbage(what)));
            }
            if let Some(other) = pairs.iter().find(|p| p.elements::<2>().is_none()) {
                let what = format!("`{other}` as a term and its value");
                return Err(self.conversation.fail(Reason::Garbage(what)));
            }
            replies.push(reply);
        }
        Ok(replies)
    }
}

/// The values in answers to `get-value`.
fn printed_values<'t>(replies: &'t [Tree<'static>]) -> impl Iterator<Item = Sexpr<'t>> {
    replies
        .iter()
        .flat_map(|reply| reply.root().list().unwrap_or_default())
        .filter_map(|pair| pair.elements().map(|[_, value]| value))
}
