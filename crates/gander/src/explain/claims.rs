//! The claims of a system, explained on as many threads as there are.
//!
//! Neighbouring claims form groups; each group has an explainer's path of its own, which its claims use one after the other. How many groups
//! there are depends on the model alone, and which thread does a group's work makes no difference: so neither the number of threads nor
//! their speed shows in the results, unless the time is over. Cores are told in the order of the claims: those of one that is not yet
//! due wait.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, mpsc};
use std::thread;

use gander_engines::{CheckConfig, Outcome};
use gander_explain::failure::explain_run;
use gander_explain::{Bounded, Core, ExplainConfig, Explainer, PartSet, Parts, Told, is_proof};
use gander_report::{ExplainView, ExplainedView, RunView, VacuityView};
use gander_system::{ClaimId, Verdict};

use super::{Company, Engines, FoundCore, Model, Setting, bounded_view, explained_view, members, vacuity_views};
use crate::why::run_view;

/// Claims are divided if there are so many, in a model with so many parts.
const FEWEST_CLAIMS: usize = 4;
const FEWEST_PARTS: usize = 40;
/// How many claims a group has at least if there are more than two.
const CLAIMS_A_GROUP: usize = 64;
/// More groups than this tell too many solvers of the model.
const MOST_GROUPS: usize = 16;

/// The claims of one system.
#[derive(Clone, Copy)]
pub(super) struct Task<'t> {
    pub setting: &'t Setting<'t>,
    pub model: &'t Model,
}

/// What has been explained of a system so far.
pub(super) struct Begun {
    pub model: Arc<Model>,
    /// By claim: the cores that were found, and the answer.
    pub answers: BTreeMap<ClaimId, (Vec<Vec<String>>, Answer)>,
    /// By group: what its claims have told a solver.
    pub told: Vec<Option<Told>>,
}

impl Begun {
    /// Nothing.
    pub(super) fn new(model: Model) -> Begun {
        Begun { model: Arc::new(model), answers: BTreeMap::new(), told: Vec::new() }
    }

    /// What the group of the claim at this position, of so many, has told.
    pub(super) fn told(&mut self, at: usize, claims: usize) -> &mut Option<Told> {
        let groups = groups(claims, self.model.parts.len());
        self.told.resize_with(groups, || None);
        &mut self.told[group_of(at, claims, groups)]
    }
}

/// What was found out about a claim.
#[derive(Default)]
pub(super) struct Answer {
    result: Option<ExplainedView>,
    run: Option<RunView>,
    unexplained: Option<(String, String)>,
    vacuity: Vec<VacuityView>,
}

/// What a thread says of the claim with a position.
enum Message {
    /// The names of a core.
    Core(usize, Vec<String>),
    /// Nothing more will be said of it.
    Done(usize, Box<Answer>),
}

/// What has been said of a claim that is not yet due.
#[derive(Default)]
struct Waiting {
    cores: Vec<Vec<String>>,
    answer: Option<Box<Answer>>,
}

/// Claims in their order; what is said of the first of those that are left is passed on.
struct Order<'o> {
    names: Vec<&'o str>,
    due: usize,
    waiting: VecDeque<Waiting>,
    view: &'o mut ExplainView,
    found: FoundCore<'o>,
}

impl Order<'_> {
    fn hear(&mut self, message: Message) {
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
    /// Explains claims, but for those that are done; `engines` are asked if there is no need for others.
    pub(super) fn explain(
        &self,
        outcomes: &[&Outcome],
        begun: Begun,
        engines: &mut Engines,
        view: &mut ExplainView,
        found: FoundCore<'_>,
    ) {
        let Task { setting, model } = *self;
        let names = outcomes.iter().map(|o| model.system.claims[o.claim.index()].name.as_str()).collect();
        let waiting = outcomes.iter().map(|_| Waiting::default()).collect();
        let mut order = Order { names, due: 0, waiting, view, found };
        let (mut told, mut answers) = (begun.told, begun.answers);
        let groups = groups(outcomes.len(), model.parts.len());
        told.resize_with(groups, || None);
        let mut open: Vec<usize> = Vec::new();
        for (at, outcome) in outcomes.iter().enumerate() {
            let kind = &model.system.claims[outcome.claim.index()].kind;
            // What was proved may turn out to be another matter in another reading of the language.
            match answers.remove(&outcome.claim).filter(|_| is_proof(kind, &outcome.verdict)) {
                Some((cores, answer)) => {
                    cores.into_iter().for_each(|names| order.hear(Message::Core(at, names)));
                    order.hear(Message::Done(at, Box::new(answer)));
                }
                None => open.push(at),
            }
        }
        let threads = groups.min(setting.jobs()).min(open.len());
        if threads <= 1 {
            for at in open {
                let mut tell = |names| order.hear(Message::Core(at, names));
                let answer =
                    self.claim(outcomes[at], engines, &mut told[group_of(at, outcomes.len(), groups)], &mut tell);
                order.hear(Message::Done(at, Box::new(answer)));
            }
            return;
        }
        let config = CheckConfig { jobs: (setting.jobs() / threads).max(1), ..setting.config.clone() };
        let mut shares: Vec<Vec<(usize, Option<Told>)>> = (0..threads).map(|_| Vec::new()).collect();
        told.into_iter().enumerate().for_each(|(group, told)| shares[group % threads].push((group, told)));
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let open = &open;
            for share in shares {
                let (sender, config) = (sender.clone(), config.clone());
                scope.spawn(move || {
                    let mut engines = Engines::new(&setting.solvers, config, setting.cancel);
                    engines.company = Company::Others;
                    for (group, mut told) in share {
                        for &at in open.iter().filter(|&&at| group_of(at, outcomes.len(), groups) == group) {
                            // Nobody listens only if everything is over.
                            let mut tell = |names| drop(sender.send(Message::Core(at, names)));
                            let answer = self.claim(outcomes[at], &mut engines, &mut told, &mut tell);
                            drop(sender.send(Message::Done(at, Box::new(answer))));
                        }
                    }
                });
            }
            drop(sender);
            receiver.into_iter().for_each(|message| order.hear(message));
        });
    }

    /// Explains one claim.
    pub(super) fn claim(
        &self,
        outcome: &Outcome,
        engines: &mut Engines,
        told: &mut Option<Told>,
        found: &mut dyn FnMut(Vec<String>),
    ) -> Answer {
        let Task { setting, model } = *self;
        let (options, parts) = (setting.options, &model.parts);
        let claim = &model.system.claims[outcome.claim.index()];
        let mut answer = Answer::default();
        let left = options.check.timeout.map(|t| t.saturating_sub(setting.started.elapsed()));
        let config = ExplainConfig {
            timeout: left,
            share: options.share,
            cancellation: setting.cancel.clone(),
            ..ExplainConfig::new(&setting.solvers)
        };
        let span = claim.span.map(|s| (s.start as usize, s.end as usize));
        if let Some(k) = options.bounded {
            let bounded = Explainer::for_bounded(&model.system, parts.clone(), outcome.claim, config, engines);
            match bounded.map(|mut e| (e.bounded(k), e)) {
                Err(why) => answer.because(&claim.name, why),
                Ok((Bounded::Core(core), mut explainer)) => {
                    let at = match explainer.bounded_at(k) {
                        Bounded::Core(at) => Some(members(&at)),
                        _ => None,
                    };
                    let mut view = bounded_view(&claim.name, span, &core, k, at);
                    view.notes.extend(explainer.note().map(str::to_string));
                    answer.result = Some(view);
                }
                Ok((Bounded::Broken(steps), _)) => {
                    answer.because(&claim.name, format!("a run of {steps} steps breaks it"));
                }
                Ok((Bounded::Unknown, _)) => {
                    answer.because(&claim.name, "the solver gave no answer in time".into());
                }
            }
            return answer;
        }
        if let Some(request) = options.runs {
            let decided = (outcome.claim, &outcome.verdict);
            if let Some(run) = explain_run(&model.runs_of, parts, decided, request, &config, engines) {
                answer.run = Some(run_view(&model.runs_of, parts, outcome.claim, &run));
                return answer;
            }
        }
        // What holds is explained or has a reason; so is what is proved to be impossible.
        let proved = matches!(outcome.verdict, Verdict::Holds(_)) || is_proof(&claim.kind, &outcome.verdict);
        if !proved {
            let undecided = matches!(outcome.verdict, Verdict::Unknown { .. });
            answer.because(&claim.name, if undecided { "it was not decided" } else { "it fails" }.into());
            return answer;
        }
        let (id, verdict) = (outcome.claim, &outcome.verdict);
        match Explainer::continuing(told, &model.system, parts.clone(), id, verdict, config, engines) {
            Err(why) => answer.because(&claim.name, why),
            Ok(mut explainer) => {
                if let Some(names) = setting.earlier.get(&claim.name) {
                    let named = (0..parts.len()).filter(|&p| names.contains(&parts.list[p].name));
                    explainer.suggest(PartSet::of(parts.len(), named));
                }
                let mut tell = |core: &Core, parts: &Parts| found(parts.names(&core.parts));
                let explanation = explainer.explain(options.request, &mut tell);
                answer.result = Some(explained_view(&claim.name, span, options.request, &explanation));
                if options.vacuity {
                    let found = explainer.vacuity();
                    vacuity_views(&claim.name, &explanation, &found, parts, &mut answer.vacuity);
                }
                explainer.end(told);
            }
        }
        answer
    }
}

impl Answer {
    fn because(&mut self, claim: &str, why: String) {
        self.unexplained = Some((claim.to_string(), why));
    }

    fn show(self, view: &mut ExplainView) {
        view.results.extend(self.result);
        view.runs.extend(self.run);
        view.unexplained.extend(self.unexplained);
        for vacuity in self.vacuity {
            if !view.vacuity.contains(&vacuity) {
                view.vacuity.push(vacuity);
            }
        }
    }
}

/// The group of a claim: neighbours are often about the same things, and what was shown for one of them helps with the next.
fn group_of(at: usize, claims: usize, groups: usize) -> usize {
    at * groups / claims
}

/// Into how many groups claims are divided.
fn groups(claims: usize, parts: usize) -> usize {
    if claims < FEWEST_CLAIMS || parts < FEWEST_PARTS {
        return 1;
    }
    // Numbers of processors are even.
    (claims / CLAIMS_A_GROUP).next_power_of_two().clamp(2, MOST_GROUPS)
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
