//! SMT-LIB 2.6 text of sessions: terms are printed as templates, values are parsed. The syntax is
//! that of [`gander_term::smtlib`].

mod power;
pub(crate) mod print;
pub(crate) mod template;
pub(crate) mod value;
