//! Explains claims while others are still being decided.
//!
//! While evidence is checked and engines stop, another thread explains proved claims in their
//! order. It takes only proofs with formulas, which take about as long to explain as to check; the
//! rest waits until the engines are done. The work continues then with the same solver states, so
//! the results are the same as without working ahead.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use gander_engines::{CheckConfig, Event, Observer, Outcome};
use gander_explain::{CoreSelection, is_proof};
use gander_system::{ClaimId, Evidence, System, Verdict};

use super::claims::{PartialExplanation, Task};
use super::engines::{Engines, Helper};
use super::{DividedSystem, ExplainContext};
use crate::check::{Checked, check_model};
use crate::decide::CheckContext;

/// The part of the time limit for the verdicts; the rest is for explanations.
const VERDICT_SHARE: f64 = 0.5;

/// Progress of a check.
enum Progress {
    /// The claims of a system are decided next.
    Next(Arc<System>, Vec<ClaimId>),
    /// A claim is settled.
    Settled(Box<Outcome>),
}

/// Sends progress to the thread that explains.
struct ProgressSender<'m> {
    sender: Mutex<mpsc::Sender<Progress>>,
    observer: &'m dyn Observer,
}

impl ProgressSender<'_> {
    fn send(&self, progress: Progress) {
        // There is no receiver if nothing is explained ahead.
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).send(progress));
    }
}

impl Observer for ProgressSender<'_> {
    fn event(&self, e: &Event) {
        if let Event::Settled(outcome) = e {
            self.send(Progress::Settled(Box::new(outcome.clone())));
        }
        self.observer.event(e);
    }
}

/// Decides the claims, and explains proved ones ahead.
pub(super) fn check(
    context: &ExplainContext<'_>,
    observer: &dyn Observer,
) -> (Checked, Vec<PartialExplanation>) {
    let options = context.options;
    let plain = options.request.cores == CoreSelection::One
        && !options.request.must
        && !options.request.cut_sets;
    let pays = plain && options.bounded.is_none() && context.jobs() > 1;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let worker = pays.then(|| scope.spawn(move || work(context, &receiver)));
        let sending = ProgressSender { sender: Mutex::new(sender), observer };
        let announce = |system: &Arc<System>, claims: &[ClaimId]| {
            sending.send(Progress::Next(Arc::clone(system), claims.to_vec()));
        };
        let check_context = CheckContext {
            cancel: context.cancel,
            observer: &sending,
            announce: &announce,
            verdicts: None,
            started: context.started,
        };
        let mut verdicts = options.check.clone();
        verdicts.timeout = verdicts.timeout.map(|t| t.mul_f64(VERDICT_SHARE));
        let checked = check_model(context.model, &verdicts, &check_context);
        drop(sending);
        // A worker that panicked has explained nothing.
        let partial = worker.and_then(|w| w.join().ok()).unwrap_or_default();
        (checked, partial)
    })
}

/// A system whose claims are being decided.
struct CurrentSystem {
    partial: PartialExplanation,
    /// The claims to explain.
    claims: Vec<ClaimId>,
    /// The position of the next claim.
    at: usize,
    settled: Vec<Outcome>,
}

fn work(
    context: &ExplainContext<'_>,
    progress: &mpsc::Receiver<Progress>,
) -> Vec<PartialExplanation> {
    let config = CheckConfig { jobs: 1, ..context.config.clone() };
    let mut engines = Engines::new(&context.solvers, config, context.cancel);
    engines.helper = Helper::Forbidden;
    let mut all: Vec<PartialExplanation> = Vec::new();
    let mut current: Option<CurrentSystem> = None;
    loop {
        // Receive all messages before the next claim. When the check is over, several threads
        // explain the rest.
        let mut latest = if current.as_ref().is_some_and(CurrentSystem::can_explain_next) {
            progress.try_recv()
        } else {
            progress.recv().map_err(|_| mpsc::TryRecvError::Disconnected)
        };
        while let Ok(one) = latest {
            match one {
                Progress::Next(system, claims) => {
                    all.extend(current.take().map(|p| p.partial));
                    let claims =
                        claims.into_iter().filter(|&c| context.is_asked(&system, c)).collect();
                    let partial = PartialExplanation::new(DividedSystem::of(&system, context));
                    current = Some(CurrentSystem { partial, claims, at: 0, settled: Vec::new() });
                }
                Progress::Settled(outcome) => {
                    current.iter_mut().for_each(|p| p.settled.push((*outcome).clone()))
                }
            }
            latest = progress.try_recv();
        }
        let over = matches!(latest, Err(mpsc::TryRecvError::Disconnected));
        // A single claim needs no other threads.
        if over && current.as_ref().is_none_or(|p| p.claims.len() > 1 || !p.can_explain_next()) {
            all.extend(current.map(|p| p.partial));
            return all;
        }
        if let Some(current) = current.as_mut().filter(|p| p.can_explain_next()) {
            current.explain_next(context, &mut engines);
        }
    }
}

impl CurrentSystem {
    /// The next claim, if it is settled.
    fn next(&self) -> Option<&Outcome> {
        let claim = *self.claims.get(self.at)?;
        self.settled.iter().find(|o| o.claim == claim)
    }

    /// True if the next claim is settled and can be explained ahead or skipped.
    fn can_explain_next(&self) -> bool {
        let is_explained_ahead = |o: &Outcome| {
            let kind = &self.partial.divided.system.claims()[o.claim.index()].kind;
            match &o.verdict {
                v @ (Verdict::Holds(evidence) | Verdict::Fails(evidence)) if is_proof(kind, v) => {
                    matches!(evidence, Evidence::Invariant(_) | Evidence::KInductive { .. })
                }
                Verdict::Holds(_) | Verdict::Fails(_) => true,
                Verdict::Unknown { .. } => false,
            }
        };
        self.next().is_some_and(is_explained_ahead)
    }

    fn explain_next(&mut self, context: &ExplainContext<'_>, engines: &mut Engines) {
        let Some(outcome) = self.next().cloned() else { return };
        let divided = Arc::clone(&self.partial.divided);
        if is_proof(&divided.system.claims()[outcome.claim.index()].kind, &outcome.verdict) {
            let mut cores = Vec::new();
            let session = self.partial.session_of(self.at, self.claims.len());
            // Whether the system has a run is known only at the end: see `Task::explain`.
            let task = Task { context, divided: &divided, without_run: false };
            let time = context.share_of_time(self.claims.len() - self.at);
            let answer =
                task.claim(&outcome, engines, session, time, &mut |names| cores.push(names));
            self.partial.answers.insert(outcome.claim, (cores, answer));
        }
        self.at += 1;
    }
}
