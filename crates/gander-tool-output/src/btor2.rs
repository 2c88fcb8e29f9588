//! Answers about one bad state of a BTOR2 file, with a witness, as Pono prints them.
//!
//! A witness has `#0` and lines `number bits name#0` of the first state; then for each instant `@k`
//! and lines `number bits name@k` of the inputs, which lead to the next state; a point ends it.

/// Instants of a witness at most.
const MAX_INSTANTS: usize = 1_000_000;

/// The answer about the bad state `b0`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// It cannot be reached.
    Safe,
    /// It can be reached; with the witness, unless that is incomplete.
    Unsafe(Option<Witness>),
    /// Neither was shown.
    Unknown,
}

/// A witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// The number of states: one more than steps.
    pub states: usize,
    /// The values.
    pub values: Vec<Assignment>,
}

/// A value of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The state that it belongs to: an input at instant k leads to state k + 1.
    pub state: usize,
    /// Whether it is the value of an input.
    pub is_input: bool,
    /// The name, which may be empty.
    pub name: String,
    /// The value in binary.
    pub bits: String,
}

/// Parses the output.
pub fn parse(output: &str) -> Option<Answer> {
    let mut lines = output.lines().map(str::trim).filter(|l| !l.is_empty());
    match (lines.next(), lines.next()) {
        (Some("unsat"), Some("b0") | None) => Some(Answer::Safe),
        (Some("sat"), Some("b0")) => Some(Answer::Unsafe(witness(lines))),
        (Some("unknown"), _) => Some(Answer::Unknown),
        _ => None,
    }
}

fn witness<'t>(lines: impl Iterator<Item = &'t str>) -> Option<Witness> {
    let (mut values, mut state, mut last) = (Vec::new(), None, 0);
    for line in lines {
        if line == "." {
            // The inputs of the last instant lead to a state that is not part of the run.
            values.retain(|v: &Assignment| v.state <= last);
            return Some(Witness { states: last + 1, values });
        }
        if let Some(step) = line.strip_prefix('#') {
            step.parse::<usize>().ok()?;
            state = Some(0);
            continue;
        }
        if let Some(step) = line.strip_prefix('@') {
            let step: usize = step.parse().ok().filter(|s| *s < MAX_INSTANTS)?;
            last = last.max(step);
            state = Some(step + 1);
            continue;
        }
        let mut words = line.split_whitespace();
        words.next()?.parse::<u64>().ok()?;
        let (bits, name) = (words.next()?, words.next().unwrap_or_default());
        values.push(Assignment {
            state: state?,
            is_input: name.contains('@'),
            name: name.split(['@', '#']).next()?.to_string(),
            bits: bits.to_string(),
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_has_states_and_inputs() {
        let text = "sat\nb0\n#0\n0 001 x#0\n@0\n0 1 i@0\n@1\n0 0 i@1\n.\n";
        let Some(Answer::Unsafe(Some(witness))) = parse(text) else { panic!() };
        assert_eq!((witness.states, witness.values.len()), (2, 2));
        let input = &witness.values[1];
        assert_eq!((input.state, input.is_input, input.name.as_str()), (1, true, "i"));
        // Without the point it is incomplete.
        assert_eq!(parse(&text.replace('.', "")), Some(Answer::Unsafe(None)));
    }

    #[test]
    fn other_words_are_not_answers() {
        assert_eq!(parse("unsat\nb0\n"), Some(Answer::Safe));
        assert_eq!(parse("unsat\nb1\n"), None);
        assert_eq!(parse("unknown\n"), Some(Answer::Unknown));
        assert_eq!(parse("error"), None);
    }
}
