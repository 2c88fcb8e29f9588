//! The control graph of a system, the graphs of the instances of a composition, and the call graph
//! of a dataflow program.
//!
//! Labels are the author's words where the source is given: constants, ranges and definitions are
//! not expanded.

use gander_lang::lustre::CallGraphNode;
use gander_system::{Effect, ElementId, ElementKind, Leg, Run, System, Transition};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::instance_graph::instance_view;
use super::start_text;
use crate::view::graph::{EdgeView, GraphNodeView, GraphPathView, GraphView, StartView};

/// Characters of a label that are shown.
const LONGEST_LABEL: usize = 160;

/// The view of a system's control graph. Labels are formulas.
pub fn graph_view(system: &System) -> GraphView {
    whole(&Labels { system, source: "" })
}

/// The control graphs of a system, with labels from its source: one for each instance of a
/// composition, else one.
pub fn graph_views(system: &System, source: &str) -> Vec<GraphView> {
    let labels = Labels { system, source };
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
        constraint: s.constraint.iter().map(|c| labels.formula(c.id, c.term.term())).collect(),
        starts: vec![i],
    };
    let edge = |(i, t): (usize, &Transition)| {
        let name = t.gate.map_or(&t.name, |g| &system.gates()[g.index()]);
        let words = labels.transition(t, |_| true);
        EdgeView {
            source: t.source.index(),
            target: t.target.index(),
            label: labels.with_params(t, name),
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
}

/// The guard and the effect of a transition.
pub(super) struct TransitionWords {
    pub guard: Vec<String>,
    pub effect: Vec<String>,
}

impl Labels<'_> {
    /// An element as it is written on one line; none if that is unknown or too long.
    pub(super) fn written(&self, id: ElementId) -> Option<String> {
        let span = self.system.elements()[id.index()].span?;
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

    /// The guard and effect of a transition, as far as `is_shown` says so of the symbols in a part.
    /// Ranges of parameters are shown with the parameters.
    pub(super) fn transition(
        &self,
        t: &Transition,
        is_shown: impl Fn(&[String]) -> bool,
    ) -> TransitionWords {
        let system = self.system;
        let mut pool = Pool::fork(system.pool());
        let short = short_names(system, t, &mut pool);
        let mut show = |id: ElementId, term: TermId, before: &str| {
            let term = if short.is_empty() { term } else { pool.substitute(term, &short) };
            let mut names: Vec<String> = pool
                .free_symbols(&[term])
                .iter()
                .map(|&s| pool.symbol(s).name.to_string())
                .collect();
            names.extend((!before.is_empty()).then(|| before.to_string()));
            is_shown(&names).then(|| match self.written(id) {
                Some(text) if before.is_empty() || names_target(&text) => text,
                Some(text) => format!("{before} := {text}"),
                None if before.is_empty() => pool.display_bounded(term, LONGEST_LABEL).to_string(),
                None => format!("{before} := {}", pool.display_bounded(term, LONGEST_LABEL)),
            })
        };
        let has_params_text = self.params_text(t).is_some();
        let mut words = TransitionWords { guard: Vec::new(), effect: Vec::new() };
        for g in &t.guard {
            let range = system.elements()[g.id.index()].kind == ElementKind::ParameterRange;
            if !(range && has_params_text) {
                words.guard.extend(show(g.id, g.term.term(), ""));
            }
        }
        for e in &t.effect {
            words.effect.extend(match e {
                Effect::Assign { id, var, value } => {
                    show(*id, value.term(), &system.var(*var).name)
                }
                Effect::Constrain { id, relation } => show(*id, relation.term(), ""),
                Effect::Keep { .. } => None,
            });
        }
        // A simultaneous update is written once for several variables.
        words.effect.dedup();
        words
    }

    /// A name with the parameters of a transition.
    pub(super) fn with_params(&self, t: &Transition, name: &str) -> String {
        if let Some(params) = self.params_text(t) {
            return format!("{name}({params})");
        }
        let pool = self.system.pool();
        let params: Vec<String> =
            t.params.iter().map(|p| format!("{}: {}", p.name, p.sort.name(pool))).collect();
        if params.is_empty() { name.to_string() } else { format!("{name}({})", params.join(", ")) }
    }

    /// The parameters as written: what is between the first parentheses, if it declares them.
    fn params_text(&self, t: &Transition) -> Option<String> {
        let text = self.source.get(t.span?.range())?;
        let open = text.find('(')?;
        let head_ends = text.find(['{', '\n']).unwrap_or(text.len());
        let close = open + text[open..].find(')')?;
        let inside = &text[open + 1..close];
        let own = |name: &str| name.rsplit('.').next().unwrap_or(name).to_string();
        let declares = t.params.iter().all(|p| inside.contains(&own(&p.name)));
        let fits = !t.params.is_empty() && open < head_ends && inside.contains(':') && declares;
        fits.then(|| inside.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// True of the text of an assignment that has its variable in it.
fn names_target(text: &str) -> bool {
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
