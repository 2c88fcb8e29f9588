//! cvc5: unrollings of growing depth as queries. It finds violations, with a trace, and proves nothing.

use gander_export::{Format, NameMap, Options, Place, Selection, write};
use gander_smt::{Sexpr, read_value};
use gander_system::{ClaimId, System};

use crate::evidence::Candidate;
use crate::tool::{Call, Ending, Said, Says, Seat, Stop, Tool};
use crate::trace::{Moment, Trace, sort_of};

/// The depths that are tried.
const DEPTHS: [u32; 6] = [2, 5, 10, 20, 40, 80];

/// The adapter.
pub(super) struct Cvc5;

impl Tool for Cvc5 {
    fn name(&self) -> &'static str {
        "cvc5"
    }

    fn about(&self) -> &'static str {
        "SMT solver on unrollings of up to 80 steps; violations with traces, no proofs"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["cvc5"]
    }

    fn version(&self) -> &'static [&'static str] {
        &["--version"]
    }

    fn play(&self, seat: &mut Seat<'_>) -> Result<(), Stop> {
        let mut asked = false;
        for depth in DEPTHS {
            for claim in seat.open() {
                asked |= self.look(seat, claim, depth)?;
            }
        }
        if asked { Ok(()) } else { Err(Stop::Cannot("none of the claims can be written as a query".to_string())) }
    }
}

impl Cvc5 {
    /// Looks for a violation within so many steps; false if the claim cannot be asked.
    fn look(&self, seat: &mut Seat<'_>, claim: ClaimId, depth: u32) -> Result<bool, Stop> {
        let options = Options { depth, ..Options::default() };
        let written = write(seat.system, Format::Smt2, options, Selection::Only(&[claim]))?;
        let Some(about) = written.names.claims().first().cloned() else { return Ok(false) };
        let mut text = format!("(set-option :produce-models true)\n{}(get-value (", written.text);
        for (name, step) in asked(&written.names, depth) {
            text.push_str(&format!("{name}.{step} "));
        }
        for step in 0..=depth {
            text.push_str(&format!("there!{step} bad!{step} "));
        }
        text.push_str("))\n");
        let arguments = vec!["--lang".to_string(), "smt2".to_string(), "query.smt2".to_string()];
        let call = Call { files: vec![("query.smt2".to_string(), text)], arguments, ..Call::default() };
        let said = seat.run(&call)?;
        match first_line(&said) {
            Some("unsat" | "unknown") => Ok(true),
            Some("sat") => {
                let values = said.stdout.split_once('\n').and_then(|(_, rest)| Sexpr::parse(rest.as_bytes()).ok());
                let trace = values.and_then(|v| read_trace(seat.system, &written.names, depth, &v));
                let evidence: Vec<Candidate> = trace.map(Candidate::Trace).into_iter().collect();
                seat.answer(claim, Says::of(false, about.opposite), &evidence);
                Ok(true)
            }
            _ => Err(seat.no_answer(&said)),
        }
    }
}

fn first_line(said: &Said) -> Option<&str> {
    let whole = said.ending == Ending::Exited && said.signal.is_none();
    said.stdout.lines().next().map(str::trim).filter(|_| whole)
}

/// Variables and parameters at steps, in the order of the question. Parameters belong to the step that begins there.
fn asked(names: &NameMap, depth: u32) -> Vec<(String, u32)> {
    let at = |step: u32| names.places().iter().map(move |(name, _)| (name.clone(), step));
    (0..=depth).flat_map(at).collect()
}

/// The states up to the first that breaks the property, from `((x.0 1) (x.1 2) … (there!0 true) (bad!0 false) …)`.
fn read_trace(system: &System, names: &NameMap, depth: u32, values: &Sexpr) -> Option<Trace> {
    let pairs = values.list()?;
    let asked = asked(names, depth);
    if pairs.len() != asked.len() + 2 * (depth as usize + 1) {
        return None;
    }
    let pair = |i: usize| -> Option<(&str, &Sexpr)> {
        let [name, value] = pairs.get(i)?.list()? else { return None };
        Some((name.atom()?, value))
    };
    let truth = |i: usize, wanted: String| -> Option<bool> {
        match pair(i)? {
            (name, value) if name == wanted => value.atom()?.parse().ok(),
            _ => None,
        }
    };
    let mut last = None;
    for step in 0..=depth {
        let at = asked.len() + 2 * step as usize;
        if truth(at, format!("there!{step}"))? && truth(at + 1, format!("bad!{step}"))? {
            last = Some(step);
            break;
        }
    }
    let last = last?;
    let mut moments = vec![Moment::default(); last as usize + 1];
    for (i, (name, step)) in asked.iter().enumerate() {
        let (told, value) = pair(i)?;
        if told != format!("{name}.{step}") {
            return None;
        }
        let place = names.place(name)?;
        let at = if matches!(place, Place::Param { .. }) { *step as usize + 1 } else { *step as usize };
        if let Some(moment) = moments.get_mut(at) {
            let value = read_value(&system.pool, sort_of(system, place), value)?;
            moment.put(system, place, value).then_some(())?;
        }
    }
    Some(Trace { moments, back_to: None })
}
