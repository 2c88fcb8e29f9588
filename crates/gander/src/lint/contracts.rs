//! Contracts of imported nodes that no implementation can keep.
//!
//! What an imported node guarantees is assumed, so guarantees that contradict each other for some
//! input make proofs vacuous. For the first two instants of a run of the node, a solver is asked
//! for inputs that satisfy the assumptions such that no outputs satisfy the guarantees. A second
//! query without quantifiers checks its answer.

use std::time::Duration;

use gander_lang::lustre::{ClaimRole, Module, Modules};
use gander_lang::{Code, Diagnostic, Span};
use gander_smt::Solvers;
use gander_system::{ClaimKind, NodeId, StartId, StreamKind, System, TransitionId, VarId};
use gander_term::{Pool, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::LintReport;
use crate::simulate::find_values_within;

/// The solvers, and the time limit of each query.
pub(super) struct Asked<'a> {
    pub solvers: &'a Solvers,
    pub time: Duration,
}

impl Asked<'_> {
    /// Values that satisfy a formula; `None` if there are none.
    fn find(
        &self,
        pool: &mut Pool,
        formula: TermId,
        fixed: &[(SymbolId, Value)],
        wanted: &[SymbolId],
    ) -> Result<Option<Vec<Value>>, NotDecided> {
        if self.time.is_zero() {
            return Err(NotDecided);
        }
        let found = find_values_within(self.solvers, pool, formula, fixed, wanted, self.time);
        found.map_err(|_| NotDecided)
    }
}

/// The solvers gave no answer, or one that the second query did not confirm.
struct NotDecided;

/// A warning for each imported node that `root` calls with a contract that cannot be kept.
pub(super) fn contradictory_contracts(
    modules: &Modules,
    root: &str,
    asked: &Asked<'_>,
) -> LintReport {
    let mut report = LintReport::default();
    for (node, span) in modules.imported(root) {
        let asked = modules.system(&node, &[]).map(|module| witness(&module, asked));
        match asked.unwrap_or(Err(NotDecided)) {
            Ok(None) => {}
            Ok(Some(witness)) => report.found.push(message(&node, span, &witness)),
            Err(NotDecided) => report.undecided.count(Code::W0819),
        }
    }
    report
}

/// The inputs of each instant; at the last no outputs satisfy the guarantees.
struct Witness(Vec<Vec<(String, String)>>);

fn message(node: &str, span: Span, witness: &Witness) -> Diagnostic {
    let list = |values: &[(String, String)]| {
        let values: Vec<String> = values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        values.join(", ")
    };
    let note = match &witness.0[..] {
        [only] if only.is_empty() => "at the first instant no outputs satisfy it".to_string(),
        [only] => format!("for the inputs {} no outputs satisfy it", list(only)),
        [first, last] => format!(
            "after the first instant with {}, no outputs satisfy it for the inputs {}",
            list(first),
            list(last)
        ),
        _ => String::new(),
    };
    let message = format!("no implementation of `{node}` can keep its contract");
    Diagnostic::new(Code::W0819, span, message)
        .note(note)
        .note("runs that call it with such inputs do not exist in the model, so claims may hold because of that")
        .help("weaken a guarantee, or let an assumption of the node exclude the inputs")
}

/// The parts of the system of an imported node, as formulas about an instant.
struct Contract<'a> {
    system: &'a System,
    inputs: Vec<VarId>,
    assumed: TermId,
    guaranteed: TermId,
}

fn witness(module: &Module, asked: &Asked<'_>) -> Result<Option<Witness>, NotDecided> {
    let system = &module.system;
    let mut pool = Pool::fork(system.pool());
    let here = NodeId(0);
    let mut guarantees = Vec::new();
    for (claim, source) in system.claims().iter().zip(&module.sources) {
        let promise = source.as_ref().is_none_or(|s| {
            s.instance.is_empty() && (s.role.is_promise() || s.role == ClaimRole::OutputRange)
        });
        if let (true, ClaimKind::Always(formula)) = (promise, &claim.kind) {
            guarantees.push(system.at_node(&mut pool, *formula, here));
        }
    }
    if guarantees.is_empty() {
        return Ok(None);
    }
    let input = |v: &VarId| system.var(*v).stream == Some(StreamKind::Input);
    let contract = Contract {
        system,
        inputs: system.var_ids().filter(input).collect(),
        assumed: system.assumption_term(&mut pool, here),
        guaranteed: pool.and(guarantees),
    };
    let first = contract.at_first(&mut pool, asked);
    if let Ok(Some(_)) = first {
        return first;
    }
    match contract.at_second(&mut pool, asked) {
        Ok(None) => first,
        second => second,
    }
}

impl Contract<'_> {
    fn current(&self, v: VarId) -> SymbolId {
        self.system.var(v).current
    }

    fn next(&self, v: VarId) -> SymbolId {
        self.system.var(v).next
    }

    fn at_first(
        &self,
        pool: &mut Pool,
        asked_of: &Asked<'_>,
    ) -> Result<Option<Witness>, NotDecided> {
        let start = self.system.start_term(pool, StartId(0));
        let possible = pool.and([start, self.assumed]);
        let kept = pool.and([possible, self.guaranteed]);
        let symbol = |v: VarId| self.current(v);
        let asked: Vec<SymbolId> = self.inputs.iter().map(|&v| symbol(v)).collect();
        let never = self.never(pool, kept, symbol);
        let formula = pool.and([possible, never]);
        let Some(values) = asked_of.find(pool, formula, &[], &asked)? else { return Ok(None) };
        let given: Vec<(SymbolId, Value)> = asked.into_iter().zip(values.clone()).collect();
        // The answer without quantifiers.
        let none = asked_of.find(pool, kept, &given, &[])?.is_none();
        if none { Ok(Some(Witness(vec![self.named(&values)]))) } else { Err(NotDecided) }
    }

    fn at_second(
        &self,
        pool: &mut Pool,
        asked_of: &Asked<'_>,
    ) -> Result<Option<Witness>, NotDecided> {
        let start = self.system.start_term(pool, StartId(0));
        let effect = self.system.effect_term(pool, TransitionId(0));
        let first = pool.and([start, self.assumed, self.guaranteed]);
        let primed: FxHashMap<SymbolId, TermId> =
            self.system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
        let (assumed, guaranteed) =
            (pool.substitute(self.assumed, &primed), pool.substitute(self.guaranteed, &primed));
        let possible = pool.and([first, effect, assumed]);
        let kept = pool.and([effect, assumed, guaranteed]);
        let never = self.never(pool, kept, |v| self.next(v));
        let formula = pool.and([possible, never]);
        let before: Vec<SymbolId> = self.system.var_ids().map(|v| self.current(v)).collect();
        let after: Vec<SymbolId> = self.inputs.iter().map(|&v| self.next(v)).collect();
        let asked: Vec<SymbolId> = before.iter().chain(&after).copied().collect();
        let Some(values) = asked_of.find(pool, formula, &[], &asked)? else { return Ok(None) };
        let given: Vec<(SymbolId, Value)> = asked.into_iter().zip(values.clone()).collect();
        let reached = asked_of.find(pool, first, &given[..before.len()], &[])?;
        let none = asked_of.find(pool, kept, &given, &[])?.is_none();
        if reached.is_none() || !none {
            return Err(NotDecided);
        }
        let shown = |v: &VarId| {
            let stream = self.system.var(*v).stream;
            matches!(stream, Some(StreamKind::Input | StreamKind::Output))
        };
        let first = self.system.var_ids().filter(shown).map(|v| {
            (self.system.var(v).name.clone(), self.system.show_value(v, &values[v.index()]))
        });
        Ok(Some(Witness(vec![first.collect(), self.named(&values[before.len()..])])))
    }

    /// No values of the streams that are not inputs satisfy a formula.
    fn never(&self, pool: &mut Pool, kept: TermId, symbol: impl Fn(VarId) -> SymbolId) -> TermId {
        let (mut bound, mut names) = (Vec::new(), FxHashMap::default());
        for v in self.system.var_ids().filter(|v| !self.inputs.contains(v)) {
            let var = self.system.var(v);
            let b = pool.declare_bound(&var.name, var.sort);
            names.insert(symbol(v), pool.var(b));
            bound.push(b);
        }
        let kept = pool.substitute(kept, &names);
        let broken = pool.not(kept);
        pool.forall(&bound, broken)
    }

    /// The inputs with their values as text.
    fn named(&self, values: &[Value]) -> Vec<(String, String)> {
        let named =
            self.inputs.iter().zip(values).map(|(&v, value)| {
                (self.system.var(v).name.clone(), self.system.show_value(v, value))
            });
        named.collect()
    }
}
