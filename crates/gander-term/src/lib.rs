//! Sorts, exact values and interned typed terms for the gander model checker.
