//! Lines from a terminal, with editing, history and completion.
//!
//! The history is that of this run of the command: nothing is written to a file.

use std::io;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::process::{remember_terminal, terminal_is_restored};

/// What was typed.
pub enum Line {
    Text(String),
    /// Ctrl-C: the line is dropped.
    Interrupted,
    /// The end of the input.
    End,
}

/// Reads lines from the terminal.
pub struct LineEditor {
    /// None if the terminal cannot be used; lines are then read without editing.
    editor: Option<Editor<Words, MemHistory>>,
}

impl LineEditor {
    pub fn new() -> LineEditor {
        let config =
            Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
        let history = MemHistory::with_config(&config);
        LineEditor { editor: Editor::with_history(config, history).ok() }
    }

    /// Reads a line. `words` may begin it, each followed by some of its own words.
    pub fn read(&mut self, prompt: &str, words: Vec<(String, Vec<String>)>) -> io::Result<Line> {
        let Some(editor) = &mut self.editor else {
            let mut line = String::new();
            let count = io::stdin().read_line(&mut line)?;
            return Ok(if count == 0 { Line::End } else { Line::Text(line) });
        };
        editor.set_helper(Some(Words(words)));
        // The watchdog may end the process while the terminal is in raw mode.
        remember_terminal();
        let read = editor.readline(prompt);
        terminal_is_restored();
        match read {
            Ok(line) => Ok(Line::Text(line)),
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(other) => Err(io::Error::other(other.to_string())),
        }
    }
}

/// The words that a line may have.
struct Words(Vec<(String, Vec<String>)>);

impl Helper for Words {}
impl Highlighter for Words {}
impl Validator for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&self.0, line.get(..at).unwrap_or_default()))
    }
}

/// Where the last word of a line begins, and the words that it may become.
fn complete(words: &[(String, Vec<String>)], line: &str) -> (usize, Vec<String>) {
    let separates = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')');
    let start =
        line.rfind(separates).map_or(0, |i| i + line[i..].chars().next().map_or(1, char::len_utf8));
    let (before, typed) = line.split_at(start);
    let first = before.split(separates).find(|w| !w.is_empty());
    let list: Vec<&String> = match first {
        None => words.iter().map(|(word, _)| word).collect(),
        Some(first) => {
            let own = words.iter().find(|(word, _)| word == first);
            // A line of settings has no command in front.
            let any = || words.iter().map(|(word, _)| word).filter(|w| w.ends_with('='));
            match own {
                Some((_, next)) => next.iter().collect(),
                None if first.contains('=') => any().collect(),
                None => Vec::new(),
            }
        }
    };
    let given = |w: &str| before.split(separates).any(|b| w.ends_with('=') && b.starts_with(w));
    let mut found: Vec<String> =
        list.into_iter().filter(|w| w.starts_with(typed) && !given(w)).cloned().collect();
    found.sort();
    found.dedup();
    (start, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed() {
        let list = |w: &[&str]| w.iter().map(|w| w.to_string()).collect::<Vec<String>>();
        let words = vec![
            ("deposit".to_string(), list(&["amount=", "at="])),
            ("drift".to_string(), list(&["balance'="])),
            ("level=".to_string(), list(&[])),
            ("open=".to_string(), list(&[])),
        ];
        let found = |line: &str| complete(&words, line);
        assert_eq!(found("d"), (0, list(&["deposit", "drift"])));
        assert_eq!(found("deposit a"), (8, list(&["amount=", "at="])));
        assert_eq!(found("deposit(amount=3, "), (18, list(&["at="])));
        assert_eq!(found("nothing a"), (8, list(&[])));
        assert_eq!(found("level=3 "), (8, list(&["open="])));
        assert_eq!(found("\u{e4} \u{e4}"), (3, list(&[])));
    }
}
