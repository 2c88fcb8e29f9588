//! Explanations as plain data.

use gander_explain::{
    Core, CoreSelection, Explanation, Part, PartSet, Parts, Request, Vacuity, proof_shows_failure,
};
use gander_lang::language_of;
use gander_report::describe::formula_text;
use gander_report::{
    Completeness, CoreStatus, CoreView, ElementView, ExplainView, ExplainedView, IncludedText,
    Proves, SourceMap, VacuityView, whatever,
};
use gander_system::passes::is_part_symbol;
use gander_system::{Claim, Effect, ElementId, System};
use gander_term::{Op, Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::check::syntax_of;

/// The view of a system of which nothing is explained yet.
pub(super) fn empty_view(map: &SourceMap, system: &System, parts: &Parts) -> ExplainView {
    let source = map.own_text();
    let lines: Vec<usize> =
        source.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect();
    let formulas = formulas(system, language_of(map.name()).map_or("sts", |l| l.name), parts);
    let element = |(p, formula): (&Part, Option<String>)| {
        let written = p.span.map(|s| (s.start as usize, s.end as usize));
        let span = written.filter(|(_, end)| *end <= source.len());
        let elsewhere = written.filter(|_| span.is_none());
        let (included, line) = match elsewhere.and_then(|at| in_included(map, at)) {
            Some((included, line)) => (Some(included), Some(line)),
            None => (None, span.map(|(start, _)| 1 + lines.partition_point(|&at| at < start))),
        };
        ElementView {
            name: p.name.clone(),
            kind: p.kind.word(),
            owner: p.owner.clone(),
            span,
            line,
            included,
            formula,
        }
    };
    ExplainView {
        file: map.name().to_string(),
        source: source.to_string(),
        system: system.name().to_string(),
        elements: parts.list.iter().zip(formulas).map(element).collect(),
        ..ExplainView::default()
    }
}

/// By part: the formulas of its elements, if it is not known where the part was written.
fn formulas(system: &System, language: &str, parts: &Parts) -> Vec<Option<String>> {
    let mut texts: Vec<Vec<String>> = vec![Vec::new(); parts.list.len()];
    if parts.list.iter().all(|p| p.span.is_some()) {
        return vec![None; texts.len()];
    }
    let syntax = syntax_of(language);
    let mut whole = Undivided::of(system);
    let mut put = |e: ElementId, t: TermId, assigned: Option<&str>| {
        let Some(p) = parts.part_of(e).filter(|&p| parts.list[p].span.is_none()) else { return };
        let t = whole.formula(t);
        let formula = formula_text(&whole.pool, t, syntax)
            .unwrap_or_else(|| whole.pool.display_bounded(t, FORMULA_NODES).to_string());
        let text = assigned.map_or(formula.clone(), |var| format!("{var}' = {formula}"));
        if !texts[p].contains(&text) {
            texts[p].push(text);
        }
    };
    for s in system.starts() {
        s.constraint.iter().for_each(|e| put(e.id, e.term.term(), None));
    }
    for t in system.transitions() {
        t.guard.iter().for_each(|e| put(e.id, e.term.term(), None));
        for e in &t.effect {
            match *e {
                Effect::Assign { id, var, value } => {
                    put(id, value.term(), Some(&system.var(var).name));
                }
                Effect::Constrain { id, relation } => put(id, relation.term(), None),
                Effect::Keep { .. } => {}
            }
        }
    }
    system.assumptions().iter().for_each(|e| put(e.id, e.term.term(), None));
    texts.into_iter().map(|all| (!all.is_empty()).then(|| all.join(", "))).collect()
}

/// The nodes of a formula that are shown if the language of the model cannot write it.
const FORMULA_NODES: usize = 60;

/// Formulas of a divided system with the contents of parts in place of their symbols.
struct Undivided {
    pool: Pool,
    contents: FxHashMap<SymbolId, TermId>,
}

impl Undivided {
    fn of(system: &System) -> Undivided {
        let mut whole =
            Undivided { pool: Pool::fork(system.pool()), contents: FxHashMap::default() };
        let starts = system.starts().iter().flat_map(|s| &s.constraint).map(|e| e.term.term());
        let guards = system.transitions().iter().flat_map(|t| &t.guard).map(|e| e.term.term());
        let effects = system.transitions().iter().flat_map(|t| &t.effect);
        let relations = effects.filter_map(|e| match e {
            Effect::Constrain { relation, .. } => Some(relation.term()),
            Effect::Assign { .. } | Effect::Keep { .. } => None,
        });
        let assumed = system.assumptions().iter().map(|e| e.term.term());
        for formula in starts.chain(guards).chain(relations).chain(assumed) {
            if let Some((symbol, content)) = whole.part(formula) {
                whole.contents.insert(symbol, content);
            }
        }
        whole
    }

    /// The symbol of a part and its content, if the formula says what a part is.
    fn part(&self, formula: TermId) -> Option<(SymbolId, TermId)> {
        let &[left, right] = self.pool.args(formula) else { return None };
        let is_part = |t: TermId| {
            self.pool.as_symbol(t).filter(|&s| is_part_symbol(&self.pool.symbol(s).name))
        };
        if self.pool.op(formula) != Op::Eq {
            return None;
        }
        // An equation of two parts says what neither of them is.
        match (is_part(left), is_part(right)) {
            (Some(part), None) => Some((part, right)),
            (None, Some(part)) => Some((part, left)),
            _ => None,
        }
    }

    fn formula(&mut self, formula: TermId) -> TermId {
        if self.contents.is_empty() {
            return formula;
        }
        let mut formula = self.part(formula).map_or(formula, |(_, content)| content);
        // The content of a part can mention other parts.
        loop {
            let next = self.pool.substitute(formula, &self.contents);
            if next == formula {
                return formula;
            }
            formula = next;
        }
    }
}

/// The text at a place in an included file, and the line there.
fn in_included(map: &SourceMap, (start, end): (usize, usize)) -> Option<(IncludedText, usize)> {
    let file = map.included_at(start)?;
    let before = map.text().get(file.start as usize..start)?;
    let text = map.text().get(start..end)?.to_string();
    Some((IncludedText { file: file.name.clone(), text }, 1 + before.matches('\n').count()))
}

pub(super) fn members(set: &PartSet) -> Vec<usize> {
    set.iter().collect()
}

/// The explanation of a claim that itself refers to the parts `about`.
pub(super) fn explained_view(
    claim: &Claim,
    span: Option<(usize, usize)>,
    request: Request,
    e: &Explanation,
    about: &PartSet,
) -> ExplainedView {
    let all =
        matches!(request.cores, CoreSelection::All | CoreSelection::AllOffline) || request.cut_sets;
    let mut notes = e.notes.clone();
    for core in e.cores.iter().filter_map(|c| c.unchecked.as_ref()) {
        notes.push(format!("a core did not pass its check: {core}"));
    }
    let core = |c: &Core| CoreView {
        elements: members(&c.parts),
        status: match (&c.unchecked, c.minimal) {
            (Some(_), _) => CoreStatus::Unchecked,
            (None, true) => CoreStatus::Minimal,
            (None, false) => CoreStatus::Enough,
        },
    };
    ExplainedView {
        property: claim.name.clone(),
        proves: if proof_shows_failure(&claim.kind) { Proves::Fails } else { Proves::Holds },
        about: members(about),
        span,
        cores: e.cores.iter().map(core).collect(),
        must: members(&e.must),
        may: members(&e.may),
        complete: e.complete,
        all_requested: all,
        completeness: match (e.stopped, e.approximate) {
            (true, _) => Completeness::Unfinished,
            (false, true) => Completeness::Bound,
            (false, false) => Completeness::Exact,
        },
        cut_sets: e.cut_sets.as_ref().map(|cuts| cuts.iter().map(members).collect()),
        bound: None,
        at_bound: None,
        notes,
    }
}

/// Adds the vacuities of a property, each with its evidence in words; `explained` has its cores, if
/// they were computed. `annotated`: only what `--%IVC` names is a part.
pub(super) fn vacuity_views(
    property: &str,
    explained: Option<&ExplainedView>,
    found: &[Vacuity],
    (parts, annotated): (&Parts, bool),
    views: &mut Vec<VacuityView>,
) {
    let mut add = |property: Option<&str>, message: String| {
        let view = VacuityView { property: property.map(str::to_string), message };
        if !views.contains(&view) {
            views.push(view);
        }
    };
    for vacuity in found {
        match vacuity {
            Vacuity::NoRun { steps, by } => {
                let names = parts.names(by).join(", ");
                let what =
                    if *steps == 0 { "no state can be a start" } else { "no run has a step" };
                add(None, format!("{what}, so everything holds; this is because of: {names}"));
            }
            Vacuity::NeverTriggered { left, is_implication, .. } => {
                let what = match is_implication {
                    true => "the left side of the implication never holds",
                    false => "it holds whatever its other part says",
                };
                let message = format!("{what}: it is proved that `{left}` is always false");
                add(Some(property), message);
            }
        }
    }
    let Some(explained) = explained else { return };
    // A claim about guards rests on these guards, and not on what its core contains.
    let is_empty = |c: &CoreView| c.elements.is_empty() && c.status != CoreStatus::Unchecked;
    if explained.cores.iter().any(is_empty) && explained.about.is_empty() && !parts.is_empty() {
        let word = explained.proves.word();
        let whatever = whatever(annotated);
        add(Some(property), format!("it {word} {whatever}: its core is empty"));
    }
}
