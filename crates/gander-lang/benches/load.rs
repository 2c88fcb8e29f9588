//! Measures parsing, checking and lowering of generated models: `cargo bench -p gander-lang --bench
//! load [-- SIZE...]`.
//!
//! Goals: 100 000 transitions in less than 2 s and 1 GB, and the same time per transition at 10 000
//! and at 100 000. Every size is measured three times, each in a separate process, so that the peak
//! of resident memory belongs to it; the fastest is shown. On a busy machine the CPU seconds are
//! meaningful.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

use gander_lang::sts;

const SIZES: [usize; 4] = [10_000, 20_000, 50_000, 100_000];
const ROUNDS: usize = 3;
/// The number of transitions of one node.
const FAN_OUT: usize = 20;

/// A model with one transition on each line: parameters, guards and effects over a few variables.
fn model(transitions: usize) -> String {
    let nodes = transitions.div_ceil(FAN_OUT);
    let mut text = String::from(
        "spec Generated\n\nenum Mode { Idle, Busy, Done }\nvar mode: Mode\nvar log: bool\n",
    );
    for at in 0..10 {
        let _ = writeln!(text, "var v{at}: int");
        let _ = writeln!(text, "var r{at}: real");
    }
    text.push_str("start -> N0 { mode == Idle, log == false }\n");
    for node in 0..nodes {
        let _ = writeln!(text, "node N{node} {{");
        for at in 0..FAN_OUT.min(transitions - node * FAN_OUT) {
            let (target, one, other) =
                ((node * 7 + at * 13 + 1) % nodes, at % 10, (at + node) % 10);
            let _ = match at % 4 {
                0 => writeln!(
                    text,
                    "  g{at}(amount: int 1..100) -> N{target} when v{one} + amount <= {} and not log {{ v{one} := v{one} + amount, mode := Busy }}",
                    node + at
                ),
                1 => writeln!(
                    text,
                    "  g{at} -> N{target} when r{one} > {node}.5 or v{other} == {at} {{ r{one} := r{other} * 2 - 1/3 }}"
                ),
                2 => writeln!(
                    text,
                    "  g{at} -> N{target} when mode != Done {{ v{one}' >= v{other} + {node}, log := v{other} < {at} }}"
                ),
                _ => writeln!(
                    text,
                    "  t{node}_{at} -> N{target} {{ v{other} := if log then v{one} else -v{one} }}"
                ),
            };
        }
        text.push_str("}\n");
    }
    text.push_str(
        "always bounded: v0 >= 0 implies v1 <= 1000\nreachable done: mode == Done in N0\n",
    );
    text
}

/// A value of /proc/self/status, in kB.
fn status(field: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().unwrap_or(f64::NAN)
}

/// The CPU time of this thread, in seconds.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> =
        text.split_whitespace().next().and_then(|number| number.parse().ok());
    nanoseconds.map_or(f64::NAN, |nanoseconds| nanoseconds / 1e9)
}

/// One measurement: elapsed seconds, CPU seconds, peak MB. The memory includes the text.
fn measure(transitions: usize) -> [f64; 3] {
    let text = model(transitions);
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let loaded = sts::load(&text, "generated.sts");
    let (elapsed, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let found = loaded.system.as_ref().map_or(0, |system| system.transitions().len());
    assert_eq!(found, transitions, "{:?}", loaded.diagnostics.first());
    [elapsed, cpu, status("VmHWM") / 1024.0]
}

fn measure_in_a_process(transitions: usize) -> Option<[f64; 3]> {
    let output = Command::new(std::env::current_exe().ok()?)
        .args(["--one", &transitions.to_string()])
        .output()
        .ok()?;
    let numbers: Vec<f64> = String::from_utf8(output.stdout)
        .ok()?
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    numbers.try_into().ok()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, size] = arguments.as_slice() {
        if let (true, Ok(size)) = (flag == "--one", size.parse()) {
            let [elapsed, cpu, memory] = measure(size);
            println!("{elapsed} {cpu} {memory}");
            return;
        }
        if let (true, Ok(size)) = (flag == "--print", size.parse()) {
            print!("{}", model(size));
            return;
        }
    }
    let mut sizes: Vec<usize> = arguments.iter().filter_map(|size| size.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    println!("transitions   elapsed s    CPU s   peak MB   CPU ns/transition");
    for size in sizes {
        let rounds: Vec<[f64; 3]> =
            (0..ROUNDS).filter_map(|_| measure_in_a_process(size)).collect();
        let least = |at: usize| rounds.iter().map(|round| round[at]).fold(f64::INFINITY, f64::min);
        let (elapsed, cpu, memory) = (least(0), least(1), least(2));
        println!(
            "{size:>11} {elapsed:>11.3} {cpu:>9.2} {memory:>9.0} {:>19.0}",
            cpu * 1e9 / size as f64
        );
    }
}
