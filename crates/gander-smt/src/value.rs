//! Values as solvers print them.

use dashu_base::Signed;
use gander_term::{BitVec, IBig, Pool, RBig, Sort, Value, Width};

use crate::dialect::EnumStyle;
use crate::names;
use crate::sexpr::Sexpr;

/// Why a printed value cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BadValue {
    /// An algebraic number that is not rational.
    Irrational,
    /// It is not of the sort that was asked for.
    WrongSort(String),
}

/// Reads the value of a term of this sort.
pub(crate) fn read(pool: &Pool, enums: EnumStyle, sort: Sort, printed: &Sexpr) -> Result<Value, BadValue> {
    let wrong = || BadValue::WrongSort(format!("`{printed}` is no value of sort {}", sort.name(pool)));
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
        Sort::String => match printed {
            Sexpr::Text(t) => names::unescape(t).map(|s| Value::str(&s)).ok_or_else(wrong),
            _ => Err(wrong()),
        },
        Sort::Enum(id) => {
            let e = pool.enumeration(id);
            let position = match enums {
                EnumStyle::Datatypes => {
                    // `(as Variant Sort)` is another spelling of `Variant`.
                    let atom = match printed.list() {
                        Some([head, variant, _]) if head.atom() == Some("as") => variant.atom(),
                        _ => printed.atom(),
                    };
                    let atom = atom.ok_or_else(wrong)?;
                    e.variants.iter().position(|v| names::enum_variant(&e.name, v).trim_matches('|') == atom)
                }
                EnumStyle::Ints => match number(printed)? {
                    Some(r) if r.is_int() => usize::try_from(r.numerator()).ok().filter(|&i| i < e.variants.len()),
                    _ => None,
                },
            };
            position.map(|i| Value::Enum(id, i as u32)).ok_or_else(wrong)
        }
        Sort::BitVec(width) => bits(width, printed).map(Value::BitVec).ok_or_else(wrong),
    }
}

/// A bit-vector of this width: `#b0101`, `#x5f`, `(_ bv5 8)`.
fn bits(width: Width, printed: &Sexpr) -> Option<BitVec> {
    let number = match printed {
        Sexpr::Atom(atom) => {
            let (digits, radix, bits_each) = match atom.get(..2)? {
                "#b" => (&atom[2..], 2, 1),
                "#x" => (&atom[2..], 16, 4),
                _ => return None,
            };
            let plain = digits.bytes().all(|b| b.is_ascii_hexdigit());
            if !plain || digits.len().checked_mul(bits_each)? != width.bits() as usize {
                return None;
            }
            IBig::from_str_radix(digits, radix).ok()?
        }
        Sexpr::List(items) => match items.as_slice() {
            [head, value, size] if head.atom() == Some("_") => {
                if size.atom()?.parse() != Ok(width.bits()) {
                    return None;
                }
                let digits = value.atom()?.strip_prefix("bv")?;
                let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                plain.then(|| digits.parse().ok())??
            }
            _ => return None,
        },
        Sexpr::Text(_) => return None,
    };
    BitVec::exact(width, number)
}

/// A number: `3`, `3.5`, `(- n)`, `(/ n n)`, `(to_real n)`. `Ok(None)` if it is none.
fn number(printed: &Sexpr) -> Result<Option<RBig>, BadValue> {
    // Depth is bounded by the reader of S-expressions.
    match printed {
        Sexpr::Atom(a) => Ok(numeral(a)),
        Sexpr::Text(_) => Ok(None),
        Sexpr::List(items) => match (items.first().and_then(Sexpr::atom), items.get(1..).unwrap_or(&[])) {
            (Some("-"), [n]) => Ok(number(n)?.map(|n| -n)),
            (Some("to_real"), [n]) => number(n),
            (Some("/"), [n, d]) => match (number(n)?, number(d)?) {
                (Some(n), Some(d)) if !d.is_zero() => Ok(Some(n / d)),
                _ => Ok(None),
            },
            (Some("root-obj" | "_real_algebraic_number" | "root-of-with-interval"), _) => Err(BadValue::Irrational),
            (Some("_"), [tag, ..]) if tag.atom() == Some("real_algebraic_number") => Err(BadValue::Irrational),
            _ => Ok(None),
        },
    }
}

/// `12`, `12.50`, and the `-3`, `1/3` of solvers that are less strict.
fn numeral(text: &str) -> Option<RBig> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let whole = |s: &str| -> Option<IBig> {
        let plain = !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| s.parse().ok())?
    };
    let value = if let Some((n, d)) = digits.split_once('/') {
        let d = whole(d)?;
        if d.is_zero() {
            return None;
        }
        RBig::from(whole(n)?) / RBig::from(d)
    } else if let Some((n, fraction)) = digits.split_once('.') {
        let digits = IBig::from(10).pow(fraction.len());
        RBig::from(whole(n)?) + RBig::from(whole(fraction)?) / RBig::from(digits)
    } else {
        RBig::from(whole(digits)?)
    };
    debug_assert!(!value.is_negative());
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_in(sort: Sort, text: &str) -> Result<Value, BadValue> {
        read(&Pool::new(), EnumStyle::Datatypes, sort, &Sexpr::parse(text.as_bytes()).unwrap())
    }

    fn third() -> RBig {
        RBig::from(IBig::from(1)) / RBig::from(IBig::from(3))
    }

    #[test]
    fn every_form_of_a_number() {
        for text in ["(/ 1.0 3.0)", "(/ 1 3)", "1/3", "(- (/ (- 1.0) 3.0))", "(/ (- 1) (- 3))"] {
            assert_eq!(read_in(Sort::Real, text), Ok(Value::Real(third())), "{text}");
        }
        for text in ["(- 3)", "-3", "(- 3.0)", "(to_real (- 3))"] {
            assert_eq!(read_in(Sort::Real, text), Ok(Value::whole(-3)), "{text}");
        }
        assert_eq!(read_in(Sort::Real, "0.25"), Ok(Value::Real(RBig::from(IBig::from(1)) / RBig::from(IBig::from(4)))));
        assert_eq!(
            read_in(Sort::Int, "(- 12345678901234567890)"),
            Ok(Value::Int(-IBig::from(12345678901234567890u64)))
        );
    }

    #[test]
    fn every_form_of_a_bit_vector() {
        let byte = Sort::BitVec(Width::W8);
        for text in ["#b00000101", "#x05", "(_ bv5 8)"] {
            assert_eq!(read_in(byte, text), Ok(Value::bits(Width::W8, 5)), "{text}");
        }
        assert_eq!(read_in(byte, "#xfF"), Ok(Value::bits(Width::W8, 255)));
        for text in
            ["#b101", "#x005", "(_ bv5 9)", "(_ bv256 8)", "(_ bv 8)", "(_ bv-1 8)", "5", "#b", "#x+5", "#", "(_ bv5)"]
        {
            assert!(matches!(read_in(byte, text), Err(BadValue::WrongSort(_))), "{text}");
        }
    }

    #[test]
    fn irrational_is_not_garbage() {
        assert_eq!(read_in(Sort::Real, "(root-obj (+ (^ x 2) (- 2)) 1)"), Err(BadValue::Irrational));
        assert_eq!(read_in(Sort::Real, "(- (root-obj (+ (^ x 2) (- 2)) 1))"), Err(BadValue::Irrational));
    }

    #[test]
    fn wrong_sorts_are_told() {
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
    fn variants_of_enumerations() {
        let mut pool = Pool::new();
        let id = pool.declare_enum("Status", &["Open", "Not here"]).unwrap();
        let get = |enums, text: &str| read(&pool, enums, Sort::Enum(id), &Sexpr::parse(text.as_bytes()).unwrap());
        assert_eq!(get(EnumStyle::Datatypes, "Status@!v@Open"), Ok(Value::Enum(id, 0)));
        assert_eq!(get(EnumStyle::Datatypes, "(as |Status@!v@Not here| Status@!e)"), Ok(Value::Enum(id, 1)));
        assert_eq!(get(EnumStyle::Ints, "1"), Ok(Value::Enum(id, 1)));
        assert!(get(EnumStyle::Ints, "2").is_err());
        assert!(get(EnumStyle::Datatypes, "Open").is_err());
    }
}
