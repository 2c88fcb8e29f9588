//! The control graph of a system, the graphs of the instances of a composition, and the call graph
//! of a dataflow program.
//!
//! Labels are the author's words where the source is given: constants, ranges and definitions are
//! not expanded.

use gander_lang::lustre::CallGraphNode;
use gander_system::{Effect, ElementId, ElementKind, Leg, Run, Span, System, Transition};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::instance_graph::instance_view;
use super::start_text;
use crate::view::graph::{EdgeView, GraphNodeView, GraphPathView, GraphView, StartView};

/// Characters of a label that are shown.
const LONGEST_LABEL: usize = 160;

/// The view of a system's control graph. Labels are formulas.
pub fn graph_view(system: &System) -> GraphView {
    whole(&Labels { system, source: "", unit: LabelUnit::Element })
}

/// What the text of a label is taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabelUnit {
    /// Each formula and assignment of the source.
    Element,
    /// The rules of a script: what follows from declarations (ranges, `MAXSTEPS`) is left out.
    Rule,
}

/// The control graphs of a system, with labels from its source: one for each instance of a
/// composition, else one.
pub fn graph_views(system: &System, source: &str, unit: LabelUnit) -> Vec<GraphView> {
    let labels = Labels { system, source, unit };
    match system.instances() {
        [] => vec![whole(&labels)],
        instances => instances.iter().map(|i| instance_view(&labels, i)).collect(),
    }
}

/// The call graph of a dataflow program.
pub fn call_graph_view(name: &str, nodes: &[CallGraphNode]) -> GraphView {
    let node = |n: &CallGraphNode| {
        let words = [(n.root, "root"), (n.contract, "contract"), (n.imported, "imported")];
        GraphNodeView {
            name: n.name.clone(),
            notes: words.iter().filter(|(is, _)| *is).map(|(_, w)| w.to_string()).collect(),
            ..GraphNodeView::default()
        }
    };
    let edges = nodes.iter().enumerate().flat_map(|(source, n)| {
        n.calls.iter().map(move |&(target, count)| EdgeView {
            source,
            target,
            label: if count > 1 { format!("{count} calls") } else { String::new() },
            ..EdgeView::default()
        })
    });
    GraphView {
        name: name.to_string(),
        nodes: nodes.iter().map(node).collect(),
        starts: Vec::new(),
        edges: edges.collect(),
    }
}

/// The steps of a run on the control graph; none if parts of it are repeated.
pub fn graph_path(run: &Run) -> Option<GraphPathView> {
    let step = |(i, leg): (usize, &Leg)| match leg {
        Leg::Step(step) => Some((i as u64 + 1, step.transition.index())),
        Leg::Repeat { .. } => None,
    };
    let steps: Option<Vec<(u64, usize)>> = run.legs.iter().enumerate().map(step).collect();
    Some(GraphPathView { start: run.start.index(), steps: steps? })
}

fn whole(labels: &Labels<'_>) -> GraphView {
    let system = labels.system;
    let node = |n: &gander_system::Node| GraphNodeView {
        name: n.name.clone(),
        is_final: n.is_final,
        invariants: n.hints.iter().map(|h| labels.formula(h.id, h.term.term())).collect(),
        notes: Vec::new(),
    };
    let start = |(i, s): (usize, &gander_system::Start)| StartView {
        name: match system.starts().len() {
            0 | 1 => String::new(),
            _ => start_text(system, i.into()),
        },
        target: s.target.index(),
        constraint: s
            .constraint
            .iter()
            .filter(|c| system.elements()[c.id.index()].kind.is_written())
            .filter_map(|c| match labels.unit {
                LabelUnit::Element => Some(labels.formula(c.id, c.term.term())),
                LabelUnit::Rule => labels.initial(c.id, c.term.term()),
            })
            .collect(),
        starts: vec![i],
    };
    let edge = |(i, t): (usize, &Transition)| {
        let name = t.gate.map_or(&t.name, |g| &system.gates()[g.index()]);
        let words = match labels.unit {
            LabelUnit::Element => labels.transition(t),
            LabelUnit::Rule => labels.rule(t),
        };
        EdgeView {
            source: t.source.index(),
            target: t.target.index(),
            label: labels.params(t, name).0,
            guard: words.guard,
            effect: words.effect,
            transitions: vec![i],
        }
    };
    GraphView {
        name: system.name().to_owned(),
        nodes: system.nodes().iter().map(node).collect(),
        starts: system.starts().iter().enumerate().map(start).collect(),
        edges: system.transitions().iter().enumerate().map(edge).collect(),
    }
}

/// Makes labels.
pub(super) struct Labels<'s> {
    pub system: &'s System,
    /// The text that spans refer to; empty if labels are formulas.
    pub source: &'s str,
    pub unit: LabelUnit,
}

/// The guard of a rule that waits for the end of the processes before its own.
const WAITS: &str = "no process before it can move";

/// The guard and the effect of a transition.
pub(super) struct TransitionWords {
    pub guard: Vec<String>,
    pub effect: Vec<String>,
}

impl Labels<'_> {
    /// An element as it is written on one line; none if that is unknown or too long.
    pub(super) fn written(&self, id: ElementId) -> Option<String> {
        self.text(self.system.elements()[id.index()].span?)
    }

    /// The text of a place on one line; none if there is none or it is too long.
    pub(super) fn text(&self, span: Span) -> Option<String> {
        let text = self.source.get(span.range())?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        let comment = ["//", "/*", "--", "(*"].iter().any(|c| line.contains(c));
        let fits = !line.is_empty() && !comment && line.chars().count() <= LONGEST_LABEL;
        fits.then_some(line)
    }

    /// A formula as written, or else as a term.
    pub(super) fn formula(&self, id: ElementId, term: TermId) -> String {
        self.written(id)
            .unwrap_or_else(|| self.system.pool().display_bounded(term, LONGEST_LABEL).to_string())
    }

    /// The guard and effect of a transition. Ranges of parameters are shown with the parameters.
    fn transition(&self, t: &Transition) -> TransitionWords {
        let system = self.system;
        let mut pool = Pool::fork(system.pool());
        let short = short_names(system, t, &mut pool);
        let mut show = |id: ElementId, term: TermId, before: &str| {
            let term = if short.is_empty() { term } else { pool.substitute(term, &short) };
            match self.written(id) {
                Some(text) if before.is_empty() || names_target(&text) => text,
                Some(text) => format!("{before} := {text}"),
                None if before.is_empty() => pool.display_bounded(term, LONGEST_LABEL).to_string(),
                None => format!("{before} := {}", pool.display_bounded(term, LONGEST_LABEL)),
            }
        };
        let (_, has_ranges) = self.params(t, "");
        let mut words = TransitionWords { guard: Vec::new(), effect: Vec::new() };
        let kind = |id: ElementId| system.elements()[id.index()].kind;
        for g in &t.guard {
            let range = kind(g.id) == ElementKind::ParameterRange;
            // The picture shows the nodes of instances.
            if !(range && has_ranges) && kind(g.id).is_written() {
                words.guard.push(show(g.id, g.term.term(), ""));
            }
        }
        for e in &t.effect {
            words.effect.extend(match e {
                Effect::Assign { id, .. } if !kind(*id).is_written() => None,
                Effect::Assign { id, var, value } => {
                    Some(show(*id, value.term(), &system.var(*var).name))
                }
                Effect::Constrain { id, relation } => Some(show(*id, relation.term(), "")),
                Effect::Keep { .. } => None,
            });
        }
        // A simultaneous update is written once for several variables.
        words.effect.dedup();
        words
    }

    /// The guard and the updates of a rule of a script, as they are written.
    fn rule(&self, t: &Transition) -> TransitionWords {
        let system = self.system;
        let span = |id: ElementId| system.elements()[id.index()].span;
        let in_rule = |id: ElementId| {
            let (Some(rule), Some(part)) = (t.span, span(id)) else { return false };
            rule.start <= part.start && part.end <= rule.end
        };
        let mut words = TransitionWords { guard: Vec::new(), effect: Vec::new() };
        let mut updates = Vec::new();
        for e in &t.effect {
            if let Effect::Assign { id, var, value } = e
                && in_rule(*id)
            {
                updates.push(span(*id));
                let formula = || {
                    let value = system.pool().display_bounded(value.term(), LONGEST_LABEL);
                    format!("{} = {value}", system.var(*var).name)
                };
                words.effect.push(self.written(*id).unwrap_or_else(formula));
            }
        }
        // A simultaneous update is written once for several variables.
        words.effect.dedup();
        for g in &t.guard {
            // A condition with the span of an update says that it keeps the range.
            if in_rule(g.id) && !updates.contains(&span(g.id)) {
                words.guard.push(self.formula(g.id, g.term.term()));
            } else if span(g.id).is_none() && !words.guard.iter().any(|w| w == WAITS) {
                words.guard.push(WAITS.to_string());
            }
        }
        words
    }

    /// A line of the initial block of a script; none for what follows from declarations.
    fn initial(&self, id: ElementId, term: TermId) -> Option<String> {
        let system = self.system;
        let span = system.elements()[id.index()].span;
        let declared = span.is_some() && system.vars().iter().any(|v| v.span == span);
        let free = system.pool().free_symbols(&[term]);
        let names: Vec<&str> = free.iter().map(|&s| &*system.pool().symbol(s).name).collect();
        if declared || (system.step_limit().is_some() && names == ["steps"]) {
            return None;
        }
        // The same line is about the variables of several processes.
        let of_process = names.iter().any(|n| n.contains('.'));
        Some(match self.written(id).filter(|_| !of_process) {
            Some(text) => text,
            None => system.pool().display_bounded(term, LONGEST_LABEL).to_string(),
        })
    }

    /// A name with the parameters of a transition, and whether their ranges are in it.
    fn params(&self, t: &Transition, name: &str) -> (String, bool) {
        let pool = self.system.pool();
        let sorts: Vec<_> = t.params.iter().map(|p| p.sort.name(pool)).collect();
        let params = t.params.iter().zip(&sorts).map(|(p, sort)| (p.name.as_str(), &**sort));
        self.with_params(t.span, params, name)
    }

    /// A name with parameters, given as names and sorts, and whether their ranges are in it.
    pub(super) fn with_params<'p>(
        &self,
        span: Option<Span>,
        params: impl Iterator<Item = (&'p str, &'p str)>,
        name: &str,
    ) -> (String, bool) {
        let params: Vec<(&str, &str)> = params.collect();
        if params.is_empty() {
            return (name.to_string(), false);
        }
        if let Some(text) = span.and_then(|span| self.params_text(span, &params)) {
            return (format!("{name}({text})"), true);
        }
        let params: Vec<String> = params.iter().map(|(n, sort)| format!("{n}: {sort}")).collect();
        (format!("{name}({})", params.join(", ")), false)
    }

    /// The parameters as written: what is between the first parentheses, if it declares them.
    fn params_text(&self, span: Span, params: &[(&str, &str)]) -> Option<String> {
        let text = self.source.get(span.range())?;
        let open = text.find('(')?;
        let head_ends = text.find(['{', '\n']).unwrap_or(text.len());
        let close = open + text[open..].find(')')?;
        let inside = &text[open + 1..close];
        let own = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
        let declares = params.iter().all(|(name, _)| inside.contains(&own(name)));
        let fits = open < head_ends && inside.contains(':') && declares;
        fits.then(|| inside.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// True of the text of an assignment that has its variable in it.
pub(super) fn names_target(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_assignment = |(i, _): (usize, &str)| {
        let before = i.checked_sub(1).and_then(|b| bytes.get(b)).copied();
        let after = bytes.get(i + 1).copied();
        !matches!(before, Some(b'=' | b'<' | b'>' | b'!')) && !matches!(after, Some(b'=' | b'>'))
    };
    text.contains(":=") || text.match_indices('=').any(is_assignment)
}

/// Parameters by the author's names, where these are unambiguous.
fn short_names(system: &System, t: &Transition, pool: &mut Pool) -> FxHashMap<SymbolId, TermId> {
    let mut short = FxHashMap::default();
    for p in &t.params {
        if system.pool().find_symbol(&p.name).is_none()
            && let Ok(symbol) = pool.declare(&p.name, p.sort)
        {
            short.insert(p.symbol, pool.var(symbol));
        }
    }
    short
}
