//! Prints terms in SMT-LIB. An enumeration value is printed as an int, its position.

use gander_term::smtlib::{self, Dialect, EnumStyle, Piece};
use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::Refusal;
use crate::encode::flat::Flat;
use crate::text::printer::Style;

/// The SMT-LIB style, with the names of symbols.
pub(crate) struct SmtLib {
    pub names: FxHashMap<SymbolId, String>,
}

/// The name of a sort.
pub(crate) fn sort_name(pool: &Pool, sort: Sort) -> Result<String, Refusal> {
    if let Sort::Array(a) = sort
        && !sort.enumerations().is_empty()
    {
        // An enumeration is a subset of the ints. Two arrays that are equal on the subset could
        // differ elsewhere, and would not be equal as SMT-LIB arrays.
        let part = if matches!(a.index(), Sort::Enum(_)) { "over" } else { "of" };
        return Err(Refusal(format!(
            "an array {part} an enumeration cannot be written in this language"
        )));
    }
    if has_strings(sort) {
        return Err(Refusal("strings cannot be written in this language".to_string()));
    }
    Ok(smtlib::sort_name(pool, EnumStyle::Ints, sort))
}

/// Recurses over nested arrays only, whose depth is limited.
fn has_strings(sort: Sort) -> bool {
    match sort {
        Sort::Array(a) => has_strings(a.index()) || has_strings(a.element()),
        other => other == Sort::String,
    }
}

impl SmtLib {
    /// The style for a flat system: a current value has the variable's name, a next one the suffix
    /// `.next`.
    pub(crate) fn of(flat: &Flat) -> SmtLib {
        let mut names = FxHashMap::default();
        for v in &flat.vars {
            names.insert(v.current, v.name.clone());
            names.insert(v.next, format!("{}.next", v.name));
        }
        for (name, _, symbol) in &flat.params {
            names.insert(*symbol, name.clone());
        }
        SmtLib { names }
    }

    /// The constraint that a variable is within its enumeration.
    pub(crate) fn domain(pool: &Pool, sort: Sort, name: &str) -> Option<String> {
        match sort {
            Sort::Enum(id) => Some(format!(
                "(and (<= 0 {name}) (< {name} {}))",
                pool.enumeration(id).variants.len()
            )),
            _ => None,
        }
    }
}

impl Style for SmtLib {
    fn write(&self, pool: &Pool, t: TermId, args: &[&str]) -> Result<String, Refusal> {
        let refuse = |what: &str| Refusal(format!("{what} cannot be written in this language"));
        let mut text = String::new();
        match pool.op(t) {
            Op::Symbol(s) => match self.names.get(&s) {
                Some(name) => text.push_str(name),
                None => return Err(refuse(&format!("the symbol `{}`", pool.symbol(s).name))),
            },
            Op::Bool(b) => text.push_str(if b { "true" } else { "false" }),
            Op::Const(v) => {
                let value = pool.value(v);
                match value {
                    Value::Str(_) => return Err(refuse("a string")),
                    Value::Array(_) => drop(sort_name(pool, value.sort())?),
                    _ => {}
                }
                smtlib::push_value(&mut text, pool, EnumStyle::Ints, value)
                    .map_err(|what| refuse(&what.0))?;
            }
            Op::Concat => return Err(refuse("a string")),
            Op::Forall | Op::Exists => return Err(refuse("a quantifier")),
            op => {
                if matches!(op, Op::ConstArray(_)) {
                    sort_name(pool, pool.sort(t))?;
                }
                let mut pieces = Vec::new();
                let dialect = (EnumStyle::Ints, Dialect::File);
                smtlib::push_operator(&mut pieces, pool, dialect, t)
                    .map_err(|what| refuse(&what.0))?;
                for piece in pieces {
                    match piece {
                        Piece::Text(fixed) => text.push_str(fixed),
                        Piece::Owned(fixed) => text.push_str(&fixed),
                        Piece::Argument(i) => text.push_str(args[i]),
                    }
                }
            }
        }
        Ok(text)
    }

    fn define(&self, name: &str, pool: &Pool, sort: Sort, body: &str) -> String {
        let sort = sort_name(pool, sort).unwrap_or_default();
        format!("(define-fun {name} () {sort} {body})\n")
    }

    fn prefix(&self) -> String {
        ".d".to_string()
    }
}
