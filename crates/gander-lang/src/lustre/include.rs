//! `include "file"`: the declarations of another file.
//!
//! The files of a program are joined to one text: the main file, followed by the included files,
//! each once. So offsets into the main file do not change, and every span belongs to one file
//! ([`Part`]). The caller reads files. An `include` statement whose file was read is replaced by
//! blanks.

use super::lexer::{Kind, lex};
use crate::diagnostics::codes::Code;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::span::Span;

/// The number of files that are read.
const MAX_FILES: usize = 1000;

/// An included file.
#[derive(Clone, Debug)]
pub struct Included {
    /// Its name in messages.
    pub name: String,
    /// Identifies the file, so that it is included once.
    pub identity: String,
    /// Its text.
    pub text: String,
}

/// Reads an included file, given the name of the including file and the path as written. An error
/// says why it cannot be read.
pub type IncludeReader<'r> = dyn FnMut(&str, &str) -> Result<Included, String> + 'r;

/// The start of an included file in the text of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The offset.
    pub start: u32,
    /// The name of the file in messages.
    pub name: String,
}

/// All files of a program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Their text.
    pub text: String,
    /// The included files, in the order of the text.
    pub parts: Vec<Part>,
    /// Files that could not be included.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file that is searched for `include` statements.
struct Open {
    name: String,
    identity: String,
    start: usize,
    end: usize,
    /// The number of the file that includes it.
    parent: Option<usize>,
}

/// The files of a program, given the text, name and identity of its main file; `None` if it
/// includes nothing.
pub fn with_included(
    text: &str,
    name: &str,
    identity: &str,
    read: &mut IncludeReader<'_>,
) -> Option<Program> {
    if statements(text).is_empty() {
        return None;
    }
    let mut program =
        Program { text: text.to_string(), parts: Vec::new(), diagnostics: Vec::new() };
    let own = Open {
        name: name.into(),
        identity: identity.into(),
        start: 0,
        end: text.len(),
        parent: None,
    };
    let mut files = vec![own];
    let mut next = 0;
    while next < files.len() {
        let (start, end) = (files[next].start, files[next].end);
        for (span, path) in statements(&program.text[start..end]) {
            let place = Span::new(span.start + start as u32, span.end + start as u32);
            match include(&mut program, &mut files, next, &path, read) {
                Ok(()) => {
                    program.text.replace_range(place.range(), &" ".repeat(place.range().len()))
                }
                Err(problem) => {
                    program.diagnostics.push(Diagnostic::new(Code::E1308, place, problem))
                }
            }
        }
        next += 1;
    }
    Some(program)
}

fn include(
    program: &mut Program,
    files: &mut Vec<Open>,
    by: usize,
    path: &str,
    read: &mut IncludeReader<'_>,
) -> Result<(), String> {
    let shown: String = path.chars().take(100).collect();
    let found = read(&files[by].name, path)
        .map_err(|problem| format!("the file \"{shown}\" cannot be included: {problem}"))?;
    let mut chain = vec![found.name.clone()];
    let mut above = Some(by);
    while let Some(file) = above.map(|n| &files[n]) {
        chain.push(file.name.clone());
        if file.identity == found.identity {
            chain.reverse();
            return Err(format!("files that include each other: {}", chain.join(" -> ")));
        }
        above = file.parent;
    }
    if files.iter().any(|file| file.identity == found.identity) {
        return Ok(());
    }
    if files.len() >= MAX_FILES || program.text.len() + found.text.len() >= super::parser::MAX_BYTES
    {
        return Err(format!("with the file \"{shown}\" the program is too large"));
    }
    program.text.push('\n');
    let start = program.text.len();
    program.text.push_str(&found.text);
    program.parts.push(Part { start: start as u32, name: found.name.clone() });
    let end = program.text.len();
    files.push(Open { name: found.name, identity: found.identity, start, end, parent: Some(by) });
    Ok(())
}

/// The `include` statements of a text, with their paths.
fn statements(text: &str) -> Vec<(Span, String)> {
    if !text.contains("include") {
        return Vec::new();
    }
    let (tokens, _) = lex(text);
    let of = |n: usize| {
        tokens.get(n).and_then(|t| text.get(t.start as usize..t.end as usize)).unwrap_or_default()
    };
    let is = |n: usize, kind| tokens.get(n).is_some_and(|t| t.kind == kind);
    let mut found = Vec::new();
    for n in 0..tokens.len() {
        if is(n, Kind::Word) && of(n) == "include" && is(n + 1, Kind::Text) {
            let last = if is(n + 2, Kind::Semicolon) { n + 2 } else { n + 1 };
            let path = of(n + 1).trim_matches('"').to_string();
            found.push((Span::new(tokens[n].start, tokens[last].end), path));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(_: &str, path: &str) -> Result<Included, String> {
        let text = match path {
            "a" => "include \"b\"\ntype A = int;",
            "b" => "type B = A;",
            "loop" => "include \"main\";",
            "main" => "include \"loop\"",
            _ => return Err("there is no such file".into()),
        };
        Ok(Included { name: path.into(), identity: path.into(), text: text.into() })
    }

    #[test]
    fn each_file_is_read_once() {
        let text = "include \"a\";\ninclude \"b\"\nconst c: B = 1;\n-- include \"nothing\"\n";
        let program = with_included(text, "main", "main", &mut read).unwrap();
        assert!(program.diagnostics.is_empty());
        let names: Vec<&str> = program.parts.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(&program.text[..text.len()].trim_start()[..5], "const");
        let b = program.parts[1].start as usize;
        assert_eq!(&program.text[b..], "type B = A;");
        assert!(!program.text.contains("include \"b"));
    }

    #[test]
    fn cycles_and_missing_files_are_reported() {
        let program =
            with_included("include \"loop\"\ninclude \"gone\"", "main", "main", &mut read).unwrap();
        let messages: Vec<&str> = program.diagnostics.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the file \"gone\" cannot be included: there is no such file",
                "files that include each other: main -> loop -> main"
            ]
        );
        assert!(
            with_included(
                "node include(x: int) returns (y: int); let y = x; tel",
                "m",
                "m",
                &mut read
            )
            .is_none()
        );
    }
}
