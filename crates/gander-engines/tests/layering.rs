//! The import directions between the modules of this crate.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules that each top-level module may import, besides itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("arith", &[]),
    ("portfolio", &["arith"]),
    ("core", &["portfolio"]),
    ("encode", &["arith", "core"]),
    ("candidates", &["arith", "core", "encode"]),
    ("concrete", &["arith", "core", "encode"]),
    ("engines", &["arith", "candidates", "concrete", "core", "encode", "portfolio"]),
    ("director", &["concrete", "core", "engines", "portfolio"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The part of a file before its tests.
fn production(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = text
        .find("#[cfg(test)]\nmod tests {")
        .or_else(|| text.find("#[cfg(test)]\npub(crate) mod tests {"));
    text[..end.unwrap_or(text.len())].to_string()
}

/// The modules after `crate::` in a text.
fn imported(text: &str) -> Vec<String> {
    assert!(!text.contains("use crate::{"), "write one `use` for each module");
    let word = |rest: &str| {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    text.split("crate::")
        .skip(1)
        .map(word)
        .filter(|w| w.chars().next().is_some_and(char::is_lowercase))
        .collect()
}

/// True if a line leaves its top-level module by `super`. `depth` is the number of folders and
/// files from `src` to the module.
fn leaves(line: &str, depth: usize) -> bool {
    line.matches("super::").count() >= depth && line.contains(&"super::".repeat(depth))
}

#[test]
fn modules_import_only_layers_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&src).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let module = name.strip_suffix(".rs").unwrap_or(&name);
        let known = LAYERS.iter().any(|(layer, _)| *layer == module);
        // These are the public surface and the test hooks, which may use every layer.
        assert!(known || ["lib", "seeded_bugs"].contains(&module), "{name} is in no layer");
    }
    for (layer, below) in LAYERS {
        let mut files = Vec::new();
        sources(&src.join(layer), &mut files);
        assert!(!files.is_empty(), "{layer}");
        for file in files {
            if file.file_name().is_some_and(|n| n == "tests.rs") {
                continue;
            }
            let text = production(&file);
            let inside = file.strip_prefix(&src).unwrap();
            let is_mod = inside.file_name().is_some_and(|n| n == "mod.rs");
            let depth = inside.components().count() - usize::from(is_mod);
            for line in text.lines().filter(|line| leaves(line, depth)) {
                wrong.push(format!("{}: {line}", inside.display()));
            }
            for module in imported(&text) {
                if module != *layer && !below.contains(&module.as_str()) {
                    wrong.push(format!(
                        "{} imports {module}",
                        file.strip_prefix(&src).unwrap().display()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn engines_do_not_import_each_other() {
    let engines = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engines");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&engines).unwrap() {
        let folder = entry.unwrap().path();
        let Some(own) = folder.file_name().and_then(|n| n.to_str()).filter(|_| folder.is_dir())
        else {
            continue;
        };
        let mut files = Vec::new();
        sources(&folder, &mut files);
        for file in files {
            let text = production(&file);
            for other in text.split("crate::engines::").skip(1) {
                if !other.starts_with(own) {
                    let name = file.strip_prefix(&engines).unwrap().display().to_string();
                    wrong.push(format!(
                        "{name} imports {}",
                        other.split("::").next().unwrap_or_default()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The checker and the engines have linear arithmetic of their own, so that a mistake in one is
/// caught by the other.
#[test]
fn engines_do_not_use_the_arithmetic_of_the_checker() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for shared in ["gander_linear::", "gander_proof::"] {
            assert!(!text.contains(shared), "{} uses {shared}", file.display());
        }
    }
}
