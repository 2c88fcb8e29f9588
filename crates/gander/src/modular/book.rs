//! What is known of the claims of nodes, each for its node alone, and what follows.
//!
//! A *fact* says that a claim holds in every run of the system of a node, all calls in it replaced by bodies. It was shown
//! in a system of the node in which some calls are abstracted, which has at least these runs (see
//! [`gander_lang::lustre::Modules`]) if what the abstracted nodes promise is known already. A fact about a node carries over
//! to its calls: an instance of it makes runs of the node alone, as long as its caller keeps what the node assumes.

use std::sync::Arc;

use gander_certify::Basis;
use gander_lang::lustre::{ClaimRole, ClaimSource, Module, Modules};
use gander_system::{Claim, ClaimId, ClaimKind, Verdict};
use rustc_hash::FxHashMap;

/// A module with its system to be shared.
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
        let by_source =
            module.sources.iter().enumerate().filter_map(|(i, s)| s.clone().map(|s| (s, ClaimId::from(i)))).collect();
        let Module { system, sources, instances, abstracted } = module;
        Part { system: Arc::new(system), sources, instances, abstracted, by_source }
    }

    pub(super) fn claim(&self, source: &ClaimSource) -> Option<(ClaimId, &Claim)> {
        let &id = self.by_source.get(source)?;
        Some((id, &self.system.claims[id.index()]))
    }

    /// The claims that say *always*, with their sources.
    pub(super) fn always(&self) -> impl Iterator<Item = (ClaimId, &ClaimSource)> {
        self.sources.iter().enumerate().filter_map(|(i, source)| {
            let always = matches!(self.system.claims[i].kind, ClaimKind::Always(_));
            source.as_ref().filter(|_| always).map(|s| (ClaimId::from(i), s))
        })
    }
}

/// A claim that holds for a node alone.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) node: String,
    pub(super) claim: ClaimId,
    /// Where it was shown.
    pub(super) part: Arc<Part>,
    pub(super) verdict: Verdict,
    pub(super) engine: String,
    /// What the verdict rests on.
    pub(super) basis: Basis,
}

/// Conclusions nest no deeper than this; calls that do are better looked at together.
const MAX_DEPTH: usize = 100;

type Key = (String, ClaimSource);

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Book<'a> {
    modules: &'a Modules,
    parts: FxHashMap<(String, Vec<String>), Option<Arc<Part>>>,
    pub(super) facts: Vec<Fact>,
    by_key: FxHashMap<Key, usize>,
    /// What follows from the facts so far.
    concluded: FxHashMap<Key, Option<Vec<usize>>>,
}

impl<'a> Book<'a> {
    pub(super) fn new(modules: &'a Modules) -> Book<'a> {
        Book {
            modules,
            parts: FxHashMap::default(),
            facts: Vec::new(),
            by_key: FxHashMap::default(),
            concluded: FxHashMap::default(),
        }
    }

    /// The same systems, nothing known.
    pub(super) fn forget(&self) -> Book<'a> {
        Book { parts: self.parts.clone(), ..Book::new(self.modules) }
    }

    /// The nodes whose systems are those of the file.
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

    /// What a node promises that is not known to hold; none if it cannot be looked at alone.
    pub(super) fn unproved_promises(&mut self, node: &str) -> Option<Vec<String>> {
        let whole = self.whole(node)?;
        let own = |s: &ClaimSource| s.instance.is_empty() && s.role.is_promise();
        let mut open = Vec::new();
        for (i, source) in whole.sources.iter().enumerate() {
            if let Some(source) = source.as_ref().filter(|s| own(s))
                && !self.by_key.contains_key(&(node.to_string(), source.clone()))
            {
                open.push(whole.system.claims[i].name.clone());
            }
        }
        Some(open)
    }

    /// Takes down that a claim of a part holds. The caller has seen to it that the evidence is right and that what the
    /// abstracted nodes promise is known.
    pub(super) fn establish(&mut self, fact: Fact) -> Result<(), String> {
        let claim = &fact.part.system.claims[fact.claim.index()];
        let Some(source) = fact.part.sources[fact.claim.index()].clone() else {
            return Err(format!("`{}` is not a claim of the program", claim.name));
        };
        let whole = self.whole(&fact.node).ok_or_else(|| format!("`{}` cannot be looked at alone", fact.node))?;
        match whole.claim(&source) {
            Some((_, same)) if is_same(claim, same) => {}
            _ => return Err(format!("`{}` is no claim of `{}`", claim.name, fact.node)),
        }
        self.by_key.entry((fact.node.clone(), source)).or_insert(self.facts.len());
        self.facts.push(fact);
        self.concluded.clear();
        Ok(())
    }

    /// The facts from which it follows that a claim holds for a node alone; the first is the one that says it.
    pub(super) fn why(&mut self, node: &str, source: &ClaimSource) -> Option<Vec<usize>> {
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
        // The innermost instance first: it needs the least of its callers.
        for (path, callee) in whole.instances.iter().rev() {
            found = self.carry_over(node, &whole, source, (path, callee), depth);
            if found.is_some() {
                break;
            }
        }
        self.concluded.insert(key, found.clone());
        found
    }

    /// A claim inside of the instance at a path follows from the same claim about its node, if the caller keeps what the
    /// node assumes. A guarantee is claimed only as far as the assumptions have held, so only ranges are left to be kept.
    fn carry_over(
        &mut self,
        node: &str,
        whole: &Part,
        source: &ClaimSource,
        (path, callee): (&str, &str),
        depth: usize,
    ) -> Option<Vec<usize>> {
        let rest = source.instance.strip_prefix(path).filter(|_| !path.is_empty())?;
        if !(rest.is_empty() || rest.starts_with('.')) || rest.is_empty() && source.role.is_of_caller() {
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

/// Whether claims of two systems of a node, or of a node and an instance of it, are one.
fn is_same(a: &Claim, b: &Claim) -> bool {
    let always = |c: &Claim| matches!(c.kind, ClaimKind::Always(_));
    always(a) && always(b) && a.text == b.text && a.span == b.span
}
