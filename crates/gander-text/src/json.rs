//! JSON texts from clients.

use std::borrow::Cow;

/// A JSON text with U+FFFD in place of each escape of half a surrogate pair, as in `"\ud83e"`. Such
/// a text is valid JSON, but no text in Unicode; editors send it if a pair was cut in two.
pub fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut changed = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = json[at..].find('\\') {
        at += found;
        match unit(json, at) {
            // The escaped character may be a backslash.
            None => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
            Some(0xd800..=0xdbff) if matches!(unit(json, at + 6), Some(0xdc00..=0xdfff)) => {
                at += 12;
            }
            Some(0xd800..=0xdfff) => {
                changed.push_str(&json[copied..at]);
                changed.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    changed.push_str(&json[copied..]);
    Cow::Owned(changed)
}

/// The code unit of the escape `\uXXXX` at this place.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_surrogate_pairs_are_replaced_and_nothing_else() {
        let cases = [
            (r#""a\ud83eb""#, r#""a\ufffdb""#),
            (r#""\ud83e\ud83e\udd86""#, r#""\ufffd\ud83e\udd86""#),
            (r#""\udd86\uD83E""#, r#""\ufffd\ufffd""#),
            (r#""\\ud83e\\\ud83e""#, r#""\\ud83e\\\ufffd""#),
        ];
        for (given, expected) in cases {
            assert_eq!(without_lone_surrogates(given), expected, "{given}");
        }
        for same in ["", "{}", r#""\ud83e\udd86 \u00e4 \n""#, "\"\\", "\"\\ud8", "\"\\ü\\ud83ü"] {
            assert_eq!(without_lone_surrogates(same), same);
        }
    }
}
