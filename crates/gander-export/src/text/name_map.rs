//! Maps names in a text back to the system: variables, parameters, claims and enumeration values.

use gander_system::{ClaimId, TransitionId, VarId};
use gander_term::EnumId;
use rustc_hash::FxHashMap;

/// What a name in a text refers to.
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

/// A claim in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenClaim {
    /// Its name in the text.
    pub name: String,
    /// The claim.
    pub claim: ClaimId,
    /// True if the negation is written: the claim holds if the property in the text is violated.
    pub opposite: bool,
    /// True if the claim is about runs, not about states.
    pub temporal: bool,
}

/// The names of a text.
#[derive(Clone, Debug, Default)]
pub struct NameMap {
    /// Variables in order, then parameters.
    pub(crate) places: Vec<(String, Place)>,
    pub(crate) claims: Vec<WrittenClaim>,
    pub(crate) values: FxHashMap<String, (EnumId, u32)>,
}

impl NameMap {
    /// Variables in the order of the text, then parameters.
    pub fn places(&self) -> &[(String, Place)] {
        &self.places
    }

    /// What a name of a variable or parameter refers to.
    pub fn place(&self, name: &str) -> Option<Place> {
        self.places.iter().find(|(n, _)| n == name).map(|(_, place)| *place)
    }

    /// The claims, in the order of the text.
    pub fn claims(&self) -> &[WrittenClaim] {
        &self.claims
    }

    /// The claim with a name.
    pub fn claim(&self, name: &str) -> Option<&WrittenClaim> {
        self.claims.iter().find(|c| c.name == name)
    }

    /// The enumeration value with a name, in languages that name such values.
    pub fn value(&self, name: &str) -> Option<(EnumId, u32)> {
        self.values.get(name).copied()
    }
}
