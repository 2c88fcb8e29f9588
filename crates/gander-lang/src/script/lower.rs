//! Lowers a checked script to a system.
//!
//! - A variable becomes a state variable; a `nondet` variable becomes an input, with a new value
//!   within its range in every state.
//! - A rule becomes a transition. Its guard consists of the written conjuncts, one conjunct for
//!   each ranged variable that it updates (the new value is within the range), and one that says
//!   that the processes before it in a sequence are finished.
//! - Rules cannot leave ranges, so ranges are constraints of the start and need no claim.

use super::check::{Entity, Model};
use super::program::{Configuration, Control};
use super::syntax::*;
use super::terms::{self, Place, Symbols};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use gander_system::{
    BuildError, ClaimKind, ClaimOrigin, Goal as ReachGoal, NodeId, Range, Role, Structure, System,
    SystemBuilder,
};
use gander_term::{IBig, Pool, Sort, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of nodes and transitions of the control graph.
const MAX_GRAPH: usize = 200_000;

struct Lowering<'a> {
    model: &'a Model<'a>,
    control: Control,
    builder: SystemBuilder,
    symbols: Symbols,
    report: &'a mut Report,
    /// By instance and rule: its guards and updates as terms, with a symbol for `state`.
    rules: Vec<Vec<RuleTerms>>,
}

#[derive(Clone, Debug, Default)]
struct RuleTerms {
    guards: Vec<(TermId, Span)>,
    /// Variables of the model with their new values.
    updates: Vec<(usize, TermId, Span)>,
}

/// The system for some goals; steps are counted and bounded if a bound is given.
pub(super) fn lower(
    model: &Model<'_>,
    goals: &[usize],
    bound: Option<&IBig>,
    report: &mut Report,
) -> Option<System> {
    let Some(control) = model.program.control(&model.instances, MAX_GRAPH) else {
        let span = model.script.program_span.unwrap_or(Span::at(0));
        let message = "the states of the processes have too many combinations";
        let help = "use int variables in place of `state` in some of them";
        report.add(Diagnostic::new(Code::E0704, span, message).help(help));
        return None;
    };
    report_lost_states(model, &control, report);
    let names: Vec<String> = control
        .configurations
        .iter()
        .map(|c| model.program.describe(&model.instances, c))
        .collect();
    let nodes: Vec<(&str, Option<Span>)> = names.iter().map(|n| (n.as_str(), None)).collect();
    let mut builder = match SystemBuilder::new(&model.name, Pool::new(), &nodes) {
        Ok(builder) => builder,
        Err(error) => return refused(&error, report),
    };
    builder.set_structure(Structure::Undrawn);
    if let Some(steps) = bound {
        builder.set_step_limit(steps.clone());
    }
    let symbols = match declare(model, goals, bound, &mut builder) {
        Ok(symbols) => symbols,
        Err(error) => return refused(&error, report),
    };
    let mut lowering = Lowering { model, control, builder, symbols, report, rules: Vec::new() };
    lowering.rule_terms();
    let built = lowering
        .starts()
        .and_then(|()| lowering.transitions(bound))
        .and_then(|()| lowering.goals(goals, bound));
    match built {
        Ok(()) if lowering.report.has_errors() => None,
        Ok(()) => Some(lowering.builder.finish()),
        Err(error) => refused(&error, lowering.report),
    }
}

/// Warns about the states of processes that no path of rules leads to. They and their rules are not
/// in the system.
fn report_lost_states(model: &Model<'_>, control: &Control, report: &mut Report) {
    let mut entered: FxHashSet<Span> = FxHashSet::default();
    for configuration in &control.configurations {
        for (instance, &at) in model.instances.iter().zip(&configuration.at) {
            entered.extend(instance.block.states.get(usize::from(at)).map(|s| s.span));
        }
    }
    let states = model.instances.iter().flat_map(|i| &i.block.states);
    for state in states.filter(|s| !entered.contains(&s.span)) {
        let message = format!("no path of rules leads to the state `{}`", state.text);
        let help = "begin in it, or give a rule this state as its target";
        let diagnostic = Diagnostic::new(Code::W0802, state.span, message);
        report.add(diagnostic.note("its rules are never applied").help(help));
    }
}

fn refused(error: &BuildError, report: &mut Report) -> Option<System> {
    // An error reported before may be the cause.
    if !report.has_errors() {
        report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}"));
    }
    None
}

/// Declares the variables, and for each instance with states a symbol for its state.
fn declare(
    model: &Model<'_>,
    goals: &[usize],
    bound: Option<&IBig>,
    builder: &mut SystemBuilder,
) -> Result<Symbols, BuildError> {
    let mut vars = Vec::new();
    for v in &model.vars {
        let (role, range) =
            if v.nondet { (Role::Input, v.range.clone()) } else { (Role::State, None) };
        let id = builder.var(&v.name, v.sort, role, range, Some(v.span))?;
        builder.set_range(id, v.range.clone());
        vars.push((id, builder.so_far().var(id).current));
    }
    let steps = if bound.is_some() || (model.max_steps.is_some() && reads_steps(model, goals)) {
        let id = builder.var("steps", Sort::Int, Role::State, None, None)?;
        builder.set_range(id, bound.map(|n| Range { low: IBig::ZERO, high: n.clone() }));
        Some((id, builder.so_far().var(id).current))
    } else {
        None
    };
    let mut locations = Vec::new();
    for instance in &model.instances {
        if instance.block.states.is_empty() {
            locations.push(None);
            continue;
        }
        let variants: Vec<&str> = instance.block.states.iter().map(|s| s.text.as_str()).collect();
        let name = if instance.name.is_empty() {
            "state".to_string()
        } else {
            format!("{}.state", instance.name)
        };
        let sort = builder.pool.declare_enum(&name, &variants)?;
        locations.push(Some(builder.pool.declare_fresh(&name, Sort::Enum(sort))));
    }
    Ok(Symbols { vars, steps, locations })
}

/// True if a rule, or one of these goals, mentions `steps`.
fn reads_steps(model: &Model<'_>, goals: &[usize]) -> bool {
    let script = model.script;
    let mentions = |e: Expr| terms::names(script, e).any(|n| n == "steps");
    let in_block = |block: &Block| {
        let rules = block.rules.iter().any(|r| {
            r.guards.iter().any(|g| mentions(*g)) || r.updates.iter().any(|(_, e)| mentions(*e))
        });
        rules
            || block.inits.iter().any(|i| match i {
                Init::Assign { value, .. } => mentions(*value),
                Init::Constraint(e) => mentions(*e),
            })
    };
    model.instances.iter().any(|i| in_block(i.block))
        || in_block(&script.block)
        || goals.iter().any(|&g| match script.goals[g].kind {
            GoalKind::Reach(p)
            | GoalKind::Safe(p)
            | GoalKind::Live(p)
            | GoalKind::AlwaysPossible(p)
            | GoalKind::Eventually(p)
            | GoalKind::ExistsAlways(p) => mentions(p),
            GoalKind::LeadsTo(p, q) => mentions(p) || mentions(q),
            GoalKind::Infinite | GoalKind::Deadlock => false,
        })
}

impl Lowering<'_> {
    /// Translates all rules to terms; reports errors in them.
    fn rule_terms(&mut self) {
        let model = self.model;
        for (i, instance) in model.instances.iter().enumerate() {
            let mut all = Vec::new();
            for rule in &instance.block.rules {
                let mut place = Place::process(model, i, &self.symbols);
                let mut made = RuleTerms::default();
                let pool = &mut self.builder.pool;
                for &g in &rule.guards {
                    let span = model.script.span(g);
                    if let Some(t) = terms::term(model.script, g, pool, &mut place, self.report)
                        && terms::expect_sort(pool, t, Sort::Bool, span, self.report)
                    {
                        made.guards.push((t, span));
                    }
                }
                if let Some((from, to)) = &rule.states {
                    for name in [from, to] {
                        if !instance.block.states.iter().any(|s| s.text == name.text) {
                            let near = nearest(
                                &name.text,
                                instance.block.states.iter().map(|s| s.text.as_str()),
                            );
                            let message = format!("there is no state `{}`", name.text);
                            let diagnostic = Diagnostic::new(Code::E0203, name.span, message);
                            self.report.add(if near.is_some() {
                                diagnostic.did_you_mean(near)
                            } else {
                                diagnostic
                                    .help(format!("declare it in `VARS`: `state {};`", name.text))
                            });
                        }
                    }
                }
                let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
                // A simultaneous update is one piece of text.
                let spans = rule.updates.iter().flat_map(|(n, v)| [n.span, model.script.span(*v)]);
                let whole = spans.reduce(Span::cover).unwrap_or(rule.span);
                for (name, value) in &rule.updates {
                    if let Some(first) = seen.insert(&name.text, name.span) {
                        let message = format!("`{}` is updated twice in one rule", name.text);
                        self.report.add(
                            Diagnostic::new(Code::E0401, name.span, message)
                                .label(first, "first here"),
                        );
                    }
                    let target = updated(model, name, &place, self.report);
                    let term = terms::term(model.script, *value, pool, &mut place, self.report);
                    if let (Some(var), Some(term)) = (target, term) {
                        let span = model.script.span(*value);
                        if terms::expect_sort(pool, term, model.vars[var].sort, span, self.report) {
                            made.updates.push((var, term, whole));
                        }
                    }
                }
                all.push(made);
            }
            self.rules.push(all);
        }
    }

    /// Replaces the `state` symbols of the instances by their states in a configuration.
    fn at(&mut self, t: TermId, c: &Configuration) -> TermId {
        let mut map = FxHashMap::default();
        for (i, symbol) in self.symbols.locations.iter().enumerate() {
            if let Some(symbol) = *symbol
                && let Sort::Enum(id) = self.builder.pool.symbol(symbol).sort
            {
                let value = self.builder.pool.constant(Value::Enum(id, u32::from(c.at[i])));
                map.insert(symbol, value);
            }
        }
        if map.is_empty() {
            return t;
        }
        let placed = self.builder.pool.substitute(t, &map);
        if placed == t { t } else { self.builder.pool.simplify(placed) }
    }

    /// Eliminates the `state` symbols of a state formula: a case distinction over nodes, with nodes
    /// that give the same formula grouped.
    fn by_node(&mut self, t: TermId) -> TermId {
        let mentioned = self.builder.pool.free_symbols(&[t]);
        if !self.symbols.locations.iter().flatten().any(|s| mentioned.contains(s)) {
            return t;
        }
        let mut groups: Vec<(TermId, Vec<NodeId>)> = Vec::new();
        let mut known: FxHashMap<TermId, usize> = FxHashMap::default();
        for n in 0..self.control.configurations.len() {
            let here = self.control.configurations[n].clone();
            let placed = self.at(t, &here);
            let group = *known.entry(placed).or_insert_with(|| {
                groups.push((placed, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(NodeId::from(n));
        }
        let location = self.builder.so_far().location();
        let at_node = self.builder.pool.var(location);
        let mut ways = Vec::new();
        for (placed, nodes) in groups {
            let mut there = Vec::new();
            for n in nodes {
                let node = self.node_constant(n);
                there.push(self.builder.pool.eq(at_node, node));
            }
            let there = self.builder.pool.or(there);
            ways.push(self.builder.pool.and([there, placed]));
        }
        self.builder.pool.or(ways)
    }

    fn node_constant(&mut self, n: NodeId) -> TermId {
        let sort = self.builder.pool.symbol(self.builder.so_far().location()).sort;
        match sort {
            Sort::Enum(id) => self.builder.pool.constant(Value::Enum(id, n.0)),
            _ => self.builder.pool.tt(),
        }
    }

    fn within(&mut self, t: TermId, range: &Range) -> TermId {
        let pool = &mut self.builder.pool;
        if let Some(Value::Int(i)) = pool.as_constant(t) {
            return if range.low <= i && i <= range.high { pool.tt() } else { pool.ff() };
        }
        let (low, high) = (pool.int(range.low.clone()), pool.int(range.high.clone()));
        let (a, b) = (pool.le(low, t), pool.le(t, high));
        pool.and([a, b])
    }

    fn starts(&mut self) -> Result<(), BuildError> {
        let model = self.model;
        let mut conjuncts: Vec<(TermId, Option<Span>)> = Vec::new();
        let whole = std::iter::once((None, &model.script.block));
        let parts = model.instances.iter().enumerate().filter(|(_, i)| !i.name.is_empty());
        for (instance, block) in whole.chain(parts.map(|(i, instance)| (Some(i), instance.block))) {
            for init in &block.inits {
                let mut place = match instance {
                    Some(i) => Place::process(model, i, &self.symbols),
                    None => Place::whole(model, &self.symbols),
                };
                conjuncts.extend(initial(
                    model,
                    init,
                    block,
                    instance,
                    &mut place,
                    &mut self.builder.pool,
                    self.report,
                ));
            }
        }
        for v in 0..model.vars.len() {
            if let (Some(range), false) = (&model.vars[v].range, model.vars[v].nondet) {
                let x = self.builder.pool.var(self.symbols.vars[v].1);
                let within = self.within(x, range);
                conjuncts.push((within, Some(model.vars[v].span)));
            }
        }
        if let Some((_, steps)) = self.symbols.steps {
            let (steps, zero) = (self.builder.pool.var(steps), self.builder.pool.int(0));
            let begins = self.builder.pool.eq(steps, zero);
            conjuncts.push((begins, self.steps_span()));
        }
        if self.report.has_errors() {
            return Ok(());
        }
        for n in 0..self.control.starts {
            let here = self.control.configurations[n].clone();
            let placed: Vec<(TermId, Option<Span>)> =
                conjuncts.iter().map(|&(t, span)| (self.at(t, &here), span)).collect();
            let name = if n == 0 { "start".to_string() } else { format!("start {}", n + 1) };
            self.builder.start(&name, NodeId::from(n), &placed, None)?;
        }
        Ok(())
    }

    /// The span of `MAXSTEPS`.
    fn steps_span(&self) -> Option<Span> {
        let script = &self.model.script;
        script.max_steps.map(|e| script.span(e))
    }

    /// The guard of a rule in a configuration: the written conjuncts, and that ranges are kept.
    fn enabled(
        &mut self,
        instance: usize,
        rule: usize,
        c: &Configuration,
    ) -> Vec<(TermId, Option<Span>)> {
        let terms = self.rules[instance][rule].clone();
        let mut guard = Vec::new();
        for (t, span) in terms.guards {
            guard.push((self.at(t, c), Some(span)));
        }
        for (var, value, span) in terms.updates {
            if let Some(range) = &self.model.vars[var].range {
                let value = self.at(value, c);
                let within = self.within(value, range);
                if self.builder.pool.as_bool(within) != Some(true) {
                    guard.push((within, Some(span)));
                }
            }
        }
        guard
    }

    /// True if some rule of a part of the program is enabled. Each blocker lies within the part, so
    /// the recursion ends.
    fn part_enabled(&mut self, part: usize, c: &Configuration) -> TermId {
        let model = self.model;
        let mut ways = Vec::new();
        for i in model.program.instances_of(part) {
            let Some((_, blockers)) = model.program.may_move(c, i, Some(part)) else { continue };
            let mut waits = Vec::new();
            for b in blockers {
                let busy = self.part_enabled(b, c);
                waits.push(self.builder.pool.not(busy));
            }
            for (r, rule) in model.instances[i].block.rules.iter().enumerate() {
                let here = model.instances[i].block.states.get(c.at[i] as usize);
                if rule
                    .states
                    .as_ref()
                    .is_some_and(|(from, _)| here.is_none_or(|s| s.text != from.text))
                {
                    continue;
                }
                let guard: Vec<TermId> =
                    self.enabled(i, r, c).into_iter().map(|(t, _)| t).collect();
                ways.push(self.builder.pool.and(guard.into_iter().chain(waits.iter().copied())));
            }
        }
        self.builder.pool.or(ways)
    }

    fn transitions(&mut self, bound: Option<&IBig>) -> Result<(), BuildError> {
        if self.report.has_errors() {
            return Ok(());
        }
        let moves = std::mem::take(&mut self.control.moves);
        let several = self.control.configurations.len() > 1;
        let mut taken: FxHashSet<String> = FxHashSet::default();
        let mut waits: FxHashMap<(usize, usize), TermId> = FxHashMap::default();
        for m in &moves {
            let instance = &self.model.instances[m.instance];
            let rule = &instance.block.rules[m.rule];
            let here = self.control.configurations[m.source].clone();
            let gate = match instance.name.as_str() {
                "" => format!("rule{}", rule.number),
                name => format!("{name}.rule{}", rule.number),
            };
            let mut name = gate.clone();
            if several {
                name =
                    format!("{}.{gate}", self.builder.so_far().node(NodeId::from(m.source)).name);
            }
            if !taken.insert(name.clone()) {
                name = format!("{name} {}", taken.len());
            }
            let gate = self.builder.gate(&gate);
            let (source, target) = (NodeId::from(m.source), NodeId::from(m.target));
            let mut draft =
                self.builder.transition(&name, Some(gate), source, target, Some(rule.span))?;
            for (t, span) in self.enabled(m.instance, m.rule, &here) {
                self.builder.guard(&mut draft, t, span)?;
            }
            for &part in &m.blockers {
                let wait = match waits.get(&(part, m.source)) {
                    Some(&wait) => wait,
                    None => {
                        let busy = self.part_enabled(part, &here);
                        let wait = self.builder.pool.not(busy);
                        waits.insert((part, m.source), wait);
                        wait
                    }
                };
                self.builder.guard(&mut draft, wait, None)?;
            }
            for (var, value, span) in self.rules[m.instance][m.rule].updates.clone() {
                let value = self.at(value, &here);
                self.builder.assign(&mut draft, self.symbols.vars[var].0, value, Some(span))?;
            }
            if let Some((id, symbol)) = self.symbols.steps {
                let span = self.steps_span();
                let pool = &mut self.builder.pool;
                let (steps, one) = (pool.var(symbol), pool.int(1));
                let next = pool.add(steps, one);
                if let Some(bound) = bound {
                    let bound = pool.int(bound.clone());
                    let more = pool.lt(steps, bound);
                    self.builder.guard(&mut draft, more, span)?;
                }
                self.builder.assign(&mut draft, id, next, span)?;
            }
            self.builder.add(draft)?;
        }
        Ok(())
    }

    fn goals(&mut self, goals: &[usize], bound: Option<&IBig>) -> Result<(), BuildError> {
        let model = self.model;
        let mut made: Vec<(&Goal, Vec<TermId>)> = Vec::new();
        for &g in goals {
            let goal = &model.script.goals[g];
            let formulas = match goal.kind {
                GoalKind::Reach(p)
                | GoalKind::Safe(p)
                | GoalKind::Live(p)
                | GoalKind::AlwaysPossible(p)
                | GoalKind::Eventually(p)
                | GoalKind::ExistsAlways(p) => vec![p],
                GoalKind::LeadsTo(p, q) => vec![p, q],
                GoalKind::Infinite | GoalKind::Deadlock => vec![],
            };
            let mut terms = Vec::new();
            for e in formulas {
                let mut place = Place::whole(model, &self.symbols);
                let pool = &mut self.builder.pool;
                if let Some(t) = terms::term(model.script, e, pool, &mut place, self.report)
                    && terms::expect_sort(pool, t, Sort::Bool, model.script.span(e), self.report)
                {
                    terms.push(t);
                }
            }
            made.push((goal, terms));
        }
        if self.report.has_errors() {
            return Ok(());
        }
        for (goal, terms) in made {
            let mut formulas = Vec::new();
            for t in terms {
                let t = self.by_node(t);
                formulas.push(self.builder.state_formula(t, goal.word)?);
            }
            let kind = match (goal.kind, &formulas[..]) {
                (GoalKind::Reach(_), [p, ..]) => ClaimKind::Reachable(vec![ReachGoal::State(*p)]),
                (GoalKind::Safe(_), [p, ..]) => ClaimKind::Always(*p),
                (GoalKind::Live(_), [p, ..]) => {
                    ClaimKind::AlwaysEventually { goal: *p, under: Vec::new() }
                }
                (GoalKind::Eventually(_), [p, ..]) => {
                    ClaimKind::Eventually { goal: *p, under: Vec::new() }
                }
                (GoalKind::AlwaysPossible(_), [p, ..]) => ClaimKind::AlwaysPossible(*p),
                (GoalKind::ExistsAlways(_), [p, ..]) => ClaimKind::ExistsAlways(*p),
                (GoalKind::LeadsTo(..), [p, q, ..]) => {
                    ClaimKind::LeadsTo { from: *p, to: *q, under: Vec::new() }
                }
                (GoalKind::Infinite, _) => ClaimKind::InfiniteRun,
                _ => ClaimKind::NoDeadlock,
            };
            let source = &model.source[goal.span.range()];
            let mut text: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(n) = bound {
                text = format!("{text} (up to MAXSTEPS {n})");
            }
            let name = claim_name(model.script, goal);
            self.builder.claim(&name, kind, ClaimOrigin::Written, &text, Some(goal.span))?;
        }
        Ok(())
    }
}

/// The name of a goal: its own name, or its keyword, with a number if several goals have that
/// keyword.
fn claim_name(script: &Script, goal: &Goal) -> String {
    if let Some(name) = &goal.name {
        return name.text.clone();
    }
    let same: Vec<&Goal> =
        script.goals.iter().filter(|g| g.name.is_none() && g.word == goal.word).collect();
    match same.iter().position(|g| g.span == goal.span) {
        Some(at) if same.len() > 1 => format!("{} {}", goal.word, at + 1),
        _ => goal.word.to_string(),
    }
}

/// The variable that a rule updates.
fn updated(
    model: &Model<'_>,
    name: &Name,
    place: &Place<'_>,
    report: &mut Report,
) -> Option<usize> {
    let fixed = |why: String, help: &str, report: &mut Report| {
        report.add(Diagnostic::new(Code::E0403, name.span, why).help(help));
        None
    };
    match place.find(&name.text) {
        Some(Entity::Var(v)) if model.vars[*v].nondet => {
            let why = format!(
                "`{}` is `nondet`: it has a new value after every step and cannot be updated",
                name.text
            );
            fixed(why, "declare it without `nondet`", report)
        }
        Some(Entity::Var(v)) => Some(*v),
        Some(Entity::Const(_)) => {
            fixed(format!("`{}` is a constant", name.text), "declare it as a variable", report)
        }
        Some(Entity::Steps) => fixed(
            "`steps` counts the steps and cannot be updated".to_string(),
            "use a variable of your own",
            report,
        ),
        Some(Entity::Location(_) | Entity::State(..)) => {
            let why = format!("`{}` cannot be updated like a variable", name.text);
            fixed(why, "write `S -> A { updates };` for a rule from state `S` to state `A`", report)
        }
        Some(Entity::Instance) => {
            fixed(format!("`{}` is an instance", name.text), "update a variable", report)
        }
        Some(Entity::Broken) => None,
        None => {
            place.unknown(&name.text, name.span, report);
            None
        }
    }
}

/// A line of an `INIT` block as a formula.
fn initial(
    model: &Model<'_>,
    init: &Init,
    block: &Block,
    instance: Option<usize>,
    place: &mut Place<'_>,
    pool: &mut Pool,
    report: &mut Report,
) -> Option<(TermId, Option<Span>)> {
    match init {
        Init::Assign { name, .. } if name.text == "state" && !block.states.is_empty() => None,
        Init::Assign { name, value } => {
            let span = model.script.span(*value);
            let var = match place.find(&name.text) {
                Some(Entity::Var(v)) => *v,
                Some(Entity::Broken) => return None,
                Some(_) => {
                    let message =
                        format!("`{}` is not a variable, so it has no first value", name.text);
                    report.error(Code::E0403, name.span, message);
                    return None;
                }
                None => {
                    place.unknown(&name.text, name.span, report);
                    return None;
                }
            };
            if instance.is_some() && model.global.contains_key(&name.text) {
                let message = format!(
                    "`{}` is global: a process initialises only its own variables",
                    name.text
                );
                let diagnostic = Diagnostic::new(Code::E0403, name.span, message);
                report.add(diagnostic.help("move this line to the global `INIT`"));
                return None;
            }
            let value = terms::term(model.script, *value, pool, place, report)?;
            if !terms::expect_sort(pool, value, model.vars[var].sort, span, report) {
                return None;
            }
            let x = place.variable(var, pool)?;
            Some((pool.eq(x, value), Some(name.span.cover(span))))
        }
        Init::Constraint(e) => {
            let span = model.script.span(*e);
            let t = terms::term(model.script, *e, pool, place, report)?;
            terms::expect_sort(pool, t, Sort::Bool, span, report).then_some((t, Some(span)))
        }
    }
}
