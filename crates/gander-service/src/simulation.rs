//! Simulations: runs that grow step by step, along the run of a claim or freely.
//!
//! A solver may be needed for a step, so [`Service::simulate`] works on a thread of its own and
//! gives a [`Task`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gander::{Simulator, run_of_evidence};
use gander_report::describe::{action_text, state_values};
use gander_runtime::lock;
use gander_smt::Solvers;
use gander_system::{StartId, Step, System, TransitionId, read_evidence_text};
use serde_json::{Value, json};

use crate::document::{Document, Refusal, Uri};
use crate::service::Service;
use crate::tasks::Task;

/// Simulations that are kept; if there are more, the oldest is dropped.
const MAX_SIMULATIONS: usize = 16;
/// How long a simulation waits for the text to be parsed.
const PARSE_TIME: Duration = Duration::from_secs(10);
/// The largest number of steps of a simulation.
const MAX_STEPS: usize = 100_000;

/// What to do with a simulation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimulationRequest {
    /// Begin one of the latest text: at a start, or, if a claim is named, at the end of the run
    /// that is its evidence.
    Begin {
        /// The claim.
        claim: Option<String>,
        /// The number of the system, if the document has several.
        system: usize,
        /// For everything that is chosen at random.
        seed: u64,
    },
    /// Take a step of the transition with this name.
    Step {
        /// The simulation.
        simulation: u64,
        /// The transition.
        transition: String,
    },
    /// Take a step at random.
    Random {
        /// The simulation.
        simulation: u64,
    },
    /// Take a step back.
    Undo {
        /// The simulation.
        simulation: u64,
    },
    /// Go back to the first state.
    Reset {
        /// The simulation.
        simulation: u64,
    },
}

/// A step that can be taken, or why it cannot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulationChoice {
    /// The transition.
    pub transition: String,
    /// Where it is written.
    pub span: Option<gander_system::Span>,
    /// The step in words, with example values of its parameters; or why there is none.
    pub step: Result<String, String>,
}

/// A simulation as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulationView {
    /// Its number, for further requests.
    pub simulation: u64,
    /// The document.
    pub uri: Uri,
    /// The version that is simulated.
    pub version: i64,
    /// The steps so far: the name of the start, then actions; with the values after each.
    pub rows: Vec<SimulationRow>,
    /// What can be done next.
    pub choices: Vec<SimulationChoice>,
    /// *Always* claims that are false in the current state.
    pub failing: Vec<String>,
}

/// A state of a simulation, with the step into it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SimulationRow {
    /// The transition with its parameters, or the start.
    pub action: String,
    /// Where the transition or start is written.
    pub span: Option<gander_system::Span>,
    /// The node.
    pub node: String,
    /// Every variable with its value.
    pub values: Vec<(String, String)>,
}

/// The simulations of a service.
#[derive(Debug, Default)]
pub(crate) struct Simulations {
    list: Mutex<(u64, VecDeque<Arc<Session>>)>,
}

#[derive(Debug)]
struct Session {
    number: u64,
    document: Arc<Document>,
    simulator: Mutex<Simulator>,
}

impl Simulations {
    fn add(&self, document: Arc<Document>, simulator: Simulator) -> Arc<Session> {
        let mut list = lock(&self.list);
        list.0 += 1;
        let session =
            Arc::new(Session { number: list.0, document, simulator: Mutex::new(simulator) });
        if list.1.len() >= MAX_SIMULATIONS {
            list.1.pop_front();
        }
        list.1.push_back(Arc::clone(&session));
        session
    }

    fn find(&self, number: u64) -> Option<Arc<Session>> {
        lock(&self.list).1.iter().find(|s| s.number == number).cloned()
    }

    pub(crate) fn forget(&self, uri: &Uri) {
        lock(&self.list).1.retain(|s| s.document.uri != *uri);
    }
}

impl Service {
    /// Begins or continues a simulation. The error says what is not possible.
    pub fn simulate(
        &self,
        uri: &Uri,
        request: SimulationRequest,
    ) -> Result<Task<Result<SimulationView, String>>, Refusal> {
        self.document(uri).ok_or(Refusal::NotOpen)?;
        let (uri_of_begin, shared) = (uri.clone(), Arc::clone(self.shared()));
        if matches!(request, SimulationRequest::Begin { .. }) {
            self.compare_includes(uri);
        }
        let solvers = self.config().check.solvers.clone();
        let simulations = Arc::clone(self.simulations());
        let record = match &request {
            SimulationRequest::Begin { claim: Some(claim), .. } => self.verdict(uri, claim),
            _ => None,
        };
        let work = move || -> Result<SimulationView, String> {
            let number = match &request {
                SimulationRequest::Begin { claim, system, seed } => {
                    let analysis = shared.wait_until_parsed(&uri_of_begin, PARSE_TIME);
                    let analysis = analysis.ok_or("the text is not parsed yet")?;
                    let document = Arc::clone(&analysis.document);
                    let model = analysis.model.clone().ok_or("the text was not read")?;
                    let solvers = solvers.unwrap_or_else(|| Arc::new(Solvers::from_environment()));
                    let named = record.as_ref().map(|(r, _)| r.system.clone());
                    let by_name =
                        model.systems().iter().find(|s| Some(s.name()) == named.as_deref());
                    let system = by_name.or(model.systems().get(*system));
                    let system = system.ok_or("the text has errors, so there is nothing to run")?;
                    let mut simulator = Simulator::new(Arc::clone(system), solvers, *seed);
                    match claim {
                        None => {
                            simulator.begin(StartId(0), &[]).map_err(|e| e.to_string())?;
                        }
                        Some(claim) => {
                            let (record, _) = record
                                .as_ref()
                                .filter(|(r, _)| r.revision == document.revision)
                                .ok_or(format!("`{claim}` has no verdict about this text"))?;
                            let evidence = record.view.verdict.evidence();
                            let saved = evidence.map(|e| e.saved.to_string());
                            let file =
                                saved.and_then(|text| read_evidence_text(system, &text).ok());
                            let file = file.ok_or(format!("`{claim}` has no evidence"))?;
                            let run = run_of_evidence(&file.evidence).ok_or(format!(
                                "the evidence for `{claim}` is a proof, not a run"
                            ))?;
                            simulator.replay(run).map_err(|e| e.to_string())?;
                        }
                    }
                    simulations.add(Arc::clone(&document), simulator).number
                }
                SimulationRequest::Step { simulation, .. }
                | SimulationRequest::Random { simulation }
                | SimulationRequest::Undo { simulation }
                | SimulationRequest::Reset { simulation } => *simulation,
            };
            let session = simulations.find(number).ok_or("this simulation is over")?;
            let mut simulator = lock(&session.simulator);
            match &request {
                SimulationRequest::Begin { .. } => {}
                SimulationRequest::Step { transition, .. } => {
                    if simulator.length() >= MAX_STEPS {
                        return Err(format!("a simulation has at most {MAX_STEPS} steps"));
                    }
                    let system = Arc::clone(simulator.system());
                    let here = simulator.node();
                    let is = |t: &gander_system::Transition| {
                        t.name == *transition && Some(t.source) == here
                    };
                    let at = system.transitions().iter().position(is);
                    let at = at.ok_or(format!("no transition `{transition}` leaves this node"))?;
                    let taken = simulator.take(TransitionId(at as u32), &[]);
                    taken.map_err(|e| e.to_string())?;
                }
                SimulationRequest::Random { .. } => {
                    if simulator.length() >= MAX_STEPS || !simulator.take_random() {
                        return Err("no step was found".to_string());
                    }
                }
                SimulationRequest::Undo { .. } => {
                    if !simulator.undo() {
                        return Err("this is the first state".to_string());
                    }
                }
                SimulationRequest::Reset { .. } => simulator.reset(),
            }
            Ok(view(number, &session.document, &mut simulator))
        };
        Ok(Task::spawn(move |_| work()))
    }
}

fn step_text(system: &System, step: &Step) -> String {
    action_text(system, step.transition, &step.params)
}

fn view(number: u64, document: &Document, simulator: &mut Simulator) -> SimulationView {
    let system = Arc::clone(simulator.system());
    let mut rows = Vec::new();
    if let Some(run) = simulator.run() {
        let start = &system.starts()[run.start.index()];
        let row = |action: String, span, state: &gander_system::State| SimulationRow {
            action,
            span,
            node: system.node(state.node).name.clone(),
            values: state_values(&system, &state.values),
        };
        rows.push(row(start.name.clone(), start.span, &run.first));
        for (step, state) in simulator.steps_with_states() {
            let span = system.transition(step.transition).span;
            rows.push(row(step_text(&system, step), span, state));
        }
    }
    let choices = simulator.choices().into_iter().map(|choice| {
        let transition = system.transition(choice.transition);
        SimulationChoice {
            transition: transition.name.clone(),
            span: transition.span,
            step: choice.step.map(|s| step_text(&system, &s)).map_err(|e| e.to_string()),
        }
    });
    SimulationView {
        simulation: number,
        uri: document.uri.clone(),
        version: document.version,
        rows,
        choices: choices.collect(),
        failing: simulator.failing_now(),
    }
}

/// The object for a simulation.
pub fn simulation_json(view: &SimulationView, document: &Document) -> Value {
    let span = |span| crate::json::span_json(span, document);
    let row = |row: &SimulationRow| {
        let values: serde_json::Map<String, Value> =
            row.values.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "action": row.action, "range": span(row.span), "node": row.node, "values": values,
        })
    };
    let choice = |c: &SimulationChoice| {
        let (step, why) = match &c.step {
            Ok(step) => (Some(step), None),
            Err(why) => (None, Some(why)),
        };
        json!({ "transition": c.transition, "range": span(c.span), "step": step, "why": why })
    };
    json!({
        "simulation": view.simulation,
        "uri": view.uri.as_str(),
        "version": view.version,
        "rows": view.rows.iter().map(row).collect::<Vec<_>>(),
        "choices": view.choices.iter().map(choice).collect::<Vec<_>>(),
        "failing": view.failing,
    })
}
