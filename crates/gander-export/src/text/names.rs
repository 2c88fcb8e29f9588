//! Allocates names that a language accepts.

use rustc_hash::FxHashSet;

/// An allocator of distinct names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: FxHashSet<String>,
}

impl Names {
    /// An allocator that avoids these reserved words.
    pub(crate) fn without(words: &[&str]) -> Names {
        Names { taken: words.iter().map(|w| w.to_string()).collect() }
    }

    /// Adds reserved words.
    pub(crate) fn reserve(&mut self, words: &[&str]) {
        self.taken.extend(words.iter().map(|w| w.to_string()));
    }

    /// A new name of letters, digits and underscores, similar to the wanted one.
    pub(crate) fn fit(&mut self, wanted: &str) -> String {
        let mut plain: String = wanted
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .collect();
        if !plain.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            plain.insert(0, '_');
        }
        if plain.chars().all(|c| c == '_') {
            plain.push('x');
        }
        let mut name = plain.clone();
        let mut n = 1;
        while !self.taken.insert(name.clone()) {
            n += 1;
            name = format!("{plain}_{n}");
        }
        name
    }
}

/// A comment line for each omitted claim.
pub(crate) fn missing(comment: &str, claims: &[String]) -> String {
    let line = |claim: &String| {
        format!("{comment} left out: the claim `{}`\n", claim.replace(['\n', '\r'], " "))
    };
    claims.iter().map(line).collect()
}

/// A comment line for each name that differs from the original.
pub(crate) fn legend(comment: &str, pairs: &[(String, String)]) -> String {
    let changed: Vec<String> = pairs
        .iter()
        .filter(|(new, old)| new != old)
        .map(|(new, old)| format!("{comment} {new} is `{}`\n", old.replace(['\n', '\r'], " ")))
        .collect();
    changed.concat()
}
