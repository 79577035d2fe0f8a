//! The distances of windows as a map.

use std::fmt::Write as _;

use glam::DVec2;

use super::{SeamView, rounded};
use crate::edit::DistanceMatrix;
use crate::edit::blend::as_f64;
use crate::picture::axis::ticks;
use crate::picture::svg::{Anchor, Canvas, fitted};

/// How many rows and columns are drawn at most.
const MOST: usize = 256;
/// The longer side, in pixels.
const SIDE: f64 = 380.0;
const LEFT: f64 = 46.0;
const TOP: f64 = 24.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 66.0;

/// Colours from near to far.
///
/// # Source
///
/// Every 32nd of the colour map viridis by S. van der Walt and N. Smith, 2015, which is in the public
/// domain: even steps to the eye, also of the colour-blind and on grey paper.
const COLOURS: [[f64; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 45.0, 123.0],
    [59.0, 82.0, 139.0],
    [44.0, 114.0, 142.0],
    [33.0, 145.0, 140.0],
    [40.0, 174.0, 128.0],
    [94.0, 201.0, 98.0],
    [173.0, 220.0, 48.0],
    [253.0, 231.0, 37.0],
];

pub(super) fn add(text: &mut String, matrix: &DistanceMatrix, view: &SeamView<'_>) {
    let Some(map) = Map::of(matrix) else { return };
    let size = map.size + DVec2::new(LEFT + RIGHT, TOP + BOTTOM);
    let words = format!(
        "the distances of windows, {} {} at the chosen frames",
        rounded(view.distance),
        view.unit
    );
    let _ = writeln!(
        text,
        "<figure class=\"heat\">{}<figcaption>How far apart windows of {} frames are that begin in these frames; dark \
         is near. The cross is what was chosen.</figcaption></figure>",
        map.draw(view).embedded(size, &words),
        view.window.frames
    );
}

struct Map<'a> {
    matrix: &'a DistanceMatrix,
    /// Which rows and columns are drawn.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// Distances of the darkest and of the lightest colour.
    ends: [f64; 2],
    /// In pixels.
    size: DVec2,
}

impl<'a> Map<'a> {
    /// `None` if there is nothing to draw.
    fn of(matrix: &'a DistanceMatrix) -> Option<Self> {
        let (rows, columns) = (some(matrix.a_frames.len()), some(matrix.b_frames.len()));
        let mut all: Vec<f64> =
            matrix.distances.iter().copied().filter(|d| d.is_finite()).collect();
        if rows.is_empty() || columns.is_empty() || all.is_empty() {
            return None;
        }
        all.sort_unstable_by(f64::total_cmp);
        // A few that are very far do not make all others look the same.
        let ends = [all[0], all[(all.len() - 1) * 49 / 50]];
        let frames = |frames: &[usize]| match frames {
            [first, .., last] => as_f64(last.saturating_sub(*first)) + 1.0,
            _ => 1.0,
        };
        let share = DVec2::new(frames(&matrix.b_frames), frames(&matrix.a_frames));
        let size = (share * (SIDE / share.max_element())).max(DVec2::splat(0.4 * SIDE));
        Some(Self { matrix, rows, columns, ends, size })
    }

    /// From 0, the nearest, to 1.
    fn share(&self, row: usize, column: usize) -> f64 {
        let i = row.saturating_mul(self.matrix.b_frames.len()).saturating_add(column);
        let [near, far] = self.ends;
        match self.matrix.distances.get(i) {
            Some(d) if d.is_finite() && far > near => ((d - near) / (far - near)).clamp(0.0, 1.0),
            Some(d) if d.is_finite() => 0.0,
            _ => 1.0,
        }
    }

    /// A bitmap with a colour for each pair of windows.
    fn bitmap(&self) -> Vec<u8> {
        // Rows are from below, and each begins at a multiple of four bytes.
        let mut pixels = Vec::new();
        for row in self.rows.iter().rev() {
            pixels
                .extend(self.columns.iter().map(|column| byte(255.0 * self.share(*row, *column))));
            pixels.resize(pixels.len().next_multiple_of(4), 0);
        }
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
        const HEAD: usize = 14 + 40 + 4 * 256;
        let mut file = b"BM".to_vec();
        file.extend(number(HEAD + pixels.len()));
        file.extend([0; 4]);
        file.extend(number(HEAD));
        file.extend(number(40));
        file.extend(number(self.columns.len()));
        file.extend(number(self.rows.len()));
        // One plane, 8 bits, as they are; the size; pixels per metre, of no interest; 256 colours.
        file.extend([1, 0, 8, 0, 0, 0, 0, 0]);
        file.extend(number(pixels.len()));
        file.extend([0; 8]);
        file.extend(number(256));
        file.extend([0; 4]);
        for i in 0..=255_u8 {
            let [red, green, blue] = colour(f64::from(i) / 255.0);
            file.extend([blue, green, red, 0]);
        }
        file.extend(pixels);
        file
    }

    fn draw(&self, view: &SeamView<'_>) -> Canvas {
        let mut canvas = Canvas::default();
        let at = DVec2::new(LEFT, TOP);
        canvas.image(at, self.size, &format!("data:image/bmp;base64,{}", base64(&self.bitmap())));
        canvas.rectangle("sm-frame", at, self.size, 0.0);
        let x = |frame: f64| Some(at.x + self.size.x * place(&self.matrix.b_frames, frame)?);
        let y = |frame: f64| Some(at.y + self.size.y * place(&self.matrix.a_frames, frame)?);
        let mut marks = Vec::new();
        for tick in round_frames(&self.matrix.b_frames) {
            let Some(x) = x(tick) else { continue };
            let foot = DVec2::new(x, at.y + self.size.y);
            marks.push(vec![foot, foot + DVec2::new(0.0, 4.0)]);
            let place = foot + DVec2::new(0.0, 14.0);
            canvas.text("cl-small", place, Anchor::Middle, &format!("{tick}"));
        }
        for tick in round_frames(&self.matrix.a_frames) {
            let Some(y) = y(tick) else { continue };
            let foot = DVec2::new(at.x, y);
            marks.push(vec![foot, foot - DVec2::new(4.0, 0.0)]);
            let place = foot + DVec2::new(-7.0, 3.5);
            canvas.text("cl-small", place, Anchor::End, &format!("{tick}"));
        }
        canvas.path("cl-tick", &marks, false);
        let name = |i: usize, words: &str| {
            fitted(&format!("{words} {}", view.names[i]), 11.0, self.size.x + LEFT)
        };
        canvas.text("sm-first", DVec2::new(4.0, 14.0), Anchor::Start, &name(0, "↓ frame of"));
        let end = DVec2::new(at.x + self.size.x, at.y + self.size.y + 30.0);
        canvas.text("sm-second", end, Anchor::End, &name(1, "→ frame of"));

        let chosen = (x(as_f64(view.window.second)), y(as_f64(view.window.first)));
        if let (Some(x), Some(y)) = chosen {
            let cross = [
                vec![DVec2::new(x, at.y), DVec2::new(x, at.y + self.size.y)],
                vec![DVec2::new(at.x, y), DVec2::new(at.x + self.size.x, y)],
            ];
            canvas.path("sm-hair", &cross, false);
            let arm = 8.0;
            let cross = [
                vec![DVec2::new(x - arm, y - arm), DVec2::new(x + arm, y + arm)],
                vec![DVec2::new(x - arm, y + arm), DVec2::new(x + arm, y - arm)],
            ];
            canvas.path("sm-cross-back", &cross, false);
            canvas.path("sm-cross", &cross, false);
        }
        self.scale(&mut canvas, view, at + DVec2::new(0.0, self.size.y + 42.0));
        canvas
    }

    /// Which colour is how far.
    fn scale(&self, canvas: &mut Canvas, view: &SeamView<'_>, at: DVec2) {
        const STEPS: u32 = 32;
        let width = 0.5 * self.size.x;
        for i in 0..STEPS {
            let share = f64::from(i) / f64::from(STEPS - 1);
            let [red, green, blue] = colour(share);
            let corner = at + DVec2::new(width * f64::from(i) / f64::from(STEPS), 0.0);
            let step = DVec2::new(width / f64::from(STEPS) + 0.5, 8.0);
            canvas.filled(&format!("#{red:02x}{green:02x}{blue:02x}"), corner, step);
        }
        let [near, far] = self.ends.map(|d| format!("{} {}", rounded(d), view.unit));
        let below = at + DVec2::new(0.0, 20.0);
        canvas.text("cl-small", below, Anchor::Start, &near);
        let far = format!("{far} and more");
        canvas.text("cl-small", below + DVec2::new(width, 0.0), Anchor::Middle, &far);
    }
}

/// All of some indices, or as many as are drawn, evenly.
fn some(count: usize) -> Vec<usize> {
    if count <= MOST {
        return (0..count).collect();
    }
    let (count, most) = (count as u128, MOST as u128);
    (0..most).map(|i| usize::try_from(i * (count - 1) / (most - 1)).unwrap_or(usize::MAX)).collect()
}

/// Where a frame is among some that are evenly spread, from 0 to 1; none if it is not among them.
fn place(frames: &[usize], frame: f64) -> Option<f64> {
    let (first, last) = (as_f64(*frames.first()?), as_f64(*frames.last()?));
    let inside = (first..=last).contains(&frame);
    let cells = as_f64(frames.len());
    let share = if last > first { (frame - first) / (last - first) } else { 0.0 };
    // The middle of its cell.
    inside.then_some((share * (cells - 1.0) + 0.5) / cells)
}

fn round_frames(frames: &[usize]) -> Vec<f64> {
    let (Some(first), Some(last)) = (frames.first(), frames.last()) else { return Vec::new() };
    if first == last {
        return vec![as_f64(*first)];
    }
    ticks(as_f64(*first), as_f64(*last), 6, false)
        .into_iter()
        .filter(|t| t.fract() == 0.0)
        .collect()
}

fn colour(share: f64) -> [u8; 3] {
    let steps = as_f64(COLOURS.len() - 1);
    let at = (share * steps).clamp(0.0, steps);
    let below = usize::from(byte(at.floor())).min(COLOURS.len() - 2);
    let (a, b, t) = (COLOURS[below], COLOURS[below + 1], at - as_f64(below));
    std::array::from_fn(|i| byte(a[i] + (b[i] - a[i]) * t))
}

fn byte(x: f64) -> u8 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let byte = x.round().clamp(0.0, 255.0) as u8;
    byte
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let six = (bits >> (18 - 6 * i) & 63) as usize;
            text.push(if i <= three.len() { char::from(LETTERS[six]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_standard() {
        let coded = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|s| base64(s.as_bytes()));
        let standard = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(coded, standard);
    }

    #[test]
    fn frames_are_in_the_middle_of_their_cells() {
        assert_eq!(place(&[10, 11, 12, 13], 10.0), Some(0.125));
        assert_eq!(place(&[10, 11, 12, 13], 13.0), Some(0.875));
        assert_eq!(place(&[10], 10.0), Some(0.5));
        assert_eq!(place(&[10, 20], 21.0), None);
        assert_eq!(place(&[], 0.0), None);
    }

    /// The bitmap is read again: the nearest pair is the darkest pixel, in its row and column.
    #[test]
    fn the_nearest_pair_is_the_darkest_pixel() {
        let (rows, columns) = (5_usize, 6_usize);
        let distances = (0..rows * columns)
            .map(|i| {
                let (r, c) = (i / columns, i % columns);
                as_f64(r.abs_diff(1) + c.abs_diff(4)) + 2.0
            })
            .collect();
        let matrix = DistanceMatrix {
            a_frames: (0..rows).collect(),
            b_frames: (0..columns).collect(),
            distances,
        };
        let file = Map::of(&matrix).unwrap().bitmap();
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((number(2), number(18), number(22)), (file.len(), columns, rows));
        let (start, stride) = (number(10), columns.next_multiple_of(4));
        assert_eq!(file.len(), start + rows * stride);
        let mut darkest = (u32::MAX, 0, 0);
        for r in 0..rows {
            for c in 0..columns {
                let pixel = usize::from(file[start + (rows - 1 - r) * stride + c]);
                let colour = &file[54 + 4 * pixel..][..3];
                let light: u32 = colour.iter().map(|c| u32::from(*c)).sum();
                darkest = darkest.min((light, r, c));
            }
        }
        assert_eq!((darkest.1, darkest.2), (1, 4));
    }
}
