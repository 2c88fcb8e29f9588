//! Files below the folder of the server.
//!
//! A path that a client gives is relative to the folder. Links are resolved before it is compared
//! with the folder, so that neither `..` nor a link leads out of it.

use std::path::{Component, Path, PathBuf};

use gander::read_input;
use gander_io::write::{Target, replace};
use gander_text::{shown, shown_path};

/// The ending of files of evidence.
pub const EVIDENCE_ENDING: &str = ".evidence.json";

/// A model file: its whole path, and its text.
pub fn read_model(folder: &Path, path: &str) -> Result<(PathBuf, String), String> {
    let whole = existing(folder, path)?;
    let text = read_input(&whole.to_string_lossy());
    let text = text.map_err(|e| format!("{}: {e}", shown(path)))?;
    Ok((whole, text))
}

/// The place of a model that may not exist yet.
pub fn resolve(folder: &Path, path: &str) -> Result<PathBuf, String> {
    match existing(folder, path) {
        Ok(whole) => Ok(whole),
        Err(_) => new_file(folder, path),
    }
}

fn existing(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let named = relative(path)?;
    let outside = || format!("{} is not below the folder of this server", shown(path));
    let whole = folder.join(named).canonicalize();
    let whole = whole.map_err(|e| format!("{}: {e}", shown(path)))?;
    if whole.starts_with(folder) { Ok(whole) } else { Err(outside()) }
}

/// The place of a file that is to be written: its folder exists below the folder of the server.
fn new_file(folder: &Path, path: &str) -> Result<PathBuf, String> {
    let named = relative(path)?;
    let name = named.file_name().ok_or_else(|| format!("{} names no file", shown(path)))?;
    let parent = folder.join(named.parent().unwrap_or(Path::new("")));
    let parent = parent.canonicalize().map_err(|e| format!("{}: {e}", shown(path)))?;
    match parent.starts_with(folder) {
        true => Ok(parent.join(name)),
        false => Err(format!("{} is not below the folder of this server", shown(path))),
    }
}

fn relative(path: &str) -> Result<&Path, String> {
    let named = Path::new(path);
    let plain = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || path.contains('\0') || !named.components().all(plain) {
        return Err(format!(
            "`path` must be relative to the folder of this server, without `..`, not {}",
            shown(path)
        ));
    }
    Ok(named)
}

/// Saves evidence in a new file.
pub fn save_evidence(folder: &Path, path: &str, content: &[u8]) -> Result<PathBuf, String> {
    if !path.ends_with(EVIDENCE_ENDING) {
        return Err(format!("the name of a file of evidence ends with {EVIDENCE_ENDING}"));
    }
    let whole = new_file(folder, path)?;
    if whole.symlink_metadata().is_ok() {
        return Err(format!("{} exists already", shown_path(&whole)));
    }
    replace(&whole, content, Target::Named).map_err(|e| e.to_string())?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_of_the_folder_is_read_or_written() {
        let temporary = tempfile::tempdir().unwrap();
        let outside = temporary.path().canonicalize().unwrap();
        let folder = outside.join("models");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(outside.join("secret.sts"), "spec S").unwrap();
        fs::write(folder.join("a.sts"), "spec A").unwrap();
        symlink(outside.join("secret.sts"), folder.join("link.sts")).unwrap();
        symlink(&outside, folder.join("up")).unwrap();
        assert_eq!(read_model(&folder, "a.sts").unwrap().1, "spec A");
        assert_eq!(read_model(&folder, "./a.sts").unwrap().1, "spec A");
        let absolute = outside.join("secret.sts");
        let absolute = absolute.to_str().unwrap();
        for path in [
            "../secret.sts",
            "sub/../../secret.sts",
            absolute,
            "link.sts",
            "",
            "a\0",
            "up/secret.sts",
            "sub",
            "none.sts",
        ] {
            assert!(read_model(&folder, path).is_err(), "{path}");
        }
        assert!(resolve(&folder, "new.sts").is_ok());
        assert!(resolve(&folder, "up/new.sts").is_err() && resolve(&folder, "../n.sts").is_err());
        let save = |path: &str| save_evidence(&folder, path, b"{}");
        assert!(save("x.evidence.json").is_ok() && save("sub/x.evidence.json").is_ok());
        for path in [
            "x.evidence.json",
            "a.sts",
            "../x.evidence.json",
            "up/x.evidence.json",
            "none/x.evidence.json",
        ] {
            assert!(save(path).is_err(), "{path}");
        }
        symlink(outside.join("secret.sts"), folder.join("l.evidence.json")).unwrap();
        assert!(save("l.evidence.json").is_err());
        assert_eq!(fs::read_to_string(outside.join("secret.sts")).unwrap(), "spec S");
    }
}
