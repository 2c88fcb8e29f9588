//! Formulas without the names of internal streams.
//!
//! The front-end of Lustre gives expressions below `pre`, and formulas of properties that are no
//! streams, names such as `pre#1` and `formula#1`. A reader does not know these. A conjunct that
//! defines such a stream is used to replace it in the others, and is not shown: on the author's
//! streams the rest says the same. A stream without such a conjunct is shown as the author's
//! expression.

use gander_report::describe::instance_and_name;
use gander_system::{Effect, StateVar, StreamKind, System};
use gander_term::{Op, Pool, Simplifier, SymbolId, TermId};
use rustc_hash::FxHashMap;

/// The conjuncts to show, each with its position in `parts`.
pub(super) fn without_internal_streams(
    system: &System,
    source: &str,
    pool: &mut Pool,
    parts: &[TermId],
) -> Vec<(usize, TermId)> {
    let internal: FxHashMap<SymbolId, &StateVar> =
        system.vars().iter().filter(|v| is_internal(v)).map(|v| (v.current, v)).collect();
    let mut shown: Vec<(usize, TermId)> = parts.iter().copied().enumerate().collect();
    if internal.is_empty() {
        return shown;
    }
    let definitions: Vec<(usize, SymbolId)> = shown
        .iter()
        .filter_map(|&(at, part)| Some((at, defined_stream(system, pool, &internal, part)?)))
        .collect();
    for (number, symbol) in definitions {
        let Some(at) = shown.iter().position(|(other, _)| *other == number) else { continue };
        let Some(value) = value_of(pool, symbol, shown[at].1) else { continue };
        let _ = shown.remove(at);
        let map = FxHashMap::from_iter([(symbol, value)]);
        for (_, part) in &mut shown {
            *part = pool.substitute(*part, &map);
        }
    }
    let terms: Vec<TermId> = shown.iter().map(|(_, part)| *part).collect();
    let mut names: FxHashMap<SymbolId, TermId> = FxHashMap::default();
    for symbol in pool.free_symbols(&terms) {
        let Some(text) = internal.get(&symbol).and_then(|var| as_written(var, source)) else {
            continue;
        };
        let name = pool.declare_fresh(&text, pool.symbol(symbol).sort);
        names.insert(symbol, pool.var(name));
    }
    for (_, part) in &mut shown {
        *part = pool.substitute(*part, &names);
    }
    shown
}

fn is_internal(var: &StateVar) -> bool {
    let (_, name) = instance_and_name(&var.name);
    var.stream == Some(StreamKind::Internal)
        && (name.starts_with("pre#") || name.starts_with("formula#"))
}

/// The internal stream whose equation a conjunct is. Other equations say something about the
/// stream, and have to be shown.
fn defined_stream(
    system: &System,
    pool: &mut Pool,
    internal: &FxHashMap<SymbolId, &StateVar>,
    part: TermId,
) -> Option<SymbolId> {
    let (Op::Eq, &[a, b]) = (pool.op(part), pool.args(part)) else { return None };
    let is_stream = |t: TermId| match pool.op(t) {
        Op::Symbol(s) if internal.contains_key(&s) => Some(s),
        _ => None,
    };
    let (symbol, value) = is_stream(a).map(|s| (s, b)).or_else(|| is_stream(b).map(|s| (s, a)))?;
    let primes: FxHashMap<SymbolId, TermId> =
        system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
    let (stream, value) = (primes[&symbol], pool.substitute(value, &primes));
    // Conjuncts may have been simplified.
    let mut simplifier = Simplifier::new();
    let value = simplifier.simplify(pool, value);
    let effects = system.transitions().iter().flat_map(|t| &t.effect);
    let own_values: Vec<TermId> = effects
        .filter_map(|effect| match *effect {
            Effect::Assign { var, value, .. } => {
                (system.var(var).current == symbol).then_some(value.term())
            }
            Effect::Constrain { relation, .. } => {
                let relation = relation.term();
                match *pool.args(relation) {
                    _ if pool.op(relation) != Op::Eq => None,
                    [a, b] if a == stream => Some(b),
                    [a, b] if b == stream => Some(a),
                    _ => None,
                }
            }
            Effect::Keep { .. } => None,
        })
        .collect();
    own_values.into_iter().any(|own| simplifier.simplify(pool, own) == value).then_some(symbol)
}

/// The other side of an equation of a stream; `None` if that reads the stream.
fn value_of(pool: &Pool, symbol: SymbolId, equation: TermId) -> Option<TermId> {
    let (Op::Eq, &[a, b]) = (pool.op(equation), pool.args(equation)) else { return None };
    let is_stream = |t: TermId| matches!(pool.op(t), Op::Symbol(s) if s == symbol);
    let value = if is_stream(a) { b } else { a };
    (!pool.free_symbols(&[value]).contains(&symbol)).then_some(value)
}

/// The author's expression for an internal stream, with the instance that it belongs to.
fn as_written(var: &StateVar, source: &str) -> Option<String> {
    let span = var.span?;
    let text = source.get(span.start as usize..span.end as usize)?;
    let (instance, name) = instance_and_name(&var.name);
    let text = match name.starts_with("pre#") {
        true => text.strip_prefix("pre").filter(|rest| rest.starts_with([' ', '(', '\n']))?,
        false => formula_of(text),
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    let enclosed = text.starts_with('(') && text.find(')') == Some(text.len() - 1);
    let text = if simple || enclosed { text } else { format!("({text})") };
    Some(if instance.is_empty() { text } else { format!("{instance}.{text}") })
}

/// Words that begin a statement with a formula.
const STATEMENTS: [&str; 6] = ["check", "guarantee", "ensure", "require", "assume", "assert"];

/// The formula of a statement such as `check "name" formula;`.
fn formula_of(statement: &str) -> &str {
    let text = statement.trim().trim_end_matches(';');
    let Some(rest) = STATEMENTS.iter().find_map(|word| text.strip_prefix(word)) else {
        return text;
    };
    let rest = rest.trim_start();
    let named = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    named.map_or(rest, |(_, formula)| formula).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_of_a_statement_is_shown_without_its_name() {
        for (statement, formula) in [
            ("check \"g\" y + 1 >= 0;", "y + 1 >= 0"),
            ("check y >= 0;", "y >= 0"),
            ("true -> pre ok", "true -> pre ok"),
        ] {
            assert_eq!(formula_of(statement), formula);
        }
    }
}
