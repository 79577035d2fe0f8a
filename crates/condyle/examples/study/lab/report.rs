//! What came out, as tables for people and numbers for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Trial;
use super::curve::{FEW, Point, at, curve};
use super::methods::Model;
use super::poses::KINDS;
use super::subject::Subject;

/// The shares of false rejects to compare at.
pub(crate) const LEVELS: [f64; 6] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05];

/// Parts of the body in the order of the tables.
const GROUPS: [&str; 5] =
    ["hips", "knees and feet", "back and neck", "shoulders", "elbows and hands"];

/// The curves of all models over all joints, and over those of each part of the body.
#[derive(Debug)]
pub(crate) struct Study<'a> {
    pub(crate) subjects: &'a [Subject],
    pub(crate) models: &'a [Model],
    pub(crate) trials: &'a [Trial],
    /// Of each model.
    pub(crate) all: Vec<Vec<Point>>,
    groups: Vec<(&'static str, Vec<Vec<Point>>)>,
}

impl<'a> Study<'a> {
    pub(crate) fn new(subjects: &'a [Subject], models: &'a [Model], trials: &'a [Trial]) -> Self {
        let over = |group: Option<&str>| -> Vec<Vec<Point>> {
            let chosen = trials.iter().filter(|t| group.is_none_or(|g| g == t.group));
            (0..models.len()).map(|m| curve(&chosen, m, FEW)).collect()
        };
        let there = |group: &&str| trials.iter().any(|t| t.group == *group);
        let groups = GROUPS.into_iter().filter(there).map(|g| (g, over(Some(g)))).collect();
        Self { subjects, models, trials, all: over(None), groups }
    }

    /// Tables in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from("# Leave one subject out\n\n");
        let _ = self.write_markdown(&mut text);
        text
    }

    fn write_markdown(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "False accepts in per cent, at equal false rejects.\n")?;
        self.table(text, &self.all, |p| percent(p.accepts))?;
        for (k, kind) in KINDS.iter().enumerate() {
            writeln!(text, "\n## {kind}\n")?;
            self.table(text, &self.all, |p| percent(p.kinds[k]))?;
        }
        for (group, curves) in &self.groups {
            writeln!(text, "\n## {group}\n")?;
            self.table(text, curves, |p| percent(p.accepts))?;
        }
        writeln!(text, "\n## If the fewest poses count too\n")?;
        let every: Vec<Vec<Point>> =
            (0..self.models.len()).map(|m| curve(&self.trials.iter(), m, 1)).collect();
        self.table(text, &every, |p| percent(p.accepts))?;

        writeln!(text, "\n## Who is outside of the first model\n")?;
        writeln!(text, "The shares of all false rejects, of those that have the most.\n")?;
        writeln!(text, "| false rejects | subject and joint: share |\n| --- | --- |")?;
        for level in LEVELS {
            let Some(point) = self.all.first().and_then(|curve| at(curve, level)) else { continue };
            let first = |t: &Trial| t.scores.first().map_or(0.0, |s| s.rejects(point.margin));
            let sum: f64 = self.trials.iter().map(first).sum();
            let mut most: Vec<(f64, &Trial)> = self.trials.iter().map(|t| (first(t), t)).collect();
            most.sort_by(|a, b| b.0.total_cmp(&a.0));
            let of = |(share, t): &(f64, &Trial)| {
                let subject = &self.subjects[t.subject];
                let joint = &subject.joints[t.joint].name;
                format!("{} {joint} {} %", subject.name, percent(share / sum))
            };
            let listed: Vec<String> = most.iter().take(6).map(of).collect();
            writeln!(text, "| {} % | {} |", 100.0 * level, listed.join(", "))?;
        }

        writeln!(text, "\n## How much it depends on one subject\n")?;
        writeln!(text, "The least and the most when any one of them is not tested.\n")?;
        let without: Vec<Vec<Vec<Point>>> = (0..self.subjects.len())
            .map(|who| {
                let chosen = self.trials.iter().filter(|t| t.subject != who);
                (0..self.models.len()).map(|m| curve(&chosen, m, FEW)).collect()
            })
            .collect();
        self.rows(text, |m, level| {
            let found = without.iter().filter_map(|curves| at(&curves[m], level));
            let accepts: Vec<f64> = found.map(|p| p.accepts).collect();
            let least = accepts.iter().copied().fold(f64::INFINITY, f64::min);
            let most = accepts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (!accepts.is_empty()).then(|| format!("{} to {}", percent(least), percent(most)))
        })?;
        writeln!(text, "\n## The margins, in degrees\n")?;
        self.table(text, &self.all, |p| format!("{:.1}", p.margin))?;

        writeln!(text, "\n## Without a margin\n\n| | false rejects | false accepts |")?;
        writeln!(text, "| --- | --- | --- |")?;
        for (model, curve) in self.models.iter().zip(&self.all) {
            if let Some(p) = zero(curve) {
                let (r, a) = (percent(p.rejects), percent(p.accepts));
                writeln!(text, "| {} | {r} | {a} |", model.name)?;
            }
        }

        writeln!(text, "\n## Subjects\n\n| subject | takes | joint-frames | left out |")?;
        writeln!(text, "| --- | --- | --- | --- |")?;
        for subject in self.subjects {
            let (all, bad) = subject.counts();
            let (name, takes) = (&subject.name, subject.motions.len());
            let wrong: Vec<String> = subject
                .wrong
                .iter()
                .map(|(joint, take)| format!("{joint} in take {take}"))
                .collect();
            let which =
                if wrong.is_empty() { String::new() } else { format!(": {}", wrong.join(", ")) };
            writeln!(text, "| {name} | {takes} | {all} | {bad}{which} |")?;
        }

        writeln!(text, "\n## Implausible poses\n")?;
        writeln!(
            text,
            "How many there are over all subjects, of how many drawn; in brackets, how many of the \
             {} subjects have at least {FEW} of them and count.\n",
            self.subjects.len()
        )?;
        writeln!(text, "| joint | {} |\n| --- | --- | --- | --- |", KINDS.join(" | "))?;
        let joints = self.subjects.first().map_or(&[][..], |s| s.joints.as_slice());
        for (j, joint) in joints.iter().enumerate() {
            let mine = || self.trials.iter().filter(|t| t.joint == j);
            let cell = |k: usize| {
                let drawn: usize = mine().map(|t| t.drawn[k]).sum();
                if drawn == 0 {
                    return String::from("none");
                }
                let left: usize = mine().map(|t| t.left[k]).sum();
                let count = mine().filter(|t| t.left[k] >= FEW).count();
                format!("{left} of {drawn} ({count})")
            };
            writeln!(text, "| {} | {} | {} | {} |", joint.name, cell(0), cell(1), cell(2))?;
        }
        Ok(())
    }

    fn table(
        &self,
        text: &mut String,
        curves: &[Vec<Point>],
        cell: impl Fn(&Point) -> String,
    ) -> std::fmt::Result {
        self.rows(text, |m, level| at(&curves[m], level).map(|p| cell(&p)))
    }

    /// A row for each model, a column for each level.
    fn rows(
        &self,
        text: &mut String,
        cell: impl Fn(usize, f64) -> Option<String>,
    ) -> std::fmt::Result {
        let heads: Vec<String> = LEVELS.iter().map(|l| format!("{} %", 100.0 * l)).collect();
        writeln!(text, "| false rejects | {} |", heads.join(" | "))?;
        writeln!(text, "| --- |{}", " --- |".repeat(LEVELS.len()))?;
        for (m, model) in self.models.iter().enumerate() {
            let cells = LEVELS.map(|level| cell(m, level).unwrap_or_else(|| "–".to_owned()));
            writeln!(text, "| {} | {} |", model.name, cells.join(" | "))?;
        }
        Ok(())
    }

    /// The same numbers and every whole degree of the curves.
    pub(crate) fn json(&self) -> Value {
        let point = |p: &Point| {
            json!({
                "margin_deg": number(p.margin, 1e3),
                "false_rejects": number(p.rejects, 1e6),
                "false_accepts": number(p.accepts, 1e6),
                "by_kind": p.kinds.map(|k| number(k, 1e6)),
            })
        };
        let curves = |curves: &[Vec<Point>]| -> Value {
            let one = |(model, curve): (&Model, &Vec<Point>)| {
                let levels: Vec<Value> = LEVELS
                    .iter()
                    .map(|l| at(curve, *l).map_or(Value::Null, |p| point(&p)))
                    .collect();
                let whole: Vec<Value> = curve.iter().step_by(10).map(point).collect();
                json!({ "model": model.name, "at_levels": levels, "curve": whole })
            };
            self.models.iter().zip(curves).map(one).collect()
        };
        let groups: Value = self
            .groups
            .iter()
            .map(|(name, of)| json!({ "group": name, "models": curves(of) }))
            .collect();
        json!({ "levels": LEVELS, "kinds": KINDS, "all": curves(&self.all), "groups": groups })
    }
}

fn zero(curve: &[Point]) -> Option<&Point> {
    curve.iter().min_by(|a, b| a.margin.abs().total_cmp(&b.margin.abs()))
}

fn percent(share: f64) -> String {
    if share.is_nan() { "–".to_owned() } else { format!("{:.1}", 100.0 * share) }
}

fn number(x: f64, units: f64) -> Value {
    if x.is_finite() { json!((x * units).round() / units) } else { Value::Null }
}
