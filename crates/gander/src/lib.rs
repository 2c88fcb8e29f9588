//! gander: a model checker for symbolic transition systems. Prove it, break it, see why.
