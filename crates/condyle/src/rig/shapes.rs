//! Limits, swings and twists as they stand in a document.

use glam::{DVec2, DVec3};

use super::cursor::{Cursor, Notes};
use super::fields::{LIMIT_SHAPES, ObjectKind, SWING_SHAPES, TWIST_OFFSET_SHAPES, TWIST_SHAPES};
use super::json::Fault;
use super::{JointKind, RigErrorKind};
use crate::limits::{
    EulerBox, Limit, SwingLimit, SwingTwistLimit, TwistAt, TwistBounds, TwistLimit, TwistOffset,
};
use crate::math::{Angle, Arc, EulerOrder, SwingAxes};

const ORDERS: &[&str] =
    &["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"];

/// The axes of a joint, those that its kind has no use for included: they are kept, and have to be
/// axes.
struct Axes<'e> {
    entry: &'e Cursor<'e>,
    axis: Option<DVec3>,
    axes: Option<[DVec3; 2]>,
    bone: Option<DVec3>,
    x: Option<DVec3>,
}

impl<'e> Axes<'e> {
    fn read(entry: &'e Cursor<'e>, notes: &mut Notes) -> Result<Self, Fault> {
        let axis = |key, notes: &mut Notes| {
            entry.field(key).map(|c: Cursor<'_>| c.direction(notes)).transpose()
        };
        Ok(Self {
            entry,
            axis: axis("axis", notes)?,
            axes: entry
                .field("axes")
                .map(|c| c.exactly("2 axes", |axis| axis.direction(notes)))
                .transpose()?,
            bone: axis("bone_axis", notes)?,
            x: axis("x_axis", notes)?,
        })
    }

    fn required<T>(&self, value: Option<T>, field: &'static str) -> Result<T, Fault> {
        value.ok_or_else(|| self.entry.fault(RigErrorKind::Missing { field }))
    }

    fn swing_axes(&self) -> Result<SwingAxes, Fault> {
        let bone = self.required(self.bone, "bone_axis")?;
        let axes = match self.x {
            Some(x) => {
                SwingAxes::from_orthonormal(bone, x).or_else(|| SwingAxes::new(bone, Some(x)))
            }
            None => SwingAxes::new(bone, None),
        };
        axes.ok_or_else(|| {
            let x = self.entry.field("x_axis");
            x.as_ref().unwrap_or(self.entry).fault(RigErrorKind::AlongBone)
        })
    }
}

/// The limit of a joint. None means that only the kind restricts it.
pub(super) fn limit(
    entry: &Cursor<'_>,
    kind: JointKind,
    notes: &mut Notes,
) -> Result<Limit, Fault> {
    let given = entry.field("limit");
    let shape = match &given {
        None if kind == JointKind::Fixed => "locked",
        None => "free",
        Some(limit) => {
            let field = limit.required("shape")?;
            let shape = field.word("shape of a limit", LIMIT_SHAPES)?;
            if !kind.shapes().contains(&shape) {
                return Err(field.fault(RigErrorKind::Misfit { kind, shape }));
            }
            limit.spelling(ObjectKind::Limit, notes);
            shape
        }
    };
    let axes = Axes::read(entry, notes)?;
    // A shape that has parts was given.
    let given = || given.as_ref().unwrap_or(entry);
    // What a hinge or universal joint that is locked or free can do about an axis.
    let simple = || {
        let zero = Arc::point(Angle::ZERO).unwrap_or(Arc::EMPTY);
        if shape == "locked" { zero } else { Arc::FULL }
    };
    Ok(match kind {
        JointKind::Fixed => Limit::Locked,
        JointKind::Free => Limit::Free,
        JointKind::Hinge => Limit::Hinge {
            axis: axes.required(axes.axis, "axis")?,
            arc: if shape == "arc" { given().arc()? } else { simple() },
        },
        JointKind::Universal => Limit::Universal {
            axes: axes.required(axes.axes, "axes")?,
            arcs: if shape == "arcs" {
                given().required("arcs")?.arcs("2 arcs", notes)?
            } else {
                [simple(); 2]
            },
        },
        JointKind::Ball => match shape {
            "euler_box" => {
                let order = given().required("order")?;
                let word = order.word("order of Euler angles", ORDERS)?;
                let order: EulerOrder = word.parse().unwrap_or(EulerOrder::ZYZ);
                let arcs = given().required("arcs")?.arcs("3 arcs", notes)?;
                Limit::EulerBox(EulerBox { order, arcs })
            }
            "swing_twist" => Limit::SwingTwist(SwingTwistLimit {
                axes: axes.swing_axes()?,
                swing: swing(&given().required("swing")?, notes)?,
                twist: twist(&given().required("twist")?, notes)?,
            }),
            "locked" => Limit::Locked,
            // The axes are worth keeping also where nothing is limited yet.
            _ if axes.bone.is_some() => Limit::SwingTwist(SwingTwistLimit {
                axes: axes.swing_axes()?,
                ..SwingTwistLimit::default()
            }),
            _ => Limit::Free,
        },
    })
}

/// The depth of the tree bounds that of the recursion.
fn swing(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<SwingLimit, Fault> {
    let shape = cursor.required("shape")?.word("shape of a swing limit", SWING_SHAPES)?;
    cursor.spelling(ObjectKind::Swing, notes);
    const CORNERS: &str = "at least 3 directions";
    let radius = |field| -> Result<Angle, Fault> {
        let degrees =
            cursor.required(field)?.number_within(0.0, 180.0, "an angle from 0 to 180")?;
        Ok(Angle::from_degrees(degrees))
    };
    Ok(match shape {
        "ellipse" => SwingLimit::Ellipse { rx: radius("rx_deg")?, ry: radius("ry_deg")? },
        "polygon" => SwingLimit::Polygons(cursor.required("polygons")?.items(
            1,
            "at least one polygon",
            |polygon| polygon.items(3, CORNERS, |corner| corner.direction(notes)),
        )?),
        "cone_planar" => SwingLimit::PlanarCone(cursor.required("points")?.items(
            3,
            "at least 3 points",
            |point| Ok(DVec2::from_array(point.numbers("2 numbers")?)),
        )?),
        "reach_cone" => SwingLimit::ReachCone {
            boundary: cursor
                .required("boundary")?
                .items(3, CORNERS, |corner| corner.direction(notes))?,
            rest: cursor.required("rest_dir")?.direction(notes)?,
        },
        "box" => SwingLimit::Box {
            alpha: cursor.required("alpha")?.whole_arc(notes)?,
            beta: cursor.required("beta")?.whole_arc(notes)?,
        },
        "all" => SwingLimit::All(parts(cursor, notes)?),
        "any" => SwingLimit::Any(parts(cursor, notes)?),
        "not" => SwingLimit::Not(Box::new(swing(&cursor.required("of")?, notes)?)),
        "grown" => {
            let by = cursor.required("by_deg")?;
            let degrees = by.number_within(-180.0, 180.0, "an angle from -180 to 180")?;
            let of = Box::new(swing(&cursor.required("of")?, notes)?);
            SwingLimit::Grown { of, by: Angle::from_degrees(degrees) }
        }
        _ => SwingLimit::Free,
    })
}

fn parts(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<Vec<SwingLimit>, Fault> {
    cursor.required("of")?.items(0, "swing limits", |part| swing(part, notes))
}

fn twist(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<TwistLimit, Fault> {
    let shape = cursor.required("shape")?.word("shape of a twist limit", TWIST_SHAPES)?;
    cursor.spelling(ObjectKind::Twist, notes);
    let bounds = match shape {
        "arc" => TwistBounds::Arc(cursor.arc()?),
        "by_swing" => {
            let at = cursor.required("at")?.items(1, "at least one direction", |at| {
                at.spelling(ObjectKind::TwistAt, notes);
                let direction = at.required("dir")?.direction(notes)?;
                Ok(TwistAt { direction, arc: at.arc()? })
            })?;
            TwistBounds::BySwing(at)
        }
        _ => TwistBounds::Free,
    };
    let offset = match cursor.field("offset") {
        Some(offset) => twist_offset(&offset, notes)?,
        None => TwistOffset::None,
    };
    Ok(TwistLimit { bounds, offset })
}

fn twist_offset(cursor: &Cursor<'_>, notes: &mut Notes) -> Result<TwistOffset, Fault> {
    let shape = cursor.required("shape")?.word("shape of a twist offset", TWIST_OFFSET_SHAPES)?;
    cursor.spelling(ObjectKind::TwistOffset, notes);
    Ok(if shape == "from" {
        TwistOffset::From(cursor.required("dir")?.direction(notes)?)
    } else {
        let at = cursor.required("at")?.items(1, "at least one direction", |at| {
            at.spelling(ObjectKind::OffsetAt, notes);
            let direction = at.required("dir")?.direction(notes)?;
            Ok((direction, Angle::from_degrees(at.required("deg")?.number()?)))
        })?;
        TwistOffset::BySwing(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_orders_are_those_of_euler_angles() {
        assert_eq!(EulerOrder::ALL.map(EulerOrder::as_str), *ORDERS);
    }
}
