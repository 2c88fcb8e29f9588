//! Formulas compiled once to SMT-LIB text with holes.
//!
//! A [`Template`] is a formula over step variables. Instantiating it at step `k` is concatenation:
//! the text between the holes is fixed, the holes are filled with `k + offset`. Shared subterms
//! become definitions that are numbered by instance, so text is linear in the number of distinct
//! subterms.

use std::fmt::Write as _;
use std::sync::Arc;

use gander_term::{EnumId, Features, Sort, SymbolId};

/// What a symbol becomes when a formula is instantiated at step `k`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// The same symbol at every step.
    Rigid,
    /// The copy of `symbol` at step `k + offset`: for a primed variable, its unprimed one and 1.
    At {
        /// The symbol.
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

    /// The text, for appending fixed text.
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

/// A power whose exponent may be beyond the written cases.
#[derive(Clone, Debug)]
pub(crate) struct PowerGuard {
    /// True in a model in which the exponent is beyond the cases.
    pub beyond: Holed,
}

/// The identity of a session; a template belongs to the session that compiled it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionId(Arc<()>);

impl PartialEq for SessionId {
    fn eq(&self, other: &SessionId) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SessionId {}

/// A formula, compiled for the solver of one session; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) session: SessionId,
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
    /// The features of the formula.
    pub fn features(&self) -> Features {
        self.features
    }
}
