//! Cells of comma-separated tables.

/// A cell of a CSV file: quoted where RFC 4180 requires it, and with a leading apostrophe where a
/// spreadsheet would take it for a formula (`=`, `+`, `-`, `@`, also after white space, which some
/// programs skip). Numbers stay numbers.
pub fn cell(text: &str) -> String {
    let defused = defused(text);
    if defused.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", defused.replace('"', "\"\""))
    } else {
        defused
    }
}

/// The text of a cell that no spreadsheet evaluates. The caller must quote it.
pub fn defused(text: &str) -> String {
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    let fraction =
        text.trim_start_matches('-').split_once('/').is_some_and(|(n, d)| digits(n) && digits(d));
    let is_number = fraction || text.parse::<f64>().is_ok_and(f64::is_finite);
    let content = text.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
    // A sign alone is not a formula; in tables `-` means that there is no value.
    let first = content.chars().next().filter(|c| content.len() > c.len_utf8());
    let is_formula = matches!(first, Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'))
        || text.starts_with(['\t', '\r', '\n']);
    if is_formula && !is_number { format!("'{text}") } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused_and_numbers_are_not() {
        for formula in ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1"] {
            assert!(defused(formula).starts_with('\''), "{formula:?}");
        }
        for plain in ["", "-", "-5", "+1.5", "-1e3", "-1/3", "a=b", "0", "x -> y"] {
            assert_eq!(cell(plain), plain);
        }
        assert_eq!(cell("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
        assert_eq!(cell("a,b"), "\"a,b\"");
    }
}
