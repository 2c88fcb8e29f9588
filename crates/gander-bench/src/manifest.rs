//! The manifest: files, properties and expected verdicts.
//!
//! A manifest is a TSV file with the columns path, language, property (`-` is the file as a whole),
//! expected, source_set and verdict_evidence. Paths are relative to the manifest. A file may have
//! many rows, in any place.

use std::collections::HashMap;
use std::path::Path;

use gander_io::read::{self, Links};
use gander_runtime::Random;
use gander_text::shown_path;
use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::verdict::Expected;

/// A line of the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The name of the property; `None` for the file as a whole.
    pub property: Option<String>,
    /// The verdict to expect.
    pub expected: Expected,
    /// The reason for the expected verdict.
    pub evidence: String,
}

/// A file with its rows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Benchmark {
    /// Relative to the root of the suite.
    pub path: String,
    /// The language of the file, as the manifest calls it.
    pub language: String,
    /// The set the file comes from.
    pub set: String,
    /// At least one row.
    pub rows: Vec<Row>,
}

/// Benchmarks in the order of the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Suite {
    /// No two have the same path.
    pub benchmarks: Vec<Benchmark>,
}

/// Which benchmarks of a suite to take.
#[derive(Default, Debug)]
pub struct Selection {
    /// Paths must match.
    pub filter: Option<Regex>,
    /// The set or a folder in front of the path must be one of these, if any are given.
    pub sets: Vec<String>,
    /// The language must be one of these, if any are given.
    pub languages: Vec<String>,
    /// A random sample of this size.
    pub sample: Option<Sample>,
}

/// A random sample that is the same in every run.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// How many benchmarks.
    pub size: usize,
    /// Which sample.
    pub seed: u64,
}

#[derive(Deserialize)]
struct Line {
    path: String,
    language: String,
    property: String,
    expected: String,
    source_set: String,
    verdict_evidence: String,
}

impl Benchmark {
    /// The verdict to expect of the file as a whole.
    pub fn expected(&self) -> Expected {
        match self.rows.iter().find(|r| r.property.is_none()) {
            Some(row) => row.expected,
            None => Expected::of_all(self.rows.iter().map(|r| r.expected)),
        }
    }
}

impl Suite {
    /// Reads a manifest file.
    pub fn load(path: &Path) -> Result<Suite, String> {
        let text = read::text(path, Links::Follow, u64::MAX - 1)
            .map_err(|e| format!("{}: {e}", shown_path(path)))?;
        Suite::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Reads the text of a manifest.
    pub fn parse(text: &str) -> Result<Suite, String> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(b'\t')
            .quoting(false)
            .flexible(false)
            .from_reader(text.as_bytes());
        let mut suite = Suite::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (i, line) in reader.deserialize::<Line>().enumerate() {
            let number = i + 2;
            let line = line.map_err(|e| format!("line {number}: {e}"))?;
            let expected = line.expected.parse().map_err(|e| format!("line {number}: {e}"))?;
            let property = (line.property != "-").then_some(line.property);
            let row = Row { property, expected, evidence: line.verdict_evidence };
            let place = *places.entry(line.path.clone()).or_insert_with(|| {
                suite.benchmarks.push(Benchmark {
                    path: line.path,
                    language: line.language,
                    set: line.source_set,
                    rows: Vec::new(),
                });
                suite.benchmarks.len() - 1
            });
            let rows = &mut suite.benchmarks[place].rows;
            if rows.iter().any(|r| r.property == row.property) {
                let name = row.property.as_deref().unwrap_or("-");
                return Err(format!(
                    "line {number}: property `{name}` of this file has a row already"
                ));
            }
            rows.push(row);
        }
        Ok(suite)
    }

    /// Keeps the selected benchmarks, in the same order.
    pub fn select(&mut self, selection: &Selection) {
        self.benchmarks.retain(|b| selection.takes(b));
        if let Some(sample) = selection.sample {
            let chosen = sample.choose(self.benchmarks.len());
            let mut index = 0;
            self.benchmarks.retain(|_| {
                index += 1;
                chosen[index - 1]
            });
        }
    }
}

impl Selection {
    fn takes(&self, b: &Benchmark) -> bool {
        let in_set = |s: &String| {
            b.set == *s
                || b.path
                    .strip_prefix(s.trim_end_matches('/'))
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        self.filter.as_ref().is_none_or(|f| f.is_match(&b.path))
            && (self.sets.is_empty() || self.sets.iter().any(in_set))
            && (self.languages.is_empty() || self.languages.contains(&b.language))
    }
}

impl Sample {
    /// Marks `size` of `n` positions, each subset with the same probability (Fisher and Yates).
    fn choose(self, n: usize) -> Vec<bool> {
        let mut order: Vec<usize> = (0..n).collect();
        let mut random = Random::new(self.seed);
        let mut chosen = vec![false; n];
        for i in 0..self.size.min(n) {
            let j = i + random.below(n - i);
            order.swap(i, j);
            chosen[order[i]] = true;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n";

    fn suite() -> Suite {
        let text = format!(
            "{HEAD}a/x.lus\tlustre\tOK\tvalid\tone\tlist \"A\"\n\
             b/y.lus\tlustre\t-\tinvalid\ttwo\tname\n\
             a/x.lus\tlustre\tP\tunknown\tone\t\n\
             b/z.smt2\tchc\t-\terror\ttwo\t\n"
        );
        Suite::parse(&text).unwrap()
    }

    #[test]
    fn rows_of_one_file_are_one_benchmark() {
        let suite = suite();
        let paths: Vec<_> = suite
            .benchmarks
            .iter()
            .map(|b| (b.path.as_str(), b.rows.len(), b.expected()))
            .collect();
        assert_eq!(
            paths,
            [
                ("a/x.lus", 2, Expected::Unknown),
                ("b/y.lus", 1, Expected::Invalid),
                ("b/z.smt2", 1, Expected::Error)
            ]
        );
        assert_eq!(suite.benchmarks[0].rows[0].evidence, "list \"A\"");
        assert_eq!(suite.benchmarks[1].rows[0].property, None);
    }

    #[test]
    fn mistakes_name_their_line() {
        let bad = format!("{HEAD}a\tlustre\t-\tvalid\ts\t\nb\tlustre\t-\tperhaps\ts\t\n");
        assert_eq!(
            Suite::parse(&bad).unwrap_err(),
            "line 3: `perhaps` is no expected verdict: valid, invalid, unknown or error"
        );
        let twice = format!("{HEAD}a\tlustre\tp\tvalid\ts\t\na\tlustre\tp\tvalid\ts\t\n");
        assert!(Suite::parse(&twice).unwrap_err().starts_with("line 3: property `p`"));
        let short = format!("{HEAD}a\tlustre\n");
        assert!(Suite::parse(&short).is_err());
    }

    #[test]
    fn a_selection_keeps_matching_benchmarks() {
        let left = |selection: Selection| {
            let mut s = suite();
            s.select(&selection);
            s.benchmarks.into_iter().map(|b| b.path).collect::<Vec<_>>()
        };
        assert_eq!(
            left(Selection { languages: vec!["chc".into()], ..Default::default() }),
            ["b/z.smt2"]
        );
        assert_eq!(
            left(Selection { sets: vec!["b".into()], ..Default::default() }),
            ["b/y.lus", "b/z.smt2"]
        );
        assert_eq!(left(Selection { sets: vec!["one".into()], ..Default::default() }), ["a/x.lus"]);
        let filter = Some(Regex::new("^./[xz]").unwrap());
        assert_eq!(left(Selection { filter, ..Default::default() }), ["a/x.lus", "b/z.smt2"]);
    }

    #[test]
    fn a_sample_depends_on_its_seed_only() {
        let pick = |seed| Sample { size: 20, seed }.choose(100);
        assert_eq!(pick(1), pick(1));
        assert_ne!(pick(1), pick(2));
        assert_eq!(pick(3).iter().filter(|c| **c).count(), 20);
        assert_eq!(Sample { size: 9, seed: 0 }.choose(4), [true; 4]);
    }
}
