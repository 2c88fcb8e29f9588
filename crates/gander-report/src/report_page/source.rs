//! The source of the model: elements in cores are coloured, and lines with a claim or a finding
//! have a link to it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::claims::line_of;
use super::{CoresShown, PageView};
use crate::explained::{Mark, escape, marks};
use crate::explained_runs::element_id;
use crate::html::{SourceMark, source_html};
use crate::view::diagnostic::Severity;

/// Longer texts are not shown, in bytes.
const LONGEST_SOURCE: usize = 2_000_000;

/// The section with the source.
pub(super) fn section(view: &PageView, out: &mut String) {
    out.push_str("<section id=\"source\"><h2>Source</h2>\n");
    if view.source.len() > LONGEST_SOURCE {
        let lines = view.source.lines().count();
        let _ = writeln!(
            out,
            "<p class=\"soft\">The text has {lines} lines and is not shown.</p></section>"
        );
        return;
    }
    let marks = element_marks(view);
    if view.cores != CoresShown::None && !marks.is_empty() {
        out.push_str("<div class=\"legend\">");
        for (class, text) in [
            ("must", "in every minimal core of some claim"),
            ("may", "in a minimal core of some claim"),
            ("no-core", "in no minimal core that was found"),
        ] {
            if marks.iter().any(|m| m.class == class) {
                let _ = write!(out, "<span><i class=\"{class}\"></i>{text}</span>");
            }
        }
        out.push_str("</div>\n");
    }
    source_html(&view.source, &marks, &badges(view), out);
    out.push_str("</section>\n");
}

/// The span of an element, and its key for scripts.
type ElementKey = ((usize, usize), String);

/// The elements of the model, with the claims whose cores they are in.
fn element_marks(view: &PageView) -> Vec<SourceMark> {
    // By place and key: the strongest mark, and the claims.
    let mut found: BTreeMap<ElementKey, (Option<Mark>, Vec<String>)> = BTreeMap::new();
    // By place and key: claims that have it in no core, but are about it.
    let mut claimed: BTreeMap<ElementKey, Vec<String>> = BTreeMap::new();
    for explained in &view.explained {
        let columns: Vec<Vec<Mark>> =
            (0..explained.results.len()).map(|i| marks(explained, i)).collect();
        for (e, element) in explained.elements.iter().enumerate() {
            let Some(span) = element.span else { continue };
            let entry = found.entry((span, element_id(explained, e))).or_default();
            for (result, column) in explained.results.iter().zip(&columns) {
                match column[e] {
                    Mark::Untouched | Mark::Open => continue,
                    Mark::Claimed => {
                        let key = (span, element_id(explained, e));
                        claimed.entry(key).or_default().push(result.property.clone());
                        continue;
                    }
                    Mark::Must => entry.0 = Some(Mark::Must),
                    Mark::May | Mark::Some => entry.0 = entry.0.or(Some(Mark::May)),
                }
                entry.1.push(result.property.clone());
            }
        }
    }
    let shown =
        view.cores != CoresShown::None && view.explained.iter().any(|v| !v.results.is_empty());
    let mark = |((span, key), (mark, mut claims)): (ElementKey, (Option<Mark>, Vec<String>))| {
        let class = match mark {
            _ if !shown => "",
            Some(Mark::Must) => "must",
            Some(_) => "may",
            None if claimed.contains_key(&(span, key.clone())) => "",
            None => "no-core",
        };
        claims.dedup();
        let about = claimed.get(&(span, key.clone())).filter(|_| shown && claims.is_empty());
        let title = match (claims.is_empty(), about) {
            (true, Some(about)) => {
                format!("in no minimal core that was found; about it: {}", about.join(", "))
            }
            (true, None) if shown => "in no minimal core that was found".to_string(),
            (true, None) => String::new(),
            (false, _) => format!("in a minimal core of {}", claims.join(", ")),
        };
        SourceMark { span, key, class, title }
    };
    found.into_iter().map(mark).collect()
}

/// By line: links to the claims and findings that begin there.
fn badges(view: &PageView) -> BTreeMap<usize, String> {
    let mut badges: BTreeMap<usize, String> = BTreeMap::new();
    for (i, claim) in view.listed() {
        let Some(line) = line_of(view, i) else { continue };
        let word = claim.verdict.word();
        let text = format!(
            "<a class=\"badge {word}\" href=\"#claim-{i}\" title=\"{}\">{word}</a>",
            escape(&claim.name)
        );
        badges.entry(line).or_default().push_str(&text);
    }
    for (i, d) in view.check.diagnostics.iter().enumerate() {
        let Some(place) = d.place.as_ref().filter(|p| p.file.is_none()) else { continue };
        let class = if d.severity == Severity::Error { "fails" } else { "unknown" };
        let text = format!(
            "<a class=\"badge {class}\" href=\"#finding-{i}\" title=\"{}\">{}</a>",
            escape(&d.message),
            escape(&d.code)
        );
        badges.entry(place.line as usize).or_default().push_str(&text);
    }
    badges
}
