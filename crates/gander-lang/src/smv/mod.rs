//! SMV: the part of the language of NuSMV and nuXmv that describes finite and infinite transition
//! systems.
//!
//! Supported: sections VAR, IVAR, FROZENVAR, DEFINE, ASSIGN, INIT, TRANS, INVAR; modules with
//! parameters; INVARSPEC, CTLSPEC of the form `AG p`, LTLSPEC of the forms `G p`, `F p`, `G F p`
//! and `G (p -> F q)`. The type of a variable constrains every state. An array over a range is
//! represented by its elements, `a[0]`, `a[1]`; reading allows any expression as index. As in
//! NuSMV, temporal properties presuppose a total transition relation. Cavada et al.: NuSMV 2.6 user
//! manual; Bozzano et al.: nuXmv 2.0 user manual.

mod assignments;
mod declare;
mod elaborate;
mod expressions;
mod lexer;
mod parser;
mod syntax;
mod values;
mod words;

use crate::diagnostics::codes::Code;
use crate::diagnostics::report::Report;
use crate::diagnostics::span::Span;
use crate::language::Loaded;
use crate::machine::file_stem;

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
            Err(error) => {
                report.error(Code::E0901, Span::at(0), format!("this cannot be built: {error}"))
            }
        }
    }
    report.loaded(systems)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of nodes of the system for `LTLSPEC F x`: if the relation is not syntactically
    /// total, there is an additional node where runs may end.
    fn nodes(sections: &str) -> usize {
        let text =
            format!("MODULE main VAR x : boolean; y : 0..2; z : {{a, b}}; {sections} LTLSPEC F x");
        let loaded = load(&text, "m.smv");
        loaded
            .system
            .unwrap_or_else(|| panic!("{sections}: {:?}", loaded.diagnostics))
            .nodes()
            .len()
    }

    #[test]
    fn assignments_within_types_make_a_total_relation() {
        for total in [
            "",
            "ASSIGN next(x) := !x; next(y) := case x : 0; y = 1 : {1, 2}; TRUE : y; esac; next(z) := {a, b};",
            "IVAR i : boolean; j : 0..2; ASSIGN next(x) := i; next(y) := i ? j : y;",
            "IVAR w : word[4]; VAR v : word[4]; n : integer; ASSIGN next(v) := v + w; next(n) := n + 1;",
            "TRANS next(x) = !x; TRANS next(y) in 1..2; ASSIGN next(z) := x ? a : z;",
            "FROZENVAR f : boolean; ASSIGN next(x) := f;",
        ] {
            assert_eq!(nodes(total), 1, "{total}");
        }
        for perhaps_not in [
            "TRANS x",
            "INVAR x -> y = 0",
            "INVAR x",
            "IVAR i : boolean; TRANS i = x",
            "ASSIGN next(y) := y + 1;",
            "TRANS next(y) = 3",
            "TRANS next(y) = 1; TRANS next(y) = 2",
            "TRANS next(x) = next(x) & y = 1",
            "IVAR j : 0..3; ASSIGN next(y) := j;",
            "ASSIGN next(y) := case x : 0; TRUE : {3, 4}; esac;",
            "IVAR j : 2..1; ASSIGN next(x) := TRUE;",
            "INVAR y = 0; ASSIGN next(y) := {1, 2};",
        ] {
            assert_eq!(nodes(perhaps_not), 2, "{perhaps_not}");
        }
    }

    #[test]
    fn the_text_of_a_property_includes_its_closing_bracket() {
        let text = "MODULE main\nVAR a : array 0..1 of boolean;\nINVARSPEC !(a[0] | a[1]);\nINVARSPEC a[0] -> a[1]\n";
        let loaded = load(text, "m.smv");
        let system = loaded.system.expect("it is a system");
        let texts: Vec<&str> = system.claims().iter().map(|c| c.text.as_str()).collect();
        assert_eq!(texts, ["INVARSPEC !(a[0] | a[1])", "INVARSPEC a[0] -> a[1]"]);
    }
}
