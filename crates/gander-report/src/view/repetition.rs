//! Repeated steps of a run of a dataflow program: found, so that tables show the last round alone.
//!
//! A group of up to [`LONGEST_GROUP`] steps is repeated if every value of a round is the one of the
//! round before, or a number that differs from it by an amount that is the same for all steps of
//! all rounds. So the rounds that are not shown can be told from the last one and the amounts.

use gander_term::{Pool, RBig, Sort, Value, parse_value};

use super::streams::{Growth, StreamRepeat};

/// Steps of a group that is repeated.
const LONGEST_GROUP: usize = 4;
/// A repetition takes at least this many steps; fewer are easier to read one by one.
const FEWEST_STEPS: usize = 6;
/// And it has at least this many rounds.
const FEWEST_ROUNDS: usize = 3;

/// The mark behind a value that follows from values that can be changed.
const VARIES: char = '~';

/// A stream: its name, and a value for each instant.
pub(crate) struct Series<'v> {
    pub name: String,
    pub values: Vec<&'v str>,
}

/// The instants to show, and the repetitions of which only the last round is among them. The first
/// instant and those of `kept` are never left out.
pub(crate) struct Folded {
    pub instants: Vec<usize>,
    pub repeats: Vec<StreamRepeat>,
}

/// Folds the repetitions of a run; `None` if there are none.
pub(crate) fn fold(
    instants: usize,
    series: &[Series<'_>],
    kept: &dyn Fn(usize) -> bool,
) -> Option<Folded> {
    if instants <= FEWEST_STEPS || series.iter().any(|s| s.values.len() < instants) {
        return None;
    }
    let pool = Pool::new();
    let rows = Rows { pool: &pool, series };
    let mut shown = vec![0];
    let mut repeats = Vec::new();
    let mut at = 1;
    while at < instants {
        if kept(at) {
            shown.push(at);
            at += 1;
            continue;
        }
        let end = (at..instants).find(|&i| kept(i)).unwrap_or(instants);
        let Some((group, rounds, amounts)) = rows.repetition(at, end) else {
            shown.push(at);
            at += 1;
            continue;
        };
        let last = at + group * (rounds - 1);
        let growth = series.iter().zip(&amounts).filter_map(|(s, amount)| {
            let amount = amount.as_ref()?;
            let (falls, size) = if *amount < RBig::ZERO {
                (true, -amount.clone())
            } else {
                (false, amount.clone())
            };
            let by = pool.show_decimal(&Value::Real(size));
            Some(Growth { name: s.name.clone(), falls, by })
        });
        repeats.push(StreamRepeat {
            first: at as u64,
            last: (last + group - 1) as u64,
            times: rounds as u64,
            growth: growth.collect(),
        });
        shown.extend(last..last + group);
        at = last + group;
    }
    (!repeats.is_empty()).then_some(Folded { instants: shown, repeats })
}

struct Rows<'s, 'v> {
    pool: &'s Pool,
    series: &'s [Series<'v>],
}

impl Rows<'_, '_> {
    /// The group of steps that is repeated from an instant on, how often, and the amounts by which
    /// values grow: the one that takes the most steps, of these the shortest.
    fn repetition(&self, at: usize, end: usize) -> Option<(usize, usize, Vec<Option<RBig>>)> {
        let mut best: Option<(usize, usize, Vec<Option<RBig>>)> = None;
        for group in 1..=LONGEST_GROUP {
            if at + group >= end {
                break;
            }
            let Some(amounts) = self.amounts(at, at + group) else { continue };
            let same = |&i: &usize| self.grows_by(i - group, i, &amounts);
            let equal = (at + group..end).take_while(same).count();
            let rounds = 1 + equal / group;
            let enough = rounds >= FEWEST_ROUNDS && rounds * group >= FEWEST_STEPS;
            if enough && best.as_ref().is_none_or(|(g, r, _)| rounds * group > r * g) {
                best = Some((group, rounds, amounts));
            }
        }
        best
    }

    /// By how much each value grows from one instant to another, `None` where it is equal; `None`
    /// if something changes that is no number.
    fn amounts(&self, from: usize, to: usize) -> Option<Vec<Option<RBig>>> {
        let amount = |s: &Series<'_>| {
            let (from, to) = (s.values[from], s.values[to]);
            if from == to {
                return Some(None);
            }
            self.difference(from, to).map(Some)
        };
        self.series.iter().map(amount).collect()
    }

    fn grows_by(&self, from: usize, to: usize, amounts: &[Option<RBig>]) -> bool {
        self.series.iter().zip(amounts).all(|(s, amount)| {
            let (from, to) = (s.values[from], s.values[to]);
            match amount {
                None => from == to,
                Some(amount) => self.difference(from, to).as_ref() == Some(amount),
            }
        })
    }

    /// The difference of two numbers with equal marks.
    fn difference(&self, from: &str, to: &str) -> Option<RBig> {
        let marked = |text: &str| text.ends_with(VARIES);
        if marked(from) != marked(to) {
            return None;
        }
        Some(self.number(to)? - self.number(from)?)
    }

    fn number(&self, text: &str) -> Option<RBig> {
        match parse_value(self.pool, Sort::Real, text.trim_end_matches(VARIES)).ok()? {
            Value::Real(r) => Some(r),
            _ => None,
        }
    }
}

/// Names of streams that grow in a repetition that are given at most.
const MAX_GROWTHS: usize = 6;

impl StreamRepeat {
    /// What is left out, in words.
    pub(crate) fn text(&self) -> String {
        let length = (self.last + 1 - self.first) / self.times.max(1);
        let what = if length == 1 { "one step".to_string() } else { format!("{length} steps") };
        let mut text = format!(
            "steps {} to {}: {what} {} times over, the last time shown",
            self.first, self.last, self.times
        );
        let growths: Vec<String> = self.growth.iter().take(MAX_GROWTHS).map(Growth::text).collect();
        if !growths.is_empty() {
            text.push_str(&format!("; each time {}", growths.join(", ")));
        }
        if self.growth.len() > MAX_GROWTHS {
            let more = self.growth.len() - MAX_GROWTHS;
            text.push_str(&format!(" and {more} more likewise"));
        }
        text
    }
}

impl Growth {
    fn text(&self) -> String {
        format!("{} {} by {}", self.name, if self.falls { "falls" } else { "grows" }, self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn folds(rows: &[(&str, &str)], kept: &[usize], expected: Expect) {
        let series: Vec<Series<'_>> = rows
            .iter()
            .map(|(name, values)| Series {
                name: name.to_string(),
                values: values.split(' ').collect(),
            })
            .collect();
        let instants = series[0].values.len();
        let text = match fold(instants, &series, &|i| kept.contains(&i)) {
            None => "all\n".to_string(),
            Some(folded) => {
                let lines = folded.repeats.iter().map(|r| format!("{}\n", r.text()));
                format!("{:?}\n{}", folded.instants, lines.collect::<String>())
            }
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn equal_steps_and_steady_growth_are_folded() {
        folds(
            &[("go", "f t t t t t t t t f"), ("n", "0 1 2 3 4 5 6 7 8 8")],
            &[],
            expect![[r#"
                [0, 8, 9]
                steps 1 to 8: one step 8 times over, the last time shown; each time n grows by 1
            "#]],
        );
        folds(
            &[("b", "t f t f t f t f t"), ("x", "3~ 2.5~ 2.5~ 2~ 2~ 1.5~ 1.5~ 1~ 1~")],
            &[],
            expect![[r#"
                [0, 7, 8]
                steps 1 to 8: 2 steps 4 times over, the last time shown; each time x falls by 0.5
            "#]],
        );
    }

    #[test]
    fn rounds_that_the_last_round_does_not_determine_are_shown() {
        // Growth that changes, few steps, names that change.
        folds(&[("n", "0 1 3 6 10 15 21 28 36")], &[], expect![["all\n"]]);
        folds(&[("n", "0 1 2 3 4 5")], &[], expect![["all\n"]]);
        folds(&[("m", "A B C D E F G H I")], &[], expect![["all\n"]]);
        folds(&[("n", "0 1~ 2 3~ 4~ 5 6~ 7 8")], &[], expect![["all\n"]]);
        // Instants that something else is about are kept.
        folds(
            &[("n", "0 1 2 3 4 5 6 7 8 9")],
            &[7],
            expect![[r#"
                [0, 6, 7, 8, 9]
                steps 1 to 6: one step 6 times over, the last time shown; each time n grows by 1
            "#]],
        );
    }
}
