//! What an estimate says about the body: left against right, and against published ranges.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use condyle::anatomy::{
    AnatomicalJoint, Anatomy, Asymmetry, Beyond, BodySide, Explored, ExploredAngle,
};
use condyle::estimate::Pair;
use condyle::math::Angle;
use condyle::motion::Clip;
use condyle::presets::Status;
use condyle::rig::RigJoints;
use condyle::skeleton::{JointIndex, Skeleton};
use serde_json::{Value, json};

use super::estimate::{Moving, WIDTH};
use super::figures::degrees;
use crate::output::{Failure, counted, json_degrees, printable, some_of, wrapped};

/// Left and right that differ by less are not told, degrees.
const DIFFERENT: f64 = 5.0;

/// Nor are angles that are out of a published range by less.
const BEYOND: f64 = 10.0;

/// What stars mean.
const DOUBTFUL: &str = "  * constructed from published values, or recalled and not verified: docs/presets.md has which";

/// So many lines a section has.
const LINES: usize = 8;

/// Which joint of the first clip moves as which when the body is seen in a mirror.
pub(super) fn pairs<'a>(
    anatomy: Option<&'a Anatomy>,
    first: &Moving,
) -> Result<Vec<Pair<'a>>, Failure> {
    let failed = |what: &str| {
        let help = "leave --symmetrise away, or rename the joints: docs/anatomy.md has the names";
        Failure::file(&first.path, what, help)
    };
    let anatomy = anatomy.ok_or_else(|| {
        failed("the names of its joints do not tell left from right: they are in no table")
    })?;
    let images = anatomy.images().filter_map(|(to, from)| {
        let (joint, counterpart) = (to.joint()?, from.joint()?);
        Some(Pair::new(joint, counterpart, |local| to.image_of(from, local)))
    });
    let pairs: Vec<Pair<'_>> = images.collect();
    if pairs.is_empty() {
        return Err(failed(
            "its rest pose is none of a standing person, so that left cannot be mirrored to right",
        ));
    }
    Ok(pairs)
}

/// What was symmetrised and what was not.
pub(super) fn symmetrised(anatomy: &Anatomy, skeleton: &Skeleton) -> String {
    let done: Vec<JointIndex> = anatomy.images().filter_map(|(to, _)| to.joint()).collect();
    let left = skeleton.indices().filter(|j| skeleton.parent(*j).is_some() && !done.contains(j));
    let left: Vec<&str> = left.map(|j| skeleton[j].name.as_str()).collect();
    let others = match left.as_slice() {
        [] => String::new(),
        names => format!("; as they are: {}", some_of(names)),
    };
    let joints = counted(done.len(), "joint", "joints");
    format!("Symmetrised: {joints}, by the names of {}{others}.", printable(anatomy.title()))
}

/// What is known of the body.
pub(super) struct Body<'a> {
    skeleton: &'a Skeleton,
    joints: &'a RigJoints,
    symmetry: Vec<([JointIndex; 2], Asymmetry)>,
    explored: Vec<Explored<'a>>,
}

impl<'a> Body<'a> {
    pub(super) fn of(
        anatomy: Option<&'a Anatomy>,
        skeleton: &'a Skeleton,
        joints: &'a RigJoints,
        clips: &[(&Skeleton, &Clip)],
        threads: NonZeroUsize,
    ) -> Self {
        let symmetry = anatomy.map(|a| a.asymmetries(skeleton, joints, threads));
        let explored = anatomy.map(|a| a.explored(skeleton, clips, joints, threads));
        let (symmetry, explored) = (symmetry.unwrap_or_default(), explored.unwrap_or_default());
        Self { skeleton, joints, symmetry, explored }
    }

    fn name(&self, joint: JointIndex) -> &str {
        self.skeleton.joints().get(joint.get()).map_or("", |joint| joint.name.as_str())
    }

    /// The share of all rotations that a joint may take.
    fn volume(&self, joint: JointIndex) -> Option<f64> {
        let limit = &self.joints.get(self.name(joint))?.limit;
        limit.prepare().ok().map(|limit| limit.volume())
    }

    /// `left knee (LeftLeg)`.
    fn title(&self, joint: &AnatomicalJoint) -> String {
        let own = joint.joint().map(|j| printable(self.name(j))).unwrap_or_default();
        format!("{} ({own})", in_words(joint))
    }

    /// The angles with a published range.
    fn published(&self) -> impl Iterator<Item = (&Explored<'a>, &ExploredAngle)> {
        let all = self.explored.iter().flat_map(|e| e.angles.iter().map(move |angle| (e, angle)));
        all.filter(|(_, angle)| angle.published.is_some())
    }

    pub(super) fn json(&self) -> [(String, Value); 2] {
        let symmetry = self.symmetry.iter().map(|([left, right], by)| {
            json!({
                "left": self.name(*left),
                "right": self.name(*right),
                "left_beyond_deg": json_degrees(by.left_beyond),
                "right_beyond_deg": json_degrees(by.right_beyond),
                "left_volume": self.volume(*left),
                "right_volume": self.volume(*right),
            })
        });
        let norms = self.published().filter_map(|(of, angle)| {
            let (range, coverage) = angle.published.as_ref()?;
            let chain: Vec<&str> = of.joint.chain.iter().map(|j| self.name(*j)).collect();
            Some(json!({
                "what": in_words(of.joint),
                "joints": chain,
                "angle": angle.name.positive,
                "lowest_deg": angle.seen.map(|[lowest, _]| json_degrees(lowest)),
                "highest_deg": angle.seen.map(|[_, highest]| json_degrees(highest)),
                "hole_deg": angle.hole.map(|hole| hole.map(json_degrees)),
                "past_half_turn": angle.passes_half_turn(),
                "moves": angle.moves,
                "counted": (1e4 * angle.counted).round() / 1e4,
                "published": {
                    "min_deg": json_degrees(range.low),
                    "max_deg": json_degrees(range.high),
                    "min_source": range.low_source.credit(),
                    "max_source": range.high_source.credit(),
                    "min_status": range.low_source.status.as_str(),
                    "max_status": range.high_source.status.as_str(),
                },
                "explored": (1e4 * coverage.share).round() / 1e4,
                "below_deg": json_degrees(coverage.below),
                "above_deg": json_degrees(coverage.above),
            }))
        });
        [("symmetry".to_owned(), symmetry.collect()), ("norms".to_owned(), norms.collect())]
    }

    /// Sections of the text; with `norms` all that is known of published ranges.
    pub(super) fn text(&self, norms: bool) -> String {
        let mut text = String::new();
        self.add_symmetry(&mut text);
        let mut starred = self.add_beyond(&mut text);
        if norms {
            starred |= self.add_norms(&mut text);
        }
        if starred {
            let _ = writeln!(text, "{DOUBTFUL}");
        }
        text
    }

    fn add_symmetry(&self, text: &mut String) {
        let most = |by: &Asymmetry| by.left_beyond.degrees().max(by.right_beyond.degrees());
        let mut differ: Vec<_> =
            self.symmetry.iter().filter(|(_, by)| most(by) > DIFFERENT).collect();
        differ.sort_by(|a, b| most(&b.1).total_cmp(&most(&a.1)));
        let lines: Vec<String> = differ
            .iter()
            .map(|([left, right], by)| {
                let names = [left, right].map(|j| printable(self.name(*j)));
                let beyond = [("left", by.left_beyond), ("right", by.right_beyond)];
                let told = beyond.iter().filter(|(_, by)| by.degrees() > 0.05);
                let told: Vec<String> = told
                    .map(|(side, by)| format!("{side} goes {}° farther", degrees(*by)))
                    .collect();
                format!("  {}, {}: {}", names[0], names[1], told.join(", "))
            })
            .collect();
        add(text, "Left and right differ (--symmetrise makes them one):", &lines);
    }

    /// Both ends of an angle, if both are. Returns whether a star is among what is told.
    fn add_beyond(&self, text: &mut String) -> bool {
        let ends =
            self.published().flat_map(|(of, angle)| angle.beyond().map(move |end| (of, end)));
        let mut far: Vec<(&Explored<'a>, Beyond<'_>)> =
            ends.filter(|(_, end)| end.by.degrees() > BEYOND).collect();
        far.sort_by(|a, b| b.1.by.radians().total_cmp(&a.1.by.radians()));
        let lines: Vec<String> = far
            .iter()
            .map(|(of, end)| {
                let known = degrees(end.published);
                let seen = match end.past_half_turn {
                    true => "past half a turn".to_owned(),
                    false => format!("{}°", degrees(end.seen)),
                };
                let star = star(end.source.status.is_doubtful());
                // Only who: titles and editions are in the JSON.
                let who = end.source.who.split(',').next().unwrap_or_default();
                let ours = match end.source.status {
                    Status::Constructed => "constructed from ",
                    _ => "",
                };
                let (title, name) = (self.title(of.joint), end.name);
                format!("  {title}: {name} {seen}, published {known}°{star} ({ours}{who})")
            })
            .collect();
        add(text, "Beyond what is published of people (docs/anatomy.md has reasons):", &lines);
        far.iter().take(LINES).any(|(_, end)| end.source.status.is_doubtful())
    }

    /// Returns whether a star is among them.
    fn add_norms(&self, text: &mut String) -> bool {
        let _ = writeln!(text, "\nExplored of the published ranges, in degrees:");
        if self.published().next().is_none() {
            let _ = writeln!(text, "  none: no table has the names of the joints");
        }
        for of in &self.explored {
            let angles: Vec<String> = of.angles.iter().filter_map(of_published).collect();
            if !angles.is_empty() {
                let line = format!("  {}: {}", self.title(of.joint), angles.join("; "));
                let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 6));
            }
        }
        let moving = self.published().filter(|(_, angle)| angle.seen.is_some() && angle.moves);
        let ranges = moving.filter_map(|(_, angle)| angle.published.as_ref());
        ranges.flat_map(|(range, _)| range.is_doubtful()).any(|doubtful| doubtful)
    }
}

/// `flexion 0..63 of 0..140, 45 %`, and what to know about it.
fn of_published(angle: &ExploredAngle) -> Option<String> {
    let (range, coverage) = angle.published.as_ref()?;
    let name = angle.name.positive;
    let note = angle.note();
    let (Some(seen), true) = (angle.seen, angle.moves) else {
        return Some(format!("{name} {}", note.unwrap_or_default()));
    };
    let whole = |angle: Angle| angle.degrees().round() + 0.0;
    let [from, to] = seen.map(whole);
    let [low, high] = range.is_doubtful().map(star);
    let known = format!("{}{low}..{}{high}", whole(range.low), whole(range.high));
    // A line is not broken before the sign.
    let share = format!("{:.0}\u{a0}%", 100.0 * coverage.share);
    let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
    Some(format!("{name} {from}..{to} of {known}, {share}{note}"))
}

/// A heading and the first of some lines, if there are any.
fn add(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{heading}");
    for line in lines.iter().take(LINES) {
        let _ = writeln!(text, "{}", wrapped(line, WIDTH, 6));
    }
    if lines.len() > LINES {
        let _ = writeln!(text, "  and {} more", lines.len() - LINES);
    }
}

/// `left knee`; those in the middle have no side.
fn in_words(joint: &AnatomicalJoint) -> String {
    match joint.side {
        BodySide::Middle => joint.what.as_str().to_owned(),
        side => format!("{} {}", side.as_str(), joint.what.as_str()),
    }
}

/// What marks a published value that is doubtful.
const fn star(doubtful: bool) -> &'static str {
    if doubtful { "*" } else { "" }
}
