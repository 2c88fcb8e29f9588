//! Properties of every system from a Lustre text: for a few instants, the values computed from the
//! equations satisfy start and step as formulas; and the same text gives the same system.

use gander_lang::{Loaded, lustre};
use gander_system::{Dataflow, Instant, StartId, System, TransitionId, VarId};
use gander_term::{IBig, Pool, Sort, SymbolId, Value, evaluate};
use rustc_hash::FxHashMap;

/// Number of instants of a run.
const INSTANTS: usize = 3;

/// Systems with more variables are loaded, but not run.
const MAX_VARIABLES: usize = 3_000;

/// Checks all systems of a loaded text.
pub(crate) fn examine(source: &str, loaded: &Loaded) -> Result<(), String> {
    let again = lustre::load(source, "fuzz.lus");
    let systems = || loaded.system.iter().chain(&loaded.others);
    let texts = |l: &Loaded| -> Vec<String> {
        l.system.iter().chain(&l.others).map(System::to_text).collect()
    };
    let small = systems().all(|s| s.vars().len() <= MAX_VARIABLES);
    if small && texts(loaded) != texts(&again) {
        return Err("the same text gives another system".into());
    }
    for system in systems().filter(|s| s.vars().len() <= MAX_VARIABLES) {
        run(system)?;
    }
    Ok(())
}

/// Evaluates a few instants and checks them against the formulas of start and step.
fn run(system: &System) -> Result<(), String> {
    let Some(flow) = Dataflow::of(system) else {
        // A program without streams has nothing to evaluate. An array of open size is defined by a
        // formula about all elements, which is not an equation.
        let has_array = system.vars().iter().any(|v| matches!(v.sort, Sort::Array(_)));
        let has_equations = !system.vars().is_empty() && !has_array;
        return if has_equations {
            Err("the system is no dataflow program".into())
        } else {
            Ok(())
        };
    };
    if !flow.is_causal(Instant::First) || !flow.is_causal(Instant::Later) {
        return Ok(());
    }
    let mut pool = Pool::fork(system.pool());
    let start = system.start_term(&mut pool, StartId(0));
    let step = system.effect_term(&mut pool, TransitionId(0));
    let mut before: Option<Vec<Value>> = None;
    for instant in 0..INSTANTS {
        let free = |v: VarId| {
            Some(some_value(system.pool(), system.var(v).sort, instant as u64 + u64::from(v.0)))
        };
        // Some terms have no value, such as a quotient by zero inside a quantifier.
        let Ok(values) = flow.values(before.as_deref(), free) else { return Ok(()) };
        let mut known: FxHashMap<SymbolId, Value> = FxHashMap::default();
        let (now, formula) = match &before {
            None => (
                values
                    .iter()
                    .zip(system.vars())
                    .map(|(x, v)| (v.current, x.clone()))
                    .collect::<Vec<_>>(),
                start,
            ),
            Some(last) => {
                known.extend(last.iter().zip(system.vars()).map(|(x, v)| (v.current, x.clone())));
                (values.iter().zip(system.vars()).map(|(x, v)| (v.next, x.clone())).collect(), step)
            }
        };
        known.extend(now);
        if evaluate(&pool, formula, &|s| known.get(&s).cloned())
            .is_ok_and(|v| v.as_bool() != Some(true))
        {
            return Err(format!("the values at instant {instant} do not satisfy the system"));
        }
        before = Some(values);
    }
    Ok(())
}

/// A small value of a sort that depends on `n`.
fn some_value(pool: &Pool, sort: Sort, n: u64) -> Value {
    let number = IBig::from(n % 7) - IBig::from(3);
    match sort {
        Sort::Bool => Value::Bool(n.is_multiple_of(2)),
        Sort::Int => Value::Int(number),
        Sort::Real => Value::whole(number),
        Sort::String => Value::str(["", "a", "ab"][(n % 3) as usize]),
        Sort::Enum(id) => {
            Value::Enum(id, (n % pool.enumeration(id).variants.len().max(1) as u64) as u32)
        }
        Sort::BitVec(width) => Value::bits(width, number),
        Sort::Array(_) => sort.first_value(),
    }
}
