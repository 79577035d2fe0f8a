//! Pictures and figures of limits (B13).
//!
//! [`of_limit`], [`of_joint`] and [`of_rig`] draw SVG; [`characters()`] draws for a terminal;
//! [`Figures`] has the numbers. Pictures are text that is the same on every machine, need no fonts or
//! files beside them, and follow the light or dark setting of whoever looks.
//!
//! A ball joint is drawn as a globe, after the globographic pictures of P. Baerlocher, R. Boulic,
//! "Parametrization and range of motion of the ball-and-socket joint" (2001), figures 9 to 14: where
//! the bone may point is a region on it, and dials here and there show the twist that is allowed. The
//! globe is seen along the bone, x to the right and y up, and once more from behind, turned by half
//! a turn about y, so that regions of any size are seen whole. Other kinds have a dial per angle.

pub(crate) mod axis;
pub(crate) mod card;
mod characters;
pub(crate) mod dial;
pub(crate) mod document;
mod figures;
mod globe;
pub(crate) mod svg;
#[cfg(test)]
pub(crate) mod tests;

use glam::DVec2;

use crate::limits::{Limit, LimitError};
use crate::rig::{Rig, RigError, RigJoint};

pub use characters::{CharacterPicture, Characters, characters};
pub use figures::{Figures, SwingFigures};

use card::{Size, card, joint_of};
use svg::Canvas;

/// A picture of a limit, as the text of an SVG document.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::limits::Limit;
/// use condyle::math::Arc;
///
/// let arc = Arc::from_degrees(0.0, 140.0).ok_or("no arc")?;
/// let knee = Limit::Hinge { axis: DVec3::X, arc };
/// let svg = condyle::picture::of_limit("knee", &knee)?;
/// assert!(svg.starts_with("<svg") && svg.contains("140°"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the limit cannot be prepared.
pub fn of_limit(name: &str, limit: &Limit) -> Result<String, LimitError> {
    of_joint(name, &joint_of(limit))
}

/// A picture of a joint of a rig, as the text of an SVG document.
///
/// # Errors
///
/// If its limit cannot be prepared; [`Rig::limit_error`] tells where in the document.
pub fn of_joint(name: &str, joint: &RigJoint) -> Result<String, LimitError> {
    let size = Size::ALONE;
    let card = card(name, joint, size)?;
    let words = format!("{name}: {}", card.words);
    Ok(card.canvas.document(DVec2::new(size.width, size.height), name, &words))
}

/// A sheet with all joints of a rig that have an entry, in their order, as the text of an SVG
/// document.
///
/// # Errors
///
/// If a limit cannot be prepared.
pub fn of_rig(name: &str, rig: &Rig) -> Result<String, RigError> {
    const GAP: f64 = 12.0;
    const TOP: f64 = 44.0;
    let size = Size::CELL;
    let count = u32::try_from(rig.joints.len()).unwrap_or(u32::MAX);
    let columns = count.clamp(1, 3);
    let rows = count.div_ceil(columns);
    let step = DVec2::new(size.width + GAP, size.height + GAP);
    let whole = DVec2::new(GAP + f64::from(columns) * step.x, TOP + GAP + f64::from(rows) * step.y);
    let words = if count == 1 {
        "1 joint and what it can do".to_owned()
    } else {
        format!("{count} joints and what they can do")
    };
    let mut sheet = Canvas::default();
    let title = svg::fitted(&format!("{name}: {words}"), 15.0, whole.x - 2.0 * GAP);
    sheet.text("cl-name", DVec2::new(GAP + 4.0, 32.0), svg::Anchor::Start, &title);
    for (i, (joint_name, joint)) in (0_u32..).zip(rig.joints.iter()) {
        let card = card(joint_name, joint, size).map_err(|e| rig.limit_error(joint_name, &e))?;
        let place = DVec2::new(f64::from(i % columns), f64::from(i / columns));
        let at = DVec2::new(GAP, TOP + GAP) + place * step;
        sheet.rectangle("cl-card", at, DVec2::new(size.width, size.height), 8.0);
        sheet.group(&format!("{joint_name}: {}", card.words), at, &card.canvas);
    }
    Ok(sheet.document(whole, name, &words))
}
