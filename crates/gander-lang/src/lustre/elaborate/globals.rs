//! The declarations of a file, its call graph, and its root nodes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::Conditionals;
use super::super::ast::*;
use super::report::Report;
use super::walk;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::{Code, Span};

/// A call in a node, a contract or the contract of a node.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct CallSite {
    pub(in super::super) callee: usize,
    pub(super) span: Span,
}

/// A declared type.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeDecl<'a> {
    pub(super) name: Name,
    pub(super) params: &'a [Name],
    pub(super) definition: Option<TypeId>,
}

/// The declarations of a file.
#[derive(Debug)]
pub(in super::super) struct Globals<'a> {
    pub(super) file: &'a File,
    pub(super) text: &'a str,
    /// The offset of the first byte of each line.
    pub(super) lines: Vec<u32>,
    pub(super) types: FxHashMap<Word, TypeDecl<'a>>,
    pub(super) consts: Vec<&'a Const>,
    pub(super) const_of: FxHashMap<Word, usize>,
    pub(in super::super) nodes: Vec<&'a Node>,
    pub(super) node_of: FxHashMap<Word, usize>,
    pub(super) contracts: Vec<&'a ContractDecl>,
    pub(super) contract_of: FxHashMap<Word, usize>,
    /// By call: its number among the calls of the same node in the same declaration, from 1, in
    /// text order.
    pub(super) ordinals: FxHashMap<ExprId, u32>,
    /// By expression: true for an unguarded `pre` or `last`, whose first value can be read.
    pub(super) unguarded: Vec<bool>,
    /// By node: its calls.
    pub(in super::super) calls: Vec<Vec<CallSite>>,
    /// By node: the place of an unguarded `pre` in the node or in a node that it calls.
    pub(super) open_pre: Vec<Option<Span>>,
    /// How conditional expressions become terms.
    pub(super) conditionals: Conditionals,
}

impl<'a> Globals<'a> {
    pub(in super::super) fn new(file: &'a File, text: &'a str, report: &mut Report) -> Globals<'a> {
        let mut globals = Globals {
            file,
            text,
            lines: std::iter::once(0)
                .chain(
                    text.bytes()
                        .enumerate()
                        .filter(|(_, b)| *b == b'\n')
                        .map(|(i, _)| i as u32 + 1),
                )
                .collect(),
            types: FxHashMap::default(),
            consts: Vec::new(),
            const_of: FxHashMap::default(),
            nodes: Vec::new(),
            node_of: FxHashMap::default(),
            contracts: Vec::new(),
            contract_of: FxHashMap::default(),
            ordinals: FxHashMap::default(),
            unguarded: unguarded(file),
            calls: Vec::new(),
            open_pre: Vec::new(),
            conditionals: Conditionals::default(),
        };
        globals.declare(report);
        globals.variants(report);
        globals.collect_calls();
        globals.open_pres();
        globals
    }

    fn declare(&mut self, report: &mut Report) {
        let file = self.file;
        let twice = |report: &mut Report, what: &str, name: Name, other: Option<Span>| {
            let text = file.text(name.word);
            let diagnostic = Diagnostic::new(
                Code::E1301,
                name.span,
                format!("{what} `{text}` is declared twice"),
            );
            report.add(match other {
                Some(other) => diagnostic.label(other, "first declared here"),
                None => diagnostic,
            });
        };
        for item in &file.items {
            match item {
                Item::Type { name, type_params, definition } => {
                    if let Some(other) = self.types.get(&name.word) {
                        twice(report, "the type", *name, Some(other.name.span));
                    } else {
                        let decl =
                            TypeDecl { name: *name, params: type_params, definition: *definition };
                        self.types.insert(name.word, decl);
                    }
                }
                Item::Const(c) => {
                    if let Some(&other) = self.const_of.get(&c.name.word) {
                        twice(report, "the constant", c.name, Some(self.consts[other].name.span));
                    } else {
                        self.const_of.insert(c.name.word, self.consts.len());
                        self.consts.push(c);
                    }
                }
                Item::Node(node) => {
                    if let Some(&other) = self.node_of.get(&node.name.word) {
                        twice(report, "the node", node.name, Some(self.nodes[other].name.span));
                    } else {
                        self.node_of.insert(node.name.word, self.nodes.len());
                        self.nodes.push(node);
                    }
                }
                Item::Contract(contract) => {
                    if let Some(&other) = self.contract_of.get(&contract.name.word) {
                        twice(
                            report,
                            "the contract",
                            contract.name,
                            Some(self.contracts[other].name.span),
                        );
                    } else {
                        self.contract_of.insert(contract.name.word, self.contracts.len());
                        self.contracts.push(contract);
                    }
                }
            }
        }
    }

    /// Reports a variant that two enumerations share, or that is also a constant.
    fn variants(&self, report: &mut Report) {
        let mut seen: FxHashMap<Word, Span> = FxHashMap::default();
        for ty in &self.file.types {
            let variants: Vec<Name> = match &ty.kind {
                TypeKind::Enum(variants) => variants.clone(),
                TypeKind::Data(constructors) => constructors.iter().map(|(c, _)| *c).collect(),
                _ => continue,
            };
            let calls = matches!(ty.kind, TypeKind::Data(_));
            for v in variants {
                let other = seen.insert(v.word, v.span);
                let other =
                    other.or_else(|| self.const_of.get(&v.word).map(|&c| self.consts[c].name.span));
                let node =
                    self.node_of.get(&v.word).filter(|_| calls).map(|&n| self.nodes[n].name.span);
                let other = other.or(node);
                if let Some(other) = other {
                    let text = self.file.text(v.word);
                    report.add(
                        Diagnostic::new(
                            Code::E1301,
                            v.span,
                            format!("the value `{text}` is declared twice"),
                        )
                        .label(other, "first declared here"),
                    );
                }
            }
        }
    }

    fn collect_calls(&mut self) {
        let file = self.file;
        for node in self.nodes.clone() {
            let mut roots = Vec::new();
            walk::in_node(file, node, &mut roots);
            if let Some(contract) = &node.contract {
                walk::in_contract(file, contract, &mut roots);
                let mut imported = Vec::new();
                self.imports(contract, &mut imported);
                for c in imported {
                    walk::in_contract_declaration(file, self.contracts[c], &mut roots);
                }
            }
            let sites = self.calls_below(&roots);
            self.calls.push(sites);
        }
        for contract in self.contracts.clone() {
            let mut roots = Vec::new();
            walk::in_contract_declaration(file, contract, &mut roots);
            self.calls_below(&roots);
        }
    }

    /// Collects the contracts that a contract imports, directly or indirectly.
    pub(super) fn imports(&self, contract: &Contract, out: &mut Vec<usize>) {
        let mut seen = FxHashSet::default();
        let mut stack = vec![contract];
        while let Some(contract) = stack.pop() {
            for item in &contract.items {
                if let ContractItem::Import { contract, .. } = item
                    && let Some(&c) = self.contract_of.get(&contract.word)
                    && seen.insert(c)
                {
                    out.push(c);
                    stack.push(&self.contracts[c].contract);
                }
            }
        }
    }

    fn calls_below(&mut self, roots: &[ExprId]) -> Vec<CallSite> {
        let file = self.file;
        let mut found: Vec<(Span, Word, ExprId)> = Vec::new();
        walk::below(file, roots, |id| {
            if let ExprKind::Call(call) = &file.expr(id).kind {
                found.push((call.callee.span, call.callee.word, id));
            }
        });
        found.sort();
        let mut counts: FxHashMap<Word, u32> = FxHashMap::default();
        let mut sites = Vec::new();
        for (span, word, id) in found {
            let count = counts.entry(word).or_default();
            *count += 1;
            self.ordinals.entry(id).or_insert(*count);
            if let Some(&callee) = self.node_of.get(&word) {
                sites.push(CallSite { callee, span });
            }
        }
        sites
    }

    fn open_pres(&mut self) {
        let file = self.file;
        self.open_pre = self
            .nodes
            .iter()
            .map(|node| {
                let mut roots = Vec::new();
                walk::in_node(file, node, &mut roots);
                let mut open = None;
                walk::below(file, &roots, |id| {
                    if self.unguarded[id.0 as usize] && open.is_none() {
                        open = Some(file.expr(id).span);
                    }
                });
                open
            })
            .collect();
        // A caller of a node with an unguarded `pre` has one too: propagate along reversed calls.
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (caller, sites) in self.calls.iter().enumerate() {
            for site in sites {
                callers[site.callee].push(caller);
            }
        }
        let mut stack: Vec<usize> =
            (0..self.nodes.len()).filter(|&n| self.open_pre[n].is_some()).collect();
        while let Some(n) = stack.pop() {
            for &caller in &callers[n] {
                if self.open_pre[caller].is_none() {
                    self.open_pre[caller] = self.open_pre[n];
                    stack.push(caller);
                }
            }
        }
    }

    /// Reports a cycle of calls.
    pub(super) fn check_recursion(&self, report: &mut Report) {
        #[derive(Clone, Copy, PartialEq)]
        enum Colour {
            New,
            Open,
            Done,
        }
        let mut colour = vec![Colour::New; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if colour[start] != Colour::New {
                continue;
            }
            let mut path: Vec<(usize, usize)> = vec![(start, 0)];
            colour[start] = Colour::Open;
            while let Some((node, next)) = path.last_mut() {
                let Some(site) = self.calls[*node].get(*next).copied() else {
                    colour[*node] = Colour::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                match colour[site.callee] {
                    Colour::New => {
                        colour[site.callee] = Colour::Open;
                        path.push((site.callee, 0));
                    }
                    Colour::Open => {
                        let from = path.iter().position(|&(n, _)| n == site.callee).unwrap_or(0);
                        let mut cycle: Vec<&str> = path[from..]
                            .iter()
                            .map(|&(n, _)| self.file.text(self.nodes[n].name.word))
                            .collect();
                        cycle.push(self.file.text(self.nodes[site.callee].name.word));
                        let callee = self.nodes[site.callee];
                        let (what, note, help) = match callee.kind {
                            NodeKind::Node => (
                                "recursive call",
                                "calls are replaced by the body of what they call, so a call cycle has no meaning",
                                "to go on from one instant to the next, use `pre`",
                            ),
                            NodeKind::Function => (
                                "recursive functions are not supported",
                                "calls are replaced by the body of what they call; `rec` and `decreases` are read, nothing more",
                                "recursion on a number up to a bound n can be an array: `a[i] = if i = 0 then … else … a[i - 1] …`",
                            ),
                        };
                        report.add(
                            Diagnostic::new(
                                Code::E1305,
                                site.span,
                                format!("{what}: {}", cycle.join(" -> ")),
                            )
                            .label(callee.name.span, "the cycle begins here")
                            .note(note)
                            .help(help),
                        );
                    }
                    Colour::Done => {}
                }
            }
        }
    }

    /// The root nodes: the one that the user chose; or else those marked as main, or else those
    /// that no node calls.
    pub(in super::super) fn roots(&self) -> Vec<usize> {
        if let Some(chosen) = self.file.main {
            let root = (0..self.nodes.len()).find(|&n| self.nodes[n].name.word == chosen);
            return root.into_iter().collect();
        }
        let is_main = |node: &Node| node.body.iter().any(|s| matches!(s, Statement::Main(_)));
        let main: Vec<usize> = (0..self.nodes.len()).filter(|&n| is_main(self.nodes[n])).collect();
        if !main.is_empty() {
            return main;
        }
        let mut called = vec![false; self.nodes.len()];
        for (caller, sites) in self.calls.iter().enumerate() {
            for site in sites {
                called[site.callee] |= site.callee != caller;
            }
        }
        let free: Vec<usize> =
            (0..self.nodes.len()).filter(|&n| !called[n] && !self.nodes[n].imported).collect();
        if free.is_empty() {
            (0..self.nodes.len()).rev().find(|&n| !self.nodes[n].imported).into_iter().collect()
        } else {
            free
        }
    }

    /// The nodes reachable by calls from `roots`.
    pub(in crate::lustre) fn reached(&self, roots: &[usize]) -> Vec<bool> {
        let mut seen = vec![false; self.nodes.len()];
        let mut stack = roots.to_vec();
        while let Some(n) = stack.pop() {
            if !std::mem::replace(&mut seen[n], true) {
                stack.extend(self.calls[n].iter().map(|site| site.callee));
            }
        }
        seen
    }
}

/// By expression: true for a `pre` or `last` whose first value can be read, because it is not on
/// the right of an arrow. An arrow outside a `pre`, `fby` or call does not guard the operand or the
/// arguments inside.
fn unguarded(file: &File) -> Vec<bool> {
    let constructors: FxHashSet<Word> = file
        .types
        .iter()
        .filter_map(|ty| {
            if let TypeKind::Data(constructors) = &ty.kind { Some(constructors) } else { None }
        })
        .flat_map(|constructors| constructors.iter().map(|(c, _)| c.word))
        .collect();
    let mut guarded = vec![false; file.exprs.len()];
    let mut result = vec![false; file.exprs.len()];
    let mut below = Vec::new();
    for id in (0..file.exprs.len()).rev() {
        let here = guarded[id];
        let expr = ExprId(id as u32);
        match &file.exprs[id].kind {
            ExprKind::Binary(Binary::Arrow, a, b) => {
                guarded[a.0 as usize] = here;
                guarded[b.0 as usize] = true;
            }
            ExprKind::Binary(Binary::Fby, a, _) => guarded[a.0 as usize] = here,
            ExprKind::Unary(Unary::Pre, _) => result[id] = !here,
            ExprKind::Last(_) => result[id] = !here,
            ExprKind::Call(call) if !constructors.contains(&call.callee.word) => {}
            _ => {
                below.clear();
                super::walk::children(file, expr, &mut below);
                for child in &below {
                    guarded[child.0 as usize] = here;
                }
            }
        }
    }
    result
}
