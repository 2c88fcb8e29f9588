//! Translates expressions to terms. Parts come before wholes, so one pass over the list suffices.

use super::check::{Entity, Instance, Model, Scope};
use super::syntax::{Binary, Expr, Part, Script};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::diagnostics::suggest::nearest;
use gander_system::VarId;
use gander_term::{Op, Pool, Sort, SymbolId, TermId};

/// The symbols of a model's entities in a system.
pub(super) struct Symbols {
    /// By variable of the model.
    pub vars: Vec<(VarId, SymbolId)>,
    pub steps: Option<(VarId, SymbolId)>,
    /// For each instance with states, a symbol for its state.
    pub locations: Vec<Option<SymbolId>>,
}

/// The scope of an expression.
pub(super) struct Place<'a> {
    local: Option<&'a Scope>,
    global: &'a Scope,
    /// `None` in a constant, which has no variables.
    symbols: Option<&'a Symbols>,
    /// The instances whose variables may be named as `P.x`; `None` within a process.
    instances: Option<&'a [Instance<'a>]>,
}

impl<'a> Place<'a> {
    pub(super) fn constant(scope: &'a Scope) -> Place<'a> {
        Place { local: None, global: scope, symbols: None, instances: None }
    }

    pub(super) fn process(
        model: &'a Model<'a>,
        instance: usize,
        symbols: &'a Symbols,
    ) -> Place<'a> {
        let local = Some(&model.instances[instance].scope);
        Place { local, global: &model.global, symbols: Some(symbols), instances: None }
    }

    pub(super) fn whole(model: &'a Model<'a>, symbols: &'a Symbols) -> Place<'a> {
        Place {
            local: None,
            global: &model.global,
            symbols: Some(symbols),
            instances: Some(&model.instances),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&'a Entity> {
        self.local
            .and_then(|l| l.get(name))
            .or_else(|| self.global.get(name))
            .map(|(entity, _)| entity)
    }

    /// A variable of the model as a term.
    pub(super) fn variable(&self, var: usize, pool: &mut Pool) -> Option<TermId> {
        self.symbols.map(|s| pool.var(s.vars[var].1))
    }

    fn near(&self, name: &str) -> Option<&'a str> {
        let mut known: Vec<&str> = self
            .local
            .into_iter()
            .chain([self.global])
            .flat_map(|s| s.keys())
            .map(String::as_str)
            .collect();
        known.sort_unstable();
        nearest(name, known)
    }

    /// Reports an unknown name.
    pub(super) fn unknown(&self, name: &str, span: Span, report: &mut Report) {
        let near = self.near(name);
        let diagnostic = Diagnostic::new(Code::E0202, span, format!("there is no `{name}` here"));
        report.add(match (near, name) {
            (Some(_), _) => diagnostic.did_you_mean(near),
            (None, "steps") => {
                diagnostic.help("`steps` is there in a script with a `MAXSTEPS` block")
            }
            (None, "state") => {
                diagnostic.help("declare states: `state A, B;`, or a variable: `int state : 0..2;`")
            }
            (None, _) => diagnostic.help(format!("declare it in `VARS`: `int {name};`")),
        });
    }
}

/// The plain names in an expression.
pub(super) fn names(script: &Script, e: Expr) -> impl Iterator<Item = &str> {
    script.expressions[e.first as usize..=e.root as usize].iter().filter_map(|(part, _)| match part
    {
        Part::Name(text) => Some(text.as_str()),
        _ => None,
    })
}

/// The term of an expression; `None` after an error was reported.
pub(super) fn term(
    script: &Script,
    e: Expr,
    pool: &mut Pool,
    place: &mut Place<'_>,
    report: &mut Report,
) -> Option<TermId> {
    let first = e.first as usize;
    let mut built: Vec<Option<TermId>> = Vec::with_capacity(e.root as usize + 1 - first);
    for (part, span) in &script.expressions[first..=e.root as usize] {
        let of = |at: u32| built[at as usize - first];
        let found = match part {
            Part::Int(i) => Some(pool.int(i.clone())),
            Part::Bool(b) => Some(if *b { pool.tt() } else { pool.ff() }),
            Part::Name(name) => match place.find(name) {
                Some(entity) => symbol(entity, name, *span, pool, place, report),
                None => {
                    place.unknown(name, *span, report);
                    None
                }
            },
            Part::Member(instance, member) => member_term(instance, member, pool, place, report),
            Part::Not(a) => of(*a).and_then(|a| apply(Op::Not, &[a], "!", *span, pool, report)),
            Part::Negative(a) => {
                of(*a).and_then(|a| apply(Op::Neg, &[a], "-", *span, pool, report))
            }
            Part::Binary(how, a, b) => match (of(*a), of(*b)) {
                (Some(a), Some(b)) => binary(*how, a, b, *span, pool, report),
                _ => None,
            },
        };
        built.push(found);
    }
    built.pop().flatten()
}

/// Reports a term of another sort.
pub(super) fn expect_sort(
    pool: &Pool,
    t: TermId,
    sort: Sort,
    span: Span,
    report: &mut Report,
) -> bool {
    let found = pool.sort(t);
    if found != sort {
        let message =
            format!("this is {}, and {} is needed", article(pool, found), article(pool, sort));
        report.error(Code::E0301, span, message);
    }
    found == sort
}

fn article(pool: &Pool, sort: Sort) -> String {
    match sort {
        Sort::Int => "an int".to_string(),
        Sort::Enum(_) => "a state".to_string(),
        other => format!("a {}", other.name(pool)),
    }
}

fn binary(
    how: Binary,
    a: TermId,
    b: TermId,
    span: Span,
    pool: &mut Pool,
    report: &mut Report,
) -> Option<TermId> {
    let (op, text) = match how {
        Binary::Or => (Op::Or, "|"),
        Binary::And => (Op::And, "&"),
        Binary::Equal => (Op::Eq, "=="),
        Binary::Unequal => (Op::Eq, "!="),
        Binary::Less => (Op::Lt, "<"),
        Binary::LessEqual => (Op::Le, "<="),
        Binary::Greater => (Op::Gt, ">"),
        Binary::GreaterEqual => (Op::Ge, ">="),
        Binary::Add => (Op::Add, "+"),
        Binary::Subtract => (Op::Sub, "-"),
        Binary::Multiply => (Op::Mul, "*"),
        Binary::Divide => (Op::IntDiv, "/"),
        Binary::Remainder => (Op::Mod, "%"),
    };
    let made = apply(op, &[a, b], text, span, pool, report)?;
    Some(if how == Binary::Unequal { pool.not(made) } else { made })
}

fn apply(
    op: Op,
    args: &[TermId],
    text: &str,
    span: Span,
    pool: &mut Pool,
    report: &mut Report,
) -> Option<TermId> {
    match pool.mk(op, args) {
        Ok(made) => Some(made),
        Err(error) => {
            let found: Vec<String> = error.found.iter().map(|s| article(pool, *s)).collect();
            let message =
                format!("`{text}` takes {}, and this is {}", error.expected, found.join(" and "));
            report.error(Code::E0302, span, message);
            None
        }
    }
}

fn symbol(
    entity: &Entity,
    name: &str,
    span: Span,
    pool: &mut Pool,
    place: &Place<'_>,
    report: &mut Report,
) -> Option<TermId> {
    if let Entity::Const(value) = entity {
        return Some(pool.constant(value.clone()));
    }
    if matches!(entity, Entity::Broken) {
        return None;
    }
    let Some(symbols) = place.symbols else {
        report.error(Code::E0307, span, format!("`{name}` is not a constant"));
        return None;
    };
    let found = match entity {
        Entity::Var(v) => Some(symbols.vars[*v].1),
        Entity::Steps => symbols.steps.map(|(_, s)| s),
        Entity::Location(i) => symbols.locations[*i],
        Entity::State(i, k) => {
            let sort = pool.symbol(symbols.locations[*i]?).sort;
            let Sort::Enum(id) = sort else { return None };
            return Some(pool.constant(gander_term::Value::Enum(id, *k)));
        }
        Entity::Instance => {
            let diagnostic =
                Diagnostic::new(Code::E0208, span, format!("`{name}` is an instance, not a value"));
            report.add(diagnostic.help(format!("write `{name}.x` for its variable `x`")));
            return None;
        }
        Entity::Const(_) | Entity::Broken => None,
    };
    found.map(|s| pool.var(s))
}

fn member_term(
    instance: &super::syntax::Name,
    member: &super::syntax::Name,
    pool: &mut Pool,
    place: &Place<'_>,
    report: &mut Report,
) -> Option<TermId> {
    let Some(instances) = place.instances else {
        let message = format!(
            "`{}.{}`: a process sees only its own variables and the global ones",
            instance.text, member.text
        );
        let diagnostic = Diagnostic::new(Code::E0702, instance.span, message);
        report.add(diagnostic.help("make the variable global if both processes need it"));
        return None;
    };
    let Some(found) = instances.iter().find(|i| i.name == instance.text) else {
        let near = nearest(&instance.text, instances.iter().map(|i| i.name.as_str()));
        let message = format!("there is no instance `{}` in the program", instance.text);
        report.add(Diagnostic::new(Code::E0702, instance.span, message).did_you_mean(near));
        return None;
    };
    match found.scope.get(&member.text) {
        Some((entity, _)) => symbol(entity, &member.text, member.span, pool, place, report),
        None => {
            let mut known: Vec<&str> = found.scope.keys().map(String::as_str).collect();
            known.sort_unstable();
            let near = nearest(&member.text, known);
            let message =
                format!("the instance `{}` has no variable `{}`", instance.text, member.text);
            report.add(Diagnostic::new(Code::E0702, member.span, message).did_you_mean(near));
            None
        }
    }
}
