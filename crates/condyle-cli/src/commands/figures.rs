//! Figures of limits in words, for tables.

use condyle::limits::LimitError;
use condyle::math::{Angle, Arc};
use condyle::picture::{Figures, SwingFigures};
use condyle::report::WrittenRange;
use condyle::rig::RigJoint;

/// Tenths of a degree, none that are zero.
pub(super) fn degrees(angle: Angle) -> String {
    trimmed(format!("{:.1}", angle.degrees()))
}

fn trimmed(text: String) -> String {
    let text = text.strip_suffix(".0").map(str::to_owned).unwrap_or(text);
    if text == "-0" { "0".to_owned() } else { text }
}

pub(super) fn range([low, high]: [Angle; 2]) -> String {
    format!("{} to {}", degrees(low), degrees(high))
}

pub(super) fn of_arc(arc: Arc) -> String {
    if arc.is_full() { "any".to_owned() } else { range(arc.ends_about_zero()) }
}

/// [`range`] for a table.
pub(super) fn short_range(ends: [Angle; 2]) -> String {
    range(ends).replace(" to ", "..")
}

/// [`of_arc`] for a table.
pub(super) fn short_arc(arc: Arc) -> String {
    of_arc(arc).replace(" to ", "..")
}

/// A share of the sphere.
pub(super) fn percent(share: f64) -> String {
    let share = 100.0 * share;
    if share < 10.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

/// The twists of a joint in a table. A range that turns with the swing may come to every twist.
pub(super) fn twist(swing: &SwingFigures) -> String {
    if swing.twist.is_full() && !swing.is_any_twist() {
        return format!("{} wide", degrees(swing.twist_width[1]));
    }
    short_arc(swing.twist)
}

/// The figures of an entry's limit, if it makes sense as geometry.
pub(super) fn figures_of(joint: &RigJoint) -> Result<Figures, LimitError> {
    Figures::of(&joint.limit, joint.center)
}

/// What a limit allows, in one line for a table: `0.3..141.7`; `-20..45, -15..12`;
/// `x -60..80, y -30..95, twist -40..70` with whole degrees.
pub(super) fn in_a_line(figures: &Figures) -> String {
    if let Some(s) = &figures.swing {
        let whole = |a: Angle| trimmed(format!("{:.0}", a.degrees()));
        let ends = |ends: [Angle; 2]| format!("{}..{}", whole(ends[0]), whole(ends[1]));
        let twist = if s.is_any_twist() {
            "any".to_owned()
        } else if s.twist.is_full() {
            format!("{} wide", whole(s.twist_width[1]))
        } else {
            ends(s.twist.ends_about_zero())
        };
        return format!("x {}, y {}, twist {twist}", ends(s.x), ends(s.y));
    }
    with_written(figures, &[])
}

/// The same, each angle with what the files have for it where that differs: `0..120 (rx -120..0)`.
pub(super) fn with_written(figures: &Figures, written: &[Option<WrittenRange>]) -> String {
    match figures.arcs.as_slice() {
        [] if figures.swing.is_some() => in_a_line(figures),
        [] if figures.shape == "free" => "any".to_owned(),
        arcs => {
            let written = written.iter().copied().chain(std::iter::repeat(None));
            let each = arcs.iter().zip(written).map(|((_, arc), written)| match written {
                Some(WrittenRange { channel, ends, .. }) => {
                    format!("{} ({channel} {})", short_arc(*arc), short_range(ends))
                }
                None => short_arc(*arc),
            });
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Kind and limit of an entry in words, with the area where that says how large it is.
pub(super) fn in_words(joint: &RigJoint) -> String {
    let Ok(figures) = figures_of(joint) else { return format!("{}, no limit", joint.kind) };
    let line = in_a_line(&figures);
    let area = figures.swing.as_ref().map(|s| format!(", {} of the sphere", percent(s.share())));
    format!("{} {line}{}", joint.kind, area.unwrap_or_default()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use condyle::glam::DVec3;
    use condyle::limits::{Limit, SwingTwistLimit};
    use condyle::rig::JointKind;

    use super::*;

    #[test]
    fn entries_are_told_in_a_line() {
        let arc = Arc::from_degrees(-0.04, 141.66).unwrap();
        let knee = RigJoint::new(JointKind::Hinge, Limit::Hinge { axis: DVec3::X, arc });
        assert_eq!(in_words(&knee), "hinge 0..141.7");
        let axes = [DVec3::X, DVec3::Z];
        let ankle =
            RigJoint::new(JointKind::Universal, Limit::Universal { axes, arcs: [arc, Arc::FULL] });
        assert_eq!(in_words(&ankle), "universal 0..141.7, any");
        assert_eq!(in_words(&RigJoint::new(JointKind::Fixed, Limit::Locked)), "fixed");
        assert_eq!(in_words(&RigJoint::new(JointKind::Ball, Limit::Free)), "ball any");
        let ball = Limit::SwingTwist(SwingTwistLimit::default());
        assert_eq!(
            in_words(&RigJoint::new(JointKind::Ball, ball)),
            "ball x -180..180, y -180..180, twist any, 100 % of the sphere"
        );
    }
}
