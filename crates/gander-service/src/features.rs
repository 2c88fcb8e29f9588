//! Answers to requests of editors about a document and its results: data with spans in bytes,
//! computed without solvers and files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gander_lang::ide::{DefinitionKind, Outline};
use gander_lang::{Language, Span};
use gander_report::{
    CoreStatus, ElementView, Mark, NoCore, ShownEvidence, UnexplainedView, coverage, marks,
};
use gander_system::ClaimOrigin;

use crate::analysis::ClaimPlace;
use crate::document::{Document, Uri};
use crate::results::{Freshness, VerdictWord};
use crate::service::Service;

/// Characters of an invariant that is shown at its node.
const LONGEST_INLAY: usize = 120;
/// Elements of a core, or claims, that are listed.
const MAX_LISTED: usize = 30;
/// Claims at one place that are listed: a property of a node is one for each instance.
const MAX_INSTANCES: usize = 5;

/// What is known at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The name that it is about.
    pub span: Span,
    /// In Markdown.
    pub text: String,
}

/// Something to do at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lens {
    /// Where.
    pub span: Span,
    /// What to show.
    pub title: String,
    /// What it does.
    pub action: LensAction,
}

/// What a lens does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LensAction {
    /// Check a claim, or all claims.
    Check(Option<String>),
    /// Explain a claim.
    Explain(String),
    /// Simulate from the start, or along the run of a claim.
    Simulate(Option<String>),
}

/// An invariant at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inlay {
    /// The place after which it is shown.
    pub offset: u32,
    /// The invariant.
    pub label: String,
    /// The claims whose proofs it is part of.
    pub claims: Vec<String>,
}

/// How an element is covered by the properties that were explained.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Covered {
    /// No explained property rests on it: it is in none of their minimal cores, and all are known.
    No,
    /// It is in no minimal core that was found; others may exist.
    NotFound,
    /// It is not known.
    Open,
    /// Some explained property rests on it.
    Yes,
}

impl Document {
    /// The outline of the text.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| {
            let make = || gander_lang::ide::outline(self.language(), &self.text);
            // Language features must survive any text.
            std::panic::catch_unwind(make).unwrap_or_default()
        })
    }
}

/// The written claims whose text contains the span, those with the smallest one. A property of a
/// node that has several instances is as many claims.
fn claims_of(service: &Service, uri: &Uri, span: Span) -> Vec<String> {
    let Some(analysis) = service.analysis(uri) else { return Vec::new() };
    let spans = |claim: &ClaimPlace| {
        claim.span.filter(|s| {
            claim.origin == ClaimOrigin::Written && s.start <= span.start && span.end <= s.end
        })
    };
    let smallest = analysis.claims.iter().filter_map(spans).min_by_key(|s| s.end - s.start);
    let here = analysis.claims.iter().filter(|c| smallest.is_some() && spans(c) == smallest);
    here.map(|c| c.name.clone()).collect()
}

/// Who found a verdict.
fn found_by(engine: &str) -> String {
    match engine {
        "cache" => "from the cache, checked again".to_string(),
        engine => format!("found by `{engine}`"),
    }
}

impl Service {
    /// What a hover shows at a place. For a name: its kind, sort, declaration and comment, and the
    /// claims that rest on it. For a claim: its verdict with engine, evidence and core.
    pub fn hover(&self, uri: &Uri, offset: u32) -> Option<Hover> {
        let document = self.document(uri)?;
        let (outline, text) = (document.outline(), &*document.text);
        let mut parts: Vec<String> = Vec::new();
        let mut span = None;
        if let Some(index) = outline.definition_at(offset) {
            let d = &outline.definitions[index];
            span = outline.name_span_at(offset);
            let language = code_language(document.language());
            parts.push(format!("```{language}\n{}\n```", d.detail));
            let mut facts = vec![d.kind.word().to_string()];
            facts.extend(d.sort.as_ref().map(|sort| format!("of sort `{sort}`")));
            if let Some(parent) = d.parent {
                let parent = &outline.definitions[parent];
                facts.push(format!("of {} `{}`", parent.kind.word(), parent.name));
            }
            parts.push(facts.join(" "));
            parts.extend(outline.comment_above(text, index));
            let resting = self.claims_resting_on(uri, outline.group(index).map(|d| d.whole));
            if !resting.is_empty() {
                let names = resting.iter().take(MAX_LISTED).map(|c| format!("`{c}`"));
                let mut names = names.collect::<Vec<_>>().join(", ");
                if resting.len() > MAX_LISTED {
                    names.push_str(&format!(" and {} more", resting.len() - MAX_LISTED));
                }
                parts.push(format!("Proofs of {names} rest on it."));
            }
        }
        // A claim without a name is hovered at the words that begin it.
        let at = Span::at(offset);
        let on_claim = |d: &gander_lang::ide::Definition| {
            matches!(d.kind, DefinitionKind::Claim)
                && d.whole.start <= offset
                && offset <= d.whole.end
        };
        let is_name_of_claim = outline
            .definitions
            .iter()
            .any(|d| on_claim(d) && (span.is_none() || span == Some(d.span)));
        if is_name_of_claim || (parts.is_empty() && outline.definitions.is_empty()) {
            let claims = claims_of(self, uri, at);
            if span.is_none() && !claims.is_empty() {
                span = outline.definitions.iter().find(|d| on_claim(d)).map(|d| d.whole);
                if let [claim] = &claims[..] {
                    parts.push(format!("claim `{claim}`"));
                }
            }
            match &claims[..] {
                [] => {}
                [claim] => parts.push(self.claim_text(uri, claim)),
                claims => parts.push(self.claims_text(uri, claims)),
            }
        }
        (!parts.is_empty()).then(|| Hover { span: span.unwrap_or(at), text: parts.join("\n\n") })
    }

    /// The verdicts of claims that are written at one place, those that do not hold first.
    fn claims_text(&self, uri: &Uri, claims: &[String]) -> String {
        let rank = |claim: &&String| match self.verdict(uri, claim).map(|(r, _)| r.word()) {
            Some(VerdictWord::Fails) => 0,
            Some(VerdictWord::Vacuous) => 1,
            Some(VerdictWord::Unknown) => 2,
            None => 3,
            Some(VerdictWord::Holds) => 4,
        };
        let mut ordered: Vec<&String> = claims.iter().collect();
        ordered.sort_by_key(rank);
        let mut text = format!("{} claims, one for each instance:\n", claims.len());
        for claim in ordered.iter().take(MAX_INSTANCES) {
            text.push_str(&format!("\n- `{claim}`: {}", self.verdict_text(uri, claim)));
        }
        if claims.len() > MAX_INSTANCES {
            let rest = &ordered[MAX_INSTANCES..];
            let holding = rest.iter().filter(|claim| rank(claim) == 4).count();
            text.push_str(&format!("\n- and {} more, {holding} of which hold", rest.len()));
        }
        text
    }

    /// The verdict of a claim in words, with engine and evidence.
    fn verdict_text(&self, uri: &Uri, claim: &str) -> String {
        let Some((record, freshness)) = self.verdict(uri, claim) else {
            return "not checked yet".to_string();
        };
        let mut text = format!("**{}**", record.view.verdict.word());
        if let Some(engine) = &record.view.engine {
            text.push_str(&format!(" ({}", found_by(engine)));
            if let Some(basis) = &record.view.basis {
                let ground = match basis.ground {
                    "checked" => "without a solver".to_string(),
                    _ => format!("by {}", basis.solvers.join(" and ")),
                };
                // Evidence of the cache is already said to be checked.
                let separator = if engine == "cache" { " " } else { "; checked " };
                text.push_str(&format!("{separator}{ground}"));
            }
            text.push(')');
        }
        if let Some(evidence) = record.view.verdict.evidence() {
            text.push_str(&format!(": {}", evidence_text(&evidence.shown)));
        }
        let version = record.version;
        let is_of_text = self.document(uri).is_some_and(|d| d.version == version);
        match freshness {
            Freshness::Current => {}
            Freshness::Outdated if is_of_text => text
                .push_str("\n\nThis is about the text before a file that it includes was changed."),
            Freshness::Outdated => text.push_str(&format!(
                "\n\nThis is about version {version}; the text was changed since."
            )),
        }
        text
    }

    /// The verdict of a claim in words, with engine, evidence and core.
    pub fn claim_text(&self, uri: &Uri, claim: &str) -> String {
        let is_decided = self.verdict(uri, claim).is_some();
        let mut text = match self.explanation(uri, claim) {
            _ if is_decided => self.verdict_text(uri, claim),
            Some((explanation, Freshness::Current)) => {
                let mut results = explanation.views.iter().flat_map(|v| &v.results);
                let result = results.find(|r| r.property == claim);
                let word = result.map_or("not decided", |r| r.proves.word());
                format!("**{word}** (when it was explained)")
            }
            _ => return "Not checked yet.".to_string(),
        };
        if let Some((explanation, Freshness::Current)) = self.explanation(uri, claim) {
            for view in &explanation.views {
                let Some(result) = view.results.iter().find(|r| r.property == claim) else {
                    continue;
                };
                let Some(core) = result.cores.first() else { continue };
                let shown = |e: &usize| {
                    let element = &view.elements[*e];
                    match element.line {
                        Some(line) => format!("`{}` (line {line})", element.name),
                        None => format!("`{}`", element.name),
                    }
                };
                let elements: Vec<String> =
                    core.elements.iter().take(MAX_LISTED).map(shown).collect();
                let more = core.elements.len().saturating_sub(MAX_LISTED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let elements = elements.join(", ");
                text.push_str(&match core.status {
                    CoreStatus::Minimal => format!(
                        "\n\nIts proof needs {elements}{more}: none of them can be left out."
                    ),
                    CoreStatus::Enough => format!(
                        "\n\nIts proof rests on {elements}{more}, and on nothing else; perhaps not \
                         all of them are needed."
                    ),
                    CoreStatus::Unchecked => continue,
                });
            }
        }
        text
    }

    /// Claims that were explained for the latest text and have an element at one of these places in
    /// a core.
    fn claims_resting_on(&self, uri: &Uri, places: impl Iterator<Item = Span>) -> Vec<String> {
        let places: Vec<Span> = places.collect();
        let touches = |element: &ElementView| {
            element.span.is_some_and(|(start, end)| {
                let at = |p: &Span| p.start as usize <= start && end <= p.end as usize;
                places.iter().any(at)
            })
        };
        let mut claims = BTreeSet::new();
        for (property, explanation) in self.explanations(uri) {
            for view in &explanation.views {
                let results = view.results.iter().filter(|r| r.property == property);
                let cores = results.flat_map(|r| &r.cores);
                let checked = cores.filter(|c| c.status != CoreStatus::Unchecked);
                let elements = checked.flat_map(|c| &c.elements);
                if elements.into_iter().any(|e| touches(&view.elements[*e])) {
                    claims.insert(property.clone());
                }
            }
        }
        claims.into_iter().collect()
    }

    /// Actions by place: check, explain or simulate, at claims, at starts and at the beginning.
    pub fn lenses(&self, uri: &Uri) -> Vec<Lens> {
        let Some(analysis) = self.analysis(uri).filter(|a| a.is_checkable()) else {
            return Vec::new();
        };
        let mut lenses = Vec::new();
        let top = Span::at(0);
        lenses.push(Lens { span: top, title: "check all".into(), action: LensAction::Check(None) });
        lenses.push(Lens {
            span: top,
            title: "simulate".into(),
            action: LensAction::Simulate(None),
        });
        let mut written: BTreeMap<(u32, u32), Vec<&ClaimPlace>> = BTreeMap::new();
        for claim in analysis.claims.iter().filter(|c| c.origin == ClaimOrigin::Written) {
            if let Some(span) = claim.span {
                written.entry((span.start, span.end)).or_default().push(claim);
            }
        }
        let named = |(at, claims): ((u32, u32), Vec<&ClaimPlace>)| {
            let (span, count) = (Span::new(at.0, at.1), claims.len());
            let listed = claims.into_iter().take(MAX_INSTANCES);
            let listed: Vec<_> = listed.map(|c| (span, c.name.clone(), count)).collect();
            listed
        };
        for (span, name, count) in written.into_iter().flat_map(named).collect::<Vec<_>>() {
            let of = if count > 1 { format!("{name} ") } else { String::new() };
            let current = self.verdict(uri, &name).filter(|(_, f)| *f == Freshness::Current);
            let mut push = |title: &str, action: LensAction| {
                lenses.push(Lens { span, title: format!("{of}{title}"), action });
            };
            let Some((record, _)) = current else {
                push("check", LensAction::Check(Some(name)));
                continue;
            };
            let engine = match record.view.engine.as_deref().unwrap_or("") {
                "cache" => "from the cache",
                engine => engine,
            };
            let has_run = record.view.verdict.evidence().is_some_and(|e| e.shown.trace().is_some());
            match record.word() {
                VerdictWord::Holds => {
                    push(&format!("holds ({engine}): explain"), LensAction::Explain(name.clone()))
                }
                VerdictWord::Fails => {
                    push(&format!("fails ({engine}): explain"), LensAction::Explain(name.clone()))
                }
                VerdictWord::Unknown => {
                    push("not decided: check again", LensAction::Check(Some(name.clone())));
                }
                VerdictWord::Vacuous => {
                    push("vacuous: check again", LensAction::Check(Some(name.clone())));
                }
            }
            if has_run {
                push("simulate its run", LensAction::Simulate(Some(name)));
            }
        }
        lenses
    }

    /// Short invariants of proofs of the latest text, at the nodes where they hold.
    pub fn inlays(&self, uri: &Uri) -> Vec<Inlay> {
        let Some(document) = self.document(uri) else { return Vec::new() };
        // Nodes whose name is unique in the text, with the ends of their names.
        let mut nodes: HashMap<&str, Option<u32>> = HashMap::new();
        for d in document.outline().definitions.iter().filter(|d| d.kind == DefinitionKind::Node) {
            let known = nodes.contains_key(d.name.as_str());
            nodes.insert(&d.name, (!known).then_some(d.span.end));
        }
        let mut places: HashMap<(u32, String), Vec<String>> = HashMap::new();
        for (record, freshness) in self.verdicts(uri) {
            let Some(evidence) = record.view.verdict.evidence() else { continue };
            // For k > 1, the formula by itself need not hold in every state.
            let ShownEvidence::Invariant { k: 1, by_node, .. } = &evidence.shown else { continue };
            if freshness != Freshness::Current || record.word() != VerdictWord::Holds {
                continue;
            }
            for (node, formula) in by_node {
                let Some(Some(offset)) = nodes.get(node.as_str()) else { continue };
                if formula == "true" || formula.chars().count() > LONGEST_INLAY {
                    continue;
                }
                let claims = places.entry((*offset, formula.clone())).or_default();
                claims.push(record.view.name.clone());
            }
        }
        let inlay = |((offset, label), claims)| Inlay { offset, label, claims };
        let mut found: Vec<Inlay> = places.into_iter().map(inlay).collect();
        found.sort_by(|a, b| (a.offset, &a.label).cmp(&(b.offset, &b.label)));
        found
    }

    /// The elements of the latest text with whether an explained property rests on them; empty if
    /// nothing was explained.
    pub fn coverage(&self, uri: &Uri) -> Vec<(Span, Covered)> {
        let mut all: Vec<(Span, Covered)> = Vec::new();
        for (property, explanation) in self.explanations(uri) {
            for view in &explanation.views {
                let Some(result) = view.results.iter().position(|r| r.property == property) else {
                    continue;
                };
                let about = coverage(view);
                // A property that was not decided may rest on anything.
                let is_open = |u: &UnexplainedView| u.status == NoCore::Undecided;
                let cores = &view.results[result].cores;
                let has_minimal_core = cores.iter().any(|c| c.status == CoreStatus::Minimal)
                    && !view.unexplained.iter().any(is_open);
                for (e, mark) in marks(view, result).into_iter().enumerate() {
                    let Some((start, end)) = view.elements[e].span else { continue };
                    let span = Span::new(start as u32, end as u32);
                    let covered = match mark {
                        Mark::Must | Mark::May | Mark::Some | Mark::Claimed => Covered::Yes,
                        Mark::Untouched if about.open.contains(&e) => Covered::Open,
                        Mark::Untouched => Covered::No,
                        Mark::Open if has_minimal_core => Covered::NotFound,
                        Mark::Open => Covered::Open,
                    };
                    match all.iter_mut().find(|(at, _)| *at == span) {
                        Some((_, known)) => *known = (*known).max(covered),
                        None => all.push((span, covered)),
                    }
                }
            }
        }
        all.sort();
        all
    }
}

/// The name of a language in Markdown.
fn code_language(language: &Language) -> &'static str {
    language.name
}

/// Evidence in a few words.
fn evidence_text(evidence: &ShownEvidence) -> String {
    match evidence {
        ShownEvidence::Trace(trace) => {
            let steps = if trace.length == 1 { "step" } else { "steps" };
            let loops = if trace.back_to.is_some() { " that repeats for ever" } else { "" };
            format!("a run of {} {steps}{loops}", trace.length)
        }
        ShownEvidence::Invariant { k: 1, .. } => "an inductive invariant".to_string(),
        ShownEvidence::Invariant { k, .. } => format!("a {k}-inductive invariant"),
        ShownEvidence::Diameter { k } => {
            format!("no run without a repeated state is longer than {k} steps")
        }
        ShownEvidence::ClosedSet { states } => format!("all {states} reachable states"),
        ShownEvidence::Refutation { why } => why.clone(),
        ShownEvidence::Argument { summary, .. } => summary.clone(),
        ShownEvidence::Outside(inner) | ShownEvidence::OfChain(inner) => match &**inner {
            ShownEvidence::Outside(_) | ShownEvidence::OfChain(_) => "a proof in parts".to_string(),
            inner => evidence_text(inner),
        },
    }
}
