//! Front-ends of the gander model checker: source text in, system and diagnostics out.
