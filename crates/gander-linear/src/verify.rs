//! The check of a refutation. Trusted, like `facts.rs` and `rows.rs`; the search is not.

use std::fmt;

use gander_term::{IBig, Pool, Sort, TermId};

use crate::facts::Facts;
use crate::proof::{Fact, Line, Proof};
use crate::rows::{Row, row_of};

/// Deeper proofs are rejected.
const DEEPEST: usize = 256;

/// Why a proof is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// Cases are nested too deep.
    TooDeep,
    /// It is about a term that is no formula, no int, or not of the pool.
    NoSuchTerm,
    /// No formula holds and fails.
    NoClash,
    /// It uses something that is no fact of the case.
    NoFact,
    /// The number of proofs is not the number of alternatives.
    Alternatives,
    /// A line refers to one that is not before it.
    NoSuchLine,
    /// A line is not over ints only and cannot be rounded.
    NotAboutInts,
    /// A fact is no comparison of numbers.
    NoComparison,
    /// An inequality has a negative factor.
    Factor,
    /// The last line is not false.
    NotWrong,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::TooDeep => "the proof is too deep",
            Flaw::NoSuchTerm => "a term is of the wrong sort or not of the pool",
            Flaw::NoClash => "facts do not exclude each other",
            Flaw::NoFact => "something is used that is no fact",
            Flaw::Alternatives => "the cases are not those of the fact",
            Flaw::NoSuchLine => "a line uses one that is not before it",
            Flaw::NotAboutInts => "a line is rounded that is not about ints",
            Flaw::NoComparison => "a fact is no comparison of numbers",
            Flaw::Factor => "an inequality has a negative factor",
            Flaw::NotWrong => "the last line is no contradiction",
        })
    }
}

impl std::error::Error for Flaw {}

/// Checks that the proof shows that the formula has no solution.
///
/// Soundness: if the formula is true for some values of the free symbols, then so are all facts of
/// some leaf of the proof; but the facts of each leaf are contradictory.
pub fn verify(pool: &Pool, formula: TermId, proof: &Proof) -> Result<(), Flaw> {
    has_sort(pool, formula, Sort::Bool)?;
    let mut facts = Facts::new(pool);
    facts.assume(Fact::Holds(formula));
    case(&mut facts, proof, 0)
}

fn has_sort(pool: &Pool, t: TermId, sort: Sort) -> Result<(), Flaw> {
    if t.index() < pool.len() && pool.sort(t) == sort { Ok(()) } else { Err(Flaw::NoSuchTerm) }
}

/// Checks that the facts are contradictory. The recursion is bounded by [`DEEPEST`].
fn case(facts: &mut Facts<'_>, proof: &Proof, depth: usize) -> Result<(), Flaw> {
    if depth > DEEPEST {
        return Err(Flaw::TooDeep);
    }
    match proof {
        Proof::Clash => {
            if facts.clash {
                Ok(())
            } else {
                Err(Flaw::NoClash)
            }
        }
        Proof::Lines(lines) => check_lines(facts, lines),
        Proof::Cases { of, proofs } => {
            if !facts.contains(of) {
                return Err(Flaw::NoFact);
            }
            let alternatives = facts.alternatives(of).ok_or(Flaw::Alternatives)?;
            if alternatives.len() != proofs.len() {
                return Err(Flaw::Alternatives);
            }
            for (alternative, proof) in alternatives.into_iter().zip(proofs) {
                assuming(facts, alternative, proof, depth)?;
            }
            Ok(())
        }
        Proof::Cut { on, proofs } => {
            has_sort(facts.pool, *on, Sort::Bool)?;
            assuming(facts, vec![Fact::Holds(*on)], &proofs[0], depth)?;
            assuming(facts, vec![Fact::Fails(*on)], &proofs[1], depth)
        }
        Proof::Branch { on, at, proofs } => {
            has_sort(facts.pool, *on, Sort::Int)?;
            assuming(facts, vec![Fact::AtMost(*on, at.clone())], &proofs[0], depth)?;
            assuming(facts, vec![Fact::AtLeast(*on, at + IBig::ONE)], &proofs[1], depth)
        }
    }
}

/// Checks that the facts together with these are contradictory.
fn assuming(
    facts: &mut Facts<'_>,
    more: Vec<Fact>,
    proof: &Proof,
    depth: usize,
) -> Result<(), Flaw> {
    let mark = facts.mark();
    for fact in more {
        facts.assume(fact);
    }
    let result = case(facts, proof, depth + 1);
    facts.undo(mark);
    result
}

/// Checks that the last line follows from the facts and is false.
fn check_lines(facts: &Facts<'_>, lines: &[Line]) -> Result<(), Flaw> {
    let mut rows: Vec<Row> = Vec::with_capacity(lines.len());
    for line in lines {
        rows.push(match line {
            Line::Of(fact) if !facts.contains(fact) => return Err(Flaw::NoFact),
            Line::Of(fact) => row_of(facts, fact).ok_or(Flaw::NoComparison)?,
            Line::Rounded(at) => {
                let row = rows.get(*at).ok_or(Flaw::NoSuchLine)?;
                row.rounded(facts.pool).ok_or(Flaw::NotAboutInts)?
            }
            Line::Sum(parts) => {
                if parts.iter().any(|(at, _)| *at >= rows.len()) {
                    return Err(Flaw::NoSuchLine);
                }
                Row::sum(parts.iter().map(|(at, factor)| (&rows[*at], factor)))
                    .ok_or(Flaw::Factor)?
            }
        });
    }
    if rows.last().is_some_and(Row::is_wrong) { Ok(()) } else { Err(Flaw::NotWrong) }
}
