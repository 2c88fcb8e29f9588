//! Collects definitions and uses, and resolves the uses.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{CallSite, Class, Definition, DefinitionKind, Fold, Outline, Token, TokenRole, Use};
use crate::Span;

/// Characters of a declaration that are shown.
const LONGEST_DETAIL: usize = 160;
/// The most regions in the outline of a part of a text; further regions are left out.
const MAX_REGIONS: usize = 1 << 20;

/// A use before it is resolved.
struct RawUse {
    span: Span,
    /// The classes that it may be of, the most likely first.
    classes: &'static [Class],
    /// The use of what it is a member of.
    of: Option<usize>,
    /// If it is no member, it may be a visible name.
    or_visible: bool,
}

/// Collects the parts of an outline.
pub(super) struct Builder<'t> {
    pub text: &'t str,
    pub definitions: Vec<Definition>,
    uses: Vec<RawUse>,
    folds: Vec<Fold>,
    regions: Vec<Span>,
    calls: Vec<(Span, Span)>,
}

/// A definition to add.
pub(super) struct New {
    pub kind: DefinitionKind,
    pub name: Span,
    pub whole: Span,
    pub scope: Span,
    pub parent: Option<usize>,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Builder<'t> {
        Builder {
            text,
            definitions: Vec::new(),
            uses: Vec::new(),
            folds: Vec::new(),
            regions: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The text of a span; empty if there is none.
    pub(super) fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or("")
    }

    pub(super) fn file(&self) -> Span {
        Span::new(0, self.text.len() as u32)
    }

    /// Adds a definition with a name of the text.
    pub(super) fn define(&mut self, new: New) -> usize {
        let name = self.slice(new.name).to_string();
        let is_named = !name.is_empty();
        self.push(new, name, is_named)
    }

    /// Adds a definition without a name, to be shown by these words.
    pub(super) fn define_unnamed(&mut self, new: New, shown: String) -> usize {
        self.push(new, shown, false)
    }

    fn push(&mut self, new: New, name: String, is_named: bool) -> usize {
        let index = self.definitions.len();
        self.definitions.push(Definition {
            name,
            kind: new.kind,
            span: new.name,
            is_named,
            whole: new.whole.cover(new.name),
            scope: new.scope,
            parent: new.parent,
            detail: one_line(self.slice(new.whole)),
            sort: None,
            parameters: None,
            group: index,
        });
        index
    }

    pub(super) fn set_sort(&mut self, definition: usize, sort: Span) {
        let sort = one_line(self.slice(sort));
        if let Some(d) = self.definitions.get_mut(definition)
            && !sort.is_empty()
        {
            d.sort = Some(sort);
        }
    }

    pub(super) fn set_parameters(&mut self, definition: usize, parameters: Vec<Span>) {
        let parameters = parameters.into_iter().map(|span| one_line(self.slice(span))).collect();
        if let Some(d) = self.definitions.get_mut(definition) {
            d.parameters = Some(parameters);
        }
    }

    /// Adds a use; gives its number for its members.
    pub(super) fn refer(&mut self, span: Span, classes: &'static [Class]) -> usize {
        self.uses.push(RawUse { span, classes, of: None, or_visible: true });
        self.uses.len() - 1
    }

    /// Adds a use of a member of what another use refers to.
    pub(super) fn refer_member(&mut self, span: Span, classes: &'static [Class], of: usize) {
        self.uses.push(RawUse { span, classes, of: Some(of), or_visible: false });
    }

    /// Adds a use of a member of what another use refers to, or of a visible name.
    pub(super) fn refer_member_or_visible(
        &mut self,
        span: Span,
        classes: &'static [Class],
        of: usize,
    ) -> usize {
        self.uses.push(RawUse { span, classes, of: Some(of), or_visible: true });
        self.uses.len() - 1
    }

    /// True if a name is defined and visible at a place.
    pub(super) fn is_visible(&self, name: &str, at: Span) -> bool {
        self.definitions
            .iter()
            .any(|d| d.name == name && d.scope.start <= at.start && at.end <= d.scope.end)
    }

    pub(super) fn fold(&mut self, span: Span) {
        let lines = self.slice(span).bytes().filter(|b| *b == b'\n').count();
        if lines > 0 {
            self.folds.push(Fold { span, is_comment: false });
        }
    }

    pub(super) fn region(&mut self, span: Span) {
        if span.start < span.end && self.regions.len() < MAX_REGIONS {
            self.regions.push(span);
        }
    }

    pub(super) fn call(&mut self, name: Span, arguments: Span) {
        self.calls.push((name, arguments));
    }

    /// The outline, with these tokens: those whose role is left open get it from names.
    pub(super) fn finish(
        mut self,
        tokens: Vec<(Span, Option<TokenRole>)>,
        keywords: &'static [&'static str],
    ) -> Outline {
        self.sort_definitions();
        let by_name = self.names();
        let mut resolved: Vec<Option<usize>> = Vec::with_capacity(self.uses.len());
        for used in &self.uses {
            let name = self.text.get(used.span.range()).unwrap_or("");
            let of = used.of.and_then(|of| resolved.get(of).copied().flatten());
            let member = of.and_then(|of| self.member(&by_name, name, used, of));
            let found = match member {
                None if used.or_visible => self.visible(&by_name, name, used),
                member => member,
            };
            resolved.push(found);
        }
        let at_definition: FxHashMap<Span, usize> = self
            .definitions
            .iter()
            .enumerate()
            .filter(|(_, d)| d.is_named)
            .map(|(i, d)| (d.span, i))
            .collect();
        let mut seen = FxHashSet::default();
        let found = self.uses.iter().zip(resolved);
        let mut uses: Vec<Use> = found
            .filter(|(used, _)| !at_definition.contains_key(&used.span))
            .map(|(used, definition)| Use { span: used.span, definition })
            .collect();
        // A resolved use goes before an unresolved one of the same place.
        uses.sort_by_key(|u| (u.span, u.definition.is_none()));
        uses.retain(|u| u.span.start < u.span.end && seen.insert(u.span));
        let at_use: FxHashMap<Span, Option<usize>> =
            uses.iter().map(|u| (u.span, u.definition)).collect();
        let role = |span: Span| match (at_definition.get(&span), at_use.get(&span)) {
            (Some(d), _) => Some(TokenRole::Name(self.definitions[*d].kind, true)),
            (None, Some(Some(d))) => Some(TokenRole::Name(self.definitions[*d].kind, false)),
            _ => None,
        };
        let mut tokens: Vec<Token> = tokens
            .into_iter()
            .filter_map(|(span, given)| {
                let role = match given {
                    Some(TokenRole::Keyword | TokenRole::Builtin) | None => role(span).or(given),
                    given => given,
                };
                Some(Token { span, role: role? })
            })
            .collect();
        tokens.sort_by_key(|t| t.span);
        let mut end = 0;
        tokens.retain(|t| {
            let fits = t.span.start >= end && t.span.start < t.span.end;
            end = if fits { t.span.end } else { end };
            fits
        });
        self.folds.extend(comment_folds(&tokens, self.text));
        self.folds.sort_by_key(|f| (f.span.start, f.span.end));
        self.folds.dedup_by_key(|f| f.span);
        self.regions.extend(self.definitions.iter().map(|d| d.whole));
        self.regions.sort_by_key(|s| (s.start, std::cmp::Reverse(s.end)));
        self.regions.dedup();
        let calls = self.calls.iter().map(|(name, arguments)| CallSite {
            name: *name,
            arguments: *arguments,
            definition: at_use.get(name).copied().flatten(),
        });
        let calls = calls.collect();
        let Builder { definitions, folds, regions, .. } = self;
        Outline { definitions, uses, tokens, folds, regions, calls, keywords }
    }

    /// Puts definitions in the order of the text, outer ones first, and finds groups.
    fn sort_definitions(&mut self) {
        let mut order: Vec<usize> = (0..self.definitions.len()).collect();
        order.sort_by_key(|&i| {
            let d = &self.definitions[i];
            (d.whole.start, std::cmp::Reverse(d.whole.end), d.span.start, i)
        });
        let mut new_index = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| new_index[old] = new);
        let mut old: Vec<Option<Definition>> = self.definitions.drain(..).map(Some).collect();
        self.definitions = order.iter().filter_map(|&i| old[i].take()).collect();
        let mut first: FxHashMap<(String, Class, Span), usize> = FxHashMap::default();
        for (i, d) in self.definitions.iter_mut().enumerate() {
            d.parent = d.parent.map(|p| new_index[p]);
            d.group = match d.is_named {
                true => *first.entry((d.name.clone(), d.kind.class(), d.scope)).or_insert(i),
                false => i,
            };
        }
    }

    fn names(&self) -> FxHashMap<String, Vec<usize>> {
        let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (i, d) in self.definitions.iter().enumerate().filter(|(_, d)| d.is_named) {
            by_name.entry(d.name.clone()).or_default().push(i);
        }
        by_name
    }

    /// The visible definition with the smallest scope, of the first class that has one.
    fn visible(
        &self,
        by_name: &FxHashMap<String, Vec<usize>>,
        name: &str,
        used: &RawUse,
    ) -> Option<usize> {
        let candidates = by_name.get(name)?;
        used.classes.iter().find_map(|class| {
            let visible = candidates.iter().copied().filter(|&i| {
                let d = &self.definitions[i];
                d.kind.class() == *class
                    && d.scope.start <= used.span.start
                    && used.span.end <= d.scope.end
            });
            visible.min_by_key(|&i| {
                let scope = self.definitions[i].scope;
                (scope.end - scope.start, i)
            })
        })
    }

    /// The member of what a definition stands for.
    fn member(
        &self,
        by_name: &FxHashMap<String, Vec<usize>>,
        name: &str,
        used: &RawUse,
        of: usize,
    ) -> Option<usize> {
        let owner = owner(&self.definitions, of);
        let candidates = by_name.get(name)?;
        used.classes.iter().find_map(|class| {
            candidates.iter().copied().find(|&i| {
                self.definitions[i].kind.class() == *class && is_inside(&self.definitions, i, owner)
            })
        })
    }
}

/// The definition whose members those of a definition are: of an instance, its specification.
pub(super) fn owner(definitions: &[Definition], of: usize) -> usize {
    let d = &definitions[of];
    let sort = d.sort.as_deref().map(|sort| sort.split(['[', '(', ' ']).next().unwrap_or(sort));
    // A process of a script is an instance itself.
    let owns = |m: &Definition| match m.kind {
        DefinitionKind::Module | DefinitionKind::Type => true,
        DefinitionKind::Instance => m.sort.is_none(),
        _ => false,
    };
    let module = definitions.iter().position(|m| owns(m) && Some(m.name.as_str()) == sort);
    match d.kind {
        DefinitionKind::Instance
        | DefinitionKind::Variable
        | DefinitionKind::Input
        | DefinitionKind::Output
        | DefinitionKind::Parameter
        | DefinitionKind::Constant => module.unwrap_or(of),
        _ => of,
    }
}

/// True if a definition is a part of another, or a part of a part.
pub(super) fn is_inside(definitions: &[Definition], inner: usize, outer: usize) -> bool {
    let parent = definitions[inner].parent;
    parent == Some(outer) || parent.is_some_and(|p| definitions[p].parent == Some(outer))
}

/// Comments that take several lines; line comments that follow each other are one.
fn comment_folds(tokens: &[Token], text: &str) -> Vec<Fold> {
    let mut folds: Vec<Fold> = Vec::new();
    for token in tokens.iter().filter(|t| t.role == TokenRole::Comment) {
        if let Some(last) = folds.last_mut() {
            let between = text.get(last.span.end as usize..token.span.start as usize);
            let is_next = between.is_some_and(|between| {
                between.chars().all(char::is_whitespace)
                    && between.bytes().filter(|b| *b == b'\n').count() == 1
            });
            if is_next {
                last.span = last.span.cover(token.span);
                continue;
            }
        }
        folds.push(Fold { span: token.span, is_comment: true });
    }
    folds.retain(|fold| text.get(fold.span.range()).is_some_and(|t| t.contains('\n')));
    folds
}

/// A declaration on one line: without line breaks, and shortened.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.len() + word.len() > LONGEST_DETAIL {
            if out.is_empty() {
                out.extend(word.chars().take(LONGEST_DETAIL));
            }
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
