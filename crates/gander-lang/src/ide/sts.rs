//! Outlines of `.sts` texts, from the lossless tree.

use rowan::{NodeOrToken, WalkEvent};
use rustc_hash::{FxHashMap, FxHashSet};

use super::build::{Builder, New, one_line};
use super::words::STS_WORDS;
use super::{Class, DefinitionKind as D, Outline, TokenRole};
use crate::Span;
use crate::sts::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken, is_reserved};
use crate::sts::tree::{self, span, token_span};
use crate::sts::{MAX_BYTES, parse};

const VALUES: &[Class] =
    &[Class::Value, Class::Instance, Class::Transition, Class::Node, Class::Start];
const MEMBERS: &[Class] = &[Class::Value, Class::Node, Class::Transition, Class::Start];
const OWNERS: &[Class] = &[Class::Instance, Class::Node, Class::Type, Class::Value];

pub(super) fn outline(text: &str) -> Outline {
    if text.len() > MAX_BYTES {
        return Outline::default();
    }
    let root = parse(text).root();
    let mut reader = Reader {
        builder: Builder::new(text),
        tokens: Vec::new(),
        used: FxHashMap::default(),
        fields: FxHashMap::default(),
        instances: FxHashSet::default(),
    };
    reader.declare(&root);
    for event in root.preorder_with_tokens() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => reader.builder.region(span(&node)),
            WalkEvent::Enter(NodeOrToken::Token(token)) => reader.token(&token),
            WalkEvent::Leave(_) => {}
        }
    }
    reader.builder.finish(reader.tokens, STS_WORDS)
}

struct Reader<'t> {
    builder: Builder<'t>,
    tokens: Vec<(Span, Option<TokenRole>)>,
    /// Uses by their first byte.
    used: FxHashMap<u32, usize>,
    /// How often a field of this name is declared.
    fields: FxHashMap<String, usize>,
    /// The names of instances, and of specifications that are read.
    instances: FxHashSet<String>,
}

/// The part of a file that belongs to a specification or system.
struct Part {
    span: Span,
    definition: Option<usize>,
}

/// The definitions that what follows in an item belongs to.
#[derive(Default)]
struct Owner {
    node: Option<usize>,
    transition: Option<usize>,
}

/// A piece of an item.
#[derive(Clone, Copy)]
struct Place<'a> {
    part: &'a Part,
    inner: &'a SyntaxNode,
}

impl Place<'_> {
    fn whole(self) -> Span {
        span(self.inner)
    }

    /// A definition that is visible in the part of the file.
    fn definition(self, kind: D, name: &SyntaxToken) -> New {
        New {
            kind,
            name: token_span(name),
            whole: self.whole(),
            scope: self.part.span,
            parent: self.part.definition,
        }
    }

    /// The nearest node around it of one of these kinds.
    fn enclosing(self, kinds: &[K]) -> Option<SyntaxNode> {
        self.inner.ancestors().find(|a| kinds.contains(&a.kind()))
    }

    /// The sort that is written in it.
    fn sort(self) -> Option<Span> {
        tree::child(self.inner, K::SortRef).map(|s| span(&s))
    }

    fn sort_with_range(self) -> Option<Span> {
        let range = tree::child(self.inner, K::RangeBounds).map(|r| span(&r));
        self.sort().map(|sort| range.map_or(sort, |range| sort.cover(range)))
    }
}

impl Reader<'_> {
    fn declare(&mut self, root: &SyntaxNode) {
        let file = self.builder.file();
        let is_header = |n: &SyntaxNode| matches!(n.kind(), K::SpecHeader | K::SystemDecl);
        let items: Vec<SyntaxNode> = root.children().collect();
        let headers: Vec<u32> =
            items.iter().filter(|n| is_header(n)).map(|n| span(n).start).collect();
        // What stands before the first header belongs to it, as in a file without any.
        let mut part = Part { span: file, definition: None };
        for item in &items {
            if is_header(item) {
                let start = span(item).start;
                let next = headers.iter().find(|h| **h > start);
                let end = next.copied().unwrap_or(file.end);
                let from = if headers.first() == Some(&start) { 0 } else { start };
                let kind = if item.kind() == K::SpecHeader { D::Module } else { D::System };
                let last = items.iter().rfind(|i| span(i).end <= end);
                let whole = span(item).cover(last.map_or(span(item), |i| Span::at(span(i).end)));
                let definition = tree::name(item).map(|name| {
                    let name = token_span(&name);
                    let parent = None;
                    self.builder.define(New { kind, name, whole, scope: file, parent })
                });
                part = Part { span: Span::new(from, end), definition };
                self.builder.fold(whole);
            }
            self.item(item, &part);
        }
    }

    /// Declares what an item declares, and everything inside of it.
    fn item(&mut self, item: &SyntaxNode, part: &Part) {
        let mut owner = Owner::default();
        for inner in item.descendants() {
            let at = Place { part, inner: &inner };
            match inner.kind() {
                K::Reference | K::Instance => self.instance(at),
                K::EnumDecl | K::RecordDecl | K::DataDecl | K::Constructor | K::Pattern => {
                    self.data(at);
                }
                K::ConstDecl | K::VarDecl | K::InputDecl | K::DefineDecl => self.value(at),
                K::NodeDecl => {
                    for name in tree::names(&inner) {
                        owner.node = Some(self.builder.define(at.definition(D::Node, &name)));
                    }
                }
                K::NodeBody | K::EffectBlock => self.builder.fold(at.whole()),
                K::Transition => self.transition(at, &mut owner),
                K::Sync => {
                    let Some(name) = tree::name(&inner) else { continue };
                    owner.transition =
                        Some(self.builder.define(at.definition(D::Transition, &name)));
                }
                K::Param if is_field(&inner) => self.field_names(at),
                K::Param => self.parameter(at, &owner),
                K::SharedParams => self.shared_parameters(at, &owner),
                K::FamilySize => self.family_index(at),
                K::Index => self.index(at),
                K::StartDecl | K::AssumeDecl | K::Claim | K::FairDecl | K::Invariant => {
                    self.claim_like(at);
                }
                _ => {}
            }
        }
    }

    fn instance(&mut self, at: Place<'_>) {
        let Some(name) = tree::name(at.inner) else { return };
        self.instances.insert(name.text().to_string());
        let definition = self.builder.define(at.definition(D::Instance, &name));
        if let Some(of) = tree::reference(at.inner) {
            self.builder.set_sort(definition, token_span(&of));
        }
    }

    /// Types, their values and constructors, and the names of patterns.
    fn data(&mut self, at: Place<'_>) {
        let file = self.builder.file();
        match at.inner.kind() {
            K::EnumDecl => {
                let mut names = tree::names(at.inner);
                let Some(name) = names.next() else { return };
                let first = New { scope: file, ..at.definition(D::Type, &name) };
                let parent = Some(self.builder.define(first));
                for value in names {
                    let value = New { parent, scope: file, ..at.definition(D::EnumValue, &value) };
                    self.builder.define(value);
                }
                self.builder.fold(at.whole());
            }
            K::Constructor => {
                let Some(name) = tree::name(at.inner) else { return };
                let added = New { scope: file, ..at.definition(D::EnumValue, &name) };
                let definition = self.builder.define(added);
                self.parameters(definition, at.inner);
            }
            K::Pattern => {
                // The names of fields are visible in the arm.
                let arm = at.inner.parent().map_or(at.whole(), |arm| span(&arm));
                for name in tree::names(at.inner).filter(|name| name.text() != "_") {
                    let added =
                        New { scope: arm, parent: None, ..at.definition(D::Parameter, &name) };
                    self.builder.define(added);
                }
            }
            _ => {
                let Some(name) = tree::name(at.inner) else { return };
                self.builder.define(New { scope: file, ..at.definition(D::Type, &name) });
                self.builder.fold(at.whole());
            }
        }
    }

    /// Constants, variables and definitions.
    fn value(&mut self, at: Place<'_>) {
        let kind = match at.inner.kind() {
            K::DefineDecl => {
                let Some(name) = tree::name(at.inner) else { return };
                let definition = self.builder.define(at.definition(D::Macro, &name));
                self.parameters(definition, at.inner);
                if let Some(sort) = at.sort() {
                    self.builder.set_sort(definition, sort);
                }
                return;
            }
            K::ConstDecl => D::Constant,
            K::InputDecl => D::Input,
            _ => D::Variable,
        };
        for name in tree::names(at.inner) {
            let definition = self.builder.define(at.definition(kind, &name));
            if let Some(sort) = at.sort_with_range() {
                self.builder.set_sort(definition, sort);
            }
        }
    }

    fn transition(&mut self, at: Place<'_>, owner: &mut Owner) {
        let Some(name) = tree::name(at.inner) else { return };
        let in_node = at.inner.parent().is_some_and(|p| p.kind() == K::NodeBody);
        let own = at.part.definition;
        let parent = if in_node { owner.node.or(own) } else { own };
        let added = New { parent, ..at.definition(D::Transition, &name) };
        let definition = self.builder.define(added);
        self.parameters(definition, at.inner);
        owner.transition = Some(definition);
        let label = tree::child(at.inner, K::TransitionLabel);
        if let Some(label) = label.and_then(|l| tree::name(&l)) {
            let added = New { parent, ..at.definition(D::Transition, &label) };
            self.builder.define(added);
        }
    }

    /// The fields of records and constructors.
    fn field_names(&mut self, at: Place<'_>) {
        let scope = self.builder.file();
        for name in tree::names(at.inner) {
            *self.fields.entry(name.text().to_string()).or_default() += 1;
            let added = New { scope, ..at.definition(D::Field, &name) };
            let definition = self.builder.define(added);
            if let Some(sort) = at.sort() {
                self.builder.set_sort(definition, sort);
            }
        }
    }

    /// Parameters of transitions, definitions and quantifiers.
    fn parameter(&mut self, at: Place<'_>, owner: &Owner) {
        let binder = at.enclosing(&[K::Transition, K::DefineDecl, K::QuantExpr, K::Sync]);
        let of_transition = binder.as_ref().is_some_and(|b| b.kind() == K::Transition);
        let parent = owner.transition.filter(|_| of_transition);
        let scope = binder.map_or(at.part.span, |b| span(&b));
        for name in tree::names(at.inner) {
            let added = New { scope, parent, ..at.definition(D::Parameter, &name) };
            let definition = self.builder.define(added);
            if let Some(sort) = at.sort_with_range() {
                self.builder.set_sort(definition, sort);
            }
        }
    }

    /// Shared parameters of a synchronisation.
    fn shared_parameters(&mut self, at: Place<'_>, owner: &Owner) {
        let scope = at.inner.parent().map_or(at.part.span, |p| span(&p));
        for name in tree::names(at.inner) {
            let parent = owner.transition;
            self.builder.define(New { scope, parent, ..at.definition(D::Parameter, &name) });
        }
    }

    /// The index in the declaration of a family.
    fn family_index(&mut self, at: Place<'_>) {
        let Some(name) = tree::name(at.inner) else { return };
        let scope = at.inner.parent().map_or(at.part.span, |p| span(&p));
        self.builder.define(New { scope, parent: None, ..at.definition(D::Parameter, &name) });
    }

    /// An index of a synchronisation or of a quantifier over a family.
    fn index(&mut self, at: Place<'_>) {
        let Some(name) = tree::ident(at.inner) else { return };
        let binder = at.enclosing(&[K::FamilyExpr, K::Sync, K::Instance, K::Transition]);
        let scope = binder.map_or(at.part.span, |b| span(&b));
        self.builder.define(New { scope, parent: None, ..at.definition(D::Parameter, &name) });
    }

    /// Starts, assumptions, claims and the like; those without a name are shown by their text.
    fn claim_like(&mut self, at: Place<'_>) {
        let kind = match at.inner.kind() {
            K::StartDecl => D::Start,
            K::AssumeDecl => D::Assumption,
            K::FairDecl => D::Fairness,
            _ => D::Claim,
        };
        if let Some(name) = tree::name(at.inner) {
            self.builder.define(at.definition(kind, &name));
            return;
        }
        let whole = at.whole();
        let first = tree::tokens(at.inner).next().map(|t| token_span(&t));
        let words = tree::child(at.inner, K::ClaimWords).map(|w| span(&w));
        let name = words.or(first).unwrap_or(whole);
        let shown: String = one_line(self.builder.slice(whole)).chars().take(60).collect();
        let (scope, parent) = (at.part.span, at.part.definition);
        self.builder.define_unnamed(New { kind, name, whole, scope, parent }, shown);
    }

    fn parameters(&mut self, definition: usize, of: &SyntaxNode) {
        if let Some(list) = tree::child(of, K::ParamList) {
            let each = tree::children(&list, K::Param);
            let spans = each.flat_map(|p| {
                let names: Vec<Span> = tree::names(&p).map(|n| token_span(&n)).collect();
                // `a, b: int` are two parameters.
                if names.len() > 1 { names } else { vec![span(&p)] }
            });
            self.builder.set_parameters(definition, spans.collect());
        }
    }

    fn token(&mut self, token: &SyntaxToken) {
        let place = token_span(token);
        let role = match token.kind() {
            K::LineComment | K::BlockComment => Some(TokenRole::Comment),
            K::Int | K::Decimal => Some(TokenRole::Number),
            K::Text => Some(TokenRole::Text),
            K::Ident => match token.parent() {
                Some(parent) => self.word(token, place, &parent),
                None => None,
            },
            _ => return,
        };
        self.tokens.push((place, role));
    }

    fn refer(&mut self, place: Span, classes: &'static [Class]) {
        let number = self.builder.refer(place, classes);
        self.used.insert(place.start, number);
    }

    /// A member of what the name at `head` refers to.
    fn member(&mut self, place: Span, classes: &'static [Class], head: Option<u32>) {
        match head.and_then(|head| self.used.get(&head).copied()) {
            Some(of) => self.builder.refer_member(place, classes, of),
            None => self.refer(place, classes),
        }
    }

    /// Behind `with`, the parameters of the step come first.
    fn value_or_parameter(&mut self, place: Span, parent: &SyntaxNode, classes: &'static [Class]) {
        let clause = parent.ancestors().find(|a| a.kind() == K::WithClause);
        let step = clause.and_then(|c| c.parent()).map(|step| first_word(&step));
        match step.and_then(|step| self.used.get(&step).copied()) {
            Some(of) => {
                let number = self.builder.refer_member_or_visible(place, classes, of);
                self.used.insert(place.start, number);
            }
            None => self.refer(place, classes),
        }
    }

    /// True if `head.name` selects a field of a value, and no member of an instance.
    fn selects(&self, head: Option<SyntaxToken>, name: &SyntaxToken) -> bool {
        self.fields.contains_key(name.text())
            && head.is_some_and(|head| !self.instances.contains(head.text()))
    }

    /// A use of a field. If several sorts have a field of this name, the sort of the value would
    /// tell which one it is; then it refers to none.
    fn field(&mut self, token: &SyntaxToken, place: Span) -> Option<TokenRole> {
        if self.fields.get(token.text()).is_some_and(|declared| *declared > 1) {
            return Some(TokenRole::Builtin);
        }
        self.refer(place, &[Class::Field]);
        None
    }

    /// Reads a word; gives its role if it is no name.
    fn word(&mut self, token: &SyntaxToken, place: Span, parent: &SyntaxNode) -> Option<TokenRole> {
        let keyword = Some(TokenRole::Keyword);
        let behind_dot = before(token).is_some_and(|t| t.kind() == K::Dot);
        match parent.kind() {
            K::Name if parent.parent().is_some_and(|p| p.kind() == K::FieldValue) => {
                self.field(token, place)
            }
            K::Name | K::Index => None,
            K::SelectExpr => self.field(token, place),
            K::Literal => keyword,
            K::NameRef => self.reference(place, parent, behind_dot),
            _ if is_reserved(token.text()) => keyword,
            K::NameExpr
                if self.fields.contains_key(token.text())
                    && after(token).is_some_and(|t| t.kind() == K::Assign) =>
            {
                self.field(token, place)
            }
            K::NameExpr => {
                self.value_or_parameter(place, parent, VALUES);
                None
            }
            K::FieldExpr if behind_dot && self.selects(tree::ident(parent), token) => {
                self.field(token, place)
            }
            K::FieldExpr if behind_dot => {
                let head = tree::ident(parent).map(|t| token_span(&t).start);
                self.member(place, MEMBERS, head);
                None
            }
            K::FieldExpr => {
                self.value_or_parameter(place, parent, OWNERS);
                None
            }
            K::RecordExpr => {
                self.refer(place, &[Class::Type]);
                None
            }
            K::MemberExpr => {
                self.member(place, MEMBERS, Some(first_word(parent)));
                None
            }
            K::InExpr => {
                self.refer(place, &[Class::Instance]);
                None
            }
            K::CallExpr => {
                self.refer(place, VALUES);
                let open = tree::tokens(parent).find(|t| t.kind() == K::LParen);
                if let Some(open) = open {
                    let start = token_span(&open).start;
                    self.builder.call(place, Span::new(start, span(parent).end));
                }
                Some(TokenRole::Builtin)
            }
            _ => keyword,
        }
    }

    fn reference(
        &mut self,
        place: Span,
        parent: &SyntaxNode,
        behind_dot: bool,
    ) -> Option<TokenRole> {
        let context = parent.parent()?;
        let (first, second) = tree::dotted(parent);
        let is_dotted = second.is_some();
        if let (true, Some(field)) = (behind_dot, &second)
            && self.selects(first.clone(), field)
        {
            return self.field(field, place);
        }
        let first = first.map(|t| token_span(&t).start);
        if is_dotted && behind_dot {
            self.member(place, MEMBERS, first);
            return None;
        }
        if is_dotted {
            self.refer(place, OWNERS);
            return None;
        }
        match context.kind() {
            K::Target => self.refer(place, &[Class::Node]),
            K::SortRef | K::FillExpr => {
                self.refer(place, &[Class::Type, Class::Module]);
                return Some(TokenRole::Builtin);
            }
            K::Reference => {
                self.refer(place, &[Class::Module, Class::Type]);
                return Some(TokenRole::Builtin);
            }
            K::Instance => self.refer(place, &[Class::Module]),
            K::InNodes => self.refer(place, &[Class::Node]),
            K::RecordExpr => self.refer(place, &[Class::Type]),
            K::InExpr => {
                let head = first_word(&context);
                let is_of_instance = head < place.start && self.used.contains_key(&head);
                self.member(place, &[Class::Node], Some(head).filter(|_| is_of_instance));
            }
            K::Claim => {
                let words = tree::child(&context, K::ClaimWords).map(|w| w.text().to_string());
                let words = words.unwrap_or_default();
                let classes: &[Class] = match words.split_whitespace().next() {
                    Some("no") => &[Class::Node],
                    Some("satisfiable") => &[Class::Start],
                    _ => &[Class::Transition],
                };
                self.refer(place, classes);
            }
            K::Under => {
                self.refer(place, &[Class::Fairness]);
                return Some(TokenRole::Keyword);
            }
            K::FairDecl => self.refer(place, &[Class::Transition]),
            K::SyncMember => {
                let head = tree::reference(&context).map(|t| token_span(&t).start);
                match head {
                    Some(head) if head < place.start => {
                        self.member(place, &[Class::Transition], Some(head));
                    }
                    _ => self.refer(place, &[Class::Instance]),
                }
            }
            K::FamilyExpr | K::SyncIndices | K::Argument | K::Receivers => {
                self.refer(place, &[Class::Instance, Class::Value]);
            }
            K::Allow => return Some(TokenRole::Annotation),
            _ => self.refer(place, VALUES),
        }
        None
    }
}

/// True for a field of a record or of a constructor.
fn is_field(param: &SyntaxNode) -> bool {
    let owner = param.ancestors().skip(1).find(|a| a.kind() != K::ParamList);
    owner.is_some_and(|a| matches!(a.kind(), K::RecordDecl | K::Constructor))
}

/// The token before, without layout.
fn before(token: &SyntaxToken) -> Option<SyntaxToken> {
    let mut at = token.prev_token();
    while at.as_ref().is_some_and(|t| t.kind().is_trivia()) {
        at = at.and_then(|t| t.prev_token());
    }
    at
}

/// The token behind, without layout.
fn after(token: &SyntaxToken) -> Option<SyntaxToken> {
    let mut at = token.next_token();
    while at.as_ref().is_some_and(|t| t.kind().is_trivia()) {
        at = at.and_then(|t| t.next_token());
    }
    at
}

/// Where the first word of a node is.
fn first_word(node: &SyntaxNode) -> u32 {
    let words = node.descendants_with_tokens().filter_map(|e| e.into_token());
    words.filter(|t| t.kind() == K::Ident).map(|t| token_span(&t).start).next().unwrap_or(u32::MAX)
}
