//! Snapshots of a report of invented results.

use expect_test::expect;

use super::*;
use crate::jobs::tool::ToolId;
use crate::manifest::Suite;
use crate::results::folder::Request;
use crate::results::record::tests::record;
use crate::results::record::{Diagnostic, Ending, Loaded, PropertyAnswer, Reason};
use crate::results::recorded::RecordedAnswer;
use crate::verdict::Verdict;

fn contents() -> Contents {
    let text = "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n\
                a.sts\tsts\tp\tvalid\tone\tby hand\n\
                a.sts\tsts\tq\tvalid\tone\tby hand\n\
                b.sts\tsts\t-\tinvalid\tone\tname | only\n\
                c.sts\tsts\t-\tvalid\ttwo\t\n\
                d.sts\tsts\t-\tvalid\ttwo\t\n";
    let id = |label: &str| ToolId {
        label: label.into(),
        build: "1".into(),
        arguments: "check {file}".into(),
    };
    let mut a = record("a.sts", "gander", Verdict::Unknown, 0.5);
    a.properties = vec![
        PropertyAnswer {
            name: "p".into(),
            verdict: Verdict::Valid,
            engine: Some("induction".into()),
            seconds: Some(0.25),
            explored_through: None,
            claimed: None,
            why: vec![],
        },
        PropertyAnswer {
            name: "q".into(),
            verdict: Verdict::Unknown,
            engine: None,
            seconds: None,
            explored_through: Some(7),
            claimed: None,
            why: vec![Reason {
                engine: "bmc".into(),
                reason: "found nothing within 7 steps".into(),
            }],
        },
    ];
    let mut c = record("c.sts", "gander", Verdict::Unknown, 0.01);
    c.ending = Ending::Rejected;
    c.diagnostic = Some(Diagnostic {
        code: "E0104".into(),
        message: "`merge` is not supported".into(),
        line: Some(3),
    });
    let mut d = record("d.sts", "gander", Verdict::Unknown, 0.02);
    d.ending = Ending::Crashed;
    d.exit = Some(101);
    d.last_words = Some("thread 'main' panicked\nat x.rs".into());
    let mut records = vec![
        a,
        record("b.sts", "gander", Verdict::Valid, 2.0),
        c,
        d,
        record("b.sts", "z3", Verdict::Invalid, 1.0),
    ];
    for r in &mut records {
        r.key.arguments = "check {file}".into();
    }
    let recorded = [("a.sts", Verdict::Valid, 0.7), ("b.sts", Verdict::Invalid, 0.8)].map(
        |(f, verdict, seconds)| RecordedAnswer {
            file: f.into(),
            tool: "kind2 (recorded)".into(),
            verdict,
            seconds,
        },
    );
    let request = Request {
        suite: Suite::parse(text).unwrap(),
        tools: vec![id("gander"), id("z3")],
        missing: vec!["program `jkind` of `jkind` was not found".into()],
        time_limit_ms: 10_000,
        memory_limit_mb: 1000,
        rounds: 1,
        workers: 1,
        recorded: recorded.into(),
        recorded_limit: 5.0,
    };
    Contents::new(request, Loaded { records, ..Loaded::default() })
}

#[test]
fn the_report_is_printed_as_before() {
    let contents = contents();
    let text = markdown(&contents, &Scoreboard::new(&contents));
    expect![[r#"
        # Benchmark report

        4 files, 5 rows; limits of a job: 10 s, 1000 MB; rounds: 1; jobs at a time: 1.

        - gander: 1; `check {file}`
        - z3: 1; `check {file}`
        - **not run**: program `jkind` of `jkind` was not found

        5 jobs done. Pairs of tool and file without a job (other language, or not run yet): 3.

        ## Files

        | tool | n | known | solved | valid | invalid | **wrong** | **crashes** | unsupported | timeout | memout | gave up | extra | unique | PAR-2 s | median s | max s | exit s | peak MB |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
        | gander | 4 | 4 | 0 | 0 | 0 | **1** | **1** | 1 | 0 | 0 | 1 | 0 | 0 | 20.000 | - | - | 0.260 | 1 |
        | z3 | 1 | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1.000 | 1.000 | 1.000 | 1.000 | 1 |

        ## Properties (rows of the manifest)

        | tool | n | known | solved | valid | invalid | **wrong** | **crashes** | unsupported | timeout | memout | gave up | extra | unique | PAR-2 s | median s | max s | exit s | peak MB |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
        | gander | 5 | 5 | 1 | 1 | 0 | **1** | **1** | 1 | 0 | 0 | 1 | 0 | 1 | 16.050 | 0.250 | 0.250 | 0.250 | 1 |
        | z3 | 1 | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1.000 | 1.000 | 1.000 | 1.000 | 1 |

        known: the expected verdict is known. extra: answered though nothing is known. PAR-2: mean seconds, unsolved counting twice the limit. unique: solved by no other tool of the table. crashes count whatever was answered before. median and max are of what is solved; exit is the median from start to exit of all jobs.

        ## Files by set

        | set | tool | n | known | solved | valid | invalid | **wrong** | **crashes** | unsupported | timeout | memout | gave up | extra | unique | PAR-2 s | median s | max s | exit s | peak MB |
        |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
        | sts: one | gander | 2 | 2 | 0 | 0 | 0 | **1** | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 20.000 | - | - | 1.250 | 1 |
        | sts: one | z3 | 1 | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1.000 | 1.000 | 1.000 | 1.000 | 1 |
        | sts: two | gander | 2 | 2 | 0 | 0 | 0 | 0 | **1** | 1 | 0 | 0 | 0 | 0 | 0 | 20.000 | - | - | 0.015 | 1 |
        | sts: two | z3 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | - | - | - | - | - |

        ## Beside recorded peers (2 files)

        | tool | n | known | solved | valid | invalid | **wrong** | **crashes** | unsupported | timeout | memout | gave up | extra | unique | PAR-2 s | median s | max s | exit s | peak MB |
        |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
        | gander | 2 | 2 | 0 | 0 | 0 | **1** | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 20.000 | - | - | 1.250 | 1 |
        | z3 | 1 | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1.000 | 1.000 | 1.000 | 1.000 | 1 |
        | kind2 (recorded) | 2 | 2 | 2 | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 0.750 | 0.750 | 0.800 | 0.750 | - |

        Recorded elsewhere, with a limit of 5 s, which is less than the tools had that were run here; answers later than the limit of this run do not count.

        ## Named properties by engine

        Solved or extra.

        | tool | engine | valid | invalid |
        |---|---|--:|--:|
        | gander | induction | 1 | 0 |

        ## Disagreements (1)

        A tool contradicts the manifest, another tool or itself.

        | file | property | expected | evidence | verdicts |
        |---|---|---|---|---|
        | b.sts | - | invalid | name \| only | **gander: valid**; z3: invalid; kind2 (recorded): invalid |

        ## CRASHES (1)

        | file | tool | how | last words |
        |---|---|---|---|
        | d.sts | gander | exit 101 | thread 'main' panicked at x.rs |

        ## Rejected files

        ### gander (1)

        | n | code | message | files |
        |--:|---|---|---|
        | 1 | E0104 | `merge` is not supported | c.sts:3 |

        ## Unsolved

        - a.sts (expected valid)
          - gander: q (valid): gave up; explored through 7; bmc: found nothing within # steps
    "#]].assert_eq(&text);
}

#[test]
fn csv_tables_have_a_line_for_each_row_and_file() {
    let scoreboard = Scoreboard::new(&contents());
    expect![[r#"
        path,language,set,property,expected,tool,verdict,score,seconds,engine,explored_through,evidence
        a.sts,sts,one,p,valid,gander,valid,solved,0.250,induction,,by hand
        a.sts,sts,one,p,valid,kind2 (recorded),valid,solved,0.700,,,by hand
        a.sts,sts,one,q,valid,gander,unknown,gave up,0.500,,7,by hand
        a.sts,sts,one,q,valid,kind2 (recorded),valid,solved,0.700,,,by hand
        b.sts,sts,one,-,invalid,gander,valid,WRONG,2.000,,,name | only
        b.sts,sts,one,-,invalid,z3,invalid,solved,1.000,,,name | only
        b.sts,sts,one,-,invalid,kind2 (recorded),invalid,solved,0.800,,,name | only
        c.sts,sts,two,-,valid,gander,unknown,unsupported,0.010,,,
        d.sts,sts,two,-,valid,gander,unknown,CRASH,0.020,,,
    "#]]
    .assert_eq(&rows_csv(&scoreboard).unwrap());
    expect![[r#"
        path,language,set,expected,tool,verdict,score,seconds,cpu_seconds,peak_mb,exit,signal,code,message
        a.sts,sts,one,valid,gander,unknown,gave up,0.500,0.50,1.0,0,,,
        a.sts,sts,one,valid,kind2 (recorded),valid,solved,0.700,,,,,,
        b.sts,sts,one,invalid,gander,valid,WRONG,2.000,2.00,1.0,0,,,
        b.sts,sts,one,invalid,z3,invalid,solved,1.000,1.00,1.0,0,,,
        b.sts,sts,one,invalid,kind2 (recorded),invalid,solved,0.800,,,,,,
        c.sts,sts,two,valid,gander,unknown,unsupported,0.010,0.01,1.0,0,,E0104,`merge` is not supported
        d.sts,sts,two,valid,gander,unknown,CRASH,0.020,0.02,1.0,101,,,
    "#]]
    .assert_eq(&files_csv(&scoreboard).unwrap());
}

#[test]
fn csv_tables_have_no_formulas() {
    let mut contents = contents();
    for benchmark in &mut contents.request.suite.benchmarks {
        benchmark.set = "=1+cmd|' /C calc'!A0".into();
    }
    let scoreboard = Scoreboard::new(&contents);
    for text in [rows_csv(&scoreboard).unwrap(), files_csv(&scoreboard).unwrap()] {
        assert!(text.contains(",'=1+cmd|") && !text.contains(",=1"), "{text}");
    }
}

#[test]
fn documents_have_different_names() {
    let names: Vec<_> = documents(&contents()).unwrap().into_iter().map(|d| d.0).collect();
    assert_eq!(
        names,
        [
            "report.md",
            "results.csv",
            "files.csv",
            "plots/cactus.svg",
            "plots/cactus-recorded-1.svg",
            "plots/scatter-z3-gander.svg",
            "plots/scatter-kind2-recorded-gander.svg"
        ]
    );
}
