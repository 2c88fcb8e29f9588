//! Divides the values of a run into chosen and computed ones.
//!
//! A start or transition *defines* a variable by an assignment, a frame, or an equation `x' == e`
//! (`x == e` at a start), unless the equations are cyclic. A variable that it does not define is
//! *chosen*: an input, an initial value, or a variable that an effect leaves open. Parameters are
//! chosen too. Along a fixed sequence of transitions all other values are computed from the chosen
//! ones. The rest of the model constrains the choices: guards, assumptions, and what remains of
//! starts and effects.

use gander_system::{Effect, ElementId, ElementName, Role, Run, System, TransitionId, VarId};
use gander_term::{Op, Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::flat::FlatRun;

/// The definition of a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition {
    pub var: usize,
    pub value: TermId,
}

/// The definitions of one start or transition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    /// In dependency order: each after those it uses.
    pub defined: Vec<Definition>,
    /// By variable: true if it is not defined.
    pub chosen: Vec<bool>,
    /// Its other constraints: guards, and effects that define nothing.
    pub rest: Vec<(ElementId, TermId)>,
}

/// The definitions of all starts and transitions of a system.
#[derive(Clone, Debug)]
pub(crate) struct DefinitionTable {
    pub starts: Vec<Definitions>,
    pub transitions: Vec<Definitions>,
    pub current: FxHashMap<SymbolId, usize>,
    pub next: FxHashMap<SymbolId, usize>,
}

/// The state before a step, and the step.
#[derive(Clone, Copy)]
pub(crate) struct Before<'b> {
    pub state: &'b [Value],
    pub transition: TransitionId,
    pub params: &'b [Value],
}

/// A chosen value of a run: a variable in a state, or a parameter of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// The value of a variable in the state after this many steps.
    Var(u32, VarId),
    /// The parameter at this position of the step that leaves the state after this many steps.
    Param(u32, u32),
}

impl Choice {
    /// The state that it belongs to.
    pub fn at(self) -> u32 {
        match self {
            Choice::Var(i, _) | Choice::Param(i, _) => i,
        }
    }
}

impl DefinitionTable {
    pub(crate) fn of(system: &System, pool: &mut Pool) -> DefinitionTable {
        let map = |f: fn(&gander_system::StateVar) -> SymbolId| -> FxHashMap<SymbolId, usize> {
            system.vars().iter().enumerate().map(|(i, v)| (f(v), i)).collect()
        };
        let (current, next) = (map(|v| v.current), map(|v| v.next));
        let names: FxHashMap<&str, usize> =
            system.vars().iter().enumerate().map(|(i, v)| (v.name.as_str(), i)).collect();
        let named = |e: ElementId| match &system.elements()[e.index()].name {
            ElementName::Given(name) => {
                names.get(name.strip_suffix(" at first").unwrap_or(name)).copied()
            }
            _ => None,
        };
        let is_input = |v: usize| system.vars()[v].role == Role::Input;
        let mut starts = Vec::new();
        for s in system.starts() {
            let mut draft = Draft::new(system.vars().len());
            for e in &s.constraint {
                let found = equation(pool, e.term.term(), &current, named(e.id), &is_input);
                draft.relate(e.id, e.term.term(), found);
            }
            starts.push(draft.finish(pool, &current));
        }
        let mut transitions = Vec::new();
        for t in system.transitions() {
            let mut draft = Draft::new(system.vars().len());
            draft.rest.extend(t.guard.iter().map(|g| (g.id, g.term.term())));
            for e in &t.effect {
                match *e {
                    Effect::Assign { id, var, value } => {
                        let whole = system.effect_part(pool, e);
                        draft.relate(id, whole, Some((var.index(), value.term())));
                    }
                    Effect::Keep { id, var } => {
                        let (whole, old) =
                            (system.effect_part(pool, e), pool.var(system.var(var).current));
                        draft.relate(id, whole, Some((var.index(), old)));
                    }
                    Effect::Constrain { id, relation } => {
                        let found = equation(pool, relation.term(), &next, named(id), &is_input);
                        draft.relate(id, relation.term(), found);
                    }
                }
            }
            transitions.push(draft.finish(pool, &next));
        }
        DefinitionTable { starts, transitions, current, next }
    }

    /// The definitions that apply to a state of a run: those of its start, or of the step before
    /// it.
    pub(crate) fn entering(&self, run: &FlatRun, state: usize) -> &Definitions {
        match state {
            0 => &self.starts[run.start.index()],
            i => &self.transitions[run.steps[i - 1].0.index()],
        }
    }

    /// The choices of a run, in order.
    pub(crate) fn choices(&self, system: &System, run: &FlatRun) -> Vec<Choice> {
        let mut choices = Vec::new();
        for i in 0..run.states.len() {
            let definitions = self.entering(run, i);
            choices.extend(
                system
                    .var_ids()
                    .filter(|v| definitions.chosen[v.index()])
                    .map(|v| Choice::Var(i as u32, v)),
            );
            if let Some((t, _)) = run.steps.get(i) {
                let count = system.transition(*t).params.len() as u32;
                choices.extend((0..count).map(|p| Choice::Param(i as u32, p)));
            }
        }
        choices
    }

    /// The values after a start or a step: taken from `chosen` for chosen variables, computed for
    /// the others.
    pub(crate) fn values(
        &self,
        system: &System,
        pool: &Pool,
        definitions: &Definitions,
        before: Option<Before<'_>>,
        chosen: &[Value],
    ) -> Option<Vec<Value>> {
        let mut values: Vec<Option<Value>> = definitions
            .chosen
            .iter()
            .enumerate()
            .map(|(v, c)| c.then(|| chosen[v].clone()))
            .collect();
        for g in &definitions.defined {
            let look = |s: SymbolId| match before {
                None => self.current.get(&s).and_then(|&v| values[v].clone()),
                Some(Before { state: old, transition: t, params }) => {
                    match (self.next.get(&s), self.current.get(&s)) {
                        (Some(&v), _) => values[v].clone(),
                        (_, Some(&v)) => old.get(v).cloned(),
                        _ => {
                            let at =
                                system.transition(t).params.iter().position(|p| p.symbol == s)?;
                            params.get(at).cloned()
                        }
                    }
                }
            };
            let value = evaluate(pool, g.value, &look).ok()?;
            values[g.var] = Some(value);
        }
        values.into_iter().collect()
    }

    /// The run along the same transitions with some choices changed; `None` if a value cannot be
    /// computed.
    pub(crate) fn rerun(
        &self,
        system: &System,
        pool: &Pool,
        run: &FlatRun,
        changed: &FxHashMap<Choice, Value>,
    ) -> Option<FlatRun> {
        let mut states: Vec<Vec<Value>> = Vec::new();
        let mut steps = run.steps.clone();
        for i in 0..run.states.len() {
            let mut chosen = run.states[i].clone();
            for v in system.var_ids() {
                if let Some(value) = changed.get(&Choice::Var(i as u32, v)) {
                    chosen[v.index()] = value.clone();
                }
            }
            let before = match i {
                0 => None,
                _ => {
                    let (t, params) = &steps[i - 1];
                    Some(Before { state: &states[i - 1], transition: *t, params })
                }
            };
            let values = self.values(system, pool, self.entering(run, i), before, &chosen)?;
            states.push(values);
            if let Some((_, params)) = steps.get_mut(i) {
                for (p, value) in params.iter_mut().enumerate() {
                    if let Some(new) = changed.get(&Choice::Param(i as u32, p as u32)) {
                        *value = new.clone();
                    }
                }
            }
        }
        Some(FlatRun { start: run.start, first_node: run.first_node, states, steps })
    }

    /// The number of changes of choices along a run: a step with another transition than the step
    /// before; with the same transition and another parameter; with another value for a variable
    /// that the step leaves open.
    pub(crate) fn changes(&self, system: &System, run: &FlatRun) -> u64 {
        let mut count = 0;
        for i in 0..run.steps.len() {
            let (t, params) = &run.steps[i];
            if i > 0 {
                let (before, old) = &run.steps[i - 1];
                if before != t {
                    count += 1;
                } else {
                    count += params.iter().zip(old).filter(|(a, b)| a != b).count() as u64;
                }
            }
            let chosen = &self.transitions[t.index()].chosen;
            let differs = |v: &usize| chosen[*v] && run.states[i][*v] != run.states[i + 1][*v];
            count += (0..system.vars().len()).filter(differs).count() as u64;
        }
        count
    }
}

/// The number of changes of choices along a run: a step with another transition than the step
/// before; with the same transition and another parameter; with another value for a variable that
/// the step leaves open. `None` if the run is too long.
pub fn changes(system: &System, run: &Run) -> Option<u64> {
    let mut pool = Pool::fork(system.pool());
    let table = DefinitionTable::of(system, &mut pool);
    let flat = FlatRun::of(system, &pool, &table, run)?;
    Some(table.changes(system, &flat))
}

struct Draft {
    given: Vec<Option<(TermId, ElementId, TermId)>>,
    rest: Vec<(ElementId, TermId)>,
}

impl Draft {
    fn new(vars: usize) -> Draft {
        Draft { given: vec![None; vars], rest: Vec::new() }
    }

    fn relate(&mut self, element: ElementId, whole: TermId, found: Option<(usize, TermId)>) {
        match found {
            Some((v, value)) if self.given[v].is_none() => {
                self.given[v] = Some((value, element, whole))
            }
            _ => self.rest.push((element, whole)),
        }
    }

    /// Sorts the definitions by dependency. An equation that closes a cycle becomes a constraint.
    fn finish(mut self, pool: &Pool, here: &FxHashMap<SymbolId, usize>) -> Definitions {
        let count = self.given.len();
        let uses = |t: TermId| -> Vec<usize> {
            pool.free_symbols(&[t]).iter().filter_map(|s| here.get(s).copied()).collect()
        };
        let mut done = vec![false; count];
        let mut open = vec![false; count];
        let mut given = Vec::new();
        for root in 0..count {
            let mut stack = vec![root];
            while let Some(&v) = stack.last() {
                let (Some((value, element, whole)), false) = (self.given[v], done[v]) else {
                    stack.pop();
                    continue;
                };
                open[v] = true;
                let used = uses(value);
                if used.iter().any(|&u| open[u]) {
                    self.given[v] = None;
                    self.rest.push((element, whole));
                    open[v] = false;
                    stack.pop();
                    continue;
                }
                match used.into_iter().find(|&u| self.given[u].is_some() && !done[u]) {
                    Some(u) => stack.push(u),
                    None => {
                        done[v] = true;
                        open[v] = false;
                        given.push(Definition { var: v, value });
                        stack.pop();
                    }
                }
            }
        }
        let chosen = self.given.iter().map(Option::is_none).collect();
        Definitions { defined: given, chosen, rest: self.rest }
    }
}

/// Splits `x == e` into `x` and `e`. If both sides are variables, prefers the one that the element
/// is named after, then one that is not an input.
fn equation(
    pool: &mut Pool,
    t: TermId,
    here: &FxHashMap<SymbolId, usize>,
    wanted: Option<usize>,
    is_input: &dyn Fn(usize) -> bool,
) -> Option<(usize, TermId)> {
    let known = |t: TermId| pool.as_symbol(t).and_then(|s| here.get(&s).copied());
    match (pool.op(t), pool.args(t)) {
        (Op::Symbol(_), _) => known(t).map(|v| (v, pool.tt())),
        (Op::Not, &[a]) => known(a).map(|v| (v, pool.ff())),
        (Op::Eq, &[a, b]) => match (known(a), known(b)) {
            (Some(v), Some(w)) => {
                let second = if wanted == Some(v) || wanted == Some(w) {
                    wanted == Some(w)
                } else {
                    is_input(v)
                };
                Some(if second { (w, a) } else { (v, b) })
            }
            (Some(v), None) => Some((v, b)),
            (None, Some(v)) => Some((v, a)),
            (None, None) => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_system::SystemBuilder;
    use gander_term::Sort;

    /// A system with one node, variables x and y, the input i, and one step with these constraints
    /// over the next values.
    fn system(constraints: &dyn Fn(&mut Pool, [TermId; 3]) -> Vec<TermId>) -> (System, Pool) {
        let mut b = SystemBuilder::new("m", Pool::new(), &[("A", None)]).unwrap();
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let y = b.var("y", Sort::Int, Role::State, None, None).unwrap();
        let i = b.var("i", Sort::Int, Role::Input, None, None).unwrap();
        b.start("s", gander_system::NodeId(0), &[], None).unwrap();
        let next = [x, y, i].map(|v| {
            let s = b.so_far().var(v).next;
            b.pool.var(s)
        });
        let mut draft = b
            .transition("t", None, gander_system::NodeId(0), gander_system::NodeId(0), None)
            .unwrap();
        for c in constraints(&mut b.pool, next) {
            b.constrain(&mut draft, c, None).unwrap();
        }
        b.add(draft).unwrap();
        let system = b.finish();
        let pool = Pool::fork(system.pool());
        (system, pool)
    }

    #[test]
    fn an_equation_defines_the_variable_that_is_not_an_input() {
        let (system, mut pool) = system(&|pool, [x, y, i]| vec![pool.eq(i, x), pool.le(y, i)]);
        let table = DefinitionTable::of(&system, &mut pool);
        assert_eq!(table.transitions[0].chosen, [false, true, true]);
        assert_eq!(table.transitions[0].rest.len(), 1);
        assert_eq!(table.starts[0].chosen, [true; 3]);
    }

    #[test]
    fn one_equation_of_a_cycle_becomes_a_constraint() {
        let (system, mut pool) = system(&|pool, [x, y, _]| {
            let one = pool.int(1);
            let (a, b) = (pool.add(y, one), pool.sub(x, one));
            vec![pool.eq(x, a), pool.eq(y, b)]
        });
        let table = DefinitionTable::of(&system, &mut pool);
        let definitions = &table.transitions[0];
        assert_eq!(definitions.chosen.iter().filter(|c| **c).count(), 2);
        assert_eq!((definitions.defined.len(), definitions.rest.len()), (1, 1));
    }

    #[test]
    fn the_second_equation_for_a_variable_is_a_constraint() {
        let (system, mut pool) = system(&|pool, [x, y, i]| vec![pool.eq(x, y), pool.eq(x, i)]);
        let table = DefinitionTable::of(&system, &mut pool);
        let definitions = &table.transitions[0];
        assert_eq!(definitions.defined.len() + definitions.rest.len(), 2);
        assert!(definitions.chosen[2]);
    }
}
