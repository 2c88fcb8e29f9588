//! Measures finite engines on counters: `finite ENGINE COUNTERS TOP [JOBS]`, for example `finite
//! explicit 3 159`.
//!
//! Each of the counters goes round from 0 to TOP on its own; asked for is the state with all of
//! them at TOP, the farthest one, so all states are looked at and the evidence is a run.

#[path = "../tests/models/mod.rs"]
mod models;

use std::io::Write;
use std::time::Instant;

use gander_engines::{Cancellation, NullObserver, check};
use models::{Model, config};

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number =
        |i: usize, default: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let engine = args.get(1).map_or("explicit", String::as_str);
    let (n, top) = (number(2, 3), number(3, 99));
    let mut m = Model::new(&["A"]);
    let all =
        |value: u64| (0..n).map(|i| format!("x{i} == {value}")).collect::<Vec<_>>().join(" and ");
    for i in 0..n {
        m.int(&format!("x{i}"));
    }
    m.start("go", 0, &all(0));
    for i in 0..n {
        let next = format!("x{i} := if x{i} == {top} then 0 else x{i} + 1");
        m.step(&format!("t{i}"), 0, 0, &[], "true", &[&next]);
    }
    m.reachable("all at the top", &[&all(top)]);
    let system = m.finish();
    let mut config = config(&system);
    config.engines = Some(vec![engine.to_string()]);
    config.jobs = number(4, 0) as usize;
    let begun = Instant::now();
    let report = check(&system, &config, &Cancellation::new(), &NullObserver);
    let seconds = begun.elapsed().as_secs_f64();
    let states = ((top + 1) as f64).powi(n as i32);
    let mut out = std::io::stdout().lock();
    let verdict = format!("{:?}", report.outcomes[0].verdict);
    writeln!(out, "{}", verdict.chars().take(60).collect::<String>())?;
    writeln!(out, "{states} states, {:.3} s, {:.0} states a second", seconds, states / seconds)
}
