//! Watches: incremental evaluation of claims along a run.

use gander_system::{ClaimId, ClaimKind, Goal, NodeId, State, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::encode::question::Question;
use crate::encode::view::View;

use crate::concrete::stepping::formula::{Formula, Moment, Scope, Workspace};

/// A compiled goal.
enum Stage {
    State(Formula),
    Step(Vec<(TransitionId, Formula)>),
}

/// How a run decides a claim.
enum Kind {
    /// By a state in which the formula of its node is false.
    States { at: FxHashMap<NodeId, usize>, formulas: Vec<Formula> },
    /// By goals that are met in order, with the number met so far.
    Goals(Vec<Stage>, usize),
    /// By a first state from this start.
    Start(gander_system::StartId),
}

/// A claim that is evaluated along runs.
pub(super) struct Watch {
    pub question: Question,
    kind: Kind,
    pub open: bool,
    /// What the formulas read; none if the claim is about a start, or a chain of goals.
    pub reads: Option<Reads>,
}

/// The variables that the formulas of a watch read, as positions.
pub(super) enum Reads {
    /// In a state at any node.
    State(Vec<usize>),
    /// In a state at one of these nodes.
    Nodes(Vec<(NodeId, Vec<usize>)>),
    /// Before one of these steps, by its condition.
    Steps(Vec<(TransitionId, Vec<usize>)>),
}

/// By symbol of a state: the position of its variable.
pub(super) type Positions = FxHashMap<SymbolId, usize>;

/// The positions of the variables that terms read.
pub(super) fn variables(positions: &Positions, pool: &Pool, terms: &[TermId]) -> Vec<usize> {
    let free = pool.free_symbols(terms);
    free.into_iter().filter_map(|s| positions.get(&s).copied()).collect()
}

impl Watch {
    /// The watch of a claim, if its formulas can be evaluated.
    pub(super) fn new(
        system: &System,
        scope: &Scope,
        positions: &Positions,
        view: &mut View,
        claim: ClaimId,
    ) -> Option<Watch> {
        let kind = &system.claims()[claim.index()].kind;
        let pool: &Pool = system.pool();
        if let ClaimKind::Reachable(goals) = kind {
            let question = Question {
                claim,
                meaning: crate::encode::question::TargetMeaning::Proves,
                targets: Vec::new(),
            };
            let stages = goals
                .iter()
                .map(|goal| match goal {
                    Goal::State(p) => Formula::new(scope, pool, &[p.term()]).map(Stage::State),
                    Goal::Step { choices, .. } => choices
                        .iter()
                        .map(|(t, c)| Some((*t, Formula::new(scope, pool, &[c.term()])?)))
                        .collect::<Option<_>>()
                        .map(Stage::Step),
                })
                .collect::<Option<Vec<_>>>()?;
            let reads = match &goals[..] {
                [Goal::State(p)] => Some(Reads::State(variables(positions, pool, &[p.term()]))),
                [Goal::Step { choices, .. }] => {
                    let read =
                        choices.iter().map(|(t, c)| (*t, variables(positions, pool, &[c.term()])));
                    Some(Reads::Steps(read.collect()))
                }
                _ => None,
            };
            return Some(Watch { question, kind: Kind::Goals(stages, 0), open: true, reads });
        }
        let question = view.question(claim)?;
        if let ClaimKind::StartSatisfiable(s) = kind {
            let kind = Kind::Start(*s);
            return Some(Watch { question, kind, open: true, reads: None });
        }
        let exclusion =
            view.question_builder.exclusion_as_written(&mut view.encoding, &question)?;
        let (mut at, mut formulas) = (FxHashMap::default(), Vec::new());
        let mut reads = Vec::new();
        let mut compiled: FxHashMap<TermId, usize> = FxHashMap::default();
        for (n, term) in exclusion {
            let place = match compiled.get(&term) {
                Some(&place) => place,
                None => {
                    formulas.push(Formula::new(scope, &view.encoding.pool, &[term])?);
                    compiled.insert(term, formulas.len() - 1);
                    formulas.len() - 1
                }
            };
            at.insert(n, place);
            reads.push((n, variables(positions, &view.encoding.pool, &[term])));
        }
        let reads = Some(Reads::Nodes(reads));
        Some(Watch { question, kind: Kind::States { at, formulas }, open: true, reads })
    }

    /// Begins a new run.
    pub(super) fn reset(&mut self) {
        if let Kind::Goals(_, met) = &mut self.kind {
            *met = 0;
        }
    }

    /// A start yielded a state; true if that decides the claim.
    pub(super) fn started(&self, s: gander_system::StartId) -> bool {
        matches!(&self.kind, Kind::Start(mine) if *mine == s)
    }

    /// Enters a state; true if that decides the claim.
    pub(super) fn state(&mut self, state: &State, work: &mut Workspace) -> bool {
        let at = Moment { node: state.node, current: &state.values, params: &[], next: &[] };
        match &mut self.kind {
            Kind::States { at: places, formulas } => places
                .get(&state.node)
                .is_some_and(|&place| formulas[place].truth(at, work) == Some(false)),
            Kind::Goals(stages, met) => {
                while let Some(Stage::State(p)) = stages.get(*met) {
                    if p.truth(at, work) != Some(true) {
                        break;
                    }
                    *met += 1;
                }
                *met == stages.len()
            }
            Kind::Start(_) => false,
        }
    }

    /// Takes a step; true if that decides the claim.
    pub(super) fn step(
        &mut self,
        node: NodeId,
        values: &[Value],
        t: TransitionId,
        params: &[Value],
        work: &mut Workspace,
    ) -> bool {
        let Kind::Goals(stages, met) = &mut self.kind else { return false };
        let Some(Stage::Step(choices)) = stages.get(*met) else { return false };
        let at = Moment { node, current: values, params, next: &[] };
        if choices.iter().any(|(mine, f)| *mine == t && f.truth(at, work) == Some(true)) {
            *met += 1;
        }
        *met == stages.len()
    }
}
