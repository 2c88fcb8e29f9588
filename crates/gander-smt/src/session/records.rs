//! Logs of conversations with solvers: a folder of numbered files, each a script that can be run
//! again.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gander_io::file_names::part;
use gander_io::write::create_new;

/// File names that are tried at most; earlier runs may have used some.
const MAX_TRIALS: u32 = 100_000;

/// A folder for logs; clones share the numbering.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
    begun: Arc<AtomicU32>,
}

impl Records {
    /// Logs in an existing folder.
    pub fn new(folder: PathBuf) -> Records {
        Records { folder, begun: Arc::new(AtomicU32::new(0)) }
    }

    /// A log in a new file `about-NUMBER.smt2`; numbers of existing files are skipped. The file is
    /// made with the first query: a session that is stopped before it leaves no file.
    pub fn begin(&self, about: &str) -> Box<dyn Write + Send> {
        let (records, about) = (self.clone(), about.to_string());
        Box::new(Record { records, about, before: Vec::new(), file: None })
    }

    fn create(&self, about: &str) -> Option<File> {
        for _ in 0..MAX_TRIALS {
            let n = self.begun.fetch_add(1, Ordering::Relaxed);
            match create_new(&self.folder.join(format!("{about}-{n}.smt2"))) {
                Ok(file) => return Some(file),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
        }
        None
    }
}

/// What a query begins with.
const QUERY: &[u8] = b"(check-sat";

/// The log of one session. A log that cannot be written is lost without an error.
struct Record {
    records: Records,
    about: String,
    /// What was written before the first query.
    before: Vec<u8>,
    file: Option<BufWriter<File>>,
}

impl Write for Record {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.file {
            Some(file) => return file.write(bytes),
            None => self.before.extend_from_slice(bytes),
        }
        if bytes.windows(QUERY.len()).any(|part| part == QUERY)
            && let Some(file) = self.records.create(&self.about)
        {
            let mut file = BufWriter::new(file);
            let written = file.write_all(&std::mem::take(&mut self.before));
            self.file = Some(file);
            written?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

/// A name as part of a file name, without special characters; different for different names.
pub fn in_file_name(name: &str) -> String {
    part(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_claims_have_different_file_names() {
        assert_eq!(in_file_name("small"), "small");
        assert!(in_file_name("../a/b.c").starts_with("a_b.c-"));
        assert_ne!(in_file_name(&"a𠀀".repeat(1000)), in_file_name(&"a𠀀".repeat(1001)));
    }

    #[test]
    fn existing_files_are_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "old").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("p-0.smt2")).unwrap();
        std::fs::write(folder.path().join("p-1.smt2"), "earlier").unwrap();
        let records = Records::new(folder.path().to_path_buf());
        let mut record = records.begin("p");
        record.write_all(b"(push 1)\n").unwrap();
        record.write_all(b"(check-sat)\n").unwrap();
        drop(record);
        // A session without a query leaves no file.
        records.begin("q").write_all(b"(push 1)\n").unwrap();
        assert!(!folder.path().join("q-3.smt2").exists());
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            (read("victim"), read("p-1.smt2"), read("p-2.smt2")),
            ("old".into(), "earlier".into(), "(push 1)\n(check-sat)\n".into())
        );
    }
}
