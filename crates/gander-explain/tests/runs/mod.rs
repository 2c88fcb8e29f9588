//! Random small systems, and all of their runs up to a length, by enumeration and evaluation.

use std::collections::HashMap;

use gander_runtime::Random;
use gander_system::{
    ClaimKind, ClaimOrigin, Effect, Goal, Leg, NodeId, Range, Role, Run, StartId, State, Step,
    System, SystemBuilder, TransitionId, VarId,
};
use gander_term::{Pool, Sort, SymbolId, TermId, Value, evaluate};

/// The terms that formulas are built from.
struct Atoms {
    numbers: Vec<TermId>,
    truths: Vec<TermId>,
}

fn number(random: &mut Random, pool: &mut Pool, atoms: &Atoms) -> TermId {
    let a = atoms.numbers[random.below(atoms.numbers.len())];
    match random.below(5) {
        0 => a,
        1 => {
            let one = pool.int(1);
            pool.sub(a, one)
        }
        2 => {
            let b = atoms.numbers[random.below(atoms.numbers.len())];
            pool.add(a, b)
        }
        3 => pool.int(random.below(3)),
        _ => {
            let one = pool.int(1);
            pool.add(a, one)
        }
    }
}

fn formula(random: &mut Random, pool: &mut Pool, atoms: &Atoms) -> TermId {
    if !atoms.truths.is_empty() && random.chance(30) {
        let t = atoms.truths[random.below(atoms.truths.len())];
        return if random.chance(50) { pool.not(t) } else { t };
    }
    let a = number(random, pool, atoms);
    let b = if random.chance(60) { pool.int(random.below(4)) } else { number(random, pool, atoms) };
    match random.below(3) {
        0 => pool.le(a, b),
        1 => pool.le(b, a),
        _ => pool.ne(a, b),
    }
}

/// A random system with one claim, `p`, of one of the kinds that runs decide. Every chosen number
/// is between 0 and 2.
pub fn random_system(seed: u64) -> System {
    let mut random = Random::new(seed);
    let nodes: &[(&str, Option<gander_system::Span>)] =
        if random.chance(60) { &[("A", None)] } else { &[("A", None), ("B", None)] };
    let small = || Some(Range { low: 0.into(), high: 2.into() });
    let mut b = SystemBuilder::new("random", Pool::new(), nodes).unwrap();
    let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
    let y = random.chance(50).then(|| b.var("y", Sort::Bool, Role::State, None, None).unwrap());
    let i = random.chance(60).then(|| b.var("i", Sort::Int, Role::Input, small(), None).unwrap());
    let current = |b: &mut SystemBuilder, v: VarId| {
        let s = b.so_far().var(v).current;
        b.pool.var(s)
    };
    let mut here = Atoms { numbers: vec![current(&mut b, x)], truths: Vec::new() };
    here.truths.extend(y.map(|y| current(&mut b, y)));
    here.numbers.extend(i.map(|i| current(&mut b, i)));
    let node = |random: &mut Random| NodeId(random.below(nodes.len()) as u32);
    let between = |pool: &mut Pool, t: TermId| {
        let (zero, two) = (pool.int(0), pool.int(2));
        [(pool.le(zero, t), None), (pool.le(t, two), None)]
    };
    let mut first: Vec<(TermId, Option<gander_system::Span>)> = Vec::new();
    if random.chance(60) {
        let c = b.pool.int(random.below(3));
        first.push((b.pool.eq(here.numbers[0], c), None));
    } else {
        first.extend(between(&mut b.pool, here.numbers[0]));
    }
    if let (Some(&y), true) = (here.truths.first(), random.chance(60)) {
        first.push((y, None));
    }
    b.start("s", node(&mut random), &first, None).unwrap();
    for t in 0..1 + random.below(3) {
        let (source, target) = (node(&mut random), node(&mut random));
        let mut draft = b.transition(&format!("t{t}"), None, source, target, None).unwrap();
        let mut atoms = Atoms { numbers: here.numbers.clone(), truths: here.truths.clone() };
        if random.chance(50) {
            let p = b.param(&mut draft, "p", Sort::Int, small()).unwrap();
            atoms.numbers.push(b.pool.var(p));
        }
        for _ in 0..random.below(2) {
            let guard = formula(&mut random, &mut b.pool, &atoms);
            b.guard(&mut draft, guard, None).unwrap();
        }
        match random.below(5) {
            0 => {
                let s = b.so_far().var(x).next;
                let next = b.pool.var(s);
                for (t, _) in between(&mut b.pool, next) {
                    b.constrain(&mut draft, t, None).unwrap();
                }
            }
            1 => {}
            _ => {
                let value = number(&mut random, &mut b.pool, &atoms);
                b.assign(&mut draft, x, value, None).unwrap();
            }
        }
        if let Some(y) = y {
            match random.below(3) {
                0 => b.free(&mut draft, y),
                1 => {}
                _ => {
                    let value = formula(&mut random, &mut b.pool, &atoms);
                    b.assign(&mut draft, y, value, None).unwrap();
                }
            }
        }
        b.add(draft).unwrap();
    }
    if random.chance(20) {
        let f = formula(&mut random, &mut b.pool, &here);
        let f = b.state_formula(f, "a").unwrap();
        b.assumption("a", f, None);
    }
    let (f, g) =
        (formula(&mut random, &mut b.pool, &here), formula(&mut random, &mut b.pool, &here));
    let kind = match random.below(8) {
        0 => ClaimKind::NoDeadlock,
        1 => ClaimKind::NoSinkhole(b.so_far().transitions()[0].source),
        2 | 3 => {
            let (f, g) = (b.state_formula(f, "p").unwrap(), b.state_formula(g, "p").unwrap());
            ClaimKind::Reachable(vec![Goal::State(f), Goal::State(g)])
        }
        4 => ClaimKind::Reachable(vec![b.step_goal(None, &[(TransitionId(0), f)], "p").unwrap()]),
        5 => {
            let f = b.state_formula(f, "p").unwrap();
            ClaimKind::Reachable(vec![
                b.step_goal(None, &[(TransitionId(0), g)], "p").unwrap(),
                Goal::State(f),
            ])
        }
        _ => {
            let claim = if random.chance(50) { f } else { b.pool.or([f, g]) };
            ClaimKind::Always(b.state_formula(claim, "p").unwrap())
        }
    };
    b.claim("p", kind, ClaimOrigin::Written, "p", None).unwrap();
    b.finish()
}

/// A run: states and steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Walk {
    pub states: Vec<Vec<Value>>,
    pub steps: Vec<(TransitionId, Vec<Value>)>,
}

/// What a run must show, by the claim alone.
#[derive(Clone, Debug)]
pub enum Aim {
    /// Its last state violates the formula.
    Break(TermId),
    /// It meets the goals in order.
    Meet(Vec<Goal>),
    /// It ends where no transition of the node is enabled.
    Sinkhole(NodeId),
    /// It ends where no step is possible.
    Deadlock,
}

pub struct World<'s> {
    pub system: &'s System,
    pub aim: Aim,
}

impl<'s> World<'s> {
    pub fn new(system: &'s System) -> World<'s> {
        let aim = match &system.claims().last().unwrap().kind {
            ClaimKind::Always(p) => Aim::Break(p.term()),
            ClaimKind::Reachable(goals) => Aim::Meet(goals.clone()),
            ClaimKind::NoSinkhole(n) => Aim::Sinkhole(*n),
            ClaimKind::NoDeadlock => Aim::Deadlock,
            other => panic!("{other:?}"),
        };
        World { system, aim }
    }

    /// True if a run shows that the claim holds, false if it shows that it fails.
    pub fn shows_that_it_holds(&self) -> bool {
        matches!(self.aim, Aim::Meet(_))
    }

    /// The earliest positions at which a run meets its goals; `None` if it does not decide the
    /// claim. A run to a dead end has no positions.
    pub fn places(&self, walk: &Walk) -> Option<Vec<usize>> {
        let last = walk.steps.len();
        let end = walk.states.last().unwrap();
        let node = self.node(walk, last);
        match &self.aim {
            Aim::Break(p) => (0..=last)
                .find(|&i| !self.is(*p, &self.env(&walk.states[i], self.node(walk, i))))
                .map(|i| vec![i]),
            Aim::Sinkhole(n) => (node == *n && !self.goes_on(end, node, false)).then(Vec::new),
            Aim::Deadlock => (!self.goes_on(end, node, true)).then(Vec::new),
            Aim::Meet(goals) => {
                let mut places = Vec::new();
                let mut from = 0;
                for goal in goals {
                    let at = (from..=last).find(|&i| self.meets(walk, goal, i))?;
                    places.push(at);
                    from = if matches!(goal, Goal::Step { .. }) { at + 1 } else { at };
                }
                Some(places)
            }
        }
    }

    /// The number of steps after which the run has decided the claim.
    pub fn shown_behind(&self, walk: &Walk) -> Option<usize> {
        let places = self.places(walk)?;
        Some(match (&self.aim, places.last()) {
            (Aim::Meet(goals), Some(&at)) => {
                at + usize::from(matches!(goals.last(), Some(Goal::Step { .. })))
            }
            (_, Some(&at)) => at,
            (_, None) => walk.steps.len(),
        })
    }

    /// True if the goal is met at a state, or by the step that leaves it.
    pub fn meets(&self, walk: &Walk, goal: &Goal, at: usize) -> bool {
        let mut env = self.env(&walk.states[at], self.node(walk, at));
        match goal {
            Goal::State(f) => self.is(f.term(), &env),
            Goal::Step { choices, .. } => {
                let Some((t, params)) = walk.steps.get(at) else { return false };
                let Some((_, f)) = choices.iter().find(|(c, _)| c == t) else { return false };
                env.extend(
                    self.system
                        .transition(*t)
                        .params
                        .iter()
                        .zip(params)
                        .map(|(p, v)| (p.symbol, v.clone())),
                );
                self.is(f.term(), &env)
            }
        }
    }

    /// True if some transition is enabled or, if `completed`, can be completed.
    fn goes_on(&self, state: &[Value], node: NodeId, completed: bool) -> bool {
        self.system.leaving(node).iter().any(|&t| {
            let transition = self.system.transition(t);
            let params: Vec<Option<Sort>> =
                transition.params.iter().map(|p| Some(p.sort)).collect();
            let free: Vec<Option<Sort>> = self
                .system
                .vars()
                .iter()
                .zip(self.open(t))
                .map(|(v, o)| o.then_some(v.sort))
                .collect();
            self.tuples(&params).iter().any(|p| {
                if completed {
                    return self.tuples(&free).iter().any(|f| self.step(state, t, p, f).is_some());
                }
                let mut env = self.env(state, node);
                env.extend(transition.params.iter().zip(p).map(|(p, v)| (p.symbol, v.clone())));
                transition.guard.iter().all(|g| self.is(g.term.term(), &env))
            })
        })
    }

    /// True for a contrasting run: it does not decide the claim.
    pub fn is_contrast(&self, walk: &Walk) -> bool {
        match &self.aim {
            Aim::Break(_) => self.places(walk).is_none(),
            Aim::Meet(goals) => (0..=walk.steps.len()).all(|i| !self.meets(walk, &goals[0], i)),
            Aim::Sinkhole(_) | Aim::Deadlock => {
                self.goes_on(walk.states.last().unwrap(), self.node(walk, walk.steps.len()), true)
            }
        }
    }

    fn env(&self, state: &[Value], node: NodeId) -> HashMap<SymbolId, Value> {
        let mut env: HashMap<SymbolId, Value> = self
            .system
            .vars()
            .iter()
            .zip(state)
            .map(|(v, value)| (v.current, value.clone()))
            .collect();
        if let Sort::Enum(e) = self.system.pool().symbol(self.system.location()).sort {
            env.insert(self.system.location(), Value::Enum(e, node.0));
        }
        env
    }

    fn is(&self, t: TermId, env: &HashMap<SymbolId, Value>) -> bool {
        evaluate(self.system.pool(), t, &|s| env.get(&s).cloned()) == Ok(Value::Bool(true))
    }

    fn admissible(&self, state: &[Value], node: NodeId) -> bool {
        let env = self.env(state, node);
        self.system.assumptions().iter().all(|a| self.is(a.term.term(), &env))
    }

    pub fn node(&self, walk: &Walk, state: usize) -> NodeId {
        match state {
            0 => self.system.starts()[0].target,
            i => self.system.transition(walk.steps[i - 1].0).target,
        }
    }

    pub fn is_start(&self, state: &[Value]) -> bool {
        let target = self.system.starts()[0].target;
        let env = self.env(state, target);
        self.system.starts()[0].constraint.iter().all(|e| self.is(e.term.term(), &env))
            && self.admissible(state, target)
    }

    /// The state after a step, if the step is possible; `free` gives values for what the effect
    /// leaves open.
    pub fn step(
        &self,
        from: &[Value],
        t: TransitionId,
        params: &[Value],
        free: &[Value],
    ) -> Option<Vec<Value>> {
        let transition = self.system.transition(t);
        let mut env = self.env(from, transition.source);
        env.extend(transition.params.iter().zip(params).map(|(p, v)| (p.symbol, v.clone())));
        if !transition.guard.iter().all(|g| self.is(g.term.term(), &env)) {
            return None;
        }
        let mut next = free.to_vec();
        for e in &transition.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    next[var.index()] =
                        evaluate(self.system.pool(), value.term(), &|s| env.get(&s).cloned())
                            .unwrap();
                }
                Effect::Keep { var, .. } => next[var.index()] = from[var.index()].clone(),
                Effect::Constrain { .. } => {}
            }
        }
        env.extend(self.system.vars().iter().zip(&next).map(|(v, value)| (v.next, value.clone())));
        for e in &transition.effect {
            if let Effect::Constrain { relation, .. } = e
                && !self.is(relation.term(), &env)
            {
                return None;
            }
        }
        self.admissible(&next, transition.target).then_some(next)
    }

    /// By variable: true if the transition leaves it open.
    pub fn open(&self, t: TransitionId) -> Vec<bool> {
        let mut open = vec![true; self.system.vars().len()];
        for e in &self.system.transition(t).effect {
            if let Some(var) = e.var() {
                open[var.index()] = false;
            }
        }
        open
    }

    fn values(&self, sort: Sort) -> Vec<Value> {
        match sort {
            Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
            _ => (0..3).map(Value::int).collect(),
        }
    }

    fn tuples(&self, sorts: &[Option<Sort>]) -> Vec<Vec<Value>> {
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for sort in sorts {
            let values = sort.map_or_else(|| vec![Value::Bool(false)], |s| self.values(s));
            all = all
                .iter()
                .flat_map(|t| {
                    values.iter().map(move |v| {
                        let mut t = t.clone();
                        t.push(v.clone());
                        t
                    })
                })
                .collect();
        }
        all
    }

    /// All runs of at most `steps` steps; `None` if there are more than `most`.
    pub fn walks(&self, steps: usize, most: usize) -> Option<Vec<Walk>> {
        let sorts: Vec<Option<Sort>> = self.system.vars().iter().map(|v| Some(v.sort)).collect();
        let mut level: Vec<Walk> = self
            .tuples(&sorts)
            .into_iter()
            .filter(|s| self.is_start(s))
            .map(|s| Walk { states: vec![s], steps: Vec::new() })
            .collect();
        let mut all = level.clone();
        for _ in 0..steps {
            let mut next = Vec::new();
            for walk in &level {
                let node = self.node(walk, walk.steps.len());
                let last = walk.states.last().unwrap();
                for &t in self.system.leaving(node) {
                    let params: Vec<Option<Sort>> =
                        self.system.transition(t).params.iter().map(|p| Some(p.sort)).collect();
                    let open = self.open(t);
                    let free: Vec<Option<Sort>> = self
                        .system
                        .vars()
                        .iter()
                        .zip(&open)
                        .map(|(v, o)| o.then_some(v.sort))
                        .collect();
                    for p in self.tuples(&params) {
                        for f in self.tuples(&free) {
                            if let Some(state) = self.step(last, t, &p, &f) {
                                let mut longer = walk.clone();
                                longer.states.push(state);
                                longer.steps.push((t, p.clone()));
                                next.push(longer);
                            }
                        }
                    }
                }
                if all.len() + next.len() > most {
                    return None;
                }
            }
            all.extend(next.iter().cloned());
            level = next;
        }
        Some(all)
    }

    /// The number of changes of chosen values along a run (docs/explain.md).
    pub fn changes(&self, walk: &Walk) -> u64 {
        let mut count = 0;
        for (i, (t, params)) in walk.steps.iter().enumerate() {
            if i > 0 {
                let (before, old) = &walk.steps[i - 1];
                count += if before != t {
                    1
                } else {
                    params.iter().zip(old).filter(|(a, b)| a != b).count()
                };
            }
            let open = self.open(*t);
            count += (0..open.len())
                .filter(|&v| open[v] && walk.states[i][v] != walk.states[i + 1][v])
                .count();
        }
        count as u64
    }

    pub fn run(&self, walk: &Walk) -> Run {
        let legs: Vec<Leg> = walk
            .steps
            .iter()
            .zip(&walk.states[1..])
            .map(|((t, params), next)| {
                Leg::Step(Step { transition: *t, params: params.clone(), next: Some(next.clone()) })
            })
            .collect();
        let first = State { node: self.system.starts()[0].target, values: walk.states[0].clone() };
        Run { start: StartId(0), first, legs: legs.into() }
    }

    pub fn walk(&self, run: &Run) -> Walk {
        let mut walk = Walk { states: vec![run.first.values.clone()], steps: Vec::new() };
        for leg in &run.legs {
            let Leg::Step(step) = leg else { panic!("explained runs are written out") };
            walk.states.push(step.next.clone().unwrap());
            walk.steps.push((step.transition, step.params.clone()));
        }
        walk
    }
}
