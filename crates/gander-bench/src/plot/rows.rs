//! A row for each file, with a mark for each contender at its time. A contender that did not answer
//! every claim is beyond the time limit.

use super::SHORTEST;
use super::canvas::{Axis, Canvas, Style};
use crate::comparison::{Cell, ComparisonResult};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 290.0;
const RIGHT: f64 = 740.0;
/// The x coordinate of contenders that did not answer every claim.
const BEHIND: f64 = 795.0;
const TOP: f64 = 40.0;
/// Characters of a file's name that fit beside the plot.
const LETTERS: usize = 38;

/// The plot of a comparison.
pub fn comparison(result: &ComparisonResult) -> String {
    let each = (12.0 + 9.0 * result.contenders.len() as f64).clamp(22.0, 60.0);
    let bottom = TOP + each * result.files.len().max(1) as f64;
    let answered = |c: &Cell| c.is_complete().then(|| c.seconds.0.max(SHORTEST));
    let times = result.cells.iter().flatten().flatten().filter_map(answered);
    let x = Axis::seconds(times.fold(result.limit, f64::min), result.limit, LEFT, RIGHT);
    let lines = result.contenders.len().div_ceil(3) as f64;
    let mut canvas = Canvas::new(WIDTH, bottom + 66.0 + 20.0 * lines);
    canvas.title((WIDTH / 2.0, 24.0), &format!("Seconds to all answers, limit {} s", result.limit));
    canvas.horizontal_axis(&x, TOP, bottom);
    canvas.line((RIGHT, TOP), (RIGHT, bottom), "black", "");
    canvas.text((BEHIND, bottom + 17.0), "middle", "not all");
    canvas.text(((LEFT + RIGHT) / 2.0, bottom + 38.0), "middle", "seconds (logarithmic)");
    for (i, (file, row)) in result.files.iter().zip(&result.cells).enumerate() {
        let top = TOP + each * i as f64;
        canvas.line((LEFT, top + each), (WIDTH - 10.0, top + each), "#eeeeee", "");
        canvas.text((LEFT - 8.0, top + each / 2.0 + 4.0), "end", &shortened(file));
        // Marks have different heights, so that equal times can be told apart.
        let step = (each - 10.0) / row.len().max(1) as f64;
        for (k, cell) in row.iter().enumerate() {
            let y = top + 5.0 + step * (k as f64 + 0.5);
            let Some(cell) = cell else { continue };
            match answered(cell) {
                Some(time) => {
                    let place = x.place(time);
                    canvas.line((LEFT, y), (place, y), "#d0d0d0", "1 3");
                    canvas.mark((place, y), Style(k));
                }
                None => canvas.mark((BEHIND, y), Style(k)),
            }
        }
    }
    canvas.frame(LEFT, TOP, WIDTH - 10.0, bottom);
    for (k, label) in result.contenders.iter().enumerate() {
        let (left, middle) =
            (LEFT - 230.0 + (k % 3) as f64 * 260.0, bottom + 60.0 + 20.0 * (k / 3) as f64);
        canvas.mark((left, middle), Style(k));
        canvas.text((left + 12.0, middle + 4.0), "start", label);
    }
    canvas.finish()
}

fn shortened(file: &str) -> String {
    let count = file.chars().count();
    if count <= LETTERS {
        return file.to_string();
    }
    format!("...{}", file.chars().skip(count + 3 - LETTERS).collect::<String>())
}
