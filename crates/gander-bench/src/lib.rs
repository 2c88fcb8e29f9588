//! Measures model checkers: runs a manifest of models with known verdicts over several tools and
//! reports which tool solved what.
//!
//! A [`manifest`] of rows (file, property, expected verdict) and a list of [`jobs::tool`]s give
//! jobs, one for each file and tool. The [`jobs::schedule`] runs them interleaved, each as a
//! limited process ([`gander_process`]). A [`reader`] turns the output into a [`results::record`],
//! which is appended to the results file. [`score`] compares the records and those of
//! [`results::recorded`] peers with the manifest; [`report`] and [`plot`] show the scores, and
//! [`score::compare`] compares two runs.
//!
//! [`comparison`] is `gander bench`: the same jobs on the user's models, without expected verdicts.
//!
//! Invariants: an answer counts only if a reader recognised it, so other output is "unknown" and
//! never a success; a job in the results file is never run again and never lost; a report is a
//! function of its folder.
//!
//! ```
//! use gander_bench::manifest::Suite;
//! use gander_bench::verdict::Expected;
//!
//! let suite = Suite::parse(
//!     "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n\
//!      lift.lus\tlustre\tlow\tvalid\town\tby hand\n\
//!      lift.lus\tlustre\thigh\tinvalid\town\tby hand\n",
//! )?;
//! assert_eq!(suite.benchmarks.len(), 1);
//! assert_eq!(suite.benchmarks[0].expected(), Expected::Invalid);
//! # Ok::<(), String>(())
//! ```

pub mod comparison;
pub mod jobs;
pub mod manifest;
pub mod plot;
pub mod reader;
pub mod report;
pub mod results;
pub mod score;
pub mod verdict;
