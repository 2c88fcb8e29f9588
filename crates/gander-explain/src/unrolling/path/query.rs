//! Queries for paths of a given length, and their answers.

use std::time::{Duration, Instant};

use gander_smt::{Answer, Limits, Literal, Placement, StepSymbol};
use gander_term::SymbolId;
use rustc_hash::FxHashMap;

use super::{Activated, Activation, Encoding, Path, WatchId};
use crate::parts::set::PartSet;
use crate::unrolling::constraints::{Constraint, Owner, When};

/// Where a path begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum From {
    /// In a start state.
    Start,
    /// Anywhere.
    Anywhere,
}

/// What the refutation of a query uses.
#[derive(Clone, Debug)]
pub(crate) struct Grounds {
    pub parts: PartSet,
    /// Positions of the constraints used.
    pub constraints: PartSet,
    /// The assumed formulas used.
    pub watched: Vec<WatchId>,
}

/// The answer to a [`PathQuery`].
#[derive(Clone, Debug)]
pub(crate) enum PathAnswer {
    /// Such a path exists.
    Exists,
    /// No such path exists.
    Refuted(Grounds),
    /// The solver did not decide.
    Unknown,
}

/// A query for a path of a given length.
pub(crate) struct PathQuery<'w> {
    pub kept: &'w PartSet,
    pub from: From,
    pub steps: u32,
    /// Formulas that hold in all states except the last.
    pub along: &'w [WatchId],
    /// Formulas of which at least one is false in the last state.
    pub violated: &'w [WatchId],
}

/// The values of symbols at the steps of a path.
pub(crate) struct Values {
    pub values: FxHashMap<StepSymbol, gander_term::Value>,
    pub starts: Vec<SymbolId>,
    pub takes: Vec<SymbolId>,
}

impl Values {
    pub(crate) fn is_true(&self, symbol: SymbolId, step: u32) -> bool {
        self.values.get(&StepSymbol::at(symbol, step)) == Some(&gander_term::Value::Bool(true))
    }
}

impl Path {
    fn literal(&mut self, id: WatchId, step: u32) -> Literal {
        let watched = &mut self.watched[id.0];
        let of = |s: SymbolId| self.placement.get(&s).copied().unwrap_or(Placement::Rigid);
        let template = match watched.template.take() {
            Some(template) => template,
            None => self.session.compile(&self.pool, watched.term, &of),
        };
        while (watched.at.len() as u32) <= step {
            let i = watched.at.len() as u32;
            watched.at.push(self.session.literal_at(&self.pool, &template, i));
        }
        watched.template = Some(template);
        watched.at[step as usize]
    }

    /// A literal that requires one of the formulas to be false at a step.
    fn goal(&mut self, violated: &[WatchId], step: u32) -> Literal {
        if let [one] = violated {
            return !self.literal(*one, step);
        }
        let key = (violated.to_vec(), step);
        if let Some(&literal) = self.goals.get(&key) {
            return literal;
        }
        let mut clause: Vec<Literal> = violated.iter().map(|&b| !self.literal(b, step)).collect();
        let literal = self.session.literal();
        clause.push(!literal);
        self.session.assert_clause(&clause);
        self.goals.insert(key, literal);
        literal
    }

    fn limits(&self) -> Limits {
        let left = self
            .deadline
            .map(|d| d.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
        match left.into_iter().chain(self.query_timeout).min() {
            Some(time) => Limits::time(time),
            None => Limits::NONE,
        }
    }

    /// True if the deadline has passed.
    pub(crate) fn deadline_passed(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }

    /// Asks the solver whether such a path exists.
    pub(crate) fn query(&mut self, query: &PathQuery<'_>) -> PathAnswer {
        if self.deadline_passed() {
            return PathAnswer::Unknown;
        }
        if self.encoding == Encoding::Full {
            self.use_part_literals();
            self.assert_all();
        }
        self.unroll(query.steps);
        let mut assumptions: Vec<Literal> = Vec::new();
        let mut meaning: FxHashMap<Literal, WatchId> = FxHashMap::default();
        if !query.violated.is_empty() {
            assumptions.push(self.goal(query.violated, query.steps));
        }
        if query.from == From::Start {
            assumptions.extend(self.from_start);
        }
        assumptions.extend(&self.step_literals[..query.steps as usize]);
        for i in 0..query.steps {
            for &w in query.along {
                let literal = self.literal(w, i);
                meaning.insert(literal, w);
                assumptions.push(literal);
            }
        }
        match self.activation {
            Activation::PerPart => {
                assumptions.extend(
                    query.kept.iter().filter_map(|p| self.literals.get(&Activated::Part(p))),
                );
            }
            Activation::PerConstraint => {
                let applies = |when: When| match when {
                    When::First => query.from == From::Start,
                    When::State => true,
                    When::Step => query.steps > 0,
                };
                let kept = |constraint: usize| match &self.constraints.list[constraint] {
                    constraint if !applies(constraint.when) => false,
                    Constraint { owner: Owner::Part(p), .. } => query.kept.has(*p),
                    _ => true,
                };
                let asserted = self
                    .asserted
                    .iter()
                    .map(|&constraint| constraint as usize)
                    .filter(|&constraint| kept(constraint));
                assumptions.extend(asserted.filter_map(|constraint| {
                    self.literals.get(&Activated::Constraint(constraint))
                }));
            }
        }
        self.queries += 1;
        let limits = self.limits();
        let answer = self.session.check(&assumptions, limits);
        match answer {
            Answer::Sat => PathAnswer::Exists,
            Answer::Unknown(_) => {
                self.unanswered += 1;
                self.recover();
                PathAnswer::Unknown
            }
            Answer::Unsat => match self.session.core(limits) {
                Ok(core) => {
                    let mut parts = PartSet::none(self.available.universe());
                    let mut constraints = PartSet::none(self.allowed.universe());
                    let mut watched = Vec::new();
                    for literal in core {
                        match self.activated.get(&literal) {
                            Some(&Activated::Part(p)) => parts.insert(p),
                            Some(&Activated::Constraint(constraint)) => {
                                constraints.insert(constraint);
                                if let Owner::Part(p) = self.constraints.list[constraint].owner {
                                    parts.insert(p);
                                }
                            }
                            None => watched.extend(
                                meaning.get(&literal).filter(|w| !watched.contains(*w)).copied(),
                            ),
                        }
                    }
                    if self.activation == Activation::PerPart {
                        constraints = self.constraints_of(&parts, &self.allowed);
                    }
                    PathAnswer::Refuted(Grounds { parts, constraints, watched })
                }
                Err(_) => {
                    self.recover();
                    PathAnswer::Unknown
                }
            },
        }
    }

    /// The values along the path that the last query found.
    pub(crate) fn values(&mut self, steps: u32) -> Result<Values, String> {
        let mut symbols = Vec::new();
        for i in 0..=steps {
            symbols.extend(self.system.vars().iter().map(|v| StepSymbol::at(v.current, i)));
            symbols.push(StepSymbol::at(self.system.location(), i));
        }
        for i in 0..steps {
            symbols.extend(self.constraints.takes.iter().map(|&t| StepSymbol::at(t, i)));
            for t in self.system.transitions() {
                symbols.extend(t.params.iter().map(|p| StepSymbol::at(p.symbol, i)));
            }
        }
        symbols.extend(self.constraints.begins.iter().map(|&s| StepSymbol::at(s, 0)));
        let limits = self.limits();
        let values =
            self.session.values(&self.pool, &symbols, limits).map_err(|r| r.to_string())?;
        let values = symbols.into_iter().zip(values).collect();
        Ok(Values {
            values,
            starts: self.constraints.begins.clone(),
            takes: self.constraints.takes.clone(),
        })
    }
}
