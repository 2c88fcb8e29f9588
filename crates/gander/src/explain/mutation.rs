//! Mutation coverage: small mistakes in a model, and which of its properties detect them
//! (definition 8 of E. Ghassabani, Inductive Validity Cores, 2020).
//!
//! A mutant is killed by a property that fails of it, and survives a property that holds of it,
//! both by checked evidence; otherwise it is undecided. The element of a killed mutant is in every
//! core of the property: removing the element allows even more runs, so no proof can do without it.
//! This is compared with the cores that were found; a difference is an internal error.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_engines::{CheckConfig, CheckReport, NullObserver, check};
use gander_explain::{Parts, is_proof, rests_on_runs_alone};
use gander_report::describe::{Syntax, formula_text, instance_and_name};
use gander_report::{ExplainView, MutantFate, MutantView, MutationView, NoCore};
use gander_system::passes::{Mistake, Moment, Mutant, Mutants, mutants};
use gander_system::{ClaimId, ElementId, StateVar, System, Verdict};
use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cores::Engines;

/// Time limits for mutants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MutationBudget {
    /// For one mutant.
    pub each: Duration,
    /// For all mutants.
    pub all: Option<Duration>,
}

/// Formulas whose text is longer are cut short.
const LONGEST_FORMULA: usize = 200;
/// The nodes of such a formula that are shown.
const FORMULA_NODES: usize = 60;

/// A property that holds, and its evidence.
struct Proved<'r> {
    claim: ClaimId,
    verdict: &'r Verdict,
}

/// Builds the mutants of a system and decides its proved properties for each. `view` has the cores
/// of these properties.
pub(crate) fn mutation(
    system: &Arc<System>,
    syntax: Syntax,
    parts: &Parts,
    report: &CheckReport,
    view: &ExplainView,
    engines: &mut Engines,
    budget: MutationBudget,
) -> MutationView {
    let began = Instant::now();
    let explained = |claim: ClaimId| {
        view.results.iter().any(|r| r.property == system.claims()[claim.index()].name)
    };
    let proved: Vec<Proved<'_>> = report
        .outcomes
        .iter()
        .filter(|o| explained(o.claim))
        .map(|o| Proved { claim: o.claim, verdict: &o.verdict })
        .collect();
    let name = |p: &Proved<'_>| system.claims()[p.claim.index()].name.clone();
    let mut found = MutationView {
        properties: proved.iter().map(name).collect(),
        open: view.unexplained.iter().any(|u| u.status == NoCore::Undecided),
        ..MutationView::default()
    };
    if proved.is_empty() {
        return found;
    }
    let words = Words::new(system, syntax);
    for (element, part) in parts.list.iter().enumerate() {
        let made = mutants(system, &part.elements);
        for mutant in &made.list {
            let left = budget.all.map(|all| all.saturating_sub(began.elapsed()));
            // A part has a few mutants, most of which are decided at once.
            let parts = u32::try_from(parts.list.len() - element).unwrap_or(u32::MAX);
            let time = left.map_or(budget.each, |l| budget.each.min(l / parts));
            let fates = if time.is_zero() || engines.cancel.is_cancelled() {
                vec![MutantFate::Undecided; proved.len()]
            } else {
                let mutated = Arc::new(made.applied(system, mutant));
                fates(&mutated, &proved, engines, time)
            };
            found.mutants.push(MutantView { element, what: words.of(&made, mutant), fates });
        }
    }
    found.disagreements = disagreements(system, view, &found);
    found
}

/// Mistakes in words, with formulas as the author writes them.
struct Words<'s> {
    system: &'s System,
    syntax: Syntax,
    /// In a dataflow program: by symbol, now or next, its variable.
    streams: FxHashMap<SymbolId, &'s StateVar>,
    /// The paths of node instances, longer ones first.
    instances: Vec<&'s str>,
    /// The elements of transitions.
    of_steps: FxHashSet<ElementId>,
}

impl<'s> Words<'s> {
    fn new(system: &'s System, syntax: Syntax) -> Words<'s> {
        let written = system.vars().iter().filter(|v| v.stream.is_some());
        let mut instances: Vec<&str> = written.map(|v| instance_and_name(&v.name).0).collect();
        let is_dataflow = !instances.is_empty();
        let symbols = system.vars().iter().flat_map(|v| [(v.current, v), (v.next, v)]);
        let streams = symbols.filter(|_| is_dataflow).collect();
        instances.retain(|path| !path.is_empty());
        instances.sort_by_key(|path| (Reverse(path.len()), *path));
        instances.dedup();
        let effects = system.transitions().iter().flat_map(|t| &t.effect).map(|e| e.id());
        let guards = system.transitions().iter().flat_map(|t| &t.guard).map(|e| e.id);
        let of_steps = effects.chain(guards).collect();
        Words { system, syntax, streams, instances, of_steps }
    }

    fn of(&self, made: &Mutants, mutant: &Mutant) -> String {
        let text = |t: TermId| self.formula(&made.pool, t, mutant.element);
        let is_constant = |t: TermId| matches!(made.pool.op(t), Op::Const(_) | Op::Bool(_));
        let words = match mutant.mistake {
            Mistake::Replaced(old, new) if is_constant(old) => {
                format!("{} becomes {}", text(old), text(new))
            }
            Mistake::Replaced(old, new) => format!("`{}` becomes `{}`", text(old), text(new)),
            Mistake::Negated(t) => format!("`{}` is negated", text(t)),
            Mistake::ConditionNegated(t) => format!("condition `{}` is negated", text(t)),
            Mistake::Kept => "keeps its value".to_string(),
            Mistake::LeftOut => "is left out".to_string(),
            Mistake::Stuck(value) => format!("is stuck at {value}"),
        };
        match mutant.moment {
            Some(Moment::First) => format!("{words}, in the first state only"),
            Some(Moment::Later) => format!("{words}, in later states only"),
            None => words,
        }
    }

    fn formula(&self, pool: &Arc<Pool>, t: TermId, element: ElementId) -> String {
        let mut pool = Pool::fork(pool);
        let t = if self.streams.is_empty() || !self.of_steps.contains(&element) {
            t
        } else {
            // In a step of a dataflow program a variable is what it was before, `pre x`.
            let mut names = FxHashMap::default();
            for symbol in pool.free_symbols(&[t]) {
                let Some(v) = self.streams.get(&symbol) else { continue };
                let name = if symbol == v.next {
                    v.current
                } else {
                    pool.declare_fresh(&format!("pre {}", v.name), pool.symbol(symbol).sort)
                };
                names.insert(symbol, pool.var(name));
            }
            pool.substitute(t, &names)
        };
        let text = formula_text(&pool, t, self.syntax)
            .filter(|text| text.len() <= LONGEST_FORMULA)
            .unwrap_or_else(|| pool.display_bounded(t, FORMULA_NODES).to_string());
        let text = as_written(self.system, &text);
        let symbols = pool.free_symbols(&[t]);
        let mut names: Vec<String> =
            symbols.iter().map(|&s| self.without_instances(&pool.symbol(s).name)).collect();
        names.sort_unstable();
        names.dedup();
        // Streams of several instances keep the paths that tell them apart.
        if names.len() < symbols.len() { text } else { self.without_instances(&text) }
    }

    fn without_instances(&self, text: &str) -> String {
        let remove = |text: String, path: &&str| text.replace(&format!("{path}."), "");
        self.instances.iter().fold(text.to_string(), remove)
    }
}

/// Replaces `transition.parameter` by the parameter's own name.
fn as_written(system: &System, text: &str) -> String {
    let mut text = text.to_string();
    let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '#');
    for t in system.transitions() {
        for p in &t.params {
            let whole = format!("{}.{}", t.name, p.name);
            let mut from = 0;
            while let Some(at) = text[from..].find(&whole).map(|at| from + at) {
                let end = at + whole.len();
                let apart =
                    !text[..at].ends_with(part_of_name) && !text[end..].starts_with(part_of_name);
                from = end;
                if apart {
                    text.replace_range(at..end, &p.name);
                    from = at + p.name.len();
                }
            }
        }
    }
    text
}

/// The fates of a mutant: by the old evidence if it passes its check, else by engines.
fn fates(
    mutated: &Arc<System>,
    proved: &[Proved<'_>],
    engines: &mut Engines,
    time: Duration,
) -> Vec<MutantFate> {
    let mut fates = vec![MutantFate::Undecided; proved.len()];
    let mut open = Vec::new();
    for (i, p) in proved.iter().enumerate() {
        if engines.checker.check(mutated, p.claim, p.verdict).is_ok() {
            fates[i] = MutantFate::Survived;
        } else {
            open.push(i);
        }
    }
    if open.is_empty() {
        return fates;
    }
    let claims = open.iter().map(|&i| proved[i].claim).collect();
    let config = CheckConfig { claims, timeout: Some(time), ..engines.config.clone() };
    let report = check(mutated, &config, &engines.cancel, &NullObserver);
    for outcome in &report.outcomes {
        let Some(&i) = open.iter().find(|&&i| proved[i].claim == outcome.claim) else { continue };
        fates[i] = match &outcome.verdict {
            Verdict::Unknown { .. } => MutantFate::Undecided,
            verdict if is_proof(&mutated.claims()[outcome.claim.index()].kind, verdict) => {
                MutantFate::Survived
            }
            Verdict::Holds(_) | Verdict::Fails(_) => MutantFate::Killed,
        };
    }
    fates
}

/// Killed mutants of elements that are missing in some core. The meaning of a claim about guards or
/// effects may change with a mutant, so only claims about runs alone are compared.
fn disagreements(system: &System, view: &ExplainView, found: &MutationView) -> Vec<String> {
    let mut texts = Vec::new();
    for mutant in &found.mutants {
        for (property, fate) in found.properties.iter().zip(&mutant.fates) {
            let Some(r) = view.results.iter().find(|r| r.property == *property) else { continue };
            if !system.find_claim(property).is_some_and(|c| rests_on_runs_alone(&c.kind)) {
                continue;
            }
            let spared = r.cores.iter().any(|c| !c.elements.contains(&mutant.element));
            if *fate == MutantFate::Killed && spared {
                let name = &view.elements[mutant.element].name;
                texts.push(format!(
                    "mutants and cores of {property} do not agree: it fails if {name} is wrong ({}), and has a core without it",
                    mutant.what
                ));
            }
        }
    }
    texts
}
