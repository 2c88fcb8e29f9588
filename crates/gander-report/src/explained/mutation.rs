//! Mutation coverage: which small mistakes in a model its properties detect (definition 8 of E.
//! Ghassabani, Inductive Validity Cores, 2020), as text, JSON, CSV and HTML.

use std::fmt::Write;

use gander_text::csv::defused;
use serde_json::{Value, json};

use super::completeness::Share;
use super::html::escape;
use super::{ElementView, ExplainView};
use crate::files::csv::table;
use crate::text::paint::Paint;

/// The verdict of a property about a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MutantFate {
    /// It fails: the mistake is detected.
    Killed,
    /// It still holds.
    Survived,
    /// It was not decided in time.
    Undecided,
}

impl MutantFate {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            MutantFate::Killed => "killed",
            MutantFate::Survived => "survived",
            MutantFate::Undecided => "undecided",
        }
    }
}

/// A model with a small mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MutantView {
    /// The element with the mistake, by its position in [`ExplainView::elements`].
    pub element: usize,
    /// The mistake, in words.
    pub what: String,
    /// By property.
    pub fates: Vec<MutantFate>,
}

/// The mutants of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MutationView {
    /// The properties that hold of the model.
    pub properties: Vec<String>,
    /// True if some property of the model was not decided: it may hold and detect any mistake.
    pub open: bool,
    /// The mutants.
    pub mutants: Vec<MutantView>,
    /// Contradictions between mutants and cores: a killed mutant of an element that is missing in
    /// some core.
    pub disagreements: Vec<String>,
}

/// How many mutants were killed, survived, and are undecided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MutationScore {
    /// The mistake was detected.
    pub killed: usize,
    /// It was not.
    pub survived: usize,
    /// Not known.
    pub undecided: usize,
}

impl MutationScore {
    fn add(&mut self, fate: MutantFate) {
        match fate {
            MutantFate::Killed => self.killed += 1,
            MutantFate::Survived => self.survived += 1,
            MutantFate::Undecided => self.undecided += 1,
        }
    }

    /// The killed mutants. Undecided ones may be killed or not.
    fn share(self) -> Share {
        let all = self.killed + self.survived + self.undecided;
        Share::between(self.killed, self.killed + self.undecided, all)
    }

    fn words(self) -> String {
        let share = self.share();
        if self.undecided > 0 && self.killed + self.survived == 0 {
            return format!("none of {} decided", self.undecided);
        }
        let open = if self.undecided == 0 {
            String::new()
        } else {
            format!(", {} undecided", self.undecided)
        };
        format!("{} killed, {}{open}", share.count(""), share.percent())
    }

    fn json(self) -> Value {
        json!({ "killed": self.killed, "survived": self.survived, "undecided": self.undecided })
    }
}

impl MutationView {
    /// The fate of a mutant for all properties together: one that fails kills it. It survives only
    /// if every property of the model was decided.
    pub fn together(&self, mutant: &MutantView) -> MutantFate {
        if mutant.fates.contains(&MutantFate::Killed) {
            MutantFate::Killed
        } else if self.open || mutant.fates.contains(&MutantFate::Undecided) {
            MutantFate::Undecided
        } else {
            MutantFate::Survived
        }
    }

    /// The score of one property.
    pub fn score_of(&self, property: usize) -> MutationScore {
        let mut score = MutationScore::default();
        self.mutants.iter().for_each(|m| score.add(m.fates[property]));
        score
    }

    /// The score of all properties together, over the mutants of some elements.
    pub fn score(&self, elements: impl Fn(usize) -> bool) -> MutationScore {
        let mut score = MutationScore::default();
        let mutants = self.mutants.iter().filter(|m| elements(m.element));
        mutants.for_each(|m| score.add(self.together(m)));
        score
    }

    /// The score of all properties, or why there is none.
    fn headline(&self) -> String {
        match self.mutants.is_empty() {
            true if self.properties.is_empty() => {
                "none was made: no property is proved".to_string()
            }
            true => "none: there is nothing to change".to_string(),
            false => self.score(|_| true).words(),
        }
    }

    /// By node or transition, in the order of the text.
    fn owners(&self, view: &ExplainView) -> Vec<(String, MutationScore)> {
        let mut names: Vec<&str> = Vec::new();
        for e in &view.elements {
            if !names.contains(&e.owner.as_str()) {
                names.push(&e.owner);
            }
        }
        let score = |name: &str| self.score(|e| view.elements[e].owner == name);
        names.into_iter().map(|n| (n.to_string(), score(n))).collect()
    }
}

/// As text: scores, and for each element the mutants that were not killed.
pub fn mutation_text(view: &ExplainView, paint: Paint) -> String {
    let m = &view.mutation;
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", paint.bold("mutants:"), m.headline());
    for (i, name) in m.properties.iter().enumerate() {
        let _ = writeln!(out, "  {name}: {}", m.score_of(i).words());
    }
    for u in &view.unexplained {
        let _ = writeln!(out, "  {}: not used: {}", u.title(), u.why);
    }
    if m.mutants.is_empty() {
        return out;
    }
    let owners = m.owners(view);
    if owners.len() > 1 {
        let _ = writeln!(out, "\nby node or transition");
        for (owner, score) in owners {
            let owner = if owner.is_empty() { "(everywhere)" } else { &owner };
            let _ = writeln!(out, "  {owner}: {}", score.words());
        }
    }
    let _ = writeln!(out, "\nby element");
    for (e, element) in view.elements.iter().enumerate() {
        let _ =
            writeln!(out, "  {}{}: {}", element.name, line(element), m.score(|x| x == e).words());
        for mutant in
            m.mutants.iter().filter(|x| x.element == e && m.together(x) != MutantFate::Killed)
        {
            let _ = writeln!(out, "    {}: {}", paint.open(m.together(mutant).word()), mutant.what);
        }
    }
    for text in &m.disagreements {
        let _ = writeln!(out, "\n{text}");
    }
    out
}

fn line(element: &ElementView) -> String {
    match (element.line, &element.included) {
        (Some(line), None) => format!(" on line {line}"),
        (Some(_), Some(_)) => format!(" at {}", element.place()),
        (None, _) => String::new(),
    }
}

/// As JSON: an object for one system.
pub fn mutation_json(view: &ExplainView) -> Value {
    let m = &view.mutation;
    let mutants: Vec<Value> = m
        .mutants
        .iter()
        .map(|x| {
            let fates: serde_json::Map<String, Value> =
                m.properties.iter().cloned().zip(x.fates.iter().map(|f| json!(f.word()))).collect();
            json!({ "element": view.elements[x.element].name, "line": view.elements[x.element].line,
                    "file": view.elements[x.element].included.as_ref().map(|i| &i.file),
                    "mutation": x.what, "properties": fates, "together": m.together(x).word() })
        })
        .collect();
    let properties: serde_json::Map<String, Value> =
        m.properties.iter().enumerate().map(|(i, p)| (p.clone(), m.score_of(i).json())).collect();
    let owners: serde_json::Map<String, Value> =
        m.owners(view).into_iter().map(|(n, s)| (n, s.json())).collect();
    json!({ "score": m.score(|_| true).json(), "properties": properties, "owners": owners, "mutants": mutants,
            "disagreements": m.disagreements })
}

/// As CSV: a row for each mutant, a column for each property.
pub fn mutation_csv(view: &ExplainView) -> String {
    let m = &view.mutation;
    let header = ["element", "line", "mutation"].map(str::to_string).into_iter();
    let header = header.chain(m.properties.iter().map(|p| defused(p)));
    let header = header.chain(["together".to_string()]);
    let row = |x: &MutantView| {
        let element = &view.elements[x.element];
        let cells = [defused(&element.name), defused(&element.place()), defused(&x.what)];
        let fates = x.fates.iter().map(|f| f.word()).chain([m.together(x).word()]);
        cells.into_iter().chain(fates.map(str::to_string)).collect()
    };
    table(std::iter::once(header.collect()).chain(m.mutants.iter().map(row)))
}

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:0;color:#222;background:#fff}\
header{padding:12px 20px;border-bottom:1px solid #ddd}h1{font-size:18px;margin:0 0 4px}main{padding:12px 20px}\
h2{font-size:15px;margin:20px 0 4px}table{border-collapse:collapse;margin:4px 0 20px}\
td,th{padding:2px 8px;border:1px solid #e4e4e4;text-align:left;vertical-align:top}\
small{display:block;font-weight:normal;color:#666}td.number{text-align:right}\
thead th{position:sticky;top:0;background:#fff}td.fate{text-align:center;color:#888}td.fate.killed{color:#222}\
tr.first>td{border-top:2px solid #bbb}\
.killed{background:#c9e9cf}td.mutation.killed{background:none}.unnoticed{background:#ffd8b5}.undecided{background:#eee}\
code{font:13px ui-monospace,monospace}.legend span{padding:1px 8px;margin-right:8px;border-radius:3px}";

/// Text with backquoted parts as code.
fn with_code(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    if pieces.len().is_multiple_of(2) {
        return escape(text);
    }
    let set = |(i, piece): (usize, &&str)| match i % 2 {
        0 => escape(piece),
        _ => format!("<code>{}</code>", escape(piece)),
    };
    pieces.iter().enumerate().map(set).collect()
}

/// As HTML: one page for all systems of a file. A row is a mutant, those of an element together;
/// mutants that no property kills are highlighted.
pub fn mutation_html(views: &[ExplainView]) -> String {
    let title = escape(views.first().map_or("", |v| v.file.as_str()));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}: mutation coverage</title>\n\
         <style>{STYLE}</style></head>\n<body><header><h1>{title}: mutation coverage</h1>\
         <div class=\"legend\"><span class=\"killed\">killed: the property fails</span>\
         <span class=\"unnoticed\">no property that is used notices the mistake</span>\
         <span class=\"undecided\">undecided</span></div></header>\n<main>\n"
    );
    for view in views {
        let m = &view.mutation;
        let _ = writeln!(out, "<p><b>mutants: {}</b></p>", escape(&m.headline()));
        for u in &view.unexplained {
            let _ = writeln!(out, "<p>{}: not used: {}</p>", escape(&u.title()), escape(&u.why));
        }
        if m.mutants.is_empty() {
            continue;
        }
        mutant_table(view, &mut out);
        owner_table(view, &mut out);
        for text in &m.disagreements {
            let _ = writeln!(out, "<p><b>{}</b></p>", escape(text));
        }
    }
    out.push_str("</main></body></html>\n");
    out
}

fn mutant_table(view: &ExplainView, out: &mut String) {
    let m = &view.mutation;
    out.push_str("<table><thead><tr><th>element</th><th>line</th><th>killed</th><th>mistake</th>");
    for (i, p) in m.properties.iter().enumerate() {
        let killed = m.score_of(i).share().count("");
        let _ = write!(out, "<th>{}<small>{killed}</small></th>", escape(p));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (e, element) in view.elements.iter().enumerate() {
        let rows: Vec<&MutantView> = m.mutants.iter().filter(|x| x.element == e).collect();
        let score = m.score(|x| x == e);
        for (i, x) in rows.iter().enumerate() {
            let class = if i == 0 { " class=\"first\"" } else { "" };
            let _ = write!(out, "<tr{class}>");
            if i == 0 {
                let line = escape(&element.place());
                let (n, killed) = (rows.len(), score.share().count(""));
                let _ = write!(
                    out,
                    "<td rowspan=\"{n}\">{}<small><code>{}</code></small></td><td rowspan=\"{n}\" class=\"number\">{line}</td>\
                     <td rowspan=\"{n}\" class=\"number\">{killed}</td>",
                    escape(&element.name),
                    escape(&view.excerpt(e))
                );
            }
            let fate = match m.together(x) {
                MutantFate::Survived => "unnoticed",
                other => other.word(),
            };
            let _ = write!(out, "<td class=\"mutation {fate}\">{}</td>", with_code(&x.what));
            for f in &x.fates {
                let _ = write!(out, "<td class=\"fate {0}\">{0}</td>", f.word());
            }
            out.push_str("</tr>\n");
        }
    }
    out.push_str("</tbody></table>\n");
}

fn owner_table(view: &ExplainView, out: &mut String) {
    let owners = view.mutation.owners(view);
    if owners.len() < 2 {
        return;
    }
    out.push_str("<h2>By node or transition</h2>\n<table><tbody>\n");
    for (owner, score) in owners {
        let owner = if owner.is_empty() { "(everywhere)" } else { &owner };
        let _ =
            writeln!(out, "<tr><td>{}</td><td>{}</td></tr>", escape(owner), escape(&score.words()));
    }
    out.push_str("</tbody></table>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(open: bool, fates: &[&[MutantFate]]) -> MutationView {
        let mutant = |fates: &&[MutantFate]| MutantView {
            element: 0,
            what: "1 becomes 2".to_string(),
            fates: fates.to_vec(),
        };
        let properties = (0..fates.first().map_or(0, |f| f.len())).map(|i| format!("p{i}"));
        MutationView {
            properties: properties.collect(),
            open,
            mutants: fates.iter().map(mutant).collect(),
            ..MutationView::default()
        }
    }

    #[test]
    fn a_mutant_survives_only_if_every_property_was_decided() {
        use MutantFate::{Killed, Survived};
        let fates: &[&[MutantFate]] = &[&[Killed], &[Survived], &[Survived]];
        assert_eq!(view(false, fates).score(|_| true).words(), "1 of 3 killed, 33.3 %");
        assert_eq!(
            view(true, fates).score(|_| true).words(),
            "at least 1 of 3 killed, at least 33.3 %, 2 undecided"
        );
    }

    #[test]
    fn without_a_proved_property_nothing_is_said_to_survive() {
        let text = |mutation: MutationView| {
            let view = ExplainView { mutation, ..ExplainView::default() };
            mutation_text(&view, Paint::Plain)
        };
        assert_eq!(text(view(true, &[])), "mutants: none was made: no property is proved\n");
        let unknown: &[&[MutantFate]] = &[&[MutantFate::Undecided]];
        assert!(text(view(false, unknown)).starts_with("mutants: none of 1 decided\n"));
    }
}
