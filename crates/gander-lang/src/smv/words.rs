//! Words: bit-vectors with a sign in their type.

use gander_term::IBig;

/// `0ud8_4`: whether it is signed, the bits, the value.
pub(super) fn literal(text: &str) -> Option<(bool, u32, IBig)> {
    let rest = text.strip_prefix('0')?;
    let (signed, rest) = match (rest.strip_prefix('s'), rest.strip_prefix('u')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => (false, rest),
    };
    let radix = match rest.chars().next()?.to_ascii_lowercase() {
        'b' => 2,
        'o' => 8,
        'd' => 10,
        'h' => 16,
        _ => return None,
    };
    let (bits, digits) = rest.get(1..)?.split_once('_')?;
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    let bits =
        if bits.is_empty() && radix == 2 { digits.len() as u32 } else { bits.parse().ok()? };
    Some((signed, bits, IBig::from_str_radix(&digits, radix).ok()?))
}
