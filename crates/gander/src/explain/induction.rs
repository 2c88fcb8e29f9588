//! Counterexamples to induction, for claims that were not decided.
//!
//! For a claim `always p`, a counterexample to k-induction is a sequence of `k + 1` states, each a
//! step after the one before it, with `p` in the first `k` and not in the last. It shows what an
//! invariant has to exclude. The states are pairwise distinct, satisfy the assumptions and every
//! claim of the kind *always* that was proved, and the first is no start state. Nothing says that
//! they are reachable. For `reachable p` that was not decided, `p` takes the place of `not p`.
//!
//! A sequence is shown only if the evaluator confirms the claim in each state and `gander-certify`
//! replays it as a run of the system that starts in its first state.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_certify::{CheckLimits, Checker};
use gander_engines::Outcome;
use gander_report::describe::trace_view;
use gander_report::{InductionView, SequenceEnd};
use gander_runtime::Cancellation;
use gander_smt::{Answer, Limits, SessionConfig, Solvers, StepSymbol};
use gander_system::{
    Claim, ClaimKind, Goal, Leg, NodeId, Run, StartId, State, StateTerm, Step, System,
    TransitionId, Verdict, passes,
};
use gander_term::{IBig, Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::decide::Decision;

/// Time for one system.
const TIME: Duration = Duration::from_secs(5);
/// The greatest depth: longer sequences are hard to read.
const MAX_K: u32 = 5;
/// Systems with more transitions get no counterexample.
const MAX_TRANSITIONS: usize = 2000;

/// By verdict of a decision: a counterexample to induction, if the claim was not decided.
pub(crate) fn induction_counterexamples(
    decision: &Decision,
    language: &str,
    solvers: Option<Arc<Solvers>>,
    left: Option<Duration>,
    cancel: &Cancellation,
) -> Vec<Option<InductionView>> {
    let until = Instant::now() + left.map_or(TIME, |left| left.min(TIME));
    let system = &decision.system;
    let claim_of = |o: &Outcome| &system.claims()[o.claim.index()];
    let known: Vec<(String, StateTerm)> = decision
        .report
        .outcomes
        .iter()
        .filter_map(|o| match (&claim_of(o).kind, &o.verdict) {
            (ClaimKind::Always(p), Verdict::Holds(_)) => Some((claim_of(o).name.clone(), *p)),
            _ => None,
        })
        .collect();
    let one = |outcome: &Outcome| {
        matches!(outcome.verdict, Verdict::Unknown { .. }).then(|| {
            let none = |why: &str| InductionView::None(why.to_string());
            let Some(solvers) = &solvers else { return none("no solver was found") };
            match Search::new(system, claim_of(outcome), &known, cancel) {
                Ok(search) => search.last(solvers, until, language),
                Err(why) => none(why),
            }
        })
    };
    decision.report.outcomes.iter().map(one).collect()
}

/// A search for the counterexamples of one claim.
struct Search<'a> {
    system: &'a System,
    /// The formula of the claim.
    formula: StateTerm,
    /// What the formula is in the last state; in the others it is the opposite.
    last: bool,
    known: &'a [(String, StateTerm)],
    cancel: &'a Cancellation,
}

/// The symbols of one state of the sequence.
struct Symbols {
    node: SymbolId,
    vars: Vec<SymbolId>,
}

/// The symbols of one step: the transition, and by transition its parameters.
struct StepSymbols {
    transition: SymbolId,
    params: Vec<Vec<SymbolId>>,
}

/// Why other claims have no counterexample.
const NOT_DONE: &str = "that is done for `always` claims and for a goal about states";

impl<'a> Search<'a> {
    fn new(
        system: &'a System,
        claim: &Claim,
        known: &'a [(String, StateTerm)],
        cancel: &'a Cancellation,
    ) -> Result<Search<'a>, &'static str> {
        let (formula, last) = match &claim.kind {
            ClaimKind::Always(p) => (*p, false),
            ClaimKind::Reachable(goals) => match goals[..] {
                [Goal::State(p)] => (p, true),
                _ => return Err(NOT_DONE),
            },
            _ => return Err(NOT_DONE),
        };
        if system.transitions().len() > MAX_TRANSITIONS || system.starts().is_empty() {
            return Err("the system has too many transitions");
        }
        Ok(Search { system, formula, last, known, cancel })
    }

    /// The counterexample of the greatest depth that is found in time.
    fn last(&self, solvers: &Arc<Solvers>, until: Instant, language: &str) -> InductionView {
        let mut last = None;
        for k in 1..=MAX_K {
            match self.at_depth(k, solvers, until) {
                Some(found) => last = Some((k, found)),
                None => break,
            }
        }
        let Some((k, run)) = last else {
            return InductionView::None("none was found in time".to_string());
        };
        let mut trace = trace_view(self.system, &run, None);
        if let Some(first) = trace.rows.first_mut() {
            first.action = "(any state)".to_string();
        }
        let known = self.known.iter().map(|(name, _)| name.clone()).collect();
        let ends = if self.last { SequenceEnd::Goal } else { SequenceEnd::Violation };
        InductionView::Counterexample { k, ends, trace, known, advice: self.advice(language) }
    }

    fn advice(&self, language: &str) -> Vec<String> {
        let how = match language {
            "sts" => "an `invariant` in its node, or another `always` claim",
            "lustre" => "another property (`--%PROPERTY`)",
            "script" => "another goal (`SAFE`)",
            "smv" => "another `INVARSPEC`",
            _ => "another property",
        };
        let met = if self.last { "the claim holds" } else { "the claim fails" };
        vec![
            format!(
                "if no run reaches state 0, an invariant that is false in it may help: write it as \
                 {how}"
            ),
            format!(
                "if a run reaches state 0, {met}, and a longer time limit (--timeout) may find \
                 the run"
            ),
        ]
    }

    fn at_depth(&self, k: u32, solvers: &Arc<Solvers>, until: Instant) -> Option<Run> {
        let mut pool = Pool::fork(self.system.pool());
        let (formula, states, steps) = self.unrolled(&mut pool, k as usize);
        let solver = solvers.choose(pool.features(&[formula]))?.clone();
        let limits = || Limits::time(until.saturating_duration_since(Instant::now()));
        if Instant::now() >= until || self.cancel.is_cancelled() {
            return None;
        }
        let config =
            SessionConfig { cancellation: self.cancel.clone(), ..SessionConfig::default() };
        let mut session = solvers.session(&solver, config);
        let symbols: Vec<StepSymbol> = states
            .iter()
            .flat_map(|s| std::iter::once(s.node).chain(s.vars.iter().copied()))
            .chain(steps.iter().flat_map(|s| {
                std::iter::once(s.transition).chain(s.params.iter().flatten().copied())
            }))
            .map(StepSymbol::rigid)
            .collect();
        symbols.iter().for_each(|&s| session.declare(&pool, s));
        session.assert(&pool, formula);
        let values = match session.check(&[], limits()) {
            Answer::Sat => session.values(&pool, &symbols, limits()).ok(),
            _ => None,
        };
        solvers.end(session);
        let values: FxHashMap<SymbolId, Value> =
            symbols.iter().map(|s| s.symbol).zip(values?).collect();
        let run = self.read(&states, &steps, &values)?;
        self.is_counterexample(&run, solvers, until).then_some(run)
    }

    /// The formula of a sequence with `k` steps, and its symbols.
    fn unrolled(&self, pool: &mut Pool, k: usize) -> (TermId, Vec<Symbols>, Vec<StepSymbols>) {
        let system = self.system;
        let mut parts = Vec::new();
        let states: Vec<Symbols> = (0..=k)
            .map(|i| Symbols {
                node: pool.declare_fresh(&format!("node@{i}"), gander_term::Sort::Int),
                vars: system
                    .vars()
                    .iter()
                    .map(|v| pool.declare_fresh(&format!("{}@{i}", v.name), v.sort))
                    .collect(),
            })
            .collect();
        let at: Vec<FxHashMap<SymbolId, TermId>> = states
            .iter()
            .map(|s| {
                let vars = system.vars().iter().zip(&s.vars);
                vars.map(|(v, &symbol)| (v.current, pool.var(symbol))).collect()
            })
            .collect();
        for (i, state) in states.iter().enumerate() {
            let mut places = Vec::new();
            for n in system.node_ids() {
                let mut here = vec![is_number(pool, state.node, n.index())];
                here.push(system.assumption_term(pool, n));
                for (_, known) in self.known {
                    here.push(system.at_node(pool, *known, n));
                }
                let formula = system.at_node(pool, self.formula, n);
                let holds = (i == k) == self.last;
                here.push(if holds { formula } else { pool.not(formula) });
                places.push(pool.and(here));
            }
            let place = pool.or(places);
            parts.push(pool.substitute(place, &at[i]));
        }
        for (s, start) in system.starts().iter().enumerate() {
            let is_start = system.start_term(pool, StartId::from(s));
            let is_start = pool.substitute(is_start, &at[0]);
            let here = is_number(pool, states[0].node, start.target.index());
            let both = pool.and([here, is_start]);
            parts.push(pool.not(both));
        }
        let mut steps = Vec::new();
        for i in 0..k {
            let transition = pool.declare_fresh(&format!("step@{i}"), gander_term::Sort::Int);
            let (mut params, mut ways) = (Vec::new(), Vec::new());
            for t in system.transition_ids() {
                let own = system.transition(t);
                let mut map = at[i].clone();
                for (v, &next) in system.vars().iter().zip(&states[i + 1].vars) {
                    map.insert(v.next, pool.var(next));
                }
                let mut symbols = Vec::new();
                for p in &own.params {
                    let sort = pool.symbol(p.symbol).sort;
                    let symbol = pool.declare_fresh(&format!("{}@{i}", p.name), sort);
                    map.insert(p.symbol, pool.var(symbol));
                    symbols.push(symbol);
                }
                params.push(symbols);
                let (guard, effect) = (system.guard_term(pool, t), system.effect_term(pool, t));
                let step = pool.and([guard, effect]);
                let step = pool.substitute(step, &map);
                let which = [
                    is_number(pool, transition, t.index()),
                    is_number(pool, states[i].node, own.source.index()),
                    is_number(pool, states[i + 1].node, own.target.index()),
                    step,
                ];
                ways.push(pool.and(which));
            }
            parts.push(pool.or(ways));
            steps.push(StepSymbols { transition, params });
        }
        for (i, a) in states.iter().enumerate() {
            for b in &states[i + 1..] {
                let pairs = a.vars.iter().zip(&b.vars).chain([(&a.node, &b.node)]);
                let pairs: Vec<(SymbolId, SymbolId)> = pairs.map(|(&x, &y)| (x, y)).collect();
                let mut differences = Vec::new();
                for (x, y) in pairs {
                    let (x, y) = (pool.var(x), pool.var(y));
                    differences.push(pool.ne(x, y));
                }
                parts.push(pool.or(differences));
            }
        }
        (pool.and(parts), states, steps)
    }

    /// The sequence as a run from its first state.
    fn read(
        &self,
        states: &[Symbols],
        steps: &[StepSymbols],
        values: &FxHashMap<SymbolId, Value>,
    ) -> Option<Run> {
        let of = |symbols: &[SymbolId]| -> Option<Vec<Value>> {
            symbols.iter().map(|s| values.get(s).cloned()).collect()
        };
        let number = |symbol: SymbolId| match values.get(&symbol)? {
            Value::Int(i) => usize::try_from(i.clone()).ok(),
            _ => None,
        };
        let first = states.first()?;
        let node = number(first.node).filter(|&n| n < self.system.nodes().len())?;
        let first = State { node: NodeId::from(node), values: of(&first.vars)? };
        let mut legs = Vec::new();
        for (symbols, after) in steps.iter().zip(&states[1..]) {
            let t = number(symbols.transition)?;
            let params = of(symbols.params.get(t)?)?;
            let next = Some(of(&after.vars)?);
            legs.push(Leg::Step(Step { transition: TransitionId::from(t), params, next }));
        }
        Some(Run { start: StartId::from(0usize), first, legs: legs.into() })
    }

    /// Evaluates the claims in each state, and replays the steps.
    fn is_counterexample(&self, run: &Run, solvers: &Arc<Solvers>, until: Instant) -> bool {
        let system = self.system;
        let mut pool = Pool::fork(system.pool());
        let mut states = vec![(run.first.node, run.first.values.clone())];
        for leg in &run.legs {
            let Leg::Step(Step { transition, next: Some(next), .. }) = leg else { return false };
            states.push((system.transition(*transition).target, next.clone()));
        }
        let end = states.len() - 1;
        for (i, (node, values)) in states.iter().enumerate() {
            let value_of = |symbol: SymbolId| {
                let var = system.vars().iter().position(|v| v.current == symbol);
                var.map(|v| values[v].clone())
            };
            let mut is = |formula: StateTerm, wanted: bool| {
                let formula = system.at_node(&mut pool, formula, *node);
                evaluate(&pool, formula, &value_of) == Ok(Value::Bool(wanted))
            };
            if !is(self.formula, (i == end) == self.last)
                || !self.known.iter().all(|(_, known)| is(*known, true))
            {
                return false;
            }
        }
        let Some(started) = passes::started_at(system, &run.first, self.formula) else {
            return false;
        };
        let total = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(200));
        let limits = CheckLimits { total: Some(total), ..CheckLimits::default() };
        let mut checker = Checker::new(solvers, limits);
        checker.set_cancellation(self.cancel.clone());
        checker.replay(&started, run).is_ok()
    }
}

/// `symbol == number`
fn is_number(pool: &mut Pool, symbol: SymbolId, number: usize) -> TermId {
    let (symbol, number) = (pool.var(symbol), pool.int(IBig::from(number)));
    pool.eq(symbol, number)
}
