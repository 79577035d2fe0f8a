//! Motions that are edited: read, brought together, and kept inside limits.

use std::path::{Path, PathBuf};

use condyle::anatomy::{AxesOptions, FigureAxes};
use condyle::edit::{EditError, Facing, Fitted, fit_inside, in_world_of, onto};
use condyle::enforce::{BoundRig, ClampOptions, Smoothing};
use condyle::formats::{MotionFile, Read, ReadOptions, Units, Warning, size_notice};
use condyle::motion::{Clip, ResampleTo};
use condyle::skeleton::Skeleton;

use super::bound::{bind, print_misfits};
use super::figure_axes::{axes_of, read_maps};
use super::rig::rig_of;
use crate::args::{FrameSpan, Inside, Standing};
use crate::output::{
    Failure, counted, decimals, plain, print_note, print_warning, print_warnings, progress,
};

/// A motion and where it is from.
pub(super) struct Motion {
    pub(super) path: PathBuf,
    pub(super) file: MotionFile,
    pub(super) clip: Clip,
}

/// Reads all motions among the inputs, with their warnings printed; at least `least`.
pub(super) fn read_motions(
    files: &[PathBuf],
    options: &ReadOptions,
    least: usize,
) -> Result<Vec<Motion>, Failure> {
    let bar = progress(files.len(), "reading");
    let (mut motions, mut errors) = (Vec::new(), Vec::new());
    for (path, read) in condyle::formats::read_files(files, options) {
        bar.inc(1);
        match read {
            Ok(read) => motions.push(motion_of(path, read)?),
            Err(error) => errors.push(error),
        }
    }
    bar.finish_and_clear();
    if !errors.is_empty() {
        return Err(Failure::Read(errors));
    }
    if motions.len() < least {
        let what = format!("{} given", counted(motions.len(), "motion is", "motions are"));
        return Err(Failure::usage(what, &format!("give at least {least}")));
    }
    Ok(motions)
}

/// The motion that was read, with its warnings printed.
pub(super) fn motion_of(path: &Path, read: Read) -> Result<Motion, Failure> {
    let Read { mut file, warnings } = read;
    print_warnings(&warnings);
    let Some(clip) = file.clip.take().filter(|_| !file.skeleton.is_empty()) else {
        let what = "there is no motion of a skeleton in it";
        return Err(no_motion(path, &file, what, "give a motion; an ASF needs its AMC"));
    };
    if clip.frame_count() == 0 {
        return Err(Failure::file(path, "it has no frames", "give one with motion"));
    }
    Ok(Motion { path: path.to_owned(), file, clip })
}

/// That a file has no motion of a skeleton: what there is to say, unless it has the paths of markers.
pub(super) fn no_motion(path: &Path, file: &MotionFile, what: &str, help: &str) -> Failure {
    match &file.markers {
        None => Failure::file(path, what, help),
        Some(_) => {
            let what = "it has the paths of markers, and no skeleton";
            Failure::file(path, what, "give a BVH, or an AMC with its ASF")
        }
    }
}

/// Warns of the first figure that has no person's size, for what is told or asked in metres.
pub(super) fn warn_of_size<'a>(
    files: impl IntoIterator<Item = (&'a Path, &'a MotionFile)>,
) -> Option<String> {
    warn_of_sizes(files.into_iter().map(|(path, file)| (path, &file.skeleton, file.units)))
}

/// The same of skeletons, each with the unit of its file.
pub(super) fn warn_of_sizes<'a>(
    files: impl IntoIterator<Item = (&'a Path, &'a Skeleton, Units)>,
) -> Option<String> {
    let notice = |(path, skeleton, units): (&'a Path, &'a Skeleton, Units)| {
        let notice = size_notice(skeleton, units)?;
        Some(Warning { path: Some(path.to_owned()), ..notice })
    };
    let mut notices = files.into_iter().filter_map(notice);
    let mut text = notices.next()?.to_string();
    match notices.count() {
        0 => {}
        more => text += &format!("; {more} more like this"),
    }
    print_warning(&text);
    Some(text)
}

/// All motions on the skeleton and at the rate of the first.
pub(super) fn alike(motions: &[Motion]) -> Result<Vec<Clip>, Failure> {
    let Some((first, others)) = motions.split_first() else { return Ok(Vec::new()) };
    let mut clips = vec![first.clip.clone()];
    for motion in others {
        clips.push(like(motion, (&first.file.skeleton, &first.clip, &first.path))?);
    }
    Ok(clips)
}

/// A motion on another skeleton with the same joints, and at the rate of another motion.
pub(super) fn like(
    motion: &Motion,
    (skeleton, clip, path): (&Skeleton, &Clip, &Path),
) -> Result<Clip, Failure> {
    let named = |what: String| format!("{}: {what}", motion.path.display());
    let moved = onto(skeleton, &motion.file.skeleton, &motion.clip).map_err(|error| {
        let help = format!("condyle retarget brings it onto the skeleton of {}", path.display());
        Failure::file(&motion.path, error.to_string(), &help)
    })?;
    if let Some((joint, apart)) = moved.other_bones {
        print_warning(&named(format!(
            "bones have other lengths than in {} ({:?} by {} mm); the first one's are used",
            path.display(),
            skeleton[joint].name,
            decimals(1e3 * apart, 0)
        )));
    }
    note_rate(&motion.path, &moved.clip, clip);
    Ok(at_rate(&motion.path, &moved.clip, clip)?.unwrap_or(moved.clip))
}

/// Tells that a motion has not the rate of another, and is brought to it.
pub(super) fn note_rate(path: &Path, clip: &Clip, like: &Clip) {
    let [old, new] = [clip, like].map(|clip| clip.rate().nominal_fps());
    if old != new {
        let what = format!("resampled from {} to {} frames per second", plain(old), plain(new));
        let told = "frames are told as the file counts them";
        print_note(&format!("{}: {what}; {told}", path.display()));
    }
}

/// A motion at the rate of another, if it has not got it.
pub(super) fn at_rate(path: &Path, clip: &Clip, like: &Clip) -> Result<Option<Clip>, Failure> {
    if clip.rate().nominal_fps() == like.rate().nominal_fps() {
        return Ok(None);
    }
    let resampled = clip.resample(ResampleTo::Rate(like.rate()), None);
    Ok(Some(resampled.map_err(|e| Failure::file(path, e.to_string(), "resample it"))?.clip))
}

/// How a file counts the frames of its motion where that was brought to the rate of another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting {
    /// Frames per second, in the file and of what is counted.
    rates: [f64; 2],
    last: usize,
}

impl Counting {
    pub(super) fn of(own: &Clip, like: &Clip) -> Self {
        let rates = [own, like].map(|clip| clip.rate().nominal_fps());
        Self { rates, last: own.frame_count() - 1 }
    }

    /// The frame of the file that is nearest.
    pub(super) fn frame(self, frame: usize) -> usize {
        let [own, like] = self.rates;
        if own == like {
            return frame;
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and what is beyond a clip saturates"
        )]
        let nearest = (self.seconds(frame) * own).round() as usize;
        nearest.min(self.last)
    }

    /// When that is.
    pub(super) fn seconds(self, frame: usize) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a clip has fewer than 2^32 frames")]
        let frame = frame as f64;
        frame / self.rates[1]
    }

    /// The name of a file, with the rate that its frames are counted at if that is not its own.
    pub(super) fn title(self, name: &str) -> String {
        let [own, like] = self.rates;
        if own == like { name.to_owned() } else { format!("{name} at {} fps", plain(like)) }
    }
}

/// How long a motion is, in time and in frames.
pub(super) fn length_of(clip: &Clip) -> String {
    let count = clip.frame_count();
    let seconds = decimals(Counting::of(clip, clip).seconds(count), 3);
    format!("{seconds} s ({})", counted(count, "frame", "frames"))
}

/// That a motion has not got the frames that are asked for.
pub(super) fn no_frames(asked: Option<FrameSpan>, motion: &Motion) -> Failure {
    let (first, last) = asked.map_or((0, None), |span| (span.first, span.last));
    let asked = match last.filter(|last| *last != first) {
        Some(last) => format!("frames {first} to {last} are"),
        None => format!("frame {first} is"),
    };
    let what = format!("{asked} asked for, and it takes {}", length_of(&motion.clip));
    Failure::file(&motion.path, what, "frames count from 0")
}

/// An option that something else which was asked for does not use.
pub(super) fn idle(option: &str, with: &str, help: &str) -> Failure {
    Failure::usage(format!("{option} is not used with {with}"), help)
}

/// Brings motions into the world of the first, where another axis is up in them; which way its figure faces.
pub(super) fn in_one_world(
    motions: &[Motion],
    skeleton: &Skeleton,
    clips: &mut [Clip],
    standing: &Standing,
) -> Result<Facing, Failure> {
    let axes = axes_of(&motions[0].path, skeleton, &clips[0], standing)?;
    if standing.up.is_none() {
        let maps = read_maps(&standing.names)?;
        for (motion, clip) in motions.iter().zip(clips).skip(1) {
            let own =
                FigureAxes::with(skeleton, &[&*clip], &AxesOptions { up: None, names: &maps });
            let moved = in_world_of(skeleton, clip, &own, &axes).map_err(|e| refused(&e))?;
            let Some((up, moved)) = moved else { continue };
            *clip = moved;
            print_warning(&format!(
                "{}: {up} is up ({}), and {} in {}: it is turned into that world; --up takes one axis for all",
                motion.path.display(),
                own.up().reason(),
                axes.up().axis,
                motions[0].path.display()
            ));
        }
    }
    Ok(Facing::by(skeleton, &axes))
}

/// What an edit does not do, as a failure.
pub(super) fn refused(error: &EditError) -> Failure {
    let help = match error {
        EditError::OtherRest { .. }
        | EditError::MissingJoint { .. }
        | EditError::OtherParent { .. } => "condyle retarget brings a motion onto another skeleton",
        EditError::Window { .. } => "frames count from 0; condyle info says how many there are",
        _ => "see --help for what is possible",
    };
    Failure::usage(error.to_string(), help)
}

/// The limits that a result is to keep, if any.
pub(super) fn limits_of(
    inside: &Inside,
    strict: bool,
    skeleton: &Skeleton,
    path: &Path,
) -> Result<Option<BoundRig>, Failure> {
    let Some(rig_path) = &inside.rig else { return Ok(None) };
    let rig = rig_of(rig_path, strict)?;
    let bound = bind(&rig, rig_path, skeleton, path)?;
    print_misfits(&bound, skeleton, path);
    Ok(Some(bound))
}

/// Brings a motion inside limits, without pops; how much was changed, as a note for when it is written.
pub(super) fn keep_inside(
    bound: &BoundRig,
    skeleton: &Skeleton,
    clip: &mut Clip,
) -> Option<String> {
    let options = ClampOptions { smoothing: Some(Smoothing::default()), ..ClampOptions::default() };
    let (clamped, _) = fit_inside(skeleton, clip, bound, &options);
    let changed: Vec<_> = clamped.joints.iter().filter(|j| j.changed > 0).collect();
    let worst =
        changed.iter().max_by(|a, b| a.largest.radians().total_cmp(&b.largest.radians()))?;
    Some(format!(
        "{} brought inside the limits, {:?} farthest, by {:.2}° in frame {}",
        counted(changed.len(), "joint was", "joints were"),
        skeleton[worst.joint].name,
        worst.largest.degrees(),
        worst.largest_frame.get()
    ))
}

/// Says how far joints are from where they should be because their file gives them few degrees of freedom.
pub(super) fn print_fitted(fitted: Option<Fitted>, skeleton: &Skeleton) {
    if let Some(fitted) = fitted.filter(|f| f.joints > 0) {
        print_note(&format!(
            "{} kept to the degrees of freedom of the ASF, {:?} farthest from where it should be, by {:.2}° \
             in frame {}",
            counted(fitted.joints, "joint is", "joints are"),
            skeleton[fitted.worst].name,
            fitted.by.degrees(),
            fitted.frame.get()
        ));
    }
}
