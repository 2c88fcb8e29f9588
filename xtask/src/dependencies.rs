//! Checks the dependencies against deny.toml.
//!
//! Uses `cargo deny` if it is installed, with advisories if their data is available. Otherwise
//! licences and sources are checked here, from cargo's metadata, and the rest is reported as
//! skipped.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

use gander_io::programs;
use serde::Deserialize;

use crate::{cargo, root};

/// Checks the dependencies.
pub fn dependencies() -> Result<(), String> {
    println!("== dependencies ==");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(deny) = programs::find("cargo-deny", &path) else {
        println!(
            "cargo-deny is not installed: advisories and bans are skipped, licences and sources are checked here"
        );
        return offline();
    };
    let check = |what: &[&str]| {
        let status = Command::new(&deny)
            .arg("check")
            .args(what)
            .current_dir(root())
            .stdout(Stdio::null())
            .status();
        status.is_ok_and(|s| s.success())
    };
    if !check(&["bans", "licenses", "sources"]) {
        return Err("cargo deny check failed".to_string());
    }
    if !has_advisories(&deny) {
        println!("the advisory database cannot be fetched: advisories are skipped");
        return Ok(());
    }
    if check(&["advisories"]) {
        Ok(())
    } else {
        Err("cargo deny check advisories failed".to_string())
    }
}

fn has_advisories(deny: &std::path::Path) -> bool {
    let fetched = Command::new(deny).args(["fetch", "db"]).current_dir(root()).output();
    fetched.is_ok_and(|o| o.status.success())
}

#[derive(Deserialize)]
struct Config {
    licenses: Licenses,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: BTreeSet<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a crate of this workspace.
    source: Option<String>,
}

fn offline() -> Result<(), String> {
    let text =
        fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
    let config: Config = toml::from_str(&text).map_err(|e| format!("deny.toml: {e}"))?;
    let output =
        cargo(&["metadata", "--format-version", "1", "--locked"]).stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| format!("cargo metadata: {e}"))?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let problems: Vec<String> =
        metadata.packages.iter().filter_map(|p| config.problem(p)).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

impl Config {
    fn problem(&self, package: &Package) -> Option<String> {
        let name = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().unwrap_or_default();
        if !allowed(license, &self.licenses.allow) {
            return Some(format!("{name}: the licence `{license}` is not allowed by deny.toml"));
        }
        let source = package.source.as_deref()?;
        let known = source
            .strip_prefix("registry+")
            .is_some_and(|r| self.sources.allow_registry.contains(r));
        (!known).then(|| format!("{name}: the source {source} is not allowed by deny.toml"))
    }
}

/// True if an SPDX expression is satisfied by allowed licences. `A/B` is an old form of `A OR B`.
fn allowed(expression: &str, allow: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allow };
    reader.either() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allow: &'a BTreeSet<String>,
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn either(&mut self) -> Option<bool> {
        let mut any = self.both()?;
        while self.take("OR") {
            any |= self.both()?;
        }
        Some(any)
    }

    fn both(&mut self) -> Option<bool> {
        let mut all = self.one()?;
        while self.take("AND") {
            all &= self.one()?;
        }
        Some(all)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let inner = self.either()?;
            return self.take(")").then_some(inner);
        }
        let (&name, rest) = self.words.split_first()?;
        self.words = rest;
        if !self.take("WITH") {
            return Some(self.allow.contains(name));
        }
        let (&exception, rest) = self.words.split_first()?;
        self.words = rest;
        Some(self.allow.contains(&format!("{name} WITH {exception}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licence_expressions_are_allowed_by_their_licences() {
        let allow = ["MIT", "Apache-2.0 WITH LLVM-exception", "Zlib"].map(String::from).into();
        let allowed = |e: &str| super::allowed(e, &allow);
        assert!(
            allowed("MIT")
                && allowed("GPL-3.0 OR MIT")
                && allowed("GPL-3.0/MIT")
                && allowed("(MIT OR X) AND Zlib")
        );
        assert!(allowed("Apache-2.0 WITH LLVM-exception OR X"));
        assert!(
            !allowed("")
                && !allowed("Apache-2.0")
                && !allowed("MIT AND X")
                && !allowed("(MIT")
                && !allowed("MIT MIT")
        );
    }

    #[test]
    fn every_dependency_is_allowed() {
        offline().unwrap();
    }
}
