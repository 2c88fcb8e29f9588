//! `gander fmt`.

use std::path::Path;

use gander::lang::{Colour, Formatter, Language, RenderStyle, SourceFile, language_of, render_all};
use gander::report::{Paint, worst_exit_code};
use gander_io::write::{Target, replace};
use gander_text::shown_path;

use crate::command::args::FmtArgs;
use crate::command::inputs::read_model;
use crate::process::{Output, WRONG};

pub fn run(args: &FmtArgs, output: &mut Output) -> u8 {
    worst_exit_code(args.files.iter().map(|file| format_file(file, args, output)))
}

fn format_file(file: &str, args: &FmtArgs, output: &mut Output) -> u8 {
    let source = match read_model(file, output) {
        Ok(source) => source,
        Err(code) => return code,
    };
    let format = match language_of(file) {
        None => gander::lang::sts::format as Formatter,
        Some(Language { format: Some(format), .. }) => *format,
        Some(Language { name, .. }) => {
            output.error(&format!(
                "{} is not changed: there is no formatter for {name} files",
                shown_path(Path::new(file))
            ));
            return WRONG;
        }
    };
    let formatted = match format(&source) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            let colour =
                if output.paint_err() == Paint::Colour { Colour::Always } else { Colour::Never };
            let name = if file == "-" { "<stdin>" } else { file };
            let shown = SourceFile::new(name, &source);
            output.write_err(&render_all(
                &diagnostics,
                &shown,
                RenderStyle { colour, ..RenderStyle::default() },
            ));
            return WRONG;
        }
    };
    if args.check {
        if formatted != source {
            output.put(&format!("{}\n", shown_path(Path::new(file))));
        }
        return u8::from(formatted != source);
    }
    if file == "-" {
        output.put_document(&formatted);
    } else if formatted != source
        && let Err(error) = replace(Path::new(file), formatted.as_bytes(), Target::InPlace)
    {
        output.error(&error.to_string());
        return WRONG;
    }
    0
}
