//! Compares two versions of a system by structure.
//!
//! An element has a signature: a hash of its place in the model (start, transition, assumption) and
//! of its term, in which each variable is replaced by a colour. The colour of a variable whose name
//! both versions have is the hash of that name. A variable whose name only one version has was
//! added, removed or renamed: its colour is computed from the elements that define it, and refined
//! in rounds, as variables occur in the definitions of each other (colour refinement). So a renamed
//! variable keeps its colour, and neither lines nor names of parts matter.
//!
//! Elements with equal signatures are equal up to renaming. The converse does not hold: elements of
//! variables that exchanged their names have other signatures.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use gander_explain::Parts;
use gander_system::{
    ChoiceTerm, ClaimKind, Effect, ElementId, ElementName, Evidence, FairnessId, FairnessKind,
    Goal, NodeFormulas, Range, System, TransitionId,
};
use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::Value;

/// Rounds of refinement at most. Chains of renamed variables that are longer count as changed.
const ROUNDS: usize = 12;

/// The difference of two versions.
pub(super) struct Difference {
    /// By part of the old version: it is in the new one, too.
    pub old: Vec<bool>,
    /// By part of the new version: it was in the old one.
    pub new: Vec<bool>,
    /// What is no element (nodes, declarations, ranges) is the same.
    pub same_rest: bool,
    /// Variables of the old version, and their names in the new one.
    pub renamed: BTreeMap<String, String>,
    /// By claim of the old version: its signature. Claims with equal signatures say the same.
    pub old_claims: Vec<u64>,
    /// The same for the new version.
    pub new_claims: Vec<u64>,
}

/// Compares two versions of a system.
pub(super) fn compare(old: (&System, &Parts), new: (&System, &Parts)) -> Difference {
    let names = |s: &System| s.vars().iter().map(|v| v.name.clone()).collect::<BTreeSet<_>>();
    let (old_names, new_names) = (names(old.0), names(new.0));
    let common: BTreeSet<String> = old_names.intersection(&new_names).cloned().collect();
    let mut sides = [Coloured::new(old.0, &common), Coloured::new(new.0, &common)];
    for _ in 0..ROUNDS {
        sides.iter_mut().for_each(Coloured::refine);
    }
    let [old_side, new_side] = &sides;
    let (old_parts, new_parts) = (old_side.parts(old.1), new_side.parts(new.1));
    let same = |mine: &[u64], other: &[u64]| -> Vec<bool> {
        let mut left: BTreeMap<u64, usize> = BTreeMap::new();
        other.iter().for_each(|s| *left.entry(*s).or_default() += 1);
        let mut take = |s: &u64| match left.get_mut(s) {
            Some(n) if *n > 0 => {
                *n -= 1;
                true
            }
            _ => false,
        };
        mine.iter().map(&mut take).collect()
    };
    Difference {
        old: same(&old_parts, &new_parts),
        new: same(&new_parts, &old_parts),
        same_rest: old_side.rest(old.1) == new_side.rest(new.1),
        renamed: old_side.pairs(new_side),
        old_claims: old_side.claims(),
        new_claims: new_side.claims(),
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A formula of an element, with its place in the model.
struct Formula {
    element: ElementId,
    place: u64,
    term: TermId,
    /// The variable that it defines, by its position.
    defines: Option<usize>,
}

/// A system with a colour for each variable.
struct Coloured<'s> {
    system: &'s System,
    formulas: Vec<Formula>,
    /// By variable.
    colours: Vec<u64>,
    /// By variable: its name is in both versions.
    named: Vec<bool>,
    /// By symbol: its variable and whether it is primed.
    symbols: FxHashMap<SymbolId, (usize, bool)>,
    /// Colours of parameters.
    params: FxHashMap<SymbolId, u64>,
}

impl<'s> Coloured<'s> {
    fn new(system: &'s System, common: &BTreeSet<String>) -> Coloured<'s> {
        let named: Vec<bool> = system.vars().iter().map(|v| common.contains(&v.name)).collect();
        let kind = |v: &gander_system::StateVar| {
            (v.sort.name(system.pool()), format!("{:?} {:?}", v.role, v.stream))
        };
        let colours = system
            .vars()
            .iter()
            .zip(&named)
            .map(|(v, named)| if *named { hash((&v.name, kind(v))) } else { hash(kind(v)) })
            .collect();
        let mut symbols = FxHashMap::default();
        for (i, v) in system.vars().iter().enumerate() {
            symbols.insert(v.current, (i, false));
            symbols.insert(v.next, (i, true));
        }
        let mut params = FxHashMap::default();
        for t in system.transitions() {
            for (i, p) in t.params.iter().enumerate() {
                params.insert(p.symbol, hash(("parameter", i)));
            }
        }
        let formulas = formulas(system);
        Coloured { system, formulas, colours, named, symbols, params }
    }

    /// One round of refinement of the variables that are not known by name.
    fn refine(&mut self) {
        let mut defined_by: Vec<Vec<u64>> = vec![Vec::new(); self.colours.len()];
        let mut occurs_in: Vec<Vec<u64>> = vec![Vec::new(); self.colours.len()];
        for formula in &self.formulas {
            let signature = self.signature(formula);
            match formula.defines {
                Some(v) => defined_by[v].push(signature),
                None => {
                    for s in self.system.pool().free_symbols(&[formula.term]) {
                        if let Some((v, primed)) = self.symbols.get(&s) {
                            occurs_in[*v].push(hash((signature, primed)));
                        }
                    }
                }
            }
        }
        for v in 0..self.colours.len() {
            if !self.named[v] {
                let uses =
                    if defined_by[v].is_empty() { &mut occurs_in[v] } else { &mut defined_by[v] };
                uses.sort_unstable();
                self.colours[v] = hash((self.colours[v], &*uses));
            }
        }
    }

    /// The hash of an element: its place, its term, and the variable that it defines.
    fn signature(&self, formula: &Formula) -> u64 {
        let pool = self.system.pool();
        let target = formula.defines.map(|v| self.colours[v]);
        hash((formula.place, self.term(pool, formula.term), target))
    }

    fn term(&self, pool: &Pool, root: TermId) -> u64 {
        let mut known: FxHashMap<TermId, u64> = FxHashMap::default();
        for t in pool.postorder(&[root]) {
            let args: Vec<u64> = pool.args(t).iter().map(|a| known[a]).collect();
            let head = match pool.op(t) {
                Op::Symbol(s) => match (self.symbols.get(&s), self.params.get(&s)) {
                    (Some((v, primed)), _) => hash((self.colours[*v], primed)),
                    (None, Some(param)) => *param,
                    (None, None) => hash(&pool.symbol(s).name),
                },
                Op::Const(v) => hash((pool.sort(t).name(pool), pool.show_value(pool.value(v)))),
                op => hash((op.name(), pool.sort(t).name(pool))),
            };
            known.insert(t, hash((head, args)));
        }
        known[&root]
    }

    /// By element: its signatures.
    fn signatures(&self) -> BTreeMap<ElementId, Vec<u64>> {
        let mut found: BTreeMap<ElementId, Vec<u64>> = BTreeMap::new();
        for formula in &self.formulas {
            found.entry(formula.element).or_default().push(self.signature(formula));
        }
        found
    }

    /// The signatures of the parts.
    fn parts(&self, parts: &Parts) -> Vec<u64> {
        let found = self.signatures();
        let of = |part: &gander_explain::Part| {
            let elements = part.elements.iter().filter_map(|e| found.get(e)).flatten();
            let mut all: Vec<u64> = elements.copied().collect();
            all.sort_unstable();
            hash((part.kind.word(), all))
        };
        parts.list.iter().map(of).collect()
    }

    /// The signature of all that is in no part.
    fn rest(&self, parts: &Parts) -> u64 {
        let mut all: Vec<u64> = Vec::new();
        for formula in self.formulas.iter().filter(|f| parts.part_of(f.element).is_none()) {
            all.push(self.signature(formula));
        }
        let range = |range: &Option<Range>| range.as_ref().map(|r| format!("{r:?}"));
        for (v, colour) in self.system.vars().iter().zip(&self.colours) {
            all.push(hash(("variable", *colour, range(&v.range))));
        }
        let node = |n: gander_system::NodeId| self.system.node(n).name.as_str();
        for n in self.system.nodes() {
            all.push(hash(("node", &n.name, n.is_final)));
        }
        for s in self.system.starts() {
            all.push(hash(("start", node(s.target))));
        }
        for t in self.system.transitions() {
            all.push(hash(("transition", &t.name, node(t.source), node(t.target), t.params.len())));
        }
        all.sort_unstable();
        hash(all)
    }

    /// The signatures of the claims: what they say, and the fairness that they assume.
    fn claims(&self) -> Vec<u64> {
        let fairness: Vec<u64> =
            self.system.fairness().iter().map(|f| self.fairness(&f.kind)).collect();
        self.system.claims().iter().map(|c| self.claim(&c.kind, &fairness)).collect()
    }

    fn claim(&self, kind: &ClaimKind, fairness: &[u64]) -> u64 {
        let system = self.system;
        let term = |t: TermId| self.term(system.pool(), t);
        let transition = |t: TransitionId| hash(&system.transition(t).name);
        let goal = |goal: &Goal| match goal {
            Goal::State(p) => hash(("state", term(p.term()))),
            Goal::Step { choices, .. } => {
                let one = |(t, p): &(TransitionId, ChoiceTerm)| (transition(*t), term(p.term()));
                hash(("step", choices.iter().map(one).collect::<Vec<_>>()))
            }
        };
        let fair = |under: &[FairnessId]| {
            let mut all: Vec<u64> = under.iter().map(|f| fairness[f.index()]).collect();
            all.sort_unstable();
            hash(all)
        };
        let said = match kind {
            ClaimKind::Always(p) | ClaimKind::AlwaysPossible(p) | ClaimKind::ExistsAlways(p) => {
                term(p.term())
            }
            ClaimKind::Reachable(goals) => hash(goals.iter().map(goal).collect::<Vec<_>>()),
            ClaimKind::CanEnable(t) | ClaimKind::Completable(t) => transition(*t),
            ClaimKind::NoSinkhole(node) => hash(&system.node(*node).name),
            ClaimKind::StartSatisfiable(start) => hash(&system.starts()[start.index()].name),
            ClaimKind::NoDeadlock | ClaimKind::InfiniteRun => 0,
            ClaimKind::Eventually { goal, under } | ClaimKind::AlwaysEventually { goal, under } => {
                hash((term(goal.term()), fair(under)))
            }
            ClaimKind::LeadsTo { from, to, under } => {
                hash((term(from.term()), term(to.term()), fair(under)))
            }
        };
        hash((kind.word(), said))
    }

    fn fairness(&self, kind: &FairnessKind) -> u64 {
        let names = |all: &[TransitionId]| {
            all.iter().map(|t| self.system.transition(*t).name.clone()).collect::<BTreeSet<_>>()
        };
        match kind {
            FairnessKind::Justice(p) => hash(("justice", self.term(self.system.pool(), p.term()))),
            FairnessKind::Weak(all) => hash(("weak", names(all))),
            FairnessKind::Strong(all) => hash(("strong", names(all))),
        }
    }

    /// Variables of this version and of the other one that have the same colour, which no further
    /// variable has.
    fn pairs(&self, other: &Coloured<'_>) -> BTreeMap<String, String> {
        let unique = |side: &Coloured<'_>| -> BTreeMap<u64, Option<String>> {
            let mut names: BTreeMap<u64, Option<String>> = BTreeMap::new();
            for (i, v) in side.system.vars().iter().enumerate().filter(|(i, _)| !side.named[*i]) {
                let name = Some(v.name.clone());
                names.entry(side.colours[i]).and_modify(|n| *n = None).or_insert(name);
            }
            names
        };
        let theirs = unique(other);
        unique(self)
            .into_iter()
            .filter_map(|(colour, name)| Some((name?, theirs.get(&colour)?.clone()?)))
            .collect()
    }
}

/// All formulas of a system that belong to an element.
fn formulas(system: &System) -> Vec<Formula> {
    let mut found = Vec::new();
    let position: BTreeMap<&str, usize> =
        system.vars().iter().enumerate().map(|(i, v)| (v.name.as_str(), i)).collect();
    let mut add = |element: ElementId, place: u64, term: TermId, target: Option<usize>| {
        let defines = target.or_else(|| match &system.elements()[element.index()].name {
            ElementName::Given(name) => {
                let stream = name.strip_suffix(" at first").unwrap_or(name);
                position.get(stream).copied()
            }
            _ => None,
        });
        found.push(Formula { element, place, term, defines });
    };
    for s in system.starts() {
        for e in &s.constraint {
            add(e.id, hash("start"), e.term.term(), None);
        }
    }
    for e in system.assumptions() {
        add(e.id, hash("assumption"), e.term.term(), None);
    }
    for t in system.transitions() {
        for e in &t.guard {
            add(e.id, hash(("guard", &t.name)), e.term.term(), None);
        }
        for e in &t.effect {
            match e {
                Effect::Assign { id, var, value } => {
                    add(*id, hash(("assign", &t.name)), value.term(), Some(var.index()));
                }
                Effect::Constrain { id, relation } => {
                    add(*id, hash(("constrain", &t.name)), relation.term(), None);
                }
                Effect::Keep { .. } => {}
            }
        }
    }
    found
}

/// True if the evidence has formulas about a system that is derived from that of the claim, such
/// as a chain system. These are renamed in the file form ([`rename_in_file`]).
pub(super) fn is_about_derived_system(evidence: &Evidence) -> bool {
    matches!(
        evidence,
        Evidence::Outside { .. }
            | Evidence::OfChain(_)
            | Evidence::Recurrent { .. }
            | Evidence::NoSuchRun { .. }
            | Evidence::Possible { .. }
            | Evidence::Impossible { .. }
    )
}

/// Renames variables in the file form of evidence. The result is checked like any evidence, so a
/// word of another meaning that is renamed, too, costs no more than the evidence.
pub(super) fn rename_in_file(file: &mut Value, names: &BTreeMap<String, String>) {
    match file {
        Value::String(text) => *text = renamed_words(text, names),
        Value::Array(list) => list.iter_mut().for_each(|v| rename_in_file(v, names)),
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match key.as_str() {
                    // Words of the format, and names of what is not renamed.
                    "schema" | "system" | "claim" | "verdict" | "kind" | "name" | "node"
                    | "start" | "transition" => {}
                    "values" | "next" => {
                        let Value::Object(state) = value else { continue };
                        let renamed = std::mem::take(state).into_iter().map(|(name, value)| {
                            (names.get(&name).cloned().unwrap_or(name), value)
                        });
                        *state = renamed.collect();
                    }
                    _ => rename_in_file(value, names),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A formula with words replaced.
fn renamed_words(text: &str, names: &BTreeMap<String, String>) -> String {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | '@' | '$');
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| in_name(c) != in_name(first)).unwrap_or(rest.len());
        let word = &rest[..end];
        out.push_str(names.get(word).map_or(word, String::as_str));
        rest = &rest[end..];
    }
    out
}

/// Evidence about the old version, with the new names of its variables.
pub(super) fn renamed_evidence(evidence: &Evidence, names: &BTreeMap<String, String>) -> Evidence {
    match evidence {
        Evidence::Invariant(formulas) => Evidence::Invariant(renamed_formulas(formulas, names)),
        Evidence::KInductive { k, invariant, loop_free, no_restart } => Evidence::KInductive {
            k: *k,
            invariant: renamed_formulas(invariant, names),
            loop_free: *loop_free,
            no_restart: *no_restart,
        },
        other => other.clone(),
    }
}

fn renamed_formulas(formulas: &NodeFormulas, names: &BTreeMap<String, String>) -> NodeFormulas {
    let mut pool = Pool::fork(&formulas.pool);
    let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
    for s in pool.free_symbols(&formulas.by_node) {
        let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
        if let Some(new) = names.get(&name)
            && let Ok(symbol) = pool.declare(new, sort)
        {
            map.insert(s, pool.var(symbol));
        }
    }
    let by_node: Vec<TermId> = formulas.by_node.iter().map(|&t| pool.substitute(t, &map)).collect();
    NodeFormulas { by_node: by_node.into(), pool: pool.freeze() }
}
