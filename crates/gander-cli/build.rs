//! Links the release build of the command statically where the C toolchain can: on Linux with
//! glibc, if the static libraries of C are there. The result is position-independent (static-PIE),
//! so that its addresses are random.
//!
//! Small models are checked in about two milliseconds, and finding and binding shared libraries
//! costs half a millisecond of that. The compiler's own way (`-C target-feature=+crt-static`)
//! cannot be asked for by a package, as it applies to the libraries of procedural macros too. So
//! the linker is told to link statically, and the shared libraries that the compiler names are
//! found as linker scripts that name the static ones.
//!
//! Where something is missing, or `GANDER_LINK=dynamic` is set, the build is an ordinary one.
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries that the compiler names, and what they are found in when they are static.
const LIBRARIES: [(&str, &str); 7] = [
    ("gcc_s", "gcc_eh"),
    ("c", "c"),
    ("m", "m"),
    ("util", "util"),
    ("rt", "rt"),
    ("pthread", "pthread"),
    ("dl", "dl"),
];

/// A program that is linked to find out whether that works.
const TRIAL: &str = "#include <math.h>\n#include <stdio.h>\nint main(int n, char **a) { return puts(a[0]) < 0 || log2((double)n) > 9; }\n";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=GANDER_LINK");
    if let Some(folder) = static_libraries() {
        for argument in [&format!("-L{}", folder.display()), "-static-pie"] {
            println!("cargo:rustc-link-arg-bins={argument}");
        }
    }
}

/// A folder with linker scripts for the static libraries; none if the link is to be an ordinary
/// one.
fn static_libraries() -> Option<PathBuf> {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|v| v == value);
    let here = std::env::var_os("HOST") == std::env::var_os("TARGET");
    let suits = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release");
    if !(here && suits) || is("GANDER_LINK", "dynamic") {
        return None;
    }
    let compiler = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let folder = Path::new(&std::env::var_os("OUT_DIR")?).join("static");
    fs::create_dir_all(&folder).ok()?;
    for (name, found_in) in LIBRARIES {
        let output = Command::new(&compiler)
            .arg(format!("-print-file-name=lib{found_in}.a"))
            .output()
            .ok()?;
        let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
        // A library that is not there is printed as it was asked for.
        if !path.is_absolute() || !path.is_file() {
            return None;
        }
        fs::write(folder.join(format!("lib{name}.so")), format!("INPUT(\"{}\")\n", path.display()))
            .ok()?;
    }
    let (source, program) = (folder.join("trial.c"), folder.join("trial"));
    fs::write(&source, TRIAL).ok()?;
    let linked = Command::new(&compiler)
        .args(["-static-pie", "-fPIE", "-o"])
        .args([&program, &source])
        .arg(format!("-L{}", folder.display()))
        .arg("-Wl,-Bdynamic")
        .args(LIBRARIES.map(|(name, _)| format!("-l{name}")))
        .output()
        .ok()?;
    let runs = linked.status.success() && Command::new(&program).output().ok()?.status.success();
    runs.then_some(folder)
}
