//! Explains the claims of a system on several threads.
//!
//! Neighbouring claims form groups. The claims of a group use one solver state ([`SharedSession`]),
//! one after the other. The number of groups depends on the model alone, so the results do not
//! depend on the number of threads or their speed, unless the time is over. Cores are reported in
//! the order of the claims.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::RangeInclusive;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use gander_engines::{CheckConfig, Outcome};
use gander_explain::run_explanation::explain_run;
use gander_explain::{
    Bounded, Core, ExplainConfig, Explainer, NOT_BOUNDED, PartSet, Parts, SharedSession,
    claim_parts, is_proof, why_no_core,
};
use gander_lang::language_of;
use gander_report::{
    Completeness, CoreStatus, CoreView, ExplainView, ExplainedView, NoCore, RunView,
    UnexplainedView, VacuityView,
};
use gander_system::{ClaimId, ClaimKind, System, Verdict};

use super::engines::{Engines, Helper};
use super::views::{explained_view, members, vacuity_views};
use super::{DividedSystem, ExplainContext, FoundCore};
use crate::explain::run_view::run_view;

/// Claims are divided into groups if there are at least this many claims and parts.
const FEWEST_CLAIMS: usize = 4;
const FEWEST_PARTS: usize = 40;
/// Claims of a group at least, if there are more than two groups.
const MIN_CLAIMS_PER_GROUP: usize = 64;
/// Why a claim of a system without a run has no core.
const WITHOUT_RUN: &str = "the system has no run, so nothing is proved of it";
/// The most groups: each starts a solver and asserts the model there.
const MAX_GROUPS: usize = 16;

/// The claims of one system.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub context: &'t ExplainContext<'t>,
    pub divided: &'t DividedSystem,
    /// The system was shown to have no run: what holds of it holds vacuously, and its proofs cover
    /// nothing.
    pub without_run: bool,
}

/// The explanations of a system so far.
pub(super) struct PartialExplanation {
    pub divided: Arc<DividedSystem>,
    /// By claim: its cores and its answer.
    pub answers: BTreeMap<ClaimId, (Vec<Vec<String>>, Answer)>,
    /// By group: its solver state.
    pub sessions: Vec<Option<SharedSession>>,
}

impl PartialExplanation {
    /// No explanations yet.
    pub(super) fn new(divided: DividedSystem) -> PartialExplanation {
        PartialExplanation {
            divided: Arc::new(divided),
            answers: BTreeMap::new(),
            sessions: Vec::new(),
        }
    }

    /// The solver state of the group of the claim at this position.
    pub(super) fn session_of(&mut self, at: usize, claims: usize) -> &mut Option<SharedSession> {
        let groups = groups(claims, self.divided.parts.len());
        self.sessions.resize_with(groups, || None);
        &mut self.sessions[group_of(at, claims, groups)]
    }
}

/// The explanation of a claim.
#[derive(Default)]
pub(super) struct Answer {
    /// One, or one for each depth.
    results: Vec<ExplainedView>,
    run: Option<RunView>,
    unexplained: Vec<UnexplainedView>,
    vacuity: Vec<VacuityView>,
}

/// A claim that was not explained completely in its share of the time.
struct Unfinished {
    at: usize,
    /// The position of its solver state.
    slot: usize,
    /// The time that it had.
    time: Duration,
    /// The cores that were found.
    names: BTreeSet<Vec<String>>,
    answer: Answer,
}

/// A message of a thread about the claim at a position.
enum Message {
    /// The names of a core.
    Core(usize, Vec<String>),
    /// The claim is done.
    Done(usize, Box<Answer>),
}

/// Messages about a claim that wait until it is first in order.
#[derive(Default)]
struct Waiting {
    cores: Vec<Vec<String>>,
    answer: Option<Box<Answer>>,
}

/// Passes messages on in the order of the claims.
struct InOrder<'o> {
    names: Vec<&'o str>,
    due: usize,
    waiting: VecDeque<Waiting>,
    view: &'o mut ExplainView,
    found: FoundCore<'o>,
}

impl InOrder<'_> {
    fn receive(&mut self, message: Message) {
        match message {
            Message::Core(at, names) if at == self.due => (self.found)(self.names[at], &names),
            Message::Core(at, names) => self.waiting[at - self.due].cores.push(names),
            Message::Done(at, answer) => self.waiting[at - self.due].answer = Some(answer),
        }
        while let Some(answer) = self.waiting.front_mut().and_then(|w| w.answer.take()) {
            answer.show(self.view);
            self.waiting.pop_front();
            self.due += 1;
            if let Some(next) = self.waiting.front_mut() {
                let name = self.names[self.due];
                next.cores.drain(..).for_each(|names| (self.found)(name, &names));
            }
        }
    }
}

impl Task<'_> {
    /// Explains the claims that are not done yet. A single thread uses `engines`; several have
    /// their own.
    pub(super) fn explain(
        &self,
        outcomes: &[&Outcome],
        partial: PartialExplanation,
        engines: &mut Engines,
        view: &mut ExplainView,
        found: FoundCore<'_>,
    ) {
        let Task { context, divided, .. } = *self;
        let names = outcomes
            .iter()
            .map(|o| divided.system.claims()[o.claim.index()].name.as_str())
            .collect();
        let waiting = outcomes.iter().map(|_| Waiting::default()).collect();
        let mut order = InOrder { names, due: 0, waiting, view, found };
        let (mut sessions, mut answers) = (partial.sessions, partial.answers);
        let groups = groups(outcomes.len(), divided.parts.len());
        sessions.resize_with(groups, || None);
        let mut open: Vec<usize> = Vec::new();
        for (at, outcome) in outcomes.iter().enumerate() {
            let kind = &divided.system.claims()[outcome.claim.index()].kind;
            // The final verdict may differ from the one explained ahead: see `decide::ambiguity`.
            let valid = is_proof(kind, &outcome.verdict) && !self.is_vacuous(outcome);
            let answer = answers.remove(&outcome.claim).filter(|_| valid);
            match answer.filter(|(_, answer)| !answer.is_unfinished()) {
                Some((cores, answer)) => {
                    cores.into_iter().for_each(|names| order.receive(Message::Core(at, names)));
                    order.receive(Message::Done(at, Box::new(answer)));
                }
                None => open.push(at),
            }
        }
        let threads = groups.min(context.jobs()).min(open.len());
        if threads <= 1 {
            let open: Vec<(usize, usize)> =
                open.into_iter().map(|at| (at, group_of(at, outcomes.len(), groups))).collect();
            self.each(outcomes, &open, &mut sessions, engines, &mut |message| {
                order.receive(message)
            });
            return;
        }
        let config =
            CheckConfig { jobs: (context.jobs() / threads).max(1), ..context.config.clone() };
        let mut shares: Vec<Vec<(usize, Option<SharedSession>)>> =
            (0..threads).map(|_| Vec::new()).collect();
        sessions
            .into_iter()
            .enumerate()
            .for_each(|(group, session)| shares[group % threads].push((group, session)));
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let open = &open;
            for share in shares {
                let (sender, config) = (sender.clone(), config.clone());
                scope.spawn(move || {
                    let mut engines = Engines::new(&context.solvers, config, context.cancel);
                    engines.helper = Helper::Forbidden;
                    let (groups_here, mut sessions): (Vec<usize>, Vec<Option<SharedSession>>) =
                        share.into_iter().unzip();
                    // By group, so that neighbours find the solver state that they share.
                    let mut mine: Vec<(usize, usize)> = Vec::new();
                    for (slot, &group) in groups_here.iter().enumerate() {
                        let of_group =
                            |at: &&usize| group_of(**at, outcomes.len(), groups) == group;
                        mine.extend(open.iter().filter(of_group).map(|&at| (at, slot)));
                    }
                    // The receiver is gone only if everything is over.
                    self.each(outcomes, &mine, &mut sessions, &mut engines, &mut |message| {
                        drop(sender.send(message));
                    });
                });
            }
            drop(sender);
            receiver.into_iter().for_each(|message| order.receive(message));
        });
    }

    /// Explains claims one after the other; `open` has the position of each, and that of its
    /// solver state. Claims that are left share the time that is left. One that is not finished in
    /// its share is tried again at the end, if there is more time for it then.
    fn each(
        &self,
        outcomes: &[&Outcome],
        open: &[(usize, usize)],
        sessions: &mut [Option<SharedSession>],
        engines: &mut Engines,
        send: &mut dyn FnMut(Message),
    ) {
        let mut again: Vec<Unfinished> = Vec::new();
        for (k, &(at, slot)) in open.iter().enumerate() {
            let time = self.context.share_of_time(open.len() - k);
            let mut names = BTreeSet::new();
            let mut tell = |core: Vec<String>| {
                names.insert(core.clone());
                send(Message::Core(at, core));
            };
            let answer = self.claim(outcomes[at], engines, &mut sessions[slot], time, &mut tell);
            match time {
                Some(time) if answer.is_unfinished() => {
                    again.push(Unfinished { at, slot, time, names, answer });
                }
                _ => send(Message::Done(at, Box::new(answer))),
            }
        }
        let number = again.len();
        for (k, first) in again.into_iter().enumerate() {
            let at = first.at;
            let time = self.context.share_of_time(number - k).filter(|t| *t > first.time);
            let mut answer = first.answer;
            if time.is_some() {
                let mut tell = |core: Vec<String>| {
                    if !first.names.contains(&core) {
                        send(Message::Core(at, core));
                    }
                };
                let state = &mut sessions[first.slot];
                let second = self.claim(outcomes[at], engines, state, time, &mut tell);
                // Cores that were found, and perhaps printed, are not given up.
                if second.cores() >= answer.cores() {
                    answer = second;
                }
            }
            send(Message::Done(at, Box::new(answer)));
        }
    }

    /// True if the claim holds only because the system has no run.
    fn is_vacuous(&self, outcome: &Outcome) -> bool {
        self.without_run && matches!(outcome.verdict, Verdict::Holds(_))
    }

    /// Explains one claim, within `time` if it is given.
    pub(super) fn claim(
        &self,
        outcome: &Outcome,
        engines: &mut Engines,
        session: &mut Option<SharedSession>,
        time: Option<Duration>,
        found: &mut dyn FnMut(Vec<String>),
    ) -> Answer {
        let Task { context, divided, .. } = *self;
        let (options, parts) = (context.options, &divided.parts);
        let claim = &divided.system.claims()[outcome.claim.index()];
        let mut answer = Answer::default();
        let config = ExplainConfig {
            timeout: time,
            share: options.share,
            cancellation: context.cancel.clone(),
            ..ExplainConfig::new(&context.solvers)
        };
        let span = claim.span.map(|s| (s.start as usize, s.end as usize));
        if let Some(depths) = options.bounded.clone() {
            if self.is_vacuous(outcome) {
                let mut without =
                    |k| answer.because(&claim.name, Some(k), NoCore::NotDefined, WITHOUT_RUN);
                depths.for_each(&mut without);
            } else {
                self.bounded(outcome.claim, depths, config, engines, &mut answer, found);
            }
            return answer;
        }
        if let Some(request) = options.runs {
            let decided = (outcome.claim, &outcome.verdict);
            if let Some(run) =
                explain_run(&divided.runs_of, parts, decided, request, &config, engines)
            {
                let source = context.model.source();
                let is_script = language_of(source.name()).is_some_and(|l| l.name == "script");
                let script = is_script.then(|| source.own_text());
                let (system, id) = (&divided.runs_of, outcome.claim);
                answer.run = Some(run_view(system, parts, id, &run, script));
                return answer;
            }
        }
        // Proofs are explained: of claims that hold, and of goals that are unreachable.
        let proved =
            matches!(outcome.verdict, Verdict::Holds(_)) || is_proof(&claim.kind, &outcome.verdict);
        if !proved {
            match outcome.verdict {
                Verdict::Unknown { .. } => {
                    answer.because(&claim.name, None, NoCore::Undecided, "it was not decided");
                }
                _ => answer.because(&claim.name, None, NoCore::Fails, "it fails"),
            }
            return answer;
        }
        let (id, verdict) = (outcome.claim, &outcome.verdict);
        let without = no_core(&divided.system, id, verdict);
        let parts_here = (parts, context.asked.is_some());
        match Explainer::continuing(
            session,
            &divided.system,
            parts.clone(),
            id,
            verdict,
            config,
            engines,
        ) {
            Err(why) => answer.because(&claim.name, None, without, &why),
            Ok(mut explainer) if self.is_vacuous(outcome) => {
                answer.because(&claim.name, None, NoCore::NotDefined, WITHOUT_RUN);
                if options.vacuity {
                    let found = explainer.vacuity();
                    vacuity_views(&claim.name, None, &found, parts_here, &mut answer.vacuity);
                }
                explainer.end(session);
            }
            Ok(mut explainer) => {
                if let Some(names) = context.earlier.get(&claim.name) {
                    let named = (0..parts.len()).filter(|&p| names.contains(&parts.list[p].name));
                    explainer.suggest(PartSet::of(parts.len(), named));
                }
                // What may be larger than necessary is only reported at the end, with that remark.
                let mut tell = |core: &Core, parts: &Parts| {
                    if core.minimal {
                        found(parts.names(&core.parts));
                    }
                };
                let explanation = explainer.explain(options.request, &mut tell);
                let about = claim_parts(&divided.system, id, parts);
                let view = explained_view(claim, span, options.request, &explanation, &about);
                if options.vacuity {
                    let found = explainer.vacuity();
                    vacuity_views(
                        &claim.name,
                        Some(&view),
                        &found,
                        parts_here,
                        &mut answer.vacuity,
                    );
                }
                answer.results.push(view);
                explainer.end(session);
            }
        }
        answer
    }
}

/// How a proved claim is shown if it has no core.
fn no_core(system: &System, id: ClaimId, verdict: &Verdict) -> NoCore {
    let kind = &system.claims()[id.index()].kind;
    match (why_no_core(system, id), is_proof(kind, verdict)) {
        (None, true) => NoCore::Undecided,
        (None, false) => NoCore::Shown,
        (Some(_), _) if matches!(kind, ClaimKind::AlwaysPossible(_)) => NoCore::NotDefined,
        (Some(_), _) => NoCore::Undecided,
    }
}

impl Task<'_> {
    /// Bounded cores of one claim, for each of the depths.
    fn bounded(
        &self,
        id: ClaimId,
        depths: RangeInclusive<u32>,
        config: ExplainConfig,
        engines: &mut Engines,
        answer: &mut Answer,
        found: &mut dyn FnMut(Vec<String>),
    ) {
        let Task { context, divided, .. } = *self;
        let claim = &divided.system.claims()[id.index()];
        let span = claim.span.map(|s| (s.start as usize, s.end as usize));
        let request = context.options.request;
        let made =
            Explainer::for_bounded(&divided.system, divided.parts.clone(), id, config, engines);
        let mut explainer = match made {
            Ok(explainer) => explainer,
            Err(why) => {
                let defined = why_no_core(&divided.system, id).is_none() && why != NOT_BOUNDED;
                let status = if defined { NoCore::Undecided } else { NoCore::NotDefined };
                depths.for_each(|k| answer.because(&claim.name, Some(k), status, &why));
                return;
            }
        };
        let last = *depths.end();
        for k in depths {
            // What may be larger than necessary is only reported at the end, with that remark.
            let mut tell = |core: &Core, parts: &Parts| {
                if core.minimal {
                    found(parts.names(&core.parts));
                }
            };
            match explainer.explain_bounded(k, request, &mut tell) {
                Ok(explanation) => {
                    let about = claim_parts(&divided.system, id, &divided.parts);
                    let mut view = explained_view(claim, span, request, &explanation, &about);
                    view.bound = Some(k);
                    view.at_bound = match explainer.bounded_at(k) {
                        Bounded::Core { parts, minimal } => {
                            let status =
                                if minimal { CoreStatus::Minimal } else { CoreStatus::Enough };
                            Some(CoreView { elements: members(&parts), status })
                        }
                        Bounded::Broken(_) | Bounded::Unknown => {
                            let noun = if k == 1 { "step" } else { "steps" };
                            let what = format!("the core for runs of exactly {k} {noun}");
                            view.notes.push(format!("{what} was not found in time"));
                            None
                        }
                    };
                    answer.results.push(view);
                }
                Err(Bounded::Broken(steps)) => {
                    let noun = if steps == 1 { "step" } else { "steps" };
                    let (status, does) = match claim.kind {
                        ClaimKind::Reachable(_)
                        | ClaimKind::CanEnable(_)
                        | ClaimKind::StartSatisfiable(_) => (NoCore::Shown, "shows"),
                        _ => (NoCore::Fails, "breaks"),
                    };
                    let why = format!("a run of {steps} {noun} {does} it");
                    // It decides the claim for every greater depth, too.
                    (k..=last).for_each(|k| answer.because(&claim.name, Some(k), status, &why));
                    return;
                }
                Err(Bounded::Core { .. } | Bounded::Unknown) => {
                    let why = "the solver gave no answer in time";
                    answer.because(&claim.name, Some(k), NoCore::Undecided, why);
                }
            }
        }
    }
}

impl Answer {
    fn because(&mut self, claim: &str, bound: Option<u32>, status: NoCore, why: &str) {
        let (property, why) = (claim.to_string(), why.to_string());
        self.unexplained.push(UnexplainedView { property, bound, status, why });
    }

    /// True if more time could give more.
    fn cores(&self) -> usize {
        self.results.iter().map(|r| r.cores.len()).sum()
    }

    fn is_unfinished(&self) -> bool {
        self.results.iter().any(|r| r.completeness == Completeness::Unfinished)
            || self.unexplained.iter().any(|u| u.status == NoCore::Undecided)
    }

    fn show(self, view: &mut ExplainView) {
        view.results.extend(self.results);
        view.runs.extend(self.run);
        view.unexplained.extend(self.unexplained);
        for vacuity in self.vacuity {
            if !view.vacuity.contains(&vacuity) {
                view.vacuity.push(vacuity);
            }
        }
    }
}

/// The group of a claim. Neighbouring claims often depend on the same elements, so they share a
/// solver state.
fn group_of(at: usize, claims: usize, groups: usize) -> usize {
    at * groups / claims
}

/// The number of groups.
fn groups(claims: usize, parts: usize) -> usize {
    if claims < FEWEST_CLAIMS || parts < FEWEST_PARTS {
        return 1;
    }
    // A power of two divides evenly among the usual numbers of processors.
    (claims / MIN_CLAIMS_PER_GROUP).next_power_of_two().clamp(2, MAX_GROUPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_divided_if_that_pays() {
        assert_eq!(groups(1, 1000), 1);
        assert_eq!(groups(50, 10), 1);
        assert_eq!(groups(4, 100), 2);
        assert_eq!(groups(61, 100), 2);
        assert_eq!(groups(300, 100), 4);
        assert_eq!(groups(100_000, 100), 16);
        assert_eq!([0, 1, 2, 3, 4].map(|at| group_of(at, 5, 2)), [0, 0, 0, 1, 1]);
    }
}
