//! The heuristic distance of a state from a target.
//!
//! The target is read as a disjunction of conjunctions, as far as its top operators show one. The
//! distance is that to the nearest disjunct; it is 0 only if the target is met.

use gander_system::NodeId;
use gander_term::{Op, Pool, Sort, TermId};

use super::limits::LIMITS;
use crate::concrete::compiled::code::StepError;
use crate::concrete::compiled::machine::{Machine, Measures, Worker};
use crate::encode::targets::StateTarget;

/// The cost of a false conjunct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grading {
    /// One.
    Count,
    /// One, plus the difference of the numbers that it compares.
    Difference,
}

/// A conjunct: the positions of its truth value and of the numbers that it compares.
#[derive(Debug)]
struct Part {
    truth: usize,
    compared: Option<(usize, usize)>,
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Distance {
    node: Option<NodeId>,
    measures: Measures,
    /// The position of the truth value of the whole target.
    whole: usize,
    alternatives: Vec<Vec<Part>>,
    numbers: Vec<i64>,
}

impl Distance {
    pub(super) fn new(
        machine: &mut Machine,
        pool: &mut Pool,
        target: &StateTarget,
    ) -> Result<Distance, String> {
        let mut terms = vec![target.formula];
        let mut place = |t: TermId| {
            terms.push(t);
            terms.len() - 1
        };
        let mut alternatives = Vec::new();
        for alternative in parts(pool, target.formula, false) {
            let mut all = Vec::new();
            for conjunct in parts(pool, alternative, true) {
                let compared = compared(pool, conjunct).map(|(a, b)| (place(a), place(b)));
                all.push(Part { truth: place(conjunct), compared });
            }
            alternatives.push(all);
        }
        let measures = machine.measures(pool, &terms)?;
        Ok(Distance { node: target.node, measures, whole: 0, alternatives, numbers: Vec::new() })
    }

    /// The distance from a state.
    pub(super) fn from(
        &mut self,
        machine: &Machine,
        node: NodeId,
        state: &[i64],
        grading: Grading,
        w: &mut Worker,
    ) -> Result<u32, StepError> {
        let numbers = &mut self.numbers;
        numbers.clear();
        numbers.extend(machine.measure(&self.measures, state, w)?);
        let elsewhere = u32::from(self.node.is_some_and(|n| n != node));
        if elsewhere == 0 && numbers[self.whole] != 0 {
            return Ok(0);
        }
        let cost = |part: &Part| match (numbers[part.truth], grading, part.compared) {
            (0, Grading::Difference, Some((a, b))) => {
                1 + numbers[a].abs_diff(numbers[b]).min(1 << 20) as u32
            }
            (0, _, _) => 1,
            _ => 0,
        };
        let nearest = self.alternatives.iter().map(|all| all.iter().map(cost).sum::<u32>()).min();
        Ok((nearest.unwrap_or(0) + elsewhere).max(1))
    }
}

/// The conjuncts of a formula, or its disjuncts.
fn parts(pool: &mut Pool, t: TermId, conjuncts: bool) -> Vec<TermId> {
    let (mut found, mut stack) = (Vec::new(), vec![(t, true)]);
    while let Some((t, positive)) = stack.pop() {
        let args = pool.args(t).to_vec();
        let opened = match pool.op(t) {
            Op::Not => {
                stack.push((args[0], !positive));
                continue;
            }
            Op::And => conjuncts == positive,
            Op::Or => conjuncts != positive,
            Op::Implies
                if conjuncts != positive
                    && found.len() + stack.len() + 2 <= LIMITS.formula_parts =>
            {
                stack.extend([(args[1], positive), (args[0], !positive)]);
                continue;
            }
            _ => false,
        };
        if opened && found.len() + stack.len() + args.len() <= LIMITS.formula_parts {
            stack.extend(args.iter().rev().map(|&a| (a, positive)));
        } else {
            found.push(if positive { t } else { pool.not(t) });
        }
    }
    found
}

/// The ints that a literal compares.
fn compared(pool: &Pool, literal: TermId) -> Option<(TermId, TermId)> {
    let atom = if pool.op(literal) == Op::Not { pool.args(literal)[0] } else { literal };
    let &[a, b] = pool.args(atom) else { return None };
    let compares = matches!(pool.op(atom), Op::Eq | Op::Lt | Op::Le | Op::Gt | Op::Ge);
    (compares && pool.sort(a) == Sort::Int).then_some((a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::parse_term;

    #[test]
    fn conjuncts_are_found_through_negations() {
        let mut pool = Pool::new();
        for name in ["a", "b", "c"] {
            pool.variable(name, Sort::Bool);
        }
        let mut shown = |text: &str, conjuncts: bool| -> Vec<String> {
            let t = parse_term(&mut pool, text).unwrap();
            parts(&mut pool, t, conjuncts).iter().map(|&p| pool.display(p).to_string()).collect()
        };
        assert_eq!(shown("not (a and b -> c)", true), ["a", "b", "not c"]);
        assert_eq!(shown("a and b -> c", false), ["not a", "not b", "c"]);
        assert_eq!(shown("not (a or b)", true), ["not a", "not b"]);
        assert_eq!(shown("a or b", true), ["a or b"]);
    }
}
