//! Tools that print sentences: NuSMV and mikino.

use gander_tool_output::{mikino, smv};

use super::{Output, Reading, add, answer, first_message};
use crate::verdict::Verdict;

/// NuSMV and nuXmv; the name of a property is its formula.
pub(super) fn read_nusmv(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    for line in output.stdout.lines().filter_map(smv::answer) {
        let verdict = match line.is_true {
            Some(true) => Verdict::Valid,
            Some(false) => Verdict::Invalid,
            None => Verdict::Unknown,
        };
        add(&mut reading.properties, answer(line.formula, verdict));
    }
    if reading.properties.is_empty() {
        let marks = ["error", "undefined", "illegal", "cannot"];
        reading.rejected = first_message(output.stderr, &marks);
    }
    reading
}

/// mikino, which answers about all properties together.
pub(super) fn read_mikino(output: &Output<'_>) -> Reading {
    let mut reading = Reading::default();
    match mikino::parse(&format!("{}\n{}", output.stdout, output.stderr)) {
        Some(mikino::Answer::Safe) => reading.whole = Some(Verdict::Valid),
        Some(mikino::Answer::Unsafe) => reading.whole = Some(Verdict::Invalid),
        Some(mikino::Answer::Error(message)) => {
            reading.rejected = first_message(&message, &[""]);
        }
        None => {}
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
    fn nusmv_answers_each_formula() {
        let text = "*** This is NuSMV\n-- specification AG (x = 1)  is true\n-- invariant y < 3  is false\n\
                    -- as demonstrated by the following execution sequence\n-> State: 1.1 <-\n";
        let all: Vec<_> = read_nusmv(&output(text, ""))
            .properties
            .into_iter()
            .map(|p| (p.name, p.verdict))
            .collect();
        assert_eq!(
            all,
            [("AG (x = 1)".into(), Verdict::Valid), ("y < 3".into(), Verdict::Invalid)]
        );
        let bad = read_nusmv(&output("", "file a.smv: line 3: at token \"x\": syntax error\n"));
        assert!(bad.rejected.unwrap().message.contains("line 3"));
    }

    #[test]
    fn mikino_answers_the_whole_file() {
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
