//! What works on motion, with figures, motion, rigs and settings made of bytes: estimated, clamped, coupled,
//! edited, evaluated.

use std::num::NonZeroUsize;

use arbitrary::{Result, Unstructured};
use condyle::couple::{CoupleOptions, couple};
use condyle::edit::{
    Between, Connected, ContactOptions, Easing, EditError, Facing, Features, Ground, Keep, Method,
    Metric, Mirror, Order, Overlap, Placement, Query, Retarget, RetargetOptions, Scale,
    SearchOptions, Stand, best_matches, blend, closest_windows, connect, distance_matrix,
    fit_inside, onto, retimed, reversed, scaled, trimmed, with_up,
};
use condyle::enforce::{BoundRig, ClampOptions, Smoothing};
use condyle::estimate::{self, BallModel, EstimateOptions, Noise, Outliers, Summary, Take};
use condyle::evaluate::{EvaluateOptions, Evaluated, Known, evaluate};
use condyle::formats::MotionFile;
use condyle::math::{Angle, Interpolation};
use condyle::motion::{Clip, FrameIndex};
use condyle::rig::Rig;
use condyle::skeleton::{JointIndex, Skeleton};
use condyle::synth::{CoupledAxes, CoupledFigure, CoupledMotion, CoupledOptions};

use super::check::check_file;
use super::limits::{angle, number};
use super::markup::check_page;
use super::moving::{Moving, rig, wild};

/// Rounding on the way into a limit and back out of the numbers of a file.
const ROUNDING: f64 = 1e-9;

#[track_caller]
fn check_clip(skeleton: &Skeleton, clip: &Clip) {
    check_file(&MotionFile::new(skeleton.clone(), clip.clone()));
}

fn bits(clip: &Clip, joint: JointIndex, frame: FrameIndex) -> [u64; 7] {
    let [x, y, z, w] = clip.rotation(joint, frame).quat().to_array().map(f64::to_bits);
    let [a, b, c] = clip.translation_m(joint, frame).to_array().map(f64::to_bits);
    [x, y, z, w, a, b, c]
}

/// A clip brought inside of limits, sharply and smoothly: it is there then, what may stay does, and to do it
/// again changes nothing.
pub fn clamp(data: &[u8]) {
    let _too_short = clamp_of(&mut Unstructured::new(data));
}

fn clamp_of(u: &mut Unstructured<'_>) -> Result<()> {
    let Moving { skeleton, clip } = Moving::new(u, 6, 40)?;
    let rig = rig(u, &skeleton)?;
    let smoothing = match u.int_in_range(0..=3)? {
        0 | 1 => None,
        2 => Some(Smoothing::default()),
        _ => Some(Smoothing { step: angle(u)?, ease_frames: usize::from(u.arbitrary::<u8>()?) }),
    };
    let bound = BoundRig::new(&rig, &skeleton).expect("all limits can be prepared");
    let before = bound.check(&clip, NonZeroUsize::MIN);
    let options = ClampOptions { smoothing, ..ClampOptions::default() };
    let mut clamped = clip.clone();
    let told = bound.clamp(&mut clamped, &options);
    check_clip(&skeleton, &clamped);
    check_inside(&bound, &clamped);
    for (joint, told) in before.joints.iter().zip(&told.joints) {
        assert_eq!(joint.joint, told.joint);
        let inside = joint.outside == 0 && joint.within_noise == 0 && joint.left_out == 0;
        for frame in clip.frames() {
            let same = bits(&clip, joint.joint, frame) == bits(&clamped, joint.joint, frame);
            assert!(same || told.changed > 0, "{joint:?} {told:?}");
            assert!(same || !inside, "{joint:?} is inside, and changed: {told:?}");
        }
    }
    for joint in skeleton.indices().filter(|j| bound.limit(*j).is_none()) {
        for frame in clip.frames() {
            assert_eq!(bits(&clip, joint, frame), bits(&clamped, joint, frame), "{joint:?}");
        }
    }
    let mut again = clamped.clone();
    let told = bound.clamp(&mut again, &ClampOptions::default());
    assert!(!told.changed(), "clamped again: {told:?}");
    let (_, fitted) = fit_inside(&skeleton, &mut again, &bound, &ClampOptions::default());
    assert!(fitted.is_none_or(|fitted| fitted.by.radians() >= 0.0));
    Ok(())
}

/// Every frame is allowed, or as far outside as what a check takes for noise.
#[track_caller]
fn check_inside(bound: &BoundRig, clip: &Clip) {
    for joint in bound.check(clip, NonZeroUsize::MIN).joints {
        let Some(limit) = bound.limit(joint.joint) else { continue };
        let most = joint.allowance.radians().max(ROUNDING);
        for frame in clip.frames() {
            let m = bound
                .motion(joint.joint, clip.rotation(joint.joint, frame))
                .expect("it has a limit");
            let outside = -limit.distance(m).radians();
            assert!(outside <= most, "{joint:?}, frame {frame:?}: {outside:e} outside");
        }
    }
}

/// A rig from motion: it is written and read, and holds the motion that it was asked to hold.
pub fn estimate(data: &[u8]) {
    let _too_short = estimate_of(&mut Unstructured::new(data));
}

fn estimate_of(u: &mut Unstructured<'_>) -> Result<()> {
    let first = Moving::new(u, 5, 60)?;
    let mut all = vec![first];
    for _ in 0..u.int_in_range(0..=1)? {
        all.push(if u.ratio(3, 4)? { all[0].again(u, 60)? } else { Moving::new(u, 5, 60)? });
    }
    let takes: Vec<Take<'_>> =
        all.iter().map(|m| Take { skeleton: &m.skeleton, clip: &m.clip }).collect();
    let options = EstimateOptions {
        method: if u.ratio(1, 4)? { estimate::Method::Paper } else { estimate::Method::Robust },
        noise: if u.ratio(1, 4)? { Noise::Given(angle(u)?) } else { Noise::Auto },
        outliers: if u.ratio(1, 4)? { Outliers::Keep } else { Outliers::Reject },
        ball: *u.choose(&[
            BallModel::Auto,
            BallModel::Auto,
            BallModel::Box,
            BallModel::Ellipse,
            BallModel::Polygon,
        ])?,
        corners: usize::from(u.int_in_range(0..=40_u8)?),
        coverage: if u.ratio(1, 8)? { number(u)? } else { 1.0 },
        raw: u.ratio(1, 3)?,
        margin: if u.ratio(1, 8)? { angle(u)? } else { Angle::ZERO },
        ends: u.ratio(1, 3)?,
        ..EstimateOptions::default()
    };
    let mut summary = Summary::default();
    let summed = takes.iter().try_for_each(|t| {
        summary.merge(&Summary::of_take(t.skeleton, t.clip, &options)).map(|_| ())
    });
    if let Err(error) = &summed {
        assert!(!error.to_string().is_empty());
    }
    match estimate::estimate_summary(&summary, &options) {
        Ok(made) => drop(check_rig(&made.into_rig())),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let found = match estimate::estimate(&takes, &options) {
        Ok(found) => found,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Ok(());
        }
    };
    let rig = check_rig(&found.into_rig());
    // What was asked to be inside is.
    let holds_all = options.method == estimate::Method::Robust
        && options.outliers == Outliers::Keep
        && options.raw
        && options.coverage == 1.0
        && options.margin.radians() >= 0.0;
    if holds_all {
        let bound = BoundRig::new(&rig, &all[0].skeleton).expect("of its own figure");
        let check = bound.check(&all[0].clip, NonZeroUsize::MIN);
        assert!(check.ok(), "{check:?}");
    }
    let named = std::iter::repeat("a take");
    let shown: Vec<condyle::report::Take<'_>> = std::iter::zip(named, &all)
        .map(|(name, m)| condyle::report::Take { name, skeleton: &m.skeleton, clip: &m.clip })
        .collect();
    let about = condyle::report::About::default();
    let anatomy = condyle::anatomy::Anatomy::of(&all[0].skeleton);
    check_page(&condyle::report::html(&rig, &shown, anatomy.as_ref(), &about));
    Ok(())
}

/// A rig can be prepared, written and read, and is the same then.
#[track_caller]
fn check_rig(rig: &Rig) -> Rig {
    for (name, joint) in rig.joints.iter() {
        if let Err(error) = joint.limit.prepare() {
            panic!("{name}: {error}");
        }
        assert!(joint.confidence.is_none_or(|share| (0.0..=1.0).contains(&share)), "{joint:?}");
    }
    let written = rig.write().unwrap_or_else(|error| panic!("{error}"));
    let read = Rig::read(&written).unwrap_or_else(|error| panic!("{error}")).rig;
    assert_eq!(read.write().expect("as before"), written);
    read
}

/// Couplings learnt from motion: of figures that have some, and of any. They go into the rig, and say
/// something of every angle.
pub fn couplings(data: &[u8]) {
    let _too_short = couplings_of(&mut Unstructured::new(data));
}

fn couplings_of(u: &mut Unstructured<'_>) -> Result<()> {
    let (mut rig, clips) = if u.ratio(1, 2)? {
        let moving = Moving::new(u, 4, 400)?;
        let other = moving.again(u, 400)?;
        (rig_of_motion(u, &moving)?, vec![moving, other])
    } else {
        coupled(u)?
    };
    let takes: Vec<Take<'_>> =
        clips.iter().map(|m| Take { skeleton: &m.skeleton, clip: &m.clip }).collect();
    let options = CoupleOptions {
        false_share: if u.ratio(1, 2)? { 1.0 } else { number(u)? },
        explained: if u.ratio(1, 2)? { 0.3 } else { number(u)? },
        taken: if u.ratio(1, 2)? { 0.01 } else { number(u)? },
        ..CoupleOptions::default()
    };
    let found = couple(&takes, &rig, &options);
    assert!(found.warnings().iter().all(|warning| !warning.is_empty()));
    for of in &found.found {
        assert!(!of.points_deg.is_empty() && of.points_deg.iter().flatten().all(|v| v.is_finite()));
        for degrees in [-720.0, -180.0, -179.9, 0.0, 33.0, 180.0, 1e9, f64::NAN, f64::INFINITY] {
            let allowed = of.coupling.allowed(Angle::from_degrees(degrees).radians());
            let allowed = allowed.expect("a function that was fitted");
            assert!(allowed.is_none_or(|[low, high]| !low.is_nan() && !high.is_nan()), "{of:?}");
        }
        for fitted in &of.fitted {
            assert!(fitted.band.iter().flatten().all(|v| v.is_finite()), "{fitted:?}");
        }
    }
    check_page(&condyle::couple::html("<title>", &found));
    rig.update_couplings(found.found.into_iter().map(|of| of.coupling).collect());
    check_rig(&rig);
    Ok(())
}

/// A rig as it is estimated, or one with any limits.
fn rig_of_motion(u: &mut Unstructured<'_>, moving: &Moving) -> Result<Rig> {
    let take = Take { skeleton: &moving.skeleton, clip: &moving.clip };
    if u.ratio(2, 3)?
        && let Ok(found) = estimate::estimate(&[take], &EstimateOptions::default())
    {
        return Ok(found.into_rig());
    }
    rig(u, &moving.skeleton)
}

/// A figure some of whose angles depend on others, with limits that have its axes.
fn coupled(u: &mut Unstructured<'_>) -> Result<(Rig, Vec<Moving>)> {
    use condyle::limits::{Limit, SwingLimit, SwingTwistLimit, TwistLimit};
    use condyle::rig::{JointKind, RigJoint};
    let options = CoupledOptions {
        hinges: u.int_in_range(1..=3)?,
        balls: u.int_in_range(0..=1)?,
        couplings: 1,
        takes: u.int_in_range(1..=2)?,
        seconds: f64::from(u.int_in_range(5..=15_u8)?),
        motion: *u.choose(&[
            CoupledMotion::Free,
            CoupledMotion::Periodic,
            CoupledMotion::Bursts,
            CoupledMotion::Poses,
        ])?,
        noise: Angle::from_degrees(0.3),
    };
    let seed = u64::from(u.arbitrary::<u16>()?);
    let Ok(figure) = CoupledFigure::generate(&options, seed) else {
        return Err(arbitrary::Error::IncorrectFormat);
    };
    let mut rig = Rig::from_skeleton(&figure.skeleton);
    let names = figure.skeleton.joints().iter().skip(1).map(|j| j.name.clone());
    for (name, axes) in names.zip(&figure.axes) {
        let (kind, limit) = match axes {
            CoupledAxes::Hinge(axis) => {
                let arc = super::limits::arc(u)?;
                (JointKind::Hinge, Limit::Hinge { axis: *axis, arc })
            }
            CoupledAxes::Ball(axes) => {
                let of = SwingTwistLimit {
                    axes: *axes,
                    swing: SwingLimit::Free,
                    twist: TwistLimit::default(),
                };
                (JointKind::Ball, Limit::SwingTwist(of))
            }
        };
        if limit.prepare().is_ok() {
            rig.joints.insert(name, RigJoint::new(kind, limit));
        }
    }
    let skeleton = figure.skeleton;
    let clips = figure.clips.into_iter();
    Ok((rig, clips.map(|clip| Moving { skeleton: skeleton.clone(), clip }).collect()))
}

/// Motion found again from the paths of a few joints, in all ways, on a page.
pub fn evaluated(data: &[u8]) {
    let _too_short = evaluated_of(&mut Unstructured::new(data));
}

fn evaluated_of(u: &mut Unstructured<'_>) -> Result<()> {
    let moving = Moving::new(u, 8, 20)?;
    let rig = rig_of_motion(u, &moving)?;
    let Moving { skeleton, clip } = &moving;
    let known = match u.arbitrary()? {
        true => Known::from_rig(&rig).ok(),
        false => Known::from_clips(&[(skeleton, clip)]).ok(),
    };
    let Some(known) = known else { return Ok(()) };
    let mut effectors = None;
    if u.ratio(1, 3)? {
        let count = u.int_in_range(0..=3)?;
        let all: Vec<JointIndex> = skeleton.indices().collect();
        let chosen = (0..count).map(|_| Ok(*u.choose(&all)?));
        effectors = Some(chosen.collect::<Result<Vec<JointIndex>>>()?);
    }
    let posture = if u.ratio(1, 4)? { number(u)? } else { 1e-4 };
    let options = EvaluateOptions {
        effectors,
        posture,
        frames: u.int_in_range(0..=2)?,
        ..EvaluateOptions::default()
    };
    let found = match evaluate(skeleton, clip, &rig, &known, &options) {
        Ok(found) => found,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Ok(());
        }
    };
    for way in &found.ways {
        for errors in [&way.position_m, &way.rotation_deg, &way.missed_m] {
            assert!(errors.mean() >= 0.0 && errors.p95() >= 0.0, "{:?}", way.way);
        }
    }
    for frame in &found.poses {
        for pose in &frame.found {
            let turns = &pose.rotations;
            assert!(turns.iter().all(|r| (r.quat().length() - 1.0).abs() < 1e-9), "{turns:?}");
        }
    }
    let shown = Evaluated { name: "<a clip>", skeleton, evaluation: &found };
    check_page(&condyle::evaluate::html(&[shown, shown]));
    Ok(())
}

/// Motion edited: matched, connected, blended, mirrored, retargeted, moved.
pub fn edit(data: &[u8]) {
    let _too_short = edit_of(&mut Unstructured::new(data));
}

fn edit_of(u: &mut Unstructured<'_>) -> Result<()> {
    let how = u.int_in_range(0..=9_u8)?;
    let a = Moving::new(u, 30, 40)?;
    match how {
        0..=2 => connected(u, &a),
        3 => blended(u, &a),
        4 => mirrored(u, &a),
        5 | 6 => retargeted(u, &a),
        7 => moved(u, &a),
        _ => matched(u, &a),
    }
}

fn told(error: &impl ToString) {
    assert!(!error.to_string().is_empty());
}

/// What cannot be done says why, and that is all of it.
fn refused(error: &impl ToString) -> Result<()> {
    told(error);
    Ok(())
}

fn connected(u: &mut Unstructured<'_>, a: &Moving) -> Result<()> {
    let b = a.again(u, 40)?;
    let facing = Facing::of(&a.skeleton);
    let some = |u: &mut Unstructured<'_>| -> Result<usize> {
        Ok(if u.ratio(1, 16)? { usize::MAX } else { u.int_in_range(0..=20)? })
    };
    let easing = *u.choose(&Easing::ALL)?;
    let method = match u.int_in_range(0..=4)? {
        0 => Method::Interpolate { frames: some(u)?, order: Order::Linear },
        1 => Method::Interpolate { frames: some(u)?, order: Order::Cubic },
        2 => Method::Blend(easing),
        3 => Method::BlendSteps(easing),
        _ => Method::Inertialize { frames: some(u)? },
    };
    let at = Overlap { first: some(u)?, second: some(u)?, frames: some(u)? };
    let keep = if u.arbitrary()? { Keep::First } else { Keep::Second };
    let clips = [&a.clip, &b.clip];
    let mut joined: Connected = match connect(&a.skeleton, &facing, clips, at, keep, method) {
        Ok(joined) => joined,
        Err(error) => return refused(&error),
    };
    check_clip(&a.skeleton, &joined.clip);
    let count = joined.clip.frame_count();
    assert!(joined.made.start <= joined.made.end && joined.made.end <= count, "{:?}", joined.made);
    for joint in a.skeleton.indices() {
        for frame in a.clip.frames().take(joined.made.start) {
            let (was, is) = (bits(&a.clip, joint, frame), bits(&joined.clip, joint, frame));
            assert_eq!(was, is, "{joint:?} in {frame:?} is the first motion's");
        }
    }
    let planted = joined.plant_feet(&a.skeleton, &facing, (clips, &[]), &ContactOptions::default());
    check_clip(&a.skeleton, &joined.clip);
    assert!(planted.moved <= count * planted.legs.max(1));
    Ok(())
}

fn blended(u: &mut Unstructured<'_>, a: &Moving) -> Result<()> {
    let b = a.again(u, 40)?;
    let (easing, odd) = (*u.choose(&Easing::ALL)?, number(u)?);
    let is_odd = u.ratio(1, 8)?;
    let frames = a.clip.frame_count().min(b.clip.frame_count());
    let weight = |clip: usize, joint: JointIndex, frame: usize| {
        let second = if is_odd && joint.get() == 1 { odd } else { easing.weight(frame, frames) };
        [1.0 - second, second][clip]
    };
    match blend(&a.skeleton, &[&a.clip, &b.clip], weight) {
        Ok(clip) => check_clip(&a.skeleton, &clip),
        Err(error) => told(&error),
    }
    Ok(())
}

fn mirrored(u: &mut Unstructured<'_>, a: &Moving) -> Result<()> {
    let mirror = match Mirror::new(&a.skeleton) {
        Ok(mirror) => mirror,
        Err(error) => return refused(&error),
    };
    for joint in a.skeleton.indices() {
        let other = mirror.counterpart(joint);
        assert!(other.is_none_or(|other| other.get() < a.skeleton.len()));
    }
    let mirror = if u.arbitrary()? { mirror.in_place() } else { mirror };
    match mirror.apply(&a.clip) {
        Ok(clip) => check_clip(&a.skeleton, &clip),
        Err(error) => told(&error),
    }
    Ok(())
}

fn retargeted(u: &mut Unstructured<'_>, a: &Moving) -> Result<()> {
    let target = Moving::new(u, 30, 1)?.skeleton;
    let retarget = match Retarget::new(&a.skeleton, &target) {
        Ok(retarget) => retarget,
        Err(error) => return refused(&error),
    };
    let rig = if u.ratio(1, 3)? { Some(rig(u, &target)?) } else { None };
    let bound = rig.map(|rig| BoundRig::new(&rig, &target).expect("all limits can be prepared"));
    let options = RetargetOptions {
        scale: if u.ratio(1, 4)? { Scale::By(number(u)?) } else { Scale::Legs },
        keep_feet: u.arbitrary()?,
        keep_hands: u.arbitrary()?,
        rig: bound.as_ref(),
        ..RetargetOptions::default()
    };
    match retarget.apply(&a.clip, &options) {
        Ok(found) => {
            check_clip(&target, &found.clip);
            assert_eq!(found.clip.frame_count(), a.clip.frame_count());
            assert!(found.scale > 0.0 && found.scale.is_finite());
            if let Some(bound) = &bound {
                check_inside(bound, &found.clip);
            }
        }
        Err(error) => told(&error),
    }
    Ok(())
}

fn moved(u: &mut Unstructured<'_>, a: &Moving) -> Result<()> {
    let Moving { skeleton, clip } = a;
    let own = Ground::of(skeleton);
    let ground = Ground::new(wild(u)?, wild(u)?).unwrap_or(own);
    let stand = Facing::on(skeleton, ground).stand_in(skeleton, clip, FrameIndex(0));
    let to = Stand { position_m: wild(u)?, facing: angle(u)? };
    let mut placed = clip.clone();
    match Placement::between(ground, stand, to).apply(skeleton, &mut placed) {
        Ok(()) => check_clip(skeleton, &placed),
        Err(error) => told(&error),
    }
    let whole = |made: std::result::Result<(Skeleton, Clip), EditError>| match made {
        Ok((skeleton, clip)) => check_clip(&skeleton, &clip),
        Err(error) => told(&error),
    };
    whole(scaled(skeleton, clip, number(u)?));
    whole(with_up(skeleton, clip, own, ground));
    let any = usize::from(u.arbitrary::<u8>()?);
    let parts = [
        trimmed(clip, any / 16..any % 16),
        reversed(clip),
        retimed(clip, number(u)?.abs().max(0.01), Some(Interpolation::default())),
    ];
    for part in parts {
        match part {
            Ok(clip) => check_clip(skeleton, &clip),
            Err(error) => told(&error),
        }
    }
    let other = if u.arbitrary()? { Moving::new(u, 30, 1)?.skeleton } else { skeleton.clone() };
    match onto(&other, skeleton, clip) {
        Ok(found) => check_clip(&other, &found.clip),
        Err(error) => told(&error),
    }
    Ok(())
}

/// Windows are found as by looking at every one of them.
fn matched(u: &mut Unstructured<'_>, a: &Moving) -> Result<()> {
    let b = a.again(u, 40)?;
    let metric = *u.choose(&[Metric::Euler, Metric::Quaternion, Metric::Position])?;
    let of = |m: &Moving| Features::of(&m.skeleton, &m.clip, metric);
    let (ours, theirs) = match (of(a), of(&b)) {
        (Ok(ours), Ok(theirs)) => (ours, theirs),
        (Err(error), _) | (_, Err(error)) => return refused(&error),
    };
    let (start, window) = (u.int_in_range(0..=20)?, u.int_in_range(0..=12)?);
    let mut query = match Query::new(&ours, start..start + window) {
        Ok(query) => query,
        Err(error) => return refused(&error),
    };
    if u.ratio(1, 4)? {
        let weights = (0..window).map(|_| number(u)).collect::<Result<Vec<f64>>>()?;
        query = match query.with_frame_weights(&weights) {
            Ok(query) => query,
            Err(error) => return refused(&error),
        };
    }
    let theirs = if u.arbitrary()? { theirs.indexed() } else { theirs };
    let options = SearchOptions {
        count: u.int_in_range(0..=4)?,
        spacing: if u.arbitrary()? { Some(u.int_in_range(0..=5)?) } else { None },
        ..SearchOptions::default()
    };
    match best_matches(&query, &[&theirs], &options) {
        Ok(found) => {
            let starts = 0..(theirs.frame_count() + 1).saturating_sub(window);
            let distance =
                |start: usize| query.distance(&theirs, start).expect("it is in the clip");
            let best = starts.clone().map(distance).min_by(f64::total_cmp);
            assert_eq!(
                found.first().map(|f| f.distance.to_bits()),
                best.filter(|_| options.count > 0).map(f64::to_bits)
            );
            for found in &found {
                assert_eq!(found.distance.to_bits(), distance(found.frame).to_bits());
            }
        }
        Err(error) => told(&error),
    }
    let all = distance_matrix(&query, 0..usize::MAX, &theirs, 0..usize::MAX, (99, 99));
    match (closest_windows(&query, &theirs, &Between::default()), all) {
        (Ok(pair), Ok(all)) => {
            let pair = pair.expect("nothing is excluded");
            let least = (0..all.a_frames.len())
                .flat_map(|row| (0..all.b_frames.len()).map(move |column| (row, column)))
                .map(|(row, column)| all.distance(row, column))
                .min_by(f64::total_cmp);
            assert_eq!(Some(pair.distance.to_bits()), least.map(f64::to_bits));
        }
        (Err(error), _) | (_, Err(error)) => told(&error),
    }
    Ok(())
}
