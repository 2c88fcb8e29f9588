//! The engines of the gander model checker, the facts board and the director.
