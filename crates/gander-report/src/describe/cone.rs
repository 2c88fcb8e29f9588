//! Dynamic slicing (Korel and Laski 1988) of the equations of a dataflow program: the streams that
//! determine the value of a formula at the last instant of a run.
//!
//! The slice goes backwards through the equations, instant by instant. Of a false conjunction it
//! follows one false part, of an if-then-else the condition and the branch that is taken, and so
//! on. The values of the streams at the instants it reaches imply the value of the formula.

use gander_system::{Dataflow, Instant, StateTerm, System, VarId};
use gander_term::{Op, Pool, Program, Scratch, SymbolId, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The streams of a slice, by variable.
pub struct Cone {
    /// At some instant.
    pub any: Vec<bool>,
    /// At the first.
    pub first: Vec<bool>,
}

/// The streams that determine the value of a formula in the last state.
pub fn cone(system: &System, flow: &Dataflow, focus: StateTerm, states: &[&[Value]]) -> Cone {
    let mut cone =
        Cone { any: vec![false; system.vars().len()], first: vec![false; system.vars().len()] };
    let Some(last) = states.last() else { return cone };
    let names = Names::of(system);
    let reached = reached(system, flow, focus);
    let equations = |instant| {
        reached.iter().filter_map(|&v| flow.equation(instant, v)).collect::<Vec<TermId>>()
    };
    let pool = flow.pool();
    let mut first = Decisions::of(pool, &equations(Instant::First));
    let mut later = Decisions::of(pool, &equations(Instant::Later));
    let mut level: Vec<VarId> = {
        let mut formula = Decisions::of(pool, &[focus.term()]);
        formula.decide(|s| names.current.get(&s).map(|v| last[v.index()].clone()));
        let mut found = Vec::new();
        formula.walk(pool, focus.term(), &mut FxHashSet::default(), |s| {
            found.extend(names.current.get(&s))
        });
        found
    };
    for instant in (0..states.len()).rev() {
        let (kind, decisions) =
            if instant == 0 { (Instant::First, &mut first) } else { (Instant::Later, &mut later) };
        let now = states[instant];
        let before = if instant == 0 { now } else { states[instant - 1] };
        decisions.decide(|s| match names.next.get(&s) {
            Some(v) => Some(now[v.index()].clone()),
            None => names.current.get(&s).map(|v| before[v.index()].clone()),
        });
        let mut done = FxHashSet::default();
        let mut seen = vec![false; system.vars().len()];
        let mut earlier: Vec<VarId> = Vec::new();
        while let Some(v) = level.pop() {
            if std::mem::replace(&mut seen[v.index()], true) {
                continue;
            }
            cone.any[v.index()] = true;
            cone.first[v.index()] |= instant == 0;
            let Some(equation) = flow.equation(kind, v) else { continue };
            decisions.walk(pool, equation, &mut done, |s| {
                match (names.next.get(&s), names.current.get(&s)) {
                    (Some(&v), _) => level.push(v),
                    (None, Some(&v)) if instant == 0 => level.push(v),
                    (None, Some(&v)) => earlier.push(v),
                    (None, None) => {}
                }
            });
        }
        level = earlier;
    }
    cone
}

struct Names {
    current: FxHashMap<SymbolId, VarId>,
    next: FxHashMap<SymbolId, VarId>,
}

impl Names {
    fn of(system: &System) -> Names {
        Names {
            current: system.var_ids().map(|v| (system.var(v).current, v)).collect(),
            next: system.var_ids().map(|v| (system.var(v).next, v)).collect(),
        }
    }
}

/// The streams that the formula may depend on, whatever the values.
fn reached(system: &System, flow: &Dataflow, focus: StateTerm) -> Vec<VarId> {
    let mut seen = vec![false; system.vars().len()];
    let mut stack = flow.mentioned(Instant::First, focus.term()).now;
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut seen[v.index()], true) {
            continue;
        }
        stack.extend(flow.uses(Instant::First, v).now);
        let uses = flow.uses(Instant::Later, v);
        stack.extend(uses.now);
        stack.extend(uses.before);
    }
    system.var_ids().filter(|v| seen[v.index()]).collect()
}

/// The bool values that determine which parts of terms the slice follows.
struct Decisions {
    at: FxHashMap<TermId, usize>,
    program: Program,
    scratch: Scratch,
    /// None if they could not be computed: the slice then follows everything.
    values: Option<Vec<Value>>,
}

impl Decisions {
    fn of(pool: &Pool, roots: &[TermId]) -> Decisions {
        let mut at: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut terms = Vec::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            let args = pool.args(t);
            let deciding = match pool.op(t) {
                Op::And | Op::Or | Op::Implies => args,
                Op::Ite => &args[..1],
                // Subterms have bound symbols.
                Op::Forall | Op::Exists => continue,
                _ => &[],
            };
            for &d in deciding {
                at.entry(d).or_insert_with(|| {
                    terms.push(d);
                    terms.len() - 1
                });
            }
            stack.extend(args);
        }
        Decisions {
            at,
            program: Program::compile(pool, &terms),
            scratch: Scratch::new(),
            values: None,
        }
    }

    fn decide(&mut self, value: impl Fn(SymbolId) -> Option<Value>) {
        let inputs: Option<Vec<Value>> = self.program.inputs().iter().map(|&s| value(s)).collect();
        self.values = inputs.and_then(|inputs| {
            self.program.run(&inputs, &mut self.scratch).ok().map(<[Value]>::to_vec)
        });
    }

    fn is(&self, t: TermId, wanted: bool) -> bool {
        let value = self.values.as_ref().and_then(|values| values.get(*self.at.get(&t)?));
        value.is_some_and(|v| v.as_bool() == Some(wanted))
    }

    /// The symbols that determine the value of a term, without those of terms that are done.
    fn walk(
        &self,
        pool: &Pool,
        root: TermId,
        done: &mut FxHashSet<TermId>,
        mut symbol: impl FnMut(SymbolId),
    ) {
        let mut stack = vec![root];
        while let Some(t) = stack.pop() {
            if !done.insert(t) {
                continue;
            }
            let args = pool.args(t);
            match (pool.op(t), args) {
                (Op::Symbol(s), _) => symbol(s),
                (op @ (Op::And | Op::Or), _) => {
                    let deciding = || args.iter().filter(|a| self.is(**a, op == Op::Or));
                    // Prefer a part that is in the slice already.
                    match deciding().find(|a| done.contains(a)).or_else(|| deciding().next()) {
                        Some(&one) => stack.push(one),
                        None => stack.extend(args),
                    }
                }
                (Op::Implies, &[a, _]) if self.is(a, false) => stack.push(a),
                (Op::Implies, &[_, b]) if self.is(b, true) => stack.push(b),
                (Op::Ite, &[c, a, _]) if self.is(c, true) => stack.extend([c, a]),
                (Op::Ite, &[c, _, b]) if self.is(c, false) => stack.extend([c, b]),
                (Op::Forall | Op::Exists, _) => {
                    pool.free_symbols(&[t]).into_iter().for_each(&mut symbol)
                }
                _ => stack.extend(args),
            }
        }
    }
}
