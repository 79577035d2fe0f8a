//! Files read, moved, resampled and written back.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::sync::OnceLock;

use condyle::formats::{
    Format, LengthUnit, MotionFile, OutputUnit, Read, ReadOptions, WriteOptions, read, write,
};
use condyle::math::{Angle, Rotation};
use condyle::motion::{
    Clip, FrameIndex, FrameRate, Interpolation, Pose, ResampleTo, World, WorldTracks,
};
use condyle::skeleton::Skeleton;

use super::corpus::{FIGURES, corpus, made};
use condyle::synth::Rng;

use crate::{Hash, How};

pub(super) fn add_skeleton(hash: &mut Hash, skeleton: &Skeleton) {
    hash.count(skeleton.len());
    for j in skeleton.indices() {
        let joint = &skeleton[j];
        hash.text(&joint.name);
        hash.option(skeleton.parent(j), |hash, p| hash.count(p.get()));
        hash.vector(joint.offset_m);
        hash.rotation(joint.rest);
        joint.end_sites.iter().for_each(|site| hash.vector(site.offset_m));
        hash.f64(skeleton.bone_length_m(j));
        hash.option(skeleton.bone_axis(j), Hash::vector);
    }
    hash.f64(skeleton.longest_path_m());
}

pub(super) fn add_clip(hash: &mut Hash, clip: &Clip) {
    hash.count(clip.frame_count());
    hash.f64(clip.rate().frame_time_s());
    hash.f64(clip.rate().nominal_fps());
    for track in clip.tracks() {
        hash.rotations(track.rotations());
        hash.points(track.translations_m());
    }
    hash.option(clip.channels(), |hash, channels| {
        let columns = channels.columns();
        (0..columns.columns()).for_each(|c| hash.f64s(columns.column(c)));
    });
}

/// Everything that was read but the words of warnings, which may be improved.
fn hash_read(read: &Read) -> Hash {
    let mut hash = Hash::default();
    hash.count(read.warnings.len());
    hash.f64(read.file.units.length.metres());
    add_skeleton(&mut hash, &read.file.skeleton);
    hash.option(read.file.clip.as_ref(), add_clip);
    hash.option(read.file.markers.as_ref(), |hash, markers| {
        hash.f64(markers.rate.frame_time_s());
        hash.f64s(&markers.times_s);
        for marker in &markers.markers {
            hash.text(&marker.name);
            hash.points(&marker.positions_m);
        }
    });
    hash
}

fn read_one(bytes: &[u8], skeleton: Option<&MotionFile>) -> Read {
    read(bytes, skeleton, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn read_pair([asf, amc]: &[Vec<u8>; 2]) -> [Read; 2] {
    let asf = read_one(asf, None);
    let amc = read_one(amc, Some(&asf.file));
    [asf, amc]
}

pub(super) fn read_bvh(how: &How) -> Hash {
    let mut hash = Hash::default();
    hash.all(how.each(&corpus().bvh, |bytes| hash_read(&read_one(bytes, None))));
    hash
}

pub(super) fn read_acclaim(how: &How) -> Hash {
    let mut hash = Hash::default();
    let read = how.each(&corpus().acclaim, |pair| read_pair(pair).map(|r| hash_read(&r)));
    hash.all(read.into_iter().flatten());
    hash
}

pub(super) fn read_trc(how: &How) -> Hash {
    let mut hash = Hash::default();
    hash.all(how.each(&corpus().trc, |bytes| hash_read(&read_one(bytes, None))));
    hash
}

/// Files large enough for the readers to split them over their own threads.
pub(super) fn read_large(how: &How) -> Hash {
    static LARGE: OnceLock<[String; 3]> = OnceLock::new();
    let [bvh, asf, amc] = LARGE.get_or_init(large);
    let threads = NonZeroUsize::new(how.threads).unwrap_or(NonZeroUsize::MIN);
    let options = ReadOptions { threads, ..ReadOptions::default() };
    let skeleton = read_one(asf.as_bytes(), None).file;
    let mut hash = Hash::default();
    let files =
        [read(bvh.as_bytes(), None, &options), read(amc.as_bytes(), Some(&skeleton), &options)];
    hash.all(files.map(|read| hash_read(&read.unwrap_or_else(|e| panic!("{e}")))));
    hash
}

/// A BVH, an ASF and its AMC, with three million bytes of motion each.
fn large() -> [String; 3] {
    const FRAMES: usize = 40_000;
    let mut rng = Rng::new(7);
    let mut numbers = |row: &mut String, n: usize| {
        for _ in 0..n {
            let value = rng.between(-200.0, 200.0);
            let _ = match rng.below(20) {
                0 => write!(row, " {value:e}"),
                1 => write!(row, " {value}"),
                _ => write!(row, " {value:.6}"),
            };
        }
        row.push('\n');
    };
    let mut bvh = String::from(
        "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation \
         Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\n",
    );
    let _ = writeln!(bvh, "Frames: {FRAMES}\nFrame Time: 0.01");
    (0..FRAMES).for_each(|_| numbers(&mut bvh, 6));
    let asf = ":units\n length 0.45\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n position 0 0 0\n \
               orientation 0 0 0\n:bonedata\nbegin\nname a\ndirection 0 1 0\nlength 1\naxis 0 0 0 \
               XYZ\ndof rx\nend\n:hierarchy\nbegin\nroot a\nend\n";
    let mut amc = String::from(":FULLY-SPECIFIED\n:DEGREES\n");
    for frame in 1..=FRAMES {
        let _ = write!(amc, "{frame}\nroot");
        numbers(&mut amc, 6);
        amc.push('a');
        numbers(&mut amc, 1);
    }
    [bvh, asf.to_owned(), amc]
}

/// Every file of the corpus that has motion, and motions that were never files, one with few keys.
fn moving(how: &How) -> Vec<(MotionFile, Clip)> {
    let mut files = how.each(&corpus().bvh, |bytes| read_one(bytes, None).file);
    let pairs = how.each(&corpus().acclaim, read_pair);
    files.extend(pairs.into_iter().map(|[_, amc]| amc.file));
    files.extend(how.each(&FIGURES, |&seed| made(seed)));
    files.into_iter().filter_map(|f| f.clip.clone().map(|clip| (f, clip))).collect()
}

/// Blocks of frames by their threads, and the same frames pose by pose.
pub(super) fn forward(how: &How) -> Hash {
    let mut hash = Hash::default();
    for (file, clip) in moving(how) {
        let skeleton = &file.skeleton;
        let blocks = how.split(clip.frame_count(), |frames| {
            let mut tracks = WorldTracks::default();
            tracks.update(skeleton, &clip, frames.clone());
            let (mut pose, mut world) = (Pose::default(), World::new());
            let poses: Vec<Hash> = frames
                .map(|frame| {
                    let frame = u32::try_from(frame).expect("few frames");
                    clip.pose_into(FrameIndex(frame), &mut pose);
                    world.update(skeleton, &pose);
                    let mut hash = Hash::default();
                    world.rotations.iter().for_each(|&r| hash.rotation(r));
                    world.positions_m.iter().for_each(|&p| hash.vector(p));
                    hash
                })
                .collect();
            (tracks, poses)
        });
        for j in skeleton.indices() {
            // One kind after the other, so that the order does not depend on the blocks.
            let each = || blocks.iter().map(|(tracks, _)| tracks);
            each().flat_map(|t| t.rotations(j).iter()).for_each(|r| hash.rotation(r));
            each().flat_map(|t| t.positions_m(j).iter()).for_each(|p| hash.vector(p));
        }
        hash.all(blocks.into_iter().flat_map(|(_, poses)| poses));
    }
    hash
}

/// Poses between frames, before the first and after the last.
pub(super) fn sample(how: &How) -> Hash {
    let mut hash = Hash::default();
    for (_, clip) in moving(how) {
        let times: Vec<f64> =
            (-2..50).map(|k| f64::from(k) * clip.duration_s() / 47.0 + 1e-4).collect();
        hash.all(how.each(&times, |&time| {
            let pose = clip.sample(time);
            let mut hash = Hash::default();
            pose.rotations.iter().for_each(|&r| hash.rotation(r));
            pose.translations_m.iter().for_each(|&p| hash.vector(p));
            hash
        }));
    }
    hash
}

pub(super) fn resample_linear(how: &How) -> Hash {
    resample(how, Interpolation::Linear)
}

pub(super) fn resample_smooth(how: &How) -> Hash {
    resample(how, Interpolation::Smooth)
}

/// Blocks of joints by their threads, and each file as a whole with its numbers.
fn resample(how: &How, interpolation: Interpolation) -> Hash {
    let rate = FrameRate::from_fps(50.0).expect("a rate");
    let files = moving(how);
    let mut hash = Hash::default();
    for to in [ResampleTo::Rate(rate), ResampleTo::Frames(83)] {
        let again = |clip: &Clip| {
            clip.resample(to, Some(interpolation)).expect("some frames, and not too many").clip
        };
        for (_, clip) in &files {
            let blocks = how.split(clip.tracks().len(), |joints| {
                let tracks = clip.tracks()[joints].to_vec();
                again(&Clip::new(clip.frame_count(), clip.rate(), tracks).expect("parts of a clip"))
            });
            for track in blocks.iter().flat_map(Clip::tracks) {
                hash.rotations(track.rotations());
                hash.points(track.translations_m());
            }
        }
        hash.all(how.each(&files, |(_, clip)| {
            let mut hash = Hash::default();
            add_clip(&mut hash, &again(clip));
            hash
        }));
    }
    hash
}

/// Every file in every format, in its own unit and in another.
fn hash_written(file: &MotionFile) -> Hash {
    let mut hash = Hash::default();
    for format in [Format::Bvh, Format::Amc, Format::Trc] {
        for unit in [OutputUnit::Usual, OutputUnit::Unit(LengthUnit::INCH)] {
            let options = WriteOptions { unit, end_sites: true, ..WriteOptions::default() };
            let written = write(file, format, &options).unwrap_or_else(|e| panic!("{e}"));
            hash.count(written.warnings.len());
            written.parts.iter().for_each(|(_, bytes)| hash.bytes(bytes));
        }
    }
    hash
}

pub(super) fn write_back(how: &How) -> Hash {
    let mut hash = Hash::default();
    hash.all(how.each(&moving(how), |(file, _)| hash_written(file)));
    let trc = how.each(&corpus().trc, |bytes| {
        let file = read_one(bytes, None).file;
        let written = write(&file, Format::Trc, &WriteOptions::default());
        let mut hash = Hash::default();
        hash.bytes(&written.unwrap_or_else(|e| panic!("{e}")).parts[0].1);
        hash
    });
    hash.all(trc);
    hash
}

/// After edits and at another rate, so that numbers have to be found for rotations.
pub(super) fn write_edited(how: &How) -> Hash {
    let mut hash = Hash::default();
    hash.all(how.each(&moving(how), |(file, clip)| {
        let mut file = file.clone();
        let rate = FrameRate::from_fps(77.0).expect("a rate");
        let resampled = clip.resample(ResampleTo::Rate(rate), Some(Interpolation::Smooth));
        let mut clip = resampled.expect("some frames, and not too many").clip;
        for j in file.skeleton.indices() {
            for frame in clip.frames().step_by(7) {
                let turn = Rotation::about_y(Angle::from_degrees(3.0));
                clip.set_rotation(j, frame, clip.rotation(j, frame) * turn);
            }
        }
        file.clip = Some(clip);
        hash_written(&file)
    }));
    hash
}
