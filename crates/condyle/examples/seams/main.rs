//! How smooth are seams between my motions?
//!
//! ```sh
//! cargo run --release --example seams -- FOLDER            # every two AMC or BVH files of one skeleton
//! cargo run --release --example seams -- FOLDER --all      # one line for each seam
//! cargo run --release --example seams -- FOLDER --legs     # what planted feet cost the legs
//! ```
//!
//! Connects every motion to every other one with the same joints, forward and backward, with each smooth
//! method, with feet planted and not. Tells how many seams change a joint's angular velocity by more than
//! 1.5 times what one frame in a hundred of the two motions has, and how far feet slide that are down.
//! With `--legs` knees and hips are held against what is usual of each, for three of the methods.

#![allow(clippy::print_stdout, reason = "an example prints")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of frames and of seams are small"
)]

mod legs;

use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};

use condyle::anatomy::Anatomy;
use condyle::edit::{
    Connected, ContactOptions, Easing, Facing, Features, Keep, Leg, Method, Metric, Order, Overlap,
    Query, SearchOptions, best_matches, connect, contacts, jump_quantile, jumps, onto, trimmed,
};
use condyle::formats::{ReadOptions, read_files};
use condyle::glam::DVec3;
use condyle::math::trig;
use condyle::motion::{Clip, FrameIndex, ResampleTo, WorldTracks};
use condyle::skeleton::Skeleton;

struct Take {
    name: String,
    skeleton: Skeleton,
    clip: Clip,
}

/// The motions of a folder; an AMC with the ASF whose name it begins with.
fn takes(folder: &Path) -> Result<Vec<Take>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    let is = |p: &Path, what: &str| p.extension().is_some_and(|e| e == what);
    let stem =
        |p: &Path| p.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let mut takes = Vec::new();
    for path in paths.iter().filter(|p| is(p, "amc") || is(p, "bvh")) {
        let name = stem(path);
        let subject = |asf: &&PathBuf| {
            let asf = stem(asf);
            let own = asf.split('-').next().unwrap_or(&asf);
            is(path, "amc") && name.strip_prefix(own).is_some_and(|rest| rest.starts_with('_'))
        };
        let asf = paths.iter().filter(|p| is(p, "asf")).find(subject);
        let files: Vec<PathBuf> = asf.into_iter().chain([path]).cloned().collect();
        for (_, read) in read_files(&files, &ReadOptions::default()) {
            let Ok(read) = read else { continue };
            if let Some(clip) = read.file.clip.filter(|c| c.frame_count() > 0) {
                // A T-pose in front of a motion is none of it.
                let clip = match clip.has_leading_pose() {
                    true => trimmed(&clip, 1..clip.frame_count())?,
                    false => clip,
                };
                takes.push(Take { name: name.clone(), skeleton: read.file.skeleton, clip });
            }
        }
    }
    Ok(takes)
}

/// By how much the velocity of the pelvis changes from frame to frame, in metres a second.
fn speed_jump(
    skeleton: &Skeleton,
    facing: &Facing,
    clip: &Clip,
    frames: Range<usize>,
    share: f64,
) -> f64 {
    let place = |f: usize| {
        let frame = FrameIndex(u32::try_from(f).unwrap_or(u32::MAX));
        facing.stand_in(skeleton, clip, frame).position_m
    };
    let inner = frames.start.max(1)..frames.end.min(clip.frame_count() - 1);
    let mut all: Vec<f64> = inner
        .map(|f| (place(f + 1) - place(f) * 2.0 + place(f - 1)).length() * clip.rate().fps())
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(((all.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(0.0)
}

/// How far the pelvis goes in one frame, in metres, and turns, in degrees, at most.
fn steps(skeleton: &Skeleton, facing: &Facing, clip: &Clip, frames: Range<usize>) -> [f64; 2] {
    let stand = |f: usize| {
        facing.stand_in(skeleton, clip, FrameIndex(u32::try_from(f).unwrap_or(u32::MAX)))
    };
    let mut most = [0.0_f64; 2];
    for f in frames.start.max(1)..frames.end.min(clip.frame_count()) {
        let (p, q) = (stand(f - 1), stand(f));
        let turned = (q.facing.degrees() - p.facing.degrees() + 180.0).rem_euclid(360.0) - 180.0;
        most[0] = most[0].max(p.position_m.distance(q.position_m));
        most[1] = most[1].max(turned.abs());
    }
    most
}

/// How far the pelvis has to rise in one frame, in metres, and to tilt, in degrees, from before the seam to
/// after it, if it does so evenly, twice.
fn rises(skeleton: &Skeleton, facing: &Facing, out: &Connected) -> [f64; 2] {
    let at = facing.joint();
    let up = Anatomy::of(skeleton).and_then(|a| a.frame(at)).unwrap_or_default() * DVec3::Y;
    let heights = |f: usize| {
        let frame = FrameIndex(u32::try_from(f).unwrap_or(u32::MAX));
        let world = out.clip.pose(frame).world(skeleton);
        let heights = [world.positions_m[at.get()], world.rotations[at.get()] * up];
        heights.map(|v| facing.ground().height_m(v))
    };
    let [p, q] = [out.made.start - 1, out.made.end].map(heights);
    let tilt = |height: f64| trig::acos(height.clamp(-1.0, 1.0)).to_degrees();
    let each = 2.0 / out.made.len().max(1) as f64;
    [(p[0] - q[0]).abs() * each, (tilt(p[1]) - tilt(q[1])).abs() * each]
}

/// How far soles go while they are down, in metres, in the frames that were made: those of the first motion
/// in the first half, those of the second in the second.
fn slide_m(skeleton: &Skeleton, out: &Connected, legs: &[Leg], down: &[Vec<Vec<bool>>; 2]) -> f64 {
    let world = WorldTracks::of(skeleton, &out.clip);
    let mut total = 0.0;
    for (k, leg) in legs.iter().enumerate() {
        let at = |f: usize| world.position_m(leg.sole(), f);
        let is_down = |f: usize| {
            let early = 2 * (f - out.first_last) < out.made.len() + 1;
            let other = (f + out.second_first).checked_sub(out.made.end);
            let own = down[0][k].get(f).copied();
            let other = other.and_then(|f| down[1][k].get(f).copied());
            if early { own.or(other) } else { other.or(own) }.unwrap_or(false)
        };
        for f in out.made.clone().filter(|f| is_down(*f) && is_down(f - 1)) {
            total += (at(f) - at(f - 1)).length();
        }
    }
    total
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or("give a folder")?;
    let [all, of_legs] = ["--all", "--legs"].map(|what| arguments.iter().any(|a| a == what));
    let mut legs = of_legs.then(legs::Legs::default);
    let takes = takes(Path::new(folder))?;
    // Ratio of the jump to the usual one, slide, frames down; by (forward, planted, method).
    let mut found: Vec<(f64, String)> = Vec::new();
    let mut slides = [[0.0; 2]; 6];
    let mut roots: Vec<([f64; 2], String)> = Vec::new();
    for a in &takes {
        for b in &takes {
            // Other people have other bones.
            let moved = onto(&a.skeleton, &b.skeleton, &b.clip);
            let Some(moved) = moved.ok().filter(|m| m.other_bones.is_none()) else { continue };
            let second = match moved.clip.rate().nominal_fps() == a.clip.rate().nominal_fps() {
                true => moved.clip,
                false => moved.clip.resample(ResampleTo::Rate(a.clip.rate()), None)?.clip,
            };
            if let Some(legs) = &mut legs {
                legs_of(a, (&b.name, &second), legs)?;
                continue;
            }
            pair(a, (&b.name, &second), all, &mut found, &mut slides, &mut roots)?;
        }
    }
    if let Some(mut legs) = legs {
        legs.print(all);
        return Ok(());
    }
    for keep in ["forward", "backward"] {
        let mut ratios: Vec<&(f64, String)> =
            found.iter().filter(|(_, name)| name.contains(keep)).collect();
        ratios.sort_by(|x, y| x.0.total_cmp(&y.0));
        let Some(last) = ratios.last() else { continue };
        let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize].0;
        let above = ratios.iter().filter(|r| r.0 > 1.5).count();
        println!(
            "{keep}: {} seams, median {:.2}, 90 % {:.2}, 99 % {:.2}, worst {:.2}; {above} above 1.5",
            ratios.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            last.0
        );
        for (ratio, name) in ratios.iter().rev().take(25).filter(|r| r.0 > 1.5) {
            println!("  {ratio:.2} {name}");
        }
    }
    for (i, what) in ["pelvis goes", "pelvis turns"].into_iter().enumerate() {
        roots.sort_by(|x, y| y.0[i].total_cmp(&x.0[i]));
        let above = roots.iter().filter(|r| r.0[i] > 1.0).count();
        println!("{what}: {above} of {} seams are too fast", roots.len());
        for (ratios, name) in roots.iter().take(15) {
            println!("  {:.2} {name}", ratios[i]);
        }
    }
    for (method, [plain, planted]) in slides.iter().enumerate() {
        println!("method {method}: feet that are down slide {plain:.2} m, planted {planted:.2} m");
    }
    Ok(())
}

/// Which motion is kept, where the other is like it, and how much it is not.
type Seam = (Keep, Overlap, f64);

/// Where a motion is like the next: its end, and the beginning of that.
fn overlaps(a: &Take, second: &Clip, window: usize) -> Result<Vec<Seam>, Box<dyn Error>> {
    let mut found = Vec::new();
    if a.clip.frame_count() < 2 * window || second.frame_count() < 2 * window {
        return Ok(found);
    }
    let ours = Features::of(&a.skeleton, &a.clip, Metric::Quaternion)?;
    let theirs = Features::of(&a.skeleton, second, Metric::Quaternion)?;
    let spare = |count: usize| window.min((count - window) / 2);
    for keep in [Keep::First, Keep::Second] {
        let (query, into, starts) = match keep {
            Keep::First => {
                let count = second.frame_count();
                (Query::last(&ours, window)?, &theirs, 0..count - window - spare(count) + 1)
            }
            Keep::Second => {
                let count = a.clip.frame_count();
                (Query::first(&theirs, window)?, &ours, spare(count)..count - window + 1)
            }
        };
        let options = SearchOptions { starts, ..SearchOptions::default() };
        let Some(best) = best_matches(&query, &[into], &options)?.first().copied() else {
            continue;
        };
        let at = match keep {
            Keep::First => (a.clip.frame_count() - window, best.frame),
            Keep::Second => (best.frame, 0),
        };
        found.push((keep, Overlap { first: at.0, second: at.1, frames: window }, best.distance));
    }
    Ok(found)
}

/// What planting does to the legs in the seams between two motions.
fn legs_of(
    a: &Take,
    (name, second): (&str, &Clip),
    legs: &mut legs::Legs,
) -> Result<(), Box<dyn Error>> {
    let fps = a.clip.rate().nominal_fps();
    let frames = |seconds: f64| ((seconds * fps).round() as usize).max(2);
    let methods = [
        Method::BlendSteps(Easing::Sine),
        Method::Interpolate { frames: frames(0.2), order: Order::Cubic },
        Method::Inertialize { frames: frames(0.4) },
    ];
    let (facing, clips) = (Facing::of(&a.skeleton), [&a.clip, second]);
    for (keep, at, _) in overlaps(a, second, frames(0.4))? {
        for method in methods {
            let out = connect(&a.skeleton, &facing, clips, at, keep, method)?;
            let name = format!("{} {name}", a.name);
            legs.add((&a.skeleton, &facing), clips, &out, (&name, method, keep));
        }
    }
    Ok(())
}

fn pair(
    a: &Take,
    (name, second): (&str, &Clip),
    all: bool,
    found: &mut Vec<(f64, String)>,
    slides: &mut [[f64; 2]; 6],
    roots: &mut Vec<([f64; 2], String)>,
) -> Result<(), Box<dyn Error>> {
    let skeleton = &a.skeleton;
    let fps = a.clip.rate().nominal_fps();
    let frames = |seconds: f64| ((seconds * fps).round() as usize).max(2);
    let (window, short) = (frames(0.4), frames(0.2));
    let methods = [
        Method::BlendSteps(Easing::Sine),
        Method::Blend(Easing::Sine),
        Method::Blend(Easing::Cubic),
        Method::Blend(Easing::Quintic),
        Method::Interpolate { frames: short, order: Order::Cubic },
        Method::Inertialize { frames: window },
    ];
    let clips = [&a.clip, second];
    let facing = Facing::of(skeleton);
    let legs = Anatomy::of(skeleton).map(|of| Leg::all(skeleton, &of)).unwrap_or_default();
    let contact = ContactOptions::default();
    let down = clips.map(|clip| contacts(skeleton, clip, facing.ground(), &legs, &contact));
    let inside = clips.map(|clip| jumps(clip, 0..clip.frame_count()));
    let usual = jump_quantile(inside.iter().flatten(), 0.99).degrees();
    let fastest = clips.map(|c| steps(skeleton, &facing, c, 0..c.frame_count()));
    for (keep, at, distance) in overlaps(a, second, window)? {
        for (m, method) in methods.into_iter().enumerate() {
            let mut out = connect(skeleton, &facing, clips, at, keep, method)?;
            for planted in [false, true] {
                if planted {
                    let _ = out.plant_feet(skeleton, &facing, (clips, &[]), &contact);
                }
                let seam = out.made.start - 1..out.made.end + 1;
                let largest = jumps(&out.clip, seam.clone())
                    .into_iter()
                    .max_by(|x, y| x.by.radians().total_cmp(&y.by.radians()));
                let Some(largest) = largest else { continue };
                // What the motions have in the frames that the seam is made of.
                let (len, next) = (out.made.len() + 2, out.second_first);
                let (ours, theirs) = match method {
                    Method::Interpolate { .. } => {
                        (out.first_last.saturating_sub(5)..out.first_last + 2, next..next + 6)
                    }
                    _ => (seam.clone(), (next + 1).saturating_sub(len)..next + 2),
                };
                let own = [(&a.clip, ours), (second, theirs)]
                    .map(|(c, f)| jump_quantile(&jumps(c, f), 1.0).degrees());
                let way = match keep {
                    Keep::First => "forward",
                    Keep::Second => "backward",
                };
                let line = format!(
                    "{} {name} {way} {method:?} planted {planted}: {:.0} of {usual:.0} °/s at {} in \
                     frame {} of {:?}, own {:.0} {:.0}, apart {:.1}",
                    a.name,
                    largest.by.degrees(),
                    skeleton[largest.joint].name,
                    largest.frame,
                    out.made,
                    own[0],
                    own[1],
                    distance
                );
                // The same for the velocity of the pelvis, against what is usual.
                let hurry = speed_jump(skeleton, &facing, &out.clip, seam, 1.0)
                    / clips
                        .map(|c| speed_jump(skeleton, &facing, c, 0..c.frame_count(), 0.99))
                        .into_iter()
                        .fold(0.0, f64::max);
                let slide = slide_m(skeleton, &out, &legs, &down);
                slides[m][usize::from(planted)] += slide;
                if all {
                    println!(
                        "{:.2} {line} slide {slide:.3} root {hurry:.2}",
                        largest.by.degrees() / usual
                    );
                }
                // Against twice the fastest of the motions, and what who gets up has to do.
                let rises = rises(skeleton, &facing, &out);
                let got = steps(skeleton, &facing, &out.clip, out.made.start - 1..out.made.end + 1);
                let most = [0, 1].map(|i| 2.0 * fastest[0][i].max(fastest[1][i]) + rises[i]);
                roots.push((
                    [got[0] / (most[0] + 1e-3), got[1] / (most[1] + 1.0)],
                    format!(
                        "{} {name} {way} {method:?} planted {planted}: {:.3} m, {:.2}°",
                        a.name, got[0], got[1]
                    ),
                ));
                found.push((largest.by.degrees() / usual, line));
            }
        }
    }
    Ok(())
}
