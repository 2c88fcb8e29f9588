//! Cactus plots.

use super::canvas::{Axis, Canvas, Style};
use super::time_of;
use crate::score::Scoreboard;

const WIDTH: f64 = 760.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 735.0;

/// One curve for each contender, over these files.
pub fn cactus(scoreboard: &Scoreboard, contenders: &[usize], files: &[usize]) -> String {
    let mut curves: Vec<(usize, Vec<f64>)> = Vec::new();
    for &c in contenders {
        let mut times: Vec<f64> =
            files.iter().filter_map(|&f| time_of(scoreboard.attempts[c][f].as_ref())).collect();
        times.sort_by(f64::total_cmp);
        curves.push((c, times));
    }
    let most = curves.iter().map(|(_, t)| t.len()).max().unwrap_or(0);
    let fastest =
        curves.iter().filter_map(|(_, t)| t.first().copied()).fold(scoreboard.time_limit, f64::min);
    let x = Axis::count(most, LEFT, RIGHT);
    let y = Axis::seconds(fastest, scoreboard.time_limit, BOTTOM, TOP);

    let height = BOTTOM + 56.0 + 20.0 * contenders.len().div_ceil(2) as f64;
    let mut canvas = Canvas::new(WIDTH, height);
    let title =
        format!("Solved files by time, {} files, limit {} s", files.len(), scoreboard.time_limit);
    canvas.title(((LEFT + RIGHT) / 2.0, 24.0), &title);
    canvas.horizontal_axis(&x, TOP, BOTTOM);
    canvas.vertical_axis(&y, LEFT, RIGHT);
    canvas.frame(LEFT, TOP, RIGHT, BOTTOM);
    canvas.text(((LEFT + RIGHT) / 2.0, BOTTOM + 38.0), "middle", "number of files solved");
    canvas.upright((20.0, (TOP + BOTTOM) / 2.0), "seconds for each (logarithmic)");
    for (i, (_, times)) in curves.iter().enumerate() {
        let points: Vec<_> =
            times.iter().enumerate().map(|(n, t)| (x.place((n + 1) as f64), y.place(*t))).collect();
        canvas.path(&points, Style(i));
        for point in marked(&points) {
            canvas.mark(point, Style(i));
        }
    }
    for (i, (c, times)) in curves.iter().enumerate() {
        let (column, line) = ((i % 2) as f64, (i / 2) as f64);
        let (left, middle) = (LEFT + column * 330.0, BOTTOM + 60.0 + 20.0 * line);
        canvas.path(&[(left, middle), (left + 34.0, middle)], Style(i));
        canvas.mark((left + 17.0, middle), Style(i));
        let words = format!("{}: {}", scoreboard.contenders[*c].label, times.len());
        canvas.text((left + 42.0, middle + 4.0), "start", &words);
    }
    canvas.finish()
}

/// About fifteen of the points, the last one among them.
fn marked(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(15).max(1);
    points.iter().rev().step_by(step).copied().collect()
}
