//! The independent checker of evidence of the gander model checker.
