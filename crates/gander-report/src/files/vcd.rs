//! Value change dump (IEEE 1364, chapter 18) for waveform viewers.
//!
//! A step is one unit of time, and node instances are scopes. Bools are wires, ints integers, reals
//! reals (rounded), bit-vectors vectors, and enumerations strings, which is an extension that
//! GTKWave reads.

use std::io::{self, Write};

use gander_term::{IBig, RBig};
use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, VarType, Writer};

use crate::view::streams::{StreamRow, StreamSort, StreamsView};

/// The run as a value change dump.
pub fn streams_vcd(view: &StreamsView) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_dump(view, &mut Writer::new(&mut out));
    String::from_utf8(out).unwrap_or_default()
}

fn write_dump(view: &StreamsView, dump: &mut Writer<&mut Vec<u8>>) -> io::Result<()> {
    // `Writer::version` would take three lines.
    dump.writer().write_all(b"$version gander $end\n")?;
    dump.timescale(1, TimescaleUnit::NS)?;
    let signals = declare(view, dump)?;
    dump.enddefinitions()?;
    for instant in 0..view.instants {
        dump.timestamp(view.step(instant))?;
        if instant == 0 {
            dump.begin(SimulationCommand::Dumpvars)?;
        }
        for s in &signals {
            if instant == 0 || s.row.values.get(instant) != s.row.values.get(instant - 1) {
                s.change(dump, instant)?;
            }
        }
        if instant == 0 {
            dump.end()?;
        }
    }
    // The last step lasts as long as the others.
    dump.timestamp(view.instants.checked_sub(1).map_or(0, |last| view.step(last) + 1))
}

/// Writes the scopes and their signals.
fn declare<'v>(
    view: &'v StreamsView,
    dump: &mut Writer<&mut Vec<u8>>,
) -> io::Result<Vec<Signal<'v>>> {
    let mut signals = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    dump.add_module(&signal_name(&view.name))?;
    for group in &view.groups {
        let shared = open.iter().zip(&group.scopes).take_while(|(a, b)| *a == b).count();
        for _ in shared..open.len() {
            dump.upscope()?;
        }
        open.truncate(shared);
        for scope in &group.scopes[shared..] {
            dump.add_module(&signal_name(scope))?;
            open.push(scope);
        }
        for row in &group.rows {
            let kind = match row.sort {
                StreamSort::Bool | StreamSort::Bits(_) => VarType::Wire,
                StreamSort::Int => VarType::Integer,
                StreamSort::Real => VarType::Real,
                StreamSort::Text => VarType::String,
            };
            let width = width(row);
            let id = dump.add_var(kind, width, &signal_name(&row.name), None)?;
            signals.push(Signal { row, id, width });
        }
    }
    for _ in &open {
        dump.upscope()?;
    }
    dump.upscope()?;
    Ok(signals)
}

struct Signal<'v> {
    row: &'v StreamRow,
    id: IdCode,
    width: u32,
}

impl Signal<'_> {
    fn change(&self, dump: &mut Writer<&mut Vec<u8>>, instant: usize) -> io::Result<()> {
        let value = self.row.values.get(instant).map_or("", String::as_str);
        match self.row.sort {
            StreamSort::Bool => dump.change_scalar(self.id, value == "true"),
            StreamSort::Int | StreamSort::Bits(_) => {
                dump.change_vector(self.id, bits(value, self.width))
            }
            StreamSort::Real => {
                let number = number(value);
                dump.change_real(self.id, number)
            }
            StreamSort::Text => dump.change_string(self.id, &text_value(value)),
        }
    }
}

/// A fraction or a decimal.
fn number(text: &str) -> f64 {
    match text.parse::<RBig>() {
        Ok(r) => r.to_f64().value(),
        Err(_) => text.parse().unwrap_or(0.0),
    }
}

/// A whole number in two's complement, without leading zeros.
fn bits(value: &str, width: u32) -> Vec<Value> {
    let number: IBig = value.parse().unwrap_or_default();
    let wrapped = if number < IBig::ZERO { number + (IBig::ONE << width as usize) } else { number };
    format!("{wrapped:b}").bytes().map(|b| (b == b'1').into()).collect()
}

/// Bits of a signal: those of its sort, or of an int what all its values need, at least 32.
fn width(row: &StreamRow) -> u32 {
    match row.sort {
        StreamSort::Bool | StreamSort::Text => 1,
        StreamSort::Bits(width) => width,
        StreamSort::Real => 64,
        StreamSort::Int => {
            let bits = |v: &String| {
                v.parse::<IBig>()
                    .map_or(0, |n| n.in_radix(2).to_string().trim_start_matches('-').len() + 1)
            };
            row.values.iter().map(bits).max().unwrap_or(0).max(32) as u32
        }
    }
}

/// A name without blanks, and without brackets, which viewers read as a range of bits.
fn signal_name(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            '[' => '(',
            ']' => ')',
            c if c.is_whitespace() || c == '$' => '_',
            c => c,
        })
        .collect()
}

/// A string value without blanks, which would end it.
fn text_value(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect()
}
