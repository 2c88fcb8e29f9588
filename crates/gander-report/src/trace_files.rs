//! A run of a dataflow program as files for other tools: comma-separated values and value change dump.
//!
//! CSV (RFC 4180): a header, then a row for each step; the first column is the number of the step, then one for each
//! stream, by its full name. Values are exact, as in the table. `gander simulate --inputs` reads it back, unless it is the file of
//! a run with long repetitions, of which only the last round is there.
//!
//! VCD (IEEE 1364, chapter 18) for waveform viewers: a step is one unit of time, node instances are scopes. Truth values
//! are wires, whole numbers integers, fractions reals (rounded), bit-vectors vectors, and enumerations strings, which is
//! an extension that GTKWave knows.

use std::fmt::Write;

use gander_term::{IBig, RBig};

use crate::streams::{StreamRow, StreamSort, StreamsView};

/// The run as comma-separated values.
pub fn streams_csv(view: &StreamsView) -> String {
    let mut out = String::from("step");
    for row in view.rows() {
        out.push(',');
        out.push_str(&csv_cell(&row.full_name));
    }
    out.push('\n');
    for instant in 0..view.instants {
        let _ = write!(out, "{}", view.step(instant));
        for row in view.rows() {
            out.push(',');
            out.push_str(&csv_cell(row.values.get(instant).map_or("", String::as_str)));
        }
        out.push('\n');
    }
    out
}

fn csv_cell(text: &str) -> String {
    // Names of our own columns; `gander simulate --inputs` knows them.
    if matches!(text, "@transition" | "@node") {
        return text.to_string();
    }
    let text = gander_text::csv::cell(text);
    if text.trim() == text { text } else { format!("\"{text}\"") }
}

/// The run as a value change dump.
pub fn streams_vcd(view: &StreamsView) -> String {
    let mut out = String::from("$version gander $end\n$timescale 1 ns $end\n");
    let signals: Vec<Signal<'_>> =
        view.rows().enumerate().map(|(i, row)| Signal { row, id: identifier(i), width: width(row) }).collect();
    let _ = writeln!(out, "$scope module {} $end", vcd_name(&view.name));
    let mut open: Vec<&str> = Vec::new();
    let mut signal = signals.iter();
    for group in &view.groups {
        let shared = open.iter().zip(&group.scopes).take_while(|(a, b)| *a == b).count();
        for _ in shared..open.len() {
            out.push_str("$upscope $end\n");
        }
        open.truncate(shared);
        for scope in &group.scopes[shared..] {
            let _ = writeln!(out, "$scope module {} $end", vcd_name(scope));
            open.push(scope);
        }
        for s in signal.by_ref().take(group.rows.len()) {
            let kind = match s.row.sort {
                StreamSort::Bool | StreamSort::Bits(_) => "wire",
                StreamSort::Int => "integer",
                StreamSort::Real => "real",
                StreamSort::Text => "string",
            };
            let _ = writeln!(out, "$var {kind} {} {} {} $end", s.width, s.id, vcd_name(&s.row.name));
        }
    }
    for _ in &open {
        out.push_str("$upscope $end\n");
    }
    out.push_str("$upscope $end\n$enddefinitions $end\n");
    for instant in 0..view.instants {
        let _ = writeln!(out, "#{}", view.step(instant));
        if instant == 0 {
            out.push_str("$dumpvars\n");
        }
        for s in &signals {
            if instant == 0 || s.row.values.get(instant) != s.row.values.get(instant - 1) {
                s.change(&mut out, instant);
            }
        }
        if instant == 0 {
            out.push_str("$end\n");
        }
    }
    // The last step lasts as long as the others.
    let _ = writeln!(out, "#{}", view.instants.checked_sub(1).map_or(0, |last| view.step(last) + 1));
    out
}

struct Signal<'v> {
    row: &'v StreamRow,
    id: String,
    width: usize,
}

impl Signal<'_> {
    fn change(&self, out: &mut String, instant: usize) {
        let value = self.row.values.get(instant).map_or("", String::as_str);
        let id = &self.id;
        let _ = match self.row.sort {
            StreamSort::Bool => writeln!(out, "{}{id}", if value == "true" { 1 } else { 0 }),
            StreamSort::Int | StreamSort::Bits(_) => writeln!(out, "b{} {id}", binary(value, self.width)),
            StreamSort::Real => {
                let number = value.parse::<RBig>().map_or(0.0, |r| r.to_f64().value());
                writeln!(out, "r{number:?} {id}")
            }
            StreamSort::Text => writeln!(out, "s{} {id}", text_value(value)),
        };
    }
}

/// In two's complement.
fn binary(value: &str, width: usize) -> String {
    let number: IBig = value.parse().unwrap_or_default();
    let wrapped = if number < IBig::ZERO { number + (IBig::ONE << width) } else { number };
    format!("{wrapped:b}")
}

/// Bits: what the sort says, or for a whole number what all its values need, at least 32.
fn width(row: &StreamRow) -> usize {
    match row.sort {
        StreamSort::Bool | StreamSort::Text => 1,
        StreamSort::Bits(width) => width as usize,
        StreamSort::Real => 64,
        StreamSort::Int => {
            let bits = |v: &String| {
                v.parse::<IBig>().map_or(0, |n| n.in_radix(2).to_string().trim_start_matches('-').len() + 1)
            };
            row.values.iter().map(bits).max().unwrap_or(0).max(32)
        }
    }
}

/// Short codes of printable characters, as the format wants them.
fn identifier(mut n: usize) -> String {
    let mut code = String::new();
    loop {
        code.push(char::from(b'!' + (n % 94) as u8));
        n /= 94;
        if n == 0 {
            return code;
        }
        n -= 1;
    }
}

/// Names have no blanks, and brackets would be read as a choice of bits.
fn vcd_name(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '[' => '(',
            ']' => ')',
            c if c.is_whitespace() || c == '$' => '_',
            c => c,
        })
        .collect()
}

fn text_value(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect()
}
