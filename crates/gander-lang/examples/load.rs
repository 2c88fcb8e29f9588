//! Loads files and prints their diagnostics, for experiments. `load --format FILE` formats, `load
//! --time FILE` measures loading, `load --parse FILE` measures the parser alone.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut mode = String::new();
    for name in std::env::args().skip(1) {
        if name.starts_with("--") {
            mode = name;
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&name)?).into_owned();
        let began = std::time::Instant::now();
        if mode == "--format" {
            if let Ok(formatted) = gander_lang::sts::format(&text) {
                write!(out, "{formatted}")?;
            }
            continue;
        }
        if mode == "--parse" {
            let parsed = gander_lang::sts::parse(&text);
            writeln!(out, "{name}: {} errors, {:?}", parsed.diagnostics.len(), began.elapsed())?;
            continue;
        }
        let load = gander_lang::language_of(&name)
            .map_or(gander_lang::sts::load as fn(&str, &str) -> _, |l| l.load);
        let loaded = load(&text, &name);
        let source = gander_lang::SourceFile::new(&name, &text);
        let style = gander_lang::RenderStyle::default();
        write!(out, "{}", gander_lang::render_all(&loaded.diagnostics, &source, style))?;
        match &loaded.system {
            Some(system) => writeln!(
                out,
                "{name}: {} transitions, {} claims",
                system.transitions().len(),
                system.claims().len()
            )?,
            None => writeln!(out, "{name}: no system")?,
        }
        if mode == "--time" {
            writeln!(out, "{:?}, {}", began.elapsed(), peak())?;
        }
    }
    Ok(())
}

/// The peak of resident memory.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}
