//! Joint kinds and limits from motion.

#![allow(dead_code, reason = "used by the estimator, which follows")]

mod boundary;
mod ellipse;

use glam::DVec3;

/// [`unit`](crate::math::unit), at a fifth of the cost where squares neither overflow nor underflow.
fn unit(v: DVec3) -> Option<DVec3> {
    let squared = v.length_squared();
    if squared > 1e-200 && squared < 1e200 {
        Some(v / squared.sqrt())
    } else {
        crate::math::unit(v)
    }
}
