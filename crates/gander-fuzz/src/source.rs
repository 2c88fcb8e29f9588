//! Sends mutated source texts through the whole front-end.
//!
//! Mutation is guided by features: an input is kept as a seed if it has a diagnostic, or a pair of
//! neighbouring syntax kinds, not seen before.
//!
//! Every language of [`gander_lang::LANGUAGES`] is a target; its seeds are its files in the corpus
//! and the examples.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use gander_lang::{Formatter, Language, Loaded, RenderStyle, SourceFile, render};
use gander_lang::{lustre, sts};
use rustc_hash::FxHashSet;

use crate::words::{LUSTRE_WORDS, STS_WORDS, of_seeds};
use crate::{Budget, Finding, Random, Tally};

/// Limits the length of a mutated text, in bytes.
const LONGEST: usize = 16 << 10;

/// Runs the target.
pub fn run(language: &Language, seeds: &[String], seed: u64, budget: Budget) -> Tally {
    let mut chance = Random::new(seed);
    let mut pool: Vec<String> = seeds.iter().map(|s| clip(s.clone())).collect();
    if pool.is_empty() {
        pool.push(String::new());
    }
    let words = match language.name {
        "sts" => STS_WORDS.to_vec(),
        "lustre" => LUSTRE_WORDS.to_vec(),
        _ => of_seeds(seeds),
    };
    let mut seen = FxHashSet::default();
    let mut tally = Tally::default();
    for round in budget.rounds() {
        let input = match pool.get(round as usize) {
            Some(as_given) if round < seeds.len() as u64 => as_given.clone(),
            _ => mutate(&mut chance, &words, &pool, seeds.len().max(1)),
        };
        tally.rounds += 1;
        let began = Instant::now();
        let examined = catch_unwind(AssertUnwindSafe(|| examine(language, &input)));
        if tally.slowest.as_ref().is_none_or(|(longest, _)| began.elapsed() > *longest) {
            tally.slowest = Some((began.elapsed(), input.clone()));
        }
        match examined {
            Ok(Ok(seen_here)) => {
                tally.deep += u64::from(seen_here.built);
                let news = seen_here.features.into_iter().filter(|f| seen.insert(*f)).count();
                if news > 0 && round >= seeds.len() as u64 {
                    tally.kept += 1;
                    pool.push(input);
                }
            }
            Ok(Err(problem)) => tally.findings.push(Finding { problem, input }),
            Err(panic) => {
                let text = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
                    .unwrap_or_default();
                tally.findings.push(Finding { problem: format!("panic: {text}"), input });
            }
        }
        if tally.findings.len() >= 5 {
            break;
        }
    }
    tally
}

struct Seen {
    built: bool,
    features: Vec<u64>,
}

/// Checks the properties that hold for every text, and collects its features.
fn examine(language: &Language, source: &str) -> Result<Seen, String> {
    let name = format!("fuzz.{}", language.extensions[0]);
    let file = SourceFile::new(&name, source);
    let mut features = match language.name {
        "sts" => examine_tree(source)?,
        "lustre" => examine_lustre(source)?,
        _ => Vec::new(),
    };
    let loaded = (language.load)(source, &name);
    for d in &loaded.diagnostics {
        if source.get(d.primary.span.range()).is_none() {
            return Err(format!(
                "{:?} has a span outside of the text: {:?}",
                d.code, d.primary.span
            ));
        }
        features.push(1 << 61 | d.code as u64);
        // The beginning of the message, without names, as a feature.
        let beginning: Vec<&str> =
            d.message.split('`').next().unwrap_or_default().split(' ').take(3).collect();
        features.push(1 << 63 | hash_of(beginning) >> 2);
        if render(d, &file, RenderStyle::default()).is_empty() {
            return Err(format!("{:?} renders to nothing", d.code));
        }
    }
    if loaded.system.is_none() && loaded.errors().next().is_none() {
        return Err("there is no system, and nothing says why".into());
    }
    if let Some(system) = &loaded.system {
        let sizes = [
            system.nodes().len(),
            system.transitions().len(),
            system.vars().len(),
            system.claims().len(),
        ];
        features.push(
            sizes
                .iter()
                .fold(1 << 62, |all, size| all << 5 | size.checked_ilog2().unwrap_or(0) as u64),
        );
    }
    if let Some(format) = language.format {
        examine_layout(format, language, source, &loaded)?;
    }
    if language.name == "lustre" {
        crate::streams::examine(source, &loaded)?;
    }
    Ok(Seen { built: loaded.system.is_some(), features })
}

/// Formatting changes only the layout, and is idempotent.
fn examine_layout(
    format: Formatter,
    language: &Language,
    source: &str,
    loaded: &Loaded,
) -> Result<(), String> {
    let Ok(formatted) = format(source) else {
        return match loaded.system {
            Some(_) => Err("a text that loads cannot be formatted".into()),
            None => Ok(()),
        };
    };
    let again = format(&formatted)
        .map_err(|e| format!("formatted text does not parse: {:?}", e.first()))?;
    if again != formatted {
        return Err(format!(
            "formatting twice differs from formatting once:\n{formatted}\n-- then --\n{again}"
        ));
    }
    let name = format!("fuzz.{}", language.extensions[0]);
    let meant = loaded.system.as_ref().map(|s| s.to_text());
    let means = (language.load)(&formatted, &name).system.map(|s| s.to_text());
    if meant != means {
        return Err(format!("formatting changed the meaning:\n{formatted}"));
    }
    Ok(())
}

/// The tree of an `.sts` text contains the whole text. The features are pairs of neighbouring
/// kinds.
fn examine_tree(source: &str) -> Result<Vec<u64>, String> {
    let parsed = sts::parse(source);
    let tree = parsed.root();
    if tree.text() != source {
        return Err("the tree's text is not the source".into());
    }
    let mut features = Vec::new();
    let mut before = 0u64;
    for node in tree.descendants() {
        let kind = node.kind() as u64;
        features.push(before << 16 | kind);
        before = kind + 1;
    }
    Ok(features)
}

/// Checks the Lustre parser. The features are pairs of neighbouring kinds and error messages.
fn examine_lustre(source: &str) -> Result<Vec<u64>, String> {
    let parsed = lustre::parse(source);
    let mut features = Vec::new();
    for d in &parsed.diagnostics {
        if source.get(d.primary.span.range()).is_none() {
            return Err(format!(
                "{:?} has a span outside of the text: {:?}",
                d.code, d.primary.span
            ));
        }
        features.push(1 << 60 | d.code as u64);
    }
    let mut before = 0;
    for expr in &parsed.file.exprs {
        if source.get(expr.span.range()).is_none() {
            return Err(format!("an expression has a span outside of the text: {expr:?}"));
        }
        let kind = hash_of(std::mem::discriminant(&expr.kind)) >> 48;
        features.push(before << 16 | kind);
        before = kind + 1;
    }
    if parsed.file.items.is_empty() && parsed.diagnostics.is_empty() {
        return Err("nothing was read, and nothing says why".into());
    }
    Ok(features)
}

fn hash_of(what: impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

/// A few mutations of one of the texts; in half of the cases of one of the first `given` texts,
/// most of which load.
fn mutate(chance: &mut Random, words: &[&str], pool: &[String], given: usize) -> String {
    let from = if chance.one_in(2) { given } else { pool.len() };
    let mut text = pool[chance.below(from)].clone();
    for _ in 0..1 + chance.below(3) {
        let at = boundary(&text, chance.below(text.len() + 1));
        match chance.below(8) {
            0 => text.insert_str(at, chance.pick(words)),
            1 => {
                let end = boundary(&text, (at + chance.below(30)).min(text.len()));
                text.replace_range(at..end.max(at), "");
            }
            2 => {
                let end = boundary(&text, (at + chance.below(20)).min(text.len())).max(at);
                text.replace_range(at..end, chance.pick(words));
            }
            3 => {
                let end = boundary(&text, (at + chance.below(200)).min(text.len())).max(at);
                let part = text[at..end].to_string();
                let to = boundary(&text, chance.below(text.len() + 1));
                text.insert_str(to, &part);
            }
            4 => {
                let other = &pool[chance.below(pool.len())];
                let from = boundary(other, chance.below(other.len() + 1));
                let end = boundary(other, (from + chance.below(300)).min(other.len())).max(from);
                text.insert_str(at, &other[from..end]);
            }
            5 => {
                let word = chance.pick(words).repeat(1 + chance.below(40));
                text.insert_str(at, &word);
            }
            6 => text.truncate(at),
            _ => {
                let c = char::from_u32(chance.next_u64() as u32 % 0x3_0000).unwrap_or('?');
                text.insert(at, c);
            }
        }
    }
    clip(text)
}

fn clip(mut text: String) -> String {
    let end = boundary(&text, text.len().min(LONGEST));
    text.truncate(end);
    text
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The texts of a language in the corpus and the examples.
pub fn seeds(language: &Language) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    let mut folders =
        vec![root.join("corpus"), root.join("examples"), root.join("crates/gander-lang/tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                p if p.is_dir() => folders.push(p),
                p if p
                    .extension()
                    .is_some_and(|e| language.extensions.iter().any(|known| e == *known)) =>
                {
                    files.push(p)
                }
                _ => {}
            }
        }
    }
    files.sort();
    files.iter().filter_map(|f| std::fs::read_to_string(f).ok()).collect()
}
