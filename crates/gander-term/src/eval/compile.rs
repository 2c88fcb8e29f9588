//! Compiles terms to programs.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::Sort;
use crate::value::Value;
use gander_runtime::check_cancelled;

use super::MAX_QUANTIFIER_DEPTH;
use super::cell::Cell;
use super::domain::{Bound, Domain, domains};
use super::program::{Code, Instruction, Program, Quantifier, Rare, SlotBound, SlotDomain};

/// The number of quantifiers that one program compiles. Evaluation fails when it reaches one of the
/// others.
const MAX_QUANTIFIERS: usize = 100_000;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

pub(super) fn compile(pool: &Pool, roots: &[TermId]) -> Program {
    let mut budget = MAX_QUANTIFIERS;
    compile_at(pool, roots, 0, &mut budget)
}

/// A quantifier with a compiled body, before its slots in the outer program are assigned.
struct Body {
    exists: bool,
    program: Program,
    domains: Vec<(SymbolId, Domain)>,
}

struct Compiler<'a> {
    pool: &'a Pool,
    depth: usize,
    order: Vec<TermId>,
    symbols: FxHashSet<SymbolId>,
    bodies: FxHashMap<TermId, Option<Body>>,
    slots: FxHashMap<TermId, u32>,
    program: Program,
}

/// Recurses over nested quantifiers only; `depth` counts the surrounding bound symbols and is
/// limited.
fn compile_at(pool: &Pool, roots: &[TermId], depth: usize, budget: &mut usize) -> Program {
    let program = Program {
        id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
        inputs: Vec::new(),
        input_sorts: Vec::new(),
        constants: Vec::new(),
        code: Vec::new(),
        rare: Vec::new(),
        quantifiers: Vec::new(),
        roots: Vec::new(),
    };
    let mut c = Compiler {
        pool,
        depth,
        order: Vec::new(),
        symbols: FxHashSet::default(),
        bodies: FxHashMap::default(),
        slots: FxHashMap::default(),
        program,
    };
    c.collect(roots, budget);
    c.lay_out();
    c.emit_all();
    c.program.roots = roots.iter().map(|&r| (c.slots[&r], pool.sort(r))).collect();
    c.program
}

impl Compiler<'_> {
    /// Lists the terms outside the bodies of quantifiers, children first, and compiles the bodies.
    fn collect(&mut self, roots: &[TermId], budget: &mut usize) {
        let mut seen = FxHashSet::default();
        let mut stack: Vec<(TermId, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((t, done)) = stack.pop() {
            check_cancelled();
            if done {
                self.order.push(t);
                continue;
            }
            if !seen.insert(t) {
                continue;
            }
            stack.push((t, true));
            match self.pool.op(t) {
                Op::Symbol(s) => {
                    self.symbols.insert(s);
                }
                Op::Forall | Op::Exists => {
                    let body = self.body(t, budget);
                    for (_, domain) in body.iter().flat_map(|b| &b.domains) {
                        if let Domain::Between { lower, upper } = domain {
                            let bounds = lower.iter().chain(upper);
                            stack.extend(
                                bounds
                                    .flat_map(|b| b.plus.iter().chain(&b.minus))
                                    .map(|&t| (t, false)),
                            );
                        }
                    }
                    self.bodies.insert(t, body);
                }
                _ => stack.extend(self.pool.args(t).iter().rev().map(|&a| (a, false))),
            }
        }
    }

    fn body(&mut self, t: TermId, budget: &mut usize) -> Option<Body> {
        *budget = budget.checked_sub(1)?;
        let (domains, exists) = domains(self.pool, t);
        let domains = domains?;
        let depth = self.depth + domains.len();
        if depth > MAX_QUANTIFIER_DEPTH {
            return None;
        }
        let &body = self.pool.args(t).last()?;
        let program = compile_at(self.pool, &[body], depth, budget);
        let bound = |s: &SymbolId| domains.iter().any(|(b, _)| b == s);
        self.symbols.extend(program.inputs.iter().filter(|s| !bound(s)));
        Some(Body { exists, program, domains })
    }

    /// Assigns slots to inputs and constants.
    fn lay_out(&mut self) {
        let p = &mut self.program;
        p.inputs = self.symbols.iter().copied().collect();
        p.inputs.sort_unstable();
        p.input_sorts = p.inputs.iter().map(|&s| self.pool.symbol(s).sort).collect();
        for &t in &self.order {
            let value = match self.pool.op(t) {
                Op::Symbol(s) => {
                    let slot = p.inputs.binary_search(&s).expect("collected");
                    self.slots.insert(t, slot as u32);
                    continue;
                }
                Op::Bool(b) => Value::Bool(b),
                Op::Const(v) => self.pool.value(v).clone(),
                _ => continue,
            };
            self.slots.insert(t, (p.inputs.len() + p.constants.len()) as u32);
            p.constants.push(Cell::new(&value));
        }
    }

    fn emit_all(&mut self) {
        for t in std::mem::take(&mut self.order) {
            if !self.pool.op(t).is_leaf() {
                let slot = self.emit(t);
                self.slots.insert(t, slot);
            }
        }
    }

    fn push(&mut self, code: Code, a: u32, b: u32, c: u32) -> u32 {
        let p = &mut self.program;
        p.code.push(Instruction { code, a, b, c });
        (p.inputs.len() + p.constants.len() + p.code.len() - 1) as u32
    }

    fn emit(&mut self, t: TermId) -> u32 {
        let pool = self.pool;
        let op = pool.op(t);
        if matches!(op, Op::Forall | Op::Exists) {
            return self.emit_quantifier(t);
        }
        let args: Vec<u32> = pool.args(t).iter().map(|a| self.slots[a]).collect();
        let real = pool.sort(pool.args(t)[0]) == Sort::Real;
        let typed = |int, on_real| if real { on_real } else { Some(int) };
        let code = match op {
            Op::Not => Some(Code::Not),
            Op::And => Some(Code::And),
            Op::Or => Some(Code::Or),
            Op::Implies => Some(Code::Implies),
            Op::Eq => Some(Code::Eq),
            Op::Neg => typed(Code::NegI, Some(Code::NegR)),
            Op::Abs => typed(Code::AbsI, Some(Code::AbsR)),
            Op::Min => typed(Code::MinI, Some(Code::MinR)),
            Op::Max => typed(Code::MaxI, Some(Code::MaxR)),
            Op::Add => typed(Code::AddI, Some(Code::AddR)),
            Op::Sub => typed(Code::SubI, Some(Code::SubR)),
            Op::Mul => typed(Code::MulI, Some(Code::MulR)),
            Op::Lt | Op::Gt => typed(Code::LtI, Some(Code::LtR)),
            Op::Le | Op::Ge => typed(Code::LeI, Some(Code::LeR)),
            Op::Div => Some(Code::DivR),
            Op::IntDiv => Some(Code::IntDiv),
            Op::Mod => Some(Code::Mod),
            Op::ToReal => Some(Code::ToReal),
            Op::ToInt => Some(Code::ToInt),
            Op::Ite => return self.push(Code::Ite, args[0], args[1], args[2]),
            Op::Bv(_) => return self.emit_bits(t, &args),
            _ => None,
        };
        match (code, &args[..]) {
            (Some(code), &[a]) => self.push(code, a, a, 0),
            (Some(code), &[a, b]) if matches!(op, Op::Gt | Op::Ge) => self.push(code, b, a, 0),
            (Some(code), &[first, ref rest @ ..]) => {
                rest.iter().fold(first, |accumulated, &next| self.push(code, accumulated, next, 0))
            }
            _ => {
                let rare = self.rare(t, &args);
                self.push(Code::Rare, rare, 0, 0)
            }
        }
    }

    /// Adds an operator to `Program::rare`; returns its position.
    fn rare(&mut self, t: TermId, args: &[u32]) -> u32 {
        let sorts = self.pool.args(t).iter().map(|&a| self.pool.sort(a));
        let args: Vec<(u32, Sort)> = args.iter().copied().zip(sorts).collect();
        let word = |&(slot, sort): &(u32, Sort)| (slot, width(sort));
        let words = [args.first().map_or((0, 0), word), args.last().map_or((0, 0), word)];
        self.program.rare.push(Rare { op: self.pool.op(t), args, words });
        self.program.rare.len() as u32 - 1
    }

    /// An operator on bit-vectors; computed on machine words if all widths are at most 64.
    fn emit_bits(&mut self, t: TermId, args: &[u32]) -> u32 {
        let rare = self.rare(t, args);
        let fits = |t: &TermId| width(self.pool.sort(*t)) <= 64;
        let code =
            if fits(&t) && self.pool.args(t).iter().all(fits) { Code::Bits } else { Code::Rare };
        self.push(code, rare, 0, 0)
    }

    fn emit_quantifier(&mut self, t: TermId) -> u32 {
        let Some(Some(body)) = self.bodies.remove(&t) else {
            return self.push(Code::Unbounded, 0, 0, 0);
        };
        let input = |s: &SymbolId| body.program.inputs.binary_search(s).ok().map(|i| i as u32);
        let of_terms = |terms: &[TermId]| terms.iter().map(|t| self.slots[t]).collect();
        let slots = |bounds: &[Bound]| {
            let slot = |b: &Bound| SlotBound {
                plus: of_terms(&b.plus),
                minus: of_terms(&b.minus),
                strict: b.strict,
            };
            bounds.iter().map(slot).collect()
        };
        let mut bound = Vec::new();
        for (s, domain) in &body.domains {
            let domain = match domain {
                Domain::Finite(n) => SlotDomain::Finite(*n),
                Domain::Between { lower, upper } => {
                    SlotDomain::Between { lower: slots(lower), upper: slots(upper) }
                }
            };
            // A symbol that occurs only under an inner quantifier of the same symbol is not an
            // input of the body.
            bound.push((input(s), domain));
        }
        let mut gather = Vec::new();
        for (i, s) in body.program.inputs.iter().enumerate() {
            if !body.domains.iter().any(|(b, _)| b == s) {
                let outer = self.program.inputs.binary_search(s).expect("collected");
                gather.push((outer as u32, i as u32));
            }
        }
        let bound = bound.into_iter().filter_map(|(i, d)| Some((i?, d))).collect();
        let q = Quantifier { exists: body.exists, body: body.program, gather, bound };
        self.program.quantifiers.push(q);
        self.push(Code::Quantifier, self.program.quantifiers.len() as u32 - 1, 0, 0)
    }
}

/// The number of bits; 0 for other sorts.
fn width(sort: Sort) -> u32 {
    match sort {
        Sort::BitVec(width) => width.bits(),
        _ => 0,
    }
}
