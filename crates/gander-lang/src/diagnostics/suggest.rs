//! "Did you mean": the known name nearest to a misspelt one.

/// The candidate with the smallest edit distance to `name`, if it is a plausible misspelling: the
/// distance is at most a third of the letters, and differences in case are always accepted. The
/// first of equally near candidates wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(MAX_LETTERS + 1).collect();
    if letters.is_empty() || letters.len() > MAX_LETTERS {
        return None;
    }
    let limit = (letters.len() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == name || candidate.len() > 4 * MAX_LETTERS {
            continue;
        }
        let distance =
            if candidate.eq_ignore_ascii_case(name) { 0 } else { distance(&letters, candidate) };
        let near = distance <= limit && distance < letters.len();
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

const MAX_LETTERS: usize = 64;

/// Edit distance with insertions, deletions, replacements and swaps of neighbours (optimal string
/// alignment), by dynamic programming with three rows.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_are_found_and_unrelated_names_are_not() {
        let known = ["balance", "status", "amount"];
        assert_eq!(nearest("balence", known), Some("balance"));
        assert_eq!(nearest("blaance", known), Some("balance"));
        assert_eq!(nearest("Status", known), Some("status"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("x", ["y"]), None);
    }
}
