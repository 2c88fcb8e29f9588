//! `gander graph`.

use std::path::Path;

use gander::report::describe::call_graph_view;
use gander::report::{GraphView, graphs_json, to_dot_all, to_svg_all};
use gander::{LoadOptions, Model, StructuralClaims};
use gander_io::write::{Target, replace};
use gander_text::shown_path;

use crate::command::args::{GraphArgs, GraphFormat};
use crate::command::inputs::{load_model, read_model};
use crate::process::{Output, WRONG};

pub fn run(args: &GraphArgs, load: LoadOptions, output: &mut Output) -> u8 {
    draw(args, load, output).map_or_else(|code| code, |()| 0)
}

fn draw(args: &GraphArgs, load: LoadOptions, output: &mut Output) -> Result<(), u8> {
    let format = match format_of(args) {
        Ok(format) => format,
        Err(message) => {
            output.error(&message);
            return Err(WRONG);
        }
    };
    let source = read_model(&args.file, output)?;
    let load = LoadOptions { structural_claims: StructuralClaims::LeftOut, ..load };
    let model = load_model(&source, &args.file, &load, &args.limits, output)?;
    let graphs = graphs_of(&model, &args.file).ok_or(WRONG)?;
    let text = match format {
        GraphFormat::Dot => to_dot_all(&graphs),
        GraphFormat::Json => {
            // A call graph has no transitions.
            let system = model.systems().first().filter(|_| model.modules().is_none());
            format!("{}\n", graphs_json(&graphs, system.map(|s| &**s)))
        }
        GraphFormat::Svg => match to_svg_all(&graphs) {
            Ok(svg) => svg,
            Err(error) => {
                output.error(&format!("{error}; `--format dot` has no limit"));
                return Err(WRONG);
            }
        },
    };
    match &args.output {
        None => output.put_document(&text),
        Some(path) => {
            if let Err(error) = replace(path, text.as_bytes(), Target::Named) {
                output.error(&error.to_string());
                return Err(WRONG);
            }
        }
    }
    Ok(())
}

/// The call graph of a dataflow program, else the control graphs; none if the model has errors.
fn graphs_of(model: &Model, file: &str) -> Option<Vec<GraphView>> {
    model.systems().first()?;
    if let Some(modules) = model.modules() {
        let name = Path::new(file).file_name().map_or(file.into(), |n| n.to_string_lossy());
        return Some(vec![call_graph_view(&name, &modules.call_graph())]);
    }
    model.graphs().into_iter().next()
}

/// The format that the arguments ask for, or why there is none.
fn format_of(args: &GraphArgs) -> Result<GraphFormat, String> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = &args.output else { return Ok(GraphFormat::Svg) };
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("dot" | "gv") => Ok(GraphFormat::Dot),
        Some("json") => Ok(GraphFormat::Json),
        Some("svg") | None => Ok(GraphFormat::Svg),
        Some(other) => Err(format!(
            "{}: graphs are written as .svg, .dot, .gv or .json, not as .{other}; Graphviz makes others of \
             a .dot file (dot -T{other}), browsers and Inkscape of an .svg file",
            shown_path(path)
        )),
    }
}
