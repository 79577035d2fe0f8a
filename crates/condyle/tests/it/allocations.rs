//! Inner loops do not allocate.

use std::num::NonZeroUsize;

use condyle::enforce::BoundRig;
use condyle::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, write};
use condyle::glam::DVec3;
use condyle::ik::limb::{Limb, LimbGoal, LimbParts, LimbScratch, Swivel};
use condyle::ik::{Goal, Method, Settings, Solver};
use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistBounds, TwistLimit};
use condyle::math::{Angle, Arc, EulerOrder, Level, Points, Rotation, Rotations, SwingAxes, batch};
use condyle::motion::{Clip, Pose, World, WorldTracks};
use condyle::synth::{Figure, Options, Rng, Synth};

#[test]
fn forward_kinematics_does_not_allocate_per_frame() {
    let options = Options { frames: 2000, ..Options::default() };
    let synth = Synth::generate(&Figure::random(31, 1).unwrap(), &options, 1).unwrap();
    let (skeleton, clip) = (&synth.skeleton, &synth.clip);

    let mut tracks = WorldTracks::default();
    tracks.update(skeleton, clip, 0..256);
    let blocks = allocation_counter::measure(|| {
        for start in (0..1792).step_by(256) {
            tracks.update(skeleton, clip, start..start + 256);
        }
    });
    assert_eq!(blocks.count_total, 0, "{blocks:?}");

    let (mut pose, mut world) = (Pose::default(), World::new());
    clip.pose_into(clip.frames().next().unwrap(), &mut pose);
    world.update(skeleton, &pose);
    let poses = allocation_counter::measure(|| {
        for frame in clip.frames() {
            clip.pose_into(frame, &mut pose);
            world.update(skeleton, &pose);
        }
        for i in 0..1000 {
            clip.sample_into(f64::from(i) * 0.0123, &mut pose);
        }
    });
    assert_eq!(poses.count_total, 0, "{poses:?}");
}

#[test]
fn checking_limits_does_not_allocate_per_frame() {
    let of = |frames: usize| {
        let options = Options { frames, ..Options::default() };
        let synth = Synth::generate(&Figure::human(), &options, 1).unwrap();
        let rig = crate::enforce::rig_of(&synth);
        let bound = BoundRig::new(&rig, &synth.skeleton).unwrap();
        let done = allocation_counter::measure(|| {
            let _ = std::hint::black_box(bound.check(&synth.clip, NonZeroUsize::MIN));
        });
        done.count_total
    };
    let (few, many) = (of(10), of(2000));
    assert_eq!(few, many);
    assert!(few < 10, "{few}");
}

#[test]
fn batches_do_not_allocate() {
    let n = 1000;
    let from = Rotations::repeat(Rotation::IDENTITY, n);
    let mut back = from.clone();
    let mut logs = Points::repeat(DVec3::ZERO, n);
    let mut columns = [(); 5].map(|()| vec![0.0; n]);
    for level in Level::all() {
        let done = allocation_counter::measure(|| {
            let [a, b, c, d, e] = &mut columns;
            batch::euler_angles(level, EulerOrder::ZYZ, &from, [a, b, c]);
            batch::euler_rotations(level, EulerOrder::ZYZ, [a, b, c], &mut back);
            batch::swing_twist(level, &SwingAxes::Z, &from, [a, b, c]);
            batch::swing_twist_halves(level, &SwingAxes::Z, &from, [a, b, c, d, e]);
            batch::log(level, &from, &mut logs);
            batch::exp(level, &logs, &mut back);
        });
        assert_eq!(done.count_total, 0, "{}: {done:?}", level.name());
    }
}

#[test]
fn limbs_are_solved_without_allocating_once_the_scratch_is_large_enough() {
    let parts = LimbParts {
        upper_m: DVec3::X * 0.3,
        lower_m: DVec3::X * 0.25,
        zeros: [Rotation::IDENTITY; 3],
        axis: DVec3::Z,
        arc: Arc::from_degrees(0.0, 145.0).unwrap(),
    };
    let corners = [(0.9, 0.2), (0.1, 1.1), (-0.8, 0.4), (-0.2, -0.9)];
    let corners = corners.map(|(y, z)| DVec3::new(1.0, y, z)).to_vec();
    let ellipse =
        SwingLimit::Ellipse { rx: Angle::from_degrees(80.0), ry: Angle::from_degrees(50.0) };
    let [upper, end] = [SwingLimit::Polygons(vec![corners]), ellipse].map(|swing| {
        let bounds = TwistBounds::Arc(Arc::from_degrees(-80.0, 90.0).unwrap());
        let twist = TwistLimit { bounds, ..TwistLimit::default() };
        let axes = SwingAxes::new(DVec3::X, None).unwrap();
        Limit::SwingTwist(SwingTwistLimit { axes, swing, twist }).prepare().unwrap()
    });
    let limb = Limb::new(&parts).unwrap().with_limits(upper, end);
    let mut scratch = LimbScratch::default();
    let box_corners = [Rotation::IDENTITY; 8];
    let mut all = || {
        let mut rng = Rng::new(3);
        for _ in 0..20 {
            let position_m = rng.direction() * rng.between(0.0, 0.6);
            let goal = LimbGoal { position_m, rotation: Some(rng.rotation()) };
            for swivel in [
                Swivel::Nearest(rng.rotation()),
                Swivel::BestMargin { near: None },
                Swivel::BestMargin { near: Some((rng.rotation(), Angle::from_degrees(5.0))) },
                Swivel::AtMost { from: rng.rotation(), step: Angle::from_degrees(5.0) },
                Swivel::CornerSum(&box_corners),
            ] {
                let _ = std::hint::black_box(limb.solve(&goal, swivel, &mut scratch));
            }
        }
    };
    all();
    let again = allocation_counter::measure(all);
    assert_eq!(again.count_total, 0, "{again:?}");
}

/// What a clip holds: the file's numbers, and the rotations and translations they stand for.
#[test]
fn solvers_do_not_allocate_once_they_know_their_goals() {
    let options = Options { frames: 200, ..Options::default() };
    let synth = Synth::generate(&Figure::human(), &options, 1).unwrap();
    let (skeleton, clip) = (&synth.skeleton, &synth.clip);
    let bound = BoundRig::new(&crate::enforce::rig_of(&synth), skeleton).unwrap();
    let mut figure = condyle::ik::Figure::new(skeleton, &bound);
    figure.free_root();
    let ends = condyle::evaluate::usual_effectors(skeleton);
    let rest = Pose::rest(skeleton);
    let (mut world, mut own) = (World::new(), Pose::default());
    let (mut pose, mut next) = (rest.clone(), rest.clone());
    let mut goals = Vec::with_capacity(ends.len());
    for method in [Method::LevenbergMarquardt, Method::ConjugateGradient] {
        let posture = Some((&rest, 1e-4));
        let settings = Settings { method, posture, restarts: 1, ..Settings::default() };
        let mut solver = Solver::new(&figure);
        let mut follow = |frames: std::ops::Range<usize>| {
            for frame in clip.frames().take(frames.end).skip(frames.start) {
                clip.pose_into(frame, &mut own);
                world.update(skeleton, &own);
                goals.clear();
                goals.extend(ends.iter().map(|j| Goal::position(*j, world.positions_m[j.get()])));
                solver.solve(&pose, &goals, &settings, &mut next);
                std::mem::swap(&mut pose, &mut next);
            }
        };
        follow(0..100);
        let done = allocation_counter::measure(|| follow(100..200));
        assert_eq!(done.count_total, 0, "{method:?} {done:?}");
    }
}

fn bytes_of(clip: &Clip) -> usize {
    let numbers = clip.channels().map_or(0, |c| c.columns().columns() * c.columns().frames());
    let tracks: usize =
        clip.tracks().iter().map(|t| 4 * t.rotations().len() + 3 * t.translations_m().len()).sum();
    8 * (numbers + tracks)
}

#[test]
fn reading_takes_the_memory_of_the_clip_and_little_more() {
    let options = Options { frames: 20_000, ..Options::default() };
    let synth = Synth::generate(&Figure::random(31, 1).unwrap(), &options, 1).unwrap();
    let file = MotionFile::new(synth.skeleton, synth.clip);
    for format in [Format::Bvh, Format::Amc] {
        let parts = write(&file, format, &WriteOptions::default()).unwrap().parts;
        let skeleton =
            parts.get(1).map(|(_, asf)| read(asf, None, &ReadOptions::default()).unwrap().file);
        let mut clip = None;
        let taken = allocation_counter::measure(|| {
            clip = read(&parts[0].1, skeleton.as_ref(), &ReadOptions::default()).unwrap().file.clip;
        });
        let clip = bytes_of(&clip.unwrap());
        assert!(clip > 20_000 * 31 * 32, "{clip}");
        assert!(taken.bytes_max as usize <= clip + clip / 20, "{format:?}: {taken:?} for {clip}");
    }
}
