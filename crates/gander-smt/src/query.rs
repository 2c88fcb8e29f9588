//! Queries: satisfiability, values.

use std::time::{Duration, Instant};

use gander_term::{Pool, Sort, Value};

use crate::answer::{Answer, Limits, Reason};
use crate::dialect::SolverKind;
use crate::session::{Last, Literal, Session, StepSymbol};
use crate::sexpr::Sexpr;
use crate::value::{self, BadValue};

/// Values asked for in one command.
const VALUES_AT_ONCE: usize = 2000;

/// Denominators with which a model with rational values is looked for where the solver's was irrational.
const DENOMINATORS: [u32; 4] = [1, 60, 1000, 5_040_000];

/// Time for each search of a rational model where the query has no limit.
const RATIONAL_SEARCH: Duration = Duration::from_secs(2);

/// Time that a solver has to notice its own limit before it is killed.
const GRACE: Duration = Duration::from_millis(50);

/// Longer limits are kept by us alone: Z3's own cost it 75 microseconds a query, and such a limit is usually that of
/// the whole run, after which the session is not needed.
const LONGEST_SOFT_LIMIT: Duration = Duration::from_secs(5);

/// What remains of a limit.
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
    /// Are the assertions satisfiable together with the assumptions?
    pub fn check(&mut self, assumptions: &[Literal], limits: Limits) -> Answer {
        self.speak();
        match self.try_check(assumptions, limits) {
            Ok(answer) => answer,
            Err(reason) => Answer::Unknown(reason),
        }
    }

    fn try_check(&mut self, assumptions: &[Literal], limits: Limits) -> Result<Answer, Reason> {
        if let Some(reason) = self.talk.failure() {
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

    /// Sends the question whether the assertions are satisfiable, without waiting for the answer: the solver works while
    /// the caller does something else. [`Session::end_check`] must be the next call.
    pub fn begin_check(&mut self, limits: Limits) {
        self.speak();
        if self.talk.failure().is_some() || !self.unsupported.is_empty() {
            return;
        }
        self.limit_softly(limits);
        self.talk.mark();
        self.talk.commands().push_str("(check-sat)\n");
        self.talk.hand_over();
        self.begun = true;
    }

    /// Waits for the answer to [`Session::begin_check`].
    pub fn end_check(&mut self, limits: Limits) -> Answer {
        let begun = std::mem::take(&mut self.begun);
        if let Some(reason) = self.talk.failure() {
            return Answer::Unknown(reason.clone());
        }
        if let Some(what) = self.unsupported.first() {
            return Answer::Unknown(Reason::Unsupported(what.clone()));
        }
        if !begun {
            return Answer::Unknown(Reason::NotAvailable("question that was begun"));
        }
        let clock = Clock::start(limits);
        let answer = self.talk.query(clock.left()).and_then(|answer| match answer.atom() {
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
            _ => Err(self.talk.fail(Reason::Garbage(format!("`{answer}` as an answer to check-sat")))),
        });
        answer.unwrap_or_else(Answer::Unknown)
    }

    fn ask(&mut self, assumptions: &[Literal], clock: &Clock) -> Result<Answer, Reason> {
        let limits = self.limit_softly(clock.left());
        self.talk.mark();
        let out = self.talk.commands();
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
        let answer = self.talk.query(limits)?;
        match answer.atom() {
            Some("sat") => Ok(Answer::Sat),
            Some("unsat") => Ok(Answer::Unsat),
            Some("unknown") => Ok(Answer::Unknown(self.why_unknown(clock)?)),
            _ => Err(self.talk.fail(Reason::Garbage(format!("`{answer}` as an answer to check-sat")))),
        }
    }

    /// Tells a solver that can keep a time limit itself, and so survive it, and gives it a moment more.
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

    /// Sets the limit that the solver keeps itself, or takes it away.
    pub(crate) fn tell_soft_limit(&mut self, milliseconds: Option<u32>) {
        self.soft_limit = milliseconds;
        let text = format!("(set-option :timeout {})\n", milliseconds.unwrap_or(u32::MAX));
        self.talk.commands().push_str(&text);
    }

    fn why_unknown(&mut self, clock: &Clock) -> Result<Reason, Reason> {
        self.talk.mark();
        self.talk.commands().push_str("(get-info :reason-unknown)\n");
        let answer = self.talk.query(Limits { time: clock.left().time.map(|t| t + GRACE) })?;
        let why = match answer.list() {
            Some([_, Sexpr::Text(why) | Sexpr::Atom(why)]) => why.clone(),
            Some([_, why]) => why.to_string(),
            _ => answer.to_string(),
        };
        Ok(match why.as_str() {
            "timeout" | "canceled" => Reason::Timeout,
            "memout" | "out of memory" | "max. memory exceeded" => Reason::Memory,
            _ => Reason::Incomplete(why),
        })
    }

    /// A model that uses a power beyond the exponents that were written out is none: asks for another.
    fn avoid_unwritten_powers(&mut self, assumptions: &[Literal], clock: &Clock) -> Result<(), Reason> {
        if self.powers.is_empty() {
            return Ok(());
        }
        let conditions = self.powers.clone();
        let values = self.raw_values(&conditions, clock)?;
        if values.iter().all(|v| v.atom() == Some("false")) {
            return Ok(());
        }
        self.open_repair();
        for condition in &conditions {
            self.talk.commands().push_str(&format!("(assert (not {condition}))\n"));
        }
        match self.ask(assumptions, clock)? {
            Answer::Sat => Ok(()),
            Answer::Unsat => Err(Reason::Incomplete("the exponent of a power is not bounded".into())),
            Answer::Unknown(reason) => Err(reason),
        }
    }

    /// If a real has an irrational value in the model, asks for a model with rational ones.
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
                self.talk.commands().push_str(&format!(
                    "(declare-fun {helper} () Int)\n(assert (= (* {denominator}.0 {name}) (to_real {helper})))\n"
                ));
            }
            let time = clock.left().time.map_or(RATIONAL_SEARCH, |left| left / 2);
            match self.ask(assumptions, &Clock::start(Limits::time(time)))? {
                Answer::Sat => suspects = self.irrational_reals(clock)?,
                Answer::Unsat | Answer::Unknown(_) => {
                    self.talk.commands().push_str("(pop 1)\n");
                    self.repairs -= 1;
                }
            }
        }
        if suspects.is_empty() { Ok(()) } else { Err(Reason::Irrational) }
    }

    fn irrational_reals(&mut self, clock: &Clock) -> Result<Vec<String>, Reason> {
        let names = self.reals.clone();
        let values = self.raw_values(&names, clock)?;
        let pool = Pool::new();
        let mut found = Vec::new();
        for (name, printed) in names.into_iter().zip(&values) {
            match value::read(&pool, self.solver.kind.enums(), Sort::Real, printed) {
                Ok(_) => {}
                Err(BadValue::Irrational) => found.push(name),
                // Nor is every function that a solver has for an array a list of exceptions.
                Err(BadValue::WrongSort(_)) if self.features.arrays => {
                    return Err(Reason::Incomplete("the value of an array is not a list of elements".into()));
                }
                Err(BadValue::WrongSort(what)) => return Err(self.talk.fail(Reason::Garbage(what))),
            }
        }
        Ok(found)
    }

    fn open_repair(&mut self) {
        self.talk.commands().push_str("(push 1)\n");
        self.repairs += 1;
    }

    /// The values of symbols in the model of the last query, which must have been satisfiable.
    ///
    /// A symbol that no assertion mentions can have any value and is given the first of its sort.
    pub fn values(&mut self, pool: &Pool, symbols: &[StepSymbol], limits: Limits) -> Result<Vec<Value>, Reason> {
        if let Some(reason) = self.talk.failure() {
            return Err(reason.clone());
        }
        if self.last != Last::Sat {
            return Err(Reason::NotAvailable("model"));
        }
        let clock = Clock::start(limits);
        let known: Vec<StepSymbol> = symbols.iter().copied().filter(|&s| self.is_declared(s)).collect();
        let names: Vec<String> = known.iter().map(|&s| self.name(pool, s)).collect();
        let printed = self.raw_values(&names, &clock)?;
        let mut values = Vec::with_capacity(symbols.len());
        let mut printed = printed.iter();
        for &s in symbols {
            let sort = pool.symbol(s.symbol).sort;
            if !self.is_declared(s) {
                // Nobody speaks of it.
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
                // Nor is every function that a solver has for an array a list of exceptions.
                Err(BadValue::WrongSort(_)) if self.features.arrays => {
                    return Err(Reason::Incomplete("the value of an array is not a list of elements".into()));
                }
                Err(BadValue::WrongSort(what)) => return Err(self.talk.fail(Reason::Garbage(what))),
            }
        }
        Ok(values)
    }

    /// What the solver prints as the values of terms in its text.
    fn raw_values(&mut self, terms: &[String], clock: &Clock) -> Result<Vec<Sexpr>, Reason> {
        let mut values = Vec::with_capacity(terms.len());
        for chunk in terms.chunks(VALUES_AT_ONCE) {
            self.talk.mark();
            let out = self.talk.commands();
            out.push_str("(get-value (");
            for (i, term) in chunk.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { " " });
                out.push_str(term);
            }
            out.push_str("))\n");
            let answer = self.talk.query(clock.left())?;
            let Sexpr::List(pairs) = answer else {
                return Err(self.talk.fail(Reason::Garbage(format!("`{answer}` as an answer to get-value"))));
            };
            if pairs.len() != chunk.len() {
                let what = format!("{} values where {} were asked for", pairs.len(), chunk.len());
                return Err(self.talk.fail(Reason::Garbage(what)));
            }
            for pair in pairs {
                match pair {
                    Sexpr::List(mut items) if items.len() == 2 => values.extend(items.pop()),
                    other => {
                        return Err(self.talk.fail(Reason::Garbage(format!("`{other}` as a term and its value"))));
                    }
                }
            }
        }
        Ok(values)
    }
}
