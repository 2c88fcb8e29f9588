//! The script language, for systems whose steps are guarded updates without parameters.
//! Enumerations are ints with a range; several nodes become the states of the script; inputs are
//! `nondet`.

use std::fmt::Write as _;

use gander_system::{ClaimId, ClaimKind, ClaimOrigin, Effect, Goal, Role, StateTerm, System};
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
    let refuse = |what: &str| Err(Refusal(format!("{what} cannot be written in a script")));
    let mut names = Names::without(RESERVED);
    let mut renamed = Vec::new();
    let mut style = Script { symbols: FxHashMap::default() };
    let mut pool = Pool::fork(system.pool());
    let mut body = String::from("VARS:\n");
    for id in system.var_ids() {
        let v = system.var(id);
        let name = names.fit(&v.name);
        renamed.push((name.clone(), v.name.clone()));
        let nondet = if v.role == Role::Input { "nondet " } else { "" };
        let certain = system.has_certain_range(id);
        let _ = match (v.sort, &v.range) {
            (Sort::Bool, _) => writeln!(body, "  {nondet}bool {name};"),
            (Sort::Int, Some(r)) if certain => {
                writeln!(body, "  {nondet}int {name} : {}..{};", r.low, r.high)
            }
            (Sort::Int, _) => writeln!(body, "  {nondet}int {name};"),
            (Sort::Enum(id), _) => {
                let last = pool.enumeration(id).variants.len() - 1;
                for (k, variant) in pool.enumeration(id).variants.iter().enumerate() {
                    renamed.push((format!("{name} == {k}"), variant.clone()));
                }
                writeln!(body, "  {nondet}int {name} : 0..{last};")
            }
            (Sort::Array(_), _) => return refuse("an array"),
            (Sort::Real | Sort::String | Sort::BitVec(_), _) => {
                return refuse("a variable that is neither an int nor a bool");
            }
        };
        style.symbols.insert(v.current, name);
    }
    let several = system.nodes().len() > 1;
    let nodes: Vec<String> = system.nodes().iter().map(|n| names.fit(&n.name)).collect();
    if several {
        renamed.extend(nodes.iter().cloned().zip(system.nodes().iter().map(|n| n.name.clone())));
        let _ = writeln!(body, "  state {};", nodes.join(", "));
    }
    let [start] = system.starts() else { return refuse("a system with several starts") };
    if system.assumptions().iter().any(|a| input_range(system, a.term).is_none()) {
        return refuse("an assumption");
    }
    let print = |style: &Script, pool: &Pool, t: TermId| Printer::new(style).text(pool, t);
    body.push_str("INIT:\n");
    if several {
        let _ = writeln!(body, "  state = {};", nodes[start.target.index()]);
    }
    for e in &start.constraint {
        let _ = writeln!(body, "  {};", print(&style, &pool, e.term.term())?);
    }
    body.push_str("TRANS:\n");
    // The update of a rule that changes nothing, as every rule of a script has an update.
    let idle = system.vars().iter().find(|v| v.role == Role::State).map(|v| {
        let x = &style.symbols[&v.current];
        format!("{x} = {x}")
    });
    if system.transitions().is_empty() {
        // A script has at least one rule.
        match (&idle, nodes.first()) {
            (_, Some(node)) if several => {
                let _ = writeln!(body, "  ? false : {node} -> {node} {{ }};");
            }
            (Some(idle), _) => {
                let _ = writeln!(body, "  ? false -> {idle};");
            }
            _ => return refuse("a system without steps and variables"),
        }
    }
    for t in system.transitions() {
        if !t.params.is_empty() {
            return refuse("a step with parameters");
        }
        let guards: Result<Vec<String>, Refusal> =
            t.guard.iter().map(|g| print(&style, &pool, g.term.term())).collect();
        let guards = guards?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut kept = 0;
        for e in &t.effect {
            match e {
                Effect::Assign { var, value, .. } => {
                    left.push(style.symbols[&system.var(*var).current].clone());
                    right.push(print(&style, &pool, value.term())?);
                }
                Effect::Keep { var, .. } if system.var(*var).role == Role::State => kept += 1,
                _ => return refuse("a step with constraints"),
            }
        }
        if left.len() + kept != system.vars().iter().filter(|v| v.role == Role::State).count() {
            return refuse("a step that leaves a variable free");
        }
        let updates = if left.is_empty() {
            String::new()
        } else {
            format!("{} = {}", left.join(", "), right.join(", "))
        };
        let guard = guards.join(" & ");
        let _ = match (several, guards.is_empty()) {
            (true, true) => {
                writeln!(
                    body,
                    "  {} -> {} {{ {updates} }};",
                    nodes[t.source.index()],
                    nodes[t.target.index()]
                )
            }
            (true, false) => {
                let (a, b) = (&nodes[t.source.index()], &nodes[t.target.index()]);
                writeln!(body, "  ? {guard} : {a} -> {b} {{ {updates} }};")
            }
            (false, _) => {
                let Some(updates) =
                    Some(updates).filter(|u| !u.is_empty()).or_else(|| idle.clone())
                else {
                    return refuse("a step that changes nothing");
                };
                if guards.is_empty() {
                    writeln!(body, "  {updates};")
                } else {
                    writeln!(body, "  ? {guard} -> {updates};")
                }
            }
        };
    }
    let (mut left_out, mut written) = (Vec::new(), Vec::new());
    let all = system.claims().iter().enumerate().map(|(i, c)| (ClaimId::from(i), c));
    for (id, claim) in
        all.filter(|(id, c)| c.origin != ClaimOrigin::Structural && selection.includes(*id))
    {
        let mut at = |t: &StateTerm| -> Result<String, Refusal> {
            if !pool.free_symbols(&[t.term()]).contains(&system.location()) {
                return print(&style, &pool, t.term());
            }
            let mut parts = Vec::new();
            for n in system.node_ids() {
                let here = system.at_node(&mut pool, *t, n);
                let text = print(&style, &pool, here)?;
                parts.push(if several {
                    format!("(state != {} | {text})", nodes[n.index()])
                } else {
                    text
                });
            }
            Ok(parts.join(" & "))
        };
        let goal = match &claim.kind {
            ClaimKind::Always(p) => at(p).map(|p| ("SAFE", p)),
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => at(p).map(|p| ("REACH", p)),
                _ => Err(Refusal("a chain cannot be written in a script".to_string())),
            },
            ClaimKind::InfiniteRun => Ok(("INF", String::new())),
            ClaimKind::NoDeadlock if !system.nodes().iter().any(|n| n.is_final) => {
                Ok(("DEADLOCK", String::new()))
            }
            ClaimKind::AlwaysEventually { goal, under } if under.is_empty() => {
                at(goal).map(|p| ("LIVENESS", p))
            }
            ClaimKind::Eventually { goal, under } if under.is_empty() => {
                at(goal).map(|p| ("CHECK", format!("A<> {p}")))
            }
            ClaimKind::ExistsAlways(p) => at(p).map(|p| ("CHECK", format!("E[] {p}"))),
            ClaimKind::AlwaysPossible(p) => at(p).map(|p| ("POSSIBLE", p)),
            ClaimKind::LeadsTo { from, to, under } if under.is_empty() => {
                at(from).and_then(|p| Ok(("LIVENESS", format!("{p} ~> {}", at(to)?))))
            }
            _ => Err(Refusal("this claim cannot be written in a script".to_string())),
        };
        match goal {
            Ok((word, formula)) => {
                let name = names.fit(&claim.name);
                renamed.push((name.clone(), claim.name.clone()));
                let _ = writeln!(body, "{word} {name}: {formula}");
                let temporal =
                    !matches!(claim.kind, ClaimKind::Always(_) | ClaimKind::Reachable(_));
                written.push(WrittenClaim { name, claim: id, opposite: false, temporal });
            }
            Err(_) => left_out.push(claim.name.clone()),
        }
    }
    let mut text =
        format!("// written by gander export\n{}{}", legend("//", &renamed), reading("//", system));
    text.push_str(&missing("//", &left_out));
    let names = NameMap { claims: written, ..NameMap::default() };
    Ok(Written { text: text + &body, names, assumptions: Vec::new() })
}
