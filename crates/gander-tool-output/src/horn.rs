//! Solvers of constrained Horn clauses, and SMT solvers: one word an answer.
//!
//! Two dialects mean opposite things by the same words. With `(set-logic HORN)` the clauses are an
//! assertion: `sat` means that they have a model, an invariant, so the system is safe. With `(rule
//! …)` and `(query p)` the question is whether `p` can be derived: `sat` means that it can, so the
//! system is unsafe.

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Satisfiable.
    Sat,
    /// Unsatisfiable.
    Unsat,
    /// The solver gave up.
    Unknown,
    /// The solver reached its own time limit.
    Timeout,
}

/// The form of the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Assertions with the logic `HORN`.
    Assertions,
    /// Rules and queries.
    Rules,
}

impl Status {
    /// Parses a line.
    pub fn parse(line: &str) -> Option<Status> {
        match line.trim() {
            "sat" => Some(Status::Sat),
            "unsat" => Some(Status::Unsat),
            "unknown" => Some(Status::Unknown),
            "timeout" => Some(Status::Timeout),
            _ => None,
        }
    }

    /// The answer in the first line of the output, and the text after it.
    pub fn first(output: &str) -> Option<(Status, &str)> {
        let (first, rest) = output.split_once('\n').unwrap_or((output, ""));
        Some((Status::parse(first)?, rest))
    }

    /// Whether the system is safe; `None` if that was not decided.
    pub fn is_safe(self, dialect: Dialect) -> Option<bool> {
        match self {
            Status::Sat => Some(dialect == Dialect::Assertions),
            Status::Unsat => Some(dialect == Dialect::Rules),
            Status::Unknown | Status::Timeout => None,
        }
    }
}

impl Dialect {
    /// The dialect of a file. Comments do not count.
    pub fn of(source: &str) -> Dialect {
        let code = || source.lines().map(|l| l.split(';').next().unwrap_or_default());
        let has = |word: &str| code().any(|l| l.contains(word));
        match has("(query ") && !has("(set-logic HORN)") {
            true => Dialect::Rules,
            false => Dialect::Assertions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sat_means_the_opposite_in_the_other_horn_dialect() {
        let assertions = Dialect::of("; (query x)\n(set-logic HORN)\n(check-sat)");
        let rules = Dialect::of("; (set-logic HORN)\n(declare-rel ERR ())\n(query ERR)");
        assert_eq!((assertions, rules), (Dialect::Assertions, Dialect::Rules));
        assert_eq!(Status::Sat.is_safe(assertions), Some(true));
        assert_eq!(Status::Unsat.is_safe(assertions), Some(false));
        assert_eq!(Status::Sat.is_safe(rules), Some(false));
        assert_eq!(Status::Unsat.is_safe(rules), Some(true));
        assert_eq!(Status::Unknown.is_safe(rules), None);
    }

    #[test]
    fn other_words_are_not_answers() {
        assert_eq!(Status::first("sat\n(model)"), Some((Status::Sat, "(model)")));
        assert_eq!(Status::first("timeout"), Some((Status::Timeout, "")));
        assert!(["", "unsatisfied", "sat."].iter().all(|t| Status::first(t).is_none()));
    }
}
