//! Verdicts of tools, and verdicts that the manifest expects.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The answer of a tool about a property, or about all properties of a file together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every property holds.
    Valid,
    /// At least one property is violated.
    Invalid,
    /// Neither was shown.
    Unknown,
}

/// The expected verdict of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// Must not be answered `invalid`.
    Valid,
    /// Must not be answered `valid`.
    Invalid,
    /// Not known.
    Unknown,
    /// Not a model of the language: the tool must reject it.
    Error,
}

impl Verdict {
    /// Whether it is valid or invalid.
    pub fn is_decided(self) -> bool {
        self != Verdict::Unknown
    }

    /// The verdict on a whole file whose properties have these verdicts; `None` if there are none.
    pub fn of_all(parts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
        let mut all = None;
        for part in parts {
            all = Some(match (all, part) {
                (Some(Verdict::Invalid), _) | (_, Verdict::Invalid) => Verdict::Invalid,
                (Some(Verdict::Unknown), _) | (_, Verdict::Unknown) => Verdict::Unknown,
                _ => Verdict::Valid,
            });
        }
        all
    }
}

impl Expected {
    /// What to expect of a whole file whose rows expect these.
    pub fn of_all(parts: impl IntoIterator<Item = Expected>) -> Expected {
        let (mut some_unknown, mut some_invalid) = (false, false);
        for part in parts {
            match part {
                Expected::Error => return Expected::Error,
                Expected::Invalid => some_invalid = true,
                Expected::Unknown => some_unknown = true,
                Expected::Valid => {}
            }
        }
        match (some_invalid, some_unknown) {
            (true, _) => Expected::Invalid,
            (false, true) => Expected::Unknown,
            (false, false) => Expected::Valid,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Valid => "valid",
            Verdict::Invalid => "invalid",
            Verdict::Unknown => "unknown",
        })
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Expected::Valid => "valid",
            Expected::Invalid => "invalid",
            Expected::Unknown => "unknown",
            Expected::Error => "error",
        })
    }
}

impl std::str::FromStr for Verdict {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "valid" => Ok(Verdict::Valid),
            "invalid" => Ok(Verdict::Invalid),
            "unknown" => Ok(Verdict::Unknown),
            other => Err(format!("`{other}` is no verdict: valid, invalid or unknown")),
        }
    }
}

impl std::str::FromStr for Expected {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "error" => Ok(Expected::Error),
            other => match other.parse::<Verdict>() {
                Ok(Verdict::Valid) => Ok(Expected::Valid),
                Ok(Verdict::Invalid) => Ok(Expected::Invalid),
                Ok(Verdict::Unknown) => Ok(Expected::Unknown),
                Err(_) => Err(format!(
                    "`{other}` is no expected verdict: valid, invalid, unknown or error"
                )),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_violation_violates_the_file() {
        use Verdict::*;
        assert_eq!(Verdict::of_all([Valid, Unknown, Invalid, Valid]), Some(Invalid));
        assert_eq!(Verdict::of_all([Valid, Unknown, Valid]), Some(Unknown));
        assert_eq!(Verdict::of_all([Valid, Valid]), Some(Valid));
        assert_eq!(Verdict::of_all([]), None);
    }

    #[test]
    fn a_file_is_expected_valid_only_if_all_of_it_is() {
        use Expected::*;
        assert_eq!(Expected::of_all([Valid, Unknown]), Unknown);
        assert_eq!(Expected::of_all([Valid, Unknown, Invalid]), Invalid);
        assert_eq!(Expected::of_all([Valid]), Valid);
        assert_eq!(Expected::of_all([Invalid, Error]), Error);
    }
}
