//! Parses the formulas of a solver's model into terms.

use std::collections::HashMap;

use gander_term::smtlib::{self, Meaning, Reading, Sexpr, TermReader, shortened};
use gander_term::{Pool, Sort, SymbolId, TermId, Value};

use crate::session::answer::Reason;

/// The formulas of the predicates `p0@!`, `p1@!`, ... in a model, over the given parameters.
pub(super) fn formulas(
    pool: &mut Pool,
    predicates: &[Vec<SymbolId>],
    model: Sexpr<'_>,
) -> Result<Vec<TermId>, Reason> {
    let unreadable = |what: Sexpr<'_>| {
        Reason::Unsupported(format!("reading back `{}`", shortened(&what.to_string())))
    };
    let items = model.list().ok_or_else(|| unreadable(model))?;
    let mut found: Vec<Option<TermId>> = vec![None; predicates.len()];
    for item in items {
        let Some([head, name, parameters, _, body]) = item.elements() else { continue };
        if head.atom() != Some("define-fun") {
            continue;
        }
        let number = name
            .atom()
            .and_then(|n| n.strip_prefix('p')?.strip_suffix("@!")?.parse::<usize>().ok());
        let Some(number) = number.filter(|&n| n < predicates.len()) else {
            // An auxiliary function of the solver: a formula that uses it cannot be parsed.
            continue;
        };
        let parameters = parameters.list().ok_or_else(|| unreadable(item))?;
        if parameters.len() != predicates[number].len() {
            return Err(unreadable(item));
        }
        let mut names: HashMap<String, TermId> = HashMap::new();
        for (printed, &symbol) in parameters.iter().zip(&predicates[number]) {
            let name = printed.list().and_then(|p| p.first()?.atom());
            let name = name.ok_or_else(|| unreadable(item))?;
            names.insert(name.to_string(), pool.var(symbol));
        }
        found[number] = Some(read_formula(pool, &names, body).ok_or_else(|| unreadable(body))?);
    }
    // A predicate that the model does not mention can be any relation.
    Ok(found.into_iter().map(|f| f.unwrap_or_else(|| pool.tt())).collect())
}

/// Parses a formula in SMT-LIB form; `names` gives the terms of its free names. `None` if it
/// contains something unknown, or is not a formula.
pub fn read_formula(
    pool: &mut Pool,
    names: &HashMap<String, TermId>,
    printed: Sexpr<'_>,
) -> Option<TermId> {
    let variants = variants(pool);
    let mut reader = TermReader::new(printed.tree(), Reading::Solver);
    let known = variants.iter().chain(names);
    reader.scope.extend(known.map(|(name, term)| (name.as_str(), Meaning::Term(*term))));
    let formula = reader.term(pool, printed.id()).ok()?;
    (pool.sort(formula) == Sort::Bool).then_some(formula)
}

/// The variants of all enumerations, by the names that solvers know.
fn variants(pool: &mut Pool) -> HashMap<String, TermId> {
    let mut found = HashMap::new();
    for id in pool.enumerations().collect::<Vec<_>>() {
        let e = pool.enumeration(id);
        let name = |v: &String| smtlib::enum_variant(&e.name, v).trim_matches('|').to_string();
        let names: Vec<String> = e.variants.iter().map(name).collect();
        for (position, name) in names.into_iter().enumerate() {
            found.insert(name, pool.constant(Value::Enum(id, position as u32)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::smtlib::{Tree, TreeConfig};

    fn read(text: &str) -> Result<String, Reason> {
        let mut pool = Pool::new();
        let symbols = [("x", Sort::Int), ("r", Sort::Real), ("b", Sort::Bool)];
        let symbols: Vec<SymbolId> =
            symbols.iter().map(|(n, s)| pool.declare(n, *s).unwrap()).collect();
        let model = format!("((define-fun p0@! ((x!0 Int) (x!1 Real) (x!2 Bool)) Bool {text}))");
        let model = Tree::parse_one(model.as_bytes(), TreeConfig::SOLVER).unwrap();
        let found = formulas(&mut pool, &[symbols], model.root())?;
        Ok(pool.display(found[0]).to_string())
    }

    #[test]
    fn formulas_of_solvers_are_parsed() {
        assert_eq!(read("(and x!2 (not (= (mod x!0 2) (- 1))))").unwrap(), "b and x mod 2 != -1");
        assert_eq!(
            read("(let ((a!1 (+ x!0 (* (- 2) x!0)))) (<= a!1 3))").unwrap(),
            "x + -2 * x <= 3"
        );
        assert_eq!(read("(<= (* 2.0 x!1) (to_real x!0))").unwrap(), "2.0 * r <= to_real(x)");
        assert_eq!(read("(let ((a!1 x!2)) (let ((a!1 (not a!1))) a!1))").unwrap(), "not b");
    }

    #[test]
    fn unknown_expressions_are_reported() {
        for bad in ["(forall ((y Int)) (= y x!0))", "(f x!0)", "(+ x!0 1)", "(and x!0 x!2)", "y"] {
            assert!(matches!(read(bad), Err(Reason::Unsupported(_))), "{bad}");
        }
    }

    /// As deep as the parser of S-expressions allows, on a small stack.
    #[test]
    fn deeply_nested_formulas_are_parsed_without_recursion() {
        fn deep(open: &str, middle: &str, count: usize) -> String {
            format!("{}{middle}{}", open.repeat(count), ")".repeat(count))
        }
        let run = || {
            assert!(read(&format!("(= 5 {})", deep("(+ 1 ", "x!0", 900))).is_ok());
            assert!(read(&deep("(and x!2 ", "x!2", 990)).is_ok());
            assert!(read(&deep("(let ((a x!2)) ", "a", 990)).is_ok());
            assert!(read(&deep("(! ", "x!2", 990)).is_ok());
            let lets = format!("{}x!2{}", "(let ((a ".repeat(320), ")) a)".repeat(320));
            assert_eq!(read(&lets).unwrap(), "b");
        };
        let small = std::thread::Builder::new().stack_size(1 << 18);
        small.spawn(run).unwrap().join().unwrap();
        // The message has a part of the output.
        assert!(read(&deep("(+ 1 ", "x!0", 990)).is_err());
        assert!(read(&deep("(unknown ", "x!2", 990)).is_err());
    }

    #[test]
    fn testers_are_equations() {
        let mut pool = Pool::new();
        let color = pool.declare_enum("Color", &["red", "green"]).unwrap();
        let c = pool.declare("c", Sort::Enum(color)).unwrap();
        let names = HashMap::from([("c".to_string(), pool.var(c))]);
        let red = smtlib::enum_variant("Color", "red");
        for text in [format!("((_ is {red}) c)"), format!("((_ is ({red} () Color)) c)")] {
            let printed = Tree::parse_one(text.as_bytes(), TreeConfig::SOLVER).unwrap();
            let formula = read_formula(&mut pool, &names, printed.root()).unwrap();
            assert_eq!(pool.display(formula).to_string(), "c == Color.red");
        }
    }
}
