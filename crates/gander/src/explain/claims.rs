//! The claims of a system, explained on as many threads as there are.
//!
//! Claims are dealt to groups; each group has an explainer's path of its own, which its claims use one after the other. How many groups
//! there are depends on the model alone, and which thread does a group's work makes no difference: so neither the number of threads nor
//! their speed shows in the results, unless the time is over. Cores are told in the order of the claims: those of one that is not yet
//! due wait.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use gander_engines::{CancelToken, CheckConfig, Outcome};
use gander_explain::failure::explain_run;
use gander_explain::{Bounded, Core, ExplainConfig, Explainer, PartSet, Parts, Told, is_proof};
use gander_report::{ExplainView, ExplainedView, RunView, VacuityView};
use gander_smt::{Killer, Solvers};
use gander_system::{System, Verdict};

use super::{Company, Engines, ExplainOptions, FoundCore, bounded_view, explained_view, members, vacuity_views};
use crate::why::run_view;

/// Claims are divided if there are so many, in a model with so many parts.
const FEWEST_CLAIMS: usize = 4;
const FEWEST_PARTS: usize = 40;
/// How many claims a group has at least if there are more than two.
const CLAIMS_A_GROUP: usize = 64;
/// More groups than this tell too many solvers of the model.
const MOST_GROUPS: usize = 16;

/// What the claims of one system have in common.
pub(super) struct Task<'t> {
    /// The system, divided as finely as was asked for.
    pub system: &'t Arc<System>,
    /// The system whose runs count.
    pub runs_of: &'t Arc<System>,
    pub parts: &'t Parts,
    pub options: &'t ExplainOptions,
    /// The cores of an earlier run, by property.
    pub earlier: &'t BTreeMap<String, Vec<String>>,
    pub solvers: &'t Arc<Solvers>,
    /// How engines are asked.
    pub config: &'t CheckConfig,
    pub cancel: &'t CancelToken,
    pub killer: &'t Killer,
    pub started: Instant,
}

/// What was found out about a claim.
#[derive(Default)]
struct Answer {
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

impl Task<'_> {
    /// Explains claims; `engines` are asked if there is no need for others.
    pub(super) fn explain(
        &self,
        outcomes: &[&Outcome],
        engines: &mut Engines,
        view: &mut ExplainView,
        found: FoundCore<'_>,
    ) {
        let groups = groups(outcomes.len(), self.parts.len());
        let processors = thread::available_parallelism().map_or(1, |n| n.get());
        let jobs = match self.config.jobs {
            0 => processors,
            jobs => jobs,
        };
        let name = |at: usize| &self.system.claims[outcomes[at].claim.index()].name;
        if groups == 1 || jobs == 1 {
            let mut told: Vec<Option<Told>> = (0..groups).map(|_| None).collect();
            for (at, outcome) in outcomes.iter().enumerate() {
                let mut tell = |names: Vec<String>| found(name(at), &names);
                let answer = self.claim(outcome, engines, &mut told[at % groups], &mut tell);
                answer.show(view);
            }
            return;
        }
        let threads = groups.min(jobs);
        let config = CheckConfig { jobs: (jobs / threads).max(1), ..self.config.clone() };
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for worker in 0..threads {
                let (sender, config) = (sender.clone(), config.clone());
                scope.spawn(move || {
                    let mut engines = Engines::new(self.solvers, config, self.cancel);
                    engines.company = Company::Others;
                    for group in (worker..groups).step_by(threads) {
                        self.group(outcomes, (group, groups), &mut engines, &sender);
                    }
                });
            }
            drop(sender);
            let mut waiting: VecDeque<Waiting> = outcomes.iter().map(|_| Waiting::default()).collect();
            let mut due = 0;
            for message in receiver {
                match message {
                    Message::Core(at, names) if at == due => found(name(at), &names),
                    Message::Core(at, names) => waiting[at - due].cores.push(names),
                    Message::Done(at, answer) => waiting[at - due].answer = Some(answer),
                }
                // The cores of the claim that is due are told as they come.
                while let Some(answer) = waiting.front_mut().and_then(|w| w.answer.take()) {
                    answer.show(view);
                    waiting.pop_front();
                    due += 1;
                    if let Some(next) = waiting.front_mut() {
                        next.cores.drain(..).for_each(|names| found(name(due), &names));
                    }
                }
            }
        });
    }

    /// The claims of one of several groups, one after the other.
    fn group(
        &self,
        outcomes: &[&Outcome],
        (group, groups): (usize, usize),
        engines: &mut Engines,
        sender: &mpsc::Sender<Message>,
    ) {
        let mut told = None;
        for at in (group..outcomes.len()).step_by(groups) {
            // Nobody listens only if everything is over.
            let mut tell = |names| drop(sender.send(Message::Core(at, names)));
            let answer = self.claim(outcomes[at], engines, &mut told, &mut tell);
            if sender.send(Message::Done(at, Box::new(answer))).is_err() {
                return;
            }
        }
    }

    /// Explains one claim.
    fn claim(
        &self,
        outcome: &Outcome,
        engines: &mut Engines,
        told: &mut Option<Told>,
        found: &mut dyn FnMut(Vec<String>),
    ) -> Answer {
        let (options, parts) = (self.options, self.parts);
        let claim = &self.system.claims[outcome.claim.index()];
        let mut answer = Answer::default();
        let left = options.check.timeout.map(|t| t.saturating_sub(self.started.elapsed()));
        let config = ExplainConfig {
            timeout: left,
            share: options.share,
            killer: self.killer.clone(),
            ..ExplainConfig::new(self.solvers)
        };
        let span = claim.span.map(|s| (s.start as usize, s.end as usize));
        if let Some(k) = options.bounded {
            let bounded = Explainer::for_bounded(self.system, parts.clone(), outcome.claim, config, engines);
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
            if let Some(run) = explain_run(self.runs_of, parts, decided, request, &config, engines) {
                answer.run = Some(run_view(self.runs_of, parts, outcome.claim, &run));
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
        match Explainer::continuing(told, self.system, parts.clone(), id, verdict, config, engines) {
            Err(why) => answer.because(&claim.name, why),
            Ok(mut explainer) => {
                if let Some(names) = self.earlier.get(&claim.name) {
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
    }
}
