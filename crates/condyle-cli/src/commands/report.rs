//! The page of an estimate: `condyle estimate --report`, and that of the demo.

use std::path::Path;

use condyle::anatomy::Anatomy;
use condyle::estimate::{BallModel, Estimate as Found, EstimateOptions, Method, Noise, Outliers};
use condyle::report::{About, Take, html};
use condyle::rig::Rig;
use condyle::skeleton::Skeleton;
use condyle::synth::Synth;

use super::estimate::Moving;
use crate::args::Estimate;
use crate::output::hundredths;

/// The page for a rig as it is written; `skeletons` are those that the clips count from.
pub(super) fn of_estimate(
    rig: &Rig,
    found: &Found,
    (clips, skeletons): (&[Moving], &[Skeleton]),
    anatomy: Option<&Anatomy>,
    args: &Estimate,
) -> String {
    let file_name = |path: &Path| match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    };
    let names: Vec<String> = clips.iter().map(|c| c.path.display().to_string()).collect();
    let title = match clips {
        [] => String::new(),
        [one] => file_name(&one.path),
        [first, others @ ..] => format!("{} and {} more", file_name(&first.path), others.len()),
    };
    let mut facts = in_words(&args.how.options(), found);
    if let Some(samples) = args.how.sampling.samples {
        facts.push(("samples of each file".to_owned(), samples.to_string()));
    }
    if let Some(bind) = &args.bind {
        facts.push(("bind pose".to_owned(), bind.display().to_string()));
    }
    facts.push(("rig".to_owned(), args.output.display().to_string()));
    let takes: Vec<Take<'_>> = names
        .iter()
        .zip(skeletons)
        .zip(clips)
        .map(|((name, skeleton), c)| Take { name, skeleton, clip: &c.clip })
        .collect();
    let warnings = clips.iter().flat_map(|c| &c.warnings).chain(&found.warnings).cloned().collect();
    let about = About { title, facts, warnings };
    // A rig that was there may have more joints, or others first.
    let is_first = clips.first().is_some_and(|c| c.skeleton.same_names(&rig.skeleton));
    let by_rest = if is_first { None } else { Anatomy::of(&rig.skeleton) };
    html(rig, &takes, anatomy.filter(|_| is_first).or(by_rest.as_ref()), &about)
}

/// How it was estimated.
fn in_words(options: &EstimateOptions, found: &Found) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |what: &str, how: String| facts.push((what.to_owned(), how));
    if options.method == Method::Paper {
        add("method", "paper".to_owned());
        return facts;
    }
    add("method", "robust".to_owned());
    let given = if options.noise == Noise::Auto { "as the motion shows" } else { "given" };
    add("noise about each axis", format!("{}, {given}", hundredths(found.noise)));
    let model = match options.ball {
        BallModel::Auto => "ellipse or polygon",
        BallModel::Box => "box of Euler angles",
        BallModel::Ellipse => "ellipse",
        BallModel::Polygon => "polygon",
    };
    add("ball joints", model.to_owned());
    let outliers = if options.outliers == Outliers::Keep { "kept" } else { "left out" };
    add("glitches", outliers.to_owned());
    if options.coverage < 1.0 {
        add("share of the samples inside", options.coverage.to_string());
    }
    if options.raw {
        add("samples", "raw, with their noise".to_owned());
    }
    if options.margin.radians() > 0.0 {
        add("margin", hundredths(options.margin));
    }
    facts
}

/// The page of the demo.
pub(super) fn of_demo(rig: &Rig, found: &Found, synth: &Synth) -> String {
    let mut facts = in_words(&EstimateOptions::default(), found);
    facts.push(("noise put in".to_owned(), hundredths(synth.noise)));
    let title = "The demo's figure".to_owned();
    let about = About { title, facts, warnings: found.warnings.clone() };
    let take = Take { name: "figure.bvh", skeleton: &synth.skeleton, clip: &synth.clip };
    html(rig, &[take], Anatomy::of(&synth.skeleton).as_ref(), &about)
}
