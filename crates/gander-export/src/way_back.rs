//! The map back from a text to its system: what names of variables, parameters, claims and values stand for.

use gander_system::{ClaimId, TransitionId, VarId};
use gander_term::EnumId;
use rustc_hash::FxHashMap;

/// What a name in a text stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A state variable or input of the system.
    Var(VarId),
    /// The node of the control graph.
    Node,
    /// A parameter of a transition.
    Param {
        /// The transition.
        transition: TransitionId,
        /// The position of the parameter.
        index: usize,
    },
}

/// A claim that is in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenClaim {
    /// Its name in the text.
    pub name: String,
    /// The claim.
    pub claim: ClaimId,
    /// What is written is the contrary: the claim holds if the property in the text is violated.
    pub opposite: bool,
    /// It speaks of whole runs, not of states.
    pub temporal: bool,
}

/// What the names of a text stand for.
#[derive(Clone, Debug, Default)]
pub struct NameMap {
    /// Variables in their order, then parameters.
    pub(crate) places: Vec<(String, Place)>,
    pub(crate) claims: Vec<WrittenClaim>,
    pub(crate) values: FxHashMap<String, (EnumId, u32)>,
}

impl NameMap {
    /// Variables in the order of the text, then parameters.
    pub fn places(&self) -> &[(String, Place)] {
        &self.places
    }

    /// What a name of a variable or parameter stands for.
    pub fn place(&self, name: &str) -> Option<Place> {
        self.places.iter().find(|(n, _)| n == name).map(|(_, place)| *place)
    }

    /// The claims, in the order of the text.
    pub fn claims(&self) -> &[WrittenClaim] {
        &self.claims
    }

    /// The claim of a name.
    pub fn claim(&self, name: &str) -> Option<&WrittenClaim> {
        self.claims.iter().find(|c| c.name == name)
    }

    /// The value of an enumeration that a name stands for, in languages that name them.
    pub fn value(&self, name: &str) -> Option<(EnumId, u32)> {
        self.values.get(name).copied()
    }
}
