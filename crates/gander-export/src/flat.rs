//! A system without its graph: variables, first states, steps, assumptions, properties, as terms.
//!
//! The node becomes a variable (`passes::flatten`), if there are several. Parameters of steps become variables of the
//! step. Inputs are variables that no step determines.

use gander_system::passes::flatten;
use gander_system::{ClaimKind, Goal, NodeId, Role, Structure, System};
use gander_term::{Pool, Sort, SymbolId, TermId};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::names::{Names, legend};

/// A variable of the flat system.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    /// Its name in the text.
    pub name: String,
    pub sort: Sort,
    pub current: SymbolId,
    pub next: SymbolId,
    /// The least and greatest value of an int, if it is certain that it never has another.
    pub range: Option<(gander_term::IBig, gander_term::IBig)>,
}

/// What is asked of every run.
#[derive(Clone, Debug)]
pub(crate) enum Property {
    /// The formula always holds.
    Always(TermId),
    /// The formula can become true.
    Reachable(TermId),
    Eventually(TermId),
    AlwaysEventually(TermId),
    LeadsTo(TermId, TermId),
}

/// A flat system.
pub(crate) struct Flat {
    pub name: String,
    pub pool: Pool,
    pub vars: Vec<Var>,
    /// Parameters of the steps.
    pub params: Vec<(String, Sort, SymbolId)>,
    /// Constraints of the starts, one of which holds.
    pub starts: Vec<TermId>,
    /// Name, guard, effect.
    pub steps: Vec<(String, TermId, TermId)>,
    pub assumptions: Vec<TermId>,
    /// Name in the text, name of the claim, what it says.
    pub claims: Vec<(String, String, Property)>,
    /// Claims that are not among them.
    pub left_out: Vec<String>,
    /// Names in the text and what they stand for.
    pub renamed: Vec<(String, String)>,
    /// Gives out further names.
    pub names: Names,
    /// Whether every step can be completed, so that a state without an enabled guard is where runs end.
    pub completable: bool,
}

/// Words of the languages that are written, and of solvers.
const RESERVED: &[&str] = &[
    "state", "next", "init", "main", "TRUE", "FALSE", "true", "false", "and", "or", "not", "mod", "div", "in", "union",
    "case", "esac", "self", "abs", "max", "min", "bool", "word", "word1", "count", "A", "E", "F", "G", "X", "U", "V",
    "H", "O", "Y", "Z", "S", "T", "let", "ite", "distinct", "xor", "xnor", "real", "integer", "boolean", "step",
    "trans", "array", "of", "process", "signed", "unsigned", "extend", "resize", "toint", "EX", "AX", "EF", "AF", "EG",
    "AG", "EBF", "ABF", "BU", "EBG", "ABG", "B", "forall", "exists", "assert", "par", "as", "VAR", "IVAR", "INIT",
    "TRANS", "INVAR", "DEFINE", "ASSIGN", "MODULE", "to_real", "to_int", "is_int", "concat", "extract", "repeat",
    "start",
];

impl Flat {
    /// The flat system of a system.
    pub(crate) fn of(system: &System) -> Result<Flat, Refusal> {
        let holder;
        let flat: &System = if system.nodes.len() > 1 {
            holder = flatten(system)?.system;
            &holder
        } else {
            system
        };
        let node = NodeId::from(0);
        let mut pool = Pool::fork(&flat.pool);
        let mut names = Names::without(RESERVED);
        let mut renamed = Vec::new();
        let mut vars = Vec::new();
        for v in &flat.vars {
            let original = if v.name.starts_with("@node") { "node" } else { &v.name };
            let name = names.fit(original);
            renamed.push((name.clone(), v.name.clone()));
            let certain = system.structure == Structure::Undrawn || v.role == Role::Input;
            let range = v.range.as_ref().filter(|_| certain && v.sort == Sort::Int);
            let range = range.map(|r| (r.low.clone(), r.high.clone()));
            vars.push(Var { name, sort: v.sort, current: v.current, next: v.next, range });
        }
        let starts = (0..flat.starts.len()).map(|s| flat.start_term(&mut pool, s.into())).collect();
        let mut params = Vec::new();
        let mut steps = Vec::new();
        let mut completable = flat.assumptions.is_empty();
        for t in flat.transition_ids() {
            let transition = flat.transition(t);
            for p in &transition.params {
                let original = format!("{}.{}", transition.name, p.name);
                let name = names.fit(&original);
                renamed.push((name.clone(), original));
                params.push((name, p.sort, p.symbol));
            }
            completable &= transition.params.is_empty() && transition.is_functional(flat);
            let (guard, effect) = (flat.guard_term(&mut pool, t), flat.effect_term(&mut pool, t));
            steps.push((transition.name.clone(), guard, effect));
        }
        let assumptions = flat.assumptions.iter().map(|a| flat.at_node(&mut pool, a.term, node)).collect();
        let mut claims = Vec::new();
        let mut left_out = Vec::new();
        for claim in &flat.claims {
            let mut at = |t| flat.at_node(&mut pool, t, node);
            let property = match &claim.kind {
                ClaimKind::Always(p) => Some(Property::Always(at(*p))),
                ClaimKind::Reachable(goals) => match &goals[..] {
                    [Goal::State(p)] => Some(Property::Reachable(at(*p))),
                    _ => None,
                },
                ClaimKind::Eventually { goal, under } if under.is_empty() => Some(Property::Eventually(at(*goal))),
                ClaimKind::AlwaysEventually { goal, under } if under.is_empty() => {
                    Some(Property::AlwaysEventually(at(*goal)))
                }
                ClaimKind::LeadsTo { from, to, under } if under.is_empty() => {
                    Some(Property::LeadsTo(at(*from), at(*to)))
                }
                _ => None,
            };
            let quantified = |t: &TermId| pool.has_quantifier(*t);
            let property = property.filter(|p| match p {
                Property::Always(p)
                | Property::Reachable(p)
                | Property::Eventually(p)
                | Property::AlwaysEventually(p) => !quantified(p),
                Property::LeadsTo(p, q) => !quantified(p) && !quantified(q),
            });
            match property {
                Some(property) => {
                    let name = names.fit(&claim.name);
                    renamed.push((name.clone(), claim.name.clone()));
                    claims.push((name, claim.name.clone(), property));
                }
                None => left_out.push(claim.name.clone()),
            }
        }
        let name = system.name.clone();
        Ok(Flat { name, pool, vars, params, starts, steps, assumptions, claims, left_out, renamed, names, completable })
    }

    /// What stands at the top of a text: where it comes from, the names, what is left out.
    pub(crate) fn header(&self, comment: &str) -> String {
        let name = self.name.replace(['\n', '\r'], " ");
        let mut text = format!("{comment} `{name}`, written by gander export\n");
        text.push_str(&legend(comment, &self.renamed));
        for claim in &self.left_out {
            text.push_str(&format!("{comment} left out: the claim `{claim}`\n"));
        }
        text
    }

    /// Some start constraint holds, and the assumptions do.
    pub(crate) fn first(&mut self) -> TermId {
        let any = self.pool.or(self.starts.clone());
        self.pool.and(std::iter::once(any).chain(self.assumptions.clone()))
    }

    /// Some step is taken, and the assumptions hold behind it.
    pub(crate) fn relation(&mut self) -> TermId {
        let mut ways = Vec::new();
        for (_, guard, effect) in self.steps.clone() {
            ways.push(self.pool.and([guard, effect]));
        }
        let any = self.pool.or(ways);
        let then: Vec<TermId> = self.assumptions.clone().into_iter().map(|a| self.primed(a)).collect();
        self.pool.and(std::iter::once(any).chain(then))
    }

    /// A formula about the next state.
    pub(crate) fn primed(&mut self, t: TermId) -> TermId {
        let mut map = FxHashMap::default();
        for v in &self.vars {
            let next = self.pool.var(v.next);
            map.insert(v.current, next);
        }
        self.pool.substitute(t, &map)
    }

    /// Properties that no state may break: what always holds, and the negation of what may be reached.
    pub(crate) fn invariants(&mut self) -> Vec<(String, TermId)> {
        let mut found = Vec::new();
        for (name, original, property) in self.claims.clone() {
            match property {
                Property::Always(p) => found.push((name, p)),
                Property::Reachable(p) => found.push((name, self.pool.not(p))),
                _ => self.left_out.push(original),
            }
        }
        found
    }

    /// The names of the claims that say that something can be reached; their verdicts are the opposite of those of
    /// [`Flat::invariants`].
    pub(crate) fn reachable(&self, comment: &str) -> String {
        let lines = self.claims.iter().filter(|(_, _, p)| matches!(p, Property::Reachable(_)));
        lines
            .map(|(name, _, _)| format!("{comment} {name} is `reachable`: it holds if the property here is violated\n"))
            .collect()
    }
}
