//! UPPAAL: an XML file with a template for each process ([`crate::encode::processes`]) and the
//! claims as queries.
//!
//! Every location is urgent: no time passes in a system, and a process that can move must not wait
//! forever. Parameters, and variables with arbitrary new values, are selected. The updates of a
//! step are simultaneous in a system and sequential in UPPAAL, so they go through `meta` variables
//! where that makes a difference. A start that does not determine all values is a separate process
//! with a committed location. Refused are reals, bit-vectors, strings, arrays, ints without a range
//! that holds in every state, arithmetic that might exceed 32 bits, constraints between the two
//! states of a step, assumptions and fairness. An infinite run is one on which some guard always
//! holds: UPPAAL allows `deadlock` only with `E<>` and `A[]`.

use std::fmt::Write as _;

use gander_system::{ClaimId, ClaimKind, Goal, Range, StateTerm, System};
use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::encode::assumed_ranges::input_range;
use crate::encode::processes::{Process, Processes, processes, updates};
use crate::text::name_map::WrittenClaim;
use crate::text::names::{Names, legend};
use crate::text::printer::{Printer, Style};
use crate::{Refusal, Selection};

const RESERVED: &[&str] = &[
    "chan",
    "clock",
    "bool",
    "int",
    "commit",
    "committed",
    "const",
    "urgent",
    "broadcast",
    "init",
    "process",
    "state",
    "guard",
    "sync",
    "assign",
    "system",
    "trans",
    "deadlock",
    "and",
    "or",
    "not",
    "imply",
    "true",
    "false",
    "for",
    "forall",
    "exists",
    "while",
    "do",
    "if",
    "else",
    "return",
    "typedef",
    "struct",
    "rate",
    "before_update",
    "after_update",
    "meta",
    "priority",
    "progress",
    "scalar",
    "select",
    "void",
    "default",
    "switch",
    "case",
    "continue",
    "break",
    "enum",
    "double",
    "string",
    "location",
    "branchpoint",
    "hybrid",
    "gantt",
    "query",
    "A",
    "E",
    "U",
    "W",
    "Pr",
    "sum",
    "dynamic",
    "spawn",
    "exit",
    "numOf",
    "abs",
    "min",
    "max",
    "Start",
    "Chosen",
];

fn refuse<T>(what: &str) -> Result<T, Refusal> {
    Err(Refusal(format!("{what} cannot be written for UPPAAL")))
}

struct Uppaal {
    symbols: FxHashMap<SymbolId, String>,
    /// The least and the greatest value of ints.
    bounds: FxHashMap<SymbolId, (IBig, IBig)>,
    location: SymbolId,
    /// By node: the formula that the system is at it.
    nodes: Vec<String>,
}

impl Style for Uppaal {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let infix = |sign: &str| Ok(format!("({})", args.join(&format!(" {sign} "))));
        match pool.op(t) {
            Op::Symbol(s) if s == self.location => Ok(String::new()),
            Op::Symbol(s) => match self.symbols.get(&s) {
                Some(name) => Ok(name.clone()),
                None => refuse(&format!("the symbol `{}`", pool.symbol(s).name)),
            },
            Op::Bool(b) => Ok(b.to_string()),
            Op::Const(v) => match pool.value(v) {
                Value::Int(i) if *i < IBig::ZERO => Ok(format!("(-{})", -i)),
                Value::Int(i) => Ok(i.to_string()),
                Value::Enum(_, k) => Ok(k.to_string()),
                Value::Bool(b) => Ok(b.to_string()),
                _ => refuse("a value that is neither an int nor a bool"),
            },
            Op::Not => Ok(format!("!({})", args[0])),
            Op::And => infix("&&"),
            Op::Or => infix("||"),
            Op::Implies => Ok(format!("(!({}) || {})", args[0], args[1])),
            Op::Eq => {
                let sides = [pool.args(t)[0], pool.args(t)[1]];
                if let Some(i) =
                    sides.iter().position(|s| pool.as_symbol(*s) == Some(self.location))
                {
                    return match pool.as_constant(sides[1 - i]) {
                        Some(Value::Enum(_, n)) if (n as usize) < self.nodes.len() => {
                            Ok(self.nodes[n as usize].clone())
                        }
                        _ => refuse("a comparison of nodes"),
                    };
                }
                infix("==")
            }
            Op::Ite => Ok(format!("({} ? {} : {})", args[0], args[1], args[2])),
            Op::Neg => Ok(format!("(-{})", args[0])),
            Op::Add => infix("+"),
            Op::Sub => infix("-"),
            Op::Mul => infix("*"),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Gt => infix(">"),
            Op::Ge => infix(">="),
            Op::Abs => Ok(format!("({0} < 0 ? -{0} : {0})", args[0])),
            Op::Min | Op::Max => {
                let sign = if pool.op(t) == Op::Min { "<=" } else { ">=" };
                let mut text = args[0].to_string();
                for b in &args[1..] {
                    text = format!("({text} {sign} {b} ? {text} : {b})");
                }
                Ok(text)
            }
            Op::IntDiv | Op::Mod => match pool.as_constant(pool.args(t)[1]) {
                // UPPAAL division truncates towards zero; the remainder in gander is never
                // negative.
                Some(Value::Int(c)) if c > IBig::ZERO => {
                    let rest = format!("((({0} % {c}) + {c}) % {c})", args[0]);
                    Ok(if pool.op(t) == Op::Mod {
                        rest
                    } else {
                        format!("(({} - {rest}) / {c})", args[0])
                    })
                }
                _ => refuse("a quotient by something else than a positive constant"),
            },
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

type Bounds = (IBig, IBig);

/// Checks that bounds fit in 32 bits. The least 32-bit number has no literal.
fn fitting(low: IBig, high: IBig) -> Result<Bounds, Refusal> {
    let most = (IBig::ONE << 31) - IBig::ONE;
    if low < -&most || high > most {
        return refuse("arithmetic that might need more than 32 bits");
    }
    Ok((low, high))
}

impl Uppaal {
    /// Refuses a term if a subterm might overflow: UPPAAL checks the ranges of variables only.
    fn fits(&self, pool: &Pool, root: TermId) -> Result<(), Refusal> {
        let mut known: FxHashMap<TermId, Bounds> = FxHashMap::default();
        for t in pool.postorder(&[root]) {
            if pool.sort(t) == Sort::Int {
                let args: Vec<Bounds> =
                    pool.args(t).iter().filter_map(|a| known.get(a).cloned()).collect();
                let bounds = self.bounds_of(pool, t, args)?;
                known.insert(t, bounds);
            }
        }
        Ok(())
    }

    /// The bounds of an int term, from those of its int arguments.
    fn bounds_of(&self, pool: &Pool, t: TermId, args: Vec<Bounds>) -> Result<Bounds, Refusal> {
        let op = pool.op(t);
        if let Op::Symbol(s) = op {
            let known = self.bounds.get(&s).cloned();
            return known.map_or_else(|| refuse("an int without a range that certainly holds"), Ok);
        }
        if let Some(Value::Int(i)) = pool.as_constant(t) {
            return fitting(i.clone(), i);
        }
        let mut args = args.into_iter();
        let Some((mut low, mut high)) = args.next() else {
            return refuse(&format!("`{}`", op.name()));
        };
        match op {
            Op::Neg => return fitting(-high, -low),
            Op::Abs => return fitting(IBig::ZERO, high.max(-low)),
            Op::IntDiv | Op::Mod => {
                let Some((c, _)) = args.next() else { return refuse("a quotient") };
                // The text adds the divisor to a remainder, and subtracts a remainder from the
                // dividend.
                fitting(IBig::ZERO, &c + &c)?;
                if op == Op::Mod {
                    return Ok((IBig::ZERO, c));
                }
                fitting(&low - &c, high.clone())?;
                return Ok((low.min(IBig::ZERO), high.max(IBig::ZERO)));
            }
            _ => {}
        }
        // Evaluate from left to right, as UPPAAL does.
        for (c, d) in args {
            (low, high) = match op {
                Op::Add => fitting(low + c, high + d)?,
                Op::Sub => fitting(low - d, high - c)?,
                Op::Mul => {
                    let ends = [&low * &c, &low * &d, &high * &c, &high * &d];
                    let least = ends.iter().min().cloned().unwrap_or_default();
                    fitting(least, ends.into_iter().max().unwrap_or_default())?
                }
                Op::Ite | Op::Min | Op::Max => (low.min(c), high.max(d)),
                other => return refuse(&format!("`{}`", other.name())),
            };
        }
        Ok((low, high))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The type of a variable or parameter.
fn type_of(pool: &Pool, name: &str, sort: Sort, range: Option<&Range>) -> Result<String, Refusal> {
    let small = |i: &IBig| IBig::from(-32768) <= *i && *i <= IBig::from(32767);
    match (sort, range) {
        (Sort::Bool, _) => Ok("bool".to_string()),
        (Sort::Enum(id), _) => Ok(format!("int[0,{}]", pool.enumeration(id).variants.len() - 1)),
        (Sort::Int, Some(r)) if small(&r.low) && small(&r.high) => {
            Ok(format!("int[{},{}]", r.low, r.high))
        }
        (Sort::Int, Some(_)) => refuse(&format!("`{name}`, whose range is beyond 16 bits,")),
        (Sort::Int, None) => {
            refuse(&format!("`{name}`, an int without a range that certainly holds,"))
        }
        (sort, _) => refuse(&format!("`{name}`, which is of sort {},", sort.name(pool))),
    }
}

/// The type of a selection; `bool` is not allowed there.
fn choices(of: &str) -> String {
    if of == "bool" { "int[0,1]".to_string() } else { of.to_string() }
}

struct Variable {
    name: String,
    of: String,
    sort: Sort,
}

struct Writer<'a> {
    system: &'a System,
    pool: Pool,
    style: Uppaal,
    names: Names,
    variables: Vec<Variable>,
    /// The `meta` variables used by simultaneous updates.
    over: Vec<String>,
}

impl Writer<'_> {
    fn text(&self, t: TermId) -> Result<String, Refusal> {
        let text = Printer::new(&self.style).text(&self.pool, t)?;
        self.style.fits(&self.pool, t)?;
        Ok(text)
    }

    /// Adds a selection of a value; returns the expression for it.
    fn select(&mut self, wanted: &str, of: &str, selects: &mut Vec<String>) -> String {
        let name = self.names.fit(wanted);
        selects.push(format!("{name} : {}", choices(of)));
        if of == "bool" { format!("({name} == 1)") } else { name }
    }

    /// The labels of an edge: select, guard and update.
    fn edge(&mut self, t: gander_system::TransitionId) -> Result<String, Refusal> {
        let transition = self.system.transition(t);
        let Some(updates) = updates(self.system, t) else {
            return refuse(&format!("`{}`, whose effect is a constraint,", transition.name));
        };
        let mut selects = Vec::new();
        for p in &transition.params {
            let of = type_of(&self.pool, &p.name, p.sort, p.range.as_ref())?;
            let value = self.select(&format!("{}_{}", transition.name, p.name), &of, &mut selects);
            self.style.symbols.insert(p.symbol, value);
            if let Some(r) = &p.range {
                self.style.bounds.insert(p.symbol, (r.low.clone(), r.high.clone()));
            }
        }
        let guard = self.system.guard_term(&mut self.pool, t);
        let guard = self.text(guard)?;
        let mut assigned: Vec<(usize, String)> = Vec::new();
        let mut read: Vec<Vec<SymbolId>> = Vec::new();
        for (v, value) in updates {
            let i = v.index();
            match value {
                Some(value) => {
                    read.push(self.pool.free_symbols(&[value]).to_vec());
                    assigned.push((i, self.text(value)?));
                }
                None => {
                    let (wanted, of) =
                        (format!("any_{}", self.variables[i].name), self.variables[i].of.clone());
                    let value = self.select(&wanted, &of, &mut selects);
                    read.push(Vec::new());
                    assigned.push((i, value));
                }
            }
        }
        // Sequential updates differ from simultaneous ones only if a variable is read after its
        // update.
        let changed = |k: usize| assigned[..k].iter().map(|(i, _)| self.system.vars()[*i].current);
        let clash = (0..assigned.len()).any(|k| changed(k).any(|s| read[k].contains(&s)));
        let mut update = Vec::new();
        if clash {
            for (i, value) in &assigned {
                let over = format!("new_{}", self.variables[*i].name);
                update.push(format!("{over} = {value}"));
                if !self.over.contains(&over) {
                    self.over.push(over);
                }
            }
            update.extend(
                assigned.iter().map(|(i, _)| format!("{0} = new_{0}", self.variables[*i].name)),
            );
        } else {
            update.extend(
                assigned.iter().map(|(i, value)| format!("{} = {value}", self.variables[*i].name)),
            );
        }
        let mut text = String::new();
        label(&mut text, "select", &selects.join(", "));
        label(&mut text, "guard", if guard == "true" { "" } else { &guard });
        label(&mut text, "assignment", &update.join(", "));
        Ok(text)
    }
}

fn label(text: &mut String, kind: &str, content: &str) {
    if !content.is_empty() {
        let _ = writeln!(text, "   <label kind=\"{kind}\">{}</label>", escaped(content));
    }
}

/// Splits the start into values of variables, from conjuncts `x == c`, and the remaining
/// constraints.
fn begin(system: &System, pool: &mut Pool) -> (FxHashMap<SymbolId, Value>, Vec<TermId>) {
    let mut open: Vec<TermId> =
        system.starts()[0].constraint.iter().map(|e| e.term.term()).collect();
    let (mut values, mut rest) = (FxHashMap::default(), Vec::new());
    let possible =
        |s: SymbolId, value: &Value| match (value, system.vars().iter().find(|v| v.current == s)) {
            (Value::Int(i), Some(v)) => {
                v.range.as_ref().is_none_or(|r| r.low <= *i && *i <= r.high)
            }
            _ => true,
        };
    // A contradicting value, or one out of range, stays a constraint.
    let mut put = |t: TermId, s: SymbolId, value: Value| {
        let known: Option<&Value> = values.get(&s);
        if known.is_some_and(|known| *known != value) || !possible(s, &value) {
            return Some(t);
        }
        values.insert(s, value);
        None
    };
    while let Some(t) = open.pop() {
        let sides = pool.args(t).to_vec();
        match (pool.op(t), &sides[..]) {
            (Op::And, args) => open.extend(args),
            (Op::Eq, [a, b]) => {
                match (
                    pool.as_symbol(*a),
                    pool.as_constant(*b),
                    pool.as_symbol(*b),
                    pool.as_constant(*a),
                ) {
                    (Some(s), Some(c), _, _) | (_, _, Some(s), Some(c)) => {
                        rest.extend(put(t, s, c))
                    }
                    _ => rest.push(t),
                }
            }
            (Op::Symbol(s), _) => rest.extend(put(t, s, Value::Bool(true))),
            (Op::Not, [a]) if pool.as_symbol(*a).is_some() => {
                rest.extend(pool.as_symbol(*a).and_then(|s| put(t, s, Value::Bool(false))));
            }
            _ => rest.push(t),
        }
    }
    // Drop constraints that the values satisfy.
    let map: FxHashMap<SymbolId, TermId> =
        values.iter().map(|(s, v)| (*s, pool.constant(v.clone()))).collect();
    let mut constraints = Vec::new();
    for t in rest {
        let t = pool.substitute(t, &map);
        if evaluate(pool, t, &|_| None) != Ok(Value::Bool(true)) {
            constraints.push(t);
        }
    }
    (values, constraints)
}

/// The text, and the claims in the order of its queries.
pub(crate) fn write(
    system: &System,
    selection: Selection<'_>,
    assumptions: &[String],
) -> Result<(String, Vec<WrittenClaim>), Refusal> {
    let [start] = system.starts() else { return refuse("a system with several starts") };
    if system.assumptions().iter().any(|a| input_range(system, a.term).is_none()) {
        return refuse("an assumption");
    }
    let mut pool = Pool::fork(system.pool());
    let Processes { list, at } = processes(system, &mut pool);
    let mut names = Names::without(RESERVED);
    let mut renamed = Vec::new();
    let mut fit = |names: &mut Names, old: &str| {
        let new = names.fit(old);
        renamed.push((new.clone(), old.to_string()));
        new
    };
    let (mut variables, mut symbols, mut bounds) =
        (Vec::new(), FxHashMap::default(), FxHashMap::default());
    for id in system.var_ids() {
        let v = system.var(id);
        let certain = system.has_certain_range(id);
        let of = type_of(&pool, &v.name, v.sort, v.range.as_ref().filter(|_| certain))?;
        let name = fit(&mut names, &v.name);
        symbols.insert(v.current, name.clone());
        if let Some(r) = &v.range {
            bounds.insert(v.current, (r.low.clone(), r.high.clone()));
        }
        variables.push(Variable { name, of, sort: v.sort });
    }
    let templates: Vec<String> = list.iter().map(|p| fit(&mut names, &p.name)).collect();
    // A location is referred to as `P.A`, so location names must differ only within a process.
    let mut places: Vec<Vec<String>> = Vec::new();
    for process in &list {
        let mut inside = Names::without(RESERVED);
        let own: Vec<String> = process.locations.iter().map(|l| fit(&mut inside, l)).collect();
        places.push(own);
    }
    let place = |here: &Vec<usize>| {
        let parts: Vec<String> = here
            .iter()
            .enumerate()
            .map(|(i, l)| format!("{}.{}", templates[i], places[i][*l]))
            .collect();
        if parts.len() == 1 { parts[0].clone() } else { format!("({})", parts.join(" && ")) }
    };
    let nodes = at.iter().map(place).collect();
    for (v, variable) in system.vars().iter().zip(&variables) {
        if let Sort::Enum(id) = v.sort {
            for (k, variant) in pool.enumeration(id).variants.iter().enumerate() {
                renamed.push((format!("{} == {k}", variable.name), variant.clone()));
            }
        }
    }
    let (values, rest) = begin(system, &mut pool);
    let style = Uppaal { symbols, bounds, location: system.location(), nodes };
    let mut writer = Writer { system, pool, style, names, variables, over: Vec::new() };
    let first = &at[start.target.index()];
    let mut body = String::new();
    for (p, process) in list.iter().enumerate() {
        body.push_str(&template(&mut writer, process, p, &templates[p], &places[p], first[p])?);
    }
    // The `Start` process selects what the start leaves open before any other process moves.
    let open: Vec<usize> = (0..system.vars().len())
        .filter(|i| !values.contains_key(&system.vars()[*i].current))
        .collect();
    let chosen = !open.is_empty() || !rest.is_empty();
    let known: Vec<_> = rest.iter().map(|t| evaluate(&writer.pool, *t, &|_| None)).collect();
    let empty = known.contains(&Ok(Value::Bool(false)));
    let may_be_empty = known.iter().any(|v| *v != Ok(Value::Bool(true)));
    if chosen {
        let constraint = if empty { None } else { Some(writer.pool.and(rest)) };
        body.push_str(&start_template(&mut writer, &open, constraint)?);
    }
    let mut left_out = Vec::new();
    let mut claims = Vec::new();
    let enabled = enabled(&mut writer, &list, &templates, &places);
    let begun = Beginning { chosen, may_be_empty };
    let queries = queries(&writer, begun, &enabled, selection, &mut claims, &mut left_out)?;
    let mut declaration = comments(system, &renamed, assumptions, &left_out);
    declaration.push_str(&declarations(&writer, &values));
    let mut all = templates;
    if chosen {
        all.push("Start".to_string());
    }
    let head = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE nta PUBLIC '-//Uppaal Team//DTD Flat System 1.1//EN' \
        'http://www.it.uu.se/research/group/darts/uppaal/flat-1_2.dtd'>\n";
    let text = format!(
        "{head}<nta>\n <declaration>{}</declaration>\n{body} <system>system {};</system>\n <queries>\n{queries} </queries>\n</nta>\n",
        escaped(&declaration),
        all.join(", ")
    );
    Ok((text, claims))
}

/// The comments at the beginning: what the names stand for, what is assumed, what is left out.
fn comments(
    system: &System,
    renamed: &[(String, String)],
    assumptions: &[String],
    left_out: &[String],
) -> String {
    let name = system.name().replace(['\n', '\r'], " ");
    let mut text = format!("// `{name}`, written by gander export\n{}", legend("//", renamed));
    for line in assumptions {
        let _ = writeln!(text, "// {line}");
    }
    for claim in left_out {
        let _ = writeln!(text, "// left out: the claim `{claim}`");
    }
    text
}

/// The template of a process with this number. Its locations have these names; it begins in the
/// location `first`.
fn template(
    writer: &mut Writer<'_>,
    process: &Process,
    number: usize,
    name: &str,
    locations: &[String],
    first: usize,
) -> Result<String, Refusal> {
    let p = number;
    let mut text = format!(" <template>\n  <name>{name}</name>\n");
    for (l, name) in locations.iter().enumerate() {
        let _ =
            writeln!(text, "  <location id=\"p{p}l{l}\"><name>{name}</name><urgent/></location>");
    }
    let _ = writeln!(text, "  <init ref=\"p{p}l{first}\"/>");
    for edge in &process.edges {
        let labels = writer.edge(edge.transition)?;
        let (from, to) = (edge.from, edge.to);
        let _ = writeln!(
            text,
            "  <transition>\n   <source ref=\"p{p}l{from}\"/><target ref=\"p{p}l{to}\"/>"
        );
        label(&mut text, "comments", &edge.name);
        let _ = writeln!(text, "{labels}  </transition>");
    }
    text.push_str(" </template>\n");
    Ok(text)
}

/// The template `Start`, which selects values for the variables `open` that satisfy the
/// constraint; without a constraint it has no step.
fn start_template(
    writer: &mut Writer<'_>,
    open: &[usize],
    constraint: Option<TermId>,
) -> Result<String, Refusal> {
    let (mut selects, mut update) = (Vec::new(), Vec::new());
    let named = writer.style.symbols.clone();
    for &i in open {
        let (name, of) = (writer.variables[i].name.clone(), writer.variables[i].of.clone());
        let value = writer.select(&format!("first_{name}"), &of, &mut selects);
        writer.style.symbols.insert(writer.system.vars()[i].current, value.clone());
        update.push(format!("{name} = {value}"));
    }
    let guard = match constraint {
        Some(constraint) => writer.text(constraint)?,
        None => "false".to_string(),
    };
    writer.style.symbols = named;
    let mut text = String::from(
        " <template>\n  <name>Start</name>\n  <location id=\"s0\"><name>Open</name><committed/></location>\n",
    );
    text.push_str("  <location id=\"s1\"><name>Chosen</name></location>\n  <init ref=\"s0\"/>\n");
    text.push_str("  <transition>\n   <source ref=\"s0\"/><target ref=\"s1\"/>\n");
    label(&mut text, "select", &selects.join(", "));
    label(&mut text, "guard", if guard == "true" { "" } else { &guard });
    label(&mut text, "assignment", &update.join(", "));
    text.push_str("  </transition>\n </template>\n");
    Ok(text)
}

/// The declarations of the variables, with these first values.
fn declarations(writer: &Writer<'_>, values: &FxHashMap<SymbolId, Value>) -> String {
    let mut text = String::new();
    for (v, variable) in writer.system.vars().iter().zip(&writer.variables) {
        let initial = match values.get(&v.current) {
            Some(Value::Bool(b)) => format!(" = {b}"),
            Some(Value::Int(i)) => format!(" = {i}"),
            Some(Value::Enum(_, k)) => format!(" = {k}"),
            // An arbitrary value until `Start` has selected one.
            _ => match (variable.sort, &v.range) {
                (Sort::Int, Some(r)) => format!(" = {}", r.low),
                _ => String::new(),
            },
        };
        let _ = writeln!(text, "{} {}{initial};", variable.of, variable.name);
        let over = format!("new_{}", variable.name);
        if writer.over.contains(&over) {
            let _ = writeln!(text, "meta {} {over};", variable.of);
        }
    }
    text
}

/// The formula that some step is enabled.
fn enabled(
    writer: &mut Writer<'_>,
    list: &[Process],
    templates: &[String],
    places: &[Vec<String>],
) -> Result<String, Refusal> {
    let mut some = Vec::new();
    for (p, process) in list.iter().enumerate() {
        for (l, place) in places[p].iter().enumerate() {
            let mut guards = Vec::new();
            for edge in process.edges.iter().filter(|e| e.from == l) {
                if !writer.system.transition(edge.transition).params.is_empty() {
                    return refuse("an infinite run with parameters");
                }
                guards.push(writer.system.guard_term(&mut writer.pool, edge.transition));
            }
            if guards.is_empty() {
                continue;
            }
            let any = writer.pool.or(guards);
            let text = writer.text(any)?;
            some.push(format!("({}.{place} && {text})", templates[p]));
        }
    }
    Ok(if some.is_empty() { "false".to_string() } else { format!("({})", some.join(" || ")) })
}

/// How runs begin.
#[derive(Clone, Copy)]
struct Beginning {
    /// A `Start` process selects the first values.
    chosen: bool,
    /// There may be no start.
    may_be_empty: bool,
}

/// The claims as queries. If there is a `Start` process, they apply after its selection. Claims
/// whose meaning depends on the existence of a start are omitted if there may be none.
fn queries(
    writer: &Writer<'_>,
    beginning: Beginning,
    enabled: &Result<String, Refusal>,
    selection: Selection<'_>,
    claims: &mut Vec<WrittenClaim>,
    left_out: &mut Vec<String>,
) -> Result<String, Refusal> {
    let Beginning { chosen, may_be_empty } = beginning;
    let mut text = String::new();
    for (i, claim) in writer
        .system
        .claims()
        .iter()
        .enumerate()
        .filter(|(i, _)| selection.includes(ClaimId::from(*i)))
    {
        let formula = |p: StateTerm| writer.text(p.term());
        let begun = |p: String| if chosen { format!("(Start.Chosen && {p})") } else { p };
        let then = |p: String| if chosen { format!("(Start.Chosen imply {p})") } else { p };
        let start = if chosen { "Start.Chosen" } else { "true" };
        let query = match &claim.kind {
            ClaimKind::Always(p) => formula(*p).map(|p| format!("A[] {}", then(p))),
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => formula(*p).map(|p| format!("E<> {}", begun(p))),
                _ => refuse("a chain of goals"),
            },
            ClaimKind::NoDeadlock if writer.system.nodes().iter().all(|n| !n.is_final) => {
                Ok(format!("A[] {}", then("not deadlock".to_string())))
            }
            ClaimKind::Eventually { goal, under } if under.is_empty() && !may_be_empty => {
                formula(*goal).map(|p| format!("A<> {}", begun(p)))
            }
            ClaimKind::AlwaysEventually { goal, under } if under.is_empty() => {
                formula(*goal).map(|p| format!("{start} --> {p}"))
            }
            ClaimKind::LeadsTo { from, to, under } if under.is_empty() => {
                formula(*from).and_then(|p| Ok(format!("{} --> {}", begun(p), formula(*to)?)))
            }
            ClaimKind::ExistsAlways(p) if !may_be_empty => {
                formula(*p).map(|p| format!("E[] {}", then(p)))
            }
            ClaimKind::InfiniteRun if !may_be_empty => {
                enabled.clone().map(|p| format!("E[] {}", then(p)))
            }
            _ => refuse("this kind of claim"),
        };
        match query {
            Ok(query) => {
                let temporal = query.contains("-->");
                let id = ClaimId::from(i);
                claims.push(WrittenClaim {
                    name: claim.name.clone(),
                    claim: id,
                    opposite: false,
                    temporal,
                });
                let (query, name) = (escaped(&query), escaped(&claim.name));
                let _ = writeln!(
                    text,
                    "  <query><formula>{query}</formula><comment>{name}</comment></query>"
                );
            }
            Err(_) => left_out.push(claim.name.clone()),
        }
    }
    Ok(text)
}
