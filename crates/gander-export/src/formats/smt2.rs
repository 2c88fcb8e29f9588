//! A bounded unrolling as one SMT-LIB query: satisfiable iff some run of at most the given number
//! of steps reaches a state that violates a property.

use std::fmt::Write as _;

use crate::Refusal;
use crate::encode::flat::{Flat, Property};
use crate::text::printer::{Printer, Style};
use crate::text::smtlib::{SmtLib, sort_name};
use gander_term::{Pool, Sort, TermId};
use rustc_hash::FxHashMap;

/// The SMT-LIB style, with definitions named after the step and the formula.
struct AtStep {
    inner: SmtLib,
    prefix: String,
}

impl Style for AtStep {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        self.inner.write(pool, t, args)
    }

    fn define(&self, name: &str, pool: &Pool, sort: Sort, body: &str) -> String {
        self.inner.define(name, pool, sort, body)
    }

    fn prefix(&self) -> String {
        self.prefix.clone()
    }
}

/// Prints a formula at a step. Its definitions are appended to `text`.
fn at_step(
    flat: &Flat,
    step: u32,
    place: &str,
    t: TermId,
    text: &mut String,
) -> Result<String, Refusal> {
    let mut names = FxHashMap::default();
    for v in &flat.vars {
        names.insert(v.current, format!("{}.{step}", v.name));
        names.insert(v.next, format!("{}.{}", v.name, step + 1));
    }
    for (name, _, symbol) in &flat.params {
        names.insert(*symbol, format!("{name}.{step}"));
    }
    let style = AtStep { inner: SmtLib { names }, prefix: format!("{place}!{step}!") };
    let mut printer = Printer::new(&style);
    let body = printer.text(&flat.pool, t)?;
    text.push_str(&printer.take_definitions());
    Ok(body)
}

pub(crate) fn write(flat: &mut Flat, depth: u32) -> Result<String, Refusal> {
    let endless = |p: &Property| matches!(p, Property::InfiniteRun(_));
    let claims = flat.claims.iter().filter(|(_, _, p)| endless(p));
    let infinite: Vec<String> = claims.map(|(_, original, _)| original.clone()).collect();
    flat.written.clone_from(&infinite);
    let invariants = flat.invariants();
    let mut text = flat.header(";;");
    let _ = writeln!(
        text,
        ";; satisfiable iff a property is violated within {depth} steps; `x.3` is x behind step 3"
    );
    text.push_str(&flat.opposites(";;"));
    if !infinite.is_empty() {
        text.push_str(
            ";; an infinite run is one that returns to an earlier state within these steps\n",
        );
    }
    let (first, relation) = (flat.first(), flat.relation());
    let mut bad = Vec::new();
    for (_, p) in &invariants {
        bad.push(flat.pool.not(*p));
    }
    let bad = flat.pool.or(bad);
    text.push_str("(set-logic ALL)\n");
    for step in 0..=depth {
        let vars = flat.vars.iter().map(|v| (&v.name, v.sort));
        for (name, sort) in vars.chain(flat.params.iter().map(|(name, sort, _)| (name, *sort))) {
            let name = format!("{name}.{step}");
            let _ = writeln!(text, "(declare-fun {name} () {})", sort_name(&flat.pool, sort)?);
            if let Some(domain) = SmtLib::domain(&flat.pool, sort, &name) {
                let _ = writeln!(text, "(assert {domain})");
            }
        }
        let _ = writeln!(text, "(declare-fun there!{step} () Bool)");
    }
    let formula = at_step(flat, 0, "first", first, &mut text)?;
    // `there!i` says that the run has at least i steps. Later states are unconstrained and not
    // queried.
    let _ = writeln!(text, "(assert (and there!0 {formula}))");
    let mut any = String::new();
    for step in 0..=depth {
        let violated = at_step(flat, step, "bad", bad, &mut text)?;
        let _ = writeln!(text, "(define-fun bad!{step} () Bool {violated})");
        let _ = write!(any, " (and there!{step} bad!{step})");
        if step < depth {
            let formula = at_step(flat, step, "step", relation, &mut text)?;
            let _ = writeln!(text, "(assert (=> there!{} (and there!{step} {formula})))", step + 1);
        }
    }
    if !infinite.is_empty() {
        any.push_str(&lasso(flat, depth));
    }
    let _ = writeln!(text, "(assert (or false{any}))\n(check-sat)");
    Ok(text)
}

/// The formula that two states of the run are equal.
fn lasso(flat: &Flat, depth: u32) -> String {
    let mut text = String::new();
    for end in 1..=depth {
        let _ = write!(text, "\n  (and there!{end} (or");
        for begin in 0..end {
            text.push_str(" (and true");
            for v in &flat.vars {
                let _ = write!(text, " (= {0}.{begin} {0}.{end})", v.name);
            }
            text.push(')');
        }
        text.push_str("))");
    }
    text
}
