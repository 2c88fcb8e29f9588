//! Name and type checking, and lowering to a [`System`], in one pass over the tree.
//!
//! Terms are built while they are checked: an expression becomes `Some(term)`, or `None` after an
//! error in it was reported. `None` suppresses errors in dependent expressions, so one mistake
//! causes no follow-up errors. Names work the same way: a declaration with an error is still known,
//! as [`NameKind::Broken`].
//!
//! Order: enumerations and nodes; constants and definitions, in dependency order and without
//! recursion; variables; transitions and starts; fairness; claims; warnings.

mod arrays;
mod bits;
mod claims;
mod compose;
mod data;
mod declarations;
mod expressions;
mod names;
mod operators;
mod references;
mod transitions;
mod warnings;

use super::format::one_line;
use super::syntax::{SyntaxKind as K, SyntaxNode, SyntaxToken};
use super::tree;
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::report::{MAX_ERRORS, too_many_errors};
use crate::diagnostics::span::Span;
use data::Val;
use gander_system::{BuildError, NodeId, System, SystemBuilder, TransitionId, VarId};
use gander_term::{EnumId, IBig, Pool, Sort, TermId};
use names::Names;
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks a parsed file.
pub fn check(
    root: &SyntaxNode,
    file_name: &str,
    given: &[(String, IBig)],
) -> (Option<System>, Vec<Diagnostic>) {
    compose::check_file(root, file_name, given)
}

/// A specification: a header and the items after it.
struct Spec {
    name: String,
    span: Span,
    /// The other specifications whose variables it reads.
    references: Vec<references::Reference>,
    items: Vec<SyntaxNode>,
    /// The values of constants that are declared without one.
    given: Vec<(String, IBig)>,
}

impl Spec {
    /// True for the declarations before the first `spec` of a file, if they only look like ones for
    /// all specifications: sorts, constants and definitions.
    fn is_before_header(&self) -> bool {
        let declares = |item: &SyntaxNode| {
            let kinds = [K::EnumDecl, K::RecordDecl, K::DataDecl, K::ConstDecl, K::DefineDecl];
            kinds.contains(&item.kind())
        };
        let file = self.items.first().and_then(SyntaxNode::parent);
        self.span == Span::at(0)
            && self.items.iter().all(declares)
            && file.is_some_and(|file| tree::child(&file, K::SpecHeader).is_some())
    }
}

/// The kind of place of a formula; determines the symbols that it may mention.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Constant,
    Definition,
    Start,
    Guard,
    Effect,
    Invariant,
    Assumption,
    Claim,
    /// The formula after `with`.
    With,
    Fairness,
}

impl Place {
    /// The name of the place in messages.
    fn noun(self) -> &'static str {
        match self {
            Place::Constant => "a constant",
            Place::Definition => "a definition",
            Place::Start => "a start",
            Place::Guard => "a guard",
            Place::Effect => "an effect",
            Place::Invariant => "an invariant",
            Place::Assumption => "an assumption",
            Place::Claim => "a claim",
            Place::With => "the condition of a gate",
            Place::Fairness => "a fairness",
        }
    }

    fn may_mention_node(self) -> bool {
        matches!(self, Place::Definition | Place::Assumption | Place::Claim | Place::Fairness)
    }
}

/// A parameter or quantified variable in scope.
struct Local {
    name: String,
    value: Val,
}

/// The names that only claims refer to.
#[derive(Default)]
struct Graph {
    nodes: FxHashMap<String, NodeId>,
    node_spans: Vec<Span>,
    gates: FxHashMap<String, Vec<TransitionId>>,
    transitions: FxHashMap<String, TransitionId>,
    starts: FxHashMap<String, gander_system::StartId>,
    /// For each parameter name, a gate that has it.
    params: FxHashMap<String, String>,
    /// For a gate of an instance and a transition of the composed system: the conditions, of which
    /// one holds iff the instance takes part. None if it always does.
    conditions: FxHashMap<(String, TransitionId), Vec<TermId>>,
}

/// Checks one specification.
struct Checker {
    builder: SystemBuilder,
    diagnostics: Vec<Diagnostic>,
    reported: FxHashSet<(Code, Span)>,
    /// The number of errors among the diagnostics.
    errors: usize,
    names: Names,
    graph: Graph,
    locals: Vec<Local>,
    place: Place,
    /// Primed variables found in the current effect.
    primed: Vec<(VarId, Span)>,
    /// Primed variables of several parts in the current effect, as far as they are primed.
    primed_values: Vec<Val>,
    /// The ranges of fields, by the name of the record or data sort and that of the field.
    field_bounds: FxHashMap<(String, String), declarations::Bounds>,
    /// Records and data sorts of specifications that this one reads.
    foreign_types: Vec<SyntaxNode>,
    /// True if the current definition refers to the current node.
    mentions_node: bool,
    /// State variables that some transition changes.
    changed: FxHashSet<VarId>,
    node_sort: EnumId,
    /// True for a specification that is part of a system.
    is_part: bool,
    /// The instances of a composed system; empty in a specification.
    instances: FxHashMap<String, compose::Instance>,
    /// The families of instances of a composed system, with their sizes.
    families: FxHashMap<String, usize>,
    /// The values of indices of families in the formula at hand; inner ones last.
    indices: Vec<(String, i64)>,
    /// The terms of constants that are declared without a value.
    given: FxHashMap<String, TermId>,
    /// In a system for all sizes: its families.
    sized: Option<compose::SizedFamilies>,
    /// The number of copies that quantifiers over families have made.
    copies: usize,
    /// In a specification: other instances that it reads, by their names here.
    references: FxHashMap<String, references::Referred>,
    /// For each transition of a composed system, the instance that moves, or the first of several.
    leaders: Vec<String>,
}

impl Checker {
    /// A checker without control graph, instances and families. `None` if the location is no
    /// enumeration.
    fn new(builder: SystemBuilder, names: Names) -> Option<Checker> {
        let location = builder.so_far().location();
        let Sort::Enum(node_sort) = builder.pool.symbol(location).sort else { return None };
        Some(Checker {
            builder,
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
            errors: 0,
            names,
            graph: Graph::default(),
            locals: Vec::new(),
            place: Place::Claim,
            primed: Vec::new(),
            primed_values: Vec::new(),
            field_bounds: FxHashMap::default(),
            foreign_types: Vec::new(),
            mentions_node: false,
            changed: FxHashSet::default(),
            node_sort,
            is_part: false,
            instances: FxHashMap::default(),
            families: FxHashMap::default(),
            indices: Vec::new(),
            given: FxHashMap::default(),
            sized: None,
            copies: 0,
            references: FxHashMap::default(),
            leaders: Vec::new(),
        })
    }

    fn pool(&mut self) -> &mut Pool {
        &mut self.builder.pool
    }

    /// Reports a diagnostic, at most once per code and place, and at most [`MAX_ERRORS`] errors and
    /// as many warnings.
    fn report(&mut self, diagnostic: Diagnostic) {
        let error = diagnostic.severity() == Severity::Error;
        let count = if error { self.errors } else { self.diagnostics.len() - self.errors };
        if count > MAX_ERRORS || !self.reported.insert((diagnostic.code, diagnostic.primary.span)) {
            return;
        }
        self.errors += usize::from(error);
        if count < MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        } else if error {
            self.diagnostics.push(too_many_errors(diagnostic.primary.span));
        }
    }

    /// True if further errors are dropped; searching for near names is then useless.
    fn is_full(&self) -> bool {
        self.errors > MAX_ERRORS
    }

    /// Reports that the builder rejected something that passed the checks.
    fn internal(&mut self, error: BuildError, span: Span) {
        self.report(Diagnostic::new(Code::E0901, span, format!("this cannot be built: {error}")));
    }

    /// True for a system of instances.
    fn is_composed(&self) -> bool {
        !self.instances.is_empty() || self.sized.is_some()
    }

    fn has_errors(&self) -> bool {
        self.errors > 0
    }

    fn sort_name(&self, sort: Sort) -> String {
        sort.name(&self.builder.pool).into_owned()
    }

    /// A sort with its article, for messages.
    fn a_sort(&self, sort: Sort) -> String {
        match sort {
            Sort::Bool => "a bool".to_owned(),
            Sort::Int => "an int".to_owned(),
            Sort::Real => "a real".to_owned(),
            Sort::String => "a string".to_owned(),
            Sort::Enum(_) => format!("a value of `{}`", self.sort_name(sort)),
            Sort::BitVec(width) => format!("a bit-vector of {} bits", width.bits()),
            Sort::Array(_) => format!("an `{}`", self.sort_name(sort)),
        }
    }

    /// Translates a formula in a place.
    fn formula(&mut self, node: &SyntaxNode, place: Place) -> Option<TermId> {
        self.place = place;
        let term = self.expression(node, Some(Sort::Bool))?;
        let sort = self.builder.pool.sort(term);
        if sort == Sort::Bool {
            return Some(term);
        }
        let found = self.a_sort(sort);
        let mut diagnostic = Diagnostic::new(
            Code::E0301,
            tree::span(node),
            format!("{} is a formula, true or false, but this is {found}", place.noun()),
        )
        .here(format!("this is {found}"));
        if sort.is_numeric() {
            let text = one_line(node, 40);
            diagnostic =
                diagnostic.help(format!("compare it with something, for example `{text} > 0`"));
        }
        self.report(diagnostic);
        None
    }
}

/// The text of a name token.
fn text(token: &SyntaxToken) -> String {
    token.text().to_owned()
}

/// Splits the file into its specifications and systems.
fn specs(root: &SyntaxNode, file_name: &str) -> (Vec<Spec>, Vec<Spec>) {
    let stem = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    let stem = stem.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("spec");
    let (mut specs, mut systems): (Vec<Spec>, Vec<Spec>) = (Vec::new(), Vec::new());
    let mut in_system = false;
    for item in root.children() {
        match item.kind() {
            K::SpecHeader | K::SystemDecl => {
                in_system = item.kind() == K::SystemDecl;
                let token = tree::name(&item);
                let spec = Spec {
                    name: token.as_ref().map(text).unwrap_or_default(),
                    span: token.as_ref().map_or(tree::span(&item), tree::token_span),
                    references: references::references(&item),
                    items: if in_system { vec![item] } else { Vec::new() },
                    given: Vec::new(),
                };
                if in_system { systems.push(spec) } else { specs.push(spec) }
            }
            _ if in_system => {
                systems.last_mut().into_iter().for_each(|system| system.items.push(item.clone()))
            }
            _ => {
                if specs.is_empty() {
                    specs.push(Spec {
                        name: stem.to_owned(),
                        span: Span::at(0),
                        references: Vec::new(),
                        items: Vec::new(),
                        given: Vec::new(),
                    });
                }
                if let Some(spec) = specs.last_mut() {
                    spec.items.push(item);
                }
            }
        }
    }
    (specs, systems)
}
