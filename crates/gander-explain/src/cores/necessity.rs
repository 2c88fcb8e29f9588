//! Decides for each of several parts whether it is necessary, on two workers.
//!
//! The division of work and the order in which answers are merged depend only on the model. So the
//! result does not depend on the speed of the workers, unless the time limit is reached.

use std::thread;

use gander_term::{Importer, Pool, TermId};

use crate::explainer::{Adequacy, Explainer, Stop};
use crate::parts::set::PartSet;
use crate::proof::Proof;
use crate::unrolling::path::WatchId;

/// A second worker is started only for at least this many parts to test, in a model with at least
/// [`MIN_PARTS`] parts. Below that one worker is done before a second is ready.
const MIN_QUERIES: usize = 12;
const MIN_PARTS: usize = 40;

/// The results of one worker.
#[derive(Default)]
struct Answers {
    /// Proofs that do not use a part, with the position of the part in the list.
    proofs: Vec<(usize, Proof)>,
    /// Parts for which the model without them was not decided.
    undecided: Vec<usize>,
    /// True if the time limit was reached.
    stopped: bool,
}

/// The results of the second worker, with terms of its pool.
struct Report {
    answers: Answers,
    /// The formulas of each proof.
    formulas: Vec<Vec<TermId>>,
    lemmas: Vec<TermId>,
    pool: Pool,
    inadequate: Vec<PartSet>,
    queries: u64,
}

impl Explainer<'_> {
    /// Decides whether `base` without each of the members is adequate. Members that an earlier
    /// proof does not use are skipped. Returns the proofs and the undecided sets; inadequate sets
    /// are remembered.
    pub(crate) fn check_removals(
        &mut self,
        base: &PartSet,
        members: &[usize],
    ) -> Result<(Vec<Proof>, Vec<PartSet>), Stop> {
        let members: Vec<usize> = members.iter().copied().filter(|&p| !self.is_must(p)).collect();
        let helper = if self.needs_second_worker(&members) { self.prover.helper() } else { None };
        let Some(mut helper) = helper else {
            let answers = self.check_each(base, members.iter().copied().enumerate());
            return merged(base, answers);
        };
        let path = self.path.duplicate();
        let (first, second): (Vec<_>, Vec<_>) =
            members.iter().copied().enumerate().partition(|(i, _)| i % 2 == 0);
        let (parts, claim, property) = (self.parts.clone(), self.claim, self.property);
        let known = self.knowledge();
        let (mut mine, report) = thread::scope(|scope| {
            let other = scope.spawn(move || {
                let mut worker =
                    Explainer::worker(path, parts, claim, property, known, &mut *helper);
                let answers = worker.check_each(base, second.into_iter());
                worker.report(answers)
            });
            let mine = self.check_each(base, first.into_iter());
            (mine, other.join())
        });
        match report {
            Ok(report) => self.adopt(report, &mut mine),
            // The second worker panicked: repeat its queries here.
            Err(_) => {
                let again = members.iter().copied().enumerate().filter(|(i, _)| i % 2 == 1);
                let more = self.check_each(base, again);
                mine.proofs.extend(more.proofs);
                mine.undecided.extend(more.undecided);
                mine.stopped |= more.stopped;
            }
        }
        merged(base, mine)
    }

    /// True if a second worker is likely to save time.
    pub(crate) fn needs_second_worker(&self, members: &[usize]) -> bool {
        members.len() >= MIN_QUERIES && self.parts.len() >= MIN_PARTS
    }

    fn check_each(
        &mut self,
        base: &PartSet,
        members: impl Iterator<Item = (usize, usize)>,
    ) -> Answers {
        let mut answers = Answers::default();
        let mut open = base.clone();
        for (i, p) in members {
            if !open.has(p) {
                continue;
            }
            match self.adequacy(&base.without(p)) {
                Ok(Adequacy::Adequate(proof)) => {
                    open = open.intersection(&proof.parts);
                    answers.proofs.push((i, proof));
                }
                Ok(Adequacy::Inadequate) => {}
                Ok(Adequacy::Undecided) => answers.undecided.push(p),
                Err(Stop::OutOfTime) => {
                    answers.stopped = true;
                    break;
                }
            }
        }
        answers
    }

    /// The results of this worker, for the main one.
    fn report(self, answers: Answers) -> Report {
        let terms = |list: &[WatchId]| list.iter().map(|&w| self.path.formula(w)).collect();
        Report {
            formulas: answers.proofs.iter().map(|(_, proof)| terms(&proof.formulas)).collect(),
            lemmas: terms(self.lemmas()),
            answers,
            inadequate: self.unread,
            queries: self.path.queries,
            pool: self.path.pool,
        }
    }

    fn adopt(&mut self, report: Report, mine: &mut Answers) {
        let mut importer = Importer::new();
        let mut watched = |e: &mut Self, terms: &[TermId]| -> Option<Vec<WatchId>> {
            let import = |t: &TermId| {
                let t = importer.import(&mut e.path.pool, &report.pool, *t).ok()?;
                Some(e.path.watch(t))
            };
            terms.iter().map(import).collect()
        };
        for ((i, proof), terms) in report.answers.proofs.into_iter().zip(&report.formulas) {
            let formulas =
                if proof.given.is_some() { Some(Vec::new()) } else { watched(self, terms) };
            if let Some(formulas) = formulas {
                self.remember_adequate(&proof.parts);
                mine.proofs.push((i, Proof { formulas, ..proof }));
            }
        }
        if let Some(lemmas) = watched(self, &report.lemmas) {
            self.add_lemmas(lemmas);
        }
        for set in &report.inadequate {
            if !self.inadequate.iter().any(|known| set.is_subset(known)) {
                self.remember_inadequate(set);
            }
        }
        self.approximate |= !report.answers.undecided.is_empty();
        mine.undecided.extend(report.answers.undecided);
        mine.stopped |= report.answers.stopped;
        self.path.queries += report.queries;
    }
}

/// The results of both workers, in the order of the parts.
fn merged(base: &PartSet, mut answers: Answers) -> Result<(Vec<Proof>, Vec<PartSet>), Stop> {
    if answers.stopped {
        return Err(Stop::OutOfTime);
    }
    answers.proofs.sort_by_key(|(i, _)| *i);
    answers.undecided.sort_unstable();
    let proofs = answers.proofs.into_iter().map(|(_, proof)| proof).collect();
    Ok((proofs, answers.undecided.into_iter().map(|p| base.without(p)).collect()))
}
