//! Every example of docs/language.md behaves as the page says.

use gander_lang::{Code, RenderStyle, SourceFile, render_all, sts};

/// The fenced blocks of a page: the info string, the first line, the text.
fn blocks(page: &str) -> Vec<(String, usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, usize, String)> = None;
    for (at, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim().to_owned(), at + 2, String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
    std::fs::read_to_string(path).expect("docs/language.md is there")
}

#[test]
fn every_example_behaves_as_the_page_says() {
    let page = page();
    let mut checked = 0;
    for (info, line, text) in blocks(&page) {
        let mut words = info.split_whitespace();
        if words.next() != Some("sts") {
            continue;
        }
        checked += 1;
        let loaded = sts::load(&text, "example.sts");
        let source = SourceFile::new("example.sts", &text);
        let shown = render_all(&loaded.diagnostics, &source, RenderStyle::default());
        let errors: Vec<Code> = loaded.errors().map(|error| error.code).collect();
        match (words.next(), words.next()) {
            (None, _) => assert!(errors.is_empty(), "docs/language.md:{line}\n{shown}"),
            (Some("error"), Some(code)) => {
                assert_eq!(
                    errors,
                    [Code::find(code).expect(code)],
                    "docs/language.md:{line}\n{shown}"
                );
            }
            (Some("warning"), Some(code)) => {
                let codes: Vec<&str> =
                    loaded.diagnostics.iter().map(|found| found.code.as_str()).collect();
                assert_eq!(codes, [code], "docs/language.md:{line}\n{shown}");
            }
            other => panic!("docs/language.md:{line}: {other:?}"),
        }
        let formatted = sts::format(&text);
        if errors.is_empty() {
            assert_eq!(
                formatted.unwrap(),
                text,
                "docs/language.md:{line}: not as the formatter writes it"
            );
        }
    }
    assert!(checked > 25, "only {checked} examples were found");
}

#[test]
fn the_page_lists_every_code() {
    let page = page();
    for entry in gander_lang::codes::CATALOGUE {
        let row = format!("| {} | {} |", entry.code.as_str(), entry.title);
        assert!(page.contains(&row), "docs/language.md has no row `{row}`");
    }
}
