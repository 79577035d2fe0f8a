//! Left and right exchanged.

use std::collections::BTreeMap;
use std::fmt;

use glam::{DQuat, DVec3};

use super::body::{Body, axes};
use super::sides::other_side;
use super::{Facing, Ground};
use crate::anatomy::{BodySide, FigureAxes};
use crate::math::{Angle, Points, Rotation, Rotations};
use crate::motion::{Clip, ClipError, FrameIndex, KeyTimes, Pose, Track, World};
use crate::skeleton::{JointIndex, Skeleton};

/// Motion as in a mirror: what the left side did, the right one does.
///
/// # Method
///
/// With M the reflection of the world, F the anatomical frame of a joint in its local space
/// ([`Anatomy::frame`](crate::anatomy::Anatomy::frame)), `M_z` the reflection z → −z of those frames and c
/// the counterpart of j, world rotations W and translations t of the mirrored motion are
///
/// ```text
///   W'(j) = M W(c) F(c) M_z F(j)⁻¹
///   t'(j) = offset(j) + O (t(c) − offset(c)),   O = F(p) M_z F(p_c)⁻¹
/// ```
///
/// p and `p_c` the parents. The root and what is between it and the pelvis are reflected as they are, t' =
/// M t. So the clinical angles of left and right are exchanged exactly, whatever their local spaces are,
/// and bones keep their lengths. If the skeleton is symmetric, every place is reflected. To mirror twice
/// by the same axes gives the motion back. Where axes are [from the motion](FigureAxes), those of the image are
/// found in other frames, and it comes back to some millimetres.
///
/// Joints without an anatomical frame (fingers, helpers, props) have that of their parent, as both are at
/// rest (or, where the rest pose does not stand, in the frame of the motion that stands best): they are
/// mirrored relative to that.
///
/// # What is whose counterpart
///
/// By [anatomy](crate::anatomy::Anatomy::name): left and right of one name, in their order if there are as many on both
/// sides; those in the middle are their own. Else by the spelling of the names (`LeftHandThumb1`,
/// `lthumb`, `Thumb_L`, `Thumb.L`), if the parents are counterparts. Else a joint whose parent is its own
/// image is that too, and every other keeps its own local motion: so does a sword that only the right
/// hand has.
///
/// # Example
///
/// ```
/// use condyle::edit::Mirror;
/// use condyle::synth::{Figure, Options, Synth};
///
/// let made = Synth::generate(&Figure::human(), &Options::default(), 1)?;
/// let mirror = Mirror::new(&made.skeleton)?;
/// let mirrored = mirror.apply(&made.clip)?;
/// assert_eq!(mirrored.frame_count(), made.clip.frame_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mirror<'a> {
    body: Body<'a>,
    images: Vec<Image>,
    ground: Ground,
    in_place: bool,
}

/// What a joint does in the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Image {
    /// What this joint did.
    Of(JointIndex),
    /// What it did itself, relative to its parent.
    Kept,
}

/// A plane of the world to mirror in: its normal, where the origin goes, and the axes of who stands and
/// looks along it.
struct Plane {
    normal: DVec3,
    shift_m: DVec3,
    axes: Rotation,
}

impl Plane {
    fn point(&self, point_m: DVec3) -> DVec3 {
        point_m - self.normal * (2.0 * self.normal.dot(point_m)) + self.shift_m
    }
}

impl<'a> Mirror<'a> {
    /// In the plane of up and forward through the origin of the world, by the names of the joints and the
    /// rest pose. Where there is motion, [`by`](Self::by) knows better which way is up.
    ///
    /// # Errors
    ///
    /// [`MirrorError::NoNames`] or [`MirrorError::NoPelvis`].
    pub fn new(skeleton: &'a Skeleton) -> Result<Self, MirrorError> {
        Self::by(skeleton, FigureAxes::of(skeleton, &[]))
    }

    /// The same by the axes of a figure in motion.
    ///
    /// # Errors
    ///
    /// [`MirrorError::NoNames`] or [`MirrorError::NoPelvis`].
    pub fn by(skeleton: &'a Skeleton, axes: FigureAxes) -> Result<Self, MirrorError> {
        let ground = Ground::up_along(axes.up().axis);
        let anatomy = axes.into_anatomy().ok_or(MirrorError::NoNames)?;
        let body = Body::new(skeleton, anatomy).ok_or(MirrorError::NoPelvis)?;
        let images = images(&body);
        Ok(Self { body, images, ground, in_place: false })
    }

    /// In a world with other axes.
    #[must_use]
    pub fn on(mut self, ground: Ground) -> Self {
        self.ground = ground;
        self
    }

    /// In the vertical plane through where the figure stands in the first frame of the
    /// [motion](Clip::motion_start), along which it faces there: it starts from the same place in the same
    /// direction.
    #[must_use]
    pub fn in_place(mut self) -> Self {
        self.in_place = true;
        self
    }

    /// The joint whose motion a joint gets; `None` if it keeps its own, relative to its parent.
    ///
    /// # Panics
    ///
    /// If the skeleton has no such joint.
    #[must_use]
    pub fn counterpart(&self, joint: JointIndex) -> Option<JointIndex> {
        match self.images[joint.get()] {
            Image::Of(c) => Some(c),
            Image::Kept => None,
        }
    }

    /// Joints that are none of the body by their names, have no counterpart, and turn in a clip, though a limb of one
    /// side hangs on them: a thigh whose name says nothing. What is below them is mirrored wrongly.
    ///
    /// # Panics
    ///
    /// If the clip is not one of the skeleton.
    #[must_use]
    pub fn unpaired(&self, clip: &Clip) -> Vec<JointIndex> {
        // What turns by less is the rounding of a file.
        const STILL: Angle = Angle::from_degrees(0.05);
        let Body { skeleton, anatomy, .. } = &self.body;
        // Whether joints of the left and of the right are below, from the ends up.
        let mut below = vec![[false; 2]; skeleton.len()];
        for j in skeleton.indices().rev() {
            let [mut left, mut right] = below[j.get()];
            match anatomy.name(j) {
                Some((_, BodySide::Left)) => left = true,
                Some((_, BodySide::Right)) => right = true,
                _ => {}
            }
            if let Some(p) = skeleton.parent(j) {
                let [of_left, of_right] = &mut below[p.get()];
                (*of_left, *of_right) = (*of_left || left, *of_right || right);
            }
        }
        let alone = |j: &JointIndex| self.counterpart(*j).is_none_or(|c| c == *j);
        let one_side = |j: &JointIndex| below[j.get()][0] != below[j.get()][1];
        let unnamed = |j: &JointIndex| anatomy.name(*j).is_none();
        let turns = |j: &JointIndex| {
            let first = clip.frames().next().map(|frame| clip.rotation(*j, frame));
            let apart = |frame| first.map(|first| clip.rotation(*j, frame).distance(first));
            clip.frames().filter_map(apart).any(|angle| angle > STILL)
        };
        let lost = |j: &JointIndex| unnamed(j) && alone(j) && one_side(j) && turns(j);
        skeleton.indices().filter(lost).collect()
    }

    /// The mirrored clip. Keys stay at their times, and constant tracks constant, but where the parents
    /// of counterparts are none themselves: those joints get a key per frame.
    ///
    /// # Errors
    ///
    /// [`MirrorError::Clip`] if the clip is not of the skeleton, or a place would be beyond the range of
    /// numbers.
    pub fn apply(&self, clip: &Clip) -> Result<Clip, MirrorError> {
        let skeleton = self.body.skeleton;
        let (found, expected) = (clip.tracks().len(), skeleton.len());
        if found != expected {
            return Err(MirrorError::Clip(ClipError::JointCount { found, expected }));
        }
        let plane = self.plane(clip);
        let mirrored = Mirrored {
            mirror: self,
            clip,
            frames: self.body.frames(plane.axes),
            // −M and −M_z are half turns about the normals, and the signs cancel.
            world: half_turn(plane.normal),
            side: half_turn(DVec3::Z),
        };
        let mut is_trunk = vec![false; skeleton.len()];
        self.body.trunk().into_iter().for_each(|j| is_trunk[j.get()] = true);
        let mut by_frame = mirrored.by_frame();
        let mut result = clip.clone();
        for j in skeleton.indices() {
            let Image::Of(c) = self.images[j.get()] else { continue };
            let track = clip.track(c);
            let (rotations, rotation_times) = match by_frame.remove(&j) {
                Some(rotations) => (rotations, KeyTimes::EveryFrame),
                None => (mirrored.rotations(j, c), track.rotation_times().clone()),
            };
            let translations_m = mirrored.translations_m(j, c, &plane, is_trunk[j.get()]);
            let times = track.translation_times().clone();
            let mirrored = Track::from_parts(rotations, rotation_times, translations_m, times)
                .with_interpolation(track.interpolation());
            result.set_track(j, mirrored).map_err(MirrorError::Clip)?;
        }
        Ok(result)
    }

    fn plane(&self, clip: &Clip) -> Plane {
        let Self { body, ground, .. } = self;
        if !self.in_place || clip.frame_count() == 0 {
            let axes = axes(ground.up(), ground.forward());
            return Plane { normal: ground.left(), shift_m: DVec3::ZERO, axes };
        }
        let facing = Facing::with(body.skeleton, *ground, Some(&body.anatomy));
        let first = FrameIndex(u32::try_from(clip.motion_start()).unwrap_or(0));
        let stand = facing.stand_in(body.skeleton, clip, first);
        let turn = ground.turn(stand.facing);
        let normal = turn * ground.left();
        let shift_m = normal * (2.0 * normal.dot(stand.position_m));
        Plane { normal, shift_m, axes: axes(ground.up(), turn * ground.forward()) }
    }
}

/// [`Mirror`] for one clip of a skeleton, in the plane of up and forward, which that motion shows.
///
/// # Errors
///
/// See [`MirrorError`].
pub fn mirror(skeleton: &Skeleton, clip: &Clip) -> Result<Clip, MirrorError> {
    Mirror::by(skeleton, FigureAxes::of(skeleton, &[clip]))?.apply(clip)
}

/// A clip in the mirror.
struct Mirrored<'a> {
    mirror: &'a Mirror<'a>,
    clip: &'a Clip,
    frames: Vec<Rotation>,
    /// Half turns about the normal of the plane, and about z.
    world: Rotation,
    side: Rotation,
}

impl Mirrored<'_> {
    fn parent(&self, j: JointIndex) -> Option<JointIndex> {
        self.mirror.body.skeleton.parent(j)
    }

    /// F(c) `M_z` F(j)⁻¹, but for the sign.
    fn across(&self, j: JointIndex, c: JointIndex) -> Rotation {
        self.frames[c.get()] * self.side * self.frames[j.get()].inverse()
    }

    /// What is before the local rotation of a counterpart, if its parent is the counterpart of a joint's
    /// parent: then W'(p)⁻¹ W'(j) has only local rotations in it.
    fn before(&self, j: JointIndex, c: JointIndex) -> Option<Rotation> {
        match (self.parent(j), self.parent(c)) {
            (None, None) => Some(self.world),
            (Some(p), Some(q)) if self.mirror.images[p.get()] == Image::Of(q) => {
                Some(self.across(p, q).inverse())
            }
            _ => None,
        }
    }

    /// The keys of a joint's local rotation, at the times of those of its counterpart.
    fn rotations(&self, j: JointIndex, c: JointIndex) -> Rotations {
        let before = self.before(j, c).unwrap_or_default();
        let after = self.across(j, c);
        self.clip.track(c).rotations().iter().map(|r| before * r * after).collect()
    }

    /// The local rotations of those joints that have counterparts, and whose parents are none.
    fn by_frame(&self) -> BTreeMap<JointIndex, Rotations> {
        let skeleton = self.mirror.body.skeleton;
        let is_odd = |j: &JointIndex| match self.mirror.images[j.get()] {
            Image::Of(c) => self.before(*j, c).is_none(),
            Image::Kept => false,
        };
        let odd: Vec<JointIndex> = skeleton.indices().filter(is_odd).collect();
        let mut found: BTreeMap<_, _> = odd.iter().map(|j| (*j, Rotations::new())).collect();
        if odd.is_empty() || self.clip.frame_count() == 0 {
            return BTreeMap::new();
        }
        let (mut pose, mut world) = (Pose::default(), World::new());
        let mut images: Vec<Rotation> = Vec::with_capacity(skeleton.len());
        for frame in self.clip.frames() {
            self.clip.pose_into(frame, &mut pose);
            world.update(skeleton, &pose);
            images.clear();
            for j in skeleton.indices() {
                let above = self.parent(j).map_or(Rotation::IDENTITY, |p| images[p.get()]);
                let image = match self.mirror.images[j.get()] {
                    Image::Of(c) => self.world * world.rotations[c.get()] * self.across(j, c),
                    Image::Kept => above * pose.rotations[j.get()],
                };
                images.push(image);
                if let Some(rotations) = found.get_mut(&j) {
                    rotations.push(above.inverse() * image);
                }
            }
        }
        found
    }

    /// The translations of a joint, at the times of those of its counterpart.
    fn translations_m(
        &self,
        j: JointIndex,
        c: JointIndex,
        plane: &Plane,
        is_trunk: bool,
    ) -> Points {
        let own = self.clip.track(c).translations_m().iter();
        let (Some(p), Some(q)) = (self.parent(j), self.parent(c)) else {
            return own.map(|t| plane.point(t)).collect();
        };
        let skeleton = self.mirror.body.skeleton;
        let (to, from) = (self.frames[p.get()], self.frames[q.get()].inverse());
        let reflected = |v: DVec3| to * ((from * v) * DVec3::new(1.0, 1.0, -1.0));
        if is_trunk {
            return own.map(reflected).collect();
        }
        let (here, there) = (skeleton[j].offset_m, skeleton[c].offset_m);
        own.map(|t| here + reflected(t - there)).collect()
    }
}

fn half_turn(axis: DVec3) -> Rotation {
    Rotation::new(DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0)).unwrap_or_default()
}

/// What every joint does in the mirror. Whose image is the image of whom goes both ways.
fn images(body: &Body<'_>) -> Vec<Image> {
    let skeleton = body.skeleton;
    let mut images: Vec<Option<Image>> = vec![None; skeleton.len()];
    let mut sides: BTreeMap<_, Vec<JointIndex>> = BTreeMap::new();
    for j in skeleton.indices() {
        match body.known[j.get()] {
            Some((_, BodySide::Middle)) => images[j.get()] = Some(Image::Of(j)),
            Some(part) => sides.entry(part).or_default().push(j),
            None => {}
        }
    }
    let is_root = |j: JointIndex| skeleton.parent(j).is_none();
    for ((what, side), joints) in &sides {
        let others = sides.get(&(*what, side.other())).filter(|o| o.len() == joints.len());
        for (j, c) in joints.iter().zip(others.into_iter().flatten()) {
            if is_root(*j) == is_root(*c) {
                images[j.get()] = Some(Image::Of(*c));
            }
        }
    }
    for j in skeleton.indices() {
        if images[j.get()].is_some() {
            continue;
        }
        // The parent of its counterpart, if it has one; parents come first.
        let parent = skeleton.parent(j);
        let above = match parent.map(|p| images[p.get()]) {
            None => Some(None),
            Some(Some(Image::Of(q))) => Some(Some(q)),
            Some(_) => None,
        };
        let fits = |c: &JointIndex| {
            *c != j && Some(skeleton.parent(*c)) == above && images[c.get()].is_none()
        };
        let names = other_side(&skeleton[j].name);
        let by_name = names.iter().filter_map(|name| skeleton.find(name)).find(fits);
        let sided = matches!(body.known[j.get()], Some((_, BodySide::Left | BodySide::Right)));
        images[j.get()] = Some(match by_name {
            Some(c) => {
                images[c.get()] = Some(Image::Of(j));
                Image::Of(c)
            }
            None if above == Some(parent) && !sided => Image::Of(j),
            None => Image::Kept,
        });
    }
    images.into_iter().map(|image| image.unwrap_or(Image::Kept)).collect()
}

/// Why a motion cannot be mirrored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MirrorError {
    /// The joints have no names that we know.
    NoNames,
    /// No joint is known to be the pelvis of somebody who stands.
    NoPelvis,
    /// The clip is not one of the skeleton, or a place would be beyond the range of numbers.
    Clip(ClipError),
}

impl fmt::Display for MirrorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNames => f.write_str(
                "neither a table nor the words in the names tell what these joints are, so left and right are \
                 not known; give a table of their names",
            ),
            Self::NoPelvis => f.write_str(
                "no joint is known to be the pelvis, or the figure stands neither at rest nor in any frame; \
                 give a table of names with the axes of its joints",
            ),
            Self::Clip(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MirrorError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Clip(error) => Some(error),
            Self::NoNames | Self::NoPelvis => None,
        }
    }
}

#[cfg(test)]
mod tests;
