//! Supporting invariants: those of the candidate formulas that are inductive together ([`crate::candidates::houdini`]), and what others have proved.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_system::{ClaimId, NodeFormulas, NodeId, System};
use gander_term::{Importer, Pool, TermId};
use rustc_hash::FxHashMap;

use crate::candidates::candidate::Candidate;
use crate::candidates::houdini::{Houdini, Sifted};
use crate::core::{Cursor, EngineContext, Fact};
use crate::encode::encoding::Encoding;
use crate::encode::forward_search::system_features;

/// No more facts are taken from the blackboard.
const MOST_FACTS: usize = 40;

/// Time for one sifting.
const PATIENCE: Duration = Duration::from_secs(5);

/// By node: the conjunction of the candidates for it that hold there always; nothing if that was not found out.
pub(super) fn invariant(
    context: &EngineContext,
    claim: ClaimId,
    system: &System,
    pool: &mut Pool,
    candidates: &[Vec<TermId>],
) -> Option<Vec<TermId>> {
    let mut e = Encoding::new(&Arc::new(system.clone()));
    let mut importer = Importer::new();
    // What each candidate of the encoding's pool is in the caller's.
    let mut known: FxHashMap<Candidate, TermId> = FxHashMap::default();
    for (n, formulas) in candidates.iter().enumerate() {
        for &t in formulas {
            let formula = importer.import(&mut e.pool, pool, t).ok()?;
            known.insert(Candidate { node: NodeId::from(n), formula }, t);
        }
    }
    let mut all: Vec<Candidate> = known.keys().copied().collect();
    all.sort_unstable();
    let features = system_features(&mut e).join(e.pool.features(&all.iter().map(|c| c.formula).collect::<Vec<_>>()));
    let mut houdini = Houdini::new(features, vec![claim]);
    houdini.begin(&e, all, 1);
    let end = Instant::now() + PATIENCE;
    match houdini.advance(&mut e, context, end) {
        Sifted::Done { proved, implied } => {
            let mut by_node = vec![Vec::new(); system.nodes.len()];
            for c in proved.iter().chain(&implied) {
                by_node[c.node.index()].push(known[c]);
            }
            Some(by_node.into_iter().map(|list| pool.and(list)).collect())
        }
        Sifted::More | Sifted::Failed(_) => None,
    }
}

/// What other engines have proved of the system as it was given and is inductive, by node, since the cursor.
pub(super) fn proved(context: &EngineContext, cursor: &mut Cursor) -> Vec<NodeFormulas> {
    let mut found = Vec::new();
    for fact in context.blackboard().news(cursor) {
        let Fact::Invariant(known) = &*fact else { continue };
        if known.k == 1 && found.len() < MOST_FACTS {
            found.extend(context.about_given(known.formulas.clone()));
        }
    }
    found
}
