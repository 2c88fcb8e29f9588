//! Included files that change on the disk or in another document.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gander_service::{
    CheckEnding, CheckRequest, Event, Freshness, IncludedTexts, Service, ServiceConfig,
    SimulationRequest, Subscription, Uri, VerdictWord,
};

const WAIT: Duration = Duration::from_secs(60);

const MAIN: &str = "\
include \"lib.lus\"
node main(x: int) returns (ok: bool);
var z: int;
let
  z = inc(x);
  ok = z > x;
  --%PROPERTY ok;
tel
";

/// More, or less, than its input.
const MORE: &str = "node inc(x: int) returns (y: int);\nlet y = x + 1; tel\n";
const LESS: &str = "node inc(x: int) returns (y: int);\nlet y = x - 1; tel\n";

struct Files {
    folder: tempfile::TempDir,
    service: Service,
    events: Subscription,
    main: Uri,
}

impl Files {
    fn new(included: IncludedTexts) -> Files {
        let folder = tempfile::tempdir().unwrap();
        let service = Service::start(ServiceConfig { included, ..ServiceConfig::default() });
        let events = service.subscribe();
        fs::write(folder.path().join("lib.lus"), MORE).unwrap();
        let files = Files { folder, service, events, main: Uri::new("test:/main.lus") };
        files.open(&files.main, "main.lus", MAIN);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn open(&self, uri: &Uri, name: &str, text: &str) {
        let path = self.path(name);
        self.service.open(uri.clone(), path.to_str().unwrap(), 1, text.to_string()).unwrap();
        self.service.wait_until_parsed(uri, WAIT).unwrap();
    }

    /// What a check of all claims says of `ok`; none if the text has errors.
    fn checked(&self) -> Option<VerdictWord> {
        let check = self.service.check(&self.main, CheckRequest::default()).unwrap();
        self.ended(
            |event| matches!(event, Event::CheckEnded { check: ended, .. } if *ended == check),
        );
        self.current()
    }

    fn current(&self) -> Option<VerdictWord> {
        let (record, freshness) = self.service.verdict(&self.main, "ok")?;
        (freshness == Freshness::Current).then(|| record.word())
    }

    /// How a check ended.
    fn ended(&self, is_it: impl Fn(&Event) -> bool) -> CheckEnding {
        while let Some(event) = self.events.next(WAIT) {
            if let Event::CheckEnded { ending, .. } = &*event
                && is_it(&event)
            {
                return ending.clone();
            }
        }
        panic!("no check ended");
    }

    fn messages(&self) -> Vec<String> {
        self.service.wait_until_parsed(&self.main, WAIT).unwrap();
        let diagnostics = self.service.diagnostics(&self.main).unwrap();
        diagnostics.iter().map(|d| d.message.clone()).collect()
    }
}

#[test]
fn a_check_reads_included_files_that_changed_on_the_disk() {
    let files = Files::new(IncludedTexts::Files);
    assert_eq!(files.checked(), Some(VerdictWord::Holds));
    files.write("lib.lus", LESS);
    assert_eq!(files.checked(), Some(VerdictWord::Fails));
    // Nothing changed: the result stays, and no second parse makes it an earlier one.
    let before = files.service.document(&files.main).unwrap().revision;
    assert_eq!(files.checked(), Some(VerdictWord::Fails));
    assert_eq!(files.service.document(&files.main).unwrap().revision, before);
    // Files are what counts, also if a document of the file is open.
    files.open(&Uri::new("test:/lib.lus"), "lib.lus", MORE);
    assert_eq!(files.checked(), Some(VerdictWord::Fails));
    // The version is the same, the text before is not.
    files.write("lib.lus", MORE);
    files.service.compare_includes(&files.main);
    files.service.wait_until_parsed(&files.main, WAIT).unwrap();
    assert_eq!(files.current(), None);
    let text = files.service.claim_text(&files.main, "ok");
    assert!(text.contains("before a file that it includes was changed"), "{text}");
}

#[test]
fn a_simulation_begins_with_included_files_as_they_are() {
    let files = Files::new(IncludedTexts::Files);
    assert_eq!(files.checked(), Some(VerdictWord::Holds));
    files.write("lib.lus", LESS);
    let begin = SimulationRequest::Begin { claim: None, system: 0, seed: 1 };
    let task = files.service.simulate(&files.main, begin).unwrap();
    let view = task.wait(WAIT).unwrap().unwrap().unwrap();
    assert_eq!(view.failing, ["ok"], "{view:?}");
}

#[test]
fn a_broken_or_missing_include_is_reported_until_it_is_repaired() {
    let files = Files::new(IncludedTexts::Files);
    assert_eq!(files.checked(), Some(VerdictWord::Holds));
    files.write("lib.lus", "node inc(x: int) returns (y: int);\nlet y = q - 1; tel\n");
    assert_eq!(files.checked(), None);
    let messages = files.messages();
    assert!(messages.iter().any(|m| m.contains("lib.lus:2:9: unknown name `q`")), "{messages:?}");
    fs::remove_file(files.path("lib.lus")).unwrap();
    assert_eq!(files.checked(), None);
    let messages = files.messages();
    assert!(messages.iter().any(|m| m.contains("cannot be included")), "{messages:?}");
    files.write("lib.lus", LESS);
    assert_eq!(files.checked(), Some(VerdictWord::Fails));
    files.write("lib.lus", MORE);
    assert_eq!(files.checked(), Some(VerdictWord::Holds));
    assert_eq!(files.messages(), [""; 0]);
}

#[test]
fn open_documents_count_before_they_are_saved() {
    let files = Files::new(IncludedTexts::OpenDocuments);
    assert_eq!(files.checked(), Some(VerdictWord::Holds));
    let lib = Uri::new("test:/lib.lus");
    files.open(&lib, "lib.lus", MORE);
    files.service.wait_until_parsed(&files.main, WAIT).unwrap();
    assert_eq!(files.current(), Some(VerdictWord::Holds));
    // An edit makes results outdated at once, without a check.
    files.service.change(&lib, 2, LESS.to_string()).unwrap();
    files.service.wait_until_parsed(&files.main, WAIT).unwrap();
    assert_eq!(files.current(), None);
    assert_eq!(files.checked(), Some(VerdictWord::Fails));
    // A document that is closed without being saved is forgotten.
    files.service.close(&lib).unwrap();
    assert_eq!(files.checked(), Some(VerdictWord::Holds));
}

#[test]
fn a_change_of_a_file_checks_the_documents_that_include_it_and_no_others() {
    let files = Files::new(IncludedTexts::Files);
    let alone = Uri::new("test:/alone.lus");
    files.open(&alone, "alone.lus", MORE);
    let request = CheckRequest::default();
    files.service.compare_all_includes(Some(&request));
    assert!(files.service.wait_until_idle(WAIT));
    assert_eq!(files.current(), None);
    files.write("lib.lus", LESS);
    files.service.compare_all_includes(Some(&request));
    let is_of = |event: &Event, uri: &Uri| match event {
        Event::CheckEnded { document, .. } => document.uri == *uri,
        _ => false,
    };
    files.ended(|event| {
        assert!(!is_of(event, &alone));
        is_of(event, &files.main)
    });
    assert_eq!(files.current(), Some(VerdictWord::Fails));
    // Without a request nothing is checked, until one comes.
    files.write("lib.lus", MORE);
    files.service.compare_all_includes(None);
    assert!(files.service.wait_until_idle(WAIT));
    assert_eq!(files.current(), None);
    files.service.compare_all_includes(Some(&request));
    files.ended(|event| is_of(event, &files.main));
    assert_eq!(files.current(), Some(VerdictWord::Holds));
}

#[test]
fn a_check_that_runs_is_stopped_when_a_file_changes() {
    let files = Files::new(IncludedTexts::Files);
    let hard = "node inc(x: int) returns (y: int);\nvar a, b: int;\nlet\n\
                  a = 3 -> pre(a * b + 1);\n  b = 4 -> pre(b * a + a);\n\
                  y = if a * a * a + b * b * b = 1000000007 then 0 else x + 1;\ntel\n";
    files.write("lib.lus", hard);
    let check = files.service.check(&files.main, CheckRequest::default()).unwrap();
    while let Some(event) = files.events.next(WAIT) {
        if matches!(&*event, Event::CheckStarted { .. }) {
            break;
        }
    }
    files.write("lib.lus", LESS);
    files.service.compare_includes(&files.main);
    let ending = files.ended(|e| matches!(e, Event::CheckEnded { check: c, .. } if *c == check));
    assert_eq!(ending, CheckEnding::Superseded);
    assert_eq!(files.checked(), Some(VerdictWord::Fails));
}
