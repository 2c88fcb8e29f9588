//! Random starts, transitions and assumptions.

use gander_system::{NodeId, Range, Role, TransitionDraft, TransitionId};
use gander_term::{Op, Sort, SymbolId, TermId, Value};

use super::variables::{self, Variable};
use super::{Maker, Size};

/// The effect of a transition on a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    Keep,
    Assign,
    Any,
    Prime,
}

impl Maker {
    pub(super) fn currents(&self) -> Vec<SymbolId> {
        self.variables
            .iter()
            .map(|v| v.current)
            .chain(self.defined.iter().map(|d| d.current))
            .collect()
    }

    /// The symbols that guards, effects and claims may mention.
    pub(super) fn readable(&self) -> Vec<SymbolId> {
        self.currents().into_iter().chain(self.linked.iter().copied()).collect()
    }

    /// Adds the assumptions that give inputs a finite domain, and some that exclude runs.
    pub(super) fn assumptions(&mut self) {
        for i in 0..self.variables.len() {
            let v = self.variables[i].clone();
            let unbounded = matches!(v.sort, Sort::Real | Sort::String);
            let bounded_by_assumption = v.role == Role::State && self.random.chance(4);
            if (v.role == Role::Input && unbounded) || bounded_by_assumption {
                let x = self.builder.pool.var(v.current);
                let parts = variables::within(&mut self.terms(Vec::new()), x, &v.domain);
                for part in parts {
                    self.assume(&format!("domain {i}"), part);
                }
            }
        }
        if self.random.chance(18) {
            let symbols = self.currents();
            let mut formula = self.terms(symbols).boolean(1);
            if self.random.chance(50) {
                let node = NodeId::from(self.random.below(self.nodes));
                let here = self.node_is(node);
                let op = *self.random.pick(&[Op::Implies, Op::Or]);
                formula = self.terms(Vec::new()).mk(op, &[here, formula]);
            }
            self.assume("assumption", formula);
        }
    }

    fn assume(&mut self, name: &str, formula: TermId) {
        let formula = self.builder.state_formula(formula, name).expect("over one state");
        self.builder.assumption(name, formula, None);
    }

    /// `@node == node`
    pub(super) fn node_is(&mut self, node: NodeId) -> TermId {
        let location = self.builder.so_far().location();
        let Sort::Enum(e) = self.builder.pool.symbol(location).sort else {
            unreachable!("@node is of an enumeration")
        };
        let here = self.builder.pool.var(location);
        let constant = self.builder.pool.constant(Value::Enum(e, node.0));
        self.terms(Vec::new()).mk(Op::Eq, &[here, constant])
    }

    pub(super) fn start(&mut self, index: usize) {
        let target =
            if index == 0 { NodeId(0) } else { NodeId::from(self.random.below(self.nodes)) };
        let mut conjuncts = Vec::new();
        let more = if self.settings.looks_at_checks() { 12 } else { 0 };
        for v in self.variables.clone() {
            let x = self.builder.pool.var(v.current);
            let loose = self.random.chance(if v.role == Role::Input { 60 } else { 12 + more });
            let mut terms = self.terms(Vec::new());
            if loose {
                conjuncts.extend(variables::within(&mut terms, x, &v.domain));
            } else {
                let place =
                    if terms.random.chance(65) { 0 } else { terms.random.below(v.domain.len()) };
                conjuncts.push(terms.one_of(x, &v.domain[place..=place]));
            }
        }
        if self.random.chance(12) {
            let symbols = self.currents();
            conjuncts.push(self.terms(symbols).boolean(1));
        }
        if self.random.chance(5) {
            // An unsatisfiable conjunct.
            let x = self.builder.pool.var(self.variables[0].current);
            let mut terms = self.terms(Vec::new());
            let here = terms.mk(Op::Eq, &[x, x]);
            conjuncts.push(terms.mk(Op::Not, &[here]));
        }
        if more > 0 && self.random.chance(15) {
            // A second conjunct about a variable, redundant or contradictory.
            let v = self.random.pick(&self.variables).clone();
            let place = self.random.below(v.domain.len());
            let x = self.builder.pool.var(v.current);
            conjuncts.push(self.terms(Vec::new()).one_of(x, &v.domain[place..=place]));
        }
        conjuncts.extend(self.defined.iter().map(|d| d.now));
        let conjuncts: Vec<_> = conjuncts.into_iter().map(|c| (c, None)).collect();
        self.builder
            .start(&format!("start{index}"), target, &conjuncts, None)
            .expect("over one state");
    }

    pub(super) fn transition(
        &mut self,
        index: usize,
        source: NodeId,
        target: NodeId,
    ) -> TransitionId {
        let gate = if self.random.chance(75) {
            let name = *self.random.pick(&["a", "b", "c", "d"]);
            Some(self.builder.gate(name))
        } else {
            None
        };
        let mut draft = self
            .builder
            .transition(&format!("t{index}"), gate, source, target, None)
            .expect("names are fresh");
        let mut symbols = self.readable();
        let checks = self.settings.looks_at_checks();
        let params = match (self.settings.size, self.random.below(100)) {
            (_, 35..55) if checks => 1,
            (_, 0..55) => 0,
            (Size::Few, _) | (_, 55..90) => 1,
            _ => 2,
        };
        for p in 0..params {
            symbols.push(self.param(&mut draft, p));
        }
        let guards = self.random.weighted(&[45, 40, 15]);
        for _ in 0..guards {
            let guard = self.guard(&symbols);
            self.builder.guard(&mut draft, guard, None).expect("over state and parameters");
        }
        self.effect(&mut draft, &symbols);
        self.builder.add(draft).expect("each variable is treated in one way")
    }

    fn guard(&mut self, symbols: &[SymbolId]) -> TermId {
        match self.random.weighted(&[60, 30, 5]) {
            0 => self.terms(symbols.to_vec()).boolean(1),
            1 => self.terms(symbols.to_vec()).boolean(2),
            _ => {
                // A guard that rarely or never holds.
                let v = self.random.pick(&self.variables).clone();
                let x = self.builder.pool.var(v.current);
                let mut terms = self.terms(Vec::new());
                let (first, last) = (v.domain[0].clone(), v.domain[v.domain.len() - 1].clone());
                let (a, b) = (terms.one_of(x, &[first]), terms.one_of(x, &[last]));
                terms.mk(Op::And, &[a, b])
            }
        }
    }

    fn param(&mut self, draft: &mut TransitionDraft, index: usize) -> SymbolId {
        let sort = variables::sort(&mut self.random, self.flavour, &self.enums);
        let variants = match sort {
            Sort::Enum(e) => self.builder.pool.enumeration(e).variants.len(),
            _ => 0,
        };
        let domain = variables::domain(&mut self.random, sort, variants, 3);
        let range = match (&domain[0], &domain[domain.len() - 1]) {
            (Value::Int(low), Value::Int(high)) if self.random.chance(70) => {
                Some(Range { low: low.clone(), high: high.clone() })
            }
            _ => None,
        };
        let bounded = range.is_some();
        let symbol =
            self.builder.param(draft, &format!("p{index}"), sort, range).expect("names are fresh");
        if !bounded {
            let p = self.builder.pool.var(symbol);
            let parts = variables::within(&mut self.terms(Vec::new()), p, &domain);
            for part in parts {
                self.builder.guard(draft, part, None).expect("over parameters");
            }
        }
        symbol
    }

    fn effect(&mut self, draft: &mut TransitionDraft, symbols: &[SymbolId]) {
        let mut primed: Vec<Variable> = Vec::new();
        let constraints = self.settings.definitions;
        let checks = self.settings.looks_at_checks();
        for v in self.variables.clone() {
            let weights = match (v.role, v.sort.is_finite()) {
                (Role::Input, _) => [86, 0, 0, 14],
                (Role::State, true) if checks => [40, 30, 7, 23],
                (Role::State, false) if checks => [30, 45, 0, 25],
                (Role::State, true) => [45, 38, 7, 10],
                (Role::State, false) => [34, 54, 0, 12],
            };
            let ways = [Treatment::Keep, Treatment::Assign, Treatment::Any, Treatment::Prime];
            match ways[self.random.weighted(&weights)] {
                Treatment::Keep if constraints && v.role == Role::State => {
                    let (x, old) =
                        (self.builder.pool.var(v.next), self.builder.pool.var(v.current));
                    let same = self.terms(Vec::new()).mk(Op::Eq, &[x, old]);
                    self.builder.constrain(draft, same, None).expect("over both states");
                }
                Treatment::Keep => {}
                Treatment::Any => self.builder.free(draft, v.id),
                Treatment::Prime => primed.push(v),
                Treatment::Assign => {
                    let (value, guard) =
                        variables::next_value(&mut self.terms(symbols.to_vec()), &v);
                    if let Some(guard) = guard {
                        self.builder.guard(draft, guard, None).expect("over state and parameters");
                    }
                    if constraints {
                        let x = self.builder.pool.var(v.next);
                        let equation = self.terms(Vec::new()).mk(Op::Eq, &[x, value]);
                        self.builder.constrain(draft, equation, None).expect("over both states");
                    } else {
                        self.builder
                            .assign(draft, v.id, value, None)
                            .expect("of the sort of the variable");
                    }
                }
            }
        }
        for d in self.defined.clone() {
            self.builder.constrain(draft, d.then, None).expect("over both states");
        }
        if primed.is_empty() {
            return;
        }
        let mut relations = Vec::new();
        let mut both = symbols.to_vec();
        for v in &primed {
            let x = self.builder.pool.var(v.next);
            relations.extend(variables::within(&mut self.terms(Vec::new()), x, &v.domain));
            both.push(v.next);
        }
        for v in &primed {
            let (x, old) = (self.builder.pool.var(v.next), self.builder.pool.var(v.current));
            let mut terms = self.terms(both.clone());
            let relation = match (terms.random.weighted(&[30, 30, 25, 15]), v.sort.is_numeric()) {
                // Unsatisfiable at the end of the domain.
                (0, true) => terms.mk(Op::Gt, &[x, old]),
                (1, true) => {
                    let one = if v.sort == Sort::Int { terms.int(1) } else { terms.ratio(1, 1) };
                    let next = terms.mk(Op::Add, &[old, one]);
                    terms.mk(Op::Le, &[x, next])
                }
                (0, false) => {
                    let same = terms.mk(Op::Eq, &[x, old]);
                    terms.mk(Op::Not, &[same])
                }
                (1 | 2, _) => terms.boolean(1),
                _ => {
                    let other = terms.term(v.sort, 1);
                    let equal = terms.mk(Op::Eq, &[x, other]);
                    let loose = terms.boolean(1);
                    terms.mk(Op::Or, &[equal, loose])
                }
            };
            // Mention every primed variable, so that none is framed.
            let same = terms.mk(Op::Eq, &[x, x]);
            relations.push(if v.sort.is_finite() {
                terms.mk(Op::And, &[relation, same])
            } else {
                relation
            });
        }
        for r in relations {
            self.builder.constrain(draft, r, None).expect("over both states");
        }
    }
}
