//! Scatter plots.

use super::canvas::{Axis, Canvas, Style};
use super::time_of;
use crate::score::Scoreboard;
use crate::verdict::Expected;

const TOP: f64 = 40.0;
const LEFT: f64 = 80.0;
const SIDE: f64 = 440.0;
/// Space beyond the limit for unsolved files.
const BEHIND: f64 = 30.0;

/// A point for each of these files that both contenders attempted and one of them solved.
pub fn scatter(scoreboard: &Scoreboard, across: usize, up: usize, files: &[usize]) -> String {
    let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
    let mut points = Vec::new();
    for &f in files {
        let (Some(a), Some(b)) = (&scoreboard.attempts[across][f], &scoreboard.attempts[up][f])
        else {
            continue;
        };
        let (a, b) = (time_of(Some(a)), time_of(Some(b)));
        if a.is_some() || b.is_some() {
            points.push((a, b, scoreboard.suite.benchmarks[f].expected()));
        }
    }
    let fastest = points
        .iter()
        .flat_map(|(a, b, _)| [*a, *b])
        .flatten()
        .fold(scoreboard.time_limit, f64::min);
    let x = Axis::seconds(fastest, scoreboard.time_limit, LEFT, right - BEHIND);
    let y = Axis::seconds(fastest, scoreboard.time_limit, bottom, TOP + BEHIND);

    let mut canvas = Canvas::new(LEFT + SIDE + 25.0, bottom + 100.0);
    let (one, other) = (&scoreboard.contenders[across].label, &scoreboard.contenders[up].label);
    canvas.title(
        (LEFT + SIDE / 2.0, 24.0),
        &format!("{one} and {other}, {} files, limit {} s", points.len(), scoreboard.time_limit),
    );
    canvas.horizontal_axis(&x, TOP, bottom);
    canvas.vertical_axis(&y, LEFT, right);
    for factor in [0.1, 1.0, 10.0] {
        let (low, high) =
            (x.low() * f64::max(1.0, 1.0 / factor), x.high() * f64::min(1.0, 1.0 / factor));
        let place = |v: f64| (x.place(v), y.place(v * factor));
        canvas.line(place(low), place(high), "#888888", if factor == 1.0 { "" } else { "4 4" });
    }
    canvas.line((right - BEHIND, TOP), (right - BEHIND, bottom), "#888888", "2 3");
    canvas.line((LEFT, TOP + BEHIND), (right, TOP + BEHIND), "#888888", "2 3");
    canvas.frame(LEFT, TOP, right, bottom);
    canvas.text((right - BEHIND / 2.0, bottom + 17.0), "middle", "none");
    canvas.text((LEFT - 7.0, TOP + BEHIND / 2.0 + 4.0), "end", "none");
    canvas.text(
        (LEFT + SIDE / 2.0, bottom + 40.0),
        "middle",
        &format!("seconds of {one} (logarithmic)"),
    );
    canvas.upright((20.0, TOP + SIDE / 2.0), &format!("seconds of {other} (logarithmic)"));
    for (a, b, expected) in &points {
        let place = (
            a.map_or(right - BEHIND / 2.0, |t| x.place(t)),
            b.map_or(TOP + BEHIND / 2.0, |t| y.place(t)),
        );
        canvas.mark(place, style_of(*expected));
    }
    for (i, expected) in
        [Expected::Valid, Expected::Invalid, Expected::Error].into_iter().enumerate()
    {
        let (left, line) = (LEFT + 110.0 * i as f64, bottom + 66.0);
        let count = points.iter().filter(|p| p.2 == expected).count();
        canvas.mark((left, line), style_of(expected));
        canvas.text((left + 10.0, line + 4.0), "start", &format!("{expected}: {count}"));
    }
    canvas.text(
        (LEFT - 3.0, bottom + 90.0),
        "start",
        &format!("below the diagonal {other} is faster; dashed: ten times"),
    );
    canvas.finish()
}

fn style_of(expected: Expected) -> Style {
    Style(match expected {
        Expected::Valid => 0,
        Expected::Invalid => 1,
        _ => 2,
    })
}
