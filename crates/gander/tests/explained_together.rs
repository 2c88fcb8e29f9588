//! Several claims are explained on several threads: with the results of one thread, in the same
//! order, and all of them stop when they should.
//!
//! Only the number of threads differs between the runs that are compared. PDR alone decides the
//! claims, because its proofs have formulas: how a proof without formulas (a closed set) is reduced
//! depends on which engine answers first. No time limit can end a query.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gander::engines::{Cancellation, NullObserver};
use gander::explanation::{CoreSelection, Request};
use gander::report::{Completeness, ExplainedView, explain_json};
use gander::smt::Solvers;
use gander::{CheckOptions, ExplainOptions, Explained, explain_source};
use gander_runtime::Random;

fn solvers() -> Option<Arc<Solvers>> {
    let solvers = Solvers::from_environment();
    let found = solvers.z3().is_some_and(|s| Path::new(&s.program).exists());
    if !found {
        assert!(std::env::var_os("CI").is_none(), "there is no solver");
    }
    found.then(|| Arc::new(solvers))
}

/// Signals that are true for different reasons, made of earlier ones; some of them are claims.
fn signals(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut vars = String::from("var x0");
    let mut equations = String::from("  x0 = a or not a;\n");
    for i in 1..48 {
        let _ = write!(vars, ", x{i}");
        let (j, k) = (random.below(i), i.saturating_sub(1 + random.below(4.min(i))));
        let value = match random.below(5) {
            0 => format!("true -> pre x{k}"),
            1 => format!("x{j} or x{k}"),
            2 => format!("a and x{j} or x{k}"),
            _ => format!("x{j} and x{k}"),
        };
        let _ = writeln!(equations, "  x{i} = {value};");
    }
    for i in 0..6 {
        let _ = writeln!(equations, "  --%PROPERTY x{};", 30 + random.below(18));
        // One that fails is among them.
        if i == 2 {
            equations.push_str("  --%PROPERTY a;\n");
        }
    }
    format!(
        "node top(a: bool) returns (ok: bool);\n{vars}: bool;\nlet\n{equations}  ok = x47;\ntel\n"
    )
}

/// Proofs are kept in the folder, so that the same ones are explained each time.
fn explain(
    source: &str,
    jobs: usize,
    cores: CoreSelection,
    folder: &Path,
) -> Option<(Explained, Vec<String>)> {
    let (solvers, cache) = (Some(solvers()?), Some(folder.to_path_buf()));
    let engines = vec!["pdr".to_string()];
    let check =
        CheckOptions { jobs: Some(jobs), solvers, cache, engines, ..CheckOptions::default() };
    let request = Request { cores, ..Request::default() };
    let share = Duration::from_secs(600);
    let options = ExplainOptions { check, request, share, ..ExplainOptions::default() };
    let mut reported = Vec::new();
    let mut found =
        |claim: &str, names: &[String]| reported.push(format!("{claim}: {}", names.join(" ")));
    let explained = explain_source(
        source,
        "signals.lus",
        &options,
        &Cancellation::new(),
        &NullObserver,
        &mut found,
    );
    Some((explained, reported))
}

#[test]
fn two_threads_find_what_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..6 {
        let source = signals(seed);
        let cores = if seed % 2 == 0 { CoreSelection::All } else { CoreSelection::One };
        if explain(&source, 2, cores, folder.path()).is_none() {
            return;
        }
        let [(alone, reported_alone), (together, reported)] =
            [1, 2].map(|jobs| explain(&source, jobs, cores, folder.path()).unwrap());
        assert_eq!(alone.views.len(), 1, "{:?}", alone.diagnostics);
        assert!(alone.views[0].results.len() >= 4, "{source}");
        let exact = |r: &ExplainedView| r.completeness == Completeness::Exact;
        let inexact: Vec<_> = alone.views[0].results.iter().filter(|r| !exact(r)).collect();
        assert!(inexact.is_empty(), "{inexact:?}\n{source}");
        assert!(alone.views[0].results.iter().all(|r| !r.cores.is_empty()), "{source}");
        assert_eq!(explain_json(&together.views), explain_json(&alone.views), "{source}");
        assert_eq!(reported, reported_alone, "{source}");
        assert!(together.failed && !together.open);
        assert_eq!((alone.views[0].runs.len(), together.views[0].runs.len()), (1, 1));
        // Only what is known to be minimal is reported before the end.
        if cores == CoreSelection::All {
            assert!(reported.len() >= alone.views[0].results.len());
        }
    }
}

/// Claims each of which has more cores than anybody can list.
fn endless() -> String {
    let mut vars = String::from("var x0");
    let mut equations = String::from("  x0 = a or not a;\n");
    for i in 1..40 {
        let _ = write!(vars, ", l{i}, r{i}, x{i}");
        let _ =
            writeln!(equations, "  l{i} = x{0};\n  r{i} = x{0};\n  x{i} = l{i} or r{i};", i - 1);
    }
    let claims: String = (34..40).map(|i| format!("  --%PROPERTY x{i};\n")).collect();
    format!(
        "node top(a: bool) returns (ok: bool);\n{vars}: bool;\nlet\n{equations}  ok = x39;\n{claims}tel\n"
    )
}

#[test]
fn all_threads_stop_when_they_should() {
    let Some(solvers) = solvers() else { return };
    let check = CheckOptions { jobs: Some(2), solvers: Some(solvers), ..CheckOptions::default() };
    let request = Request { cores: CoreSelection::All, ..Request::default() };
    let options = ExplainOptions { check, request, ..ExplainOptions::default() };
    let cancel = Cancellation::new();
    let mut reported = 0;
    let mut found = |_: &str, _: &[String]| {
        reported += 1;
        cancel.cancel();
    };
    // That it ends at all is what is shown: there are 2^34 cores and more of each claim.
    let explained =
        explain_source(&endless(), "endless.lus", &options, &cancel, &NullObserver, &mut found);
    assert!(reported >= 1);
    let results = &explained.views[0].results;
    assert_eq!(results.len(), 6, "{:?}", explained.views[0].unexplained);
    assert!(results.iter().all(|r| r.completeness == Completeness::Unfinished && !r.complete));
}
