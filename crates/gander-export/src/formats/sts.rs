//! gander's own language, with the control graph.

use std::fmt::Write as _;

use std::collections::BTreeSet;

use gander_system::{
    ChoiceTerm, ClaimId, ClaimKind, ClaimOrigin, Effect, Goal, Role, StateTerm, System,
    TransitionId,
};
use gander_term::{BvOp, IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::encode::flat::reading;
use crate::text::names::{Names, legend, missing};
use crate::text::printer::{Printer, Style};
use crate::{NameMap, Refusal, Selection, Written, WrittenClaim};

const RESERVED: &[&str] = &[
    "spec",
    "system",
    "var",
    "input",
    "const",
    "define",
    "enum",
    "start",
    "node",
    "final",
    "step",
    "assume",
    "invariant",
    "always",
    "reachable",
    "eventually",
    "possible",
    "exists",
    "forall",
    "no",
    "infinite",
    "run",
    "deadlock",
    "fair",
    "weakly",
    "strongly",
    "when",
    "any",
    "in",
    "and",
    "or",
    "not",
    "implies",
    "if",
    "then",
    "else",
    "true",
    "false",
    "bool",
    "int",
    "real",
    "string",
    "div",
    "mod",
    "min",
    "max",
    "abs",
    "to_real",
    "to_int",
    "leads",
    "to",
    "under",
    "with",
    "fairness",
    "main",
    "extract",
    "concat",
    "can",
    "enable",
    "sinkhole",
    "satisfiable",
    "completable",
    "as",
    "sync",
    "range",
    "of",
    "claim",
    "zero_extend",
    "sign_extend",
    "ubv_to_int",
    "sbv_to_int",
    "int_to_bv",
    "repeat",
    "tau",
    "internal",
];

/// Limits the nesting of formulas. The parser accepts 256 levels; the rest is for the text around a
/// formula.
const MAX_LEVELS: usize = 248;

struct Sts {
    symbols: FxHashMap<SymbolId, String>,
    values: FxHashMap<(usize, u32), String>,
    /// The names of enumerations.
    sorts: FxHashMap<usize, String>,
}

fn int(i: &IBig) -> String {
    if *i < IBig::ZERO { format!("(-{})", -i) } else { i.to_string() }
}

impl Sts {
    /// Recurses over nested arrays only, whose depth is limited.
    fn constant(&self, pool: &Pool, value: &Value) -> String {
        match value {
            Value::Int(i) => int(i),
            Value::Real(r) => {
                let decimal = pool.show_decimal(value);
                if !decimal.contains('/') {
                    let point = if decimal.contains('.') { "" } else { ".0" };
                    return match decimal.starts_with('-') {
                        true => format!("({decimal}{point})"),
                        false => format!("{decimal}{point}"),
                    };
                }
                let (top, bottom) = (r.numerator(), r.denominator());
                let sign = if *r < RBig::ZERO { "-" } else { "" };
                let top = if *r < RBig::ZERO { -top } else { top.clone() };
                format!("({sign}{top}.0 / {bottom}.0)")
            }
            Value::Enum(id, k) => self.values[&(id.index(), *k)].clone(),
            Value::BitVec(b) => format!("int_to_bv({}, {})", b.width().bits(), b.unsigned()),
            Value::Array(a) => {
                let everywhere = self.constant(pool, a.default());
                let mut text =
                    format!("array[{}]({everywhere})", self.sort(pool, a.sort().index()));
                for (i, v) in a.exceptions() {
                    text += &format!("[{} := {}]", self.constant(pool, i), self.constant(pool, v));
                }
                text
            }
            Value::Bool(_) | Value::Str(_) => pool.show_value(value),
        }
    }

    /// The nesting depth of the text of a constant. Recurses over nested arrays only, whose depth
    /// is limited.
    fn levels(value: &Value) -> usize {
        match value {
            Value::Array(a) => {
                let inside = a
                    .exceptions()
                    .iter()
                    .flat_map(|(i, v)| [i, v])
                    .map(Sts::levels)
                    .max()
                    .unwrap_or(0);
                // Each exception encloses those before it.
                inside.max(Sts::levels(a.default()) + 1) + a.exceptions().len()
            }
            Value::Int(_) => 3,
            Value::Real(_) => 4,
            Value::BitVec(_) => 2,
            Value::Bool(_) | Value::Str(_) | Value::Enum(..) => 1,
        }
    }

    /// Refuses terms that the parser would find nested too deeply.
    fn check_levels(pool: &Pool, root: TermId) -> Result<(), Refusal> {
        let mut levels: FxHashMap<TermId, usize> = FxHashMap::default();
        for t in pool.postorder(&[root]) {
            let inside = pool.args(t).iter().map(|a| levels[a]).max().unwrap_or(0);
            let n = match pool.op(t) {
                Op::Const(v) => Sts::levels(pool.value(v)),
                Op::Symbol(_) | Op::Bool(_) => 1,
                Op::Select | Op::Store | Op::ConstArray(_) => inside + 1,
                Op::Abs | Op::Min | Op::Max | Op::ToReal | Op::ToInt | Op::Bv(_) => inside + 1,
                // With parentheses.
                _ => inside + 2,
            };
            if n > MAX_LEVELS {
                let what = match pool.op(t) {
                    Op::Const(_) => "an array constant with this many elements",
                    Op::Store => "an array with this many elements written one after the other",
                    _ => "a formula that is nested this deeply",
                };
                return Err(Refusal(format!(
                    "{what} cannot be written: expressions have at most {MAX_LEVELS} levels"
                )));
            }
            levels.insert(t, n);
        }
        Ok(())
    }

    /// Recurses over nested arrays only, whose depth is limited.
    fn sort(&self, pool: &Pool, sort: Sort) -> String {
        match sort {
            Sort::Enum(id) => self.sorts.get(&id.index()).cloned().unwrap_or_default(),
            Sort::Array(a) => {
                format!("array[{}] of {}", self.sort(pool, a.index()), self.sort(pool, a.element()))
            }
            Sort::Bool | Sort::Int | Sort::Real | Sort::String | Sort::BitVec(_) => {
                sort.name(pool).into_owned()
            }
        }
    }
}

impl Style for Sts {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let infix = |sign: &str| Ok(format!("({})", args.join(&format!(" {sign} "))));
        let call = |name: &str| Ok(format!("{name}({})", args.join(", ")));
        match pool.op(t) {
            Op::Symbol(s) => match self.symbols.get(&s) {
                Some(name) => Ok(name.clone()),
                None => {
                    Err(Refusal(format!("the symbol `{}` cannot be written", pool.symbol(s).name)))
                }
            },
            Op::Bool(b) => Ok(b.to_string()),
            Op::Const(v) => Ok(self.constant(pool, pool.value(v))),
            Op::Select => Ok(format!("{}[{}]", args[0], args[1])),
            Op::Store => Ok(format!("{}[{} := {}]", args[0], args[1], args[2])),
            Op::ConstArray(sort) => {
                Ok(format!("array[{}]({})", self.sort(pool, sort.index()), args[0]))
            }
            Op::Not => Ok(format!("(not {})", args[0])),
            Op::And => infix("and"),
            Op::Or => infix("or"),
            Op::Implies => infix("->"),
            Op::Eq => infix("=="),
            Op::Ite => Ok(format!("(if {} then {} else {})", args[0], args[1], args[2])),
            Op::Neg => Ok(format!("(-{})", args[0])),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::Div => infix("/"),
            Op::IntDiv => infix("div"),
            Op::Mod => infix("mod"),
            Op::Pow => match pool.as_constant(pool.args(t)[1]) {
                // A negative exponent counts as 0.
                Some(Value::Int(i)) => {
                    Ok(format!("({} ^ {})", args[0], if i < IBig::ZERO { IBig::ZERO } else { i }))
                }
                _ => Err(Refusal(
                    "a power with an exponent that is not constant cannot be written".to_string(),
                )),
            },
            Op::Abs => call("abs"),
            Op::Min => call("min"),
            Op::Max => call("max"),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Gt => infix(">"),
            Op::Ge => infix(">="),
            Op::ToReal => call("to_real"),
            Op::ToInt => call("to_int"),
            Op::Concat => infix("++"),
            Op::Bv(BvOp::Extract { high, low }) => {
                Ok(format!("extract({high}, {low}, {})", args[0]))
            }
            Op::Bv(BvOp::ZeroExtend(n)) => Ok(format!("zero_extend({n}, {})", args[0])),
            Op::Bv(BvOp::SignExtend(n)) => Ok(format!("sign_extend({n}, {})", args[0])),
            Op::Bv(BvOp::FromInt(w)) => Ok(format!("int_to_bv({}, {})", w.bits(), args[0])),
            Op::Bv(op) => call(op.name()),
            Op::Forall | Op::Exists => Err(Refusal("a quantifier cannot be written".to_string())),
        }
    }

    fn define(&self, _: &str, _: &Pool, _: Sort, _: &str) -> String {
        String::new()
    }

    fn prefix(&self) -> String {
        String::new()
    }

    fn defines(&self) -> bool {
        false
    }
}

/// The claim that runs end only where they may.
const NO_DEADLOCK: &str = "no deadlock";

struct Writer<'a> {
    system: &'a System,
    pool: Pool,
    names: Names,
    style: Sts,
    nodes: Vec<String>,
    /// By gate, its name, once a transition with it was written.
    gates: FxHashMap<usize, String>,
    /// By transition, its name.
    transitions: Vec<String>,
    /// Parameters by their names in the system: transitions share them, as conditions of gates do.
    params: FxHashMap<String, String>,
    /// True if the graph is written; it is omitted for a single node that is not final.
    drawn: bool,
    /// True if the states in which runs may end beside final nodes are written.
    ends_written: bool,
    renamed: Vec<(String, String)>,
    left_out: Vec<String>,
    written: Vec<WrittenClaim>,
}

pub(crate) fn write(system: &System, selection: Selection<'_>) -> Result<Written, Refusal> {
    let mut w = Writer {
        system,
        pool: Pool::fork(system.pool()),
        names: Names::without(RESERVED),
        style: Sts {
            symbols: FxHashMap::default(),
            values: FxHashMap::default(),
            sorts: FxHashMap::default(),
        },
        nodes: Vec::new(),
        gates: FxHashMap::default(),
        transitions: vec![String::new(); system.transitions().len()],
        params: FxHashMap::default(),
        drawn: system.nodes().len() > 1 || system.nodes().iter().any(|n| n.is_final),
        ends_written: false,
        renamed: Vec::new(),
        left_out: Vec::new(),
        written: Vec::new(),
    };
    let name = w.fit(system.name());
    let mut body = format!("spec {name}\n\n");
    w.declarations(&mut body)?;
    w.starts(&mut body)?;
    w.graph(&mut body)?;
    if let Some(ends) = system.final_condition()
        && let Ok(ends) = w.state(ends)
    {
        let _ = writeln!(body, "final when {ends}");
        w.ends_written = true;
    }
    for (k, a) in system.assumptions().iter().enumerate() {
        let name = w.names.fit(&format!("assumption_{}", k + 1));
        let formula = w.state(a.term)?;
        let _ = writeln!(body, "assume {name}: {formula}");
    }
    w.claims(&mut body, selection)?;
    let mut text = format!(
        "// written by gander export\n{}{}",
        legend("//", &w.renamed),
        reading("//", system)
    );
    text.push_str(&missing("//", &w.left_out));
    let names = NameMap { claims: w.written, ..NameMap::default() };
    Ok(Written { text: text + &body, names, assumptions: Vec::new() })
}

impl Writer<'_> {
    fn fit(&mut self, name: &str) -> String {
        let fitted = self.names.fit(name);
        self.renamed.push((fitted.clone(), name.to_string()));
        fitted
    }

    fn text(&self, t: TermId) -> Result<String, Refusal> {
        Sts::check_levels(&self.pool, t)?;
        Printer::new(&self.style).text(&self.pool, t)
    }

    fn sort(&self, sort: Sort) -> String {
        self.style.sort(&self.pool, sort)
    }

    /// A formula over a state; node by node if it mentions the node.
    fn state(&mut self, t: StateTerm) -> Result<String, Refusal> {
        let system = self.system;
        if !self.pool.free_symbols(&[t.term()]).contains(&system.location()) {
            return self.text(t.term());
        }
        let mut parts = Vec::new();
        for n in system.node_ids() {
            let here = system.at_node(&mut self.pool, t, n);
            let text = self.text(here)?;
            if self.nodes.len() == 1 {
                return Ok(text);
            }
            parts.push(format!("(in {} -> {text})", self.nodes[n.index()]));
        }
        Ok(parts.join(" and "))
    }

    fn declarations(&mut self, body: &mut String) -> Result<(), Refusal> {
        let system = self.system;
        let location = self.pool.symbol(system.location()).sort;
        for id in self.pool.enumerations() {
            if Sort::Enum(id) == location {
                continue;
            }
            let enumeration = self.pool.enumeration(id).clone();
            let name = self.fit(&enumeration.name);
            let mut values = Vec::new();
            for (k, variant) in enumeration.variants.iter().enumerate() {
                let value = self.fit(variant);
                self.style.values.insert((id.index(), k as u32), value.clone());
                values.push(value);
            }
            let _ = writeln!(body, "enum {name} {{ {} }}", values.join(", "));
            self.style.sorts.insert(id.index(), name);
        }
        for v in system.vars() {
            let name = self.fit(&v.name);
            let word = if v.role == Role::Input { "input" } else { "var" };
            let _ = writeln!(body, "{word} {name}: {}", self.sort(v.sort));
            self.style.symbols.insert(v.next, format!("{name}'"));
            self.style.symbols.insert(v.current, name);
        }
        for n in system.nodes() {
            let name = self.fit(&n.name);
            self.nodes.push(name);
        }
        Ok(())
    }

    fn starts(&mut self, body: &mut String) -> Result<(), Refusal> {
        let several = self.drawn;
        for s in self.system.starts() {
            let parts: Result<Vec<String>, Refusal> =
                s.constraint.iter().map(|e| self.text(e.term.term())).collect();
            let target = if several {
                format!(" -> {}", self.nodes[s.target.index()])
            } else {
                String::new()
            };
            let _ = writeln!(body, "start{target} {{ {} }}", parts?.join(", "));
        }
        Ok(())
    }

    fn graph(&mut self, body: &mut String) -> Result<(), Refusal> {
        let system = self.system;
        let several = self.drawn;
        for n in system.node_ids() {
            if several {
                let word = if system.node(n).is_final { "final node" } else { "node" };
                let _ = writeln!(body, "{word} {} {{", self.nodes[n.index()]);
            }
            for &t in system.leaving(n) {
                self.transition(body, t, several)?;
            }
            if several {
                body.push_str("}\n");
            }
        }
        Ok(())
    }

    /// What a transition begins with: its gate, and a label before it if the transition has a name
    /// that the reader would not give it.
    fn head(&mut self, t: TransitionId) -> String {
        let system = self.system;
        let transition = system.transition(t);
        let name = match transition.gate {
            None => self.fit(&transition.name),
            Some(gate) => {
                let of_gate = system.transitions().iter().filter(|t| t.gate == Some(gate)).count();
                let wanted = &system.gates()[gate.index()];
                let fitted = match self.gates.get(&gate.index()) {
                    Some(name) => name.clone(),
                    None => self.fit(wanted),
                };
                self.gates.insert(gate.index(), fitted.clone());
                let node = &system.node(transition.source).name;
                let beside = system.leaving(transition.source).iter();
                let alone =
                    beside.filter(|t| system.transition(**t).gate == Some(gate)).count() == 1;
                if of_gate == 1 && transition.name == *wanted {
                    fitted
                } else if self.drawn
                    && of_gate > 1
                    && alone
                    && transition.name == format!("{node}.{wanted}")
                {
                    // The reader gives it this name.
                    let source = &self.nodes[transition.source.index()];
                    self.transitions[t.index()] = format!("{source}.{fitted}");
                    return fitted;
                } else {
                    let label = self.fit(&transition.name);
                    self.transitions[t.index()] = label.clone();
                    return format!("{label}: {fitted}");
                }
            }
        };
        self.transitions[t.index()] = name.clone();
        name
    }

    /// A goal of a run; `None` if it cannot be written.
    fn goal(&mut self, goal: &Goal) -> Option<String> {
        match goal {
            Goal::State(p) => self.state(*p).ok(),
            Goal::Step { choices, .. } => self.step_goal(choices),
        }
    }

    /// A step of some transitions: a single one by its name, or all of a gate, or all of a gate
    /// that leave some nodes. They must have one condition.
    fn step_goal(&mut self, choices: &[(TransitionId, ChoiceTerm)]) -> Option<String> {
        let system = self.system;
        let (&(first, condition), others) = choices.split_first()?;
        let condition = self.text(condition.term()).ok()?;
        let mut needed: BTreeSet<&str> = BTreeSet::new();
        for (t, term) in choices {
            let free = self.pool.free_symbols(&[term.term()]);
            let params = system.transition(*t).params.iter();
            needed.extend(params.filter(|p| free.contains(&p.symbol)).map(|p| p.name.as_str()));
        }
        let has_all = |t: &TransitionId| {
            let params = &system.transition(*t).params;
            needed.iter().all(|name| params.iter().any(|p| p.name == *name))
        };
        for (t, term) in others {
            if self.text(term.term()).ok()? != condition || !has_all(t) {
                return None;
            }
        }
        let with = if condition == "true" { String::new() } else { format!(" with {condition}") };
        let wanted: BTreeSet<TransitionId> = choices.iter().map(|c| c.0).collect();
        if wanted.len() == 1 {
            return Some(format!("{}{with}", self.transitions[first.index()]));
        }
        let gate = system.transition(first).gate?;
        let name = self.gates.get(&gate.index())?;
        // A condition about parameters leaves out the transitions without them.
        let of_gate = |t: &TransitionId| system.transition(*t).gate == Some(gate) && has_all(t);
        let all: BTreeSet<TransitionId> = system.transition_ids().filter(of_gate).collect();
        if all == wanted {
            return Some(format!("{name}{with}"));
        }
        let sources: BTreeSet<usize> =
            wanted.iter().map(|t| system.transition(*t).source.index()).collect();
        let there = all.iter().filter(|t| sources.contains(&system.transition(**t).source.index()));
        if !self.drawn || !there.eq(wanted.iter()) {
            return None;
        }
        let nodes: Vec<&str> = sources.iter().map(|&n| self.nodes[n].as_str()).collect();
        Some(format!("{name} in {{ {} }}{with}", nodes.join(", ")))
    }

    fn transition(
        &mut self,
        body: &mut String,
        t: gander_system::TransitionId,
        several: bool,
    ) -> Result<(), Refusal> {
        let system = self.system;
        let transition = system.transition(t);
        let name = self.head(t);
        let mut params = Vec::new();
        for p in &transition.params {
            let names = &mut self.names;
            let fitted = self.params.entry(p.name.clone()).or_insert_with(|| names.fit(&p.name));
            let param = fitted.clone();
            params.push(format!("{param}: {}", self.sort(p.sort)));
            self.style.symbols.insert(p.symbol, param);
        }
        let params =
            if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let target = if several && transition.target != transition.source {
            format!(" -> {}", self.nodes[transition.target.index()])
        } else {
            String::new()
        };
        let guards: Result<Vec<String>, Refusal> =
            transition.guard.iter().map(|g| self.text(g.term.term())).collect();
        let guards = guards?;
        let when = if guards.is_empty() {
            String::new()
        } else {
            format!(" when {}", guards.join(" and "))
        };
        let mut effects = Vec::new();
        let mut settled = rustc_hash::FxHashSet::default();
        let mut primed = rustc_hash::FxHashSet::default();
        for e in &transition.effect {
            match e {
                Effect::Assign { var, value, .. } => {
                    settled.insert(*var);
                    let x = &self.style.symbols[&system.var(*var).current];
                    effects.push(format!("{x} := {}", self.text(value.term())?));
                }
                Effect::Keep { var, .. } => {
                    settled.insert(*var);
                    if system.var(*var).role == Role::Input {
                        let x = &self.style.symbols[&system.var(*var).current];
                        effects.push(format!("{x}' == {x}"));
                    }
                }
                Effect::Constrain { relation, .. } => {
                    primed.extend(self.pool.free_symbols(&[relation.term()]));
                    effects.push(self.text(relation.term())?);
                }
            }
        }
        for v in system.var_ids() {
            let var = system.var(v);
            if var.role == Role::State && !settled.contains(&v) && !primed.contains(&var.next) {
                effects.push(format!("any {}", self.style.symbols[&var.current]));
            }
        }
        let word = if several { "  " } else { "step " };
        let _ = writeln!(
            body,
            "{word}{name}{params}{target}{when} {{\n    {}\n  }}",
            effects.join("\n    ")
        );
        Ok(())
    }

    fn note(&mut self, name: String, claim: ClaimId) {
        let temporal = !matches!(
            self.system.claims()[claim.index()].kind,
            ClaimKind::Always(_) | ClaimKind::Reachable(_)
        );
        self.written.push(WrittenClaim { name, claim, opposite: false, temporal });
    }

    /// Writes the claims. Structural claims are omitted, as the parser adds them again.
    fn claims(&mut self, body: &mut String, selection: Selection<'_>) -> Result<(), Refusal> {
        for (i, claim) in self.system.claims().iter().enumerate() {
            let id = ClaimId::from(i);
            if claim.origin == ClaimOrigin::Structural || !selection.includes(id) {
                continue;
            }
            let formula = |w: &mut Self, t: &StateTerm| w.state(*t);
            // With a final condition this claim is a formula, which the reader makes again.
            if self.ends_written && claim.name == NO_DEADLOCK {
                let _ = writeln!(body, "{NO_DEADLOCK}");
                self.note(NO_DEADLOCK.to_string(), id);
                continue;
            }
            let written = match &claim.kind {
                ClaimKind::Always(p) => Some(("always", formula(self, p))),
                ClaimKind::Reachable(goals) => {
                    let goals: Option<Vec<String>> = goals.iter().map(|g| self.goal(g)).collect();
                    goals.map(|goals| ("reachable", Ok(goals.join(" then "))))
                }
                ClaimKind::Eventually { goal, under } if under.is_empty() => {
                    Some(("eventually", formula(self, goal)))
                }
                ClaimKind::AlwaysEventually { goal, under } if under.is_empty() => {
                    Some(("always eventually", formula(self, goal)))
                }
                ClaimKind::LeadsTo { from, to, under } if under.is_empty() => {
                    let both = formula(self, from)
                        .and_then(|p| Ok(format!("({p}) leads to ({})", formula(self, to)?)));
                    Some(("always", both))
                }
                ClaimKind::AlwaysPossible(p) => Some(("possible", formula(self, p))),
                ClaimKind::ExistsAlways(p) => Some(("exists always", formula(self, p))),
                ClaimKind::NoDeadlock | ClaimKind::InfiniteRun => {
                    // These claims have no names of their own; duplicates are written once.
                    let words = if claim.kind == ClaimKind::NoDeadlock {
                        NO_DEADLOCK
                    } else {
                        "infinite run"
                    };
                    if !self.written.iter().any(|w| w.name == words) {
                        let _ = writeln!(body, "{words}");
                    }
                    self.note(words.to_string(), id);
                    continue;
                }
                _ => None,
            };
            match written {
                Some((word, Ok(text))) => {
                    let name = self.fit(&claim.name);
                    let _ = writeln!(body, "{word} {name}: {text}");
                    self.note(name, id);
                }
                _ => self.left_out.push(claim.name.clone()),
            }
        }
        Ok(())
    }
}
