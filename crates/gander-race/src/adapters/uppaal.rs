//! UPPAAL's `verifyta`: explicit-state search over symbolic states. It says which queries are satisfied, without evidence
//! that we could check.

use gander_export::{Format, Options, Selection, write};

use crate::tool::{Call, Ending, Says, Seat, Stop, Tool};

/// The adapter.
pub(super) struct Uppaal;

impl Tool for Uppaal {
    fn name(&self) -> &'static str {
        "uppaal"
    }

    fn about(&self) -> &'static str {
        "explicit-state model checker of networks of automata; safety and liveness, claims only"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["verifyta"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop> {
        let open = seat.open();
        let written = write(seat.system, Format::Uppaal, Options::default(), Selection::Only(&open))?;
        if written.names.claims().is_empty() {
            return Err(Stop::Cannot("none of the claims can be written for UPPAAL".to_string()));
        }
        let files = vec![("model.xml".to_string(), written.text.clone())];
        let said = seat.run(&Call { files, arguments: vec!["model.xml".to_string()], ..Call::default() })?;
        let told = if said.signal.is_some() { Vec::new() } else { read(&said.stdout, written.names.claims().len()) };
        for (query, is_true) in &told {
            let claim = &written.names.claims()[*query];
            seat.answer(claim.claim, Says::of(*is_true, claim.opposite), &[]);
        }
        if told.is_empty() || said.ending != Ending::Exited { Err(seat.no_answer(&said)) } else { Ok(()) }
    }
}

/// `Verifying formula 1 at …` and then `-- Formula is satisfied.` or `-- Formula is NOT satisfied.`: the position of the
/// query, and whether it is.
fn read(text: &str, queries: usize) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    let mut at = None;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Verifying formula ") {
            let number = rest.split_whitespace().next().and_then(|n| n.parse::<usize>().ok());
            at = number.and_then(|n| n.checked_sub(1)).filter(|n| *n < queries);
        }
        let is_true = match line {
            "-- Formula is satisfied." => true,
            "-- Formula is NOT satisfied." => false,
            _ => continue,
        };
        found.extend(at.take().map(|query| (query, is_true)));
    }
    found
}
