//! Coverage of the model by the proofs of its claims. A [`Share`] says whether a number is exact or
//! a bound.

use std::fmt::Write;

use super::{CoresShown, PageView};
use crate::explained::{ExplainView, NoCore, ONLY_ANNOTATED, Share, coverage, escape};

/// The section about coverage.
pub(super) fn section(view: &PageView, out: &mut String) {
    if view.explained.is_empty() {
        return;
    }
    out.push_str("<section id=\"coverage\"><h2>Coverage</h2>\n");
    if view.cores == CoresShown::None {
        out.push_str("<p class=\"soft\">Not computed: it needs the cores of proofs (--cores).</p></section>\n");
        return;
    }
    let merged = ExplainView::merged(&view.explained);
    let scores = coverage(&merged);
    let with_core = merged.results.iter().filter(|r| !r.cores.is_empty()).count();
    let claims = match with_core {
        1 => "1 claim has cores of its proof".to_string(),
        n => format!("{n} claims have cores of their proofs"),
    };
    let _ = writeln!(
        out,
        "<p>{}. In a minimal core of some proof: {}.</p>",
        escape(&claims),
        escape(&scores.model.words())
    );
    remarks(view, &merged, out);
    if !scores.properties.is_empty() {
        out.push_str(
            "<table class=\"plain figures\"><thead><tr><th>claim</th><th>in some core</th><th></th><th>in every core</th></tr></thead>",
        );
        for p in &scores.properties {
            row(&p.property, p.may, &p.must.count(""), out);
        }
        out.push_str("</table>\n");
    }
    if scores.owners.len() > 1 {
        out.push_str("<h3>By place</h3><table class=\"plain figures\">");
        for (owner, share) in &scores.owners {
            let owner = if owner.is_empty() { "everywhere" } else { owner };
            row(owner, *share, &share.percent(), out);
        }
        out.push_str("</table>\n");
    }
    for (title, list) in [
        ("In no minimal core", &scores.uncovered),
        ("In no minimal core that was found; not known whether in others", &scores.open),
    ] {
        if !list.is_empty() {
            let _ = writeln!(out, "<details open><summary>{title}: {}</summary>", list.len());
            super::claims::elements(&merged, list, &[], out);
            out.push_str("</details>\n");
        }
    }
    out.push_str("</section>\n");
}

/// Why figures are bounds, and which claims cover nothing.
fn remarks(view: &PageView, merged: &ExplainView, out: &mut String) {
    let mut lines: Vec<String> = Vec::new();
    if merged.annotated {
        lines.push(format!("{ONLY_ANNOTATED}."));
    }
    if view.cores == CoresShown::One && merged.results.iter().any(|r| !r.complete) {
        lines.push(
            "At most one minimal core of each claim was computed; there may be others (--cores all computes all)."
                .to_string(),
        );
    }
    lines.extend(merged.completeness().warning().map(|w| format!("{w}.")));
    for (status, what) in [
        (NoCore::Undecided, "Not decided, or without a core that was found"),
        (
            NoCore::NotDefined,
            "Proved, but cores are not defined for these, so they cover nothing here",
        ),
        (NoCore::Fails, "These fail, so they have no proof and cover nothing"),
    ] {
        let names: Vec<String> = (merged.unexplained.iter())
            .filter(|u| u.status == status)
            .map(|u| u.title())
            .chain(failing_runs(view, merged, status))
            .collect();
        if !names.is_empty() {
            lines.push(format!("{what}: {}.", names.join(", ")));
        }
    }
    for line in lines {
        let _ = writeln!(out, "<p class=\"unknown\">{}</p>", escape(&line));
    }
}

/// Claims that an explained run refutes; they are not among those without a core.
fn failing_runs(view: &PageView, merged: &ExplainView, status: NoCore) -> Vec<String> {
    let runs = view.explained.iter().flat_map(|v| &v.runs);
    let fails = runs.filter(|r| r.verdict == "fails" && status == NoCore::Fails);
    let known = |name: &str| merged.unexplained.iter().any(|u| u.property == name);
    fails.filter(|r| !known(&r.property)).map(|r| r.property.clone()).collect()
}

fn row(name: &str, share: Share, last: &str, out: &mut String) {
    let (least, most) = share.bounds();
    let part = |n: usize| if share.of() == 0 { 0 } else { n * 100 / share.of() };
    let _ = writeln!(
        out,
        "<tr><th>{}</th><td>{}</td><td><span class=\"bar\"><i style=\"width:{}%\"></i><i class=\"open\" style=\"width:{}%\"></i></span></td><td>{}</td></tr>",
        escape(name),
        escape(&share.count("")),
        part(least),
        part(most).saturating_sub(part(least)),
        escape(last)
    );
}
