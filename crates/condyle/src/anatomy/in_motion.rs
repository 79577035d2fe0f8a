//! Anatomical frames from motion, where the rest pose is none of a standing body.

use glam::DVec3;

use super::frames::{Standing, Tree};
use super::names::Names;
use super::{BodyJoint, BodySide, FramesFrom};
use crate::math::{Rotation, mean_rotation};
use crate::motion::{Clip, FrameIndex, Pose, World};
use crate::skeleton::Skeleton;

/// At most so many frames of all clips are looked at, evenly over their length.
const FRAMES: usize = 600;

/// The parts of a body that stand by themselves: a leg may be straight while the other swings, and a foot is
/// flat while it is on the ground.
const GROUPS: usize = 7;

/// The first of the groups whose costs are heights.
const FEET: usize = 5;

/// Which group a joint belongs to: legs, arms, feet, and the rest.
const fn group(what: BodyJoint, side: BodySide) -> usize {
    use BodyJoint as B;
    let second = matches!(side, BodySide::Right) as usize;
    match what {
        B::Hip | B::Knee => 1 + second,
        B::Ankle | B::Toes => 5 + second,
        B::Clavicle | B::Shoulder | B::Elbow | B::Forearm | B::Wrist => 3 + second,
        B::Pelvis | B::Lumbar | B::Thoracic | B::Neck | B::Back => 0,
    }
}

/// How far each group of a pose is from that of a standing body: zero for straight legs below the body, for
/// straight arms that hang, for shoulders above the hips, and for feet on the ground. `None` if it says
/// nothing about frames. Feet cost their height, metres, of which only differences count.
fn costs(standing: &Standing<'_>, up: DVec3) -> Option<[Option<f64>; GROUPS]> {
    // 45 degrees: a leg that is bent more says nothing about its neutral twist.
    const DOWN: f64 = std::f64::consts::FRAC_1_SQRT_2;
    // How much a raised arm counts beside a bent elbow.
    const RAISED: f64 = 0.3;
    let body = standing.body()?;
    let down = body * DVec3::NEG_Y;
    let leg = |side| {
        let bones = standing.leg(side);
        let bent = bones.iter().flatten().any(|bone| bone.dot(down) < DOWN);
        let cost: f64 = bones.iter().flatten().map(|bone| 1.0 - bone.dot(down)).sum();
        (!bent).then_some(cost)
    };
    let arm = |side| {
        let [upper, fore] = standing.arm(side);
        let Some(upper) = upper else { return Some(0.0) };
        let raised = 1.0 - upper.dot(down);
        let bent = fore.map_or(0.0, |fore| 1.0 - fore.dot(upper));
        // Above the horizontal a direct swing from hanging says less and less.
        (upper.dot(down) > -DOWN).then_some(RAISED * raised + bent)
    };
    // A foot that stands flat has its ankle and its toes as low as they get.
    let foot = |side| {
        let low = [BodyJoint::Ankle, BodyJoint::Toes].map(|what| standing.place(what, side));
        let heights: f64 = low.into_iter().flatten().map(|place| place.dot(up)).sum();
        low[0].map(|_| heights)
    };
    let (left, right) = (BodySide::Left, BodySide::Right);
    let across = standing.shoulders_against_hips().map_or(0.0, |cosine| 1.0 - cosine);
    Some([Some(across), leg(left), leg(right), arm(left), arm(right), foot(left), foot(right)])
}

/// The anatomical frames of joints in their local space, the pose of the frame that is nearest to standing,
/// and which that is. `None` if there is no frame in which both legs are below the body.
pub(super) fn frames(
    skeleton: &Skeleton,
    clips: &[&Clip],
    names: &Names,
    tree: &Tree,
    up: DVec3,
) -> Option<(Vec<Option<Rotation>>, Vec<Rotation>, FramesFrom)> {
    let clips: Vec<(usize, &Clip)> = clips
        .iter()
        .enumerate()
        .filter(|(_, clip)| clip.tracks().len() == skeleton.len())
        .map(|(k, clip)| (k, *clip))
        .collect();
    let total: usize = clips.iter().map(|(_, clip)| clip.frame_count()).sum();
    let step = total.div_ceil(FRAMES).max(1);
    // The first frame of every clip is looked at: it may be a pose made for this.
    let sampled = || {
        clips.iter().flat_map(|(k, clip)| {
            (0..clip.frame_count()).step_by(step).map(move |frame| (*k, *clip, frame))
        })
    };
    let (mut pose, mut world) = (Pose::default(), World::new());
    let mut stand = |clip: &Clip, frame: usize, of: &mut dyn FnMut(&Standing<'_>)| {
        clip.pose_into(FrameIndex(u32::try_from(frame).unwrap_or(u32::MAX)), &mut pose);
        world.update(skeleton, &pose);
        of(&Standing {
            skeleton,
            names,
            tree,
            rotations: &world.rotations,
            positions: &world.positions_m,
            at_rest: false,
            up: Some(up),
        });
    };

    let mut each: Vec<[Option<f64>; GROUPS]> = Vec::new();
    let mut nearest: Option<(f64, usize, usize)> = None;
    for (k, clip, frame) in sampled() {
        stand(clip, frame, &mut |standing| {
            let costs = costs(standing, up).unwrap_or_default();
            let all = costs[..FEET].iter().map(|cost| cost.unwrap_or(1.0)).sum::<f64>();
            if standing.stands() && nearest.is_none_or(|(least, ..)| all < least) {
                nearest = Some((all, k, frame));
            }
            each.push(costs);
        });
    }
    let least: [Option<f64>; GROUPS] =
        std::array::from_fn(|g| each.iter().filter_map(|costs| costs[g]).min_by(f64::total_cmp));
    // Both legs below the body, if not in one frame then in two.
    least[1].and(least[2])?;

    // The length of both legs.
    let bones = |j: usize| {
        let is_leg = matches!(names[j], Some((BodyJoint::Knee | BodyJoint::Ankle, _)));
        if is_leg { skeleton.joints()[j].offset_m.length() } else { 0.0 }
    };
    let legs_m: f64 = (0..skeleton.len()).map(bones).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut seen: Vec<Vec<(Rotation, f64)>> = vec![Vec::new(); skeleton.len()];
    for ((_, clip, frame), costs) in sampled().zip(&each) {
        let weights: [f64; GROUPS] = std::array::from_fn(|g| {
            // Heights in shares of the legs' length.
            let unit = if g < FEET { 1.0 } else { legs_m };
            weight(costs[g].map(|c| c / unit), least[g].map(|c| c / unit))
        });
        if weights == [0.0; GROUPS] {
            continue;
        }
        stand(clip, frame, &mut |standing| {
            for (j, frame) in standing.frames().into_iter().enumerate() {
                let Some((frame, (what, side))) = frame.zip(names[j]) else { continue };
                let weight = weights[group(what, side)];
                if weight > 0.0 {
                    seen[j].push((frame, weight));
                }
            }
        });
    }
    let mean = |seen: Vec<(Rotation, f64)>| mean_rotation(seen).map(|mean| mean.rotation);
    let frames: Vec<Option<Rotation>> = seen.into_iter().map(mean).collect();

    // Who never stands on both legs at once has the pose of the frame with the straightest left leg.
    let (clip, frame) = match nearest {
        Some((_, clip, frame)) => (clip, frame),
        None => {
            let legs =
                sampled().zip(&each).filter_map(|((k, _, frame), c)| Some((c[1]?, k, frame)));
            legs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k, frame)| (k, frame))?
        }
    };
    let (_, chosen) = clips.iter().find(|(k, _)| *k == clip)?;
    let neutral = chosen.pose(FrameIndex(u32::try_from(frame).ok()?)).rotations;
    Some((frames, neutral, FramesFrom::Motion { clip, frame }))
}

/// How much a frame counts whose cost is above the least by so much.
fn weight(cost: Option<f64>, least: Option<f64>) -> f64 {
    // A bone that is off by another 18 degrees: 1 − cos.
    const FAR: f64 = 0.05;
    let (Some(cost), Some(least)) = (cost, least) else { return 0.0 };
    let near = (1.0 - (cost - least) / FAR).max(0.0);
    near * near
}
