//! File names made from names in models.
//!
//! A name may contain `/`, be longer than a file system allows, or differ from another one only in
//! characters that a file name cannot have. [`part`] keeps ASCII letters, digits, `-`, `_` and
//! `.`. It replaces other characters by `_` and then appends 64 bits of the SHA-256 of the whole
//! name, so different names have different parts.

use std::path::Path;

use crate::programs::Sha256;

/// Characters of a name that its file name keeps.
const LONGEST: usize = 80;
/// Hexadecimal digits of a hash.
const DIGITS: usize = 16;

/// Whether `.` stays as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dots {
    Kept,
    Replaced,
}

fn with_hash(readable: &str, whole: &str) -> String {
    format!("{readable}-{}", Sha256::of(whole.as_bytes()).short(DIGITS))
}

/// True if a name ends like one with a hash.
fn looks_hashed(name: &str) -> bool {
    name.len() > DIGITS && {
        let (head, tail) = name.as_bytes().split_at(name.len() - DIGITS);
        head.ends_with(b"-") && tail.iter().all(u8::is_ascii_hexdigit)
    }
}

fn readable(name: &str, dots: Dots) -> String {
    let mut out = String::new();
    for c in name.chars().take(LONGEST) {
        let plain =
            c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || (c == '.' && dots == Dots::Kept);
        if plain {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let out = out.trim_matches(|c| c == '_' || c == '.' || c == '-');
    if out.is_empty() { "unnamed".to_string() } else { out.to_string() }
}

/// True if a file system that ignores case could confuse this name with another one.
fn is_case_sensitive(name: &str) -> bool {
    cfg!(not(target_os = "linux")) && name.contains(|c: char| c.is_ascii_uppercase())
}

fn injective(name: &str, dots: Dots) -> String {
    let readable = readable(name, dots);
    if readable == name && !looks_hashed(name) && !is_case_sensitive(name) {
        readable
    } else {
        with_hash(&readable, name)
    }
}

/// A name as part of a file name: different for different names.
pub fn part(name: &str) -> String {
    injective(name, Dots::Kept)
}

/// A model's path as the first part of a file name, without any dot. `bank.sts` becomes `bank`,
/// `bank.lus` becomes `bank+lus`; a model in another folder gets a hash of its path, so that
/// `x/m.sts` and `y/m.sts` differ.
pub fn model_part(model: &str) -> String {
    if model == "-" {
        return "stdin".to_string();
    }
    let file = model.strip_prefix("./").unwrap_or(model);
    let name = Path::new(file).file_name().and_then(|n| n.to_str()).unwrap_or("model");
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let readable = injective(stem, Dots::Replaced);
    let plain_extension = !extension.is_empty()
        && extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if readable != stem || name != file || !plain_extension || stem == "stdin" {
        return with_hash(&self::readable(stem, Dots::Replaced), file);
    }
    if extension == "sts" { readable } else { format!("{readable}+{extension}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn plain_names_are_unchanged() {
        assert_eq!(part("range_of-x.y2"), "range_of-x.y2");
        assert_eq!(model_part("bank.sts"), "bank");
        assert_eq!(model_part("./bank.sts"), "bank");
        assert_eq!(model_part("bank.lus"), "bank+lus");
        assert_eq!(model_part("-"), "stdin");
    }

    #[test]
    fn different_names_have_different_parts() {
        let mut names: Vec<String> = [
            "p/q", "p q", "p_q", "p__q", "_p_q", "p.q", "p:q", "../p", "..", ".", "", "unnamed",
            "é", "e\u{301}", "\n",
        ]
        .map(String::from)
        .to_vec();
        names.push("a".repeat(80));
        names.push("a".repeat(81));
        names.push(format!("{}b", "a".repeat(80)));
        // A name that equals the part of another one.
        names.push(part("p q"));
        names.push(part(&part("p q")));
        let parts: BTreeSet<String> = names.iter().map(|n| part(n)).collect();
        assert_eq!(parts.len(), names.len(), "{parts:?}");
        for p in parts {
            assert!(
                p.len() <= LONGEST + DIGITS + 1 && !p.starts_with('.') && !p.contains('/'),
                "{p}"
            );
        }
    }

    #[test]
    fn different_models_have_different_parts_without_dots() {
        let models = [
            "m.sts",
            "x/m.sts",
            "y/m.sts",
            "m.lus",
            "m",
            "m.b.sts",
            "m+lus.sts",
            "m-lus.sts",
            "../m.sts",
            "/m.sts",
            "stdin.sts",
            "-",
            "m .sts",
            "m_.sts",
            "m.STS",
        ];
        let parts: BTreeSet<String> = models.iter().map(|m| model_part(m)).collect();
        assert_eq!(parts.len(), models.len(), "{parts:?}");
        assert!(parts.iter().all(|p| !p.contains('.')), "{parts:?}");
    }
}
