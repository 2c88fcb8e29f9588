//! Prints SMV models.
//!
//! Operators by precedence, from the tightest: selection of bits; `!` and unary `-`; `::`; `*` `/`
//! `mod`; `+` `-`; `<<` `>>`; `union`; `in`; comparisons; `&`; `|` `xor` `xnor`; `? :`; `<->`;
//! `->`, the only one that associates to the right.

use std::fmt::Write as _;

use super::{Kind, Module, Rhs, Role, Smv, Spec, When};
use crate::languages::expression::{Expr, Op, Sort};
use crate::random::Random;

/// Prints expressions with some redundant parentheses.
struct Printer<'a> {
    module: &'a Module,
    smv: &'a Smv,
    random: &'a mut Random,
    /// The percentage of redundant parentheses that are printed.
    extra: usize,
}

const PRIMARY: u8 = 20;
const PREFIX: u8 = 12;

impl Printer<'_> {
    fn atom(&mut self, sort: Sort, value: i64) -> String {
        match sort {
            Sort::Bool => if value != 0 { "TRUE" } else { "FALSE" }.to_string(),
            Sort::Int => value.to_string(),
            Sort::Symbol { number, .. } => self.smv.enumerations[number][value as usize].clone(),
            Sort::Bits { width, signed } => {
                let sign = if signed { 's' } else { 'u' };
                match self.random.below(3) {
                    0 if !signed => format!("0ud{width}_{value}"),
                    1 if width % 4 == 0 => {
                        format!("0{sign}h{width}_{value:0digits$x}", digits = width as usize / 4)
                    }
                    _ => format!("0{sign}b{width}_{value:0digits$b}", digits = width as usize),
                }
            }
            Sort::Array { .. } => "TRUE".to_string(),
        }
    }

    /// The text, and the precedence of its outermost operator.
    fn shown(&mut self, e: &Expr) -> (String, u8) {
        match e {
            Expr::Const(sort, value) => {
                let text = self.atom(*sort, *value);
                let level = if text.starts_with('-') { PREFIX } else { PRIMARY };
                (text, level)
            }
            Expr::Var(_, i) => (self.module.symbols[*i].name.clone(), PRIMARY),
            Expr::Next(_, i) => (format!("next({})", self.module.symbols[*i].name), PRIMARY),
            Expr::Op(sort, op, args) => self.operator(*sort, *op, args),
        }
    }

    /// The text as an operand, with parentheses if its precedence is below `least`.
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

    fn binary(&mut self, word: &str, level: u8, args: &[Expr]) -> (String, u8) {
        let right_first = word == "->";
        let left = self.operand(&args[0], if right_first { level + 1 } else { level });
        let right = self.operand(&args[1], if right_first { level } else { level + 1 });
        (format!("{left} {word} {right}"), level)
    }

    fn operator(&mut self, sort: Sort, op: Op, args: &[Expr]) -> (String, u8) {
        match op {
            Op::Not | Op::BvNot => (format!("!{}", self.operand(&args[0], PREFIX)), PREFIX),
            Op::Neg | Op::BvNeg => (format!("- {}", self.operand(&args[0], PREFIX)), PREFIX),
            Op::Concat => self.binary("::", 11, args),
            Op::Mul | Op::BvMul => self.binary("*", 10, args),
            Op::DivCut | Op::BvUdiv | Op::BvSdiv => self.binary("/", 10, args),
            Op::ModCut | Op::BvUrem | Op::BvSrem => self.binary("mod", 10, args),
            Op::Add | Op::BvAdd => self.binary("+", 9, args),
            Op::Sub | Op::BvSub => self.binary("-", 9, args),
            Op::BvShl => self.binary("<<", 8, args),
            Op::BvLshr | Op::BvAshr => self.binary(">>", 8, args),
            Op::Eq if args[0].sort() == Sort::Int && self.random.chance(20) => {
                let (a, b) = (self.operand(&args[0], 7), self.operand(&args[1], 0));
                (format!("{a} in {{{b}, {b}}}"), 6)
            }
            Op::Eq => self.binary("=", 5, args),
            Op::Neq => self.binary("!=", 5, args),
            Op::Lt | Op::Ult | Op::Slt => self.binary("<", 5, args),
            Op::Le | Op::Ule | Op::Sle => self.binary("<=", 5, args),
            Op::Gt | Op::Ugt | Op::Sgt => self.binary(">", 5, args),
            Op::Ge | Op::Uge | Op::Sge => self.binary(">=", 5, args),
            Op::And | Op::BvAnd => self.binary("&", 4, args),
            Op::Or | Op::BvOr => self.binary("|", 3, args),
            Op::Xor | Op::BvXor => self.binary("xor", 3, args),
            Op::Xnor | Op::BvXnor => self.binary("xnor", 3, args),
            Op::Iff => self.binary("<->", 1, args),
            Op::Implies => self.binary("->", 0, args),
            Op::Ite if self.random.chance(50) => {
                let c = self.top(&args[0]);
                let (a, b) = (self.top(&args[1]), self.top(&args[2]));
                (format!("case {c} : {a}; TRUE : {b}; esac"), PRIMARY)
            }
            Op::Ite => {
                let c = self.operand(&args[0], 3);
                let (a, b) = (self.operand(&args[1], 3), self.operand(&args[2], 3));
                (format!("({c} ? {a} : {b})"), PRIMARY)
            }
            Op::Abs => (format!("abs({})", self.top(&args[0])), PRIMARY),
            Op::Min => (format!("min({}, {})", self.top(&args[0]), self.top(&args[1])), PRIMARY),
            Op::Max => (format!("max({}, {})", self.top(&args[0]), self.top(&args[1])), PRIMARY),
            Op::Extract(high, low) => {
                let a = self.operand(&args[0], PRIMARY);
                (format!("{a}[{high}:{low}]"), PRIMARY)
            }
            Op::ZeroExtend(n) | Op::SignExtend(n) => {
                (format!("extend({}, {n})", self.top(&args[0])), PRIMARY)
            }
            Op::Recast => {
                let word = if matches!(sort, Sort::Bits { signed: true, .. }) {
                    "signed"
                } else {
                    "unsigned"
                };
                (format!("{word}({})", self.top(&args[0])), PRIMARY)
            }
            // Not generated for this language.
            _ => ("TRUE".to_string(), PRIMARY),
        }
    }

    fn rhs(&mut self, rhs: &Rhs) -> String {
        match rhs {
            Rhs::Set(values) if values.len() == 1 => self.top(&values[0]),
            Rhs::Set(values) => {
                let union = self.random.chance(30);
                let values: Vec<String> =
                    values.iter().map(|e| self.operand(e, if union { 8 } else { 0 })).collect();
                if union { values.join(" union ") } else { format!("{{{}}}", values.join(", ")) }
            }
            Rhs::Case(branches) => {
                let mut text = "case ".to_string();
                for (condition, rhs) in branches {
                    let _ = write!(text, "{} : {}; ", self.top(condition), self.rhs(rhs));
                }
                text + "esac"
            }
        }
    }

    fn body(&mut self, out: &mut String) {
        for (kind, word) in
            [(Kind::State, "VAR"), (Kind::Frozen, "FROZENVAR"), (Kind::Input, "IVAR")]
        {
            let of = |s: &&super::Symbol| matches!(s.role, Role::Var(k, _) if k == kind);
            for s in self.module.symbols.iter().filter(of) {
                let _ = writeln!(out, "{word} {} : {};", s.name, s.type_text);
            }
        }
        for s in &self.module.symbols {
            if let Role::Define(e) = &s.role {
                let _ = writeln!(out, "DEFINE {} := {};", s.name, self.top(e));
            }
        }
        if !self.module.assigns.is_empty() {
            out.push_str("ASSIGN\n");
        }
        for a in &self.module.assigns {
            let name = &self.module.symbols[a.target].name;
            let left = match a.when {
                When::Init => format!("init({name})"),
                When::Next => format!("next({name})"),
                When::Now => name.clone(),
            };
            let _ = writeln!(out, "  {left} := {};", self.rhs(&a.rhs));
        }
        for (word, formulas) in [
            ("INIT", &self.module.init),
            ("TRANS", &self.module.trans),
            ("INVAR", &self.module.invar),
        ] {
            for e in formulas {
                let _ = writeln!(out, "{word} {};", self.top(e));
            }
        }
        for (i, spec) in self.module.specs.iter().enumerate() {
            // Temporal operators have the precedence of `!`.
            let _ = match spec {
                Spec::Invariant(p) => writeln!(out, "INVARSPEC NAME p{i} := {};", self.top(p)),
                Spec::Globally(p) => {
                    writeln!(out, "LTLSPEC NAME p{i} := G {};", self.operand(p, PRIMARY))
                }
                Spec::AlwaysGlobally(p) => {
                    writeln!(out, "CTLSPEC NAME p{i} := AG {};", self.operand(p, PRIMARY))
                }
                Spec::Finally(p) => {
                    writeln!(out, "LTLSPEC NAME p{i} := F {};", self.operand(p, PRIMARY))
                }
                Spec::Recurs(p) => {
                    writeln!(out, "LTLSPEC NAME p{i} := G F {};", self.operand(p, PRIMARY))
                }
                Spec::Response(p, q) => {
                    let (p, q) = (self.operand(p, 2), self.operand(q, PRIMARY));
                    writeln!(out, "LTLSPEC NAME p{i} := G ({p} -> F {q});")
                }
            };
        }
    }
}

/// The text of a model.
pub(super) fn text(smv: &Smv, random: &mut Random) -> String {
    let extra = *random.pick(&[0, 20, 60]);
    let mut out = "MODULE main\n".to_string();
    for (number, arguments) in smv.instances.iter().enumerate() {
        let mut printer = Printer { module: &smv.main, smv, random, extra };
        let arguments: Vec<String> = arguments.iter().map(|e| printer.top(e)).collect();
        let arguments = if arguments.is_empty() {
            String::new()
        } else {
            format!("({})", arguments.join(", "))
        };
        let _ = writeln!(out, "VAR c{number} : cell{arguments};");
    }
    Printer { module: &smv.main, smv, random, extra }.body(&mut out);
    if let Some(cell) = &smv.cell {
        let parameters: Vec<&str> = cell
            .symbols
            .iter()
            .filter(|s| matches!(s.role, Role::Parameter))
            .map(|s| s.name.as_str())
            .collect();
        let parameters = if parameters.is_empty() {
            String::new()
        } else {
            format!("({})", parameters.join(", "))
        };
        let _ = writeln!(out, "MODULE cell{parameters}");
        Printer { module: cell, smv, random, extra }.body(&mut out);
    }
    out
}
