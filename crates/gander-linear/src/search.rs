//! The search for a refutation or a model: a tableau of cases, with the simplex algorithm for the
//! rows of each case. Not trusted.
//!
//! The *level* of a fact is the number of enclosing cases. A refutation that uses no fact of its
//! own level refutes the enclosing case too, so the other alternatives are skipped (backjumping).

use gander_term::{IBig, Op, Pool, Sort, TermId, Value, evaluate};

use crate::facts::Facts;
use crate::proof::{Fact, Line, Proof};
use crate::ratio::{DeltaRational, Ratio};
use crate::rows::{Row, row_of};
use crate::simplex::{Simplex, spend};
use crate::{Answer, Budget};

/// The nesting depth of cases; levels are bits of a word.
const DEEPEST: u32 = 40;

/// The work of a fact, and of a case, beside the operations on numbers.
const COST_OF_FACT: usize = 4;
const COST_OF_CASE: usize = 40;

/// Searches for a refutation or a model. Also returns the work that was done.
pub(crate) fn search(pool: &Pool, formula: TermId, budget: Budget) -> (Answer, u64) {
    if pool.sort(formula) != Sort::Bool || !is_small(pool, formula, budget.terms) {
        return (Answer::Unknown, 0);
    }
    let mut search = Search {
        facts: Facts::new(pool),
        formula,
        rows: Vec::new(),
        work: budget.work,
        model: None,
    };
    search.facts.assume(Fact::Holds(formula));
    let found = search.refute(Stage::default(), 0);
    let answer = match (found, search.model) {
        (Some((proof, _)), _) => Answer::Refuted(proof),
        (None, Some(model)) => Answer::Model(model),
        (None, None) => Answer::Unknown,
    };
    (answer, budget.work - search.work)
}

/// True if the formula has at most `most` terms.
fn is_small(pool: &Pool, formula: TermId, most: usize) -> bool {
    let (mut seen, mut stack) = (rustc_hash::FxHashSet::default(), vec![formula]);
    while let Some(t) = stack.pop() {
        if seen.insert(t) {
            if seen.len() > most {
                return false;
            }
            stack.extend_from_slice(pool.args(t));
        }
    }
    true
}

/// A set of levels.
type Levels = u64;

/// This level and the enclosing ones.
fn up_to(level: u32) -> Levels {
    (1 << (level + 1)) - 1
}

/// The state at one level, beside the facts.
#[derive(Clone, Default)]
struct Stage {
    simplex: Simplex,
    /// Facts with alternatives that were not split yet, and their levels.
    pending: Vec<(Fact, Levels)>,
    /// Comparisons with conditional terms whose condition is not decided.
    blocked: Vec<Fact>,
    /// The number of facts that were processed.
    seen: usize,
}

/// A row of the simplex algorithm, and its origin.
struct Source {
    fact: Fact,
    rounded: bool,
    levels: Levels,
}

struct Search<'p> {
    facts: Facts<'p>,
    formula: TermId,
    rows: Vec<Source>,
    work: u64,
    model: Option<Vec<(gander_term::SymbolId, Value)>>,
}

/// The next case split.
enum Split {
    Of(Fact, Levels, Vec<Vec<Fact>>),
    Cut(TermId),
}

impl Search<'_> {
    /// A refutation of the facts, and the levels it depends on. `None` if there is a model, or the
    /// budget is used up.
    fn refute(&mut self, mut stage: Stage, level: u32) -> Option<(Proof, Levels)> {
        spend(&mut self.work, COST_OF_CASE)?;
        if level > DEEPEST {
            return None;
        }
        if let Some(found) = self.take_in(&mut stage, level)? {
            return Some(found);
        }
        if let Err(explanation) = stage.simplex.solve(&mut self.work)? {
            return Some(self.lines(&explanation));
        }
        match self.next_split(&mut stage) {
            Some(Split::Of(fact, levels, alternatives)) => {
                let (proofs, used) = match self.cases(&stage, level, alternatives)? {
                    Ok(all) => all,
                    Err(without) => return Some(without),
                };
                Some((Proof::Cases { of: fact, proofs }, used | levels))
            }
            Some(Split::Cut(on)) => {
                let alternatives = vec![vec![Fact::Holds(on)], vec![Fact::Fails(on)]];
                let (proofs, used) = match self.cases(&stage, level, alternatives)? {
                    Ok(all) => all,
                    Err(without) => return Some(without),
                };
                Some((Proof::Cut { on, proofs: pair(proofs)? }, used))
            }
            None => self.integers(&stage, level),
        }
    }

    /// After all case splits: branches on an int with a fractional value, or finds a model.
    fn integers(&mut self, stage: &Stage, level: u32) -> Option<(Proof, Levels)> {
        let pool = self.facts.pool;
        let fraction = stage
            .simplex
            .variables()
            .find(|(t, v)| pool.sort(*t) == Sort::Int && !v.value.is_integral());
        let Some((on, near)) = fraction else {
            self.model = self.model_of(&stage.simplex);
            return None;
        };
        let at = IBig::from(near.value.floor());
        let alternatives =
            vec![vec![Fact::AtMost(on, at.clone())], vec![Fact::AtLeast(on, &at + IBig::ONE)]];
        let (proofs, used) = match self.cases(stage, level, alternatives)? {
            Ok(all) => all,
            Err(without) => return Some(without),
        };
        Some((Proof::Branch { on, at, proofs: pair(proofs)? }, used))
    }

    /// A refutation for each alternative, or one that uses none of them.
    #[allow(clippy::type_complexity)]
    fn cases(
        &mut self,
        stage: &Stage,
        level: u32,
        alternatives: Vec<Vec<Fact>>,
    ) -> Option<Result<(Vec<Proof>, Levels), (Proof, Levels)>> {
        let inner = 1 << (level + 1);
        let (mut proofs, mut used) = (Vec::with_capacity(alternatives.len()), 0);
        for alternative in alternatives {
            let (mark, rows) = (self.facts.mark(), self.rows.len());
            for fact in alternative {
                self.facts.assume(fact);
            }
            let found = self.refute(stage.clone(), level + 1);
            self.facts.undo(mark);
            self.rows.truncate(rows);
            let (proof, levels) = found?;
            if levels & inner == 0 {
                return Some(Err((proof, levels)));
            }
            used |= levels & !inner;
            proofs.push(proof);
        }
        Some(Ok((proofs, used)))
    }

    /// Processes new facts. The outer `None` means that the budget is used up; the inner value is a
    /// refutation.
    #[allow(clippy::option_option)]
    fn take_in(&mut self, stage: &mut Stage, level: u32) -> Option<Option<(Proof, Levels)>> {
        if self.facts.clash {
            return Some(Some((Proof::Clash, up_to(level))));
        }
        let mut fresh: Vec<Fact> = self.facts.list[stage.seen..].to_vec();
        stage.seen = self.facts.list.len();
        let unblocked = std::mem::take(&mut stage.blocked);
        let new_from = unblocked.len();
        fresh.splice(0..0, unblocked);
        for (at, fact) in fresh.into_iter().enumerate() {
            spend(&mut self.work, COST_OF_FACT)?;
            let pool = self.facts.pool;
            let Some(row) = row_of(&self.facts, &fact) else {
                if self.facts.alternatives(&fact).is_some() {
                    stage.pending.push((fact, 1 << level));
                }
                continue;
            };
            spend(&mut self.work, row.coefficients.len())?;
            if row.coefficients.iter().any(|(t, _)| pool.op(*t) == Op::Ite) {
                stage.blocked.push(fact);
                continue;
            }
            // Facts of any enclosing level may have decided the conditions.
            let levels =
                if at < new_from || has_choice(pool, &fact) { up_to(level) } else { 1 << level };
            if let Some(found) = self.add(stage, row, Source { fact, rounded: false, levels })? {
                return Some(Some(found));
            }
        }
        Some(None)
    }

    /// Adds a row to the simplex algorithm, rounded if it is over ints.
    #[allow(clippy::option_option)]
    fn add(
        &mut self,
        stage: &mut Stage,
        row: Row,
        mut source: Source,
    ) -> Option<Option<(Proof, Levels)>> {
        let levels = source.levels;
        if row.is_wrong() {
            return Some(Some((Proof::Lines(vec![Line::Of(source.fact)]), levels)));
        }
        if row.coefficients.is_empty() {
            return Some(None);
        }
        let row = match row.rounded(self.facts.pool) {
            Some(rounded) if rounded.is_wrong() => {
                return Some(Some((
                    Proof::Lines(vec![Line::Of(source.fact), Line::Rounded(0)]),
                    levels,
                )));
            }
            Some(rounded) => {
                source.rounded = rounded != row;
                rounded
            }
            None => row,
        };
        stage.simplex.add(&row, self.rows.len(), &mut self.work)?;
        self.rows.push(source);
        Some(None)
    }

    /// The proof of an explanation.
    fn lines(&self, explanation: &[(usize, Ratio)]) -> (Proof, Levels) {
        let (mut lines, mut sum, mut levels) = (Vec::new(), Vec::new(), 0);
        for (row, factor) in explanation {
            let source = &self.rows[*row];
            levels |= source.levels;
            lines.push(Line::Of(source.fact.clone()));
            if source.rounded {
                lines.push(Line::Rounded(lines.len() - 1));
            }
            sum.push((lines.len() - 1, factor.exact()));
        }
        lines.push(Line::Sum(sum));
        (Proof::Lines(lines), levels)
    }

    /// The fact with the fewest open alternatives; facts with a true alternative are dropped.
    fn next_split(&mut self, stage: &mut Stage) -> Option<Split> {
        let facts = &self.facts;
        let mut best: Option<(usize, Fact, Levels, Vec<Vec<Fact>>)> = None;
        stage.pending.retain(|(fact, levels)| {
            let Some(alternatives) = facts.alternatives(fact) else { return false };
            if alternatives.iter().any(|a| a.iter().all(|f| stands(facts, f) == Some(true))) {
                return false;
            }
            let open = alternatives
                .iter()
                .filter(|a| a.iter().all(|f| stands(facts, f) != Some(false)))
                .count();
            if best.as_ref().is_none_or(|(least, ..)| open < *least) {
                best = Some((open, fact.clone(), *levels, alternatives));
            }
            true
        });
        if let Some((_, fact, levels, alternatives)) = best {
            stage.pending.retain(|(f, _)| *f != fact);
            return Some(Split::Of(fact, levels, alternatives));
        }
        let row = row_of(facts, stage.blocked.first()?)?;
        let choice = row.coefficients.iter().find(|(t, _)| facts.pool.op(*t) == Op::Ite)?.0;
        facts.pool.args(choice).first().map(|&c| Split::Cut(c))
    }

    /// A model of the formula, from the values of the variables.
    fn model_of(&self, simplex: &Simplex) -> Option<Vec<(gander_term::SymbolId, Value)>> {
        let pool = self.facts.pool;
        // Evaluating all instances of a quantifier may exceed the budget.
        if pool.has_quantifier(self.formula) {
            return None;
        }
        let symbols = pool.free_symbols(&[self.formula]);
        let mut terms = vec![None; symbols.len()];
        for t in pool.postorder(&[self.formula]) {
            if let Some(at) = pool.as_symbol(t).and_then(|s| symbols.binary_search(&s).ok()) {
                terms[at] = Some(t);
            }
        }
        for beside in [Ratio::ONE, Ratio::new(1, 64)?, Ratio::new(1, 1 << 40)?] {
            let mut model = Vec::with_capacity(symbols.len());
            for (&s, t) in symbols.iter().zip(&terms) {
                let near = simplex.value((*t)?).unwrap_or(DeltaRational::ZERO);
                model.push((
                    s,
                    match pool.symbol(s).sort {
                        Sort::Bool => Value::Bool(self.facts.value((*t)?).unwrap_or(false)),
                        Sort::Int => Value::Int(IBig::from(near.value.floor())),
                        Sort::Real => {
                            Value::Real(near.value.plus(near.beside.times(beside)?)?.exact())
                        }
                        other => other.first_value(),
                    },
                ));
            }
            let look_up =
                |s| model.iter().find(|(t, _)| *t == s).map(|(_, v): &(_, Value)| v.clone());
            if evaluate(pool, self.formula, &look_up) == Ok(Value::Bool(true)) {
                return Some(model);
            }
        }
        None
    }
}

/// True if the fact is known to hold, false if it is known to fail.
fn stands(facts: &Facts<'_>, fact: &Fact) -> Option<bool> {
    match *fact {
        Fact::Holds(t) => facts.value(t),
        Fact::Fails(t) => facts.value(t).map(|b| !b),
        _ => facts.contains(fact).then_some(true),
    }
}

/// True if a comparison contains a conditional term.
fn has_choice(pool: &Pool, fact: &Fact) -> bool {
    let (Fact::Holds(t)
    | Fact::Fails(t)
    | Fact::Less(t)
    | Fact::Greater(t)
    | Fact::AtMost(t, _)
    | Fact::AtLeast(t, _)) = *fact;
    let (mut seen, mut stack) = (rustc_hash::FxHashSet::default(), vec![t]);
    while let Some(t) = stack.pop() {
        if pool.op(t) == Op::Ite {
            return true;
        }
        if seen.insert(t) {
            stack.extend_from_slice(pool.args(t));
        }
    }
    false
}

fn pair(proofs: Vec<Proof>) -> Option<Box<[Proof; 2]>> {
    <[Proof; 2]>::try_from(proofs).ok().map(Box::new)
}
