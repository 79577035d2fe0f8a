//! Estimates of real motion.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use condyle::anatomy::Anatomy;
use condyle::enforce::BoundRig;
use condyle::estimate::{EstimateOptions, Take, estimate};
use condyle::formats::{MotionFile, ReadOptions, read, read_file};
use condyle::glam::DVec3;
use condyle::limits::{Limit, TwistBounds, TwistOffset};
use condyle::math::Angle;
use condyle::motion::Clip;
use condyle::picture::Figures;
use condyle::report::{self, About, written_ranges};
use condyle::rig::{EndOf, JointKind, Rig, RigJoint};
use condyle::synth::{Figure, Options, Synth};

use crate::acclaim::skeleton_of;
use crate::same_take::takes;
use crate::shared::{files, shared};

/// The standard deviations of a joint about its principal axes, degrees.
fn spread(clip: &Clip, joint: condyle::skeleton::JointIndex) -> [f64; 3] {
    let rotations = clip.track(joint).rotations();
    let mean = condyle::math::mean_rotation(rotations.iter().map(|r| (r, 1.0))).unwrap();
    let mut m = [[0.0; 3]; 3];
    let logs: Vec<_> = rotations.iter().map(|r| (mean.rotation.inverse() * r).log()).collect();
    let middle = logs.iter().sum::<DVec3>() / logs.len() as f64;
    for v in &logs {
        let v = (*v - middle).to_array();
        for i in 0..3 {
            for j in 0..3 {
                m[i][j] += v[i] * v[j] / logs.len() as f64;
            }
        }
    }
    condyle::math::symmetric_eigen(m).unwrap().values.map(|v| v.max(0.0).sqrt().to_degrees())
}

#[test]
fn declared_kinds_are_found_in_both_forms_of_a_take() {
    let (mut moving, mut right) = (0, 0);
    for (amc, bvh) in takes() {
        for file in [&amc, &bvh] {
            let clip = file.clip.as_ref().unwrap();
            let take = Take { skeleton: &file.skeleton, clip };
            let found = estimate(&[take], &EstimateOptions::default()).unwrap();
            for j in amc.skeleton.indices().skip(1) {
                let [first, second, third] = spread(amc.clip.as_ref().unwrap(), j);
                if first <= 2.0 {
                    continue;
                }
                let dofs = amc.skeleton[j].declared.dofs.as_ref().map_or(0, |dofs| {
                    dofs.iter().filter(|d| d.dof.rotation_axis().is_some()).count()
                });
                let entry: &RigJoint = found.joints.get(&file.skeleton[j].name).unwrap();
                let good = match dofs {
                    0 => entry.kind == JointKind::Fixed,
                    1 => entry.kind == JointKind::Hinge,
                    2 => matches!(entry.kind, JointKind::Universal | JointKind::Ball),
                    _ => {
                        entry.kind == JointKind::Ball
                            || (entry.kind == JointKind::Universal && third < 1.0)
                    }
                };
                moving += 1;
                right += usize::from(good);
                if !good {
                    println!(
                        "{:?} {}: declared {dofs}, {:?} ({}) sd {first:.2} {second:.2} {third:.2} conf {:?} rejected {:?}",
                        file.format,
                        amc.skeleton[j].name,
                        entry.kind,
                        entry.why.as_deref().unwrap_or(""),
                        entry.confidence,
                        entry.rejected
                    );
                }
            }
        }
    }
    println!("{right} of {moving} moving joints have the declared kind");
    assert!(right as f64 >= 0.98 * moving as f64, "{right} of {moving}");
}

/// Every clip keeps to what is estimated from it, but for frames that the estimate left out: no more
/// of them than it says.
fn keep_to_their_limits(clips: impl Iterator<Item = (PathBuf, MotionFile)>) -> usize {
    let mut count = 0;
    for (path, file) in clips {
        let Some(clip) = &file.clip else { continue };
        let take = Take { skeleton: &file.skeleton, clip };
        let found = match estimate(&[take], &EstimateOptions::default()) {
            Ok(found) => found,
            Err(error) => {
                assert!(clip.frame_count() < 2, "{error}");
                continue;
            }
        };
        let rig = found.into_rig();
        // As a user has it.
        let rig = Rig::read(&rig.write().unwrap()).unwrap().rig;
        let bound = BoundRig::new(&rig, &file.skeleton).unwrap();
        let check = bound.check(clip, NonZeroUsize::MIN);
        let in_front = clip.motion_start();
        for joint in &check.joints {
            let name = &file.skeleton[joint.joint].name;
            let entry = rig.joints.get(name).unwrap();
            assert_eq!(joint.outside, 0, "{}: {name}", path.display());
            let most = entry.rejected.unwrap_or(0) as usize + in_front;
            assert!(joint.left_out <= most, "{}: {name}", path.display());
            if joint.left_out > in_front {
                println!(
                    "{}, {} frames, {name} {:?}: {} left out",
                    path.display(),
                    clip.frame_count(),
                    entry.kind,
                    joint.left_out,
                );
            }
        }
        count += 1;
    }
    count
}

#[test]
fn bvh_clips_keep_to_what_is_estimated_from_them() {
    let Some(folder) = shared("bvh") else { return };
    let read = |path: PathBuf| {
        let file = read_file(&path, None, &ReadOptions::default()).unwrap().file;
        (path, file)
    };
    assert_eq!(keep_to_their_limits(files(&folder, "bvh").into_iter().map(read)), 26);
}

#[test]
fn amc_clips_keep_to_what_is_estimated_from_them() {
    let Some(folder) = shared("asf-amc") else { return };
    let read = |path: PathBuf| {
        let options = ReadOptions::default();
        let asf = read_file(&skeleton_of(&path), None, &options).unwrap().file;
        let file = read_file(&path, Some(&asf), &options).unwrap().file;
        (path, file)
    };
    assert_eq!(keep_to_their_limits(files(&folder, "amc").into_iter().map(read)), 42);
}

/// A11: to the byte, with twists that depend on the swing.
#[test]
fn the_order_of_real_clips_does_not_matter() {
    let Some(folder) = shared("asf-amc") else { return };
    let mut by_swing = 0;
    for subject in ["49", "05", "HDM_bd"] {
        let mine = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{subject}_"))
        };
        let clips: Vec<MotionFile> = files(&folder, "amc")
            .into_iter()
            .filter(mine)
            .map(|path| {
                let options = ReadOptions::default();
                let asf = read_file(&skeleton_of(&path), None, &options).unwrap().file;
                read_file(&path, Some(&asf), &options).unwrap().file
            })
            .collect();
        assert!(clips.len() > 1, "{subject}");
        let document = |order: &mut dyn Iterator<Item = &MotionFile>| {
            let takes: Vec<Take<'_>> = order
                .map(|f| Take { skeleton: &f.skeleton, clip: f.clip.as_ref().unwrap() })
                .collect();
            let rig = estimate(&takes, &EstimateOptions::default()).unwrap().into_rig();
            String::from_utf8(rig.write().unwrap()).unwrap()
        };
        let expected = document(&mut clips.iter());
        by_swing += expected.matches("by_swing").count();
        assert!(document(&mut clips.iter().rev()) == expected, "{subject}");
        let (front, back) = clips.split_at(clips.len() / 2);
        assert!(document(&mut back.iter().chain(front)) == expected, "{subject}");
    }
    assert!(by_swing > 0);
}

/// The ends of an entry are those of its limit's figures.
fn check_ends(entry: &RigJoint) -> usize {
    let figures = Figures::of(&entry.limit, entry.center).unwrap();
    for end in &entry.ends {
        let side = usize::from(end.of.is_upper());
        let swing = figures.swing.as_ref();
        let arc = |i: usize| [figures.arcs[i].1.min(), figures.arcs[i].1.max()];
        let (ends, tolerance) = match end.of {
            EndOf::Min | EndOf::Max | EndOf::FirstMin | EndOf::FirstMax => (arc(0), 0.01),
            EndOf::SecondMin | EndOf::SecondMax => (arc(1), 0.01),
            // Both look at points of the boundary, the figures at more of them.
            EndOf::XMin | EndOf::XMax => (swing.unwrap().x, 0.3),
            EndOf::YMin | EndOf::YMax => (swing.unwrap().y, 0.3),
            EndOf::TwistMin | EndOf::TwistMax => {
                let Limit::SwingTwist(limit) = &entry.limit else { panic!("{end:?}") };
                match (&limit.twist.bounds, &limit.twist.offset) {
                    // From the zero that the limit gives, whatever that is.
                    (TwistBounds::Arc(arc), _) => ([arc.min(), arc.max()], 0.01),
                    // The figures look at some directions inside.
                    (_, TwistOffset::None) => {
                        let twist = swing.unwrap().twist;
                        ([twist.min(), twist.max()], 3.0)
                    }
                    _ => continue,
                }
            }
        };
        let off = Angle::from_radians(end.at.radians() - ends[side].radians()).wrapped().degrees();
        assert!(off.abs() <= tolerance, "{end:?}: {off}\n{figures:?}");
        assert!(end.visits > 0, "{end:?}");
        if let Some([low, high]) = end.interval {
            assert!(low.radians() <= high.radians(), "{end:?}");
        }
    }
    entry.ends.len()
}

#[test]
fn ends_are_where_the_limits_have_them_and_in_the_mirror_too() {
    let mut ends = [0; 2];
    for seed in 0..6 {
        let figure = Figure::random(12, seed).unwrap();
        let synth = Synth::generate(&figure, &Options::default(), seed).unwrap();
        let take = Take { skeleton: &synth.skeleton, clip: &synth.clip };
        let how = |threads| EstimateOptions {
            ends: true,
            threads: NonZeroUsize::new(threads).unwrap(),
            ..EstimateOptions::default()
        };
        let found = estimate(&[take], &how(1)).unwrap();
        let again = estimate(&[take], &how(3)).unwrap();
        for (name, entry) in found.joints.iter() {
            ends[0] += check_ends(entry);
            ends[1] += check_ends(&entry.mirrored(DVec3::new(0.3, -0.5, 0.8)).unwrap());
            assert_eq!(again.joints.get(name).unwrap().ends, entry.ends, "{name}");
        }
    }
    println!("{} ends", ends[0]);
    assert!(ends[0] > 150 && ends[0] == ends[1], "{ends:?}");
}

/// A leg whose knee and ankle have these channels (z, x and y) in each frame.
fn leg(frames: usize, channels: impl Fn(f64) -> [[f64; 3]; 2]) -> MotionFile {
    let mut text =
        "HIERARCHY\nROOT Hips\n{ OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation \
         Xrotation Yrotation\n"
            .to_owned();
    for side in ["Left", "Right"] {
        let x = if side == "Left" { 9 } else { -9 };
        text += &format!(
            "JOINT {side}UpLeg {{ OFFSET {x} 0 0 CHANNELS 3 Zrotation Xrotation Yrotation\n\
             JOINT {side}Leg {{ OFFSET 0 -42 0 CHANNELS 3 Zrotation Xrotation Yrotation\n\
             JOINT {side}Foot {{ OFFSET 0 -40 0 CHANNELS 3 Zrotation Xrotation Yrotation\n\
             End Site {{ OFFSET 0 -5 14 }} }} }} }}\n"
        );
    }
    // So much of a body that its names are known.
    let upper = [("Spine", 12), ("Neck", 40), ("Head", 9)];
    for (name, y) in upper {
        text += &format!("JOINT {name} {{ OFFSET 0 {y} 0 CHANNELS 0\n");
    }
    text += "End Site { OFFSET 0 18 0 } } }\n";
    for (side, x) in [("Left", 1), ("Right", -1)] {
        for (name, along, up) in [("Shoulder", 2, 35), ("Arm", 14, 0), ("ForeArm", 28, 0)] {
            let x = x * along;
            text += &format!("JOINT {side}{name} {{ OFFSET {x} {up} 0 CHANNELS 0\n");
        }
        text += &format!("End Site {{ OFFSET {} 0 0 }} }} }} }}\n", 24 * x);
    }
    text += &format!("}} }}\nMOTION\nFrames: {frames}\nFrame Time: 0.01\n");
    for i in 0..frames {
        let [[a, b, c], [d, e, f]] = channels(i as f64 / (frames - 1) as f64);
        let side = format!("0 {} 0 {a:.4} {b:.4} {c:.4} {d:.4} {e:.4} {f:.4}", 20 * (i % 2));
        text += &format!("0 90 0 0 0 0 {side} {side}\n");
    }
    read(text.as_bytes(), None, &ReadOptions::default()).unwrap().file
}

fn arcs_of(entry: &RigJoint) -> Vec<[f64; 2]> {
    let arcs = match &entry.limit {
        Limit::Hinge { arc, .. } => vec![*arc],
        Limit::Universal { arcs, .. } => arcs.to_vec(),
        other => panic!("{other:?}"),
    };
    arcs.iter().map(|arc| [arc.min(), arc.max()].map(Angle::degrees)).collect()
}

/// Once there and back, evenly.
fn there_and_back(t: f64) -> f64 {
    1.0 - (2.0 * t - 1.0).abs()
}

/// The degrees that stand beside the plots of a card over time.
fn labels_over_time(card: &str) -> Vec<f64> {
    let plot = card.split("<figure class=\"time\"").nth(1).unwrap().split("</figure>").next();
    let texts = plot.unwrap().split("</text>").filter_map(|part| part.rsplit('>').next());
    let degrees = texts.filter_map(|text| text.strip_suffix('°'));
    degrees.map(|text| text.replace('−', "-").parse().unwrap()).collect()
}

#[test]
fn a_range_is_that_of_the_channel_in_the_table_the_card_the_plots_and_the_clinical_table() {
    // A knee from 18.9 to 203.2, and an ankle from 127.3 to 413.6, which holds 360.
    let file = leg(1201, |t| {
        let (knee, ankle) = (there_and_back(t), there_and_back((7.0 * t).fract()));
        let side = there_and_back((31.0 * t).fract());
        [
            [0.0, 18.9 + (203.2 - 18.9) * knee, 0.0],
            [-20.0 + 50.0 * side, 127.3 + (413.6 - 127.3) * ankle, 0.0],
        ]
    });
    let clip = file.clip.as_ref().unwrap();
    let skeleton = &file.skeleton;
    let rig = estimate(&[Take { skeleton, clip }], &EstimateOptions::default()).unwrap().into_rig();
    let near = |found: [f64; 2], wanted: [f64; 2], off: f64| {
        assert!((0..2).all(|i| (found[i] - wanted[i]).abs() < off), "{found:?} {wanted:?}");
    };
    let takes = [report::Take { name: "leg", skeleton, clip }];
    let knee = rig.joints.get("LeftLeg").unwrap();
    let Limit::Hinge { axis, .. } = &knee.limit else { panic!("{:?}", knee.limit) };
    assert!(axis.x > 0.999, "{axis}");
    near(arcs_of(knee)[0], [18.9, 203.2], 0.05);
    assert_eq!(written_ranges("LeftLeg", knee, &takes), [None]);

    let ankle = rig.joints.get("LeftFoot").unwrap();
    assert_eq!(ankle.kind, JointKind::Universal);
    let arcs = arcs_of(ankle);
    near(arcs[0], [-20.0, 30.0], 1.0);
    near(arcs[1], [-53.6, 232.7], 1.0);
    let Limit::Universal { axes, .. } = &ankle.limit else { panic!() };
    assert!(axes[0].z > 0.999 && axes[1].x < -0.999, "{axes:?}");
    // What the file has is told.
    let written = written_ranges("LeftFoot", ankle, &takes);
    assert_eq!(written[0], None);
    let told = written[1].unwrap();
    assert_eq!(told.channel.as_str(), "rx");
    near(told.ends.map(Angle::degrees), [127.3, 413.6], 0.5);

    // The same numbers wherever a page has them.
    let anatomy = Anatomy::of(skeleton).unwrap();
    let page = report::html(&rig, &takes, Some(&anatomy), &About::default());
    let card = |name: &str| {
        let from = page.find(&format!("<h3><bdi>{name}</bdi>")).unwrap();
        page[from..].split("</section>").next().unwrap().to_owned()
    };
    let knee = card("LeftLeg");
    assert!(knee.contains("18.9° to 203.2°"), "the heading");
    assert!(knee.contains(">18.9°</text>") && knee.contains(">203.2°</text>"), "the dial");
    assert_eq!(labels_over_time(&knee), [90.0, 180.0], "the plot");
    assert!(!knee.contains("156.8") && !knee.contains("341.1"));
    let flexion = knee.split("<table class=\"clinical\"").nth(1).unwrap();
    assert!(flexion.contains("18.9° to 203.2°"), "{flexion}");
    let ankle = card("LeftFoot");
    assert!(ankle.contains("(file: rx 127.3° to 413.6°)"), "{ankle}");
    let labels = labels_over_time(&ankle);
    assert!(labels.iter().all(|label| (-70.0..250.0).contains(label)), "{labels:?}");
}

#[test]
fn what_a_file_has_for_an_angle_is_told_where_it_differs() {
    let of = |from: f64, to: f64| {
        let file = leg(400, |t| {
            let knee = from + (to - from) * there_and_back(t);
            // One glitch, which is left out.
            let knee = if (t * 399.0).round() == 150.0 { knee + 100.0 } else { knee };
            [[0.0, knee, 0.0], [0.0; 3]]
        });
        let (skeleton, clip) = (&file.skeleton, file.clip.as_ref().unwrap());
        let takes = [Take { skeleton, clip }];
        let found = estimate(&takes, &EstimateOptions::default()).unwrap();
        let knee = found.joints.get("LeftLeg").unwrap();
        assert_eq!(knee.kind, JointKind::Hinge);
        let takes = [report::Take { name: "leg", skeleton, clip }];
        let written = written_ranges("LeftLeg", knee, &takes)[0];
        let written = written.map(|w| w.ends.map(|end| end.degrees().round()));
        (arcs_of(knee)[0].map(f64::round), written)
    };
    assert_eq!(of(0.0, 90.0), ([0.0, 90.0], None));
    assert_eq!(of(-120.0, -4.0), ([4.0, 120.0], Some([-120.0, -4.0])));
    assert_eq!(of(340.0, 430.0), ([-20.0, 70.0], Some([340.0, 430.0])));
    assert_eq!(of(-15.0, 60.0), ([-15.0, 60.0], None));
}
