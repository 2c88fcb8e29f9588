//! `gander-proof` against solvers and the evaluator.
//!
//! For a random formula of every sort and operator: if `gander-proof` refutes it, no solver answers
//! `sat`, and it is false under random values; if it has a model, no solver answers `unsat`. A
//! proof that is changed in one place is rejected, unless the formula is unsatisfiable anyway. Deep
//! inputs are formulas that were decided and that some solver decided.

use std::time::Duration;

use gander_proof::{Answer as Found, Budget as Effort, Literal, Proof, Step, decide, verify};
use gander_runtime::Random;
use gander_smt::{Answer, Limits, Session, SessionConfig, Solver, Solvers};
use gander_term::random::{Shape, TermGenerator};
use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value, evaluate};

use crate::linear::Counts;
use crate::{Budget, Finding, Tally};

/// The effort of the search for one formula.
const EFFORT: Effort = Effort { terms: 4_000, work: 1_000_000 };

/// Time limit of one solver query.
const QUERY: Duration = Duration::from_millis(250);

/// Runs the target.
pub fn run(solvers: &Solvers, seed: u64, budget: Budget) -> (Tally, Counts) {
    let (mut tally, mut counts) = (Tally::default(), Counts::default());
    let solvers: Vec<Solver> = solvers.all().into_iter().cloned().collect();
    if solvers.is_empty() {
        tally.skipped.push("no solver found: proofs were compared with the evaluator only".into());
    }
    let mut sessions: Vec<Session> =
        solvers.iter().map(|s| Session::start(s, SessionConfig::default())).collect();
    for round in budget.rounds() {
        tally.rounds += 1;
        let case = seed.wrapping_mul(0x9e37_79b9).wrapping_add(round);
        if let Err(problem) = one(&mut sessions, case, &mut tally, &mut counts) {
            tally.findings.push(Finding {
                problem,
                input: format!("seed {seed}, round {round} (case {case})"),
            });
            if tally.findings.len() >= 5 {
                break;
            }
        }
    }
    (tally, counts)
}

fn shape(random: &mut Random) -> Shape {
    Shape {
        depth: 2 + random.below(3),
        quantifiers: random.one_in(12),
        strings: random.one_in(12),
        nonlinear: random.one_in(6),
        large_constants: random.one_in(10),
        arrays: random.one_in(3),
        ..Shape::default()
    }
}

fn one(
    sessions: &mut [Session],
    case: u64,
    tally: &mut Tally,
    counts: &mut Counts,
) -> Result<(), String> {
    let mut random = Random::new(case);
    let mut pool = Pool::new();
    let mut generator = TermGenerator::new(&mut pool, case, shape(&mut random));
    let parts: Vec<TermId> =
        (0..2 + random.below(4)).map(|_| generator.term(&mut pool, Sort::Bool)).collect();
    let formula = pool.mk(Op::And, &parts).map_err(|e| format!("{e:?}"))?;
    let text = pool.display(formula).to_string();
    let found = decide(&pool, formula, EFFORT).0;
    let answers = ask(sessions, &pool, formula);
    let (some_solution, some_refutation) =
        (answers.contains(&Answer::Sat), answers.contains(&Answer::Unsat));
    counts.without_solution += u64::from(some_refutation);
    match found {
        Found::Refuted(_) if some_solution => {
            return Err(format!("refuted, but a solver has a solution: `{text}`"));
        }
        Found::Refuted(proof) => {
            counts.refuted += 1;
            tally.deep += u64::from(some_refutation);
            for _ in 0..8 {
                let values = generator.assignment(&pool);
                let look_up = |s| values.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
                if evaluate(&pool, formula, &look_up) == Ok(Value::Bool(true)) {
                    return Err(format!("refuted, but true with {values:?}: `{text}`"));
                }
            }
            counts.refused +=
                u64::from(verify(&pool, formula, &change(&mut random, &proof)).is_err());
            // The proof of a formula without one conjunct. It may be accepted if the conjunct is
            // not needed.
            let weaker = pool.and(parts[1..].iter().copied());
            if verify(&pool, weaker, &proof).is_err() {
                counts.refused += 1;
            } else if ask(sessions, &pool, weaker).contains(&Answer::Sat) {
                return Err(format!(
                    "a proof is accepted for `{}`, which has a solution",
                    pool.display(weaker)
                ));
            }
        }
        Found::Model(_) if some_refutation => {
            return Err(format!("there is a model, but a solver says there is none: `{text}`"));
        }
        Found::Model(_) => {
            counts.models += 1;
            tally.deep += u64::from(some_solution);
        }
        Found::Unknown => {
            counts.unknown += 1;
            // No proof of a satisfiable formula is accepted.
            if some_solution && verify(&pool, formula, &forged(&mut random)).is_ok() {
                return Err(format!("a forged proof is accepted: `{text}`"));
            }
        }
    }
    Ok(())
}

fn ask(sessions: &mut [Session], pool: &Pool, formula: TermId) -> Vec<Answer> {
    let features = pool.features(&[formula]);
    let able = sessions.iter_mut().filter(|s| s.solver().supports(features));
    able.map(|session| {
        session.reset();
        session.assert(pool, formula);
        let answer = session.check(&[], Limits::time(QUERY));
        if session.failure().is_some() {
            session.restart();
        }
        answer
    })
    .collect()
}

/// A random proof.
fn forged(random: &mut Random) -> Proof {
    let clause = |random: &mut Random| {
        (0..random.below(3)).map(|_| Literal::new(random.below(9), random.one_in(2))).collect()
    };
    let mut steps: Vec<Step> = (0..random.below(5))
        .map(|_| Step::Learned {
            clause: clause(random),
            hints: (0..4).map(|_| random.below(40) as u32).collect(),
        })
        .collect();
    steps.push(Step::Learned {
        clause: Vec::new(),
        hints: (0..6).map(|_| random.below(40) as u32).collect(),
    });
    Proof { atoms: Vec::new(), steps }
}

/// The proof with one place changed.
fn change(random: &mut Random, proof: &Proof) -> Proof {
    let mut changed = proof.clone();
    if !changed.atoms.is_empty() && random.one_in(4) {
        let at = random.below(changed.atoms.len());
        changed.atoms[at].bound += RBig::from(IBig::from(1));
        return changed;
    }
    if changed.steps.is_empty() {
        return changed;
    }
    let at = random.below(changed.steps.len());
    match (&mut changed.steps[at], random.below(3)) {
        (_, 0) => drop(changed.steps.remove(at)),
        (Step::Lemma { factors, .. }, 1) if !factors.is_empty() => {
            let which = random.below(factors.len());
            factors[which] += RBig::from(IBig::from(1));
        }
        (Step::Learned { hints, .. }, 1) if !hints.is_empty() => {
            hints.remove(random.below(hints.len()));
        }
        (Step::Lemma { clause, .. } | Step::Learned { clause, .. }, _) if !clause.is_empty() => {
            let which = random.below(clause.len());
            clause[which] = !clause[which];
        }
        _ => drop(changed.steps.pop()),
    }
    changed
}
