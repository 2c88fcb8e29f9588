//! Runs of Lustre programs by evaluation, and what of them matters.

use gander_report::describe::{focus, streams_view};
use gander_report::{StreamsView, stream_table};
use gander_system::{
    Dataflow, Instant, Leg, NodeId, Run, StartId, State, Step, System, TransitionId,
};
use gander_term::Value;

const MODEL: &str = "\
node hold(set: bool; value: int) returns (kept: int);
let
  kept = if set then value else 0 -> pre kept;
tel
node top(set, ask: bool; x, y: int) returns (answer: int);
var kept, unused, doubled: int; low, calm, fine: bool;
let
  kept = hold(set, x + y);
  unused = kept * y;
  doubled = 2 * kept;
  answer = if ask then doubled else y;
  low = answer < 10;
  calm = unused < 3;
  fine = low or calm and ask;
  --%PROPERTY low;
  --%PROPERTY fine;
tel
";

fn system() -> System {
    let loaded = gander_lang::lustre::load(MODEL, "top.lus");
    loaded.system.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// A run with these inputs: set, ask, x, y.
fn run(system: &System, flow: &Dataflow, inputs: &[(bool, bool, i64, i64)]) -> Run {
    let mut states: Vec<Vec<Value>> = Vec::new();
    for &(set, ask, x, y) in inputs {
        let values = flow.values(states.last().map(Vec::as_slice), |v| {
            Some(match system.var(v).name.as_str() {
                "set" => Value::Bool(set),
                "ask" => Value::Bool(ask),
                "x" => Value::Int(x.into()),
                "y" => Value::Int(y.into()),
                other => panic!("{other} is no input"),
            })
        });
        states.push(values.unwrap());
    }
    let step = |next: &Vec<Value>| Step {
        transition: TransitionId(0),
        params: Vec::new(),
        next: Some(next.clone()),
    };
    let legs = states[1..].iter().map(|s| Leg::Step(step(s))).collect();
    Run { start: StartId(0), first: State { node: NodeId(0), values: states[0].clone() }, legs }
}

fn view(inputs: &[(bool, bool, i64, i64)], claim: &str) -> StreamsView {
    let system = system();
    let flow = Dataflow::of(&system).unwrap();
    let run = run(&system, &flow, inputs);
    streams_view(&system, &flow, &run, focus(&system.find_claim(claim).unwrap().kind)).unwrap()
}

fn shown(view: &StreamsView) -> Vec<&str> {
    view.rows().filter(|r| r.shown).map(|r| r.full_name.as_str()).collect()
}

#[test]
fn equations_give_every_value() {
    let view = view(&[(false, false, 1, 2), (true, true, 3, 4), (false, true, 5, 6)], "low");
    let values = |name: &str| view.rows().find(|r| r.full_name == name).unwrap().values.join(" ");
    assert_eq!(values("kept"), "0 7 7");
    assert_eq!(values("answer"), "2 14 14");
    assert_eq!(values("low"), "true false false");
    assert_eq!(values("top.hold#1.value"), "3 7 11");
}

#[test]
fn only_what_decides_the_property_matters() {
    // The value was set at step 1 and asked for at step 2, so the memory matters.
    let asked = view(&[(false, false, 1, 2), (true, true, 3, 4), (false, true, 5, 6)], "low");
    let always = ["set", "ask", "x", "y", "answer"];
    let expected =
        [&always[..], &["kept", "doubled", "low", "top.hold#1.value", "top.hold#1.kept"]].concat();
    assert_eq!(shown(&asked), expected, "{}", stream_table(&asked, Default::default()));
    // Here `y` is the answer, whatever is kept.
    let direct = view(&[(true, true, 1, 2), (false, false, 3, 40)], "low");
    assert_eq!(shown(&direct), [&always[..], &["low"]].concat());
    // `ask` is false, which is enough for the second part of the property to be false.
    let both = view(&[(false, false, 3, 40)], "fine");
    assert_eq!(shown(&both), [&always[..], &["low", "fine"]].concat());
}

#[test]
fn inputs_of_calls_that_repeat_are_known() {
    let system = system();
    let flow = Dataflow::of(&system).unwrap();
    let var = |name: &str| system.var_ids().find(|v| system.var(*v).name == name).unwrap();
    assert_eq!(flow.repeats(var("top.hold#1.set")), Some(var("set")));
    assert_eq!(flow.repeats(var("top.hold#1.value")), None);
    assert_eq!(flow.uses(Instant::Later, var("top.hold#1.kept")).before, [var("top.hold#1.kept")]);
    assert!(flow.is_free(Instant::First, var("x")) && !flow.is_free(Instant::Later, var("kept")));
}

#[test]
fn other_systems_have_no_streams() {
    let loaded =
        gander_lang::sts::load("spec A var x: int start { x == 0 } step s { x := x + 1 }", "a.sts");
    assert!(Dataflow::of(&loaded.system.unwrap()).is_none());
}
