//! Indexed invariants: proofs for families whose size is a constant without a value.
//!
//! *Definition.* An indexed invariant is `forall i. p(i)` or `forall i != j. p(i, j)` for a formula
//! about the instances `i` and `j` and variables that belong to no family. The engine samples
//! reachable states for small sizes. Candidates are the clauses over predicates of the model that
//! hold for all instances in all samples; those that are inductive for every size are kept
//! (invisible invariants: Pnueli, Ruah and Zuck, TACAS 2001; indexed predicates: Lahiri and Bryant,
//! VMCAI 2004). Induction steps have no quantifiers: hypotheses are instantiated at the terms at
//! which arrays are read and written.
//!
//! *Invariant.* Answers are conjectures: the checker, which instantiates by itself, decides.

mod clauses;
mod houdini;
mod instances;
mod limits;
mod predicates;
mod samples;

use std::sync::Arc;
use std::time::Instant;

use gander_smt::{CoreSession, Reason, Solver};
use gander_system::{ClaimId, ClaimKind, Evidence, Family, Goal, NodeFormulas, System, Verdict};
use gander_term::{Features, Op, Pool, Program, Scratch, Sort, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::core::{Advance, Engine, EngineContext, EngineInfo, Likelihood, Purpose};
use clauses::{About, Valuation};
use houdini::Candidates;
use instances::replace;
use limits::LIMITS;
use predicates::{Predicate, Predicates};
use samples::Sample;

/// The entry in the list of engines.
pub(crate) const INFO: EngineInfo = EngineInfo {
    name: "indexed",
    about: "invariants about one and two instances of families of any size",
    decides: |kind| {
        matches!(kind, ClaimKind::Always(_) | ClaimKind::Reachable(_) | ClaimKind::CanEnable(_))
    },
    finds_shortest: false,
    begins_at_once: false,
    open: |context| Box::new(Indexed::new(context)),
};

/// What is done next.
enum Phase {
    Sample(usize),
    Filter,
    Support(usize),
    /// Answers that were not accepted are conjectured again: the check may have run out of time.
    Again {
        round: u32,
        due: Instant,
    },
    Over,
}

/// See the module's documentation.
struct Indexed {
    pool: Pool,
    phase: Phase,
    samples: Vec<(i64, Vec<Sample>)>,
    candidates: Option<Candidates>,
    session: Option<CoreSession>,
    /// The answers that were conjectured.
    answers: Vec<(ClaimId, Verdict)>,
    obstacle: String,
}

impl Indexed {
    fn new(context: &EngineContext) -> Indexed {
        let system = context.given();
        let applies = !system.families().is_empty()
            && !system.sizes().is_empty()
            && system.nodes().len() == 1;
        Indexed {
            pool: Pool::fork(system.pool()),
            phase: if applies { Phase::Sample(0) } else { Phase::Over },
            samples: Vec::new(),
            candidates: None,
            session: None,
            answers: Vec::new(),
            obstacle: String::new(),
        }
    }

    fn solver(&self, context: &EngineContext) -> Option<Solver> {
        let features = Features { arrays: true, ..Features::default() };
        let solvers = &context.config().solvers;
        let known = solvers.z3().filter(|s| s.supports(features));
        known.or_else(|| solvers.choose(features)).cloned()
    }

    fn sample(&mut self, context: &EngineContext, at: usize) {
        let system = Arc::clone(context.given());
        let n = LIMITS.sizes[at];
        let in_range = system.sizes().iter().all(|s| {
            let n = gander_term::IBig::from(n);
            s.low <= n && s.high.as_ref().is_none_or(|high| n <= *high)
        });
        if in_range && let Some(solver) = self.solver(context) {
            let purpose = Purpose { part: "samples", claims: context.claims().to_vec() };
            let mut session = context.session(&solver, &purpose);
            let cancel = context.cancellation();
            let found = samples::sample(&system, &mut self.pool, &mut session, n, cancel);
            self.samples.push((n, found));
        }
        self.phase =
            if at + 1 < LIMITS.sizes.len() { Phase::Sample(at + 1) } else { Phase::Filter };
    }

    /// The candidates of all families and claims.
    fn collect(&mut self, context: &EngineContext) -> Candidates {
        let system = Arc::clone(context.given());
        let (i, j) =
            (self.pool.declare_fresh("i", Sort::Int), self.pool.declare_fresh("j", Sort::Int));
        let (i, j) = (self.pool.var(i), self.pool.var(j));
        let mut bodies = Vec::new();
        for claim in context.claims() {
            if let ClaimKind::Always(p) = &system.claims()[claim.index()].kind {
                parts_of(&mut self.pool, p.term(), (i, j), &mut bodies);
            }
        }
        for node in system.nodes() {
            for hint in &node.hints {
                parts_of(&mut self.pool, hint.term.term(), (i, j), &mut bodies);
            }
        }
        for family in system.families() {
            self.of_family(&system, family, (i, j), &mut bodies);
        }
        let mut seen = FxHashSet::default();
        bodies.retain(|b| seen.insert(*b));
        bodies.truncate(LIMITS.candidates);
        let alive = vec![true; bodies.len()];
        Candidates { i, j, bodies, alive }
    }

    fn of_family(
        &mut self,
        system: &System,
        family: &Family,
        (i, j): (TermId, TermId),
        bodies: &mut Vec<TermId>,
    ) {
        let found = Predicates::of(system, &mut self.pool, family);
        let (own_i, own_j) = (found.i, found.j);
        let place = |pool: &mut Pool, t: TermId, a: TermId, b: TermId| {
            replace(pool, t, &FxHashMap::from_iter([(own_i, a), (own_j, b)]))
        };
        // With one instance: predicates about none and the first.
        let mut one: Vec<(Predicate, About)> = Vec::new();
        one.extend(found.globals.iter().map(|p| (*p, About::None)));
        for p in &found.own {
            let term = place(&mut self.pool, p.term, i, j);
            one.push((Predicate { term, ..*p }, About::First));
        }
        let mut two = one.clone();
        for p in &found.own {
            let term = place(&mut self.pool, p.term, j, i);
            two.push((Predicate { term, ..*p }, About::Second));
        }
        for p in &found.pairs {
            let term = place(&mut self.pool, p.term, i, j);
            two.push((Predicate { term, ..*p }, About::Both));
        }
        let size = family.size.term();
        for (list, pairs) in [(one, false), (two, true)] {
            let terms: Vec<TermId> = list.iter().map(|(p, _)| p.term).collect();
            let valuations = self.valuations(system, &terms, (i, j), size, pairs);
            let (zero, mut range) = (self.pool.int(0), Vec::new());
            for index in [Some(i), pairs.then_some(j)].into_iter().flatten() {
                range.push(self.pool.le(zero, index));
                range.push(self.pool.lt(index, size));
            }
            if pairs {
                range.push(self.pool.ne(i, j));
            }
            let range = self.pool.and(range);
            for clause in clauses::clauses(&list, &valuations, pairs) {
                let body = clauses::formula(&mut self.pool, &list, &terms, &clause);
                let about = clause.iter().any(|(at, _)| list[*at].1 != About::None);
                bodies.push(if about { self.pool.implies(range, body) } else { body });
            }
        }
    }

    /// The truth values of predicates for all samples and their instances.
    fn valuations(
        &mut self,
        system: &System,
        terms: &[TermId],
        (i, j): (TermId, TermId),
        size: TermId,
        pairs: bool,
    ) -> FxHashSet<Valuation> {
        let mut roots = terms.to_vec();
        roots.push(size);
        let program = Program::compile(&self.pool, &roots);
        let mut scratch = Scratch::new();
        let (i, j) = (self.pool.as_symbol(i), self.pool.as_symbol(j));
        let mut found = FxHashSet::default();
        for (n, states) in &self.samples {
            for state in states {
                for a in 0..*n {
                    for b in 0..*n {
                        if (pairs && a == b) || (!pairs && b != 0) {
                            continue;
                        }
                        let value = |s: gander_term::SymbolId| {
                            if Some(s) == i {
                                return Some(Value::int(a));
                            }
                            if Some(s) == j {
                                return Some(Value::int(b));
                            }
                            let at = system.vars().iter().position(|v| v.current == s)?;
                            Some(state[at].clone())
                        };
                        let inputs: Option<Vec<Value>> =
                            program.inputs().iter().map(|&s| value(s)).collect();
                        let Some(inputs) = inputs else { continue };
                        let Ok(values) = program.run(&inputs, &mut scratch) else { continue };
                        // Indices of a family with another size may be outside.
                        let inside = |k: i64| {
                            values.last().is_some_and(|size| match size {
                                Value::Int(size) => gander_term::IBig::from(k) < *size,
                                _ => false,
                            })
                        };
                        if inside(a) && inside(b) {
                            let truth = values[..terms.len()].iter();
                            found.insert(truth.map(|v| *v == Value::Bool(true)).collect());
                        }
                    }
                }
            }
        }
        found
    }

    fn filter(&mut self, context: &EngineContext) -> Result<(), Reason> {
        let system = Arc::clone(context.given());
        let mut candidates = self.collect(context);
        let Some(solver) = self.solver(context) else {
            return Err(Reason::NotAvailable("a solver for arrays"));
        };
        let purpose = Purpose { part: "indexed", claims: context.claims().to_vec() };
        let mut session = context.session_with_cores(&solver, &purpose);
        let cancel = context.cancellation();
        candidates.filter(&system, &mut self.pool, &mut session, cancel)?;
        let left = candidates.alive.iter().filter(|a| **a).count();
        context.progress(None, format!("{left} of {} candidates hold", candidates.bodies.len()));
        self.candidates = Some(candidates);
        self.session = Some(session);
        Ok(())
    }

    /// Conjectures an answer for a claim.
    fn support(&mut self, context: &EngineContext, claim: ClaimId) -> Result<(), Reason> {
        let system = Arc::clone(context.given());
        let (Some(candidates), Some(session)) = (&self.candidates, &mut self.session) else {
            return Ok(());
        };
        let kind = &system.claims()[claim.index()].kind;
        let bad = match kind {
            ClaimKind::Always(p) => self.pool.not(p.term()),
            ClaimKind::Reachable(goals) => match &goals[..] {
                [Goal::State(p)] => p.term(),
                [Goal::Step { choices, .. }] => {
                    let mut all = Vec::new();
                    for (t, met) in choices {
                        let guard = system.transition(*t).guard.iter().map(|g| g.term.term());
                        all.push(self.pool.and(guard.chain([met.term()])));
                    }
                    self.pool.or(all)
                }
                _ => return Ok(()),
            },
            ClaimKind::CanEnable(t) => {
                let guard = system.transition(*t).guard.iter().map(|g| g.term.term());
                self.pool.and(guard)
            }
            _ => return Ok(()),
        };
        let cancel = context.cancellation();
        let found = candidates.support(&system, &mut self.pool, session, bad, cancel)?;
        let Some(found) = found else { return Ok(()) };
        let mut parts = Vec::new();
        for at in found {
            parts.push(closed(&mut self.pool, candidates, candidates.bodies[at]));
        }
        let formula = self.pool.and(parts);
        let formulas =
            NodeFormulas { pool: Pool::clone(&self.pool).freeze(), by_node: vec![formula].into() };
        let evidence = Evidence::Invariant(formulas);
        let verdict = match kind {
            ClaimKind::Always(_) => Verdict::Holds(evidence),
            _ => Verdict::Fails(evidence),
        };
        self.answers.push((claim, verdict.clone()));
        context.conjecture_given([(claim, verdict)], Likelihood::Guess);
        Ok(())
    }
}

impl Indexed {
    fn conjecture_again(&mut self, context: &EngineContext, round: u32, due: Instant) {
        self.answers.retain(|(claim, _)| context.is_open(*claim));
        if self.answers.is_empty() || round == LIMITS.rounds {
            self.phase = Phase::Over;
        } else if Instant::now() < due {
            std::thread::sleep(LIMITS.pause);
        } else {
            context.conjecture_given(self.answers.iter().cloned(), Likelihood::Probable);
            let due = Instant::now() + LIMITS.again * 2u32.pow(round);
            self.phase = Phase::Again { round: round + 1, due };
        }
    }
}

/// The formula with quantifiers for `i` and `j`.
fn closed(pool: &mut Pool, candidates: &Candidates, body: TermId) -> TermId {
    let free = pool.free_symbols(&[body]);
    let mut bound = Vec::new();
    let mut map = FxHashMap::default();
    for (index, name) in [(candidates.i, "i"), (candidates.j, "j")] {
        if pool.as_symbol(index).is_some_and(|s| free.contains(&s)) {
            let symbol = pool.declare_bound(name, Sort::Int);
            bound.push(symbol);
            map.insert(index, pool.var(symbol));
        }
    }
    let body = replace(pool, body, &map);
    pool.forall(&bound, body)
}

/// The conjuncts of a formula as candidates: those with at most one quantifier for one or two ints.
fn parts_of(pool: &mut Pool, formula: TermId, (i, j): (TermId, TermId), bodies: &mut Vec<TermId>) {
    let mut work = vec![formula];
    while let Some(t) = work.pop() {
        let args = pool.args(t).to_vec();
        match pool.op(t) {
            Op::And => work.extend(args),
            Op::Forall => {
                let Some((&body, bound)) = args.split_last() else { continue };
                let ints = bound.iter().all(|&b| pool.sort(b) == Sort::Int);
                if ints && bound.len() <= 2 && !pool.has_quantifier(body) {
                    let map = bound.iter().copied().zip([i, j]).collect();
                    bodies.push(replace(pool, body, &map));
                }
            }
            _ if !pool.has_quantifier(t) => bodies.push(t),
            _ => {}
        }
    }
}

impl Engine for Indexed {
    fn advance(&mut self, context: &EngineContext) -> Advance {
        let result = match self.phase {
            Phase::Sample(at) => {
                self.sample(context, at);
                Ok(())
            }
            Phase::Filter => {
                let result = self.filter(context);
                self.phase = Phase::Support(0);
                result
            }
            Phase::Support(at) => match context.claims().get(at).copied() {
                Some(claim) => {
                    self.phase = Phase::Support(at + 1);
                    if context.is_open(claim) { self.support(context, claim) } else { Ok(()) }
                }
                None => {
                    self.phase = Phase::Again { round: 0, due: Instant::now() + LIMITS.again };
                    self.obstacle =
                        "no inductive invariant about one or two instances was found".into();
                    Ok(())
                }
            },
            Phase::Again { round, due } => {
                self.conjecture_again(context, round, due);
                Ok(())
            }
            Phase::Over => return Advance::Finished,
        };
        if let Err(reason) = result {
            self.obstacle = format!("indexed invariants: {reason}");
            if !matches!(self.phase, Phase::Support(at) if at > 0) {
                self.phase = Phase::Over;
            }
        }
        Advance::Again
    }

    fn obstacle(&self, _claim: ClaimId) -> Option<String> {
        (!self.obstacle.is_empty()).then(|| self.obstacle.clone())
    }
}
