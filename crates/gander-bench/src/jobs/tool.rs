//! Tools as data: how to call a program and how to read its output.
//!
//! A tool is an entry of a TOML file; `tools.toml` beside this file has the built-in ones. An entry
//! with a `base` is a variant: the base with further arguments under another label.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gander_io::programs;
use gander_process::{Batch, Environment};
use serde::{Deserialize, Serialize};

use crate::reader::Reader;
use crate::results::record::fingerprint;

/// Time for printing the version.
const VERSION_TIME: Duration = Duration::from_secs(60);

const BUILT_IN: &str = include_str!("tools.toml");

/// An entry of a TOML file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name in results and tables.
    pub label: String,
    /// The tool of which this is a variant.
    #[serde(default)]
    base: Option<String>,
    /// The program: a name to be searched in PATH, or a path.
    #[serde(default)]
    program: Option<String>,
    /// Arguments; `{file}`, `{timeout}` (whole seconds) and `{memory}` (megabytes) are filled in,
    /// and an argument `{extra}` is replaced by the further arguments of a variant.
    #[serde(default)]
    arguments: Vec<String>,
    /// Further arguments.
    #[serde(default)]
    extra: Vec<String>,
    /// The reader of its output.
    #[serde(default)]
    reader: Option<Reader>,
    /// Arguments that make it print its version.
    #[serde(default)]
    version: Vec<String>,
    /// The languages it accepts; all if empty.
    #[serde(default)]
    languages: Vec<String>,
    /// Variables to set.
    #[serde(default)]
    environment: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    #[serde(default)]
    tool: Vec<Description>,
}

/// The known tools.
#[derive(Clone, PartialEq, Debug)]
pub struct Catalogue {
    tools: Vec<Description>,
    /// Programs given on the command line, by the label of the tool they belong to.
    programs: Vec<(String, String)>,
}

/// A tool whose program was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Tool {
    /// Its name in results and tables.
    pub label: String,
    /// The program, a path.
    pub program: PathBuf,
    /// Arguments with placeholders for file and limits.
    pub template: Vec<String>,
    /// The reader of its output.
    pub reader: Reader,
    /// Version and hash of the program.
    pub build: String,
    /// The languages it accepts; all if empty.
    pub languages: Vec<String>,
    /// Variables to set.
    pub environment: Vec<(String, String)>,
}

/// The identity of a tool in results.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ToolId {
    /// Its name in results and tables.
    pub label: String,
    /// Version and hash of the program.
    pub build: String,
    /// The arguments.
    pub arguments: String,
}

impl Default for Catalogue {
    fn default() -> Self {
        // The file is part of the program, and a test parses it.
        let tools = toml::from_str::<ToolFile>(BUILT_IN).map(|f| f.tool).unwrap_or_default();
        Catalogue { tools, programs: Vec::new() }
    }
}

impl Catalogue {
    /// Adds the tools of a TOML file; they replace known tools of the same label.
    pub fn add_file(&mut self, text: &str) -> Result<(), String> {
        for tool in toml::from_str::<ToolFile>(text).map_err(|e| e.to_string())?.tool {
            self.add(tool);
        }
        Ok(())
    }

    /// Adds `LABEL=BASE ARGUMENT…`, a variant of a known tool.
    pub fn add_variant(&mut self, text: &str) -> Result<(), String> {
        let wrong = || format!("`{text}` is not of the form LABEL=TOOL ARGUMENT…");
        let (label, rest) = text.split_once('=').ok_or_else(wrong)?;
        let mut words = rest.split_whitespace().map(str::to_string);
        let base = words.next().ok_or_else(wrong)?;
        self.find(&base)?;
        self.add(Description {
            label: label.trim().to_string(),
            base: Some(base),
            program: None,
            arguments: Vec::new(),
            extra: words.collect(),
            reader: None,
            version: Vec::new(),
            languages: Vec::new(),
            environment: Default::default(),
        });
        Ok(())
    }

    /// Sets the program of a tool and of its variants: `TOOL=PATH`.
    pub fn set_program(&mut self, text: &str) -> Result<(), String> {
        let (label, path) =
            text.split_once('=').ok_or_else(|| format!("`{text}` is not of the form TOOL=PATH"))?;
        self.find(label)?;
        self.programs.push((label.to_string(), path.to_string()));
        Ok(())
    }

    /// The labels, in order.
    pub fn labels(&self) -> Vec<&str> {
        self.tools.iter().map(|t| t.label.as_str()).collect()
    }

    fn add(&mut self, tool: Description) {
        match self.tools.iter_mut().find(|t| t.label == tool.label) {
            Some(old) => *old = tool,
            None => self.tools.push(tool),
        }
    }

    fn find(&self, label: &str) -> Result<&Description, String> {
        let found = self.tools.iter().find(|t| t.label == label);
        found.ok_or_else(|| {
            format!("no tool is called `{label}`; there are {}", self.labels().join(", "))
        })
    }

    /// Finds the program of a tool. The error says what is missing.
    pub fn resolve(&self, label: &str) -> Result<Tool, String> {
        let mut tool = self.find(label)?.clone();
        let mut extra = std::mem::take(&mut tool.extra);
        let mut given = self.given_program(label);
        let mut seen = vec![label.to_string()];
        while let Some(base) = tool.base.take() {
            if seen.contains(&base) {
                return Err(format!("`{label}` is a variant of itself"));
            }
            given = given.or_else(|| self.given_program(&base));
            let mut next = self.find(&base)?.clone();
            extra.splice(0..0, std::mem::take(&mut next.extra));
            let environment = std::mem::take(&mut tool.environment);
            next.environment.extend(environment);
            if !tool.languages.is_empty() {
                next.languages = tool.languages;
            }
            tool = next;
            seen.push(base);
        }
        let program = given.or(tool.program).ok_or_else(|| format!("`{label}` has no program"))?;
        let reader = tool.reader.ok_or_else(|| format!("`{label}` has no reader"))?;
        let program = on_path(&program)
            .ok_or_else(|| format!("program `{program}` of `{label}` was not found"))?;
        let mut template = Vec::new();
        for argument in tool.arguments {
            match argument.as_str() {
                "{extra}" => template.extend(extra.iter().cloned()),
                _ => template.push(argument),
            }
        }
        let environment: Vec<_> = tool.environment.into_iter().collect();
        let build = build_of(&program, &tool.version, &environment)?;
        Ok(Tool {
            label: label.to_string(),
            program,
            template,
            reader,
            build,
            languages: tool.languages,
            environment,
        })
    }

    fn given_program(&self, label: &str) -> Option<String> {
        self.programs.iter().rev().find(|(l, _)| l == label).map(|(_, p)| p.clone())
    }
}

impl Tool {
    /// Its identity in results.
    pub fn id(&self) -> ToolId {
        let mut arguments = self.template.join(" ");
        for (name, value) in &self.environment {
            arguments = format!("{name}={value} {arguments}");
        }
        ToolId { label: self.label.clone(), build: self.build.clone(), arguments }
    }

    /// Whether it accepts files of this language.
    pub fn takes(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|l| l == language)
    }

    /// Whether it gets its time limit as an argument, so that it can stop by itself and print its
    /// answers.
    pub fn knows_time_limit(&self) -> bool {
        self.template.iter().any(|a| a.contains("{timeout}"))
    }

    /// The arguments for a file.
    pub fn arguments(&self, file: &Path, time: Duration, memory_mb: u64) -> Vec<String> {
        let seconds = time.as_secs_f64().ceil().max(1.0).to_string();
        let fill = |a: &String| {
            a.replace("{file}", &file.to_string_lossy())
                .replace("{timeout}", &seconds)
                .replace("{memory}", &memory_mb.to_string())
        };
        self.template.iter().map(fill).collect()
    }
}

/// The path of a program: a path is used as it is, a name is searched in the absolute folders of
/// PATH.
fn on_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return std::fs::canonicalize(program).ok().filter(|p| p.is_file());
    }
    programs::find(program, &std::env::var_os("PATH")?)
}

/// The first line that the program prints about its version, and a hash of the program: another
/// build may have the same version.
fn build_of(
    program: &Path,
    version: &[String],
    environment: &[(String, String)],
) -> Result<String, String> {
    let problem = |e: std::io::Error| format!("{}: {e}", program.display());
    let hash = fingerprint(&std::fs::read(program).map_err(problem)?);
    if version.is_empty() {
        return Ok(hash);
    }
    let variables = environment.iter().map(|(k, v)| (k.into(), v.into())).collect();
    let batch = Batch {
        arguments: version.iter().map(Into::into).collect(),
        environment: Environment { is_inherited: true, variables },
        deadline: Some(Instant::now() + VERSION_TIME),
        ..Batch::new(program)
    };
    let output = batch.run().map_err(problem)?;
    let text = format!("{}\n{}", output.stdout, output.stderr);
    let line = text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
    let line: String = line.chars().take(80).collect();
    Ok(format!("{line} [{}]", &hash[..8]).trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_tools_are_complete() {
        let catalogue = Catalogue::default();
        assert_eq!(toml::from_str::<ToolFile>(BUILT_IN).unwrap().tool, catalogue.tools);
        assert!(catalogue.labels().starts_with(&["gander", "gander-bmc"]));
        for tool in &catalogue.tools {
            match &tool.base {
                Some(base) => assert!(catalogue.find(base).is_ok(), "{}", tool.label),
                None => assert!(tool.program.is_some() && tool.reader.is_some(), "{}", tool.label),
            }
        }
    }

    #[test]
    fn variants_add_arguments_and_share_the_program() {
        let mut catalogue = Catalogue::default();
        catalogue
            .add_file("[[tool]]\nlabel='sh'\nprogram='sh'\narguments=['-c','{extra}','{file}']\nreader='horn'\n")
            .unwrap();
        catalogue.add_variant("loud=sh -x").unwrap();
        catalogue.add_variant("louder=loud -v").unwrap();
        let tool = catalogue.resolve("louder").unwrap();
        assert_eq!(tool.template, ["-c", "-x", "-v", "{file}"]);
        assert_eq!(tool.program, catalogue.resolve("sh").unwrap().program);
        assert_eq!(
            tool.arguments(Path::new("/a b"), Duration::from_millis(1500), 10),
            ["-c", "-x", "-v", "/a b"]
        );
        assert!(!tool.knows_time_limit());
        catalogue.set_program("sh=/no/such/program").unwrap();
        assert_eq!(
            catalogue.resolve("louder").unwrap_err(),
            "program `/no/such/program` of `louder` was not found"
        );
    }

    #[test]
    fn mistakes_are_named() {
        let mut catalogue = Catalogue::default();
        assert!(
            catalogue
                .add_variant("x=missing")
                .unwrap_err()
                .starts_with("no tool is called `missing`")
        );
        assert!(catalogue.add_variant("x").is_err());
        assert!(
            catalogue
                .add_file("[[tool]]\nlabel='x'\nprogramme='y'\n")
                .unwrap_err()
                .contains("programme")
        );
        catalogue
            .add_file("[[tool]]\nlabel='a'\nbase='b'\n[[tool]]\nlabel='b'\nbase='a'\n")
            .unwrap();
        assert_eq!(catalogue.resolve("a").unwrap_err(), "`a` is a variant of itself");
    }
}
