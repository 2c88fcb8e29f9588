//! Plots as SVG: pure functions from scores to text.
//!
//! A cactus plot has, for each tool, the n-th fastest solved file at (n, its time): further right
//! is more solved, lower is faster. A scatter plot has a point for each file at (time of one tool,
//! time of the other); unsolved files are on separate lines beyond the time limit.

mod cactus;
mod canvas;
mod rows;
mod scatter;

pub use cactus::cactus;
pub use rows::comparison;
pub use scatter::scatter;

use crate::score::{Attempt, Score};

/// Seconds; shorter times are noise and drawn here.
const SHORTEST: f64 = 0.001;

/// The time that counts in a plot; `None` if there is no right answer.
fn time_of(attempt: Option<&Attempt>) -> Option<f64> {
    attempt.filter(|a| matches!(a.score, Score::Solved)).map(|a| a.seconds.max(SHORTEST))
}

#[cfg(test)]
mod tests;
