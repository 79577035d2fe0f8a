//! `condyle match`.

use std::fmt::Write as _;
use std::io::Write as _;

use comfy_table::Cell;
use condyle::edit::{Features, MatchError, Query, SearchOptions, best_matches};
use condyle::skeleton::{Skeleton, names_near};
use serde_json::json;

use super::Answer;
use super::motions::{Motion, at_rate, read_motions};
use crate::args::{Comparing, Match};
use crate::output::{Failure, counted, new_table, number, some_of, working};

pub(super) fn run(args: &Match) -> Result<Answer, Failure> {
    let motions = read_motions(&args.files, &args.reading.options(), 1)?;
    let (query, places) = match motions.as_slice() {
        [one] => (one, std::slice::from_ref(one)),
        [first, rest @ ..] => (first, rest),
        [] => return Err(Failure::usage("no motion", "give one to look for")),
    };
    let count = query.clip.frame_count();
    let (first, last) = match args.frames {
        Some(span) => (span.first, span.last.unwrap_or(count - 1)),
        None if places.len() == 1 && motions.len() == 1 => {
            let what = "there is one motion, and all of it is looked for in itself";
            return Err(Failure::usage(what, "say which frames: --frames A..B, or add motions"));
        }
        None => (0, count - 1),
    };
    if last >= count || first > last {
        let what = format!("frames {first} to {last} are asked for, and there are {count}");
        return Err(Failure::file(&query.path, what, "frames count from 0"));
    }
    check_names(&query.file.skeleton, &args.comparing)?;
    let sign = working("searching");
    let own = Features::of(&query.file.skeleton, &query.clip, args.comparing.metric())
        .map_err(|e| failed(&e, query))?;
    let mut found_in = Vec::new();
    for place in places {
        let clip = at_rate(&place.path, &place.clip, &query.clip)?;
        let clip = clip.as_ref().unwrap_or(&place.clip);
        found_in.push(own.like(&place.file.skeleton, clip).map_err(|e| failed(&e, place))?);
    }
    let asked = weighted(Query::new(&own, first..last + 1), &args.comparing)
        .map_err(|e| failed(&e, query))?;
    let options = SearchOptions { count: args.count, spacing: args.spacing, ..Default::default() };
    let all: Vec<&Features> = found_in.iter().collect();
    let matches = best_matches(&asked, &all, &options).map_err(|e| failed(&e, query))?;
    sign.finish_and_clear();
    let unit = args.comparing.metric().unit();
    let path = |clip: usize| places[clip].path.display().to_string();
    let report = if args.json {
        let of = |m: &condyle::edit::Match| json!({ "path": path(m.clip), "frame": m.frame, "distance": m.distance });
        let matches: Vec<_> = matches.iter().map(of).collect();
        let frames = [first, last];
        format!("{:#}\n", json!({ "matches": matches, "unit": unit, "frames": frames }))
    } else {
        let mut table = new_table(&["motion", "frame", "distance"]);
        for m in &matches {
            let distance =
                format!("{:.*} {unit}", if unit == "metres" { 4 } else { 2 }, m.distance);
            table.add_row(vec![Cell::new(path(m.clip)), number(m.frame), number(distance)]);
        }
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{}: {} from {first} on, compared with {}",
            query.path.display(),
            counted(last + 1 - first, "frame", "frames"),
            counted(places.len(), "motion", "motions")
        );
        let _ = writeln!(text, "{table}");
        text
    };
    let mut out = std::io::stdout().lock();
    out.write_all(report.as_bytes())?;
    out.flush()?;
    Ok(if matches.is_empty() { Answer::No } else { Answer::Yes })
}

/// A query with the weights that were asked for.
pub(super) fn weighted<'a>(
    query: Result<Query<'a>, MatchError>,
    comparing: &Comparing,
) -> Result<Query<'a>, MatchError> {
    query?.with_joint_weights(|name| comparing.weight(name))
}

/// That every joint named for the comparison is there.
pub(super) fn check_names(skeleton: &Skeleton, comparing: &Comparing) -> Result<(), Failure> {
    let missing = comparing.named().find(|name| skeleton.find(name).is_none());
    missing.map_or(Ok(()), |name| Err(no_joint(skeleton, "the motion has", name)))
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

pub(super) fn failed(error: &MatchError, motion: &Motion) -> Failure {
    Failure::file(&motion.path, error.to_string(), "see condyle match --help")
}
