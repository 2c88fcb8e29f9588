//! Guessed solutions: small values, and values next to the constants of the formula.
//!
//! A guess counts only if the formula evaluates to true.

use gander_term::{IBig, Pool, RBig, Sort, SymbolId, TermId, Value, evaluate};

use crate::discharge::Model;

/// Formulas with more terms are not tried.
const MAX_TERMS: usize = 64;

/// Formulas with more free symbols are not tried.
const MAX_SYMBOLS: usize = 3;

/// The number of guesses per formula.
const MAX_GUESSES: usize = 32;

/// A model of the formula, if one of the guesses is one.
pub(crate) fn guess_model(pool: &Pool, formula: TermId) -> Option<Model> {
    let symbols = pool.free_symbols(&[formula]);
    if symbols.is_empty() || symbols.len() > MAX_SYMBOLS || pool.has_quantifier(formula) {
        return None;
    }
    let terms = pool.postorder(&[formula]);
    if terms.len() > MAX_TERMS {
        return None;
    }
    let constants: Vec<Value> = terms.iter().filter_map(|&t| pool.as_constant(t)).collect();
    let values: Vec<Vec<Value>> = symbols.iter().map(|&s| guesses(pool, s, &constants)).collect();
    let all: usize = values.iter().map(Vec::len).product();
    for guess in 0..all.min(MAX_GUESSES) {
        let mut rest = guess;
        let mut model = Model::with_capacity(symbols.len());
        for (&s, values) in symbols.iter().zip(&values) {
            model.push((s, values[rest % values.len()].clone()));
            rest /= values.len();
        }
        let look_up = |s: SymbolId| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
        if evaluate(pool, formula, &look_up) == Ok(Value::Bool(true)) {
            return Some(model);
        }
    }
    None
}

/// The values to try for a symbol.
fn guesses(pool: &Pool, s: SymbolId, constants: &[Value]) -> Vec<Value> {
    let mut values = match pool.symbol(s).sort {
        Sort::Bool => vec![Value::Bool(true), Value::Bool(false)],
        Sort::Enum(id) => {
            (0..pool.enumeration(id).variants.len() as u32).map(|i| Value::Enum(id, i)).collect()
        }
        Sort::String => vec![Value::str("")],
        Sort::Int => vec![Value::int(1), Value::int(0)],
        Sort::Real => vec![Value::whole(1), Value::whole(0)],
        Sort::BitVec(width) => [0, 1, -1].map(|i| Value::bits(width, i)).into(),
        sort @ Sort::Array(_) => vec![sort.first_value()],
    };
    for c in constants {
        match (pool.symbol(s).sort, c) {
            (Sort::Int, Value::Int(i)) => {
                values.extend([i.clone(), i + IBig::ONE, i - IBig::ONE].map(Value::Int));
            }
            (Sort::Real, Value::Real(r)) => {
                values.extend([r.clone(), r + RBig::ONE, r - RBig::ONE].map(Value::Real));
            }
            (Sort::BitVec(width), Value::BitVec(v)) if v.width() == width => {
                let i = v.unsigned();
                values.extend(
                    [i.clone(), i.clone() + IBig::ONE, i - IBig::ONE]
                        .map(|i| Value::bits(width, i)),
                );
            }
            (Sort::String, Value::Str(_)) => values.push(c.clone()),
            (sort @ Sort::Array(_), Value::Array(_)) if c.sort() == sort => values.push(c.clone()),
            _ => {}
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guessed_model_satisfies_the_formula() {
        let mut pool = Pool::new();
        let (d, e) = (pool.variable("d", Sort::Int), pool.variable("e", Sort::Int));
        let (five, seven) = (pool.int(5), pool.int(7));
        let (above, below) = (pool.lt(five, d), pool.lt(d, seven));
        let between = pool.and([above, below]);
        let model = guess_model(&pool, between).unwrap();
        assert_eq!(model, [(pool.as_symbol(d).unwrap(), Value::int(6))]);
        let two = pool.int(2);
        let double = pool.mul(two, d);
        let odd = pool.eq(double, seven);
        assert_eq!(guess_model(&pool, odd), None);
        // The only solution, d = 6 and e = 94, is not among the guesses.
        let (sum, hundred) = (pool.add(d, e), pool.int(100));
        let both = pool.eq(sum, hundred);
        let far = pool.and([both, between]);
        assert_eq!(guess_model(&pool, far), None);
    }
}
