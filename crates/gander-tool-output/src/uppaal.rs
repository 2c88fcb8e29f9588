//! UPPAAL's `verifyta`: which queries are satisfied.

/// Parses `Verifying formula 1 at …`, followed by `-- Formula is satisfied.` or `-- Formula is NOT
/// satisfied.`. Returns the positions of queries, below `queries`, and whether they are satisfied.
pub fn parse(output: &str, queries: usize) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    let mut at = None;
    for line in output.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Verifying formula ") {
            let number = rest.split_whitespace().next().and_then(|n| n.parse::<usize>().ok());
            at = number.and_then(|n| n.checked_sub(1)).filter(|n| *n < queries);
        }
        let is_satisfied = match line {
            "-- Formula is satisfied." => true,
            "-- Formula is NOT satisfied." => false,
            _ => continue,
        };
        found.extend(at.take().map(|query| (query, is_satisfied)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_belong_to_the_query_before_them() {
        let text = "Verifying formula 2 at line 1\n -- Formula is NOT satisfied.\n\
                    -- Formula is satisfied.\nVerifying formula 9 at line 2\n -- Formula is satisfied.\n";
        assert_eq!(parse(text, 2), [(1, false)]);
    }
}
