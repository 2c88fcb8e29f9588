//! `gander check --json` (docs/json.md).

use serde::Deserialize;

use super::{Output, Reading, first_message};
use crate::results::record::{Diagnostic, PropertyAnswer, Reason};
use crate::verdict::Verdict;

#[derive(Deserialize)]
struct FileReport {
    results: Vec<ClaimReport>,
    diagnostics: Vec<Message>,
}

#[derive(Deserialize)]
struct ClaimReport {
    claim: String,
    verdict: String,
    engine: Option<String>,
    seconds: Option<f64>,
    explored_through: Option<u64>,
    why: Option<Vec<Reason>>,
    #[serde(default)]
    claimed: Vec<Claimed>,
}

#[derive(Deserialize)]
struct Claimed {
    says: String,
}

#[derive(Deserialize)]
struct Message {
    code: String,
    severity: String,
    message: String,
    line: Option<u64>,
}

pub(super) fn read(output: &Output<'_>) -> Reading {
    let mut reading =
        Reading { internal_error: matches!(output.exit, Some(4 | 101)), ..Reading::default() };
    let Ok(report) = serde_json::from_str::<FileReport>(output.stdout) else {
        if output.exit == Some(2) {
            let unexplained = || Diagnostic {
                code: "none".into(),
                message: "exit code 2 without JSON".into(),
                line: None,
            };
            reading.rejected =
                Some(first_message(output.stderr, &["error"]).unwrap_or_else(unexplained));
        }
        return reading;
    };
    let nothing_claimed = report.diagnostics.iter().any(|d| d.code == "nothing-claimed");
    if output.exit == Some(2) && (report.results.is_empty() || nothing_claimed) {
        reading.rejected = Some(first_error(&report.diagnostics));
    }
    if nothing_claimed {
        // Structural checks are no properties of the file.
        reading.whole = Some(Verdict::Unknown);
    }
    reading.vacuous = output.exit == Some(0) && report.results.is_empty();
    if reading.vacuous {
        reading.whole = Some(Verdict::Valid);
    }
    // A system without a run proves nothing, and `a run exists` is not a property of the file.
    if report.results.iter().any(|c| c.verdict == "vacuous") {
        reading.whole = Some(Verdict::Unknown);
    }
    reading.properties = report.results.into_iter().map(ClaimReport::into_answer).collect();
    reading
}

fn first_error(messages: &[Message]) -> Diagnostic {
    match messages.iter().find(|m| m.severity == "error") {
        Some(m) => Diagnostic { code: m.code.clone(), message: m.message.clone(), line: m.line },
        None => Diagnostic {
            code: "none".into(),
            message: "exit code 2 without an error message".into(),
            line: None,
        },
    }
}

impl ClaimReport {
    fn into_answer(self) -> PropertyAnswer {
        let verdict = match self.verdict.as_str() {
            "holds" => Verdict::Valid,
            "fails" => Verdict::Invalid,
            _ => Verdict::Unknown,
        };
        PropertyAnswer {
            name: self.claim,
            verdict,
            engine: self.engine,
            seconds: self.seconds,
            explored_through: self.explored_through,
            claimed: self.claimed.first().and_then(|c| match c.says.as_str() {
                "holds" => Some(Verdict::Valid),
                "fails" => Some(Verdict::Invalid),
                _ => None,
            }),
            why: self.why.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(exit: i32, stdout: &str) -> Output<'_> {
        Output { exit: Some(exit), stdout, stderr: "", source: "" }
    }

    #[test]
    fn claims_are_properties() {
        let text = r#"{"schema":"gander/1","file":"x","results":[
            {"claim":"a","kind":"always","verdict":"holds","engine":"induction","seconds":0.1,"length":null,
             "explored_through":null,"why":null,"evidence":{}},
            {"claim":"b","kind":"always","verdict":"unknown","engine":null,"seconds":null,"length":null,
             "explored_through":7,"why":[{"engine":"bmc","reason":"out of time"}],"evidence":null}],"diagnostics":[]}"#;
        let reading = read(&output(3, text));
        assert_eq!(reading.verdict(), Verdict::Unknown);
        assert_eq!(reading.properties[0].engine.as_deref(), Some("induction"));
        assert_eq!(
            reading.properties[1].why,
            [Reason { engine: "bmc".into(), reason: "out of time".into() }]
        );
        assert_eq!(reading.properties[1].explored_through, Some(7));
        assert!(!reading.internal_error && reading.rejected.is_none() && !reading.vacuous);
    }

    #[test]
    fn wrong_input_has_its_first_error() {
        let text = r#"{"results":[],"diagnostics":[
            {"code":"W1","severity":"warning","message":"w","line":1},
            {"code":"E0207","severity":"error","message":"no `when`","line":9}]}"#;
        let reading = read(&output(2, text));
        assert_eq!(
            reading.rejected,
            Some(Diagnostic { code: "E0207".into(), message: "no `when`".into(), line: Some(9) })
        );
        assert_eq!(read(&output(2, "")).rejected.unwrap().code, "none");
    }

    #[test]
    fn a_file_without_a_run_or_a_claim_is_not_solved() {
        let text = r#"{"schema":"gander/1","file":"x","results":[
            {"claim":"p","kind":"always","verdict":"vacuous","engine":null,"seconds":0.1,"length":null,
             "explored_through":null,"why":[{"engine":"start","reason":"the system has no run"}],"evidence":null},
            {"claim":"a run exists","kind":"start-satisfiable","verdict":"fails","engine":"induction","seconds":0.1,
             "length":null,"explored_through":null,"why":null,"evidence":{}}],"diagnostics":[]}"#;
        let reading = read(&output(1, text));
        assert_eq!(reading.verdict(), Verdict::Unknown);
        assert_eq!(reading.properties[0].verdict, Verdict::Unknown);
        let text = r#"{"results":[],"diagnostics":[
            {"code":"nothing-to-decide","severity":"error","message":"there is nothing to decide","line":null}]}"#;
        let reading = read(&output(2, text));
        assert_eq!(reading.rejected.as_ref().unwrap().code, "nothing-to-decide");
        assert_eq!(reading.verdict(), Verdict::Unknown);
    }

    #[test]
    fn a_file_that_claims_nothing_is_not_solved() {
        let text = r#"{"schema":"gander/1","file":"x","results":[
            {"claim":"can enable s","kind":"can-enable","verdict":"holds","engine":"bmc","seconds":0.1,
             "length":0,"explored_through":null,"why":null,"evidence":{}}],"diagnostics":[
            {"code":"nothing-claimed","severity":"error","message":"the file claims nothing","line":null}]}"#;
        let reading = read(&output(2, text));
        assert_eq!(reading.rejected.as_ref().unwrap().code, "nothing-claimed");
        assert_eq!(reading.verdict(), Verdict::Unknown);
    }

    #[test]
    fn success_without_claims_is_marked() {
        let reading = read(&output(0, r#"{"results":[],"diagnostics":[]}"#));
        assert!(reading.vacuous);
        assert_eq!(reading.verdict(), Verdict::Valid);
        assert_eq!(
            read(&output(3, r#"{"results":[],"diagnostics":[]}"#)).verdict(),
            Verdict::Unknown
        );
    }

    #[test]
    fn panics_and_internal_errors_are_crashes() {
        assert!(read(&output(4, r#"{"results":[],"diagnostics":[]}"#)).internal_error);
        assert!(read(&output(101, "")).internal_error);
        assert_eq!(read(&output(0, "{\"results\":[{\"claim\"")).verdict(), Verdict::Unknown);
    }
}
