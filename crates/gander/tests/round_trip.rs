//! Models of the corpus written in every language that is also read, read again and decided by the
//! engines: never the contrary verdict. `gander-export` compares all that the oracle decides; here
//! is what it does not, numbers without bounds above all.

#![allow(clippy::print_stdout, reason = "lists what is left out")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gander_engines::{Cancellation, CheckConfig, NullObserver, check};
use gander_export::{Format, Options, Selection, write};
use gander_lang::language_of;
use gander_oracle::{Limits, decide};
use gander_smt::Solvers;
use gander_system::{ClaimId, System, Verdict};

/// Who has not decided a claim by then has no verdict to compare.
const TIME_LIMIT: Duration = Duration::from_millis(1000);

const FORMATS: &[(Format, &str)] = &[
    (Format::Sts, "again.sts"),
    (Format::Script, "again.script"),
    (Format::Smv, "again.smv"),
    (Format::Vmt, "again.vmt"),
    (Format::Horn, "again.smt2"),
    (Format::Btor2, "again.btor2"),
    (Format::Lustre, "again.lus"),
];

/// Each system is tried in so many languages, not always the same, as all of them would take
/// minutes.
const LANGUAGES_EACH: usize = 3;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.retain(|p| language_of(&p.to_string_lossy()).is_some());
    files.sort();
    files
}

/// The oracle decides all claims: they are compared elsewhere.
fn is_small(system: &System) -> bool {
    let limits = Limits { states: 1_000, work: 1_000_000 };
    decide(system, limits).is_ok_and(|all| all.iter().all(Result::is_ok))
}

/// The verdicts of the engines, by name.
fn verdicts(system: &System, solvers: &Arc<Solvers>, what: &str) -> BTreeMap<String, bool> {
    let system = Arc::new(system.clone());
    let claims: Vec<ClaimId> = (0..system.claims().len()).map(ClaimId::from).collect();
    if claims.is_empty() {
        return BTreeMap::new();
    }
    let mut config = CheckConfig::new(Arc::clone(solvers), claims);
    config.timeout = Some(TIME_LIMIT);
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    assert!(report.internal_errors.is_empty(), "{what}: {:?}", report.internal_errors);
    let found = report.outcomes.iter().filter_map(|o| {
        let holds = match o.verdict {
            Verdict::Holds(_) => true,
            Verdict::Fails(_) => false,
            Verdict::Unknown { .. } => return None,
        };
        Some((system.claims()[o.claim.index()].name.clone(), holds))
    });
    found.collect()
}

/// A claim of a text: its name there, its name here, whether the text says the contrary.
type Counterpart = (String, String, bool);

/// Text, and the claims in it.
fn written(system: &System, format: Format) -> Option<(String, Vec<Counterpart>)> {
    let name = |c: ClaimId| system.claims()[c.index()].name.clone();
    let found = write(system, format, Options::default(), Selection::All).ok()?;
    let claims =
        found.names.claims().iter().map(|c| (c.name.clone(), name(c.claim), c.opposite)).collect();
    Some((found.text, claims))
}

#[test]
fn what_the_oracle_does_not_decide_comes_back_with_the_same_verdicts() {
    let solvers = Arc::new(Solvers::from_environment());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let (mut at, mut compared, mut open, mut refused, mut unread, mut skipped) = (0, 0, 0, 0, 0, 0);
    for language in ["sts", "script", "lustre", "smv", "vmt", "horn", "btor2", "mcmt"] {
        for path in ["holds", "fails"].iter().flat_map(|f| files(&corpus.join(language).join(f))) {
            let text = std::fs::read_to_string(&path).expect("a model can be read");
            let name = path.to_string_lossy().into_owned();
            let loaded = (language_of(&name).expect("its language").load)(&text, &name);
            for system in loaded.system.iter().chain(&loaded.others).filter(|s| !is_small(s)) {
                at += 1;
                let mut before = None;
                for (k, (format, file)) in FORMATS.iter().enumerate() {
                    if (k + at) % FORMATS.len() >= LANGUAGES_EACH {
                        skipped += 1;
                        continue;
                    }
                    let Some((text, claims)) = written(system, *format) else {
                        refused += 1;
                        continue;
                    };
                    let loaded = (language_of(file).expect("its language").load)(&text, file);
                    let errors: Vec<_> =
                        loaded.errors().map(|e| format!("{:?} {}", e.code, e.message)).collect();
                    if !errors.is_empty() && errors.iter().all(|e| e.starts_with("E0510")) {
                        unread += 1;
                        continue;
                    }
                    assert!(errors.is_empty(), "{name} as {file}: {errors:?}\n{text}");
                    let before = before.get_or_insert_with(|| verdicts(system, &solvers, &name));
                    let again = loaded.system.iter().chain(&loaded.others);
                    let after: BTreeMap<String, bool> =
                        again.flat_map(|s| verdicts(s, &solvers, &name)).collect();
                    for (there, here, opposite) in &claims {
                        let only = claims.len() == 1 && *format == Format::Horn;
                        let new = if only { after.get("safe") } else { after.get(there) };
                        match (before.get(here), new) {
                            (Some(old), Some(new)) => {
                                compared += 1;
                                assert_eq!(
                                    *old,
                                    *new != *opposite,
                                    "{name} as {file}, claim {here}\n{text}"
                                );
                            }
                            _ => open += 1,
                        }
                    }
                }
            }
        }
    }
    println!(
        "{at} systems in {LANGUAGES_EACH} of {} languages each ({skipped} left for another place in the order):",
        FORMATS.len()
    );
    println!("{compared} verdicts compared, {open} claims without a verdict on both sides,");
    println!("{refused} texts refused by the exporter, {unread} written in a way that is not read");
    assert!(compared > 60, "{compared}");
}
