//! Values as solvers print them.

use gander_term::smtlib::{self, EnumStyle, Sexpr};
use gander_term::{ArraySort, ArrayValue, BitVec, IBig, Pool, RBig, Sort, Value, Width};

/// Why a printed value cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadValue {
    /// An algebraic number that is not rational.
    Irrational,
    /// It does not have the expected sort.
    WrongSort(String),
}

/// Parses a value in SMT-LIB form; a value of an enumeration is its position. `None` if it is not a
/// value of the sort.
pub fn read_value(pool: &Pool, sort: Sort, printed: Sexpr<'_>) -> Option<Value> {
    read(pool, EnumStyle::Ints, sort, printed).ok()
}

/// Parses the value of a term of this sort.
pub(crate) fn read(
    pool: &Pool,
    enums: EnumStyle,
    sort: Sort,
    printed: Sexpr<'_>,
) -> Result<Value, BadValue> {
    let wrong =
        || BadValue::WrongSort(format!("`{printed}` is no value of sort {}", sort.name(pool)));
    match sort {
        Sort::Bool => match printed.atom() {
            Some("true") => Ok(Value::Bool(true)),
            Some("false") => Ok(Value::Bool(false)),
            _ => Err(wrong()),
        },
        Sort::Int => {
            let r = number(printed)?.ok_or_else(wrong)?;
            if r.is_int() { Ok(Value::Int(r.numerator().clone())) } else { Err(wrong()) }
        }
        Sort::Real => Ok(Value::Real(number(printed)?.ok_or_else(wrong)?)),
        Sort::String => {
            let text = printed.string().and_then(|text| smtlib::unescape(&text));
            text.map(|text| Value::str(&text)).ok_or_else(wrong)
        }
        Sort::Enum(id) => {
            let e = pool.enumeration(id);
            let position = match enums {
                EnumStyle::Datatypes => {
                    // `(as Variant Sort)` is another spelling of `Variant`.
                    let atom = match printed.elements() {
                        Some([head, variant, _]) if head.atom() == Some("as") => variant.atom(),
                        _ => printed.atom(),
                    };
                    let atom = atom.ok_or_else(wrong)?;
                    e.variants
                        .iter()
                        .position(|v| smtlib::enum_variant(&e.name, v).trim_matches('|') == atom)
                }
                EnumStyle::Ints => match number(printed)? {
                    Some(r) if r.is_int() => {
                        usize::try_from(r.numerator()).ok().filter(|&i| i < e.variants.len())
                    }
                    _ => None,
                },
            };
            position.map(|i| Value::Enum(id, i as u32)).ok_or_else(wrong)
        }
        Sort::BitVec(width) => bits(width, printed).map(Value::BitVec).ok_or_else(wrong),
        Sort::Array(array) => {
            read_array(pool, enums, array, printed, &Lets::default())?.ok_or_else(wrong)
        }
    }
}

/// Names bound by `let`, the innermost last.
type Lets<'s> = Vec<(&'s str, Sexpr<'s>)>;

/// An array: `((as const S) v)`, `(store a i v)`, possibly inside `let`. `Ok(None)` for other
/// forms. Recurses over nested arrays; the parser of S-expressions bounds their depth.
fn read_array<'s>(
    pool: &Pool,
    enums: EnumStyle,
    sort: ArraySort,
    printed: Sexpr<'s>,
    lets: &Lets<'s>,
) -> Result<Option<Value>, BadValue> {
    let (mut lets, mut at) = (lets.clone(), printed);
    let mut elements = Vec::new();
    // Every step goes to a subexpression or to an outer binding, so there are at most as many steps
    // as expressions.
    let default = loop {
        if let Some(atom) = at.atom() {
            let Some(known) = lets.iter().rposition(|(name, _)| *name == atom) else {
                return Ok(None);
            };
            at = lets[known].1;
            lets.truncate(known);
            continue;
        }
        match at.list().as_deref() {
            Some(&[head, bindings, body]) if head.atom() == Some("let") => {
                let Some(bindings) = bindings.list() else { return Ok(None) };
                // `let` binds in parallel; without repeated names that is the same as one by one.
                for binding in bindings {
                    let Some([name, bound]) = binding.elements() else { return Ok(None) };
                    let Some(name) = name.atom() else { return Ok(None) };
                    if lets.iter().any(|(other, _)| *other == name) {
                        return Ok(None);
                    }
                    lets.push((name, bound));
                }
                at = body;
            }
            Some(&[head, array, index, element]) if head.atom() == Some("store") => {
                let Some(index) = read_inside(pool, enums, sort.index(), index, &lets)? else {
                    return Ok(None);
                };
                let Some(element) = read_inside(pool, enums, sort.element(), element, &lets)?
                else {
                    return Ok(None);
                };
                elements.push((index, element));
                at = array;
            }
            Some(&[head, element]) => match head.elements() {
                Some([a, c, _]) if (a.atom(), c.atom()) == (Some("as"), Some("const")) => {
                    break read_inside(pool, enums, sort.element(), element, &lets)?;
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }
    };
    let Some(default) = default else { return Ok(None) };
    // The outermost `store` to an index counts.
    elements.reverse();
    Ok(ArrayValue::new(sort, default, elements).map(Value::array))
}

/// An index or element of an array.
fn read_inside<'s>(
    pool: &Pool,
    enums: EnumStyle,
    sort: Sort,
    printed: Sexpr<'s>,
    lets: &Lets<'s>,
) -> Result<Option<Value>, BadValue> {
    let mut printed = printed;
    if let Some(known) =
        printed.atom().and_then(|atom| lets.iter().rposition(|(name, _)| *name == atom))
    {
        printed = lets[known].1;
    }
    match sort {
        Sort::Array(array) => read_array(pool, enums, array, printed, lets),
        _ => match read(pool, enums, sort, printed) {
            Ok(value) => Ok(Some(value)),
            Err(BadValue::Irrational) => Err(BadValue::Irrational),
            Err(BadValue::WrongSort(_)) => Ok(None),
        },
    }
}

/// A bit-vector of this width: `#b0101`, `#x5f`, `(_ bv5 8)`.
fn bits(width: Width, printed: Sexpr<'_>) -> Option<BitVec> {
    if let Some(atom) = printed.atom() {
        return smtlib::bits(atom).filter(|bits| bits.width() == width);
    }
    let number: IBig = match printed.elements()? {
        [head, value, size] if head.atom() == Some("_") => {
            if size.atom()?.parse() != Ok(width.bits()) {
                return None;
            }
            let digits = value.atom()?.strip_prefix("bv")?;
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok())??
        }
        _ => return None,
    };
    BitVec::exact(width, number)
}

/// A number: `3`, `3.5`, `(- n)`, `(/ n n)`, `(to_real n)`. `Ok(None)` for other forms.
fn number(printed: Sexpr<'_>) -> Result<Option<RBig>, BadValue> {
    if let Some(atom) = printed.atom() {
        return Ok(numeral(atom));
    }
    let Some(items) = printed.list() else { return Ok(None) };
    // The parser of S-expressions bounds the depth.
    match (items.first().and_then(|head| head.atom()), items.get(1..).unwrap_or(&[])) {
        (Some("-"), &[n]) => Ok(number(n)?.map(|n| -n)),
        (Some("to_real"), &[n]) => number(n),
        (Some("/"), &[n, d]) => match (number(n)?, number(d)?) {
            (Some(n), Some(d)) if !d.is_zero() => Ok(Some(n / d)),
            _ => Ok(None),
        },
        (Some("root-obj" | "_real_algebraic_number" | "root-of-with-interval"), _) => {
            Err(BadValue::Irrational)
        }
        (Some("_"), [tag, ..]) if tag.atom() == Some("real_algebraic_number") => {
            Err(BadValue::Irrational)
        }
        _ => Ok(None),
    }
}

/// `12`, `12.50`, and `-3`, `1/3`, which some solvers print.
fn numeral(text: &str) -> Option<RBig> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.split_once('/') {
        Some((n, d)) if !n.contains('.') && !d.contains('.') => {
            let d = smtlib::rational(d).filter(|d| !d.is_zero())?;
            smtlib::rational(n)? / d
        }
        Some(_) => return None,
        None => smtlib::rational(digits)?,
    };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::smtlib::{Tree, TreeConfig};

    fn read_in(sort: Sort, text: &str) -> Result<Value, BadValue> {
        let tree = Tree::parse_one(text.as_bytes(), TreeConfig::SOLVER).unwrap();
        read(&Pool::new(), EnumStyle::Datatypes, sort, tree.root())
    }

    fn third() -> RBig {
        RBig::from(IBig::from(1)) / RBig::from(IBig::from(3))
    }

    #[test]
    fn every_form_of_a_number_is_parsed() {
        for text in ["(/ 1.0 3.0)", "(/ 1 3)", "1/3", "(- (/ (- 1.0) 3.0))", "(/ (- 1) (- 3))"] {
            assert_eq!(read_in(Sort::Real, text), Ok(Value::Real(third())), "{text}");
        }
        for text in ["(- 3)", "-3", "(- 3.0)", "(to_real (- 3))"] {
            assert_eq!(read_in(Sort::Real, text), Ok(Value::whole(-3)), "{text}");
        }
        assert_eq!(
            read_in(Sort::Real, "0.25"),
            Ok(Value::Real(RBig::from(IBig::from(1)) / RBig::from(IBig::from(4))))
        );
        assert_eq!(
            read_in(Sort::Int, "(- 12345678901234567890)"),
            Ok(Value::Int(-IBig::from(12345678901234567890u64)))
        );
    }

    #[test]
    fn every_form_of_a_bit_vector_is_parsed() {
        let byte = Sort::BitVec(Width::W8);
        for text in ["#b00000101", "#x05", "(_ bv5 8)"] {
            assert_eq!(read_in(byte, text), Ok(Value::bits(Width::W8, 5)), "{text}");
        }
        assert_eq!(read_in(byte, "#xfF"), Ok(Value::bits(Width::W8, 255)));
        for text in [
            "#b101",
            "#x005",
            "(_ bv5 9)",
            "(_ bv256 8)",
            "(_ bv 8)",
            "(_ bv-1 8)",
            "5",
            "#b",
            "#x+5",
            "#",
            "(_ bv5)",
        ] {
            assert!(matches!(read_in(byte, text), Err(BadValue::WrongSort(_))), "{text}");
        }
    }

    #[test]
    fn every_form_of_an_array_is_parsed() {
        let pool = Pool::new();
        let ints = pool.array_sort(Sort::Int, Sort::Int).unwrap();
        let byte = Sort::BitVec(Width::W8);
        let rows = pool.array_sort(byte, ints).unwrap();
        let shown = |sort, text: &str| read_in(sort, text).map(|v| pool.show_value(&v));
        for (text, value) in [
            ("((as const (Array Int Int)) (- 2))", "{else: -2}"),
            ("(store (store ((as const (Array Int Int)) 2) 4 6) 3 7)", "{3: 7, 4: 6, else: 2}"),
            // The outer `store` counts.
            ("(store (store ((as const (Array Int Int)) 2) 4 6) 4 7)", "{4: 7, else: 2}"),
            (
                "(let ((a!1 (store ((as const (Array Int Int)) 2) 4 6))) (store a!1 3 7))",
                "{3: 7, 4: 6, else: 2}",
            ),
            (
                "(let ((a!1 ((as const (Array Int Int)) 2))) (let ((a!2 (store a!1 0 1))) (store a!2 1 0)))",
                "{0: 1, 1: 0, else: 2}",
            ),
        ] {
            assert_eq!(shown(ints, text).as_deref(), Ok(value), "{text}");
        }
        let text = "(store ((as const (Array (_ BitVec 8) (Array Int Int))) ((as const (Array Int Int)) 1)) #x02 \
                    (let ((a!1 ((as const (Array Int Int)) 1))) (store a!1 0 5)))";
        assert_eq!(shown(rows, text).as_deref(), Ok("{2: {0: 5, else: 1}, else: {else: 1}}"));
        for text in [
            "a",
            "@fun_3",
            "(_ as-array k!0)",
            "(lambda ((x Int)) 0)",
            "((as const (Array Int Int)) true)",
            "((as other (Array Int Int)) 1)",
            "(store a 1 2)",
            "(store ((as const (Array Int Int)) 2) true 6)",
            "(store ((as const (Array Int Int)) 2) 1)",
            "(let ((a a)) a)",
            "(let ((a b) (b a)) a)",
            "(let ((a ((as const (Array Int Int)) 2))) (let ((a 1)) a))",
            "7",
        ] {
            assert!(matches!(read_in(ints, text), Err(BadValue::WrongSort(_))), "{text}");
        }
    }

    #[test]
    fn irrational_values_are_recognised() {
        assert_eq!(
            read_in(Sort::Real, "(root-obj (+ (^ x 2) (- 2)) 1)"),
            Err(BadValue::Irrational)
        );
        assert_eq!(
            read_in(Sort::Real, "(- (root-obj (+ (^ x 2) (- 2)) 1))"),
            Err(BadValue::Irrational)
        );
    }

    #[test]
    fn values_of_another_sort_are_errors() {
        let cases = [
            (Sort::Bool, "1"),
            (Sort::Int, "true"),
            (Sort::Int, "1.5"),
            (Sort::Int, "(/ 1 0)"),
            (Sort::Real, "\"1\""),
            (Sort::String, "abc"),
            (Sort::Int, "--1"),
            (Sort::Int, "1."),
            (Sort::Int, "(- 1 2)"),
        ];
        for (sort, text) in cases {
            assert!(matches!(read_in(sort, text), Err(BadValue::WrongSort(_))), "{text}");
        }
    }

    #[test]
    fn variants_of_enumerations_are_parsed() {
        let mut pool = Pool::new();
        let id = pool.declare_enum("Status", &["Open", "Not here"]).unwrap();
        let get = |enums, text: &str| {
            let tree = Tree::parse_one(text.as_bytes(), TreeConfig::SOLVER).unwrap();
            read(&pool, enums, Sort::Enum(id), tree.root())
        };
        assert_eq!(get(EnumStyle::Datatypes, "Status@!v@Open"), Ok(Value::Enum(id, 0)));
        assert_eq!(
            get(EnumStyle::Datatypes, "(as |Status@!v@Not here| Status@!e)"),
            Ok(Value::Enum(id, 1))
        );
        assert_eq!(get(EnumStyle::Ints, "1"), Ok(Value::Enum(id, 1)));
        assert!(get(EnumStyle::Ints, "2").is_err());
        assert!(get(EnumStyle::Datatypes, "Open").is_err());
    }
}
