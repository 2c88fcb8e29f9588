//! Prints Lustre programs.

use std::fmt::Write as _;

use super::{Node, Program, Rhs, Stream, TEMPORAL, Temporal};
use crate::languages::expression::{Expr, Op, Sort};
use crate::random::Random;

const PRIMARY: u8 = 20;

struct Printer<'a> {
    program: &'a Program,
    node: &'a Node,
    random: &'a mut Random,
    extra: usize,
    /// Unguarded `pre` that occurs several times. In some readings each occurrence has its own
    /// first value, so these are separate streams.
    named: Vec<usize>,
}

/// Counts the occurrences of operators with memory in the text of an expression.
fn count(node: &Node, e: &Expr, times: &mut [usize]) {
    match e {
        Expr::Var(_, i) | Expr::Next(_, i) if *i >= TEMPORAL => {
            let k = *i - TEMPORAL;
            times[k] += 1;
            match &node.temporals[k].1 {
                Temporal::Delay(a, b) | Temporal::Arrow(a, b) => {
                    count(node, a, times);
                    count(node, b, times);
                }
                Temporal::Guarded(a) | Temporal::Unguarded(a) => count(node, a, times),
            }
        }
        Expr::Op(_, _, args) => args.iter().for_each(|a| count(node, a, times)),
        _ => {}
    }
}

/// Unguarded `pre` that occurs several times in the text of a node.
fn repeated(node: &Node) -> Vec<usize> {
    let mut times = vec![0; node.temporals.len()];
    for equation in &node.equations {
        match &equation.rhs {
            Rhs::Expr(e) => count(node, e, &mut times),
            Rhs::Aggregate(es) | Rhs::Call(_, es) => {
                es.iter().for_each(|e| count(node, e, &mut times))
            }
            Rhs::Restart(c, _, es) => es.iter().chain([c]).for_each(|e| count(node, e, &mut times)),
            Rhs::Condact(c, _, es, defaults) => {
                es.iter().chain(defaults).chain([c]).for_each(|e| count(node, e, &mut times));
            }
        }
    }
    for e in node.asserts.iter().chain(&node.assumes).chain(&node.guarantees) {
        count(node, e, &mut times);
    }
    let is_unguarded = |k: &usize| matches!(node.temporals[*k].1, Temporal::Unguarded(_));
    (0..times.len()).filter(|k| times[*k] > 1).filter(is_unguarded).collect()
}

impl Printer<'_> {
    fn shown(&mut self, e: &Expr) -> (String, u8) {
        match e {
            Expr::Const(Sort::Bool, v) => ((*v != 0).to_string(), PRIMARY),
            Expr::Const(Sort::Symbol { number, .. }, v) => {
                (self.program.enumerations[*number][*v as usize].clone(), PRIMARY)
            }
            Expr::Const(_, v) => (v.to_string(), if *v < 0 { 8 } else { PRIMARY }),
            Expr::Var(_, i) | Expr::Next(_, i) if *i >= TEMPORAL => {
                let (node, k) = (self.node, *i - TEMPORAL);
                if self.named.contains(&k) {
                    return (format!("m{k}"), PRIMARY);
                }
                match &node.temporals[k].1 {
                    Temporal::Delay(first, operand)
                        if self.program.only_kind2 && self.random.chance(20) =>
                    {
                        (
                            format!(
                                "({} fby {})",
                                self.operand(first, 10),
                                self.operand(operand, 10)
                            ),
                            PRIMARY,
                        )
                    }
                    Temporal::Delay(first, operand) => (
                        format!(
                            "{} -> pre {}",
                            self.operand(first, 1),
                            self.operand(operand, PRIMARY)
                        ),
                        0,
                    ),
                    Temporal::Guarded(e) | Temporal::Unguarded(e) => {
                        (format!("pre {}", self.operand(e, PRIMARY)), 9)
                    }
                    Temporal::Arrow(a, b) => {
                        (format!("{} -> {}", self.operand(a, 1), self.operand(b, 0)), 0)
                    }
                }
            }
            Expr::Var(_, i) | Expr::Next(_, i) => (self.node.streams[*i].name.clone(), PRIMARY),
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

    fn binary(&mut self, word: &str, level: u8, args: &[Expr]) -> (String, u8) {
        let (a, b) = (self.operand(&args[0], level), self.operand(&args[1], level + 1));
        (format!("{a} {word} {b}"), level)
    }

    /// Operators that do not associate, or that tools associate differently.
    fn alone(&mut self, word: &str, level: u8, args: &[Expr]) -> (String, u8) {
        let (a, b) = (self.operand(&args[0], level + 1), self.operand(&args[1], level + 1));
        (format!("{a} {word} {b}"), level)
    }

    fn operator(&mut self, op: Op, args: &[Expr]) -> (String, u8) {
        match op {
            Op::Not => (format!("not {}", self.operand(&args[0], PRIMARY)), 4),
            Op::Neg => (format!("-{}", self.operand(&args[0], PRIMARY)), 8),
            Op::And => self.binary("and", 3, args),
            Op::Or => self.alone("or", 2, args),
            Op::Xor => self.alone("xor", 2, args),
            Op::Implies => {
                let (a, b) = (self.operand(&args[0], 2), self.operand(&args[1], 1));
                (format!("{a} => {b}"), 1)
            }
            Op::Eq | Op::Iff => self.alone("=", 5, args),
            Op::Neq => self.alone("<>", 5, args),
            Op::Lt => self.alone("<", 5, args),
            Op::Le => self.alone("<=", 5, args),
            Op::Gt => self.alone(">", 5, args),
            Op::Ge => self.alone(">=", 5, args),
            Op::Add => self.binary("+", 6, args),
            Op::Sub => self.binary("-", 6, args),
            Op::Mul => self.binary("*", 7, args),
            Op::DivEuclid => self.binary("div", 7, args),
            Op::ModEuclid => self.binary("mod", 7, args),
            Op::Ite => {
                let (c, a, b) = (self.top(&args[0]), self.top(&args[1]), self.operand(&args[2], 1));
                (format!("(if {c} then {a} else {b})"), PRIMARY)
            }
            // Not generated for this language.
            _ => ("true".to_string(), PRIMARY),
        }
    }

    fn list(&mut self, es: &[Expr]) -> String {
        es.iter().map(|e| self.top(e)).collect::<Vec<String>>().join(", ")
    }
}

fn sort(s: &Stream, is_root_input: bool) -> String {
    match s.sort {
        Sort::Bool => "bool".to_string(),
        Sort::Symbol { .. } => "Colour".to_string(),
        _ if is_root_input => {
            format!("subrange [{}, {}] of int", s.domain[0], s.domain[s.domain.len() - 1])
        }
        _ => "int".to_string(),
    }
}

fn declared(streams: &[Stream], is_root_input: bool) -> String {
    let mut texts = Vec::new();
    for s in streams {
        match s.name.strip_suffix("[0]") {
            Some(name) => texts.push(format!("{name}: {}^2", sort(s, false))),
            None if s.name.ends_with("[1]") => {}
            None => texts.push(format!("{}: {}", s.name, sort(s, is_root_input))),
        }
    }
    texts.join("; ")
}

fn node_name(number: usize) -> String {
    format!("sub{number}")
}

/// The text of a program.
pub(super) fn text(program: &Program, random: &mut Random) -> String {
    let extra = *random.pick(&[0, 20, 60]);
    let mut out = format!("type Colour = enum {{ {} }};\n", program.enumerations[0].join(", "));
    for (number, node) in program.nodes.iter().enumerate() {
        let is_root = number + 1 == program.nodes.len();
        let named = repeated(node);
        let mut p = Printer { program, node, random, extra, named: named.clone() };
        let name = if is_root { "top".to_string() } else { node_name(number) };
        let (inputs, rest) = node.streams.split_at(node.inputs);
        let (outputs, locals) = rest.split_at(node.outputs);
        let _ = writeln!(
            out,
            "node {name}({}) returns ({});",
            declared(inputs, is_root),
            declared(outputs, false)
        );
        if !node.guarantees.is_empty() {
            out.push_str("(*@contract\n");
            for e in &node.assumes {
                let _ = writeln!(out, "  assume {};", p.top(e));
            }
            for (k, e) in node.guarantees.iter().enumerate() {
                let _ = writeln!(out, "  guarantee \"g{k}\" {};", p.top(e));
            }
            out.push_str("*)\n");
        }
        if !locals.is_empty() {
            let _ = writeln!(out, "var {};", declared(locals, false));
        }
        for k in &named {
            let of =
                Stream { name: format!("m{k}"), sort: node.temporals[*k].0, domain: Vec::new() };
            let word = if locals.is_empty() && *k == named[0] { "var " } else { "" };
            let _ = writeln!(out, "{word}{};", declared(&[of], false));
        }
        out.push_str("let\n");
        if is_root {
            out.push_str("  --%MAIN;\n");
        }
        let mut equations = Vec::new();
        for k in &named {
            if let Some(operand) = node.temporals[*k].1.operand() {
                equations.push(format!("  m{k} = pre {};\n", p.operand(operand, PRIMARY)));
            }
        }
        for equation in &node.equations {
            let names = |count: usize| {
                let of = &node.streams[equation.target..equation.target + count];
                of.iter().map(|s| s.name.clone()).collect::<Vec<String>>().join(", ")
            };
            let outputs = |n: usize| names(program.nodes[n].outputs);
            let bracketed = |n: usize| {
                if program.nodes[n].outputs == 1 { outputs(n) } else { format!("({})", outputs(n)) }
            };
            equations.push(match &equation.rhs {
                Rhs::Expr(e) => format!("  {} = {};\n", names(1), p.top(e)),
                Rhs::Aggregate(es) => {
                    let name = names(1);
                    format!("  {} = [{}];\n", name.trim_end_matches("[0]"), p.list(es))
                }
                Rhs::Call(n, arguments) => {
                    format!("  {} = {}({});\n", bracketed(*n), node_name(*n), p.list(arguments))
                }
                Rhs::Restart(condition, n, arguments) => {
                    let condition = p.top(condition);
                    let call = format!(
                        "(restart {} every {condition})({})",
                        node_name(*n),
                        p.list(arguments)
                    );
                    format!("  {} = {call};\n", bracketed(*n))
                }
                Rhs::Condact(clock, n, arguments, defaults) => {
                    let clock = p.top(clock);
                    let call = format!("{}({})", node_name(*n), p.list(arguments));
                    format!(
                        "  {} = condact({clock}, {call}, {});\n",
                        bracketed(*n),
                        p.list(defaults)
                    )
                }
            });
        }
        // The order of equations has no meaning.
        if p.random.chance(40) {
            equations.reverse();
        }
        out.push_str(&equations.concat());
        for e in &node.asserts {
            let _ = writeln!(out, "  assert {};", p.top(e));
        }
        for property in &node.properties {
            let _ = writeln!(out, "  --%PROPERTY {};", node.streams[*property].name);
        }
        out.push_str("tel\n");
    }
    out
}
