//! Builds the system: equations become constraints of the start and the step; claims and
//! assumptions are added. Decides how an unguarded `pre` is read (`declare_befores`).

use gander_system::{
    BuildError, ClaimCondition, ClaimKind, ClaimOrigin, Function, Goal as StateGoal, NodeId, Role,
    StateTerm, StreamKind, System, SystemBuilder,
};
use gander_term::{SymbolId, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Code;
use crate::lustre::elaborate::checks::causality::Causality;
use crate::lustre::elaborate::expressions::values::{BASE, Cell};
use crate::lustre::elaborate::system::model::{Formula, Goal, Model, Obligation};
use crate::lustre::elaborate::system::streams::{Before, StreamId};

const AMBIGUOUS_PRE: &str = "it depends on the first value of an unguarded `pre`: in JKind every `pre x` has the same, and `pre (x + 1)` is \
                     one more than that; in Kind 2 each `pre` has its own; `init -> pre x` is read alike by both";

const AMBIGUOUS_INDEX: &str = "it depends on a read outside of an array: in JKind `a[i]` is then the last element, in Kind 2 any value; a \
                     condition on the index, as in `if 0 <= i and i < 3 then a[i] else 0`, is read alike by both";

const AMBIGUOUS_ASSERT: &str = "it depends on an `assert` in a called node, which JKind ignores and Kind 2 assumes; in the main node both \
                     assume it";

impl Model<'_> {
    /// True if the model has claims.
    pub(in crate::lustre::elaborate) fn has_claims(&self) -> bool {
        !self.obligations.is_empty()
    }

    /// The finished system; `None` if there are errors.
    pub(in crate::lustre::elaborate) fn finish(mut self) -> Option<System> {
        let obligations = std::mem::take(&mut self.obligations);
        let assumptions = std::mem::take(&mut self.assumptions);
        let claims: Vec<TermId> = obligations
            .iter()
            .map(|o| match o.goal {
                Goal::Always => self.state_formula(&o.formula),
                Goal::Reachable => self.state_goal(&o.formula),
            })
            .collect();
        let assumed: Vec<TermId> = assumptions.iter().map(|a| self.state_formula(a)).collect();
        let called = std::mem::take(&mut self.called_assertions);
        let called: Vec<TermId> = called.iter().map(|a| self.state_formula(a)).collect();
        let conditions = std::mem::take(&mut self.conditions);
        let provided: Vec<TermId> = conditions.iter().map(|p| self.state_goal(p)).collect();
        let mut equations: Vec<Option<Cell>> = Vec::new();
        for s in 0..self.streams.list.len() {
            let definition = self.streams.list[s].definition;
            let id = StreamId(s as u32);
            equations.push(definition.map(|d| self.held(id, d.cell)));
        }
        if self.stopped || self.report.has_errors() {
            return None;
        }
        let causality = self.check_causality(&equations);
        if self.report.has_errors() {
            return None;
        }
        let written = self.write(
            &equations,
            causality,
            (&obligations, &claims),
            (&assumptions, &assumed),
            &called,
        );
        match written {
            Ok(()) => {
                for value in std::mem::take(&mut self.undefined) {
                    self.builder.undefined_value(value);
                }
                for (p, term) in conditions.into_iter().zip(provided) {
                    let Ok(condition) = self.builder.state_formula(term, &p.name) else { continue };
                    let (claim, text, span) = (p.name, p.text, Some(p.span));
                    self.builder.condition(ClaimCondition { claim, condition, text, span });
                }
                Some(self.builder.finish())
            }
            Err(error) => {
                let span = self.streams.list.first().map_or(crate::Span::at(0), |s| s.span);
                self.error(Code::E0901, span, format!("the system cannot be built: {error}"));
                None
            }
        }
    }

    /// A formula about every state while its clock is on: the expression itself, or a stream equal
    /// to it.
    fn state_formula(&mut self, formula: &Formula) -> TermId {
        let cell = self.while_on(formula.cell, formula.clock);
        self.of_state(cell, formula)
    }

    /// A goal counts as reached only while its clock is on.
    fn state_goal(&mut self, formula: &Formula) -> TermId {
        let cell = match self.clocks.on(formula.clock) {
            Some(on) => self.lift(gander_term::Op::And, &[on, formula.cell]),
            None => formula.cell,
        };
        self.of_state(cell, formula)
    }

    fn of_state(&mut self, cell: Cell, formula: &Formula) -> TermId {
        if cell.instant {
            return cell.first;
        }
        let stream = self.as_stream(cell, BASE, "", "formula", formula.span);
        self.streams.get(stream).current
    }

    fn write(
        &mut self,
        equations: &[Option<Cell>],
        causality: Causality,
        (obligations, claims): (&[Obligation], &[TermId]),
        (assumptions, assumed): (&[Formula], &[TermId]),
        called: &[TermId],
    ) -> Result<(), BuildError> {
        self.declare_befores(equations, called)?;
        let here = NodeId(0);
        let mut starts: Vec<(String, TermId, Option<gander_system::Span>)> = Vec::new();
        let mut steps = Vec::new();
        for (s, equation) in equations.iter().enumerate() {
            let Some(cell) = equation else { continue };
            let stream = &self.streams.list[s];
            let span = stream.definition.map(|d| d.span);
            let (name, current, next) = (stream.name.clone(), stream.current, stream.next);
            let id = StreamId(s as u32);
            let over = self.defined_over(id).to_vec();
            let (current, next) = (self.defined_part(id, current), self.defined_part(id, next));
            let mut first = self.builder.pool.eq(current, cell.first);
            let mut later = self.builder.pool.eq(next, cell.later);
            if !over.is_empty() {
                let all = self.for_all(&over, Cell { first, later, instant: false });
                (first, later) = (all.first, all.later);
            }
            starts.push((format!("{name} at first"), first, span));
            steps.push((name, later, span));
        }
        let builder = &mut self.builder;
        let root = builder.so_far().name().to_owned();
        let (start, step) = if self.qualified {
            (root.clone(), format!("{root}.step"))
        } else {
            ("start".into(), "step".into())
        };
        builder.named_start(&start, here, &starts, None)?;
        let mut draft = builder.transition(&step, None, here, here, None)?;
        if causality == Causality::Causal {
            builder.set_causal(&mut draft);
        }
        for (name, term, span) in steps {
            builder.named_constraint(&mut draft, &name, term, span)?;
        }
        for stream in &self.streams.list {
            // Also a stream with an equation, since `x = x` does not determine it.
            let role = builder.so_far().var(stream.var).role;
            if !stream.free && role == Role::State {
                builder.free(&mut draft, stream.var);
            }
        }
        builder.add(draft)?;
        for (name, term, span) in &self.hints {
            let formula = builder.state_formula(*term, name)?;
            builder.hint(here, name, formula, Some(*span));
        }
        for (formula, &term) in assumptions.iter().zip(assumed) {
            let term = builder.state_formula(term, &formula.name)?;
            builder.assumption(&formula.name, term, Some(formula.span));
        }
        for (obligation, &term) in obligations.iter().zip(claims) {
            claim(builder, obligation, term)?;
        }
        Ok(())
    }

    /// Declares the values before the first instant that equations read as inputs. Records the
    /// narrow reading of the system: JKind's equations between these values (`befores_in_jkind`),
    /// its reads outside of arrays, the assertions of called nodes (`called`), which Kind 2
    /// assumes, and small functions.
    fn declare_befores(
        &mut self,
        equations: &[Option<Cell>],
        called: &[TermId],
    ) -> Result<(), BuildError> {
        let roots: Vec<TermId> =
            equations.iter().flatten().flat_map(|c| [c.first, c.later]).collect();
        let free: FxHashSet<SymbolId> =
            self.builder.pool.free_symbols(&roots).into_iter().collect();
        let mut read: Vec<(StreamId, TermId)> = Vec::new();
        for before in std::mem::take(&mut self.streams.befores) {
            let symbol = before.symbol;
            let name = &self.builder.pool.symbol(symbol).name;
            let next = self.builder.pool.find_symbol(&format!("{name}'"));
            if !free.contains(&symbol) && !next.is_some_and(|n| free.contains(&n)) {
                continue;
            }
            self.declare_before(&before)?;
            // Elements of arrays of unknown size have no stream; only Kind 2 accepts them.
            read.extend(before.of.map(|id| (id, self.builder.pool.var(symbol))));
        }
        // A program that only Kind 2 accepts has Kind 2's meaning.
        let mut same = if self.read_by_jkind { self.befores_in_jkind(&read)? } else { Vec::new() };
        let mut texts: Vec<String> = Vec::new();
        if !same.is_empty() {
            texts.push(AMBIGUOUS_PRE.into());
        }
        if let Some(any) = self.reads_any_outside {
            same.push(self.builder.pool.not(any.first));
            texts.push(AMBIGUOUS_INDEX.into());
        }
        if !called.is_empty() {
            same.extend_from_slice(called);
            texts.push(AMBIGUOUS_ASSERT.into());
        }
        self.write_functions(&same)?;
        if !self.functions.narrow.is_empty() {
            let names: Vec<String> =
                self.functions.narrowed.iter().map(|&f| format!("`{}`", self.word(f))).collect();
            texts.push(format!(
                "it depends on what is a function of its arguments over the whole run, without a body: {}; neither was it \
                 proved from calls that are a few steps apart, nor was there a run with a function that is a small table",
                names.join(", ")
            ));
            same.append(&mut self.functions.narrow);
        }
        if !same.is_empty() {
            let same = self.builder.pool.and(same);
            let same = self.builder.state_formula(same, "the narrow reading")?;
            self.builder.set_ambiguity(same, &texts.join("; or "));
        }
        Ok(())
    }

    /// Tells the system the calls of functions without a body, and what else is narrow.
    fn write_functions(&mut self, language: &[TermId]) -> Result<(), BuildError> {
        let mut functions = Vec::new();
        for (word, calls) in std::mem::take(&mut self.functions.recorded) {
            let name = self.word(word).to_string();
            let mut terms = |list: &[TermId]| -> Result<Vec<StateTerm>, BuildError> {
                list.iter().map(|&t| self.builder.state_value(t, &name)).collect()
            };
            let calls = calls
                .iter()
                .map(|(arguments, results)| Ok((terms(arguments)?, terms(results)?)))
                .collect::<Result<Vec<_>, BuildError>>()?;
            functions.push(Function { name, calls });
        }
        let language = match language {
            [] => None,
            _ => {
                let all = self.builder.pool.and(language.to_vec());
                Some(self.builder.state_formula(all, "the narrow reading")?)
            }
        };
        self.builder.functions(functions, language);
        Ok(())
    }

    /// Declares a value before the first instant as an input.
    fn declare_before(&mut self, before: &Before) -> Result<(), BuildError> {
        let (name, sort) = {
            let s = self.builder.pool.symbol(before.symbol);
            (s.name.clone(), s.sort)
        };
        let range = before.of.and_then(|id| self.range_of(id));
        let var = self.builder.var(&name, sort, Role::Input, range, Some(before.span))?;
        self.builder.set_stream(var, Some(StreamKind::Internal));
        if let Some(id) = before.of {
            let numerals = self.builder.so_far().var(self.streams.get(id).var).numerals;
            self.builder.set_numerals(var, numerals);
        }
        Ok(())
    }

    /// JKind's equations between the values before the first instant that are read. A variable has
    /// one such value. For an expression without `pre` and `->` the value follows from those of its
    /// variables; an expression with them has a separate value for each `pre` applied to it. In a
    /// node under `condact` each `pre` has a separate value.
    fn befores_in_jkind(&mut self, read: &[(StreamId, TermId)]) -> Result<Vec<TermId>, BuildError> {
        let unnamed: FxHashSet<StreamId> = self.streams.memories.values().copied().collect();
        let mut variables: FxHashMap<StreamId, TermId> = FxHashMap::default();
        let mut same = Vec::new();
        let mut expressions: Vec<(Cell, TermId)> = Vec::new();
        for &(id, value) in read {
            let stream = self.streams.get(id);
            if stream.clock != BASE {
                continue;
            }
            if !unnamed.contains(&id) {
                match variables.get(&id) {
                    Some(&other) => same.push(self.builder.pool.eq(value, other)),
                    None => drop(variables.insert(id, value)),
                }
            } else if let Some(definition) =
                stream.definition.filter(|d| d.cell.instant && d.over.is_none())
            {
                expressions.push((definition.cell, value));
            }
        }
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        for (cell, _) in &expressions {
            for symbol in self.builder.pool.free_symbols(&[cell.first]) {
                let now = self.builder.pool.var(symbol);
                let Some(&id) =
                    self.streams.by_current.get(&now).filter(|_| !map.contains_key(&symbol))
                else {
                    continue;
                };
                let before = match variables.get(&id) {
                    Some(&before) => before,
                    None => {
                        let (before, _) = self.before(id);
                        if let Some(made) = self.streams.befores.pop() {
                            self.declare_before(&made)?;
                        }
                        variables.insert(id, before);
                        before
                    }
                };
                map.insert(symbol, before);
            }
        }
        for (cell, value) in expressions {
            let expression = self.builder.pool.substitute(cell.first, &map);
            same.push(self.builder.pool.eq(value, expression));
        }
        Ok(same)
    }
}

fn claim(
    builder: &mut SystemBuilder,
    o: &crate::lustre::elaborate::system::model::Obligation,
    term: TermId,
) -> Result<(), BuildError> {
    let f = &o.formula;
    let term = builder.state_formula(term, &f.name)?;
    let kind = match o.goal {
        Goal::Always => ClaimKind::Always(term),
        Goal::Reachable => ClaimKind::Reachable(vec![StateGoal::State(term)]),
    };
    builder.claim(&f.name, kind, ClaimOrigin::Written, &f.text, Some(f.span))
}
