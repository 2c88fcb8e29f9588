//! Formulas as a solver prints them in a model, read back into terms.

use std::collections::HashMap;

use gander_term::{Op, Pool, Sort, SymbolId, TermId, Value};

use crate::answer::Reason;
use crate::dialect::EnumStyle;
use crate::sexpr::{Sexpr, shortened};
use crate::value;

/// The formulas of the predicates `p0@!`, `p1@!`, ... in a model, over the given parameters.
pub(super) fn formulas(pool: &mut Pool, predicates: &[Vec<SymbolId>], model: &Sexpr) -> Result<Vec<TermId>, Reason> {
    let unreadable = |what: &Sexpr| Reason::Unsupported(format!("reading back `{}`", shortened(&what.to_string())));
    let items = model.list().ok_or_else(|| unreadable(model))?;
    let mut found: Vec<Option<TermId>> = vec![None; predicates.len()];
    for item in items {
        let Some([head, name, parameters, _, body]) = item.list() else { continue };
        if head.atom() != Some("define-fun") {
            continue;
        }
        let number = name.atom().and_then(|n| n.strip_prefix('p')?.strip_suffix("@!")?.parse::<usize>().ok());
        let Some(number) = number.filter(|&n| n < predicates.len()) else {
            // A function of the solver's own: a formula that uses it cannot be read.
            continue;
        };
        let parameters = parameters.list().ok_or_else(|| unreadable(item))?;
        if parameters.len() != predicates[number].len() {
            return Err(unreadable(item));
        }
        let mut names: HashMap<&str, TermId> = HashMap::new();
        for (printed, &symbol) in parameters.iter().zip(&predicates[number]) {
            let name = printed.list().and_then(|p| p.first()).and_then(Sexpr::atom).ok_or_else(|| unreadable(item))?;
            names.insert(name, pool.var(symbol));
        }
        let formula = Reader { pool, scopes: vec![names] }.term(body).ok_or_else(|| unreadable(body))?;
        if pool.sort(formula) != Sort::Bool {
            return Err(unreadable(body));
        }
        found[number] = Some(formula);
    }
    // A predicate that the model does not mention can be anything.
    Ok(found.into_iter().map(|f| f.unwrap_or_else(|| pool.tt())).collect())
}

/// Reads a formula as tools print it that write SMT-LIB, with what its free names stand for. None if there is something in it
/// that has no meaning here, or if it is no formula.
pub fn read_formula(pool: &mut Pool, names: &HashMap<String, TermId>, printed: &Sexpr) -> Option<TermId> {
    let scope = names.iter().map(|(name, term)| (name.as_str(), *term)).collect();
    let formula = Reader { pool, scopes: vec![scope] }.term(printed)?;
    (pool.sort(formula) == Sort::Bool).then_some(formula)
}

struct Reader<'p, 's> {
    pool: &'p mut Pool,
    /// What `let`s and parameters are called, the innermost last.
    scopes: Vec<HashMap<&'s str, TermId>>,
}

/// What is left to do to read a term.
enum Task<'s> {
    /// Read an expression.
    Read(&'s Sexpr),
    /// Apply a function to the last so many terms.
    Apply(&'s str, usize),
    /// Give the last terms names, in the expression.
    Bind(Vec<&'s str>, &'s Sexpr),
    /// Forget the innermost names.
    Unbind,
    /// `((_ is variant) term)`, about the last term.
    Test(&'s Sexpr),
}

impl<'s> Reader<'_, 's> {
    /// Without recursion: what was printed may be nested as deep as the reader of expressions lets it.
    fn term(&mut self, e: &'s Sexpr) -> Option<TermId> {
        let mut tasks = vec![Task::Read(e)];
        let mut done: Vec<TermId> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Read(Sexpr::List(items)) => Self::open(items, &mut tasks)?,
                Task::Read(leaf) => done.push(self.leaf(leaf)?),
                Task::Apply(head, count) => {
                    let args = done.split_off(done.len().checked_sub(count)?);
                    done.push(self.apply(head, args)?);
                }
                Task::Bind(names, body) => {
                    let bound = done.split_off(done.len().checked_sub(names.len())?);
                    self.scopes.push(names.into_iter().zip(bound).collect());
                    tasks.extend([Task::Unbind, Task::Read(body)]);
                }
                Task::Unbind => {
                    self.scopes.pop();
                }
                Task::Test(variant) => {
                    let term = done.pop()?;
                    let variant = self.constant(self.pool.sort(term), variant)?;
                    done.push(self.pool.eq(term, variant));
                }
            }
        }
        done.pop()
    }

    fn leaf(&mut self, e: &Sexpr) -> Option<TermId> {
        let Sexpr::Atom(a) = e else { return self.constant(Sort::String, e) };
        if let Some(&known) = self.scopes.iter().rev().find_map(|s| s.get(a.as_str())) {
            return Some(known);
        }
        match a.as_str() {
            "true" => Some(self.pool.tt()),
            "false" => Some(self.pool.ff()),
            _ if a.starts_with(|c: char| c.is_ascii_digit()) => {
                let sort = if a.contains('.') { Sort::Real } else { Sort::Int };
                self.constant(sort, e)
            }
            _ => self.pool.enumerations().find_map(|id| self.constant(Sort::Enum(id), e)),
        }
    }

    fn constant(&mut self, sort: Sort, e: &Sexpr) -> Option<TermId> {
        let value: Value = value::read(self.pool, EnumStyle::Datatypes, sort, e).ok()?;
        Some(self.pool.constant(value))
    }

    /// What is to be done for a list; the last task comes first.
    fn open(items: &'s [Sexpr], tasks: &mut Vec<Task<'s>>) -> Option<()> {
        let (head, rest) = items.split_first()?;
        match head.atom() {
            None => {
                let ([underscore, is, variant], [term]) = (head.list()?, rest) else { return None };
                if (underscore.atom(), is.atom()) != (Some("_"), Some("is")) {
                    return None;
                }
                // Z3 prints the constructor with its signature.
                let variant = variant.list().and_then(|l| l.first()).unwrap_or(variant);
                tasks.extend([Task::Test(variant), Task::Read(term)]);
            }
            Some("let") => {
                let [bindings, body] = rest else { return None };
                let (mut names, mut bound) = (Vec::new(), Vec::new());
                for binding in bindings.list()? {
                    let [name, value] = binding.list()? else { return None };
                    names.push(name.atom()?);
                    bound.push(Task::Read(value));
                }
                tasks.push(Task::Bind(names, body));
                tasks.extend(bound.into_iter().rev());
            }
            Some("!") => tasks.push(Task::Read(rest.first()?)),
            Some(head) => {
                tasks.push(Task::Apply(head, rest.len()));
                tasks.extend(rest.iter().rev().map(Task::Read));
            }
        }
        Some(())
    }

    fn apply(&mut self, head: &str, mut args: Vec<TermId>) -> Option<TermId> {
        let pool = &mut *self.pool;
        // Numbers of one sort: ints among reals are converted.
        let mixed = args.iter().any(|&a| pool.sort(a) == Sort::Real) && args.iter().any(|&a| pool.sort(a) == Sort::Int);
        if mixed {
            for a in &mut args {
                if pool.sort(*a) == Sort::Int {
                    *a = pool.mk(Op::ToReal, &[*a]).ok()?;
                }
            }
        }
        let chain = |pool: &mut Pool, op: Op| {
            let pairs: Option<Vec<TermId>> = args.windows(2).map(|w| pool.mk(op, w).ok()).collect();
            Some(pool.and(pairs?))
        };
        match head {
            "and" | "or" if args.iter().any(|&a| pool.sort(a) != Sort::Bool) => None,
            "and" => Some(pool.and(args)),
            "or" => Some(pool.or(args)),
            "not" => pool.mk(Op::Not, &args).ok(),
            "=>" => pool.mk(Op::Implies, &args).ok(),
            "ite" => pool.mk(Op::Ite, &args).ok(),
            "=" => chain(pool, Op::Eq),
            "<" => chain(pool, Op::Lt),
            "<=" => chain(pool, Op::Le),
            ">" => chain(pool, Op::Gt),
            ">=" => chain(pool, Op::Ge),
            "distinct" => {
                let [a, b] = args[..] else { return None };
                let equal = pool.mk(Op::Eq, &[a, b]).ok()?;
                Some(pool.not(equal))
            }
            "+" | "*" if args.len() == 1 => args.first().copied(),
            "+" => pool.mk(Op::Add, &args).ok(),
            "*" => pool.mk(Op::Mul, &args).ok(),
            "-" if args.len() == 1 => match pool.as_constant(args[0]) {
                Some(Value::Int(i)) => Some(pool.constant(Value::Int(-i))),
                Some(Value::Real(r)) => Some(pool.constant(Value::Real(-r))),
                _ => pool.mk(Op::Neg, &args).ok(),
            },
            "-" => {
                let (&first, rest) = args.split_first()?;
                rest.iter().try_fold(first, |sum, &a| pool.mk(Op::Sub, &[sum, a]).ok())
            }
            "/" => pool.mk(Op::Div, &args).ok(),
            "div" => pool.mk(Op::IntDiv, &args).ok(),
            "mod" => pool.mk(Op::Mod, &args).ok(),
            "abs" => pool.mk(Op::Abs, &args).ok(),
            "to_real" => pool.mk(Op::ToReal, &args).ok(),
            "to_int" => pool.mk(Op::ToInt, &args).ok(),
            "select" => pool.mk(Op::Select, &args).ok(),
            "store" => pool.mk(Op::Store, &args).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, Reason> {
        let mut pool = Pool::new();
        let symbols = [("x", Sort::Int), ("r", Sort::Real), ("b", Sort::Bool)];
        let symbols: Vec<SymbolId> = symbols.iter().map(|(n, s)| pool.declare(n, *s).unwrap()).collect();
        let model = format!("((define-fun p0@! ((x!0 Int) (x!1 Real) (x!2 Bool)) Bool {text}))");
        let model = Sexpr::parse(model.as_bytes()).unwrap();
        let found = formulas(&mut pool, &[symbols], &model)?;
        Ok(pool.display(found[0]).to_string())
    }

    #[test]
    fn what_solvers_print_is_read_back() {
        assert_eq!(read("(and x!2 (not (= (mod x!0 2) (- 1))))").unwrap(), "b and x mod 2 != -1");
        assert_eq!(read("(let ((a!1 (+ x!0 (* (- 2) x!0)))) (<= a!1 3))").unwrap(), "x + -2 * x <= 3");
        assert_eq!(read("(<= (* 2.0 x!1) (to_real x!0))").unwrap(), "2.0 * r <= to_real(x)");
        assert_eq!(read("(let ((a!1 x!2)) (let ((a!1 (not a!1))) a!1))").unwrap(), "not b");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for bad in ["(forall ((y Int)) (= y x!0))", "(f x!0)", "(+ x!0 1)", "(and x!0 x!2)", "y"] {
            assert!(matches!(read(bad), Err(Reason::Unsupported(_))), "{bad}");
        }
    }

    /// As deep as the reader of expressions allows, on a small stack.
    #[test]
    fn what_is_nested_deeply_is_read_without_recursion() {
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
        // A message with part of what was printed.
        assert!(read(&deep("(+ 1 ", "x!0", 990)).is_err());
        assert!(read(&deep("(unknown ", "x!2", 990)).is_err());
    }

    #[test]
    fn testers_are_equations() {
        let mut pool = Pool::new();
        let color = pool.declare_enum("Color", &["red", "green"]).unwrap();
        let c = pool.declare("c", Sort::Enum(color)).unwrap();
        let names = HashMap::from([("c".to_string(), pool.var(c))]);
        let red = crate::names::enum_variant("Color", "red");
        for text in [format!("((_ is {red}) c)"), format!("((_ is ({red} () Color)) c)")] {
            let printed = Sexpr::parse(text.as_bytes()).unwrap();
            let formula = read_formula(&mut pool, &names, &printed).unwrap();
            assert_eq!(pool.display(formula).to_string(), "c == Color.red");
        }
    }
}
