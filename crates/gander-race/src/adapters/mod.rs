//! The tools. Each is a file; what two of them share has a file of its own.

mod cvc5;
mod golem;
mod horn_answer;
mod jkind;
mod kind2;
mod lustre_answer;
mod nusmv;
mod nuxmv;
mod pono;
mod smv_session;
mod uppaal;
mod z3;

use crate::tool::Tool;

/// Every tool that can take part, in the order in which they are listed.
pub fn tools() -> &'static [&'static dyn Tool] {
    &[
        &nusmv::NuSmv,
        &nuxmv::NuXmv,
        &z3::Z3,
        &golem::Golem,
        &cvc5::Cvc5,
        &kind2::Kind2,
        &jkind::JKind,
        &pono::Pono,
        &uppaal::Uppaal,
    ]
}
