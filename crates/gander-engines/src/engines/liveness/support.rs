//! Supporting invariants: the candidate formulas that are inductive together
//! ([`crate::candidates::houdini`]), and invariants of other engines.

use std::sync::Arc;
use std::time::Instant;

use gander_system::{ClaimId, NodeFormulas, NodeId, System};
use gander_term::{Importer, Pool, TermId};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use crate::candidates::candidate::Candidate;
use crate::candidates::houdini::{FilterResult, Houdini};
use crate::core::{Cursor, EngineContext, Fact};
use crate::encode::encoding::Encoding;
use crate::encode::forward_search::system_features;

/// By node: the conjunction of the candidates that are invariant; `None` if that is not decided in
/// time.
pub(super) fn invariant(
    context: &EngineContext,
    claim: ClaimId,
    system: &System,
    pool: &mut Pool,
    candidates: &[Vec<TermId>],
) -> Option<Vec<TermId>> {
    let mut e = Encoding::new(&Arc::new(system.clone()));
    let mut importer = Importer::new();
    // Maps each candidate in the encoding's pool to the caller's term.
    let mut known: FxHashMap<Candidate, TermId> = FxHashMap::default();
    for (n, formulas) in candidates.iter().enumerate() {
        for &t in formulas {
            let formula = importer.import(&mut e.pool, pool, t).ok()?;
            known.insert(Candidate { node: NodeId::from(n), formula }, t);
        }
    }
    let mut all: Vec<Candidate> = known.keys().copied().collect();
    all.sort_unstable();
    let features = system_features(&mut e)
        .join(e.pool.features(&all.iter().map(|c| c.formula).collect::<Vec<_>>()));
    let mut houdini = Houdini::new(features, vec![claim]);
    houdini.begin(&e, all, 1);
    let end = Instant::now() + LIMITS.support_query;
    match houdini.advance(&mut e, context, end) {
        FilterResult::Done { proved, implied } => {
            let mut by_node = vec![Vec::new(); system.nodes().len()];
            for c in proved.iter().chain(&implied) {
                by_node[c.node.index()].push(known[c]);
            }
            Some(by_node.into_iter().map(|list| pool.and(list)).collect())
        }
        FilterResult::More | FilterResult::Failed(_) => None,
    }
}

/// New inductive invariants of other engines, for the given system.
pub(super) fn proved(context: &EngineContext, cursor: &mut Cursor) -> Vec<NodeFormulas> {
    let mut found = Vec::new();
    for fact in context.blackboard().facts_since(cursor) {
        let Fact::Invariant(known) = &*fact else { continue };
        if known.k == 1 && found.len() < LIMITS.support_facts {
            found.extend(context.about_given(known.formulas.clone()));
        }
    }
    found
}
