//! Terms with their scope in their type.
//!
//! | type | may mention |
//! |---|---|
//! | [`StateTerm`] | state variables and the location `@node` |
//! | [`ChoiceTerm`] | state variables and the parameters of one transition |
//! | [`StepTerm`] | state variables, primed state variables, the parameters of one transition |
//!
//! Only this crate makes them; [`crate::SystemBuilder`] checks the scope. So a formula over two
//! states cannot be used where one over a single state is required.

use gander_term::TermId;

macro_rules! scoped {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub(crate) TermId);

        impl $name {
            /// The plain term.
            pub fn term(self) -> TermId {
                self.0
            }
        }
    };
}

scoped! {
    /// A term over one state.
    StateTerm
}
scoped! {
    /// A term over one state and the parameters of a transition.
    ChoiceTerm
}
scoped! {
    /// A term over a state, the next state and the parameters of a transition.
    StepTerm
}

impl From<StateTerm> for ChoiceTerm {
    fn from(t: StateTerm) -> ChoiceTerm {
        ChoiceTerm(t.0)
    }
}

impl From<ChoiceTerm> for StepTerm {
    fn from(t: ChoiceTerm) -> StepTerm {
        StepTerm(t.0)
    }
}
