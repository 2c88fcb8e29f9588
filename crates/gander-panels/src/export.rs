//! The model in the language of another tool.

use std::sync::Arc;

use gander::report::describe::graph_view;
use gander::report::to_dot;
use gander::with_proved_ranges;
use gander_export::{DefaultRange, Format, Options, Selection, write};
use gander_runtime::Cancellation;
use gander_system::{ClaimOrigin, Structure};
use serde_json::{Value, json};

use crate::Context;

/// The first system of the model, with notes on what is not as in the model.
pub fn export(context: &Context<'_>) -> Result<Value, String> {
    let word = context.word("format").ok_or("there is no `format`")?;
    let systems = context.systems()?;
    let Some(system) = systems.first() else { return Err("there is nothing to write".into()) };
    if word == "dot" {
        return Ok(json!({ "text": to_dot(&graph_view(system)), "notes": [] }));
    }
    let found = Format::ALL.iter().find(|(name, _)| *name == word);
    let format = found.map(|(_, format)| *format);
    let format = format.ok_or_else(|| format!("there is no language `{word}`"))?;
    let is_bounded = system.structure() == Structure::Undrawn
        && matches!(format, Format::Uppaal | Format::Btor2);
    let options = Options {
        eliminate: Some(gander::engines::eliminate),
        default_range: is_bounded.then_some(DefaultRange::OF_SCRIPTS),
        ..Options::default()
    };
    let uses_ranges = matches!(format, Format::Smv | Format::Btor2 | Format::Uppaal);
    let ranged = match uses_ranges && system.has_open_ranges() {
        true => with_proved_ranges(system, context.solvers, &Cancellation::new()),
        false => Arc::clone(system),
    };
    let written =
        write(&ranged, format, options, Selection::All).map_err(|refusal| refusal.to_string())?;
    let mut notes = written.assumptions.clone();
    let is_there = |name: &str| {
        let mut all = written.names.claims().iter();
        all.any(|w| ranged.claims()[w.claim.index()].name == name)
    };
    let asked = ranged.claims().iter().filter(|c| c.origin != ClaimOrigin::Structural);
    let left_out: Vec<&str> =
        asked.map(|c| c.name.as_str()).filter(|name| !is_there(name)).collect();
    if !left_out.is_empty() {
        notes.push(format!("These claims are not written: {}.", left_out.join(", ")));
    }
    if systems.len() > 1 {
        notes.push(format!(
            "Only `{}`, the first of {}, is written.",
            system.name(),
            systems.len()
        ));
    }
    Ok(json!({ "text": written.text, "notes": notes }))
}
