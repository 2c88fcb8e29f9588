//! Formats and answers for the round-trip tests.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;

use gander_export::Format;
use gander_oracle::{Limits, decide};
use gander_system::System;

/// The languages that are both written and read.
pub const FORMATS: &[(Format, &str)] = &[
    (Format::Sts, "again.sts"),
    (Format::Script, "again.script"),
    (Format::Smv, "again.smv"),
    (Format::Vmt, "again.vmt"),
    (Format::Horn, "again.smt2"),
    (Format::Btor2, "again.btor2"),
    (Format::Lustre, "again.lus"),
];

/// The oracle's answers to the claims of a system, by name; `None` if it does not decide a claim.
pub fn answers(system: &System, limits: Limits) -> BTreeMap<String, Option<bool>> {
    let Ok(all) = decide(system, limits) else { return BTreeMap::new() };
    system
        .claims()
        .iter()
        .zip(all)
        .map(|(c, a)| (c.name.clone(), a.ok().map(|a| a.holds)))
        .collect()
}
