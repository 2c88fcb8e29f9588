//! The corpus: every model with its expected verdicts, one named test a file. corpus/README.md says
//! how expectations are written.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gander_certify::Trust;
use gander_engines::{Cancellation, CheckConfig, NullObserver, check};
use gander_lang::{LineIndex, Loaded, language_of};
use gander_smt::{Search, Solvers};
use gander_system::{ClaimId, Evidence, System, Verdict};
use libtest_mimic::{Arguments, Failed, Trial};

/// Long enough for every claim that is expected to be decided, on a slow machine.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// For claims that are expected to stay open.
const SHORT_TIME_LIMIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Folder {
    Holds,
    Fails,
    Error,
    Open,
    /// `examples/`: what the expectations do not mention holds.
    Example,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    Holds,
    Fails,
    Unknown,
}

/// `// expect NAME: fails, length 3`
#[derive(Clone, PartialEq, Eq, Debug)]
struct Expected {
    word: Word,
    length: Option<u64>,
    /// For an open claim: what it should be one day.
    truth: Option<Word>,
}

fn main() {
    let arguments = Arguments::from_args();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let root = corpus.join("sts");
    let solvers = Arc::new(Solvers::from_environment());
    let mut trials = vec![Trial::test("expectations_are_read", expectations_are_read)];
    let mut models = 0;
    for (language, prefix) in [
        ("sts", ""),
        ("lustre", "lustre::"),
        ("script", "script::"),
        ("vmt", "vmt::"),
        ("horn", "horn::"),
        ("btor2", "btor2::"),
        ("mcmt", "mcmt::"),
        ("smv", "smv::"),
    ] {
        for (name, folder) in [
            ("holds", Folder::Holds),
            ("fails", Folder::Fails),
            ("error", Folder::Error),
            ("open", Folder::Open),
        ] {
            for path in files(&corpus.join(language).join(name)) {
                models += 1;
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let solvers = Arc::clone(&solvers);
                trials.push(Trial::test(format!("{prefix}{name}::{stem}"), move || {
                    examine(&path, folder, &solvers)
                }));
            }
        }
    }
    let examples = corpus.join("../examples");
    let folders = ["", "banking", "script"];
    for path in folders.iter().flat_map(|f| files(&examples.join(f))) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let solvers = Arc::clone(&solvers);
        trials.push(Trial::test(format!("example::{stem}"), move || {
            examine(&path, Folder::Example, &solvers)
        }));
    }
    trials.push(Trial::test("at_least_sixty_models", move || {
        if models < 60 { Err(format!("only {models} models").into()) } else { Ok(()) }
    }));
    let lying = corpus.clone();
    trials.push(Trial::test("a_solver_that_lies_gives_no_wrong_verdict", move || {
        lying_solvers(&lying)
    }));
    trials.push(Trial::test("a_wrong_expectation_fails", move || {
        wrong_expectations_fail(&root, &solvers)
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

/// One solver says `unsat` for `sat`, the other one is honest: with two that must agree, no verdict
/// is wrong.
fn lying_solvers(corpus: &Path) -> Result<(), Failed> {
    let found = Solvers::from_environment();
    let (Some(z3), Some(yices)) = (found.z3(), found.yices()) else {
        skip("solvers: a_solver_that_lies_gives_no_wrong_verdict: z3 or yices is missing");
        return Ok(());
    };
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    for (lying, honest) in [(z3, yices), (yices, z3)] {
        let path = folder.path().join(format!("lying-{}", lying.name));
        let text =
            format!("#!/bin/sh\n'{}' \"$@\" | sed -u 's/^sat$/unsat/'\n", lying.program.display());
        std::fs::write(&path, text).map_err(|e| e.to_string())?;
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .map_err(|e| e.to_string())?;
        let named = [
            ("cvc5", Path::new("none")),
            (&*lying.name, &*path),
            (&*honest.name, &*honest.program),
        ];
        let named =
            named.iter().map(|(name, path)| (name.to_string(), path.to_path_buf())).collect();
        let solvers = Arc::new(Solvers::find(Search { named, ..Search::default() }));
        for language in ["sts", "lustre", "btor2", "vmt"] {
            // A part of them: what is not decided takes all its time.
            for path in files(&corpus.join(language).join("fails")).into_iter().step_by(7) {
                let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
                let expected = expectations(&source)?;
                let loaded = load(&source, &path.to_string_lossy())?;
                for system in loaded.system.into_iter().chain(loaded.others) {
                    let system = Arc::new(system.with_structural_claims());
                    let claims = (0..system.claims().len()).map(ClaimId::from).collect();
                    let mut config = CheckConfig::new(Arc::clone(&solvers), claims);
                    (config.trust, config.timeout) = (Trust::Two, Some(Duration::from_millis(700)));
                    for outcome in
                        check(&system, &config, &Cancellation::new(), &NullObserver).outcomes
                    {
                        let name = &system.claims()[outcome.claim.index()].name;
                        let word =
                            expected.get(name).map_or(Word::Holds, |e| e.truth.unwrap_or(e.word));
                        let wrong = match outcome.verdict {
                            Verdict::Holds(_) => word == Word::Fails,
                            Verdict::Fails(_) => word == Word::Holds,
                            Verdict::Unknown { .. } => false,
                        };
                        if wrong {
                            return Err(
                                format!("{} lies: {}: {name}", lying.name, path.display()).into()
                            );
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// Notes that a test was skipped, and why.
#[allow(clippy::print_stderr)]
fn skip(why: &str) {
    use std::io::Write as _;
    eprintln!("SKIPPED {why}");
    if let Some(path) = std::env::var_os("GANDER_SKIP_LOG")
        && let Ok(mut log) = std::fs::OpenOptions::new().append(true).create(true).open(path)
    {
        let _ = writeln!(log, "{why}");
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    files.retain(|p| language_of(&p.to_string_lossy()).is_some());
    files.sort();
    files
}

fn examine(path: &Path, folder: Folder, solvers: &Arc<Solvers>) -> Result<(), Failed> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    Ok(examine_text(&source, &path.to_string_lossy(), folder, solvers)?)
}

fn examine_source(source: &str, folder: Folder, solvers: &Arc<Solvers>) -> Result<(), String> {
    examine_text(source, "model.sts", folder, solvers)
}

fn load(source: &str, name: &str) -> Result<Loaded, String> {
    let language = language_of(name).ok_or_else(|| format!("no language has files like {name}"))?;
    Ok((language.load)(source, name))
}

fn examine_text(
    source: &str,
    name: &str,
    folder: Folder,
    solvers: &Arc<Solvers>,
) -> Result<(), String> {
    if folder == Folder::Error {
        return examine_errors(source, name);
    }
    let loaded = load(source, name)?;
    let errors: Vec<String> =
        loaded.errors().map(|d| format!("{:?} {}", d.code, d.message)).collect();
    let Some(system) = loaded.system else { return Err(format!("does not load: {errors:?}")) };
    let all = std::iter::once(system).chain(loaded.others);
    let systems: Vec<Arc<System>> = all.map(|s| Arc::new(s.with_structural_claims())).collect();
    let expected = expectations(source)?;
    are_in_place(&systems, &expected, folder)?;
    let problems: Vec<String> = systems
        .iter()
        .filter_map(|system| examine_verdicts(system, &expected, solvers).err())
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.concat()) }
}

/// Every expectation is about a claim, and the file is in the folder that its expectations say.
fn are_in_place(
    systems: &[Arc<System>],
    expected: &BTreeMap<String, Expected>,
    folder: Folder,
) -> Result<(), String> {
    for name in expected.keys() {
        if systems.iter().all(|s| s.find_claim(name).is_none()) {
            let names: Vec<&str> =
                systems.iter().flat_map(|s| s.claims()).map(|c| c.name.as_str()).collect();
            return Err(format!("no claim is called `{name}`; there are {names:?}"));
        }
    }
    let odd = |w: Word| expected.values().any(|e| e.word == w);
    match folder {
        Folder::Holds if odd(Word::Fails) || odd(Word::Unknown) => {
            Err("belongs to another folder".into())
        }
        Folder::Fails if !odd(Word::Fails) || odd(Word::Unknown) => {
            Err("belongs to another folder".into())
        }
        Folder::Example if odd(Word::Unknown) => Err("an example has no open claims".into()),
        Folder::Open if !odd(Word::Unknown) => Err("nothing is open: move the file".into()),
        _ => Ok(()),
    }
}

/// The lines `// expect …` (`-- expect …` or `; expect …` where comments begin so) of a file,
/// without the prefix.
fn expect_lines(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter_map(|l| {
        let line = l.trim();
        ["// expect ", "-- expect ", "; expect "]
            .iter()
            .find_map(|prefix| line.strip_prefix(prefix))
    })
}

fn expectations(source: &str) -> Result<BTreeMap<String, Expected>, String> {
    let mut all = BTreeMap::new();
    for line in expect_lines(source) {
        let (name, rest) =
            line.rsplit_once(": ").ok_or_else(|| format!("not an expectation: {line}"))?;
        let (verdict, length) = match rest.split_once(", length ") {
            Some((verdict, n)) => {
                (verdict, Some(n.parse::<u64>().map_err(|e| format!("{line}: {e}"))?))
            }
            None => (rest, None),
        };
        let (word, truth) = match verdict {
            "holds" => (Word::Holds, None),
            "fails" => (Word::Fails, None),
            "unknown but holds" => (Word::Unknown, Some(Word::Holds)),
            "unknown but fails" => (Word::Unknown, Some(Word::Fails)),
            _ => return Err(format!("not an expectation: {line}")),
        };
        if all.insert(name.to_string(), Expected { word, length, truth }).is_some() {
            return Err(format!("two expectations for {name}"));
        }
    }
    Ok(all)
}

fn examine_verdicts(
    system: &Arc<System>,
    expected: &BTreeMap<String, Expected>,
    solvers: &Arc<Solvers>,
) -> Result<(), String> {
    let of = |id: ClaimId| {
        let default = Expected { word: Word::Holds, length: None, truth: None };
        expected.get(&system.claims()[id.index()].name).cloned().unwrap_or(default)
    };
    let (open, settled): (Vec<ClaimId>, Vec<ClaimId>) =
        (0..system.claims().len()).map(ClaimId::from).partition(|&id| of(id).word == Word::Unknown);
    let mut problems = String::new();
    let mut longer = Vec::new();
    for (claims, time_limit) in [(settled, TIME_LIMIT), (open, SHORT_TIME_LIMIT)] {
        for (id, found, length) in decide(system, claims, time_limit, None, solvers)? {
            let (name, wanted) = (&system.claims()[id.index()].name, of(id));
            match wanted.truth {
                _ if found == wanted.word => {}
                Some(truth) if found == truth => {
                    let _ = writeln!(
                        problems,
                        "`{name}` is decided now ({found:?}): it is no longer open"
                    );
                }
                _ => {
                    let _ =
                        writeln!(problems, "`{name}`: expected {:?}, found {found:?}", wanted.word);
                }
            }
            match (wanted.length, length) {
                (Some(n), Some(m)) if m > n => longer.push(id),
                (Some(n), m) if m != Some(n) => {
                    let _ = writeln!(problems, "`{name}`: expected length {n}, found {m:?}");
                }
                _ => {}
            }
        }
    }
    // Other engines may find a longer run first; bounded model checking must find a shortest one.
    if !longer.is_empty() {
        for (id, _, length) in decide(system, longer, TIME_LIMIT, Some("bmc"), solvers)? {
            if length != of(id).length {
                let name = &system.claims()[id.index()].name;
                let _ = writeln!(
                    problems,
                    "`{name}`: expected length {:?}, bmc found {length:?}",
                    of(id).length
                );
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn decide(
    system: &Arc<System>,
    claims: Vec<ClaimId>,
    time_limit: Duration,
    engine: Option<&str>,
    solvers: &Arc<Solvers>,
) -> Result<Vec<(ClaimId, Word, Option<u64>)>, String> {
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    let mut config = CheckConfig::new(Arc::clone(solvers), claims);
    config.timeout = Some(time_limit);
    config.engines = engine.map(|e| vec![e.to_string()]);
    let report = check(system, &config, &Cancellation::new(), &NullObserver);
    if let Some(e) = report.internal_errors.first() {
        return Err(format!("internal error of {}: {}", e.engine, e.problem));
    }
    let word = |v: &Verdict| match v {
        Verdict::Holds(_) => Word::Holds,
        Verdict::Fails(_) => Word::Fails,
        Verdict::Unknown { .. } => Word::Unknown,
    };
    let length = |v: &Verdict| match v {
        Verdict::Holds(Evidence::Run(run)) | Verdict::Fails(Evidence::Run(run)) => {
            Some(run.length())
        }
        _ => None,
    };
    Ok(report.outcomes.iter().map(|o| (o.claim, word(&o.verdict), length(&o.verdict))).collect())
}

/// Exactly the expected errors, at the expected places, and no follow-ups.
fn examine_errors(source: &str, name: &str) -> Result<(), String> {
    let mut wanted: Vec<String> = expect_lines(source).map(str::to_string).collect();
    let loaded = load(source, name)?;
    let lines = LineIndex::new(source);
    let mut found: Vec<String> = loaded
        .errors()
        .map(|d| {
            let at = lines.position(source, d.primary.span.start);
            format!("{:?} at {}:{}", d.code, at.line, at.column)
        })
        .collect();
    wanted.sort();
    found.sort();
    if loaded.system.is_some() {
        return Err("the file was accepted".into());
    }
    if wanted == found { Ok(()) } else { Err(format!("expected {wanted:#?}, found {found:#?}")) }
}

fn expectations_are_read() -> Result<(), Failed> {
    let read =
        expectations("// expect a b: fails, length 3\n// expect c: unknown but holds\nspec S\n")?;
    let fails = Expected { word: Word::Fails, length: Some(3), truth: None };
    let open = Expected { word: Word::Unknown, length: None, truth: Some(Word::Holds) };
    assert_eq!(read.into_iter().collect::<Vec<_>>(), [("a b".into(), fails), ("c".into(), open)]);
    assert!(expectations("// expect a: maybe").is_err());
    Ok(())
}

/// Changes one expectation of a model at a time: each must make its test fail.
fn wrong_expectations_fail(root: &Path, solvers: &Arc<Solvers>) -> Result<(), Failed> {
    let read = |p: &str| std::fs::read_to_string(root.join(p)).map_err(|e| format!("{p}: {e}"));
    let counter = read("fails/range.sts")?;
    let changes = [
        ("fails, length 4", "fails, length 3"),
        ("fails, length 4", "fails, length 5"),
        ("fails, length 4", "holds"),
        ("holds, length 5", "holds, length 4"),
        ("holds, length 5", "fails"),
    ];
    for (from, to) in changes {
        let changed = counter.replacen(from, to, 1);
        assert_ne!(changed, counter, "`{from}` is not in the model");
        if examine_source(&changed, Folder::Fails, solvers).is_ok() {
            return Err(format!("`{from}` changed to `{to}` was not noticed").into());
        }
    }
    if examine_source(&counter, Folder::Holds, solvers).is_ok() {
        return Err("a failing model was accepted in `holds`".into());
    }
    // The second system of a file counts too: that of goals that do not know the limit of steps.
    let script = "// expect safe: holds\n// expect loops: holds\nMAXSTEPS: 3\nVARS: int x : 0..9;\nINIT: x = 0;\nTRANS: x = 1 - x;\n\
                  SAFE safe: x < 2\nINF loops:\n";
    examine_text(script, "model.script", Folder::Holds, solvers)?;
    for (from, to) in [("safe: holds", "safe: fails"), ("loops: holds", "loops: fails")] {
        if examine_text(&script.replacen(from, to, 1), "model.script", Folder::Fails, solvers)
            .is_ok()
        {
            return Err(format!("`{from}` changed to `{to}` was not noticed").into());
        }
    }
    let error = read("error/unknown_name.sts")?;
    if examine_source(&error.replace("at 5:", "at 4:"), Folder::Error, solvers).is_ok() {
        return Err("a wrong line was not noticed".into());
    }
    Ok(())
}
