//! Prints a system as readable text, for the messages of failing tests. There is no parser for it.

use std::fmt::{self, Write};

use gander_system::{
    ClaimKind, Effect, FairnessId, FairnessKind, Goal, Role, System, TransitionId,
};
use gander_term::TermId;

/// Limits the text of a term, in characters; shared subterms make it long.
const LONGEST: usize = 2_000;

/// The system as readable text: variables, assumptions, starts, transitions, fairness, claims.
pub fn describe(system: &System) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = Description { system }.write(&mut text);
    text
}

struct Description<'a> {
    system: &'a System,
}

impl Description<'_> {
    fn term(&self, t: TermId) -> String {
        self.system.pool().display_bounded(t, LONGEST).to_string()
    }

    fn transition(&self, t: TransitionId) -> &str {
        &self.system.transition(t).name
    }

    fn set(&self, transitions: &[TransitionId]) -> String {
        transitions.iter().map(|&t| self.transition(t)).collect::<Vec<_>>().join(", ")
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let system = self.system;
        writeln!(out, "system {}", system.name())?;
        for e in system.pool().enumerations() {
            let e = system.pool().enumeration(e);
            if !e.name.starts_with('@') {
                writeln!(out, "enum {} {{ {} }}", e.name, e.variants.join(", "))?;
            }
        }
        for v in system.vars() {
            let word = if v.role == Role::Input { "input" } else { "var" };
            write!(out, "{word} {}: {}", v.name, v.sort.name(system.pool()))?;
            match &v.range {
                Some(r) => writeln!(out, " in {}..{}", r.low, r.high)?,
                None => writeln!(out)?,
            }
        }
        let nodes: Vec<String> = system
            .nodes()
            .iter()
            .map(|n| if n.is_final { format!("{} (final)", n.name) } else { n.name.clone() })
            .collect();
        writeln!(out, "nodes {}", nodes.join(", "))?;
        for a in system.assumptions() {
            writeln!(out, "assume {}", self.term(a.term.term()))?;
        }
        for s in system.starts() {
            writeln!(out, "start {} at {}", s.name, system.node(s.target).name)?;
            for c in &s.constraint {
                writeln!(out, "    {}", self.term(c.term.term()))?;
            }
        }
        for t in system.transition_ids() {
            self.write_transition(t, out)?;
        }
        for f in system.fairness() {
            match &f.kind {
                FairnessKind::Justice(p) => {
                    writeln!(out, "fairness {}: justice {}", f.name, self.term(p.term()))?
                }
                FairnessKind::Weak(t) => {
                    writeln!(out, "fairness {}: weak {{{}}}", f.name, self.set(t))?
                }
                FairnessKind::Strong(t) => {
                    writeln!(out, "fairness {}: strong {{{}}}", f.name, self.set(t))?
                }
            }
        }
        for c in system.claims() {
            writeln!(out, "claim {}: {}", c.name, self.claim(&c.kind))?;
        }
        Ok(())
    }

    fn write_transition(&self, id: TransitionId, out: &mut String) -> fmt::Result {
        let system = self.system;
        let t = system.transition(id);
        write!(out, "transition {}", t.name)?;
        if !t.params.is_empty() {
            let params: Vec<String> = t
                .params
                .iter()
                .map(|p| format!("{}: {}", p.name, p.sort.name(system.pool())))
                .collect();
            write!(out, "({})", params.join(", "))?;
        }
        if let Some(g) = t.gate {
            write!(out, " gate {}", system.gates()[g.index()])?;
        }
        writeln!(out, ": {} -> {}", system.node(t.source).name, system.node(t.target).name)?;
        for g in &t.guard {
            writeln!(out, "    when {}", self.term(g.term.term()))?;
        }
        let mut settled = vec![false; system.vars().len()];
        let mut relations = Vec::new();
        for e in &t.effect {
            match e {
                Effect::Assign { var, value, .. } => {
                    settled[var.index()] = true;
                    writeln!(out, "    {} := {}", system.var(*var).name, self.term(value.term()))?;
                }
                Effect::Keep { var, .. } => {
                    settled[var.index()] = true;
                    writeln!(out, "    keep {}", system.var(*var).name)?;
                }
                Effect::Constrain { relation, .. } => {
                    relations.push(relation.term());
                    writeln!(out, "    {}", self.term(relation.term()))?;
                }
            }
        }
        let mentioned = system.pool().free_symbols(&relations);
        for (v, var) in system.vars().iter().enumerate() {
            if !settled[v] && !mentioned.contains(&var.next) {
                writeln!(out, "    any {}", var.name)?;
            }
        }
        Ok(())
    }

    fn under(&self, under: &[FairnessId]) -> String {
        if under.is_empty() {
            return String::new();
        }
        let names: Vec<&str> =
            under.iter().map(|f| self.system.fairness()[f.index()].name.as_str()).collect();
        format!(" under {}", names.join(", "))
    }

    fn goal(&self, goal: &Goal) -> String {
        match goal {
            Goal::State(p) => self.term(p.term()),
            Goal::Step { choices, .. } => {
                let steps: Vec<String> = choices
                    .iter()
                    .map(|(t, f)| format!("{} with {}", self.transition(*t), self.term(f.term())))
                    .collect();
                format!("step {{{}}}", steps.join("; "))
            }
        }
    }

    fn claim(&self, kind: &ClaimKind) -> String {
        match kind {
            ClaimKind::Always(p) => format!("always {}", self.term(p.term())),
            ClaimKind::Reachable(goals) => {
                let goals: Vec<String> = goals.iter().map(|g| self.goal(g)).collect();
                format!("reachable {}", goals.join(" then "))
            }
            ClaimKind::CanEnable(t) => format!("can enable {}", self.transition(*t)),
            ClaimKind::NoSinkhole(n) => format!("no sinkhole {}", self.system.node(*n).name),
            ClaimKind::StartSatisfiable(s) => {
                format!("satisfiable start {}", self.system.starts()[s.index()].name)
            }
            ClaimKind::Completable(t) => format!("completable {}", self.transition(*t)),
            ClaimKind::NoDeadlock => "no deadlock".to_string(),
            ClaimKind::InfiniteRun => "infinite run".to_string(),
            ClaimKind::Eventually { goal, under } => {
                format!("eventually {}{}", self.term(goal.term()), self.under(under))
            }
            ClaimKind::AlwaysEventually { goal, under } => {
                format!("always eventually {}{}", self.term(goal.term()), self.under(under))
            }
            ClaimKind::LeadsTo { from, to, under } => {
                format!(
                    "{} leads to {}{}",
                    self.term(from.term()),
                    self.term(to.term()),
                    self.under(under)
                )
            }
            ClaimKind::AlwaysPossible(p) => format!("always possible {}", self.term(p.term())),
            ClaimKind::ExistsAlways(p) => format!("exists always {}", self.term(p.term())),
        }
    }
}
