//! Solvers of constrained Horn clauses. The text of the file tells the dialect.

use gander_tool_output::horn::{Dialect, Status};

use super::{Output, Reading, first_message};
use crate::verdict::Verdict;

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    let dialect = Dialect::of(output.source);
    let statuses = output.stdout.lines().filter_map(Status::parse);
    let answers = statuses.filter(|s| *s != Status::Timeout).map(|s| match s.is_safe(dialect) {
        Some(true) => Verdict::Valid,
        Some(false) => Verdict::Invalid,
        None => Verdict::Unknown,
    });
    reading.whole = Verdict::of_all(answers);
    reading.out_of_memory =
        output.stdout.contains("out of memory") || output.stderr.contains("out of memory");
    if reading.out_of_memory {
        return reading;
    }
    let error = || {
        first_message(output.stdout, &["(error"])
            .or_else(|| first_message(output.stderr, &["rror"]))
    };
    if let Some(message) = error() {
        // After an error the solver answers another question than that of the file.
        reading.whole = None;
        reading.rejected = Some(message);
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(source: &str, stdout: &str) -> Verdict {
        read(&Output { exit: Some(0), stdout, stderr: "", source }).verdict()
    }

    #[test]
    fn sat_means_the_opposite_in_the_other_horn_dialect() {
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
    fn a_file_with_errors_is_rejected() {
        let stdout = "(error \"line 1 column 4: unknown constant x\")\nsat\n";
        let reading =
            read(&Output { exit: Some(1), stdout, stderr: "", source: "(set-logic HORN)" });
        assert_eq!(reading.verdict(), Verdict::Unknown);
        assert!(reading.rejected.unwrap().message.contains("line 1 column 4"));
    }
}
