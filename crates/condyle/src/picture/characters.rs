//! The region of a bone's direction as lines of characters.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use crate::limits::{LimitError, SwingTwistLimit};
use crate::math::{Angle, trig};

/// Which characters to draw with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Characters {
    /// Only those of ASCII: one point each.
    Ascii,
    /// Braille of Unicode: eight points each.
    Braille,
}

/// A region as lines of characters, about the bone: the distance from the middle is the angle from
/// the bone, x is to the right, y is up (the azimuthal equidistant projection).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharacterPicture {
    /// The lines, without blanks at their ends.
    pub lines: Vec<String>,
    /// The angle at the rim, a multiple of 30°, in degrees.
    pub rim_deg: u16,
}

/// The points of the picture of so many columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) columns: u32,
    pub(super) rim: f64,
    /// Points per character, across and down; a character is twice as high as wide.
    across: u32,
    down: u32,
}

impl Grid {
    pub(super) fn new(columns: usize, rim_deg: u16, characters: Characters) -> Self {
        let columns = u32::try_from(columns.clamp(8, 60)).unwrap_or(60) / 2 * 2;
        let (across, down) = match characters {
            Characters::Ascii => (1, 1),
            Characters::Braille => (2, 4),
        };
        Self { columns, rim: f64::from(rim_deg).to_radians(), across, down }
    }

    #[cfg(test)]
    pub(super) fn is_braille(self) -> bool {
        self.across == 2
    }

    pub(super) fn rows(self) -> u32 {
        self.columns / 2
    }

    /// Where the middle of a point is, in discs of radius one; `(column, row)` counts points.
    fn place(self, column: u32, row: u32) -> DVec2 {
        let at = |i: u32, n: u32| (2.0 * f64::from(i) + 1.0) / f64::from(n) - 1.0;
        let (w, h) = (self.columns * self.across, self.rows() * self.down);
        DVec2::new(at(column, w), -at(row, h))
    }

    /// The direction that a point shows, in components along x, y and the bone; none beyond the rim.
    pub(super) fn direction(self, column: u32, row: u32) -> Option<DVec3> {
        let p = self.place(column, row);
        let r = trig::hypot(p.x, p.y);
        if r > 1.0 {
            return None;
        }
        let (sin, cos) = trig::sin_cos(r * self.rim);
        let across = if r > 0.0 { p * (sin / r) } else { DVec2::ZERO };
        Some(DVec3::new(across.x, across.y, cos))
    }
}

/// Draws a region, at most `columns` wide (from 8 to 60); as little around it as 30° steps allow.
///
/// A point of Braille is set where `contains` says so at its middle. In ASCII `#` is inside, `.`
/// outside; `@` and `o` are the bone at zero swing, inside and outside. With Braille, characters
/// without any point inside show the rim and the axes as dots.
///
/// # Errors
///
/// If the limit cannot be prepared.
pub fn characters(
    limit: &SwingTwistLimit,
    columns: usize,
    characters: Characters,
) -> Result<CharacterPicture, LimitError> {
    let limit = crate::limits::Limit::SwingTwist(limit.clone());
    let prepared = limit.prepare()?;
    let crate::limits::Limit::SwingTwist(of) = &limit else {
        return Ok(CharacterPicture { lines: Vec::new(), rim_deg: 180 });
    };
    let Some(swing) = prepared.swing() else {
        return Ok(CharacterPicture { lines: Vec::new(), rim_deg: 180 });
    };
    let bone = of.axes.bone();
    let farthest = if swing.contains(-bone) {
        PI
    } else {
        let points = swing.boundary(Angle::from_degrees(1.0)).into_iter().flatten();
        points.map(|d| trig::acos(d.dot(bone).clamp(-1.0, 1.0))).fold(0.0, f64::max)
    };
    let rims = [30_u16, 60, 90, 120, 150];
    let fits = |rim: &&u16| f64::from(**rim).to_radians() > 1.02 * farthest;
    let rim_deg = rims.iter().find(fits).copied().unwrap_or(180);

    let grid = Grid::new(columns, rim_deg, characters);
    let inside = |column, row| {
        grid.direction(column, row).is_some_and(|d| swing.contains(of.axes.vector(d)))
    };
    let mut lines = Vec::new();
    for row in 0..grid.rows() {
        let mut line = String::new();
        for column in 0..grid.columns {
            line.push(match characters {
                Characters::Ascii => ascii(grid, column, row, inside(column, row)),
                Characters::Braille => braille(grid, column, row, inside),
            });
        }
        lines.push(line.trim_end().to_owned());
    }
    Ok(CharacterPicture { lines, rim_deg })
}

fn ascii(grid: Grid, column: u32, row: u32, inside: bool) -> char {
    let middle = column == grid.columns / 2 && row == grid.rows() / 2;
    match (grid.direction(column, row), inside, middle) {
        (None, ..) => ' ',
        (_, true, true) => '@',
        (_, false, true) => 'o',
        (_, true, false) => '#',
        (_, false, false) => '.',
    }
}

fn braille(grid: Grid, column: u32, row: u32, inside: impl Fn(u32, u32) -> bool) -> char {
    // The order of the points in the code: three down on the left, three on the right, the last row.
    const BITS: [[u32; 2]; 4] = [[0, 3], [1, 4], [2, 5], [6, 7]];
    let mut code = 0;
    for (down, bits) in (0..).zip(BITS) {
        for (across, bit) in (0..).zip(bits) {
            if inside(2 * column + across, 4 * row + down) {
                code |= 1 << bit;
            }
        }
    }
    if code != 0 {
        return char::from_u32(0x2800 + code).unwrap_or('#');
    }
    // The rim and the axes, thinly.
    let plain = Grid { across: 1, down: 1, ..grid };
    let p = plain.place(column, row);
    let step = 2.0 / f64::from(grid.columns);
    let r = trig::hypot(p.x, p.y);
    let on_rim = (r - 1.0 + step).abs() < 0.75 * step;
    let on_axis = r < 1.0
        && ((column == grid.columns / 2 && row.is_multiple_of(2))
            || (row == grid.rows() / 2 && column.is_multiple_of(4)));
    if on_rim || on_axis { '·' } else { ' ' }
}
