//! Nodes with contracts as systems of their own, for an analysis node by node.
//!
//! In the system of a node, calls of other nodes are either replaced by the body of what they call, or *abstracted*: the
//! outputs are arbitrary, but satisfy the guarantees and the declared ranges as long as the assumptions and the ranges of
//! the inputs have been kept so far. docs/semantics.md, section 5, kind 9, says what may be concluded.
//!
//! Every run of a node with all calls replaced is a run of the system in which some are abstracted, if what these nodes
//! guarantee is true of them: an instance of a node inside of another one, looked at where it is active and since it was
//! last restarted, makes a run of the node alone, and there the guarantees hold while the assumptions do.

use gander_system::System;
use rustc_hash::FxHashSet;

use super::ast::{File, Node};
use super::elaborate::{Globals, Names, Report, module};

/// What a claim of a node's system is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ClaimRole {
    /// A guarantee of the contract of an instance, or what one of its modes ensures.
    Guarantee,
    /// An assumption of the contract of an instance, claimed by its caller.
    Assumption,
    /// The declared range of an input of an instance, claimed by its caller.
    InputRange,
    /// The declared range of an output.
    OutputRange,
    /// The modes of the contract of the root cover all cases.
    Modes,
    /// Another claim inside of an instance: a property, the range of a local variable.
    Inner,
}

impl ClaimRole {
    /// True if it is the caller who claims it.
    pub fn is_of_caller(self) -> bool {
        matches!(self, ClaimRole::Assumption | ClaimRole::InputRange)
    }

    /// True if abstraction by the contract uses it.
    pub fn is_promise(self) -> bool {
        matches!(self, ClaimRole::Guarantee | ClaimRole::OutputRange)
    }
}

/// Which claim it is, in a way that does not depend on where its instance is called: the same claim of the same node has the
/// same role and number, and its path ends in the same way.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClaimSource {
    /// The path of the instance below the root, as in `.sub#1.ctl#2`; empty for the root.
    pub instance: String,
    /// What it is for.
    pub role: ClaimRole,
    /// Its number among the claims of the instance with the same role.
    pub number: u32,
}

/// The system of one node.
#[derive(Debug)]
pub struct Module {
    /// The system.
    pub system: System,
    /// By claim: which one it is; none for claims that are not the program's.
    pub sources: Vec<Option<ClaimSource>>,
    /// Instances in the system, abstracted ones as well: path below the root, and node.
    pub instances: Vec<(String, String)>,
    /// The nodes that are abstracted somewhere in the system, in the order of their first call.
    pub abstracted: Vec<String>,
}

/// The nodes of a file without errors.
#[derive(Debug)]
pub struct Modules {
    file: File,
    text: String,
}

impl Modules {
    pub(super) fn new(file: File, text: &str) -> Modules {
        Modules { file, text: text.to_string() }
    }

    fn globals(&self) -> Globals<'_> {
        // The file has been looked at before: there is nothing to report.
        Globals::new(&self.file, &self.text, &mut Report::default())
    }

    /// The nodes whose systems are those of the file.
    pub fn roots(&self) -> Vec<String> {
        let globals = self.globals();
        globals.roots().into_iter().map(|n| self.file.text(globals.nodes[n].name.word).to_string()).collect()
    }

    /// The nodes with a body and a contract that `root` calls, directly or not, and that can be abstracted; callees first.
    ///
    /// Nodes with type or constant parameters and with sampled inputs or outputs are left out: their systems depend on
    /// where they are called.
    pub fn candidates(&self, root: &str) -> Vec<String> {
        let globals = self.globals();
        let name = |n: usize| self.file.text(globals.nodes[n].name.word);
        let Some(root) = (0..globals.nodes.len()).find(|&n| name(n) == root) else { return Vec::new() };
        let mut seen = vec![false; globals.nodes.len()];
        let mut order = Vec::new();
        let mut stack = vec![(root, 0)];
        seen[root] = true;
        while let Some((n, next)) = stack.last_mut() {
            match globals.calls[*n].get(*next) {
                Some(site) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[site.callee], true) {
                        stack.push((site.callee, 0));
                    }
                }
                None => {
                    order.push(*n);
                    stack.pop();
                }
            }
        }
        order
            .into_iter()
            .filter(|&n| n != root && can_be_abstracted(globals.nodes[n]))
            .map(|n| name(n).to_string())
            .collect()
    }

    /// The system of a node, in which calls of the nodes in `abstracted` are abstracted. None if there is no such node,
    /// if one of `abstracted` cannot be abstracted, or if the node cannot be looked at alone. The same arguments give the
    /// same system.
    pub fn system(&self, node: &str, abstracted: &[String]) -> Option<Module> {
        let globals = self.globals();
        let number =
            |name: &str| (0..globals.nodes.len()).find(|&n| self.file.text(globals.nodes[n].name.word) == name);
        let mut words = FxHashSet::default();
        for name in abstracted {
            let node = globals.nodes[number(name)?];
            if !can_be_abstracted(node) {
                return None;
            }
            words.insert(node.name.word);
        }
        let node = number(node)?;
        let roots = globals.roots();
        let names = if roots.len() > 1 && roots.contains(&node) { Names::Qualified } else { Names::Plain };
        module(&globals, node, names, &words)
    }
}

fn can_be_abstracted(node: &Node) -> bool {
    node.contract.is_some()
        && !node.imported
        && node.type_params.is_empty()
        && node.inputs.iter().all(|i| !i.constant && i.clock.is_none())
        && node.outputs.iter().all(|o| o.clock.is_none())
}
