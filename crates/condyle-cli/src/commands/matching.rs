//! `condyle match`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::anatomy::AxesOptions;
use condyle::edit::{Features, MatchError, Metric, Query, SearchOptions, best_matches};
use condyle::formats::{MotionFile, read_files};
use condyle::skeleton::{JointIndex, Skeleton, names_near};
use serde_json::{Value, json};

use super::corpus::nothing_left;
use super::figure_axes::maps_of;
use super::motions::{
    Counting, Motion, at_rate, idle, motion_of, no_frames, note_rate, warn_of_size,
};
use super::{Answer, print_text};
use crate::args::{Comparing, Match};
use crate::output::{
    Failure, counted, decimals, new_table, number, print_note, printable, progress, some_of,
    working,
};

/// A motion that is searched.
struct Place {
    path: PathBuf,
    counting: Counting,
    features: Features,
}

/// The motion to look for, and those to look in.
struct Search<'a> {
    args: &'a Match,
    /// With its numbers.
    query: (Motion, Features),
    places: Vec<Place>,
    /// What cannot be searched.
    left_out: Vec<Failure>,
    /// Of figures that have no person's size, where places are compared.
    size: Option<String>,
}

pub(super) fn run(args: &Match) -> Result<Answer, Failure> {
    if args.standing.up.is_some() && args.comparing.metric() != Metric::Position {
        let help = "leave it out, or compare places: --metric position";
        return Err(idle("--up", "a --metric of rotations", help));
    }
    let mut search = Search::read(args)?;
    let in_itself = search.places.is_empty() && search.left_out.is_empty();
    let (query, own) = &search.query;
    let count = query.clip.frame_count();
    let (first, last) = match args.frames {
        Some(span) => (span.first, span.last.unwrap_or(count - 1)),
        None if in_itself => {
            let what = "there is one motion, and all of it is looked for in itself";
            return Err(Failure::usage(what, "say which frames: --frames A..B, or add motions"));
        }
        None => (0, count - 1),
    };
    if last >= count || first > last {
        return Err(no_frames(args.frames, query));
    }
    if in_itself {
        let counting = Counting::of(&query.clip, &query.clip);
        search.places.push(Place { path: query.path.clone(), counting, features: own.clone() });
    }
    let window = last + 1 - first;
    search.leave_out_short(window)?;
    if search.places.is_empty() {
        let what =
            format!("{}: there is nothing to compare it with", search.query.0.path.display());
        let help = "give a motion of the same skeleton, or condyle retarget one to it";
        return Err(nothing_left(search.left_out, Failure::usage(what, help)));
    }
    let (query, own) = &search.query;
    let asked = weighted(Query::new(own, first..last + 1), &args.comparing)
        .map_err(|e| failed(&e, &query.path, &query.path))?;
    // In itself the frames that are looked for are found, too, and what is near: nobody asked for them.
    let spacing = args.spacing.unwrap_or(window).max(1);
    let last_start = count - window;
    let starts = if in_itself {
        [0..(first + 1).saturating_sub(spacing), first.saturating_add(spacing)..last_start + 1]
    } else {
        [0..usize::MAX, 0..0]
    };
    let all: Vec<&Features> = search.places.iter().map(|place| &place.features).collect();
    let sign = working("searching");
    let mut matches = Vec::new();
    for starts in starts.into_iter().filter(|starts| !starts.is_empty()) {
        let options = SearchOptions { count: args.count, spacing: Some(spacing), starts };
        let found = best_matches(&asked, &all, &options);
        matches.extend(found.map_err(|e| failed(&e, &query.path, &query.path))?);
    }
    sign.finish_and_clear();
    // Those before the frames that are looked for and those after them are far enough apart.
    matches.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    matches.truncate(args.count);
    Failure::warn(&search.left_out);
    let report = if args.json {
        format!("{:#}\n", search.json(&matches, [first, last]))
    } else {
        search.text(&matches, [first, last])
    };
    print_text(&report)
}

impl<'a> Search<'a> {
    /// Reads one motion after the other, and keeps what is compared of it. What cannot be read or compared
    /// is left out, but for the first; with `--strict` that is an error.
    fn read(args: &'a Match) -> Result<Self, Failure> {
        let mut search: Option<Self> = None;
        let bar = progress(args.files.len(), "reading");
        let options = args.reading.options();
        for (path, read) in read_files(&args.files, &options) {
            bar.inc(1);
            let motion = read.map_err(Failure::from).and_then(|read| motion_of(path, read));
            let Some(search) = &mut search else {
                let motion = motion?;
                check_names(&motion.file.skeleton, &args.comparing)?;
                let maps = maps_of(&args.standing.names, &[&motion.file.skeleton])?;
                let known = AxesOptions { up: args.standing.up, names: &maps };
                let metric = args.comparing.metric();
                let own = Features::with_axes(&motion.file.skeleton, &motion.clip, metric, &known)
                    .map_err(|e| failed(&e, path, path))?;
                let (places, left_out) = (Vec::new(), Vec::new());
                let mut found = Self { args, query: (motion, own), places, left_out, size: None };
                found.size = found.size_of(path, &found.query.0.file);
                search = Some(found);
                continue;
            };
            match motion.and_then(|motion| search.place(motion)) {
                Ok(place) => search.places.push(place),
                Err(failure) if args.reading.strict() => return Err(failure),
                Err(failure) => search.left_out.push(failure),
            }
        }
        bar.finish_and_clear();
        search.ok_or_else(|| Failure::usage("no motion is given", "give one to look for"))
    }

    /// A warning if places are compared and this is the first figure that has no person's size.
    fn size_of(&self, path: &Path, file: &MotionFile) -> Option<String> {
        let in_metres = self.args.comparing.metric() == Metric::Position;
        (in_metres && self.size.is_none()).then(|| warn_of_size([(path, file)])).flatten()
    }

    fn place(&mut self, motion: Motion) -> Result<Place, Failure> {
        self.size = self.size.take().or_else(|| self.size_of(&motion.path, &motion.file));
        let (query, own) = &self.query;
        let at_rate = at_rate(&motion.path, &motion.clip, &query.clip)?;
        let clip = at_rate.as_ref().unwrap_or(&motion.clip);
        let features = own
            .like(&motion.file.skeleton, clip)
            .map_err(|e| failed(&e, &motion.path, &query.path))?;
        note_rate(&motion.path, &motion.clip, &query.clip);
        let counting = Counting::of(&motion.clip, &query.clip);
        Ok(Place { path: motion.path, counting, features })
    }

    /// Leaves out motions with fewer frames than are looked for; with `--strict` that is an error.
    fn leave_out_short(&mut self, window: usize) -> Result<(), Failure> {
        let (long, short): (Vec<Place>, Vec<Place>) = std::mem::take(&mut self.places)
            .into_iter()
            .partition(|place| place.features.frame_count() >= window);
        self.places = long;
        for place in short {
            let frames = counted(place.features.frame_count(), "frame", "frames");
            let what = format!("it has {frames}, and {window} are looked for");
            let failure = Failure::file(&place.path, what, "look for fewer: --frames A..B");
            if self.args.reading.strict() {
                return Err(failure);
            }
            self.left_out.push(failure);
        }
        Ok(())
    }

    fn json(&self, matches: &[condyle::edit::Match], [first, last]: [usize; 2]) -> Value {
        let of = |m: &condyle::edit::Match| {
            let Place { path, counting, .. } = &self.places[m.clip];
            json!({
                "path": path.display().to_string(),
                "frame": counting.frame(m.frame),
                "last_frame": counting.frame(m.frame + last - first),
                "time_s": counting.seconds(m.frame),
                "distance": m.distance,
            })
        };
        let matches: Vec<Value> = matches.iter().map(of).collect();
        let left_out: Vec<Value> = self.left_out.iter().flat_map(Failure::json).collect();
        json!({
            "matches": matches,
            "unit": self.args.comparing.metric().unit(),
            "frames": [first, last],
            "skipped": left_out,
            "warnings": Vec::from_iter(&self.size),
        })
    }

    fn text(&self, matches: &[condyle::edit::Match], [first, last]: [usize; 2]) -> String {
        let unit = self.args.comparing.metric().unit();
        let digits = if unit == "metres" { 4 } else { 2 };
        let mut table = new_table(&["motion", "frames", "at, s", "distance"]);
        for m in matches {
            let Place { path, counting, .. } = &self.places[m.clip];
            let ends = [m.frame, m.frame + last - first].map(|frame| counting.frame(frame));
            table.add_row(vec![
                Cell::new(printable(&path.display().to_string())),
                number(span(ends)),
                number(decimals(counting.seconds(m.frame), 3)),
                number(format!("{} {unit}", decimals(m.distance, digits))),
            ]);
        }
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}: {} ({}), compared with {}",
            self.query.0.path.display(),
            counted(last + 1 - first, "frame", "frames"),
            span([first, last]),
            counted(self.places.len(), "motion", "motions")
        );
        let _ = writeln!(text, "{table}");
        text
    }
}

/// The first and the last of some frames.
pub(super) fn span([first, last]: [usize; 2]) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// A query with the weights that were asked for.
pub(super) fn weighted<'a>(
    query: Result<Query<'a>, MatchError>,
    comparing: &Comparing,
) -> Result<Query<'a>, MatchError> {
    query?.with_joint_weights(|name| comparing.weight(name))
}

/// That every joint named for the comparison is there, and that one is left to compare.
pub(super) fn check_names(skeleton: &Skeleton, comparing: &Comparing) -> Result<(), Failure> {
    let missing = comparing.named().find(|name| skeleton.find(name).is_none());
    if let Some(name) = missing {
        return Err(no_joint(skeleton, "the motion has", name));
    }
    let is_root = |j: &JointIndex| skeleton.parent(*j).is_none();
    let places = comparing.metric() == Metric::Position;
    let counts = |j: &JointIndex| comparing.weight(&skeleton[*j].name) > 0.0;
    let all: Vec<JointIndex> = skeleton.indices().filter(|j| places || !is_root(j)).collect();
    let named = |j: &JointIndex| comparing.named().any(|name| *name == skeleton[*j].name);
    let roots = skeleton.indices().filter(|j| !places && is_root(j) && named(j) && counts(j));
    let roots: Vec<&str> = roots.map(|j| skeleton[j].name.as_str()).collect();
    let turns = "which turns with where the figure faces, is not compared by its rotation";
    if all.is_empty() || all.iter().any(counts) {
        if let Some(root) = roots.first() {
            print_note(&format!("the root {root:?}, {turns}"));
        }
        return Ok(());
    }
    Err(match roots.first() {
        Some(root) => {
            let what = format!("no joint is left to compare: the root {root:?}, {turns}");
            Failure::usage(what, "name other joints, or compare places: --metric position")
        }
        None => Failure::usage("no joint is left to compare", "let one count more than 0"),
    })
}

/// That a joint is not there, with names that are spelt nearly like it.
pub(super) fn no_joint(skeleton: &Skeleton, who: &str, name: &str) -> Failure {
    let near = names_near(skeleton.joints().iter().map(|j| j.name.as_str()), name);
    let help = match near.as_slice() {
        [] => "condyle info lists its joints".to_owned(),
        near => format!("near are {}", some_of(near)),
    };
    Failure::usage(format!("{who} no joint {name:?}"), &help)
}

/// Why a motion cannot be compared with another one.
pub(super) fn failed(error: &MatchError, path: &Path, query: &Path) -> Failure {
    let retarget = format!("condyle retarget brings it onto the skeleton of {}", query.display());
    let help = match error {
        MatchError::MissingJoint { .. } => retarget,
        MatchError::OtherParent { .. } | MatchError::OtherRest { .. } => {
            format!("{retarget}; --metric position needs the same names only")
        }
        MatchError::NoJoints => "compare places: --metric position".to_owned(),
        MatchError::TooFar { .. } => "compare rotations: --metric quaternion".to_owned(),
        _ => "see --help for what is possible".to_owned(),
    };
    Failure::file(path, error.to_string(), &help)
}
