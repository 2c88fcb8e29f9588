//! Snapshots of plots of invented results.

use expect_test::expect;

use super::*;
use crate::jobs::tool::ToolId;
use crate::manifest::Suite;
use crate::results::folder::{Contents, Request};
use crate::results::record::Loaded;
use crate::results::record::tests::record;
use crate::score::Scoreboard;
use crate::verdict::Verdict;

fn scoreboard() -> Scoreboard {
    let mut text = "path\tlanguage\tproperty\texpected\tsource_set\tverdict_evidence\n".to_string();
    for (path, expected) in [("a", "valid"), ("b", "invalid"), ("c", "valid")] {
        text += &format!("{path}\tsts\t-\t{expected}\ts\t\n");
    }
    let id =
        |label: &str| ToolId { label: label.into(), build: "1".into(), arguments: String::new() };
    let records = vec![
        record("a", "one", Verdict::Valid, 0.05),
        record("b", "one", Verdict::Invalid, 2.0),
        record("c", "one", Verdict::Unknown, 10.0),
        record("a", "two & more", Verdict::Valid, 0.5),
        record("b", "two & more", Verdict::Unknown, 10.0),
        record("c", "two & more", Verdict::Invalid, 0.1),
    ];
    let request = Request {
        suite: Suite::parse(&text).unwrap(),
        tools: vec![id("one"), id("two & more")],
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
fn a_cactus_plot_is_drawn_as_before() {
    expect![[r##"
        <svg xmlns="http://www.w3.org/2000/svg" width="760" height="516" viewBox="0 0 760 516" font-family="Helvetica, Arial, sans-serif" font-size="13">
        <rect width="760" height="516" fill="white"/>
        <text x="402.5" y="24.0" text-anchor="middle" font-size="15" font-weight="bold">Solved files by time, 3 files, limit 10 s</text>
        <line x1="70.0" y1="40.0" x2="70.0" y2="440.0" stroke="#dddddd"/>
        <text x="70.0" y="457.0" text-anchor="middle">0</text>
        <line x1="402.5" y1="40.0" x2="402.5" y2="440.0" stroke="#dddddd"/>
        <text x="402.5" y="457.0" text-anchor="middle">1</text>
        <line x1="735.0" y1="40.0" x2="735.0" y2="440.0" stroke="#dddddd"/>
        <text x="735.0" y="457.0" text-anchor="middle">2</text>
        <line x1="70.0" y1="440.0" x2="735.0" y2="440.0" stroke="#dddddd"/>
        <text x="63.0" y="444.0" text-anchor="end">0.01</text>
        <line x1="70.0" y1="306.7" x2="735.0" y2="306.7" stroke="#dddddd"/>
        <text x="63.0" y="310.7" text-anchor="end">0.1</text>
        <line x1="70.0" y1="173.3" x2="735.0" y2="173.3" stroke="#dddddd"/>
        <text x="63.0" y="177.3" text-anchor="end">1</text>
        <line x1="70.0" y1="40.0" x2="735.0" y2="40.0" stroke="#dddddd"/>
        <text x="63.0" y="44.0" text-anchor="end">10</text>
        <rect x="70.0" y="40.0" width="665.0" height="400.0" fill="none" stroke="black"/>
        <text x="402.5" y="478.0" text-anchor="middle">number of files solved</text>
        <text transform="translate(20.0 240.0) rotate(-90)" text-anchor="middle">seconds for each (logarithmic)</text>
        <polyline points="402.5,346.8 735.0,133.2" fill="none" stroke="#0072b2" stroke-width="1.6"/>
        <circle cx="735.0" cy="133.2" r="3.2" fill="#0072b2" fill-opacity="0.65"/>
        <circle cx="402.5" cy="346.8" r="3.2" fill="#0072b2" fill-opacity="0.65"/>
        <polyline points="402.5,213.5" fill="none" stroke="#d55e00" stroke-width="1.6"/>
        <path d="M399.0 210.0l7 7m0 -7l-7 7" stroke="#d55e00" stroke-width="1.6"/>
        <polyline points="70.0,500.0 104.0,500.0" fill="none" stroke="#0072b2" stroke-width="1.6"/>
        <circle cx="87.0" cy="500.0" r="3.2" fill="#0072b2" fill-opacity="0.65"/>
        <text x="112.0" y="504.0" text-anchor="start">one: 2</text>
        <polyline points="400.0,500.0 434.0,500.0" fill="none" stroke="#d55e00" stroke-width="1.6"/>
        <path d="M413.5 496.5l7 7m0 -7l-7 7" stroke="#d55e00" stroke-width="1.6"/>
        <text x="442.0" y="504.0" text-anchor="start">two &amp; more: 1</text>
        </svg>
    "##]].assert_eq(&cactus(&scoreboard(), &[0, 1], &[0, 1, 2]));
}

#[test]
fn a_scatter_plot_is_drawn_as_before() {
    expect![[r##"
        <svg xmlns="http://www.w3.org/2000/svg" width="545" height="580" viewBox="0 0 545 580" font-family="Helvetica, Arial, sans-serif" font-size="13">
        <rect width="545" height="580" fill="white"/>
        <text x="300.0" y="24.0" text-anchor="middle" font-size="15" font-weight="bold">two &amp; more and one, 2 files, limit 10 s</text>
        <line x1="80.0" y1="40.0" x2="80.0" y2="480.0" stroke="#dddddd"/>
        <text x="80.0" y="497.0" text-anchor="middle">0.01</text>
        <line x1="216.7" y1="40.0" x2="216.7" y2="480.0" stroke="#dddddd"/>
        <text x="216.7" y="497.0" text-anchor="middle">0.1</text>
        <line x1="353.3" y1="40.0" x2="353.3" y2="480.0" stroke="#dddddd"/>
        <text x="353.3" y="497.0" text-anchor="middle">1</text>
        <line x1="490.0" y1="40.0" x2="490.0" y2="480.0" stroke="#dddddd"/>
        <text x="490.0" y="497.0" text-anchor="middle">10</text>
        <line x1="80.0" y1="480.0" x2="520.0" y2="480.0" stroke="#dddddd"/>
        <text x="73.0" y="484.0" text-anchor="end">0.01</text>
        <line x1="80.0" y1="343.3" x2="520.0" y2="343.3" stroke="#dddddd"/>
        <text x="73.0" y="347.3" text-anchor="end">0.1</text>
        <line x1="80.0" y1="206.7" x2="520.0" y2="206.7" stroke="#dddddd"/>
        <text x="73.0" y="210.7" text-anchor="end">1</text>
        <line x1="80.0" y1="70.0" x2="520.0" y2="70.0" stroke="#dddddd"/>
        <text x="73.0" y="74.0" text-anchor="end">10</text>
        <line x1="216.7" y1="480.0" x2="490.0" y2="206.7" stroke="#888888" stroke-dasharray="4 4"/>
        <line x1="80.0" y1="480.0" x2="490.0" y2="70.0" stroke="#888888"/>
        <line x1="80.0" y1="343.3" x2="353.3" y2="70.0" stroke="#888888" stroke-dasharray="4 4"/>
        <line x1="490.0" y1="40.0" x2="490.0" y2="480.0" stroke="#888888" stroke-dasharray="2 3"/>
        <line x1="80.0" y1="70.0" x2="520.0" y2="70.0" stroke="#888888" stroke-dasharray="2 3"/>
        <rect x="80.0" y="40.0" width="440.0" height="440.0" fill="none" stroke="black"/>
        <text x="505.0" y="497.0" text-anchor="middle">none</text>
        <text x="73.0" y="59.0" text-anchor="end">none</text>
        <text x="300.0" y="520.0" text-anchor="middle">seconds of two &amp; more (logarithmic)</text>
        <text transform="translate(20.0 260.0) rotate(-90)" text-anchor="middle">seconds of one (logarithmic)</text>
        <circle cx="312.2" cy="384.5" r="3.2" fill="#0072b2" fill-opacity="0.65"/>
        <path d="M501.5 162.0l7 7m0 -7l-7 7" stroke="#d55e00" stroke-width="1.6"/>
        <circle cx="80.0" cy="546.0" r="3.2" fill="#0072b2" fill-opacity="0.65"/>
        <text x="90.0" y="550.0" text-anchor="start">valid: 1</text>
        <path d="M186.5 542.5l7 7m0 -7l-7 7" stroke="#d55e00" stroke-width="1.6"/>
        <text x="200.0" y="550.0" text-anchor="start">invalid: 1</text>
        <rect x="297.0" y="543.0" width="6" height="6" fill="white" stroke="#009e73" stroke-width="1.4"/>
        <text x="310.0" y="550.0" text-anchor="start">error: 0</text>
        <text x="77.0" y="570.0" text-anchor="start">below the diagonal one is faster; dashed: ten times</text>
        </svg>
    "##]].assert_eq(&scatter(&scoreboard(), 1, 0, &[0, 1, 2]));
}

#[test]
fn plots_without_data_are_drawn() {
    assert!(cactus(&scoreboard(), &[], &[]).ends_with("</svg>\n"));
    assert!(scatter(&scoreboard(), 0, 1, &[]).ends_with("</svg>\n"));
}
