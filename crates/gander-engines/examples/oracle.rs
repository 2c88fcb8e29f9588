//! Compares engines with the oracle, part by part, and counts by kind of claim.
//!
//! ```text
//! oracle COUNT [FIRST [ENGINE,ENGINE... [DEPTH]]] [--budget MILLISECONDS] [--part COUNT]
//!        [--log FILE]
//!        [--systems usual|few|linear|bits|arrays|dataflow|composed|checks|joined|linked|open]
//!        [--minutes MINUTES] [--open]
//! oracle --table FILE
//! ```
//!
//! For example `oracle 20000 0 induction,pdr --log runs.tsv`. Engines run one after the other on
//! the systems FIRST to FIRST + COUNT; `all` is the portfolio as users get it, `nodes+bmc` two
//! engines together. The depth limits bounded model checking and induction, the budget limits the
//! time for one system; claims that are undecided by then stay open. `open` are systems with arrays
//! of open size, for the engine `sizes`: its runs are compared with those of each size, and it must
//! find a run if there is one within the depth.
//!
//! Each part appends a few lines to the log when it is over. To continue a run that was stopped,
//! give the next FIRST. `--table` summarises a log; if a part was run several times, the last run
//! counts. The program ends at the first disagreement or internal error.

#[path = "../tests/models/against_oracle.rs"]
mod against_oracle;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Error, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use against_oracle::Portfolio;
use gander_engines::{EngineOptions, engines};
use gander_oracle::{Comparison, Lengths, Report, Settings, Tally, compare, compare_open};
use gander_smt::Solvers;
use gander_system::ClaimKind;

struct Options {
    count: u64,
    first: u64,
    engines: Vec<String>,
    depth: Option<u32>,
    systems: String,
    budget: Duration,
    part: u64,
    log: Option<String>,
    minutes: u64,
    open: bool,
}

fn wrong(message: String) -> Error {
    Error::other(message)
}

fn options(arguments: &[String]) -> Result<Options, Error> {
    let mut options = Options {
        count: 1000,
        first: 0,
        engines: vec!["all".into()],
        depth: None,
        systems: "usual".into(),
        budget: Duration::from_secs(20),
        part: 500,
        log: None,
        minutes: 600,
        open: false,
    };
    let number = |text: &str| text.parse::<u64>().map_err(|e| wrong(format!("`{text}`: {e}")));
    let (mut place, mut rest) = (0, arguments.iter());
    while let Some(argument) = rest.next() {
        let mut value =
            || rest.next().cloned().ok_or_else(|| wrong(format!("{argument} needs a value")));
        match argument.as_str() {
            "--systems" => options.systems = value()?,
            "--budget" => options.budget = Duration::from_millis(number(&value()?)?),
            "--part" => options.part = number(&value()?)?.max(1),
            "--log" => options.log = Some(value()?),
            "--minutes" => options.minutes = number(&value()?)?,
            "--open" => options.open = true,
            plain => {
                match place {
                    0 => options.count = number(plain)?,
                    1 => options.first = number(plain)?,
                    2 => options.engines = plain.split(',').map(String::from).collect(),
                    _ => options.depth = Some(number(plain)? as u32),
                }
                place += 1;
            }
        }
    }
    Ok(options)
}

fn settings(systems: &str) -> Result<Settings, Error> {
    Ok(match systems {
        "usual" => Settings::default(),
        "few" => Settings::few_states(),
        "linear" => Settings::few_states().linear(),
        "bits" => Settings::few_states().bit_vectors(),
        "arrays" => Settings::few_states().arrays(),
        "dataflow" => Settings::few_states().linear().definitions(),
        "composed" => Settings::few_states().composed(),
        "checks" => Settings::few_states().five_checks(),
        "joined" => Settings::few_states().composed().five_checks(),
        // Made in another way.
        "open" => Settings::default(),
        "linked" => Settings::few_states().linked().five_checks(),
        other => return Err(wrong(format!("`{other}` are no systems"))),
    })
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [table, log] = &arguments[..]
        && table == "--table"
    {
        return print_table(log);
    }
    let options = options(&arguments)?;
    let settings = settings(&options.systems)?;
    let solvers = Arc::new(Solvers::from_environment().kept_running());
    let end = Instant::now() + Duration::from_secs(60 * options.minutes);
    for engine in &options.engines {
        compare_engine(&options, settings, engine, &solvers, end)?;
    }
    Ok(())
}

fn compare_engine(
    options: &Options,
    settings: Settings,
    engine: &str,
    solvers: &Arc<Solvers>,
    end: Instant,
) -> Result<(), Error> {
    let names: Vec<&str> = engine.split('+').collect();
    let named = Some(&names[..]).filter(|_| engine != "all");
    let shortest =
        engine != "all" && engines().iter().all(|e| !names.contains(&e.name) || e.finds_shortest);
    let lengths = if shortest { Lengths::Shortest } else { Lengths::Any };
    let mut portfolio = Portfolio::new(named);
    portfolio.options = Some(EngineOptions::default()).filter(|_| engine == "all");
    portfolio.solvers = Arc::clone(solvers);
    portfolio.timeout = options.budget;
    if let Some(depth) = options.depth {
        (portfolio.max_depth, portfolio.max_k) = (Some(depth), Some(depth));
    }
    let comparison = Comparison { settings, lengths, ..Comparison::default() };
    let mut first = options.first;
    let mut out = std::io::stdout().lock();
    while first < options.first + options.count && Instant::now() < end {
        let count = options.part.min(options.first + options.count - first);
        let begun = Instant::now();
        let report = if options.systems == "open" {
            let depth = u64::from(portfolio.max_depth.unwrap_or(u32::MAX));
            let decides = |kind: &ClaimKind| {
                engines().iter().any(|e| names.contains(&e.name) && (e.decides)(kind))
            };
            compare_open(first..first + count, depth, decides, |open| portfolio.runs(open))
        } else {
            compare(first..first + count, &mut portfolio, comparison)
        };
        let seconds = begun.elapsed().as_secs_f64();
        writeln!(
            out,
            "{engine} {} {first}..{} {seconds:.1} s\n{report}",
            options.systems,
            first + count
        )?;
        if options.open {
            for open in portfolio.open.drain(..) {
                writeln!(out, "open: {open}")?;
            }
        }
        portfolio.open.clear();
        for problem in &portfolio.problems {
            writeln!(out, "internal error: {problem}")?;
        }
        out.flush()?;
        if let Some(log) = &options.log {
            let text =
                lines(engine, &options.systems, first, &report, portfolio.problems.len(), seconds);
            OpenOptions::new().create(true).append(true).open(log)?.write_all(text.as_bytes())?;
        }
        if !report.disagreements.is_empty() || !portfolio.problems.is_empty() {
            return Err(wrong(format!("{engine}: stopped in the systems from {first}")));
        }
        first += count;
    }
    Ok(())
}

/// A part in the log: a line for itself, and one for each kind of claim.
fn lines(
    engine: &str,
    systems: &str,
    first: u64,
    report: &Report,
    errors: usize,
    seconds: f64,
) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{engine}\t{systems}\t{first}\tsystems\t{}\t{errors}\t{seconds:.1}",
        report.systems
    );
    for (kind, t) in &report.by_kind {
        let Tally { holds, fails, open_holds, open_fails, disagreements } = t;
        let counts = format!("{holds}\t{fails}\t{open_holds}\t{open_fails}\t{disagreements}");
        let _ = writeln!(text, "{engine}\t{systems}\t{first}\t{kind}\t{counts}");
    }
    text
}

/// What a log says about an engine.
#[derive(Default)]
struct Sum {
    systems: f64,
    errors: f64,
    seconds: f64,
    by_kind: BTreeMap<String, [f64; 5]>,
}

fn print_table(log: &str) -> Result<(), Error> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    let mut last: BTreeMap<[String; 4], String> = BTreeMap::new();
    for line in BufReader::new(File::open(log)?).lines() {
        let line = line?;
        let mut words = line.split('\t').map(String::from);
        if let (Some(a), Some(b), Some(c), Some(d)) =
            (words.next(), words.next(), words.next(), words.next())
        {
            last.insert([a, b, c, d], line);
        }
    }
    for line in last.into_values() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [engine, _, _, kind, numbers @ ..] = &fields[..] else { continue };
        let numbers: Vec<f64> = numbers.iter().filter_map(|n| n.parse().ok()).collect();
        let sum = sums.entry((*engine).to_string()).or_default();
        match (*kind, &numbers[..]) {
            ("systems", &[systems, errors, seconds]) => {
                sum.systems += systems;
                sum.errors += errors;
                sum.seconds += seconds;
            }
            (_, &[_, _, _, _, _]) => {
                let total = sum.by_kind.entry((*kind).to_string()).or_default();
                total.iter_mut().zip(&numbers).for_each(|(t, n)| *t += n);
            }
            _ => {}
        }
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| engine | systems | claims | hold | fail | open | disagreements | internal errors | seconds |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    let row = |of: [f64; 5]| {
        let [holds, fails, open_holds, open_fails, disagreements] = of;
        format!("{holds} | {fails} | {} | {disagreements}", open_holds + open_fails)
    };
    for (engine, sum) in &sums {
        // What an engine never decides is not its business.
        let decided: Vec<(&String, &[f64; 5])> =
            sum.by_kind.iter().filter(|(_, t)| t[0] + t[1] + t[4] > 0.0).collect();
        let mut total = [0.0; 5];
        decided.iter().for_each(|(_, t)| total.iter_mut().zip(*t).for_each(|(s, n)| *s += n));
        let counts = row(total);
        writeln!(
            out,
            "| {engine} | {} | all | {counts} | {} | {:.0} |",
            sum.systems, sum.errors, sum.seconds
        )?;
        for (kind, tally) in decided {
            writeln!(out, "| | | {kind} | {} | | |", row(*tally))?;
        }
    }
    Ok(())
}
