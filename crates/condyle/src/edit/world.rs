//! A whole figure larger or smaller, or with another axis up.

use glam::DVec3;

use super::{EditError, Ground};
use crate::anatomy::{FigureAxes, UpFrom, WorldAxis};
use crate::math::Rotation;
use crate::motion::{Clip, Track};
use crate::skeleton::Skeleton;

/// Figure and motion `factor` times as large; rotations keep the numbers of their file.
///
/// # Errors
///
/// [`EditError::Scale`] unless the factor is positive and finite, and [`EditError::Clip`] if lengths
/// get beyond the range of numbers.
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
pub fn scaled(
    skeleton: &Skeleton,
    clip: &Clip,
    factor: f64,
) -> Result<(Skeleton, Clip), EditError> {
    assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
    let fits = skeleton.joints().iter().all(|joint| {
        let sites = joint.end_sites.iter().map(|s| s.offset_m);
        sites.chain([joint.offset_m]).all(|v| (v * factor).is_finite())
    });
    if !(factor.is_finite() && factor > 0.0 && fits) {
        return Err(EditError::Scale { factor });
    }
    let larger = skeleton.changed(|joint| {
        joint.offset_m *= factor;
        joint.end_sites.iter_mut().for_each(|site| site.offset_m *= factor);
    });
    let mut moved = clip.clone();
    if factor != 1.0 {
        for j in skeleton.indices() {
            moved.change_translations(j, |t| t * factor)?;
        }
    }
    Ok((larger, moved))
}

/// Figure and motion in a world with other axes: what was up and forward becomes the other's up and
/// forward. With Q the turn from the one to the other,
///
/// ```text
///   offset' = Q offset,   rest' = Q rest Q⁻¹,   local' = Q local Q⁻¹
/// ```
///
/// so that every joint is where Q takes it, at rest, too. Axes of joints become others: limits of a rig
/// for the old figure do not fit the new one.
///
/// # Errors
///
/// [`EditError::Clip`] if a place is beyond the range of numbers.
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
pub fn with_up(
    skeleton: &Skeleton,
    clip: &Clip,
    from: Ground,
    to: Ground,
) -> Result<(Skeleton, Clip), EditError> {
    assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
    if from == to {
        return Ok((skeleton.clone(), clip.clone()));
    }
    let turn = to.axes() * from.axes().inverse();
    let back = turn.inverse();
    let same = |r: Rotation| r.canonical().quat() == Rotation::IDENTITY.quat();
    let turned = skeleton.changed(|joint| {
        joint.offset_m = turn * joint.offset_m;
        // What has no rest rotation has none in any world, to the last digit.
        if !same(joint.rest) {
            joint.rest = turn * joint.rest * back;
        }
        joint.end_sites.iter_mut().for_each(|site| site.offset_m = turn * site.offset_m);
    });
    let mut moved = clip.clone();
    for j in skeleton.indices() {
        let track = clip.track(j);
        let keys = Track::from_parts(
            track.rotations().iter().map(|r| turn * r * back).collect(),
            track.rotation_times().clone(),
            track.translations_m().iter().map(|t| turn * t).collect(),
            track.translation_times().clone(),
        );
        moved.set_track(j, keys.with_interpolation(track.interpolation()))?;
    }
    Ok((turned, moved))
}

/// A motion in the world of another motion of the same skeleton, where the two have other axes up: turned by its
/// roots, with the axis that was up. `None` where the same axis is up, or where it is not the motion that tells so:
/// who lies on the floor is not stood up.
///
/// # Errors
///
/// [`EditError::Clip`] if a place is beyond the range of numbers.
///
/// # Panics
///
/// If the clip has another number of joints than the skeleton.
pub fn in_world_of(
    skeleton: &Skeleton,
    clip: &Clip,
    own: &FigureAxes,
    other: &FigureAxes,
) -> Result<Option<(WorldAxis, Clip)>, EditError> {
    assert_eq!(clip.tracks().len(), skeleton.len(), "a clip has one track per joint");
    let [from, to] = [own.up(), other.up()];
    let told = |from: UpFrom| matches!(from, UpFrom::Motion | UpFrom::Rest);
    if from.axis == to.axis || !(told(from.from) && told(to.from)) || from.doubt.is_some() {
        return Ok(None);
    }
    let turn = Ground::up_along(to.axis).axes() * Ground::up_along(from.axis).axes().inverse();
    let mut moved = clip.clone();
    for j in skeleton.indices().filter(|j| skeleton.parent(*j).is_none()) {
        moved.set_track(j, super::place::moved(clip.track(j), turn, DVec3::ZERO))?;
    }
    Ok(Some((from.axis, moved)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Facing, Stand};
    use crate::formats::{Format, MotionFile, ReadOptions, WriteOptions, read, write};
    use crate::math::Angle;
    use crate::motion::{FrameIndex, FrameRate, farthest_apart_m};
    use crate::synth::Gait;

    /// A walk as a BVH has it.
    fn file() -> MotionFile {
        let gait = Gait { facing: Angle::from_degrees(35.0), ..Gait::default() };
        let (skeleton, clip) = gait.generate(20, FrameRate::from_fps(30.0).unwrap()).unwrap();
        let file = MotionFile::new(skeleton, clip);
        let text = write(&file, Format::Bvh, &WriteOptions::default()).unwrap().parts.remove(0).1;
        read(&text, None, &ReadOptions::default()).unwrap().file
    }

    fn written_and_read(mut file: MotionFile, skeleton: Skeleton, clip: Clip) -> MotionFile {
        (file.skeleton, file.clip) = (skeleton, Some(clip));
        let text = write(&file, Format::Bvh, &WriteOptions::default()).unwrap().parts.remove(0).1;
        read(&text, None, &ReadOptions::default()).unwrap().file
    }

    #[test]
    fn twice_as_large_is_twice_as_far_in_the_file_too() {
        let file = file();
        let clip = file.clip.clone().unwrap();
        let (large, moved) = scaled(&file.skeleton, &clip, 2.0).unwrap();
        let f = FrameIndex(7);
        let [a, b] = [(&file.skeleton, &clip), (&large, &moved)].map(|(s, c)| c.pose(f).world(s));
        for (p, q) in a.positions_m.iter().zip(&b.positions_m) {
            assert!((*p * 2.0 - *q).length() < 1e-12);
        }
        let again = written_and_read(file.clone(), large.clone(), moved.clone());
        let apart =
            farthest_apart_m((&large, &moved), (&again.skeleton, again.clip.as_ref().unwrap()));
        assert!(apart < 1e-6, "{apart}");
        let (same, back) = scaled(&large, &moved, 0.5).unwrap();
        assert!(farthest_apart_m((&same, &back), (&file.skeleton, &clip)) < 1e-12);
        for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(scaled(&file.skeleton, &clip, factor).is_err(), "{factor}");
        }
    }

    #[test]
    fn a_figure_of_another_size_keeps_its_channels() {
        // Positions of b replace its offset, those of c are added to it.
        let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition \
            Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 0 10 0\nCHANNELS 6 Xposition Yposition \
            Zposition Zrotation Xrotation Yrotation\nJOINT c\n{\nOFFSET 3 4 0\nCHANNELS 4 Yrotation \
            Xposition Yposition Zposition\nJOINT d\n{\nOFFSET 1 2 0\nCHANNELS 2 Xrotation Zrotation\n\
            End Site\n{\nOFFSET 0 5 0\n}\n}\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.01\n\
            1 90 3 0 20 30 0 10 0 1 2 3 7 0 0 0 8 9\n1 90 4 0 21 31 0 11 0 4 5 6 8 0 0 0 9 9\n";
        let file = read(text.as_bytes(), None, &ReadOptions::default()).unwrap().file;
        let clip = file.clip.clone().unwrap();
        let (large, moved) = scaled(&file.skeleton, &clip, 2.0).unwrap();
        let mut other = file.clone();
        (other.skeleton, other.clip) = (large.clone(), Some(moved.clone()));
        let text = write(&other, Format::Bvh, &WriteOptions::default()).unwrap().parts.remove(0).1;
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<Vec<f64>> = text
            .lines()
            .rev()
            .take(2)
            .map(|row| row.split_whitespace().map(|n| n.parse().unwrap()).collect())
            .collect();
        let want = [2.0, 180.0, 8.0, 0.0, 21.0, 31.0, 0.0, 22.0, 0.0, 4.0, 5.0, 6.0, 8.0, 0.0, 0.0];
        assert_eq!(rows[0][..15], want);
        assert_eq!(rows[0][15..], [0.0, 9.0, 9.0]);
        let again = read(text.as_bytes(), None, &ReadOptions::default()).unwrap().file;
        let again = (&again.skeleton, again.clip.as_ref().unwrap());
        assert!(farthest_apart_m((&large, &moved), again) < 1e-9);
    }

    #[test]
    fn another_axis_up_turns_all_of_the_figure_and_back_is_the_identity() {
        let file = file();
        let clip = file.clip.clone().unwrap();
        for ground in [Ground::Z_UP, Ground::X_UP] {
            let (other, moved) = with_up(&file.skeleton, &clip, Ground::Y_UP, ground).unwrap();
            assert_eq!(Ground::of(&other), ground);
            let stand = |s: &Skeleton, c: &Clip| Facing::of(s).stand_in(s, c, FrameIndex(5));
            let (a, b): (Stand, Stand) = (stand(&file.skeleton, &clip), stand(&other, &moved));
            assert!((a.facing.degrees() - b.facing.degrees()).abs() < 1e-9);
            let heights = (Ground::Y_UP.height_m(a.position_m), ground.height_m(b.position_m));
            assert!((heights.0 - heights.1).abs() < 1e-12);
            let again = written_and_read(file.clone(), other.clone(), moved.clone());
            let of_file = (&again.skeleton, again.clip.as_ref().unwrap());
            assert!(farthest_apart_m((&other, &moved), of_file) < 1e-6);
            let (same, back) = with_up(&other, &moved, ground, Ground::Y_UP).unwrap();
            assert!(farthest_apart_m((&same, &back), (&file.skeleton, &clip)) < 1e-12);
        }
    }
}
