//! Horn clauses: random systems, their text in SMT-LIB or in the rule dialect of Z3, and their
//! meaning.
//!
//! The meaning is the least model: a fact `P(v)` is true if some clause with the head `P` derives
//! it from true facts. A clause with the head `false` is violated if true facts satisfy its body;
//! the system is satisfiable, and the claim holds, if none is violated. In the rule dialect a query
//! asks whether a predicate can be derived; the claim is that it cannot. If nothing can be derived,
//! there is no run.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::expression::{Expr, Sort};
use super::smt::{self, Terms};
use super::{Expected, Model};
use crate::random::Random;

/// A predicate applied to expressions over the variables of its clause.
#[derive(Clone, Debug)]
struct Atom {
    predicate: usize,
    arguments: Vec<Expr>,
}

#[derive(Clone, Debug)]
struct Clause {
    variables: Vec<(Sort, Vec<i64>)>,
    body: Vec<Atom>,
    constraint: Vec<Expr>,
    /// `None` for `false`.
    head: Option<Atom>,
}

#[derive(Clone, Debug)]
struct Horn {
    /// The argument sorts of each predicate. The last `helpers` predicates depend on no other.
    predicates: Vec<Vec<Sort>>,
    helpers: usize,
    clauses: Vec<Clause>,
}

struct Maker<'a> {
    random: &'a mut Random,
    horn: Horn,
    helpers: usize,
}

fn domain(sort: Sort) -> Vec<i64> {
    match sort.count() {
        Some(count) => (0..count).collect(),
        None => (-1..=3).collect(),
    }
}

impl Maker<'_> {
    fn make(&mut self, variables: &[(Sort, Vec<i64>)], sort: Sort, depth: usize) -> Expr {
        let leaves = variables.iter().enumerate().map(|(i, (s, _))| Expr::Var(*s, i)).collect();
        let mut grammar = smt::grammar().over(leaves);
        grammar.widths = variables
            .iter()
            .map(|v| v.0)
            .filter(|s| matches!(s, Sort::Bits { .. }))
            .map(Sort::width)
            .collect();
        grammar.make(self.random, sort, depth)
    }

    /// New variables for the arguments of a predicate.
    fn fresh(&mut self, clause: &mut Clause, predicate: usize) -> Atom {
        let mut arguments = Vec::new();
        for sort in self.horn.predicates[predicate].clone() {
            let old: Vec<usize> =
                (0..clause.variables.len()).filter(|i| clause.variables[*i].0 == sort).collect();
            if !old.is_empty() && (self.random.chance(25) || clause.variables.len() >= 4) {
                arguments.push(Expr::Var(sort, *self.random.pick(&old)));
            } else if self.random.chance(6) || clause.variables.len() >= 4 {
                arguments.push(Expr::Const(sort, *self.random.pick(&domain(sort))));
            } else {
                arguments.push(Expr::Var(sort, clause.variables.len()));
                clause.variables.push((sort, domain(sort)));
            }
        }
        Atom { predicate, arguments }
    }

    fn clause(&mut self, body: &[usize], head: Option<usize>) {
        let mut clause =
            Clause { variables: Vec::new(), body: Vec::new(), constraint: Vec::new(), head: None };
        for &p in body {
            let atom = self.fresh(&mut clause, p);
            clause.body.push(atom);
        }
        let constraints =
            if body.is_empty() { self.random.between(0, 1) } else { self.random.between(0, 2) };
        clause.head = head.map(|predicate| {
            if self.random.chance(50) {
                return self.fresh(&mut clause, predicate);
            }
            let sorts = self.horn.predicates[predicate].clone();
            let arguments =
                sorts.iter().map(|s| self.make(&clause.variables.clone(), *s, 2)).collect();
            Atom { predicate, arguments }
        });
        if self.random.chance(15) && clause.variables.len() < 4 {
            clause.variables.push((Sort::Bool, vec![0, 1]));
        }
        for _ in 0..constraints {
            let e = self.make(&clause.variables.clone(), Sort::Bool, 2);
            clause.constraint.push(e);
        }
        // The clause bounds its ints.
        for (i, (sort, domain)) in clause.variables.iter().enumerate() {
            if *sort == Sort::Int {
                let bounds =
                    Expr::within(&Expr::Var(Sort::Int, i), domain[0], domain[domain.len() - 1]);
                clause.constraint.push(bounds);
            }
        }
        self.horn.clauses.push(clause);
    }
}

fn generate(random: &mut Random) -> Horn {
    let mut predicates = Vec::new();
    let main = random.between(1, 3) as usize;
    let helpers = usize::from(random.chance(30));
    for _ in 0..main + helpers {
        let sorts = (0..random.between(0, 2) as usize + 1)
            .map(|_| *random.pick(&[Sort::Int, Sort::Int, Sort::Bool, Sort::bits(2)]))
            .collect();
        predicates.push(sorts);
    }
    let horn = Horn { predicates, helpers, clauses: Vec::new() };
    let mut maker = Maker { random, horn, helpers };
    for p in main..main + helpers {
        for _ in 0..maker.random.between(1, 2) {
            maker.clause(&[], Some(p));
        }
    }
    for p in 0..main {
        if p == 0 || maker.random.chance(20) {
            maker.clause(&[], Some(p));
        }
        for _ in 0..maker.random.between(1, 2) {
            let from = maker.random.below(main);
            let mut body = vec![from];
            if maker.helpers > 0 && maker.random.chance(40) {
                body.insert(maker.random.below(2), main);
            }
            maker.clause(&body, Some(p));
        }
    }
    for _ in 0..maker.random.between(1, 2) {
        let p = maker.random.below(main);
        maker.clause(&[p], None);
    }
    maker.horn
}

/// For each clause with the head `false`, whether it is satisfied; and whether any fact is true,
/// except facts of helpers.
fn decide(horn: &Horn) -> (Vec<bool>, bool) {
    let mut facts: HashSet<(usize, Vec<i64>)> = HashSet::new();
    let mut broken = vec![false; horn.clauses.len()];
    loop {
        let before = facts.len();
        for (number, clause) in horn.clauses.iter().enumerate() {
            let mut values = vec![Vec::new()];
            for (_, domain) in &clause.variables {
                values = values
                    .into_iter()
                    .flat_map(|v: Vec<i64>| {
                        domain.iter().map(move |x| v.iter().copied().chain([*x]).collect())
                    })
                    .collect();
            }
            let fact = |atom: &Atom, v: &[i64]| {
                (atom.predicate, atom.arguments.iter().map(|e| e.value(v, v)).collect())
            };
            for v in values {
                let applies = clause.constraint.iter().all(|e| e.holds(&v, &v))
                    && clause.body.iter().all(|atom| facts.contains(&fact(atom, &v)));
                match &clause.head {
                    _ if !applies => {}
                    Some(atom) => {
                        facts.insert(fact(atom, &v));
                    }
                    None => broken[number] = true,
                }
            }
        }
        if facts.len() == before {
            let queries =
                horn.clauses.iter().zip(&broken).filter(|(c, _)| c.head.is_none()).map(|(_, b)| !b);
            let main = horn.predicates.len() - horn.helpers;
            return (queries.collect(), facts.iter().any(|(p, _)| *p < main));
        }
    }
}

fn text(horn: &Horn, random: &mut Random) -> (String, Vec<String>) {
    let rules = random.chance(35);
    let mut out = if rules { String::new() } else { "(set-logic HORN)\n".to_string() };
    for (p, sorts) in horn.predicates.iter().enumerate() {
        let sorts: Vec<String> = sorts.iter().map(|s| smt::sort(*s)).collect();
        let _ = match rules {
            true => writeln!(out, "(declare-rel P{p} ({}))", sorts.join(" ")),
            false => writeln!(out, "(declare-fun P{p} ({}) Bool)", sorts.join(" ")),
        };
    }
    let mut names = Vec::new();
    let queries = horn.clauses.iter().filter(|c| c.head.is_none()).count();
    for (number, clause) in horn.clauses.iter().enumerate() {
        let name = |e: &Expr| match e {
            Expr::Var(_, i) if rules => format!("c{number}v{i}"),
            Expr::Var(_, i) => format!("v{i}"),
            _ => String::new(),
        };
        let mut terms = Terms { random: &mut *random, names: name, lets: 0 };
        let mut parts: Vec<String> = Vec::new();
        let atom = |terms: &mut Terms<_>, atom: &Atom| {
            let arguments: Vec<String> = atom.arguments.iter().map(|e| terms.term(e)).collect();
            format!("(P{} {})", atom.predicate, arguments.join(" "))
        };
        for a in &clause.body {
            parts.push(atom(&mut terms, a));
        }
        for e in &clause.constraint {
            parts.push(terms.term(e));
        }
        let head = match &clause.head {
            Some(a) => atom(&mut terms, a),
            None if rules => format!("E{number}"),
            None => "false".to_string(),
        };
        if parts.len() > 1 && random.chance(30) {
            let last = parts.len() - 1;
            parts.swap(0, last);
        }
        let body = match parts.len() {
            0 => None,
            1 => Some(parts.remove(0)),
            _ => Some(format!("(and {})", parts.join(" "))),
        };
        let implication = match body {
            Some(body) => format!("(=> {body} {head})"),
            None => head,
        };
        if rules {
            for (i, (sort, _)) in clause.variables.iter().enumerate() {
                let _ = writeln!(out, "(declare-var c{number}v{i} {})", smt::sort(*sort));
            }
            if clause.head.is_none() {
                let _ = writeln!(out, "(declare-rel E{number} ())");
                let k = names.len() + 1;
                names.push(if queries == 1 {
                    format!("no E{number}")
                } else {
                    format!("no E{number} {k}")
                });
            }
            let _ = writeln!(out, "(rule {implication})");
        } else {
            let bound: Vec<String> = clause
                .variables
                .iter()
                .enumerate()
                .map(|(i, (s, _))| format!("(v{i} {})", smt::sort(*s)))
                .collect();
            let _ = match bound.is_empty() {
                true => writeln!(out, "(assert {implication})"),
                false => writeln!(out, "(assert (forall ({}) {implication}))", bound.join(" ")),
            };
            if clause.head.is_none() {
                let k = names.len() + 1;
                names.push(if queries == 1 { "safe".to_string() } else { format!("safe {k}") });
            }
        }
    }
    if rules {
        for (number, _) in horn.clauses.iter().enumerate().filter(|(_, c)| c.head.is_none()) {
            let _ = writeln!(out, "(query E{number})");
        }
    } else {
        out.push_str("(check-sat)\n");
    }
    (out, names)
}

/// The model of a seed.
pub(super) fn model(random: &mut Random) -> Option<Model> {
    let horn = generate(random);
    let (kept, any_fact) = decide(&horn);
    let (text, names) = text(&horn, random);
    let expected = |holds| if any_fact { Expected::of(holds) } else { Expected::NoRun };
    Some(Model { text, claims: names.into_iter().zip(kept.into_iter().map(expected)).collect() })
}
