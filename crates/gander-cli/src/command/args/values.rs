//! Parsers for the values of options.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use gander::StructuralChecks;
use gander::certify::Trust;
use gander::engines::{InductionOptions, Method};
use gander::lang::{Code, Severity};
use gander_export::DefaultRange;

use super::Allowed;

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds was expected".to_string())?;
    match Duration::try_from_secs_f64(number) {
        Ok(d) if !d.is_zero() => Ok(d),
        _ => Err("a number of seconds above zero was expected".to_string()),
    }
}

/// `-1023..1024`
pub(super) fn default_range(text: &str) -> Result<DefaultRange, String> {
    let expected = || "a range such as -1023..1024 was expected".to_string();
    let (low, high) = text.split_once("..").ok_or_else(expected)?;
    let number = |text: &str| text.trim().parse::<i32>().map_err(|_| expected());
    let range = DefaultRange { low: number(low)?, high: number(high)? };
    if range.low <= range.high { Ok(range) } else { Err("the range is empty".to_string()) }
}

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number of at least 1 was expected".to_string()),
        Ok(n) => Ok(n),
    }
}

/// The most depths in one range.
const MAX_DEPTHS: u32 = 1_000;

/// A number of steps, or a range of them: `5`, `0..5`. Both ends belong to the range.
pub(super) fn depths(text: &str) -> Result<RangeInclusive<u32>, String> {
    let expected = || "a number of steps or a range such as 0..5 was expected".to_string();
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| expected());
    let range = match text.split_once("..") {
        None => number(text)?..=number(text)?,
        Some((from, to)) => number(from)?..=number(to.trim_start_matches('='))?,
    };
    if range.is_empty() {
        return Err(expected());
    }
    if range.end() - range.start() >= MAX_DEPTHS {
        return Err(format!("a range of at most {MAX_DEPTHS} depths was expected"));
    }
    Ok(range)
}

pub(super) fn trust(text: &str) -> Result<Trust, String> {
    text.parse()
}

pub(super) fn megabytes(text: &str) -> Result<u64, String> {
    match text.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << 20)) {
        Some(n) if n > 0 => Ok(n),
        _ => Err("a number of megabytes above zero was expected".to_string()),
    }
}

pub(super) fn checks(text: &str) -> Result<StructuralChecks, String> {
    match text {
        "all" => return Ok(StructuralChecks::All),
        "none" => return Ok(StructuralChecks::None),
        _ => {}
    }
    let named = |word: &str| {
        match word {
            "dead" => "can-enable",
            "sinkhole" => "no-sinkhole",
            "start" => "start-satisfiable",
            "relation" => "completable",
            other => other,
        }
        .to_string()
    };
    let kinds: Vec<String> = text.split(',').map(|k| named(k.trim())).collect();
    match kinds.iter().find(|k| !StructuralChecks::KINDS.contains(&k.as_str())) {
        Some(k) => Err(format!(
            "`{k}` is none of all, none, dead, sinkhole, start, relation (or {})",
            StructuralChecks::KINDS.join(", ")
        )),
        None => Ok(StructuralChecks::Kinds(kinds)),
    }
}

/// A method of the engines, by name.
pub(super) fn method(text: &str) -> Result<Method, String> {
    let named = Method::ALL.iter().find(|(name, _)| *name == text);
    named.map(|(_, method)| *method).ok_or_else(|| {
        let names: Vec<&str> = Method::ALL.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

/// The four algorithms of k-induction: without options the first, with all of them the last, which
/// is the default.
pub(super) fn induction(text: &str) -> Result<InductionOptions, String> {
    let mut options = InductionOptions {
        loop_free: false,
        compress: false,
        abstraction: false,
        no_restart: false,
        forward: false,
        ..InductionOptions::default()
    };
    if text == "none" {
        return Ok(options);
    }
    for word in text.split(',').map(str::trim) {
        match (word, word.strip_prefix("from=").map(str::parse::<u32>)) {
            ("loop-free", _) => options.loop_free = true,
            ("compress", _) => (options.loop_free, options.compress) = (true, true),
            ("abstract", _) => options.abstraction = true,
            ("no-restart", _) => options.no_restart = true,
            ("forward", _) => options.forward = true,
            (_, Some(Ok(k))) if k > 0 => options.first_k = k,
            _ => {
                return Err(format!(
                    "`{word}` is none of loop-free, compress, abstract, no-restart, forward, from=K, none"
                ));
            }
        }
    }
    Ok(options)
}

pub(super) fn solver(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_string(), PathBuf::from(path)))
        }
        _ => Err("NAME=PATH was expected, for example z3=/opt/z3/bin/z3".to_string()),
    }
}

pub(super) fn tool(text: &str) -> Result<(String, PathBuf), String> {
    solver(text)
        .map_err(|_| "NAME=PATH was expected, for example nusmv=/opt/NuSMV/bin/NuSMV".to_string())
}

pub(super) fn allowed(text: &str) -> Result<Allowed, String> {
    if text == "all" || text == "warnings" {
        return Ok(Allowed::All);
    }
    match Code::find(&text.to_ascii_uppercase()) {
        Some(code) if code.severity() == Severity::Warning => Ok(Allowed::One(code)),
        Some(_) => Err("an error cannot be allowed".to_string()),
        None => {
            Err("neither all nor the code of a warning (`gander explain` lists them)".to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked() {
        assert!(
            seconds("0").is_err()
                && seconds("-1").is_err()
                && seconds("nan").is_err()
                && seconds("1e300").is_err()
        );
        assert_eq!(seconds("0.5").unwrap(), Duration::from_millis(500));
        assert!(
            at_least_one("0").is_err()
                && megabytes("0").is_err()
                && megabytes("99999999999999999").is_err()
        );
        assert_eq!(
            checks("can-enable,no-sinkhole").unwrap(),
            StructuralChecks::Kinds(vec!["can-enable".into(), "no-sinkhole".into()])
        );
        assert_eq!(
            checks("sinkhole").unwrap(),
            StructuralChecks::Kinds(vec!["no-sinkhole".into()])
        );
        assert!(checks("sinkholes").is_err());
        let plain = induction("none").unwrap();
        assert!(!plain.loop_free && !plain.no_restart && !plain.forward && plain.first_k == 1);
        let some = induction("loop-free, from=3").unwrap();
        assert!(some.loop_free && !some.no_restart && !some.forward && some.first_k == 3);
        assert!(
            induction("loopfree").is_err()
                && induction("from=0").is_err()
                && induction("").is_err()
        );
        assert!(solver("z3").is_err() && solver("=x").is_err());
    }
}
