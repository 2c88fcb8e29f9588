//! Drafts: the elements that form each part, and what its name is made of.
//!
//! Each element has a key ([`Drafter::draft`]), and the elements with equal keys form one part
//! ([`Drafts::add`]).

use std::collections::BTreeSet;

use gander_system::passes::{Fork, Grain, Granule};
use gander_system::{
    Aggregate, Effect, ElementId, ElementKind, ElementName, Span, StreamKind, System, TransitionId,
    VarId,
};
use gander_term::TermId;
use rustc_hash::FxHashMap;

use super::spans::{Side, has_arrow, piece};
use super::{Granularity, PartKind};

/// The drafts of the parts of a system, in the order of the text.
pub(super) fn drafts(
    system: &System,
    granules: &[Granule],
    source: &str,
    granularity: Granularity,
    grain: Option<Grain>,
) -> Vec<Draft> {
    let granules: FxHashMap<ElementId, &Granule> =
        granules.iter().map(|g| (g.element, g)).collect();
    let mut drafter = Drafter::new(system, source, granularity, grain);
    let mut drafts = Drafts::default();
    for (i, &is_trivial) in trivial_elements(system).iter().enumerate() {
        let id = ElementId(i as u32);
        if is_trivial {
            continue;
        }
        if let Some((key, draft)) = drafter.draft(id, granules.get(&id).copied()) {
            drafts.add(key, draft);
        }
    }
    let mut drafts = drafts.list;
    for d in drafts.iter_mut().filter(|d| d.side.is_some() || !d.path.is_empty()) {
        d.span = d.span.map(|s| piece(source, s, d.side, &d.path).unwrap_or(s));
    }
    drafts.iter_mut().for_each(Draft::name_rule);
    drafts.sort_by_key(|d| d.span.map_or((1, 0), |s| (0, s.start)));
    drafts
}

/// Elements with equal keys form one part.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Alone(ElementId),
    Written(PartKind, Span, Option<Side>, Vec<Fork>),
    Instance(PartKind, Span, Option<Side>, Vec<Fork>, String),
    /// What a transition requires or does, in all transitions that it was written for once.
    Rule(PartKind, Span, Vec<Fork>, String),
    /// A constraint of a start that was written once for several instances.
    Start(Span, Vec<Fork>, String),
}

/// A part without its final name.
pub(super) struct Draft {
    pub kind: PartKind,
    pub span: Option<Span>,
    pub names: Vec<String>,
    pub owner: String,
    pub elements: Vec<ElementId>,
    pub side: Option<Side>,
    pub path: Vec<Fork>,
    /// By transition of its elements: its gate, and the element in it.
    pub rules: Vec<(String, String)>,
}

/// The drafts so far: one for each key.
#[derive(Default)]
struct Drafts {
    list: Vec<Draft>,
    /// By key: the index of its draft.
    known: FxHashMap<Key, usize>,
}

impl Drafts {
    /// Adds the draft of one element, or joins it with the draft of the same key.
    fn add(&mut self, key: Key, draft: Draft) {
        let Some(&at) = self.known.get(&key) else {
            self.known.insert(key, self.list.len());
            self.list.push(draft);
            return;
        };
        let known = &mut self.list[at];
        known.elements.extend(draft.elements);
        for rule in draft.rules {
            if !known.rules.contains(&rule) {
                known.rules.push(rule);
            }
        }
        // Equal constraints of starts keep the name of the first.
        if matches!(key, Key::Start(..)) {
            return;
        }
        for name in draft.names {
            if !known.names.contains(&name) {
                known.names.push(name);
            }
        }
    }
}

/// Makes the draft of each element.
struct Drafter<'s> {
    system: &'s System,
    source: &'s str,
    granularity: Granularity,
    grain: Option<Grain>,
    /// By span of an equation: whether it has an arrow.
    arrows: FxHashMap<Span, bool>,
    streams: FxHashMap<&'s str, StreamKind>,
    /// By constraint of a start: its text without the names of instances.
    starts: FxHashMap<ElementId, String>,
}

impl<'s> Drafter<'s> {
    fn new(
        system: &'s System,
        source: &'s str,
        granularity: Granularity,
        grain: Option<Grain>,
    ) -> Drafter<'s> {
        Drafter {
            system,
            source,
            granularity,
            grain,
            arrows: FxHashMap::default(),
            streams: system
                .vars()
                .iter()
                .filter_map(|v| Some((v.name.as_str(), v.stream?)))
                .collect(),
            starts: start_texts(system),
        }
    }

    /// The draft with one element; `None` if the element is always kept.
    fn draft(&mut self, id: ElementId, granule: Option<&Granule>) -> Option<(Key, Draft)> {
        let base = granule.map_or(id, |g| g.of);
        let path = granule.map_or_else(Vec::new, |g| g.path.clone());
        let info = &self.system.elements()[base.index()];
        let kind = match info.kind {
            ElementKind::Start => PartKind::Start,
            ElementKind::Guard | ElementKind::ParameterRange => PartKind::Guard,
            ElementKind::Assignment | ElementKind::Constraint => PartKind::Effect,
            ElementKind::Assumption => PartKind::Assumption,
            ElementKind::Frame
            | ElementKind::Control
            | ElementKind::Form
            | ElementKind::Count
            | ElementKind::Hint => return None,
        };
        if let ElementName::OfParam(t, p) = info.name
            && is_part_of_parameter(self.system, t, p as usize)
        {
            return None;
        }
        match stream_of(&info.name, &self.streams) {
            Some((_, StreamKind::Internal | StreamKind::Choice)) => None,
            Some((stream, what)) => Some(self.of_stream(id, base, path, &stream, what)),
            None if counts_steps(self.system, self.source, info.span) => {
                Some(of_step_limit(id, info.span))
            }
            None => Some(self.of_rule(id, base, path, kind)),
        }
    }

    /// A part of the equation of a stream, or of the call that passes it as an input.
    fn of_stream(
        &mut self,
        id: ElementId,
        base: ElementId,
        path: Vec<Fork>,
        stream: &str,
        what: StreamKind,
    ) -> (Key, Draft) {
        let info = &self.system.elements()[base.index()];
        let kind = if what == StreamKind::Input { PartKind::Call } else { PartKind::Equation };
        let (owner, name) = written_name(stream, self.system.name());
        let may_have_sides =
            self.grain.is_some_and(|g| g >= Grain::Branches) && kind == PartKind::Equation;
        let source = self.source;
        let has_sides = may_have_sides
            && info
                .span
                .is_some_and(|s| *self.arrows.entry(s).or_insert_with(|| has_arrow(source, s)));
        let side = has_sides.then_some(match info.kind {
            ElementKind::Start => Side::First,
            _ => Side::Later,
        });
        let key = match (info.span, self.granularity) {
            (None, _) => Key::Alone(id),
            (Some(span), Granularity::Written) => Key::Written(kind, span, side, path.clone()),
            (Some(span), Granularity::Instances) => {
                Key::Instance(kind, span, side, path.clone(), instance(stream).into())
            }
        };
        let name = match self.granularity {
            Granularity::Written => name,
            Granularity::Instances => stream.to_string(),
        };
        let draft = Draft {
            kind,
            span: info.span,
            names: vec![name],
            owner,
            elements: vec![id],
            side,
            path,
            rules: Vec::new(),
        };
        (key, draft)
    }

    /// A part of a start or a transition, or an assumption.
    fn of_rule(
        &self,
        id: ElementId,
        base: ElementId,
        path: Vec<Fork>,
        kind: PartKind,
    ) -> (Key, Draft) {
        let info = &self.system.elements()[base.index()];
        let rule = rule_of(self.system, base);
        let owner = match (&rule, &info.name) {
            (Some(rule), _) => rule.transition.clone(),
            (None, ElementName::OfStart(s, _)) => self.system.starts()[s.index()].name.clone(),
            (None, _) => String::new(),
        };
        let key = match (info.span, &rule, self.granularity) {
            // In joint steps of a composition, conjuncts of guards have other numbers.
            (Some(span), Some(_), Granularity::Written)
                if kind == PartKind::Guard && !self.system.instances().is_empty() =>
            {
                Key::Rule(kind, span, path.clone(), String::new())
            }
            (Some(span), Some(rule), Granularity::Written) => {
                Key::Rule(kind, span, path.clone(), plain(&rule.what).to_string())
            }
            (Some(span), Some(rule), Granularity::Instances) => {
                Key::Rule(kind, span, path.clone(), format!("{} {}", rule.gate, rule.what))
            }
            (Some(span), None, Granularity::Written) if kind == PartKind::Start => {
                match self.starts.get(&base) {
                    Some(text) => Key::Start(span, path.clone(), text.clone()),
                    None => Key::Alone(id),
                }
            }
            _ => Key::Alone(id),
        };
        let draft = Draft {
            kind,
            span: info.span,
            names: vec![self.system.element_name(base)],
            owner,
            elements: vec![id],
            side: None,
            path,
            rules: rule.into_iter().map(|r| (r.gate, r.what)).collect(),
        };
        (key, draft)
    }
}

/// True if the parameter is a part of one that the author wrote: its range is that of its sort.
fn is_part_of_parameter(system: &System, t: TransitionId, param: usize) -> bool {
    let aggregates = &system.transition(t).aggregates;
    aggregates.iter().any(|a| (a.first..a.first + a.shape.width()).contains(&param))
}

/// The variable that an assignment is to, as the author wrote it: `d` if the parts of `d` are
/// variables.
fn written_var(system: &System, var: VarId) -> &str {
    let holds = |a: &&Aggregate| (a.first..a.first + a.shape.width()).contains(&var.index());
    system.aggregates().iter().find(holds).map_or(&system.var(var).name, |a| &a.name)
}

/// The elements of a step limit form one part.
fn of_step_limit(id: ElementId, span: Option<Span>) -> (Key, Draft) {
    let kind = PartKind::Assumption;
    let key = span.map_or(Key::Alone(id), |s| Key::Written(kind, s, None, Vec::new()));
    let draft = Draft {
        kind,
        span,
        names: vec!["MAXSTEPS".to_string()],
        owner: String::new(),
        elements: vec![id],
        side: None,
        path: Vec::new(),
        rules: Vec::new(),
    };
    (key, draft)
}

/// True if the span is the step limit (`MAXSTEPS`) of a script.
fn counts_steps(system: &System, source: &str, span: Option<Span>) -> bool {
    let before =
        span.filter(|_| system.step_limit().is_some()).and_then(|s| source.get(..s.start as usize));
    before.is_some_and(|b| b.trim_end().trim_end_matches(':').trim_end().ends_with("MAXSTEPS"))
}

/// Elements that are trivially true: `x = x`.
fn trivial_elements(system: &System) -> Vec<bool> {
    let mut trivial = vec![false; system.elements().len()];
    let mut look = |e: ElementId, t| {
        if system.pool().as_bool(t) == Some(true) {
            trivial[e.index()] = true;
        }
    };
    for s in system.starts() {
        s.constraint.iter().for_each(|e| look(e.id, e.term.term()));
    }
    for t in system.transitions() {
        t.guard.iter().for_each(|e| look(e.id, e.term.term()));
        for e in &t.effect {
            if let Effect::Constrain { id, relation } = e {
                look(*id, relation.term());
            }
        }
    }
    system.assumptions().iter().for_each(|e| look(e.id, e.term.term()));
    trivial
}

/// The stream that an element defines.
fn stream_of(
    name: &ElementName,
    streams: &FxHashMap<&str, StreamKind>,
) -> Option<(String, StreamKind)> {
    let ElementName::Given(name) = name else { return None };
    let stream = name.strip_suffix(" at first").unwrap_or(name);
    streams.get(stream).map(|kind| (stream.to_string(), *kind))
}

/// An element of a transition.
struct RuleElement {
    transition: String,
    /// The gate of the transition; its name if it has none.
    gate: String,
    /// The element: `x :=`, `guard 2`.
    what: String,
}

fn rule_of(system: &System, e: ElementId) -> Option<RuleElement> {
    let info = &system.elements()[e.index()];
    let (ElementName::OfTransition(t, _) | ElementName::OfVar(t, _) | ElementName::OfParam(t, _)) =
        info.name
    else {
        return None;
    };
    let t = system.transition(t);
    let whole = system.element_name(e);
    let what = match info.name {
        ElementName::OfVar(_, var) if info.kind == ElementKind::Assignment => {
            format!("{} :=", written_var(system, var))
        }
        _ => whole.strip_prefix(t.name.as_str()).unwrap_or(&whole).trim_start().to_string(),
    };
    let gate = t.gate.map_or_else(|| t.name.clone(), |g| system.gates()[g.index()].clone());
    Some(RuleElement { transition: t.name.clone(), gate, what })
}

/// A name without the instance in front.
fn plain(name: &str) -> &str {
    match name.split_once(' ') {
        // The variable of an assignment.
        Some((variable, _)) if name.ends_with(" :=") => {
            &name[variable.rfind('.').map_or(0, |dot| dot + 1)..]
        }
        _ => name,
    }
}

/// By constraint of a start: its text without the names of instances, or its number among those of
/// its instance that have the same place in the source. Empty if no instance has variables.
fn start_texts(system: &System) -> FxHashMap<ElementId, String> {
    if !system.vars().iter().any(|v| v.name.contains('.')) {
        return FxHashMap::default();
    }
    let constraints = system.starts().iter().flat_map(|s| &s.constraint);
    let mut texts: FxHashMap<ElementId, String> = constraints
        .map(|e| {
            let text = system.pool().display_bounded(e.term.term(), MAX_START_TEXT).to_string();
            (e.id, without_instances(&text))
        })
        .filter(|(_, text)| text.chars().count() < MAX_START_TEXT)
        .collect();
    if system.instances().is_empty() {
        return texts;
    }
    // A constraint such as `token == (id == 0)` has another text in each instance.
    for instances in constraints_by_place(system).into_values() {
        let mut counts = instances.iter().map(|(_, ids)| ids.len());
        let count = counts.next().unwrap_or_default();
        let is_known = instances.iter().all(|((_, instance), _)| instance.is_some());
        if is_known && counts.all(|n| n == count) {
            for (_, ids) in instances {
                texts.extend(ids.into_iter().enumerate().map(|(n, id)| (id, format!("#{n}"))));
            }
        }
    }
    texts
}

/// A start, and an instance of the composition; `None` if a constraint is not about one instance.
type StartOfInstance<'s> = (usize, Option<&'s str>);

/// By place in the source: the constraints of starts there, by start and instance.
fn constraints_by_place(
    system: &System,
) -> FxHashMap<Span, Vec<(StartOfInstance<'_>, Vec<ElementId>)>> {
    let mut places: FxHashMap<Span, Vec<(StartOfInstance<'_>, Vec<ElementId>)>> =
        FxHashMap::default();
    for (number, start) in system.starts().iter().enumerate() {
        for e in &start.constraint {
            let Some(span) = system.elements()[e.id.index()].span else { continue };
            let key = (number, instance_of(system, e.term.term()));
            let place = places.entry(span).or_default();
            match place.iter_mut().find(|(known, _)| *known == key) {
                Some((_, ids)) => ids.push(e.id),
                None => place.push((key, vec![e.id])),
            }
        }
    }
    places
}

/// The instance that all variables of a formula belong to.
fn instance_of(system: &System, formula: TermId) -> Option<&str> {
    let pool = system.pool();
    let mut instances = pool.free_symbols(&[formula]).into_iter().map(|s| {
        let (path, _) = pool.symbol(s).name.rsplit_once('.')?;
        Some(path.split_once('.').map_or(path, |(instance, _)| instance))
    });
    let first = instances.next()??;
    instances.all(|other| other == Some(first)).then_some(first)
}

/// Longer constraints of starts are not compared.
const MAX_START_TEXT: usize = 1_000;

/// A text in which every name has no instance in front, such as `a.` or `a[2].`.
fn without_instances(text: &str) -> String {
    let text = without_indices(text);
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#');
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| in_name(c) != in_name(first)).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_name = first.is_alphabetic() || first == '_';
        out.push_str(if is_name { word.rsplit('.').next().unwrap_or(word) } else { word });
        rest = &rest[end..];
    }
    out
}

/// A text in which instances of families, such as `a[2].x`, have no index.
fn without_indices(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let after = rest[open + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let is_instance = after.len() < rest.len() - open - 1 && after.starts_with("].");
        out.push_str(&rest[..if is_instance { open } else { open + 1 }]);
        rest = if is_instance { &after[1..] } else { &rest[open + 1..] };
    }
    out + rest
}

impl Draft {
    /// Names a part of several transitions after their gate, without the instance if it belongs to
    /// several.
    fn name_rule(&mut self) {
        if self.elements.len() < 2 || self.rules.is_empty() {
            return;
        }
        let gates: BTreeSet<&str> = self.rules.iter().map(|(gate, _)| gate.as_str()).collect();
        let short = |gate: &str| gate.rsplit('.').next().unwrap_or(gate).to_string();
        let (owner, names) = if gates.len() == 1 {
            let (gate, what) = &self.rules[0];
            (gate.clone(), vec![format!("{gate} {what}")])
        } else {
            let names = self.rules.iter().map(|(g, what)| format!("{} {}", short(g), plain(what)));
            let names: BTreeSet<String> = names.collect();
            let owners: BTreeSet<String> = gates.iter().map(|gate| short(gate)).collect();
            (owners.into_iter().collect::<Vec<_>>().join(", "), names.into_iter().collect())
        };
        (self.owner, self.names) = (owner, names);
    }
}

/// The instance of a stream: `top.counter#1` of `top.counter#1.n`.
fn instance(stream: &str) -> &str {
    match stream.rfind('#') {
        Some(mark) => {
            let end = stream[mark..].find('.').map_or(stream.len(), |dot| mark + dot);
            &stream[..end]
        }
        None => "",
    }
}

/// The node of a stream, and its name there: `counter` and `counter.n` of `top.counter#1.n`.
fn written_name(stream: &str, root: &str) -> (String, String) {
    let path = instance(stream);
    if path.is_empty() {
        return (root.to_string(), stream.to_string());
    }
    let last = path.rsplit_once('.').map_or(path, |(_, last)| last);
    let node = last.rsplit_once('#').map_or(last, |(node, _)| node);
    let own = stream[path.len()..].trim_start_matches('.');
    (node.to_string(), if own.is_empty() { node.to_string() } else { format!("{node}.{own}") })
}

#[cfg(test)]
mod tests {
    use super::without_instances;

    #[test]
    fn constraints_of_instances_differ_by_the_instances_only() {
        assert_eq!(without_instances("a[0].x == 0 and b.y"), "x == 0 and y");
        assert_eq!(without_instances("ring[12].next.z <= q[3]"), "z <= q[3]");
        assert_eq!(without_instances("q[3] + [4].x"), "q[3] + .x");
    }
}
