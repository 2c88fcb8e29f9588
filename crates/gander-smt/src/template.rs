//! Formulas compiled once to SMT-LIB text with holes.
//!
//! A [`Template`] is a formula over step variables. Instantiating it at step `k` is concatenation: the text between
//! the holes is fixed, the holes are filled with `k + offset`. Shared subterms become definitions with a number of
//! their own per instance, so text is linear in the number of distinct subterms, never in the size of the tree.

use std::fmt::Write as _;

use gander_term::{EnumId, Features, Sort, SymbolId};

/// Where a symbol stands when a formula is instantiated at step `k`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// The same symbol at every step.
    Rigid,
    /// The copy of `symbol` at step `k + offset`: for a primed variable, its unprimed one and 1.
    At {
        /// Whose copies they are.
        symbol: SymbolId,
        /// Distance from the step of the instance.
        offset: u32,
    },
}

/// What fills a hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hole {
    /// The step of the instance plus this.
    Step(u32),
    /// The number of the instance.
    Instance,
}

/// Text with holes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holed {
    text: String,
    holes: Vec<(usize, Hole)>,
}

impl Holed {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn push_hole(&mut self, hole: Hole) {
        self.holes.push((self.text.len(), hole));
    }

    /// Fixed text at the end, for literals that are written into it.
    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    pub(crate) fn append(&mut self, other: &Holed) {
        let shift = self.text.len();
        self.text.push_str(&other.text);
        self.holes.extend(other.holes.iter().map(|&(at, hole)| (at + shift, hole)));
    }

    /// Writes the text with its holes filled.
    pub(crate) fn fill(&self, out: &mut String, step: u32, instance: u64) {
        let mut from = 0;
        for &(at, hole) in &self.holes {
            out.push_str(&self.text[from..at]);
            // Writing to a string cannot fail.
            let _ = match hole {
                Hole::Step(offset) => write!(out, "{}", u64::from(step) + u64::from(offset)),
                Hole::Instance => write!(out, "{instance}"),
            };
            from = at;
        }
        out.push_str(&self.text[from..]);
    }
}

/// A symbol that an instance needs declared.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub symbol: SymbolId,
    pub sort: Sort,
    /// `None`: rigid.
    pub offset: Option<u32>,
    pub name: Holed,
}

/// A power whose exponent may be beyond the cases that are written out.
#[derive(Clone, Debug)]
pub(crate) struct PowerGuard {
    /// True in a model that uses the value beyond.
    pub beyond: Holed,
}

/// A formula, compiled for the solver of one session; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) session: u64,
    pub(crate) sort: Sort,
    pub(crate) uses: Vec<Use>,
    pub(crate) enums: Vec<EnumId>,
    pub(crate) definitions: Holed,
    pub(crate) root: Holed,
    pub(crate) powers: Vec<PowerGuard>,
    pub(crate) unsupported: Option<String>,
    pub(crate) features: Features,
}

impl Template {
    /// What the formula needs of a solver.
    pub fn features(&self) -> Features {
        self.features
    }
}
