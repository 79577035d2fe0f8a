//! Angles over time.

use std::f64::consts::PI;
use std::fmt::Write as _;

use glam::DVec2;

use super::column::{extent, lifted, middle, ticks};
use super::series::{Channel, Series};
use crate::picture::dial::degrees;
use crate::picture::svg::{Anchor, Canvas};

/// Width of the plots of a card.
pub(super) const WIDTH: f64 = 840.0;

const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const HEIGHT: f64 = 84.0;
/// How many pixels a column is wide.
const COLUMN: f64 = 2.0;

/// Adds a number with one decimal, none if that is zero.
pub(super) fn tenths(data: &mut String, x: f64) {
    #[allow(clippy::cast_possible_truncation, reason = "clamped")]
    let n = (10.0 * x).round().clamp(-1e9, 1e9) as i64;
    let sign = if n < 0 { "-" } else { "" };
    let (whole, part) = (n.unsigned_abs() / 10, n.unsigned_abs() % 10);
    // Writing to a string does not fail.
    let _ = if part == 0 {
        write!(data, "{sign}{whole}")
    } else {
        write!(data, "{sign}{whole}.{part}")
    };
}

/// How values are seen: around which angle, between which angles, and where.
struct Window {
    middle: f64,
    low: f64,
    high: f64,
    at: DVec2,
    size: DVec2,
    duration_s: f64,
}

impl Window {
    fn new(series: &Series, channel: &Channel, at: DVec2, size: DVec2) -> Self {
        let middle = middle(channel.limit, channel.circular);
        let seen = extent(series.accepted(channel).map(|a| lifted(a, middle)));
        let ends = channel.limit.filter(|arc| !arc.is_full() && !arc.is_empty());
        let ends = ends.map(|arc| {
            let half = 0.5 * arc.width().radians();
            if channel.circular {
                [middle - half, middle + half]
            } else {
                [arc.min().radians(), arc.max().radians()]
            }
        });
        let all = seen.into_iter().chain(ends).flatten();
        let [low, high] = extent(all).unwrap_or([0.0, 0.0]);
        // At least two degrees, so that noise looks like noise.
        let (center, half) = (0.5 * (low + high), (0.5 * (high - low)).max(0.0175));
        let duration_s = if series.duration_s > 0.0 { series.duration_s } else { 1.0 };
        Self { middle, low: center - 1.08 * half, high: center + 1.08 * half, at, size, duration_s }
    }

    fn x(&self, time_s: f64) -> f64 {
        self.at.x + self.size.x * (time_s / self.duration_s).clamp(0.0, 1.0)
    }

    fn y(&self, angle: f64) -> f64 {
        let share = ((self.high - angle) / (self.high - self.low)).clamp(0.0, 1.0);
        self.at.y + self.size.y * share
    }

    /// What the limit allows.
    fn band(&self, canvas: &mut Canvas, channel: &Channel) {
        let Some(arc) = channel.limit.filter(|arc| !arc.is_empty()) else { return };
        let (low, high) = if arc.is_full() {
            (self.low, self.high)
        } else if channel.circular {
            let half = 0.5 * arc.width().radians();
            (self.middle - half, self.middle + half)
        } else {
            (arc.min().radians(), arc.max().radians())
        };
        let (top, bottom) = (self.y(high), self.y(low));
        let corner = DVec2::new(self.at.x, top);
        canvas.rectangle("rp-band", corner, DVec2::new(self.size.x, bottom - top), 0.0);
        let line = |y: f64| vec![DVec2::new(self.at.x, y), DVec2::new(self.at.x + self.size.x, y)];
        if !arc.is_full() {
            canvas.path("rp-end", &[line(top), line(bottom)], false);
        }
    }

    /// The curve: all values if they are few, else the least and the largest in each column of pixels.
    /// What was left out is left out, and where the angle goes around the curve is broken. Only of files
    /// with a colour, if one is given.
    fn curve(&self, series: &Series, channel: &Channel, colour: Option<&str>) -> String {
        let mut pen = Pen { data: String::new(), window: self, column: None, x: 0.0, down: false };
        let columns = self.size.x.max(1.0);
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let few = channel.values.len() as f64 <= 1.5 * columns;
        let (mut segment, mut before) = (None, f64::NAN);
        for of in series.timed(channel) {
            let wanted = colour.is_none() || series.colour(&series.segments[of.segment]) == colour;
            let counts = wanted && !of.left_out && of.value.is_finite();
            if segment.replace(of.segment) != Some(of.segment) || !counts {
                pen.lift();
                before = f64::NAN;
            }
            if !counts {
                continue;
            }
            let x = self.x(of.time_s);
            let angle = lifted(of.value, self.middle);
            let around = (angle - before).abs() > PI;
            before = angle;
            if few {
                if around {
                    pen.lift();
                }
                pen.point(x, angle);
            } else {
                pen.gather(x, angle, around);
            }
        }
        pen.lift();
        pen.data
    }

    /// Crosses where values were left out, at most one for each column of pixels.
    fn crosses(&self, series: &Series, channel: &Channel) -> String {
        let mut data = String::new();
        let mut last = f64::NEG_INFINITY;
        for of in series.timed(channel) {
            let x = self.x(of.time_s);
            if of.left_out && of.value.is_finite() && x >= last + 3.0 {
                last = x;
                data.push('M');
                tenths(&mut data, x - 3.0);
                data.push(' ');
                tenths(&mut data, self.y(lifted(of.value, self.middle)) - 3.0);
                data.push_str("l6 6m0-6l-6 6");
            }
        }
        data
    }
}

/// Extremes of one column of pixels, the earlier one first.
#[derive(Clone, Copy)]
struct Column {
    x: f64,
    low: f64,
    high: f64,
    low_first: bool,
}

struct Pen<'a> {
    data: String,
    window: &'a Window,
    column: Option<Column>,
    /// Where it is, if it is down.
    x: f64,
    down: bool,
}

impl Pen<'_> {
    fn point(&mut self, x: f64, angle: f64) {
        if self.down && x == self.x {
            self.data.push('V');
        } else {
            self.data.push(if self.down { 'L' } else { 'M' });
            tenths(&mut self.data, x);
            self.data.push(' ');
        }
        tenths(&mut self.data, self.window.y(angle));
        if !self.down {
            // A value alone is a dot.
            self.data.push_str("h0");
        }
        (self.x, self.down) = (x, true);
    }

    /// Into the column of pixels at `x`; the next one is not joined to it where the angle goes around.
    fn gather(&mut self, x: f64, angle: f64, around: bool) {
        let x = COLUMN * (x / COLUMN).floor();
        match &mut self.column {
            Some(column) if column.x == x => {
                if angle < column.low {
                    (column.low, column.low_first) = (angle, false);
                }
                if angle > column.high {
                    (column.high, column.low_first) = (angle, true);
                }
            }
            _ => {
                self.flush();
                self.down &= !around;
                self.column = Some(Column { x, low: angle, high: angle, low_first: true });
            }
        }
    }

    fn flush(&mut self) {
        let Some(Column { x, low, high, low_first }) = self.column.take() else { return };
        let (first, second) = if low_first { (low, high) } else { (high, low) };
        self.point(x, first);
        if low < high {
            self.point(x + 0.5 * COLUMN, second);
        }
    }

    fn lift(&mut self) {
        self.flush();
        self.down = false;
    }
}

/// All angles of a joint over time, one above the other, and how high that is.
pub(super) fn over_time(series: &Series) -> Option<(Canvas, DVec2)> {
    if series.turns.is_empty() || series.channels.is_empty() {
        return None;
    }
    let mut canvas = Canvas::default();
    let size = DVec2::new(WIDTH - LEFT - RIGHT, HEIGHT);
    let mut y = 0.0;
    for channel in &series.channels {
        y += 14.0;
        let title = format!("{}, degrees", channel.name);
        canvas.text("cl-ink", DVec2::new(LEFT, y), Anchor::Start, &title);
        y += 6.0;
        let window = Window::new(series, channel, DVec2::new(LEFT, y), size);
        panel(&mut canvas, &window, series, channel);
        y += HEIGHT + 8.0;
    }
    y += 6.0;
    let many = series.segments.len() > 1;
    for tick in ticks(0.0, series.duration_s, 10, false) {
        let x = LEFT + size.x * (tick / series.duration_s);
        let text = format!("{}", (tick * 1e6).round() / 1e6);
        let anchor = if x > WIDTH - RIGHT - 12.0 { Anchor::End } else { Anchor::Middle };
        canvas.text("cl-small", DVec2::new(x, y), anchor, &text);
    }
    let text = if many { "seconds, one file after the other" } else { "seconds" };
    canvas.text("cl-small", DVec2::new(LEFT + 0.5 * size.x, y + 14.0), Anchor::Middle, text);
    Some((canvas, DVec2::new(WIDTH, y + 20.0)))
}

fn panel(canvas: &mut Canvas, window: &Window, series: &Series, channel: &Channel) {
    const MOST_FILES: usize = 60;
    let (at, size) = (window.at, window.size);
    canvas.rectangle("rp-panel", at, size, 0.0);
    window.band(canvas, channel);
    let mut grid = Vec::new();
    for tick in ticks(window.low.to_degrees(), window.high.to_degrees(), 4, true) {
        let y = window.y(tick.to_radians());
        grid.push(vec![DVec2::new(at.x, y), DVec2::new(at.x + size.x, y)]);
        let text = degrees(tick.to_radians());
        canvas.text("cl-small", DVec2::new(at.x - 6.0, y + 3.5), Anchor::End, &text);
    }
    for tick in ticks(0.0, series.duration_s, 10, false) {
        let x = window.x(tick);
        grid.push(vec![DVec2::new(x, at.y), DVec2::new(x, at.y + size.y)]);
    }
    canvas.path("cl-grid", &grid, false);
    let starts = series.segments.iter().skip(1).map(|s| window.x(s.start_s));
    let starts = starts.map(|x| vec![DVec2::new(x, at.y), DVec2::new(x, at.y + size.y)]);
    if series.segments.len() <= MOST_FILES {
        canvas.path("rp-file", &starts.collect::<Vec<_>>(), false);
    }
    for colour in series.colours() {
        let class = colour.map_or("rp-curve".to_owned(), |colour| format!("rp-curve {colour}"));
        canvas.data(&class, &window.curve(series, channel, colour));
    }
    canvas.data("rp-cross", &window.crosses(series, channel));
}

/// The angle of a joint that varies most, small.
pub(super) fn sparkline(series: &Series) -> Option<String> {
    const SIZE: DVec2 = DVec2::new(140.0, 26.0);
    let width = |channel: &Channel| {
        let middle = middle(channel.limit, channel.circular);
        let seen = extent(series.accepted(channel).map(|a| lifted(a, middle)));
        seen.map_or(0.0, |[low, high]| high - low)
    };
    // The first of equals.
    let mut best: Option<(f64, &Channel)> = None;
    for channel in &series.channels {
        let width = width(channel);
        if best.is_none_or(|(widest, _)| width > widest) {
            best = Some((width, channel));
        }
    }
    let (_, channel) = best.filter(|_| !series.turns.is_empty())?;
    let mut canvas = Canvas::default();
    let window = Window::new(series, channel, DVec2::ONE, SIZE - 2.0);
    window.band(&mut canvas, channel);
    canvas.data("rp-curve", &window.curve(series, channel, None));
    Some(canvas.embedded(SIZE, &format!("{} over time", channel.name)))
}
