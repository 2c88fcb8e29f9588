//! Answers to Horn clauses: `sat` with the formula of the predicate, `unsat`.

use gander_export::{Format, HornDialect, NameMap, Options, Selection, Written, write};
use gander_smt::Sexpr;
use gander_system::{ClaimId, NodeFormulas, System};

use crate::evidence::{Candidate, invariant_of};
use crate::tool::{Call, Ending, Said, Says, Seat, Stop};
use crate::trace::Trace;

/// What a solver says of clauses.
#[derive(Debug)]
pub(super) enum HornAnswer {
    /// No state that breaks a property can be reached; by this invariant, if it could be read.
    Safe(Option<NodeFormulas>),
    /// Such a state can be reached.
    Unsafe,
    /// Nothing.
    Unknown,
}

/// Claims as clauses; they are asked about together.
pub(super) fn clauses(system: &System, claims: &[ClaimId], horn: HornDialect) -> Result<Written, Stop> {
    let written = write(system, Format::Horn, Options { horn, ..Options::default() }, Selection::Only(claims))?;
    if written.names.claims().is_empty() {
        return Err(Stop::Cannot("none of the claims can be written as Horn clauses".to_string()));
    }
    Ok(written)
}

/// Reads an answer. None if it is not one that the format knows.
pub(super) fn read(system: &System, names: &NameMap, said: &Said) -> Option<HornAnswer> {
    if said.ending != Ending::Exited || said.signal.is_some() {
        return None;
    }
    let (first, rest) = said.stdout.trim_start().split_once('\n').unwrap_or((said.stdout.trim(), ""));
    match first.trim() {
        "sat" => Some(HornAnswer::Safe(model(rest).and_then(|m| invariant_of(system, names, &m)))),
        "unsat" => Some(HornAnswer::Unsafe),
        "unknown" | "timeout" => Some(HornAnswer::Unknown),
        _ => None,
    }
}

/// The definition of `state` in a model, with or without parentheses around.
fn model(text: &str) -> Option<Sexpr> {
    let whole = Sexpr::parse(format!("({text})").as_bytes()).ok()?;
    let is_it = |e: &Sexpr| match e.list() {
        Some([define, name, ..]) => define.atom() == Some("define-fun") && name.atom() == Some("state"),
        _ => false,
    };
    let inside = whole.list()?;
    let deeper = inside.iter().filter_map(Sexpr::list).flatten();
    inside.iter().chain(deeper).find(|e| is_it(e)).cloned()
}

/// Looks for a trace to what breaks a claim.
pub(super) type FindTrace<'a> = &'a dyn Fn(&mut Seat<'_>, ClaimId) -> Result<Option<Trace>, Stop>;

/// Asks about all open claims together; then, unless they are safe, about each alone. `call` makes the call for a text,
/// `trace` looks for a trace to what an unsafe claim forbids.
pub(super) fn ask(
    seat: &mut Seat<'_>,
    call: &dyn Fn(&Seat<'_>, &Written) -> Call,
    trace: FindTrace<'_>,
) -> Result<(), Stop> {
    let together = seat.open();
    let mut groups: Vec<Vec<ClaimId>> = vec![together];
    let mut last = Ok(());
    while let Some(group) = groups.pop() {
        let open = seat.open();
        let group: Vec<ClaimId> = group.into_iter().filter(|c| open.contains(c)).collect();
        if group.is_empty() {
            continue;
        }
        let written = match clauses(seat.system, &group, HornDialect::Standard) {
            Ok(written) => written,
            Err(stop) => {
                last = Err(stop);
                continue;
            }
        };
        let said = seat.run(&call(seat, &written))?;
        let Some(answer) = read(seat.system, &written.names, &said) else {
            let stop = seat.no_answer(&said);
            if matches!(stop, Stop::NotNeeded | Stop::OutOfTime) {
                return Err(stop);
            }
            last = Err(stop);
            continue;
        };
        match (answer, written.names.claims()) {
            (HornAnswer::Safe(invariant), claims) => {
                let evidence: Vec<Candidate> = invariant.map(Candidate::Invariant).into_iter().collect();
                for claim in claims {
                    seat.answer(claim.claim, Says::of(true, claim.opposite), &evidence);
                }
            }
            (HornAnswer::Unsafe, [claim]) => {
                let (id, says) = (claim.claim, Says::of(false, claim.opposite));
                match trace(seat, id) {
                    Ok(found) => {
                        let evidence: Vec<Candidate> = found.map(Candidate::Trace).into_iter().collect();
                        seat.answer(id, says, &evidence);
                    }
                    Err(stop) => {
                        seat.answer(id, says, &[]);
                        return Err(stop);
                    }
                }
            }
            (HornAnswer::Unknown, [_]) => {}
            // Somebody is not safe, or together they are too much.
            (HornAnswer::Unsafe | HornAnswer::Unknown, claims) => {
                groups.extend(claims.iter().rev().map(|c| vec![c.claim]));
            }
        }
    }
    last
}
