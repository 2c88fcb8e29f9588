//! Tables, CSV and plots of invented scoreboards.

use super::*;
use crate::results::record::PropertyAnswer;
use crate::verdict::Verdict;

fn answer(name: &str, verdict: Verdict, claimed: Option<Verdict>) -> PropertyAnswer {
    PropertyAnswer {
        name: name.into(),
        verdict,
        engine: Some("bmc".into()).filter(|_| verdict.is_decided()),
        seconds: Some(0.5),
        explored_through: None,
        claimed,
        why: Vec::new(),
    }
}

fn cell(seconds: f64, ending: Ending, answers: Vec<PropertyAnswer>) -> Option<Cell> {
    let seconds = (seconds, seconds / 2.0, seconds * 2.0);
    Some(Cell { answers, seconds, peak_mb: 12.34, ending, unsteady: false, problem: None })
}

fn result() -> ComparisonResult {
    use Verdict::{Invalid, Unknown, Valid};
    let both = |a, b| vec![answer("a", a, None), answer("b", b, None)];
    ComparisonResult {
        files: vec![
            "one.sts".into(),
            "a/path/that/is/much/longer/than/anybody/wants/to/see/two.script".into(),
        ],
        contenders: vec!["gander".into(), "bmc".into(), "nusmv".into()],
        cells: vec![
            vec![
                cell(0.0123, Ending::Finished, both(Valid, Invalid)),
                cell(2.5, Ending::Timeout, both(Unknown, Invalid)),
                cell(
                    0.3,
                    Ending::Finished,
                    vec![answer("a", Valid, None), answer("b", Unknown, Some(Valid))],
                ),
            ],
            vec![
                cell(12.0, Ending::Finished, both(Valid, Valid)),
                cell(0.1, Ending::Crashed, vec![]),
                None,
            ],
        ],
        limit: 20.0,
        rounds: 3,
    }
}

#[test]
fn a_table_marks_the_fastest_contender_and_unchecked_claims() {
    let text = table(&result());
    let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["seconds", "gander", "bmc", "nusmv"]);
    assert_eq!(rows[2], ["one.sts", "0.012*", "1/2", "0.30?"]);
    assert_eq!(rows[3][1..], ["12.0*", "crash", "-"]);
    assert!(rows[3][0].starts_with("...") && rows[3][0].ends_with("/two.script"), "{text}");
    assert_eq!(rows[5], ["checked,", "of", "4", "claims", "4", "1", "1"]);
    assert_eq!(rows[6], ["answered", "4", "1", "2"]);
    assert!(text.contains("medians of 3 rounds"), "{text}");
    assert!(
        text.contains(
            "DISAGREEMENT: one.sts: `b` fails according to gander, holds according to nusmv"
        ),
        "{text}"
    );
}

#[test]
fn csv_has_a_line_for_each_claim() {
    let text = csv(&result()).unwrap();
    assert_eq!(text.lines().count(), 1 + 6 + 2 + 1);
    assert!(
        text.contains("one.sts,nusmv,b,unknown,holds,,0.5000,0.3000,0.1500,0.6000,12.3,finished\n"),
        "{text}"
    );
    assert!(text.contains("two.script,bmc,,,,,,0.1000,0.0500,0.2000,12.3,crashed\n"), "{text}");
}

#[test]
fn csv_has_no_formulas() {
    let mut result = result();
    result.files[0] = "=HYPERLINK(\"http://x\",\"y\").sts".into();
    result.contenders[1] = "+cmd".into();
    result.cells[0][0] =
        cell(1.0, Ending::Finished, vec![answer("@SUM(A1)", Verdict::Valid, None)]);
    let text = csv(&result).unwrap();
    assert!(
        text.contains("\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\").sts\",gander,'@SUM(A1),"),
        "{text}"
    );
    assert!(text.contains(",'+cmd,"), "{text}");
}

#[test]
fn a_plot_shows_every_contender() {
    let text = svg(&result());
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
    for word in ["one.sts", "two.script", "gander", "bmc", "nusmv", "not all"] {
        assert!(text.contains(word), "{word}");
    }
    let empty = ComparisonResult {
        files: vec![],
        contenders: vec![],
        cells: vec![],
        limit: 1.0,
        rounds: 1,
    };
    assert!(svg(&empty).ends_with("</svg>\n") && table(&empty).contains("limit 1 s"));
}
