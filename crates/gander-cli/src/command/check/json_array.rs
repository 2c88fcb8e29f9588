//! `--json`: one object, or an array for several files.

use crate::process::Output;

/// Writes one file as an object, several as an array; each file when it is checked.
#[derive(Clone)]
pub(super) struct JsonArray {
    files: usize,
    written: usize,
}

impl JsonArray {
    pub(super) fn new(files: usize) -> JsonArray {
        JsonArray { files, written: 0 }
    }

    pub(super) fn object(&mut self, text: &str, output: &mut Output) {
        if self.files > 1 {
            output.put(if self.written == 0 { "[\n" } else { ",\n" });
        }
        output.put_json(text);
        self.written += 1;
    }

    pub(super) fn close(self, output: &mut Output) {
        output.put(if self.files > 1 { "\n]\n" } else { "\n" });
    }
}
