//! An analysis that is cut short shows bounds, in every output form. The work is cancelled at a
//! given event, so that the tests do not depend on the speed of the machine.

use std::sync::atomic::{AtomicUsize, Ordering};

use gander::explanation::{CoreSelection, Request};
use gander::report::{
    Completeness, ExplainView, Paint, coverage, coverage_json, coverage_text, explain_json,
    explain_text, matrix_csv, matrix_html, matrix_text,
};
use gander::{
    Cancellation, CheckOptions, Event, ExplainOptions, Explained, NullObserver, Observer,
    explain_source,
};

const SWITCH: &str = include_str!("../../../examples/lustre/altitude_switch.lus");

/// Cancels when this many claims are settled.
struct CancelWhenSettled<'c>(&'c Cancellation, AtomicUsize);

impl Observer for CancelWhenSettled<'_> {
    fn event(&self, e: &Event) {
        if matches!(e, Event::Settled(_)) && self.1.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.cancel();
        }
    }
}

fn all_cores(cores: CoreSelection) -> ExplainOptions {
    ExplainOptions {
        check: CheckOptions { jobs: Some(1), ..CheckOptions::default() },
        request: Request { cores, ..Request::default() },
        runs: None,
        ..ExplainOptions::default()
    }
}

/// All cores of the switch, cancelled after the first core.
fn stopped_after_one_core() -> Option<Explained> {
    let cancel = Cancellation::new();
    let found = &mut |_: &str, _: &[String]| cancel.cancel();
    let options = all_cores(CoreSelection::All);
    let explained = explain_source(SWITCH, "s.lus", &options, &cancel, &NullObserver, found);
    // Nothing is decided without a solver.
    (!explained.views.is_empty() && !explained.open).then_some(explained)
}

#[test]
fn a_part_of_the_cores_gives_bounds() {
    let Some(explained) = stopped_after_one_core() else { return };
    let view = &explained.views[0];
    let result = &view.results[0];
    assert_eq!((result.cores.len(), result.complete), (1, false));
    assert_eq!(result.completeness, Completeness::Unfinished);
    let c = coverage(view);
    assert_eq!(c.completeness, Completeness::Unfinished);
    // The bounds contain the exact numbers: 4, 5 and 3 of 10.
    let p = &c.properties[0];
    for (share, exact) in [(p.ivc, 4), (p.may, 5), (p.must, 3), (c.model, 5)] {
        let (least, most) = share.bounds();
        assert!(least <= exact && exact <= most, "{exact} in {share:?}");
    }
    assert!(!p.may.is_exact() && !c.model.is_exact());
    assert!(c.uncovered.is_empty(), "nothing is known to be uncovered");
    let text = coverage_text(view, Paint::Plain);
    for words in ["at least 40.0 %", "MODEL: at least 4 of 10 elements", "incomplete: "] {
        assert!(text.contains(words), "{words} in {text}");
    }
    assert!(!text.contains("not covered by any requirement"), "{text}");
    let matrix = matrix_text(view);
    assert!(matrix.contains("on_p: at least 1 core, incomplete"), "{matrix}");
    assert!(matrix.contains("   ?\n") && !matrix.contains("   .\n"), "{matrix}");
    let csv = matrix_csv(view);
    assert!(csv.contains("d2,equation,24,unknown\n"), "{csv}");
    assert!(csv.ends_with("cores found,,\"at least 1 core, incomplete\"\n"), "{csv}");
    let page = matrix_html(view);
    assert!(
        page.contains("at least 1 core, incomplete") && page.contains("incomplete: "),
        "{page}"
    );
    let text = explain_text(view, Paint::Plain);
    assert!(text.contains("incomplete: there may be other cores"), "{text}");
    let json = explain_json(&explained.views);
    assert_eq!(json["completeness"], "unfinished");
    assert_eq!(json["results"][0]["complete"], false);
    let json = coverage_json(view);
    assert_eq!(json[0]["model"]["most"], 10);
    assert_eq!(json[0]["uncovered"].as_array().map(Vec::len), Some(0));
}

#[test]
fn without_time_for_cores_nothing_is_claimed() {
    let cancel = Cancellation::new();
    let observer = CancelWhenSettled(&cancel, AtomicUsize::new(1));
    let found = &mut |_: &str, _: &[String]| {};
    for cores in [CoreSelection::All, CoreSelection::AllOffline] {
        let options = all_cores(cores);
        let explained = explain_source(SWITCH, "s.lus", &options, &cancel, &observer, found);
        for view in &explained.views {
            nothing_is_claimed(view);
        }
    }
}

fn nothing_is_claimed(view: &ExplainView) {
    assert_ne!(view.completeness(), Completeness::Exact);
    let c = coverage(view);
    assert_eq!(c.model.bounds(), (0, 10));
    assert!(c.uncovered.is_empty());
    let text = coverage_text(view, Paint::Plain);
    assert!(text.contains("MODEL: not known (of 10 elements)"), "{text}");
    assert!(!text.contains("0.0 %"), "{text}");
}

#[test]
fn an_undecided_property_makes_coverage_a_bound() {
    let model = "spec Two
var x: int
var y: int
start { x == 0  y == 0 }
step up when x < 3 { x := x + 1 }
step other { y := y + 1 }
always small: x <= 3
always odd: y * y * y != 1000000001
";
    let cancel = Cancellation::new();
    // The first claim is settled; the second has no time.
    let observer = CancelWhenSettled(&cancel, AtomicUsize::new(1));
    let found = &mut |_: &str, _: &[String]| {};
    let options = all_cores(CoreSelection::All);
    let explained = explain_source(model, "m.sts", &options, &cancel, &observer, found);
    for view in &explained.views {
        let c = coverage(view);
        assert_ne!(c.completeness, Completeness::Exact);
        assert!(c.uncovered.is_empty(), "{c:?}");
        assert!(!c.model.is_exact(), "{c:?}");
        assert_eq!(view.results.len() + view.unexplained.len(), 2, "every property is listed");
    }
}
