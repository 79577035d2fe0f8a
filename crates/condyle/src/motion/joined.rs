//! Clips one after the other.

use super::clip::Track;
use super::{Channels, Clip, ClipError, FrameIndex, KeyTimes};
use crate::math::{Points, Rotations};
use crate::skeleton::JointIndex;

impl Clip {
    /// Clips of one skeleton, one after the other, played at the rate of the first. Frames keep the
    /// numbers of their file where its channels are those of the first clip that has any.
    ///
    /// # Errors
    ///
    /// [`ClipError::NoFrames`] if there is no frame in any, [`ClipError::JointCount`] if one has another
    /// number of joints than the first, [`ClipError::TooManyFrames`].
    pub fn joined(clips: &[&Self]) -> Result<Self, ClipError> {
        let first = clips.first().ok_or(ClipError::NoFrames)?;
        let expected = first.tracks().len();
        if let Some(other) = clips.iter().find(|c| c.tracks().len() != expected) {
            return Err(ClipError::JointCount { found: other.tracks().len(), expected });
        }
        let clips: Vec<&Self> = clips.iter().copied().filter(|c| c.frame_count() > 0).collect();
        let frames: usize = clips.iter().map(|c| c.frame_count()).sum();
        if frames == 0 {
            return Err(ClipError::NoFrames);
        }
        let tracks = (0..expected).map(|j| joined_track(&clips, JointIndex::new(j))).collect();
        let parts: Vec<_> = clips.iter().map(|c| (c.channels(), c.frame_count())).collect();
        Ok(Self::new(frames, first.rate(), tracks)?.with_channels(Channels::joined(&parts)))
    }
}

/// The clips have frames; a joint that stays the same in all of them is constant.
fn joined_track(clips: &[&Clip], joint: JointIndex) -> Track {
    let tracks = || clips.iter().map(|c| c.track(joint));
    let first = clips[0].track(joint);
    let same = |t: &Track| {
        t.rotation_times().is_constant()
            && t.rotations().at(0).quat() == first.rotations().at(0).quat()
    };
    let (rotations, rotation_times) = if tracks().all(same) {
        (first.rotations().clone(), KeyTimes::constant())
    } else {
        let all = clips.iter().flat_map(|c| c.frames().map(|f| c.rotation(joint, f)));
        (all.collect::<Rotations>(), KeyTimes::EveryFrame)
    };
    let same = |t: &Track| {
        t.translation_times().is_constant()
            && t.translations_m().at(0) == first.translations_m().at(0)
    };
    let (translations, translation_times) = if tracks().all(same) {
        (first.translations_m().clone(), KeyTimes::constant())
    } else {
        let of = |c: &&Clip, f: FrameIndex| c.translation_m(joint, f);
        let all = clips.iter().flat_map(|c| c.frames().map(move |f| of(c, f)));
        (all.collect::<Points>(), KeyTimes::EveryFrame)
    };
    Track::from_parts(rotations, rotation_times, translations, translation_times)
        .with_interpolation(first.interpolation())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Format, ReadOptions, WriteOptions, read, write};
    use crate::math::{Angle, Rotation};
    use glam::DVec3;

    const FIRST: &str = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition \
        Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 0 10 0\nCHANNELS 3 Zrotation Xrotation \
        Yrotation\nEnd Site\n{\nOFFSET 0 5 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.01\n\
        1 2 3 370 20 30 1 2 3\n1 2 3.5 371 21 31 4 5 6\n";

    #[test]
    fn frames_of_files_with_the_same_channels_keep_their_numbers() {
        let a = read(FIRST.as_bytes(), None, &ReadOptions::default()).unwrap().file;
        let mut other = a.clone();
        let clip = other.clip.as_mut().unwrap();
        let b = a.skeleton.find("b").unwrap();
        clip.set_rotation(b, FrameIndex(0), Rotation::about_x(Angle::from_degrees(50.0)));
        let made = |j| Track::constant(Rotation::IDENTITY, a.skeleton[j].offset_m);
        let made = a.skeleton.indices().map(made).collect();
        let made = Clip::new(1, clip.rate(), made).unwrap();
        let joined =
            Clip::joined(&[a.clip.as_ref().unwrap(), &made, other.clip.as_ref().unwrap()]).unwrap();
        let channels = joined.channels().unwrap();
        let source = |f| channels.rotation_is_source(b, f);
        assert_eq!([0, 1, 2, 3, 4].map(source), [true, true, false, false, true]);
        let mut file = a.clone();
        file.clip = Some(joined);
        let text = write(&file, Format::Bvh, &WriteOptions::default()).unwrap().parts.remove(0).1;
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<&str> = text.lines().rev().take(5).collect();
        let want = ["1 2 3.5 371 21 31 4 5 6", "1 2 3 370 20 30 1 2 3"];
        for (row, want) in [(0, want[0]), (3, want[0]), (4, want[1])] {
            assert_eq!(rows[row].split_whitespace().collect::<Vec<_>>().join(" "), want);
        }
        let read_again = read(text.as_bytes(), None, &ReadOptions::default()).unwrap().file;
        let turned = read_again.clip.unwrap().rotation(b, FrameIndex(3));
        assert!(turned.distance(Rotation::about_x(Angle::from_degrees(50.0))).degrees() < 1e-6);
    }

    #[test]
    fn what_cannot_be_joined_is_an_error() {
        let a = read(FIRST.as_bytes(), None, &ReadOptions::default()).unwrap().file.clip.unwrap();
        let one = Track::constant(Rotation::IDENTITY, DVec3::ZERO);
        let one = Clip::new(1, a.rate(), vec![one]).unwrap();
        assert_eq!(Clip::joined(&[]).unwrap_err(), ClipError::NoFrames);
        let error = Clip::joined(&[&a, &one]).unwrap_err();
        assert_eq!(error, ClipError::JointCount { found: 1, expected: 2 });
    }
}
