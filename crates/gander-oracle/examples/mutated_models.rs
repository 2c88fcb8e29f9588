//! Compares how mutated files are read: `mutated_models btor2 COUNT [FIRST SEED]` with a strict
//! reading by the rules of btor2tools; `mutated_models smv COUNT FIRST-SEED NUSMV`, where the last
//! is the path of NuSMV, with NuSMV's acceptance and verdicts.

use std::collections::BTreeMap;
use std::io::{Error, Write};
use std::path::Path;
use std::process::Command;

#[path = "../tests/mutants/mod.rs"]
mod mutants;

use gander_lang::{Code, smv};
use gander_oracle::languages::{Language, model, mutate};
use gander_oracle::{Limits, decide};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |i: usize, other: u64| words.get(i).and_then(|w| w.parse::<u64>().ok()).unwrap_or(other);
    let (count, first) = (number(1, 1_000), number(2, 0));
    match words.first().map(String::as_str) {
        Some("btor2") => btor2(count, first),
        Some("smv") => against_nusmv(
            count,
            first,
            words.get(3).ok_or_else(|| Error::other("where is NuSMV?"))?,
        ),
        _ => Err(Error::other("which language?")),
    }
}

/// Messages by what they say, numbers left out, with the smallest text of each.
#[derive(Default)]
struct Kinds(BTreeMap<String, (usize, String)>);

impl Kinds {
    fn add(&mut self, message: &str, text: &str) {
        let plain: String = message.chars().filter(|c| !c.is_ascii_digit()).collect();
        let (count, smallest) =
            self.0.entry(plain).or_insert_with(|| (0, format!("{message}\n{text}")));
        *count += 1;
        if text.len() + message.len() < smallest.len() {
            *smallest = format!("{message}\n{text}");
        }
    }

    fn show(&self) -> std::io::Result<()> {
        for (kind, (count, smallest)) in &self.0 {
            writeln!(std::io::stdout(), "== {count} times: {kind}\n{smallest}")?;
        }
        Ok(())
    }
}

fn btor2(count: u64, first: u64) -> std::io::Result<()> {
    let files = mutants::corpus();
    let mut tally = mutants::Mutants::default();
    let mut kinds = Kinds::default();
    let mut disagreements = 0;
    for seed in first..first + count {
        let Some(text) = mutants::mutant(&files, seed) else { continue };
        if let Err(message) = mutants::compare(&text, &mut tally) {
            disagreements += 1;
            kinds.add(&message, &text);
        }
    }
    kinds.show()?;
    writeln!(
        std::io::stdout(),
        "btor2: {disagreements} disagreements, {tally:?}, {count} seeds from {first}"
    )
}

/// What NuSMV says of a file.
enum Said {
    /// It refuses it, with this message.
    Refused(String),
    /// The properties by name, and whether every reachable state has a step.
    Verdicts(BTreeMap<String, bool>, bool),
}

fn nusmv(program: &str, folder: &Path, text: &str, names: &[String]) -> std::io::Result<Said> {
    let (file, commands) = (folder.join("mutated.smv"), folder.join("commands"));
    std::fs::write(&file, text)?;
    let mut script = format!("set on_failure_script_quits\nread_model -i {}\n", file.display());
    script.push_str("flatten_hierarchy\nencode_variables\nbuild_model\necho built\ncheck_fsm\n");
    for name in names {
        script.push_str(&format!("echo \"@@ {name}\"\ncheck_property -P {name}\n"));
    }
    script.push_str("quit\n");
    std::fs::write(&commands, script)?;
    let output = Command::new(program).args(["-dcx", "-source"]).arg(&commands).output()?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !out.lines().any(|l| l.trim() == "built") {
        let place = file.display().to_string();
        let message: Vec<&str> = err.lines().filter(|l| !l.trim().is_empty()).take(2).collect();
        return Ok(Said::Refused(message.join(" ").replace(&place, "")));
    }
    let mut said = BTreeMap::new();
    let mut current = None;
    for line in out.lines() {
        if let Some(name) = line.trim().strip_prefix("@@ ") {
            current = Some(name.to_string());
        }
        for (ending, truth) in [(" is true", true), (" is false", false)] {
            if let Some(name) = current.clone().filter(|_| line.trim_end().ends_with(ending)) {
                said.insert(name, truth);
            }
        }
    }
    Ok(Said::Verdicts(said, out.contains("The transition relation is total")))
}

fn against_nusmv(count: u64, first: u64, program: &str) -> std::io::Result<()> {
    let folder = std::env::temp_dir().join(format!("gander-mutated-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (mut both, mut neither, mut agree, mut open, mut unsupported) = (0, 0, 0, 0, 0);
    let mut kinds = Kinds::default();
    for seed in first..first + count {
        let Some(model) = model(Language::Smv, seed) else { continue };
        let text = mutate(&model.text, seed);
        let loaded = smv::load(&text, "mutated.smv");
        let errors: Vec<_> = loaded.errors().collect();
        if errors.iter().any(|d| d.code == Code::E0510) {
            unsupported += 1;
            continue;
        }
        let names: Vec<String> = model
            .claims
            .iter()
            .map(|(n, _)| n.clone())
            .filter(|n| text.contains(&format!("{n} :=")))
            .collect();
        match (nusmv(program, &folder, &text, &names)?, errors.is_empty()) {
            (Said::Refused(_), false) => neither += 1,
            (Said::Refused(message), true) => {
                kinds.add(&format!("gander accepts, NuSMV says: {message}"), &text)
            }
            (Said::Verdicts(..), false) => {
                kinds.add(&format!("NuSMV accepts, gander says: {}", errors[0].message), &text);
            }
            (Said::Verdicts(said, total), true) => {
                both += 1;
                for system in loaded.system.iter().chain(&loaded.others) {
                    let answers = decide(system, Limits::default()).unwrap_or_default();
                    for (claim, answer) in system.claims().iter().zip(answers) {
                        // Temporal properties presuppose a total relation.
                        let asked =
                            total || text.contains(&format!("INVARSPEC NAME {} :=", claim.name));
                        match (said.get(&claim.name), answer) {
                            (Some(truth), Ok(answer)) if *truth == answer.holds => agree += 1,
                            (Some(truth), Ok(_)) if asked => {
                                kinds.add(
                                    &format!(
                                        "NuSMV says {truth} of {}, gander the contrary",
                                        claim.name
                                    ),
                                    &text,
                                );
                            }
                            _ => open += 1,
                        }
                    }
                }
            }
        }
    }
    kinds.show()?;
    std::fs::remove_dir_all(&folder)?;
    let all = kinds.0.values().map(|(n, _)| n).sum::<usize>();
    writeln!(
        std::io::stdout(),
        "smv: {all} disagreements; {both} accepted by both, {neither} by neither, {unsupported} not supported; \
         {agree} verdicts agree, {open} not compared; {count} seeds from {first}"
    )
}
