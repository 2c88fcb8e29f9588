//! The control graph as plain data, and how its labels break into lines.

use unicode_width::UnicodeWidthStr;

/// A node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GraphNodeView {
    /// The name.
    pub name: String,
    /// Runs may end here.
    pub is_final: bool,
    /// Invariants that the author wrote.
    pub invariants: Vec<String>,
    /// Further words about it.
    pub notes: Vec<String>,
}

/// A start transition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StartView {
    /// The name; empty if it is not shown.
    pub name: String,
    /// Index of the node that it enters.
    pub target: usize,
    /// What holds at the start.
    pub constraint: Vec<String>,
    /// The starts of the system that it is part of, by their index.
    pub starts: Vec<usize>,
}

/// A transition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EdgeView {
    /// Index of the node that it leaves.
    pub source: usize,
    /// Index of the node that it enters.
    pub target: usize,
    /// The gate or name, with parameters.
    pub label: String,
    /// Conjuncts of the guard.
    pub guard: Vec<String>,
    /// Assignments and constraints.
    pub effect: Vec<String>,
    /// The transitions of the system that take it, by their index.
    pub transitions: Vec<usize>,
}

/// A control graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GraphView {
    /// The name of the specification.
    pub name: String,
    /// Nodes.
    pub nodes: Vec<GraphNodeView>,
    /// Start transitions.
    pub starts: Vec<StartView>,
    /// Transitions.
    pub edges: Vec<EdgeView>,
}

/// A run on a control graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GraphPathView {
    /// Index of its start transition.
    pub start: usize,
    /// Steps, by their number, and the transition that each takes, by its index in the system.
    pub steps: Vec<(u64, usize)>,
}

/// What a line of a label is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineKind {
    /// The gate or name.
    Title,
    /// Guard, effect, constraint.
    Body,
}

/// A line of a label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    pub kind: LineKind,
    pub text: String,
}

const WIDEST_LINE: usize = 40;

fn lines_of(title: &str, body: impl IntoIterator<Item = String>) -> Vec<Line> {
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.extend(wrap(title).into_iter().map(|text| Line { kind: LineKind::Title, text }));
    }
    for text in body {
        lines.extend(wrap(&text).into_iter().map(|text| Line { kind: LineKind::Body, text }));
    }
    lines
}

impl EdgeView {
    pub(crate) fn lines(&self) -> Vec<Line> {
        let guard = self
            .guard
            .iter()
            .enumerate()
            .map(|(i, g)| format!("{} {g}", if i == 0 { "when" } else { " and" }));
        lines_of(&self.label, guard.chain(self.effect.iter().cloned()))
    }
}

impl StartView {
    pub(crate) fn lines(&self) -> Vec<Line> {
        lines_of(&self.name, self.constraint.iter().cloned())
    }
}

impl GraphNodeView {
    pub(crate) fn lines(&self) -> Vec<Line> {
        let invariants = self.invariants.iter().map(|i| format!("invariant {i}"));
        lines_of(&self.name, self.notes.iter().cloned().chain(invariants))
    }
}

/// Breaks a text at spaces into lines of moderate width; continued lines are indented.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for (i, word) in text.split(' ').enumerate() {
        if !line.trim().is_empty() && line.width() + 1 + word.width() > WIDEST_LINE {
            lines.push(std::mem::replace(&mut line, "    ".to_string()));
        } else if i > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_at_spaces() {
        let lines = wrap("balance + amount <= limit + overdraft + bonus and status == Open");
        assert_eq!(
            lines,
            ["balance + amount <= limit + overdraft +", "    bonus and status == Open"]
        );
        assert_eq!(wrap(&"x".repeat(60)), ["x".repeat(60)]);
        assert_eq!(wrap(" and x"), [" and x"]);
    }
}
