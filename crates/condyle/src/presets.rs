//! Limits of human joints from published ranges, each value with its source.
//!
//! The data files are in `crates/condyle/presets`, `docs/presets.md` lists their values. They are
//! starting points: ranges differ between people by tens of degrees.
//!
//! ```
//! use condyle::glam::DVec3;
//! use condyle::math::{Angle, Rotation};
//! use condyle::presets;
//!
//! let hip = presets::find("hip").ok_or("no hip")?;
//! // x is forward, y up, z to the right; the thigh hangs along −y.
//! let limit = hip.joint.limit.prepare()?;
//! let out = Rotation::about_x(Angle::from_degrees(-40.0));
//! assert!(limit.contains(out));
//! // On the left, out is the other way.
//! let left = hip.joint.mirrored(DVec3::Z)?.limit.prepare()?;
//! assert!(!left.contains(out) && left.contains(out.inverse()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::rig::RigJoint;
pub use crate::rig::preset::{Citation, Frame, Motion, Preset, Side, Status};

/// Name and text of a data file.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../presets/", $name, ".json")))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "shoulder",
    "shoulder-twist",
    "shoulder-ellipse",
    "elbow",
    "forearm",
    "wrist",
    "hip",
    "knee",
    "ankle",
    "neck",
    "thoracic",
    "lumbar",
    "thoracolumbar",
];

/// Their names, from the arm to the leg to the back.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// All of them, read from their data files.
#[must_use]
pub fn all() -> Vec<Preset> {
    FILES.iter().filter_map(|(name, text)| Preset::read(name, text).ok()).collect()
}

/// The preset of a name, read from its data file.
#[must_use]
pub fn find(name: &str) -> Option<Preset> {
    let (name, text) = FILES.iter().find(|(n, _)| *n == name)?;
    Preset::read(name, text).ok()
}

/// Whether an entry is that of a preset, or of its mirror image, as it comes along.
#[must_use]
pub fn is_one(joint: &RigJoint) -> bool {
    let Some(content) = joint.content_hash() else { return false };
    let is = |entry: RigJoint| entry.content_hash() == Some(content) && entry.soft == joint.soft;
    all().iter().any(|of| is(of.entry()) || of.left_entry().is_ok_and(is))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fmt::Write as _;
    use std::path::Path;

    use glam::DVec3;

    use super::*;
    use crate::limits::{Limit, PreparedLimit, SwingLimit, SwingTwistLimit, TwistBounds};
    use crate::math::{Angle, Rotation, SwingAxes, SwingTwist, direct_rotation, trig, unit};
    use crate::rig::{JointKind, Rig, Source};
    use crate::skeleton::Skeleton;
    use crate::synth::Rng;

    fn deg(degrees: f64) -> Angle {
        Angle::from_degrees(degrees)
    }

    /// The rotation, in anatomical coordinates, that takes the bone to a direction without twist.
    fn swing_to(bone: DVec3, direction: DVec3) -> Rotation {
        direct_rotation(bone, direction).unwrap().rotation
    }

    /// The pose at some angle of a motion, in anatomical coordinates.
    fn pose(preset: &Preset, motion: Motion, degrees: f64) -> Rotation {
        let signed = |positive: bool| deg(if positive { degrees } else { -degrees });
        let about = |axis, angle| Rotation::from_axis_angle(axis, angle).unwrap();
        let bone = preset.bone;
        match motion {
            Motion::Swing { from, toward } => {
                let from = from.unwrap_or(bone);
                assert!(from.dot(toward).abs() < 1e-12, "{}", preset.name);
                let (sin, cos) = trig::sin_cos(deg(degrees).radians());
                swing_to(bone, from * cos + toward * sin)
            }
            Motion::Twist { positive, at } => {
                swing_to(bone, at.unwrap_or(bone)) * about(bone, signed(positive))
            }
            Motion::Hinge { positive } => {
                let Limit::Hinge { axis, .. } = &preset.joint.limit else { panic!("no hinge") };
                about(*axis, signed(positive))
            }
            Motion::Universal { axis, positive } => {
                let Limit::Universal { axes, .. } = &preset.joint.limit else { panic!("not two") };
                about(axes[axis], signed(positive))
            }
        }
    }

    #[test]
    fn presets_are_known_as_such_when_they_are_read_again_and_not_when_they_were_changed() {
        for preset in all() {
            for entry in [Some(preset.entry()), preset.left_entry().ok()].into_iter().flatten() {
                let rig = Rig::new(Skeleton::new(), [("Joint", entry)].into_iter().collect());
                let text = rig.write().unwrap();
                let mut back = Rig::read(&text).unwrap().rig;
                let joint = back.joints.get_mut("Joint").unwrap();
                assert!(is_one(joint), "{}", preset.name);
                joint.noise = Some(deg(1.0));
                assert!(!is_one(joint), "{}", preset.name);
            }
        }
    }

    #[test]
    fn b14_every_preset_is_read_and_prepared_and_allows_its_zero_pose() {
        assert_eq!(all().len(), FILES.len());
        let mut seen = HashSet::new();
        for (name, text) in FILES {
            let preset = Preset::read(name, text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(seen.insert(*name) && find(name).is_some(), "{name} twice");
            assert_eq!(preset.joint.source, Some(Source::Preset), "{name}");
            let limit = preset.joint.limit.prepare().unwrap();
            assert!(limit.contains(preset.joint.center.inverse()), "{name}");
            // It is an entry of a rig document, with nothing that looks misspelt.
            let document = format!(
                r#"{{"condyle": 1, "skeleton": {{"joints": [{{"name": "J", "offset_m": [0, 0, 0]}}]}},
                "joints": {{"J": {text}}}}}"#
            );
            let read = Rig::read(document.as_bytes()).unwrap();
            assert!(read.warnings.is_empty(), "{name}: {:?}", read.warnings);
        }
        assert!(find("tail").is_none());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), FILES.len());
    }

    /// A swing is about where the bone points: overhead an arm has to turn on the way.
    #[test]
    fn b14_every_cited_arc_ends_where_it_says() {
        let contains = |limit: &PreparedLimit, motion: Motion, bone: DVec3, m: Rotation| match (
            motion,
            limit.swing(),
        ) {
            (Motion::Swing { .. }, Some(region)) => region.contains(m * bone),
            _ => limit.contains(m),
        };
        let mut motions = 0;
        for preset in all() {
            let limit = preset.joint.limit.prepare().unwrap();
            let left = preset.joint.mirrored(DVec3::Z).unwrap();
            let left_limit = left.limit.prepare().unwrap();
            for citation in &preset.citations {
                let Some(motion) = citation.motion else { continue };
                let what = format!("{}: {}", preset.name, citation.what);
                for (step, inside) in [(-0.5, true), (0.5, false)] {
                    let pose = pose(&preset, motion, citation.value_deg + step);
                    let m = preset.joint.center.inverse() * pose;
                    assert_eq!(contains(&limit, motion, preset.bone, m), inside, "{what} {step}");
                    // The other side: z, to the right, changes its sign.
                    let [w, x, y, z] = pose.to_wxyz();
                    let mirrored = Rotation::from_wxyz([w, -x, -y, z]).unwrap();
                    let m = left.center.inverse() * mirrored;
                    // Bones that come in pairs have no part along z.
                    let bone = preset.bone;
                    assert_eq!(
                        contains(&left_limit, motion, bone, m),
                        inside,
                        "left {what} {step}"
                    );
                }
                motions += 1;
            }
        }
        assert!(motions > 50, "{motions}");
    }

    #[test]
    fn b14_limits_have_no_end_that_is_not_cited() {
        for preset in all() {
            let has = |motion: Motion| preset.citations.iter().any(|c| c.motion == Some(motion));
            let both = |of: fn(bool) -> Motion| {
                assert!(has(of(true)) && has(of(false)), "{}", preset.name);
            };
            match preset.joint.kind {
                JointKind::Hinge => both(|positive| Motion::Hinge { positive }),
                JointKind::Universal => {
                    both(|positive| Motion::Universal { axis: 0, positive });
                    both(|positive| Motion::Universal { axis: 1, positive });
                }
                _ => {
                    both(|positive| Motion::Twist { positive, at: None });
                    assert!(preset.construction.is_some(), "{}", preset.name);
                    let swings = preset.citations.iter().filter_map(|c| c.motion);
                    let swings = swings.filter(|m| matches!(m, Motion::Swing { .. })).count();
                    assert!(swings >= 4, "{}", preset.name);
                }
            }
        }
    }

    #[test]
    fn b14_polygons_of_quarters_of_ellipses_are_what_they_say() {
        let mut tested = 0;
        for preset in all() {
            let Limit::SwingTwist(limit) = &preset.joint.limit else { continue };
            let SwingLimit::Polygons(polygons) = &limit.swing else { continue };
            if preset.construction.as_ref().is_none_or(|c| !c.contains("24 corners")) {
                continue;
            }
            let forward = DVec3::X;
            let aside = preset.bone.cross(forward);
            let value = |direction: DVec3| {
                let found = preset
                    .citations
                    .iter()
                    .find(|c| c.motion == Some(Motion::Swing { from: None, toward: direction }));
                found.unwrap().value_deg
            };
            assert_eq!(polygons[0].len(), 24);
            // The swing's rotation vector is across the way that the bone goes.
            let axes = SwingAxes::new(preset.bone, Some(forward)).unwrap();
            for corner in &polygons[0] {
                let swing = SwingTwist::from_rotation(swing_to(preset.bone, *corner), &axes).swing;
                let [p, q] = [swing.y.degrees(), -swing.x.degrees()];
                let p = p / value(if p > 0.0 { forward } else { -forward });
                let q = q / value(if q > 0.0 { aside } else { -aside });
                // Nine digits in the file; the smallest arc has 19 degrees.
                assert!((p * p + q * q - 1.0).abs() < 1e-7, "{}: {corner}", preset.name);
            }
            tested += 1;
        }
        assert_eq!(tested, 4);
    }

    #[test]
    fn b14_the_shoulders_twist_is_105_wide_or_104_to_160() {
        let width = |name: &str| -> Vec<f64> {
            let Limit::SwingTwist(limit) = find(name).unwrap().joint.limit else { panic!() };
            match limit.twist.bounds {
                TwistBounds::Arc(arc) => vec![arc.width().degrees()],
                TwistBounds::BySwing(at) => at.iter().map(|a| a.arc.width().degrees()).collect(),
                TwistBounds::Free => vec![],
            }
        };
        for name in ["shoulder", "shoulder-ellipse"] {
            assert!((width(name)[0] - 105.0).abs() < 1e-9);
        }
        let widths = width("shoulder-twist");
        let [min, max] = [f64::min, f64::max].map(|f| widths.iter().copied().reduce(f).unwrap());
        assert!((min - 104.0).abs() < 1e-9 && (max - 160.0).abs() < 1e-9);
    }

    /// What their `construction` says about zero twist.
    #[test]
    fn b14_the_shoulders_zero_twist_is_clinical_up_to_the_horizontal() {
        let mut rng = Rng::new(1);
        for name in ["shoulder", "shoulder-ellipse", "shoulder-twist"] {
            let joint = find(name).unwrap().joint;
            let limit = joint.limit.prepare().unwrap();
            let region = limit.swing().unwrap();
            let back = joint.center.inverse();
            let pose =
                |d: DVec3, twist: f64| swing_to(DVec3::NEG_Y, d) * Rotation::about_y(deg(-twist));
            // Divided as 70 to 90, whatever the width.
            let zero = |d: DVec3| {
                let edge = |sign: f64| {
                    let (mut inside, mut outside) = (0.0, 175.0);
                    while outside - inside > 1e-3 {
                        let middle = 0.5 * (inside + outside);
                        if limit.contains(back * pose(d, sign * middle)) {
                            inside = middle;
                        } else {
                            outside = middle;
                        }
                    }
                    sign * inside
                };
                let (min, max) = (edge(-1.0), edge(1.0));
                min + (max - min) * 70.0 / 160.0
            };
            let mut worst: f64 = 0.0;
            for _ in 0..3000 {
                let d = rng.direction();
                if d.y < 0.0 && region.contains(back * d) {
                    worst = worst.max(zero(d).abs());
                }
            }
            // Found: 2.4.
            assert!(worst < 3.0, "{name}: {worst}");
            for exact in [DVec3::NEG_Y, DVec3::X, DVec3::Z] {
                assert!(zero(exact).abs() < 0.01, "{name}: {}", zero(exact));
            }
            // Overhead: by how much it has to turn, towards either side.
            for (toward, sign, least) in [(DVec3::X, -1.0, 31.5), (DVec3::Z, 1.0, 45.0)] {
                let d = unit(DVec3::Y + toward * 1e-4).unwrap();
                let allowed = |turn: f64| limit.contains(back * pose(d, sign * turn));
                let turns: Vec<f64> = (0..90).map(f64::from).filter(|t| allowed(*t)).collect();
                assert!((turns[0] - least).abs() < 0.9, "{name} {toward}: {turns:?}");
            }
        }
    }

    /// The farthest that two projections are apart whose rotations are 0.1 degrees apart.
    #[test]
    fn near_rotations_have_near_projections_as_long_as_the_bone_is_inside() {
        let mut rng = Rng::new(2);
        for preset in all() {
            let Limit::SwingTwist(SwingTwistLimit { axes, .. }) = &preset.joint.limit else {
                continue;
            };
            let limit = preset.joint.limit.prepare().unwrap();
            let region = limit.swing().unwrap();
            let back = preset.joint.center.inverse();
            let special = [DVec3::Y, DVec3::NEG_Y, DVec3::X, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Z];
            let mut checked = 0;
            for i in 0..1500 {
                let near = special[rng.below(6)] + rng.direction() * rng.between(0.0, 0.1);
                let d = if i % 2 == 0 { rng.direction() } else { unit(back * near).unwrap() };
                if !region.contains(d) {
                    continue;
                }
                let zero = swing_to(axes.bone(), d);
                let rolled = |degrees: f64| {
                    zero * Rotation::from_axis_angle(axes.bone(), deg(degrees)).unwrap()
                };
                // Not in the middle of the gap of the twist.
                let farthest = (0..180).map(|k| limit.distance(rolled(2.0 * f64::from(k))));
                let farthest = farthest.map(Angle::degrees).fold(0.0, f64::min);
                let m = rolled(rng.between(0.0, 360.0));
                let other = Rotation::exp(rng.direction() * deg(0.1).radians()).unwrap() * m;
                if limit.distance(m).degrees() < farthest + 3.0
                    || !region.contains(other * axes.bone())
                {
                    continue;
                }
                checked += 1;
                let apart = limit.project(m).distance(limit.project(other)).degrees();
                // Found: 0.34.
                assert!(apart < 1.0, "{}: {apart} at {d}", preset.name);
            }
            assert!(checked > 100, "{}: {checked}", preset.name);
        }
    }

    /// The part of `docs/presets.md` that has values.
    fn tables() -> String {
        let mut text = String::from("| preset | kind | ranges in degrees |\n| --- | --- | --- |\n");
        for preset in all() {
            let ends = preset.citations.iter().filter(|c| c.motion.is_some());
            let ends: Vec<String> = ends.map(|c| format!("{} {}", c.what, c.value_deg)).collect();
            let (name, kind) = (preset.name, preset.joint.kind);
            writeln!(text, "| [{name}](#{name}) | {kind} | {} |", ends.join(", ")).unwrap();
        }
        text.push('\n');
        let mut sources: Vec<String> = Vec::new();
        for preset in all() {
            let Preset { name, title, frame, .. } = &preset;
            write!(text, "### {name}\n\n{title}.\n\n").unwrap();
            write!(text, "- Space: {}.\n- Bone: {}.\n", frame.space, frame.bone).unwrap();
            write!(text, "- Zero: {}\n- Senses: {}\n", frame.zero, frame.senses).unwrap();
            if let Some(construction) = &preset.construction {
                writeln!(text, "- Constructed: {construction}").unwrap();
            }
            text.push_str("\n| motion | degrees | status | source | notes |\n");
            text.push_str("| --- | --- | --- | --- | --- |\n");
            for c in &preset.citations {
                let source = format!("{}, {}, {}", c.who, c.year, c.place);
                let number = sources.iter().position(|s| *s == source).unwrap_or_else(|| {
                    sources.push(source);
                    sources.len() - 1
                });
                let notes: Vec<&str> =
                    [&c.second, &c.note].into_iter().flatten().map(String::as_str).collect();
                let (what, value, status) = (&c.what, c.value_deg, c.status.as_str());
                let (number, notes) = (number + 1, notes.join("; "));
                writeln!(text, "| {what} | {value} | {status} | {number} | {notes} |").unwrap();
            }
            text.push('\n');
        }
        text.push_str("## Sources\n\n");
        for (i, source) in sources.iter().enumerate() {
            writeln!(text, "{}. {source}", i + 1).unwrap();
        }
        text.push_str("\n## Unverified values\n\n");
        for preset in all() {
            for c in preset.citations.iter().filter(|c| c.status == Status::Unverified) {
                writeln!(text, "- {}: {}, {}", preset.name, c.what, c.value_deg).unwrap();
            }
        }
        text
    }

    #[test]
    fn the_manual_has_the_values_of_the_data_files() {
        const BEGINS: &str = "<!-- From the data files. -->\n\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/presets.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (head, found) = page.split_once(BEGINS).expect("the mark where the tables begin");
        let tables = tables();
        if found != tables && std::env::var_os("CONDYLE_BLESS").is_some() {
            std::fs::write(&path, format!("{head}{BEGINS}{tables}")).unwrap();
            return;
        }
        let hint = "CONDYLE_BLESS=1 writes them anew";
        for (line, expected) in found.lines().zip(tables.lines()) {
            assert_eq!(line, expected, "{hint}");
        }
        assert_eq!(found.lines().count(), tables.lines().count(), "{hint}");
    }
}
