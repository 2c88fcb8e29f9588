//! SMV: the part of the language of NuSMV and nuXmv that describes finite and infinite transition systems.
//!
//! Sections VAR, IVAR, FROZENVAR, DEFINE, ASSIGN, INIT, TRANS, INVAR, modules with parameters, INVARSPEC, CTLSPEC of the shape
//! `AG p`, LTLSPEC of the shapes `G p`, `F p`, `G F p` and `G (p -> F q)`. What a variable's type allows holds in every state. An array over a range
//! is its elements, `a[0]`, `a[1]`; an index may be any expression where it is read. As in
//! NuSMV, temporal properties presuppose that the transition relation is total.
//! Cavada et al.: NuSMV 2.6 user manual; Bozzano et al.: nuXmv 2.0 user manual.

mod assignments;
mod declare;
mod elaborate;
mod expressions;
mod lexer;
mod parser;
mod syntax;
mod values;
mod words;

use crate::codes::Code;
use crate::language::Loaded;
use crate::machine::file_stem;
use crate::report::Report;
use crate::span::Span;

/// Reads an SMV file.
pub fn load(source: &str, file_name: &str) -> Loaded {
    let mut report = Report::default();
    if let Some(diagnostic) = crate::sts::unreadable(source) {
        report.add(diagnostic);
        return report.loaded(Vec::new());
    }
    let file = parser::parse(source, &mut report);
    let mut systems = Vec::new();
    if !report.has_errors()
        && let Some(machine) = elaborate::machine(&file, source, file_stem(file_name), &mut report)
        && !report.has_errors()
    {
        match machine.build() {
            Ok(built) => systems.extend(built),
            Err(error) => report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}")),
        }
    }
    report.loaded(systems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_property_is_whole() {
        let text = "MODULE main\nVAR a : array 0..1 of boolean;\nINVARSPEC !(a[0] | a[1]);\nINVARSPEC a[0] -> a[1]\n";
        let loaded = load(text, "m.smv");
        let system = loaded.system.expect("it is a system");
        let texts: Vec<&str> = system.claims.iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["INVARSPEC !(a[0] | a[1])", "INVARSPEC a[0] -> a[1]"]);
    }
}
