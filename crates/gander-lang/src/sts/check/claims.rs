//! Assumptions, fairness and claims.

use super::names::NameKind;
use super::{Checker, Place, text};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use crate::sts::format::one_line;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use crate::sts::tree;
use gander_system::passes::no_deadlock;
use gander_system::{
    ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal, StateTerm, TransitionId,
};
use gander_term::TermId;
use rustc_hash::FxHashMap;

/// The length up to which a name is made from the text of a claim.
const NAME_LENGTH: usize = 60;

/// Declared fairness, by name.
#[derive(Default)]
pub(super) struct Fairnesses {
    by_name: FxHashMap<String, (FairnessId, Span)>,
    all: Vec<FairnessId>,
}

impl Checker {
    pub(super) fn assumptions(&mut self, items: &[SyntaxNode]) {
        let assumptions = items.iter().filter(|item| item.kind() == K::AssumeDecl);
        for (at, item) in assumptions.enumerate() {
            let Some(formula) = tree::expression(item) else { continue };
            let name = tree::name(item)
                .map_or_else(|| format!("assumption {}", at + 1), |token| text(&token));
            if let Some(formula) = self.state_formula(&formula, Place::Assumption) {
                self.builder.assumption(&name, formula, Some(tree::span(item)));
            }
        }
    }

    fn state_formula(&mut self, node: &SyntaxNode, place: Place) -> Option<StateTerm> {
        let term = self.formula(node, place)?;
        self.checked(term, tree::span(node))
    }

    fn checked(&mut self, term: TermId, span: Span) -> Option<StateTerm> {
        match self.builder.state_formula(term, "this formula") {
            Ok(formula) => Some(formula),
            Err(error) => {
                self.internal(error, span);
                None
            }
        }
    }

    pub(super) fn fairness(&mut self, items: &[SyntaxNode]) -> Fairnesses {
        let mut declared = Fairnesses::default();
        // The fairness declared by the instances of a composed system.
        for (at, fairness) in self.builder.so_far().fairness().iter().enumerate() {
            let span = fairness.span.unwrap_or(Span::at(0));
            declared.by_name.insert(fairness.name.clone(), (at.into(), span));
            declared.all.push(at.into());
        }
        for item in items.iter().filter(|item| item.kind() == K::FairDecl) {
            let words = claim_words(item);
            let kind = if words == "fair" {
                tree::expression(item)
                    .and_then(|formula| self.state_formula(&formula, Place::Fairness))
                    .map(FairnessKind::Justice)
            } else {
                let reference = tree::child(item, K::NameRef);
                let transitions = reference.and_then(|reference| self.fair_transitions(&reference));
                transitions.map(|list| {
                    if words == "weakly fair" {
                        FairnessKind::Weak(list)
                    } else {
                        FairnessKind::Strong(list)
                    }
                })
            };
            let name = match (tree::name(item), tree::child(item, K::NameRef)) {
                (Some(token), _) => text(&token),
                (None, Some(gate)) => one_line(&gate, NAME_LENGTH),
                (None, None) => format!("fair {}", declared.all.len() + 1),
            };
            let span = tree::name(item).map_or(tree::span(item), |token| tree::token_span(&token));
            if let Some((_, first)) = declared.by_name.get(&name) {
                let first = *first;
                self.duplicate(&name, span, first);
                continue;
            }
            let Some(kind) = kind else {
                // Insert the name anyway, so that `under` causes no follow-up error.
                declared.by_name.insert(name, (FairnessId(0), span));
                continue;
            };
            match self.builder.fairness(&name, kind, Some(tree::span(item))) {
                Ok(id) => {
                    declared.by_name.insert(name, (id, span));
                    declared.all.push(id);
                }
                Err(error) => self.internal(error, span),
            }
        }
        declared
    }

    /// The transitions of a gate. Fairness is about whole steps, so an instance must take part in
    /// each of them.
    fn fair_transitions(&mut self, reference: &SyntaxNode) -> Option<Vec<TransitionId>> {
        let list = self.transitions_named(reference)?;
        let name = one_line(reference, NAME_LENGTH);
        if list.iter().any(|&t| self.graph.conditions.contains_key(&(name.clone(), t))) {
            let message = format!(
                "`{name}` is taken only under a condition in a joint step, which fairness cannot say"
            );
            self.report(Diagnostic::new(Code::E0703, tree::span(reference), message));
            return None;
        }
        Some(list)
    }

    pub(super) fn claims(&mut self, items: &[SyntaxNode], fairness: &Fairnesses) {
        let mut spans: FxHashMap<String, Span> = FxHashMap::default();
        for claim in self.builder.so_far().claims() {
            spans.insert(claim.name.clone(), claim.span.unwrap_or(Span::at(0)));
        }
        for item in items.iter().filter(|item| item.kind() == K::Claim) {
            let kind = self.claim_kind(item, fairness);
            let written = tree::name(item);
            let span = written.as_ref().map_or(tree::span(item), tree::token_span);
            let text_of_claim = one_line(item, 4000);
            let name = match &written {
                Some(token) => text(token),
                None => unused(&spans, one_line(item, NAME_LENGTH)),
            };
            if let Some(first) = spans.insert(name.clone(), span) {
                self.duplicate(&name, span, first);
                continue;
            }
            let Some(kind) = kind else { continue };
            if let Err(error) = self.builder.claim(
                &name,
                kind,
                ClaimOrigin::Written,
                &text_of_claim,
                Some(tree::span(item)),
            ) {
                self.internal(error, span);
            }
        }
    }

    fn claim_kind(&mut self, item: &SyntaxNode, fairness: &Fairnesses) -> Option<ClaimKind> {
        let words = claim_words(item);
        let under = self.under(item, fairness);
        let takes_fairness = matches!(words.as_str(), "eventually" | "always eventually")
            || tree::child(item, K::LeadsTo).is_some();
        if let Some(clause) = tree::child(item, K::Under).filter(|_| !takes_fairness) {
            let diagnostic = Diagnostic::new(
                Code::E0110,
                tree::span(&clause),
                "fairness has no meaning for this kind of claim",
            )
            .help("`under` goes with `eventually`, `always eventually` and `leads to`");
            self.report(diagnostic);
        }
        match words.as_str() {
            // It is about a whole system: a composition does not carry it over.
            "no deadlock" if self.is_part => return Some(ClaimKind::NoDeadlock),
            "no deadlock" => {
                return match no_deadlock(&mut self.builder) {
                    Ok(kind) => Some(kind),
                    Err(error) => {
                        self.internal(error, tree::span(item));
                        None
                    }
                };
            }
            "infinite run" => return Some(ClaimKind::InfiniteRun),
            "no sinkhole" => {
                let reference = tree::child(item, K::NameRef)?;
                let token = tree::ident(&reference)?;
                return self.node_named(&token).map(ClaimKind::NoSinkhole);
            }
            "satisfiable start" => return self.start_named(item).map(ClaimKind::StartSatisfiable),
            "can enable" => return self.can_enable(item),
            "completable" => {
                return self.one_transition(item).map(|(t, _)| ClaimKind::Completable(t));
            }
            "reachable" => return self.reachable(item),
            _ => {}
        }
        let universal = words == "always" && tree::child(item, K::LeadsTo).is_none();
        let formula = self.in_nodes(item, universal)?;
        if let Some(clause) = tree::child(item, K::LeadsTo) {
            if !matches!(words.as_str(), "" | "always") {
                let diagnostic = Diagnostic::new(
                    Code::E0110,
                    tree::span(&clause),
                    format!("`{words}` and `leads to` cannot be joined"),
                )
                .help("write `always NAME: P leads to Q`");
                self.report(diagnostic);
                return None;
            }
            let to =
                tree::expression(&clause).and_then(|to| self.state_formula(&to, Place::Claim))?;
            return Some(ClaimKind::LeadsTo { from: formula, to, under: under? });
        }
        Some(match words.as_str() {
            "always" => ClaimKind::Always(formula),
            "eventually" => ClaimKind::Eventually { goal: formula, under: under? },
            "always eventually" => ClaimKind::AlwaysEventually { goal: formula, under: under? },
            "possible" | "always possible" => ClaimKind::AlwaysPossible(formula),
            _ => ClaimKind::ExistsAlways(formula),
        })
    }

    /// The formula of a claim or of a step of a chain, restricted to the nodes after `in`.
    fn in_nodes(&mut self, item: &SyntaxNode, universal: bool) -> Option<StateTerm> {
        let node = tree::expression(item)?;
        let term = self.formula(&node, Place::Claim);
        let restriction = match tree::child(item, K::InNodes) {
            Some(clause) => {
                let refs: Vec<SyntaxNode> = tree::references(&clause).collect();
                Some(self.node_condition(None, &refs)?)
            }
            None => None,
        };
        let term = match (term?, restriction) {
            (term, None) => term,
            (term, Some(there)) if universal => self.pool().implies(there, term),
            (term, Some(there)) => self.pool().and([there, term]),
        };
        self.checked(term, tree::span(item))
    }

    fn reachable(&mut self, item: &SyntaxNode) -> Option<ClaimKind> {
        let goals: Vec<Option<Goal>> =
            tree::children(item, K::ReachStep).map(|step| self.goal(&step)).collect();
        goals.into_iter().collect::<Option<Vec<Goal>>>().map(ClaimKind::Reachable)
    }

    fn goal(&mut self, step: &SyntaxNode) -> Option<Goal> {
        let formula = tree::expression(step)?;
        let with = tree::child(step, K::WithClause);
        match self.gate_goal(&formula, with.is_some()) {
            Some(list) => self.step_goal(step, &formula, list?, with.as_ref()),
            None => {
                if let Some(with) = with {
                    let word = tree::ident(&with)
                        .map_or(tree::span(&with), |word| tree::token_span(&word));
                    let diagnostic = Diagnostic::new(
                        Code::E0601,
                        word,
                        "`with` needs a gate before it, and this is a formula",
                    )
                    .label(tree::span(&formula), "not a gate")
                    .help("join two conditions on states with `and`");
                    self.report(diagnostic);
                    return None;
                }
                self.in_nodes(step, false).map(Goal::State)
            }
        }
    }

    /// The transitions, if the goal is a gate; `Some(None)` if it should be a gate but is not.
    fn gate_goal(&mut self, formula: &SyntaxNode, with: bool) -> Option<Option<Vec<TransitionId>>> {
        let (first, second) = tree::dotted(formula);
        let name = first.map(|token| text(&token)).unwrap_or_default();
        match formula.kind() {
            K::MemberExpr => {
                let base = tree::expression(formula)?;
                let member = tree::ident(formula)?;
                if !self.is_indexed_instance(&base) {
                    return None;
                }
                let instance = self.indexed_instance(&base)?;
                let list = self.graph.gates.get(&format!("{instance}.{}", member.text()))?;
                return Some(Some(list.clone()));
            }
            K::NameExpr if tree::tokens(formula).count() == 1 => {
                let is_gate = self.graph.gates.contains_key(&name)
                    || self.graph.transitions.contains_key(&name);
                let is_value = self.names.get(&name).is_some();
                // A name that is both a gate and a value is a value unless `with` follows; an
                // unknown name before `with` counts as a gate.
                let meant = if with { is_gate || !is_value } else { is_gate && !is_value };
                if !meant {
                    return None;
                }
            }
            K::FieldExpr => {
                let member = second.map(|token| text(&token)).unwrap_or_default();
                if !self.is_dotted_gate(&name, &member) {
                    return None;
                }
            }
            _ => return None,
        }
        Some(self.transitions_named(formula))
    }

    fn step_goal(
        &mut self,
        step: &SyntaxNode,
        gate: &SyntaxNode,
        mut list: Vec<TransitionId>,
        with: Option<&SyntaxNode>,
    ) -> Option<Goal> {
        let mut place = None;
        if let Some(clause) = tree::child(step, K::InNodes) {
            let refs: Vec<SyntaxNode> = tree::references(&clause).collect();
            if !self.is_composed() {
                let mut nodes = Vec::new();
                for token in refs.iter().filter_map(tree::ident) {
                    nodes.push(self.node_named(&token)?);
                }
                list.retain(|id| nodes.contains(&self.builder.so_far().transition(*id).source));
            } else {
                place = Some(self.node_condition(None, &refs)?);
            }
        }
        let full = match gate.kind() {
            K::MemberExpr => {
                let (base, member) = (tree::expression(gate)?, tree::ident(gate)?);
                format!("{}.{}", self.indexed_instance(&base)?, member.text())
            }
            _ => one_line(gate, NAME_LENGTH),
        };
        let mut choices = Vec::new();
        let formula = with.and_then(tree::expression);
        if let Some(formula) = &formula {
            self.keep_those_with_parameters(&mut list, formula);
        }
        for id in list {
            let term = match &formula {
                Some(formula) => {
                    self.with_parameters_of(id);
                    let term = self.formula(formula, Place::With);
                    self.locals.clear();
                    term?
                }
                None => self.pool().tt(),
            };
            let condition = self.condition_of(&full, id);
            let term = self.pool().and([term].into_iter().chain(place).chain(condition));
            choices.push((id, term));
        }
        let gate_id = tree::ident(gate).filter(|_| {
            gate.kind() == K::NameExpr
                && self.graph.gates.contains_key(one_line(gate, NAME_LENGTH).as_str())
        });
        let gate_id = gate_id
            .filter(|token| !matches!(token.text(), "tau" | "internal"))
            .map(|token| self.builder.gate(token.text()));
        match self.builder.step_goal(gate_id, &choices, "the condition of a gate") {
            Ok(goal) => Some(goal),
            Err(error) => {
                self.internal(error, tree::span(step));
                None
            }
        }
    }

    /// Of several transitions with one gate, keeps those that have the parameters which the
    /// condition mentions; keeps all if none has, so that the missing name is reported.
    fn keep_those_with_parameters(&mut self, list: &mut Vec<TransitionId>, formula: &SyntaxNode) {
        let mut needed: Vec<String> = formula
            .descendants()
            .filter(|node| node.kind() == K::NameExpr)
            .filter_map(|node| tree::ident(&node).map(|token| text(&token)))
            .filter(|name| self.graph.params.contains_key(name) && self.names.get(name).is_none())
            .collect();
        needed.sort_unstable();
        needed.dedup();
        let system = self.builder.so_far();
        let has_all = |id: &TransitionId| {
            let params = &system.transition(*id).params;
            needed.iter().all(|name| params.iter().any(|param| param.name == *name))
        };
        let kept: Vec<TransitionId> = list.iter().copied().filter(has_all).collect();
        if !kept.is_empty() {
            *list = kept;
        }
    }

    /// True if `a.b` names transitions: `Node.gate`, or `instance.gate` in a composed system.
    fn is_dotted_gate(&self, first: &str, second: &str) -> bool {
        let full = format!("{first}.{second}");
        self.graph.gates.contains_key(&full)
            || self.graph.transitions.contains_key(&full)
            || (self.graph.nodes.contains_key(first) && self.graph.gates.contains_key(second))
    }

    /// The transitions that a gate, a label or `Node.gate` denotes.
    fn transitions_named(&mut self, reference: &SyntaxNode) -> Option<Vec<TransitionId>> {
        let (first, second) = tree::dotted(reference);
        let first = first?;
        let full = match &second {
            Some(second) => format!("{}.{}", first.text(), second.text()),
            None => text(&first),
        };
        if let Some(id) = self.graph.transitions.get(&full) {
            // One of several transitions of a gate may have the gate's name.
            let all = self.graph.gates.get(&full).cloned().unwrap_or_default();
            return Some(if all.contains(id) { all } else { vec![*id] });
        }
        if let Some(list) = self.graph.gates.get(&full) {
            return Some(list.clone());
        }
        if let Some(second) = &second
            && let Some(node) = self.graph.nodes.get(first.text()).copied()
            && let Some(list) = self.graph.gates.get(second.text())
        {
            let here: Vec<TransitionId> = list
                .iter()
                .copied()
                .filter(|id| self.builder.so_far().transition(*id).source == node)
                .collect();
            if !here.is_empty() {
                return Some(here);
            }
        }
        let mut known: Vec<&str> = self
            .graph
            .gates
            .keys()
            .chain(self.graph.transitions.keys())
            .map(String::as_str)
            .collect();
        known.sort_unstable();
        let near = nearest(&full, known.iter().copied()).map(str::to_owned);
        let mut diagnostic = Diagnostic::new(
            Code::E0205,
            tree::span(reference),
            format!("there is no gate or transition `{full}`"),
        )
        .did_you_mean(near.as_deref());
        if self.names.get(&full).is_some_and(|found| !matches!(found.kind, NameKind::Broken)) {
            diagnostic = diagnostic.note(format!("`{full}` is a value, not a gate"));
        }
        self.report(diagnostic);
        None
    }

    fn can_enable(&mut self, item: &SyntaxNode) -> Option<ClaimKind> {
        let (transition, condition) = self.one_transition(item)?;
        let Some(condition) = condition else { return Some(ClaimKind::CanEnable(transition)) };
        // The instance takes the transition only under a condition.
        match self.builder.step_goal(None, &[(transition, condition)], "can enable") {
            Ok(goal) => Some(ClaimKind::Reachable(vec![goal])),
            Err(error) => {
                self.internal(error, tree::span(item));
                None
            }
        }
    }

    /// The condition under which a gate of an instance is taken in a step of the composed system.
    fn condition_of(&mut self, gate: &str, step: TransitionId) -> Option<TermId> {
        let conditions = self.graph.conditions.get(&(gate.to_owned(), step))?.clone();
        Some(self.pool().or(conditions))
    }

    fn one_transition(&mut self, item: &SyntaxNode) -> Option<(TransitionId, Option<TermId>)> {
        let reference = tree::child(item, K::NameRef)?;
        let list = self.transitions_named(&reference)?;
        if let [only] = list[..] {
            let name = one_line(&reference, NAME_LENGTH);
            return Some((only, self.condition_of(&name, only)));
        }
        let names: Vec<String> = list
            .iter()
            .take(4)
            .map(|id| format!("`{}`", self.builder.so_far().transition(*id).name))
            .collect();
        let diagnostic = Diagnostic::new(
            Code::E0210,
            tree::span(&reference),
            format!(
                "`{}` stands for {} transitions, and this claim is about one",
                one_line(&reference, 40),
                list.len()
            ),
        )
        .note(format!("they are {}", names.join(", ")))
        .help("write `Node.gate`, or give the transition a label: `label: gate(…) -> …`");
        self.report(diagnostic);
        None
    }

    fn start_named(&mut self, item: &SyntaxNode) -> Option<gander_system::StartId> {
        let reference = tree::child(item, K::NameRef);
        let token: Option<SyntaxToken> = reference.as_ref().and_then(tree::ident);
        let name = token.as_ref().map_or_else(|| "start".to_owned(), text);
        if let Some(id) = self.graph.starts.get(&name) {
            return Some(*id);
        }
        if self.graph.starts.is_empty() {
            return None;
        }
        let mut known: Vec<&str> = self.graph.starts.keys().map(String::as_str).collect();
        known.sort_unstable();
        let near = nearest(&name, known.iter().copied()).map(str::to_owned);
        let span = reference.map_or(tree::span(item), |reference| tree::span(&reference));
        self.report(
            Diagnostic::new(Code::E0205, span, format!("there is no start `{name}`"))
                .did_you_mean(near.as_deref()),
        );
        None
    }

    fn under(&mut self, item: &SyntaxNode, fairness: &Fairnesses) -> Option<Vec<FairnessId>> {
        let Some(clause) = tree::child(item, K::Under) else { return Some(Vec::new()) };
        let mut ids = Vec::new();
        for reference in tree::references(&clause) {
            let Some(token) = tree::ident(&reference) else { continue };
            let span = tree::token_span(&token);
            if let Some((id, _)) = fairness.by_name.get(one_line(&reference, NAME_LENGTH).as_str())
            {
                ids.push(*id);
            } else if token.text() == "fairness" {
                if fairness.by_name.is_empty() {
                    let diagnostic = Diagnostic::new(Code::E0602, span, "no fairness is declared")
                        .help("declare some: `fair NAME: formula`, `weakly fair gate` or `strongly fair gate`");
                    self.report(diagnostic);
                    return None;
                }
                ids.extend(&fairness.all);
            } else {
                let mut known: Vec<&str> = fairness.by_name.keys().map(String::as_str).collect();
                known.sort_unstable();
                let near = nearest(token.text(), known.iter().copied());
                let diagnostic = Diagnostic::new(
                    Code::E0209,
                    span,
                    format!("there is no fairness `{}`", token.text()),
                )
                .did_you_mean(near);
                self.report(diagnostic);
                return None;
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }
}

/// `always`, `no deadlock`, …; empty for `NAME: P leads to Q`.
fn claim_words(item: &SyntaxNode) -> String {
    let words = tree::child(item, K::ClaimWords);
    words.map(|words| one_line(&words, NAME_LENGTH)).unwrap_or_default()
}

fn unused(taken: &FxHashMap<String, Span>, name: String) -> String {
    if !taken.contains_key(&name) {
        return name;
    }
    (2..)
        .map(|count| format!("{name} ({count})"))
        .find(|candidate| !taken.contains_key(candidate))
        .unwrap_or(name)
}
