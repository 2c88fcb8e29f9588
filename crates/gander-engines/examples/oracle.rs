//! Compares engines with the oracle: `oracle COUNT [FIRST [ENGINE [DEPTH]]]`, for example
//! `oracle 20000 0 induction 6`. The depth bounds bounded model checking and induction.

#[path = "../tests/models/against_oracle.rs"]
mod against_oracle;

use std::io::Write;
use std::time::Instant;

use against_oracle::Portfolio;
use gander_engines::engines;
use gander_oracle::{Comparison, Lengths, compare};

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |i: usize, default: u64| args.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (count, first) = (number(1, 1000), number(2, 0));
    let engine = args.get(3).map(String::as_str);
    let shortest = engines().iter().all(|e| engine != Some(e.name) || e.finds_shortest);
    let lengths = if shortest { Lengths::Shortest } else { Lengths::Any };
    let mut portfolio = Portfolio::new(engine.map(|e| [e]).as_ref().map(|e| &e[..]));
    if args.len() > 4 {
        let depth = number(4, 24) as u32;
        (portfolio.max_depth, portfolio.max_k) = (Some(depth), Some(depth));
    }
    let comparison = Comparison { lengths, ..Comparison::default() };
    let begun = Instant::now();
    let report = compare(first..first + count, &mut portfolio, comparison);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{report}")?;
    for open in portfolio.open.iter().filter(|o| !o.contains("yet")).take(20) {
        writeln!(out, "open: {open}")?;
    }
    for problem in &portfolio.problems {
        writeln!(out, "internal error: {problem}")?;
    }
    writeln!(out, "{:.1} s", begun.elapsed().as_secs_f64())
}
