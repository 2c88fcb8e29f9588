//! VMT-LIB. A `:live-property` is a formula that holds forever from some state on. Inputs are state
//! variables that no step determines; parameters of steps have no next value.

use std::fmt::Write as _;

use gander_term::TermId;

use crate::Refusal;
use crate::encode::flat::Flat;
use crate::text::printer::Printer;
use crate::text::smtlib::{SmtLib, sort_name};

pub(crate) fn write(flat: &mut Flat) -> Result<String, Refusal> {
    let recurrence = flat.recurrence_claims(1);
    let invariants = flat.invariants();
    let mut text = flat.header(";;");
    text.push_str(&flat.opposites(";;"));
    let style = SmtLib::of(flat);
    let (first, relation) = (flat.first(), flat.relation());
    let (mut domain, mut next_domain) = (Vec::new(), Vec::new());
    for (k, v) in flat.vars.iter().enumerate() {
        let sort = sort_name(&flat.pool, v.sort)?;
        let _ = writeln!(
            text,
            "(declare-fun {} () {sort})\n(declare-fun {}.next () {sort})",
            v.name, v.name
        );
        let _ = writeln!(text, "(define-fun .sv{k} () {sort} (! {0} :next {0}.next))", v.name);
        domain.extend(SmtLib::domain(&flat.pool, v.sort, &v.name));
        next_domain.extend(SmtLib::domain(&flat.pool, v.sort, &format!("{}.next", v.name)));
    }
    for (name, sort, _) in &flat.params {
        let _ = writeln!(text, "(declare-fun {name} () {})", sort_name(&flat.pool, *sort)?);
        next_domain.extend(SmtLib::domain(&flat.pool, *sort, name));
    }
    let mut printer = Printer::new(&style);
    let with = |parts: &[String], formula: String| {
        if parts.is_empty() { formula } else { format!("(and {} {formula})", parts.join(" ")) }
    };
    let formula = printer.text(&flat.pool, first)?;
    text.push_str(&printer.take_definitions());
    let _ = writeln!(text, "(define-fun .init () Bool (! {} :init true))", with(&domain, formula));
    let formula = printer.text(&flat.pool, relation)?;
    text.push_str(&printer.take_definitions());
    let _ = writeln!(
        text,
        "(define-fun .trans () Bool (! {} :trans true))",
        with(&next_domain, formula)
    );
    let states = invariants.into_iter().map(|(name, p)| (name, p, "invar-property"));
    let mut properties: Vec<(String, TermId, &str)> = states.collect();
    for claim in recurrence {
        let recurring = flat.pool.and(claim.recurring);
        properties.push((claim.name, flat.pool.not(recurring), "live-property"));
    }
    for (k, (name, p, word)) in properties.into_iter().enumerate() {
        let formula = printer.text(&flat.pool, p)?;
        text.push_str(&printer.take_definitions());
        let _ = writeln!(text, "(define-fun {name} () Bool (! {formula} :{word} {k}))");
    }
    Ok(text)
}
