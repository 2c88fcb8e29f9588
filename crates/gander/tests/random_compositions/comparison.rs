//! Random compositions (docs/semantics.md, section 6), decided by engines, and by the oracle after
//! they were exported and read again, against their meaning by brute force.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use gander_engines::{Cancellation, CheckConfig, NullObserver, check, eliminate};
use gander_export::{DefaultRange, Format, HornDialect, Options, Selection, write};
use gander_lang::language_of;
use gander_oracle::compositions::{Features, Rules, States, composition};
use gander_oracle::{Limits, Refusal, decide};
use gander_smt::Solvers;
use gander_system::{Claim, ClaimId, ClaimKind, ClaimOrigin, Goal, System, Verdict};

/// The languages that are written and read.
pub const READ: &[(Format, &str)] = &[
    (Format::Sts, "again.sts"),
    (Format::Script, "again.script"),
    (Format::Smv, "again.smv"),
    (Format::Vmt, "again.vmt"),
    (Format::Horn, "again.smt2"),
    (Format::Btor2, "again.btor2"),
    (Format::Lustre, "again.lus"),
];

/// The values of all variables of a random composition.
const VALUES: DefaultRange = DefaultRange { low: 0, high: 2 };

/// The number of steps of unrollings.
const DEPTH: u32 = 3;

/// A composition with the answers to its claims.
pub struct Case {
    pub text: String,
    /// With structural claims.
    pub system: Arc<System>,
    /// By claim: whether it holds, and the length of a shortest run that shows the answer.
    expected: Vec<Option<(bool, Option<u64>)>>,
}

/// What was compared, by engine or language.
#[derive(Default, Debug)]
pub struct Tally {
    pub compositions: u64,
    pub agreed_hold: u64,
    pub agreed_fail: u64,
    /// Claims without a verdict, or without an answer of the oracle to the text.
    pub open: u64,
    /// Claims that the language cannot express.
    pub not_written: u64,
    /// Compositions that are not written at all, or refused by the reader, by reason.
    pub refused: BTreeMap<String, u64>,
}

impl Tally {
    fn agree(&mut self, holds: bool) {
        match holds {
            true => self.agreed_hold += 1,
            false => self.agreed_fail += 1,
        }
    }
}

/// The composition of a seed with its answers: those of the interpreter of section 6 where it has
/// some, and else those of the oracle, which must agree. `None` if it is too large.
pub fn case(seed: u64) -> Result<Option<Case>, String> {
    let features = Features { families: !seed.is_multiple_of(3), ..Features::ALL };
    let whole = composition(seed, features);
    let text = whole.text();
    let Some(states) = States::of(&whole, Rules::Section, 600) else { return Ok(None) };
    let loaded = gander_lang::sts::load(&text, "whole.sts");
    let Some(system) = loaded.system else {
        return Err(format!("seed {seed}: {:?}\n{text}", loaded.diagnostics));
    };
    let system = system.and_structural_claims();
    let oracle = match decide(&system, Limits { work: 4_000_000, ..Limits::default() }) {
        Ok(oracle) => oracle,
        Err(Refusal::Unbounded(_) | Refusal::TooMuchWork) => return Ok(None),
        Err(refusal) => return Err(format!("seed {seed}: {refusal}\n{text}")),
    };
    let meant = states.decide(&whole);
    let mut expected = Vec::new();
    for (claim, answer) in system.claims().iter().zip(oracle) {
        let answer = answer.ok().map(|a| (a.holds, a.length));
        if let (Some(meant), Some((found, _))) = (meant.get(&claim.name), answer)
            && *meant != found
        {
            let name = &claim.name;
            return Err(format!("seed {seed}, {name}: meant {meant}, found {found}\n{text}"));
        }
        expected.push(answer);
    }
    // Structural claims that hold whatever the model does are not made.
    let structural = |name: &String| name.starts_with("no sinkhole ");
    for name in meant.keys().filter(|name| !structural(name)) {
        if !system.claims().iter().any(|c| c.name == *name) {
            return Err(format!("seed {seed}: no claim {name}\n{text}"));
        }
    }
    Ok(Some(Case { text, system: Arc::new(system), expected }))
}

/// The verdicts of one engine, or of all as users get them (`all`), within a time.
pub fn by_engine(
    case: &Case,
    engine: &str,
    time: Duration,
    solvers: &Arc<Solvers>,
    tally: &mut Tally,
) -> Result<(), String> {
    let claims: Vec<ClaimId> = (0..case.system.claims().len()).map(ClaimId::from).collect();
    let mut config = CheckConfig::new(Arc::clone(solvers), claims);
    config.timeout = Some(time);
    config.jobs = 1;
    if engine != "all" {
        config.engines = Some(vec![engine.to_string()]);
        config.options.max_depth = Some(24);
        config.options.induction.max_k = Some(24);
        config.options.simulation.max_steps = Some(3_000);
    }
    let report = check(&case.system, &config, &Cancellation::new(), &NullObserver);
    if let Some(error) = report.internal_errors.first() {
        let name = &case.system.claims()[error.claim.index()].name;
        return Err(format!("{engine}, {name}: {}\n{}", error.problem, case.text));
    }
    tally.compositions += 1;
    for outcome in &report.outcomes {
        let holds = match outcome.verdict {
            Verdict::Holds(_) => true,
            Verdict::Fails(_) => false,
            Verdict::Unknown { .. } => {
                tally.open += 1;
                continue;
            }
        };
        let Some((expected, _)) = case.expected[outcome.claim.index()] else { continue };
        if expected != holds {
            let name = &case.system.claims()[outcome.claim.index()].name;
            return Err(format!("{engine}, {name}: {holds}, must be {expected}\n{}", case.text));
        }
        tally.agree(holds);
    }
    Ok(())
}

fn options() -> Options {
    Options {
        default_range: Some(VALUES),
        depth: DEPTH,
        eliminate: Some(eliminate),
        ..Options::default()
    }
}

/// The answers to the claims of a text: those of the oracle where it has some, as the values of
/// inputs may have no bounds, and else the verdicts of the engines within a time.
fn answers_of(
    system: System,
    solvers: &Arc<Solvers>,
    time: Duration,
    answers: &mut BTreeMap<String, bool>,
) {
    let limits = Limits { states: 20_000, work: 4_000_000 };
    let oracle = decide(&system, limits);
    let known = oracle.is_ok();
    for (claim, answer) in system.claims().iter().zip(oracle.unwrap_or_default()) {
        answers.extend(answer.ok().map(|a| (claim.name.clone(), a.holds)));
    }
    if known || time.is_zero() {
        return;
    }
    let system = Arc::new(system);
    let claims = (0..system.claims().len()).map(ClaimId::from).collect();
    let mut config = CheckConfig::new(Arc::clone(solvers), claims);
    (config.timeout, config.jobs) = (Some(time), 1);
    for outcome in check(&system, &config, &Cancellation::new(), &NullObserver).outcomes {
        let holds = match outcome.verdict {
            Verdict::Holds(_) => true,
            Verdict::Fails(_) => false,
            Verdict::Unknown { .. } => continue,
        };
        answers.insert(system.claims()[outcome.claim.index()].name.clone(), holds);
    }
}

/// Writes the composition in a language, reads it again and compares the answers; engines have the
/// time where the oracle does not decide the text.
pub fn by_language(
    case: &Case,
    (format, file): (Format, &str),
    solvers: &Arc<Solvers>,
    time: Duration,
    tally: &mut Tally,
) -> Result<(), String> {
    let written = match write(&case.system, format, options(), Selection::All) {
        Ok(written) => written,
        Err(refusal) => {
            let reason = refusal.0.split('`').step_by(2).collect::<Vec<_>>().join("…");
            *tally.refused.entry(reason).or_default() += 1;
            return Ok(());
        }
    };
    let wrong = |what: &str| Err(format!("{file}: {what}\n{}\nof\n{}", written.text, case.text));
    let claims = written.names.claims();
    tally.compositions += 1;
    tally.not_written += (case.system.claims().len() - claims.len()) as u64;
    let Some(language) = language_of(file) else { return Ok(()) };
    let loaded = (language.load)(&written.text, file);
    let errors: Vec<String> =
        loaded.errors().map(|e| format!("{:?} {}", e.code, e.message)).collect();
    if !errors.is_empty() {
        return wrong(&format!("{errors:?}"));
    }
    let mut answers: BTreeMap<String, bool> = BTreeMap::new();
    for system in loaded.system.into_iter().chain(loaded.others) {
        answers_of(system, solvers, time, &mut answers);
    }
    for (number, claim) in claims.iter().enumerate() {
        // Horn clauses give queries no names: the reader numbers them.
        let name = match format {
            Format::Horn if claims.len() == 1 => "safe".to_string(),
            Format::Horn => format!("safe {}", number + 1),
            _ => claim.name.clone(),
        };
        let (Some(found), Some((expected, _))) =
            (answers.get(&name), case.expected[claim.claim.index()])
        else {
            tally.open += 1;
            continue;
        };
        if expected == (*found == claim.opposite) {
            let original = &case.system.claims()[claim.claim.index()].name;
            return wrong(&format!("{original} must be {expected}"));
        }
        tally.agree(expected);
    }
    Ok(())
}

/// The answers of z3 to a text.
fn z3_says(program: &Path, text: &str) -> Option<Vec<String>> {
    let mut child = Command::new(program)
        .args(["-T:10", "-in"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let said = String::from_utf8_lossy(&child.wait_with_output().ok()?.stdout).into_owned();
    let is_answer = |l: &&str| matches!(*l, "sat" | "unsat" | "unknown");
    Some(said.lines().map(str::trim).filter(is_answer).map(str::to_string).collect())
}

/// Writes queries for z3's Horn engine and compares its answers.
pub fn by_horn_queries(case: &Case, program: &Path, tally: &mut Tally) -> Result<(), String> {
    let options = Options { horn: HornDialect::Queries, ..options() };
    let Ok(written) = write(&case.system, Format::Horn, options, Selection::All) else {
        *tally.refused.entry(String::new()).or_default() += 1;
        return Ok(());
    };
    let claims = written.names.claims();
    tally.compositions += 1;
    tally.not_written += (case.system.claims().len() - claims.len()) as u64;
    let answers = z3_says(program, &written.text).unwrap_or_default();
    if answers.len() != claims.len() {
        tally.open += claims.len() as u64;
        return Ok(());
    }
    for (answer, claim) in answers.iter().zip(claims) {
        let Some((expected, _)) = case.expected[claim.claim.index()] else { continue };
        let holds = match answer.as_str() {
            "sat" => claim.opposite,
            "unsat" => !claim.opposite,
            _ => {
                tally.open += 1;
                continue;
            }
        };
        if holds != expected {
            let name = &case.system.claims()[claim.claim.index()].name;
            return Err(format!("z3, {name} must be {expected}\n{}\n{}", written.text, case.text));
        }
        tally.agree(expected);
    }
    Ok(())
}

/// Writes an unrolling for one claim about states and asks z3 for a run that decides it.
pub fn by_unrolling(case: &Case, program: &Path, tally: &mut Tally) -> Result<(), String> {
    let claims = case.system.claims();
    let about_states = |kind: &ClaimKind| match kind {
        ClaimKind::Always(_) => true,
        ClaimKind::Reachable(goals) => matches!(goals[..], [Goal::State(_)]),
        _ => false,
    };
    // Structural claims are not written.
    let written = |c: &Claim| c.origin != ClaimOrigin::Structural && about_states(&c.kind);
    let Some(at) = claims.iter().rposition(written) else { return Ok(()) };
    let Some((expected, length)) = case.expected[at] else { return Ok(()) };
    let only = [ClaimId::from(at)];
    let Ok(written) = write(&case.system, Format::Smt2, options(), Selection::Only(&only)) else {
        *tally.refused.entry(String::new()).or_default() += 1;
        return Ok(());
    };
    if written.names.claims().is_empty() {
        tally.not_written += 1;
        return Ok(());
    }
    tally.compositions += 1;
    let wanted = length.is_some_and(|n| n <= u64::from(DEPTH));
    match z3_says(program, &written.text).unwrap_or_default().as_slice() {
        [one] if one == "sat" || one == "unsat" => {
            if (one == "sat") != wanted {
                let name = &claims[at].name;
                return Err(format!("{name}: {one}\n{}\nof\n{}", written.text, case.text));
            }
            tally.agree(expected);
        }
        _ => tally.open += 1,
    }
    Ok(())
}
