//! Interprets SMV models by enumeration of their states.

use super::{Assign, Kind, Module, Rhs, Role, Smv, Spec, When};
use crate::languages::expression::{Expr, Sort};
use crate::languages::graph::{Graph, GraphClaim};
use crate::languages::{Expected, LIMIT};

/// A flattened model: variables are numbered consecutively, definitions and parameters are
/// substituted.
#[derive(Default)]
struct Flat {
    /// Values of the types.
    domains: Vec<Vec<i64>>,
    kinds: Vec<Kind>,
    assigns: Vec<Assign>,
    init: Vec<Expr>,
    trans: Vec<Expr>,
    invar: Vec<Expr>,
}

/// The expression over the next state.
fn primed(e: &Expr) -> Expr {
    e.replace(&|leaf| match leaf {
        Expr::Var(sort, i) => Expr::Next(*sort, *i),
        other => other.clone(),
    })
}

/// Substitutes the meaning of a module's symbols.
fn resolve(e: &Expr, meaning: &[Expr]) -> Expr {
    e.replace(&|leaf| match leaf {
        Expr::Var(_, i) => meaning[*i].clone(),
        Expr::Next(_, i) => primed(&meaning[*i]),
        other => other.clone(),
    })
}

fn resolve_rhs(rhs: &Rhs, meaning: &[Expr]) -> Rhs {
    match rhs {
        Rhs::Set(values) => Rhs::Set(values.iter().map(|e| resolve(e, meaning)).collect()),
        Rhs::Case(branches) => Rhs::Case(
            branches.iter().map(|(c, r)| (resolve(c, meaning), resolve_rhs(r, meaning))).collect(),
        ),
    }
}

impl Flat {
    fn variable(&mut self, sort: Sort, kind: Kind, domain: &[i64]) -> Expr {
        self.domains.push(domain.to_vec());
        self.kinds.push(kind);
        Expr::Var(sort, self.domains.len() - 1)
    }

    /// Declares the variables of a module; other symbols are left as they are.
    fn declare(&mut self, module: &Module) -> Vec<Expr> {
        let mut meaning = Vec::new();
        for (i, s) in module.symbols.iter().enumerate() {
            meaning.push(match &s.role {
                Role::Var(kind, domain) => self.variable(s.sort, *kind, domain),
                _ => Expr::Var(s.sort, i),
            });
        }
        meaning
    }

    fn add(&mut self, module: &Module, meaning: &[Expr]) {
        for a in &module.assigns {
            let Expr::Var(_, target) = meaning[a.target] else { continue };
            self.assigns.push(Assign { when: a.when, target, rhs: resolve_rhs(&a.rhs, meaning) });
        }
        self.init.extend(module.init.iter().map(|e| resolve(e, meaning)));
        self.trans.extend(module.trans.iter().map(|e| resolve(e, meaning)));
        self.invar.extend(module.invar.iter().map(|e| resolve(e, meaning)));
    }

    /// All assignments of values to the variables for which `is` holds; 0 to others.
    fn all(&self, is: impl Fn(Kind) -> bool) -> Vec<Vec<i64>> {
        let mut found = vec![vec![0; self.domains.len()]];
        for (v, domain) in self.domains.iter().enumerate().filter(|(v, _)| is(self.kinds[*v])) {
            let mut longer = Vec::new();
            for s in found {
                for value in domain {
                    let mut s = s.clone();
                    s[v] = *value;
                    longer.push(s);
                }
            }
            found = longer;
        }
        found
    }

    fn assigned(&self, when: When, now: &[i64], next: &[i64]) -> bool {
        self.assigns.iter().filter(|a| a.when == when).all(|a| {
            let value = if when == When::Next { next[a.target] } else { now[a.target] };
            may_be(&a.rhs, value, now, next)
        })
    }
}

fn may_be(rhs: &Rhs, value: i64, now: &[i64], next: &[i64]) -> bool {
    match rhs {
        Rhs::Set(values) => values.iter().any(|e| e.value(now, next) == value),
        Rhs::Case(branches) => branches
            .iter()
            .find(|(condition, _)| condition.holds(now, next))
            .is_some_and(|(_, rhs)| may_be(rhs, value, now, next)),
    }
}

fn flatten(smv: &Smv) -> (Flat, Vec<Expr>) {
    let mut flat = Flat::default();
    let mut meaning = flat.declare(&smv.main);
    let mut inner = Vec::new();
    for arguments in &smv.instances {
        let Some(cell) = &smv.cell else { break };
        let mut local = flat.declare(cell);
        let mut arguments = arguments.iter();
        for (i, s) in cell.symbols.iter().enumerate() {
            if matches!(s.role, Role::Parameter)
                && let Some(argument) = arguments.next()
            {
                local[i] = resolve(argument, &meaning);
            }
        }
        inner.push(local);
    }
    for (i, s) in smv.main.symbols.iter().enumerate() {
        match &s.role {
            Role::Of(instance, symbol) => meaning[i] = inner[*instance][*symbol].clone(),
            Role::Define(e) => meaning[i] = resolve(e, &meaning),
            Role::Var(..) | Role::Parameter => {}
        }
    }
    flat.add(&smv.main, &meaning);
    for local in &inner {
        if let Some(cell) = &smv.cell {
            flat.add(cell, local);
        }
    }
    (flat, meaning)
}

/// The expected verdict of each property; `None` if there are too many states.
pub(super) fn decide(smv: &Smv) -> Option<Vec<Expected>> {
    let (flat, meaning) = flatten(smv);
    let exist =
        |s: &Vec<i64>| flat.invar.iter().all(|e| e.holds(s, s)) && flat.assigned(When::Now, s, s);
    let states: Vec<Vec<i64>> = flat.all(|k| k != Kind::Input).into_iter().filter(exist).collect();
    let inputs = flat.all(|k| k == Kind::Input);
    let first =
        |s: &&Vec<i64>| flat.init.iter().all(|e| e.holds(s, s)) && flat.assigned(When::Init, s, s);
    let initial: Vec<Vec<i64>> = states.iter().filter(first).cloned().collect();
    let frozen: Vec<usize> =
        (0..flat.kinds.len()).filter(|v| flat.kinds[*v] == Kind::Frozen).collect();
    // The state extended with values of the inputs.
    let with = |s: &[i64], input: &[i64]| -> Vec<i64> {
        let value = |v: usize| if flat.kinds[v] == Kind::Input { input[v] } else { s[v] };
        (0..s.len()).map(value).collect()
    };
    let steps = |now: &[i64]| -> Vec<Vec<i64>> {
        let possible = |next: &&Vec<i64>| {
            frozen.iter().all(|v| now[*v] == next[*v])
                && flat.assigned(When::Next, now, next)
                && flat.trans.iter().all(|e| e.holds(now, next))
        };
        states.iter().filter(possible).cloned().collect()
    };
    // The inputs that have a step, each with its next states.
    let moves = |s: &Vec<i64>| -> Vec<(Vec<i64>, Vec<Vec<i64>>)> {
        let all = inputs.iter().map(|input| with(s, input)).map(|now| (now.clone(), steps(&now)));
        all.filter(|(_, next)| !next.is_empty()).collect()
    };
    let successors =
        |s: &Vec<i64>| moves(s).into_iter().flat_map(|(_, next)| next).map(|n| (0, n)).collect();
    let (graph, reached) = Graph::explore(initial.clone(), successors, LIMIT)?;
    // Properties that mention inputs are about steps.
    let mentions = |e: &Expr| {
        resolve(e, &meaning).any(&|e| matches!(e, Expr::Var(_, i) if flat.kinds[*i] == Kind::Input))
    };
    let about_steps = smv.main.specs.iter().any(|spec| spec.formulas().into_iter().any(mentions));
    let firsts = |all: &[Vec<i64>]| {
        all.iter().flat_map(&moves).map(|(now, _)| now).collect::<Vec<Vec<i64>>>()
    };
    let (step_graph, taken) = if about_steps {
        let successors = |now: &Vec<i64>| firsts(&steps(now)).into_iter().map(|n| (0, n)).collect();
        Graph::explore(firsts(&initial), successors, LIMIT)?
    } else {
        (graph.clone(), reached.clone())
    };
    let answers = smv.main.specs.iter().map(|spec| {
        let of_steps = spec.formulas().into_iter().any(mentions);
        let (graph, states) = if of_steps { (&step_graph, &taken) } else { (&graph, &reached) };
        let set = |e: &Expr| -> Vec<bool> {
            let e = resolve(e, &meaning);
            states.iter().map(|s| e.holds(s, s)).collect()
        };
        let claim = match spec {
            // If runs can end, `G p` and `AG p` are decided like `INVARSPEC p` (docs/formats.md).
            Spec::Invariant(p) | Spec::Globally(p) | Spec::AlwaysGlobally(p) => {
                GraphClaim::Always(set(p))
            }
            Spec::Finally(p) => GraphClaim::Eventually(set(p)),
            Spec::Recurs(p) => GraphClaim::Recurs(set(p)),
            Spec::Response(p, q) => GraphClaim::LeadsTo(set(p), set(q)),
        };
        if initial.is_empty() {
            Expected::NoRun
        } else {
            Expected::of(graph.decide(&claim, false, &[]))
        }
    });
    Some(answers.collect())
}
