//! `condyle connect`.

use std::fmt::Write as _;
use std::ops::Range;

use comfy_table::Cell;
use condyle::anatomy::{AxesOptions, NameTable, WorldAxis};
use condyle::edit::{
    Between, Connected, ContactOptions, DistanceMatrix, EditError, Facing, Features, Jump, Keep,
    MatchError, Method, Overlap, Planted, Query, SearchOptions, UsualJumps, best_matches,
    closest_windows, connect, distance_matrix, page, quantile, speeds, trimmed,
};
use condyle::math::Angle;
use condyle::motion::Clip;
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use super::figure_axes::read_maps;
use super::matching::{check_names, failed, span, weighted};
use super::motions::{
    Counting, Motion, alike, idle, in_one_world, keep_inside, length_of, limits_of, read_motions,
    refused, warn_of_size,
};
use super::outputs::Results;
use super::{Answer, motion_format, print_report};
use crate::args::{
    BridgeName, Connect, EasingName, MatchingName, OrderName, RootBlendName, SeamArgs,
};
use crate::output::{
    Failure, counted, decimals, new_table, number, print_note, print_warning, warnings_printed,
    working,
};

/// How many rows and columns the map of distances on the page has.
const MAP: (usize, usize) = (128, 128);

/// How many frames before the latest motion the next seam may look at.
const BEFORE: usize = 8;

/// A seam of the result.
struct Seam {
    /// Where the motions are alike, in frames of their own.
    window: Overlap,
    matrix: Option<DistanceMatrix>,
    /// Frames of the motions, at the rate of the first: the last one as it is, and the first one.
    ends: [usize; 2],
    /// How their files count them.
    counting: [Counting; 2],
    /// The frames of the result between them.
    made: Range<usize>,
    distance: f64,
    /// Across the seam, and what is usual in the motions.
    rough: Rough,
    usual: Usual,
    /// Where a motion itself jumps beside the frame in which it is left or entered.
    glitches: [Option<Jump>; 2],
    /// What became of feet, and which frame of the result it counts from.
    planted: Option<(Planted, usize)>,
}

/// How much a motion is jerked across a seam.
struct Rough {
    /// The change of a joint's angular velocity that is the largest against what is usual of that joint.
    worst: Option<Jump>,
    /// The speed of the pelvis.
    pelvis_m_s: f64,
}

/// What is usual in two motions: what one frame in a hundred exceeds.
struct Usual {
    /// The changes of each joint's angular velocity.
    joints: UsualJumps,
    pelvis_m_s: f64,
    /// The fastest that the pelvis is.
    fastest_m_s: f64,
}

impl Rough {
    /// The most across a seam.
    fn of(
        (skeleton, facing): (&Skeleton, &Facing),
        clip: &Clip,
        made: &Range<usize>,
        usual: &Usual,
    ) -> Self {
        let seam = made.start.saturating_sub(1)..made.end + 1;
        Self {
            worst: usual.joints.worst_across(clip, made),
            pelvis_m_s: quantile(speeds(skeleton, facing, clip, seam), 1.0),
        }
    }
}

impl Usual {
    fn of(skeleton: &Skeleton, facing: &Facing, clips: [&Clip; 2]) -> Self {
        let fast = clips.map(|clip| speeds(skeleton, facing, clip, 0..clip.frame_count()));
        let fast = || fast.iter().flatten().copied();
        Self {
            joints: UsualJumps::of(&clips),
            pelvis_m_s: quantile(fast(), 0.99),
            fastest_m_s: quantile(fast(), 1.0),
        }
    }
}

impl Seam {
    /// The frames of the motions as their files count them.
    fn own_ends(&self) -> [usize; 2] {
        [0, 1].map(|i| self.counting[i].frame(self.ends[i]))
    }

    fn seconds(&self) -> [f64; 2] {
        [0, 1].map(|i| self.counting[i].seconds(self.ends[i]))
    }
}

pub(super) fn run(args: &Connect) -> Result<Answer, Failure> {
    check_method(&args.seam)?;
    let mut motions = read_motions(&args.files, &args.reading.options(), 2)?;
    // The speed of the pelvis is told in metres, always.
    let _ = warn_of_size(motions.iter().map(|m| (m.path.as_path(), &m.file)));
    if args.seam.keep.is_some() && motions.len() < 3 {
        return Err(idle("--keep", "two motions", "it is for motions between two others"));
    }
    let format = motion_format(&motions[0].file, &args.output, &args.writing)?;
    let mut clips = alike(&motions)?;
    let skeleton = motions[0].file.skeleton.clone();
    check_names(&skeleton, &args.comparing)?;
    let bound = limits_of(&args.limits, args.reading.strict(), &skeleton, &motions[0].path)?;
    let facing = in_one_world(&motions, &skeleton, &mut clips, &args.standing)?;
    let maps = read_maps(&args.standing.names)?;
    let sign = working("connecting");
    let mut seams: Vec<Seam> = Vec::new();
    let mut notes = Vec::new();
    // What is put together and not touched again, and how many frames that are.
    let (mut parts, mut done): (Vec<Clip>, usize) = (Vec::new(), 0);
    // What comes after it: its frame `own + shift` is frame `own` of the latest motion, from frame
    // `start` on.
    let (mut tail, mut shift, mut start) = (clips[0].clone(), 0_i64, 0_usize);
    for (i, next) in clips.iter().enumerate().skip(1) {
        let again = same_motion(&skeleton, &clips[i - 1], next).then_some(shift);
        let joined = Joining {
            args,
            skeleton: &skeleton,
            facing: &facing,
            maps: &maps,
            first: &tail,
            next,
            start,
            again,
            is_middle: [i > 1, i + 1 < clips.len()],
        };
        let from = [&motions[i - 1], &motions[i]];
        let usual = Usual::of(&skeleton, &facing, [&clips[i - 1], next]);
        let Joined { connected, at, distance, matrix, planted, note } = joined.connect(from)?;
        notes.extend(note);
        let made = connected.made.start + done..connected.made.end + done;
        let mut rough = Rough::of((&skeleton, &facing), &connected.clip, &connected.made, &usual);
        rough.worst.iter_mut().for_each(|jump| jump.frame += done);
        let ends = [own_frame(connected.first_last, shift), connected.second_first];
        seams.push(Seam {
            window: Overlap { first: own_frame(at.first, shift), ..at },
            matrix: matrix.map(|m| own_rows(m, shift)),
            ends,
            glitches: [0, 1].map(|k| glitch(&usual.joints, &clips[i - 1 + k], ends[k])),
            counting: from.map(|motion| Counting::of(&motion.clip, &motions[0].clip)),
            distance,
            rough,
            usual,
            planted: planted.map(|planted| (planted, done)),
            made,
        });
        // Velocities are taken from some frames before the latest motion, too.
        let cut = connected.made.end.saturating_sub(BEFORE);
        let frames = connected.clip.frame_count();
        start = connected.made.end - cut;
        shift = signed(start) - signed(connected.second_first);
        if cut > 0 {
            parts.push(trimmed(&connected.clip, 0..cut).map_err(|e| refused(&e))?);
        }
        tail = trimmed(&connected.clip, cut..frames).map_err(|e| refused(&e))?;
        done += cut;
    }
    parts.push(tail);
    let mut result = Clip::joined(&parts.iter().collect::<Vec<&Clip>>())
        .map_err(|e| refused(&EditError::Clip(e)))?;
    drop(parts);
    sign.finish_and_clear();
    if let Some(bound) = &bound {
        notes.extend(keep_inside(bound, &skeleton, &mut result));
        for seam in &mut seams {
            seam.rough = Rough::of((&skeleton, &facing), &result, &seam.made, &seam.usual);
            if let Some((planted, done)) = &mut seam.planted {
                let end = (seam.made.end + 1).min(result.frame_count());
                let around = trimmed(&result, *done..end).map_err(|e| refused(&e))?;
                planted.sliding = planted.sliding_in(&skeleton, &around);
            }
        }
    }
    let unit = args.comparing.metric().unit();
    let mut warnings = short_ones(&seams, &clips, &motions);
    warnings.extend(rough_ones(&skeleton, &seams, &motions, args.seam.method));
    warnings.extend(feet_of(&seams));
    let frames = result.frame_count();
    let text =
        if args.json { String::new() } else { text_of(&skeleton, &seams, unit, frames, &motions) };
    let page = args
        .report
        .as_ref()
        .map(|path| (path, page_of(args, &skeleton, &facing, (&seams, &result), &motions)));
    let mut file = motions.swap_remove(0).file;
    file.clip = Some(result);
    let mut results = Results::default();
    if let Some((path, page)) = &page {
        results = results.with(path, page.as_bytes());
    }
    results.with_motion(&file, &args.output, &args.writing, format)?.write()?;
    notes.iter().for_each(|note| print_note(note));
    warnings.iter().for_each(|warning| print_warning(warning));
    let report =
        if args.json { format!("{:#}\n", json_of(&skeleton, &seams, unit, frames)) } else { text };
    print_report(&args.output, &report)?;
    Ok(Answer::Yes)
}

/// That no option is given which the method does not use.
fn check_method(seam: &SeamArgs) -> Result<(), Failure> {
    use BridgeName::{Blend, Inertialize, Interpolate};
    let given: [(&str, bool, &[BridgeName]); 4] = [
        ("--frames", seam.frames.is_some(), &[Interpolate, Inertialize]),
        ("--order", seam.order.is_some(), &[Interpolate]),
        ("--ease", seam.ease.is_some(), &[Blend]),
        ("--root", seam.root.is_some(), &[Blend]),
    ];
    let wrong = given.iter().find(|(_, given, of)| *given && !of.contains(&seam.method));
    let Some((option, _, methods)) = wrong else { return Ok(()) };
    let methods: Vec<&str> = methods.iter().map(|method| method.name()).collect();
    let mut help = format!("leave it out, or choose --method {}", methods.join(" or "));
    if *option == "--frames" {
        help += "; --window says how long a blend is";
    }
    Err(idle(option, &format!("--method {}", seam.method.name()), &help))
}

/// Which motions between others have less than half of their frames left.
fn short_ones(seams: &[Seam], clips: &[Clip], motions: &[Motion]) -> Vec<String> {
    let mut short = Vec::new();
    for (i, pair) in seams.windows(2).enumerate() {
        let left = (pair[1].ends[0] + 1).saturating_sub(pair[0].ends[1]);
        let all = clips[i + 1].frame_count();
        if 2 * left < all {
            let path = motions[i + 1].path.display();
            let all = counted(all, "frame", "frames");
            short.push(format!("{path}: {left} of its {all} left between its two seams"));
        }
    }
    short
}

/// The jump of a motion within three frames of one in which it is left or entered that is at least five times what
/// is usual of its joint.
fn glitch(usual: &UsualJumps, clip: &Clip, frame: usize) -> Option<Jump> {
    const NEAR: usize = 3;
    const TIMES: f64 = 5.0;
    let worst = usual.worst(clip, frame.saturating_sub(NEAR)..frame + NEAR + 1)?;
    (usual.ratio(&worst) >= TIMES).then_some(worst)
}

/// What of seams is worse than it should be, beside the feet.
fn rough_ones(
    skeleton: &Skeleton,
    seams: &[Seam],
    motions: &[Motion],
    method: BridgeName,
) -> Vec<String> {
    let mut told = Vec::new();
    for (i, seam) in seams.iter().enumerate() {
        for (k, verb) in ["left", "entered"].into_iter().enumerate() {
            let Some(jump) = seam.glitches[k] else { continue };
            told.push(format!(
                "{}: {:?} jumps in frame {} of it, by {} times what is usual of that joint, beside frame {} in \
                 which it is {verb}; trim it there, or mend it",
                motions[i + k].path.display(),
                skeleton[jump.joint].name,
                seam.counting[k].frame(jump.frame),
                decimals(seam.usual.joints.ratio(&jump), 1),
                seam.own_ends()[k]
            ));
        }
        // Twice as fast as ever is no motion of theirs; half a metre a second is what rounding of paths and
        // slow motions may have.
        let (fast, usual) = (seam.rough.pelvis_m_s, seam.usual.fastest_m_s);
        if fast > 2.0 * usual && fast > usual + 0.5 {
            let more = match method {
                BridgeName::Blend => "--window",
                BridgeName::Interpolate | BridgeName::Inertialize => "--frames",
            };
            told.push(format!(
                "the pelvis goes {} m/s in frames {}, and {} m/s at most in the two motions: give it more {more}, \
                 or connect motions that are more alike",
                decimals(fast, 2),
                span([seam.made.start, seam.made.end.max(seam.made.start + 1) - 1]),
                decimals(usual, 2)
            ));
        }
    }
    told
}

/// What became of feet that were to be planted.
fn feet_of(seams: &[Seam]) -> Vec<String> {
    let mut told = Vec::new();
    let planted = || seams.iter().filter_map(|seam| seam.planted.as_ref()).map(|(feet, _)| feet);
    if planted().any(|planted| planted.legs == 0) {
        let why =
            "no table has the names of the joints of legs, so no foot is planted; --map takes one";
        told.push(format!("--plant: {why}"));
    }
    let sliding: usize = planted().map(|planted| planted.sliding).sum();
    if sliding > 0 {
        let frames = counted(sliding, "made frame", "made frames");
        told.push(format!("--plant: a foot that is down still slides in {frames}"));
    }
    told
}

/// Whether two motions are the same, wherever they take place.
fn same_motion(skeleton: &Skeleton, a: &Clip, b: &Clip) -> bool {
    let joints = || skeleton.indices().filter(|j| skeleton.parent(*j).is_some());
    let same = |f| joints().all(|j| a.rotation(j, f).quat() == b.rotation(j, f).quat());
    a.frame_count() == b.frame_count() && a.frames().all(same)
}

/// Two motions as one, and what is to be told of it.
struct Joined {
    connected: Connected,
    /// In frames of the result before.
    at: Overlap,
    distance: f64,
    matrix: Option<DistanceMatrix>,
    planted: Option<Planted>,
    note: Option<String>,
}

/// What is to be put together next.
struct Joining<'a> {
    args: &'a Connect,
    skeleton: &'a Skeleton,
    facing: &'a Facing,
    maps: &'a [NameTable],
    /// What there is already; its frames before `start` are not touched.
    first: &'a Clip,
    next: &'a Clip,
    start: usize,
    /// If the next motion is the latest one again: what its frames are counted from.
    again: Option<i64>,
    /// Whether the latest motion, and the next, are between two others.
    is_middle: [bool; 2],
}

impl Joining<'_> {
    fn connect(&self, from: [&Motion; 2]) -> Result<Joined, Failure> {
        let seam = &self.args.seam;
        let fps = self.first.rate().nominal_fps();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is positive, and what is too large saturates"
        )]
        let in_time = |seconds: f64| ((seconds * fps).round() as usize).max(2);
        let window = seam.window.unwrap_or_else(|| in_time(0.4));
        let fading = seam.frames.unwrap_or_else(|| in_time(0.4));
        for (motion, frames) in
            from.iter().zip([self.first.frame_count() - self.start, self.next.frame_count()])
        {
            if frames < window {
                let frames = counted(frames, "frame is", "frames are");
                let what = format!("{frames} left of it, and {window} are compared");
                return Err(Failure::file(&motion.path, what, "compare fewer: --window N"));
            }
        }
        let room = Room {
            window,
            kept: seam.keep.map_or(0, in_time),
            fading: if seam.method == BridgeName::Inertialize { fading } else { 0 },
        };
        for (motion, starts) in from.iter().zip(self.starts(room)) {
            if starts.is_empty() {
                let least = room.kept + 2 * window + room.fading;
                let what = format!(
                    "it takes {}; to keep that much between its two seams it needs {least} frames",
                    length_of(&motion.clip)
                );
                let help = "keep less of it, --keep SECONDS, or compare fewer frames, --window N";
                return Err(Failure::file(&motion.path, what, help));
            }
        }
        let (at, distance, matrix) =
            self.overlap(room).map_err(|e| failed(&e, &from[1].path, &from[0].path))?;
        let keep = match seam.matching {
            MatchingName::Forward | MatchingName::Best => Keep::First,
            MatchingName::Backward => Keep::Second,
        };
        let method = match seam.method {
            BridgeName::Blend => {
                let easing = seam.ease.map(EasingName::easing).unwrap_or_default();
                match seam.root.unwrap_or(RootBlendName::Steps) {
                    RootBlendName::Steps => Method::BlendSteps(easing),
                    RootBlendName::Places => Method::Blend(easing),
                }
            }
            BridgeName::Interpolate => Method::Interpolate {
                frames: seam.frames.unwrap_or_else(|| in_time(0.2)),
                order: seam.order.unwrap_or(OrderName::Cubic).order(),
            },
            BridgeName::Inertialize => Method::Inertialize { frames: fading },
        };
        let clips = [self.first, self.next];
        let mut connected = connect(self.skeleton, self.facing, clips, at, keep, method)
            .map_err(|e| refused(&e))?;
        let planted = seam.plant.then(|| {
            let options = ContactOptions::default();
            connected.plant_feet(self.skeleton, self.facing, (clips, self.maps), &options)
        });
        let made = connected.made.len();
        let note = match method {
            Method::Inertialize { frames } if made < frames => Some(format!(
                "{}: {} left of it to fade over, not {frames}",
                from[1].path.display(),
                counted(made, "frame is", "frames are")
            )),
            _ => None,
        };
        Ok(Joined { connected, at, distance, matrix, planted, note })
    }

    /// Where the two are alike, how far apart they are there, and for a page everywhere.
    fn overlap(&self, room: Room) -> Result<(Overlap, f64, Option<DistanceMatrix>), MatchError> {
        let window = room.window;
        let comparing = &self.args.comparing;
        let up = WorldAxis::nearest(self.facing.ground().up());
        let known = AxesOptions { up, names: self.maps };
        let a = Features::with_axes(self.skeleton, self.first, comparing.metric(), &known)?;
        let b = Features::with_axes(self.skeleton, self.next, comparing.metric(), &known)?;
        let [ours, theirs] = self.starts(room);
        let matrix = match &self.args.report {
            None => None,
            Some(_) => {
                let query = weighted(Query::first(&a, window), comparing)?;
                let rows = self.start..usize::MAX;
                Some(distance_matrix(&query, rows, &b, 0..usize::MAX, MAP)?)
            }
        };
        let at =
            |first, second, distance| (Overlap { first, second, frames: window }, distance, matrix);
        let best = |query: &Query<'_>, clip: &Features, starts: Range<usize>| {
            let options = SearchOptions { starts, ..SearchOptions::default() };
            let found = best_matches(query, &[clip], &options)?;
            found
                .first()
                .copied()
                .ok_or(MatchError::TooShort { window, frames: clip.frame_count() })
        };
        match self.args.seam.matching {
            MatchingName::Forward => {
                let query = weighted(Query::last(&a, window), comparing)?;
                let found = best(&query, &b, theirs)?;
                Ok(at(query.frames().start, found.frame, found.distance))
            }
            MatchingName::Backward => {
                let query = weighted(Query::first(&b, window), comparing)?;
                let found = best(&query, &a, ours)?;
                Ok(at(found.frame, 0, found.distance))
            }
            MatchingName::Best => {
                let query = weighted(Query::first(&a, window), comparing)?;
                // A motion is no better found in itself than where it is; and of two places that are alike
                // the later one is left for the earlier, so that it goes on.
                let apart = window.min(self.next.frame_count() - window);
                let lead = self.again.map(|shift| shift + signed(apart));
                let between = Between { a_starts: ours, b_starts: theirs, lead };
                let found = closest_windows(&query, &b, &between)?;
                let found =
                    found.ok_or(MatchError::TooShort { window, frames: b.frame_count() })?;
                Ok(at(found.a_frame, found.b_frame, found.distance))
            }
        }
    }

    /// Where windows may start: something of each motion is left, if it is long enough, and of one between two
    /// others as much as is to be kept.
    fn starts(&self, Room { window, kept, fading }: Room) -> [Range<usize>; 2] {
        let spare = |frames: usize| window.min((frames - window) / 2);
        let ours = self.first.frame_count() - self.start;
        let theirs = self.next.frame_count();
        let [before, after] = self.is_middle.map(|is| if is { kept } else { 0 });
        // What is kept begins at the latest with the frames after the window, and after what fades, and ends
        // at the earliest where the next window begins.
        let end = match after {
            0 => theirs - window - spare(theirs) + 1,
            kept => (theirs + 1).saturating_sub(2 * window + fading + kept),
        };
        [self.start + spare(ours).max(before)..self.first.frame_count() - window + 1, 0..end]
    }
}

/// How many frames are compared, how many are to be kept of a motion between two others, and how many of the
/// next motion something fades in.
#[derive(Clone, Copy)]
struct Room {
    window: usize,
    kept: usize,
    fading: usize,
}

fn signed(frame: usize) -> i64 {
    i64::try_from(frame).unwrap_or(i64::MAX)
}

fn own_frame(frame: usize, shift: i64) -> usize {
    usize::try_from(signed(frame) - shift).unwrap_or(0)
}

/// Distances whose rows are counted as the file of the first motion does.
fn own_rows(mut matrix: DistanceMatrix, shift: i64) -> DistanceMatrix {
    matrix.a_frames.iter_mut().for_each(|f| *f = own_frame(*f, shift));
    matrix
}

/// The page with all seams.
fn page_of(
    args: &Connect,
    skeleton: &Skeleton,
    facing: &Facing,
    (seams, result): (&[Seam], &Clip),
    motions: &[Motion],
) -> String {
    let name = |motion: &Motion| {
        let name = motion.path.file_name().map(|n| n.to_string_lossy().into_owned());
        // The page counts frames as they were compared.
        Counting::of(&motion.clip, result).title(&name.unwrap_or_default())
    };
    let names: Vec<String> = motions.iter().map(name).collect();
    let unit = if args.comparing.metric().unit() == "metres" { "m" } else { "°" };
    let mut views = Vec::with_capacity(seams.len());
    for (seam, names) in seams.iter().zip(names.windows(2)) {
        views.push(page::SeamView {
            names: [&names[0], &names[1]],
            method: args.seam.method.name(),
            window: seam.window,
            first_last: seam.made.start.saturating_sub(1),
            made: seam.made.clone(),
            from_frame: seam.ends[0],
            to_frame: seam.ends[1],
            distance: seam.distance,
            unit,
            matrix: seam.matrix.as_ref(),
            worst: seam.rough.worst,
            usual: &seam.usual.joints,
        });
    }
    page::html(skeleton, facing, result, &views)
}

fn json_of(skeleton: &Skeleton, seams: &[Seam], unit: &str, frames: usize) -> Value {
    let worst = |seam: &Seam| {
        let worst = seam.rough.worst?;
        Some(json!({
            "joint": skeleton[worst.joint].name,
            "frame": worst.frame,
            "deg_s": worst.by.degrees(),
            "usual_deg_s": seam.usual.joints.of_joint(worst.joint).degrees(),
            "ratio": seam.usual.joints.ratio(&worst),
        }))
    };
    let of = |seam: &Seam| {
        let ([from_frame, to_frame], [from_s, to_s]) = (seam.own_ends(), seam.seconds());
        json!({
            "from_frame": from_frame,
            "from_s": from_s,
            "to_frame": to_frame,
            "to_s": to_s,
            "out_start": seam.made.start,
            // The frame after the last that was made.
            "out_end": seam.made.end,
            "out_frames": seam.made.len(),
            "distance": seam.distance,
            "worst_jump": worst(seam),
            "pelvis_m_s": seam.rough.pelvis_m_s,
            "usual_pelvis_m_s": seam.usual.pelvis_m_s,
            "planted_frames": seam.planted.as_ref().map_or(0, |(planted, _)| planted.moved),
            "sliding_frames": seam.planted.as_ref().map(|(planted, _)| planted.sliding),
        })
    };
    let seams: Vec<Value> = seams.iter().map(of).collect();
    json!({
        "seams": seams,
        "unit": unit,
        "frames": frames,
        "warnings": warnings_printed(),
    })
}

fn text_of(
    skeleton: &Skeleton,
    seams: &[Seam],
    unit: &str,
    frames: usize,
    motions: &[Motion],
) -> String {
    let mut text = String::new();
    let frames = counted(frames, "frame", "frames");
    let _ = writeln!(text, "{frames}, {}", counted(seams.len(), "seam", "seams"));
    let mut table = new_table(&[
        "from",
        "frame",
        "to",
        "frame",
        "made",
        "distance",
        "jump of",
        "°/s",
        "usual",
        "pelvis, m/s",
        "usual",
    ]);
    let name = |motion: &Motion| {
        let name = motion.path.file_name().map_or(motion.path.as_os_str(), |n| n);
        Cell::new(crate::output::printable(&name.to_string_lossy()))
    };
    for (seam, pair) in seams.iter().zip(motions.windows(2)) {
        let made = match seam.made.len() {
            0 => "none".to_owned(),
            _ => span([seam.made.start, seam.made.end - 1]),
        };
        let [from_frame, to_frame] = seam.own_ends();
        let digits = if unit == "metres" { 3 } else { 1 };
        let worst = seam.rough.worst;
        let joint = worst.map_or("", |worst| skeleton[worst.joint].name.as_str());
        let usual = worst.map_or(Angle::ZERO, |worst| seam.usual.joints.of_joint(worst.joint));
        table.add_row(vec![
            name(&pair[0]),
            number(from_frame),
            name(&pair[1]),
            number(to_frame),
            number(made),
            number(format!("{} {unit}", decimals(seam.distance, digits))),
            Cell::new(crate::output::printable(joint)),
            number(decimals(worst.map_or(0.0, |worst| worst.by.degrees()), 0)),
            number(decimals(usual.degrees(), 0)),
            number(decimals(seam.rough.pelvis_m_s, 2)),
            number(decimals(seam.usual.pelvis_m_s, 2)),
        ]);
    }
    let _ = writeln!(text, "{table}");
    text
}
