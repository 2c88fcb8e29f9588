//! Diagnostics as text for people: with the source lines that they are about if there are any.

use std::sync::Arc;

use gander_lang::{Colour, RenderStyle, SourceFile, render};

use super::paint::Paint;
use crate::view::diagnostic::{Annotated, DiagnosticView, Severity, SourceMap};

/// Diagnostics as text for people, each with a line end behind its last line.
pub fn diagnostic_texts<'d>(
    diagnostics: impl IntoIterator<Item = &'d DiagnosticView>,
    paint: Paint,
) -> Vec<String> {
    let colour = if paint == Paint::Colour { Colour::Always } else { Colour::Never };
    let style = RenderStyle { colour, ..RenderStyle::default() };
    // Finding the lines of a large text takes time: once for all diagnostics of it.
    let mut last: Option<(&Arc<SourceMap>, SourceFile<'_>)> = None;
    let mut texts = Vec::new();
    for d in diagnostics {
        texts.push(match &d.annotated {
            None => plain_text(d, paint),
            Some(Annotated { diagnostic, source }) => {
                let (_, file) = match last.take() {
                    Some((of, file)) if Arc::ptr_eq(of, source) => last.insert((of, file)),
                    _ => last.insert((source, source.file())),
                };
                render(diagnostic, file, style)
            }
        });
    }
    texts
}

fn plain_text(d: &DiagnosticView, paint: Paint) -> String {
    let text = format!("{} {}\n", head(d.severity, paint), d.message);
    d.help.iter().fold(text, |text, help| format!("{text}  = help: {help}\n"))
}

/// The word that a plain diagnostic begins with.
fn head(severity: Severity, paint: Paint) -> String {
    let head = format!("{}:", severity.word());
    match severity {
        Severity::Error => paint.bad(&head),
        Severity::Warning => paint.open(&head),
        Severity::Note => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_diagnostic_names_its_severity_and_its_help() {
        let help = ["do that".to_string()];
        let d = DiagnosticView::plain("c", Severity::Warning, "an error is near", help);
        let [text] = &diagnostic_texts([&d], Paint::Plain)[..] else { panic!("one text") };
        assert_eq!(text, "warning: an error is near\n  = help: do that\n");
        let [text] = &diagnostic_texts([&d], Paint::Colour)[..] else { panic!("one text") };
        assert!(text.starts_with("\x1b[33mwarning:\x1b[0m an error"), "{text:?}");
    }
}
