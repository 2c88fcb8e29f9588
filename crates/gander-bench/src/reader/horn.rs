//! Reads solvers of constrained Horn clauses.
//!
//! Two dialects mean opposite things by the same words. With `(set-logic HORN)` the clauses are an assertion: `sat`
//! means that they have a model, an invariant, so the system is safe. With `(rule …)` and `(query p)` the question is
//! whether `p` can be derived: `sat` means that it can, so the system is violated. The text of the file tells which.

use super::{Output, Reading, first_message};
use crate::verdict::Verdict;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dialect {
    Assertions,
    Rules,
}

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    let dialect = dialect(output.source);
    let mut answers = Vec::new();
    for line in output.stdout.lines().map(str::trim) {
        answers.push(match (line, dialect) {
            ("sat", Dialect::Assertions) | ("unsat", Dialect::Rules) => Verdict::Valid,
            ("unsat", Dialect::Assertions) | ("sat", Dialect::Rules) => Verdict::Invalid,
            ("unknown", _) => Verdict::Unknown,
            _ => continue,
        });
    }
    reading.whole = Verdict::of_all(answers);
    reading.out_of_memory = output.stdout.contains("out of memory") || output.stderr.contains("out of memory");
    if reading.out_of_memory {
        return reading;
    }
    let error = || first_message(output.stdout, &["(error"]).or_else(|| first_message(output.stderr, &["rror"]));
    if let Some(message) = error() {
        // An answer beside an error is an answer to another question.
        reading.whole = None;
        reading.rejected = Some(message);
    }
    reading
}

/// Comments do not count.
fn dialect(source: &str) -> Dialect {
    let code = || source.lines().map(|l| l.split(';').next().unwrap_or_default());
    let has = |word: &str| code().any(|l| l.contains(word));
    if has("(query ") && !has("(set-logic HORN)") { Dialect::Rules } else { Dialect::Assertions }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(source: &str, stdout: &str) -> Verdict {
        read(&Output { exit: Some(0), stdout, stderr: "", source }).verdict()
    }

    #[test]
    fn the_dialects_are_opposite() {
        let assertions = "; (query x)\n(set-logic HORN)\n(check-sat)";
        let rules = "; (set-logic HORN)\n(declare-rel ERR ())\n(query ERR)";
        assert_eq!(verdict(assertions, "sat\n"), Verdict::Valid);
        assert_eq!(verdict(assertions, "unsat\n"), Verdict::Invalid);
        assert_eq!(verdict(rules, "sat\n"), Verdict::Invalid);
        assert_eq!(verdict(rules, "unsat\n"), Verdict::Valid);
        assert_eq!(verdict(rules, "unsat\nsat\n"), Verdict::Invalid);
        for other in ["unknown\n", "timeout\n", "", "unsatisfied\n"] {
            assert_eq!(verdict(assertions, other), Verdict::Unknown);
        }
    }

    #[test]
    fn errors_reject() {
        let stdout = "(error \"line 1 column 4: unknown constant x\")\nsat\n";
        let reading = read(&Output { exit: Some(1), stdout, stderr: "", source: "(set-logic HORN)" });
        assert_eq!(reading.verdict(), Verdict::Unknown);
        assert!(reading.rejected.unwrap().message.contains("line 1 column 4"));
    }
}
