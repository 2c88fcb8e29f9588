//! Separate systems for nodes with contracts, for modular analysis.
//!
//! In the system of a node, a call is either inlined or *abstracted*: the outputs are arbitrary,
//! but satisfy the guarantees and the declared ranges as long as the assumptions and the ranges of
//! the inputs have held so far. docs/semantics.md, section 5, kind 9, defines what may be
//! concluded.
//!
//! Soundness: if the abstracted nodes satisfy their guarantees, every run of a node with all calls
//! inlined is a run of the system with some calls abstracted. The instants at which an instance is
//! active since its last restart form a run of its node alone, and there the guarantees hold as
//! long as the assumptions do.

use gander_system::System;
use rustc_hash::FxHashSet;

use super::ast::{File, Node};
use super::elaborate::{Globals, Names, Report, module};

/// The origin of a claim in a node's system.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ClaimRole {
    /// A guarantee of an instance's contract, or an `ensure` of one of its modes.
    Guarantee,
    /// An assumption of an instance's contract, claimed by its caller.
    Assumption,
    /// The declared range of an input of an instance, claimed by its caller.
    InputRange,
    /// The declared range of an output.
    OutputRange,
    /// The modes of the contract of the root cover all cases.
    Modes,
    /// Another claim inside an instance: a property, or the range of a local variable.
    Inner,
}

impl ClaimRole {
    /// True if the caller claims it.
    pub fn is_of_caller(self) -> bool {
        matches!(self, ClaimRole::Assumption | ClaimRole::InputRange)
    }

    /// True if abstraction by the contract relies on it.
    pub fn is_promise(self) -> bool {
        matches!(self, ClaimRole::Guarantee | ClaimRole::OutputRange)
    }
}

/// Identifies a claim independently of where its instance is called: the same claim of the same
/// node has the same role and number, and its path has the same suffix.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClaimSource {
    /// The path of the instance below the root, as in `.sub#1.ctl#2`; empty for the root.
    pub instance: String,
    /// The role of the claim.
    pub role: ClaimRole,
    /// Its number among the claims of the instance with the same role.
    pub number: u32,
}

/// The system of one node.
#[derive(Debug)]
pub struct Module {
    /// The system.
    pub system: System,
    /// By claim: its source; `None` for claims that are not written in the program.
    pub sources: Vec<Option<ClaimSource>>,
    /// Instances in the system, including abstracted ones: path below the root, and node.
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

/// A node or function of a Lustre file, with its calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallGraphNode {
    /// Its name.
    pub name: String,
    /// It has no body.
    pub imported: bool,
    /// It becomes a system of the file.
    pub root: bool,
    /// It has a contract.
    pub contract: bool,
    /// Positions of the nodes that it calls, each with the number of calls in the text.
    pub calls: Vec<(usize, usize)>,
}

impl Modules {
    pub(super) fn new(file: File, text: &str) -> Modules {
        Modules { file, text: text.to_string() }
    }

    fn globals(&self) -> Globals<'_> {
        // The file was elaborated before, so there is nothing to report.
        Globals::new(&self.file, &self.text, &mut Report::default())
    }

    /// The nodes that become the systems of the file.
    pub fn roots(&self) -> Vec<String> {
        let globals = self.globals();
        globals
            .roots()
            .into_iter()
            .map(|n| self.file.text(globals.nodes[n].name.word).to_string())
            .collect()
    }

    /// The nodes and functions of the file in its order, with the number of calls of others in the
    /// text of each.
    pub fn call_graph(&self) -> Vec<CallGraphNode> {
        let globals = self.globals();
        let roots = globals.roots();
        let name = |n: usize| self.file.text(globals.nodes[n].name.word).to_string();
        let node = |n: usize| {
            let mut calls: Vec<(usize, usize)> = Vec::new();
            for site in &globals.calls[n] {
                match calls.iter_mut().find(|(callee, _)| *callee == site.callee) {
                    Some((_, count)) => *count += 1,
                    None => calls.push((site.callee, 1)),
                }
            }
            CallGraphNode {
                name: name(n),
                imported: globals.nodes[n].imported,
                root: roots.contains(&n),
                contract: globals.nodes[n].contract.is_some(),
                calls,
            }
        };
        (0..globals.nodes.len()).map(node).collect()
    }

    /// The nodes with a body and a contract that `root` calls, directly or indirectly, and that can
    /// be abstracted; callees first.
    ///
    /// Nodes with type or constant parameters, or with sampled inputs or outputs, are excluded:
    /// their systems depend on the call.
    pub fn candidates(&self, root: &str) -> Vec<String> {
        let globals = self.globals();
        let name = |n: usize| self.file.text(globals.nodes[n].name.word);
        let Some(root) = (0..globals.nodes.len()).find(|&n| name(n) == root) else {
            return Vec::new();
        };
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

    /// The imported nodes and functions with a contract that `root` calls, directly or indirectly,
    /// each with its place. Those whose systems depend on the call are left out.
    pub fn imported(&self, root: &str) -> Vec<(String, crate::Span)> {
        let globals = self.globals();
        let name = |n: usize| self.file.text(globals.nodes[n].name.word);
        let Some(root) = (0..globals.nodes.len()).find(|&n| name(n) == root) else {
            return Vec::new();
        };
        let reached = globals.reached(&[root]);
        let imported = (0..globals.nodes.len()).filter(|&n| {
            reached[n] && globals.nodes[n].imported && is_independent(globals.nodes[n])
        });
        imported.map(|n| (name(n).to_string(), globals.nodes[n].name.span)).collect()
    }

    /// The system of a node in which calls of the nodes in `abstracted` are abstracted. `None` if
    /// there is no such node, if one of `abstracted` cannot be abstracted, or if the node cannot be
    /// elaborated alone. Deterministic: equal arguments give equal systems.
    pub fn system(&self, node: &str, abstracted: &[String]) -> Option<Module> {
        let globals = self.globals();
        let number = |name: &str| {
            (0..globals.nodes.len()).find(|&n| self.file.text(globals.nodes[n].name.word) == name)
        };
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
        let names =
            if roots.len() > 1 && roots.contains(&node) { Names::Qualified } else { Names::Plain };
        module(&globals, node, names, &words)
    }
}

fn can_be_abstracted(node: &Node) -> bool {
    !node.imported && is_independent(node)
}

/// True if the node has a contract, and its system does not depend on the call.
fn is_independent(node: &Node) -> bool {
    node.contract.is_some()
        && node.type_params.is_empty()
        && node.inputs.iter().all(|i| !i.constant && i.clock.is_none())
        && node.outputs.iter().all(|o| o.clock.is_none())
}
