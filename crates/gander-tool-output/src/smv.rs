//! NuSMV and nuXmv: answers as sentences, and traces in the form of `default_trace_plugin 1`, which
//! shows every variable in every state.

/// A line that answers a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerLine<'t> {
    /// The property's formula.
    pub formula: &'t str,
    /// Whether it is true; `None` if the line says neither.
    pub is_true: Option<bool>,
}

/// Parses `-- specification … is true`, `-- invariant … is false`.
pub fn answer(line: &str) -> Option<AnswerLine<'_>> {
    let rest =
        line.strip_prefix("-- specification ").or_else(|| line.strip_prefix("-- invariant "))?;
    let words = rest.trim_end();
    let decided = |end: &str, is_true| Some((words.strip_suffix(end)?.trim(), Some(is_true)));
    let (formula, is_true) =
        decided(" is true", true).or_else(|| decided(" is false", false)).unwrap_or((words, None));
    Some(AnswerLine { formula, is_true })
}

/// A state of a counterexample: names and values as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The inputs of the step that leads to it.
    pub inputs: Vec<(String, String)>,
    /// The variables.
    pub values: Vec<(String, String)>,
}

/// A counterexample.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counterexample {
    /// Its states.
    pub states: Vec<State>,
    /// The last state is the one with this number again.
    pub back_to: Option<usize>,
}

/// Parses the lines after an answer `is false`. `None` if a line is not part of a counterexample.
pub fn counterexample<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Counterexample> {
    let (mut states, mut loops, mut inputs) = (Vec::<State>::new(), Vec::new(), Vec::new());
    let mut in_input = false;
    for line in lines {
        if line.starts_with("-- as demonstrated by") || line.starts_with("Trace ") {
            continue;
        }
        if line.starts_with("-- Loop starts here") {
            loops.push(states.len());
        } else if line.starts_with("-> State:") {
            states.push(State { inputs: std::mem::take(&mut inputs), values: Vec::new() });
            in_input = false;
        } else if line.starts_with("-> Input:") {
            in_input = true;
        } else {
            let (name, value) = line.split_once(" = ")?;
            let values = if in_input { &mut inputs } else { &mut states.last_mut()?.values };
            values.push((name.to_string(), value.to_string()));
        }
    }
    let last = states.len().checked_sub(1);
    let back_to = loops.into_iter().rev().find(|l| last.is_some_and(|last| *l < last));
    Some(Counterexample { states, back_to })
}

/// The lines between two lines, without spaces around them; `None` if one of the two is missing.
pub fn block<'t>(text: &'t str, begin: &str, end: &str) -> Option<Vec<&'t str>> {
    let mut lines = text.lines().map(str::trim).skip_while(|l| *l != begin);
    lines.next()?;
    let mut found = Vec::new();
    for line in lines {
        if line == end {
            return Some(found);
        }
        found.push(line);
    }
    None
}

/// The number of reachable states, of `print_reachable_states`: `reachable states: 5 (2^2.32193)
/// out of 12 (2^3.58496)`.
pub fn reachable_states(lines: &[&str]) -> Option<u64> {
    let line = lines.iter().find_map(|l| l.strip_prefix("reachable states: "))?;
    line.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_a_formula() {
        let line = |formula, is_true| Some(AnswerLine { formula, is_true });
        assert_eq!(answer("-- specification AG (x = 1)  is true"), line("AG (x = 1)", Some(true)));
        assert_eq!(answer("-- invariant y < 3  is false  "), line("y < 3", Some(false)));
        assert_eq!(answer("-- invariant y < 3 is unknown"), line("y < 3 is unknown", None));
        assert_eq!(answer("-> State: 1.1 <-"), None);
    }

    #[test]
    fn a_counterexample_has_states_inputs_and_a_loop() {
        let text = "-- as demonstrated by the following execution sequence\nTrace Type: x\n\
                    -> State: 1.1 <-\nx = 0\n-> Input: 1.2 <-\ni = TRUE\n-- Loop starts here\n\
                    -> State: 1.2 <-\nx = 1\n-> State: 1.3 <-\nx = 1";
        let found = counterexample(text.lines()).unwrap();
        assert_eq!((found.states.len(), found.back_to), (3, Some(1)));
        assert_eq!(found.states[1].inputs, [("i".to_string(), "TRUE".to_string())]);
        assert_eq!(found.states[1].values, [("x".to_string(), "1".to_string())]);
        assert_eq!(counterexample("nonsense".lines()), None);
        assert_eq!(counterexample("x = 1".lines()), None);
    }

    #[test]
    fn a_block_needs_both_lines() {
        assert_eq!(block("a\n begin\n x\nend", "begin", "end"), Some(vec!["x"]));
        assert_eq!(block("begin\nx", "begin", "end"), None);
        let lines = ["reachable states: 5 (2^2.32193) out of 12 (2^3.58496)"];
        assert_eq!(reachable_states(&lines), Some(5));
    }
}
