//! The check of a refutation. Trusted, like `encode/`; the search is not.

use std::fmt;

use dashu_base::Signed;
use gander_term::{Pool, RBig, TermId};

use crate::encode::{Atom, Bounds, Encoding};
use crate::literal::Literal;
use crate::proof::{Proof, Step};

/// Why a proof is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// The formula cannot be encoded.
    NotEncoded,
    /// An atom is about a number that the encoding does not have.
    NoSuchNumber,
    /// A literal or a hint is out of range.
    OutOfRange,
    /// A lemma does not have one factor for each literal, or has a factor that is not positive, or
    /// a literal that is not a bound.
    BadLemma,
    /// The bounds of a lemma do not add up to a contradiction.
    NoContradiction,
    /// A hint is neither a unit clause nor violated, or no hint is violated.
    BadHint,
    /// The last clause is not empty.
    NotEmpty,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::NotEncoded => "the formula cannot be encoded",
            Flaw::NoSuchNumber => "an atom is about a number that is not there",
            Flaw::OutOfRange => "a literal or a hint is out of range",
            Flaw::BadLemma => "a lemma has wrong factors or literals",
            Flaw::NoContradiction => "the bounds of a lemma are no contradiction",
            Flaw::BadHint => "a hint does not propagate",
            Flaw::NotEmpty => "the last clause is not empty",
        })
    }
}

impl std::error::Error for Flaw {}

/// Checks that the proof shows that the formula has no solution.
///
/// Soundness: any values of the free symbols determine the truth values of the atoms. If the
/// formula is true, the other variables of the encoding have values that satisfy its clauses, and
/// then every clause of the proof is satisfied too. So a proof of the empty clause excludes a
/// solution.
pub fn verify(pool: &Pool, formula: TermId, proof: &Proof) -> Result<(), Flaw> {
    let encoding = Encoding::of(pool, formula, usize::MAX).ok_or(Flaw::NotEncoded)?;
    let Encoding { clauses, atoms, bounds, .. } = encoding;
    let mut check = Check { clauses, atoms, bounds, values: Vec::new(), assigned: Vec::new() };
    for atom in &proof.atoms {
        if !check.bounds.is_well_formed(atom) {
            return Err(Flaw::NoSuchNumber);
        }
        check.atoms.push(Some(atom.clone()));
    }
    check.values = vec![None; check.atoms.len()];
    let mut last_is_empty = check.clauses.iter().any(Vec::is_empty);
    for step in &proof.steps {
        let clause = match step {
            Step::Lemma { clause, factors } => {
                check.in_range(clause)?;
                check.lemma(clause, factors)?;
                clause
            }
            Step::Learned { clause, hints } => {
                check.in_range(clause)?;
                check.learned(clause, hints)?;
                clause
            }
        };
        last_is_empty = clause.is_empty();
        check.clauses.push(clause.clone());
    }
    if last_is_empty { Ok(()) } else { Err(Flaw::NotEmpty) }
}

struct Check {
    clauses: Vec<Vec<Literal>>,
    /// By variable.
    atoms: Vec<Option<Atom>>,
    bounds: Bounds,
    /// By variable; all unknown between steps.
    values: Vec<Option<bool>>,
    assigned: Vec<usize>,
}

impl Check {
    fn in_range(&self, clause: &[Literal]) -> Result<(), Flaw> {
        if clause.iter().all(|l| l.variable() < self.atoms.len()) {
            Ok(())
        } else {
            Err(Flaw::OutOfRange)
        }
    }

    /// Checks that the negated literals are bounds whose sum with these factors is a contradiction.
    fn lemma(&self, clause: &[Literal], factors: &[RBig]) -> Result<(), Flaw> {
        if clause.len() != factors.len() {
            return Err(Flaw::BadLemma);
        }
        let mut rows = Vec::with_capacity(clause.len());
        for (&literal, factor) in clause.iter().zip(factors) {
            let atom = self.atoms[literal.variable()].as_ref().ok_or(Flaw::BadLemma)?;
            if !factor.is_positive() {
                return Err(Flaw::BadLemma);
            }
            // The literal is false.
            rows.push((self.bounds.row(atom, !literal.is_positive()), factor));
        }
        if self.bounds.is_contradiction(&rows) { Ok(()) } else { Err(Flaw::NoContradiction) }
    }

    /// Checks that, if the literals are false, the hints propagate to a violated clause.
    fn learned(&mut self, clause: &[Literal], hints: &[u32]) -> Result<(), Flaw> {
        let mut result = Err(Flaw::BadHint);
        for &literal in clause {
            self.assign(!literal);
        }
        for &hint in hints {
            let Some(by) = self.clauses.get(hint as usize) else {
                result = Err(Flaw::OutOfRange);
                break;
            };
            let mut unit = None;
            let (mut open, mut satisfied) = (0, false);
            for &literal in by {
                match self.values[literal.variable()] {
                    None => {
                        open += 1;
                        unit = Some(literal);
                    }
                    Some(value) => satisfied |= value == literal.is_positive(),
                }
            }
            match (satisfied, open, unit) {
                (false, 0, _) => {
                    result = Ok(());
                    break;
                }
                (false, 1, Some(literal)) => self.assign(literal),
                // A satisfied hint is ignored.
                (true, ..) => {}
                _ => break,
            }
        }
        for variable in self.assigned.drain(..) {
            self.values[variable] = None;
        }
        result
    }

    fn assign(&mut self, literal: Literal) {
        let value = &mut self.values[literal.variable()];
        if value.is_none() {
            *value = Some(literal.is_positive());
            self.assigned.push(literal.variable());
        }
    }
}
