//! Explanations as text.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::coverage::{Coverage, coverage};
use super::{CoreStatus, ExplainView, ExplainedView, Proves};
use crate::text::paint::Paint;

/// The explanations, property by property.
pub fn explain_text(view: &ExplainView, paint: Paint) -> String {
    let mut out = String::new();
    for r in &view.results {
        property_text(view, r, paint, &mut out);
    }
    for u in &view.unexplained {
        let _ = writeln!(out, "{}: no core: {}\n", paint.bold(&u.title()), u.why);
    }
    vacuity(view, paint, &mut out);
    out
}

fn vacuity(view: &ExplainView, paint: Paint, out: &mut String) {
    for v in &view.vacuity {
        let head = paint.open("vacuous?");
        match &v.property {
            Some(name) => drop(writeln!(out, "{head} {}: {}", paint.bold(name), v.message)),
            None => drop(writeln!(out, "{head} {}", v.message)),
        }
    }
}

fn property_text(view: &ExplainView, r: &ExplainedView, paint: Paint, out: &mut String) {
    let name = paint.bold(&r.property);
    let total = view.elements.len();
    let within = r.bound.map(|k| format!(" for runs of at most {}", steps(k))).unwrap_or_default();
    let fails = match r.proves {
        Proves::Holds => String::new(),
        Proves::Fails => match r.bound {
            None => format!("{}; ", paint.verdict("fails")),
            Some(k) => format!("no run of at most {} shows it; ", steps(k)),
        },
    };
    match &r.cores[..] {
        [] => drop(writeln!(out, "{name}: {fails}no core was found{within}")),
        [core] => {
            let number = core.elements.len();
            let verb = if number == 1 || total == 1 { "is" } else { "are" };
            let noun = if total == 1 { "element" } else { "elements" };
            let more = match (core.status, r.complete) {
                (CoreStatus::Unchecked, _) => "; the check of this did not succeed",
                (_, true) => "; there is no other minimal core",
                (_, false) if r.all_requested => "; incomplete: there may be other cores",
                (_, false) => "",
            };
            let enough = match r.proves {
                Proves::Holds => format!("enough{within}"),
                Proves::Fails => "enough to show that".to_string(),
            };
            let _ =
                writeln!(out, "{name}: {fails}{number} of {total} {noun} {verb} {enough}{more}");
        }
        cores => {
            let minimal = r.minimal();
            let kind = if minimal == cores.len() {
                format!("{minimal} minimal cores")
            } else {
                format!("{} cores, {minimal} of them known to be minimal,", cores.len())
            };
            let all =
                if r.complete { "that is all there are" } else { "incomplete: there may be more" };
            let within = if r.proves == Proves::Holds { &within } else { "" };
            let _ = writeln!(out, "{name}: {fails}{kind} among {total} elements{within}; {all}");
        }
    }
    for (i, core) in r.cores.iter().enumerate() {
        if r.cores.len() > 1 {
            let _ = writeln!(out, "  core {}{}", i + 1, status(core.status));
        }
        list(view, &core.elements, &r.must, paint, out);
    }
    if let (Some(core), Some(k)) = (&r.at_bound, r.bound)
        && r.cores.first().map(|c| &c.elements) != Some(&core.elements)
    {
        let names = names(view, &core.elements);
        let status = status(core.status);
        let _ = writeln!(out, "  for runs of exactly {}{status}: {names}", steps(k));
    }
    if !r.about.is_empty() {
        let _ = writeln!(out, "  the claim itself is about: {}", names(view, &r.about));
    }
    cut_sets(view, r, out);
    for note in &r.notes {
        let _ = writeln!(out, "  {}", paint.open(note));
    }
    if let Some(text) = r.completeness.warning() {
        let _ = writeln!(out, "  {}", paint.open(text));
    }
    out.push('\n');
}

fn cut_sets(view: &ExplainView, r: &ExplainedView, out: &mut String) {
    if let Some(cuts) = &r.cut_sets {
        let none = if cuts.is_empty() { "; there is none" } else { "" };
        let _ = writeln!(out, "  minimal cut sets: what must break for it to fail{none}");
        for cut in cuts {
            let _ = writeln!(out, "    {{ {} }}", names(view, cut));
        }
    }
}

fn names(view: &ExplainView, elements: &[usize]) -> String {
    let names: Vec<&str> = elements.iter().map(|&e| view.elements[e].name.as_str()).collect();
    names.join(", ")
}

fn status(status: CoreStatus) -> &'static str {
    match status {
        CoreStatus::Minimal => "",
        CoreStatus::Enough => " (may be larger than necessary)",
        CoreStatus::Unchecked => " (not checked)",
    }
}

fn list(view: &ExplainView, elements: &[usize], must: &[usize], paint: Paint, out: &mut String) {
    let width = elements.iter().map(|&e| view.elements[e].name.width()).max().unwrap_or(0).min(40);
    for &e in elements {
        let element = &view.elements[e];
        let pad = " ".repeat(width.saturating_sub(element.name.width()));
        let mark = if must.contains(&e) { "*" } else { " " };
        let line = match (element.line, &element.included) {
            (Some(l), None) => format!("line {l:<5}"),
            (Some(_), Some(_)) => element.place(),
            (None, _) => String::new(),
        };
        let text =
            format!("  {mark} {}{pad}  {line} {}", element.name, paint.faint(&view.excerpt(e)));
        let _ = writeln!(out, "{}", text.trim_end());
    }
}

/// One core, printed while more are computed.
pub fn core_text(property: &str, number: usize, names: &[String]) -> String {
    format!("{property}: core {number}: {}\n", names.join(", "))
}

fn steps(k: u32) -> String {
    if k == 1 { "1 step".to_string() } else { format!("{k} steps") }
}

/// Coverage scores, and the elements that no property covers; for each length of runs if cores are
/// bounded.
pub fn coverage_text(view: &ExplainView, paint: Paint) -> String {
    let tables: Vec<String> = view
        .by_bound()
        .iter()
        .map(|view| one_coverage_text(view, &coverage(view), paint))
        .collect();
    tables.join("\n")
}

fn one_coverage_text(view: &ExplainView, c: &Coverage, paint: Paint) -> String {
    let mut out = String::new();
    let mut rows = vec![["property", "IVC", "MAY", "MUST"].map(str::to_string)];
    for p in &c.properties {
        rows.push([p.property.clone(), p.ivc.percent(), p.may.percent(), p.must.percent()]);
    }
    let width = |i: usize| rows.iter().map(|row| row[i].width()).max().unwrap_or(0).max(8);
    let widths = [0, 1, 2, 3].map(width);
    for [name, scores @ ..] in &rows {
        let pad = " ".repeat(widths[0] - name.width());
        let _ = write!(out, "{name}{pad}");
        for (score, width) in scores.iter().zip(&widths[1..]) {
            let _ = write!(out, "  {score:>width$}");
        }
        out.push('\n');
    }
    for p in c.properties.iter().filter(|p| p.is_refuted) {
        let _ = writeln!(out, "{}: fails; its cores are those of the proof of that", p.property);
    }
    for u in &c.without_core {
        let _ = writeln!(out, "{}: no core: {}", u.title(), u.why);
    }
    let _ = writeln!(out, "\nMODEL: {}", c.model.words());
    if c.owners.len() > 1 {
        for (owner, share) in &c.owners {
            let owner = if owner.is_empty() { "(everywhere)" } else { owner };
            let known = if share.is_unknown() {
                share.words()
            } else {
                format!("{}, {}", share.count(""), share.percent())
            };
            let _ = writeln!(out, "  {owner}: {known}");
        }
    }
    if !c.uncovered.is_empty() {
        let text = match (view.selected, view.has_undefined_core()) {
            (true, false) => "not covered by any of these properties:",
            (true, true) => "not covered by any of these properties that has a core:",
            (false, false) => "not covered by any requirement:",
            (false, true) => "not covered by any requirement that has a core:",
        };
        let _ = writeln!(out, "\n{}", paint.open(text));
        list(view, &c.uncovered, &[], paint, &mut out);
    }
    if !c.open.is_empty() {
        let text = "in no core that was found, but not all cores are known:";
        let _ = writeln!(out, "\n{}", paint.open(text));
        list(view, &c.open, &[], paint, &mut out);
    }
    for r in view.results.iter().filter(|r| r.cut_sets.is_some()) {
        let _ = writeln!(out, "\n{}", paint.bold(&r.title()));
        cut_sets(view, r, &mut out);
    }
    if !view.vacuity.is_empty() {
        out.push('\n');
        vacuity(view, paint, &mut out);
    }
    if let Some(text) = c.completeness.warning() {
        let _ = writeln!(out, "\n{}", paint.open(text));
    }
    out
}
