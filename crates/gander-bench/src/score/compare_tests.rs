//! Comparisons of invented runs.

use super::*;
use crate::jobs::tool::ToolId;
use crate::manifest::Suite;
use crate::results::folder::{Contents, Request};
use crate::results::record::tests::record;
use crate::results::record::{JobRecord, Loaded};

fn scoreboard(records: Vec<JobRecord>) -> Scoreboard {
    let mut text = "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n".to_string();
    for (path, expected) in
        [("a", "valid"), ("b", "valid"), ("c", "invalid"), ("d", "unknown"), ("e", "valid")]
    {
        text += &format!("{path}\tsts\t-\t{expected}\ts\t\n");
    }
    let request = Request {
        suite: Suite::parse(&text).unwrap(),
        tools: vec![ToolId { label: "t".into(), build: "1".into(), arguments: String::new() }],
        missing: vec![],
        time_limit_ms: 10_000,
        memory_limit_mb: 1000,
        rounds: 1,
        workers: 1,
        recorded: vec![],
        recorded_limit: 20.0,
    };
    Scoreboard::new(&Contents::new(request, Loaded { records, ..Loaded::default() }))
}

#[test]
fn a_comparison_has_solved_and_lost_rows_and_the_ratio_of_times() {
    let before = scoreboard(vec![
        record("a", "t", Verdict::Valid, 1.0),
        record("b", "t", Verdict::Valid, 1.0),
        record("c", "t", Verdict::Unknown, 1.0),
        record("d", "t", Verdict::Valid, 1.0),
    ]);
    let after = scoreboard(vec![
        record("a", "t", Verdict::Valid, 4.0),
        record("b", "t", Verdict::Invalid, 1.0),
        record("c", "t", Verdict::Invalid, 1.0),
        record("d", "t", Verdict::Invalid, 1.0),
        record("e", "t", Verdict::Valid, 1.0),
    ]);
    let all = pairs(&before, &after);
    assert_eq!(all, [Pair { before: 0, after: 0 }]);
    let change = compare(&before, &after, all[0]);
    assert_eq!((change.files, change.both, change.median_ratio), (4, 1, Some(4.0)));
    assert_eq!(change.gained, ["c -"]);
    assert_eq!(change.lost, [("b -".to_string(), Score::Wrong)]);
    assert_eq!(change.newly_wrong, ["b -"]);
    assert_eq!(change.contrary, ["b -", "d -"]);
    assert_eq!(change.slower, [("a".to_string(), 1.0, 4.0)]);
    assert!(change.faster.is_empty());
    let text = change.markdown("t", "t");
    assert!(text.contains("## t\n") && text.contains("- b - (WRONG)\n"), "{text}");
}
