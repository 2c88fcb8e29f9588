//! Candidates for findings that were not decided.

use std::collections::BTreeMap;

use gander_lang::Code;

/// Candidates that were neither found nor excluded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Undecided {
    by_code: BTreeMap<Code, usize>,
    is_lower_bound: bool,
}

impl Undecided {
    /// Counts one more candidate for a finding with this code.
    pub(super) fn count(&mut self, code: Code) {
        *self.by_code.entry(code).or_default() += 1;
    }

    /// Says that the search ended before all candidates were counted.
    pub(super) fn stop_counting(&mut self) {
        self.is_lower_bound = true;
    }

    /// Adds those of another search.
    pub(crate) fn add(&mut self, other: &Undecided) {
        for (&code, &count) in &other.by_code {
            *self.by_code.entry(code).or_default() += count;
        }
        self.is_lower_bound |= other.is_lower_bound;
    }

    /// How many there are, in a sentence; `None` if everything was decided.
    pub(crate) fn sentence(&self) -> Option<String> {
        let total: usize = self.by_code.values().sum();
        let list: Vec<String> =
            self.by_code.iter().map(|(code, n)| format!("{n} {}", code.as_str())).collect();
        let list = list.join(", ");
        Some(match (total, self.is_lower_bound) {
            (0, false) => return None,
            (0, true) => "the search for findings was stopped before it was finished".to_string(),
            (_, true) => {
                format!("at least {total} possible findings were not decided: {list}, and others")
            }
            (1, false) => format!("1 possible finding was not decided: {list}"),
            (_, false) => format!("{total} possible findings were not decided: {list}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undecided_candidates_are_counted_by_code() {
        let mut all = Undecided::default();
        assert_eq!(all.sentence(), None);
        all.count(Code::W0813);
        assert_eq!(all.sentence().as_deref(), Some("1 possible finding was not decided: 1 W0813"));
        let mut more = Undecided::default();
        more.count(Code::W0812);
        more.count(Code::W0812);
        all.add(&more);
        assert_eq!(
            all.sentence().as_deref(),
            Some("3 possible findings were not decided: 2 W0812, 1 W0813")
        );
        more.stop_counting();
        all.add(&more);
        assert_eq!(
            all.sentence().as_deref(),
            Some("at least 5 possible findings were not decided: 4 W0812, 1 W0813, and others")
        );
        let mut stopped = Undecided::default();
        stopped.stop_counting();
        assert_eq!(
            stopped.sentence().as_deref(),
            Some("the search for findings was stopped before it was finished")
        );
    }
}
