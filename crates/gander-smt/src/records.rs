//! Records of conversations with solvers: a folder of numbered files, each a script that can be run again.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a claim's name that a file name takes; file systems allow about 255 in all.
const LONGEST: usize = 120;

/// A folder that conversations are recorded in; clones count on together.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
    begun: Arc<AtomicU32>,
}

impl Records {
    /// Records in a folder that exists.
    pub fn new(folder: PathBuf) -> Records {
        Records { folder, begun: Arc::new(AtomicU32::new(0)) }
    }

    /// A new file, named `about` and the number of the conversation; `None` if it cannot be made: a record that cannot be
    /// written is the business of whoever made the folder.
    pub fn begin(&self, about: &str) -> Option<Box<dyn Write + Send>> {
        let n = self.begun.fetch_add(1, Ordering::Relaxed);
        let file = File::create(self.folder.join(format!("{about}-{n}.smt2"))).ok()?;
        Some(Box::new(BufWriter::new(file)))
    }
}

/// A name with nothing in it that a file system or a shell could take for something else, and not too long.
pub fn in_file_name(name: &str) -> String {
    let mut short = String::new();
    for c in name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }) {
        if short.len() + c.len_utf8() > LONGEST {
            break;
        }
        short.push(c);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_claim_has_a_file_name() {
        assert_eq!(in_file_name("no sinkhole Büro"), "no_sinkhole_Büro");
        assert_eq!(in_file_name("../a/b.c"), "___a_b_c");
        let long = in_file_name(&"a𠀀".repeat(1000));
        assert!(long.starts_with("a𠀀a𠀀") && long.len() <= LONGEST, "{long}");
    }
}
