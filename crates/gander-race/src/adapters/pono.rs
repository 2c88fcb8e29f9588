//! Pono: SMT-based engines on BTOR2. A violation comes with a witness in the format of BTOR2.

use gander_export::{Format, NameMap, Options, Place, Selection, write};
use gander_system::{ClaimId, System};
use gander_term::{BitVec, IBig, Sort, Value};

use crate::evidence::Candidate;
use crate::tool::{Call, Ending, Says, Seat, Stop, Tool};
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

    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop> {
        let mut asked = false;
        for claim in seat.open() {
            asked |= ask(seat, claim)?;
        }
        if asked { Ok(()) } else { Err(Stop::Cannot("none of the claims can be written in BTOR2".to_string())) }
    }
}

/// Asks about a claim; false if it cannot be written.
fn ask(seat: &mut Seat<'_>, claim: ClaimId) -> Result<bool, Stop> {
    let written = write(seat.system, Format::Btor2, Options::default(), Selection::Only(&[claim]))?;
    let Some(about) = written.names.claims().first().filter(|c| !c.temporal).cloned() else { return Ok(false) };
    let words = ["-e", "ind", "-k", "1000", "--witness", "model.btor2"];
    let call = Call {
        files: vec![("model.btor2".to_string(), written.text.clone())],
        arguments: words.iter().map(|w| w.to_string()).collect(),
        ..Call::default()
    };
    let said = seat.run(&call)?;
    if said.ending != Ending::Exited || said.signal.is_some() {
        return Err(seat.no_answer(&said));
    }
    let mut lines = said.stdout.lines().map(str::trim).filter(|l| !l.is_empty());
    match (lines.next(), lines.next()) {
        (Some("unsat"), Some("b0") | None) => seat.answer(claim, Says::of(true, about.opposite), &[]),
        (Some("sat"), Some("b0")) => {
            let trace = read_witness(seat.system, &written.names, lines);
            let evidence: Vec<Candidate> = trace.map(Candidate::Trace).into_iter().collect();
            seat.answer(claim, Says::of(false, about.opposite), &evidence);
        }
        (Some("unknown"), _) => {}
        _ => return Err(seat.no_answer(&said)),
    }
    Ok(true)
}

/// `#0`, then lines `number bits name#0` of the first state; `@k`, then lines `number bits name@k` of the inputs at k, from which
/// the state behind comes; a point at the end.
fn read_witness<'t>(system: &System, names: &NameMap, lines: impl Iterator<Item = &'t str>) -> Option<Trace> {
    let mut moments = vec![Moment::default()];
    // Where values go: to the first state, or behind a step.
    let mut at = None;
    let mut last = 0;
    for line in lines {
        if line == "." {
            // The inputs of the last instant lead behind the end.
            moments.truncate(last + 1);
            return Some(Trace { moments, back_to: None });
        }
        if let Some(step) = line.strip_prefix('#') {
            step.parse::<usize>().ok()?;
            at = Some(0);
            continue;
        }
        if let Some(step) = line.strip_prefix('@') {
            let step: usize = step.parse().ok().filter(|s| *s < 1_000_000)?;
            last = last.max(step);
            moments.resize(moments.len().max(step + 2), Moment::default());
            at = Some(step + 1);
            continue;
        }
        let mut words = line.split_whitespace();
        let (_, bits, name) = (words.next()?.parse::<u64>().ok()?, words.next()?, words.next().unwrap_or_default());
        let is_input = name.contains('@');
        let name = name.split(['@', '#']).next()?;
        let name = if is_input { name.strip_suffix("__next").unwrap_or(name) } else { name };
        let Some(place) = names.place(name) else { continue };
        // In the first state parameters mean nothing.
        if !is_input && matches!(place, Place::Param { .. }) {
            continue;
        }
        let value = read_value(sort_of(system, place), bits)?;
        moments.get_mut(at?)?.put(system, place, value).then_some(())?;
    }
    None
}

/// Bits as a value: numbers are signed.
fn read_value(sort: Sort, bits: &str) -> Option<Value> {
    if bits.is_empty() || bits.len() > 4096 || !bits.bytes().all(|b| b == b'0' || b == b'1') {
        return None;
    }
    let unsigned = IBig::from_str_radix(bits, 2).ok()?;
    let signed = if bits.starts_with('1') { &unsigned - (IBig::ONE << bits.len()) } else { unsigned.clone() };
    match sort {
        Sort::Bool => (bits.len() == 1).then(|| Value::Bool(bits == "1")),
        Sort::Int => Some(Value::Int(signed)),
        Sort::Enum(id) => u32::try_from(signed).ok().map(|k| Value::Enum(id, k)),
        Sort::BitVec(width) => {
            (bits.len() == width.bits() as usize).then(|| Value::BitVec(BitVec::wrap(width, unsigned)))
        }
        _ => None,
    }
}
