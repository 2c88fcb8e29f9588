//! The control graph of a script: the order in which its program lets processes move.
//!
//! A *configuration* consists of the state of each process and the progress of each operator of the
//! program. A sequence `P >: R` starts with `P`; a rule of `R` may be taken once no rule of `P` is
//! enabled, and from then on only `R` moves. The first rule that is taken makes a choice `P | Q`.
//! Neither operator takes a step by itself.

use super::check::Instance;
use super::syntax::Composition;
use rustc_hash::FxHashMap;

/// A part of a program; numbers in `Both` are positions of other parts, which come earlier.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// An instance, by its index.
    Instance(usize),
    Both(Composition, usize, usize),
}

/// A program: a tree of operators over instances.
#[derive(Debug, Default)]
pub(super) struct Program {
    parts: Vec<Part>,
    /// For each part, the operator above it, and whether it is the right operand.
    parent: Vec<Option<(usize, bool)>>,
    /// The part of each instance.
    leaf: Vec<usize>,
}

/// A node of the control graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Configuration {
    /// By part: 0; or 1 for a sequence whose right side has moved; or 1 or 2 for a choice that is
    /// made.
    pub phase: Vec<u8>,
    /// By instance: its state.
    pub at: Vec<u16>,
}

/// A rule that can be taken from a configuration if its guard holds.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub source: usize,
    pub target: usize,
    pub instance: usize,
    /// The index of the rule in the instance's block.
    pub rule: usize,
    /// Parts of the program in which no rule may be enabled.
    pub blockers: Vec<usize>,
}

/// The control graph of a program.
#[derive(Debug)]
pub(super) struct Control {
    pub configurations: Vec<Configuration>,
    /// The number of initial configurations; these come first.
    pub starts: usize,
    pub moves: Vec<Move>,
}

impl Program {
    pub(super) fn new(parts: Vec<Part>) -> Program {
        let mut parent = vec![None; parts.len()];
        let mut leaf = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            match part {
                Part::Instance(instance) => {
                    leaf.resize(leaf.len().max(instance + 1), 0);
                    leaf[*instance] = i;
                }
                Part::Both(_, a, b) => {
                    parent[*a] = Some((i, false));
                    parent[*b] = Some((i, true));
                }
            }
        }
        Program { parts, parent, leaf }
    }

    /// The instances below a part.
    pub(super) fn instances_of(&self, part: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut stack = vec![part];
        while let Some(top) = stack.pop() {
            match self.parts[top] {
                Part::Instance(i) => found.push(i),
                Part::Both(_, a, b) => stack.extend([b, a]),
            }
        }
        found
    }

    /// The effect of the program on a move of an instance: the phases after it, and the parts that
    /// must not be able to move. Operators above `below` are ignored. `None` if the instance may
    /// not move.
    pub(super) fn may_move(
        &self,
        from: &Configuration,
        instance: usize,
        below: Option<usize>,
    ) -> Option<(Vec<u8>, Vec<usize>)> {
        let mut phase = from.phase.clone();
        let mut blockers = Vec::new();
        let mut at = self.leaf[instance];
        while Some(at) != below
            && let Some((up, right)) = self.parent[at]
        {
            if let Part::Both(how, left, _) = self.parts[up] {
                match (how, phase[up], right) {
                    (Composition::Parallel, _, _)
                    | (Composition::Sequence, 0, false)
                    | (Composition::Sequence, 1, true) => {}
                    (Composition::Sequence, 0, true) => {
                        blockers.push(left);
                        phase[up] = 1;
                        // The progress of the left side no longer matters.
                        let mut stack = vec![left];
                        while let Some(top) = stack.pop() {
                            phase[top] = 0;
                            if let Part::Both(_, a, b) = self.parts[top] {
                                stack.extend([a, b]);
                            }
                        }
                    }
                    (Composition::Choice, 0, _) => phase[up] = 1 + u8::from(right),
                    (Composition::Choice, 1, false) | (Composition::Choice, 2, true) => {}
                    _ => return None,
                }
            }
            at = up;
        }
        Some((phase, blockers))
    }

    /// The name of a configuration.
    pub(super) fn describe(&self, instances: &[Instance<'_>], c: &Configuration) -> String {
        let place = |i: usize| {
            let state = instances[i].block.states.get(c.at[i] as usize).map(|s| s.text.as_str());
            match (instances[i].name.as_str(), state) {
                ("", Some(state)) => state.to_string(),
                ("", None) => "main".to_string(),
                (name, Some(state)) => format!("{name}@{state}"),
                (name, None) => name.to_string(),
            }
        };
        let mut names: Vec<(String, Vec<usize>)> = Vec::new();
        for (p, part) in self.parts.iter().enumerate() {
            let named = match *part {
                Part::Instance(i) => (place(i), vec![i]),
                Part::Both(how, a, b) => {
                    let both = |sign: &str| {
                        let seen = names[a].1.iter().chain(&names[b].1).copied().collect();
                        (format!("{}{sign}{}", names[a].0, names[b].0), seen)
                    };
                    match (how, c.phase[p]) {
                        (Composition::Parallel, _) => both(" || "),
                        (Composition::Sequence, 0) | (Composition::Choice, 1) => names[a].clone(),
                        (Composition::Choice, 0) => both(" | "),
                        _ => names[b].clone(),
                    }
                }
            };
            names.push(named);
        }
        let Some((mut name, seen)) = names.pop() else { return "main".to_string() };
        // Add the states of processes that the name does not show yet.
        for (i, instance) in instances.iter().enumerate() {
            if !instance.block.states.is_empty() && !seen.contains(&i) {
                name.push_str(&format!(" ({})", place(i)));
            }
        }
        if instances.len() > 1
            && instances.iter().all(|i| i.block.states.is_empty())
            && self.is_parallel()
        {
            return "main".to_string();
        }
        name
    }

    fn is_parallel(&self) -> bool {
        self.parts
            .iter()
            .all(|p| matches!(p, Part::Instance(_) | Part::Both(Composition::Parallel, _, _)))
    }

    /// The control graph, unless it has more than `limit` nodes and steps.
    pub(super) fn control(&self, instances: &[Instance<'_>], limit: usize) -> Option<Control> {
        let mut configurations =
            vec![Configuration { phase: vec![0; self.parts.len()], at: Vec::new() }];
        for instance in instances {
            configurations = configurations
                .iter()
                .flat_map(|c| {
                    instance.starts.iter().map(|s| {
                        let at = c.at.iter().copied().chain([*s]).collect();
                        Configuration { phase: c.phase.clone(), at }
                    })
                })
                .take(limit + 1)
                .collect();
        }
        let mut index: FxHashMap<Configuration, usize> =
            configurations.iter().enumerate().map(|(i, c)| (c.clone(), i)).collect();
        let starts = configurations.len();
        let mut moves = Vec::new();
        let mut next = 0;
        while next < configurations.len() {
            if configurations.len() + moves.len() > limit {
                return None;
            }
            let here = configurations[next].clone();
            for (i, instance) in instances.iter().enumerate() {
                let Some((phase, blockers)) = self.may_move(&here, i, None) else { continue };
                for (r, rule) in instance.block.rules.iter().enumerate() {
                    let mut at = here.at.clone();
                    if let Some((from, to)) = &rule.states {
                        let state =
                            |name: &str| instance.block.states.iter().position(|s| s.text == name);
                        if state(&from.text) != Some(here.at[i] as usize) {
                            continue;
                        }
                        at[i] = state(&to.text).unwrap_or_default() as u16;
                    }
                    let reached = Configuration { phase: phase.clone(), at };
                    let target = *index.entry(reached.clone()).or_insert_with(|| {
                        configurations.push(reached);
                        configurations.len() - 1
                    });
                    moves.push(Move {
                        source: next,
                        target,
                        instance: i,
                        rule: r,
                        blockers: blockers.clone(),
                    });
                }
            }
            next += 1;
        }
        Some(Control { configurations, starts, moves })
    }
}
