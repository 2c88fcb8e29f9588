//! Reads tools that print sentences: NuSMV and mikino.

use super::{Output, Reading, add, answer, first_message};
use crate::verdict::Verdict;

/// `-- specification … is true`, `-- invariant … is false`; a property is called by its formula.
pub(super) fn read_nusmv(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    for line in output.stdout.lines() {
        let Some(claim) = line.strip_prefix("-- specification ").or_else(|| line.strip_prefix("-- invariant ")) else {
            continue;
        };
        let words = claim.trim_end();
        let decided = [("is true", Verdict::Valid), ("is false", Verdict::Invalid)];
        if let Some((formula, verdict)) = decided.iter().find_map(|(end, v)| Some((words.strip_suffix(end)?, *v))) {
            add(&mut reading.properties, answer(formula.trim(), verdict));
        } else {
            add(&mut reading.properties, answer(words, Verdict::Unknown));
        }
    }
    if reading.properties.is_empty() {
        let marks = ["error", "undefined", "illegal", "cannot"];
        reading.rejected = first_message(output.stderr, &marks);
    }
    reading
}

/// The summary lines `system is safe` and `system is unsafe`, and the boxes of errors.
pub(super) fn read_mikino(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    let text = format!("{}\n{}", output.stdout, output.stderr);
    let lines = || text.lines().map(|l| l.trim_start_matches(['|', '-', ' ']));
    if lines().any(|l| l.starts_with("system is unsafe")) {
        reading.whole = Some(Verdict::Invalid);
    } else if lines().any(|l| l.starts_with("system is safe")) {
        reading.whole = Some(Verdict::Valid);
    } else if let Some((_, error)) = text.split_once("|===| Error") {
        let message = error.lines().map(|l| l.trim_start_matches(['|', ' '])).find(|l| !l.is_empty());
        reading.rejected = message.and_then(|m| first_message(m, &[""]));
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output<'a>(stdout: &'a str, stderr: &'a str) -> Output<'a> {
        Output { exit: Some(0), stdout, stderr, source: "" }
    }

    #[test]
    fn nusmv() {
        let text = "*** This is NuSMV\n-- specification AG (x = 1)  is true\n-- invariant y < 3  is false\n\
                    -- as demonstrated by the following execution sequence\n-> State: 1.1 <-\n";
        let all: Vec<_> = read_nusmv(&output(text, "")).properties.into_iter().map(|p| (p.name, p.verdict)).collect();
        assert_eq!(all, [("AG (x = 1)".into(), Verdict::Valid), ("y < 3".into(), Verdict::Invalid)]);
        let bad = read_nusmv(&output("", "file a.smv: line 3: at token \"x\": syntax error\n"));
        assert!(bad.rejected.unwrap().message.contains("line 3"));
    }

    #[test]
    fn mikino() {
        let safe = "|===| Induction attempt result\n| - all candidates are inductive\n|\n\
                    | - system is safe, all reachable states verify all candidates\n|===|\n";
        assert_eq!(read_mikino(&output(safe, "")).verdict(), Verdict::Valid);
        let open = "| - system might be unsafe, some candidates are not inductive\n";
        assert_eq!(read_mikino(&output(open, "")).verdict(), Verdict::Unknown);
        assert_eq!(read_mikino(&output("| - system is unsafe\n", "")).verdict(), Verdict::Invalid);
        let bad = read_mikino(&output("|===| Error\n| parse error at 1:15\n|   |\n|===|\n", ""));
        assert_eq!(bad.rejected.unwrap().message, "parse error at 1:15");
    }
}
