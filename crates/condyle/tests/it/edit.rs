//! Motion editing on real clips.

use std::ops::Range;
use std::path::Path;

use condyle::anatomy::Anatomy;
use condyle::edit::{
    Connected, ContactOptions, Easing, Facing, Features, Keep, Leg, Method, Metric, Order, Overlap,
    Query, SearchOptions, best_matches, connect, contacts, jump_quantile, jumps, quantile, speeds,
    trimmed,
};
use condyle::formats::{ReadOptions, read_files};
use condyle::glam::DVec3;
use condyle::math::{Angle, trig};
use condyle::motion::{Clip, FrameIndex, FrameRate, WorldTracks};
use condyle::skeleton::{JointIndex, Skeleton};
use condyle::synth::Gait;

use super::shared::shared;

fn read(folder: &Path, asf: &str, amc: &str) -> (Skeleton, Clip) {
    let paths = [folder.join(asf), folder.join(amc)];
    let (_, read) = read_files(&paths, &ReadOptions::default()).next().unwrap();
    let file = read.unwrap().file;
    (file.skeleton, file.clip.unwrap())
}

/// C7, C8: across a seam of real motions no joint's angular velocity changes by more than 1.5 times what
/// one frame in a hundred of the motions has (the largest of all joints in each frame), but with straight
/// lines between poses, and where the motions have more in the very frames that the seam is made of; and
/// the root goes on in place and facing with every method. Walk and run, and two walks of one subject; and
/// motions that are far apart: feet with two degrees of freedom that are half a turn from each other, and
/// somebody who lies down.
#[test]
fn seams_of_real_motions_are_no_rougher_than_the_motions() {
    const WINDOW: usize = 48;
    let Some(folder) = shared("asf-amc") else { return };
    let pairs = [
        ("02.asf", "02_01.amc", "02_03.amc"),
        ("16.asf", "16_15.amc", "16_35.amc"),
        ("16.asf", "16_35.amc", "16_15.amc"),
        ("09.asf", "09_12.amc", "09_01.amc"),
        ("07-walk.asf", "07_01-walk.amc", "07_05-walk.amc"),
        ("02.asf", "02_01.amc", "02_01.amc"),
        ("35.asf", "35_01.amc", "35_01.amc"),
        (
            "HDM_bd.asf",
            "HDM_bd_jogLeftCircle4StepsRstart_001_120.amc",
            "HDM_bd_kickLFront1Reps_001_120.amc",
        ),
        ("HDM_bd.asf", "HDM_bd_depositFloorR_001_120.amc", "HDM_bd_kickLFront1Reps_001_120.amc"),
        ("HDM_bd.asf", "HDM_bd_lieDownFloor_001_120.amc", "HDM_bd_sneak2StepsLStart_001_120.amc"),
    ];
    let methods = [
        Method::BlendSteps(Easing::Sine),
        Method::Blend(Easing::Sine),
        Method::Blend(Easing::Cubic),
        Method::Blend(Easing::Quintic),
        Method::Interpolate { frames: 24, order: Order::Cubic },
        Method::Inertialize { frames: 48 },
        Method::Interpolate { frames: 24, order: Order::Linear },
    ];
    for (asf, one, other) in pairs {
        let (skeleton, a) = read(&folder, asf, one);
        let (_, b) = read(&folder, asf, other);
        let facing = Facing::of(&skeleton);
        let [ours, theirs] =
            [&a, &b].map(|clip| Features::of(&skeleton, clip, Metric::Quaternion).unwrap());
        let inside = |clip: &Clip| jumps(clip, 0..clip.frame_count());
        let (in_a, in_b) = (inside(&a), inside(&b));
        let usual = jump_quantile(in_a.iter().chain(&in_b), 0.99).degrees();
        // The fastest that the root moves and turns in a frame.
        let stand = |clip: &Clip, f: usize| {
            facing.stand_in(&skeleton, clip, FrameIndex(u32::try_from(f).unwrap()))
        };
        let root = |clip: &Clip, f: usize| {
            let (p, q) = (stand(clip, f - 1), stand(clip, f));
            let turned =
                (q.facing.degrees() - p.facing.degrees() + 180.0).rem_euclid(360.0) - 180.0;
            ((q.position_m - p.position_m).length(), turned.abs())
        };
        let fastest = |clip: &Clip| {
            (1..clip.frame_count())
                .map(|f| root(clip, f))
                .fold((0.0_f64, 0.0_f64), |m, x| (m.0.max(x.0), m.1.max(x.1)))
        };
        let (fast_a, fast_b) = (fastest(&a), fastest(&b));
        // Facing alone never jumps, in whatever pose.
        assert!(fast_a.1.max(fast_b.1) < 10.0, "{one} {other}: {fast_a:?} {fast_b:?}");
        // The angle between the directions that the pelvis has up before and after a seam.
        let up = Anatomy::of(&skeleton).and_then(|a| a.frame(facing.joint())).unwrap() * DVec3::Y;
        let tilt = |out: &Connected| {
            let up = |f: usize| {
                let frame = FrameIndex(u32::try_from(f).unwrap());
                let world = out.clip.pose(frame).world(&skeleton);
                facing.ground().height_m(world.rotations[facing.joint().get()] * up)
            };
            let [p, q] = [up(out.made.start - 1), up(out.made.end)].map(|h| h.clamp(-1.0, 1.0));
            (trig::acos(p) - trig::acos(q)).abs().to_degrees()
        };
        for keep in [Keep::First, Keep::Second] {
            // Something is left of both.
            let query = match keep {
                Keep::First => Query::last(&ours, WINDOW).unwrap(),
                Keep::Second => Query::first(&theirs, WINDOW).unwrap(),
            };
            let (into, starts) = match keep {
                Keep::First => (&theirs, 0..b.frame_count() - WINDOW - 20),
                Keep::Second => (&ours, 20..a.frame_count() - WINDOW),
            };
            let options = SearchOptions { starts, ..SearchOptions::default() };
            let found = best_matches(&query, &[into], &options).unwrap()[0].frame;
            let at = match keep {
                Keep::First => (a.frame_count() - WINDOW, found),
                Keep::Second => (found, 0),
            };
            let at = Overlap { first: at.0, second: at.1, frames: WINDOW };
            for method in methods {
                let mut out = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
                for planted in [false, true] {
                    if planted {
                        let options = ContactOptions::default();
                        let _ = out.plant_feet(&skeleton, &facing, ([&a, &b], &[]), &options);
                    }
                    let seam = out.made.start - 1..out.made.end + 1;
                    let jump = jump_quantile(&jumps(&out.clip, seam.clone()), 1.0).degrees();
                    // A bridge goes on with velocities of five frames.
                    let (len, next) = (out.made.len() + 2, out.second_first);
                    let (ours, theirs) = match method {
                        Method::Interpolate { .. } => {
                            (out.first_last - 5..out.first_last + 2, next..next + 6)
                        }
                        _ => (seam.clone(), (next + 1).saturating_sub(len)..next + 2),
                    };
                    let own = [(&a, ours), (&b, theirs)]
                        .map(|(c, frames)| jump_quantile(&jumps(c, frames), 1.0).degrees());
                    let own = own[0].max(own[1]);
                    println!(
                        "{one} {other} {keep:?} {method:?} planted {planted}: own {:.2}: {:.2}",
                        own / usual,
                        jump / usual
                    );
                    let straight =
                        matches!(method, Method::Interpolate { order: Order::Linear, .. });
                    assert!(
                        straight || jump <= 1.5 * usual || jump <= 1.05 * own,
                        "{one} {other} {keep:?} {method:?} {planted}: {jump} of {usual}, {own}"
                    );
                    for f in seam {
                        let (moved, turned) = root(&out.clip, f);
                        let most = (fast_a.0.max(fast_b.0), fast_a.1.max(fast_b.1));
                        // Who gets up has to do so within the seam; easing is twice as fast in between.
                        let up = |f| facing.ground().height_m(stand(&out.clip, f).position_m);
                        let ends = (up(out.made.end) - up(out.made.start - 1)).abs();
                        let rises = 2.0 * ends / out.made.len() as f64;
                        // So does the pelvis, from its back to its feet, and facing with it.
                        let tilts = 2.0 * tilt(&out) / out.made.len() as f64;
                        assert!(
                            moved < 2.0 * most.0 + rises + 1e-3
                                && turned < 2.0 * most.1 + tilts + 1.0,
                            "{one} {other} {method:?} {f}: {moved} m, {turned}°, usual {most:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Feet of real motions that are planted: no knee and no hip changes its speed by more than 1.5 times what is
/// usual of it, or 1.05 times what it does with feet that slide; no leg is pulled straight; legs are as they were in the
/// first and the last frame that were made; and feet slide less all the same. Somebody who runs and then walks,
/// and a kick that follows itself, which had knees that snapped.
#[test]
fn planted_feet_of_real_motions_do_not_make_knees_snap() {
    const WINDOW: usize = 48;
    let Some(folder) = shared("asf-amc") else { return };
    let kick = "HDM_bd_kickLFront1Reps_001_120.amc";
    let (mut slides, mut moved) = ([0.0; 2], 0);
    for (asf, one, other) in [
        ("16.asf", "16_35.amc", "16_15.amc"),
        ("16.asf", "16_15.amc", "16_35.amc"),
        ("02.asf", "02_01.amc", "02_03.amc"),
        ("09.asf", "09_12.amc", "09_01.amc"),
        ("HDM_bd.asf", kick, kick),
    ] {
        let (skeleton, a) = read(&folder, asf, one);
        let (_, b) = read(&folder, asf, other);
        let facing = Facing::of(&skeleton);
        let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
        let [ours, theirs] =
            [&a, &b].map(|clip| Features::of(&skeleton, clip, Metric::Quaternion).unwrap());
        let query = Query::last(&ours, WINDOW).unwrap();
        let starts = 0..b.frame_count() - 2 * WINDOW;
        let options = SearchOptions { starts, ..SearchOptions::default() };
        let second = best_matches(&query, &[&theirs], &options).unwrap()[0].frame;
        let at = Overlap { first: a.frame_count() - WINDOW, second, frames: WINDOW };
        let method = Method::default();
        let plain = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method).unwrap();
        let mut out = plain.clone();
        let told = out.plant_feet(&skeleton, &facing, ([&a, &b], &[]), &ContactOptions::default());
        moved += told.moved;
        // By angles alone: what a joint turns by from frame to frame, and how much more than before.
        let at = |f: usize| FrameIndex(u32::try_from(f).unwrap());
        let changes = |clip: &Clip, j: JointIndex, frames: Range<usize>| -> Vec<f64> {
            let turn = |f| (clip.rotation(j, at(f)).inverse() * clip.rotation(j, at(f + 1))).log();
            frames.map(|f| (turn(f) - turn(f - 1)).length().to_degrees()).collect()
        };
        let worlds = [&plain, &out].map(|out| WorldTracks::of(&skeleton, &out.clip));
        let options = ContactOptions::default();
        let down = [&a, &b].map(|c| contacts(&skeleton, c, facing.ground(), &legs, &options));
        for (i, leg) in legs.iter().enumerate() {
            for j in [leg.hip, leg.knee] {
                let own = [&a, &b].map(|c| changes(c, j, 1..c.frame_count() - 1));
                let usual = quantile(own.into_iter().flatten(), 0.99).max(0.25);
                let seam = out.made.start - 1..out.made.end + 1;
                let [before, after] =
                    [&plain, &out].map(|o| quantile(changes(&o.clip, j, seam.clone()), 1.0));
                let name = &skeleton[j].name;
                assert!(
                    after <= (1.5 * usual).max(1.05 * before) * (1.0 + 1e-6),
                    "{one} {other} {name}: {after}° of {usual}°, {before}° as made"
                );
                for f in [out.made.start, out.made.end - 1] {
                    let [a, b] = [&plain, &out].map(|o| o.clip.rotation(j, at(f)));
                    assert!(a.distance(b).degrees() < 1e-9, "{one} {other} {name} {f}");
                }
            }
            for f in out.made.clone() {
                let [own, now] = [0, 1].map(|k| {
                    let at = |j| worlds[k].position_m(j, f);
                    let [hip, knee, ankle] = [leg.hip, leg.knee, leg.ankle].map(at);
                    hip.distance(ankle) / (hip.distance(knee) + knee.distance(ankle))
                });
                assert!(now <= own.max(0.99) + 1e-9, "{one} {other} {f}: {now} of {own}");
                let is_down =
                    |f: usize| down[0][i][f] && down[1][i][f + out.second_first - out.made.end];
                for k in (0..2).filter(|_| is_down(f) && is_down(f - 1)) {
                    let [a, b] = [f - 1, f].map(|f| worlds[k].position_m(leg.sole(), f));
                    slides[k] += a.distance(b);
                }
            }
        }
    }
    println!(
        "feet that are down in both motions slide {:.3} m, planted {:.3} m",
        slides[0], slides[1]
    );
    assert!(moved > 50 && slides[1] < 0.6 * slides[0], "{moved} {slides:?}");
}

/// A root that stays at the origin, with hips that go about in it (Bandai-Namco): at seams the pelvis goes no
/// faster than in the motion, whichever way it faces before and after.
#[test]
fn hips_that_go_about_below_a_root_do_not_fly_at_seams() {
    let Some(folder) = shared("bvh") else { return };
    let path = folder.join("dataset-2_walk-turn-left_youthful_018.bvh");
    let (_, read) = read_files(&[path], &ReadOptions::default()).next().unwrap();
    let file = read.unwrap().file;
    let (skeleton, clip) = (file.skeleton, file.clip.unwrap());
    let facing = Facing::of(&skeleton);
    assert_eq!(skeleton[facing.joint()].name, "Hips");
    let (a, b) = (trimmed(&clip, 110..190).unwrap(), trimmed(&clip, 0..71).unwrap());
    let usual = quantile(speeds(&skeleton, &facing, &clip, 0..190), 1.0);
    let at = Overlap { first: 68, second: 20, frames: 12 };
    let easings = Easing::ALL.into_iter();
    let mut methods: Vec<Method> =
        easings.flat_map(|e| [Method::Blend(e), Method::BlendSteps(e)]).collect();
    methods
        .extend([Order::Linear, Order::Cubic].map(|o| Method::Interpolate { frames: 6, order: o }));
    methods.push(Method::Inertialize { frames: 12 });
    for method in methods {
        for keep in [Keep::First, Keep::Second] {
            let mut out = connect(&skeleton, &facing, [&a, &b], at, keep, method).unwrap();
            for planted in [false, true] {
                if planted {
                    let options = ContactOptions::default();
                    let _ = out.plant_feet(&skeleton, &facing, ([&a, &b], &[]), &options);
                }
                let seam = out.made.start - 1..out.made.end + 1;
                let fastest = quantile(speeds(&skeleton, &facing, &out.clip, seam), 1.0);
                assert!(fastest < 1.5 * usual, "{method:?} {keep:?}: {fastest} of {usual} m/s");
            }
        }
    }
}

/// A walk that becomes a run, by places: legs alone have too far to reach, so feet that are down slide by
/// 18 cm with them. The figure goes with its feet, and the run goes on from where that leads.
#[test]
fn who_is_planted_goes_with_the_feet_that_are_down() {
    let rate = FrameRate::from_fps(120.0).unwrap();
    let walk = Gait::default();
    let run = Gait {
        speed_m_s: 2.4,
        steps_per_s: 2.6,
        down: 0.42,
        facing: Angle::from_degrees(50.0),
        ..walk
    };
    let (skeleton, a) = walk.generate(240, rate).unwrap();
    let (_, b) = run.generate(240, rate).unwrap();
    let facing = Facing::of(&skeleton);
    let [ours, theirs] = [&a, &b].map(|c| Features::of(&skeleton, c, Metric::Quaternion).unwrap());
    let options = SearchOptions { starts: 0..145, ..SearchOptions::default() };
    let query = Query::last(&ours, 48).unwrap();
    let found = best_matches(&query, &[&theirs], &options).unwrap()[0].frame;
    let at = Overlap { first: 192, second: found, frames: 48 };
    let method = Method::Blend(Easing::Sine);
    let plain = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method).unwrap();
    let mut planted = plain.clone();
    let contact = ContactOptions::default();
    let _ = planted.plant_feet(&skeleton, &facing, ([&a, &b], &[]), &contact);
    let legs = Leg::all(&skeleton, &Anatomy::of(&skeleton).unwrap());
    let down = [&a, &b].map(|c| contacts(&skeleton, c, facing.ground(), &legs, &contact));
    // In the second half, where the run's contacts count.
    let slide = |out: &Connected| {
        let world = WorldTracks::of(&skeleton, &out.clip);
        let half = out.made.start + out.made.len() / 2;
        let mut total = 0.0;
        for (leg, down) in legs.iter().zip(&down[1]) {
            let is_down = |f: usize| down[f + out.second_first - out.made.end];
            for f in (half + 1..out.made.end).filter(|f| is_down(*f) && is_down(f - 1)) {
                total += (world.position_m(leg.sole(), f) - world.position_m(leg.sole(), f - 1))
                    .length();
            }
        }
        total
    };
    let (before, after) = (slide(&plain), slide(&planted));
    assert!(before > 0.05 && after < 0.1 * before, "{after} m of {before} m");
    // What comes after has moved as a whole, and the placement says where to.
    let mut second = b.clone();
    planted.placement.apply(&skeleton, &mut second).unwrap();
    let last = |clip: &Clip| {
        let f = FrameIndex(u32::try_from(clip.frame_count() - 1).unwrap());
        facing.stand_in(&skeleton, clip, f).position_m
    };
    assert!((last(&second) - last(&planted.clip)).length() < 1e-9);
    assert!((last(&planted.clip) - last(&plain.clip)).length() > 0.01);
}
