//! Claims are explained while others are still being decided.
//!
//! Checking evidence takes one thread, and engines need some time to stop: meanwhile another thread explains what is proved, in the
//! order of the claims. It goes on as long as there are proofs with formulas, which take about as long as their check; everything
//! else is for later, when engines need no more time. What was begun is continued then with the same paths, so that results are the
//! same as if nothing had been begun.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use gander_engines::{CheckConfig, Event, Observer, Outcome};
use gander_explain::{Wish, is_proof};
use gander_system::{ClaimId, Evidence, System, Verdict};

use super::claims::{Begun, Task};
use super::{Company, Engines, Model, Setting};
use crate::check::{Checked, check_announced};

/// What happens while claims are decided.
enum News {
    /// The claims of a system are decided next.
    Next(Arc<System>, Vec<ClaimId>),
    /// One of them is.
    Settled(Box<Outcome>),
}

/// Tells the other thread.
struct Messenger<'m> {
    sender: Mutex<mpsc::Sender<News>>,
    observer: &'m dyn Observer,
}

impl Messenger<'_> {
    fn tell(&self, news: News) {
        // Nobody listens if nothing is done ahead.
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).send(news));
    }
}

impl Observer for Messenger<'_> {
    fn event(&self, e: &Event) {
        if let Event::Settled(outcome) = e {
            self.tell(News::Settled(Box::new(outcome.clone())));
        }
        self.observer.event(e);
    }
}

/// Decides the claims, and begins to explain those that are proved.
pub(super) fn check(setting: &Setting<'_>, file_name: &str, observer: &dyn Observer) -> (Checked, Vec<Begun>) {
    let options = setting.options;
    let plain = options.request.cores == Wish::One && !options.request.must && !options.request.cut_sets;
    let pays = plain && options.bounded.is_none() && setting.jobs() > 1;
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let worker = pays.then(|| scope.spawn(move || work(setting, &receiver)));
        let messenger = Messenger { sender: Mutex::new(sender), observer };
        let announce = |system: &Arc<System>, claims: &[ClaimId]| {
            messenger.tell(News::Next(Arc::clone(system), claims.to_vec()));
        };
        let checked = check_announced(setting.source, file_name, &options.check, setting.cancel, &messenger, &announce);
        drop(messenger);
        // A worker that broke has begun nothing.
        let begun = worker.and_then(|w| w.join().ok()).unwrap_or_default();
        (checked, begun)
    })
}

/// A system whose claims are being decided.
struct Present {
    begun: Begun,
    /// The claims that are to be explained.
    claims: Vec<ClaimId>,
    /// The next of them.
    at: usize,
    settled: Vec<Outcome>,
}

fn work(setting: &Setting<'_>, news: &mpsc::Receiver<News>) -> Vec<Begun> {
    let config = CheckConfig { jobs: 1, ..setting.config.clone() };
    let mut engines = Engines::new(&setting.solvers, config, setting.cancel);
    engines.company = Company::Others;
    let mut all: Vec<Begun> = Vec::new();
    let mut present: Option<Present> = None;
    loop {
        // Everything that is known, before the next claim is begun; if all is over, what is left is for several threads.
        let mut latest = if present.as_ref().is_some_and(Present::can_go_on) {
            news.try_recv()
        } else {
            news.recv().map_err(|_| mpsc::TryRecvError::Disconnected)
        };
        while let Ok(one) = latest {
            match one {
                News::Next(system, claims) => {
                    all.extend(present.take().map(|p| p.begun));
                    let claims = claims.into_iter().filter(|&c| setting.is_asked(&system, c)).collect();
                    let begun = Begun::new(Model::of(&system, setting));
                    present = Some(Present { begun, claims, at: 0, settled: Vec::new() });
                }
                News::Settled(outcome) => present.iter_mut().for_each(|p| p.settled.push((*outcome).clone())),
            }
            latest = news.try_recv();
        }
        let over = matches!(latest, Err(mpsc::TryRecvError::Disconnected));
        // A single claim is as well explained here.
        if over && present.as_ref().is_none_or(|p| p.claims.len() > 1 || !p.can_go_on()) {
            all.extend(present.map(|p| p.begun));
            return all;
        }
        if let Some(present) = present.as_mut().filter(|p| p.can_go_on()) {
            present.explain_next(setting, &mut engines);
        }
    }
}

impl Present {
    /// The next claim, if it is settled.
    fn next(&self) -> Option<&Outcome> {
        let claim = *self.claims.get(self.at)?;
        self.settled.iter().find(|o| o.claim == claim)
    }

    /// True if the next claim is one for here, or one that no path is needed for.
    fn can_go_on(&self) -> bool {
        let is_for_here = |o: &Outcome| {
            let kind = &self.begun.model.system.claims[o.claim.index()].kind;
            match &o.verdict {
                v @ (Verdict::Holds(evidence) | Verdict::Fails(evidence)) if is_proof(kind, v) => {
                    matches!(evidence, Evidence::Invariant(_) | Evidence::KInductive { .. })
                }
                Verdict::Holds(_) | Verdict::Fails(_) => true,
                Verdict::Unknown { .. } => false,
            }
        };
        self.next().is_some_and(is_for_here)
    }

    fn explain_next(&mut self, setting: &Setting<'_>, engines: &mut Engines) {
        let Some(outcome) = self.next().cloned() else { return };
        let model = Arc::clone(&self.begun.model);
        if is_proof(&model.system.claims[outcome.claim.index()].kind, &outcome.verdict) {
            let mut cores = Vec::new();
            let told = self.begun.told(self.at, self.claims.len());
            let task = Task { setting, model: &model };
            let answer = task.claim(&outcome, engines, told, &mut |names| cores.push(names));
            self.begun.answers.insert(outcome.claim, (cores, answer));
        }
        self.at += 1;
    }
}
