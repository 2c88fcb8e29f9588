//! Whether each of several parts is needed, asked on two workers.
//!
//! Which worker is asked what, and in which order answers are looked at, depends on the model alone. So results do not depend on who is
//! faster, unless the time is over.

use std::thread;

use gander_term::{Importer, Pool, TermId};

use crate::explainer::{Adequacy, Explainer, Stop};
use crate::path::WatchId;
use crate::proof::Proof;
use crate::set::PartSet;

/// Fewer questions, or questions about smaller models, have their answers before a second worker is ready.
const FEWEST: usize = 12;
const SMALLEST: usize = 40;

/// What a worker found out.
#[derive(Default)]
struct Answers {
    /// By position in the list of parts: a proof that does without the part.
    proofs: Vec<(usize, Proof)>,
    /// Parts without which nobody could decide.
    undecided: Vec<usize>,
    /// The time was over.
    stopped: bool,
}

/// What a second worker found out, in terms of its own pool.
struct Report {
    answers: Answers,
    /// The formulas of each proof.
    formulas: Vec<Vec<TermId>>,
    lemmas: Vec<TermId>,
    pool: Pool,
    inadequate: Vec<PartSet>,
    questions: u64,
}

impl Explainer<'_> {
    /// Asks whether the set without each of some members is enough, but for members that a proof found on the way does without. Gives these
    /// proofs; sets that are not enough are remembered, those that nobody could decide returned.
    pub(crate) fn survey(&mut self, base: &PartSet, members: &[usize]) -> Result<(Vec<Proof>, Vec<PartSet>), Stop> {
        let members: Vec<usize> = members.iter().copied().filter(|&p| !self.is_must(p)).collect();
        let helper = if self.is_worth_a_survey(&members) { self.prover.helper() } else { None };
        let Some(mut helper) = helper else {
            let answers = self.ask_each(base, members.iter().copied().enumerate());
            return merged(base, answers);
        };
        let path = self.path.doubled();
        let (first, second): (Vec<_>, Vec<_>) = members.iter().copied().enumerate().partition(|(i, _)| i % 2 == 0);
        let (parts, claim, property) = (self.parts.clone(), self.claim, self.property);
        let known = self.known();
        let (mut mine, report) = thread::scope(|scope| {
            let other = scope.spawn(move || {
                let mut worker = Explainer::worker(path, parts, claim, property, known, &mut *helper);
                let answers = worker.ask_each(base, second.into_iter());
                worker.report(answers)
            });
            let mine = self.ask_each(base, first.into_iter());
            (mine, other.join())
        });
        match report {
            Ok(report) => self.adopt(report, &mut mine),
            // A worker that broke has shown nothing; what it was asked is asked again, alone.
            Err(_) => {
                let again = members.iter().copied().enumerate().filter(|(i, _)| i % 2 == 1);
                let more = self.ask_each(base, again);
                mine.proofs.extend(more.proofs);
                mine.undecided.extend(more.undecided);
                mine.stopped |= more.stopped;
            }
        }
        merged(base, mine)
    }

    /// True if there are enough questions, and hard enough, for two.
    pub(crate) fn is_worth_a_survey(&self, members: &[usize]) -> bool {
        members.len() >= FEWEST && self.parts.len() >= SMALLEST
    }

    fn ask_each(&mut self, base: &PartSet, members: impl Iterator<Item = (usize, usize)>) -> Answers {
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
                Err(Stop::Late) => {
                    answers.stopped = true;
                    break;
                }
            }
        }
        answers
    }

    /// What this worker found out, for the one that goes on.
    fn report(self, answers: Answers) -> Report {
        let terms = |list: &[WatchId]| list.iter().map(|&w| self.path.formula(w)).collect();
        Report {
            formulas: answers.proofs.iter().map(|(_, proof)| terms(&proof.formulas)).collect(),
            lemmas: terms(self.lemmas()),
            answers,
            inadequate: self.news,
            questions: self.path.questions,
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
            let formulas = if proof.given.is_some() { Some(Vec::new()) } else { watched(self, terms) };
            if let Some(formulas) = formulas {
                self.remember_adequate(&proof.parts);
                mine.proofs.push((i, Proof { formulas, ..proof }));
            }
        }
        if let Some(lemmas) = watched(self, &report.lemmas) {
            self.know(lemmas);
        }
        for set in &report.inadequate {
            if !self.inadequate.iter().any(|known| set.is_subset(known)) {
                self.remember_inadequate(set);
            }
        }
        self.guessed |= !report.answers.undecided.is_empty();
        mine.undecided.extend(report.answers.undecided);
        mine.stopped |= report.answers.stopped;
        self.path.questions += report.questions;
    }
}

/// The answers in the order of the questions.
fn merged(base: &PartSet, mut answers: Answers) -> Result<(Vec<Proof>, Vec<PartSet>), Stop> {
    if answers.stopped {
        return Err(Stop::Late);
    }
    answers.proofs.sort_by_key(|(i, _)| *i);
    answers.undecided.sort_unstable();
    let proofs = answers.proofs.into_iter().map(|(_, proof)| proof).collect();
    Ok((proofs, answers.undecided.into_iter().map(|p| base.without(p)).collect()))
}
