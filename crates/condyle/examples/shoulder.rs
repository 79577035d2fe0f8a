//! How do I keep a shoulder from dislocating?
//!
//! ```sh
//! cargo run --example shoulder                   # wild rotations, and what becomes of them
//! cargo run --example shoulder -- shoulder.svg   # also a picture of the limit
//! ```

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use condyle::glam::DVec3;
use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit};
use condyle::math::{Angle, Arc, Rotation, SwingAxes, SwingKind, SwingTwist};

/// A left arm along x. Swings are in degrees about the axis to the back and about the vertical.
pub(crate) fn shoulder() -> Option<Limit> {
    let axes = SwingAxes::new(DVec3::X, Some(DVec3::NEG_Z))?;
    let toward =
        |(x, y): (f64, f64)| SwingKind::AxisAngle.direction(&axes, [x, y].map(Angle::from_degrees));
    // Where the arm may point: counter-clockwise seen from outside, concave behind the back.
    let about_x = [0.0, -45.0, -95.0, -90.0, -10.0, 60.0, 85.0, 65.0, 30.0];
    let about_y = [40.0, 30.0, 10.0, -75.0, -125.0, -95.0, -15.0, 40.0, 12.0];
    let corners = about_x.into_iter().zip(about_y).map(toward).collect::<Option<_>>()?;
    // How far it may roll, there and in between.
    let rolls = [
        ((0.0, 0.0), -90.0, 60.0),
        ((-90.0, 0.0), -35.0, 50.0),
        ((0.0, -90.0), -70.0, 40.0),
        ((80.0, 0.0), -80.0, 95.0),
    ];
    let roll = |(at, min, max)| {
        Some(TwistAt { direction: toward(at)?, arc: Arc::from_degrees(min, max)? })
    };
    let rolls = rolls.into_iter().map(roll).collect::<Option<_>>()?;
    Some(Limit::SwingTwist(SwingTwistLimit {
        axes,
        swing: SwingLimit::Polygons(vec![corners]),
        twist: TwistLimit { bounds: TwistBounds::BySwing(rolls), ..TwistLimit::default() },
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    let limit = shoulder().ok_or("an arc or direction is none")?;
    let prepared = limit.prepare()?; // once
    let Limit::SwingTwist(SwingTwistLimit { axes, .. }) = &limit else { unreachable!() };
    let shown = |r: Rotation| {
        let SwingTwist { swing, twist } = SwingTwist::from_rotation(r, axes);
        let [x, y, twist] = [swing.x, swing.y, twist].map(Angle::degrees);
        format!("{x:6.1} {y:6.1} {twist:6.1}")
    };
    println!("swing x, y and twist in degrees\n{:>20}   {:>20}   outside by", "wanted", "allowed");
    for frame in 0..12 {
        // An animator's wildest dream: the arm whirls about, and rolls.
        let turn = Angle::from_degrees(f64::from(frame) * 30.0);
        let wild = Rotation::about_z(turn) * Rotation::about_y(turn) * Rotation::about_x(turn);
        let allowed = prepared.project(wild); // every frame
        let outside = (-prepared.distance(wild).degrees()).max(0.0);
        println!("{}   {}   {outside:6.1}", shown(wild), shown(allowed));
    }
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, condyle::picture::of_limit("Left shoulder", &limit)?)?;
    }
    Ok(())
}
