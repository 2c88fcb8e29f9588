//! Formulas of obligations: what claims forbid ([`bad`]), transition relations ([`relation`]),
//! quantifier elimination ([`eliminate`]), and evaluation in concrete states.
//!
//! A [`Compiled`] formula is evaluated. If the evaluator cannot decide it (a quantifier over too
//! many values), a solver is asked, with every symbol replaced by its value.

pub(crate) mod bad;
pub(crate) mod eliminate;
pub(crate) mod instantiate;
pub(crate) mod relation;

use gander_system::{NodeId, State, System};
use gander_term::{EvalError, Op, Pool, Program, Scratch, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::discharge::CheckContext;
use crate::rejection::{Rejection, undecided};

/// Where the value of a symbol comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Current(usize),
    Next(usize),
    Param(usize),
    Location,
}

/// The values of symbols: those of a state and, for formulas about a step, its parameters and the
/// next values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    pub node: NodeId,
    pub current: &'a [Value],
    pub params: &'a [Value],
    pub next: &'a [Value],
}

impl<'a> Situation<'a> {
    pub(crate) fn of(state: &'a State) -> Situation<'a> {
        Situation { node: state.node, current: &state.values, params: &[], next: &[] }
    }

    fn value(&self, system: &System, source: Source) -> Option<Value> {
        match source {
            Source::Current(i) => self.current.get(i).cloned(),
            Source::Next(i) => self.next.get(i).cloned(),
            Source::Param(i) => self.params.get(i).cloned(),
            Source::Location => Some(location_value(system, self.node)),
        }
    }
}

/// The value of `@node` at a node.
pub(crate) fn location_value(system: &System, node: NodeId) -> Value {
    match system.pool().symbol(system.location()).sort {
        Sort::Enum(id) => Value::Enum(id, node.0),
        // The builder makes `@node` an enumeration; any other value makes evaluation fail.
        _ => Value::Bool(false),
    }
}

/// Terms that are evaluated in many situations.
#[derive(Debug)]
pub(crate) struct Compiled {
    roots: Vec<TermId>,
    program: Program,
    inputs: Vec<(SymbolId, Source)>,
    /// All free symbols of the terms. The inputs of the program lack those that occur only inside
    /// of quantifiers that it cannot compute.
    free: Vec<(SymbolId, Source)>,
    values: Vec<Value>,
    scratch: Scratch,
}

impl Compiled {
    /// Compiles terms over state variables, primed ones, `@node` and `params`.
    pub(crate) fn new(
        cx: &CheckContext<'_>,
        params: &[SymbolId],
        roots: &[TermId],
    ) -> Result<Compiled, Rejection> {
        let program = Program::compile(&cx.pool, roots);
        let mut sources: FxHashMap<SymbolId, Source> = FxHashMap::default();
        for (i, v) in cx.system.vars().iter().enumerate() {
            sources.insert(v.current, Source::Current(i));
            sources.insert(v.next, Source::Next(i));
        }
        sources.extend(params.iter().enumerate().map(|(i, &p)| (p, Source::Param(i))));
        sources.insert(cx.system.location(), Source::Location);
        let source = |s: SymbolId| match sources.get(&s) {
            Some(&source) => Ok((s, source)),
            None => Err(undecided(format!("`{}` has no value here", cx.pool.symbol(s).name))),
        };
        let inputs = program.inputs().iter().map(|&s| source(s)).collect::<Result<_, _>>()?;
        let free = cx.pool.free_symbols(roots).into_iter().map(source).collect::<Result<_, _>>()?;
        Ok(Compiled {
            roots: roots.to_vec(),
            program,
            inputs,
            free,
            values: Vec::new(),
            scratch: Scratch::new(),
        })
    }

    /// The values of the terms; `None` if the evaluator cannot compute a quantifier.
    pub(crate) fn run(
        &mut self,
        cx: &CheckContext<'_>,
        at: Situation<'_>,
    ) -> Result<Option<&[Value]>, Rejection> {
        self.values.clear();
        for &(s, source) in &self.inputs {
            match at.value(cx.system, source) {
                Some(v) => self.values.push(v),
                None => {
                    return Err(undecided(format!(
                        "`{}` has no value here",
                        cx.pool.symbol(s).name
                    )));
                }
            }
        }
        match self.program.run(&self.values, &mut self.scratch) {
            Ok(values) => Ok(Some(values)),
            Err(EvalError::Unbounded) => Ok(None),
            Err(e) => Err(undecided(e.describe(&cx.pool))),
        }
    }

    /// True if all terms are true, for terms that are formulas. A solver decides what the evaluator
    /// cannot.
    pub(crate) fn all_true(
        &mut self,
        cx: &mut CheckContext<'_>,
        at: Situation<'_>,
    ) -> Result<bool, Rejection> {
        if let Some(values) = self.run(cx, at)? {
            return Ok(values.iter().all(|v| *v == Value::Bool(true)));
        }
        let mut map = FxHashMap::default();
        for &(s, source) in &self.free {
            // The solver would choose a value for a symbol without one.
            let Some(v) = at.value(cx.system, source) else {
                return Err(undecided(format!("`{}` has no value here", cx.pool.symbol(s).name)));
            };
            map.insert(s, cx.pool.constant(v));
        }
        let formula = cx.pool.and(self.roots.iter().copied());
        let closed = cx.pool.substitute(formula, &map);
        Ok(cx.solve(closed, "a quantified formula in a concrete state")?.is_some())
    }
}

/// The conjuncts of a formula, nested conjunctions flattened.
pub(crate) fn conjuncts(pool: &Pool, formula: TermId) -> Vec<TermId> {
    let mut parts = Vec::new();
    let mut stack = vec![formula];
    while let Some(t) = stack.pop() {
        if pool.op(t) == Op::And {
            stack.extend(pool.args(t).iter().rev());
        } else {
            parts.push(t);
        }
    }
    parts
}

/// The value of a term. Terms with quantifiers are compiled, as these can have many instances.
pub(crate) fn computed(
    pool: &Pool,
    t: TermId,
    assignment: &dyn Fn(SymbolId) -> Option<Value>,
) -> Result<Value, EvalError> {
    if !pool.has_quantifier(t) {
        return evaluate(pool, t, assignment);
    }
    let program = Program::compile(pool, &[t]);
    let input = |s: &SymbolId| assignment(*s).ok_or(EvalError::Unassigned(*s));
    let inputs = program.inputs().iter().map(input).collect::<Result<Vec<Value>, _>>()?;
    let mut scratch = Scratch::new();
    let value = program.run(&inputs, &mut scratch)?.first().cloned();
    value.ok_or(EvalError::Unbounded)
}

/// An equivalent formula with all conjuncts evaluated that have no free symbols, where that is
/// possible.
pub(crate) fn fold_closed(pool: &mut Pool, formula: TermId) -> TermId {
    let parts: Vec<TermId> = conjuncts(pool, formula)
        .into_iter()
        .map(|part| {
            if !pool.free_symbols(&[part]).is_empty() {
                return part;
            }
            match computed(pool, part, &|_| None) {
                Ok(value) => pool.constant(value),
                Err(_) => part,
            }
        })
        .collect();
    pool.and(parts)
}

/// True if the value belongs to the sort in this pool: an enumeration has the variant, a string
/// has only characters of SMT-LIB strings, and the same holds for everything in an array. The
/// recursion is over nested arrays, whose depth is limited.
pub(crate) fn fits(pool: &Pool, value: &Value, sort: Sort) -> bool {
    value.sort() == sort
        && match value {
            Value::Enum(id, i) => (*i as usize) < pool.enumeration(*id).variants.len(),
            Value::Str(s) => s.chars().all(|c| u32::from(c) <= 0x2FFFF),
            Value::Array(a) => {
                let (index, element) = (a.sort().index(), a.sort().element());
                fits(pool, a.default(), element)
                    && a.exceptions()
                        .iter()
                        .all(|(i, v)| fits(pool, i, index) && fits(pool, v, element))
            }
            Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::BitVec(_) => true,
        }
}

#[cfg(test)]
mod tests {
    use gander_term::ArrayValue;

    use super::*;

    #[test]
    fn array_contents_must_fit_their_sorts() {
        let mut pool = Pool::new();
        let e = pool.declare_enum("E", &["a", "b"]).unwrap();
        let variant = |i: u32| Value::Enum(e, i);
        let texts = pool.array_sort(Sort::Enum(e), Sort::String).unwrap();
        let nested = pool.array_sort(Sort::Int, texts).unwrap();
        let made = |sort: Sort, default: Value, index: Value, element: Value| match sort {
            Sort::Array(s) => {
                Value::array(ArrayValue::new(s, default, vec![(index, element)]).unwrap())
            }
            _ => panic!("an array"),
        };
        let (good, bad) = (Value::str("good"), Value::str("\u{30000}"));
        let whole = made(texts, good.clone(), variant(1), Value::str("other"));
        assert!(fits(&pool, &whole, texts));
        assert!(!fits(&pool, &whole, nested));
        let wrong = [
            made(texts, good.clone(), variant(2), Value::str("other")),
            made(texts, good.clone(), variant(1), bad.clone()),
            made(texts, bad, variant(1), good),
        ];
        for wrong in wrong {
            assert!(!fits(&pool, &wrong, texts), "{wrong:?}");
            let inside = made(nested, whole.clone(), Value::int(3), wrong.clone());
            assert!(!fits(&pool, &inside, nested), "{inside:?}");
            let everywhere = made(nested, wrong, Value::int(3), whole.clone());
            assert!(!fits(&pool, &everywhere, nested), "{everywhere:?}");
        }
        assert!(fits(&pool, &made(nested, texts.first_value(), Value::int(3), whole), nested));
    }
}
