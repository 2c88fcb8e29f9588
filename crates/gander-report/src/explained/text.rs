//! Explanations as text.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::coverage::coverage;
use super::{ExplainView, ExplainedView};
use crate::style::Paint;

/// Everything that is known, property by property.
pub fn explain_text(view: &ExplainView, paint: Paint) -> String {
    let mut out = String::new();
    for r in &view.results {
        property_text(view, r, paint, &mut out);
    }
    for (name, why) in &view.unexplained {
        let _ = writeln!(out, "{}: no core: {why}\n", paint.bold(name));
    }
    for v in &view.vacuity {
        let head = paint.open("vacuous?");
        match &v.property {
            Some(name) => drop(writeln!(out, "{head} {}: {}", paint.bold(name), v.message)),
            None => drop(writeln!(out, "{head} {}", v.message)),
        }
    }
    out
}

fn property_text(view: &ExplainView, r: &ExplainedView, paint: Paint, out: &mut String) {
    let name = paint.bold(&r.property);
    let total = view.elements.len();
    match (&r.cores[..], r.bound) {
        ([], _) => drop(writeln!(out, "{name}: no core was found")),
        ([core], Some(k)) => {
            let _ =
                writeln!(out, "{name}: {} of {total} elements are enough for runs of at most {k} steps", core.len());
        }
        ([core], None) => {
            let only = if r.complete { "; there is no other minimal core" } else { "" };
            let _ = writeln!(out, "{name}: {} of {total} elements are enough{only}", core.len());
        }
        (cores, _) => {
            let all = if r.complete { "that is all there are" } else { "there may be more" };
            let _ = writeln!(out, "{name}: {} minimal cores among {total} elements; {all}", cores.len());
        }
    }
    for (i, core) in r.cores.iter().enumerate() {
        if r.cores.len() > 1 {
            let _ = writeln!(out, "  core {}", i + 1);
        }
        list(view, core, &r.must, paint, out);
    }
    if let (Some(core), Some(k)) = (&r.at_bound, r.bound)
        && r.cores.first() != Some(core)
    {
        let names: Vec<&str> = core.iter().map(|&e| view.elements[e].name.as_str()).collect();
        let _ = writeln!(out, "  for runs of exactly {k} steps: {}", names.join(", "));
    }
    if let Some(cuts) = &r.cut_sets {
        let _ = writeln!(out, "  minimal cut sets: what must break for it to fail");
        for cut in cuts {
            let names: Vec<&str> = cut.iter().map(|&e| view.elements[e].name.as_str()).collect();
            let _ = writeln!(out, "    {{ {} }}", names.join(", "));
        }
    }
    for note in &r.notes {
        let _ = writeln!(out, "  {}", paint.open(note));
    }
    if r.approximate {
        let text = "approximate: not every question could be decided; cores may be larger than necessary";
        let _ = writeln!(out, "  {}", paint.open(text));
    }
    out.push('\n');
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
        let text = format!("  {mark} {}{pad}  {line} {}", element.name, paint.faint(&view.excerpt(e)));
        let _ = writeln!(out, "{}", text.trim_end());
    }
}

/// One core, for those who watch while more are looked for.
pub fn core_text(property: &str, number: usize, names: &[String]) -> String {
    format!("{property}: core {number}: {}\n", names.join(", "))
}

fn percent(part: usize, of: usize) -> String {
    if of == 0 { "-".into() } else { format!("{:.1} %", 100.0 * part as f64 / of as f64) }
}

/// Coverage scores, and what no property touches.
pub fn coverage_text(view: &ExplainView, paint: Paint) -> String {
    let c = coverage(view);
    let mut out = String::new();
    let width = c.properties.iter().map(|p| p.0.width()).max().unwrap_or(0).max(8);
    let _ = writeln!(out, "{:width$}  {:>8}  {:>8}  {:>8}", "property", "IVC", "MAY", "MUST");
    for (name, one, may, must) in &c.properties {
        let pad = " ".repeat(width - name.width());
        let [one, may, must] = [one, may, must].map(|n| percent(*n, c.elements));
        let _ = writeln!(out, "{name}{pad}  {one:>8}  {may:>8}  {must:>8}");
    }
    let _ = writeln!(out, "\nMODEL: {} of {} elements, {}", c.model, c.elements, percent(c.model, c.elements));
    if c.owners.len() > 1 {
        for (owner, all, touched) in &c.owners {
            let owner = if owner.is_empty() { "(everywhere)" } else { owner };
            let _ = writeln!(out, "  {owner}: {touched} of {all}, {}", percent(*touched, *all));
        }
    }
    if !c.untouched.is_empty() {
        let _ = writeln!(out, "\n{}", paint.open("not covered by any requirement:"));
        list(view, &c.untouched, &[], paint, &mut out);
    }
    out
}
