//! `condyle limits`.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::Path;

use comfy_table::ContentArrangement;
use condyle::limits::Limit;
use condyle::math::{Angle, Arc};
use condyle::picture::{self, Characters, Figures};
use condyle::presets::Side;
use condyle::rig::{End, Rig, RigError, RigJoint, Source};
use condyle::skeleton::Skeleton;
use serde_json::{Value, json};

use super::figures::{degrees, of_arc, percent, range, short_arc, short_range, twist};
use super::outputs::{Results, keep_own_work};
use super::rig::{find, joints_of, preset, preset_list, rig_of};
use super::{Answer, print_text};
use crate::args::{LimitsPreset, LimitsShow};
use crate::output::{Failure, json_degrees, message, new_table, printable, wrapped};
use crate::stdout::stdout;

/// Columns of the picture of a region.
const COLUMNS: usize = 48;

/// Columns of text.
const WIDTH: usize = 100;

/// A joint and its figures.
pub(super) type Row<'a> = (&'a str, &'a RigJoint, Figures);

pub(super) fn show(args: &LimitsShow) -> Result<Answer, Failure> {
    if let Some(output) = &args.output {
        check_name(output, args.json)?;
    }
    let mut rig = rig_of(&args.rig, args.strict)?;
    rig.settle();
    let joints = joints_of(&rig);
    let one = args.joint.as_deref().map(|name| find(&joints, name)).transpose()?;
    let chosen = one.map_or(joints.as_slice(), std::slice::from_ref);

    let told = |name: &str, error: &condyle::limits::LimitError| -> RigError {
        rig.limit_error(name, error).with_file(&args.rig)
    };
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut errors = Vec::new();
    for (name, joint) in chosen {
        match Figures::of(&joint.limit, joint.center) {
            Ok(figures) => rows.push((name, joint, figures)),
            Err(error) => errors.push(told(name, &error)),
        }
    }
    if !errors.is_empty() {
        return Err(Failure::Rig(errors));
    }
    if let Some(output) = &args.output {
        let picture = draw(&args.rig, &rig, one)?;
        Results::of(output, picture.as_bytes()).write()?;
        if !args.json || output == Path::new("-") {
            return Ok(Answer::Yes);
        }
    }
    if args.json {
        let joints: serde_json::Map<String, Value> =
            rows.iter().map(|row| (row.0.to_owned(), json_of(row))).collect();
        let path = args.rig.display().to_string();
        let text = format!("{:#}\n", json!({ "path": path, "joints": joints }));
        return print_text(&text);
    }
    let mut out = stdout()?;
    match (one, rows.as_slice()) {
        (Some(_), [row]) => out.write_all(message(&detail(row, characters())).as_bytes())?,
        _ => writeln!(out, "{}", message(&table(&rows)))?,
    }
    out.flush()?;
    Ok(Answer::Yes)
}

pub(super) fn print_preset(args: &LimitsPreset) -> Result<Answer, Failure> {
    // `clap` knows the names.
    let Some(preset) = preset(&args.name) else {
        let what = format!("there is no preset {:?}", args.name);
        return Err(Failure::usage(what, &format!("presets are {}", preset_list())));
    };
    if args.left && preset.side == Side::Middle {
        let what = format!("{} is not one of a pair", preset.name);
        return Err(Failure::usage(what, "leave --left out"));
    }
    let name = args.joint.as_deref().unwrap_or(preset.name);
    let failed = |error| Failure::Rig(vec![error]);
    let entry = match args.left {
        false => preset.entry(),
        true => {
            let rig = Rig::default();
            preset.left_entry().map_err(|e| failed(rig.limit_error(name, &e)))?
        }
    };
    let rig = Rig::new(Skeleton::new(), [(name, entry)].into_iter().collect());
    let text = rig.write().map_err(failed)?;
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    keep_own_work(output, &rig, args.replacing.force)?;
    Results::of(output, text).write()?;
    Ok(Answer::Yes)
}

fn check_name(output: &Path, json: bool) -> Result<(), Failure> {
    if output == Path::new("-") {
        if json {
            let what = "picture and JSON cannot both go to standard output";
            return Err(Failure::usage(what, "give the picture a name, or leave --json out"));
        }
        return Ok(());
    }
    if output.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let what = format!("{} has not the extension of a picture", output.display());
    Err(Failure::usage(what, "pictures are SVG: name it FILE.svg"))
}

fn draw(path: &Path, rig: &Rig, one: Option<&(&str, RigJoint)>) -> Result<String, Failure> {
    let drawn = match one {
        Some((name, joint)) => {
            picture::of_joint(name, joint).map_err(|e| rig.limit_error(name, &e))
        }
        None => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            picture::of_rig(&name, rig)
        }
    };
    drawn.map_err(|e| Failure::Rig(vec![e.with_file(path)]))
}

/// Braille where it will be shown as such.
fn characters() -> Characters {
    let first = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let unicode = first.is_some_and(|value| {
        let value = value.to_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    });
    if unicode && std::io::stdout().is_terminal() { Characters::Braille } else { Characters::Ascii }
}

pub(super) fn json_of((_, joint, figures): &Row<'_>) -> Value {
    let mut value = json!({
        "kind": joint.kind.as_str(),
        "shape": figures.shape,
        "rest_inside": figures.rest_inside,
        "rest_excess_deg": json_degrees(figures.rest_excess),
        "source": joint.source.map(Source::as_str),
        "edited_since": joint.is_edited_since(),
        "confidence": joint.confidence,
    });
    if !figures.arcs.is_empty() {
        value["arcs"] = figures
            .arcs
            .iter()
            .map(|(name, arc)| {
                let (min, max) = (json_degrees(arc.min()), json_degrees(arc.max()));
                json!({ "name": name, "min_deg": min, "max_deg": max })
            })
            .collect();
    }
    if let Some(swing) = &figures.swing {
        value["swing"] = json!({
            "shape": swing.shape,
            "area_sr": swing.area_sr,
            "share": swing.share(),
            "cone_deg": json_degrees(swing.cone()),
            "x_deg": swing.x.map(json_degrees),
            "y_deg": swing.y.map(json_degrees),
            "farthest_deg": json_degrees(swing.farthest),
        });
        value["twist"] = json!({
            "shape": swing.twist_shape,
            "min_deg": json_degrees(swing.twist.min()),
            "max_deg": json_degrees(swing.twist.max()),
            "narrowest_deg": json_degrees(swing.twist_width[0]),
            "widest_deg": json_degrees(swing.twist_width[1]),
        });
    }
    if !joint.ends.is_empty() {
        let ends = figures.in_turn(&joint.ends, |arc| [arc.min(), arc.max()]);
        value["ends"] = ends.iter().map(json_of_end).collect();
    }
    value
}

fn json_of_end(end: &End) -> Value {
    let mut value = json!({
        "of": end.of.as_str(),
        "at_deg": json_degrees(end.at),
        "visits": end.visits,
    });
    if let Some(reached) = end.reached {
        value["reached_deg"] = json!(json_degrees(reached));
    }
    if let Some(interval) = end.interval {
        value["interval_deg"] = json!(interval.map(json_degrees));
    }
    if let Some(open) = end.open {
        value["open"] = json!(open.as_str());
    }
    value
}

/// A limit that ends so far from what the motion came to is shown with it.
const APART_DEG: f64 = 1.0;

/// How well an end is known.
fn told(end: &End, ends: &[End]) -> String {
    let times = if end.visits == 1 { "once".to_owned() } else { format!("{} times", end.visits) };
    let what = match end.interval {
        Some(interval) => {
            let round = if end.goes_round(ends) { ", all the way round" } else { "" };
            format!("90 % within {}°{round}", range(interval).replace(" to", "° to"))
        }
        None => match end.open {
            Some(open) => format!("may be farther: {}", open.reason()),
            None => "may be farther".to_owned(),
        },
    };
    let of = end.of.as_str().replace('_', " ");
    // The limit may have been widened, or have another shape than the motion.
    let apart = |reached: &Angle| (reached.degrees() - end.at.degrees()).abs() >= APART_DEG;
    let reached = end.reached.filter(apart);
    let reached = reached.map(|x| format!(", the motion came to {}°", degrees(x)));
    format!("{of} {}°{}, seen {times}: {what}", degrees(end.at), reached.unwrap_or_default())
}

fn rest(figures: &Figures) -> String {
    if figures.rest_inside {
        return "inside".to_owned();
    }
    format!("outside by {}", degrees(figures.rest_excess))
}

fn table(rows: &[Row<'_>]) -> String {
    let header = ["joint", "kind", "shape", "degrees", "twist", "area", "cone", "rest"];
    let mut table = new_table(&header);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    for (name, joint, figures) in rows {
        let (shape, ranges) = match &figures.swing {
            Some(s) => (
                s.shape,
                vec![format!("x {}", short_range(s.x)), format!("y {}", short_range(s.y))],
            ),
            None => {
                let arc = |(name, arc): &(&str, Arc)| match *name {
                    "angle" => short_arc(*arc),
                    name => format!("{name} {}", short_arc(*arc)),
                };
                (figures.shape, figures.arcs.iter().map(arc).collect())
            }
        };
        let length: usize = ranges.iter().map(String::len).sum();
        // Each on a line of its own if they are long.
        let ranges = ranges.join(if length > 21 { ",\n" } else { ", " });
        let swing = figures.swing.as_ref();
        let star = if joint.is_edited() { "*" } else { "" };
        table.add_row(vec![
            printable(name),
            format!("{}{star}", joint.kind),
            shape.to_owned(),
            ranges,
            swing.map(twist).unwrap_or_default(),
            swing.map(|s| percent(s.share())).unwrap_or_default(),
            swing.map(|s| degrees(s.cone())).unwrap_or_default(),
            rest(figures).replace("outside by", "off"),
        ]);
    }
    let mut text = table.to_string();
    for (since, what) in [(false, "edited"), (true, "edited since they were estimated")] {
        let edited = rows.iter().filter(|(_, joint, _)| joint.is_edited());
        let edited = edited.filter(|(_, joint, _)| joint.is_edited_since() == since);
        let names: Vec<String> = edited.map(|(name, ..)| printable(name)).collect();
        if !names.is_empty() {
            let line = format!("\n* {what}: {}", names.join(", "));
            text.push_str(&wrapped(&line, WIDTH, 2));
        }
    }
    text
}

fn detail((name, joint, figures): &Row<'_>, characters: Characters) -> String {
    let mut text = String::new();
    let mut about = vec![joint.kind.to_string()];
    about.extend(joint.source.map(|s| s.as_str().to_owned()));
    let edited = joint.is_edited();
    if joint.is_edited_since() {
        about.push("edited since".to_owned());
    }
    // They are about what was estimated.
    about.extend(joint.confidence.filter(|_| !edited).map(|c| format!("confidence {c:.2}")));
    let _ = writeln!(text, "{}: {}", printable(name), about.join(", "));
    if let Some(why) = &joint.why {
        let whose = if edited { "as it was estimated: " } else { "" };
        let line = format!("  why       {whose}{}", printable(why));
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 12));
    }
    for note in &joint.notes {
        let line = format!("  note      {}", printable(note));
        let _ = writeln!(text, "{}", wrapped(&line, WIDTH, 12));
    }
    let _ = match &figures.swing {
        None => writeln!(text, "  limit     {}", figures.shape),
        Some(s) => {
            writeln!(
                text,
                "  limit     {}: {} swing, {} twist",
                figures.shape, s.shape, s.twist_shape
            )
        }
    };
    for (name, arc) in &figures.arcs {
        let name = if *name == "angle" { String::new() } else { format!("{name} ") };
        let _ = writeln!(text, "  angle     {name}{}°", of_arc(*arc).replace("any", "0 to 360"));
    }
    if let Some(s) = &figures.swing {
        let _ = writeln!(text, "  swing     about x {}°, about y {}°", range(s.x), range(s.y));
        let _ = writeln!(text, "            up to {}° from the bone", degrees(s.farthest));
        let _ = writeln!(
            text,
            "  area      {:.3} sr, {} of the sphere, like a cone of {}° about the bone",
            s.area_sr,
            percent(s.share()),
            degrees(s.cone())
        );
        let [narrow, wide] = s.twist_width.map(degrees);
        let wide = if narrow == wide {
            format!("{wide}° wide everywhere")
        } else {
            format!("{narrow}° to {wide}° wide")
        };
        let _ = match s.is_any_twist() {
            true => writeln!(text, "  twist     any"),
            false => {
                writeln!(text, "  twist     {}°, {wide}", range(s.twist.ends_about_zero()))
            }
        };
    }
    let ends = figures.in_turn(&joint.ends, Arc::ends_about_zero);
    for (i, end) in ends.iter().enumerate() {
        let _ = writeln!(text, "  {:<8}  {}", if i == 0 { "ends" } else { "" }, told(end, &ends));
    }
    let unit = if figures.rest_inside { "" } else { "°" };
    let _ = writeln!(text, "  rest      {}{unit}", rest(figures));
    if let Limit::SwingTwist(of) = &joint.limit
        && let Ok(drawn) = picture::characters(of, COLUMNS, characters)
    {
        text.push('\n');
        for line in &drawn.lines {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(
            text,
            "\n  seen along the bone: x right (swing about +y), y up (swing about -x), rim at {}°",
            drawn.rim_deg
        );
    }
    text
}
