//! Couplings as they stand in a document.

use std::collections::HashSet;

use super::coupling::{AngleOf, Coupling, JointAngle, Rule};
use super::cursor::{Cursor, Notes};
use super::fields::{COUPLING_SHAPES, ObjectKind};
use super::json::{Fault, Field, Node};
use super::maps::{curve, curve_tree, named};
use super::{RigErrorKind, RigJoints, RigWarningKind, Source, write};
use crate::maps::Curve;
use crate::math::Angle;
use crate::skeleton::Skeleton;

/// What the field `couplings` says.
pub(super) fn read(
    cursor: &Cursor<'_>,
    joints: &RigJoints,
    skeleton: &Skeleton,
    notes: &mut Notes,
) -> Result<Vec<Coupling>, Fault> {
    let mut couplings = Vec::new();
    named(cursor, |name, of| {
        couplings.push(coupling(name, of, joints, skeleton, notes)?);
        Ok(())
    })?;
    Ok(couplings)
}

fn coupling(
    name: &str,
    cursor: &Cursor<'_>,
    joints: &RigJoints,
    skeleton: &Skeleton,
    notes: &mut Notes,
) -> Result<Coupling, Fault> {
    let does = cursor.required("does")?.word("thing for an angle to do", COUPLING_SHAPES)?;
    cursor.spelling(ObjectKind::Coupling, notes);
    let mut side = |key| angle_of(&cursor.required(key)?, joints, skeleton, notes);
    let (active, passive) = (side("active")?, side("passive")?);
    if active.joint == passive.joint {
        let of = cursor.required("passive")?;
        return Err(of.out_of_range("another joint than the active one", &active.joint));
    }
    let mut function = |of: Cursor<'_>| -> Result<Curve, Fault> {
        let curve = curve(&of, notes)?;
        match curve.prepare() {
            Ok(_) => Ok(curve),
            Err(error) => Err(of.out_of_range("a function with rising points", &error.to_string())),
        }
    };
    let rule = if does == "drive" {
        Rule::Drive { curve: function(cursor.required("curve")?)? }
    } else {
        let lower = cursor.field("lower").map(&mut function).transpose()?;
        let upper = match cursor.field("upper") {
            None if lower.is_none() => {
                return Err(cursor.fault(RigErrorKind::Missing { field: "lower or upper" }));
            }
            upper => upper.map(&mut function).transpose()?,
        };
        Rule::Bound { lower, upper }
    };
    let angle = |key: &'static str| {
        let read = |c: Cursor<'_>| c.number_within(0.0, f64::MAX, "an angle, not negative");
        Ok::<_, Fault>(cursor.field(key).map(read).transpose()?.map(Angle::from_degrees))
    };
    let ends = |list: Cursor<'_>| {
        let [low, high] = list.numbers("2 numbers")?;
        if low > high {
            let found = format!("{low} before {high}");
            return Err(list.out_of_range("two angles, the lower one first", &found));
        }
        Ok([low, high].map(Angle::from_degrees))
    };
    let share = |c: Cursor<'_>| c.number_within(0.0, 1.0, "a number from 0 to 1");
    let source = |c: Cursor<'_>| {
        let word = c.word("source of a coupling", &Source::NAMES)?;
        Ok::<_, Fault>(Source::ALL.into_iter().find(|s| s.as_str() == word))
    };
    Ok(Coupling {
        name: name.to_owned(),
        active,
        passive,
        rule,
        seen: cursor.field("seen_deg").map(ends).transpose()?,
        uncertain: angle("uncertain_deg")?,
        residual: if does == "drive" { angle("residual_deg")? } else { None },
        false_share: cursor.field("false_share").map(share).transpose()?,
        source: cursor.field("source").map(source).transpose()?.flatten(),
    })
}

fn angle_of(
    cursor: &Cursor<'_>,
    joints: &RigJoints,
    skeleton: &Skeleton,
    notes: &mut Notes,
) -> Result<AngleOf, Fault> {
    cursor.object()?;
    cursor.spelling(ObjectKind::AngleOf, notes);
    let of = cursor.required("joint")?;
    let joint = of.text()?.to_owned();
    let word = cursor.required("angle")?;
    if joints.get(&joint).is_none() && skeleton.find(&joint).is_none() {
        notes.add(&of, RigWarningKind::UnknownJoint { name: joint.clone() });
    }
    // Which of them the joint has goes with its kind, which an estimate may change: see doubts.
    let angle = word.word("angle of a joint", &JointAngle::NAMES)?;
    let angle = JointAngle::ALL.into_iter().find(|a| a.as_str() == angle);
    Ok(AngleOf { joint, angle: angle.unwrap_or(JointAngle::Turn) })
}

/// The field `couplings` of a document; `None` if there are none.
pub(super) fn tree(couplings: &[Coupling]) -> Option<Node<'static>> {
    // Of two with one name, the last counts, as in a table.
    let mut names = HashSet::new();
    let mut fields: Vec<Field<'static>> = couplings
        .iter()
        .rev()
        .filter(|of| names.insert(of.name.as_str()))
        .map(|of| Field::new(of.name.clone(), coupling_tree(of)))
        .collect();
    fields.reverse();
    (!fields.is_empty()).then(|| Node::object(fields))
}

fn coupling_tree(of: &Coupling) -> Node<'static> {
    let side = |of: &AngleOf| {
        Node::object(vec![
            Field::new("joint", Node::string(of.joint.clone())),
            Field::new("angle", Node::string(of.angle.as_str())),
        ])
    };
    let (does, functions) = match &of.rule {
        Rule::Drive { curve } => ("drive", vec![("curve", Some(curve))]),
        Rule::Bound { lower, upper } => {
            ("bound", vec![("lower", lower.as_ref()), ("upper", upper.as_ref())])
        }
    };
    let mut fields = vec![
        Field::new("does", Node::string(does)),
        Field::new("active", side(&of.active)),
        Field::new("passive", side(&of.passive)),
    ];
    for (key, curve) in functions {
        fields.extend(curve.map(|curve| Field::new(key, curve_tree(curve))));
    }
    let degrees = |angle: Angle| write::degrees(angle);
    let number = write::number;
    fields.extend(of.seen.map(|ends| {
        let [low, high] = ends.map(degrees);
        // Rounding may swap what is the same but for the last digit.
        Field::new("seen_deg", write::numbers(&[low.min(high), high.max(low)]))
    }));
    let residual = of.residual.filter(|_| does == "drive");
    for (key, angle) in [("uncertain_deg", of.uncertain), ("residual_deg", residual)] {
        fields.extend(angle.map(|angle| Field::new(key, number(degrees(angle)))));
    }
    fields.extend(of.false_share.map(|share| Field::new("false_share", number(share))));
    fields.extend(of.source.map(|source| Field::new("source", Node::string(source.as_str()))));
    Node::object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Rotation;
    use crate::rig::Rig;

    const TEXT: &str = r#"{"condyle": 1, "skeleton": {"joints": []}, "joints": {
  "Arm": {"kind": "ball", "bone_axis": [0, 0, 1], "limit": {"shape": "swing_twist",
    "swing": {"shape": "free"}, "twist": {"shape": "free"}}},
  "Knee": {"kind": "hinge", "axis": [1, 0, 0], "limit": {"shape": "arc", "min_deg": 0, "max_deg": 140}},
  "Pin": {"kind": "fixed"}},
"couplings": {
  "mine": {"does": "bound", "active": {"joint": "Knee", "angle": "turn"},
    "passive": {"joint": "Arm", "angle": "x", "why": "kept"},
    "upper": {"shape": "points", "points": [[0, 90.0], [140, 120]]}, "seen_deg": [0, 140],
    "source": "edited"}}}"#;

    #[test]
    fn a_coupling_is_read_used_and_written_back_as_it_was() {
        let read = Rig::read(TEXT.as_bytes()).unwrap();
        let mut rig = read.rig;
        let mine = &rig.couplings[0];
        let [low, high] = mine.allowed(Angle::from_degrees(70.0).radians()).unwrap().unwrap();
        assert!(low == f64::NEG_INFINITY && (high.to_degrees() - 105.0).abs() < 1e-9);
        assert_eq!(mine.allowed(Angle::from_degrees(141.0).radians()).unwrap(), None);
        // The knee is bent by 70°, and its angle is that.
        let knee = rig.joints.get("Knee").unwrap();
        let bent = Rotation::about_x(Angle::from_degrees(70.0));
        let turn = knee.angle(JointAngle::Turn, bent).unwrap();
        assert!((turn.to_degrees() - 70.0).abs() < 1e-9);
        let plain = |text: &str| text.split_whitespace().collect::<String>();
        let same = String::from_utf8(rig.write().unwrap()).unwrap();
        assert_eq!(plain(&same), plain(TEXT));
        rig.couplings[0].seen = Some([0.0, 130.0].map(Angle::from_degrees));
        let changed = String::from_utf8(rig.write().unwrap()).unwrap();
        assert_eq!(plain(&changed), plain(&TEXT.replace("[0, 140],", "[0, 130],")));
        rig.couplings.clear();
        assert!(!String::from_utf8(rig.write().unwrap()).unwrap().contains("couplings"));
    }

    /// Estimated anew, a joint may be of another kind: what was written by hand stays.
    #[test]
    fn an_angle_that_a_joint_does_not_have_is_kept_and_doubted() {
        let doubts = |from: &str, to: &str| {
            assert!(TEXT.contains(from), "{from}");
            let text = TEXT.replacen(from, to, 1);
            let rig = Rig::read(text.as_bytes()).unwrap().rig;
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            let same = String::from_utf8(rig.write().unwrap()).unwrap();
            assert_eq!(plain(&same), plain(&text));
            rig.doubts().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(doubts("edited", "edited").is_empty());
        let told = doubts("\"angle\": \"x\"", "\"angle\": \"turn\"");
        assert!(told.len() == 1 && told[0].contains("couplings.mine.passive.angle"), "{told:?}");
        assert!(told[0].contains("ball \"Arm\"") && told[0].contains("x, y, twist"), "{told:?}");
        let told = doubts("{\"joint\": \"Arm\"", "{\"joint\": \"Pin\"");
        assert!(told.len() == 1 && told[0].contains("fixed \"Pin\" has no angle"), "{told:?}");

        let mut rig = Rig::read(TEXT.as_bytes()).unwrap().rig;
        let hinge =
            crate::limits::Limit::Hinge { axis: glam::DVec3::X, arc: crate::math::Arc::FULL };
        let fresh = crate::rig::RigJoint::new(crate::rig::JointKind::Hinge, hinge);
        let fresh = Rig::new(Skeleton::new(), [("Arm", fresh)].into_iter().collect());
        assert!(rig.update(fresh).is_empty());
        assert_eq!(rig.doubts().len(), 1);
        let again = Rig::read(&rig.write().unwrap()).unwrap().rig;
        assert_eq!(again.couplings, Rig::read(TEXT.as_bytes()).unwrap().rig.couplings);
    }

    #[test]
    fn errors_say_where_in_the_couplings() {
        let says = |from: &str, to: &str| {
            assert!(TEXT.contains(from), "{from}");
            Rig::read(TEXT.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
        };
        let error = says("\"angle\": \"x\"", "\"angle\": \"bend\"");
        assert!(
            error.contains("couplings.mine.passive.angle") && error.contains("twist"),
            "{error}"
        );
        let error = says("\"Arm\", \"angle\": \"x\"", "\"Knee\", \"angle\": \"turn\"");
        assert!(error.contains("another joint"), "{error}");
        let error = says("[140, 120]", "[0, 120]");
        assert!(error.contains("mine.upper") && error.contains("right of"), "{error}");
        let error = says("\"upper\"", "\"above\"");
        assert!(error.contains("couplings.mine") && error.contains("upper"), "{error}");
        let error = says("\"bound\"", "\"push\"");
        assert!(error.contains("mine.does") && error.contains("drive"), "{error}");
        let error = says("[0, 140]", "[150, 140]");
        assert!(error.contains("seen_deg"), "{error}");
        let warned =
            Rig::read(TEXT.replacen("{\"joint\": \"Arm\"", "{\"joint\": \"Leg\"", 1).as_bytes());
        assert!(warned.unwrap().warnings.iter().any(|w| w.to_string().contains("Leg")));
    }
}
