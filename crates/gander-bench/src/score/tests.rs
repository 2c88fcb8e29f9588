//! Scores of invented answers.

use super::*;
use crate::jobs::tool::ToolId;
use crate::results::folder::Request;
use crate::results::record::tests::record;
use crate::results::record::{Diagnostic, Loaded};
use crate::results::recorded::RecordedAnswer;

fn suite(rows: &[(&str, &str, &str)]) -> Suite {
    let mut text = "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n".to_string();
    for (path, property, expected) in rows {
        text += &format!("{path}\tsts\t{property}\t{expected}\ts\tnone\n");
    }
    Suite::parse(&text).unwrap()
}

fn says(name: &str, verdict: Verdict) -> PropertyAnswer {
    PropertyAnswer {
        name: name.into(),
        verdict,
        engine: None,
        seconds: None,
        explored_through: None,
        claimed: None,
        why: vec![],
    }
}

fn scoreboard(suite: Suite, records: Vec<JobRecord>, recorded: Vec<RecordedAnswer>) -> Scoreboard {
    let mut tools: Vec<ToolId> = Vec::new();
    for r in &records {
        let id = ToolId { label: r.key.tool.clone(), build: "1".into(), arguments: String::new() };
        if !tools.contains(&id) {
            tools.push(id);
        }
    }
    let request = Request {
        suite,
        tools,
        missing: vec![],
        time_limit_ms: 10_000,
        memory_limit_mb: 1000,
        rounds: 3,
        workers: 1,
        recorded,
        recorded_limit: 20.0,
    };
    Scoreboard::new(&Contents::new(request, Loaded { records, ..Loaded::default() }))
}

#[test]
fn the_score_follows_from_verdict_and_expectation() {
    use Verdict::*;
    let of = |e, v| Score::of(e, v, Ending::Finished);
    assert_eq!(of(Expected::Valid, Valid), Score::Solved);
    assert_eq!(of(Expected::Valid, Invalid), Score::Wrong);
    assert_eq!(of(Expected::Invalid, Valid), Score::Wrong);
    assert_eq!(of(Expected::Invalid, Unknown), Score::GaveUp);
    assert_eq!(of(Expected::Unknown, Valid), Score::Extra);
    assert_eq!(of(Expected::Unknown, Invalid), Score::Extra);
    assert_eq!(Score::of(Expected::Valid, Unknown, Ending::Rejected), Score::Unsupported);
    assert_eq!(Score::of(Expected::Valid, Unknown, Ending::Timeout), Score::Timeout);
    assert_eq!(Score::of(Expected::Valid, Unknown, Ending::Memout), Score::Memout);
    assert_eq!(Score::of(Expected::Valid, Unknown, Ending::Crashed), Score::Crash);
    assert_eq!(Score::of(Expected::Valid, Invalid, Ending::Timeout), Score::Wrong);
}

#[test]
fn wrong_input_must_be_rejected() {
    use Verdict::*;
    assert_eq!(Score::of(Expected::Error, Unknown, Ending::Rejected), Score::Solved);
    assert_eq!(Score::of(Expected::Error, Unknown, Ending::Finished), Score::Wrong);
    assert_eq!(Score::of(Expected::Error, Valid, Ending::Finished), Score::Wrong);
    assert_eq!(Score::of(Expected::Error, Valid, Ending::Timeout), Score::Wrong);
    assert_eq!(Score::of(Expected::Error, Unknown, Ending::Crashed), Score::Crash);
    assert_eq!(Score::of(Expected::Error, Unknown, Ending::Timeout), Score::Timeout);
}

#[test]
fn properties_are_found_by_the_names_that_tools_print() {
    let all = [
        says("top.sub.a", Verdict::Valid),
        says("b[l3c4]", Verdict::Invalid),
        says("x.c", Verdict::Valid),
    ];
    let verdict = |name: &str| answer_for(name, &all).map(|a| a.name.as_str());
    assert_eq!(verdict("a"), Some("top.sub.a"));
    assert_eq!(verdict("b"), Some("b[l3c4]"));
    assert_eq!(verdict("x.c"), Some("x.c"));
    assert_eq!(verdict("d"), None);
    let twice = [says("m.a", Verdict::Valid), says("n.a", Verdict::Invalid)];
    assert_eq!(answer_for("a", &twice), None);
    let exact = [says("m.a", Verdict::Valid), says("a", Verdict::Invalid)];
    assert_eq!(answer_for("a", &exact), Some(&exact[1]));
}

#[test]
fn rows_of_a_file_are_scored_one_by_one() {
    let suite = suite(&[("f", "a", "valid"), ("f", "b", "invalid"), ("f", "c", "unknown")]);
    let mut r = record("f", "t", Verdict::Invalid, 1.0);
    r.properties = vec![says("a", Verdict::Unknown), says("b", Verdict::Invalid)];
    let attempt = Attempt::of_job(&suite.benchmarks[0], &r);
    let rows: Vec<_> = attempt.rows.iter().map(|r| r.score).collect();
    assert_eq!(rows, [Score::GaveUp, Score::Solved, Score::NotReported]);
    assert_eq!(attempt.score, Score::Solved);

    r.properties[0].verdict = Verdict::Invalid;
    let attempt = Attempt::of_job(&suite.benchmarks[0], &r);
    assert_eq!((attempt.rows[0].score, attempt.score), (Score::Wrong, Score::Wrong));
}

#[test]
fn a_violated_file_with_several_properties_decides_none_of_them() {
    let suite = suite(&[
        ("f", "a", "valid"),
        ("f", "b", "invalid"),
        ("g", "a", "valid"),
        ("h", "a", "invalid"),
    ]);
    let rows = |i: usize, v| {
        let a = Attempt::of_recorded(&suite.benchmarks[i], v, 1.0, 10.0);
        (a.score, a.rows.iter().map(|r| r.score).collect::<Vec<_>>())
    };
    assert_eq!(rows(0, Verdict::Invalid), (Score::Solved, vec![Score::GaveUp, Score::GaveUp]));
    assert_eq!(rows(0, Verdict::Valid), (Score::Wrong, vec![Score::Solved, Score::Wrong]));
    assert_eq!(rows(1, Verdict::Valid), (Score::Solved, vec![Score::Solved]));
    assert_eq!(rows(2, Verdict::Invalid), (Score::Solved, vec![Score::Solved]));
    let late = Attempt::of_recorded(&suite.benchmarks[2], Verdict::Invalid, 11.0, 10.0);
    assert_eq!(late.score, Score::Timeout);
}

#[test]
fn success_without_properties_proves_none() {
    let suite = suite(&[("f", "a", "valid"), ("g", "-", "valid")]);
    let mut r = record("f", "t", Verdict::Valid, 1.0);
    r.vacuous = true;
    let named = Attempt::of_job(&suite.benchmarks[0], &r);
    assert_eq!(
        (named.verdict, named.score, named.rows[0].score),
        (Verdict::Unknown, Score::GaveUp, Score::NotReported)
    );
    assert_eq!(Attempt::of_job(&suite.benchmarks[1], &r).score, Score::Solved);
}

#[test]
fn right_answers_after_the_limit_do_not_count() {
    let suite = suite(&[("f", "a", "invalid"), ("f", "b", "valid"), ("g", "-", "valid")]);
    let late = record("g", "t", Verdict::Valid, 10.5);
    assert_eq!(Attempt::of_job(&suite.benchmarks[1], &late).score, Score::Timeout);
    let wrong = record("g", "t", Verdict::Invalid, 10.5);
    assert_eq!(Attempt::of_job(&suite.benchmarks[1], &wrong).score, Score::Wrong);

    let timed = |name: &str, verdict, seconds| PropertyAnswer {
        seconds: Some(seconds),
        ..says(name, verdict)
    };
    let mut r = record("f", "t", Verdict::Invalid, 10.1);
    r.ending = Ending::Timeout;
    r.properties = vec![timed("a", Verdict::Invalid, 0.5), timed("b", Verdict::Valid, 10.05)];
    let attempt = Attempt::of_job(&suite.benchmarks[0], &r);
    assert_eq!(attempt.score, Score::Solved);
    assert_eq!((attempt.rows[0].score, attempt.rows[1].score), (Score::Solved, Score::Timeout));
}

#[test]
fn a_summary_counts_scores_and_times() {
    let suite = suite(&[
        ("a", "-", "valid"),
        ("b", "-", "invalid"),
        ("c", "-", "unknown"),
        ("d", "-", "error"),
        ("e", "-", "valid"),
        ("f", "-", "valid"),
    ]);
    let mut rejected = record("d", "t", Verdict::Unknown, 0.1);
    rejected.ending = Ending::Rejected;
    rejected.diagnostic = Some(Diagnostic { code: "E1".into(), message: "no".into(), line: None });
    let mut crashed = record("f", "t", Verdict::Unknown, 0.1);
    crashed.ending = Ending::Crashed;
    let records = vec![
        record("a", "t", Verdict::Valid, 1.0),
        record("b", "t", Verdict::Invalid, 3.0),
        record("c", "t", Verdict::Valid, 9.0),
        rejected,
        record("e", "t", Verdict::Invalid, 2.0),
        crashed,
        record("a", "u", Verdict::Valid, 4.0),
    ];
    let scoreboard = scoreboard(suite, records, vec![]);
    let lines = scoreboard.summarise_files(&scoreboard.live(), &[0, 1, 2, 3, 4, 5]);
    let t = &lines[0];
    assert_eq!((t.total, t.known, t.solved, t.solved_valid, t.solved_invalid), (6, 5, 3, 1, 1));
    assert_eq!((t.wrong, t.extra, t.unsupported, t.crashes, t.unique), (1, 1, 0, 1, 2));
    assert_eq!(t.par2, (1.0 + 3.0 + 0.1 + 20.0 + 20.0) / 5.0);
    assert_eq!((t.median_seconds, t.max_seconds), (Some(1.0), Some(3.0)));
    assert_eq!((lines[1].total, lines[1].solved, lines[1].unique), (1, 1, 0));
}

#[test]
fn the_median_round_counts_unless_a_round_is_wrong() {
    let at = |round, verdict, seconds| {
        let mut r = record("a", "t", verdict, seconds);
        r.key.round = round;
        r
    };
    let one = || suite(&[("a", "-", "valid")]);
    let rounds =
        vec![at(0, Verdict::Valid, 5.0), at(1, Verdict::Valid, 1.0), at(2, Verdict::Valid, 2.0)];
    let attempt = scoreboard(one(), rounds, vec![]).attempts[0][0].clone().unwrap();
    assert_eq!((attempt.seconds, attempt.unstable), (2.0, false));
    let rounds =
        vec![at(0, Verdict::Valid, 5.0), at(1, Verdict::Invalid, 1.0), at(2, Verdict::Valid, 2.0)];
    let attempt = scoreboard(one(), rounds, vec![]).attempts[0][0].clone().unwrap();
    assert_eq!((attempt.score, attempt.unstable), (Score::Wrong, true));
}

#[test]
fn recorded_peers_are_contenders() {
    let answer = |file: &str, verdict| RecordedAnswer {
        file: file.into(),
        tool: "k (recorded)".into(),
        verdict,
        seconds: 1.0,
    };
    let suite = suite(&[("a", "-", "valid"), ("b", "-", "valid")]);
    let records = vec![record("a", "t", Verdict::Valid, 1.0)];
    let scoreboard = scoreboard(
        suite,
        records,
        vec![answer("b", Verdict::Valid), answer("not here", Verdict::Valid)],
    );
    assert_eq!(scoreboard.live(), [0]);
    assert!(scoreboard.contenders[1].is_recorded);
    assert!(scoreboard.attempts[1][0].is_none());
    let lines = scoreboard.summarise_files(&[0, 1], &[0, 1]);
    assert_eq!((lines[0].unique, lines[1].unique, lines[1].total), (1, 1, 1));
}

#[test]
fn the_median_of_an_even_number_is_a_mean() {
    assert_eq!(median(&mut []), None);
    assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
}

#[test]
fn paths_of_node_instances_are_those_of_jkind() {
    let all = [
        says("main.ten#1.counter#2.lemma", Verdict::Valid),
        says("main.other#1.lemma", Verdict::Invalid),
    ];
    assert_eq!(answer_for("ten~0.counter~1.lemma", &all), Some(&all[0]));
    assert_eq!(answer_for("other~0.lemma", &all), Some(&all[1]));
    assert_eq!(answer_for("ten~0.counter~0.lemma", &all), None);
}
