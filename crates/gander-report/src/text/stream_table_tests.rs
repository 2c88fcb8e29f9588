use expect_test::expect;
use gander_system::StreamKind;

use super::*;
use crate::view::streams::{GroupKind, StreamGroup, StreamSort};
use crate::{streams_csv, streams_vcd};

fn row(name: &str, kind: StreamKind, sort: StreamSort, values: &[&str]) -> StreamRow {
    let short = name.rsplit('.').next().unwrap_or(name).to_string();
    let values = values.iter().map(|v| v.to_string()).collect();
    StreamRow {
        name: short,
        full_name: name.to_string(),
        kind,
        sort,
        shown: kind != StreamKind::Choice,
        values,
        actual: Vec::new(),
    }
}

fn group(kind: GroupKind, title: &str, rows: Vec<StreamRow>) -> StreamGroup {
    let scopes = if kind == GroupKind::Instance {
        title.split('.').map(str::to_string).collect()
    } else {
        Vec::new()
    };
    StreamGroup { kind, title: title.to_string(), scopes, rows }
}

fn heater() -> StreamsView {
    StreamsView {
        name: "heater".to_string(),
        instants: 3,
        steps: Vec::new(),
        repeats: Vec::new(),
        groups: vec![
            group(
                GroupKind::Inputs,
                "Inputs",
                vec![
                    row("on", StreamKind::Input, StreamSort::Bool, &["false", "true", "true"]),
                    row("mode", StreamKind::Input, StreamSort::Text, &["Idle", "Idle", "Run"]),
                ],
            ),
            group(
                GroupKind::Outputs,
                "Outputs",
                vec![row("heat", StreamKind::Output, StreamSort::Real, &["1/3", "1/3", "-2/3"])],
            ),
            group(
                GroupKind::Instance,
                "count#1",
                vec![
                    row(
                        "heater.count#1.n",
                        StreamKind::Output,
                        StreamSort::Int,
                        &["0", "-1", "-1"],
                    ),
                    row(
                        "heater.count#1.any#1",
                        StreamKind::Choice,
                        StreamSort::Bits(4),
                        &["0", "3", "15"],
                    ),
                ],
            ),
        ],
        before: vec![("heat".to_string(), "7".to_string())],
    }
}

#[test]
fn streams_are_rows() {
    expect![[r#"
        step       0     1     2
        Inputs
          on   false  true* true
          mode  Idle  Idle   Run*
        Outputs
          heat   1/3   1/3  -2/3*
        count#1
          n        0    -1*   -1
        before step 0, as an unguarded `pre` found it: heat = 7
        *: changed since the step before
        1 more stream (--all shows it)
    "#]]
    .assert_eq(&stream_table(&heater(), StreamTable::default()));
}

#[test]
fn narrow_tables_are_split_into_blocks_with_every_stream() {
    let how = StreamTable { scope: StreamScope::All, width: 22, ..StreamTable::default() };
    expect![[r#"
          step        0     1
          Inputs
            on    false  true*
            mode   Idle  Idle
          Outputs
            heat    1/3   1/3
          count#1
            n         0    -1*
            any#1     0     3*

          step       2
          Inputs
            on    true
            mode   Run*
          Outputs
            heat  -2/3*
          count#1
            n       -1
            any#1   15*
          before step 0, as an unguarded `pre` found it: heat = 7
          *: changed since the step before
    "#]]
    .assert_eq(&stream_table(&heater(), how));
    let inner = |line: &str| if line.is_empty() { "\n".to_string() } else { format!("  {line}\n") };
    let indented: String = stream_table(&heater(), how).lines().map(inner).collect();
    assert_eq!(stream_table(&heater(), StreamTable { width: 24, indent: 2, ..how }), indented);
}

#[test]
fn colour_marks_with_bold() {
    let how = StreamTable { paint: Paint::Colour, ..StreamTable::default() };
    let text = stream_table(&heater(), how);
    assert!(
        text.contains("\x1b[1mtrue\x1b[0m")
            && !text.contains('*')
            && text.contains("bold: changed"),
        "{text}"
    );
    let mut plain = text;
    for code in ["\x1b[1m", "\x1b[2m", "\x1b[0m"] {
        plain = plain.replace(code, "");
    }
    let expected =
        stream_table(&heater(), StreamTable::default()).replace("*:", "bold:").replace('*', " ");
    let trimmed = |t: &str| t.lines().map(|l| l.trim_end().to_string()).collect::<Vec<_>>();
    assert_eq!(trimmed(&plain), trimmed(&expected));
}

#[test]
fn long_runs_and_values_are_shortened_unless_asked_for() {
    let values: Vec<String> =
        (0..100u32).map(|i| if i == 99 { "9".repeat(99) } else { (i * i).to_string() }).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let rows = vec![row("x", StreamKind::Input, StreamSort::Int, &values)];
    let view = StreamsView {
        name: "n".to_string(),
        instants: 100,
        steps: Vec::new(),
        repeats: Vec::new(),
        groups: vec![group(GroupKind::Inputs, "Inputs", rows)],
        before: Vec::new(),
    };
    let text = stream_table(&view, StreamTable::default());
    assert!(text.contains("... 60 more steps (--trace full shows them)"), "{text}");
    assert!(text.contains("999999999999...99999999*"), "{text}");
    assert!(!text.contains(" 20 ") && text.contains(" 80 "), "{text}");
    assert!(text.lines().all(|l| l.len() <= 80), "{text}");
    let full =
        stream_table(&view, StreamTable { detail: TraceDetail::Full, ..StreamTable::default() });
    assert!(
        full.contains(&"9".repeat(99)) && full.contains(" 50 ") && !full.contains("more steps"),
        "{full}"
    );
}

#[test]
fn long_names_leave_room_for_values() {
    let mut view = heater();
    view.groups[1].rows[0].name = "a_name_of_generated_code_that_is_long".to_string();
    expect![[r#"
        step       0     1     2
        Inputs
          on   false  true* true
          mode  Idle  Idle   Run*
        Outputs
          a_name_of_generated_code_that_is_long
                 1/3   1/3  -2/3*
        count#1
          n        0    -1*   -1
        before step 0, as an unguarded `pre` found it: heat = 7
        *: changed since the step before
        1 more stream (--all shows it)
    "#]]
    .assert_eq(&stream_table(&view, StreamTable { width: 40, ..StreamTable::default() }));
}

#[test]
fn streams_are_written_as_comma_separated_values() {
    let mut view = heater();
    view.groups[0].rows[1].full_name = "mo,de".to_string();
    expect![[r#"
        step,on,"mo,de",heat,heater.count#1.n,heater.count#1.any#1
        0,false,Idle,1/3,0,0
        1,true,Idle,1/3,-1,3
        2,true,Run,-2/3,-1,15
    "#]]
    .assert_eq(&streams_csv(&view));
}

#[test]
fn a_value_change_dump_has_scopes_types_and_changes() {
    expect![[r#"
        $version gander $end
        $timescale 1 ns $end
        $scope module heater $end
        $var wire 1 ! on $end
        $var string 1 " mode $end
        $var real 64 # heat $end
        $scope module count#1 $end
        $var integer 32 $ n $end
        $var wire 4 % any#1 $end
        $upscope $end
        $upscope $end
        $enddefinitions $end
        #0
        $dumpvars
        0!
        sIdle "
        r0.3333333333333333 #
        b0 $
        b0 %
        $end
        #1
        1!
        b11111111111111111111111111111111 $
        b11 %
        #2
        sRun "
        r-0.6666666666666666 #
        b1111 %
        #3
    "#]]
    .assert_eq(&streams_vcd(&heater()));
}

#[test]
fn large_numbers_get_wide_vectors() {
    let mut view = heater();
    view.groups.truncate(1);
    view.groups[0].rows = vec![row(
        "x",
        StreamKind::Input,
        StreamSort::Int,
        &["-1", "18446744073709551616", "-18446744073709551616"],
    )];
    let text = streams_vcd(&view);
    let ones = "1".repeat(66);
    let zeros = "0".repeat(64);
    assert!(text.contains("$var integer 66 ! x $end"), "{text}");
    assert!(
        text.contains(&format!("b{ones} !\n$end\n#1\nb1{zeros} !\n#2\nb11{zeros} !\n")),
        "{text}"
    );
}
