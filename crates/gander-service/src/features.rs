//! What editors ask about a document and its results. Answers are data with spans in bytes; they
//! take no solver and no file.

use std::collections::{BTreeSet, HashMap};

use gander_lang::ide::{DefinitionKind, Outline};
use gander_lang::{Language, Span};
use gander_report::{CoreStatus, ElementView, Mark, ShownEvidence, coverage, marks};
use gander_system::ClaimOrigin;

use crate::document::{Document, Uri};
use crate::results::{Freshness, VerdictWord};
use crate::service::Service;

/// Characters of an invariant that is shown at its node.
const LONGEST_INLAY: usize = 120;
/// Elements of a core that are listed.
const MOST_LISTED: usize = 30;

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
    /// Behind what it is shown.
    pub offset: u32,
    /// The invariant.
    pub label: String,
    /// The claims whose proofs it is part of.
    pub claims: Vec<String>,
}

/// How an element is covered by the properties that were explained.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Covered {
    /// No explained property rests on it.
    No,
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

/// Places in a definition's text that are shown for a claim.
fn claim_of(service: &Service, uri: &Uri, span: Span) -> Option<(String, ClaimOrigin)> {
    let analysis = service.analysis(uri)?;
    let inside = |claim: &&crate::ClaimPlace| {
        claim.span.is_some_and(|s| s.start <= span.start && span.end <= s.end)
            && claim.origin == ClaimOrigin::Written
    };
    let found = analysis.claims.iter().filter(inside);
    let found = found.min_by_key(|c| c.span.map_or(0, |s| s.end - s.start))?;
    Some((found.name.clone(), found.origin))
}

impl Service {
    /// What is known at a place: of a name its kind, sort, declaration and comment, with the claims
    /// that rest on it; of a claim its verdict with engine, evidence and core.
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
                let names: Vec<String> = resting.iter().map(|c| format!("`{c}`")).collect();
                parts.push(format!("Proofs of {} rest on it.", names.join(", ")));
            }
        }
        // A claim without a name has no name at the place: the words that begin it count.
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
        if (is_name_of_claim || (parts.is_empty() && outline.definitions.is_empty()))
            && let Some((claim, _)) = claim_of(self, uri, at)
        {
            if span.is_none() {
                span = outline.definitions.iter().find(|d| on_claim(d)).map(|d| d.whole);
                parts.push(format!("claim `{claim}`"));
            }
            parts.push(self.claim_text(uri, &claim));
        }
        (!parts.is_empty()).then(|| Hover { span: span.unwrap_or(at), text: parts.join("\n\n") })
    }

    /// The verdict of a claim in words, with engine, evidence and core.
    pub fn claim_text(&self, uri: &Uri, claim: &str) -> String {
        let Some((record, freshness)) = self.verdict(uri, claim) else {
            return "Not checked yet.".to_string();
        };
        let mut text = format!("**{}**", record.view.verdict.word());
        if let Some(engine) = &record.view.engine {
            text.push_str(&format!(" (found by `{engine}`"));
            if let Some(basis) = &record.view.basis {
                let ground = match basis.ground {
                    "checked" => "checked without a solver".to_string(),
                    _ => format!("checked by {}", basis.solvers.join(" and ")),
                };
                text.push_str(&format!("; {ground}"));
            }
            text.push(')');
        }
        if let Some(evidence) = record.view.verdict.evidence() {
            text.push_str(&format!(": {}", evidence_text(&evidence.shown)));
        }
        if freshness == Freshness::Outdated {
            text.push_str(&format!(
                "\n\nThis is about version {}; the text was changed since.",
                record.version
            ));
        }
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
                    core.elements.iter().take(MOST_LISTED).map(shown).collect();
                let more = core.elements.len().saturating_sub(MOST_LISTED);
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

    /// What can be done where: check, explain or simulate, at claims, starts and at the beginning.
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
        let written = analysis.claims.iter().filter(|c| c.origin == ClaimOrigin::Written);
        for claim in written {
            let Some(span) = claim.span else { continue };
            let name = claim.name.clone();
            let current = self.verdict(uri, &name).filter(|(_, f)| *f == Freshness::Current);
            let mut push = |title: &str, action: LensAction| {
                lenses.push(Lens { span, title: title.to_string(), action });
            };
            let Some((record, _)) = current else {
                push("check", LensAction::Check(Some(name)));
                continue;
            };
            let engine = record.view.engine.as_deref().unwrap_or("");
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
            // A formula of a longer induction alone need not hold at every state.
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
                for (e, mark) in marks(view, result).into_iter().enumerate() {
                    let Some((start, end)) = view.elements[e].span else { continue };
                    let span = Span::new(start as u32, end as u32);
                    let covered = match mark {
                        Mark::Must | Mark::May | Mark::Some | Mark::Claimed => Covered::Yes,
                        Mark::Untouched if about.open.contains(&e) => Covered::Open,
                        Mark::Untouched => Covered::No,
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
