//! Motion editing: what is found, and what is made.

use condyle::edit::{
    ContactOptions, Easing, Facing, Features, Keep, Method, Metric, Order, Overlap, Query,
    RetargetOptions, SearchOptions, best_matches, blend, connect, mirror, retarget,
};
use condyle::math::Angle;
use condyle::motion::{Clip, FrameRate};
use condyle::skeleton::Skeleton;
use condyle::synth::Gait;

use crate::{Hash, How};

/// A walk on a curve and a run.
fn gaits() -> (Skeleton, [Clip; 2]) {
    let rate = FrameRate::from_fps(120.0).expect("a rate");
    let walk = Gait { turning: Angle::from_degrees(20.0), ..Gait::default() };
    let run = Gait { speed_m_s: 2.4, steps_per_s: 2.6, down: 0.42, phase: 0.3, ..walk };
    let (skeleton, a) = walk.generate(300, rate).expect("the gait is sound");
    let (_, b) = run.generate(260, rate).expect("the gait is sound");
    (skeleton, [a, b])
}

fn hash_clip(hash: &mut Hash, clip: &Clip) {
    for frame in clip.frames() {
        let pose = clip.pose(frame);
        pose.rotations.iter().for_each(|r| hash.rotation(*r));
        pose.translations_m.iter().for_each(|v| hash.vector(*v));
    }
}

/// Windows of one motion in another, by every metric, with an index and without.
pub(super) fn matches(_: &How) -> Hash {
    let (skeleton, [a, b]) = gaits();
    let mut hash = Hash::default();
    for metric in [Metric::Euler, Metric::Quaternion, Metric::Position] {
        let ours = Features::of(&skeleton, &a, metric).expect("there is motion");
        let theirs = ours.like(&skeleton, &b).expect("it is one skeleton");
        let query = Query::new(&ours, 40..70).expect("there are so many frames");
        let options = SearchOptions { count: 4, ..SearchOptions::default() };
        for clip in [theirs.clone(), theirs.indexed()] {
            let found = best_matches(&query, &[&clip, &ours], &options).expect("there are windows");
            for found in found {
                hash.count(found.clip);
                hash.count(found.frame);
                hash.f64(found.distance);
            }
        }
    }
    hash
}

/// Motions connected by every method, blended, mirrored, and on other bones.
pub(super) fn motions(_: &How) -> Hash {
    let (skeleton, [a, b]) = gaits();
    let facing = Facing::of(&skeleton);
    let mut hash = Hash::default();
    let at = Overlap { first: 200, second: 30, frames: 40 };
    let methods = [
        Method::Blend(Easing::Sine),
        Method::BlendSteps(Easing::Quintic),
        Method::Interpolate { frames: 20, order: Order::Linear },
        Method::Interpolate { frames: 20, order: Order::Cubic },
        Method::Inertialize { frames: 30 },
    ];
    for method in methods {
        let found = connect(&skeleton, &facing, [&a, &b], at, Keep::First, method);
        let mut found = found.expect("the windows are there");
        let options = ContactOptions::default();
        hash.count(found.plant_feet(&skeleton, &facing, ([&a, &b], &[]), &options).moved);
        hash_clip(&mut hash, &found.clip);
    }
    let weights = [1.0, 0.5, 0.25];
    let mixed = blend(&skeleton, &[&a, &b, &a], |i, _, f| weights[(i + f) % 3]);
    hash_clip(&mut hash, &mixed.expect("the motions are alike"));
    hash_clip(&mut hash, &mirror(&skeleton, &b).expect("the names are known"));
    let options = RetargetOptions { keep_feet: true, keep_hands: true, ..Default::default() };
    let moved = retarget((&skeleton, &a), &skeleton, &options).expect("the names are known");
    hash_clip(&mut hash, &moved.clip);
    hash
}
