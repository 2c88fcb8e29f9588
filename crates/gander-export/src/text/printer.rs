//! Prints terms without recursion. Shared and long subterms are defined once and referred to by
//! name.

use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::FxHashMap;

use crate::Refusal;

/// How a language writes terms.
pub(crate) trait Style {
    /// The text of a leaf, or of an operator applied to printed arguments.
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal>;
    /// The definition of a name.
    fn define(&self, name: &str, pool: &Pool, sort: Sort, body: &str) -> String;
    /// The prefix of names of definitions.
    fn prefix(&self) -> String;
    /// True if the language has definitions.
    fn defines(&self) -> bool {
        true
    }
}

/// Subterms with a longer text get a definition, in bytes.
const LONG: usize = 400;
/// Formulas with a longer text are refused, in bytes.
const TOO_LONG: usize = 4 << 20;

/// Prints terms in a style.
pub(crate) struct Printer<'a, S> {
    pub style: &'a S,
    texts: FxHashMap<TermId, String>,
    uses: FxHashMap<TermId, usize>,
    /// Definitions not yet taken.
    pub definitions: String,
    count: usize,
}

impl<'a, S: Style> Printer<'a, S> {
    pub(crate) fn new(style: &'a S) -> Printer<'a, S> {
        Printer {
            style,
            texts: FxHashMap::default(),
            uses: FxHashMap::default(),
            definitions: String::new(),
            count: 0,
        }
    }

    /// The definitions made since the last call.
    pub(crate) fn take_definitions(&mut self) -> String {
        std::mem::take(&mut self.definitions)
    }

    /// The text of a term; the definitions it needs are added to `definitions`.
    pub(crate) fn text(&mut self, pool: &Pool, root: TermId) -> Result<String, Refusal> {
        let order = pool.postorder(&[root]);
        for &t in &order {
            if matches!(pool.op(t), Op::Forall | Op::Exists) {
                return Err(Refusal(
                    "a formula with quantifiers cannot be written in this language".to_string(),
                ));
            }
            for &a in pool.args(t) {
                *self.uses.entry(a).or_default() += 1;
            }
        }
        for t in order {
            if self.texts.contains_key(&t) {
                continue;
            }
            let args: Vec<&str> = pool.args(t).iter().map(|a| self.texts[a].as_str()).collect();
            let mut text = self.style.write(pool, t, &args)?;
            let shared = self.uses.get(&t).copied().unwrap_or(0) > 1 && text.len() > 24;
            if self.style.defines()
                && t != root
                && !pool.op(t).is_leaf()
                && (shared || text.len() > LONG)
            {
                self.count += 1;
                let name = format!("{}{}", self.style.prefix(), self.count);
                let line = self.style.define(&name, pool, pool.sort(t), &text);
                self.definitions.push_str(&line);
                text = name;
            }
            if text.len() > TOO_LONG {
                return Err(Refusal(
                    "a formula is too long to be written in this language".to_string(),
                ));
            }
            self.texts.insert(t, text);
        }
        Ok(self.texts[&root].clone())
    }
}
