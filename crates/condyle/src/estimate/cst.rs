//! The file `.cst`: a [`Summary`] as bytes.
//!
//! Little endian, without padding; texts are a length (u32) and UTF-8; numbers of things are u32.
//!
//! ```text
//! magic      8 bytes `condylst`
//! version    u32, 1
//! length     u64, of the whole file
//! joints     number of them, then each, names rising
//!   name     text
//!   parent   u32, its place in this list; 2³² − 1 for a root
//!   rest     joints u32, checksum u64, place u32 (see `Placement`), offset 3 × f64, rest w x y z as
//!            4 × f64, end sites: their number, each with whether it has a name (u8), name, 3 × f64
//!   counts   frames, rejected, keys, clips: u64
//!   jitter   number of intervals, each u16 with its frames u64, rising
//!   moments  count u64, 35 sums i128
//!   cells    number of blocks, each u32 with its bits u64, rising
//! checksum   u64: FNV-1a of all before
//! ```
//!
//! A summary has one spelling: what was read is written with the same bytes.

use std::collections::BTreeMap;
use std::fmt;

use glam::DVec3;

use super::jitter::Jitters;
use super::moments::{Moments, PRODUCTS};
use super::occupancy::Occupancy;
use super::summary::{JointSummary, Placement, Summary, SummaryJoint};
use crate::hash;
use crate::math::Rotation;
use crate::skeleton::{EndSite, MAX_JOINTS};

const MAGIC: &[u8; 8] = b"condylst";
const VERSION: u32 = 1;
const ROOT: u32 = u32::MAX;

/// The largest summary that should be read, in bytes.
pub const MAX_SUMMARY_BYTES: u64 = 256 << 20;

/// Bytes before the joints.
const HEADER: usize = 20;

/// Bytes of the checksum at the end.
const FOOTER: usize = 8;

/// A joint has at least so many bytes: everything but name, end sites, jitter and cells.
const JOINT_BYTES: usize = 4 + 4 + 16 + 24 + 32 + 4 + 32 + 4 + 8 + 16 * PRODUCTS + 4;

/// A number of things, in four bytes.
fn put_number(out: &mut Vec<u8>, n: usize) {
    // Names, end sites, blocks: never so many that they do not fit.
    out.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len());
    out.extend(text.as_bytes());
}

fn put_floats<const N: usize>(out: &mut Vec<u8>, numbers: [f64; N]) {
    numbers.iter().for_each(|n| out.extend(n.to_le_bytes()));
}

pub(super) fn put_placement(out: &mut Vec<u8>, placement: &Placement) {
    let Placement { joints, checksum, place, offset_m, rest, end_sites } = placement;
    out.extend(joints.to_le_bytes());
    out.extend(checksum.to_le_bytes());
    out.extend(place.to_le_bytes());
    put_floats(out, offset_m.to_array());
    put_floats(out, rest.to_wxyz());
    put_number(out, end_sites.len());
    for EndSite { name, offset_m } in end_sites {
        out.push(u8::from(name.is_some()));
        if let Some(name) = name {
            put_text(out, name);
        }
        put_floats(out, offset_m.to_array());
    }
}

fn put_joint(out: &mut Vec<u8>, joint: &JointSummary) {
    let JointSummary { moments, occupancy, frames, rejected, keys, clips, jitters } = joint;
    [frames, rejected, keys, clips].iter().for_each(|count| out.extend(count.to_le_bytes()));
    put_number(out, jitters.intervals().len());
    for (interval, frames) in jitters.intervals() {
        out.extend(interval.to_le_bytes());
        out.extend(frames.to_le_bytes());
    }
    out.extend(moments.count().to_le_bytes());
    moments.sums().iter().for_each(|sum| out.extend(sum.to_le_bytes()));
    put_number(out, occupancy.blocks().len());
    for (block, bits) in occupancy.blocks() {
        out.extend(block.to_le_bytes());
        out.extend(bits.to_le_bytes());
    }
}

impl Summary {
    /// As the bytes of a `.cst` file. Equal summaries have equal bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let cells: usize = self.joints.values().map(|j| j.joint.occupancy.blocks().len()).sum();
        let mut out = Vec::with_capacity(HEADER + 12 * cells + 1024 * self.joints.len() + FOOTER);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend([0; 8]);
        put_number(&mut out, self.joints.len());
        let places: BTreeMap<&str, usize> =
            self.joints.keys().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
        for (name, SummaryJoint { parent, placement, joint }) in &self.joints {
            put_text(&mut out, name);
            let parent = parent.as_deref().and_then(|parent| places.get(parent));
            put_number(&mut out, parent.copied().unwrap_or(ROOT as usize));
            put_placement(&mut out, placement);
            put_joint(&mut out, joint);
        }
        let length = (out.len() + FOOTER) as u64;
        out[12..HEADER].copy_from_slice(&length.to_le_bytes());
        let sum = hash::of_bytes(&out);
        out.extend(sum.to_le_bytes());
        out
    }

    /// From the bytes of a `.cst` file.
    ///
    /// # Errors
    ///
    /// If they are none that [`write`](Self::write) could have written.
    pub fn read(bytes: &[u8]) -> Result<Self, SummaryError> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take::<8>("the magic bytes").ok().as_ref() != Some(MAGIC) {
            return Err(SummaryErrorKind::NotASummary.at(0));
        }
        let version = reader.u32("the version")?;
        if version != VERSION {
            return Err(SummaryErrorKind::Version { found: version }.at(8));
        }
        let length = reader.u64("the length")?;
        if length != bytes.len() as u64 {
            let kind = SummaryErrorKind::Length { declared: length, found: bytes.len() as u64 };
            return Err(kind.at(12));
        }
        let Some(end) = bytes.len().checked_sub(FOOTER).filter(|end| *end >= HEADER) else {
            return Err(SummaryErrorKind::Truncated { within: "the checksum" }.at(HEADER));
        };
        let sum = Reader { bytes, at: end }.u64("the checksum")?;
        if sum != hash::of_bytes(&bytes[..end]) {
            return Err(SummaryErrorKind::Checksum.at(end));
        }
        reader.bytes = &bytes[..end];
        let summary = reader.joints()?;
        if reader.at != end {
            return Err(
                SummaryErrorKind::BadValue { what: "bytes after the last joint" }.at(reader.at)
            );
        }
        Ok(summary)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn left(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], SummaryError> {
        let Some(found) = self.left().first_chunk::<N>() else {
            return Err(SummaryErrorKind::Truncated { within: what }.at(self.at));
        };
        self.at += N;
        Ok(*found)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, SummaryError> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, SummaryError> {
        self.take(what).map(u64::from_le_bytes)
    }

    /// A number of things that have at least so many bytes each.
    fn number(&mut self, what: &'static str, bytes_each: usize) -> Result<usize, SummaryError> {
        let at = self.at;
        let declared = self.u32(what)?;
        let possible = self.left().len() / bytes_each;
        match usize::try_from(declared) {
            Ok(number) if number <= possible => Ok(number),
            _ => {
                let (declared, possible) = (u64::from(declared), possible as u64);
                Err(SummaryErrorKind::Declared { what, declared, possible }.at(at))
            }
        }
    }

    fn text(&mut self, what: &'static str) -> Result<&'a str, SummaryError> {
        let length = self.number(what, 1)?;
        // `number` has seen that they are there.
        let bytes = self.left().get(..length).unwrap_or_default();
        let text = std::str::from_utf8(bytes).map_err(|error| {
            SummaryErrorKind::BadValue { what: "a name is not UTF-8" }
                .at(self.at + error.valid_up_to())
        })?;
        self.at += length;
        Ok(text)
    }

    fn floats<const N: usize>(&mut self, what: &'static str) -> Result<[f64; N], SummaryError> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            let at = self.at;
            *number = self.take(what).map(f64::from_le_bytes)?;
            if !number.is_finite() {
                return Err(SummaryErrorKind::NotFinite { what }.at(at));
            }
        }
        Ok(numbers)
    }

    fn joints(&mut self) -> Result<Summary, SummaryError> {
        let start = self.at;
        let number = self.number("joints", JOINT_BYTES)?;
        if number > MAX_JOINTS {
            return Err(SummaryErrorKind::BadValue { what: "more than 65,536 joints" }.at(start));
        }
        // Each with where it begins, and its parent with where that stands.
        let mut read: Vec<(&str, usize, u32, usize, Placement, JointSummary)> = Vec::new();
        for _ in 0..number {
            let at = self.at;
            let name = self.text("a joint's name")?;
            if read.last().is_some_and(|last| last.0 >= name) {
                return Err(SummaryErrorKind::BadValue { what: "names that do not rise" }.at(at));
            }
            let parent_at = self.at;
            let parent = self.u32("a parent")?;
            if parent != ROOT && parent as usize >= number {
                return Err(
                    SummaryErrorKind::BadValue { what: "a parent that is not there" }.at(parent_at)
                );
            }
            read.push((name, at, parent, parent_at, self.placement()?, self.joint()?));
        }
        let parents: Vec<u32> = read.iter().map(|joint| joint.2).collect();
        if let Some(joint) = on_a_cycle(&parents) {
            return Err(SummaryErrorKind::BadValue { what: "a joint that is above itself" }
                .at(read[joint].3));
        }
        let names: Vec<&str> = read.iter().map(|joint| joint.0).collect();
        let joints = read.into_iter().map(|(name, _, parent, _, placement, joint)| {
            let parent = names.get(parent as usize).map(|&parent| parent.to_owned());
            (name.to_owned(), SummaryJoint { parent, placement, joint })
        });
        Ok(Summary { joints: joints.collect() })
    }

    fn placement(&mut self) -> Result<Placement, SummaryError> {
        let joints = self.u32("a skeleton's size")?;
        let checksum = self.u64("a skeleton's checksum")?;
        let place = self.u32("a joint's place")?;
        let offset_m = DVec3::from_array(self.floats("an offset")?);
        let at = self.at;
        let [w, x, y, z] = self.floats("a rest rotation")?;
        let rest = Rotation::from_unit_unchecked(glam::DQuat::from_xyzw(x, y, z, w));
        // As it is, so that it is written as it was, and therefore as we would write it.
        let length = rest.quat().length_squared();
        let canonical =
            rest.canonical().to_wxyz().map(f64::to_bits) == [w, x, y, z].map(f64::to_bits);
        if !((length - 1.0).abs() < 1e-9 && canonical) {
            return Err(SummaryErrorKind::BadValue { what: "a rest rotation that is none" }.at(at));
        }
        let mut end_sites = Vec::new();
        for _ in 0..self.number("end sites", 25)? {
            let at = self.at;
            let name = match self.take("an end site")? {
                [0] => None,
                [1] => Some(self.text("an end site's name")?.to_owned()),
                _ => {
                    let what = "an end site that neither has a name nor has none";
                    return Err(SummaryErrorKind::BadValue { what }.at(at));
                }
            };
            let offset_m = DVec3::from_array(self.floats("an end site's offset")?);
            end_sites.push(EndSite { name, offset_m });
        }
        Ok(Placement { joints, checksum, place, offset_m, rest, end_sites })
    }

    fn joint(&mut self) -> Result<JointSummary, SummaryError> {
        let frames = self.u64("frames")?;
        let rejected = self.u64("rejected frames")?;
        let keys = self.u64("keys")?;
        let clips = self.u64("clips")?;
        let at = self.at;
        let mut intervals = Vec::new();
        for _ in 0..self.number("intervals of jitter", 10)? {
            let interval = self.take("jitter").map(u16::from_le_bytes)?;
            intervals.push((interval, self.u64("jitter")?));
        }
        let jitters = Jitters::from_intervals(intervals).ok_or_else(|| {
            SummaryErrorKind::BadValue { what: "a jitter that is no histogram" }.at(at)
        })?;
        let at = self.at;
        let count = self.u64("moments")?;
        let mut sums = [0; PRODUCTS];
        for sum in &mut sums {
            *sum = self.take("moments").map(i128::from_le_bytes)?;
        }
        let moments = Moments::from_sums(count, sums).ok_or_else(|| {
            SummaryErrorKind::BadValue { what: "moments that no rotations have" }.at(at)
        })?;
        let at = self.at;
        let number = self.number("blocks of cells", 12)?;
        // There are as many: 12 bytes each, as in the file.
        let (mut blocks, mut bits) = (Vec::with_capacity(number), Vec::with_capacity(number));
        for _ in 0..number {
            blocks.push(self.u32("cells")?);
            bits.push(self.u64("cells")?);
        }
        let occupancy = Occupancy::from_blocks(blocks, bits).ok_or_else(|| {
            SummaryErrorKind::BadValue { what: "cells that are no sorted set" }.at(at)
        })?;
        Ok(JointSummary { moments, occupancy, frames, rejected, keys, clips, jitters })
    }
}

/// A joint that is above itself, if there is one.
fn on_a_cycle(parents: &[u32]) -> Option<usize> {
    // From which joint each was first come by; zero is not yet.
    let mut seen = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut joint = start;
        while seen[joint] == 0 {
            seen[joint] = start + 1;
            match parents.get(parents[joint] as usize) {
                Some(_) => joint = parents[joint] as usize,
                None => break,
            }
            if seen[joint] == start + 1 {
                return Some(joint);
            }
        }
    }
    None
}

/// Why bytes are no summary, and at which byte that shows.
///
/// Printed as `@BYTE: what`, so that `FILE:` may stand before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryError {
    kind: SummaryErrorKind,
    byte: u64,
}

impl SummaryError {
    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &SummaryErrorKind {
        &self.kind
    }

    /// Where, counted from the start of the file.
    #[must_use]
    pub const fn byte(&self) -> u64 {
        self.byte
    }
}

/// What is wrong with the bytes of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryErrorKind {
    /// They begin differently.
    NotASummary,
    /// A version that this library does not know.
    Version {
        /// Which.
        found: u32,
    },
    /// There are more or fewer bytes than there should be.
    Length {
        /// How many there should be.
        declared: u64,
        /// How many there are.
        found: u64,
    },
    /// The checksum is not that of the bytes.
    Checksum,
    /// The bytes end within something.
    Truncated {
        /// Within what.
        within: &'static str,
    },
    /// More of something than the bytes that are left could hold.
    Declared {
        /// Of what.
        what: &'static str,
        /// How many there should be.
        declared: u64,
        /// How many there could be at most.
        possible: u64,
    },
    /// A number is infinite or none.
    NotFinite {
        /// Of what.
        what: &'static str,
    },
    /// A value that no summary has.
    BadValue {
        /// Which.
        what: &'static str,
    },
}

impl SummaryErrorKind {
    const fn at(self, byte: usize) -> SummaryError {
        SummaryError { kind: self, byte: byte as u64 }
    }
}

impl fmt::Display for SummaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}: {}", self.byte, self.kind)
    }
}

impl fmt::Display for SummaryErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASummary => write!(f, "no summary: it does not begin with \"condylst\""),
            Self::Version { found } => {
                write!(f, "a summary of version {found}, but only version {VERSION} can be read")
            }
            Self::Length { declared, found } if declared > found => {
                write!(f, "cut short: {found} of {declared} bytes")
            }
            Self::Length { declared, found } => {
                write!(f, "{} bytes after the end", found - declared)
            }
            Self::Checksum => write!(f, "damaged: the checksum is not that of the bytes"),
            Self::Truncated { within } => write!(f, "the bytes end within {within}"),
            Self::Declared { what, declared, possible } => {
                write!(f, "{what}: {declared}, but there is room for {possible} at most")
            }
            Self::NotFinite { what } => write!(f, "{what} is not finite"),
            Self::BadValue { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for SummaryError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Joint, Skeleton};
    use crate::synth::{Figure, Options, Rng, Synth};

    fn human(frames: usize) -> Summary {
        let options = Options { frames, ..Options::default() };
        let synth = Synth::generate(&Figure::human(), &options, 1).unwrap();
        Summary::of_clip(&synth.skeleton, &synth.clip, true)
    }

    /// With length and checksum as they should be.
    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut bytes = body.to_vec();
        let length = (bytes.len() + FOOTER) as u64;
        bytes[12..HEADER].copy_from_slice(&length.to_le_bytes());
        bytes.extend(hash::of_bytes(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn summaries_come_back_with_the_same_bytes() {
        let mut skeleton = Skeleton::new();
        let mut joint = Joint::new("Größe", DVec3::new(-0.0, 1e300, 5e-324));
        joint.end_sites.push(EndSite { name: Some(String::new()), offset_m: DVec3::X });
        joint.end_sites.push(EndSite { name: None, offset_m: DVec3::NEG_ONE });
        joint.rest = Rotation::from_wxyz([-0.5, 0.5, 0.5, 0.5]).unwrap();
        let root = skeleton.add_root(joint).unwrap();
        skeleton.add(root, Joint::new("", DVec3::X)).unwrap();
        for summary in [Summary::default(), Summary::new(&skeleton, vec![]), human(300)] {
            let bytes = summary.write();
            let back = Summary::read(&bytes).unwrap();
            assert!(back.write() == bytes);
            for (name, joint) in &summary.joints {
                let other = &back.joints[name];
                assert_eq!((&joint.parent, &joint.joint), (&other.parent, &other.joint));
            }
        }
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(Summary::read(bytes).unwrap_err().to_string(), expected);
    }

    #[test]
    fn damaged_files_say_where_and_what() {
        let mut skeleton = Skeleton::new();
        let root = skeleton.add_root(Joint::new("a", DVec3::X)).unwrap();
        skeleton.add(root, Joint::new("b", DVec3::X)).unwrap();
        let good = Summary::new(&skeleton, vec![]).write();
        let body = &good[..good.len() - FOOTER];
        assert_eq!(sealed(body), good);
        check(b"", "@0: no summary: it does not begin with \"condylst\"");
        check(b"HIERARCHY\nROOT", "@0: no summary: it does not begin with \"condylst\"");
        check(&good[..10], "@8: the bytes end within the version");
        check(&good[..15], "@12: the bytes end within the length");
        check(&good[..good.len() - 1], "@12: cut short: 1417 of 1418 bytes");
        check(&[&good[..], b"xy"].concat(), "@12: 2 bytes after the end");
        let changed = |at: usize, with: &[u8]| {
            let mut body = body.to_vec();
            body[at..at + with.len()].copy_from_slice(with);
            sealed(&body)
        };
        check(
            &changed(8, &7_u32.to_le_bytes()),
            "@8: a summary of version 7, but only version 1 can be read",
        );
        let mut flipped = good.clone();
        flipped[100] ^= 1;
        check(&flipped, "@1410: damaged: the checksum is not that of the bytes");
        check(
            &changed(20, &u32::MAX.to_le_bytes()),
            "@20: joints: 4294967295, but there is room for 2 at most",
        );
        check(&changed(20, &[1]), "@717: bytes after the last joint");
        check(
            &changed(24, &[255; 4]),
            "@24: a joint's name: 4294967295, but there is room for 1382 at most",
        );
        check(&changed(28, &[255]), "@28: a name is not UTF-8");
        check(&changed(28, b"b"), "@717: names that do not rise");
        check(&changed(29, &[2, 0, 0, 0]), "@29: a parent that is not there");
        check(&changed(29, &[1, 0, 0, 0]), "@29: a joint that is above itself");
        check(&changed(49, &f64::NAN.to_le_bytes()), "@49: an offset is not finite");
        check(&changed(73, &2.0_f64.to_le_bytes()), "@73: a rest rotation that is none");
        check(&changed(73, &(-1.0_f64).to_le_bytes()), "@73: a rest rotation that is none");
        check(
            &changed(105, &[255; 4]),
            "@105: end sites: 4294967295, but there is room for 52 at most",
        );
        check(&changed(141, &[1]), "@141: a jitter that is no histogram");
        check(&changed(145, &[1]), "@145: moments that no rotations have");
        check(
            &changed(713, &[0, 0, 0, 1]),
            "@713: blocks of cells: 16777216, but there is room for 57 at most",
        );
    }

    #[test]
    fn no_change_of_a_file_does_harm() {
        let good = human(12).write();
        let mut rng = Rng::new(4);
        for length in 0..good.len().min(3000) {
            assert!(Summary::read(&good[..length]).is_err());
        }
        let mut read = 0;
        for _ in 0..3000 {
            let mut body = good[..good.len() - FOOTER].to_vec();
            for _ in 0..=rng.below(3) {
                let at = HEADER + rng.below(body.len() - HEADER);
                match rng.below(3) {
                    0 => body[at] ^= 1 << rng.below(8),
                    1 => body[at] = 255,
                    _ => body.truncate(at.max(HEADER + 4)),
                }
            }
            if let Ok(summary) = Summary::read(&sealed(&body)) {
                read += 1;
                assert!(summary.write() == sealed(&body));
                assert!(summary.clone().merge(&summary).is_ok());
                assert!(summary.skeleton().is_ok());
            }
        }
        assert!(read > 100, "{read}");
    }
}
