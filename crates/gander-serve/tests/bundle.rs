//! The committed files of the page are what `npm run build` in editors/page makes of its sources.

use std::fs;
use std::path::{Path, PathBuf};

use gander_io::programs::Sha256;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => found.push(path),
        }
    }
}

/// The hash that a line of `HASHES` has.
fn committed(word: &str) -> String {
    let text = fs::read_to_string(root().join("crates/gander-serve/assets/HASHES")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    line.unwrap().trim().to_string()
}

/// The hash of names and contents, in the order of the names.
fn hash_of(mut files: Vec<(String, Vec<u8>)>) -> String {
    files.sort();
    let mut all = Vec::new();
    for (name, content) in files {
        all.extend_from_slice(format!("{name}\n{}\n", content.len()).as_bytes());
        all.extend_from_slice(&content);
    }
    Sha256::of(&all).short(64)
}

#[test]
fn the_bundle_is_made_from_the_committed_sources() {
    let page = root().join("editors/page");
    let mut files = Vec::new();
    files_below(&page.join("src"), &mut files);
    files_below(&page.join("static"), &mut files);
    files.extend(["package.json", "package-lock.json", "build.mjs"].map(|name| page.join(name)));
    let named = files.iter().map(|file| {
        let name = file.strip_prefix(&page).unwrap().to_string_lossy().into_owned();
        (name, fs::read(file).unwrap())
    });
    let hash = hash_of(named.collect());
    assert_eq!(hash, committed("sources "), "run `npm ci && npm run build` in editors/page");
}

#[test]
fn the_bundle_was_not_edited() {
    let assets = root().join("crates/gander-serve/assets");
    let mut files = Vec::new();
    files_below(&assets, &mut files);
    let named = files.iter().filter(|f| !f.ends_with("HASHES")).map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, fs::read(file).unwrap())
    });
    let hash = hash_of(named.collect());
    assert_eq!(hash, committed("bundle "), "run `npm ci && npm run build` in editors/page");
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    let assets = root().join("crates/gander-serve/assets");
    for name in ["page.html", "entrance.html", "page.css", "entrance.js"] {
        let text = fs::read_to_string(assets.join(name)).unwrap();
        assert!(!text.contains("https:") && !text.contains("//cdn"), "{name}");
        assert!(!text.contains("<script>") && !text.contains("onclick="), "{name}: inline scripts");
    }
}

#[test]
fn every_package_of_the_bundle_has_its_licence() {
    let text = fs::read_to_string(root().join("crates/gander-serve/assets/LICENCES.txt")).unwrap();
    for package in
        ["@codemirror/view", "@codemirror/lsp-client", "@lezer/common", "marked", "style-mod"]
    {
        assert!(text.contains(&format!("\n{package} ")), "{package}");
    }
    assert!(text.contains("Permission is hereby granted"));
}
