//! Files that we write: whole or not at all.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// A file could not be written.
#[derive(Debug)]
pub struct SavingError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl fmt::Display for SavingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be written: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for SavingError {}

/// Writes a file so that at any time there is either the old or the new one: into a temporary file beside it, which is
/// then renamed. Keeps the permissions of an old file; follows a symbolic link rather than replacing it; does not
/// replace a file that is write-protected.
pub fn save_atomically(path: &Path, content: &[u8]) -> Result<(), SavingError> {
    let fail = |error: io::Error| SavingError { path: path.to_path_buf(), error };
    let target = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
        Err(e) => return Err(fail(e)),
    };
    let permissions = match fs::metadata(&target) {
        Ok(about) if about.is_dir() => return Err(fail(io::Error::other("it is a directory"))),
        Ok(about) if about.permissions().readonly() => {
            return Err(fail(io::Error::new(io::ErrorKind::PermissionDenied, "it is write-protected")));
        }
        // A pipe or a device takes bytes but cannot be replaced.
        Ok(about) if !about.is_file() => return fs::write(&target, content).map_err(fail),
        Ok(about) => Some(about.permissions()),
        Err(_) => None,
    };
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().ok_or_else(|| fail(io::Error::other("it has no file name")))?);
    name.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let temporary = target.with_file_name(name);
    let written = write_new(&temporary, content, permissions).and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(fail)
}

fn write_new(path: &Path, content: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(p) = permissions {
        file.set_permissions(p)?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// A name as part of a file name: letters, digits, `-`, `_` and `.` stay.
pub fn slug(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars().take(80) {
        let plain = c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if plain {
            out.push(c);
        } else if !out.ends_with('_') {
            out.push('_');
        }
    }
    let out = out.trim_matches(|c| c == '_' || c == '.').to_string();
    if out.is_empty() { "unnamed".to_string() } else { out }
}

/// The name of the file that holds the evidence for a claim of a model.
pub fn evidence_file_name(model: &str, claim: &str) -> String {
    let stem =
        if model == "-" { "stdin" } else { Path::new(model).file_stem().and_then(|s| s.to_str()).unwrap_or("model") };
    format!("{}.{}.evidence.json", slug(stem), slug(claim))
}

/// The name of the file with the run that decides a claim, in the format of this extension.
pub fn trace_file_name(model: &str, claim: &str, extension: &str) -> String {
    let stem =
        if model == "-" { "stdin" } else { Path::new(model).file_stem().and_then(|s| s.to_str()).unwrap_or("model") };
    format!("{}.{}.{extension}", slug(stem), slug(claim))
}

/// Everything that is needed to see an internal error again: a verdict that did not pass its check.
#[derive(Clone, Debug)]
pub struct InternalErrorFile {
    /// The name of the model's file.
    pub file: String,
    /// The model.
    pub model: String,
    /// Whose verdict it was.
    pub engine: String,
    /// What is wrong with it.
    pub problem: String,
    /// The evidence in its file form; null if an engine broke without giving any.
    pub evidence: Value,
}

/// The value of `schema` in such a file.
const SCHEMA: &str = "gander-internal-error/1";

impl InternalErrorFile {
    /// The content of the file.
    pub fn to_json(&self) -> Value {
        json!({
            "schema": SCHEMA,
            "version": env!("CARGO_PKG_VERSION"),
            "file": self.file,
            "engine": self.engine,
            "problem": self.problem,
            "model": self.model,
            "evidence": self.evidence,
        })
    }

    /// Reads the content of such a file; none if it is something else.
    pub fn from_json(text: &str) -> Option<InternalErrorFile> {
        let value: Value = serde_json::from_str(text).ok()?;
        if value.get("schema")?.as_str()? != SCHEMA {
            return None;
        }
        let string = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_string);
        Some(InternalErrorFile {
            file: string("file")?,
            model: string("model")?,
            engine: string("engine")?,
            problem: string("problem")?,
            evidence: value.get("evidence").cloned().unwrap_or(Value::Null),
        })
    }

    /// Writes the file into a folder, under a name that no file there has.
    pub fn save(&self, folder: &Path, claim: &str) -> Result<PathBuf, SavingError> {
        let stem = format!("gander-internal-error-{}-{}", slug(&self.engine), slug(claim));
        let mut path = folder.join(format!("{stem}.json"));
        let mut n = 2;
        while path.exists() {
            path = folder.join(format!("{stem}-{n}.json"));
            n += 1;
        }
        let mut content = serde_json::to_vec_pretty(&self.to_json()).unwrap_or_default();
        content.push(b'\n');
        save_atomically(&path, &content)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("gander-saving-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn permissions_and_links_stay() {
        let folder = folder("links");
        let file = folder.join("a");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let link = folder.join("l");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save_atomically(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_must_not_be_replaced_is_not() {
        let folder = folder("protected");
        let file = folder.join("a");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        assert!(save_atomically(&file, b"new").is_err());
        assert!(save_atomically(&folder, b"new").is_err());
        assert!(save_atomically(&folder.join("none/b"), b"new").is_err());
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_become_file_names() {
        assert_eq!(slug("no sinkhole a/b"), "no_sinkhole_a_b");
        assert_eq!(slug("../.."), "unnamed");
        assert_eq!(evidence_file_name("x/bank.sts", "range of x"), "bank.range_of_x.evidence.json");
        assert_eq!(evidence_file_name("-", "p"), "stdin.p.evidence.json");
    }

    #[test]
    fn internal_errors_read_back() {
        let e = InternalErrorFile {
            file: "m.sts".into(),
            model: "spec A".into(),
            engine: "bmc".into(),
            problem: "wrong".into(),
            evidence: json!({ "a": 1 }),
        };
        let back = InternalErrorFile::from_json(&e.to_json().to_string()).unwrap();
        assert_eq!((back.model, back.evidence), (e.model, e.evidence));
        assert!(InternalErrorFile::from_json("{}").is_none() && InternalErrorFile::from_json("spec").is_none());
    }
}
