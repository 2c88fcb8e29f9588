//! Ranking functions: a lexicographic tuple per pending node that decreases in every round.
//!
//! Built level by level, as in Bradley, Manna and Sipma (*Linear ranking with reachability*, 2005)
//! and Alias, Darte, Feautrier and Gonnord (*Multi-dimensional rankings*, 2010). On the graph of
//! the remaining steps, the first component of the tuple is the order of the strongly connected
//! components; then, for each component with a round, a term that no step increases and that some
//! steps decrease from a non-negative value. Those steps are removed. The search ends when no round
//! is left.
//!
//! Terms come from the comparisons of the system ([`super::candidates`]), alone and in pairs, or
//! are linear with coefficients that a solver finds ([`linear`]).

mod linear;

use gander_system::passes::{DecidingRuns, LivenessToSafety, Stage};
use gander_system::{
    ClaimId, FairnessKind, NodeTerms, Rounds, System, TransitionId, strongly_connected_components,
};
use gander_term::{Pool, RBig, TermId};

use super::candidates;
use super::prover::Prover;
use super::step::Steps;
use super::support;
use crate::arith::number;
use crate::core::{Cursor, EngineContext, portable};

/// The extent of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effort {
    /// Single terms, without invariants.
    Plain,
    /// Also with supporting invariants.
    Supported,
    /// Also sums of two terms.
    Pairs,
    /// Also linear terms with unknown coefficients.
    Linear,
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Ranking {
    claim: ClaimId,
    of: LivenessToSafety,
    effort: Option<Effort>,
    pool: Pool,
    prover: Prover,
    invariant: Option<Vec<TermId>>,
    cursor: Cursor,
    /// By node: invariants of other engines.
    known: Vec<Vec<TermId>>,
    /// Terms by node that express the progress of fairness constraints in a round.
    progress: Vec<Vec<TermId>>,
}

/// A kind of step between pending states.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    /// The formula of such steps.
    pub formula: TermId,
    pub steps: Steps,
    round: bool,
}

/// The progress of fairness constraints in a round, as 0/1 terms: 1 if a step of a constraint's
/// transitions is possible and one was taken in this round. While such a step stays possible, only
/// taking one sets the term to 1, and the end of the round resets it to 0.
fn fairness_progress(
    system: &System,
    claim: ClaimId,
    of: &LivenessToSafety,
    pool: &mut Pool,
) -> Vec<Vec<TermId>> {
    let asked = system.claims().get(claim.index()).and_then(|c| DecidingRuns::of(&c.kind));
    let under = asked.map_or(Vec::new(), |a| a.under);
    let mut single: Vec<Vec<TermId>> = Vec::new();
    for (f, seen) in under.iter().zip(&of.seen) {
        let set = match &system.fairness()[f.index()].kind {
            FairnessKind::Weak(set) | FairnessKind::Strong(set) => set,
            FairnessKind::Justice(_) => continue,
        };
        let mut by_node = Vec::new();
        for n in of.system.node_ids() {
            let here = of.old_node(n);
            let mut ways = Vec::new();
            for &t in set.iter().filter(|t| system.transition(**t).source == here) {
                let truth = pool.tt();
                ways.extend(Steps::of(system, pool, t).before(pool, truth));
            }
            let (possible, seen) = (pool.or(ways), pool.var(*seen));
            let both = pool.and([possible, seen]);
            let (one, zero) = (pool.int(1), pool.int(0));
            by_node.push(pool.ite(both, one, zero));
        }
        single.push(by_node);
    }
    if single.len() > 1 {
        let mut sum = single[0].clone();
        for other in &single[1..] {
            for (s, &o) in sum.iter_mut().zip(other) {
                *s = pool.add(*s, o);
            }
        }
        single.insert(0, sum);
    }
    single
}

/// A component of the tuples: a term for each node, and the edges that decrease it.
struct Level {
    by_node: Vec<TermId>,
    done: Vec<usize>,
}

impl Ranking {
    /// For the liveness-to-safety system `of` of a claim of `system`.
    pub(super) fn new(system: &System, claim: ClaimId, of: LivenessToSafety) -> Ranking {
        let mut pool = Pool::fork(of.system.pool());
        let progress = fairness_progress(system, claim, &of, &mut pool);
        let prover = Prover::for_claim(ClaimId(0));
        let known = vec![Vec::new(); of.system.nodes().len()];
        let (effort, cursor) = (Some(Effort::Plain), Cursor::default());
        Ranking { claim, of, effort, pool, prover, invariant: None, cursor, known, progress }
    }

    /// Does a unit of work: `Some(Some(_))` is a proof, `Some(None)` means more to do, and `None`
    /// means nothing left to try.
    pub(super) fn advance(&mut self, context: &EngineContext) -> Option<Option<Rounds>> {
        let effort = self.effort?;
        if effort == Effort::Supported || (effort == Effort::Linear && self.add_invariants(context))
        {
            let common = candidates::formulas(&self.of.system, &mut self.pool);
            let mut candidates = vec![common; self.of.system.nodes().len()];
            self.add_invariants(context);
            for (list, known) in candidates.iter_mut().zip(&self.known) {
                list.extend(known);
            }
            self.invariant = support::invariant(
                context,
                self.claim,
                &self.of.system,
                &mut self.pool,
                &candidates,
            );
        }
        let ranks = self.search(context, effort);
        self.effort = match effort {
            Effort::Plain => Some(Effort::Supported),
            Effort::Supported => Some(Effort::Pairs),
            Effort::Pairs => Some(Effort::Linear),
            Effort::Linear => None,
        };
        match ranks {
            Some(ranks) => Some(Some(self.evidence(ranks)?)),
            None => Some(None),
        }
    }

    /// Adds invariants of other engines; true if there are new ones.
    fn add_invariants(&mut self, context: &EngineContext) -> bool {
        let mut new = false;
        for formulas in support::proved(context, &mut self.cursor) {
            for n in self.of.system.node_ids() {
                let Some(&t) = formulas.by_node.get(self.of.old_node(n).index()) else { continue };
                if let Ok(t) = self.pool.import(&formulas.pool, t)
                    && self.pool.as_bool(t).is_none()
                {
                    self.known[n.index()].push(t);
                    new = true;
                }
            }
        }
        new
    }

    fn invariant_at(&mut self, n: usize) -> TermId {
        match &self.invariant {
            Some(by_node) => by_node[n],
            None => self.pool.tt(),
        }
    }

    fn evidence(&mut self, ranks: Vec<Vec<TermId>>) -> Option<Rounds> {
        let nodes = self.of.system.nodes().len();
        let invariant: Vec<TermId> = (0..nodes).map(|n| self.invariant_at(n)).collect();
        let invariant = portable(&self.of.system, &self.pool, &invariant).ok()?;
        let mut own = Pool::fork(self.of.system.pool());
        let mut importer = gander_term::Importer::new();
        let mut by_node = vec![Vec::new(); nodes];
        for (n, tuple) in ranks.into_iter().enumerate() {
            if self.of.stage(n.into()) != Stage::Pending {
                continue;
            }
            for t in tuple {
                by_node[n].push(importer.import(&mut own, &self.pool, t).ok()?);
            }
        }
        Some(Rounds::Ranking { invariant, ranks: NodeTerms { pool: own.freeze(), by_node } })
    }

    /// The possible steps between pending states, as an over-approximation.
    fn edges(&mut self, context: &EngineContext) -> Vec<Edge> {
        let mut edges = Vec::new();
        let staying: Vec<TransitionId> =
            self.of.system.transition_ids().filter(|&t| self.of.stays(t)).collect();
        for t in staying {
            let steps = Steps::of(&self.of.system, &mut self.pool, t);
            let (from, to) =
                (self.of.system.transition(t).source, self.of.system.transition(t).target);
            let admissible = self.of.system.assumption_term(&mut self.pool, from);
            let invariant = self.invariant_at(from.index());
            let formula = self.pool.and([invariant, admissible, steps.formula]);
            let mut kinds = vec![(formula, true)];
            if let Some(round) = self.of.round {
                let round = self.pool.var(round);
                let round = steps.behind(&mut self.pool, round);
                let between = self.pool.not(round);
                kinds = vec![
                    (self.pool.and([formula, round]), true),
                    (self.pool.and([formula, between]), false),
                ];
            }
            for (formula, round) in kinds {
                if !self.prover.is_empty(context, &self.pool, formula) {
                    edges.push(Edge {
                        from: from.index(),
                        to: to.index(),
                        formula,
                        steps: steps.clone(),
                        round,
                    });
                }
            }
        }
        edges
    }

    /// The ranking tuples by node.
    fn search(&mut self, context: &EngineContext, effort: Effort) -> Option<Vec<Vec<TermId>>> {
        let nodes = self.of.system.nodes().len();
        let mut ranks: Vec<Vec<TermId>> = vec![Vec::new(); nodes];
        let mut edges = self.edges(context);
        let mut terms = candidates::ranks(&self.of.system, &mut self.pool);
        if effort == Effort::Pairs {
            let pairs = candidates::pairs(&mut self.pool, &terms);
            terms.extend(pairs);
        }
        let mut terms: Vec<Vec<TermId>> = terms.into_iter().map(|t| vec![t; nodes]).collect();
        terms.extend(self.progress.clone());
        while edges.iter().any(|e| e.round) {
            if context.is_cancelled() {
                return None;
            }
            let mut successors = vec![Vec::new(); nodes];
            edges.iter().for_each(|e| successors[e.from].push(e.to));
            let component = strongly_connected_components(nodes, 0..nodes, |n, k| {
                successors[n].get(k).copied()
            });
            let order: Vec<usize> =
                component.into_iter().map(|c| c.unwrap_or(0) as usize).collect();
            if edges.iter().any(|e| order[e.from] != order[e.to]) {
                for (n, tuple) in ranks.iter_mut().enumerate() {
                    tuple.push(self.pool.int(order[n]));
                }
                edges.retain(|e| order[e.from] == order[e.to]);
                continue;
            }
            let mut open: Vec<usize> =
                edges.iter().filter(|e| e.round).map(|e| order[e.from]).collect();
            open.sort_unstable();
            open.dedup();
            for component in open {
                let inside: Vec<usize> =
                    (0..edges.len()).filter(|&i| order[edges[i].from] == component).collect();
                let mut level = self.term_for(context, &edges, &inside, &terms);
                if level.is_none() && effort == Effort::Linear {
                    level = self.linear(context, &edges, &inside);
                }
                let Level { by_node, done } = level?;
                for (tuple, term) in ranks.iter_mut().zip(by_node) {
                    tuple.push(term);
                }
                // `order` was computed for the edges before; those of other components are not
                // affected.
                let all = edges.into_iter().enumerate();
                edges = all.filter(|(at, _)| !done.contains(at)).map(|(_, edge)| edge).collect();
            }
        }
        Some(ranks)
    }

    /// A term that no inner edge increases and some decrease, with the edges that decrease it.
    fn term_for(
        &mut self,
        context: &EngineContext,
        edges: &[Edge],
        inside: &[usize],
        terms: &[Vec<TermId>],
    ) -> Option<Level> {
        let mut best: Option<(&Vec<TermId>, Vec<usize>)> = None;
        'terms: for by_node in terms {
            if context.is_cancelled() {
                return None;
            }
            let mut done = Vec::new();
            for &i in inside {
                let Edge { formula, steps, from, to, .. } = &edges[i];
                let term = by_node[*from];
                let next = steps.behind(&mut self.pool, by_node[*to]);
                let sort = self.pool.sort(term);
                let zero = candidates::zero(&mut self.pool, sort);
                let kept = self.pool.le(next, term);
                if !self.prover.implies(context, &mut self.pool, *formula, kept) {
                    continue 'terms;
                }
                let one = number::constant(&mut self.pool, sort, RBig::ONE);
                let less = self.pool.sub(term, one);
                let (bounded, decreases) = (self.pool.le(zero, term), self.pool.le(next, less));
                let smaller = self.pool.and([bounded, decreases]);
                if self.prover.implies(context, &mut self.pool, *formula, smaller) {
                    done.push(i);
                }
            }
            let rounds = |done: &[usize]| done.iter().filter(|&&i| edges[i].round).count();
            if done.is_empty() {
                continue;
            }
            if best.as_ref().is_none_or(|(_, b)| (rounds(&done), done.len()) > (rounds(b), b.len()))
            {
                let all = done.len() == inside.len();
                best = Some((by_node, done));
                if all {
                    break;
                }
            }
        }
        let (terms, done) = best?;
        let sort = self.pool.sort(terms[edges[*inside.first()?].from]);
        let zero = candidates::zero(&mut self.pool, sort);
        let mut by_node = vec![zero; self.of.system.nodes().len()];
        for &i in inside {
            for n in [edges[i].from, edges[i].to] {
                by_node[n] = terms[n];
            }
        }
        Some(Level { by_node, done })
    }

    /// Linear terms that no inner edge increases and that decrease in all rounds, or in one.
    fn linear(
        &mut self,
        context: &EngineContext,
        edges: &[Edge],
        inside: &[usize],
    ) -> Option<Level> {
        let features = linear::features(&self.of.system, &mut self.pool);
        let rounds: Vec<usize> = inside.iter().copied().filter(|&i| edges[i].round).collect();
        let mut attempts = vec![rounds.clone()];
        if rounds.len() > 1 {
            attempts.extend(rounds.iter().map(|&i| vec![i]));
        }
        for done in attempts {
            let inside: Vec<(usize, bool)> =
                inside.iter().map(|&i| (i, done.contains(&i))).collect();
            let wanted = linear::Wanted { edges, inside: &inside, features: &features };
            let nodes = self.of.system.nodes().len();
            if let Some(by_node) =
                linear::ranks(context, &mut self.prover, &mut self.pool, nodes, &wanted)
            {
                return Some(Level { by_node, done });
            }
        }
        None
    }
}
