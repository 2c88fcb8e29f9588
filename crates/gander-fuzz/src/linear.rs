//! `gander-linear` against solvers and the evaluator.
//!
//! For a random formula over bool, int and real: if it is refuted, no solver answers `sat`, and it
//! is false under random values; if it has a model, no solver answers `unsat`. A proof that is
//! changed in one place is rejected, unless the formula is unsatisfiable anyway. Deep inputs are
//! formulas that were decided and that some solver decided.

use std::time::Duration;

use gander_linear::{Answer as Found, Budget as Effort, Fact, Line, Proof, decide, verify};
use gander_runtime::Random;
use gander_smt::{Answer, Limits, Session, SessionConfig, Solver, Solvers};
use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::{Budget, Finding, Tally};

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The solvers to compare with.
    pub solvers: Vec<Solver>,
    /// The limit of one query.
    pub query_time: Duration,
    /// The effort of the procedure for one formula.
    pub effort: Effort,
}

impl Plan {
    /// Every solver on this machine.
    pub fn of_this_machine() -> Plan {
        let solvers = Solvers::from_environment().all().into_iter().cloned().collect();
        Plan { solvers, query_time: Duration::from_millis(250), effort: Effort::SMALL }
    }
}

/// Statistics of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Number of refuted formulas.
    pub refuted: u64,
    /// Number of formulas with a model.
    pub models: u64,
    /// Number of undecided formulas.
    pub unknown: u64,
    /// Number of formulas for which some solver answered `unsat`.
    pub without_solution: u64,
    /// Number of changed proofs that were rejected.
    pub refused: u64,
}

/// Runs the target.
pub fn run(plan: &Plan, seed: u64, budget: Budget) -> (Tally, Counts) {
    let (mut tally, mut counts) = (Tally::default(), Counts::default());
    if plan.solvers.is_empty() {
        tally
            .skipped
            .push("no solver found: the refuter was compared with the evaluator only".into());
    }
    let mut sessions: Vec<Session> =
        plan.solvers.iter().map(|s| Session::start(s, SessionConfig::default())).collect();
    for round in budget.rounds() {
        tally.rounds += 1;
        let case = seed.wrapping_mul(0x9e37_79b9).wrapping_add(round);
        if let Err(problem) = one(plan, &mut sessions, case, &mut tally, &mut counts) {
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

fn one(
    plan: &Plan,
    sessions: &mut [Session],
    case: u64,
    tally: &mut Tally,
    counts: &mut Counts,
) -> Result<(), String> {
    let mut pool = Pool::new();
    let mut generator = Generator::new(&mut pool, case);
    let formula = generator.conjunction(&mut pool);
    let text = pool.display(formula).to_string();
    let found = decide(&pool, formula, plan.effort).0;
    let (mut some_solution, mut some_refutation) = (false, false);
    let features = pool.features(&[formula]);
    for session in sessions.iter_mut().filter(|s| s.solver().supports(features)) {
        session.reset();
        session.assert(&pool, formula);
        match session.check(&[], Limits::time(plan.query_time)) {
            Answer::Sat => some_solution = true,
            Answer::Unsat => some_refutation = true,
            Answer::Unknown(_) => {}
        }
        if session.failure().is_some() {
            session.restart();
        }
    }
    counts.without_solution += u64::from(some_refutation);
    if some_solution && some_refutation {
        return Err(format!("solvers disagree about `{text}`"));
    }
    match found {
        Found::Refuted(_) if some_solution => {
            return Err(format!("refuted, but a solver has a solution: `{text}`"));
        }
        Found::Refuted(proof) => {
            counts.refuted += 1;
            tally.deep += u64::from(some_refutation);
            for _ in 0..16 {
                let values = generator.values(&pool);
                if evaluate(&pool, formula, &|s| values.get(&s).cloned()) == Ok(Value::Bool(true)) {
                    return Err(format!("refuted, but true with {values:?}: `{text}`"));
                }
            }
            let changed = change(&mut generator.random, &proof);
            counts.refused += u64::from(verify(&pool, formula, &changed).is_err());
            // The proof of a formula without one conjunct. It may be accepted if the conjunct is
            // not needed.
            let weaker = generator.without_a_part(&mut pool, formula);
            if verify(&pool, weaker, &proof).is_err() {
                counts.refused += 1;
            } else if solution(plan, sessions, &pool, weaker) {
                return Err(format!(
                    "a proof is accepted for `{}`, which has a solution",
                    pool.display(weaker)
                ));
            }
        }
        Found::Model(model) => {
            counts.models += 1;
            tally.deep += u64::from(some_solution);
            let look_up = |s| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
            if evaluate(&pool, formula, &look_up) != Ok(Value::Bool(true)) {
                return Err(format!("the model is none: `{text}`"));
            }
            if some_refutation {
                return Err(format!("there is a model, but a solver says there is none: `{text}`"));
            }
        }
        Found::Unknown => counts.unknown += 1,
    }
    Ok(())
}

fn solution(plan: &Plan, sessions: &mut [Session], pool: &Pool, formula: TermId) -> bool {
    let features = pool.features(&[formula]);
    sessions.iter_mut().filter(|s| s.solver().supports(features)).any(|session| {
        session.reset();
        session.assert(pool, formula);
        let answer = session.check(&[], Limits::time(plan.query_time));
        if session.failure().is_some() {
            session.restart();
        }
        answer == Answer::Sat
    })
}

/// Changes a factor, a fact or a case of a proof. Recursion is bounded, as proofs are not deep.
fn change(random: &mut Random, proof: &Proof) -> Proof {
    match proof {
        Proof::Clash => Proof::Lines(Vec::new()),
        Proof::Lines(lines) => {
            let mut lines = lines.clone();
            let i = random.below(lines.len().max(1));
            match lines.get_mut(i) {
                Some(Line::Of(fact)) => {
                    *fact = match fact.clone() {
                        Fact::Holds(t) => Fact::Fails(t),
                        Fact::Fails(t) => Fact::Holds(t),
                        Fact::Less(t) => Fact::Greater(t),
                        Fact::Greater(t) => Fact::Less(t),
                        Fact::AtMost(t, k) => Fact::AtMost(t, k - IBig::ONE),
                        Fact::AtLeast(t, k) => Fact::AtLeast(t, k + IBig::ONE),
                    }
                }
                Some(Line::Sum(parts)) if !parts.is_empty() => {
                    let i = random.below(parts.len());
                    parts[i].1 *= RBig::from(IBig::from(random.pick(&[-1, 0, 2])));
                }
                _ => return Proof::Clash,
            }
            Proof::Lines(lines)
        }
        Proof::Cases { of, proofs } => {
            let mut proofs = proofs.clone();
            if random.one_in(4) {
                proofs.pop();
            } else if !proofs.is_empty() {
                let i = random.below(proofs.len());
                proofs[i] = change(random, &proofs[i]);
            }
            Proof::Cases { of: of.clone(), proofs }
        }
        Proof::Cut { on, proofs } => {
            let mut proofs = proofs.clone();
            let i = random.below(2);
            proofs[i] = change(random, &proofs[i]);
            Proof::Cut { on: *on, proofs }
        }
        Proof::Branch { on, at, proofs } => {
            let mut proofs = proofs.clone();
            let i = random.below(2);
            proofs[i] = change(random, &proofs[i]);
            Proof::Branch { on: *on, at: at.clone(), proofs }
        }
    }
}

/// Random formulas over a few symbols.
struct Generator {
    random: Random,
    bools: Vec<TermId>,
    ints: Vec<TermId>,
    reals: Vec<TermId>,
    symbols: Vec<SymbolId>,
    /// True if conditionals, products and remainders occur.
    rich: bool,
}

impl Generator {
    fn new(pool: &mut Pool, seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let mut some = |letter: &str, sort: Sort, most: usize| -> Vec<TermId> {
            (0..1 + random.below(most))
                .map(|i| pool.variable(&format!("{letter}{i}"), sort))
                .collect()
        };
        let (bools, ints, reals) =
            (some("b", Sort::Bool, 2), some("i", Sort::Int, 4), some("r", Sort::Real, 3));
        let symbols = [&bools[..], &ints, &reals]
            .concat()
            .iter()
            .filter_map(|&t| pool.as_symbol(t))
            .collect();
        let rich = random.one_in(2);
        Generator { random, bools, ints, reals, symbols, rich }
    }

    /// A random conjunction; mostly unsatisfiable if it has enough conjuncts.
    fn conjunction(&mut self, pool: &mut Pool) -> TermId {
        let parts: Vec<TermId> =
            (0..2 + self.random.below(7)).map(|_| self.formula(pool, 2)).collect();
        pool.and(parts)
    }

    fn without_a_part(&mut self, pool: &mut Pool, formula: TermId) -> TermId {
        let mut parts =
            if pool.op(formula) == Op::And { pool.args(formula).to_vec() } else { vec![formula] };
        parts.remove(self.random.below(parts.len()));
        pool.and(parts)
    }

    fn make(pool: &mut Pool, op: Op, args: &[TermId], otherwise: TermId) -> TermId {
        pool.mk(op, args).unwrap_or(otherwise)
    }

    fn formula(&mut self, pool: &mut Pool, depth: usize) -> TermId {
        let atom = self.atom(pool);
        if depth == 0 || self.random.one_in(3) {
            return atom;
        }
        let (a, b) = (self.formula(pool, depth - 1), self.formula(pool, depth - 1));
        let (op, args) = match self.random.below(8) {
            0 => (Op::And, vec![a, b]),
            1..=3 => (Op::Or, vec![a, b, atom]),
            4 => (Op::Implies, vec![a, b]),
            5 => (Op::Eq, vec![a, b]),
            6 => (Op::Ite, vec![atom, a, b]),
            _ => (Op::Not, vec![a]),
        };
        Self::make(pool, op, &args, atom)
    }

    fn atom(&mut self, pool: &mut Pool) -> TermId {
        if self.random.one_in(6) {
            return self.random.pick(&self.bools.clone());
        }
        let sort = self.random.pick(&[Sort::Int, Sort::Int, Sort::Real]);
        let (a, b) = (self.number(pool, sort, 2), self.number(pool, sort, 1));
        let op = self.random.pick(&[Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq]);
        let fallback = self.bools[0];
        Self::make(pool, op, &[a, b], fallback)
    }

    fn number(&mut self, pool: &mut Pool, sort: Sort, depth: usize) -> TermId {
        let leaf = self.leaf(pool, sort);
        if depth == 0 || self.random.one_in(4) {
            return leaf;
        }
        let (a, b) = (self.number(pool, sort, depth - 1), self.number(pool, sort, depth - 1));
        let factor = self.constant(pool, sort);
        let (op, args) = match self.random.below(if self.rich { 12 } else { 7 }) {
            0..=2 => (Op::Add, vec![a, b]),
            3 => (Op::Sub, vec![a, b]),
            4 => (Op::Neg, vec![a]),
            5 | 6 => (Op::Mul, vec![factor, a]),
            7 | 8 => {
                let condition = self.formula(pool, 0);
                (Op::Ite, vec![condition, a, b])
            }
            9 if sort == Sort::Int => (Op::Mod, vec![a, factor]),
            9 | 10 if sort == Sort::Real => {
                let int = self.number(pool, Sort::Int, depth - 1);
                if self.random.one_in(2) {
                    (Op::ToReal, vec![int])
                } else {
                    (Op::Div, vec![a, factor])
                }
            }
            10 => {
                let real = self.number(pool, Sort::Real, depth - 1);
                (Op::ToInt, vec![real])
            }
            _ => (Op::Mul, vec![a, b]),
        };
        Self::make(pool, op, &args, leaf)
    }

    fn leaf(&mut self, pool: &mut Pool, sort: Sort) -> TermId {
        if self.random.one_in(3) {
            return self.constant(pool, sort);
        }
        let from = if sort == Sort::Int { self.ints.clone() } else { self.reals.clone() };
        self.random.pick(&from)
    }

    fn constant(&mut self, pool: &mut Pool, sort: Sort) -> TermId {
        let value = self.value(sort);
        pool.constant(value)
    }

    fn value(&mut self, sort: Sort) -> Value {
        let i = IBig::from(self.random.below(9)) - IBig::from(4);
        match sort {
            Sort::Bool => Value::Bool(self.random.one_in(2)),
            Sort::Int if self.random.one_in(40) => Value::Int(i * IBig::from(10).pow(30)),
            Sort::Int => Value::Int(i),
            _ => Value::Real(RBig::from(i) / RBig::from(IBig::from(1 + self.random.below(3)))),
        }
    }

    fn values(&mut self, pool: &Pool) -> FxHashMap<SymbolId, Value> {
        self.symbols.clone().into_iter().map(|s| (s, self.value(pool.symbol(s).sort))).collect()
    }
}
