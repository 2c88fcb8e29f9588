//! The tools: one file each, and files for what several of them share (`horn_answer`,
//! `lustre_answer`, `smv_session`).

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

/// All tools, in the order of listings.
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
