//! Parses the Lustre files that are named and shows what there is to say about them.

use std::time::Instant;

use gander_lang::{RenderStyle, SourceFile, lustre, render_all};

fn main() {
    let (mut files, mut silent, mut slowest) = (0, 0, (0.0, String::new()));
    for name in std::env::args().skip(1) {
        let text = match std::fs::read(&name) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let begun = Instant::now();
        let parsed = lustre::parse(&text);
        let seconds = begun.elapsed().as_secs_f64();
        if seconds > slowest.0 {
            slowest = (seconds, name.clone());
        }
        files += 1;
        silent += usize::from(parsed.diagnostics.is_empty());
        let source = SourceFile::new(&name, &text);
        print!("{}", render_all(&parsed.diagnostics, &source, RenderStyle::default()));
    }
    println!("{files} files, {silent} without a word; slowest {:.3} s: {}", slowest.0, slowest.1);
}
