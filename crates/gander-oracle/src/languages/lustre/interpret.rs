//! Interprets Lustre programs by running them on all inputs.

use std::collections::HashSet;

use super::{Node, Program, Rhs, TEMPORAL, Temporal};
use crate::languages::expression::{Expr, Sort};
use crate::languages::{Expected, LIMIT};

/// Limits the first values of unguarded `pre` that are tried.
const FIRST_VALUES: usize = 4_096;

struct Interpreter<'a> {
    program: &'a Program,
}

/// The results of one instant of a node.
struct Instant {
    streams: Vec<i64>,
    /// True if all assertions hold, including those of called nodes that run.
    assumed: bool,
}

impl Interpreter<'_> {
    /// The number of memory cells of an instance: whether it has run, one for each operator with
    /// memory, then those of its calls.
    fn size(&self, node: &Node) -> usize {
        let calls = node.equations.iter().map(|e| self.call_size(&e.rhs)).sum::<usize>();
        1 + node.temporals.len() + calls
    }

    fn call_size(&self, rhs: &Rhs) -> usize {
        match rhs {
            Rhs::Expr(_) | Rhs::Aggregate(_) => 0,
            Rhs::Call(n, _) | Rhs::Restart(_, n, _) => self.size(&self.program.nodes[*n]),
            // Whether it has run, and its last outputs.
            Rhs::Condact(_, n, ..) => {
                1 + self.program.nodes[*n].outputs + self.size(&self.program.nodes[*n])
            }
        }
    }

    fn value(&self, node: &Node, e: &Expr, streams: &[i64], cells: &[i64]) -> i64 {
        e.value_by(&|leaf| {
            let Expr::Var(_, i) = leaf else { return 0 };
            if *i < TEMPORAL {
                return streams[*i];
            }
            let k = *i - TEMPORAL;
            let first = cells[0] == 0;
            match &node.temporals[k].1 {
                Temporal::Delay(e, _) | Temporal::Arrow(e, _) if first => {
                    self.value(node, e, streams, cells)
                }
                Temporal::Arrow(_, e) => self.value(node, e, streams, cells),
                _ => cells[1 + k],
            }
        })
    }

    /// Runs an instance for one instant and updates its cells.
    fn run(&self, node: &Node, cells: &mut [i64], inputs: &[i64]) -> Instant {
        let mut streams = inputs.to_vec();
        streams.resize(node.streams.len(), 0);
        let mut assumed = true;
        let mut at = 1 + node.temporals.len();
        for equation in &node.equations {
            let size = self.call_size(&equation.rhs);
            let (own, rest) = cells.split_at_mut(at);
            let inner = &mut rest[..size];
            at += size;
            let all = |es: &[Expr]| {
                es.iter().map(|e| self.value(node, e, &streams, own)).collect::<Vec<i64>>()
            };
            let values = match &equation.rhs {
                Rhs::Expr(e) => vec![self.value(node, e, &streams, own)],
                Rhs::Aggregate(es) => all(es),
                Rhs::Call(n, arguments) => self.call(*n, inner, &all(arguments), &mut assumed),
                Rhs::Restart(condition, n, arguments) => {
                    if self.value(node, condition, &streams, own) != 0 {
                        inner.fill(0);
                    }
                    self.call(*n, inner, &all(arguments), &mut assumed)
                }
                Rhs::Condact(clock, n, arguments, defaults) => {
                    let outputs = self.program.nodes[*n].outputs;
                    let (held, inner) = inner.split_at_mut(1 + outputs);
                    if self.value(node, clock, &streams, own) != 0 {
                        let values = self.call(*n, inner, &all(arguments), &mut assumed);
                        held[0] = 1;
                        held[1..].copy_from_slice(&values);
                        values
                    } else if held[0] == 1 {
                        held[1..].to_vec()
                    } else {
                        all(defaults)
                    }
                }
            };
            streams[equation.target..equation.target + values.len()].copy_from_slice(&values);
        }
        assumed &= node
            .asserts
            .iter()
            .chain(&node.assumes)
            .all(|e| self.value(node, e, &streams, cells) != 0);
        let remembered: Vec<i64> = node
            .temporals
            .iter()
            .map(|(_, t)| t.operand().map_or(0, |e| self.value(node, e, &streams, cells)))
            .collect();
        cells[1..1 + remembered.len()].copy_from_slice(&remembered);
        cells[0] = 1;
        Instant { streams, assumed }
    }

    fn call(&self, n: usize, cells: &mut [i64], arguments: &[i64], assumed: &mut bool) -> Vec<i64> {
        let node = &self.program.nodes[n];
        let instant = self.run(node, cells, arguments);
        *assumed &= instant.assumed;
        instant.streams[node.inputs..node.inputs + node.outputs].to_vec()
    }

    /// Decides each claim of the root from these initial memories; `None` if there is no first
    /// instant.
    fn decide(&self, root: &Node, first: Vec<Vec<i64>>) -> Option<Option<Vec<bool>>> {
        let mut inputs: Vec<Vec<i64>> = vec![Vec::new()];
        for s in &root.streams[..root.inputs] {
            inputs = inputs
                .into_iter()
                .flat_map(|v| {
                    s.domain
                        .iter()
                        .map(move |x| v.iter().copied().chain([*x]).collect::<Vec<i64>>())
                })
                .collect();
        }
        let mut holds = vec![true; root.properties.len() + root.guarantees.len()];
        let mut seen: HashSet<Vec<i64>> = first.iter().cloned().collect();
        let mut open: Vec<Vec<i64>> = seen.iter().cloned().collect();
        let mut begun = false;
        while let Some(cells) = open.pop() {
            if seen.len() > LIMIT {
                return None;
            }
            for input in &inputs {
                let mut next = cells.clone();
                let instant = self.run(root, &mut next, input);
                if !instant.assumed {
                    continue;
                }
                begun |= cells[0] == 0;
                let of = |e: &Expr| self.value(root, e, &instant.streams, &cells) != 0;
                let claims = root
                    .properties
                    .iter()
                    .map(|p| instant.streams[*p] != 0)
                    .chain(root.guarantees.iter().map(of));
                holds.iter_mut().zip(claims).for_each(|(h, now)| *h &= now);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        Some(begun.then_some(holds))
    }

    /// The initial memories of the root, for each reading of unguarded `pre`.
    fn first(&self, root: &Node, shared: bool) -> Option<Vec<Vec<i64>>> {
        let cells = vec![0; self.size(root)];
        let unguarded: Vec<(usize, &Expr)> = root
            .temporals
            .iter()
            .enumerate()
            .filter_map(|(k, (_, t))| match t {
                Temporal::Unguarded(e) => Some((k, e)),
                _ => None,
            })
            .collect();
        if unguarded.is_empty() {
            return Some(vec![cells]);
        }
        let chosen = if shared {
            let is_bool = |(_, s): &(usize, &super::Stream)| s.sort == Sort::Bool;
            root.streams.iter().enumerate().filter(is_bool).map(|(i, _)| i).collect::<Vec<usize>>()
        } else {
            (0..unguarded.len()).collect()
        };
        if 1usize.checked_shl(chosen.len() as u32).is_none_or(|n| n > FIRST_VALUES) {
            return None;
        }
        let mut found = HashSet::new();
        for bits in 0..1usize << chosen.len() {
            let mut cells = cells.clone();
            let mut streams = vec![0; root.streams.len()];
            if shared {
                chosen
                    .iter()
                    .enumerate()
                    .for_each(|(place, i)| streams[*i] = (bits >> place & 1) as i64);
            }
            for (place, (k, e)) in unguarded.iter().enumerate() {
                let own = (bits >> place & 1) as i64;
                cells[1 + k] = if shared { e.value(&streams, &streams) } else { own };
            }
            found.insert(cells);
        }
        Some(found.into_iter().collect())
    }
}

/// The expected verdict of each claim; `None` if there are too many states.
pub(super) fn decide(program: &Program) -> Option<Vec<(String, Expected)>> {
    let interpreter = Interpreter { program };
    let root = program.nodes.last()?;
    let own = interpreter.decide(root, interpreter.first(root, false)?)?;
    let shared = if program.only_kind2 {
        own.clone()
    } else {
        interpreter.decide(root, interpreter.first(root, true)?)?
    };
    let names = root
        .properties
        .iter()
        .map(|p| root.streams[*p].name.clone())
        .chain((0..root.guarantees.len()).map(|k| format!("g{k}")));
    let answers = names.enumerate().map(|(i, name)| {
        let expected = match (&own, &shared) {
            (None, None) => Expected::NoRun,
            (Some(a), Some(b)) if a[i] == b[i] => Expected::of(a[i]),
            _ => Expected::Ambiguous,
        };
        (name, expected)
    });
    Some(answers.collect())
}
