//! Random small systems with arrays of an open size, and the same systems for given sizes.
//!
//! A system is generated as a [`sketch`] and written ([`mod@write`]) once with a constant `n` for
//! the size, arrays and quantifiers over `0 <= i < n`, and once for each size in [`SIZES`], with a
//! variable for each element and all quantifiers expanded. The latter are finite, and the oracle
//! decides them. A run of the open system with one of these sizes is a run of the system of that
//! size; [`compare_open`] relies on this.

mod sketch;
mod write;

use std::ops::Range;
use std::sync::Arc;

use gander_system::{Claim, ClaimKind, System, VarId};

use crate::random::Random;
use crate::{Answer, Disagreement, Limits, Report, decide};
use sketch::SketchGenerator;

/// The sizes for which the oracle decides the system.
pub const SIZES: [i64; 4] = [1, 2, 3, 4];

/// A system with arrays of an open size, and the oracle's answers for each given size.
#[derive(Clone, Debug)]
pub struct OpenSystem {
    /// The seed that makes it.
    pub seed: u64,
    /// The system.
    pub system: Arc<System>,
    /// The variables for array sizes.
    pub sizes: Vec<VarId>,
    /// By size, as in [`SIZES`]: the system with this size.
    pub fixed: Vec<Arc<System>>,
    /// By size: the answers, in the order of the claims.
    pub answers: Vec<Vec<Answer>>,
}

/// A run that decides a claim of an open system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenRun {
    /// Whether the claim holds.
    pub holds: bool,
    /// The size of its arrays; `None` if they differ.
    pub size: Option<i64>,
    /// Its number of steps.
    pub length: u64,
}

/// The results of a decider for an open system.
#[derive(Clone, Debug, Default)]
pub struct OpenRuns {
    /// By claim: the run that decides it.
    pub runs: Vec<Option<OpenRun>>,
    /// True if it ran out of time, so claims may be undecided.
    pub out_of_time: bool,
}

/// The open system of a seed.
pub fn generate_open(seed: u64) -> OpenSystem {
    let limits = Limits { states: 300, work: 1_000_000 };
    let mut attempt = 0;
    // Terminates, as most attempts succeed.
    loop {
        if let Some(made) = attempted(seed, attempt, limits) {
            return made;
        }
        attempt += 1;
    }
}

fn attempted(seed: u64, attempt: u64, limits: Limits) -> Option<OpenSystem> {
    let sketch = SketchGenerator::new(Random::new(seed, attempt)).sketch();
    let system = write::write(&sketch, None).expect("sketches can be written");
    let (mut fixed, mut answers) = (Vec::new(), Vec::new());
    for size in SIZES {
        let of_size = write::write(&sketch, Some(size)).expect("sketches can be written");
        let found =
            decide(&of_size, limits).ok()?.into_iter().collect::<Result<Vec<_>, _>>().ok()?;
        answers.push(found);
        fixed.push(Arc::new(of_size));
    }
    let open = |c: &Claim| (c.name.clone(), c.kind.word());
    let same = |s: &Arc<System>| s.claims().iter().map(open).eq(system.claims().iter().map(open));
    assert!(fixed.iter().all(same), "the claims are the same for every size");
    let sizes =
        (0..system.vars().len()).filter(|&v| ["n", "m"].contains(&system.vars()[v].name.as_str()));
    let sizes = sizes.map(VarId::from).collect();
    Some(OpenSystem { seed, system: Arc::new(system), sizes, fixed, answers })
}

impl OpenSystem {
    /// The shortest run that decides a claim, over all sizes: with its size and length.
    pub fn shortest(&self, claim: usize) -> Option<(i64, u64)> {
        let of_size = |(size, answers): (&i64, &Vec<Answer>)| Some((*size, answers[claim].length?));
        SIZES.iter().zip(&self.answers).filter_map(of_size).min_by_key(|(_, length)| *length)
    }

    /// True if the run agrees with the oracle: the claim has this answer for this size, and no run
    /// is shorter.
    pub fn agrees(&self, claim: usize, run: OpenRun) -> bool {
        let answer = run
            .size
            .and_then(|s| SIZES.iter().position(|known| *known == s))
            .map(|at| self.answers[at][claim]);
        answer.is_some_and(|a| a.holds == run.holds && a.length == Some(run.length))
    }
}

/// Compares the runs of a decider with the oracle on the open systems of some seeds, for claims of
/// the kinds that it `decides`. A run must be a shortest one for its size. A claim that some size
/// decides within `depth` steps must not be left open, unless the decider ran out of time.
pub fn compare_open(
    seeds: Range<u64>,
    depth: u64,
    decides: impl Fn(&ClaimKind) -> bool,
    mut decider: impl FnMut(&OpenSystem) -> OpenRuns,
) -> Report {
    let mut report = Report::default();
    for seed in seeds {
        let made = generate_open(seed);
        report.systems += 1;
        let found = decider(&made);
        for (i, claim) in made.system.claims().iter().enumerate() {
            report.claims += 1;
            let run = found.runs.get(i).copied().flatten();
            let shortest = made.shortest(i);
            let due = shortest.is_some_and(|(_, length)| length <= depth)
                && decides(&claim.kind)
                && !found.out_of_time;
            let tally = report.by_kind.entry(claim.kind.word()).or_default();
            let by_run = shortest.is_some() == shown_by_run(&claim.kind);
            match run {
                Some(run) if made.agrees(i, run) && run.holds => tally.holds += 1,
                Some(run) if made.agrees(i, run) => tally.fails += 1,
                None if !due && by_run => tally.open_holds += 1,
                None if !due => tally.open_fails += 1,
                wrong => {
                    tally.disagreements += 1;
                    report.disagreements.push(Disagreement {
                        seed,
                        claim: claim.name.clone(),
                        expected: Answer {
                            holds: by_run,
                            length: shortest.map(|(_, length)| length),
                        },
                        found: wrong.map(|run| (run.holds, Some(run.length))),
                        shrunk: Arc::clone(&made.system),
                    });
                }
            }
        }
        if report.disagreements.len() >= MAX_DISAGREEMENTS {
            break;
        }
    }
    report
}

const MAX_DISAGREEMENTS: usize = 5;

/// True if a run shows that a claim of this kind holds, false if it shows that it fails.
fn shown_by_run(kind: &ClaimKind) -> bool {
    matches!(
        kind,
        ClaimKind::Reachable(_) | ClaimKind::CanEnable(_) | ClaimKind::StartSatisfiable(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Claims are decided in both ways, by runs of several steps, and differently for different
    /// sizes.
    #[test]
    fn open_systems_have_varied_answers() {
        let (mut runs, mut long, mut none, mut differ) = (0, 0, 0, 0);
        for seed in 0..60 {
            let made = generate_open(seed);
            assert!(!made.sizes.is_empty());
            for i in 0..made.system.claims().len() {
                match made.shortest(i) {
                    Some((_, length)) => {
                        runs += 1;
                        long += u32::from(length >= 2);
                    }
                    None => none += 1,
                }
                differ +=
                    u32::from(made.answers.iter().any(|a| a[i].holds != made.answers[0][i].holds));
            }
        }
        assert!(
            runs > 100 && long > 20 && none > 50 && differ > 10,
            "{runs} {long} {none} {differ}"
        );
    }

    #[test]
    fn the_same_seed_makes_the_same_system() {
        let (a, b) = (generate_open(7), generate_open(7));
        assert_eq!(crate::describe(&a.system), crate::describe(&b.system));
        assert_eq!(a.answers, b.answers);
    }
}
