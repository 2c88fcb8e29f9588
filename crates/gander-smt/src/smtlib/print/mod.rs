//! Terms to SMT-LIB 2.6 text.
//!
//! Every operator is printed with the meaning of docs/semantics.md, also where SMT-LIB leaves it
//! open: division by zero is a case, powers are expanded. A subterm that is used twice or nested
//! deeply becomes a definition; under quantifiers, its parameters are the bound variables. Nothing
//! recurses.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::rc::Rc;

use gander_runtime::check_cancelled;
use gander_term::smtlib::{self, Dialect, EnumStyle, Piece, sort_name};
use gander_term::{BvOp, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::smtlib::template::{Hole, Holed, Placement, PowerGuard, SessionId, Template, Use};
use crate::solver::dialect::Solver;

/// Depth of nesting at most; a deeper term becomes a definition, because parsers of solvers may
/// recurse.
const MAX_NESTING: u32 = 100;

/// The name of a symbol in a template.
pub(crate) fn placed_name(pool: &Pool, symbol: SymbolId, offset: Option<u32>) -> Holed {
    let encoded = smtlib::encode(&pool.symbol(symbol).name);
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
    number: u32,
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
        session: SessionId::default(),
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

/// Text that is still to be written.
enum Job {
    Term(TermId),
    Text(&'static str),
    Owned(String),
}

impl Printer<'_> {
    /// Names symbols and collects what an instance has to declare.
    fn place_symbols(
        &mut self,
        order: &[TermId],
        placement: &dyn Fn(SymbolId) -> Placement,
        template: &mut Template,
    ) {
        let mut enums = FxHashSet::default();
        let mut used = FxHashSet::default();
        for &t in order {
            check_cancelled();
            template.enums.extend(
                self.pool.sort(t).enumerations().into_iter().filter(|&id| enums.insert(id)),
            );
            let Op::Symbol(s) = self.pool.op(t) else { continue };
            let symbol = self.pool.symbol(s);
            let placed = if symbol.bound { Placement::Rigid } else { placement(s) };
            let (base, offset) = match placed {
                Placement::Rigid => (s, None),
                Placement::At { symbol, offset } => (symbol, Some(offset)),
            };
            let name = placed_name(self.pool, base, offset);
            if !symbol.bound && used.insert((base, offset)) {
                template.uses.push(Use {
                    symbol: base,
                    sort: symbol.sort,
                    offset,
                    name: name.clone(),
                });
            }
            self.symbols.insert(s, name);
        }
    }

    /// Computes the free bound variables of terms.
    fn find_parameters(&mut self, order: &[TermId]) {
        for &t in order {
            check_cancelled();
            let mut free: Vec<SymbolId> = match self.pool.op(t) {
                Op::Symbol(s) if self.pool.symbol(s).bound => vec![s],
                op if op.is_leaf() => continue,
                _ => {
                    let args = self.pool.args(t);
                    args.iter()
                        .filter_map(|a| self.parameters.get(a))
                        .flat_map(|p| p.iter().copied())
                        .collect()
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

    /// Chooses the terms that become definitions.
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

    /// How often the text of `t` contains that of its argument `i`.
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

    /// The name of the definition at `position`, or of an auxiliary definition of it.
    pub(crate) fn push_name(&self, out: &mut Holed, position: u32, helper: Option<u32>) {
        let text = out.text_mut();
        let _ = write!(text, "t{}.{position}", self.number);
        if let Some(helper) = helper {
            let _ = write!(text, ".{helper}");
        }
        text.push_str("@!");
        out.push_hole(Hole::Instance);
    }

    /// A use of a definition, applied to its parameters if it has any.
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
    pub(crate) fn open_definition(
        &mut self,
        t: TermId,
        position: u32,
        helper: Option<u32>,
        sort: &str,
    ) {
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
            Op::Min | Op::Max if self.pool.args(t).len() > 2 => {
                self.define_extremum(t, position, &sort)
            }
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

    /// Writes a term: its name if it has one, otherwise its text.
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
        match op {
            Op::Symbol(s) => out.append(&self.symbols[&s]),
            Op::Bool(b) => out.push(if b { "true" } else { "false" }),
            Op::Const(v) => self.push_value(out, pool.value(v)),
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
                jobs.extend([Text(")"), Term(body)]);
            }
            _ => {
                let mut pieces = Vec::with_capacity(2 * args.len() + 3);
                let dialect = (self.enums, Dialect::Solver);
                if let Err(what) = smtlib::push_operator(&mut pieces, pool, dialect, t) {
                    self.unsupported = Some(what.0);
                }
                let is_argument = |p: &Piece| matches!(p, Piece::Argument(_));
                let first = pieces.iter().position(is_argument).unwrap_or(pieces.len());
                let mut pieces = pieces.into_iter().map(|piece| match piece {
                    Piece::Text(text) => Text(text),
                    Piece::Owned(text) => Job::Owned(text),
                    Piece::Argument(i) => Term(args[i]),
                });
                for job in pieces.by_ref().take(first) {
                    match job {
                        Text(text) => out.push(text),
                        Job::Owned(text) => out.push(&text),
                        Term(_) => {}
                    }
                }
                jobs.extend(pieces.rev());
            }
        }
    }

    fn push_value(&mut self, out: &mut Holed, value: &Value) {
        if let Err(what) = smtlib::push_value(out.text_mut(), self.pool, self.enums, value) {
            self.unsupported = Some(what.0);
        }
    }
}
