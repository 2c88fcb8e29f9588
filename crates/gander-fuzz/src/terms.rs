//! Compares evaluator, simplifier, text form and solvers on random terms.
//!
//! For a random term *t* and random values of its symbols: the two evaluators agree on a value *v*;
//! the simplified term evaluates to *v*; the printed term parses back; and for every solver that
//! supports the term, `symbols = values and t = v` is satisfiable and `symbols = values and t != v`
//! is not. For a random formula without values, the evaluator confirms every model that a solver
//! gives.

use std::time::Duration;

use gander_smt::{Answer, Limits, Session, SessionConfig, Solver, Solvers, StepSymbol};
use gander_term::random::{Shape, TermGenerator};
use gander_term::{
    Features, Pool, Program, Scratch, Sort, SymbolId, TermId, Value, evaluate, parse_term,
};
use rustc_hash::FxHashMap;

use crate::{Budget, Finding, Tally};

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The solvers to compare with.
    pub solvers: Vec<Solver>,
    /// Time limit of one query; a slower solver is skipped for that term.
    pub query_time: Duration,
}

impl Plan {
    /// Every available solver; one that needs a different session for bit-vectors takes part twice.
    pub fn of_this_machine() -> Plan {
        let bits = Features { bit_vectors: true, ..Features::default() };
        let found = Solvers::from_environment();
        let mut solvers: Vec<Solver> =
            found.all().into_iter().flat_map(|s| [s.clone(), s.for_features(bits)]).collect();
        solvers.dedup();
        Plan { solvers, query_time: Duration::from_millis(250) }
    }
}

/// Runs the target.
pub fn run(plan: &Plan, seed: u64, budget: Budget) -> Tally {
    let mut tally = Tally::default();
    if plan.solvers.is_empty() {
        tally.skipped.push("no solver found: the evaluator was not compared with any".into());
    }
    let mut sessions: Vec<Session> =
        plan.solvers.iter().map(|s| Session::start(s, SessionConfig::default())).collect();
    for round in budget.rounds() {
        tally.rounds += 1;
        let case = seed.wrapping_mul(0x9e37_79b9).wrapping_add(round);
        if let Err(problem) = one(plan, &mut sessions, case, &mut tally) {
            tally.findings.push(Finding {
                problem,
                input: format!("seed {seed}, round {round} (case {case})"),
            });
            if tally.findings.len() >= 5 {
                break;
            }
        }
    }
    tally
}

fn shape(case: u64) -> Shape {
    Shape {
        depth: 2 + (case % 4) as usize,
        quantifiers: case.is_multiple_of(7),
        strings: case.is_multiple_of(3),
        nonlinear: case.is_multiple_of(2),
        large_constants: case.is_multiple_of(11),
        bit_vectors: case % 5 < 3,
        bit_vector_conversions: case.is_multiple_of(5),
        arrays: case % 4 < 2,
    }
}

fn one(plan: &Plan, sessions: &mut [Session], case: u64, tally: &mut Tally) -> Result<(), String> {
    let mut pool = Pool::new();
    let mut generator = TermGenerator::new(&mut pool, case, shape(case));
    let t = generator.any_term(&mut pool);
    let assignment = generator.assignment(&pool);
    let values: FxHashMap<SymbolId, Value> = assignment.iter().cloned().collect();
    let text = pool.display(t).to_string();
    let given = describe(&pool, &assignment);

    let parsed =
        parse_term(&mut pool, &text).map_err(|e| format!("`{text}` does not parse back: {e}"))?;
    if !pool.has_quantifier(t) && parsed != t {
        return Err(format!("`{text}` parses back as `{}`", pool.display(parsed)));
    }
    let Ok(v) = evaluate(&pool, t, &|s| values.get(&s).cloned()) else { return Ok(()) };
    // A quantifier that is parsed back has fresh bound symbols, so only the value can be compared.
    if evaluate(&pool, parsed, &|s| values.get(&s).cloned()).as_ref() != Ok(&v) {
        return Err(format!("`{text}` means something else when it is parsed back"));
    }
    let compiled = run_compiled(&pool, t, &values);
    if compiled.as_ref() != Some(&v) {
        return Err(format!("`{text}` with {given}: evaluated to {v:?}, compiled to {compiled:?}"));
    }
    let simple = pool.simplify(t);
    match evaluate(&pool, simple, &|s| values.get(&s).cloned()) {
        Ok(w) if w == v => {}
        other => {
            let simple = pool.display(simple);
            return Err(format!(
                "`{text}` with {given}: {v:?}, but simplified to `{simple}`: {other:?}"
            ));
        }
    }

    let mut facts: Vec<TermId> = Vec::new();
    // Assert only used symbols, so that a solver without some sort still gets terms without it.
    let used = pool.free_symbols(&[t]);
    for (s, value) in assignment.iter().filter(|(s, _)| used.contains(s)) {
        let (symbol, value) = (pool.var(*s), pool.constant(value.clone()));
        facts.push(pool.mk(gander_term::Op::Eq, &[symbol, value]).map_err(|e| e.to_string())?);
    }
    let expected = pool.constant(v.clone());
    let agrees = pool.mk(gander_term::Op::Eq, &[t, expected]).map_err(|e| e.to_string())?;
    let mut roots = facts.clone();
    roots.push(agrees);
    let features = pool.features(&roots);
    for session in sessions.iter_mut().filter(|s| s.solver().supports(features)) {
        let name = session.solver().name.clone();
        let limits = Limits::time(plan.query_time);
        session.reset();
        for &fact in &facts {
            session.assert(&pool, fact);
        }
        let literal = session.literal_for(&pool, agrees);
        for (question, wrong) in [(!literal, Answer::Sat), (literal, Answer::Unsat)] {
            let answer = session.check(&[question], limits);
            if answer == wrong {
                return Err(format!(
                    "`{text}` with {given}: we say {}, {name} disagrees",
                    pool.show_value(&v)
                ));
            }
            tally.deep += u64::from(!matches!(answer, Answer::Unknown(_)));
            if session.failure().is_some() {
                session.restart();
                break;
            }
        }
    }
    if !case.is_multiple_of(3) {
        return Ok(());
    }
    // Formulas without values are harder for solvers than terms with values.
    let mut generator =
        TermGenerator::new(&mut pool, case ^ 0xf0, Shape { depth: 3, ..shape(case) });
    let formula = generator.term(&mut pool, Sort::Bool);
    models(plan, sessions, &pool, formula, tally)
}

/// Checks that a solver's model of a formula satisfies it.
fn models(
    plan: &Plan,
    sessions: &mut [Session],
    pool: &Pool,
    formula: TermId,
    tally: &mut Tally,
) -> Result<(), String> {
    let features = pool.features(&[formula]);
    let symbols = pool.free_symbols(&[formula]);
    let asked: Vec<StepSymbol> = symbols.iter().map(|&s| StepSymbol::rigid(s)).collect();
    for session in sessions.iter_mut().filter(|s| s.solver().supports(features)) {
        let limits = Limits::time(plan.query_time);
        session.reset();
        session.assert(pool, formula);
        if session.check(&[], limits) == Answer::Sat
            && let Ok(found) = session.values(pool, &asked, limits)
        {
            let model: Vec<(SymbolId, Value)> = symbols.iter().copied().zip(found).collect();
            let of = |s| model.iter().find(|(m, _)| *m == s).map(|(_, v)| v.clone());
            if evaluate(pool, formula, &of) == Ok(Value::Bool(false)) {
                let (text, given) = (pool.display(formula), describe(pool, &model));
                let name = &session.solver().name;
                return Err(format!(
                    "{name} gives {given} as a model of `{text}`, which is false then"
                ));
            }
            tally.kept += 1;
        }
        if session.failure().is_some() {
            session.restart();
        }
    }
    Ok(())
}

fn run_compiled(pool: &Pool, t: TermId, values: &FxHashMap<SymbolId, Value>) -> Option<Value> {
    let program = Program::compile(pool, &[t]);
    let inputs: Option<Vec<Value>> =
        program.inputs().iter().map(|s| values.get(s).cloned()).collect();
    let mut scratch = Scratch::default();
    program.run(&inputs?, &mut scratch).ok().and_then(|results| results.first().cloned())
}

fn describe(pool: &Pool, assignment: &[(SymbolId, Value)]) -> String {
    let parts: Vec<String> = assignment
        .iter()
        .map(|(s, v)| format!("{} = {}", pool.symbol(*s).name, pool.show_value(v)))
        .collect();
    parts.join(", ")
}
