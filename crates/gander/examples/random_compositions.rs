//! Compares random compositions with their meaning by brute force (docs/semantics.md, section 6):
//! `random_compositions COUNT [FIRST SEED] [--engines all|NAME,NAME...|turns|none] [--exports]
//! [--z3] [--budget MILLISECONDS]`.
//!
//! With `turns` each composition gets one engine, in turn; `--exports` writes each composition in
//! every language that is also read, and lets engines decide what the oracle refuses, `--z3` asks
//! z3 about Horn queries and unrollings. The program ends at the first disagreement.

use std::collections::BTreeMap;
use std::io::{Error, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "../tests/random_compositions/comparison.rs"]
mod comparison;

use comparison::{READ, Tally, by_engine, by_horn_queries, by_language, by_unrolling, case};
use gander_export::Format;
use gander_smt::Solvers;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = words.iter().position(|w| w == name)?;
        words.get(at + 1).cloned()
    };
    let has = |name: &str| words.iter().any(|w| w == name);
    let mut numbers = words.iter().map_while(|w| w.parse::<u64>().ok());
    let (count, first) = (numbers.next().unwrap_or(1_000), numbers.next().unwrap_or(0));
    let engines = value("--engines").unwrap_or_else(|| "turns".to_string());
    let budget = value("--budget").and_then(|b| b.parse().ok()).unwrap_or(1_000);
    let all = gander_engines::engines();
    let names: Vec<&str> = match engines.as_str() {
        "turns" => all.iter().map(|e| e.name).chain(["all"]).collect(),
        "none" => Vec::new(),
        named => named.split(',').collect(),
    };
    let solvers = Arc::new(Solvers::from_environment().kept_running());
    let z3 = solvers.z3().map(|s| s.program.clone()).filter(|_| has("--z3"));
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let (begun, mut compared, mut too_large) = (Instant::now(), 0, 0);
    let mut out = std::io::stdout();
    for seed in first..first + count {
        let fail = |what: String| Error::other(format!("seed {seed}: {what}"));
        let Some(case) = case(seed).map_err(fail)? else {
            too_large += 1;
            continue;
        };
        compared += 1;
        let turn = if engines == "turns" { Some(seed as usize % names.len()) } else { None };
        for (_, name) in names.iter().enumerate().filter(|(i, _)| turn.is_none_or(|t| t == *i)) {
            let tally = tallies.entry(name.to_string()).or_default();
            by_engine(&case, name, Duration::from_millis(budget), &solvers, tally).map_err(fail)?;
        }
        if has("--exports") {
            for (format, file) in READ.iter().copied().chain([(Format::Uppaal, "again.xml")]) {
                let tally = tallies.entry(file.to_string()).or_default();
                let time = Duration::from_millis(budget);
                by_language(&case, (format, file), &solvers, time, tally).map_err(fail)?;
            }
        }
        if let Some(program) = &z3 {
            let queries = tallies.entry("z3, Horn queries".to_string()).or_default();
            by_horn_queries(&case, program, queries).map_err(fail)?;
            let unrollings = tallies.entry("z3, unrollings".to_string()).or_default();
            by_unrolling(&case, program, unrollings).map_err(fail)?;
        }
    }
    let seconds = begun.elapsed().as_secs();
    writeln!(out, "{compared} compositions, {too_large} too large, {seconds} s")?;
    for (name, t) in tallies {
        writeln!(
            out,
            "{name}: {} compositions, {} agreed hold, {} agreed fail, {} open, {} not written, \
             refused {:?}",
            t.compositions, t.agreed_hold, t.agreed_fail, t.open, t.not_written, t.refused
        )?;
    }
    Ok(())
}
