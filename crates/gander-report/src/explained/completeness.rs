//! How far an analysis came, and numbers that are known exactly or by bounds.
//!
//! A [`Share`] gives its number only as text or as both bounds, so a renderer cannot show the bound
//! of an unfinished analysis as if it were exact.

use serde_json::{Value, json};

/// How far an analysis came. Later values are further from an exact result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Completeness {
    /// What was asked for is known exactly.
    #[default]
    Exact,
    /// The analysis came to its end, but some question was not decided: numbers are bounds.
    Bound,
    /// The analysis was stopped, for example by its time limit: numbers are bounds.
    Unfinished,
}

impl Completeness {
    /// The word for it, as in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Completeness::Exact => "exact",
            Completeness::Bound => "bound",
            Completeness::Unfinished => "unfinished",
        }
    }

    /// What to tell a reader of a result that is not exact.
    pub fn warning(self) -> Option<&'static str> {
        match self {
            Completeness::Exact => None,
            Completeness::Bound => {
                Some("incomplete: some questions were not decided, so these results are bounds")
            }
            Completeness::Unfinished => {
                Some("incomplete: the work was stopped early, so these results are bounds")
            }
        }
    }
}

/// A number of elements, out of all elements of something; known exactly or by bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    least: usize,
    most: usize,
    of: usize,
}

impl Share {
    /// This many.
    pub fn exact(number: usize, of: usize) -> Share {
        Share { least: number, most: number, of }
    }

    /// At least and at most this many.
    pub fn between(least: usize, most: usize, of: usize) -> Share {
        Share { least: least.min(most), most: most.max(least), of }
    }

    /// True if the number is known.
    pub fn is_exact(self) -> bool {
        self.least == self.most
    }

    /// True if nothing is known of the number.
    pub fn is_unknown(self) -> bool {
        self.least == 0 && self.most >= self.of && self.of > 0
    }

    /// The bounds: at least and at most.
    pub fn bounds(self) -> (usize, usize) {
        (self.least, self.most)
    }

    /// The number of all elements.
    pub fn of(self) -> usize {
        self.of
    }

    /// In words: `4 of 10 elements, 40.0 %`, `at least 4 of 10 elements, at least 40.0 %`.
    pub fn words(self) -> String {
        let noun = if self.of == 1 { "element" } else { "elements" };
        if self.is_unknown() {
            return format!("not known (of {} {noun})", self.of);
        }
        format!("{}, {}", self.count(noun), self.percent())
    }

    /// The number: `4 of 10 elements`, `at least 4 of 10`.
    pub fn count(self, noun: &str) -> String {
        let of = match noun.is_empty() {
            true => self.of.to_string(),
            false => format!("{} {noun}", self.of),
        };
        match self.is_unknown() {
            true => format!("not known (of {of})"),
            false => format!("{} of {of}", self.text(|n, _| n.to_string())),
        }
    }

    /// The share: `40.0 %`, `at least 40.0 %`, `40.0 % to 60.0 %`, `unknown`. Lower bounds are
    /// rounded down, upper bounds up.
    pub fn percent(self) -> String {
        if self.of == 0 {
            return "-".to_string();
        }
        self.text(|n, side| {
            let (n, of) = (n as u128 * 1000, self.of as u128);
            let tenths = match side {
                Side::Both => (2 * n + of) / (2 * of),
                Side::Lower => n / of,
                Side::Upper => n.div_ceil(of),
            };
            format!("{}.{} %", tenths / 10, tenths % 10)
        })
    }

    fn text(self, number: impl Fn(usize, Side) -> String) -> String {
        let (low, high) = (|n| number(n, Side::Lower), |n| number(n, Side::Upper));
        match (self.least, self.most) {
            (least, most) if least == most => number(least, Side::Both),
            (0, most) if most >= self.of => "unknown".to_string(),
            (0, most) => format!("at most {}", high(most)),
            (least, most) if most >= self.of => format!("at least {}", low(least)),
            (least, most) => format!("{} to {}", low(least), high(most)),
        }
    }

    pub(super) fn json(self) -> Value {
        json!({ "least": self.least, "most": self.most, "of": self.of })
    }
}

/// Which bound a number is.
#[derive(Clone, Copy)]
enum Side {
    /// Both: it is exact.
    Both,
    Lower,
    Upper,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_never_shown_as_exact_numbers() {
        assert_eq!(Share::exact(4, 10).words(), "4 of 10 elements, 40.0 %");
        assert_eq!(Share::exact(1, 1).words(), "1 of 1 element, 100.0 %");
        let least = Share::between(4, 10, 10);
        assert_eq!(least.words(), "at least 4 of 10 elements, at least 40.0 %");
        assert_eq!(Share::between(0, 6, 10).percent(), "at most 60.0 %");
        assert_eq!(Share::between(4, 6, 10).percent(), "40.0 % to 60.0 %");
        assert_eq!(Share::between(0, 10, 10).percent(), "unknown");
        assert_eq!(Share::between(0, 10, 10).words(), "not known (of 10 elements)");
        assert_eq!(Share::exact(0, 0).percent(), "-");
        assert_eq!(Share::exact(2, 3).percent(), "66.7 %");
        assert_eq!(Share::between(2, 3, 3).percent(), "at least 66.6 %");
        assert_eq!(Share::between(1999, 2000, 2000).percent(), "at least 99.9 %");
        assert_eq!(Share::between(0, 1, 3).percent(), "at most 33.4 %");
        assert!(!least.is_exact() && Share::exact(0, 3).is_exact());
    }
}
