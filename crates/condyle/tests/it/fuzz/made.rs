//! Files made of a fuzzer's bytes through the library's own types.

use std::fmt;

use arbitrary::{Arbitrary, Result, Unstructured};
use condyle::formats::{Format, LengthUnit, MotionFile, OutputUnit, WriteOptions};
use condyle::glam::{DQuat, DVec3};
use condyle::math::Rotation;
use condyle::motion::{
    AngleUnit, Channels, Clip, Columns, FrameRate, JointChannels, KeyTimes, Sequence, Track,
};
use condyle::skeleton::{DeclaredDof, Dof, EndSite, Joint, JointIndex, Skeleton};

/// A skeleton with motion, made of bytes. Its `Debug` prints one line per joint.
pub struct Made {
    /// Whether names and numbers are such that every format can hold them: then what is read back
    /// has to be the same motion.
    plain: bool,
    frames: usize,
    fps: f64,
    unit: OutputUnit,
    end_sites: bool,
    angle_unit: AngleUnit,
    unit_m: f64,
    /// Whether the motion is given as channels, not as tracks.
    by_channels: bool,
    /// Which formats it is converted to, one after the other.
    to: [Format; 2],
    joints: Vec<MadeJoint>,
}

struct MadeJoint {
    name: String,
    parent: Option<usize>,
    offset_m: DVec3,
    rest: Rotation,
    sites: Vec<EndSite>,
    declared: Option<Vec<DeclaredDof>>,
    /// One per frame, and whether they are used.
    turns: Vec<Rotation>,
    turning: Keys,
    places: Vec<DVec3>,
    moving: Keys,
    /// For motion by channels: what the columns are, and their numbers per frame.
    dofs: Vec<Dof>,
    values: Vec<Vec<f64>>,
    sequence: Sequence,
}

/// How a track is given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Keys {
    Still,
    EveryFrame,
    /// As many keys as frames, at uneven times.
    Sparse,
}

const FORMATS: [Format; 4] = [Format::Bvh, Format::Asf, Format::Amc, Format::Trc];

const DOFS: [Dof; 7] = [Dof::Tx, Dof::Ty, Dof::Tz, Dof::Rx, Dof::Ry, Dof::Rz, Dof::Length];

pub(super) const ODD_NAMES: [&str; 24] = [
    "", " ", "root", "ROOT", "a b", "a{", "}", "#x", ":root", "begin", "end", "1", "-2.5",
    "\u{fc}", "\n", "a\tb", "End Site", "MOTION", "x__y", "a_end", "*1", "\u{feff}", "nan", "\0",
];

impl<'a> Arbitrary<'a> for Made {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let plain = u.ratio(3, 4)?;
        let frames = u.int_in_range(if plain { 1..=4 } else { 0..=4 })?;
        let scale = *u.choose(&[1.0, 1e-2, 50.0])?;
        let count = u.int_in_range(1..=6)?;
        let mut made = Self {
            plain,
            frames,
            fps: *u.choose(&[30.0, 120.0, 29.97, 1.0, 0.3, 1e4])?,
            unit: *u.choose(&[
                OutputUnit::Usual,
                OutputUnit::Native,
                OutputUnit::Unit(LengthUnit::INCH),
                OutputUnit::Unit(LengthUnit::MM),
                OutputUnit::Unit(LengthUnit::CMU),
            ])?,
            end_sites: u.arbitrary()?,
            angle_unit: *u.choose(&[AngleUnit::Degrees, AngleUnit::Radians])?,
            unit_m: *u.choose(&[0.01, 1.0, 0.0254])?,
            by_channels: u.arbitrary()?,
            to: [*u.choose(&FORMATS)?, *u.choose(&FORMATS)?],
            joints: Vec::new(),
        };
        for i in 0..count {
            let joint = MadeJoint::arbitrary(u, i, &made, scale)?;
            made.joints.push(joint);
        }
        Ok(made)
    }
}

impl MadeJoint {
    fn arbitrary(u: &mut Unstructured<'_>, i: usize, made: &Made, scale: f64) -> Result<Self> {
        let mut name = format!("j{i}");
        if !made.plain && u.arbitrary()? {
            let odd = *u.choose(&ODD_NAMES)?;
            let taken = made.joints.iter().any(|j| j.name == odd);
            name = if taken { format!("{odd}{i}") } else { odd.to_owned() };
        }
        let parent = match i {
            0 => None,
            _ if u.ratio(1, 6)? => None,
            _ => Some(u.int_in_range(0..=i - 1)?),
        };
        let vector = |u: &mut Unstructured<'_>| -> Result<DVec3> {
            let mut one = || if made.plain { Ok(component(u)? * scale) } else { wild(u) };
            Ok(DVec3::new(one()?, one()?, one()?))
        };
        let offset_m = vector(u)?;
        let rest = if u.ratio(1, 4)? { rotation(u)? } else { Rotation::IDENTITY };
        let mut sites = Vec::new();
        for _ in 0..u.int_in_range(0..=2)? {
            let name =
                if u.ratio(1, 4)? { Some((*u.choose(&ODD_NAMES)?).to_owned()) } else { None };
            sites.push(EndSite { name, offset_m: vector(u)? });
        }
        let mut dofs = Vec::new();
        for _ in 0..u.int_in_range(0..=5)? {
            let dof = *u.choose(&DOFS)?;
            let again = dofs.contains(&dof) && dof.rotation_axis().is_none();
            if !again && (dof != Dof::Length || !made.plain) {
                dofs.push(dof);
            }
        }
        let declared = if u.ratio(1, 4)? {
            let mut declared: Vec<DeclaredDof> = Vec::new();
            for dof in &dofs {
                let limit = if u.arbitrary()? { Some((wild(u)?, f64::INFINITY)) } else { None };
                declared.push(DeclaredDof { dof: *dof, limit });
            }
            Some(declared)
        } else {
            None
        };
        let keys = |u: &mut Unstructured<'_>| -> Result<Keys> {
            if made.frames == 0 {
                return Ok(Keys::Still);
            }
            Ok(*u.choose(&[Keys::Still, Keys::EveryFrame, Keys::EveryFrame, Keys::Sparse])?)
        };
        let (turning, moving) = (keys(u)?, keys(u)?);
        let (mut turns, mut places, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..made.frames {
            if made.by_channels {
                let mut row = Vec::new();
                for dof in &dofs {
                    let number = if made.plain { component(u)? } else { wild(u)? };
                    let turn = dof.rotation_axis().is_some() && made.plain;
                    row.push(if turn { 200.0 * number } else { number });
                }
                values.push(row);
            } else {
                turns.push(if turning == Keys::Still { rest } else { rotation(u)? });
                places.push(if moving == Keys::Still { offset_m } else { vector(u)? });
            }
        }
        let sequence = *u.choose(&[Sequence::FirstIsLeftmost, Sequence::FirstActsFirst])?;
        Ok(Self {
            name,
            parent,
            offset_m,
            rest,
            sites,
            declared,
            turns,
            turning,
            places,
            moving,
            dofs,
            values,
            sequence,
        })
    }

    fn track(&self, rate: FrameRate) -> Track {
        let times = |keys: Keys, n: usize| match keys {
            Keys::Still => KeyTimes::constant(),
            Keys::EveryFrame => KeyTimes::EveryFrame,
            Keys::Sparse => {
                KeyTimes::At((0..n).map(|i| (i * i) as f64 * 0.7 * rate.frame_time_s()).collect())
            }
        };
        let turns = match self.turning {
            Keys::Still => vec![self.rest],
            _ => self.turns.clone(),
        };
        let places = match self.moving {
            Keys::Still => vec![self.offset_m],
            _ => self.places.clone(),
        };
        Track::from_parts(
            turns.into_iter().collect(),
            times(self.turning, self.turns.len()),
            places.into_iter().collect(),
            times(self.moving, self.places.len()),
        )
    }
}

impl Made {
    /// Whether every format can hold it.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// How it is to be written.
    pub fn options(&self) -> WriteOptions {
        WriteOptions { unit: self.unit, end_sites: self.end_sites, ..WriteOptions::default() }
    }

    /// The formats to convert it to, one after the other.
    pub fn to(&self) -> [Format; 2] {
        self.to
    }

    /// The file itself.
    pub fn file(&self) -> MotionFile {
        let mut skeleton = Skeleton::new();
        let mut indices: Vec<JointIndex> = Vec::new();
        for made in &self.joints {
            let mut joint = Joint::new(made.name.clone(), made.offset_m);
            joint.rest = made.rest;
            joint.end_sites.clone_from(&made.sites);
            joint.declared.dofs.clone_from(&made.declared);
            let added = match made.parent {
                None => skeleton.add_root(joint),
                Some(p) => skeleton.add(indices[p], joint),
            };
            indices.push(added.expect("names are unique and offsets finite"));
        }
        let rate = FrameRate::from_fps(self.fps).expect("a rate");
        let clip = if self.by_channels {
            let mut columns = Vec::new();
            let mut joints = Vec::new();
            for made in &self.joints {
                let mut joint = JointChannels::fixed(made.offset_m);
                joint.dofs.clone_from(&made.dofs);
                joint.sequence = made.sequence;
                for c in 0..made.dofs.len() {
                    joint.columns.push(columns.len());
                    columns.push(made.values.iter().map(|row| row[c]).collect::<Vec<f64>>());
                }
                joints.push(joint);
            }
            let mut table = Columns::zeros(columns.len(), self.frames);
            for (c, column) in columns.iter().enumerate() {
                table.column_mut(c).copy_from_slice(column);
            }
            let channels = Channels::new(joints, table, self.angle_unit, self.unit_m);
            Clip::from_channels(&skeleton, rate, channels.expect("numbers are finite"))
        } else {
            let tracks = self.joints.iter().map(|j| j.track(rate)).collect();
            Clip::new(self.frames, rate, tracks)
        };
        MotionFile::new(skeleton, clip.expect("tracks and channels fit"))
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} frames at {} fps, {}{}, written in {:?}, to {:?}",
            self.frames,
            self.fps,
            if self.plain { "plain" } else { "odd names and numbers" },
            if self.end_sites { ", with end sites" } else { "" },
            self.unit,
            self.to
        )?;
        for j in &self.joints {
            write!(f, "{:?} below {:?} at {:?}", j.name, j.parent, j.offset_m.to_array())?;
            write!(f, " rest {:?}", j.rest.to_wxyz())?;
            for site in &j.sites {
                write!(f, ", end {:?} at {:?}", site.name, site.offset_m.to_array())?;
            }
            if let Some(declared) = &j.declared {
                write!(f, ", declared {declared:?}")?;
            }
            if self.by_channels {
                writeln!(
                    f,
                    "\n  {:?} {:?} ({:?}, unit {} m): {:?}",
                    j.dofs, j.sequence, self.angle_unit, self.unit_m, j.values
                )?;
            } else {
                let turns: Vec<_> = j.turns.iter().map(|r| r.to_wxyz()).collect();
                let places: Vec<_> = j.places.iter().map(DVec3::to_array).collect();
                writeln!(f, "\n  {:?} {turns:?}, {:?} {places:?}", j.turning, j.moving)?;
            }
        }
        Ok(())
    }
}

/// A rotation, often on or within a few ulps of a singular set.
fn rotation(u: &mut Unstructured<'_>) -> Result<Rotation> {
    let q = DQuat::from_xyzw(component(u)?, component(u)?, component(u)?, component(u)?);
    Ok(Rotation::new(q).unwrap_or_default())
}

/// In [-1, 1]: often exactly ±0 or ±1, often tiny.
fn component(u: &mut Unstructured<'_>) -> Result<f64> {
    let magnitude = match u.int_in_range(0..=3)? {
        0 => 0.0,
        1 => 1.0,
        2 => f64::EPSILON * f64::from(u.int_in_range(-32..=32)?),
        _ => f64::from(u.arbitrary::<i32>()?) / f64::from(i32::MAX),
    };
    Ok(if u.arbitrary()? { magnitude } else { -magnitude })
}

/// Any finite number, often a huge or tiny one, such that no file's unit makes it infinite.
fn wild(u: &mut Unstructured<'_>) -> Result<f64> {
    let any = match u.int_in_range(0..=3)? {
        0 => component(u)?,
        1 => {
            *u.choose(&[1e300, -1e300, 1e-300, 5e-324, 1e16, 1e17, -0.0, 9_007_199_254_740_993.0])?
        }
        _ => f64::from_bits(u.arbitrary()?),
    };
    Ok(if any.abs() < 1e300 { any } else { 1e300 })
}
