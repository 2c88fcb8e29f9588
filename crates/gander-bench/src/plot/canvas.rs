//! Axes, marks and text of a plot.

use std::fmt::Write;

/// Colours that can be told apart in print and by colour-blind readers (Okabe and Ito).
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f"];
const DASHES: [&str; 4] = ["", "7 3", "2 3", "9 3 2 3"];

/// Series differ in colour, in dashes and in the shape of marks.
#[derive(Clone, Copy)]
pub(super) struct Style(pub(super) usize);

impl Style {
    pub(super) fn colour(self) -> &'static str {
        COLOURS[self.0 % COLOURS.len()]
    }

    pub(super) fn dashes(self) -> &'static str {
        DASHES[(self.0 / 2) % DASHES.len()]
    }
}

/// A logarithmic or linear map from values to coordinates.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Axis {
    /// Seconds, from a power of ten to a bit more than the limit.
    pub(super) fn seconds(lowest: f64, limit: f64, from: f64, to: f64) -> Axis {
        let low = 10f64.powf(lowest.max(super::SHORTEST).log10().floor());
        Axis { low, high: limit.max(low * 10.0), from, to, logarithmic: true }
    }

    pub(super) fn count(high: usize, from: f64, to: f64) -> Axis {
        Axis { low: 0.0, high: high.max(1) as f64, from, to, logarithmic: false }
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// The values with labels: powers of ten, or about five round numbers.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let mut ticks = Vec::new();
            let mut exponent = self.low.log10().round() as i32;
            while 10f64.powi(exponent) <= self.high * 1.0001 {
                ticks.push(10f64.powi(exponent));
                exponent += 1;
            }
            return ticks;
        }
        let raw = self.high / 5.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|m| m * power)
            .find(|s| *s >= raw)
            .unwrap_or(raw)
            .max(1.0);
        (0..).map(|i| f64::from(i) * step).take_while(|t| *t <= self.high).collect()
    }
}

/// An SVG picture under construction.
pub(super) struct Canvas {
    text: String,
}

impl Canvas {
    pub(super) fn new(width: f64, height: f64) -> Canvas {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        );
        Canvas { text }
    }

    pub(super) fn line(
        &mut self,
        (x1, y1): (f64, f64),
        (x2, y2): (f64, f64),
        stroke: &str,
        dashes: &str,
    ) {
        let _ = writeln!(
            self.text,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\"{}/>",
            dash(dashes)
        );
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], style: Style) {
        let places: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>",
            places.join(" "),
            style.colour(),
            dash(style.dashes())
        );
    }

    /// A mark; the style chooses one of four shapes.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), style: Style) {
        let colour = style.colour();
        let _ = match style.0 % 4 {
            0 => writeln!(
                self.text,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{colour}\" fill-opacity=\"0.65\"/>"
            ),
            1 => writeln!(
                self.text,
                "<path d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
                x - 3.5,
                y - 3.5
            ),
            2 => writeln!(
                self.text,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\" fill=\"white\" stroke=\"{colour}\" \
                 stroke-width=\"1.4\"/>",
                x - 3.0,
                y - 3.0
            ),
            _ => writeln!(
                self.text,
                "<path d=\"M{x:.1} {:.1}l4 7h-8z\" fill=\"white\" stroke=\"{colour}\" stroke-width=\"1.4\"/>",
                y - 4.0
            ),
        };
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, words: &str) {
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(words)
        );
    }

    pub(super) fn title(&mut self, (x, y): (f64, f64), words: &str) {
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\">{}</text>",
            escaped(words)
        );
    }

    /// Text from bottom to top.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), words: &str) {
        let _ = writeln!(
            self.text,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(words)
        );
    }

    /// Grid lines and labels along the bottom.
    pub(super) fn horizontal_axis(&mut self, axis: &Axis, top: f64, bottom: f64) {
        for tick in axis.ticks() {
            let x = axis.place(tick);
            self.line((x, top), (x, bottom), "#dddddd", "");
            self.text((x, bottom + 17.0), "middle", &label(tick));
        }
    }

    /// Grid lines and labels along the left side.
    pub(super) fn vertical_axis(&mut self, axis: &Axis, left: f64, right: f64) {
        for tick in axis.ticks() {
            let y = axis.place(tick);
            self.line((left, y), (right, y), "#dddddd", "");
            self.text((left - 7.0, y + 4.0), "end", &label(tick));
        }
    }

    pub(super) fn frame(&mut self, left: f64, top: f64, right: f64, bottom: f64) {
        let _ = writeln!(
            self.text,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"black\"/>",
            right - left,
            bottom - top
        );
    }

    pub(super) fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

fn dash(dashes: &str) -> String {
    if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") }
}

/// A number with at most three decimals.
fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn escaped(text: &str) -> String {
    gander_text::visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
