//! The system of one node, with some of the nodes that it calls represented by their contracts.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lustre::ast::Word;
use crate::lustre::elaborate::globals::Globals;
use crate::lustre::elaborate::nodes::instances::Body;
use crate::lustre::elaborate::report::Report;
use crate::lustre::modules::{ClaimRole, ClaimSource, Module};

/// Whether names of claims start with the name of the root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre) enum Names {
    Plain,
    Qualified,
}

/// The system of a node; `None` if elaborating it alone gives errors.
pub(in crate::lustre) fn module(
    globals: &Globals<'_>,
    node: usize,
    names: Names,
    abstracted: &FxHashSet<Word>,
) -> Option<Module> {
    let mut report = Report::default();
    let model = crate::lustre::elaborate::model(
        globals,
        node,
        names == Names::Qualified,
        abstracted.clone(),
        &mut report,
    )?;
    let below = globals.file.text(globals.nodes[node].name.word);
    // Paths of instances start with the name of the root.
    let path_of =
        |i: usize| model.instances[i].path.strip_prefix(below).unwrap_or_default().to_string();
    let mut numbers: FxHashMap<(usize, ClaimRole), u32> = FxHashMap::default();
    let mut sources = FxHashMap::default();
    for o in &model.obligations {
        let number = numbers.entry((o.instance, o.role)).or_default();
        let source = ClaimSource { instance: path_of(o.instance), role: o.role, number: *number };
        *number += 1;
        sources.insert(o.formula.name.clone(), source);
    }
    let mut instances = Vec::new();
    let mut abstract_nodes: Vec<String> = Vec::new();
    for (i, instance) in model.instances.iter().enumerate() {
        let Body::Node(of) = instance.body else { continue };
        let name = globals.file.text(of.name.word).to_string();
        if model.is_abstract(i) && !abstract_nodes.contains(&name) {
            abstract_nodes.push(name.clone());
        }
        instances.push((path_of(i), name));
    }
    let system = model.finish()?;
    let sources = system.claims().iter().map(|c| sources.get(&c.name).cloned()).collect();
    (!report.has_errors()).then_some(Module {
        system,
        sources,
        instances,
        abstracted: abstract_nodes,
    })
}
