//! Goals for the frames of a clip.

use super::goal::{Aim, Goal};
use super::goals_error::{GoalsError, GoalsErrorKind};
use crate::motion::{Clip, FrameIndex, FrameRate, Markers, WorldTracks};
use crate::skeleton::{JointIndex, Skeleton, names_near};

/// What the figure of a clip should reach, frame by frame, and what of it may move.
///
/// [`read`](Self::read) takes them from a document, [`from_clip`](Self::from_clip) and
/// [`from_markers`](Self::from_markers) from another motion; [`follow`](Self::follow) makes the clip
/// reach them.
///
/// ```
/// use condyle::glam::DVec3;
/// use condyle::ik::{Figure, FollowOptions, Goals};
/// use condyle::math::{Angle, Rotation};
/// use condyle::motion::{Clip, FrameRate, Track, WorldTracks};
/// use condyle::skeleton::{Joint, Skeleton};
///
/// // A bent leg that stands still for three frames.
/// let mut skeleton = Skeleton::new();
/// let mut parent = skeleton.add_root(Joint::new("Pelvis", DVec3::Y))?;
/// for name in ["Hip", "Knee", "Foot"] {
///     parent = skeleton.add(parent, Joint::new(name, -0.4 * DVec3::Y))?;
/// }
/// let bend = |joint: &Joint| Rotation::about_x(Angle::from_degrees(match joint.name.as_str() {
///     "Knee" => 20.0,
///     _ => 0.0,
/// }));
/// let tracks = skeleton.joints().iter().map(|j| Track::constant(bend(j), j.offset_m)).collect();
/// let mut clip = Clip::new(3, FrameRate::from_fps(30.0).ok_or("no rate")?, tracks)?;
///
/// // In the last two the foot is to be higher.
/// let text = br#"{ "goals": [ { "joint": "Foot",
///     "position_m": [null, [0, -0.1, 0.1], [0, 0, 0.2]] } ] }"#;
/// let goals = Goals::read(text, &skeleton, &clip)?.goals;
/// let figure = Figure::without_limits(&skeleton);
/// let found = goals.follow(figure, &skeleton, &mut clip, &FollowOptions::default(), |_| {});
/// assert!(found.ok());
/// assert_eq!((found.goals[0].frames, found.changed.len()), (2, 2));
/// let foot = WorldTracks::of(&skeleton, &clip).position_m(parent, 2);
/// assert!(foot.distance(DVec3::new(0.0, 0.0, 0.2)) < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Goals {
    /// The goals.
    pub goals: Vec<ClipGoal>,
    /// Joints that are held as they are in the clip.
    pub lock: Vec<JointIndex>,
    /// What roots may do.
    pub root: RootMotion,
}

/// Something that a joint should do in some or all frames of a clip.
#[derive(Clone, Debug)]
pub struct ClipGoal {
    /// Which joint.
    pub joint: JointIndex,
    /// What sort of goal it is.
    pub kind: GoalKind,
    /// See [`Goal::weight`].
    pub weight: f64,
    /// What it should do, and when.
    pub aims: Aims,
}

impl ClipGoal {
    /// What is asked for in a frame.
    #[must_use]
    pub fn at(&self, frame: FrameIndex) -> Option<Goal> {
        let aim = match &self.aims {
            Aims::Always(aim) => Some(*aim),
            Aims::PerFrame(aims) => aims.get(frame.get()).copied().flatten(),
        };
        aim.map(|aim| Goal { joint: self.joint, aim, weight: self.weight })
    }
}

/// What a joint should do, and when.
#[derive(Clone, Debug)]
pub enum Aims {
    /// The same in every frame.
    Always(Aim),
    /// One per frame, `None` where there is nothing to do.
    PerFrame(Vec<Option<Aim>>),
}

/// The sorts of goals that a document can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GoalKind {
    /// A point is somewhere.
    Position,
    /// The joint is turned somehow.
    Orientation,
    /// An axis points along a direction.
    Direction,
    /// An axis points at a place.
    LookAt,
    /// A point is where a point of another joint is.
    Meet,
    /// A point stays where it is in the clip at some frame.
    Hold,
}

impl GoalKind {
    /// Its name in a document, without its unit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Orientation => "orientation",
            Self::Direction => "direction",
            Self::LookAt => "look_at",
            Self::Meet => "meet",
            Self::Hold => "hold",
        }
    }

    /// Whether a miss is a distance, and not an angle.
    #[must_use]
    pub const fn is_distance(self) -> bool {
        matches!(self, Self::Position | Self::Meet | Self::Hold)
    }
}

/// What the roots of a figure may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootMotion {
    /// They stay as they are in the clip.
    #[default]
    Fixed,
    /// They turn and move.
    Free,
}

/// The most goals of a frame. A solver's matrix has the square of their number, and its work the cube.
const MOST: usize = 128;

/// Not more goals than can be solved.
pub(super) fn few_enough(found: usize, named_by: NamedBy) -> Result<(), GoalsErrorKind> {
    if found > MOST {
        return Err(GoalsErrorKind::TooMany { found, most: MOST, named_by });
    }
    Ok(())
}

/// What says which goals there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// A goals document.
    Document,
    /// A list of joints to follow, or the markers of a file.
    Joints,
}

impl Goals {
    /// The centres of joints are where they are in another motion, which has joints of these names.
    ///
    /// # Errors
    ///
    /// If the other motion has another number of frames, if a joint is not there, or if there are more
    /// joints than can be solved. Frames go with frames, whatever the rate: see
    /// [`rate_notice`](Self::rate_notice).
    pub fn from_clip(
        skeleton: &Skeleton,
        clip: &Clip,
        other: (&Skeleton, &Clip),
        joints: &[&str],
    ) -> Result<Self, GoalsError> {
        let (other_skeleton, other_clip) = other;
        same_frames(clip, other_clip.frame_count(), other_clip.rate())?;
        few_enough(joints.len(), NamedBy::Joints).map_err(GoalsError::whole)?;
        let world = WorldTracks::of(other_skeleton, other_clip);
        let mut goals = Vec::new();
        for name in joints {
            let joint = find(skeleton, name, GoalsErrorKind::unknown_joint)?;
            let there = find(other_skeleton, name, GoalsErrorKind::not_in_other)?;
            let targets = world.positions_m(there).iter().map(Some);
            goals.push(ClipGoal::position(joint, targets));
        }
        Ok(Self { goals, ..Self::default() })
    }

    /// The centres of joints are where the markers of their names are, in frames in which these were
    /// seen. Without a list of joints: all for which there is a marker.
    ///
    /// # Errors
    ///
    /// If the markers have another number of frames, if a joint or marker of the list is not there, if none has a
    /// marker, or if more have one than can be solved.
    pub fn from_markers(
        skeleton: &Skeleton,
        clip: &Clip,
        markers: &Markers,
        joints: Option<&[&str]>,
    ) -> Result<Self, GoalsError> {
        same_frames(clip, markers.frame_count(), markers.rate)?;
        let names: Vec<&str> = markers.markers.iter().map(|m| m.name.as_str()).collect();
        let all = || skeleton.joints().iter().map(|j| j.name.as_str());
        let joints: Vec<&str> = match joints {
            Some(joints) => joints.to_vec(),
            None => all().filter(|name| names.contains(name)).collect(),
        };
        if joints.is_empty() {
            return Err(GoalsError::whole(GoalsErrorKind::NoMarkers {
                markers: some_of(names.iter().copied()),
                joints: some_of(all()),
            }));
        }
        few_enough(joints.len(), NamedBy::Joints).map_err(GoalsError::whole)?;
        let mut goals = Vec::new();
        for name in joints {
            let joint = find(skeleton, name, GoalsErrorKind::unknown_joint)?;
            let marker = markers.markers.iter().find(|m| m.name == name).ok_or_else(|| {
                GoalsError::whole(GoalsErrorKind::not_in_other(name, names.iter().copied()))
            })?;
            let targets = (0..markers.frame_count()).map(|frame| marker.position_m(frame));
            goals.push(ClipGoal::position(joint, targets));
        }
        Ok(Self { goals, ..Self::default() })
    }
}

impl Goals {
    /// What to know about goals that are from a motion of another rate than the clip: each frame of it is
    /// for one of the clip, so that it goes faster or slower.
    #[must_use]
    pub fn rate_notice(clip: &Clip, rate: FrameRate) -> Option<String> {
        // A single frame has no rate.
        (clip.frame_count() > 1 && differ(clip, rate)).then(|| {
            format!(
                "goals at {} frames per second are for a clip at {}, frame by frame",
                rate.nominal_fps(),
                clip.rate().nominal_fps()
            )
        })
    }
}

impl ClipGoal {
    fn position(joint: JointIndex, targets: impl Iterator<Item = Option<glam::DVec3>>) -> Self {
        let aim = |target: glam::DVec3| Goal::position(joint, target).aim;
        let aims = Aims::PerFrame(targets.map(|target| target.map(aim)).collect());
        Self { joint, kind: GoalKind::Position, weight: 1.0, aims }
    }
}

fn find<'a>(
    skeleton: &'a Skeleton,
    name: &str,
    missing: impl Fn(&str, Box<dyn Iterator<Item = &'a str> + 'a>) -> GoalsErrorKind,
) -> Result<JointIndex, GoalsError> {
    skeleton.find(name).ok_or_else(|| {
        let names = Box::new(skeleton.joints().iter().map(|j| j.name.as_str()));
        GoalsError::whole(missing(name, names))
    })
}

/// Frames of goals are those of the clip.
fn same_frames(clip: &Clip, found: usize, rate: FrameRate) -> Result<(), GoalsError> {
    let expected = clip.frame_count();
    if found != expected {
        let fps = differ(clip, rate).then_some(clip.rate().nominal_fps());
        return Err(GoalsError::whole(GoalsErrorKind::OtherCount { found, expected, fps }));
    }
    Ok(())
}

/// Whether a rate is another than that of a clip: by more than files round.
fn differ(clip: &Clip, rate: FrameRate) -> bool {
    let (theirs, ours) = (rate.nominal_fps(), clip.rate().nominal_fps());
    (theirs - ours).abs() > 2e-4 * ours
}

/// The first few of some names.
fn some_of<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.take(5).map(str::to_owned).collect()
}

impl GoalsErrorKind {
    pub(super) fn unknown_joint<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        Self::UnknownJoint { name: name.to_owned(), near: near(name, names) }
    }

    fn not_in_other<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Self {
        Self::NotInOther { name: name.to_owned(), near: near(name, names) }
    }
}

/// The names that may be meant, or some to show what names are like.
fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Near {
    let names: Vec<&str> = names.collect();
    let near = names_near(names.iter().copied(), name);
    let are_near = !near.is_empty();
    Near { are_near, names: some_of(if are_near { near } else { names }.into_iter()) }
}

/// Names in place of one that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// Whether they are spelt nearly like it; otherwise they are any.
    pub are_near: bool,
    /// A few names.
    pub names: Vec<String>,
}
