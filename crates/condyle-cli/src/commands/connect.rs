//! `condyle connect`.

use std::fmt::Write as _;
use std::ops::Range;

use comfy_table::Cell;
use condyle::edit::{
    Between, Connected, ContactOptions, DistanceMatrix, EditError, Facing, Features, Keep,
    MatchError, Method, Metric, Overlap, Planted, Query, SearchOptions, best_matches,
    closest_windows, connect, distance_matrix, jump_quantile, jumps, page, quantile, speeds,
    trimmed,
};
use condyle::math::Angle;
use condyle::motion::Clip;
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use super::estimate::not_an_input;
use super::matching::{check_names, failed, span, weighted};
use super::motions::{
    Counting, Motion, alike, facing_of, idle, keep_inside, limits_of, read_motions, refused,
    warn_of_size,
};
use super::{Answer, is_one_of, motion_format, notice_size, print_report, write_as};
use crate::args::{
    BridgeName, Connect, EasingName, MatchingName, OrderName, RootBlendName, SeamArgs,
};
use crate::output::{
    Failure, counted, decimals, new_table, number, print_note, print_warning, working, write_whole,
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
    usual: Rough,
    /// What became of feet, and which frame of the result it counts from.
    planted: Option<(Planted, usize)>,
}

/// How much a motion is jerked.
struct Rough {
    /// The change of a joint's angular velocity from frame to frame, per second.
    jump: Angle,
    /// The speed of the pelvis.
    pelvis_m_s: f64,
}

impl Rough {
    /// The most across a seam.
    fn of(skeleton: &Skeleton, facing: &Facing, clip: &Clip, made: &Range<usize>) -> Self {
        let seam = made.start.saturating_sub(1)..made.end + 1;
        Self {
            jump: jump_quantile(&jumps(clip, seam.clone()), 1.0),
            pelvis_m_s: quantile(speeds(skeleton, facing, clip, seam), 1.0),
        }
    }

    /// What one frame in a hundred of two motions exceeds.
    fn usual(skeleton: &Skeleton, facing: &Facing, clips: [&Clip; 2]) -> Self {
        let of_both = clips.map(|clip| jumps(clip, 0..clip.frame_count()));
        let fast = clips.map(|clip| speeds(skeleton, facing, clip, 0..clip.frame_count()));
        Self {
            jump: jump_quantile(of_both.iter().flatten(), 0.99),
            pelvis_m_s: quantile(fast.into_iter().flatten(), 0.99),
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
    let inputs = || args.files.iter().chain(&args.limits.rig);
    not_an_input(&args.output, inputs())?;
    if let Some(report) = &args.report {
        not_an_input(report, inputs())?;
        if is_one_of(report, [&args.output]) {
            let what = format!("{} is both the motion and the page", report.display());
            return Err(Failure::usage(what, "give each output a name of its own"));
        }
    }
    let mut motions = read_motions(&args.files, &args.reading.options(), 2)?;
    let in_metres = args.seam.plant || args.comparing.metric() == Metric::Position;
    let size = in_metres
        .then(|| warn_of_size(motions.iter().map(|m| (m.path.as_path(), &m.file))))
        .flatten();
    let format = motion_format(&motions[0].file, &args.output, &args.writing)?;
    let clips = alike(&motions)?;
    let skeleton = motions[0].file.skeleton.clone();
    check_names(&skeleton, &args.comparing)?;
    let bound = limits_of(&args.limits, args.reading.strict(), &skeleton, &motions[0].path)?;
    let facing = facing_of(&skeleton, &args.standing);
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
            first: &tail,
            next,
            start,
            again,
        };
        let from = [&motions[i - 1], &motions[i]];
        let Joined { connected, at, distance, matrix, planted, note } = joined.connect(from)?;
        notes.extend(note);
        let made = connected.made.start + done..connected.made.end + done;
        seams.push(Seam {
            window: Overlap { first: own_frame(at.first, shift), ..at },
            matrix: matrix.map(|m| own_rows(m, shift)),
            ends: [own_frame(connected.first_last, shift), connected.second_first],
            counting: from.map(|motion| Counting::of(&motion.clip, &motions[0].clip)),
            distance,
            rough: Rough::of(&skeleton, &facing, &connected.clip, &connected.made),
            usual: Rough::usual(&skeleton, &facing, [&clips[i - 1], next]),
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
            seam.rough = Rough::of(&skeleton, &facing, &result, &seam.made);
            if let Some((planted, done)) = &mut seam.planted {
                let end = (seam.made.end + 1).min(result.frame_count());
                let around = trimmed(&result, *done..end).map_err(|e| refused(&e))?;
                planted.sliding = planted.sliding_in(&skeleton, &around);
            }
        }
    }
    let unit = args.comparing.metric().unit();
    let report = if args.json {
        format!("{:#}\n", json_of(&seams, unit, &result, size.as_deref()))
    } else {
        text_of(&seams, unit, &result, &motions)
    };
    let page = args
        .report
        .as_ref()
        .map(|path| (path, page_of(args, &skeleton, &facing, (&seams, &result), &motions)));
    let short = short_ones(&seams, &clips, &motions);
    let mut file = motions.swap_remove(0).file;
    file.clip = Some(result);
    if !in_metres {
        notice_size(&file, format);
    }
    write_as(&file, &args.output, &args.writing, format)?;
    if let Some((path, page)) = page {
        write_whole(&[(path.as_path(), page.as_bytes())])?;
    }
    notes.iter().for_each(|note| print_note(note));
    short.iter().for_each(|warning| print_warning(warning));
    print_feet(&seams);
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

/// What became of feet that were to be planted.
fn print_feet(seams: &[Seam]) {
    let planted = || seams.iter().filter_map(|seam| seam.planted.as_ref()).map(|(feet, _)| feet);
    if planted().any(|planted| planted.legs == 0) {
        print_warning(
            "--plant: no table has the names of the joints of legs, so no foot is planted",
        );
    }
    let sliding: usize = planted().map(|planted| planted.sliding).sum();
    if sliding > 0 {
        let frames = counted(sliding, "made frame", "made frames");
        print_warning(&format!("--plant: a foot that is down still slides in {frames}"));
    }
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
    /// What there is already; its frames before `start` are not touched.
    first: &'a Clip,
    next: &'a Clip,
    start: usize,
    /// If the next motion is the latest one again: what its frames are counted from.
    again: Option<i64>,
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
        for (motion, frames) in
            from.iter().zip([self.first.frame_count() - self.start, self.next.frame_count()])
        {
            if frames < window {
                let frames = counted(frames, "frame is", "frames are");
                let what = format!("{frames} left of it, and {window} are compared");
                return Err(Failure::file(&motion.path, what, "compare fewer: --window N"));
            }
        }
        let (at, distance, matrix) =
            self.overlap(window).map_err(|e| failed(&e, &from[1].path, &from[0].path))?;
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
            BridgeName::Inertialize => {
                Method::Inertialize { frames: seam.frames.unwrap_or_else(|| in_time(0.4)) }
            }
        };
        let clips = [self.first, self.next];
        let mut connected = connect(self.skeleton, self.facing, clips, at, keep, method)
            .map_err(|e| refused(&e))?;
        let planted = seam.plant.then(|| {
            let options = ContactOptions::default();
            connected.plant_feet(self.skeleton, self.facing, clips, &options)
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
    fn overlap(&self, window: usize) -> Result<(Overlap, f64, Option<DistanceMatrix>), MatchError> {
        let comparing = &self.args.comparing;
        let ground = self.facing.ground();
        let a = Features::on(self.skeleton, self.first, comparing.metric(), ground)?;
        let b = Features::on(self.skeleton, self.next, comparing.metric(), ground)?;
        let [ours, theirs] = self.starts(window);
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

    /// Where windows may start: something of each motion is left, if it is long enough.
    fn starts(&self, window: usize) -> [Range<usize>; 2] {
        let spare = |frames: usize| window.min((frames - window) / 2);
        let ours = self.first.frame_count() - self.start;
        let theirs = self.next.frame_count();
        [
            self.start + spare(ours)..self.first.frame_count() - window + 1,
            0..theirs - window - spare(theirs) + 1,
        ]
    }
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
            jump: seam.rough.jump,
            usual: seam.usual.jump,
        });
    }
    page::html(skeleton, facing.ground(), result, &views)
}

fn json_of(seams: &[Seam], unit: &str, result: &Clip, size: Option<&str>) -> Value {
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
            "jump_deg_s": seam.rough.jump.degrees(),
            "usual_jump_deg_s": seam.usual.jump.degrees(),
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
        "frames": result.frame_count(),
        "warnings": Vec::from_iter(size),
    })
}

fn text_of(seams: &[Seam], unit: &str, result: &Clip, motions: &[Motion]) -> String {
    let mut text = String::new();
    let frames = counted(result.frame_count(), "frame", "frames");
    let _ = writeln!(text, "{frames}, {}", counted(seams.len(), "seam", "seams"));
    let mut table = new_table(&[
        "from",
        "frame",
        "to",
        "frame",
        "made",
        "distance",
        "jump, °/s",
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
        table.add_row(vec![
            name(&pair[0]),
            number(from_frame),
            name(&pair[1]),
            number(to_frame),
            number(made),
            number(format!("{} {unit}", decimals(seam.distance, digits))),
            number(decimals(seam.rough.jump.degrees(), 0)),
            number(decimals(seam.usual.jump.degrees(), 0)),
            number(decimals(seam.rough.pelvis_m_s, 2)),
            number(decimals(seam.usual.pelvis_m_s, 2)),
        ]);
    }
    let _ = writeln!(text, "{table}");
    text
}
