//! A trace of a tool, mapped to the variables of the system: values of some variables in each
//! state.

use gander_export::{NameMap, Place};
use gander_system::{NodeId, System, TransitionId, VarId};
use gander_term::{Sort, Value};
use rustc_hash::FxHashMap;

/// The known values of a state, and of the step to it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// The node, if known.
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
    /// The trace is infinite: the last moment equals the one with this number.
    pub back_to: Option<usize>,
}

/// The sort of a place. That of the node is the enumeration of nodes.
pub(crate) fn sort_of(system: &System, place: Place) -> Sort {
    match place {
        Place::Var(v) => system.var(v).sort,
        Place::Node => system.pool().symbol(system.location()).sort,
        Place::Param { transition, index } => system.transition(transition).params[index].sort,
    }
}

impl Moment {
    /// Sets a value; false if the place cannot have it.
    pub(crate) fn put(&mut self, system: &System, place: Place, value: Value) -> bool {
        match (place, value) {
            (Place::Var(v), value) => {
                self.values.insert(v, value);
            }
            (Place::Param { transition, index }, value) => {
                self.params.insert((transition, index), value);
            }
            (Place::Node, Value::Enum(_, n)) if (n as usize) < system.nodes().len() => {
                self.node = Some(NodeId(n))
            }
            (Place::Node, _) => return false,
        }
        true
    }

    /// Sets a value by its name in the exported text; `read` parses it. False if the name is
    /// unknown, `None` if the value cannot be parsed.
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
