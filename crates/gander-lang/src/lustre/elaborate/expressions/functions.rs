//! Functions without a body: equal arguments give equal results, at one instant and at different
//! ones.
//!
//! If the arguments have few values, the function is a complete table of constants, and this is
//! exact. Otherwise no formula over finitely many variables says that something is a function over
//! a whole run, so there are two systems, one with more runs and one with fewer:
//!
//! - the *wide* system is the system itself. The result of a call is arbitrary at every instant,
//!   but two calls with equal arguments have equal results if they are at the same instant or at
//!   most [`MAX_APART`] instants apart (Ackermann's reduction; one instant if there are many
//!   calls). Results for constant arguments are constant. Every run of the program is a run of the
//!   wide system, so every claim proved there holds;
//! - the *narrow* system allows only functions given by a table of [`ENTRIES`] rows, arbitrary but
//!   constant, and for all other arguments either one value, or a numeric argument plus that value.
//!   It is the formula of [`gander_system::Ambiguity`]: a counterexample counts only if such a
//!   function produces it. Every run of the narrow system is a run of the program.
//!
//! A claim that holds in the narrow system and not in the wide one is unknown, with that reason.

use gander_system::{Numerals, Role, StreamKind};
use gander_term::{Op, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Span;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId, Val};
use crate::lustre::elaborate::nodes::instances::{Body, ConditionStatus, Declare, Instance, Place};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{NewStream, StreamId};
use crate::lustre::elaborate::types::layout::{BOOL, Shape, Ty};
use crate::lustre::elaborate::types::resolve::At;

/// The number of entries of a complete table.
const MAX_ENTRIES: usize = 256;

/// The number of table rows of a function in the narrow system.
const ENTRIES: usize = 6;

/// The number of calls of one function up to which calls are compared with those of the previous
/// instant.
const MAX_COMPARED: usize = 24;

/// The number of calls of one function up to which calls are compared with those of earlier
/// instants.
const MAX_REMEMBERED: usize = 6;

/// The largest number of instants between calls that are compared.
const MAX_APART: usize = 4;

/// The number of calls of one function up to which calls of the same instant are compared.
const MAX_CALLS: usize = 96;

/// A call of a function without a body.
#[derive(Clone, Copy, Debug)]
pub(in crate::lustre::elaborate) struct FunctionCall<'c> {
    pub(in crate::lustre::elaborate) at: At,
    pub(in crate::lustre::elaborate) path: &'c str,
    pub(in crate::lustre::elaborate) call: &'c Call,
    /// The clock of the call.
    pub(in crate::lustre::elaborate) inside: ClockId,
    /// The clock of its outputs.
    pub(in crate::lustre::elaborate) outputs: ClockId,
    pub(in crate::lustre::elaborate) span: Span,
}

/// A function, with the types of its type parameters.
type Key = (Word, Vec<Ty>);

/// The arguments and results of a call, at every instant of the system.
#[derive(Clone, Debug)]
struct RecordedCall {
    arguments: Vec<Cell>,
    results: Vec<Cell>,
    /// Neither arguments nor results ever change.
    rigid: bool,
    span: Span,
}

/// The arguments and results of a call at a certain number of instants before.
#[derive(Clone, Debug)]
struct Past {
    arguments: Vec<StreamId>,
    results: Vec<StreamId>,
}

/// The functions without a body that were called so far.
#[derive(Debug, Default)]
pub(in crate::lustre::elaborate) struct Functions {
    /// Calls of functions without a complete table, in the order of the functions' first calls.
    calls: Vec<(Key, Vec<RecordedCall>)>,
    /// Complete tables. By function: the results, in the order of the arguments' values.
    tables: FxHashMap<Key, Vec<Vec<Cell>>>,
    /// By result of a call: the arguments.
    pub(in crate::lustre::elaborate) reads: FxHashMap<StreamId, Vec<Cell>>,
    /// The constraints of the narrow system on all states, and the functions that they mention.
    pub(in crate::lustre::elaborate) narrow: Vec<TermId>,
    pub(in crate::lustre::elaborate) narrowed: Vec<Word>,
    /// By function of the narrow system: its calls.
    pub(in crate::lustre::elaborate) recorded: Vec<(Word, Vec<ArgumentsAndResults>)>,
}

/// The arguments and the results of a call.
pub(in crate::lustre::elaborate) type ArgumentsAndResults = (Vec<TermId>, Vec<TermId>);

impl<'a> Model<'a> {
    /// The outputs of a call of a function without a body.
    pub(in crate::lustre::elaborate) fn function_call(
        &mut self,
        node: &'a Node,
        args: &[Val],
        site: FunctionCall<'_>,
    ) -> Val {
        let i = self.instances.len();
        self.instances.push(Instance::new(
            Body::Node(node),
            Place::Called,
            site.path.to_string(),
            site.inside,
        ));
        if !self.bind_types(site.at, i, node, site.call, args)
            || !self.bind_inputs(i, node, args, site.span)
        {
            self.instances[i].body = Body::Nothing;
            return Val::error();
        }
        if args.iter().any(|a| self.types.has_data(a.ty)) {
            let what = "a datatype or an array of unknown size as an argument of a function without a body";
            self.unsupported(site.span, what);
            return Val::error();
        }
        let how = Declare {
            kind: StreamKind::Output,
            role: Role::State,
            free: false,
            status: ConditionStatus::Assumed,
        };
        let outputs: Vec<Val> =
            node.outputs.iter().map(|decl| self.declare(i, decl, how)).collect();
        if outputs.iter().any(Val::is_error) {
            return Val::error();
        }
        let types: Vec<Ty> = outputs.iter().map(|o| o.ty).collect();
        if types.iter().any(|&ty| self.types.has_open(ty)) {
            self.unsupported(
                site.span,
                "an array of unknown size as the result of a function without a body",
            );
            return Val::error();
        }
        let key = (node.name.word, self.instances[i].type_args.iter().map(|(_, r)| r.ty).collect());
        let arguments: Vec<Cell> = args.iter().flat_map(|a| a.cells().to_vec()).collect();
        let leaves: Vec<Ty> = args.iter().flat_map(|a| self.types.leaves(a.ty)).collect();
        let rigid = arguments.iter().all(|c| c.is_rigid());
        let results = if let Some(domains) = self.domains(&leaves) {
            self.table_call(key, node, &types, &arguments, &domains, site.span)
        } else {
            self.wide_call(key, node, &types, arguments, rigid, site.span)
        };
        let Some(results) = results else { return Val::error() };
        let mut offset = 0;
        for (decl, value) in node.outputs.iter().zip(&outputs) {
            let Some(&variable) = self.instances[i].vars.get(&decl.name.word) else { continue };
            for k in 0..value.cells().len() {
                self.define_now(
                    StreamId(variable.first.0 + k as u32),
                    results[offset],
                    decl.name.span,
                );
                offset += 1;
            }
        }
        if rigid {
            let ty = self.types.list(types);
            return Val::many(ty, None, results);
        }
        if outputs.is_empty() {
            self.nothing()
        } else {
            self.list(&outputs, site.span).on(Some(site.outputs))
        }
    }

    /// New constants, one for each scalar of the outputs.
    fn entry(&mut self, node: &Node, name: &str, types: &[Ty], span: Span) -> Option<Vec<Cell>> {
        let mut cells = Vec::new();
        for (decl, &ty) in node.outputs.iter().zip(types) {
            let full = if types.len() == 1 {
                name.to_string()
            } else {
                format!("{name}.{}", self.word(decl.name.word))
            };
            let value = self.rigid_value(&full, ty, StreamKind::Internal, span);
            if value.is_error() {
                return None;
            }
            cells.extend_from_slice(value.cells());
        }
        Some(cells)
    }

    /// The calls of a function so far.
    fn calls_of(&mut self, key: Key) -> &mut Vec<RecordedCall> {
        let known = self.functions.calls.iter().position(|(k, _)| *k == key);
        let n = known.unwrap_or_else(|| {
            self.functions.calls.push((key, Vec::new()));
            self.functions.calls.len() - 1
        });
        &mut self.functions.calls[n].1
    }

    /// A call of a function without a complete table. Its results have values at every instant of
    /// the system, like the arguments; they are not read while the clock of the call is off.
    fn wide_call(
        &mut self,
        key: Key,
        node: &Node,
        types: &[Ty],
        arguments: Vec<Cell>,
        rigid: bool,
        span: Span,
    ) -> Option<Vec<Cell>> {
        if let Some(known) =
            self.calls_of(key.clone()).iter().find(|seen| seen.arguments == arguments)
        {
            return Some(known.results.clone());
        }
        let name = self.word(key.0);
        let mut results = Vec::new();
        if rigid {
            let name = self.numbered("", name);
            results = self.entry(node, &name, types, span)?;
        } else {
            let leaves: Vec<Ty> = types.iter().flat_map(|&ty| self.types.leaves(ty)).collect();
            for leaf in leaves {
                let sort = self.sort(leaf, span)?;
                let stream = self.arbitrary("", name, sort, span);
                // Internal: the output of the call already shows the value.
                self.builder.set_stream(self.streams.get(stream).var, Some(StreamKind::Internal));
                if let Shape::Machine { signed: true, .. } = self.types.shape(leaf) {
                    self.builder.set_numerals(self.streams.get(stream).var, Numerals::Signed);
                }
                self.functions.reads.insert(stream, arguments.clone());
                results.push(self.read(stream));
            }
        }
        self.calls_of(key).push(RecordedCall { arguments, results: results.clone(), rigid, span });
        Some(results)
    }

    /// Adds the constraints on functions without a complete table, after all calls are known.
    pub(in crate::lustre::elaborate) fn constrain_functions(&mut self) {
        for (key, calls) in std::mem::take(&mut self.functions.calls) {
            let name = self.word(key.0);
            if calls.len() <= MAX_CALLS {
                for (k, call) in calls.iter().enumerate() {
                    let laws: Vec<Cell> =
                        calls[..k].iter().map(|other| self.congruent(call, other)).collect();
                    let law = self.lift(Op::And, &laws);
                    self.assume(
                        format!("{name} is a function"),
                        &Val::one(BOOL, None, law),
                        BASE,
                        call.span,
                    );
                }
            }
            if calls.iter().all(|call| call.rigid) {
                continue;
            }
            if calls.len() <= MAX_COMPARED {
                let changing: Vec<&RecordedCall> =
                    calls.iter().filter(|call| !call.rigid).collect();
                let apart = if calls.len() <= MAX_REMEMBERED {
                    self.memories().clamp(1, MAX_APART)
                } else {
                    1
                };
                let mut past: Vec<Past> = changing.iter().map(|call| self.now(call)).collect();
                for steps in 1..=apart {
                    if steps > 1 {
                        past = past
                            .iter()
                            .zip(&changing)
                            .map(|(p, call)| self.one_step_before(p, call.span))
                            .collect();
                    }
                    for call in &changing {
                        let earlier: Vec<Cell> =
                            past.iter().map(|p| self.congruent_with_past(call, p)).collect();
                        let law = self.lift(Op::And, &earlier);
                        let value = Val::one(BOOL, None, law);
                        self.assume(
                            format!("{name} is the same function"),
                            &value,
                            BASE,
                            call.span,
                        );
                    }
                }
            }
            self.narrow_function(key.0, &calls);
        }
    }

    /// Two calls with equal arguments at an instant have equal results there.
    fn congruent(&mut self, call: &RecordedCall, other: &RecordedCall) -> Cell {
        let same = self.equal(&call.arguments, &other.arguments);
        let equal = self.equal(&call.results, &other.results);
        self.lift(Op::Implies, &[same, equal])
    }

    /// The number of expressions in the file with memory. Without loops, claims cannot relate
    /// instants that are further apart than this.
    fn memories(&self) -> usize {
        let remembers = |e: &&Expr| match &e.kind {
            ExprKind::Unary(Unary::Pre | Unary::Current, _) | ExprKind::Last(_) => true,
            ExprKind::Binary(op, _, _) => *op == Binary::Fby,
            ExprKind::Call(call) => call.activation.is_some(),
            _ => false,
        };
        self.file.exprs.iter().filter(remembers).take(MAX_APART).count()
    }

    /// The arguments and results of a call as streams.
    fn now(&mut self, call: &RecordedCall) -> Past {
        let mut streams = |cells: &[Cell], what: &str| {
            cells.iter().map(|&c| self.as_stream(c, BASE, "", what, call.span)).collect()
        };
        Past {
            arguments: streams(&call.arguments, "argument"),
            results: streams(&call.results, "result"),
        }
    }

    /// The same values one instant earlier. At the first instant these are the values of the first
    /// instant itself, for which the constraint holds as well.
    fn one_step_before(&mut self, past: &Past, span: Span) -> Past {
        let mut streams = |ids: &[StreamId], what: &str| {
            let each = ids.iter().map(|&id| {
                let current = self.streams.get(id).current;
                let cell = Cell { first: current, later: current, instant: false };
                self.as_stream(cell, BASE, "", what, span)
            });
            each.collect()
        };
        Past {
            arguments: streams(&past.arguments, "argument"),
            results: streams(&past.results, "result"),
        }
    }

    /// If the arguments of a call equal those of a past call, the results are equal. `past` holds
    /// the values at an earlier instant.
    fn congruent_with_past(&mut self, call: &RecordedCall, past: &Past) -> Cell {
        let mut equal = |cells: &[Cell], others: &[StreamId]| {
            let currents =
                others.iter().map(|&id| self.streams.get(id).current).collect::<Vec<_>>();
            let parts: Vec<TermId> =
                cells.iter().zip(currents).map(|(c, o)| self.mk(Op::Eq, &[c.later, o])).collect();
            self.mk(Op::And, &parts)
        };
        let (same, equal) =
            (equal(&call.arguments, &past.arguments), equal(&call.results, &past.results));
        let later = self.mk(Op::Implies, &[same, equal]);
        let first = self.builder.pool.tt();
        Cell { first, later, instant: false }
    }

    fn equal(&mut self, a: &[Cell], b: &[Cell]) -> Cell {
        let parts: Vec<Cell> = a.iter().zip(b).map(|(&a, &b)| self.lift(Op::Eq, &[a, b])).collect();
        self.lift(Op::And, &parts)
    }

    /// The constraints for a function of the narrow system: a few arbitrary constant rows, and a
    /// default for other arguments.
    fn narrow_function(&mut self, function: Word, calls: &[RecordedCall]) {
        let Some(first) = calls.first() else { return };
        let name = self.word(function);
        let span = first.span;
        let sort = |model: &Self, c: &Cell| model.builder.pool.sort(c.first);
        let argument_sorts: Vec<Sort> = first.arguments.iter().map(|c| sort(self, c)).collect();
        let result_sorts: Vec<Sort> = first.results.iter().map(|c| sort(self, c)).collect();
        let mut rows = Vec::new();
        for k in 0..ENTRIES {
            let given: Vec<Cell> = argument_sorts
                .iter()
                .map(|&s| self.fixed(&format!("{name}@row{k}.argument"), s, span))
                .collect();
            let gives: Vec<Cell> = result_sorts
                .iter()
                .map(|&s| self.fixed(&format!("{name}@row{k}"), s, span))
                .collect();
            rows.push((given, gives));
        }
        let elsewhere: Vec<Cell> = result_sorts
            .iter()
            .map(|&s| self.fixed(&format!("{name}@elsewhere"), s, span))
            .collect();
        let shifted = self.fixed(&format!("{name}@shifts"), Sort::Bool, span);
        let mut recorded = Vec::new();
        for call in calls {
            // Arguments as state variables: a formula about states cannot refer to the previous
            // instant.
            let arguments: Vec<Cell> = call
                .arguments
                .iter()
                .map(|&c| {
                    if c.instant {
                        return c;
                    }
                    let id = self.as_stream(c, BASE, "", "argument", call.span);
                    self.read(id)
                })
                .collect();
            let firsts = |cells: &[Cell]| cells.iter().map(|c| c.first).collect::<Vec<_>>();
            recorded.push((firsts(&arguments), firsts(&call.results)));
            for (k, &result) in call.results.iter().enumerate() {
                let mut value = elsewhere[k];
                let argument = arguments
                    .iter()
                    .find(|c| sort(self, c) == result_sorts[k] && result_sorts[k].is_numeric());
                if let Some(&argument) = argument {
                    let sum = self.lift(Op::Add, &[argument, value]);
                    value = self.lift(Op::Ite, &[shifted, sum, value]);
                }
                for (given, gives) in rows.iter().rev() {
                    let here = self.equal(&arguments, given);
                    value = self.lift(Op::Ite, &[here, gives[k], value]);
                }
                let law = self.lift(Op::Eq, &[result, value]);
                self.functions.narrow.push(law.first);
            }
        }
        self.functions.narrowed.push(function);
        self.functions.recorded.push((function, recorded));
    }

    /// A scalar that is arbitrary and never changes.
    pub(in crate::lustre::elaborate) fn fixed(
        &mut self,
        name: &str,
        sort: Sort,
        span: Span,
    ) -> Cell {
        let name = self.numbered("", name);
        let stream = self.stream(NewStream {
            name,
            sort,
            kind: StreamKind::Internal,
            role: Role::State,
            clock: BASE,
            range: None,
            span,
            free: true,
        });
        let current = self.streams.get(stream).current;
        self.rigid(current)
    }

    /// The values of each argument, if the complete table has few entries.
    fn domains(&self, leaves: &[Ty]) -> Option<Vec<Vec<Value>>> {
        let mut total = 1usize;
        let mut domains = Vec::new();
        for &leaf in leaves {
            let values: Vec<Value> = match self.types.shape(leaf) {
                Shape::Bool => vec![Value::Bool(false), Value::Bool(true)],
                Shape::Enum(e) => {
                    let e = &self.types.enums[*e as usize];
                    (0..e.variants.len() as u32).map(|v| Value::Enum(e.sort, v)).collect()
                }
                _ => return None,
            };
            total = total.saturating_mul(values.len());
            domains.push(values);
        }
        (total <= MAX_ENTRIES).then_some(domains)
    }

    fn table_call(
        &mut self,
        key: Key,
        node: &Node,
        types: &[Ty],
        arguments: &[Cell],
        domains: &[Vec<Value>],
        span: Span,
    ) -> Option<Vec<Cell>> {
        let total: usize = domains.iter().map(Vec::len).product();
        if !self.functions.tables.contains_key(&key) {
            let mut table = Vec::new();
            for k in 0..total {
                let name = self.word(key.0);
                let name = if total == 1 { name.to_string() } else { format!("{name}[{k}]") };
                table.push(self.entry(node, &name, types, span)?);
            }
            self.functions.tables.insert(key.clone(), table);
        }
        let mut table = self.functions.tables.get(&key)?.clone();
        // Select by the last argument first: it varies fastest in the table.
        for (&argument, values) in arguments.iter().zip(domains).rev() {
            let mut next = Vec::new();
            for group in table.chunks(values.len()) {
                let mut chosen = group.last()?.clone();
                for (value, entry) in values.iter().zip(group).rev().skip(1) {
                    let value = self.constant(value.clone());
                    let here = self.lift(Op::Eq, &[argument, value]);
                    chosen = entry
                        .iter()
                        .zip(&chosen)
                        .map(|(&a, &b)| self.lift(Op::Ite, &[here, a, b]))
                        .collect();
                }
                next.push(chosen);
            }
            table = next;
        }
        table.into_iter().next()
    }
}
