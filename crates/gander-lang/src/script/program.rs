//! What a program allows its processes: the control graph of a script.
//!
//! A *configuration* says in which of its states each process is and how far each operator of the program has come. A
//! sequence `P >: R` begins with `P`; a rule of `R` may be taken once no rule of `P` is enabled, and from then on only
//! `R` moves. A choice `P | Q` is made by the first rule that is taken. Neither costs a step of its own.

use super::check::Instance;
use super::syntax::Together;
use rustc_hash::FxHashMap;

/// A part of a program; numbers in `Both` are positions of other parts, which come before it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leaf {
    /// An instance, by its index.
    Instance(usize),
    Both(Together, usize, usize),
}

/// A program: a tree of operators over instances.
#[derive(Debug, Default)]
pub(super) struct Program {
    parts: Vec<Leaf>,
    /// The operator that each part belongs to, and whether it is its right side.
    parent: Vec<Option<(usize, bool)>>,
    /// The part of each instance.
    leaf: Vec<usize>,
}

/// A node of the control graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Configuration {
    /// By part: 0, or for a sequence 1 once its right side has moved, for a choice 1 or 2 once it is made.
    pub phase: Vec<u8>,
    /// By instance: its state.
    pub at: Vec<u16>,
}

/// A rule that may be taken from a configuration, if its guard holds.
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
    /// How many of them are where runs begin; these come first.
    pub starts: usize,
    pub moves: Vec<Move>,
}

impl Program {
    pub(super) fn new(parts: Vec<Leaf>) -> Program {
        let mut parent = vec![None; parts.len()];
        let mut leaf = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            match part {
                Leaf::Instance(instance) => {
                    leaf.resize(leaf.len().max(instance + 1), 0);
                    leaf[*instance] = i;
                }
                Leaf::Both(_, a, b) => {
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
                Leaf::Instance(i) => found.push(i),
                Leaf::Both(_, a, b) => stack.extend([b, a]),
            }
        }
        found
    }

    /// What the program says to a rule of an instance: the phases behind it and the parts that must not be able to move.
    /// Operators above `below` are not asked. `None` if the instance may not move.
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
            if let Leaf::Both(how, left, _) = self.parts[up] {
                match (how, phase[up], right) {
                    (Together::Parallel, _, _) | (Together::Sequence, 0, false) | (Together::Sequence, 1, true) => {}
                    (Together::Sequence, 0, true) => {
                        blockers.push(left);
                        phase[up] = 1;
                        // How far the left side has come makes no difference any more.
                        let mut stack = vec![left];
                        while let Some(top) = stack.pop() {
                            phase[top] = 0;
                            if let Leaf::Both(_, a, b) = self.parts[top] {
                                stack.extend([a, b]);
                            }
                        }
                    }
                    (Together::Choice, 0, _) => phase[up] = 1 + u8::from(right),
                    (Together::Choice, 1, false) | (Together::Choice, 2, true) => {}
                    _ => return None,
                }
            }
            at = up;
        }
        Some((phase, blockers))
    }

    /// What people call a configuration.
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
                Leaf::Instance(i) => (place(i), vec![i]),
                Leaf::Both(how, a, b) => {
                    let both = |sign: &str| {
                        let seen = names[a].1.iter().chain(&names[b].1).copied().collect();
                        (format!("{}{sign}{}", names[a].0, names[b].0), seen)
                    };
                    match (how, c.phase[p]) {
                        (Together::Parallel, _) => both(" || "),
                        (Together::Sequence, 0) | (Together::Choice, 1) => names[a].clone(),
                        (Together::Choice, 0) => both(" | "),
                        _ => names[b].clone(),
                    }
                }
            };
            names.push(named);
        }
        let Some((mut name, seen)) = names.pop() else { return "main".to_string() };
        // Processes that do not show may still differ in their states.
        for (i, instance) in instances.iter().enumerate() {
            if !instance.block.states.is_empty() && !seen.contains(&i) {
                name.push_str(&format!(" ({})", place(i)));
            }
        }
        if instances.len() > 1 && instances.iter().all(|i| i.block.states.is_empty()) && self.is_parallel() {
            return "main".to_string();
        }
        name
    }

    fn is_parallel(&self) -> bool {
        self.parts.iter().all(|p| matches!(p, Leaf::Instance(_) | Leaf::Both(Together::Parallel, _, _)))
    }

    /// The control graph, unless it is larger than `limit` nodes and steps.
    pub(super) fn control(&self, instances: &[Instance<'_>], limit: usize) -> Option<Control> {
        let mut configurations = vec![Configuration { phase: vec![0; self.parts.len()], at: Vec::new() }];
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
                        let state = |name: &str| instance.block.states.iter().position(|s| s.text == name);
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
                    moves.push(Move { source: next, target, instance: i, rule: r, blockers: blockers.clone() });
                }
            }
            next += 1;
        }
        Some(Control { configurations, starts, moves })
    }
}
