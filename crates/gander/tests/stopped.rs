//! A check that is stopped while a file is being read says so, in every language and whatever the
//! size of the file.

use std::time::Duration;

use gander::engines::{Cancellation, NullObserver};
use gander::{CheckOptions, load_and_check};

/// Names of files, and comments of which there are many in them.
const FILES: [(&str, &str); 8] = [
    ("m.sts", "// nothing\n"),
    ("m.lus", "-- nothing\n"),
    ("m.script", "// nothing\n"),
    ("m.vmt", "; nothing\n"),
    ("m.smt2", "; nothing\n"),
    ("m.btor2", "; nothing\n"),
    ("m.mcmt", "; nothing\n"),
    ("m.smv", "-- nothing\n"),
];

#[test]
fn loading_ends_when_it_is_cancelled() {
    for (file, comment) in FILES {
        for count in [1_000, 100_000] {
            let text = comment.repeat(count);
            let token = Cancellation::new();
            token.cancel();
            let checked =
                load_and_check(&text, file, &CheckOptions::default(), &token, &NullObserver);
            assert_eq!(
                checked.view.stopped.as_deref(),
                Some("stopped while the model was being read"),
                "{file}, {count}"
            );
            assert!(checked.systems.is_empty());
            let options = CheckOptions { timeout: Some(Duration::ZERO), ..CheckOptions::default() };
            let checked =
                load_and_check(&text, file, &options, &Cancellation::new(), &NullObserver);
            let stopped = checked.view.stopped.unwrap_or_default();
            assert_eq!(
                stopped, "stopped by the time limit of 0 s while the model was being read",
                "{file}, {count}"
            );
        }
    }
}
