//! The first steps of an infinite run after the run that is shown, with their values. They are
//! found by evaluation, without a solver: values that are left open are tried from a short list.

use gander_system::{
    Choice, Choices, Effect, Leg, NodeFormulas, Range, Run, State, Step, System, Transition,
};
use gander_term::{IBig, Pool, RBig, Sort, SymbolId, TermId, Value, evaluate};

/// Steps that are given as an example.
const STEPS: usize = 3;
/// Combinations of values that are tried for one step.
const MAX_TRIALS: usize = 2000;
/// Values that are tried for a parameter or variable.
const MAX_VALUES: usize = 10;

/// Some steps of the pattern from the end of a run, each to a state of the set; `None` if the first
/// one is not found.
pub(super) fn example(
    system: &System,
    set: &NodeFormulas,
    choices: &Choices,
    run: &Run,
) -> Option<String> {
    let mut state = match run.legs.last() {
        None => run.first.clone(),
        Some(Leg::Step(Step { transition, next: Some(next), .. })) => {
            State { node: system.transition(*transition).target, values: next.clone() }
        }
        Some(_) => return None,
    };
    let mut steps = Vec::new();
    for _ in 0..STEPS {
        let search = Search { system, set, choices, state: &state };
        let Some((text, next)) = search.step() else { break };
        steps.push(text);
        state = next;
    }
    (!steps.is_empty()).then(|| format!("  for example {}, and so on", steps.join("; ")))
}

struct Search<'a> {
    system: &'a System,
    set: &'a NodeFormulas,
    choices: &'a Choices,
    state: &'a State,
}

/// The values of symbols in a step.
struct Values<'a> {
    system: &'a System,
    transition: &'a Transition,
    current: &'a [Value],
    params: &'a [Value],
    next: &'a [Option<Value>],
}

impl Values<'_> {
    fn get(&self, s: SymbolId) -> Option<Value> {
        let vars = self.system.vars();
        if let Some(at) = vars.iter().position(|v| v.current == s) {
            return self.current.get(at).cloned();
        }
        if let Some(at) = self.transition.params.iter().position(|p| p.symbol == s) {
            return self.params.get(at).cloned();
        }
        let at = vars.iter().position(|v| v.next == s)?;
        self.next.get(at).cloned().flatten()
    }

    fn of(&self, pool: &Pool, t: TermId) -> Option<Value> {
        evaluate(pool, t, &|s| self.get(s)).ok()
    }

    fn is_true(&self, pool: &Pool, t: TermId) -> bool {
        self.of(pool, t) == Some(Value::Bool(true))
    }
}

impl Search<'_> {
    /// A step that some choice gives in the state, in words, and the state after it.
    fn step(&self) -> Option<(String, State)> {
        self.choices.list.iter().find_map(|choice| self.step_by(choice))
    }

    fn step_by(&self, choice: &Choice) -> Option<(String, State)> {
        let transition = self.system.transition(choice.transition);
        let here = self.values(transition, &[], &[]);
        let applies =
            transition.source == self.state.node && here.is_true(&self.choices.pool, choice.when);
        if !applies {
            return None;
        }
        let mut lists = Vec::new();
        for (param, chosen) in transition.params.iter().zip(&choice.params) {
            lists.push(match chosen {
                Some(t) => vec![here.of(&self.choices.pool, *t)?],
                None => self.candidates(param.sort, param.range.as_ref(), None),
            });
        }
        let mut trials = MAX_TRIALS;
        for params in combinations(&lists) {
            if trials == 0 {
                return None;
            }
            trials -= 1;
            let with_params = self.values(transition, &params, &[]);
            let pool = self.system.pool();
            if !transition.guard.iter().all(|g| with_params.is_true(pool, g.term.term())) {
                continue;
            }
            let Some(lists) = self.next_values(choice, transition, &with_params) else { continue };
            for next in combinations(&lists) {
                if trials == 0 {
                    return None;
                }
                trials -= 1;
                if self.is_step_into_set(transition, &params, &next) {
                    return Some(self.shown(choice, transition, &params, next));
                }
            }
        }
        None
    }

    fn values<'v>(
        &'v self,
        transition: &'v Transition,
        params: &'v [Value],
        next: &'v [Option<Value>],
    ) -> Values<'v> {
        Values { system: self.system, transition, current: &self.state.values, params, next }
    }

    /// By variable: the next values to try.
    fn next_values(
        &self,
        choice: &Choice,
        transition: &Transition,
        values: &Values<'_>,
    ) -> Option<Vec<Vec<Value>>> {
        let mut lists = Vec::new();
        for v in self.system.var_ids() {
            let current = &self.state.values[v.index()];
            let chosen = choice.next.get(v.index()).copied().flatten();
            lists.push(match (transition.effect_on(v), chosen) {
                (Some(Effect::Assign { value, .. }), _) => {
                    vec![values.of(self.system.pool(), value.term())?]
                }
                (Some(_), _) => vec![current.clone()],
                (None, Some(t)) => vec![values.of(&self.choices.pool, t)?],
                (None, None) => {
                    let var = self.system.var(v);
                    self.candidates(var.sort, var.range.as_ref(), Some(current))
                }
            });
        }
        Some(lists)
    }

    fn is_step_into_set(&self, transition: &Transition, params: &[Value], next: &[Value]) -> bool {
        let after: Vec<Option<Value>> = next.iter().cloned().map(Some).collect();
        let step = self.values(transition, params, &after);
        let state = State { node: transition.target, values: next.to_vec() };
        let there = Values { current: &state.values, params: &[], next: &[], ..step };
        let pool = self.system.pool();
        let constraints = transition.effect.iter().filter_map(|e| match e {
            Effect::Constrain { relation, .. } => Some(relation.term()),
            _ => None,
        });
        let step = self.values(transition, params, &after);
        constraints.into_iter().all(|t| step.is_true(pool, t))
            && self.system.assumptions().iter().all(|a| there.is_true(pool, a.term.term()))
            && there.is_true(&self.set.pool, self.set.by_node[transition.target.index()])
    }

    fn shown(
        &self,
        choice: &Choice,
        transition: &Transition,
        params: &[Value],
        next: Vec<Value>,
    ) -> (String, State) {
        let changes: Vec<String> =
            super::trace::changed_values(self.system, &self.state.values, &next)
                .into_iter()
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
        let action = super::trace::action_text(self.system, choice.transition, params);
        let text = match changes.is_empty() {
            true => action,
            false => format!("{action}: {}", changes.join(", ")),
        };
        (text, State { node: transition.target, values: next })
    }

    /// Values to try, the current one first.
    fn candidates(&self, sort: Sort, range: Option<&Range>, current: Option<&Value>) -> Vec<Value> {
        let mut found: Vec<Value> = current.into_iter().cloned().collect();
        match (sort, range) {
            (Sort::Bool, _) => found.extend([Value::Bool(false), Value::Bool(true)]),
            (Sort::Enum(e), _) => {
                let count = self.system.pool().enumeration(e).variants.len();
                found.extend((0..count as u32).map(|at| Value::Enum(e, at)));
            }
            (Sort::Int, Some(range)) => {
                let mut at = range.low.clone();
                while at <= range.high && found.len() < MAX_VALUES {
                    found.push(Value::Int(at.clone()));
                    at += IBig::from(1);
                }
            }
            (Sort::Int, None) => {
                found.extend([0, 1, -1, 2, -2, 3, 4, 5, 10].map(|n| Value::Int(IBig::from(n))));
            }
            (Sort::Real, _) => {
                found.extend([0, 1, -1, 2].map(|n| Value::Real(RBig::from(IBig::from(n)))));
            }
            _ => {}
        }
        let mut distinct: Vec<Value> = Vec::new();
        for value in found {
            if !distinct.contains(&value) && distinct.len() < MAX_VALUES {
                distinct.push(value);
            }
        }
        distinct
    }
}

/// All combinations with one value of each list; lazily, the last list first.
fn combinations(lists: &[Vec<Value>]) -> impl Iterator<Item = Vec<Value>> + '_ {
    let mut at = lists.iter().all(|l| !l.is_empty()).then(|| vec![0; lists.len()]);
    std::iter::from_fn(move || {
        let indices = at.as_mut()?;
        let values = lists.iter().zip(indices.iter()).map(|(l, &i)| l[i].clone()).collect();
        let mut place = lists.len();
        loop {
            if place == 0 {
                at = None;
                break;
            }
            place -= 1;
            indices[place] += 1;
            if indices[place] < lists[place].len() {
                break;
            }
            indices[place] = 0;
        }
        Some(values)
    })
}
