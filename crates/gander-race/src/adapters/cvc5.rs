//! cvc5: queries about unrollings of growing depth. It finds violations with traces and proves
//! nothing.

use gander_export::{Format, NameMap, Options, Place, Selection, write};
use gander_process::{Ending, Finished};
use gander_smt::read_value;
use gander_system::{ClaimId, System};
use gander_term::smtlib::{Sexpr, Tree, TreeConfig};
use gander_tool_output::horn::Status;

use crate::evidence::Candidate;
use crate::tool::{Call, Says, Stop, Tool, ToolContext};
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

    fn check(&self, context: &mut ToolContext<'_>) -> Result<(), Stop> {
        let mut asked = false;
        for depth in DEPTHS {
            for claim in context.open() {
                asked |= self.look(context, claim, depth)?;
            }
        }
        if asked {
            Ok(())
        } else {
            Err(Stop::Cannot("none of the claims can be written as a query".to_string()))
        }
    }
}

impl Cvc5 {
    /// Searches a violation within `depth` steps; false if the claim cannot be exported.
    fn look(
        &self,
        context: &mut ToolContext<'_>,
        claim: ClaimId,
        depth: u32,
    ) -> Result<bool, Stop> {
        let options = Options { depth, ..Options::default() };
        let written = write(context.system, Format::Smt2, options, Selection::Only(&[claim]))?;
        let Some(about) = written.names.claims().first().cloned() else { return Ok(false) };
        let mut text = format!("(set-option :produce-models true)\n{}(get-value (", written.text);
        for (name, step) in queried_values(&written.names, depth) {
            text.push_str(&format!("{name}.{step} "));
        }
        for step in 0..=depth {
            text.push_str(&format!("there!{step} bad!{step} "));
        }
        text.push_str("))\n");
        let arguments = vec!["--lang".to_string(), "smt2".to_string(), "query.smt2".to_string()];
        let call =
            Call { files: vec![("query.smt2".to_string(), text)], arguments, ..Call::default() };
        let said = context.run(&call)?;
        match status(&said) {
            Some((Status::Unsat | Status::Unknown, _)) => Ok(true),
            Some((Status::Sat, values)) => {
                let values = Tree::parse_one(values.as_bytes(), TreeConfig::SOLVER).ok();
                let trace = values
                    .and_then(|v| read_trace(context.system, &written.names, depth, v.root()));
                let evidence: Vec<Candidate> = trace.map(Candidate::Trace).into_iter().collect();
                context.answer(claim, Says::of(false, about.opposite), &evidence);
                Ok(true)
            }
            _ => Err(context.no_answer(&said)),
        }
    }
}

/// The answer of a run that ended by itself, and the text after it.
fn status(said: &Finished) -> Option<(Status, &str)> {
    let is_whole = said.ending == Ending::Exited && said.signal.is_none();
    Status::first(&said.stdout).filter(|_| is_whole)
}

/// The names and steps in the order of the query. A parameter belongs to the step that begins
/// there.
fn queried_values(names: &NameMap, depth: u32) -> Vec<(String, u32)> {
    let at = |step: u32| names.places().iter().map(move |(name, _)| (name.clone(), step));
    (0..=depth).flat_map(at).collect()
}

/// The states up to the first that violates the property, from `((x.0 1) (x.1 2) … (there!0 true)
/// (bad!0 false) …)`.
fn read_trace(system: &System, names: &NameMap, depth: u32, values: Sexpr<'_>) -> Option<Trace> {
    let pairs = values.list()?;
    let asked = queried_values(names, depth);
    if pairs.len() != asked.len() + 2 * (depth as usize + 1) {
        return None;
    }
    let pair = |i: usize| -> Option<(&str, Sexpr<'_>)> {
        let [name, value] = pairs.get(i)?.elements()?;
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
        let (printed, value) = pair(i)?;
        if printed != format!("{name}.{step}") {
            return None;
        }
        let place = names.place(name)?;
        let at =
            if matches!(place, Place::Param { .. }) { *step as usize + 1 } else { *step as usize };
        if let Some(moment) = moments.get_mut(at) {
            let value = read_value(system.pool(), sort_of(system, place), value)?;
            moment.put(system, place, value).then_some(())?;
        }
    }
    Some(Trace { moments, back_to: None })
}
