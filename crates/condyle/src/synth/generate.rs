//! From a figure and options to a motion.

use glam::DVec3;

use super::path::{explore, walk};
use super::{
    Coordinates, Exploration, Figure, GlitchScope, JointTruth, Keys, MAX_FRAMES, Options, Rng,
    Synth, SynthError,
};
use crate::math::{Angle, Arc, Points, Rotation, Rotations, direct_rotation};
use crate::motion::{Clip, FrameIndex, KeyTimes, Track};
use crate::skeleton::JointIndex;

/// A glitch is at least this far from where the joint is.
const GLITCH_LEAST: Angle = Angle::from_degrees(30.0);

/// What a stream of random numbers is for. With the joint in the low half it names the stream.
#[derive(Clone, Copy)]
enum Purpose {
    Path = 1,
    Order,
    Noise,
    GlitchFrames,
    Glitch,
    Flips,
    Repeats,
    Keys,
}

fn stream(seed: u64, purpose: Purpose, joint: usize) -> Rng {
    Rng::stream(seed, (purpose as u64) << 32 | joint as u64)
}

impl Synth {
    /// Lets a figure move, and spoils the motion as asked.
    ///
    /// Roots walk in a circle. All other joints keep their place and turn by
    /// `local = rest · center · m`, with m on a path inside the joint's truth.
    ///
    /// # Errors
    ///
    /// See [`SynthError`]: options outside their ranges.
    ///
    /// ```
    /// use condyle::synth::{Exploration, Figure, Options, Synth};
    /// let figure = Figure::random(12, 42)?;
    /// let options = Options { frames: 500, exploration: Exploration::Poses, ..Options::default() };
    /// let synth = Synth::generate(&figure, &options, 42)?;
    /// assert_eq!(synth.clip.frame_count(), 500);
    /// # Ok::<(), condyle::synth::SynthError>(())
    /// ```
    pub fn generate(figure: &Figure, options: &Options, seed: u64) -> Result<Self, SynthError> {
        check(options)?;
        let n = options.frames;
        let skeleton = figure.skeleton();
        let sources = repeated_frames(options, seed);
        let order = frame_order(options, seed);
        let shared_glitches = glitch_frames(options, seed, 0);

        let mut synth = Self {
            skeleton: skeleton.clone(),
            truth: figure.truth().to_vec(),
            clip: Clip::new(0, options.rate, Vec::new())?,
            clean: Clip::new(0, options.rate, Vec::new())?,
            coordinates: Vec::with_capacity(skeleton.len()),
            glitches: Vec::with_capacity(skeleton.len()),
            sign_flips: Vec::with_capacity(skeleton.len()),
            repeats: (1..sources.len())
                .filter(|&i| sources[i] == sources[i - 1])
                .map(frame_index)
                .collect(),
            keys: None,
            noise: options.noise,
        };
        let mut clean_tracks = Vec::with_capacity(skeleton.len());
        let mut tracks = Vec::with_capacity(skeleton.len());
        let mut keys = Vec::new();
        for j in skeleton.indices() {
            let motion = clean_motion(figure, j, options, &order, seed);
            let glitches = match options.glitches.scope {
                GlitchScope::Joint => glitch_frames(options, seed, j.get()),
                GlitchScope::Pose => shared_glitches.clone(),
            };
            let flips =
                stream(seed, Purpose::Flips, j.get()).subset(n, rounded(options.sign_flips, n));
            let spoilt = spoil(&motion.rotations, options, &glitches, &flips, seed, j.get());

            // From here on frames are those of the result, with the repeats.
            let shown = |frames: &[usize]| -> Vec<FrameIndex> {
                (0..sources.len())
                    .filter(|&i| frames.binary_search(&sources[i]).is_ok())
                    .map(frame_index)
                    .collect()
            };
            synth.glitches.push(shown(&glitches));
            synth.sign_flips.push(shown(&flips));
            synth.coordinates.push(sources.iter().map(|&i| motion.coordinates[i]).collect());
            let positions: Vec<DVec3> = sources.iter().map(|&i| motion.positions_m[i]).collect();
            let every = |rotations: &[Rotation]| -> Vec<Rotation> {
                sources.iter().map(|&i| rotations[i]).collect()
            };
            let is_root = skeleton.parent(j).is_none();
            clean_tracks.push(track(&every(&motion.rotations), &positions, is_root));
            tracks.push(match options.keys {
                Keys::EveryFrame => track(&every(&spoilt), &positions, is_root),
                Keys::Sparse { count, interpolation } => {
                    let frames = key_frames(sources.len(), count, seed, j.get());
                    let keyed = keyed_track(&every(&spoilt), &positions, &frames, options, is_root);
                    keys.push(frames);
                    keyed.with_interpolation(interpolation)
                }
            });
        }
        synth.clip = Clip::new(sources.len(), options.rate, tracks)?;
        synth.clean = Clip::new(sources.len(), options.rate, clean_tracks)?;
        synth.keys = matches!(options.keys, Keys::Sparse { .. }).then_some(keys);
        Ok(synth)
    }

    /// The standard deviation of the true motion along each of the joint's freedoms: none for a
    /// fixed or free joint, one for a hinge, two for a universal joint; three for a ball: the
    /// swing's rotation vector along its two principal directions, larger first, and the twist.
    ///
    /// A joint whose smallest spread is below the noise cannot be told from a simpler one.
    ///
    /// # Panics
    ///
    /// If the skeleton has no such joint.
    #[must_use]
    pub fn spread(&self, joint: JointIndex) -> Vec<Angle> {
        let path = &self.coordinates[joint.get()];
        let deviation = |of: &dyn Fn(&Coordinates) -> f64| {
            let values: Vec<f64> = path.iter().map(of).collect();
            Angle::from_radians(covariance(&values, &values).sqrt())
        };
        match self.truth[joint.get()] {
            JointTruth::Free | JointTruth::Fixed { .. } => Vec::new(),
            JointTruth::Hinge { .. } => vec![deviation(&|c| angle(c, 0))],
            JointTruth::Universal { .. } => {
                vec![deviation(&|c| angle(c, 0)), deviation(&|c| angle(c, 1))]
            }
            JointTruth::Ball { bone_axis, swing, .. } => {
                let vectors: Vec<DVec3> = path
                    .iter()
                    .map(|c| match *c {
                        Coordinates::Ball { direction, .. } => {
                            direct_rotation(bone_axis, direction)
                                .map_or(DVec3::ZERO, |direct| direct.rotation.log())
                        }
                        _ => DVec3::ZERO,
                    })
                    .collect();
                // Two directions across the bone.
                let first = crate::math::unit(bone_axis.cross(swing.center()))
                    .or_else(|| crate::math::unit(bone_axis.cross(swing.toward())))
                    .unwrap_or(DVec3::X);
                let second = bone_axis.cross(first);
                let x: Vec<f64> = vectors.iter().map(|v| v.dot(first)).collect();
                let y: Vec<f64> = vectors.iter().map(|v| v.dot(second)).collect();
                let (xx, xy, yy) = (covariance(&x, &x), covariance(&x, &y), covariance(&y, &y));
                // The eigenvalues of a symmetric 2 × 2 matrix.
                let mean = 0.5 * (xx + yy);
                let radius = crate::math::trig::hypot(0.5 * (xx - yy), xy);
                let sd = |v: f64| Angle::from_radians(v.max(0.0).sqrt());
                vec![sd(mean + radius), sd(mean - radius), deviation(&|c| angle(c, 0))]
            }
        }
    }

    /// The arcs the true motion covered: of the hinge, of both axes of a universal joint, of the
    /// twist of a ball. The same as the truth after a full exploration, smaller after a partial one.
    ///
    /// # Panics
    ///
    /// If the skeleton has no such joint.
    #[must_use]
    pub fn explored(&self, joint: JointIndex) -> Vec<Arc> {
        let path = &self.coordinates[joint.get()];
        let count = match self.truth[joint.get()] {
            JointTruth::Free | JointTruth::Fixed { .. } => 0,
            JointTruth::Hinge { .. } | JointTruth::Ball { .. } => 1,
            JointTruth::Universal { .. } => 2,
        };
        (0..count)
            .map(|k| {
                let low = path.iter().map(|c| angle(c, k)).fold(f64::INFINITY, f64::min);
                let high = path.iter().map(|c| angle(c, k)).fold(f64::NEG_INFINITY, f64::max);
                Arc::new(Angle::from_radians(low), Angle::from_radians(high)).unwrap_or(Arc::EMPTY)
            })
            .collect()
    }
}

/// The angle of a hinge, one of a universal joint's, or the twist of a ball, in radians.
fn angle(coordinates: &Coordinates, which: usize) -> f64 {
    match *coordinates {
        Coordinates::None => 0.0,
        Coordinates::Hinge(angle) => angle.radians(),
        Coordinates::Universal(angles) => angles[which].radians(),
        Coordinates::Ball { twist, .. } => twist.radians(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of frames")]
fn covariance(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / n
}

fn check(options: &Options) -> Result<(), SynthError> {
    if !(1..=MAX_FRAMES).contains(&options.frames) {
        return Err(SynthError::FrameCount { found: options.frames });
    }
    for (option, value) in [
        ("glitches", options.glitches.share),
        ("sign_flips", options.sign_flips),
        ("repeats", options.repeats),
    ] {
        if !(0.0..=1.0).contains(&value) {
            return Err(SynthError::Share { option, value });
        }
    }
    if let Exploration::Partial { share } = options.exploration
        && !(share > 0.0 && share <= 1.0)
    {
        return Err(SynthError::Share { option: "exploration", value: share });
    }
    let noise = options.noise.radians();
    if !(noise.is_finite() && noise >= 0.0) {
        return Err(SynthError::Noise);
    }
    if matches!(options.keys, Keys::Sparse { count: 0, .. }) {
        return Err(SynthError::NoKeys);
    }
    Ok(())
}

/// For each frame of the result the frame it shows: rising, some of them twice.
fn repeated_frames(options: &Options, seed: u64) -> Vec<usize> {
    let n = options.frames;
    let twice = stream(seed, Purpose::Repeats, 0).subset(n, rounded(options.repeats, n));
    let mut sources = Vec::with_capacity(n + twice.len());
    for i in 0..n {
        sources.push(i);
        if twice.binary_search(&i).is_ok() {
            sources.push(i);
        }
    }
    sources
}

/// Which frame of the smooth path each frame shows: all of them in order, or shuffled for poses.
fn frame_order(options: &Options, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..options.frames).collect();
    if options.exploration == Exploration::Poses {
        stream(seed, Purpose::Order, 0).shuffle(&mut order);
    }
    order
}

fn glitch_frames(options: &Options, seed: u64, joint: usize) -> Vec<usize> {
    let n = options.frames;
    stream(seed, Purpose::GlitchFrames, joint).subset(n, rounded(options.glitches.share, n))
}

/// The motion of one joint before anything is spoilt or repeated.
struct Motion {
    coordinates: Vec<Coordinates>,
    rotations: Vec<Rotation>,
    positions_m: Vec<DVec3>,
}

fn clean_motion(
    figure: &Figure,
    joint: JointIndex,
    options: &Options,
    order: &[usize],
    seed: u64,
) -> Motion {
    let (truth, place) = (figure.truth_of(joint), &figure.skeleton()[joint]);
    let mut rng = stream(seed, Purpose::Path, joint.get());
    let path = explore(truth, options.frames, options.exploration, &mut rng);
    let coordinates: Vec<Coordinates> = order.iter().map(|&i| path[i]).collect();
    let base = place.rest * truth.center();
    let (rotations, positions_m) = match truth {
        JointTruth::Free => order
            .iter()
            .map(|&i| walk(options.rate.time_of(frame_index(i)), place.offset_m, place.rest))
            .unzip(),
        _ => coordinates
            .iter()
            .map(|c| (base * truth.rotation(*c).unwrap_or_default(), place.offset_m))
            .unzip(),
    };
    Motion { coordinates, rotations, positions_m }
}

/// Adds noise to every rotation, replaces glitch frames, and turns quaternions round.
fn spoil(
    clean: &[Rotation],
    options: &Options,
    glitches: &[usize],
    flips: &[usize],
    seed: u64,
    joint: usize,
) -> Vec<Rotation> {
    let mut out = clean.to_vec();
    let sigma = options.noise.radians();
    if sigma > 0.0 {
        let mut rng = stream(seed, Purpose::Noise, joint);
        for r in &mut out {
            let v = DVec3::new(rng.normal(), rng.normal(), rng.normal()) * sigma;
            *r = *r * Rotation::exp(v).unwrap_or_default();
        }
    }
    let mut rng = stream(seed, Purpose::Glitch, joint);
    for &frame in glitches {
        out[frame] = loop {
            let wild = rng.rotation();
            if wild.distance(clean[frame]) >= GLITCH_LEAST {
                break wild;
            }
        };
    }
    for &frame in flips {
        out[frame] = Rotation::from_unit(-out[frame].quat());
    }
    out
}

fn track(rotations: &[Rotation], positions_m: &[DVec3], is_root: bool) -> Track {
    let rotations: Rotations = rotations.iter().copied().collect();
    if !is_root {
        return Track::turning(rotations, positions_m[0]);
    }
    let positions: Points = positions_m.iter().copied().collect();
    Track::from_parts(rotations, KeyTimes::EveryFrame, positions, KeyTimes::EveryFrame)
}

fn keyed_track(
    rotations: &[Rotation],
    positions_m: &[DVec3],
    frames: &[FrameIndex],
    options: &Options,
    is_root: bool,
) -> Track {
    let times = KeyTimes::At(frames.iter().map(|f| options.rate.time_of(*f)).collect());
    let rotations: Rotations = frames.iter().map(|f| rotations[f.get()]).collect();
    if !is_root {
        let still = Points::repeat(positions_m[0], 1);
        return Track::from_parts(rotations, times, still, KeyTimes::constant());
    }
    let positions: Points = frames.iter().map(|f| positions_m[f.get()]).collect();
    Track::from_parts(rotations, times.clone(), positions, times)
}

/// `count` of `n` frames, the first and the last among them.
fn key_frames(n: usize, count: usize, seed: u64, joint: usize) -> Vec<FrameIndex> {
    let mut frames = vec![0];
    if count > 2 && n > 2 {
        let mut rng = stream(seed, Purpose::Keys, joint);
        frames.extend(rng.subset(n - 2, count - 2).into_iter().map(|i| i + 1));
    }
    if count > 1 && n > 1 {
        frames.push(n - 1);
    }
    frames.into_iter().map(frame_index).collect()
}

fn frame_index(i: usize) -> FrameIndex {
    FrameIndex(u32::try_from(i).expect("frames are limited to MAX_FRAMES, each at most twice"))
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a count of frames"
)]
fn rounded(share: f64, n: usize) -> usize {
    (share * n as f64).round() as usize
}
