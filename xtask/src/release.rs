//! Builds the release binary: static-PIE, stripped, without paths of the build machine.
//!
//! The build script (`crates/gander-cli/build.rs`) requests static-PIE linking if the C toolchain
//! supports it. This module maps source paths to short names and checks the result: it is an error
//! if something requested did not happen.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{cargo, root, run};

/// Builds and checks the binary; prints its path.
pub fn release() -> Result<(), String> {
    let target = root().join("target").join("dist");
    let mut build = cargo(&["build", "--release", "--package", "gander-cli", "--bin", "gander"]);
    build
        .env("CARGO_ENCODED_RUSTFLAGS", flags().join("\x1f"))
        .env("CARGO_PROFILE_RELEASE_LTO", "fat")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    build.arg("--target-dir").arg(&target);
    run(build, "release binary")?;
    let binary = target.join("release").join("gander");
    let bytes = fs::read(&binary).map_err(|e| format!("{}: {e}", binary.display()))?;
    let problems = problems(&bytes, &private_paths());
    if !problems.is_empty() {
        return Err(format!("{}: {}", binary.display(), problems.join("; ")));
    }
    println!(
        "{} ({} bytes): static-PIE, no path of this machine in it",
        binary.display(),
        bytes.len()
    );
    Ok(())
}

/// Paths that would identify the build machine or its user.
fn private_paths() -> Vec<PathBuf> {
    let folders = [Some(root()), cargo_home(), sysroot(), env::var_os("HOME").map(PathBuf::from)];
    // A path as short as `/` would match anywhere.
    folders.into_iter().flatten().filter(|p| p.components().count() > 1).collect()
}

fn cargo_home() -> Option<PathBuf> {
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
}

fn sysroot() -> Option<PathBuf> {
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--print", "sysroot"])
        .current_dir(root())
        .output()
        .ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

fn flags() -> Vec<String> {
    // The last matching prefix applies, so the home folder comes first.
    let named = [
        (env::var_os("HOME").map(PathBuf::from), "home"),
        (cargo_home(), "cargo"),
        (sysroot(), "rust"),
        (Some(root()), "gander"),
    ];
    let map = |(path, name): (Option<PathBuf>, &str)| {
        Some(format!("--remap-path-prefix={}={name}", path?.display()))
    };
    named.into_iter().filter_map(map).collect()
}

/// The problems of a binary, which must be a 64-bit static-PIE ELF file.
fn problems(bytes: &[u8], private: &[PathBuf]) -> Vec<String> {
    let mut problems = Vec::new();
    if cfg!(target_os = "linux") {
        match Elf::read(bytes) {
            None => problems.push("it is no ELF file of 64 bits".to_string()),
            Some(elf) => {
                if !elf.position_independent {
                    problems.push("it is not position-independent".to_string());
                }
                if elf.interpreter {
                    problems.push("it is linked dynamically".to_string());
                }
            }
        }
    }
    for path in private {
        if contains(bytes, path) {
            problems.push(format!("the path {} is in it", path.display()));
        }
    }
    problems
}

fn contains(bytes: &[u8], path: &Path) -> bool {
    // Search for the folder: `/home/ann/`, not `/home/annette`.
    let text = format!("{}/", path.display());
    let (first, text) = (text.as_bytes()[0], text.as_bytes());
    let starts = bytes.iter().enumerate().filter(|(_, b)| **b == first);
    starts.into_iter().any(|(at, _)| bytes[at..].starts_with(text))
}

/// Properties of an ELF file.
struct Elf {
    position_independent: bool,
    interpreter: bool,
}

impl Elf {
    /// Reads the header and the program headers of a little-endian 64-bit file.
    fn read(bytes: &[u8]) -> Option<Elf> {
        const SHARED: u16 = 3;
        const INTERPRETER: u32 = 3;
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let offset = u64::from_le_bytes(bytes.get(32..40)?.try_into().ok()?) as usize;
        let (size, count) = (usize::from(half(54)?), usize::from(half(56)?));
        let interpreter = (0..count).any(|n| word(offset + n * size) == Some(INTERPRETER));
        Some(Elf { position_independent: half(16)? == SHARED, interpreter })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_binary_is_refused() {
        // The test binary is linked dynamically and contains paths of its sources.
        let own = fs::read(env::current_exe().unwrap()).unwrap();
        let found = problems(&own, &[root()]).join("; ");
        assert!(found.contains("the path"), "{found}");
        assert!(!cfg!(target_env = "gnu") || found.contains("dynamically"), "{found}");
        assert!(problems(b"#!/bin/sh\n", &[]).len() == usize::from(cfg!(target_os = "linux")));
    }

    #[test]
    fn paths_are_found_as_folders() {
        assert!(contains(b"..../home/ann/x", Path::new("/home/ann")));
        assert!(!contains(b"..../home/annette", Path::new("/home/ann")));
    }
}
