//! Figures that move, and rigs for them, made of bytes: for everything that works on motion.

use arbitrary::{Result, Unstructured};
use condyle::formats::{Format, MotionFile, OutputUnit, ReadOptions, WriteOptions, read, write};
use condyle::glam::{DQuat, DVec3};
use condyle::limits::Limit;
use condyle::math::{Angle, Points, Rotation, Rotations};
use condyle::motion::{Clip, FrameRate, KeyTimes, Track};
use condyle::rig::{JointKind, Rig, RigJoint};
use condyle::skeleton::{EndSite, Joint, JointIndex, Skeleton};
use condyle::synth::{Figure, Rng};

use super::limits::{angle, limit, number};
use super::made::ODD_NAMES;

/// Names that would be something else on a page.
const MARKUP: [&str; 5] = ["<b>", "\"><i a=\"", "</style></script>", "&", "\u{1b}[31m\u{202e}"];

/// A figure and its motion.
#[derive(Clone, Debug)]
pub struct Moving {
    pub skeleton: Skeleton,
    pub clip: Clip,
}

impl Moving {
    /// A figure of up to so many joints, with motion of up to so many frames.
    pub fn new(u: &mut Unstructured<'_>, joints: usize, frames: usize) -> Result<Self> {
        let skeleton = skeleton(u, joints)?;
        let clip = clip(u, &skeleton, frames)?;
        let moving = Self { skeleton, clip };
        Ok(if u.ratio(1, 3)? { moving.with_channels(u)? } else { moving })
    }

    /// The same figure in another motion.
    pub fn again(&self, u: &mut Unstructured<'_>, frames: usize) -> Result<Self> {
        let skeleton = self.skeleton.clone();
        let mut clip = clip(u, &skeleton, frames)?;
        if u.ratio(3, 4)? {
            let tracks = clip.tracks().to_vec();
            clip = Clip::new(clip.frame_count(), self.clip.rate(), tracks).expect("as before");
        }
        Ok(Self { skeleton, clip })
    }

    /// The same with the channels of a file, if it fits one.
    fn with_channels(self, u: &mut Unstructured<'_>) -> Result<Self> {
        let format = if u.ratio(1, 3)? { Format::Amc } else { Format::Bvh };
        let options = WriteOptions { unit: OutputUnit::Usual, ..WriteOptions::default() };
        let file = MotionFile::new(self.skeleton.clone(), self.clip.clone());
        let Ok(written) = write(&file, format, &options) else { return Ok(self) };
        let of = |format| written.parts.iter().find(|(part, _)| *part == format);
        let skeleton = of(Format::Asf)
            .and_then(|(_, bytes)| read(bytes, None, &ReadOptions::default()).ok())
            .map(|read| read.file);
        let read = of(format)
            .and_then(|(_, bytes)| read(bytes, skeleton.as_ref(), &ReadOptions::default()).ok());
        Ok(match read.map(|read| read.file) {
            Some(MotionFile { skeleton, clip: Some(clip), .. }) => Self { skeleton, clip },
            _ => self,
        })
    }
}

/// Mostly a body with names that are known, or the first joints of one; else any tree.
fn skeleton(u: &mut Unstructured<'_>, joints: usize) -> Result<Skeleton> {
    let human = Figure::human();
    let is_human = u.ratio(3, 4)?;
    let all = human.skeleton().joints();
    let count = u.int_in_range(1..=joints.min(if is_human { all.len() } else { 8 }))?;
    let scale = *u.choose(&[1.0, 1.0, 1.0, 100.0, 1e-3])?;
    // What stands up by its root, or by all its joints, has other bones at rest.
    let turned = if u.ratio(1, 4)? { rotation(u)? } else { Rotation::IDENTITY };
    let mut skeleton = Skeleton::new();
    for i in 0..count {
        let mut joint = if is_human {
            let j = human.skeleton().indices().nth(i).expect("counted");
            human.skeleton()[j].clone()
        } else {
            Joint::new(format!("j{i}"), DVec3::new(0.0, 0.25, 0.0))
        };
        joint.offset_m = turned * joint.offset_m * scale;
        match u.int_in_range(0..=23_u8)? {
            0 => joint.offset_m = DVec3::ZERO,
            1 => joint.offset_m = wild(u)?,
            2 => joint.rest = rotation(u)?,
            3 => {
                let odd = if u.arbitrary()? { u.choose(&MARKUP)? } else { u.choose(&ODD_NAMES)? };
                joint.name = format!("{odd}{i}");
            }
            4 => joint.end_sites.push(EndSite { name: None, offset_m: wild(u)? }),
            _ => {}
        }
        let above = match is_human {
            true => {
                let here = human.skeleton().indices().nth(i).expect("counted");
                human.skeleton().parent(here).map(JointIndex::get)
            }
            false if i == 0 || u.ratio(1, 12)? => None,
            false => Some(i - 1 - usize::from(u.ratio(1, 4)? && i > 1)),
        };
        let parent = above.and_then(|above| skeleton.indices().nth(above));
        let added = match parent {
            Some(parent) => skeleton.add(parent, joint),
            None => skeleton.add_root(joint),
        };
        added.expect("finite, and named by number or as in a figure");
    }
    Ok(skeleton)
}

/// How a joint moves. Frames are drawn from a seed: a few bytes make any number of them.
fn track(
    u: &mut Unstructured<'_>,
    skeleton: &Skeleton,
    joint: JointIndex,
    frames: usize,
    rate: FrameRate,
) -> Result<Track> {
    let (rest, offset_m) = (skeleton[joint].rest, skeleton[joint].offset_m);
    let how = u.int_in_range(0..=9_u8)?;
    if how == 0 || frames == 0 {
        return Ok(Track::constant(rest, offset_m));
    }
    if how == 1 {
        return Ok(Track::constant(rotation(u)?, offset_m));
    }
    let seed = u64::from(u.arbitrary::<u16>()?);
    let mut rng = Rng::stream(seed, joint.get() as u64);
    let far = f64::from(u.arbitrary::<u8>()?) / 40.0;
    let noise = *u.choose(&[0.0, 0.0, 1e-9, 0.005, 0.3])?;
    let axis = DVec3::new(rng.between(-1.0, 1.0), rng.between(-1.0, 1.0), rng.between(-1.0, 1.0));
    let axis = if u.ratio(1, 2)? { DVec3::X } else { axis };
    let (start, speed) = (rng.between(0.0, 6.0), rng.between(0.02, 0.4));
    let mut turns: Vec<Rotation> = (0..frames)
        .map(|f| {
            let about = |axis: DVec3, radians: f64| {
                Rotation::from_axis_angle(axis, Angle::from_radians(radians)).unwrap_or_default()
            };
            let (sin, _) = condyle::math::trig::sin_cos(start + speed * f as f64);
            let main = match how {
                2..=4 => about(axis, far * sin),
                5 => about(axis, far * sin) * about(DVec3::Y, 0.5 * far * sin * sin),
                6 => about(axis, far * 0.05 * f as f64),
                7 if f * 2 < frames => Rotation::IDENTITY,
                7 => about(axis, far),
                _ => about(axis, rng.between(-far, far)) * about(DVec3::Z, rng.between(-far, far)),
            };
            let shake =
                [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| about(axis, noise * rng.normal()));
            rest * main * shake[0] * shake[1] * shake[2]
        })
        .collect();
    // Frames that are wrong: one, or all from one on.
    if u.ratio(1, 4)? {
        let at = u.choose_index(frames)?;
        let end = if u.ratio(1, 2)? { frames } else { at + 1 };
        turns[at..end].fill(rotation(u)?);
    }
    let is_root = skeleton.parent(joint).is_none();
    let step = DVec3::new(rng.between(-0.05, 0.05), 0.0, rng.between(-0.05, 0.05));
    let mut places: Points = Points::new();
    let odd = if u.ratio(1, 32)? { Some((u.choose_index(frames)?, wild(u)?)) } else { None };
    for f in 0..frames {
        let place = offset_m + if is_root { step * f as f64 } else { DVec3::ZERO };
        places.push(odd.filter(|(at, _)| *at == f).map_or(place, |(_, odd)| odd));
    }
    let moves = is_root || odd.is_some();
    let (rotations, every) = (turns.iter().copied().collect::<Rotations>(), KeyTimes::EveryFrame);
    if u.ratio(1, 10)? {
        // A few keys, not at frames.
        let at = (0..frames).step_by(3);
        let times = at.clone().map(|f| (f as f64 * 1.01 - 0.3) * rate.frame_time_s()).collect();
        let keys = at.map(|f| turns[f]).collect();
        let still = [offset_m].into_iter().collect();
        return Ok(Track::from_parts(keys, KeyTimes::At(times), still, KeyTimes::constant()));
    }
    Ok(match moves {
        true => Track::from_parts(rotations, every.clone(), places, every),
        false => Track::turning(rotations, offset_m),
    })
}

fn clip(u: &mut Unstructured<'_>, skeleton: &Skeleton, frames: usize) -> Result<Clip> {
    let fps = *u.choose(&[30.0, 60.0, 120.0, 29.97, 1.0, 1e4])?;
    let rate = FrameRate::from_fps(fps).expect("a rate");
    // Mostly as many as there may be.
    let frames = match u.int_in_range(0..=7_u8)? {
        0 => u.int_in_range(0..=3)?,
        1..=3 => u.int_in_range(1..=frames)?,
        _ => frames,
    };
    let tracks = skeleton.indices().map(|joint| track(u, skeleton, joint, frames, rate));
    let tracks = tracks.collect::<Result<Vec<Track>>>()?;
    Ok(Clip::new(frames, rate, tracks).expect("finite, and one per frame"))
}

/// A rotation, often a quarter or half turn.
pub fn rotation(u: &mut Unstructured<'_>) -> Result<Rotation> {
    let mut part = || Ok(f64::from(u.arbitrary::<i8>()?) / 64.0);
    let q = DQuat::from_xyzw(part()?, part()?, part()?, part()?);
    Ok(Rotation::new(q).unwrap_or_default())
}

/// A finite place, mostly of the size of a figure.
pub fn wild(u: &mut Unstructured<'_>) -> Result<DVec3> {
    let mut part = || {
        let any = number(u)?;
        Ok(if any.is_finite() { any } else { 0.0 })
    };
    Ok(DVec3::new(part()?, part()?, part()?))
}

/// A rig for a figure: limits of all kinds that can be asked.
pub fn rig(u: &mut Unstructured<'_>, skeleton: &Skeleton) -> Result<Rig> {
    let mut rig = Rig::from_skeleton(skeleton);
    for joint in skeleton.indices().filter(|j| skeleton.parent(*j).is_some()) {
        let limit = limit(u)?;
        let limit = if limit.prepare().is_ok() { limit } else { Limit::Free };
        let kind = match &limit {
            Limit::Hinge { .. } => JointKind::Hinge,
            Limit::Universal { .. } => JointKind::Universal,
            Limit::Locked => JointKind::Fixed,
            _ => JointKind::Ball,
        };
        let mut entry = RigJoint::new(kind, limit);
        if u.ratio(1, 4)? {
            entry.center = rotation(u)?;
        }
        if u.ratio(1, 4)? {
            entry.noise = Some(angle(u)?).filter(|noise| (0.0..1.0).contains(&noise.radians()));
        }
        rig.joints.insert(skeleton[joint].name.as_str(), entry);
    }
    Ok(rig)
}
