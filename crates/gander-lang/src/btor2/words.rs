//! The words of a BTOR2 line: numbers, constants, and the arity of operators.
//!
//! They are read as strictly as the format defines: a number has no sign and no leading zero, a
//! node number may have a minus, a constant fits its sort. A lenient reader could accept a file
//! with a meaning that its author did not intend.

use super::{Problem, helped, wrong};
use gander_term::{IBig, Width};

/// The exclusive upper limit of line numbers.
const MAX_ID: i64 = 1 << 40;

/// The number of a line.
pub(super) fn identifier(word: &str) -> Result<i64, Problem> {
    let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    if !digits || word.starts_with('0') {
        return wrong(format!(
            "`{word}` is not the number of a line: a number above zero, without a leading zero"
        ));
    }
    match word.parse().ok().filter(|n| *n < MAX_ID) {
        Some(n) => Ok(n),
        None => wrong(format!("the number {word} is too large")),
    }
}

/// Word `k` of a line: the number of another line, optionally with a minus.
pub(super) fn argument(words: &[&str], k: usize) -> Result<i64, Problem> {
    let Some(&word) = words.get(k) else {
        return wrong(format!("expected a number as word {} of this line", k + 1));
    };
    match word.strip_prefix('-') {
        Some(rest) => Ok(-identifier(rest)?),
        None => identifier(word),
    }
}

/// Word `k` of a line: a number that is not a line number.
pub(super) fn plain_number(words: &[&str], k: usize) -> Result<u32, Problem> {
    let digits =
        |w: &&&str| w.bytes().all(|b| b.is_ascii_digit()) && (**w == "0" || !w.starts_with('0'));
    match words.get(k).filter(digits).and_then(|w| w.parse().ok()) {
        Some(n) => Ok(n),
        None => wrong(format!("expected a number as word {} of this line", k + 1)),
    }
}

/// The value of a constant, which must fit its width.
pub(super) fn constant_value(
    word: &str,
    digits: Option<&str>,
    width: Width,
) -> Result<IBig, Problem> {
    let bits = width.bits() as usize;
    let (radix, help) = match word {
        "zero" => return Ok(IBig::ZERO),
        "one" => return Ok(IBig::ONE),
        "ones" => return Ok(IBig::from(-1)),
        "const" => (2, "`const` takes as many binary digits as its sort has bits"),
        "constd" => {
            (10, "`constd` takes a decimal number, perhaps with a minus, that fits into its sort")
        }
        _ => (16, "`consth` takes hexadecimal digits of a number that fits into its sort"),
    };
    let Some(digits) = digits else { return helped("expected a number behind the sort", help) };
    let (negative, magnitude) = match digits.strip_prefix('-').filter(|_| radix == 10) {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    if magnitude.is_empty() || !magnitude.chars().all(|c| c.is_digit(radix)) {
        return helped(format!("`{digits}` is not a number here"), help);
    }
    let Ok(value) = IBig::from_str_radix(magnitude, radix) else {
        return helped(format!("`{digits}` is not a number here"), help);
    };
    let fits = match radix {
        2 => magnitude.len() == bits,
        _ if negative => value <= IBig::ONE << (bits - 1),
        _ => value < IBig::ONE << bits,
    };
    if !fits {
        let noun = if bits == 1 { "bit" } else { "bits" };
        return helped(format!("the constant `{digits}` does not fit into {bits} {noun}"), help);
    }
    Ok(if negative { -value } else { value })
}

/// The number of nodes that an operator takes, and of plain numbers after them.
pub(super) fn arity(word: &str) -> (usize, usize) {
    match word {
        "not" | "inc" | "dec" | "neg" | "redand" | "redor" | "redxor" => (1, 0),
        "slice" => (1, 2),
        "uext" | "sext" => (1, 1),
        "ite" | "write" => (3, 0),
        _ => (2, 0),
    }
}
