//! `gander graph`.

use gander::report::describe::graph_view;
use gander::report::{Severity, to_dot, to_svg};
use gander_io::write::{Target, replace};

use super::WRONG;
use super::args::{GraphArgs, GraphFormat, LimitArgs};
use super::output::Output;
use super::reading::{load_within, read_model};

pub fn run(args: &GraphArgs, output: &mut Output) -> u8 {
    let systems = match load_models(&args.file, &args.limits, output) {
        Ok(systems) => systems,
        Err(code) => return code,
    };
    let Some(system) = systems.into_iter().next() else { return WRONG };
    let view = graph_view(&system);
    let extension = args.output.as_ref().and_then(|p| p.extension()).and_then(|e| e.to_str());
    let format = args.format.unwrap_or(match extension {
        Some("dot" | "gv") => GraphFormat::Dot,
        _ => GraphFormat::Svg,
    });
    let text = match format {
        GraphFormat::Dot => to_dot(&view),
        GraphFormat::Svg => match to_svg(&view) {
            Ok(svg) => svg,
            Err(error) => {
                output.error(&format!("{error}; `--format dot` has no limit"));
                return WRONG;
            }
        },
    };
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

/// Reads every system of a model; says what is wrong with it if something is, and gives the exit code.
pub fn load_models(file: &str, limits: &LimitArgs, output: &mut Output) -> Result<Vec<gander::system::System>, u8> {
    let source = read_model(file, output)?;
    let (loaded, diagnostics) = load_within(&source, file, limits, output)?;
    for d in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        output.complain(&d.rendered);
    }
    let first = loaded.system.ok_or(WRONG)?;
    Ok(std::iter::once(first).chain(loaded.others).collect())
}
