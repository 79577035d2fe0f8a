//! What a rig may say and hardly means.

use std::f64::consts::TAU;

use super::json::{self, MAX_DEPTH};
use super::path::{self, Step, Steps};
use super::{Position, Rig, RigJoint, RigWarning, RigWarningKind};
use crate::limits::{Limit, SwingLimit, SwingTwistLimit};
use crate::math::{Angle, SwingAxes};
use crate::skeleton::names_near;

/// What is outside of a limit by more should hardly pass, degrees: that of noise of 3.3° about each axis.
const WIDE_DEG: f64 = 10.0;

impl Rig {
    /// What the rig may say and hardly means: polygons that seem to be walked the wrong way, so that
    /// they allow what they were drawn to keep out; couplings of angles that a joint does not have,
    /// perhaps since it was estimated anew and is of another kind; and noise or a tolerance that lets pass
    /// what is more than 10° outside of a limit.
    ///
    /// A polygon is told of if the bone is outside of it and it is larger than a hemisphere. Not
    /// a part of reading, since polygons have to be prepared for it. None of it is a repair.
    ///
    /// ```
    /// use condyle::rig::Rig;
    ///
    /// let text = br#"{ "condyle": 1, "skeleton": { "joints": [] }, "joints": { "Arm": {
    ///   "kind": "ball", "bone_axis": [0, 0, 1], "limit": { "shape": "swing_twist",
    ///     "swing": { "shape": "polygon", "polygons": [
    ///       [[0, -0.6, 0.8], [-0.6, 0, 0.8], [0, 0.6, 0.8], [0.6, 0, 0.8]]] },
    ///     "twist": { "shape": "free" } } } } }"#;
    /// let doubts = Rig::read(text)?.rig.doubts();
    /// assert!(doubts[0].to_string().ends_with("was it meant the other way around?"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn doubts(&self) -> Vec<RigWarning> {
        let mut found = Vec::new();
        for (name, joint) in self.joints.iter() {
            let entry = [Step::Key("joints".into()), Step::Key(name.into())];
            let allowance = joint.allowance();
            if allowance.degrees() > WIDE_DEG {
                let [noise, tolerance] =
                    [joint.noise, joint.tolerance].map(|of| of.map_or(0.0, Angle::degrees));
                let by_noise = 3.0 * noise >= tolerance;
                let field = if by_noise { "noise_deg" } else { "tolerance_deg" };
                let kind = RigWarningKind::WideAllowance { joint: name.to_owned(), allowance };
                found.push((format!("{}.{field}", Steps(&entry)), kind));
            }
            let Limit::SwingTwist(limit) = &joint.limit else { continue };
            let way = format!("{}.limit.swing", Steps(&entry));
            doubt(&limit.swing, &limit.axes, &way, 0, &mut found);
        }
        for coupling in &self.couplings {
            for (side, of) in [("active", &coupling.active), ("passive", &coupling.passive)] {
                let Some(joint) = self.joints.get(&of.joint) else { continue };
                let has = joint.angles();
                if has.contains(&of.angle) {
                    continue;
                }
                let way = [Step::Key("couplings".into()), Step::Key(coupling.name.as_str().into())];
                let (name, kind, angle) = (of.joint.clone(), joint.kind, of.angle);
                let kind = RigWarningKind::NoSuchAngle { joint: name, kind, angle, has };
                found.push((format!("{}.{side}.angle", Steps(&way)), kind));
            }
        }
        let text = self.origin.as_deref().filter(|_| !found.is_empty());
        let root = text.and_then(|text| Some((text, json::parse(text).ok()?)));
        let position =
            |path: &str| root.as_ref().map(|(t, root)| Position::of(t, path::find(root, path).0));
        found
            .into_iter()
            .map(|(path, kind)| RigWarning { position: position(&path), path, kind, file: None })
            .collect()
    }

    /// What a person made or [changed](RigJoint::is_edited) for joints that the skeleton has not got, as
    /// one of a misspelt name: it limits nothing.
    #[must_use]
    pub fn idle_edits(&self) -> Vec<RigWarning> {
        let idle = |(name, joint): &(&str, &RigJoint)| {
            joint.is_edited() && self.skeleton.find(name).is_none()
        };
        let told = |(name, _): (&str, &RigJoint)| {
            let names = self.skeleton.joints().iter().map(|joint| joint.name.as_str());
            let near = names_near(names, name).first().map(|&near| near.to_owned());
            let way = [Step::Key("joints".into()), Step::Key(name.into())];
            let (path, kind) = (Steps(&way).to_string(), RigWarningKind::IdleEdit { near });
            RigWarning { path, kind, position: None, file: None }
        };
        self.joints.iter().filter(idle).map(told).collect()
    }
}

/// Looks at the polygons of a swing; in `not` they are meant to be outside.
fn doubt(
    swing: &SwingLimit,
    axes: &SwingAxes,
    way: &str,
    depth: usize,
    found: &mut Vec<(String, RigWarningKind)>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    match swing {
        SwingLimit::Polygons(polygons) => {
            for (i, polygon) in polygons.iter().enumerate() {
                let swing = SwingLimit::Polygons(vec![polygon.clone()]);
                let alone = SwingTwistLimit { axes: *axes, swing, ..SwingTwistLimit::default() };
                // What cannot be prepared is an error elsewhere.
                let Ok(prepared) = Limit::SwingTwist(alone).prepare() else { continue };
                let Some(region) = prepared.swing() else { continue };
                // The sphere has 4π.
                let share = region.area() / (2.0 * TAU);
                if share > 0.5 && !region.contains(axes.bone()) {
                    found
                        .push((format!("{way}.polygons[{i}]"), RigWarningKind::Reversed { share }));
                }
            }
        }
        SwingLimit::All(parts) | SwingLimit::Any(parts) => {
            for (i, part) in parts.iter().enumerate() {
                doubt(part, axes, &format!("{way}.of[{i}]"), depth + 1, found);
            }
        }
        SwingLimit::Grown { of, .. } => doubt(of, axes, &format!("{way}.of"), depth + 1, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubts(swing: &str) -> Vec<String> {
        let text = format!(
            r#"{{"condyle": 1, "skeleton": {{"joints": []}}, "joints": {{"a": {{"kind": "ball",
"bone_axis": [0, 0, 1], "limit": {{"shape": "swing_twist", "twist": {{"shape": "free"}}, "swing":
{swing}}}}}}}}}"#
        );
        let rig = Rig::read(text.as_bytes()).unwrap().rig;
        rig.doubts().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_allowance_of_more_than_ten_degrees_is_doubted() {
        let doubts = |fields: &str| -> Vec<(String, RigWarningKind)> {
            let text = format!(
                r#"{{"condyle": 1, "skeleton": {{"joints": []}}, "joints": {{"a b": {{{fields},
"kind": "hinge", "axis": [1, 0, 0]}}}}}}"#
            );
            let doubts = Rig::read(text.as_bytes()).unwrap().rig.doubts();
            doubts
                .into_iter()
                .map(|d| (format!("{}:{}", d.position.unwrap(), d.path), d.kind))
                .collect()
        };
        let wide = |degrees: f64| {
            let allowance = Angle::from_degrees(degrees);
            RigWarningKind::WideAllowance { joint: "a b".to_owned(), allowance }
        };
        assert_eq!(doubts("\"noise_deg\": 3.3, \"tolerance_deg\": 10"), []);
        let [noise, tolerance] = ["noise", "tolerance"]
            .map(|of| move |at: &str| format!("1:{at}:joints[\"a b\"].{of}_deg"));
        assert_eq!(doubts("\"noise_deg\": 4"), [(noise("76"), wide(12.0))]);
        assert_eq!(doubts("\"tolerance_deg\": 11"), [(tolerance("80"), wide(11.0))]);
        let both = doubts("\"noise_deg\": 4, \"tolerance_deg\": 11");
        assert_eq!(both, [(noise("76"), wide(12.0))]);
        assert!(both[0].1.to_string().contains("12.0°"), "{}", both[0].1);
    }

    #[test]
    fn a_polygon_walked_the_wrong_way_is_doubted() {
        let polygon = |corners: &str| format!(r#"{{"shape": "polygon", "polygons": [{corners}]}}"#);
        let right = "[[0.6, 0, 0.8], [0, 0.6, 0.8], [-0.6, 0, 0.8], [0, -0.6, 0.8]]";
        let wrong = "[[0, -0.6, 0.8], [-0.6, 0, 0.8], [0, 0.6, 0.8], [0.6, 0, 0.8]]";
        // A hole far from the bone.
        let hole = "[[0.8, 0.6, 0], [0.8, 0, 0.6], [0.8, -0.6, 0]]";
        assert!(doubts(&polygon(right)).is_empty());
        assert!(doubts(&polygon(hole)).is_empty());
        // A square pyramid of half side a and height 1 takes up 4 asin(a² / (1 + a²)); here a² is
        // 9/32, and that is 7 % of the sphere.
        let told = doubts(&polygon(&format!("{right}, {wrong}")));
        assert_eq!(
            told,
            [
                "3:99: joints.a.limit.swing.polygons[1]: the bone is outside of the polygon, which has \
              93 % of the sphere inside: was it meant the other way around?"
            ]
        );
        let deep = format!(
            r#"{{"shape": "all", "of": [{{"shape": "free"}}, {{"shape": "grown", "by_deg": 1,
               "of": {}}}]}}"#,
            polygon(wrong)
        );
        assert!(doubts(&deep)[0].contains("joints.a.limit.swing.of[1].of.polygons[0]: "));
        assert!(doubts(&format!(r#"{{"shape": "not", "of": {}}}"#, polygon(wrong))).is_empty());
        // What cannot be prepared is not doubted but wrong.
        assert!(doubts(&polygon("[[1, 0, 0], [-1, 0, 0], [0, 1, 0]]")).is_empty());
    }
}
