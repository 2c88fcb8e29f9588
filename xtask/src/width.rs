//! Checks that comments and prose are wrapped at 100 columns. rustfmt wraps code only.

use std::fs;
use std::process::Command;

use crate::root;

const COLUMNS: usize = 100;

/// Reports lines of comments and of Markdown prose that are too long.
pub fn check() -> Result<(), String> {
    println!("== width of comments and prose ==");
    let listed =
        Command::new("git").args(["ls-files", "*.rs", "*.md"]).current_dir(root()).output();
    let listed = match listed {
        Ok(output) if output.status.success() => output.stdout,
        _ => {
            println!("this is no git checkout: skipped");
            return Ok(());
        }
    };
    let mut wide = Vec::new();
    for name in String::from_utf8_lossy(&listed).lines() {
        // A file may be deleted and not yet committed.
        let Ok(text) = fs::read_to_string(root().join(name)) else { continue };
        let lines = if name.ends_with(".rs") { wide_comments(&text) } else { wide_prose(&text) };
        wide.extend(lines.into_iter().map(|line| format!("{name}:{line}")));
    }
    if wide.is_empty() {
        return Ok(());
    }
    Err(format!("lines of more than {COLUMNS} columns:\n{}", wide.join("\n")))
}

fn is_wide(line: &str) -> bool {
    line.chars().count() > COLUMNS
}

/// True if the line can be wrapped: it has a blank after the marks at its beginning, and its last
/// word is no address.
fn can_be_wrapped(line: &str) -> bool {
    let text = line.trim_start_matches([' ', '/', '!', '-', '*', '>']);
    text.contains(' ') && !line.contains("http://") && !line.contains("https://")
}

/// The numbers of wide lines that are comments.
fn wide_comments(text: &str) -> Vec<usize> {
    let is_comment = |line: &str| line.trim_start().starts_with("//") && !line.contains('|');
    numbers(text, |line| is_comment(line) && can_be_wrapped(line))
}

/// The numbers of wide lines that are prose: no code, table, heading or reference.
fn wide_prose(text: &str) -> Vec<usize> {
    let mut in_code = false;
    numbers(text, |line| {
        let start = line.trim_start();
        if start.starts_with("```") {
            in_code = !in_code;
        }
        let is_prose = !in_code && !start.starts_with(['|', '#', '[', '<', '!']);
        is_prose && !line.starts_with("    ") && can_be_wrapped(line)
    })
}

fn numbers(text: &str, mut counts: impl FnMut(&str) -> bool) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| counts(line) && is_wide(line)).map(|(i, _)| i + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_prose_are_wide_but_tables_code_and_addresses_are_not() {
        let long = "word ".repeat(25);
        assert_eq!(wide_comments(&format!("// short\n    // {long}\nlet x = \"{long}\";\n")), [2]);
        let text = format!("{long}\n```\n{long}\n```\n| {long} |\n- {long}\n# {long}\n");
        assert_eq!(wide_prose(&text), [1, 6]);
        assert!(wide_prose(&format!("https://example.org/{}\n", "x".repeat(200))).is_empty());
    }
}
