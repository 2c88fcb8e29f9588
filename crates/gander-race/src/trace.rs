//! A trace as a tool gives it: values of some variables, moment by moment.

use gander_export::{NameMap, Place};
use gander_system::{NodeId, System, TransitionId, VarId};
use gander_term::{Sort, Value};
use rustc_hash::FxHashMap;

/// What a tool tells about a state, and about the step to it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// The node, if told.
    pub node: Option<NodeId>,
    /// Values of variables.
    pub values: FxHashMap<VarId, Value>,
    /// Values of parameters of the step that leads to it.
    pub params: FxHashMap<(TransitionId, usize), Value>,
}

/// A trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The moments.
    pub moments: Vec<Moment>,
    /// The last moment is the one with this number again: the trace goes on for ever.
    pub back_to: Option<usize>,
}

/// The sort of what a name stands for; none for the node, whose value is a number or a name.
pub(crate) fn sort_of(system: &System, place: Place) -> Sort {
    match place {
        Place::Var(v) => system.var(v).sort,
        Place::Node => system.pool.symbol(system.location).sort,
        Place::Param { transition, index } => system.transition(transition).params[index].sort,
    }
}

impl Moment {
    /// Notes a value; false if it is none of what the place can have.
    pub(crate) fn put(&mut self, system: &System, place: Place, value: Value) -> bool {
        match (place, value) {
            (Place::Var(v), value) => {
                self.values.insert(v, value);
            }
            (Place::Param { transition, index }, value) => {
                self.params.insert((transition, index), value);
            }
            (Place::Node, Value::Enum(_, n)) if (n as usize) < system.nodes.len() => self.node = Some(NodeId(n)),
            (Place::Node, _) => return false,
        }
        true
    }

    /// Notes a value under its name in the text, read by `read`; false if the name stands for nothing, none if the value
    /// cannot be read.
    pub(crate) fn put_named(
        &mut self,
        system: &System,
        names: &NameMap,
        name: &str,
        read: impl FnOnce(Sort) -> Option<Value>,
    ) -> Option<bool> {
        let Some(place) = names.place(name) else { return Some(false) };
        let value = read(sort_of(system, place))?;
        self.put(system, place, value).then_some(true)
    }
}
