//! Solvers of Horn clauses: which claims they are asked about, and their answers.

use gander_export::{Format, HornDialect, NameMap, Options, Selection, Written, write};
use gander_process::{Ending, Finished};
use gander_system::{ClaimId, NodeFormulas, System};
use gander_term::smtlib::{Sexpr, Tree, TreeConfig};
use gander_tool_output::horn::{Dialect, Status};

use crate::evidence::{Candidate, invariant_of};
use crate::tool::{Call, Says, Stop, ToolContext};
use crate::trace::Trace;

/// The answer of a solver.
#[derive(Debug)]
pub(super) enum HornAnswer {
    /// No state that violates a property can be reached; with the invariant, if it can be parsed.
    Safe(Option<NodeFormulas>),
    /// Such a state can be reached.
    Unsafe,
    /// Neither was shown.
    Unknown,
}

/// The claims as one set of clauses.
pub(super) fn clauses(
    system: &System,
    claims: &[ClaimId],
    horn: HornDialect,
) -> Result<Written, Stop> {
    let written = write(
        system,
        Format::Horn,
        Options { horn, ..Options::default() },
        Selection::Only(claims),
    )?;
    if written.names.claims().is_empty() {
        return Err(Stop::Cannot("none of the claims can be written as Horn clauses".to_string()));
    }
    Ok(written)
}

/// Parses the answer. `None` if the output is not an answer.
pub(super) fn read(system: &System, names: &NameMap, said: &Finished) -> Option<HornAnswer> {
    if said.ending != Ending::Exited || said.signal.is_some() {
        return None;
    }
    let (status, rest) = Status::first(said.stdout.trim_start())?;
    Some(match status.is_safe(Dialect::Assertions) {
        Some(true) => {
            let tree = Tree::parse_one(format!("({rest})").as_bytes(), TreeConfig::SOLVER).ok();
            let definition = tree.as_ref().and_then(|tree| model(tree.root()));
            HornAnswer::Safe(definition.and_then(|m| invariant_of(system, names, m)))
        }
        Some(false) => HornAnswer::Unsafe,
        None => HornAnswer::Unknown,
    })
}

/// The definition of `state` in a model, with or without parentheses around the definitions.
fn model(whole: Sexpr<'_>) -> Option<Sexpr<'_>> {
    let is_it = |e: &Sexpr<'_>| match e.list().as_deref() {
        Some([define, name, ..]) => {
            define.atom() == Some("define-fun") && name.atom() == Some("state")
        }
        _ => false,
    };
    let inside = whole.list()?;
    let deeper: Vec<Sexpr<'_>> = inside.iter().filter_map(|e| e.list()).flatten().collect();
    inside.into_iter().chain(deeper).find(is_it)
}

/// Searches a trace that violates a claim.
pub(super) type FindTrace<'a> =
    &'a dyn Fn(&mut ToolContext<'_>, ClaimId) -> Result<Option<Trace>, Stop>;

/// Asks about all open claims together, and unless they are safe about each alone. `call` makes the
/// call for a text; `trace` searches a trace for an unsafe claim.
pub(super) fn ask(
    context: &mut ToolContext<'_>,
    call: &dyn Fn(&ToolContext<'_>, &Written) -> Call,
    trace: FindTrace<'_>,
) -> Result<(), Stop> {
    let together = context.open();
    let mut groups: Vec<Vec<ClaimId>> = vec![together];
    let mut last = Ok(());
    while let Some(group) = groups.pop() {
        let open = context.open();
        let group: Vec<ClaimId> = group.into_iter().filter(|c| open.contains(c)).collect();
        if group.is_empty() {
            continue;
        }
        let written = match clauses(context.system, &group, HornDialect::Standard) {
            Ok(written) => written,
            Err(stop) => {
                last = Err(stop);
                continue;
            }
        };
        let said = context.run(&call(context, &written))?;
        let Some(answer) = read(context.system, &written.names, &said) else {
            let stop = context.no_answer(&said);
            if matches!(stop, Stop::NotNeeded | Stop::OutOfTime) {
                return Err(stop);
            }
            last = Err(stop);
            continue;
        };
        match (answer, written.names.claims()) {
            (HornAnswer::Safe(invariant), claims) => {
                let evidence: Vec<Candidate> =
                    invariant.map(Candidate::Invariant).into_iter().collect();
                for claim in claims {
                    context.answer(claim.claim, Says::of(true, claim.opposite), &evidence);
                }
            }
            (HornAnswer::Unsafe, [claim]) => {
                let (id, says) = (claim.claim, Says::of(false, claim.opposite));
                match trace(context, id) {
                    Ok(found) => {
                        let evidence: Vec<Candidate> =
                            found.map(Candidate::Trace).into_iter().collect();
                        context.answer(id, says, &evidence);
                    }
                    Err(stop) => {
                        context.answer(id, says, &[]);
                        return Err(stop);
                    }
                }
            }
            (HornAnswer::Unknown, [_]) => {}
            // One of them is not safe, or they are too hard together.
            (HornAnswer::Unsafe | HornAnswer::Unknown, claims) => {
                groups.extend(claims.iter().rev().map(|c| vec![c.claim]));
            }
        }
    }
    last
}
