//! The meaning of scripts by brute force, written from docs/script.md: the program is rewritten as
//! its processes move, and goals are decided on the graph of all states.

use std::collections::HashMap;

use super::model::*;

/// The remaining program, the states of the processes, the values of the variables, and the number
/// of steps if it is limited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    program: Program,
    at: Vec<usize>,
    values: Vec<i64>,
    steps: Option<i64>,
}

/// Limits the states of a script.
const LIMIT: usize = 3_000;

fn truth(b: bool) -> i64 {
    i64::from(b)
}

fn eval(e: &Expr, s: &State) -> i64 {
    match e {
        Expr::Int(i) => *i,
        Expr::Bool(b) => truth(*b),
        Expr::Var(v) => s.values[*v],
        Expr::In(p, k) => truth(s.at[*p] == *k),
        Expr::Steps => s.steps.unwrap_or(0),
        Expr::Not(a) => 1 - eval(a, s),
        Expr::Both(op, a, b) => {
            let (a, b) = (eval(a, s), eval(b, s));
            match *op {
                "+" => a + b,
                "-" => a - b,
                "*" => a * b,
                "/" => a.div_euclid(b),
                "%" => a.rem_euclid(b),
                "&" => a & b,
                "|" => a | b,
                "==" => truth(a == b),
                "!=" => truth(a != b),
                "<" => truth(a < b),
                "<=" => truth(a <= b),
                ">" => truth(a > b),
                _ => truth(a >= b),
            }
        }
    }
}

struct Reference<'a> {
    script: &'a Script,
    bounded: bool,
}

impl Reference<'_> {
    fn domain(&self, v: usize) -> Vec<i64> {
        match self.script.vars[v].range {
            Some((low, high)) => (low..=high).collect(),
            None => vec![0, 1],
        }
    }

    /// All assignments of values to these variables.
    fn choices(&self, from: &State, vars: &[usize]) -> Vec<State> {
        let mut all = vec![from.clone()];
        for &v in vars {
            all = all
                .iter()
                .flat_map(|s| {
                    self.domain(v).into_iter().map(|value| {
                        let mut next = s.clone();
                        next.values[v] = value;
                        next
                    })
                })
                .collect();
        }
        all
    }

    fn initial(&self) -> Vec<State> {
        let script = self.script;
        let count = script.vars.len();
        let empty = State {
            program: script.program.clone(),
            at: vec![0; script.processes.len()],
            values: vec![0; count],
            steps: self.bounded.then_some(0),
        };
        let mut states = self.choices(&empty, &(0..count).collect::<Vec<_>>());
        for (p, process) in script.processes.iter().enumerate().filter(|(_, p)| p.states > 0) {
            let firsts: Vec<usize> =
                process.first_state.map_or_else(|| (0..process.states).collect(), |s| vec![s]);
            states = states
                .iter()
                .flat_map(|s| {
                    firsts.iter().map(|f| {
                        let mut next = s.clone();
                        next.at[p] = *f;
                        next
                    })
                })
                .collect();
        }
        let inits = script.inits.iter().chain(script.processes.iter().flat_map(|p| &p.inits));
        for (var, value, constraint) in inits {
            states.retain(|s| match value {
                Some(value) => s.values[*var] == *value,
                None => eval(constraint, s) == 1,
            });
        }
        states
    }

    /// The successors when this part of the program moves: the remaining part, and the state.
    fn moves(&self, program: &Program, s: &State) -> Vec<(Program, State)> {
        match program {
            Program::Leaf(p) => {
                self.leaf(*p, s).into_iter().map(|next| (program.clone(), next)).collect()
            }
            Program::Both(op, a, b) => {
                let (left, right) = (self.moves(a, s), self.moves(b, s));
                let both = |a: Program, b: Program| Program::Both(op, Box::new(a), Box::new(b));
                match *op {
                    "||" => {
                        let left = left.into_iter().map(|(a2, s)| (both(a2, (**b).clone()), s));
                        let right = right.into_iter().map(|(b2, s)| (both((**a).clone(), b2), s));
                        left.chain(right).collect()
                    }
                    "|" => left.into_iter().chain(right).collect(),
                    _ if left.is_empty() => right,
                    _ => left.into_iter().map(|(a2, s)| (both(a2, (**b).clone()), s)).collect(),
                }
            }
        }
    }

    fn leaf(&self, p: usize, s: &State) -> Vec<State> {
        let mut found = Vec::new();
        for rule in &self.script.processes[p].rules {
            let there = rule.states.is_none_or(|(from, _)| s.at[p] == from);
            if !there || rule.guard.as_ref().is_some_and(|g| eval(g, s) == 0) {
                continue;
            }
            let mut next = s.clone();
            for (v, e) in &rule.updates {
                next.values[*v] = eval(e, s);
            }
            let inside =
                rule.updates.iter().all(|(v, _)| self.domain(*v).contains(&next.values[*v]));
            if !inside {
                continue;
            }
            if let Some((_, to)) = rule.states {
                next.at[p] = to;
            }
            found.push(next);
        }
        found
    }

    fn successors(&self, s: &State) -> Vec<State> {
        if self.bounded && s.steps >= self.script.max_steps {
            return Vec::new();
        }
        let free: Vec<usize> =
            (0..self.script.vars.len()).filter(|v| self.script.vars[*v].nondet).collect();
        let mut found = Vec::new();
        for (program, mut next) in self.moves(&s.program, s) {
            next.program = program;
            next.steps = s.steps.map(|n| n + 1);
            found.extend(self.choices(&next, &free));
        }
        found
    }
}

/// The states of a script and the steps between them.
struct Space {
    states: Vec<State>,
    initial: usize,
    next: Vec<Vec<usize>>,
}

fn explore(script: &Script, bounded: bool) -> Option<Space> {
    let reference = Reference { script, bounded };
    let mut states = Vec::new();
    let mut index: HashMap<State, usize> = HashMap::new();
    for s in reference.initial() {
        if index.insert(s.clone(), states.len()).is_none() {
            states.push(s);
        }
    }
    let initial = states.len();
    let mut next: Vec<Vec<usize>> = Vec::new();
    while next.len() < states.len() {
        if states.len() > LIMIT {
            return None;
        }
        let mut row = Vec::new();
        for s in reference.successors(&states[next.len()]) {
            let at = *index.entry(s.clone()).or_insert_with(|| {
                states.push(s);
                states.len() - 1
            });
            row.push(at);
        }
        next.push(row);
    }
    Some(Space { states, initial, next })
}

impl Space {
    /// The states from which a maximal run stays within `allowed`: the greatest set of these whose
    /// members end or have a successor in it.
    fn maximal(&self, allowed: impl Fn(usize) -> bool) -> Vec<bool> {
        self.greatest(allowed, true)
    }

    fn greatest(&self, allowed: impl Fn(usize) -> bool, may_end: bool) -> Vec<bool> {
        let mut inside: Vec<bool> = (0..self.states.len()).map(allowed).collect();
        loop {
            let before = inside.clone();
            for s in 0..inside.len() {
                let goes_on = self.next[s].iter().any(|n| before[*n]);
                inside[s] = before[s] && (goes_on || may_end && self.next[s].is_empty());
            }
            if inside == before {
                return inside;
            }
        }
    }
}

/// Decides each goal; `None` if there are too many states.
pub fn decide(script: &Script) -> Option<Vec<bool>> {
    let free = explore(script, false);
    let bounded = if script.max_steps.is_some() { explore(script, true) } else { None };
    let mut answers = Vec::new();
    for goal in &script.goals {
        let is_bounded =
            script.max_steps.is_some() && matches!(goal, Goal::Reach(_) | Goal::Safe(_));
        let space = if is_bounded { bounded.as_ref()? } else { free.as_ref()? };
        let all = 0..space.states.len();
        let is = |p: &Expr, s: usize| eval(p, &space.states[s]) == 1;
        let starts = 0..space.initial;
        answers.push(match goal {
            Goal::Reach(p) => all.into_iter().any(|s| is(p, s)),
            Goal::Safe(p) => all.into_iter().all(|s| is(p, s)),
            Goal::Inf => {
                let forever = space.greatest(|_| true, false);
                starts.into_iter().any(|s| forever[s])
            }
            Goal::Deadlock => all.into_iter().all(|s| !space.next[s].is_empty()),
            Goal::Live(p) => !space.maximal(|s| !is(p, s)).contains(&true),
            Goal::LeadsTo(p, q) => {
                let never = space.maximal(|s| !is(q, s));
                !all.into_iter().any(|s| is(p, s) && never[s])
            }
            Goal::ExistsAlways(p) => {
                let stays = space.maximal(|s| is(p, s));
                starts.into_iter().any(|s| stays[s])
            }
            Goal::Eventually(p) => {
                let avoids = space.maximal(|s| !is(p, s));
                !starts.into_iter().any(|s| avoids[s])
            }
        });
    }
    Some(answers)
}
