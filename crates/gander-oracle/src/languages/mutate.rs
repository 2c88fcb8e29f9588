//! Mutates texts: deletes, duplicates, swaps or changes tokens.

use crate::random::Random;

/// Splits a text into words, numbers, white space, and other single characters.
fn tokens(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 0,
        '\n' => 1,
        _ if c.is_whitespace() => 2,
        _ => 3,
    };
    let mut found: Vec<String> = Vec::new();
    let mut last = 4;
    for c in text.chars() {
        if kind(c) == last && last != 3 && last != 1 {
            found[..].last_mut().into_iter().for_each(|t| t.push(c));
        } else {
            found.push(c.to_string());
        }
        last = kind(c);
    }
    found
}

fn mutate_line(random: &mut Random, text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let (a, b) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(4) {
        0 => {
            lines.remove(a);
        }
        1 => lines.insert(a, lines[a]),
        2 => lines.insert(b, lines[a]),
        _ => lines.swap(a, b),
    }
    lines.join("\n") + "\n"
}

fn mutate_token(random: &mut Random, text: &str) -> String {
    let mut all = tokens(text);
    let solid: Vec<usize> = (0..all.len()).filter(|i| !all[*i].trim().is_empty()).collect();
    if solid.is_empty() {
        return String::new();
    }
    let (a, b) = (*random.pick(&solid), *random.pick(&solid));
    let number = all[a].parse::<i64>().ok();
    match random.below(8) {
        0 => all[a].clear(),
        1 => {
            let doubled = format!("{} {}", all[a], all[a]);
            all[a] = doubled;
        }
        2 => all.swap(a, b),
        3 => all[a] = all[b].clone(),
        4 => all.truncate(a),
        _ => match number {
            Some(n) => {
                let other = [n + 1, (n - 1).max(0), n * 2, random.below(10) as i64];
                all[a] = random.pick(&other).to_string();
            }
            None => all[a] = all[b].clone(),
        },
    }
    all.concat()
}

/// The text with one or two mutations.
pub fn mutate(text: &str, seed: u64) -> String {
    let mut random = Random::new(seed, 77);
    let mut text = text.to_string();
    for _ in 0..random.between(1, 2) {
        text = if random.chance(30) {
            mutate_line(&mut random, &text)
        } else {
            mutate_token(&mut random, &text)
        };
    }
    text
}
