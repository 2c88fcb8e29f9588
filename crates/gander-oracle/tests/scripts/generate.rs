//! Random small scripts.

use super::model::*;
use gander_runtime::Random;

struct Scope<'a> {
    vars: &'a [Var],
    visible: Vec<usize>,
    /// The process and the number of its states, if it has states; for goals, all processes.
    locations: Vec<(usize, usize)>,
    steps: bool,
}

impl Scope<'_> {
    fn int(&self, r: &mut Random, depth: usize) -> Expr {
        let ints: Vec<usize> =
            self.visible.iter().copied().filter(|v| self.vars[*v].range.is_some()).collect();
        match r.below(if depth == 0 { 3 } else { 6 }) {
            0 => Expr::Int(r.below(4) as i64),
            1 if self.steps => Expr::Steps,
            1 | 2 if !ints.is_empty() => Expr::Var(ints[r.below(ints.len())]),
            3 | 4 => {
                let op = ["+", "-", "*", "+", "-"][r.below(5)];
                Expr::Both(op, Box::new(self.int(r, depth - 1)), Box::new(self.int(r, depth - 1)))
            }
            5 => {
                let op = ["/", "%"][r.below(2)];
                Expr::Both(
                    op,
                    Box::new(self.int(r, depth - 1)),
                    Box::new(Expr::Int(1 + r.below(3) as i64)),
                )
            }
            _ => Expr::Int(r.below(3) as i64),
        }
    }

    fn bool(&self, r: &mut Random, depth: usize) -> Expr {
        let bools: Vec<usize> =
            self.visible.iter().copied().filter(|v| self.vars[*v].range.is_none()).collect();
        match r.below(if depth == 0 { 5 } else { 9 }) {
            0 if !bools.is_empty() => Expr::Var(bools[r.below(bools.len())]),
            1 if !self.locations.is_empty() => {
                let (p, states) = self.locations[r.below(self.locations.len())];
                Expr::In(p, r.below(states))
            }
            0..=3 => {
                let op = ["==", "!=", "<", "<=", ">", ">="][r.below(6)];
                Expr::Both(op, Box::new(self.int(r, 1)), Box::new(self.int(r, 0)))
            }
            4 => Expr::Bool(r.chance(50)),
            5 => Expr::Not(Box::new(self.bool(r, depth - 1))),
            n => {
                let op = if n == 6 { "&" } else { "|" };
                Expr::Both(op, Box::new(self.bool(r, depth - 1)), Box::new(self.bool(r, depth - 1)))
            }
        }
    }

    fn init(&self, r: &mut Random, var: usize) -> (usize, Option<i64>, Expr) {
        let constraint = self.bool(r, 0);
        if r.chance(80) {
            let value = match self.vars[var].range {
                Some((low, high)) => low + r.below((high - low + 1) as usize) as i64,
                None => r.below(2) as i64,
            };
            return (var, Some(value), constraint);
        }
        (var, None, constraint)
    }
}

/// The script of a seed.
pub fn generate(seed: u64) -> Script {
    let mut r = Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x1234_5678);
    let with_processes = r.chance(60);
    let count = if with_processes { 1 + r.below(3) } else { 1 };
    let mut vars = Vec::new();
    let mut declare = |r: &mut Random, owner: Option<usize>, number: usize| {
        let name = match owner {
            Some(_) => format!("y{number}"),
            None => format!("x{number}"),
        };
        let low = -(r.below(2) as i64);
        let range = if r.chance(60) { Some((low, low + 1 + r.below(3) as i64)) } else { None };
        vars.push(Var { owner, name, range, nondet: r.chance(12) });
    };
    for n in 0..1 + r.below(2) {
        declare(&mut r, None, n);
    }
    if with_processes {
        for p in 0..count {
            for n in 0..r.below(2) {
                declare(&mut r, Some(p), n);
            }
        }
    }
    let max_steps = if r.chance(35) { Some(r.below(6) as i64) } else { None };
    let bounded_only = max_steps.is_some() && r.chance(60);
    let read_steps = bounded_only && r.chance(50);
    let global: Vec<usize> = (0..vars.len()).filter(|v| vars[*v].owner.is_none()).collect();
    let mut processes = Vec::new();
    for p in 0..count {
        let states = if r.chance(35) { 2 + r.below(2) } else { 0 };
        let visible: Vec<usize> = (0..vars.len())
            .filter(|v| vars[*v].owner.is_none() || vars[*v].owner == Some(p))
            .collect();
        let locations = if states > 0 { vec![(p, states)] } else { vec![] };
        let scope = Scope { vars: &vars, visible: visible.clone(), locations, steps: read_steps };
        let targets: Vec<usize> = visible.iter().copied().filter(|v| !vars[*v].nondet).collect();
        let mut rules = Vec::new();
        for _ in 0..1 + r.below(3) {
            let mut updates: Vec<(usize, Expr)> = Vec::new();
            for &v in targets.iter().filter(|_| !targets.is_empty()) {
                if r.chance(50) {
                    let value = if vars[v].range.is_some() {
                        scope.int(&mut r, 1)
                    } else {
                        scope.bool(&mut r, 1)
                    };
                    updates.push((v, value));
                }
            }
            if updates.is_empty() {
                // A rule updates something.
                let Some(&v) = targets.first() else { continue };
                updates.push((v, Expr::Var(v)));
            }
            let states = if states > 0 && r.chance(75) {
                Some((r.below(states), r.below(states)))
            } else {
                None
            };
            let guard = if r.chance(60) { Some(scope.bool(&mut r, 1)) } else { None };
            rules.push(Rule { guard, states, updates, guard_in_front: r.chance(50) });
        }
        let own: Vec<usize> =
            visible.iter().copied().filter(|v| vars[*v].owner == Some(p)).collect();
        let plain = Scope { vars: &vars, visible: own.clone(), locations: vec![], steps: false };
        let inits = own.iter().filter(|_| !r.one_in(7)).copied().collect::<Vec<_>>();
        let inits = inits.into_iter().map(|v| plain.init(&mut r, v)).collect();
        let first_state = if states > 0 && r.chance(75) { Some(r.below(states)) } else { None };
        processes.push(Process { states, first_state, inits, rules });
    }
    let plain = Scope { vars: &vars, visible: global.clone(), locations: vec![], steps: false };
    let mut inits = Vec::new();
    for &v in &global {
        if r.chance(85) {
            inits.push(plain.init(&mut r, v));
        }
    }
    let mut program = Program::Leaf(0);
    for p in 1..count {
        let op = ["||", "||", "|", ">:"][r.below(4)];
        program = if r.chance(50) {
            Program::Both(op, Box::new(program), Box::new(Program::Leaf(p)))
        } else {
            Program::Both(op, Box::new(Program::Leaf(p)), Box::new(program))
        };
    }
    let locations = processes
        .iter()
        .enumerate()
        .filter(|(_, p)| p.states > 0)
        .map(|(i, p)| (i, p.states))
        .collect();
    let all =
        Scope { vars: &vars, visible: (0..vars.len()).collect(), locations, steps: read_steps };
    let mut goals = Vec::new();
    for _ in 0..2 + r.below(4) {
        let p = all.bool(&mut r, 2);
        goals.push(match r.below(if bounded_only { 2 } else { 8 }) {
            0 => Goal::Reach(p),
            1 => Goal::Safe(p),
            2 => Goal::Inf,
            3 => Goal::Deadlock,
            4 => Goal::Live(p),
            5 => Goal::LeadsTo(p, all.bool(&mut r, 1)),
            6 => Goal::ExistsAlways(p),
            _ => Goal::Eventually(p),
        });
    }
    Script { max_steps, vars, processes, with_processes, program, goals, inits }
}
