//! The script language, for systems whose steps are guarded updates without parameters.
//! Enumerations are ints with a range; several nodes become the states of the script; inputs are
//! `nondet`.

use std::fmt::Write as _;

use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Effect, Goal, Role, StateTerm, System, Transition,
};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::encode::assumed_ranges::input_range;
use crate::encode::flat::reading;
use crate::text::names::{Names, legend, missing};
use crate::text::printer::{Printer, Style};
use crate::{NameMap, Refusal, Selection, Written, WrittenClaim};

const RESERVED: &[&str] = &[
    "state", "steps", "const", "nondet", "proc", "int", "bool", "true", "false", "MAXSTEPS",
    "VARS", "INIT", "TRANS", "PROGRAM", "PROCESS", "REACH", "INF", "SAFE", "LIVENESS", "POSSIBLE",
    "DEADLOCK", "CHECK", "E", "A",
];

struct Script {
    symbols: FxHashMap<SymbolId, String>,
}

impl Style for Script {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let infix = |sign: &str| Ok(format!("({})", args.join(&format!(" {sign} "))));
        let refuse = |what: &str| Err(Refusal(format!("{what} cannot be written in a script")));
        match pool.op(t) {
            Op::Symbol(s) => match self.symbols.get(&s) {
                Some(name) => Ok(name.clone()),
                None => refuse(&format!("the symbol `{}`", pool.symbol(s).name)),
            },
            Op::Bool(b) => Ok(b.to_string()),
            Op::Const(v) => match pool.value(v) {
                Value::Int(i) if *i < IBig::ZERO => Ok(format!("(-{})", -i)),
                Value::Int(i) => Ok(i.to_string()),
                Value::Enum(_, k) => Ok(k.to_string()),
                _ => refuse("a value that is neither an int nor a bool"),
            },
            Op::Not => Ok(format!("!{}", args[0])),
            Op::And => infix("&"),
            Op::Or => infix("|"),
            Op::Implies => Ok(format!("(!{} | {})", args[0], args[1])),
            Op::Eq => infix("=="),
            Op::Ite if pool.sort(t) == Sort::Bool => {
                Ok(format!("(({0} & {1}) | (!{0} & {2}))", args[0], args[1], args[2]))
            }
            Op::Neg => Ok(format!("(-{})", args[0])),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::IntDiv => infix("/"),
            Op::Mod => infix("%"),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Gt => infix(">"),
            Op::Ge => infix(">="),
            other => refuse(&format!("`{}`", other.name())),
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

pub(crate) fn write(system: &System, selection: Selection<'_>) -> Result<Written, Refusal> {
    let mut writer = Writer {
        system,
        pool: Pool::fork(system.pool()),
        names: Names::without(RESERVED),
        renamed: Vec::new(),
        style: Script { symbols: FxHashMap::default() },
        nodes: Vec::new(),
        body: String::new(),
    };
    writer.variables()?;
    writer.start()?;
    writer.rules()?;
    let (claims, left_out) = writer.claims(selection);
    let legend = legend("//", &writer.renamed);
    let mut text = format!("// written by gander export\n{legend}{}", reading("//", system));
    text.push_str(&missing("//", &left_out));
    let names = NameMap { claims, ..NameMap::default() };
    Ok(Written { text: text + &writer.body, names, assumptions: Vec::new() })
}

fn refuse<T>(what: &str) -> Result<T, Refusal> {
    Err(Refusal(format!("{what} cannot be written in a script")))
}

/// Writes a script from top to bottom.
struct Writer<'a> {
    system: &'a System,
    pool: Pool,
    names: Names,
    /// Names in the text, with the original names.
    renamed: Vec<(String, String)>,
    style: Script,
    /// The names of the nodes.
    nodes: Vec<String>,
    body: String,
}

impl Writer<'_> {
    /// True if the script declares states, one for each node.
    fn has_states(&self) -> bool {
        self.system.nodes().len() > 1
    }

    fn print(&self, t: TermId) -> Result<String, Refusal> {
        Printer::new(&self.style).text(&self.pool, t)
    }

    fn variables(&mut self) -> Result<(), Refusal> {
        let (system, body) = (self.system, &mut self.body);
        body.push_str("VARS:\n");
        for id in system.var_ids() {
            let v = system.var(id);
            let name = self.names.fit(&v.name);
            self.renamed.push((name.clone(), v.name.clone()));
            let nondet = if v.role == Role::Input { "nondet " } else { "" };
            let certain = system.has_certain_range(id);
            let _ = match (v.sort, &v.range) {
                (Sort::Bool, _) => writeln!(body, "  {nondet}bool {name};"),
                (Sort::Int, Some(r)) if certain => {
                    writeln!(body, "  {nondet}int {name} : {}..{};", r.low, r.high)
                }
                (Sort::Int, _) => writeln!(body, "  {nondet}int {name};"),
                (Sort::Enum(id), _) => {
                    let last = self.pool.enumeration(id).variants.len() - 1;
                    for (k, variant) in self.pool.enumeration(id).variants.iter().enumerate() {
                        self.renamed.push((format!("{name} == {k}"), variant.clone()));
                    }
                    writeln!(body, "  {nondet}int {name} : 0..{last};")
                }
                (Sort::Array(_), _) => return refuse("an array"),
                (Sort::Real | Sort::String | Sort::BitVec(_), _) => {
                    return refuse("a variable that is neither an int nor a bool");
                }
            };
            self.style.symbols.insert(v.current, name);
        }
        self.nodes = system.nodes().iter().map(|n| self.names.fit(&n.name)).collect();
        if system.nodes().len() > 1 {
            let originals = system.nodes().iter().map(|n| n.name.clone());
            self.renamed.extend(self.nodes.iter().cloned().zip(originals));
            let _ = writeln!(body, "  state {};", self.nodes.join(", "));
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), Refusal> {
        let system = self.system;
        let [start] = system.starts() else { return refuse("a system with several starts") };
        if system.assumptions().iter().any(|a| input_range(system, a.term).is_none()) {
            return refuse("an assumption");
        }
        self.body.push_str("INIT:\n");
        if self.has_states() {
            let _ = writeln!(self.body, "  state = {};", self.nodes[start.target.index()]);
        }
        for e in &start.constraint {
            let text = self.print(e.term.term())?;
            let _ = writeln!(self.body, "  {text};");
        }
        Ok(())
    }

    fn rules(&mut self) -> Result<(), Refusal> {
        self.body.push_str("TRANS:\n");
        // The update of a rule that changes nothing, as every rule of a script has an update.
        let idle = self.system.vars().iter().find(|v| v.role == Role::State).map(|v| {
            let x = &self.style.symbols[&v.current];
            format!("{x} = {x}")
        });
        if self.system.transitions().is_empty() {
            // A script has at least one rule.
            let _ = match (&idle, self.nodes.first()) {
                (_, Some(node)) if self.has_states() => {
                    writeln!(self.body, "  ? false : {node} -> {node} {{ }};")
                }
                (Some(idle), _) => writeln!(self.body, "  ? false -> {idle};"),
                _ => return refuse("a system without steps and variables"),
            };
        }
        for t in self.system.transitions() {
            let rule = self.rule(t, idle.as_deref())?;
            let _ = writeln!(self.body, "  {rule};");
        }
        Ok(())
    }

    /// A transition as a rule; `idle` is an update that changes nothing.
    fn rule(&self, t: &Transition, idle: Option<&str>) -> Result<String, Refusal> {
        if !t.params.is_empty() {
            return refuse("a step with parameters");
        }
        let guards: Result<Vec<String>, Refusal> =
            t.guard.iter().map(|g| self.print(g.term.term())).collect();
        let guard = guards?.join(" & ");
        let updates = self.updates(t)?;
        if self.has_states() {
            let (a, b) = (&self.nodes[t.source.index()], &self.nodes[t.target.index()]);
            return Ok(match t.guard.is_empty() {
                true => format!("{a} -> {b} {{ {updates} }}"),
                false => format!("? {guard} : {a} -> {b} {{ {updates} }}"),
            });
        }
        let updates = match (updates.is_empty(), idle) {
            (false, _) => updates.as_str(),
            (true, Some(idle)) => idle,
            (true, None) => return refuse("a step that changes nothing"),
        };
        Ok(match t.guard.is_empty() {
            true => updates.to_string(),
            false => format!("? {guard} -> {updates}"),
        })
    }

    /// `x, y = 1, 2`; empty if the transition changes nothing.
    fn updates(&self, t: &Transition) -> Result<String, Refusal> {
        let system = self.system;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut kept = 0;
        for e in &t.effect {
            match e {
                Effect::Assign { var, value, .. } => {
                    left.push(self.style.symbols[&system.var(*var).current].clone());
                    right.push(self.print(value.term())?);
                }
                Effect::Keep { var, .. } if system.var(*var).role == Role::State => kept += 1,
                _ => return refuse("a step with constraints"),
            }
        }
        if left.len() + kept != system.vars().iter().filter(|v| v.role == Role::State).count() {
            return refuse("a step that leaves a variable free");
        }
        Ok(match left.is_empty() {
            true => String::new(),
            false => format!("{} = {}", left.join(", "), right.join(", ")),
        })
    }

    /// Writes the selected claims. Returns those that were written, and the names of those that a
    /// script cannot express.
    fn claims(&mut self, selection: Selection<'_>) -> (Vec<WrittenClaim>, Vec<String>) {
        let (mut written, mut left_out) = (Vec::new(), Vec::new());
        let all = self.system.claims().iter().enumerate().map(|(i, c)| (ClaimId::from(i), c));
        for (id, claim) in
            all.filter(|(id, c)| c.origin != ClaimOrigin::Structural && selection.includes(*id))
        {
            match self.goal(&claim.kind) {
                Ok((word, formula)) => {
                    let name = self.names.fit(&claim.name);
                    self.renamed.push((name.clone(), claim.name.clone()));
                    let _ = writeln!(self.body, "{word} {name}: {formula}");
                    let temporal =
                        !matches!(claim.kind, ClaimKind::Always(_) | ClaimKind::Reachable(_));
                    written.push(WrittenClaim { name, claim: id, opposite: false, temporal });
                }
                Err(_) => left_out.push(claim.name.clone()),
            }
        }
        (written, left_out)
    }

    /// The keyword and the formula of a goal that says the same as a claim.
    fn goal(&mut self, claim: &ClaimKind) -> Result<(&'static str, String), Refusal> {
        match claim {
            ClaimKind::Always(p) => Ok(("SAFE", self.state_formula(*p)?)),
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => Ok(("REACH", self.state_formula(*p)?)),
                _ => refuse("a chain"),
            },
            ClaimKind::InfiniteRun => Ok(("INF", String::new())),
            ClaimKind::NoDeadlock if !self.system.nodes().iter().any(|n| n.is_final) => {
                Ok(("DEADLOCK", String::new()))
            }
            ClaimKind::AlwaysEventually { goal, under } if under.is_empty() => {
                Ok(("LIVENESS", self.state_formula(*goal)?))
            }
            ClaimKind::Eventually { goal, under } if under.is_empty() => {
                Ok(("CHECK", format!("A<> {}", self.state_formula(*goal)?)))
            }
            ClaimKind::ExistsAlways(p) => Ok(("CHECK", format!("E[] {}", self.state_formula(*p)?))),
            ClaimKind::AlwaysPossible(p) => Ok(("POSSIBLE", self.state_formula(*p)?)),
            ClaimKind::LeadsTo { from, to, under } if under.is_empty() => {
                let from = self.state_formula(*from)?;
                Ok(("LIVENESS", format!("{from} ~> {}", self.state_formula(*to)?)))
            }
            _ => refuse("this claim"),
        }
    }

    /// A formula over a state; one that depends on the node as a conjunction over the nodes.
    fn state_formula(&mut self, t: StateTerm) -> Result<String, Refusal> {
        let system = self.system;
        if !self.pool.free_symbols(&[t.term()]).contains(&system.location()) {
            return self.print(t.term());
        }
        let mut parts = Vec::new();
        for n in system.node_ids() {
            let here = system.at_node(&mut self.pool, t, n);
            let text = self.print(here)?;
            parts.push(match self.has_states() {
                true => format!("(state != {} | {text})", self.nodes[n.index()]),
                false => text,
            });
        }
        Ok(parts.join(" & "))
    }
}
