//! Terms to SMT-LIB 2.6 text.
//!
//! Every operator is printed with the meaning that docs/semantics.md gives it, whatever SMT-LIB leaves open: division
//! by zero is written out, powers are expanded. A subterm that is used twice, or that nests deep, becomes a
//! definition; one under quantifiers becomes a definition with the bound variables as parameters. Nothing recurses.

use std::fmt::Write as _;
use std::rc::Rc;

use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::{EnumStyle, SolverKind};
use crate::names;
use crate::template::{Hole, Holed, Placement, PowerGuard, Template, Use};

/// Terms that nest deeper are cut by a definition: solvers' parsers may recurse.
const MAX_NESTING: u32 = 100;

/// Exponents up to this are written out as cases if the base is a constant.
const CONSTANT_BASE_CASES: u32 = 64;

/// Exponents up to this are written out as cases otherwise.
const VARIABLE_BASE_CASES: u32 = 12;

/// Constant exponents up to this are unfolded.
const MAX_EXPONENT: u32 = 1000;

/// The SMT-LIB name of a sort.
pub(crate) fn sort_name(pool: &Pool, enums: EnumStyle, sort: Sort) -> String {
    match (sort, enums) {
        (Sort::Bool, _) => "Bool".into(),
        (Sort::Int, _) | (Sort::Enum(_), EnumStyle::Ints) => "Int".into(),
        (Sort::Real, _) => "Real".into(),
        (Sort::String, _) => "String".into(),
        (Sort::Enum(id), EnumStyle::Datatypes) => names::enum_sort(&pool.enumeration(id).name),
    }
}

/// The name of a symbol in a template.
pub(crate) fn placed_name(pool: &Pool, symbol: SymbolId, offset: Option<u32>) -> Holed {
    let encoded = names::encode(&pool.symbol(symbol).name);
    let mut name = Holed::default();
    match offset {
        None => name.push(&encoded.rigid()),
        Some(offset) => {
            let bar = if encoded.quoted { "|" } else { "" };
            name.push(bar);
            name.push(&encoded.text);
            name.push("@");
            name.push_hole(Hole::Step(offset));
            name.push(bar);
        }
    }
    name
}

/// Compiles a term; `number` is unique in the session.
pub(crate) fn compile(
    pool: &Pool,
    kind: SolverKind,
    root: TermId,
    placement: &dyn Fn(SymbolId) -> Placement,
    (session, number): (u64, u32),
) -> Template {
    let order = pool.postorder(&[root]);
    let features = pool.features(&[root]);
    let mut printer = Printer {
        pool,
        enums: kind.enums(),
        number,
        names: FxHashMap::default(),
        symbols: FxHashMap::default(),
        parameters: FxHashMap::default(),
        definitions: Holed::default(),
        powers: Vec::new(),
        unsupported: kind.lacks(features).map(String::from),
    };
    let mut template = Template {
        session,
        sort: pool.sort(root),
        uses: Vec::new(),
        enums: Vec::new(),
        definitions: Holed::default(),
        root: Holed::default(),
        powers: Vec::new(),
        unsupported: None,
        features,
    };
    printer.place_symbols(&order, placement, &mut template);
    if printer.unsupported.is_none() {
        printer.find_parameters(&order);
        printer.choose_names(&order, root);
        for &t in &order {
            if printer.names.contains_key(&t) {
                printer.define(t);
            }
        }
        printer.write(&mut template.root, root);
    }
    template.definitions = printer.definitions;
    template.powers = printer.powers;
    template.unsupported = printer.unsupported;
    template
}

struct Printer<'p> {
    pool: &'p Pool,
    enums: EnumStyle,
    number: u32,
    /// Terms that have a definition, by its position.
    names: FxHashMap<TermId, u32>,
    symbols: FxHashMap<SymbolId, Holed>,
    /// The bound variables that are free in a term, for terms that have some.
    parameters: FxHashMap<TermId, Rc<[SymbolId]>>,
    definitions: Holed,
    powers: Vec<PowerGuard>,
    unsupported: Option<String>,
}

/// What is left to write.
enum Job {
    Term(TermId),
    Text(&'static str),
}

impl Printer<'_> {
    /// Names symbols and notes what an instance has to declare.
    fn place_symbols(&mut self, order: &[TermId], placement: &dyn Fn(SymbolId) -> Placement, template: &mut Template) {
        let mut enums = FxHashSet::default();
        let mut used = FxHashSet::default();
        for &t in order {
            if let Sort::Enum(id) = self.pool.sort(t)
                && enums.insert(id)
            {
                template.enums.push(id);
            }
            let Op::Symbol(s) = self.pool.op(t) else { continue };
            let symbol = self.pool.symbol(s);
            let placed = if symbol.bound { Placement::Rigid } else { placement(s) };
            let (base, offset) = match placed {
                Placement::Rigid => (s, None),
                Placement::At { symbol, offset } => (symbol, Some(offset)),
            };
            let name = placed_name(self.pool, base, offset);
            if !symbol.bound && used.insert((base, offset)) {
                template.uses.push(Use { symbol: base, sort: symbol.sort, offset, name: name.clone() });
            }
            self.symbols.insert(s, name);
        }
    }

    /// Which bound variables are free where.
    fn find_parameters(&mut self, order: &[TermId]) {
        for &t in order {
            let mut free: Vec<SymbolId> = match self.pool.op(t) {
                Op::Symbol(s) if self.pool.symbol(s).bound => vec![s],
                op if op.is_leaf() => continue,
                _ => {
                    let args = self.pool.args(t);
                    args.iter().filter_map(|a| self.parameters.get(a)).flat_map(|p| p.iter().copied()).collect()
                }
            };
            if free.is_empty() {
                continue;
            }
            free.sort_unstable();
            free.dedup();
            if matches!(self.pool.op(t), Op::Forall | Op::Exists) {
                let args = self.pool.args(t);
                let bound = &args[..args.len() - 1];
                free.retain(|s| !bound.iter().any(|&b| self.pool.as_symbol(b) == Some(*s)));
            }
            if !free.is_empty() {
                self.parameters.insert(t, free.into());
            }
        }
    }

    /// Chooses what becomes a definition.
    fn choose_names(&mut self, order: &[TermId], root: TermId) {
        let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
        for &t in order {
            let args = self.pool.args(t);
            for (i, &a) in args.iter().enumerate() {
                *uses.entry(a).or_default() += self.copies(t, i);
            }
        }
        let mut nesting: FxHashMap<TermId, u32> = FxHashMap::default();
        for &t in order {
            let op = self.pool.op(t);
            if op.is_leaf() {
                continue;
            }
            let args = self.pool.args(t);
            let depth = 1 + args.iter().filter_map(|a| nesting.get(a)).max().copied().unwrap_or(0);
            let long = matches!(op, Op::Min | Op::Max) && args.len() > 2;
            let shared = uses.get(&t).is_some_and(|&n| n > 1);
            if shared || long || op == Op::Pow || (depth >= MAX_NESTING && t != root) {
                let position = self.names.len() as u32;
                self.names.insert(t, position);
            } else {
                nesting.insert(t, depth);
            }
        }
    }

    /// How often the text of `t` holds that of its argument `i`.
    fn copies(&self, t: TermId, i: usize) -> u32 {
        match self.pool.op(t) {
            Op::Abs => 3,
            Op::Min | Op::Max | Op::Pow => 2,
            Op::Div | Op::IntDiv if i == 1 => 2,
            Op::Mod => 2,
            _ => 1,
        }
    }

    fn sort_name(&self, sort: Sort) -> String {
        sort_name(self.pool, self.enums, sort)
    }

    /// The name of the definition at `position`, or of a helper of it.
    fn push_name(&self, out: &mut Holed, position: u32, helper: Option<u32>) {
        let text = out.text_mut();
        let _ = write!(text, "t{}.{position}", self.number);
        if let Some(helper) = helper {
            let _ = write!(text, ".{helper}");
        }
        text.push_str("@!");
        out.push_hole(Hole::Instance);
    }

    /// The use of a definition: applied to its parameters, if it has some.
    fn push_use(&self, out: &mut Holed, t: TermId, position: u32, helper: Option<u32>) {
        match self.parameters.get(&t) {
            None => self.push_name(out, position, helper),
            Some(parameters) => {
                out.push("(");
                self.push_name(out, position, helper);
                for s in parameters.iter() {
                    out.push(" ");
                    out.append(&self.symbols[s]);
                }
                out.push(")");
            }
        }
    }

    /// Writes the head of a definition up to its body.
    fn open_definition(&mut self, t: TermId, position: u32, helper: Option<u32>, sort: &str) {
        let mut out = std::mem::take(&mut self.definitions);
        out.push("(define-fun ");
        self.push_name(&mut out, position, helper);
        out.push(" (");
        if let Some(parameters) = self.parameters.get(&t) {
            for s in parameters.iter() {
                out.push("(");
                out.append(&self.symbols[s]);
                out.push(" ");
                out.push(&self.sort_name(self.pool.symbol(*s).sort));
                out.push(")");
            }
        }
        out.push(") ");
        out.push(sort);
        out.push(" ");
        self.definitions = out;
    }

    fn close_definition(&mut self) {
        self.definitions.push(")\n");
    }

    /// Writes the definition of a named term.
    fn define(&mut self, t: TermId) {
        let position = self.names[&t];
        let sort = self.sort_name(self.pool.sort(t));
        match self.pool.op(t) {
            Op::Min | Op::Max if self.pool.args(t).len() > 2 => self.define_extremum(t, position, &sort),
            Op::Pow => self.define_power(t, position, &sort),
            _ => {
                self.open_definition(t, position, None, &sort);
                let mut out = std::mem::take(&mut self.definitions);
                self.write_body(&mut out, t);
                self.definitions = out;
                self.close_definition();
            }
        }
    }

    /// `min` or `max` of many: one definition for each further argument.
    fn define_extremum(&mut self, t: TermId, position: u32, sort: &str) {
        let args = self.pool.args(t).to_vec();
        let relation = if self.pool.op(t) == Op::Min { "(ite (<= " } else { "(ite (>= " };
        for (i, &a) in args.iter().enumerate().skip(1) {
            let helper = (i + 1 < args.len()).then_some(i as u32);
            self.open_definition(t, position, helper, sort);
            let mut left = Holed::default();
            if i == 1 {
                self.write(&mut left, args[0]);
            } else {
                self.push_use(&mut left, t, position, Some(i as u32 - 1));
            }
            let mut right = Holed::default();
            self.write(&mut right, a);
            let out = &mut self.definitions;
            out.push(relation);
            out.append(&left);
            out.push(" ");
            out.append(&right);
            out.push(") ");
            out.append(&left);
            out.push(" ");
            out.append(&right);
            out.push(")");
            self.close_definition();
        }
    }

    /// A power. A constant exponent is unfolded. Otherwise exponents up to a bound are cases, and beyond it the value
    /// is an unconstrained constant: "unsat" stays right, and a model that uses it is not taken for one.
    fn define_power(&mut self, t: TermId, position: u32, sort: &str) {
        let (base, exponent) = (self.pool.args(t)[0], self.pool.args(t)[1]);
        let base_value = self.pool.as_constant(base);
        let last = match self.pool.as_constant(exponent) {
            Some(Value::Int(e)) if e <= IBig::from(MAX_EXPONENT) => u32::try_from(&e).unwrap_or(0),
            Some(_) => {
                self.unsupported = Some(format!("exponents above {MAX_EXPONENT}"));
                return;
            }
            None if self.parameters.contains_key(&t) => {
                self.unsupported = Some("exponents that are not constant, under a quantifier".into());
                return;
            }
            None if base_value.is_some() => CONSTANT_BASE_CASES,
            None => VARIABLE_BASE_CASES,
        };
        let mut base_text = Holed::default();
        self.write(&mut base_text, base);
        let constant_exponent = self.pool.as_constant(exponent).is_some();
        // Helper i is the base to the power i; for a constant base the numbers are written out.
        let powers: Vec<Holed> = match &base_value {
            Some(value) => powers_of(value, last, self.pool.sort(t)),
            None => self.define_products(t, position, sort, last, &base_text),
        };
        if constant_exponent {
            self.open_definition(t, position, None, sort);
            let result = powers.last().cloned().unwrap_or_default();
            self.definitions.append(&result);
            self.close_definition();
            return;
        }
        let mut exponent_text = Holed::default();
        self.write(&mut exponent_text, exponent);
        let beyond_value = last + 1;
        self.definitions.push("(declare-fun ");
        let mut out = std::mem::take(&mut self.definitions);
        self.push_name(&mut out, position, Some(beyond_value));
        self.definitions = out;
        self.definitions.push(&format!(" () {sort})\n"));
        self.open_definition(t, position, None, sort);
        let mut out = std::mem::take(&mut self.definitions);
        for (i, power) in powers.iter().enumerate() {
            out.push(if i == 0 { "(ite (<= " } else { "(ite (= " });
            out.append(&exponent_text);
            out.push(&format!(" {i}) "));
            out.append(power);
            out.push(" ");
        }
        self.push_name(&mut out, position, Some(beyond_value));
        out.push(&")".repeat(powers.len()));
        self.definitions = out;
        self.close_definition();
        let mut beyond = Holed::default();
        beyond.push("(> ");
        beyond.append(&exponent_text);
        beyond.push(&format!(" {last})"));
        self.powers.push(PowerGuard { beyond });
    }

    /// The powers 0 to `last` of a base that is no constant, each defined from the one before.
    fn define_products(&mut self, t: TermId, position: u32, sort: &str, last: u32, base: &Holed) -> Vec<Holed> {
        let mut one = Holed::default();
        one.push(if self.pool.sort(t) == Sort::Int { "1" } else { "1.0" });
        let mut powers = vec![one];
        for i in 1..=last {
            if i == 1 {
                powers.push(base.clone());
                continue;
            }
            self.open_definition(t, position, Some(i), sort);
            let out = &mut self.definitions;
            out.push("(* ");
            out.append(&powers[i as usize - 1]);
            out.push(" ");
            out.append(base);
            out.push(")");
            self.close_definition();
            let mut name = Holed::default();
            self.push_use(&mut name, t, position, Some(i));
            powers.push(name);
        }
        powers
    }

    /// Writes a term: its name if it has one, else its text.
    fn write(&mut self, out: &mut Holed, t: TermId) {
        match self.names.get(&t) {
            Some(&position) => self.push_use(out, t, position, None),
            None => self.write_body(out, t),
        }
    }

    fn write_body(&mut self, out: &mut Holed, root: TermId) {
        let mut jobs = Vec::new();
        self.expand(out, root, &mut jobs);
        while let Some(job) = jobs.pop() {
            match job {
                Job::Text(text) => out.push(text),
                Job::Term(t) => match self.names.get(&t) {
                    Some(&position) => self.push_use(out, t, position, None),
                    None => self.expand(out, t, &mut jobs),
                },
            }
        }
    }

    /// Writes the beginning of `t` and leaves the rest as jobs.
    fn expand(&mut self, out: &mut Holed, t: TermId, jobs: &mut Vec<Job>) {
        use Job::{Term, Text};
        let pool = self.pool;
        let args = pool.args(t);
        let op = pool.op(t);
        let plan = |jobs: &mut Vec<Job>, items: Vec<Job>| jobs.extend(items.into_iter().rev());
        match op {
            Op::Symbol(s) => out.append(&self.symbols[&s]),
            Op::Bool(b) => out.push(if b { "true" } else { "false" }),
            Op::Const(v) => self.push_value(out, pool.value(v)),
            Op::Abs => {
                let x = args[0];
                let zero = if pool.sort(x) == Sort::Int { " 0) " } else { " 0.0) " };
                let parts = vec![Text("(ite (>= "), Term(x), Text(zero), Term(x), Text(" (- "), Term(x), Text("))")];
                plan(jobs, parts);
            }
            Op::Min | Op::Max => {
                let (a, b) = (args[0], args[1]);
                let relation = if op == Op::Min { "(ite (<= " } else { "(ite (>= " };
                let parts = vec![
                    Text(relation),
                    Term(a),
                    Text(" "),
                    Term(b),
                    Text(") "),
                    Term(a),
                    Text(" "),
                    Term(b),
                    Text(")"),
                ];
                plan(jobs, parts);
            }
            Op::Div | Op::IntDiv | Op::Mod => plan(jobs, division(pool, op, args[0], args[1])),
            Op::Forall | Op::Exists => {
                let (&body, bound) = args.split_last().expect("a quantifier has a body");
                out.push(if op == Op::Forall { "(forall (" } else { "(exists (" });
                for &b in bound {
                    let Some(s) = pool.as_symbol(b) else { continue };
                    out.push("(");
                    out.append(&self.symbols[&s]);
                    out.push(" ");
                    out.push(&self.sort_name(pool.sort(b)));
                    out.push(")");
                }
                out.push(") ");
                plan(jobs, vec![Term(body), Text(")")]);
            }
            _ => {
                out.push("(");
                out.push(operator(op));
                let mut items = Vec::with_capacity(2 * args.len() + 1);
                for &a in args {
                    items.push(Text(" "));
                    items.push(Term(a));
                }
                items.push(Text(")"));
                plan(jobs, items);
            }
        }
    }

    fn push_value(&mut self, out: &mut Holed, value: &Value) {
        match value {
            Value::Bool(b) => out.push(if *b { "true" } else { "false" }),
            Value::Int(i) => names::push_int(out.text_mut(), i),
            Value::Real(r) => names::push_real(out.text_mut(), r),
            Value::Str(s) => {
                if !names::push_string(out.text_mut(), s) {
                    self.unsupported = Some("characters beyond U+2FFFF".into());
                }
            }
            Value::Enum(id, position) => match self.enums {
                EnumStyle::Ints => out.push(&position.to_string()),
                EnumStyle::Datatypes => {
                    let e = self.pool.enumeration(*id);
                    match e.variants.get(*position as usize) {
                        Some(variant) => out.push(&names::enum_variant(&e.name, variant)),
                        None => self.unsupported = Some(format!("variant {position} of {}", e.name)),
                    }
                }
            },
        }
    }
}

/// The SMT-LIB operator that means the same.
fn operator(op: Op) -> &'static str {
    match op {
        Op::Not => "not",
        Op::And => "and",
        Op::Or => "or",
        Op::Implies => "=>",
        Op::Eq => "=",
        Op::Ite => "ite",
        Op::Neg | Op::Sub => "-",
        Op::Add => "+",
        Op::Mul => "*",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::ToReal => "to_real",
        Op::ToInt => "to_int",
        Op::Concat => "str.++",
        // The others are written by cases of their own.
        Op::Symbol(_)
        | Op::Bool(_)
        | Op::Const(_)
        | Op::Div
        | Op::IntDiv
        | Op::Mod
        | Op::Pow
        | Op::Abs
        | Op::Min
        | Op::Max
        | Op::Forall
        | Op::Exists => unreachable!("not a plain operator"),
    }
}

/// Division with its value at zero: `x / 0 = 0`, `x div 0 = 0`, `x mod 0 = x`.
fn division(pool: &Pool, op: Op, x: TermId, y: TermId) -> Vec<Job> {
    use Job::{Term, Text};
    let (open, zero_test, zero) = match op {
        Op::Div => ("(/ ", " 0.0) ", "0.0"),
        Op::IntDiv => ("(div ", " 0) ", "0"),
        _ => ("(mod ", " 0) ", "0"),
    };
    let quotient = [Text(open), Term(x), Text(" "), Term(y), Text(")")];
    let at_zero = || if op == Op::Mod { Term(x) } else { Text(zero) };
    match pool.as_constant(y) {
        Some(Value::Int(i)) if i.is_zero() => vec![at_zero()],
        Some(Value::Real(r)) if r.is_zero() => vec![at_zero()],
        Some(_) => quotient.into(),
        None => {
            let mut jobs = vec![Text("(ite (= "), Term(y), Text(zero_test), at_zero(), Text(" ")];
            jobs.extend(quotient);
            jobs.push(Text(")"));
            jobs
        }
    }
}

/// The powers 0 to `last` of a number, as literals.
fn powers_of(base: &Value, last: u32, sort: Sort) -> Vec<Holed> {
    let mut literals = Vec::new();
    let mut power = if sort == Sort::Int { Value::int(1) } else { Value::whole(1) };
    for _ in 0..=last {
        let mut literal = Holed::default();
        power = match (power, base) {
            (Value::Int(p), Value::Int(b)) => {
                names::push_int(literal.text_mut(), &p);
                Value::Int(p * b)
            }
            (Value::Real(p), Value::Real(b)) => {
                names::push_real(literal.text_mut(), &p);
                Value::Real(p * b)
            }
            (other, _) => other,
        };
        literals.push(literal);
    }
    literals
}
