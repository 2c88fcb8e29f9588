//! `gander explain`.

use gander::lang::codes::CATALOGUE;
use gander::lang::{Code, nearest};

use super::WRONG;
use super::args::ExplainArgs;
use super::output::Output;

pub fn run(args: &ExplainArgs, output: &mut Output) -> u8 {
    let Some(text) = &args.code else {
        for entry in CATALOGUE {
            output.put(&format!("{}  {}\n", entry.code.as_str(), entry.title));
        }
        return 0;
    };
    let Some(code) = Code::find(&text.to_ascii_uppercase()) else {
        let codes = CATALOGUE.iter().map(|e| e.code.as_str());
        let near = nearest(text, codes).map_or(String::new(), |n| format!("; did you mean {n}?"));
        output.error(&format!("there is no code `{text}`{near} (`gander explain` lists all)"));
        return WRONG;
    };
    let entry = code.entry();
    let head = output.paint_out().bold(&format!("{}: {}", code.as_str(), entry.title));
    output.put(&format!("{head}\n\n{}\n", entry.explanation));
    if !entry.example.is_empty() {
        output.put(&format!("\nFor example:\n\n    {}\n", entry.example));
    }
    0
}
