//! The search for a refutation or a model: a tableau of cases, the simplex algorithm about the rows of each.
//!
//! Facts have a *level*, the number of cases around them. A refutation that uses no fact of its own level refutes the
//! cases around it as well, so their other alternatives are left out (backjumping). Nothing here is trusted.

use gander_term::{IBig, Op, Pool, Sort, TermId, Value, evaluate};

use crate::facts::Facts;
use crate::proof::{Fact, Line, Proof};
use crate::ratio::{Near, Ratio};
use crate::rows::{Row, row_of};
use crate::simplex::{Simplex, spend};
use crate::{Answer, Budget};

/// Cases within each other; levels are bits of a word.
const DEEPEST: u32 = 40;

/// What a fact and a case cost beside the operations on numbers.
const COST_OF_FACT: usize = 4;
const COST_OF_CASE: usize = 40;

/// See the module's documentation. Also tells the work that was done.
pub(crate) fn search(pool: &Pool, formula: TermId, budget: Budget) -> (Answer, u64) {
    if pool.sort(formula) != Sort::Bool || !is_small(pool, formula, budget.terms) {
        return (Answer::Unknown, 0);
    }
    let mut search = Search { facts: Facts::new(pool), formula, rows: Vec::new(), work: budget.work, model: None };
    search.facts.assume(Fact::Holds(formula));
    let found = search.refute(Stage::default(), 0);
    let answer = match (found, search.model) {
        (Some((proof, _)), _) => Answer::Refuted(proof),
        (None, Some(model)) => Answer::Model(model),
        (None, None) => Answer::Unknown,
    };
    (answer, budget.work - search.work)
}

/// The formula has at most so many terms.
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

/// The levels that something depends on.
type Levels = u64;

/// This level and those around it.
fn up_to(level: u32) -> Levels {
    (1 << (level + 1)) - 1
}

/// What is known at one level beside the facts.
#[derive(Clone, Default)]
struct Stage {
    simplex: Simplex,
    /// Facts of which cases are to be distinguished, and their levels.
    pending: Vec<(Fact, Levels)>,
    /// Comparisons with choices whose condition is not known.
    blocked: Vec<Fact>,
    /// How many facts were looked at.
    seen: usize,
}

/// A row of the simplex algorithm, and where it is from.
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

/// What is to be distinguished next.
enum Split {
    Of(Fact, Levels, Vec<Vec<Fact>>),
    Cut(TermId),
}

impl Search<'_> {
    /// A refutation of the facts, and the levels it depends on. None if there is a model, or the budget is used up.
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

    /// All cases are done: are ints integral? Otherwise one of them is at most or at least something.
    fn integers(&mut self, stage: &Stage, level: u32) -> Option<(Proof, Levels)> {
        let pool = self.facts.pool;
        let fraction = stage.simplex.variables().find(|(t, v)| pool.sort(*t) == Sort::Int && !v.value.is_integral());
        let Some((on, near)) = fraction else {
            self.model = self.model_of(&stage.simplex);
            return None;
        };
        let at = IBig::from(near.value.floor());
        let alternatives = vec![vec![Fact::AtMost(on, at.clone())], vec![Fact::AtLeast(on, &at + IBig::ONE)]];
        let (proofs, used) = match self.cases(stage, level, alternatives)? {
            Ok(all) => all,
            Err(without) => return Some(without),
        };
        Some((Proof::Branch { on, at, proofs: pair(proofs)? }, used))
    }

    /// A refutation for each alternative, or one that needs none of them.
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

    /// Looks at facts that are new. The outer `None` is the end of the budget, the inner value a refutation.
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
            // Choices were decided by facts of any level around.
            let levels = if at < new_from || has_choice(pool, &fact) { up_to(level) } else { 1 << level };
            if let Some(found) = self.add(stage, row, Source { fact, rounded: false, levels })? {
                return Some(Some(found));
            }
        }
        Some(None)
    }

    /// Gives a row to the simplex algorithm, rounded if it is about ints.
    #[allow(clippy::option_option)]
    fn add(&mut self, stage: &mut Stage, row: Row, mut source: Source) -> Option<Option<(Proof, Levels)>> {
        let levels = source.levels;
        if row.is_wrong() {
            return Some(Some((Proof::Lines(vec![Line::Of(source.fact)]), levels)));
        }
        if row.coefficients.is_empty() {
            return Some(None);
        }
        let row = match row.rounded(self.facts.pool) {
            Some(rounded) if rounded.is_wrong() => {
                return Some(Some((Proof::Lines(vec![Line::Of(source.fact), Line::Rounded(0)]), levels)));
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

    /// The proof that an explanation is.
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

    /// The fact with the fewest alternatives that are open; those that are true already are dropped.
    fn next_split(&mut self, stage: &mut Stage) -> Option<Split> {
        let facts = &self.facts;
        let mut best: Option<(usize, Fact, Levels, Vec<Vec<Fact>>)> = None;
        stage.pending.retain(|(fact, levels)| {
            let Some(alternatives) = facts.alternatives(fact) else { return false };
            if alternatives.iter().any(|a| a.iter().all(|f| stands(facts, f) == Some(true))) {
                return false;
            }
            let open = alternatives.iter().filter(|a| a.iter().all(|f| stands(facts, f) != Some(false))).count();
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

    /// Values of the free symbols that make the formula true, near those of the variables.
    fn model_of(&self, simplex: &Simplex) -> Option<Vec<(gander_term::SymbolId, Value)>> {
        let pool = self.facts.pool;
        // To try all instances may take longer than all the rest.
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
                let near = simplex.value((*t)?).unwrap_or(Near::ZERO);
                model.push((
                    s,
                    match pool.symbol(s).sort {
                        Sort::Bool => Value::Bool(self.facts.value((*t)?).unwrap_or(false)),
                        Sort::Int => Value::Int(IBig::from(near.value.floor())),
                        Sort::Real => Value::Real(near.value.plus(near.beside.times(beside)?)?.exact()),
                        other => other.first_value(),
                    },
                ));
            }
            let look_up = |s| model.iter().find(|(t, _)| *t == s).map(|(_, v): &(_, Value)| v.clone());
            if evaluate(pool, self.formula, &look_up) == Ok(Value::Bool(true)) {
                return Some(model);
            }
        }
        None
    }
}

/// Whether a fact is known to be one, or known not to be.
fn stands(facts: &Facts<'_>, fact: &Fact) -> Option<bool> {
    match *fact {
        Fact::Holds(t) => facts.value(t),
        Fact::Fails(t) => facts.value(t).map(|b| !b),
        _ => facts.contains(fact).then_some(true),
    }
}

/// A comparison has a choice in it, which some fact may have decided.
fn has_choice(pool: &Pool, fact: &Fact) -> bool {
    let (Fact::Holds(t) | Fact::Fails(t) | Fact::Less(t) | Fact::Greater(t) | Fact::AtMost(t, _) | Fact::AtLeast(t, _)) =
        *fact;
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
