//! Files that a model includes.
//!
//! An included file must be below the folder of the model or below one that the user allows
//! ([`super::LoadOptions::include_folders`]): an untrusted model must not make gander read other
//! files and quote them in messages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gander_io::read::ReadError;
use gander_lang::lustre::Included;
use gander_text::shown_path;

use super::LoadOptions;
use super::input::{InputError, read_input};

/// The folders that files may be included from.
pub(super) struct IncludeFolders {
    allowed: Vec<PathBuf>,
    /// [`LoadOptions::unsaved`].
    unsaved: Arc<BTreeMap<PathBuf, Arc<str>>>,
}

impl IncludeFolders {
    /// The folder of a model, and those of the options.
    pub(super) fn of(model: &str, options: &LoadOptions) -> IncludeFolders {
        let own = std::iter::once(folder_of(model));
        let all = own.chain(options.include_folders.iter().map(PathBuf::as_path));
        let allowed = all.filter_map(|folder| folder.canonicalize().ok()).collect();
        IncludeFolders { allowed, unsaved: Arc::clone(&options.unsaved) }
    }

    /// Reads the file that another one includes by a path relative to itself. Links are resolved
    /// before the folder is compared, so no link leads out of the folders.
    pub(super) fn read(&self, by: &str, path: &str) -> Result<Included, String> {
        let file = Path::new(by).parent().unwrap_or(Path::new("")).join(path);
        let real =
            file.canonicalize().map_err(|e| InputError::from(ReadError::from(e)).to_string())?;
        if !self.allowed.iter().any(|folder| real.starts_with(folder)) {
            let folder = real.parent().map(shown_path).unwrap_or_default();
            return Err(format!(
                "it is outside of the model's folder; `--include-dir {folder}` allows it"
            ));
        }
        let text = match self.unsaved.get(&real) {
            Some(text) => text.to_string(),
            None => read_input(&real.to_string_lossy()).map_err(|e| e.to_string())?,
        };
        let (name, identity) =
            (file.to_string_lossy().into_owned(), real.to_string_lossy().into_owned());
        Ok(Included { name, identity, text })
    }
}

/// The canonical path of a file, which identifies it whatever path leads to it.
pub(super) fn identity_of(name: &str) -> String {
    Path::new(name).canonicalize().map_or(name.to_string(), |f| f.to_string_lossy().into_owned())
}

fn folder_of(file: &str) -> &Path {
    Path::new(file).parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
