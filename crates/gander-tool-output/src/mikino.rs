//! mikino (`mikino check`): summary lines, and errors in boxes.

/// The answer of mikino.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// All reachable states satisfy all properties.
    Safe,
    /// A reachable state violates a property.
    Unsafe,
    /// The input is rejected, with this message.
    Error(String),
}

/// Parses standard and error output together.
pub fn parse(output: &str) -> Option<Answer> {
    let lines = || output.lines().map(|l| l.trim_start_matches(['|', '-', ' ']));
    if lines().any(|l| l.starts_with("system is unsafe")) {
        return Some(Answer::Unsafe);
    }
    if lines().any(|l| l.starts_with("system is safe")) {
        return Some(Answer::Safe);
    }
    let (_, error) = output.split_once("|===| Error")?;
    let mut lines = error.lines().map(|l| l.trim_start_matches(['|', ' ']));
    lines.find(|l| !l.is_empty()).map(|l| Answer::Error(l.trim().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_and_errors_are_parsed() {
        let safe = "|===| Induction attempt result\n| - all candidates are inductive\n|\n\
                    | - system is safe, all reachable states verify all candidates\n|===|\n";
        assert_eq!(parse(safe), Some(Answer::Safe));
        let open = "| - system might be unsafe, some candidates are not inductive\n";
        assert_eq!(parse(open), None);
        assert_eq!(parse("| - system is unsafe\n"), Some(Answer::Unsafe));
        let error = "|===| Error\n| parse error at 1:15\n|   |\n|===|\n";
        assert_eq!(parse(error), Some(Answer::Error("parse error at 1:15".to_string())));
    }
}
