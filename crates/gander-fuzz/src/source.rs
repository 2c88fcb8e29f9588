//! Mutated source texts through the whole front-end.
//!
//! Mutation is guided by novelty: an input is kept as a seed for more if it yields a diagnostic code, or a pair of
//! neighbouring syntax kinds, not seen before.
//!
//! Each language has its words, its seeds and its own list of what must be true of any text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use gander_lang::{RenderStyle, SourceFile, render};
use gander_lang::{lustre, sts};
use rustc_hash::FxHashSet;

use crate::{Budget, Finding, Random, Tally};

const LONGEST: usize = 16 << 10;
const STS_WORDS: &[&str] = &[
    "spec ",
    "enum ",
    "var ",
    "const ",
    "define ",
    "input ",
    "assume ",
    "start ",
    "-> ",
    "node ",
    "final ",
    "when ",
    "invariant ",
    "any ",
    "always ",
    "reachable ",
    "eventually ",
    "possible ",
    "exists ",
    "forall ",
    "leads to ",
    "then ",
    "with ",
    "in ",
    "under ",
    "fair ",
    "weakly ",
    "strongly ",
    "no deadlock\n",
    "no sinkhole ",
    "infinite run\n",
    "can enable ",
    "completable ",
    "satisfiable start ",
    "system ",
    "sync ",
    "step ",
    "internal ",
    "if ",
    "then ",
    "else ",
    "and ",
    "or ",
    "not ",
    "implies ",
    "iff ",
    "div ",
    "mod ",
    "min(",
    "max(",
    "abs(",
    "to_real(",
    "to_int(",
    "{",
    "}",
    "(",
    ")",
    ",",
    ";",
    ":",
    ".",
    "..",
    ":=",
    "==",
    "!=",
    "<=",
    ">=",
    "<->",
    "->",
    "'",
    "\"",
    "\\u{1F986}",
    "`",
    "++",
    "^",
    "-",
    "!",
    "&&",
    "||",
    "0",
    "1",
    "2.5",
    "1/3",
    "true",
    "false",
    "x",
    "y",
    "A",
    "int",
    "real",
    "bool",
    "string",
    "\n",
    "\t",
    "\r\n",
    "//",
    "/*",
    "*/",
    "é",
    "\u{feff}",
    "=",
    "99999999999999999999999999",
];

const LUSTRE_WORDS: &[&str] = &[
    "node ",
    "function ",
    "returns ",
    "var ",
    "let ",
    "tel\n",
    "const ",
    "type ",
    "assert ",
    "if ",
    "then ",
    "else ",
    "not ",
    "and ",
    "or ",
    "xor ",
    "div ",
    "mod ",
    "pre ",
    "true ",
    "false ",
    "int ",
    "bool ",
    "real ",
    "subrange ",
    "of ",
    "struct ",
    "enum ",
    "condact(",
    "imported ",
    "rec ",
    "contract ",
    "con ",
    "noc ",
    "assume ",
    "guarantee ",
    "mode ",
    "require ",
    "ensure ",
    "import ",
    "weakly ",
    "decreases ",
    "check ",
    "reachable ",
    "provided ",
    "within ",
    "frame (",
    "fi\n",
    "elsif ",
    "when ",
    "cond |",
    "otherwise:",
    "end ",
    "merge ",
    "activate ",
    "restart ",
    "every ",
    "initial default ",
    "current ",
    "last ",
    "fby ",
    "any@<",
    "choose@<",
    "any {x: int | ",
    "forall (i: int) ",
    "exists (",
    "subtype {",
    "set<",
    "map<",
    "map[",
    "match ",
    "with ",
    "datatype ",
    "lemma ",
    "automaton ",
    "include ",
    "int8 ",
    "uint16 ",
    "sint<3>",
    "uint@<9> ",
    "floor(",
    "lsh ",
    "rsh ",
    "in ",
    "--%PROPERTY ",
    "--%MAIN\n",
    "--%IVC ",
    "--%REALIZABLE ",
    "--!PROPERTY ",
    "(*%PROPERTY ",
    "/*!MAIN ",
    "(*@contract ",
    "*)",
    "*/",
    "(*",
    "/*",
    "--",
    "//",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "::",
    ":=",
    ".",
    "..",
    ".%1",
    "@<",
    "'(",
    "#(",
    "^",
    "|",
    "||",
    "&&",
    "!",
    "=",
    "==",
    "!=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "++",
    "-",
    "*",
    "/",
    "->",
    "=>",
    "==>",
    "0",
    "1.5",
    "1e9",
    "0x1p-3",
    "1e99999",
    "99999999999999999999999999",
    "x",
    "y.f",
    "a[0]",
    "~",
    "x!",
    "\"",
    "\\",
    "\n",
    "\r\n",
    "é",
    "\u{feff}",
    "\0",
];

/// A language that texts are made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    /// `.sts`
    Sts,
    /// `.lus`
    Lustre,
}

impl Tongue {
    fn words(self) -> &'static [&'static str] {
        match self {
            Tongue::Sts => STS_WORDS,
            Tongue::Lustre => LUSTRE_WORDS,
        }
    }

    fn first(self) -> &'static str {
        match self {
            Tongue::Sts => "spec S\nvar x: int\nstart { x == 0 }\nstep go { x := x + 1 }\nalways p: x >= 0\n",
            Tongue::Lustre => "node N(x: int) returns (y: int);\nlet\n  y = 0 -> pre x;\n  --%PROPERTY y >= 0;\ntel\n",
        }
    }

    fn examine(self, source: &str) -> Result<Seen, String> {
        match self {
            Tongue::Sts => examine(source),
            Tongue::Lustre => examine_lustre(source),
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Tongue::Sts => "sts",
            Tongue::Lustre => "lus",
        }
    }
}

/// Runs the target.
pub fn run(tongue: Tongue, seeds: &[String], seed: u64, budget: Budget) -> Tally {
    let mut chance = Random::new(seed);
    let mut pool: Vec<String> = seeds.iter().map(|s| clip(s.clone())).collect();
    if pool.is_empty() {
        pool.push(tongue.first().to_owned());
    }
    let mut seen = FxHashSet::default();
    let mut tally = Tally::default();
    for round in budget.rounds() {
        let input = match pool.get(round as usize) {
            Some(as_given) if round < seeds.len() as u64 => as_given.clone(),
            _ => mutate(&mut chance, tongue.words(), &pool, seeds.len().max(1)),
        };
        tally.rounds += 1;
        let began = Instant::now();
        let examined = catch_unwind(AssertUnwindSafe(|| tongue.examine(&input)));
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

/// Everything that must be true of any text.
fn examine(source: &str) -> Result<Seen, String> {
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
    let loaded = sts::load(source, "fuzz.sts");
    let file = SourceFile::new("fuzz.sts", source);
    for d in &loaded.diagnostics {
        let (start, end) = (d.primary.span.start as usize, d.primary.span.end as usize);
        if source.get(start..end).is_none() {
            return Err(format!("{:?} has a span outside of the text: {start}..{end}", d.code));
        }
        features.push(1 << 60 | d.code as u64);
        if render(d, &file, RenderStyle::default()).is_empty() {
            return Err(format!("{:?} renders to nothing", d.code));
        }
    }
    if loaded.system.is_none() && loaded.errors().next().is_none() {
        return Err("no system, and no error says why".into());
    }
    if let Ok(formatted) = sts::format(source) {
        let again = sts::format(&formatted).map_err(|e| format!("formatted text does not parse: {:?}", e.first()))?;
        if again != formatted {
            return Err(format!("formatting twice differs from formatting once:\n{formatted}\n-- then --\n{again}"));
        }
        let meant = loaded.system.as_ref().map(|s| s.to_text());
        let means = sts::load(&formatted, "fuzz.sts").system.map(|s| s.to_text());
        if meant != means {
            return Err(format!("formatting changed the meaning:\n{formatted}"));
        }
    } else if loaded.system.is_some() {
        return Err("a text that loads cannot be formatted".into());
    }
    Ok(Seen { built: loaded.system.is_some(), features })
}

/// Everything that must be true of any Lustre text.
fn examine_lustre(source: &str) -> Result<Seen, String> {
    let parsed = lustre::parse(source);
    let file = SourceFile::new("fuzz.lus", source);
    let mut features = Vec::new();
    for d in &parsed.diagnostics {
        if source.get(d.primary.span.range()).is_none() {
            return Err(format!("{:?} has a span outside of the text: {:?}", d.code, d.primary.span));
        }
        features.push(1 << 60 | d.code as u64);
        if render(d, &file, RenderStyle::default()).is_empty() {
            return Err(format!("{:?} renders to nothing", d.code));
        }
    }
    let mut before = 0;
    for expr in &parsed.file.exprs {
        if source.get(expr.span.range()).is_none() {
            return Err(format!("an expression has a span outside of the text: {expr:?}"));
        }
        let kind = kind_of(&expr.kind);
        features.push(before << 16 | kind);
        before = kind + 1;
    }
    if parsed.file.items.is_empty() && parsed.diagnostics.is_empty() {
        return Err("nothing was read, and nothing says why".into());
    }
    // Small seeds and changes make small models, so all of the front-end can be asked every time.
    let loaded = lustre::load(source, "fuzz.lus");
    for d in &loaded.diagnostics {
        features.push(1 << 61 | d.code as u64);
        if source.get(d.primary.span.range()).is_none() || render(d, &file, RenderStyle::default()).is_empty() {
            return Err(format!("{:?} has no place in the text: {:?}", d.code, d.primary.span));
        }
    }
    if loaded.system.is_none() && loaded.errors().next().is_none() {
        return Err("there is no system, and nothing says why".into());
    }
    crate::streams::examine(source, &loaded)?;
    Ok(Seen { built: loaded.system.is_some(), features })
}

/// A number for what an expression is.
fn kind_of(kind: &lustre::ast::ExprKind) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    std::mem::discriminant(kind).hash(&mut hasher);
    hasher.finish() >> 48
}

/// A few changes to one of the texts; half of the time to one of the `given` first ones, which mostly load.
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

/// The texts of the corpus and the examples.
pub fn seeds(tongue: Tongue) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    let mut folders = vec![root.join("corpus"), root.join("examples"), root.join("crates/gander-lang/tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                p if p.is_dir() => folders.push(p),
                p if p.extension().is_some_and(|e| e == tongue.extension()) => files.push(p),
                _ => {}
            }
        }
    }
    files.sort();
    files.iter().filter_map(|f| std::fs::read_to_string(f).ok()).collect()
}
