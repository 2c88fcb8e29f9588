//! The control graphs of the instances, as their specifications draw them.

use super::{Composed, PartMove};
use crate::builder::SystemBuilder;
use crate::formula::StateTerm;
use crate::origin::{Element, ElementId};
use crate::system::{
    Effect, Instance, InstanceNode, InstancePart, InstanceStart, InstanceTransition, Move, Param,
    Start, System, Transition,
};
use gander_term::TermId;

/// Characters of a formula that are kept; longer ones are only shown where their text is known.
const LONGEST_FORMULA: usize = 200;

impl Composed<'_> {
    pub(super) fn describe_instances(&mut self, builder: &mut SystemBuilder) {
        let mut described = Vec::new();
        for part in &mut self.instances {
            let system = part.system;
            let nodes = system
                .node_ids()
                .map(|n| {
                    let at = part.transcriber.at(&mut builder.pool, n).ok();
                    let node = system.node(n);
                    InstanceNode {
                        name: node.name.clone(),
                        is_final: node.is_final,
                        span: node.span,
                        at: StateTerm(at.unwrap_or_else(|| builder.pool.tt())),
                    }
                })
                .collect();
            let starts = system
                .starts
                .iter()
                .zip(&part.start_elements)
                .map(|(s, elements)| described_start(system, s, elements))
                .collect();
            let transitions = system
                .transitions
                .iter()
                .zip(&part.moves)
                .map(|(t, moves)| {
                    described_transition(system, t, moves.iter().map(PartMove::described).collect())
                })
                .collect();
            described.push(Instance {
                name: part.name.to_string(),
                location: part.location,
                vars: part.own_vars().collect(),
                nodes,
                starts,
                transitions,
            });
        }
        builder.set_instances(described);
    }
}

/// A start of an instance, as its specification has it.
pub(super) fn described_start(system: &System, s: &Start, elements: &[ElementId]) -> InstanceStart {
    let part = |e: &Element<StateTerm>| instance_part(system, e.id, None, e.term.term());
    InstanceStart {
        name: s.name.clone(),
        target: s.target.index(),
        elements: elements.to_vec(),
        constraint: s.constraint.iter().map(part).collect(),
    }
}

/// A transition of an instance, as its specification has it.
pub(super) fn described_transition(
    system: &System,
    t: &Transition,
    moves: Vec<Move>,
) -> InstanceTransition {
    let param = |p: &Param| (p.name.clone(), p.sort.name(&system.pool).to_string());
    let guard = t.guard.iter().map(|e| instance_part(system, e.id, None, e.term.term()));
    InstanceTransition {
        name: t.name.clone(),
        source: t.source.index(),
        target: t.target.index(),
        span: t.span,
        params: t.params.iter().map(param).collect(),
        guard: guard.collect(),
        effect: t.effect.iter().filter_map(|e| effect_part(system, e)).collect(),
        moves,
    }
}

fn instance_part(
    system: &System,
    id: ElementId,
    target: Option<String>,
    t: TermId,
) -> InstancePart {
    let info = &system.elements()[id.index()];
    let formula = system.pool().display_bounded(t, LONGEST_FORMULA).to_string();
    InstancePart { kind: info.kind, span: info.span, target, formula }
}

fn effect_part(system: &System, effect: &Effect) -> Option<InstancePart> {
    match effect {
        Effect::Assign { id, var, value } => {
            let target = Some(system.var(*var).name.clone());
            Some(instance_part(system, *id, target, value.term()))
        }
        Effect::Constrain { id, relation } => {
            Some(instance_part(system, *id, None, relation.term()))
        }
        Effect::Keep { .. } => None,
    }
}
