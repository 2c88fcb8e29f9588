//! What editors ask about texts.

use std::fs;
use std::path::{Path, PathBuf};

use gander_lang::ide::{DefinitionKind as D, Outline, RenameError, TokenRole, outline};
use gander_lang::{Language, language_of};

const ACCOUNTS: &str = "\
spec Account
enum Status { Open2, Closed }
const LIMIT: int = 10
var balance: int 0..20
var status: Status
// What is left below the limit.
define room(extra: int) = LIMIT - balance - extra
start -> Active { balance == 0, status == Open2 }
node Active {
  deposit(amount: int) -> Active when amount > 0 and room(amount) >= 0 { balance := balance + amount }
  close -> Done when balance == 0 { status := Closed }
}
final node Done
always small: balance <= LIMIT
reachable over: status == Closed in Done
no sinkhole Active
can enable Active.deposit

system Two = a: Account || b: Account
  sync both (a.deposit, b.deposit)
always sum: a.balance + b.balance <= 20
";

const LUSTRE: &str = "\
type Mode = enum { Idle, Busy };
-- Counts the steps since the last reset.
node count(reset: bool; step: int) returns (n: int);
let
  n = if reset then 0 else (0 -> pre n + step);
tel
node main(reset: bool) returns (ok: bool);
var c: int; m: Mode;
let
  c = count(reset, 1);
  m = if c > 3 then Busy else Idle;
  ok = c >= 0;
  --%PROPERTY ok;
  check \"busy later\" m = Busy => c > 3;
tel
";

const SCRIPT: &str = "\
VARS:
  int total;
INIT:
  total = 0;
PROCESS counter:
VARS:
  int x : 0..5;
  state S, T;
INIT:
  state = S;
  x = 0;
TRANS:
  ? x < 5 : S -> T { x = x + 1 };
SAFE: total >= 0;
";

fn language(name: &str) -> &'static Language {
    language_of(name).unwrap()
}

fn at(text: &str, what: &str, nth: usize) -> u32 {
    text.match_indices(what).nth(nth).unwrap().0 as u32
}

/// The definition of the name at the `nth` occurrence of a text: its kind, and its first byte.
fn found(text: &str, o: &Outline, what: &str, nth: usize) -> (D, u32) {
    let d = o.definition_at(at(text, what, nth)).expect("a definition");
    assert!(what.starts_with(&o.definitions[d].name), "{what} {:?}", o.definitions[d]);
    (o.definitions[d].kind, o.definitions[d].span.start)
}

#[test]
fn names_of_sts_refer_to_their_definitions() {
    let o = outline(language("a.sts"), ACCOUNTS);
    let find = |what, nth| found(ACCOUNTS, &o, what, nth);
    let first = |what| at(ACCOUNTS, what, 0);
    let balance = first("balance: int");
    assert_eq!(find("balance == 0", 0), (D::Variable, balance));
    assert_eq!(find("balance := ", 0), (D::Variable, balance));
    assert_eq!(find("balance + b.balance", 0), (D::Variable, balance));
    assert_eq!(find("extra\n", 0), (D::Parameter, first("extra: int")));
    assert_eq!(find("room(amount)", 0), (D::Macro, first("room(extra")));
    assert_eq!(find("amount }", 0), (D::Parameter, first("amount: int")));
    assert_eq!(find("Active when", 0), (D::Node, first("Active {\n")));
    assert_eq!(find("Done\nalways", 0).0, D::Node);
    assert_eq!(find("Done\nno", 0), (D::Node, first("Done\nalways")));
    assert_eq!(find("Closed }", 1), (D::EnumValue, first("Closed }")));
    assert_eq!(find("Status\n", 0), (D::Type, first("Status {")));
    assert_eq!(find("deposit\n", 0), (D::Transition, first("deposit(amount")));
    assert_eq!(find("deposit,", 0), (D::Transition, first("deposit(amount")));
    assert_eq!(find("a.deposit", 0).0, D::Instance);
    assert_eq!(find("Account ||", 0), (D::Module, first("Account\n")));
    let claims: Vec<&str> =
        o.definitions.iter().filter(|d| d.kind == D::Claim).map(|d| d.name.as_str()).collect();
    assert_eq!(claims, ["small", "over", "no sinkhole Active", "can enable Active.deposit", "sum"]);
}

#[test]
fn names_of_lustre_refer_to_their_definitions() {
    let o = outline(language("a.lus"), LUSTRE);
    let find = |what, nth| found(LUSTRE, &o, what, nth);
    let first = |what| at(LUSTRE, what, 0);
    assert_eq!(find("reset then", 0), (D::Input, first("reset: bool; step")));
    assert_eq!(find("reset, 1", 0), (D::Input, first("reset: bool) returns (ok")));
    assert_eq!(find("count(reset, 1", 0), (D::Function, first("count(reset: bool; step")));
    assert_eq!(find("Busy else", 0), (D::EnumValue, first("Busy }")));
    assert_eq!(find("Mode;", 0), (D::Type, first("Mode = enum")));
    assert_eq!(find("c > 3 then", 0), (D::Variable, first("c: int")));
    assert_eq!(find("n + step", 0), (D::Output, first("n: int")));
    let count = o.definition_at(first("count(reset, 1")).unwrap();
    assert_eq!(
        o.comment_above(LUSTRE, count).as_deref(),
        Some("Counts the steps since the last reset.")
    );
    let claims: Vec<&str> =
        o.definitions.iter().filter(|d| d.kind == D::Claim).map(|d| d.name.as_str()).collect();
    assert_eq!(claims, ["ok", "busy later"]);
    let help = o.signature_at(LUSTRE, first("1);")).unwrap();
    assert_eq!((help.label.as_str(), help.active), ("count(reset: bool, step: int)", 1));
}

#[test]
fn names_of_scripts_refer_to_their_definitions() {
    let o = outline(language("a.script"), SCRIPT);
    let find = |what, nth| found(SCRIPT, &o, what, nth);
    let first = |what| at(SCRIPT, what, 0);
    assert_eq!(find("x < 5", 0), (D::Variable, first("x : 0")));
    assert_eq!(find("x + 1", 0), (D::Variable, first("x : 0")));
    assert_eq!(find("S ->", 0), (D::Node, first("S, T")));
    assert_eq!(find("total >=", 0), (D::Variable, first("total;")));
}

#[test]
fn renaming_changes_every_place_or_nothing() {
    let language = language("a.sts");
    let o = outline(language, ACCOUNTS);
    let rename = |what: &str, name: &str| o.rename(language, ACCOUNTS, at(ACCOUNTS, what, 0), name);
    // The declaration, the definition, start, guards, effects, claims and two members.
    assert_eq!(rename("balance: int", "money").unwrap().len(), 9);
    assert_eq!(rename("amount: int", "sum2").unwrap().len(), 4);
    assert_eq!(rename("amount: int", "balance"), Err(RenameError::Captured));
    assert_eq!(rename("balance: int", "status"), Err(RenameError::Captured));
    assert_eq!(rename("balance: int", "and"), Err(RenameError::Reserved));
    assert_eq!(rename("balance: int", "2x"), Err(RenameError::NotAName));
    assert_eq!(rename("10\nvar", "x"), Err(RenameError::NoName));
}

#[test]
fn completion_offers_what_is_visible() {
    let o = outline(language("a.sts"), ACCOUNTS);
    let labels = |offset: u32| -> Vec<String> {
        o.complete(ACCOUNTS, offset).into_iter().map(|c| c.label).collect()
    };
    let inside = labels(at(ACCOUNTS, "balance + amount", 0));
    assert_eq!(inside[0], "amount");
    assert!(["balance", "room", "Active", "and"].iter().all(|w| inside.contains(&w.to_string())));
    assert!(!inside.contains(&"extra".to_string()));
    let member = labels(at(ACCOUNTS, "b.balance <=", 0) + 2);
    assert!(member.contains(&"balance".to_string()) && member.contains(&"deposit".to_string()));
    assert!(!member.contains(&"and".to_string()));
    assert!(labels(at(ACCOUNTS, "is left below", 0)).is_empty());
}

#[test]
fn selections_grow_from_the_name_to_the_file() {
    let o = outline(language("a.sts"), ACCOUNTS);
    let spans = o.selection(ACCOUNTS, at(ACCOUNTS, "amount > 0", 0));
    let texts: Vec<&str> = spans.iter().map(|s| &ACCOUNTS[s.range()]).collect();
    assert_eq!(texts[..2], ["amount", "amount > 0"]);
    assert!(texts[3].starts_with("when amount"), "{texts:?}");
    assert_eq!(*texts.last().unwrap(), ACCOUNTS);
}

fn corpus() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().and_then(language_of).is_some() {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// What must hold of the outline of any text.
fn check(o: &Outline, text: &str, name: &str) {
    let mut end = 0;
    for token in &o.tokens {
        assert!(token.span.start >= end && token.span.start < token.span.end, "{name} {token:?}");
        assert!(text.get(token.span.range()).is_some(), "{name} {token:?}");
        end = token.span.end;
        if token.role == TokenRole::Comment {
            let comment = &text[token.span.range()];
            let signs = ["//", "--", "(*", "/*"];
            assert!(signs.iter().any(|s| comment.starts_with(s)), "{name}: {comment:?}");
        }
    }
    for (i, d) in o.definitions.iter().enumerate() {
        assert!(text.get(d.span.range()).is_some() && text.get(d.whole.range()).is_some());
        assert!(d.whole.start <= d.span.start && d.span.end <= d.whole.end, "{name} {d:?}");
        assert!(d.group <= i && d.parent.is_none_or(|p| p < o.definitions.len()), "{name} {d:?}");
        if d.is_named {
            assert_eq!(text[d.span.range()], d.name, "{name}");
            assert!(o.occurrences(i).contains(&d.span));
        }
    }
    for used in &o.uses {
        let word = &text[used.span.range()];
        if let Some(d) = used.definition {
            assert_eq!(o.definitions[d].name, word, "{name}");
        }
    }
}

#[test]
fn outlines_of_the_corpus_are_well_formed_also_of_broken_texts() {
    for path in corpus() {
        let name = path.to_str().unwrap();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if text.len() > 20_000 {
            continue;
        }
        let language = language(name);
        check(&outline(language, &text), &text, name);
        for part in 1..4 {
            let mut cut = text.len() * part / 4;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            for text in [&text[..cut], &text[cut..]] {
                let o = outline(language, text);
                check(&o, text, name);
                let middle = (text.len() / 2) as u32;
                o.complete(text, middle);
                o.selection(text, middle);
                o.signature_at(text, middle);
            }
        }
    }
}

#[test]
fn names_of_correct_models_are_all_resolved() {
    let mut open = Vec::new();
    for path in corpus() {
        let name = path.to_str().unwrap();
        let is_full = ["sts", "lus", "script"].iter().any(|e| name.ends_with(e));
        if !is_full || name.contains("/error") {
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if text.len() > 20_000 || text.contains("include") {
            continue;
        }
        let loaded = (language(name).load)(&text, name);
        if loaded.system.is_none() {
            continue;
        }
        let o = outline(language(name), &text);
        let builtin = |span: gander_lang::Span| {
            let token = o.tokens.iter().find(|t| t.span == span);
            token.is_some_and(|t| !matches!(t.role, TokenRole::Name(..)))
        };
        for used in o.uses.iter().filter(|u| u.definition.is_none() && !builtin(u.span)) {
            open.push(format!("{name}: {}", &text[used.span.range()]));
        }
    }
    assert!(open.is_empty(), "{} names: {:#?}", open.len(), &open[..open.len().min(60)]);
}

#[test]
fn every_fix_of_the_corpus_removes_its_diagnostic() {
    let mut fixes = 0;
    for path in corpus() {
        let name = path.to_str().unwrap();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if text.len() > 20_000 || text.contains("include ") {
            continue;
        }
        let load = language(name).load;
        let loaded = load(&text, name);
        for d in &loaded.diagnostics {
            let Some(fix) = &d.fix else { continue };
            fixes += 1;
            let mut fixed = text.clone();
            fixed.replace_range(fix.span.range(), &fix.replacement);
            let after = load(&fixed, name);
            let same = |other: &&gander_lang::Diagnostic| {
                other.code == d.code
                    && other.primary.span.start == d.primary.span.start
                    && other.message == d.message
            };
            assert!(!after.diagnostics.iter().any(|o| same(&o)), "{name}: {d:?}");
        }
    }
    assert!(fixes > 5, "{fixes} fixes");
}
