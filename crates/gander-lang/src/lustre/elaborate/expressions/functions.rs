//! Functions that are known by name only: the same arguments give the same results, at one instant and at different ones.
//!
//! Where the arguments have few values the function is a table of values that never change, and that is all there is to
//! say. Otherwise no formula over finitely many variables says that something is a function over a whole run, so there are
//! two systems, one with more runs and one with fewer:
//!
//! - the *wide* one is the system itself. The result of a call is arbitrary at every instant, but calls with the same
//!   arguments at one instant, and at an instant and up to [`MAX_APART`] before, have the same results (Ackermann's reduction, for
//!   pairs of calls that are a few steps apart; one step if there are many calls). Results of arguments that never change never change. Every run of the program is
//!   one of these, so what is proved here holds;
//! - the *narrow* one has the functions that are a table of [`ENTRIES`] rows, arbitrary but the same at every instant, and
//!   elsewhere one value, or the first argument and a number. It is the formula of [`gander_system::Ambiguity`]: a run counts
//!   only if some such function makes it, and every one of these is a run of the program.
//!
//! A claim that holds in the narrow system and not in the wide one is unknown, with that reason.

use gander_system::{Numerals, Role, StreamKind};
use gander_term::{Op, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Span;
use crate::lustre::ast::*;
use crate::lustre::elaborate::expressions::values::{BASE, Cell, ClockId, Val};
use crate::lustre::elaborate::nodes::instances::{Body, Declare, Instance, Place, Standing};
use crate::lustre::elaborate::system::model::Model;
use crate::lustre::elaborate::system::streams::{NewStream, StreamId};
use crate::lustre::elaborate::types::layout::{BOOL, Shape, Ty};
use crate::lustre::elaborate::types::resolve::At;

/// The most entries of a complete table.
const MAX_ENTRIES: usize = 256;

/// Rows of the table of a function of the narrow system.
const ENTRIES: usize = 6;

/// With more calls of one function, calls are not compared with those of the instant before.
const MAX_COMPARED: usize = 24;

/// With more calls of one function, calls are not compared with those of instants further back.
const MAX_REMEMBERED: usize = 6;

/// How many instants apart calls are compared at most.
const MAX_APART: usize = 4;

/// With more calls of one function, calls are not compared at all.
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

/// What a call was given and what came out of it, at every instant of the system.
#[derive(Clone, Debug)]
struct Seen {
    arguments: Vec<Cell>,
    results: Vec<Cell>,
    /// Neither ever changes.
    rigid: bool,
    span: Span,
}

/// The arguments and results of a call, now or at a certain number of instants before.
#[derive(Clone, Debug)]
struct Past {
    arguments: Vec<StreamId>,
    results: Vec<StreamId>,
}

/// What has been said of each function so far.
#[derive(Debug, Default)]
pub(in crate::lustre::elaborate) struct Functions {
    /// Calls of functions that are no tables, in the order of the functions' first calls.
    calls: Vec<(Key, Vec<Seen>)>,
    /// By function: results, by arguments in the order of their values.
    tables: FxHashMap<Key, Vec<Vec<Cell>>>,
    /// By result of a call: its arguments.
    pub(in crate::lustre::elaborate) reads: FxHashMap<StreamId, Vec<Cell>>,
    /// What the narrow system says of all states, and the functions that it speaks of.
    pub(in crate::lustre::elaborate) narrow: Vec<TermId>,
    pub(in crate::lustre::elaborate) narrowed: Vec<Word>,
}

impl<'a> Model<'a> {
    /// The outputs of a call of a function without a body.
    pub(in crate::lustre::elaborate) fn function_call(
        &mut self,
        node: &'a Node,
        args: &[Val],
        site: FunctionCall<'_>,
    ) -> Val {
        let i = self.instances.len();
        self.instances.push(Instance::new(Body::Node(node), Place::Called, site.path.to_string(), site.inside));
        if !self.bind_types(site.at, i, node, site.call, args) || !self.bind_inputs(i, node, args, site.span) {
            self.instances[i].body = Body::Nothing;
            return Val::error();
        }
        if args.iter().any(|a| self.types.has_data(a.ty)) {
            let what = "a datatype or an array of unknown size as an argument of a function without a body";
            self.unsupported(site.span, what);
            return Val::error();
        }
        let how = Declare { kind: StreamKind::Output, role: Role::State, free: false, standing: Standing::Assumed };
        let outputs: Vec<Val> = node.outputs.iter().map(|decl| self.declare(i, decl, how)).collect();
        if outputs.iter().any(Val::is_error) {
            return Val::error();
        }
        let types: Vec<Ty> = outputs.iter().map(|o| o.ty).collect();
        if types.iter().any(|&ty| self.types.has_open(ty)) {
            self.unsupported(site.span, "an array of unknown size as the result of a function without a body");
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
                self.define_now(StreamId(variable.first.0 + k as u32), results[offset], decl.name.span);
                offset += 1;
            }
        }
        if rigid {
            let ty = self.types.list(types);
            return Val::many(ty, None, results);
        }
        if outputs.is_empty() { self.nothing() } else { self.list(&outputs, site.span).on(Some(site.outputs)) }
    }

    /// New values that never change, one for each scalar of the outputs.
    fn entry(&mut self, node: &Node, name: &str, types: &[Ty], span: Span) -> Option<Vec<Cell>> {
        let mut cells = Vec::new();
        for (decl, &ty) in node.outputs.iter().zip(types) {
            let full =
                if types.len() == 1 { name.to_string() } else { format!("{name}.{}", self.word(decl.name.word)) };
            let value = self.rigid_value(&full, ty, StreamKind::Internal, span);
            if value.is_error() {
                return None;
            }
            cells.extend_from_slice(value.cells());
        }
        Some(cells)
    }

    /// The calls of a function so far.
    fn calls_of(&mut self, key: Key) -> &mut Vec<Seen> {
        let known = self.functions.calls.iter().position(|(k, _)| *k == key);
        let n = known.unwrap_or_else(|| {
            self.functions.calls.push((key, Vec::new()));
            self.functions.calls.len() - 1
        });
        &mut self.functions.calls[n].1
    }

    /// A call of a function that is no table. Its results have values at every instant of the system, as the arguments do; when
    /// the clock of the call is off nobody reads them.
    fn wide_call(
        &mut self,
        key: Key,
        node: &Node,
        types: &[Ty],
        arguments: Vec<Cell>,
        rigid: bool,
        span: Span,
    ) -> Option<Vec<Cell>> {
        if let Some(known) = self.calls_of(key.clone()).iter().find(|seen| seen.arguments == arguments) {
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
                // The output of the call shows it.
                self.builder.set_stream(self.streams.get(stream).var, Some(StreamKind::Internal));
                if let Shape::Machine { signed: true, .. } = self.types.shape(leaf) {
                    self.builder.set_numerals(self.streams.get(stream).var, Numerals::Signed);
                }
                self.functions.reads.insert(stream, arguments.clone());
                results.push(self.read(stream));
            }
        }
        self.calls_of(key).push(Seen { arguments, results: results.clone(), rigid, span });
        Some(results)
    }

    /// Says of all functions that are no tables what they are, once all calls are known.
    pub(in crate::lustre::elaborate) fn function_laws(&mut self) {
        for (key, calls) in std::mem::take(&mut self.functions.calls) {
            let name = self.word(key.0);
            if calls.len() <= MAX_CALLS {
                for (k, call) in calls.iter().enumerate() {
                    let laws: Vec<Cell> = calls[..k].iter().map(|other| self.congruent(call, other)).collect();
                    let law = self.lift(Op::And, &laws);
                    self.assume(format!("{name} is a function"), &Val::one(BOOL, None, law), BASE, call.span);
                }
            }
            if calls.iter().all(|call| call.rigid) {
                continue;
            }
            if calls.len() <= MAX_COMPARED {
                let changing: Vec<&Seen> = calls.iter().filter(|call| !call.rigid).collect();
                let apart = if calls.len() <= MAX_REMEMBERED { self.memories().clamp(1, MAX_APART) } else { 1 };
                let mut past: Vec<Past> = changing.iter().map(|call| self.now(call)).collect();
                for steps in 1..=apart {
                    if steps > 1 {
                        past = past.iter().zip(&changing).map(|(p, call)| self.one_step_before(p, call.span)).collect();
                    }
                    for call in &changing {
                        let earlier: Vec<Cell> = past.iter().map(|p| self.congruent_with_past(call, p)).collect();
                        let law = self.lift(Op::And, &earlier);
                        let value = Val::one(BOOL, None, law);
                        self.assume(format!("{name} is the same function"), &value, BASE, call.span);
                    }
                }
            }
            self.narrow_function(key.0, &calls);
        }
    }

    /// If two calls have the same arguments at an instant, they have the same results.
    fn congruent(&mut self, call: &Seen, other: &Seen) -> Cell {
        let same = self.equal(&call.arguments, &other.arguments);
        let equal = self.equal(&call.results, &other.results);
        self.lift(Op::Implies, &[same, equal])
    }

    /// How many expressions of the file remember something: no claim can speak of instants further apart than memory reaches, or
    /// there is memory without end.
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
    fn now(&mut self, call: &Seen) -> Past {
        let mut streams =
            |cells: &[Cell], what: &str| cells.iter().map(|&c| self.as_stream(c, BASE, "", what, call.span)).collect();
        Past { arguments: streams(&call.arguments, "argument"), results: streams(&call.results, "result") }
    }

    /// The same an instant earlier; at the first instant those of that instant, which are as true as any.
    fn one_step_before(&mut self, past: &Past, span: Span) -> Past {
        let mut streams = |ids: &[StreamId], what: &str| {
            let each = ids.iter().map(|&id| {
                let current = self.streams.get(id).current;
                let cell = Cell { first: current, later: current, instant: false };
                self.as_stream(cell, BASE, "", what, span)
            });
            each.collect()
        };
        Past { arguments: streams(&past.arguments, "argument"), results: streams(&past.results, "result") }
    }

    /// If a call has arguments that were given before, as the streams of the past have them an instant before, it has the results.
    fn congruent_with_past(&mut self, call: &Seen, past: &Past) -> Cell {
        let mut equal = |cells: &[Cell], others: &[StreamId]| {
            let currents = others.iter().map(|&id| self.streams.get(id).current).collect::<Vec<_>>();
            let parts: Vec<TermId> = cells.iter().zip(currents).map(|(c, o)| self.mk(Op::Eq, &[c.later, o])).collect();
            self.mk(Op::And, &parts)
        };
        let (same, equal) = (equal(&call.arguments, &past.arguments), equal(&call.results, &past.results));
        let later = self.mk(Op::Implies, &[same, equal]);
        let first = self.builder.pool.tt();
        Cell { first, later, instant: false }
    }

    fn equal(&mut self, a: &[Cell], b: &[Cell]) -> Cell {
        let parts: Vec<Cell> = a.iter().zip(b).map(|(&a, &b)| self.lift(Op::Eq, &[a, b])).collect();
        self.lift(Op::And, &parts)
    }

    /// The function of the narrow system: a few rows, arbitrary but fixed, and what it is elsewhere.
    fn narrow_function(&mut self, function: Word, calls: &[Seen]) {
        let Some(first) = calls.first() else { return };
        let name = self.word(function);
        let span = first.span;
        let sort = |model: &Self, c: &Cell| model.builder.pool.sort(c.first);
        let argument_sorts: Vec<Sort> = first.arguments.iter().map(|c| sort(self, c)).collect();
        let result_sorts: Vec<Sort> = first.results.iter().map(|c| sort(self, c)).collect();
        let mut rows = Vec::new();
        for k in 0..ENTRIES {
            let given: Vec<Cell> =
                argument_sorts.iter().map(|&s| self.fixed(&format!("{name}@row{k}.argument"), s, span)).collect();
            let gives: Vec<Cell> =
                result_sorts.iter().map(|&s| self.fixed(&format!("{name}@row{k}"), s, span)).collect();
            rows.push((given, gives));
        }
        let elsewhere: Vec<Cell> =
            result_sorts.iter().map(|&s| self.fixed(&format!("{name}@elsewhere"), s, span)).collect();
        let shifted = self.fixed(&format!("{name}@shifts"), Sort::Bool, span);
        for call in calls {
            // Arguments as state variables: a formula about states cannot speak of the instant before.
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
            for (k, &result) in call.results.iter().enumerate() {
                let mut value = elsewhere[k];
                let argument =
                    arguments.iter().find(|c| sort(self, c) == result_sorts[k] && result_sorts[k].is_numeric());
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
    }

    /// A scalar that is arbitrary and never changes.
    fn fixed(&mut self, name: &str, sort: Sort, span: Span) -> Cell {
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

    /// The values of each argument, if there are few.
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
        // Choose by the last argument first: neighbours differ in it.
        for (&argument, values) in arguments.iter().zip(domains).rev() {
            let mut next = Vec::new();
            for group in table.chunks(values.len()) {
                let mut chosen = group.last()?.clone();
                for (value, entry) in values.iter().zip(group).rev().skip(1) {
                    let value = self.constant(value.clone());
                    let here = self.lift(Op::Eq, &[argument, value]);
                    chosen = entry.iter().zip(&chosen).map(|(&a, &b)| self.lift(Op::Ite, &[here, a, b])).collect();
                }
                next.push(chosen);
            }
            table = next;
        }
        table.into_iter().next()
    }
}
