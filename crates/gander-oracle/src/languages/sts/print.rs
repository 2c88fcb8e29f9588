//! Prints `.sts` models (docs/language.md).

use std::fmt::Write as _;

use super::{Claim, Fairness, Goal, NODE, Part, Sts, Transition, Variable};
use crate::languages::expression::{Expr, Op, Sort};
use crate::random::Random;

const PRIMARY: u8 = 20;

struct Printer<'a> {
    sts: &'a Sts,
    random: &'a mut Random,
    extra: usize,
    /// The names of the parameters in scope.
    parameters: Vec<String>,
}

impl Printer<'_> {
    fn name(&self, i: usize) -> String {
        match self.sts.variables.get(i) {
            Some(v) => v.name.clone(),
            None => self
                .parameters
                .get(i.wrapping_sub(self.sts.node() + 1))
                .cloned()
                .unwrap_or_default(),
        }
    }

    fn shown(&mut self, e: &Expr) -> (String, u8) {
        match e {
            Expr::Const(Sort::Bool, v) => ((*v != 0).to_string(), PRIMARY),
            Expr::Const(Sort::Symbol { number, .. }, v) => {
                (self.sts.enumerations[*number][*v as usize].clone(), PRIMARY)
            }
            // A numeral has no width.
            Expr::Const(Sort::Bits { width, .. }, v) => {
                (format!("int_to_bv({width}, {v})"), PRIMARY)
            }
            Expr::Const(_, v) => (v.to_string(), if *v < 0 { 11 } else { PRIMARY }),
            Expr::Var(_, i) => (self.name(*i), PRIMARY),
            Expr::Next(_, i) => (format!("{}'", self.name(*i)), PRIMARY),
            Expr::Op(_, op, args) => self.operator(*op, args),
        }
    }

    fn operand(&mut self, e: &Expr, least: u8) -> String {
        let (text, level) = self.shown(e);
        if level < least || level < PRIMARY && self.random.chance(self.extra) {
            format!("({text})")
        } else {
            text
        }
    }

    fn top(&mut self, e: &Expr) -> String {
        self.operand(e, 0)
    }

    /// An operator that associates to the left, or to the right.
    fn binary(&mut self, word: &str, level: u8, args: &[Expr], right: bool) -> (String, u8) {
        let a = self.operand(&args[0], if right { level + 1 } else { level });
        let b = self.operand(&args[1], if right { level } else { level + 1 });
        (format!("{a} {word} {b}"), level)
    }

    /// A comparison, which does not associate.
    fn comparison(&mut self, word: &str, level: u8, args: &[Expr]) -> (String, u8) {
        let (a, b) = (self.operand(&args[0], level + 1), self.operand(&args[1], level + 1));
        (format!("{a} {word} {b}"), level)
    }

    fn call(&mut self, word: &str, args: &[Expr]) -> (String, u8) {
        let args: Vec<String> = args.iter().map(|a| self.top(a)).collect();
        (format!("{word}({})", args.join(", ")), PRIMARY)
    }

    fn operator(&mut self, op: Op, args: &[Expr]) -> (String, u8) {
        let words = self.random.chance(50);
        match op {
            Op::Eq | Op::Neq if matches!(args[0].sort(), Sort::Symbol { number: NODE, .. }) => {
                let Expr::Const(_, n) = &args[1] else { return (String::new(), PRIMARY) };
                (format!("in N{n}"), PRIMARY)
            }
            Op::Not if words => (format!("not {}", self.operand(&args[0], 4)), 4),
            Op::Not => (format!("!{}", self.operand(&args[0], 7)), 7),
            Op::And => self.binary(if words { "and" } else { "&&" }, 3, args, false),
            Op::Or => self.binary(if words { "or" } else { "||" }, 2, args, false),
            Op::Implies => self.binary(if words { "implies" } else { "->" }, 1, args, true),
            Op::Iff => self.binary(if words { "iff" } else { "<->" }, 0, args, false),
            Op::Eq => self.comparison("==", 5, args),
            Op::Neq => self.comparison("!=", 5, args),
            Op::Lt => self.comparison("<", 6, args),
            Op::Le => self.comparison("<=", 6, args),
            Op::Gt => self.comparison(">", 6, args),
            Op::Ge => self.comparison(">=", 6, args),
            Op::Ult if words => self.comparison("<", 6, args),
            Op::Uge if words => self.comparison(">=", 6, args),
            Op::Add => self.binary("+", 8, args, false),
            Op::Sub => self.binary("-", 8, args, false),
            Op::BvAdd if words => self.binary("+", 8, args, false),
            Op::BvSub if words => self.binary("-", 8, args, false),
            Op::BvMul if words => self.binary("*", 9, args, false),
            Op::Mul => self.binary("*", 9, args, false),
            Op::DivEuclid => self.binary("div", 9, args, false),
            Op::ModEuclid => self.binary(if words { "mod" } else { "%" }, 9, args, false),
            Op::Neg => (format!("-{}", self.operand(&args[0], 11)), 11),
            Op::Ite => {
                let c = self.top(&args[0]);
                let (a, b) = (self.operand(&args[1], 0), self.operand(&args[2], 0));
                (format!("(if {c} then {a} else {b})"), PRIMARY)
            }
            Op::Extract(high, low) => {
                (format!("extract({high}, {low}, {})", self.top(&args[0])), PRIMARY)
            }
            Op::ZeroExtend(n) => (format!("zero_extend({n}, {})", self.top(&args[0])), PRIMARY),
            Op::SignExtend(n) => (format!("sign_extend({n}, {})", self.top(&args[0])), PRIMARY),
            other => self.call(function(other), args),
        }
    }

    fn effect(&mut self, t: &Transition) -> String {
        let mut parts = Vec::new();
        for part in &t.effect {
            parts.push(match part {
                Part::Assign(i, e) => format!("{} := {}", self.name(*i), self.top(e)),
                Part::Constraint(e) => self.top(e),
                Part::Any(i) => format!("any {}", self.name(*i)),
            });
        }
        if parts.is_empty() { String::new() } else { format!(" {{ {} }}", parts.join(", ")) }
    }

    fn transition(&mut self, number: usize, t: &Transition) -> String {
        self.parameters = t.parameters.iter().map(|p| p.name.clone()).collect();
        let mut text = if self.sts.with_nodes {
            format!("t{number}: g{}", t.gate)
        } else {
            format!("step t{number}")
        };
        if !t.parameters.is_empty() {
            let all: Vec<String> = t.parameters.iter().map(declaration).collect();
            let _ = write!(text, "({})", all.join(", "));
        }
        if self.sts.with_nodes && (t.target != t.source || self.random.chance(30)) {
            let _ = write!(text, " -> N{}", t.target);
        }
        if let Some(guard) = &t.guard {
            let _ = write!(text, " when {}", self.top(guard));
        }
        text.push_str(&self.effect(t));
        self.parameters.clear();
        text
    }

    fn goal(&mut self, goal: &Goal) -> String {
        match goal {
            Goal::State(p) => self.operand(p, 0),
            Goal::Step(gate, with) => {
                let of: Vec<&Transition> =
                    self.sts.transitions.iter().filter(|t| t.gate == *gate).collect();
                if let [only] = of[..] {
                    self.parameters = only.parameters.iter().map(|p| p.name.clone()).collect();
                }
                let name =
                    if self.sts.with_nodes { format!("g{gate}") } else { format!("t{gate}") };
                let text = match with {
                    Some(p) => format!("{name} with {}", self.operand(p, PRIMARY)),
                    None => name,
                };
                self.parameters.clear();
                text
            }
        }
    }
}

fn function(op: Op) -> &'static str {
    match op {
        Op::Abs => "abs",
        Op::Min => "min",
        Op::Max => "max",
        Op::BvNot => "bvnot",
        Op::BvNeg => "bvneg",
        Op::BvAnd => "bvand",
        Op::BvOr => "bvor",
        Op::BvXor => "bvxor",
        Op::BvAdd => "bvadd",
        Op::BvSub => "bvsub",
        Op::BvMul => "bvmul",
        Op::BvUdiv => "bvudiv",
        Op::BvUrem => "bvurem",
        Op::BvSdiv => "bvsdiv",
        Op::BvSrem => "bvsrem",
        Op::BvSmod => "bvsmod",
        Op::BvShl => "bvshl",
        Op::BvLshr => "bvlshr",
        Op::BvAshr => "bvashr",
        Op::Ult => "bvult",
        Op::Ule => "bvule",
        Op::Ugt => "bvugt",
        Op::Uge => "bvuge",
        Op::Slt => "bvslt",
        Op::Sle => "bvsle",
        Op::Sgt => "bvsgt",
        Op::Sge => "bvsge",
        Op::Concat => "concat",
        // Not generated for this language.
        _ => "invalid",
    }
}

fn declaration(v: &Variable) -> String {
    let sort = match v.sort {
        Sort::Bool => "bool".to_string(),
        Sort::Symbol { number, .. } => format!("Enum{number}"),
        Sort::Bits { width, .. } => format!("bits{width}"),
        _ => "int".to_string(),
    };
    match v.range {
        Some((low, high)) => format!("{}: {sort} {low}..{high}", v.name),
        None => format!("{}: {sort}", v.name),
    }
}

/// The text of a model.
pub(super) fn text(sts: &Sts, random: &mut Random) -> String {
    let mut out = "spec Random\n".to_string();
    let extra = *random.pick(&[0, 20, 60]);
    let mut p = Printer { sts, random, extra, parameters: Vec::new() };
    for (number, names) in sts.enumerations.iter().enumerate() {
        let _ = writeln!(out, "enum Enum{number} {{ {} }}", names.join(", "));
    }
    for v in &sts.variables {
        let _ = writeln!(out, "{} {}", if v.is_input { "input" } else { "var" }, declaration(v));
    }
    for e in &sts.assumptions {
        let _ = writeln!(out, "assume {}", p.top(e));
    }
    for start in &sts.starts {
        let target = if sts.with_nodes { format!(" -> N{}", start.target) } else { String::new() };
        let constraints: Vec<String> = start.constraints.iter().map(|e| p.top(e)).collect();
        let _ = writeln!(out, "start{target} {{ {} }}", constraints.join(", "));
    }
    if sts.with_nodes {
        for (n, is_final) in sts.nodes.iter().enumerate() {
            let word = if *is_final { "final node" } else { "node" };
            let inside: Vec<String> = sts
                .transitions
                .iter()
                .enumerate()
                .filter(|(_, t)| t.source == n)
                .map(|(number, t)| format!("  {}\n", p.transition(number, t)))
                .collect();
            if inside.is_empty() {
                let _ = writeln!(out, "{word} N{n}");
            } else {
                let _ = writeln!(out, "{word} N{n} {{\n{}}}", inside.concat());
            }
        }
    } else {
        for (number, t) in sts.transitions.iter().enumerate() {
            let _ = writeln!(out, "{}", p.transition(number, t));
        }
    }
    for (i, f) in sts.fairness.iter().enumerate() {
        let gate = |g: usize| if sts.with_nodes { format!("g{g}") } else { format!("t{g}") };
        let _ = match f {
            Fairness::Justice(e) => writeln!(out, "fair f{i}: {}", p.top(e)),
            Fairness::Weak(g) => writeln!(out, "weakly fair f{i}: {}", gate(*g)),
            Fairness::Strong(g) => writeln!(out, "strongly fair f{i}: {}", gate(*g)),
        };
    }
    for (i, (claim, under)) in sts.claims.iter().enumerate() {
        let under = match under.len() {
            0 => String::new(),
            n if n == sts.fairness.len() && i % 2 == 0 => " under fairness".to_string(),
            _ => format!(
                " under {}",
                under.iter().map(|f| format!("f{f}")).collect::<Vec<String>>().join(", ")
            ),
        };
        let name = sts.claim_name(i);
        let _ = match claim {
            Claim::Always(e) => writeln!(out, "always {name}: {}", p.top(e)),
            Claim::Reachable(goals) => {
                let goals: Vec<String> = goals.iter().map(|g| p.goal(g)).collect();
                writeln!(out, "reachable {name}: {}", goals.join(" then "))
            }
            Claim::Eventually(e) => writeln!(out, "eventually {name}: {}{under}", p.top(e)),
            Claim::Recurs(e) => writeln!(out, "always eventually {name}: {}{under}", p.top(e)),
            Claim::LeadsTo(a, b) => {
                writeln!(out, "always {name}: {} leads to {}{under}", p.top(a), p.top(b))
            }
            Claim::Possible(e) => writeln!(out, "possible {name}: {}", p.top(e)),
            Claim::ExistsAlways(e) => writeln!(out, "exists always {name}: {}", p.top(e)),
            Claim::NoDeadlock
            | Claim::InfiniteRun
            | Claim::CanEnable(_)
            | Claim::Completable(_) => {
                writeln!(out, "{name}")
            }
        };
    }
    out
}
