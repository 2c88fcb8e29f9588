//! Pono: SMT-based engines on BTOR2; violations have witnesses.

use gander_export::{Format, NameMap, Options, Place, Selection, write};
use gander_process::Ending;
use gander_system::{ClaimId, System};
use gander_term::{BitVec, IBig, Sort, Value};
use gander_tool_output::btor2::{self, Witness};

use crate::evidence::Candidate;
use crate::tool::{Call, Says, Stop, Tool, ToolContext};
use crate::trace::{Moment, Trace, sort_of};

/// The adapter.
pub(super) struct Pono;

impl Tool for Pono {
    fn name(&self) -> &'static str {
        "pono"
    }

    fn about(&self) -> &'static str {
        "SMT-based model checker of finite systems (k-induction); safety, with traces"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["pono"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let mut asked = false;
        for claim in context.open() {
            asked |= ask(context, claim)?;
        }
        if asked {
            Ok(())
        } else {
            Err(Stop::Cannot("none of the claims can be written in BTOR2".to_string()))
        }
    }
}

/// Asks about a claim; false if it cannot be exported.
fn ask(context: &mut ToolContext<'_>, claim: ClaimId) -> Result<bool, Stop> {
    let written =
        write(context.system, Format::Btor2, Options::default(), Selection::Only(&[claim]))?;
    let Some(about) = written.names.claims().first().filter(|c| !c.temporal).cloned() else {
        return Ok(false);
    };
    let words = ["-e", "ind", "-k", "1000", "--witness", "model.btor2"];
    let call = Call {
        files: vec![("model.btor2".to_string(), written.text.clone())],
        arguments: words.iter().map(|w| w.to_string()).collect(),
        ..Call::default()
    };
    let said = context.run(&call)?;
    if said.ending != Ending::Exited || said.signal.is_some() {
        return Err(context.no_answer(&said));
    }
    match btor2::parse(&said.stdout) {
        Some(btor2::Answer::Safe) => context.answer(claim, Says::of(true, about.opposite), &[]),
        Some(btor2::Answer::Unsafe(witness)) => {
            let trace = witness.and_then(|w| trace(context.system, &written.names, &w));
            let evidence: Vec<Candidate> = trace.map(Candidate::Trace).into_iter().collect();
            context.answer(claim, Says::of(false, about.opposite), &evidence);
        }
        Some(btor2::Answer::Unknown) => {}
        None => return Err(context.no_answer(&said)),
    }
    Ok(true)
}

/// The trace of a witness. `None` if a value does not fit its variable.
fn trace(system: &System, names: &NameMap, witness: &Witness) -> Option<Trace> {
    let mut moments = vec![Moment::default(); witness.states];
    for value in &witness.values {
        let name = match value.is_input {
            true => value.name.strip_suffix("__next").unwrap_or(&value.name),
            false => &value.name,
        };
        let Some(place) = names.place(name) else { continue };
        // Parameters have no meaning in the first state.
        if !value.is_input && matches!(place, Place::Param { .. }) {
            continue;
        }
        let parsed = parse_value(sort_of(system, place), &value.bits)?;
        moments.get_mut(value.state)?.put(system, place, parsed).then_some(())?;
    }
    Some(Trace { moments, back_to: None })
}

/// Bits as a value; numbers are signed.
fn parse_value(sort: Sort, bits: &str) -> Option<Value> {
    if bits.is_empty() || bits.len() > 4096 || !bits.bytes().all(|b| b == b'0' || b == b'1') {
        return None;
    }
    let unsigned = IBig::from_str_radix(bits, 2).ok()?;
    let signed = if bits.starts_with('1') {
        &unsigned - (IBig::ONE << bits.len())
    } else {
        unsigned.clone()
    };
    match sort {
        Sort::Bool => (bits.len() == 1).then(|| Value::Bool(bits == "1")),
        Sort::Int => Some(Value::Int(signed)),
        Sort::Enum(id) => u32::try_from(signed).ok().map(|k| Value::Enum(id, k)),
        Sort::BitVec(width) => (bits.len() == width.bits() as usize)
            .then(|| Value::BitVec(BitVec::wrap(width, unsigned))),
        _ => None,
    }
}
