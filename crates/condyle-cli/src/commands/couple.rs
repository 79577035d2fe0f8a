//! `condyle couple`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::Cell;
use condyle::couple::{CoupleOptions, Couplings, Found, couple, html};
use condyle::estimate::Take;
use condyle::formats::{read_bytes, read_files};
use condyle::maps::Curve;
use condyle::math::Angle;
use condyle::motion::Clip;
use condyle::rig::{AngleOf, MAX_BYTES, Rig, Rule, Source};
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use super::bound::{bind, print_misfits};
use super::motions::no_motion;
use super::outputs::{Results, keep_own_work};
use super::rig::rig_of;
use super::{Answer, print_text, write_and_report};
use crate::args::Couple;
use crate::output::{
    Failure, counted, decimals, new_table, number, print_warning, print_warnings, printable,
    progress, some_of, working,
};

pub(super) fn run(args: &Couple) -> Result<Answer, Failure> {
    let mut rig = rig_of(&args.limits.rig, args.reading.strict())?;
    if let Some(output) = args.output.as_deref().filter(|output| *output != Path::new("-")) {
        keep_edited(&mut rig, output)?;
        keep_own_work(output, &rig, args.replacing.force)?;
    }
    let options = args.reading.options();
    let bar = progress(args.files.len(), "reading");
    let mut clips: Vec<(PathBuf, Skeleton, Clip)> = Vec::new();
    let mut errors = Vec::new();
    for (path, read) in read_files(&args.files, &options) {
        bar.inc(1);
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        bar.suspend(|| print_warnings(&read.warnings));
        let mut file = read.file;
        let clip = file.clip.take().filter(|clip| clip.frame_count() > 0).ok_or_else(|| {
            let what = "there is no motion to learn from";
            no_motion(path, &file, what, "couple works on a skeleton with motion")
        })?;
        let bound = bind(&rig, &args.limits.rig, &file.skeleton, path)?;
        bar.suspend(|| print_misfits(&bound, &file.skeleton, path));
        clips.push((path.to_owned(), file.skeleton, clip));
    }
    bar.finish_and_clear();
    if !errors.is_empty() {
        return Err(Failure::Read(errors));
    }
    let takes: Vec<Take<'_>> =
        clips.iter().map(|(_, skeleton, clip)| Take { skeleton, clip }).collect();
    let sign = working("coupling");
    let how = CoupleOptions {
        false_share: args.false_share,
        threads: args.limits.threads(),
        ..CoupleOptions::default()
    };
    let found = couple(&takes, &rig, &how);
    sign.finish_and_clear();
    let warnings = found.warnings();
    warnings.iter().for_each(|warning| print_warning(warning));
    let kept = rig.update_couplings(found.found.iter().map(|f| f.coupling.clone()).collect());
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = clips.iter().map(|(path, ..)| name(path)).collect();
    let page = args.report.as_deref().map(|path| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (path, html(&some_of(&names), &found))
    });
    let text =
        if args.json { json_of(&found, &kept, &warnings) } else { text_of(args, &found, &kept) };
    let page = page.as_ref().map(|(path, page)| (*path, page.as_bytes()));
    match &args.output {
        Some(output) => {
            let rig = rig.write().map_err(|e| Failure::Rig(vec![e.with_file(output)]))?;
            write_and_report(output, &rig, page, &text)
        }
        None => {
            if let Some((path, page)) = page {
                Results::of(path, page).write()?;
            }
            print_text(&text)
        }
    }
}

/// Couplings that a person edited in the rig that is there stay.
fn keep_edited(rig: &mut Rig, output: &Path) -> Result<(), Failure> {
    let bytes = match read_bytes(output, MAX_BYTES as u64) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            let what = format!("is there and no rig document: {error}");
            return Err(Failure::file(output, what, "name another file, or remove it"));
        }
        Err(_) => return Ok(()),
    };
    let there = Rig::read(&bytes).map_err(|error| {
        let what = format!("is there and no rig document: {error}");
        Failure::file(output, what, "name another file, or remove it")
    })?;
    for of in there.rig.couplings.into_iter().filter(|of| of.source == Some(Source::Edited)) {
        if !rig.couplings.iter().any(|own| own.name == of.name) {
            rig.couplings.push(of);
        }
    }
    Ok(())
}

fn json_of(found: &Couplings, kept: &[String], warnings: &[String]) -> String {
    let couplings: Vec<Value> = found.found.iter().map(json_of_coupling).collect();
    let document = json!({
        "couplings": couplings,
        "kept": kept,
        "angles": found.angles,
        "still": found.still,
        "pairs": found.pairs,
        "untold": found.untold,
        "echoes": found.echoes,
        "single": found.single,
        "repeated_s": round(found.repeated_s),
        "samples": found.samples,
        "periods_s": found.periods_s,
        "warnings": warnings,
    });
    format!("{document:#}\n")
}

/// To as many digits as mean something, and zero without a sign.
fn round(value: f64) -> f64 {
    (1e4 * value).round() / 1e4 + 0.0
}

fn degrees(angle: Angle) -> f64 {
    round(angle.degrees())
}

fn json_of_coupling(found: &Found) -> Value {
    let of = &found.coupling;
    let side = |of: &AngleOf| json!({"joint": of.joint, "angle": of.angle.as_str()});
    let bands: Vec<Vec<[f64; 4]>> =
        found.fitted.iter().map(|fit| fit.band.iter().map(|at| at.map(round)).collect()).collect();
    let mut bands = bands.iter().map(|band| json!(band));
    let mut curve = |of: &Curve| {
        let mut value = match of {
            Curve::Linear { slope, offset } => {
                json!({"shape": "linear", "slope": slope, "offset": offset})
            }
            Curve::Polynomial(coefficients) => {
                json!({"shape": "polynomial", "coefficients": coefficients})
            }
            Curve::Points(points) => json!({"shape": "points", "points": points}),
            Curve::Spline(points) => json!({"shape": "spline", "points": points}),
        };
        value["band"] = bands.next().unwrap_or_default();
        value
    };
    let mut value = json!({
        "name": of.name,
        "active": side(&of.active),
        "passive": side(&of.passive),
        "explained": round(found.explained),
        "explained_by_chance": round(found.explained_by_chance),
        "taken_below": round(found.taken[0]),
        "taken_above": round(found.taken[1]),
        "taken_below_by_chance": round(found.taken_by_chance[0]),
        "taken_above_by_chance": round(found.taken_by_chance[1]),
        "seen_deg": of.seen.map(|ends| ends.map(degrees)),
        "uncertain_deg": of.uncertain.map(degrees),
        "false_share": of.false_share,
        "lasting": found.lasting,
        "by_periods": found.by_periods,
    });
    match &of.rule {
        Rule::Drive { curve: of_rule } => {
            value["does"] = json!("drive");
            value["curve"] = curve(of_rule);
            value["residual_deg"] = json!(of.residual.map(degrees));
        }
        Rule::Bound { lower, upper } => {
            value["does"] = json!("bound");
            for (key, bound) in [("lower", lower), ("upper", upper)] {
                if let Some(bound) = bound {
                    value[key] = curve(bound);
                }
            }
        }
    }
    value
}

fn text_of(args: &Couple, found: &Couplings, kept: &[String]) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} of {} angles that move: {}",
        counted(found.pairs, "pair", "pairs"),
        found.angles,
        counted(found.found.len(), "coupling", "couplings"),
    );
    if !found.found.is_empty() {
        let head = ["active", "does", "passive", "explains", "takes", "within", "known to"];
        let mut table = new_table(&head);
        for of in &found.found {
            let percent = |share: f64| decimals(100.0 * share, 0) + " %";
            let degrees = |angle: Option<Angle>| {
                angle.map_or(String::new(), |a| decimals(a.degrees(), 1) + "°")
            };
            let drives = matches!(of.coupling.rule, Rule::Drive { .. });
            let (does, takes) = match &of.coupling.rule {
                Rule::Drive { .. } => ("drives", String::new()),
                Rule::Bound { lower: None, .. } => ("bounds above", percent(of.taken[1])),
                Rule::Bound { upper: None, .. } => ("bounds below", percent(of.taken[0])),
                Rule::Bound { .. } => ("bounds", percent(of.taken[0] + of.taken[1])),
            };
            table.add_row(vec![
                Cell::new(printable(&of.coupling.active.to_string())),
                Cell::new(does),
                Cell::new(printable(&of.coupling.passive.to_string())),
                number(if drives { percent(of.explained) } else { String::new() }),
                number(takes),
                number(degrees(of.coupling.residual)),
                number(format!("±{}", degrees(of.coupling.uncertain))),
            ]);
        }
        let _ = writeln!(text, "{table}");
        let _ = writeln!(
            text,
            "explains: of the passive angle's variance; takes: of its range, on average;\n\
             within: what a curve leaves"
        );
    }
    let left_out = [
        (found.untold, "could not be tested"),
        (found.single, "hang on one take"),
        (found.echoes, "follow from others"),
    ];
    let left_out: Vec<String> = left_out
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{} that {why}", counted(*count, "pair", "pairs")))
        .collect();
    if !left_out.is_empty() {
        let _ = writeln!(text, "left out: {}", left_out.join(", "));
    }
    if !kept.is_empty() {
        let kept: Vec<&str> = kept.iter().map(String::as_str).collect();
        let _ = writeln!(text, "kept, as edited: {}", some_of(&kept));
    }
    if let Some(path) = &args.report {
        let _ = writeln!(text, "The pictures are in {}.", path.display());
    }
    text
}
