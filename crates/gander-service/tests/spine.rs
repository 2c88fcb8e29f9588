//! The life of documents and checks.

use std::time::Duration;

use gander::{Findings, check_source};
use gander_report::{Severity, file_json};
use gander_service::{
    CheckEnding, CheckRequest, CheckWork, Covered, Event, Freshness, Refusal, Selection, Service,
    ServiceConfig, Subscription, Uri, VerdictWord, event_json, state_json,
};

const WAIT: Duration = Duration::from_secs(60);

const COUNTER: &str = "\
spec Counter
var x: int
start { x == 0 }
step up when x < 3 { x := x + 1 }
step back when x == 3 { x := 0 }
always small: x <= 3
always wrong: x <= 2
";

/// A model whose claim takes longer than any test.
const HARD: &str = "\
spec Hard
var x: int
var y: int
var z: int
start { x > 2, y > 2, z > 2 }
step s { x := x * y + z, y := y * z + x, z := z * x + y }
always p: x * x * x + y * y * y != z * z * z
";

fn service() -> Service {
    Service::start(ServiceConfig::default())
}

fn until(events: &Subscription, mut is_last: impl FnMut(&Event) -> bool) -> Vec<Event> {
    let mut seen = Vec::new();
    while let Some(event) = events.next(WAIT) {
        seen.push((*event).clone());
        if is_last(&event) {
            return seen;
        }
    }
    panic!("the event did not come: {seen:?}");
}

#[test]
fn a_document_is_parsed_checked_and_reported_as_the_command_does() {
    let service = service();
    let events = service.subscribe();
    let uri = Uri::new("test:/counter.sts");
    service.open(uri.clone(), "counter.sts", 1, COUNTER.to_string()).unwrap();
    let check = service.check(&uri, CheckRequest::default()).unwrap();
    let seen = until(&events, |e| matches!(e, Event::CheckEnded { .. }));
    let Some(Event::CheckEnded { check: ended, ending, .. }) = seen.last() else { panic!() };
    assert_eq!(*ended, check);
    assert!(matches!(ending, CheckEnding::Finished { exit_code: 1, .. }), "{ending:?}");
    let words: Vec<_> = seen
        .iter()
        .filter_map(|e| match e {
            Event::Verdict { record, .. } => Some((record.view.name.clone(), record.word())),
            _ => None,
        })
        .collect();
    assert!(words.contains(&("small".to_string(), VerdictWord::Holds)), "{words:?}");
    assert!(words.contains(&("wrong".to_string(), VerdictWord::Fails)), "{words:?}");
    let diagnostics = service.diagnostics(&uri).unwrap();
    let wrong = diagnostics.iter().find(|d| d.claim.is_some()).unwrap();
    assert_eq!((wrong.severity, wrong.claim.as_deref()), (Severity::Error, Some("wrong")));
    assert!(COUNTER[wrong.span.unwrap().range()].starts_with("always wrong"), "{wrong:?}");
    assert_eq!(wrong.related.len(), 4, "{wrong:?}");
    assert!(COUNTER[wrong.related[1].span.range()].starts_with("up when"), "{wrong:?}");

    // The report is that of the command, but for times and for which engine was first.
    let without_times = |mut value: serde_json::Value| {
        for result in value["results"].as_array_mut().unwrap() {
            result["seconds"] = 0.into();
            result["engine"] = "".into();
        }
        value
    };
    let options = service.config().check.clone();
    let of_command = file_json(&check_source(COUNTER, "counter.sts", &options));
    let of_service = file_json(&service.report(&uri).unwrap());
    assert_eq!(without_times(of_service), without_times(of_command));
    for event in &seen {
        assert!(event_json(event)["event"].is_string());
    }
    let state = state_json(&service, &uri).unwrap();
    assert_eq!(state["claims"][0]["known"]["result"]["verdict"], "holds");
}

#[test]
fn an_edit_outdates_results_and_stops_checks() {
    let service = service();
    let events = service.subscribe();
    let uri = Uri::new("test:/a.sts");
    service.open(uri.clone(), "a.sts", 1, COUNTER.to_string()).unwrap();
    let check = service.check(&uri, CheckRequest::default()).unwrap();
    assert!(service.wait_until_ended(check, WAIT));
    assert!(service.verdicts(&uri).iter().all(|(_, f)| *f == Freshness::Current));
    service.change(&uri, 2, HARD.replace("p:", "small:")).unwrap();
    assert!(service.verdicts(&uri).iter().all(|(_, f)| *f == Freshness::Outdated));
    assert!(service.report(&uri).is_none());
    service.check(&uri, CheckRequest::default()).unwrap();
    until(&events, |e| matches!(e, Event::CheckStarted { document, .. } if document.version == 2));
    service.change(&uri, 3, COUNTER.replace("<= 2", "<= 5")).unwrap();
    let seen = until(
        &events,
        |e| matches!(e, Event::CheckEnded { document, .. } if document.version == 2),
    );
    let Some(Event::CheckEnded { ending, .. }) = seen.last() else { panic!() };
    assert_eq!(*ending, CheckEnding::Superseded);
    let names = vec!["wrong".to_string()];
    let request = CheckRequest { selection: Selection::Claims(names), ..Default::default() };
    let check = service.check(&uri, request).unwrap();
    assert!(service.wait_until_ended(check, WAIT));
    let (record, freshness) = service.verdict(&uri, "wrong").unwrap();
    assert_eq!((record.word(), freshness), (VerdictWord::Holds, Freshness::Current));
    assert!(service.diagnostics(&uri).unwrap().is_empty());
}

#[test]
fn errors_are_diagnostics_and_checks_of_such_a_text_are_rejected() {
    let service = service();
    let uri = Uri::new("test:/b.lus");
    let events = service.subscribe();
    let text = "node main(x: int) returns (y: int);\nlet\n  y = xx;\ntel\n";
    service.open(uri.clone(), "b.lus", 1, text.to_string()).unwrap();
    service.check(&uri, CheckRequest::default()).unwrap();
    let seen = until(&events, |e| matches!(e, Event::CheckEnded { .. }));
    let Some(Event::CheckEnded { ending, .. }) = seen.last() else { panic!() };
    assert_eq!(*ending, CheckEnding::Rejected);
    let diagnostics = service.diagnostics(&uri).unwrap();
    let fix = &diagnostics[0].fixes[0];
    assert_eq!(fix.edits[0].1, "x");
    assert_eq!(&text[fix.edits[0].0.range()], "xx");
}

#[test]
fn checks_can_be_cancelled_and_delayed() {
    let service = service();
    let events = service.subscribe();
    let uri = Uri::new("test:/hard.sts");
    service.open(uri.clone(), "hard.sts", 1, HARD.to_string()).unwrap();
    let hour = Duration::from_secs(3600);
    let later = CheckRequest { delay: hour, ..Default::default() };
    let delayed = service.check(&uri, later.clone()).unwrap();
    assert_eq!(service.check(&uri, later).unwrap(), delayed);
    service.cancel(delayed);
    until(&events, |e| {
        matches!(e, Event::CheckEnded { check, ending: CheckEnding::Cancelled, .. }
            if *check == delayed)
    });
    let check = service.check(&uri, CheckRequest::default()).unwrap();
    until(&events, |e| matches!(e, Event::CheckStarted { .. }));
    service.cancel(check);
    until(&events, |e| matches!(e, Event::CheckEnded { ending: CheckEnding::Cancelled, .. }));
    assert!(service.verdict(&uri, "p").is_none());
    assert!(service.wait_until_idle(WAIT));
}

#[test]
fn properties_are_explained_with_their_cores() {
    let service = service();
    let uri = Uri::new("test:/c.sts");
    service.open(uri.clone(), "c.sts", 1, COUNTER.to_string()).unwrap();
    let selection = Selection::Claims(vec!["small".to_string()]);
    let work = CheckWork::Explain;
    let request = CheckRequest { selection, work, ..Default::default() };
    let check = service.check(&uri, request).unwrap();
    assert!(service.wait_until_ended(check, WAIT));
    let (explanation, freshness) = service.explanation(&uri, "small").unwrap();
    assert_eq!(freshness, Freshness::Current);
    assert!(!explanation.views[0].results[0].cores.is_empty());
}

#[test]
fn coverage_tells_what_a_minimal_core_has_from_what_none_was_found_to_have() {
    let service = service();
    let uri = Uri::new("test:/covered.sts");
    // Two proofs of `small`: by `x`, or by `y`. Nothing rests on `z`.
    let text = "spec S\nvar x: int\nvar y: int\nvar z: int\nstart { x == 0, y == 0, z == 0 }\n\
                step s { x := 0, y := 0, z := 7 }\nalways small: x == 0 or y == 0\n";
    service.open(uri.clone(), "covered.sts", 1, text.to_string()).unwrap();
    let covered = |claim: &str| {
        let selection = Selection::Claims(vec![claim.to_string()]);
        let work = CheckWork::Explain;
        let check = service.check(&uri, CheckRequest { selection, work, ..Default::default() });
        assert!(service.wait_until_ended(check.unwrap(), WAIT));
        let covered = service.coverage(&uri);
        ["x == 0", "y == 0", "z == 0"].map(|what| {
            let at = text.find(what).unwrap() as u32;
            let is_it = |(span, _): &&(gander_lang::Span, Covered)| span.start == at;
            covered.iter().find(is_it).unwrap_or_else(|| panic!("{what}: {covered:?}")).1
        })
    };
    let of_small = covered("small");
    assert!(of_small[..2].contains(&Covered::Yes), "{of_small:?}");
    assert!(of_small[..2].contains(&Covered::NotFound), "{of_small:?}");
    assert_eq!(of_small[2], Covered::NotFound);
    let text = service.claim_text(&uri, "small");
    assert!(text.contains("none of them can be left out"), "{text}");
}

#[test]
fn what_no_minimal_core_can_have_is_uncovered() {
    let service = service();
    let uri = Uri::new("test:/uncovered.sts");
    let text = "spec S\nvar x: int\nvar y: int\nstart { x == 0, y == 5 }\n\
                step up when x < 3 { x := x + 1, y := y }\nalways small: x <= 3\n";
    service.open(uri.clone(), "uncovered.sts", 1, text.to_string()).unwrap();
    let request = CheckRequest { work: CheckWork::Explain, ..Default::default() };
    let check = service.check(&uri, request).unwrap();
    assert!(service.wait_until_ended(check, WAIT));
    let covered = service.coverage(&uri);
    let at = text.find("y == 5").unwrap() as u32;
    assert!(covered.iter().any(|(s, c)| s.start == at && *c == Covered::No), "{covered:?}");
    assert!(covered.iter().any(|(_, c)| *c == Covered::Yes), "{covered:?}");
}

#[test]
fn a_property_of_several_instances_is_shown_for_each() {
    let service = service();
    let uri = Uri::new("test:/instances.lus");
    let text = "node lib(x: int) returns (y: int);\nlet\n  y = x;\n  --%PROPERTY y > 0;\ntel\n\
                node main(a: int) returns (ok: bool);\nvar p, q: int;\nlet\n  p = lib(3);\n  \
                q = lib(-3);\n  ok = p > q;\n  --%PROPERTY ok;\ntel\n";
    service.open(uri.clone(), "instances.lus", 1, text.to_string()).unwrap();
    let check = service.check(&uri, CheckRequest::default()).unwrap();
    assert!(service.wait_until_ended(check, WAIT));
    let at = text.find("PROPERTY y").unwrap() as u32;
    let hover = service.hover(&uri, at).unwrap().text;
    for part in [
        "2 claims, one for each instance",
        "- `main.lib#2.y > 0`: **fails**",
        "- `main.lib#1.y > 0`: **holds**",
    ] {
        assert!(hover.contains(part), "{hover}");
    }
    let titles: Vec<String> = service.lenses(&uri).into_iter().map(|l| l.title).collect();
    for part in ["main.lib#1.y > 0 holds", "main.lib#2.y > 0 fails", "main.lib#2.y > 0 simulate"] {
        assert!(titles.iter().any(|t| t.starts_with(part)), "{titles:?}");
    }
    assert!(titles.iter().any(|t| t.starts_with("holds (")), "{titles:?}");
}

#[test]
fn a_verdict_from_the_cache_is_not_ascribed_to_an_engine() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = ServiceConfig::default();
    config.check.cache = Some(folder.path().to_path_buf());
    let service = Service::start(config);
    let uri = Uri::new("test:/cached.sts");
    service.open(uri.clone(), "cached.sts", 1, COUNTER.to_string()).unwrap();
    for _ in 0..2 {
        let check = service.check(&uri, CheckRequest::default()).unwrap();
        assert!(service.wait_until_ended(check, WAIT));
    }
    let text = service.claim_text(&uri, "small");
    assert!(text.contains("from the cache, checked again"), "{text}");
    assert!(!text.contains("`cache`"), "{text}");
    let titles: Vec<String> = service.lenses(&uri).into_iter().map(|l| l.title).collect();
    assert!(titles.contains(&"holds (from the cache): explain".to_string()), "{titles:?}");
}

#[test]
fn an_easy_document_does_not_wait_for_the_hard_check_of_another() {
    let service = service();
    let events = service.subscribe();
    let (hard, easy) = (Uri::new("test:/hard.sts"), Uri::new("test:/easy.sts"));
    service.open(hard.clone(), "hard.sts", 1, HARD.to_string()).unwrap();
    service.open(easy.clone(), "easy.sts", 1, COUNTER.to_string()).unwrap();
    let long = service.check(&hard, CheckRequest::default()).unwrap();
    until(&events, |e| matches!(e, Event::CheckStarted { .. }));
    // A second check of the same document waits for the first one.
    let names = vec!["p".to_string()];
    let selection = Selection::Claims(names);
    let second = service.check(&hard, CheckRequest { selection, ..Default::default() }).unwrap();
    service.check(&easy, CheckRequest::default()).unwrap();
    let seen =
        until(&events, |e| matches!(e, Event::CheckEnded { document, .. } if document.uri == easy));
    let started = |c| {
        let is_it = |e: &&Event| matches!(e, Event::CheckStarted { check, .. } if *check == c);
        seen.iter().any(|e| is_it(&e))
    };
    assert!(!started(second), "{seen:?}");
    let state = service.checks();
    assert!(state.contains(&(long, hard.clone(), true)), "{state:?}");
    service.cancel(long);
    until(&events, |e| matches!(e, Event::CheckStarted { check, .. } if *check == second));
    service.cancel_all(&hard);
    assert!(service.wait_until_idle(WAIT));
}

#[test]
fn what_exceeds_a_limit_is_refused() {
    let mut config = ServiceConfig::default();
    config.limits.document_bytes = 1000;
    config.limits.all_bytes = 1500;
    config.limits.documents = 2;
    config.check.findings = Findings::LeftOut;
    let service = Service::start(config);
    let uri = |n: u32| Uri::new(&format!("test:/{n}.sts"));
    let text = |bytes: usize| " ".repeat(bytes);
    let open = |n, bytes| service.open(uri(n), "x.sts", 1, text(bytes)).map(|_| ());
    assert_eq!(open(0, 1001), Err(Refusal::TooLarge { limit: 1000 }));
    assert_eq!(open(0, 1000), Ok(()));
    assert_eq!(open(1, 501), Err(Refusal::TooLarge { limit: 1500 }));
    assert_eq!(open(1, 500), Ok(()));
    assert_eq!(open(2, 0), Err(Refusal::TooMany { what: "open documents", limit: 2 }));
    assert_eq!(
        service.change(&uri(1), 1, text(1)).unwrap_err(),
        Refusal::OldVersion { current: 1 }
    );
    assert_eq!(service.close(&uri(2)), Err(Refusal::NotOpen));
    assert_eq!(service.close(&uri(0)), Ok(()));
    assert_eq!(open(2, 1000), Ok(()));
    assert_eq!(service.check(&uri(0), CheckRequest::default()), Err(Refusal::NotOpen));
}

/// The models of the corpus that are rejected, or warned about.
fn wrong_texts() -> Vec<(String, String)> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut folders: Vec<_> =
        std::fs::read_dir(corpus).unwrap().map(|e| e.unwrap().path().join("error")).collect();
    let mut texts = vec![(
        "inline.lus".to_string(),
        "node f(x: int) retruns (y: int);\nlet y = x; tel\n".to_string(),
    )];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match std::fs::read_to_string(&path) {
                Ok(text) => texts.push((path.to_str().unwrap().to_string(), text)),
                Err(_) => folders.push(path),
            }
        }
    }
    texts
}

#[test]
fn each_name_that_may_be_meant_comes_with_its_edit() {
    let service = service();
    let (mut suggestions, uri) = (0, Uri::new("test:/wrong"));
    for (name, text) in wrong_texts() {
        service.open(uri.clone(), &name, 1, text).unwrap();
        service.wait_until_parsed(&uri, WAIT).unwrap();
        for d in service.diagnostics(&uri).unwrap().iter() {
            let Some(help) = d.help.iter().find(|help| help.starts_with("did you mean `")) else {
                continue;
            };
            // What is wrong in an included file has no place in this text.
            let Some(span) = d.span else { continue };
            suggestions += 1;
            assert_eq!(d.fixes.len(), 1, "{name}: {span:?}: {help}");
        }
    }
    assert!(suggestions > 5, "{suggestions}");
}

#[test]
fn after_an_edit_only_the_claims_that_it_touches_are_decided_again() {
    const MODEL: &str = "\
spec Two
var a: int
var b: int
start { a == 0, b == 0 }
step left when a < 10 { a := a + 1, b := b }
step right when b < 20 { a := a, b := b + 2 }
step stay { a := a, b := b }
always a_small: a <= 10
always b_small: b <= 21
";
    // No folder of results: what is used again was kept in memory.
    let service = service();
    let uri = Uri::new("test:/two.sts");
    let engine_of = |version: i64, text: String| {
        match version {
            1 => service.open(uri.clone(), "two.sts", version, text).unwrap(),
            _ => service.change(&uri, version, text).unwrap(),
        };
        let check = service.check(&uri, CheckRequest::default()).unwrap();
        assert!(service.wait_until_ended(check, WAIT));
        let result = |claim: &str| {
            let (record, freshness) = service.verdict(&uri, claim).unwrap();
            assert_eq!(freshness, Freshness::Current);
            (record.word(), record.view.engine.clone().unwrap())
        };
        (result("a_small"), result("b_small"))
    };
    let (a, b) = engine_of(1, MODEL.to_string());
    assert!(a.0 == VerdictWord::Holds && a.1 != "cache", "{a:?}");
    assert!(b.0 == VerdictWord::Holds && b.1 != "cache", "{b:?}");
    // The proof about `a` does not need the step `right`; that about `b` is wrong now.
    let (a, b) = engine_of(2, MODEL.replace("b + 2", "b + 8"));
    assert_eq!(a, (VerdictWord::Holds, "cache".to_string()));
    assert!(b.0 == VerdictWord::Fails && b.1 != "cache", "{b:?}");
    // Evidence is checked, whatever the model was: a transition that comes or goes, other sorts.
    let (a, b) = engine_of(3, MODEL.replace("var b: int", "var b: real"));
    assert_eq!((a.0, b.0), (VerdictWord::Holds, VerdictWord::Holds));
    let (a, b) = engine_of(4, MODEL.replace("step left when a < 10", "step left when a < 12"));
    assert_eq!((a.0, b.0), (VerdictWord::Fails, VerdictWord::Holds));
    let more = format!("{MODEL}step jump {{ a := 11, b := b }}\n");
    let (a, b) = engine_of(5, more);
    assert_eq!((a.0, b.0), (VerdictWord::Fails, VerdictWord::Holds));
    let (a, b) = engine_of(6, MODEL.to_string());
    assert_eq!((a.0, b.0), (VerdictWord::Holds, VerdictWord::Holds));
}
