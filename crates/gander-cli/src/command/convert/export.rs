//! `gander export`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gander::report::describe::graph_view;
use gander::report::to_dot;
use gander::smt::Solvers;
use gander::system::{Claim, ClaimOrigin, Structure, System};
use gander::{LoadOptions, StructuralClaims, with_proved_ranges};
use gander_export::{DefaultRange, Format, HornDialect, Options, Selection, Written, write};
use gander_io::write::{Target, replace};
use gander_runtime::Cancellation;
use gander_text::shown;

use crate::command::args::ExportArgs;
use crate::command::inputs::load_systems_with;
use crate::process::{Output, WRONG};

pub fn run(args: &ExportArgs, load: LoadOptions, output: &mut Output) -> u8 {
    let format = Format::ALL.iter().find(|(word, _)| *word == args.to).map(|(_, format)| *format);
    if format.is_none() && args.to != "dot" {
        let known: Vec<&str> = Format::ALL.iter().map(|(word, _)| *word).collect();
        output.error(&format!(
            "there is no language `{}` to export to: {}, dot",
            args.to,
            known.join(", ")
        ));
        return WRONG;
    }
    if args.queries && format != Some(Format::Horn) {
        output.error("`--queries` is for `--to horn`");
        return WRONG;
    }
    let claims = if args.queries { StructuralClaims::Added } else { StructuralClaims::LeftOut };
    let load = LoadOptions { structural_claims: claims, ..load };
    let systems = match load_systems_with(&args.file, load, &args.limits, output) {
        Ok(systems) => systems,
        Err(code) => return code,
    };
    let Some(first) = systems.first() else { return WRONG };
    let Some(format) = format else { return put(args, 0, &to_dot(&graph_view(first)), output) };
    // Further systems of a script are about the same model; they are written beside the first.
    let several = args.output.is_some() && first.structure() == Structure::Undrawn;
    let written = if several { &systems[..] } else { &systems[..1] };
    let asked = |c: &Claim| args.queries || c.origin != ClaimOrigin::Structural;
    if written.iter().all(|s| !s.claims().iter().any(asked)) {
        output.write_err(&format!(
            "{}: there is no property to write: what is written asks nothing\n",
            args.file
        ));
    }
    let mut left_out: Vec<&str> = Vec::new();
    for (number, system) in written.iter().enumerate() {
        let text = match text_of(system, format, args) {
            Ok(text) => text,
            Err(refusal) => {
                output.error(&format!("{}: {refusal}", shown(&args.file)));
                return WRONG;
            }
        };
        let is_there = |c: &&Claim| {
            let mut all = text.names.claims().iter();
            all.any(|w| system.claims()[w.claim.index()].name == c.name)
        };
        let all = system.claims().iter().filter(|c| asked(c) && !is_there(c));
        left_out.extend(all.map(|c| c.name.as_str()));
        if number == 0 {
            for line in &text.assumptions {
                output.write_err(&format!("{}: {}\n", shown(&args.file), shown(line)));
            }
        }
        if number > 0 {
            let names: Vec<String> =
                system.claims().iter().map(|c| format!("`{}`", shown(&c.name))).collect();
            output.write_err(&format!(
                "{}: {} of this file {} written to {}, because other goals have another system\n",
                shown(&args.file),
                names.join(", "),
                if names.len() == 1 { "is" } else { "are" },
                gander_text::shown_path(&beside(args.output.as_deref(), number)),
            ));
        }
        let code = put(args, number, &text.text, output);
        if code != 0 {
            return code;
        }
    }
    if systems.len() > written.len() {
        output.write_err(&format!(
            "{}: only `{}`, the first of {} systems, is written{}\n",
            shown(&args.file),
            first.name(),
            systems.len(),
            if first.structure() == Structure::Undrawn { "; with `-o FILE` all are" } else { "" },
        ));
        let others = systems[written.len()..].iter().flat_map(|s| s.claims());
        left_out.extend(others.filter(|c| asked(c)).map(|c| c.name.as_str()));
    }
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|name| format!("`{}`", shown(name))).collect();
        output.write_err(&format!(
            "{}: these claims are not written: {}\n",
            shown(&args.file),
            names.join(", ")
        ));
    }
    if let Some(ambiguity) = first.ambiguity() {
        output.write_err(&format!(
            "{}: readers of the language differ, and it is written with the runs of both; a claim may fail there that is unknown here: {}\n",
            shown(&args.file),
            ambiguity.text
        ));
    }
    0
}

/// The text of a system. Declared ranges that are quickly proved become types.
fn text_of(
    system: &Arc<System>,
    format: Format,
    args: &ExportArgs,
) -> Result<Written, gander_export::Refusal> {
    let is_script = system.structure() == Structure::Undrawn;
    let by_default = is_script && matches!(format, Format::Uppaal | Format::Btor2);
    let options = Options {
        depth: args.depth,
        horn: if args.queries { HornDialect::Queries } else { HornDialect::Standard },
        eliminate: Some(gander::engines::eliminate),
        default_range: args
            .default_range
            .or_else(|| by_default.then_some(DefaultRange::OF_SCRIPTS)),
    };
    let uses_ranges = matches!(format, Format::Smv | Format::Btor2 | Format::Uppaal);
    if !uses_ranges || !system.has_open_ranges() {
        return write(system, format, options, Selection::All);
    }
    let solvers = Arc::new(Solvers::from_environment());
    let ranged = with_proved_ranges(system, &solvers, &Cancellation::new());
    write(&ranged, format, options, Selection::All)
}

/// Where a system of the file is written: `model-2.smv` beside `model.smv`.
fn beside(first: Option<&Path>, number: usize) -> PathBuf {
    let first = first.unwrap_or(Path::new(""));
    if number == 0 {
        return first.to_path_buf();
    }
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    let name = match first.extension() {
        Some(extension) => format!("{stem}-{}.{}", number + 1, extension.to_string_lossy()),
        None => format!("{stem}-{}", number + 1),
    };
    first.with_file_name(name)
}

fn put(args: &ExportArgs, number: usize, text: &str, output: &mut Output) -> u8 {
    match &args.output {
        None => output.put_document(text),
        Some(path) => {
            let path = beside(Some(path), number);
            if let Err(error) = replace(&path, text.as_bytes(), Target::Named) {
                output.error(&error.to_string());
                return WRONG;
            }
        }
    }
    0
}
