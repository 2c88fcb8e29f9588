//! Measures model checkers: runs a manifest of models with known verdicts over several tools and says who solved what.
//!
//! The way of a run: a [`manifest`] of rows (file, property, expected verdict) and a list of [`tool`]s give jobs, one for
//! each file and tool. The [`schedule`] runs them interleaved, each as a limited [`process`], and a [`reader`] turns what
//! the tool printed into a [`record`], which is appended to the results file. [`score`] holds the records and those of
//! [`recorded`] peers against the manifest; [`report`] and [`plot`] show the scores, and [`compare`] two of them.
//!
//! [`contest`] and [`side_by_side`] are `gander bench`: the same jobs on somebody's own models, without expected verdicts.
//!
//! Invariants: an answer counts only if a reader recognised it, so output that nobody understands is "unknown" and never
//! a success; a job that is in the results file is never run again and never lost; a report is a function of its folder.

pub mod compare;
pub mod contest;
pub mod folder;
pub mod manifest;
pub mod plot;
pub mod process;
pub mod reader;
pub mod record;
pub mod recorded;
pub mod report;
pub mod schedule;
pub mod score;
pub mod side_by_side;
pub mod tool;
pub mod verdict;
