//! Random texts made of pieces of real ones: no panic, no silence, and what parses can be
//! formatted.

use gander_lang::{Severity, sts};
use gander_runtime::Random;

const SAMPLES: [&str; 2] = [include_str!("sample.sts"), include_str!("everything.sts")];

/// The tokens of the samples, layout included.
fn pieces() -> Vec<&'static str> {
    let mut pieces = vec![
        "\n", " ", "(", ")", "{", "}", "'", "->", ":=", "==", "=", "..", ".", "&", "\"", "/*", "é",
        "0.5",
    ];
    for sample in SAMPLES {
        let mut at = 0;
        for token in sts::lexer::lex(sample).0 {
            let end = at + token.length as usize;
            pieces.push(&sample[at..end]);
            at = end;
        }
    }
    pieces
}

fn check(text: &str, seed: u64) {
    let loaded = sts::load(text, "random.sts");
    let failed = loaded.diagnostics.iter().any(|found| found.severity() == Severity::Error);
    assert_eq!(loaded.system.is_none(), failed, "seed {seed}: {text}");
    if let Ok(formatted) = sts::format(text) {
        let again = sts::format(&formatted)
            .unwrap_or_else(|errors| panic!("seed {seed}: {text}\n{formatted}\n{errors:?}"));
        assert_eq!(formatted, again, "seed {seed}: {text}");
        let reloaded = sts::load(&formatted, "random.sts");
        assert_eq!(reloaded.system.is_none(), failed, "seed {seed}: {text}\n{formatted}");
    }
}

#[test]
fn random_sequences_of_pieces_are_handled() {
    let pieces = pieces();
    for seed in 1..1_500u64 {
        let mut random = Random::new(seed);
        let count = random.below(60);
        let text: Vec<&str> = (0..count).map(|_| pieces[random.below(pieces.len())]).collect();
        check(&text.join(if seed % 2 == 0 { " " } else { "" }), seed);
    }
}

#[test]
fn randomly_damaged_samples_are_handled() {
    let pieces = pieces();
    for seed in 1..400u64 {
        let mut random = Random::new(seed ^ (1 << 32));
        let mut text = SAMPLES[random.below(2)].to_owned();
        for _ in 0..1 + random.below(4) {
            let mut place = || {
                let mut at = random.below(text.len() + 1);
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let (from, to) = (place(), place());
            let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 12));
            let to = (to..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            let piece = pieces[random.below(pieces.len())];
            text.replace_range(from..to, piece);
        }
        check(&text, seed);
    }
}
