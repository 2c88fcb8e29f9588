//! Causality: no stream depends on its own value at the same instant.
//!
//! On a cycle, JKind warns and treats the equations as constraints: a run is any sequence of values
//! that satisfies all of them. Kind 2 rejects the program. So a cycle is a warning in a program
//! that JKind accepts, and an error in one that only Kind 2 accepts (`dialect`).
//!
//! The graph has a vertex per stream and an edge to each stream that its equation reads at the same
//! instant. It is checked twice, for the first instant and for later ones, after inlining and per
//! scalar: elements of an array may depend on each other, and a node may be called with its own
//! output if no output depends on that input. An array of unknown size is one stream; `induction`
//! checks which of its elements are read.

use gander_term::{Op, TermId};

use crate::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::lustre::elaborate::arrays::induction::{Reading, components, is_well_founded};
use crate::lustre::elaborate::checks::dialect::only_in_kind2;
use crate::lustre::elaborate::expressions::values::Cell;
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::StreamId;

/// The number of cycles that are reported.
const MAX_CYCLES: usize = 5;

/// The number of names shown of one cycle.
const MAX_NAMES: usize = 12;

impl Model<'_> {
    /// Reports cycles among the equations (`None` for a stream without an equation).
    pub(in crate::lustre::elaborate) fn check_causality(
        &mut self,
        equations: &[Option<Cell>],
    ) -> Causality {
        let mut causality = Causality::Causal;
        let mut seen = vec![0u32; self.builder.pool.len()];
        let mut stamp = 0;
        for instant in [Instant::First, Instant::Later] {
            let mut reads: Vec<Vec<StreamId>> = Vec::with_capacity(equations.len());
            let mut elements: Vec<Reading> = Vec::new();
            for (s, equation) in equations.iter().enumerate() {
                stamp += 1;
                // The result of a function without a body has no equation, but depends on the
                // arguments.
                let arguments = self
                    .functions
                    .reads
                    .get(&StreamId(s as u32))
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let mut read = Vec::new();
                for cell in equation.iter().chain(arguments) {
                    let term = match instant {
                        Instant::First => cell.first,
                        Instant::Later => cell.later,
                    };
                    let found = self.read_by(term, instant, (s, &mut elements), &mut seen, stamp);
                    read.extend(found);
                }
                reads.push(read);
            }
            self.drop_inductive(&mut reads, &elements);
            for cycle in find_cycles(&reads) {
                causality = Causality::Cyclic;
                self.report_cycle(&cycle);
            }
        }
        causality
    }

    /// The streams that a term reads at its own instant. Reads of array elements inside a
    /// definition of elements are appended to `elements`.
    fn read_by(
        &self,
        term: TermId,
        instant: Instant,
        (reader, elements): (usize, &mut Vec<Reading>),
        seen: &mut [u32],
        stamp: u32,
    ) -> Vec<StreamId> {
        let pool = &self.builder.pool;
        let over = self.defined_over(StreamId(reader as u32));
        let stream_of = |t: TermId| match instant {
            Instant::First => self.streams.by_current.get(&t).copied(),
            Instant::Later => self.streams.of_next(t),
        };
        let mut found = Vec::new();
        let mut stack = vec![term];
        while let Some(t) = stack.pop() {
            if std::mem::replace(&mut seen[t.index()], stamp) == stamp {
                continue;
            }
            if matches!(pool.op(t), Op::Symbol(_)) {
                if let Some(stream) = stream_of(t) {
                    found.push(stream);
                    if !over.is_empty() {
                        elements.push(Reading { from: reader, to: stream.index(), offsets: None });
                    }
                }
            } else if let (Op::Select, Some((stream, offsets))) =
                (pool.op(t), self.element_read(t, over, stream_of))
            {
                // The indices consist of the definition's indices and numbers, so they read nothing
                // else.
                found.push(stream);
                elements.push(Reading { from: reader, to: stream.index(), offsets: Some(offsets) });
            } else {
                stack.extend_from_slice(pool.args(t));
            }
        }
        found
    }

    /// Removes the edges between arrays of unknown size whose definitions are well-founded.
    fn drop_inductive(&self, reads: &mut [Vec<StreamId>], elements: &[Reading]) {
        if elements.is_empty() {
            return;
        }
        let next: Vec<Vec<usize>> =
            reads.iter().map(|r| r.iter().map(|s| s.index()).collect()).collect();
        let mut component = vec![0; reads.len()];
        let all = components(&next);
        for (c, members) in all.iter().enumerate() {
            members.iter().for_each(|&s| component[s] = c);
        }
        let mut inner: Vec<Vec<&Reading>> = vec![Vec::new(); all.len()];
        for reading in elements.iter().filter(|r| component[r.from] == component[r.to]) {
            inner[component[reading.from]].push(reading);
        }
        for (members, readings) in all.iter().zip(&inner) {
            // False if some stream of the component is not defined by `A[i] = e`.
            let listed = members.iter().all(|&s| !self.defined_over(StreamId(s as u32)).is_empty());
            if listed && !readings.is_empty() && is_well_founded(readings) {
                for &s in members {
                    reads[s].retain(|t| component[t.index()] != component[s]);
                }
            }
        }
    }

    fn report_cycle(&mut self, cycle: &[usize]) {
        // Start with the stream that is declared first, so that the message does not depend on the
        // search order.
        let least = cycle.iter().enumerate().min_by_key(|&(_, &s)| s).map_or(0, |(k, _)| k);
        let cycle: Vec<usize> = cycle[least..].iter().chain(&cycle[..least]).copied().collect();
        let mut names: Vec<&str> =
            cycle.iter().take(MAX_NAMES).map(|&s| self.streams.list[s].name.as_str()).collect();
        if cycle.len() > MAX_NAMES {
            names.push("…");
        }
        names.push(&self.streams.list[cycle[0]].name);
        let message =
            format!("`{}` depends on itself at the same instant: {}", names[0], names.join(" -> "));
        let place = |s: usize| {
            self.streams.list[s].definition.map_or(self.streams.list[s].span, |d| d.span)
        };
        let kind2 = only_in_kind2(self.file);
        let code = if kind2.is_some() { Code::E1504 } else { Code::W1704 };
        let mut diagnostic = Diagnostic::new(code, place(cycle[0]), message);
        let mut shown = vec![place(cycle[0])];
        for &s in cycle.iter().skip(1).take(MAX_NAMES) {
            if !shown.contains(&place(s)) {
                shown.push(place(s));
                diagnostic = diagnostic
                    .label(place(s), format!("`{}` is defined here", self.streams.list[s].name));
            }
        }
        diagnostic = match kind2 {
            Some((construct, span)) => diagnostic
                .label(span, format!("{construct}: only Kind 2 has this"))
                .note("Kind 2 refuses cycles; JKind would take them as constraints"),
            None => diagnostic.note(
                "as in JKind the equations are constraints: streams have any values that satisfy them; Kind 2 refuses cycles",
            ),
        };
        self.report
            .add(diagnostic.help("break the cycle with `pre`: the value of the instant before"));
    }
}

/// Some cycles of the graph; at least one if any exists.
fn find_cycles(reads: &[Vec<StreamId>]) -> Vec<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Colour {
        New,
        Open,
        Done,
    }
    let mut colour = vec![Colour::New; reads.len()];
    let mut cycles = Vec::new();
    for start in 0..reads.len() {
        if colour[start] != Colour::New {
            continue;
        }
        colour[start] = Colour::Open;
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((stream, next)) = path.last_mut() {
            let Some(read) = reads[*stream].get(*next).copied() else {
                colour[*stream] = Colour::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match colour[read.index()] {
                Colour::New => {
                    colour[read.index()] = Colour::Open;
                    path.push((read.index(), 0));
                }
                Colour::Open => {
                    let from = path.iter().position(|&(s, _)| s == read.index()).unwrap_or(0);
                    cycles.push(path[from..].iter().map(|&(s, _)| s).collect());
                    if cycles.len() >= MAX_CYCLES {
                        return cycles;
                    }
                }
                Colour::Done => {}
            }
        }
    }
    cycles
}

/// Whether the equations have a cycle within one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lustre::elaborate) enum Causality {
    /// The inputs determine every stream.
    Causal,
    /// Some equations are constraints on their streams.
    Cyclic,
}

/// The instant for which the graph is built.
#[derive(Clone, Copy)]
enum Instant {
    First,
    Later,
}
