//! `gander graph`.

use gander::report::describe::graph_view;
use gander::report::{Severity, to_dot, to_svg};
use gander::{load, save_atomically};

use super::WRONG;
use super::args::{GraphArgs, GraphFormat};
use super::output::Output;
use super::reading::read_model;

pub fn run(args: &GraphArgs, output: &mut Output) -> u8 {
    let Some(system) = load_model(&args.file, output) else { return WRONG };
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
        None => output.put(&text),
        Some(path) => {
            if let Err(error) = save_atomically(path, text.as_bytes()) {
                output.error(&error.to_string());
                return WRONG;
            }
        }
    }
    0
}

/// Reads a model; says what is wrong with it if something is.
fn load_model(file: &str, output: &mut Output) -> Option<gander::system::System> {
    load_models(file, output)?.into_iter().next()
}

/// Reads every system of a model; says what is wrong with it if something is.
pub fn load_models(file: &str, output: &mut Output) -> Option<Vec<gander::system::System>> {
    let source = read_model(file, output).ok()?;
    let (loaded, diagnostics) = load(&source, file, output.paint_err());
    for d in diagnostics.iter().filter(|d| d.severity == Severity::Error) {
        output.complain(&d.rendered);
    }
    loaded.system.map(|first| std::iter::once(first).chain(loaded.others).collect())
}
