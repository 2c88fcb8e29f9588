//! What accepted evidence rests on, and what it is required to rest on.
//!
//! An *obligation* (a formula that must have no solution) is discharged by a verified proof, by two
//! independent solvers that both answer `unsat`, or by one solver. Replayed runs, evaluated models
//! and enumerated states need no solver and count as verified. Evidence rests on the weakest ground
//! of its obligations (docs/semantics.md, section 5).

use std::fmt;
use std::str::FromStr;

/// What discharges an obligation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trust {
    /// A verified proof, or one solver.
    One,
    /// A verified proof; else two solvers, if two can be asked and answer in time; else one. The
    /// second solver is asked each query at most once, and its time is a fraction of the time of
    /// the checker.
    #[default]
    Agreement,
    /// A verified proof or two solvers; nothing else is accepted.
    Two,
    /// A verified proof; nothing else is accepted.
    Proof,
}

impl FromStr for Trust {
    type Err = String;

    fn from_str(word: &str) -> Result<Trust, String> {
        match word {
            "one" => Ok(Trust::One),
            "two" => Ok(Trust::Two),
            "proof" => Ok(Trust::Proof),
            _ => Err(format!("`{word}` is none of `one`, `two`, `proof`")),
        }
    }
}

/// What a result rests on, the strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Ground {
    /// No solver: replayed and evaluated values, enumerated states, verified proofs.
    #[default]
    Checked,
    /// Two independent solvers that agree.
    TwoSolvers,
    /// One solver.
    OneSolver,
}

impl Ground {
    /// Its name in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Ground::Checked => "checked",
            Ground::TwoSolvers => "two-solvers",
            Ground::OneSolver => "one-solver",
        }
    }
}

/// What accepted evidence rests on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Basis {
    /// The weakest ground of its obligations.
    pub ground: Ground,
    /// The solvers whose answers count; empty if the ground is [`Ground::Checked`].
    pub solvers: Vec<String>,
    /// Why an obligation rests on one solver only, where two were wanted.
    pub why_one: Option<String>,
}

impl Basis {
    /// Adds the basis of another piece of evidence.
    pub fn join(&mut self, other: &Basis) {
        self.ground = self.ground.max(other.ground);
        for solver in &other.solvers {
            if !self.solvers.contains(solver) {
                self.solvers.push(solver.clone());
            }
        }
        self.solvers.sort();
        if self.why_one.is_none() {
            self.why_one.clone_from(&other.why_one);
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let solvers = self.solvers.join(" and ");
        match self.ground {
            Ground::Checked => f.write_str("checked without a solver"),
            Ground::TwoSolvers => write!(f, "{solvers} agree"),
            Ground::OneSolver => {
                let why = self.why_one.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
                write!(
                    f,
                    "rests on {}{why}",
                    if solvers.is_empty() { "one solver" } else { &solvers }
                )
            }
        }
    }
}

/// A compact [`Basis`], kept for each formula: solvers are bits, by their position in a list of
/// names. The last bit is shared by all later positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Support {
    pub ground: Ground,
    pub solvers: u16,
}

impl Support {
    /// The support of two results together.
    pub(crate) fn join(self, other: Support) -> Support {
        Support { ground: self.ground.max(other.ground), solvers: self.solvers | other.solvers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weakest_ground_is_the_ground_of_a_joined_basis() {
        let mut basis = Basis::default();
        let two = Basis {
            ground: Ground::TwoSolvers,
            solvers: vec!["z3".into(), "yices".into()],
            why_one: None,
        };
        let one = Basis {
            ground: Ground::OneSolver,
            solvers: vec!["z3".into()],
            why_one: Some("why".into()),
        };
        basis.join(&two);
        assert_eq!(
            (basis.ground, basis.to_string()),
            (Ground::TwoSolvers, "yices and z3 agree".to_string())
        );
        basis.join(&one);
        basis.join(&two);
        assert_eq!(basis.ground, Ground::OneSolver);
        assert_eq!(basis.why_one.as_deref(), Some("why"));
    }
}
