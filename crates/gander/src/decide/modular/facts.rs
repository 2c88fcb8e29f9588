//! Proved claims of nodes, each for its node alone, and what they imply.
//!
//! A *fact* states that a claim holds in every run of the system of a node with all calls replaced
//! by bodies. It is proved in a system of the node with some calls abstracted. That system has at
//! least these runs (see [`gander_lang::lustre::Modules`]) if the promises of the abstracted nodes
//! are facts. A fact about a node carries over to its calls: the runs of an instance are runs of
//! the node, as long as the caller satisfies the assumptions of the node.

use std::sync::Arc;

use gander_certify::Basis;
use gander_lang::lustre::{ClaimRole, ClaimSource, Module, Modules};
use gander_system::{Claim, ClaimId, ClaimKind, Verdict};
use rustc_hash::FxHashMap;

/// The system of a node with some calls abstracted, to be shared.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) system: Arc<gander_system::System>,
    pub(super) sources: Vec<Option<ClaimSource>>,
    pub(super) instances: Vec<(String, String)>,
    pub(super) abstracted: Vec<String>,
    by_source: FxHashMap<ClaimSource, ClaimId>,
}

impl Part {
    fn new(module: Module) -> Part {
        let by_source = module
            .sources
            .iter()
            .enumerate()
            .filter_map(|(i, s)| s.clone().map(|s| (s, ClaimId::from(i))))
            .collect();
        let Module { system, sources, instances, abstracted } = module;
        Part { system: Arc::new(system), sources, instances, abstracted, by_source }
    }

    pub(super) fn claim(&self, source: &ClaimSource) -> Option<(ClaimId, &Claim)> {
        let &id = self.by_source.get(source)?;
        Some((id, &self.system.claims()[id.index()]))
    }

    /// The `always` claims with their sources.
    pub(super) fn always(&self) -> impl Iterator<Item = (ClaimId, &ClaimSource)> {
        self.sources.iter().enumerate().filter_map(|(i, source)| {
            let always = matches!(self.system.claims()[i].kind, ClaimKind::Always(_));
            source.as_ref().filter(|_| always).map(|s| (ClaimId::from(i), s))
        })
    }
}

/// A claim that holds for a node alone.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) node: String,
    pub(super) claim: ClaimId,
    /// The system in which it was proved.
    pub(super) part: Arc<Part>,
    pub(super) verdict: Verdict,
    pub(super) engine: String,
    /// What the verdict rests on.
    pub(super) basis: Basis,
}

/// Conclusions nest no deeper than this. Deeper calls are decided in the whole system.
const MAX_DEPTH: usize = 100;

type Key = (String, ClaimSource);

/// Facts and systems of nodes.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    modules: &'a Modules,
    parts: FxHashMap<(String, Vec<String>), Option<Arc<Part>>>,
    pub(super) list: Vec<Fact>,
    by_key: FxHashMap<Key, usize>,
    /// Cached conclusions from the facts so far.
    concluded: FxHashMap<Key, Option<Vec<usize>>>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(modules: &'a Modules) -> Facts<'a> {
        Facts {
            modules,
            parts: FxHashMap::default(),
            list: Vec::new(),
            by_key: FxHashMap::default(),
            concluded: FxHashMap::default(),
        }
    }

    /// The same systems without facts.
    pub(super) fn forget(&self) -> Facts<'a> {
        Facts { parts: self.parts.clone(), ..Facts::new(self.modules) }
    }

    /// The root nodes of the file.
    pub(super) fn roots(&self) -> Vec<String> {
        self.modules.roots()
    }

    /// The system of a node with some calls abstracted.
    pub(super) fn part(&mut self, node: &str, abstracted: &[String]) -> Option<Arc<Part>> {
        let mut names = abstracted.to_vec();
        names.sort();
        let key = (node.to_string(), names);
        if let Some(known) = self.parts.get(&key) {
            return known.clone();
        }
        let part = self.modules.system(node, abstracted).map(|m| Arc::new(Part::new(m)));
        self.parts.insert(key, part.clone());
        part
    }

    /// The system of a node with all calls replaced by bodies.
    pub(super) fn whole(&mut self, node: &str) -> Option<Arc<Part>> {
        self.part(node, &[])
    }

    /// The promises of a node that are not facts; none if it cannot be checked alone.
    pub(super) fn unproved_promises(&mut self, node: &str) -> Option<Vec<String>> {
        let whole = self.whole(node)?;
        let own = |s: &ClaimSource| s.instance.is_empty() && s.role.is_promise();
        let mut open = Vec::new();
        for (i, source) in whole.sources.iter().enumerate() {
            if let Some(source) = source.as_ref().filter(|s| own(s))
                && !self.by_key.contains_key(&(node.to_string(), source.clone()))
            {
                open.push(whole.system.claims()[i].name.clone());
            }
        }
        Some(open)
    }

    /// Records that a claim of a part holds. The caller guarantees that the evidence was checked
    /// and that the promises of the abstracted nodes are facts.
    pub(super) fn establish(&mut self, fact: Fact) -> Result<(), String> {
        let claim = &fact.part.system.claims()[fact.claim.index()];
        let Some(source) = fact.part.sources[fact.claim.index()].clone() else {
            return Err(format!("`{}` is not a claim of the program", claim.name));
        };
        let whole = self
            .whole(&fact.node)
            .ok_or_else(|| format!("`{}` cannot be looked at alone", fact.node))?;
        match whole.claim(&source) {
            Some((_, same)) if is_same(claim, same) => {}
            _ => return Err(format!("`{}` is no claim of `{}`", claim.name, fact.node)),
        }
        self.by_key.entry((fact.node.clone(), source)).or_insert(self.list.len());
        self.list.push(fact);
        self.concluded.clear();
        Ok(())
    }

    /// The facts that imply that a claim holds for a node alone; the first is about the claim
    /// itself.
    pub(super) fn implied_by(&mut self, node: &str, source: &ClaimSource) -> Option<Vec<usize>> {
        self.conclude(node, source, 0)
    }

    fn conclude(&mut self, node: &str, source: &ClaimSource, depth: usize) -> Option<Vec<usize>> {
        let key = (node.to_string(), source.clone());
        if let Some(&fact) = self.by_key.get(&key) {
            return Some(vec![fact]);
        }
        if source.instance.is_empty() || depth > MAX_DEPTH {
            return None;
        }
        if let Some(known) = self.concluded.get(&key) {
            return known.clone();
        }
        let whole = self.whole(node)?;
        let mut found = None;
        // Innermost instance first: it depends on the fewest callers.
        for (path, callee) in whole.instances.iter().rev() {
            found = self.carry_over(node, &whole, source, (path, callee), depth);
            if found.is_some() {
                break;
            }
        }
        self.concluded.insert(key, found.clone());
        found
    }

    /// A claim inside the instance at a path follows from the same claim about its node, if the
    /// caller satisfies the assumptions of the node. A guarantee is claimed only while the
    /// assumptions have held, so for it the caller has to satisfy only the ranges.
    fn carry_over(
        &mut self,
        node: &str,
        whole: &Part,
        source: &ClaimSource,
        (path, callee): (&str, &str),
        depth: usize,
    ) -> Option<Vec<usize>> {
        let rest = source.instance.strip_prefix(path).filter(|_| !path.is_empty())?;
        if !(rest.is_empty() || rest.starts_with('.'))
            || rest.is_empty() && source.role.is_of_caller()
        {
            return None;
        }
        let inner = ClaimSource { instance: rest.to_string(), ..source.clone() };
        let (_, claim) = whole.claim(source)?;
        let alone = self.whole(callee)?;
        if !alone.claim(&inner).is_some_and(|(_, same)| is_same(claim, same)) {
            return None;
        }
        let mut facts = self.conclude(callee, &inner, depth + 1)?;
        let only_ranges = rest.is_empty() && source.role == ClaimRole::Guarantee;
        for kept in whole.sources.iter().flatten().filter(|s| s.instance == *path) {
            let needed = match kept.role {
                ClaimRole::InputRange => true,
                ClaimRole::Assumption => !only_ranges,
                _ => false,
            };
            if needed {
                facts.extend(self.conclude(node, kept, depth + 1)?);
            }
        }
        Some(facts)
    }
}

/// True if claims of two systems of a node, or of a node and an instance of it, are the same.
fn is_same(a: &Claim, b: &Claim) -> bool {
    let always = |c: &Claim| matches!(c.kind, ClaimKind::Always(_));
    always(a) && always(b) && a.text == b.text && a.span == b.span
}
