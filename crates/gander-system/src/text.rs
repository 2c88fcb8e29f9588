//! A system as text, for snapshot tests and debugging: one line for each part, with frames and free
//! variables. There is no parser for it.

use std::fmt::Write;

use gander_term::{Sort, TermId};

use crate::claim::{ClaimKind, FairnessId, FairnessKind, Goal};
use crate::system::{Effect, Range, Role, System, Transition, TransitionId};

/// Formulas are cut off after this many characters.
const LONGEST_FORMULA: usize = 10_000;

impl System {
    /// The system as text; see the module's documentation.
    pub fn to_text(&self) -> String {
        let mut out = format!("system {}\n", self.name);
        self.declarations(&mut out);
        for s in &self.starts {
            line(&mut out, format_args!("start `{}` -> {}", s.name, self.node(s.target).name));
            for e in &s.constraint {
                line(&mut out, format_args!("  {}", self.shown(e.term.term())));
            }
        }
        for t in &self.transitions {
            self.transition_text(&mut out, t);
        }
        for a in &self.assumptions {
            line(&mut out, format_args!("assume {}", self.shown(a.term.term())));
        }
        for f in &self.fairness {
            let what = match &f.kind {
                FairnessKind::Justice(p) => format!("justice {}", self.shown(p.term())),
                FairnessKind::Weak(t) => format!("weak {}", self.names_of(t)),
                FairnessKind::Strong(t) => format!("strong {}", self.names_of(t)),
            };
            line(&mut out, format_args!("fairness `{}`: {what}", f.name));
        }
        for c in &self.claims {
            line(&mut out, format_args!("claim `{}`: {}", c.name, self.claim_text(&c.kind)));
        }
        out
    }

    /// A claim as text, in the words of docs/semantics.md.
    pub fn claim_text(&self, kind: &ClaimKind) -> String {
        match kind {
            ClaimKind::Always(p) => format!("always {}", self.shown(p.term())),
            ClaimKind::Reachable(goals) => {
                let goals: Vec<String> = goals.iter().map(|g| self.goal_text(g)).collect();
                format!("reachable {}", goals.join(" then "))
            }
            ClaimKind::CanEnable(t) => format!("can enable {}", self.transition(*t).name),
            ClaimKind::NoSinkhole(n) => format!("no sinkhole {}", self.node(*n).name),
            ClaimKind::StartSatisfiable(s) => {
                format!("satisfiable start {}", self.starts[s.index()].name)
            }
            ClaimKind::Completable(t) => format!("completable {}", self.transition(*t).name),
            ClaimKind::NoDeadlock => "no deadlock".to_string(),
            ClaimKind::InfiniteRun => "infinite run".to_string(),
            ClaimKind::Eventually { goal, under } => {
                format!("eventually {}{}", self.shown(goal.term()), self.under(under))
            }
            ClaimKind::AlwaysEventually { goal, under } => {
                format!("always eventually {}{}", self.shown(goal.term()), self.under(under))
            }
            ClaimKind::LeadsTo { from, to, under } => {
                format!(
                    "{} leads to {}{}",
                    self.shown(from.term()),
                    self.shown(to.term()),
                    self.under(under)
                )
            }
            ClaimKind::AlwaysPossible(p) => format!("always possible {}", self.shown(p.term())),
            ClaimKind::ExistsAlways(p) => format!("exists always {}", self.shown(p.term())),
        }
    }

    fn shown(&self, t: TermId) -> String {
        self.pool.display_bounded(t, LONGEST_FORMULA).to_string()
    }

    fn sort_text(&self, sort: Sort, range: &Option<Range>) -> String {
        let name = sort.name(&self.pool);
        match range {
            Some(r) => format!("{name} {}..{}", r.low, r.high),
            None => name.to_string(),
        }
    }

    fn declarations(&self, out: &mut String) {
        let location = self.pool.symbol(self.location).sort;
        for e in self.pool.enumerations().filter(|&e| Sort::Enum(e) != location) {
            let e = self.pool.enumeration(e);
            line(out, format_args!("enum {} {{ {} }}", e.name, e.variants.join(", ")));
        }
        for v in &self.vars {
            let role = match v.role {
                Role::State => "var",
                Role::Input => "input",
            };
            line(out, format_args!("{role} {}: {}", v.name, self.sort_text(v.sort, &v.range)));
        }
        for n in &self.nodes {
            line(out, format_args!("{}node {}", if n.is_final { "final " } else { "" }, n.name));
            for h in &n.hints {
                line(out, format_args!("  hint {}", self.shown(h.term.term())));
            }
        }
    }

    fn transition_text(&self, out: &mut String, t: &Transition) {
        let gate = t.gate.map_or(String::new(), |g| format!(" [{}]", self.gates[g.index()]));
        let (source, target) = (&self.node(t.source).name, &self.node(t.target).name);
        line(out, format_args!("transition `{}`{gate}: {source} -> {target}", t.name));
        for p in &t.params {
            line(out, format_args!("  param {}: {}", p.name, self.sort_text(p.sort, &p.range)));
        }
        for g in &t.guard {
            line(out, format_args!("  when {}", self.shown(g.term.term())));
        }
        let mut fixed = vec![false; self.vars.len()];
        let mut kept = Vec::new();
        let mut relations = Vec::new();
        for e in &t.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    fixed[var.index()] = true;
                    line(
                        out,
                        format_args!("  {} := {}", self.var(var).name, self.shown(value.term())),
                    );
                }
                Effect::Keep { var, .. } => {
                    fixed[var.index()] = true;
                    kept.push(self.var(var).name.as_str());
                }
                Effect::Constrain { relation, .. } => {
                    relations.push(relation.term());
                    line(out, format_args!("  with {}", self.shown(relation.term())));
                }
            }
        }
        let primed = self.pool.free_symbols(&relations);
        let free: Vec<&str> = (self.vars.iter().zip(&fixed))
            .filter(|(v, fixed)| !**fixed && primed.binary_search(&v.next).is_err())
            .map(|(v, _)| v.name.as_str())
            .collect();
        for (word, names) in [("keep", kept), ("any", free)] {
            if !names.is_empty() {
                line(out, format_args!("  {word} {}", names.join(", ")));
            }
        }
    }

    fn goal_text(&self, goal: &Goal) -> String {
        match goal {
            Goal::State(p) => self.shown(p.term()),
            Goal::Step { choices, .. } => {
                let choices: Vec<String> = choices
                    .iter()
                    .map(|(t, p)| {
                        format!("`{}` with {}", self.transition(*t).name, self.shown(p.term()))
                    })
                    .collect();
                format!("step {{ {} }}", choices.join("; "))
            }
        }
    }

    fn under(&self, under: &[FairnessId]) -> String {
        if under.is_empty() {
            return String::new();
        }
        let names: Vec<&str> =
            under.iter().map(|f| self.fairness[f.index()].name.as_str()).collect();
        format!(" under {}", names.join(", "))
    }

    fn names_of(&self, transitions: &[TransitionId]) -> String {
        let names: Vec<&str> =
            transitions.iter().map(|&t| self.transition(t).name.as_str()).collect();
        names.join(", ")
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use crate::testing::account;
    use crate::{ClaimKind, FairnessKind, TransitionId};

    #[test]
    fn a_system_has_one_line_for_each_part() {
        let mut m = account();
        m.builder.pool.declare_enum("Colour", &["Red", "Blue"]).unwrap();
        m.assume("day >= 0");
        m.step("Frozen", "audit", "Open", &[], &[], &["any fee"]);
        let often =
            m.builder.fairness("often", FairnessKind::Weak(vec![TransitionId(3)]), None).unwrap();
        let (state, step) =
            (m.state_goal("balance > 60"), m.step_goal(TransitionId(0), "Open.deposit.amount > 1"));
        m.claim("trip", ClaimKind::Reachable(vec![state, step]));
        let t = m.term("balance == 0");
        let goal = m.builder.state_formula(t, "goal").unwrap();
        m.claim("spent", ClaimKind::Eventually { goal, under: vec![often] });
        let expected = "\
system Account
enum Colour { Red, Blue }
var balance: int
var fee: int
input day: int
node Open
node Frozen
final node Closed
start `start 0` -> Open
  balance == 50
  fee == 1
transition `Open.deposit` [deposit]: Open -> Open
  param amount: int
  when Open.deposit.amount > 0
  balance := balance + Open.deposit.amount
  keep fee
  any day
transition `Open.freeze` [freeze]: Open -> Frozen
  keep balance, fee
  any day
transition `Frozen.charge` [charge]: Frozen -> Frozen
  when balance >= fee
  with balance' <= balance - fee
  keep fee
  any day
transition `Frozen.unfreeze` [unfreeze]: Frozen -> Open
  when day mod 2 == 0
  keep balance, fee
  any day
transition `Open.close` [close]: Open -> Closed
  when balance == 0
  keep balance, fee
  any day
transition `Frozen.audit` [audit]: Frozen -> Open
  keep balance
  any fee, day
assume day >= 0
fairness `often`: weak Frozen.unfreeze
claim `trip`: reachable balance > 60 then step { `Open.deposit` with Open.deposit.amount > 1 }
claim `spent`: eventually balance == 0 under often
";
        assert_eq!(m.finish().to_text(), expected);
    }
}
