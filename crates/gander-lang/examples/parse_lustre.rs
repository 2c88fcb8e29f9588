//! Parses Lustre files and prints their diagnostics, for experiments.

use std::io::Write;
use std::time::Instant;

use gander_lang::{RenderStyle, SourceFile, lustre, render_all};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let (mut files, mut silent, mut slowest) = (0, 0, (0.0, String::new()));
    for name in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&name)?).into_owned();
        let begun = Instant::now();
        let parsed = lustre::parse(&text);
        let seconds = begun.elapsed().as_secs_f64();
        if seconds > slowest.0 {
            slowest = (seconds, name.clone());
        }
        files += 1;
        silent += usize::from(parsed.diagnostics.is_empty());
        let source = SourceFile::new(&name, &text);
        write!(out, "{}", render_all(&parsed.diagnostics, &source, RenderStyle::default()))?;
    }
    writeln!(
        out,
        "{files} files, {silent} without a word; slowest {:.3} s: {}",
        slowest.0, slowest.1
    )
}
