//! SMT-LIB 2 solver sessions over child processes for the gander model checker.
