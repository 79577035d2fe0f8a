//! One check of every invariant, called from every fuzz target and every mutated input.

use std::collections::HashSet;

use condyle::formats::{
    Format, LengthUnit, MotionFile, Origin, OutputUnit, Read, ReadError, ReadOptions, WriteError,
    WriteOptions, read, write,
};
use condyle::glam::DVec3;
use condyle::motion::{Clip, KeyTimes, Markers, WorldTracks};
use condyle::skeleton::{JointIndex, Skeleton};

use super::MODES;

/// Joint-frames that forward kinematics is checked on at most.
const MOST_CHECKED: usize = 100_000;

/// Asserts all that a motion file promises, whoever made it.
#[track_caller]
pub fn check_file(file: &MotionFile) {
    check_skeleton(&file.skeleton);
    assert!(file.units.length.metres().is_finite() && file.units.length.metres() > 0.0);
    if let Some(clip) = &file.clip {
        check_clip(&file.skeleton, clip);
    }
    if let Some(markers) = &file.markers {
        check_markers(markers);
        assert!(file.skeleton.is_empty() && file.clip.is_none(), "markers come alone");
    }
    match (&file.origin, file.format) {
        (Origin::Made, None) => {}
        (Origin::Bvh(own), Some(Format::Bvh)) => {
            assert_eq!(own.joints.len(), file.skeleton.len());
            let channels = file.clip.as_ref().and_then(Clip::channels);
            assert!(channels.is_none_or(|c| c.columns().columns() == own.channel_count()));
        }
        (Origin::Acclaim(own), Some(Format::Asf)) => assert!(own.amc.is_none()),
        (Origin::Acclaim(own), Some(Format::Amc)) => assert!(own.amc.is_some()),
        (Origin::Trc(_), Some(Format::Trc)) => assert!(file.markers.is_some()),
        other => panic!("origin and format do not fit: {other:?}"),
    }
}

/// Parents before children, names unique and found, everything finite.
#[track_caller]
fn check_skeleton(skeleton: &Skeleton) {
    let mut names = HashSet::new();
    for j in skeleton.indices() {
        let joint = &skeleton[j];
        assert!(skeleton.parent(j).is_none_or(|p| p < j), "{:?} before its parent", joint.name);
        assert!(names.insert(joint.name.as_str()), "{:?} twice", joint.name);
        assert_eq!(skeleton.find(&joint.name), Some(j));
        assert!(joint.offset_m.is_finite(), "{:?}", joint.name);
        assert!(joint.end_sites.iter().all(|s| s.offset_m.is_finite()), "{:?}", joint.name);
        check_unit(joint.rest.quat().length());
        for declared in joint.declared.dofs.iter().flatten() {
            let limit = declared.limit;
            assert!(limit.is_none_or(|(a, b)| !a.is_nan() && !b.is_nan()), "{:?}", joint.name);
        }
    }
    let size = skeleton.longest_path_m();
    assert!(size >= 0.0, "{size}");
}

#[track_caller]
fn check_unit(length: f64) {
    // A product of a few unit quaternions, each rounded: some ulps off.
    assert!((length - 1.0).abs() < 1e-12, "a rotation of length {length}");
}

/// Tracks as long as they say, channels that fit them, forward kinematics finite.
#[track_caller]
fn check_clip(skeleton: &Skeleton, clip: &Clip) {
    let frames = clip.frame_count();
    assert_eq!(clip.tracks().len(), skeleton.len());
    assert!(clip.rate().frame_time_s() > 0.0 && clip.rate().fps().is_finite());
    assert!(clip.duration_s() >= 0.0);
    // The farthest a joint can be from the origin.
    let mut reach = 0.0;
    for track in clip.tracks() {
        let keys = |times: &KeyTimes| match times {
            KeyTimes::EveryFrame => frames,
            KeyTimes::At(at) => at.len(),
        };
        assert_eq!(track.rotations().len(), keys(track.rotation_times()));
        assert_eq!(track.translations_m().len(), keys(track.translation_times()));
        assert!(!track.rotations().is_empty() && !track.translations_m().is_empty());
        for rotation in track.rotations().iter() {
            check_unit(rotation.quat().length());
        }
        let mut farthest = 0.0_f64;
        for place in track.translations_m().iter() {
            assert!(place.is_finite());
            farthest = farthest.max(place.abs().max_element());
        }
        reach += farthest;
    }
    if let Some(channels) = clip.channels() {
        assert_eq!(channels.joints().len(), skeleton.len());
        assert_eq!(channels.columns().frames(), frames);
        assert!(channels.unit_m() > 0.0 && channels.unit_m().is_finite());
        let mut used = HashSet::new();
        for joint in channels.joints() {
            assert_eq!(joint.dofs.len(), joint.columns.len());
            assert!(joint.translation_base_m.is_finite());
            check_unit(joint.translation_basis.quat().length());
            let stretch = joint.stretch.iter().map(|(column, _)| column);
            assert!(joint.columns.iter().chain(stretch).all(|c| *c < channels.columns().columns()));
            assert!(joint.columns.iter().all(|c| used.insert(*c)), "a column serves one joint");
        }
        for c in 0..channels.columns().columns() {
            assert!(channels.columns().column(c).iter().all(|v| v.is_finite()));
        }
    }
    let checked = frames.min(MOST_CHECKED / skeleton.len().max(1) + 1);
    let mut world = WorldTracks::default();
    world.update(skeleton, clip, frames - checked..frames);
    // Numbers near the largest double may add up beyond it; a hundredth of that is room enough.
    let may_overflow = reach > f64::MAX / 100.0;
    for j in skeleton.indices() {
        for f in frames - checked..frames {
            assert!(may_overflow || world.position_m(j, f).is_finite(), "joint {j:?}, frame {f}");
            // Each product on the way from the root adds a rounding.
            let off = (world.rotation(j, f).quat().length() - 1.0).abs();
            assert!(off < 1e-15 * (100 + 4 * skeleton.len()) as f64, "joint {j:?}: {off:e}");
        }
    }
}

/// One position per frame and marker, seen as a whole or not at all, names unique.
#[track_caller]
fn check_markers(markers: &Markers) {
    assert!(markers.rate.frame_time_s() > 0.0 && markers.rate.fps().is_finite());
    assert!(markers.times_s.iter().all(|t| t.is_finite()));
    let mut names = HashSet::new();
    for marker in &markers.markers {
        assert!(names.insert(marker.name.as_str()), "{:?} twice", marker.name);
        assert_eq!(marker.positions_m.len(), markers.frame_count());
        for place in marker.positions_m.iter() {
            assert!(place.is_finite() || place.is_nan_mask().all(), "half a position: {place}");
        }
    }
}

/// Reads bytes in all three modes. What reads holds every invariant and comes back from writing;
/// what a stricter mode reads, a more forgiving one reads, too, and alike. What fails says so in a
/// message of bounded length. Returns how many modes read it.
#[track_caller]
pub fn check_bytes(bytes: &[u8], format: Format, skeleton: Option<&MotionFile>) -> usize {
    // The content may say that it is something else: that must not hurt, either.
    let _ = Format::detect(bytes);
    let results = MODES.map(|mode| {
        let options = ReadOptions { mode, format: Some(format), ..ReadOptions::default() };
        read(bytes, skeleton, &options)
    });
    for result in &results {
        match result {
            Ok(read) => check_warnings(read),
            Err(error) => check_error(error),
        }
    }
    for pair in results.windows(2) {
        match (&pair[0], &pair[1]) {
            (Ok(a), Ok(b)) => check_same(&a.file, &b.file),
            (Ok(_), Err(error)) => panic!("read by a stricter mode, but: {error}"),
            (Err(_), _) => {}
        }
    }
    if let Ok(strict) = &results[0] {
        assert!(!strict.warnings.iter().any(condyle::formats::Warning::is_repair));
    }
    // The modes that read it read it alike: the first of them stands for all.
    if let Some(read) = results.iter().flatten().next() {
        check_file(&read.file);
        check_rewritten(&read.file);
    }
    results.iter().filter(|r| r.is_ok()).count()
}

#[track_caller]
fn check_warnings(read: &Read) {
    // More than 1,000 are counted, not kept; skeleton and motion may each have as many.
    assert!(read.warnings.len() <= 2010, "{} warnings", read.warnings.len());
    for warning in read.warnings.iter().take(20) {
        assert!(!warning.to_string().is_empty());
    }
}

#[track_caller]
fn check_error(error: &ReadError) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() < 100_000, "{} bytes of message", text.len());
}

/// Writing in the file's own format and reading gives the same, and the same bytes from then on.
#[track_caller]
pub fn check_rewritten(file: &MotionFile) {
    let Some(format) = file.format else { return };
    let unit = file.units.length;
    if file.clip.is_none() && matches!(format, Format::Bvh | Format::Amc) {
        // Nothing to compare: BVH writes a frame at rest, AMC refuses.
        if let Ok(written) = write(file, format, &WriteOptions::default()) {
            check_file(&read_parts(&written.parts, unit).expect("what was written reads").file);
        }
        return;
    }
    let written = match write(file, format, &WriteOptions::default()) {
        Ok(written) => written,
        Err(error) => return check_refusal(file, &error),
    };
    let again = read_parts(&written.parts, unit).unwrap_or_else(|error| panic!("{error}"));
    check_file(&again.file);
    check_same(file, &again.file);
    let twice = write(&again.file, format, &WriteOptions::default()).expect("written once");
    assert_eq!(written.parts, twice.parts, "written twice, written differently");
}

/// What may be refused: more than a file is made of, and lengths beyond every number.
#[track_caller]
fn check_refusal(file: &MotionFile, error: &WriteError) {
    let frames = file.clip.as_ref().map_or(0, Clip::frame_count);
    let large = file.skeleton.len() * frames > 20_000_000;
    assert!(large || !is_moderate(file), "not written: {error}");
}

/// Whether all lengths are far from the ends of what a double holds, in any unit.
fn is_moderate(file: &MotionFile) -> bool {
    let unit = file.units.length.metres();
    let good = |v: DVec3| v.abs().max_element() < 1e290;
    (1e-9..1e9).contains(&unit)
        && file
            .skeleton
            .joints()
            .iter()
            .all(|j| good(j.offset_m) && j.end_sites.iter().all(|s| good(s.offset_m)))
        && file.clip.iter().flat_map(Clip::tracks).all(|t| t.translations_m().iter().all(good))
}

/// Reads what `write` gave, in the unit that it was written in: a BVH does not say.
pub fn read_parts(parts: &[(Format, Vec<u8>)], unit: LengthUnit) -> Result<Read, ReadError> {
    let part = |format: Format| parts.iter().find(|(f, _)| *f == format);
    let options = |format| ReadOptions {
        format: Some(format),
        source_unit: Some(unit),
        ..ReadOptions::default()
    };
    let (format, bytes) = &parts[0];
    if *format == Format::Amc {
        let (_, asf) = part(Format::Asf).expect("an AMC comes with its ASF");
        let asf = read(asf, None, &options(Format::Asf))?.file;
        return read(bytes, Some(&asf), &options(Format::Amc));
    }
    read(bytes, None, &options(*format))
}

/// The same numbers, names and header.
#[track_caller]
fn check_same(a: &MotionFile, b: &MotionFile) {
    match (&a.origin, &b.origin) {
        (Origin::Bvh(a), Origin::Bvh(b)) => assert_eq!(a, b),
        (Origin::Acclaim(a), Origin::Acclaim(b)) => assert_eq!(a, b),
        (Origin::Trc(a), Origin::Trc(b)) => {
            // A file without a path gets our own.
            assert!(a.path.is_empty() || a.path == b.path, "{:?}, {:?}", a.path, b.path);
            assert_eq!(a.first_frame, b.first_frame);
        }
        (a, b) => panic!("{a:?}, {b:?}"),
    }
    let columns = |f: &MotionFile| Some(f.clip.as_ref()?.channels()?.columns().clone());
    assert_eq!(columns(a), columns(b));
    assert_eq!(a.clip.as_ref().map(Clip::rate), b.clip.as_ref().map(Clip::rate));
    match (&a.markers, &b.markers) {
        (Some(a), Some(b)) => {
            // A rate that no header says is written as what it stands for.
            assert_eq!(a.rate.nominal_fps(), b.rate.nominal_fps());
            assert_eq!(a.times_s, b.times_s);
            assert_eq!(a.markers.len(), b.markers.len());
            for (a, b) in a.markers.iter().zip(&b.markers) {
                assert_eq!(a.name, b.name);
                for f in 0..a.positions_m.len() {
                    assert_eq!(a.position_m(f), b.position_m(f), "{} in {f}", a.name);
                }
            }
        }
        (None, None) => {}
        _ => panic!("markers on one side only"),
    }
}

/// Writes a file that was made here in one format, reads it back, and compares: the same places of
/// all joints in all frames if it is `plain`, every invariant in any case.
#[track_caller]
pub fn check_written(
    file: &MotionFile,
    format: Format,
    options: &WriteOptions,
    plain: bool,
) -> Option<MotionFile> {
    let written = match write(file, format, options) {
        Ok(written) => written,
        Err(WriteError::Unsupported { what }) => {
            let frames = file.clip.as_ref().map_or(0, Clip::frame_count);
            assert!(!plain || frames == 0 || file.skeleton.is_empty(), "not written: {what}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let unit = match options.unit {
        OutputUnit::Unit(unit) => unit,
        OutputUnit::Usual if file.format != Some(format) => LengthUnit::CM,
        _ => file.units.length,
    };
    let again = match read_parts(&written.parts, unit) {
        Ok(read) => read.file,
        // Lengths at the ends of what a double holds may leave it in another unit.
        Err(error) => {
            assert!(!plain, "{error}\n{}", String::from_utf8_lossy(&written.parts[0].1));
            return None;
        }
    };
    check_file(&again);
    if plain {
        check_same_motion(file, &again);
        check_rewritten(&again);
    }
    Some(again)
}

/// To a format, and from there to another.
#[track_caller]
pub fn check_converts(file: &MotionFile, to: [Format; 2], options: &WriteOptions, plain: bool) {
    let [first, second] = to;
    let Some(there) = check_written(file, first, options, plain) else { return };
    let needs_motion = matches!(second, Format::Amc | Format::Trc);
    let fits = match first {
        Format::Trc => second == Format::Trc,
        Format::Asf => !needs_motion,
        _ => there.clip.is_some() || !needs_motion,
    };
    if fits {
        check_written(&there, second, options, plain);
    } else {
        assert!(write(&there, second, options).is_err(), "{first:?} to {second:?}");
    }
}

/// The same places of joints and end sites, in all frames that there are.
#[track_caller]
fn check_same_motion(before: &MotionFile, after: &MotionFile) {
    let Some(clip) = &before.clip else {
        return assert_eq!(before.markers.is_some(), after.markers.is_some());
    };
    let world = WorldTracks::of(&before.skeleton, clip);
    let places = |j: JointIndex| (0..clip.frame_count()).map(move |f| (j, f));
    let farthest = before.skeleton.indices().flat_map(places);
    let reach = farthest.map(|(j, f)| world.position_m(j, f).length()).fold(1e-3, f64::max);
    // Writing and reading round each of some hundred numbers on the way to a joint; joints of an ASF
    // sit at the ends of unit vectors times lengths. Measured: below 1e-13; room for three digits.
    let size = reach + before.skeleton.longest_path_m();
    let close = |a: DVec3, b: DVec3, what: &str| {
        assert!(a.distance(b) <= 1e-10 * size, "{what}: {a} and {b}");
    };
    if let Some(markers) = &after.markers {
        assert_eq!(markers.frame_count(), clip.frame_count());
        for j in before.skeleton.indices() {
            for f in 0..clip.frame_count() {
                let found = markers.markers[j.get()].position_m(f).expect("a joint is seen");
                close(found, world.position_m(j, f), &before.skeleton[j].name);
            }
        }
        return;
    }
    let Some(other) = &after.clip else {
        return assert_eq!(after.format, Some(Format::Asf), "the motion is lost");
    };
    assert_eq!(clip.frame_count(), other.frame_count());
    let ratio = clip.rate().frame_time_s() / other.rate().frame_time_s();
    assert!((ratio - 1.0).abs() < 1e-9, "{:?} became {:?}", clip.rate(), other.rate());
    let again = WorldTracks::of(&after.skeleton, other);
    for j in before.skeleton.indices() {
        let name = &before.skeleton[j].name;
        let k = after.skeleton.find(name).unwrap_or_else(|| panic!("{name:?} is lost"));
        let (ours, theirs) = (&before.skeleton[j].end_sites, &after.skeleton[k].end_sites);
        assert_eq!(ours.len(), theirs.len(), "end sites of {name:?}");
        for f in 0..clip.frame_count() {
            close(world.position_m(j, f), again.position_m(k, f), name);
            for (a, b) in ours.iter().zip(theirs) {
                let a = world.position_m(j, f) + world.rotation(j, f) * a.offset_m;
                let b = again.position_m(k, f) + again.rotation(k, f) * b.offset_m;
                assert!(a.distance(b) <= 1e-10 * (size + a.length()), "site of {name}: {a}, {b}");
            }
        }
    }
}
