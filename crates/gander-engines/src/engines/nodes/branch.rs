//! Branches: independent components that are closed in parallel.
//!
//! A branch is a separate analysis, with separate terms and solvers, that closes one component. It
//! gets copies of the pieces that enter the component, and its results are copied back. Pieces that
//! mention leftover symbols ([`super::image`]) cannot be copied: the main analysis closes such a
//! component itself.

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use gander_runtime::{Cancellation, Stopped, check_cancelled_now};
use gander_system::NodeId;
use gander_term::{Importer, Pool, TermId};

use super::analysis::Analysis;
use super::literals::Facts;
use super::pieces::{Derivation, Piece};
use super::visits::Visit;
use crate::core::EngineContext;

/// See the module's documentation.
pub(super) struct Branch {
    analysis: Analysis,
    component: usize,
    nodes: Vec<NodeId>,
    /// For each piece that was copied in, its index in the main analysis.
    pieces: Vec<usize>,
    /// For each visit that was copied in, its index in the main analysis.
    visits: Vec<usize>,
}

impl Branch {
    /// Begins to close a component in `other`, an idle analysis of the same system; `None` if the
    /// main analysis has to close it.
    pub(super) fn new(
        main: &mut Analysis,
        mut other: Analysis,
        context: &EngineContext,
        component: usize,
    ) -> Option<Branch> {
        let nodes = main.begin_in_branch(context, component).to_vec();
        let (mut pieces, mut visits) = (Vec::new(), Vec::new());
        other.clear();
        let mut importer = Importer::new();
        for p in nodes.iter().flat_map(|n| main.pieces.at[n.index()].clone()) {
            let piece = &main.pieces.all[p];
            let (from, to) = (&main.view.encoding.pool, &mut other.view.encoding.pool);
            let conjuncts = copied(&mut importer, to, from, &piece.conjuncts);
            let Some(conjuncts) = conjuncts.filter(|_| !main.mentions_leftover(piece)) else {
                main.end_branch(component, false);
                return None;
            };
            let visited = piece.visited.map(|v| {
                let at = other.visits.all.len();
                other.visits.all.push(Visit {
                    before: None,
                    first: at,
                    ..main.visits.all[v].clone()
                });
                visits.push(v);
                at
            });
            let facts = Facts::of(to, &conjuncts);
            other.pieces.add(Piece {
                conjuncts,
                facts,
                visited,
                derivations: Vec::new(),
                ..piece.clone()
            });
            pieces.push(p);
        }
        other.begin_closing(component);
        Some(Branch { analysis: other, component, nodes, pieces, visits })
    }

    /// Copies the results into the main analysis; false if the main analysis has to close the
    /// component.
    fn copy_back(&mut self, main: &mut Analysis) -> bool {
        let found = &self.analysis;
        let mut importer = Importer::new();
        let mut conjuncts = Vec::new();
        for piece in &found.pieces.all[self.pieces.len()..] {
            let (from, to) = (&found.view.encoding.pool, &mut main.view.encoding.pool);
            let can_be_copied = !found.mentions_leftover(piece);
            let Some(copy) =
                copied(&mut importer, to, from, &piece.conjuncts).filter(|_| can_be_copied)
            else {
                return false;
            };
            conjuncts.push(copy);
        }
        for visit in &found.visits.all[self.visits.len()..] {
            let before =
                visit.before.as_ref().map(|(v, t, params)| (self.visits[*v], *t, params.clone()));
            let at = main.visits.all.len();
            // A run of the branch continues a run of the main analysis from a visit that was copied
            // in.
            let first = self.visits.get(visit.first).map_or(at, |&v| main.visits.all[v].first);
            main.visits.all.push(Visit { before, first, ..visit.clone() });
            self.visits.push(at);
        }
        // Assign indices first, because a piece may be derived from any other.
        let new = found.pieces.all.len() - self.pieces.len();
        let (known, first) = (self.pieces.len(), main.pieces.all.len());
        self.pieces.extend(first..first + new);
        for (i, piece) in found.pieces.all.iter().enumerate() {
            let visited = piece.visited.map(|v| self.visits[v]);
            let Some(at) = i.checked_sub(known) else {
                let old = &mut main.pieces.all[self.pieces[i]];
                let Piece { exact, covers, depth, contained, followed, .. } = *piece;
                *old = Piece { exact, covers, depth, contained, followed, visited, ..old.clone() };
                continue;
            };
            let derivations = piece.derivations.iter().map(|derivation| match *derivation {
                Derivation::Step(from, t) => Derivation::Step(self.pieces[from], t),
                start => start,
            });
            let (derivations, conjuncts) =
                (derivations.collect(), std::mem::take(&mut conjuncts[at]));
            let facts = Facts::of(&main.view.encoding.pool, &conjuncts);
            main.pieces.all.push(Piece { conjuncts, facts, derivations, visited, ..piece.clone() });
        }
        for n in &self.nodes {
            let here = &found.pieces.at[n.index()];
            main.pieces.at[n.index()] = here.iter().map(|&p| self.pieces[p]).collect();
            main.open[n.index()] = found.open[n.index()];
        }
        if main.undecided.is_none() {
            main.undecided.clone_from(&found.undecided);
        }
        true
    }
}

fn copied(
    importer: &mut Importer,
    to: &mut Pool,
    from: &Pool,
    conjuncts: &[TermId],
) -> Option<Vec<TermId>> {
    conjuncts.iter().map(|&t| importer.import(to, from, t).ok()).collect()
}

/// Runs all analyses in parallel for a turn and copies back the finished branches. Returns their
/// analyses for reuse.
pub(super) fn work_in_parallel(
    main: &mut Analysis,
    branches: &mut Vec<Branch>,
    context: &EngineContext,
    turn: Duration,
) -> Vec<Analysis> {
    let until = Instant::now() + turn;
    let at_work = |analysis: &mut Analysis, is_over: fn(&mut Analysis) -> bool| {
        while !is_over(analysis) && !context.is_cancelled() && Instant::now() < until {
            analysis.work(context);
        }
    };
    let cancellation = Cancellation::current();
    let out_of_memory = std::thread::scope(|scope| {
        let (cancellation, at_work) = (&cancellation, &at_work);
        let mut parts = Vec::new();
        for branch in branches.iter_mut() {
            parts.push(scope.spawn(move || {
                cancellation.run_cancellable(|| at_work(&mut branch.analysis, |a| a.is_idle()))
            }));
        }
        at_work(main, |main| !main.has_work());
        let join = |part: std::thread::ScopedJoinHandle<'_, _>| {
            part.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        let ended: Vec<Result<(), Stopped>> = parts.into_iter().map(join).collect();
        ended.contains(&Err(Stopped::OutOfMemory))
    });
    // Do not use an analysis that was unwound.
    if out_of_memory {
        resume_unwind(Box::new(Stopped::OutOfMemory));
    }
    check_cancelled_now();
    let over = branches.extract_if(.., |b| b.analysis.is_idle());
    let free = over.map(|mut branch| {
        let done = branch.copy_back(main);
        main.end_branch(branch.component, done);
        branch.analysis
    });
    free.collect()
}
