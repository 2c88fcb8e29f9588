//! Terms to SMT-LIB 2.6 text.
//!
//! Every operator is printed with the meaning that docs/semantics.md gives it, whatever SMT-LIB leaves open: division
//! by zero is written out, powers are expanded. A subterm that is used twice, or that nests deep, becomes a
//! definition; one under quantifiers becomes a definition with the bound variables as parameters. Nothing recurses.

use std::fmt::Write as _;
use std::rc::Rc;

use gander_runtime::check_cancelled;
use gander_term::{BvOp, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dialect::{EnumStyle, Solver};
use crate::names;
use crate::template::{Hole, Holed, Placement, PowerGuard, Template, Use};

/// Terms that nest deeper are cut by a definition: solvers' parsers may recurse.
const MAX_NESTING: u32 = 100;

/// The SMT-LIB name of a sort.
pub(crate) fn sort_name(pool: &Pool, enums: EnumStyle, sort: Sort) -> String {
    match (sort, enums) {
        (Sort::Bool, _) => "Bool".into(),
        (Sort::Int, _) | (Sort::Enum(_), EnumStyle::Ints) => "Int".into(),
        (Sort::Real, _) => "Real".into(),
        (Sort::String, _) => "String".into(),
        (Sort::Enum(id), EnumStyle::Datatypes) => names::enum_sort(&pool.enumeration(id).name),
        (Sort::BitVec(width), _) => format!("(_ BitVec {})", width.bits()),
        // Bounded by the nesting of arrays.
        (Sort::Array(array), _) => {
            format!("(Array {} {})", sort_name(pool, enums, array.index()), sort_name(pool, enums, array.element()))
        }
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
    solver: &Solver,
    root: TermId,
    placement: &dyn Fn(SymbolId) -> Placement,
    (session, number): (u64, u32),
) -> Template {
    let order = pool.postorder(&[root]);
    let features = pool.features(&[root]);
    let mut printer = Printer {
        pool,
        enums: solver.kind.enums(),
        number,
        names: FxHashMap::default(),
        symbols: FxHashMap::default(),
        parameters: FxHashMap::default(),
        definitions: Holed::default(),
        powers: Vec::new(),
        unsupported: solver.lacks(features).map(String::from),
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

/// Writes one template.
pub(crate) struct Printer<'p> {
    pub(crate) pool: &'p Pool,
    enums: EnumStyle,
    number: u32,
    /// Terms that have a definition, by its position.
    names: FxHashMap<TermId, u32>,
    symbols: FxHashMap<SymbolId, Holed>,
    /// The bound variables that are free in a term, for terms that have some.
    pub(crate) parameters: FxHashMap<TermId, Rc<[SymbolId]>>,
    pub(crate) definitions: Holed,
    pub(crate) powers: Vec<PowerGuard>,
    pub(crate) unsupported: Option<String>,
}

/// What is left to write.
enum Job {
    Term(TermId),
    Text(&'static str),
    Owned(String),
}

impl Printer<'_> {
    /// Names symbols and notes what an instance has to declare.
    fn place_symbols(&mut self, order: &[TermId], placement: &dyn Fn(SymbolId) -> Placement, template: &mut Template) {
        let mut enums = FxHashSet::default();
        let mut used = FxHashSet::default();
        for &t in order {
            check_cancelled();
            template.enums.extend(self.pool.sort(t).enumerations().into_iter().filter(|&id| enums.insert(id)));
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
            check_cancelled();
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
            check_cancelled();
            let args = self.pool.args(t);
            for (i, &a) in args.iter().enumerate() {
                *uses.entry(a).or_default() += self.copies(t, i);
            }
        }
        let mut nesting: FxHashMap<TermId, u32> = FxHashMap::default();
        for &t in order {
            check_cancelled();
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
            Op::Bv(BvOp::ToSignedInt) => 3,
            _ => 1,
        }
    }

    fn sort_name(&self, sort: Sort) -> String {
        sort_name(self.pool, self.enums, sort)
    }

    /// The name of the definition at `position`, or of a helper of it.
    pub(crate) fn push_name(&self, out: &mut Holed, position: u32, helper: Option<u32>) {
        let text = out.text_mut();
        let _ = write!(text, "t{}.{position}", self.number);
        if let Some(helper) = helper {
            let _ = write!(text, ".{helper}");
        }
        text.push_str("@!");
        out.push_hole(Hole::Instance);
    }

    /// The use of a definition: applied to its parameters, if it has some.
    pub(crate) fn push_use(&self, out: &mut Holed, t: TermId, position: u32, helper: Option<u32>) {
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
    pub(crate) fn open_definition(&mut self, t: TermId, position: u32, helper: Option<u32>, sort: &str) {
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

    pub(crate) fn close_definition(&mut self) {
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

    /// Writes a term: its name if it has one, else its text.
    pub(crate) fn write(&mut self, out: &mut Holed, t: TermId) {
        match self.names.get(&t) {
            Some(&position) => self.push_use(out, t, position, None),
            None => self.write_body(out, t),
        }
    }

    fn write_body(&mut self, out: &mut Holed, root: TermId) {
        let mut jobs = Vec::new();
        self.expand(out, root, &mut jobs);
        while let Some(job) = jobs.pop() {
            check_cancelled();
            match job {
                Job::Text(text) => out.push(text),
                Job::Owned(text) => out.push(&text),
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
            Op::Bv(BvOp::ToSignedInt) => plan(jobs, signed_int(pool, args[0])),
            Op::ConstArray(_) => {
                let open = format!("((as const {}) ", self.sort_name(pool.sort(t)));
                plan(jobs, vec![Job::Owned(open), Term(args[0]), Text(")")]);
            }
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
                match op {
                    Op::Bv(op) => push_bit_operator(out.text_mut(), op),
                    op => out.push(operator(op)),
                }
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
            Value::BitVec(v) => {
                let _ = write!(out.text_mut(), "(_ bv{} {})", v.bits(), v.width().bits());
            }
            // Recurses over nested arrays only, whose depth is limited.
            Value::Array(a) => {
                for _ in a.exceptions() {
                    out.push("(store ");
                }
                out.push(&format!("((as const {}) ", self.sort_name(value.sort())));
                self.push_value(out, a.default());
                out.push(")");
                for (i, v) in a.exceptions() {
                    out.push(" ");
                    self.push_value(out, i);
                    out.push(" ");
                    self.push_value(out, v);
                    out.push(")");
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
        Op::Select => "select",
        Op::Store => "store",
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
        | Op::Bv(_)
        | Op::ConstArray(_)
        | Op::Forall
        | Op::Exists => unreachable!("not a plain operator"),
    }
}

/// An operator on bit-vectors, with its parameters. For conversions, the names that Z3 and cvc5 of all ages take.
fn push_bit_operator(out: &mut String, op: BvOp) {
    // Writing to a string cannot fail.
    let _ = match op {
        BvOp::Extract { high, low } => write!(out, "(_ extract {high} {low})"),
        BvOp::ZeroExtend(n) => write!(out, "(_ zero_extend {n})"),
        BvOp::SignExtend(n) => write!(out, "(_ sign_extend {n})"),
        BvOp::FromInt(width) => write!(out, "(_ int2bv {})", width.bits()),
        BvOp::ToInt => write!(out, "bv2nat"),
        plain => write!(out, "{}", plain.name()),
    };
}

/// The number that a bit-vector is in two's complement: `2^w` less if the sign bit is set.
fn signed_int(pool: &Pool, x: TermId) -> Vec<Job> {
    use Job::{Owned, Term, Text};
    let Sort::BitVec(width) = pool.sort(x) else { return Vec::new() };
    vec![
        Text("(ite (bvslt "),
        Term(x),
        Owned(format!(" (_ bv0 {})) (- (bv2nat ", width.bits())),
        Term(x),
        Owned(format!(") {}) (bv2nat ", width.size())),
        Term(x),
        Text("))"),
    ]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::SolverKind;
    use gander_runtime::{Cancellation, Stopped};
    use gander_term::Width;

    /// The text of an instance at step 7: definitions, then the formula.
    fn text(pool: &Pool, kind: SolverKind, term: TermId, placement: &dyn Fn(SymbolId) -> Placement) -> String {
        let template = compile(pool, &Solver::new(kind, ""), term, placement, (0, 1));
        assert_eq!(template.unsupported, None);
        let mut out = String::new();
        template.definitions.fill(&mut out, 7, 5);
        template.root.fill(&mut out, 7, 5);
        out
    }

    fn rigid(pool: &Pool, term: TermId) -> String {
        text(pool, SolverKind::Z3, term, &|_| Placement::Rigid)
    }

    #[test]
    fn divisions_say_what_zero_gives() {
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::Int);
        let y = pool.variable("y", Sort::Int);
        let (zero, three) = (pool.int(0), pool.int(-3));
        let mut show = |op, a, b| {
            let t = pool.mk(op, &[a, b]).unwrap();
            rigid(&pool, t)
        };
        assert_eq!(show(Op::IntDiv, x, three), "(div x@ (- 3))");
        assert_eq!(show(Op::IntDiv, x, zero), "0");
        assert_eq!(show(Op::Mod, x, zero), "x@");
        assert_eq!(show(Op::IntDiv, x, y), "(ite (= y@ 0) 0 (div x@ y@))");
        assert_eq!(show(Op::Mod, x, y), "(ite (= y@ 0) x@ (mod x@ y@))");
    }

    #[test]
    fn steps_fill_holes() {
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::Int);
        let next = pool.variable("x'", Sort::Int);
        let odd = pool.variable("an input", Sort::Int);
        let (xs, nexts) = (pool.as_symbol(x).unwrap(), pool.as_symbol(next).unwrap());
        let sum = pool.add(x, odd);
        let f = pool.eq(next, sum);
        let place = |s| match s {
            s if s == nexts => Placement::At { symbol: xs, offset: 1 },
            s => Placement::At { symbol: s, offset: 0 },
        };
        assert_eq!(text(&pool, SolverKind::Yices, f, &place), "(= x@8 (+ x@7 |an input@7|))");
    }

    #[test]
    fn shared_terms_are_defined_once() {
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::Int);
        let mut t = x;
        for _ in 0..200 {
            t = pool.add(t, t);
        }
        let out = rigid(&pool, t);
        assert!(out.len() < 200 * 60, "{}", out.len());
        let one = pool.int(1);
        let once = pool.add(x, one);
        let twice = pool.mk(Op::Mul, &[once, once]).unwrap();
        assert_eq!(rigid(&pool, twice), "(define-fun t1.0@!5 () Int (+ x@ 1))\n(* t1.0@!5 t1.0@!5)");
    }

    #[test]
    fn what_is_shared_under_a_quantifier_takes_the_bound_variable() {
        let mut pool = Pool::new();
        let b = pool.declare_bound("b", Sort::Int);
        let bound = pool.var(b);
        let one = pool.int(1);
        let once = pool.add(bound, one);
        let less = pool.lt(once, once);
        let f = pool.forall(&[b], less);
        let expected = "(define-fun t1.0@!5 ((b@ Int)) Int (+ b@ 1))\n\
                        (forall ((b@ Int)) (< (t1.0@!5 b@) (t1.0@!5 b@)))";
        assert_eq!(rigid(&pool, f), expected);
    }

    #[test]
    fn enumerations_by_dialect() {
        let mut pool = Pool::new();
        let id = pool.declare_enum("Status", &["Open", "Not open"]).unwrap();
        let e = pool.variable("e", Sort::Enum(id));
        let c = pool.constant(Value::Enum(id, 1));
        let f = pool.eq(e, c);
        assert_eq!(rigid(&pool, f), "(= e@ |Status@!v@Not open|)");
        assert_eq!(text(&pool, SolverKind::Yices, f, &|_| Placement::Rigid), "(= e@ 1)");
    }

    #[test]
    fn bit_vectors_have_the_words_of_smt_lib() {
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::BitVec(Width::W8));
        let c = pool.bits(Width::W8, -1);
        let sum = pool.bv(BvOp::Add, &[x, c]);
        assert_eq!(rigid(&pool, sum), "(bvadd x@ (_ bv255 8))");
        let low = pool.bv(BvOp::Extract { high: 3, low: 0 }, &[x]);
        let wide = pool.bv(BvOp::SignExtend(4), &[low]);
        assert_eq!(rigid(&pool, wide), "((_ sign_extend 4) ((_ extract 3 0) x@))");
        let signed = pool.bv(BvOp::ToSignedInt, &[x]);
        assert_eq!(rigid(&pool, signed), "(ite (bvslt x@ (_ bv0 8)) (- (bv2nat x@) 256) (bv2nat x@))");
        let back = pool.bv(BvOp::FromInt(Width::W16), &[signed]);
        assert!(rigid(&pool, back).starts_with("((_ int2bv 16) (ite "), "{}", rigid(&pool, back));
        assert_eq!(sort_name(&pool, EnumStyle::Ints, Sort::BitVec(Width::W1)), "(_ BitVec 1)");
    }

    /// Counted in pieces of work, not in time.
    #[test]
    fn a_formula_in_the_making_is_given_up_when_nobody_wants_it() {
        let mut pool = Pool::new();
        let parts: Vec<TermId> = (0..2000)
            .map(|i| {
                let (x, c) = (pool.variable(&format!("x{i}"), Sort::Int), pool.int(i));
                pool.lt(x, c)
            })
            .collect();
        let f = pool.and(parts);
        let compile = || compile(&pool, &Solver::new(SolverKind::Z3, ""), f, &|_| Placement::Rigid, (0, 1));
        for looks in [1, 1000, 10_000, 20_000] {
            assert_eq!(
                Cancellation::after_checks(looks).run_cancellable(compile).map(drop),
                Err(Stopped::Cancelled),
                "{looks}"
            );
        }
        assert!(Cancellation::after_checks(1_000_000).run_cancellable(compile).is_ok());
    }
}
