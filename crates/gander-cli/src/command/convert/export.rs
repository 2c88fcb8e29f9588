//! `gander export`.

use gander::LoadOptions;
use gander::report::describe::graph_view;
use gander::report::to_dot;
use gander::system::{Claim, ClaimOrigin};
use gander_export::{Format, Options, Selection, write};
use gander_io::write::{Target, replace};
use gander_text::shown;

use crate::command::args::ExportArgs;
use crate::command::inputs::load_systems;
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
    let systems = match load_systems(&args.file, load, &args.limits, output) {
        Ok(systems) => systems,
        Err(code) => return code,
    };
    let Some(system) = systems.first() else { return WRONG };
    let written = |c: &&Claim| c.origin != ClaimOrigin::Structural;
    let mut left_out: Vec<&str> = Vec::new();
    let text = match format {
        None => to_dot(&graph_view(system)),
        Some(format) => {
            let options = Options { depth: args.depth, ..Options::default() };
            match write(system, format, options, Selection::All) {
                Ok(text) => {
                    let is_there = |name: &str| {
                        let mut all = text.names.claims().iter();
                        all.any(|w| system.claims()[w.claim.index()].name == name)
                    };
                    let all = systems.iter().flat_map(|s| s.claims()).filter(written);
                    left_out.extend(all.map(|c| c.name.as_str()).filter(|name| !is_there(name)));
                    text.text
                }
                Err(refusal) => {
                    output.error(&format!("{}: {refusal}", shown(&args.file)));
                    return WRONG;
                }
            }
        }
    };
    if format.is_some() && system.claims().iter().all(|c| c.origin == ClaimOrigin::Structural) {
        output.write_err(&format!(
            "{}: there is no property to write: what is written asks nothing\n",
            args.file
        ));
    }
    if systems.len() > 1 {
        output.write_err(&format!(
            "{}: only `{}`, the first of {} systems, is written\n",
            shown(&args.file),
            system.name(),
            systems.len()
        ));
    }
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|name| format!("`{}`", shown(name))).collect();
        output.write_err(&format!(
            "{}: these claims are not written: {}\n",
            shown(&args.file),
            names.join(", ")
        ));
    }
    if let Some(ambiguity) = system.ambiguity().filter(|_| format.is_some()) {
        output.write_err(&format!(
            "{}: readers of the language differ, and it is written with the runs of both; a claim may fail there that is unknown here: {}\n",
            shown(&args.file),
            ambiguity.text
        ));
    }
    match &args.output {
        None => output.put_document(&text),
        Some(path) => {
            if let Err(error) = replace(path, text.as_bytes(), Target::Named) {
                output.error(&error.to_string());
                return WRONG;
            }
        }
    }
    0
}
