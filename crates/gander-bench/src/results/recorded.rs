//! Answers of tools that were recorded on another machine.
//!
//! There are two CSV forms, distinguished by their headers. `path,expected,tool,verdict,seconds`
//! has a line for each file and tool. `path,elements,proof_s,one_core_s,all_cores_s,all_finished`
//! has proofs of JKind with validity cores: three tasks, which become three tools; the last counts
//! only if it finished.

use std::path::Path;

use gander_io::read::{self, Links};
use gander_text::shown_path;
use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// One recorded answer about a file as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The path in the manifest.
    pub file: String,
    /// The label of the tool, marked as recorded.
    pub tool: String,
    /// The answer.
    pub verdict: Verdict,
    /// Wall-clock seconds.
    pub seconds: f64,
}

#[derive(Deserialize)]
struct PeerLine {
    path: String,
    tool: String,
    verdict: String,
    seconds: f64,
}

#[derive(Deserialize)]
struct CoreLine {
    path: String,
    proof_s: f64,
    one_core_s: f64,
    all_cores_s: f64,
    all_finished: String,
}

/// Reads a file of recorded answers.
pub fn load(path: &Path) -> Result<Vec<RecordedAnswer>, String> {
    let text = read::text(path, Links::Follow, u64::MAX - 1)
        .map_err(|e| format!("{}: {e}", shown_path(path)))?;
    parse(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Reads the text of a file of recorded answers.
pub fn parse(text: &str) -> Result<Vec<RecordedAnswer>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().map_err(|e| e.to_string())?.clone();
    let mut answers = Vec::new();
    if head.iter().any(|h| h == "proof_s") {
        for line in reader.deserialize::<CoreLine>() {
            let line = line.map_err(|e| e.to_string())?;
            let all = if line.all_finished.eq_ignore_ascii_case("true") {
                Verdict::Valid
            } else {
                Verdict::Unknown
            };
            for (task, verdict, seconds) in [
                ("jkind proof", Verdict::Valid, line.proof_s),
                ("jkind one core", Verdict::Valid, line.one_core_s),
                ("jkind all cores", all, line.all_cores_s),
            ] {
                answers.push(RecordedAnswer {
                    file: line.path.clone(),
                    tool: marked(task),
                    verdict,
                    seconds,
                });
            }
        }
    } else {
        for line in reader.deserialize::<PeerLine>() {
            let line = line.map_err(|e| e.to_string())?;
            let verdict = line.verdict.parse::<Verdict>()?;
            answers.push(RecordedAnswer {
                file: line.path,
                tool: marked(&line.tool),
                verdict,
                seconds: line.seconds,
            });
        }
    }
    Ok(answers)
}

fn marked(tool: &str) -> String {
    format!("{tool} (recorded)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_peer_is_an_answer() {
        let text = "path,expected,tool,verdict,seconds\na.lus,valid,kind2,unknown,20.1\na.lus,valid,jkind,valid,0.4\n";
        let all = parse(text).unwrap();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].tool.as_str(), all[0].verdict), ("kind2 (recorded)", Verdict::Unknown));
        assert_eq!((all[1].file.as_str(), all[1].seconds), ("a.lus", 0.4));
        assert!(parse("path,expected,tool,verdict,seconds\na,valid,t,maybe,1\n").is_err());
    }

    #[test]
    fn a_line_of_validity_cores_is_three_answers() {
        let text = "path,elements,proof_s,one_core_s,all_cores_s,all_finished\na.lus,21,0.46,0.49,30.5,False\n";
        let all = parse(text).unwrap();
        let all: Vec<_> = all.iter().map(|a| (a.tool.as_str(), a.verdict, a.seconds)).collect();
        assert_eq!(
            all,
            [
                ("jkind proof (recorded)", Verdict::Valid, 0.46),
                ("jkind one core (recorded)", Verdict::Valid, 0.49),
                ("jkind all cores (recorded)", Verdict::Unknown, 30.5)
            ]
        );
    }
}
