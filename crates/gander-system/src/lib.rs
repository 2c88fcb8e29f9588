//! Symbolic transition systems, claims, evidence and verdicts for the gander model checker.
