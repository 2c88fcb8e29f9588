//! Questions about an [`Outline`]: pure functions.

use std::fmt;

use super::build::{is_inside, owner};
use super::{CallSite, Class, Definition, DefinitionKind, Outline, TokenRole};
use crate::Span;
use crate::language::Language;

/// Names that completion offers at most.
const MAX_COMPLETIONS: usize = 500;

/// A name or word to complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The text to insert.
    pub label: String,
    /// What it stands for; none for a word of the language.
    pub kind: Option<DefinitionKind>,
    /// More about it.
    pub detail: String,
}

/// The call around a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignatureHelp {
    /// The whole signature.
    pub label: String,
    /// The parameters, which are parts of the label.
    pub parameters: Vec<String>,
    /// The parameter at the place.
    pub active: usize,
}

/// Why a name cannot be changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RenameError {
    /// There is no name of this text there.
    NoName,
    /// The new name is not a name of the language.
    NotAName,
    /// The new name is a word of the language.
    Reserved,
    /// With the new name, a use would refer to something else, as far as the outline tells: it
    /// cannot always tell a field from a variable of the same name.
    Captured,
}

impl fmt::Display for RenameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RenameError::NoName => "there is no name here that this text defines",
            RenameError::NotAName => "a name is a letter or `_`, then letters, digits and `_`",
            RenameError::Reserved => "this is a word of the language",
            RenameError::Captured => {
                "afterwards some name would refer to something else, or what it refers to is not \
                 clear because a field has the name of something else"
            }
        })
    }
}

impl std::error::Error for RenameError {}

fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}

impl Outline {
    /// The definition whose name is at a place: at the definition itself, or at a use.
    pub fn definition_at(&self, offset: u32) -> Option<usize> {
        if let Some(used) = self.use_at(offset) {
            return self.uses[used].definition;
        }
        self.definitions.iter().position(|d| d.is_named && holds(d.span, offset))
    }

    /// The use of a name at a place.
    fn use_at(&self, offset: u32) -> Option<usize> {
        let behind = self.uses.partition_point(|u| u.span.start <= offset);
        // The use that ends at the place counts, too, unless another begins there.
        (behind.saturating_sub(2)..behind).rev().find(|&u| holds(self.uses[u].span, offset))
    }

    /// The name at a place, whatever it refers to.
    pub fn name_span_at(&self, offset: u32) -> Option<Span> {
        if let Some(used) = self.use_at(offset) {
            return Some(self.uses[used].span);
        }
        let named = self.definitions.iter().filter(|d| d.is_named);
        named.map(|d| d.span).find(|span| holds(*span, offset))
    }

    /// Every place of the name of a definition, in the order of the text; the definitions of its
    /// group among them.
    pub fn occurrences(&self, definition: usize) -> Vec<Span> {
        let Some(group) = self.definitions.get(definition).map(|d| d.group) else {
            return Vec::new();
        };
        let same = self.definitions.iter().filter(|d| d.group == group && d.is_named);
        let used = self
            .uses
            .iter()
            .filter(|u| u.definition.is_some_and(|d| self.definitions[d].group == group));
        let mut all: Vec<Span> = same.map(|d| d.span).chain(used.map(|u| u.span)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The definitions of a group.
    pub fn group(&self, definition: usize) -> impl Iterator<Item = &Definition> {
        let group = self.definitions.get(definition).map(|d| d.group);
        self.definitions.iter().filter(move |d| Some(d.group) == group)
    }

    /// The places to replace by a new name. The text with these replaced is read again: the edit is
    /// refused if a name would then refer to another definition.
    pub fn rename(
        &self,
        language: &Language,
        text: &str,
        offset: u32,
        new_name: &str,
    ) -> Result<Vec<Span>, RenameError> {
        let definition = self.definition_at(offset).ok_or(RenameError::NoName)?;
        let mut letters = new_name.chars();
        let is_name = letters.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c))
            && letters.all(unicode_ident::is_xid_continue);
        if !is_name {
            return Err(RenameError::NotAName);
        }
        if self.keywords.contains(&new_name) {
            return Err(RenameError::Reserved);
        }
        let places = self.occurrences(definition);
        let mut changed = String::with_capacity(text.len());
        let mut at = 0;
        for place in &places {
            changed.push_str(text.get(at..place.start as usize).unwrap_or(""));
            changed.push_str(new_name);
            at = place.end as usize;
        }
        changed.push_str(text.get(at..).unwrap_or(""));
        let after = super::outline(language, &changed);
        let places_of = |outline: &Outline| -> Vec<Option<usize>> {
            outline.uses.iter().map(|u| Some(outline.definitions[u.definition?].group)).collect()
        };
        let groups = |outline: &Outline| -> Vec<usize> {
            outline.definitions.iter().map(|d| d.group).collect()
        };
        let is_same = places_of(self) == places_of(&after) && groups(self) == groups(&after);
        if is_same { Ok(places) } else { Err(RenameError::Captured) }
    }

    /// What may be written at a place: behind a dot, the members of what stands before it.
    pub fn complete(&self, text: &str, offset: u32) -> Vec<Completion> {
        let before = text.get(..offset as usize).unwrap_or("");
        if self.is_in_comment(offset) {
            return Vec::new();
        }
        let prefix = before.len() - before.trim_end_matches(is_name_letter).len();
        let stem = &before[..before.len() - prefix];
        let mut found = Vec::new();
        if let Some(head) = stem.strip_suffix('.').filter(|head| !head.ends_with('.')) {
            let head = head.trim_end_matches(']').trim_end();
            let head = if stem.ends_with("].") {
                head.rfind('[').map_or(head, |at| &head[..at])
            } else {
                head
            };
            let start = head.trim_end_matches(is_name_letter).len();
            let of = self.visible(offset).find(|&d| self.definitions[d].name == head[start..]);
            let Some(of) = of else { return found };
            let owner = owner(&self.definitions, of);
            for (i, d) in self.definitions.iter().enumerate() {
                if d.is_named && d.group == i && is_inside(&self.definitions, i, owner) {
                    found.push(completion(d));
                }
            }
            return found;
        }
        let mut visible: Vec<usize> = self.visible(offset).collect();
        visible.sort_by_key(|&i| {
            let d = &self.definitions[i];
            (d.scope.end - d.scope.start, i)
        });
        let mut seen = std::collections::BTreeSet::new();
        for i in visible.into_iter().take(MAX_COMPLETIONS) {
            let d = &self.definitions[i];
            if d.span.end != offset && seen.insert(d.name.as_str()) {
                found.push(completion(d));
            }
        }
        let words = self.keywords.iter().map(|word| Completion {
            label: word.to_string(),
            kind: None,
            detail: String::new(),
        });
        found.extend(words);
        found
    }

    fn is_in_comment(&self, offset: u32) -> bool {
        let behind = self.tokens.partition_point(|t| t.span.start < offset);
        behind.checked_sub(1).is_some_and(|at| {
            let token = self.tokens[at];
            token.role == TokenRole::Comment && offset <= token.span.end
        })
    }

    /// The named definitions that are visible at a place.
    fn visible(&self, offset: u32) -> impl Iterator<Item = usize> {
        let named = self.definitions.iter().enumerate();
        let named = named.filter(move |(i, d)| {
            let is_seen = d.is_named && d.group == *i && holds(d.scope, offset);
            is_seen && !matches!(d.kind.class(), Class::Field | Class::Claim)
        });
        named.map(|(i, _)| i)
    }

    /// The call around a place, with the parameter that the place is in.
    pub fn signature_at(&self, text: &str, offset: u32) -> Option<SignatureHelp> {
        let inside = |call: &&CallSite| {
            let is_closed = text.get(..call.arguments.end as usize)?.ends_with(')');
            let end = call.arguments.end - u32::from(is_closed);
            (call.arguments.start < offset && offset <= end).then_some(())
        };
        let calls = self.calls.iter().filter(|call| inside(call).is_some());
        let call = calls.min_by_key(|call| call.arguments.end - call.arguments.start)?;
        let definition = &self.definitions[call.definition?];
        let parameters = definition.parameters.clone()?;
        let written = text.get(call.arguments.start as usize + 1..offset as usize)?;
        let (mut depth, mut active) = (0_i32, 0);
        for byte in written.bytes() {
            match byte {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth -= 1,
                b',' | b';' if depth == 0 => active += 1,
                _ => {}
            }
        }
        let label = format!("{}({})", definition.name, parameters.join(", "));
        Some(SignatureHelp { label, parameters, active })
    }

    /// The parts of the text around a place, from the name at it outwards.
    pub fn selection(&self, text: &str, offset: u32) -> Vec<Span> {
        let whole = Span::new(0, text.len() as u32);
        let end = self.regions.partition_point(|r| r.start <= offset);
        let around = self.regions[..end].iter().copied().filter(|r| holds(*r, offset));
        let token = self.tokens.iter().map(|t| t.span).filter(|span| holds(*span, offset));
        let mut all: Vec<Span> = around.chain(token).chain([whole]).collect();
        all.sort_by_key(|s| (s.end - s.start, s.start));
        all.dedup();
        let mut nested: Vec<Span> = Vec::new();
        for span in all {
            let fits = nested.last().is_none_or(|inner: &Span| {
                span.start <= inner.start && inner.end <= span.end && span != *inner
            });
            if fits {
                nested.push(span);
            }
        }
        nested
    }

    /// The comment right above a definition, without its signs.
    pub fn comment_above(&self, text: &str, definition: usize) -> Option<String> {
        let start = self.definitions.get(definition)?.whole.start;
        let mut lines: Vec<&str> = Vec::new();
        let mut at = start;
        let behind = self.tokens.partition_point(|t| t.span.start < start);
        for token in self.tokens[..behind].iter().rev() {
            let between = text.get(token.span.end as usize..at as usize)?;
            let breaks = between.bytes().filter(|b| *b == b'\n').count();
            if token.role != TokenRole::Comment || !between.trim().is_empty() || breaks != 1 {
                break;
            }
            lines.push(text.get(token.span.range())?);
            at = token.span.start;
        }
        // A comment behind something else on its line is about that.
        let line = text.get(..at as usize)?.rsplit('\n').next().unwrap_or("");
        if !line.trim().is_empty() {
            lines.pop();
        }
        if lines.is_empty() {
            return None;
        }
        let bare = |line: &&str| {
            let line = line.trim_start_matches("(*").trim_start_matches("/*");
            let line = line.trim_end_matches("*)").trim_end_matches("*/");
            line.trim_start_matches(['-', '/']).trim().to_string()
        };
        Some(lines.iter().rev().map(bare).collect::<Vec<_>>().join("\n"))
    }
}

fn is_name_letter(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_continue(c)
}

fn completion(d: &Definition) -> Completion {
    let detail = match (&d.sort, d.kind) {
        (Some(sort), kind) => format!("{}: {sort}", kind.word()),
        (None, kind) => kind.word().to_string(),
    };
    Completion { label: d.name.clone(), kind: Some(d.kind), detail }
}
