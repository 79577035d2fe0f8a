//! What planted feet cost the legs.

use std::collections::BTreeMap;

use condyle::anatomy::Anatomy;
use condyle::edit::{Connected, ContactOptions, Facing, Keep, Leg, Method, contacts, quantile};
use condyle::math::Rotation;
use condyle::motion::{Clip, FrameIndex, WorldTracks};
use condyle::skeleton::{JointIndex, Skeleton};

/// What is told of the seams of one method.
#[derive(Default)]
struct Figures {
    seams: usize,
    /// With a knee or a hip that changes its speed by more than three times what is usual of it: as made, and
    /// planted.
    rough: [usize; 2],
    /// The same for 1.5 times.
    rougher: [usize; 2],
    worst: Vec<(f64, String)>,
    /// Made frames in which a leg is within 1/1000 of straight, and not as made.
    straight: usize,
    /// Made frames in which a foot is down in both motions, and how often and how far it slides there.
    down: usize,
    slides: [usize; 2],
    slide_m: [f64; 2],
    /// What planting itself tells.
    told: usize,
    made: usize,
    /// How high feet are that planting has brought to rest, above where they are lowest.
    heights_m: Vec<f64>,
    /// How far a leg's joints are from where they were in the first and the last made frame, degrees.
    ends_deg: f64,
}

/// All that was measured, by method.
#[derive(Default)]
pub(crate) struct Legs(BTreeMap<String, Figures>);

fn at(f: usize) -> FrameIndex {
    FrameIndex(u32::try_from(f).unwrap_or(u32::MAX))
}

/// By how much the angular velocity of a joint changes in each inner frame, degrees a second.
fn changes(clip: &Clip, joint: JointIndex, frames: std::ops::Range<usize>) -> Vec<f64> {
    let turn = |f: usize| {
        let [a, b]: [Rotation; 2] = [f, f + 1].map(|f| clip.rotation(joint, at(f)));
        (a.inverse() * b).log()
    };
    let inner = frames.start.max(1)..frames.end.min(clip.frame_count() - 1);
    inner.map(|f| (turn(f) - turn(f - 1)).length().to_degrees() * clip.rate().fps()).collect()
}

impl Legs {
    /// Measures one seam, as it is made and with feet planted.
    pub(crate) fn add(
        &mut self,
        (skeleton, facing): (&Skeleton, &Facing),
        clips: [&Clip; 2],
        plain: &Connected,
        (name, method, keep): (&str, Method, Keep),
    ) {
        const SPEED_M_S: f64 = 0.25;
        const HEIGHT_M: f64 = 0.03;
        let mut planted = plain.clone();
        let told = planted.plant_feet(skeleton, facing, (clips, &[]), &ContactOptions::default());
        let Some(anatomy) = Anatomy::of(skeleton).filter(|_| !plain.made.is_empty()) else {
            return;
        };
        let legs = Leg::all(skeleton, &anatomy);
        let how = match method {
            Method::Interpolate { .. } => "interpolate",
            Method::Inertialize { .. } => "inertialize",
            Method::Blend(_) | Method::BlendSteps(_) => "blend",
        };
        let way = if keep == Keep::First { "forward" } else { "backward" };
        let found = self.0.entry(format!("{how} {way}")).or_default();
        found.seams += 1;
        found.told += told.sliding;
        found.made += plain.made.len();
        let seam = plain.made.start - 1..plain.made.end + 1;
        let outs = [&plain.clip, &planted.clip];
        // Less than a quarter of a degree from frame to frame is not seen.
        let least = 0.25 * plain.clip.rate().fps();
        let mut ratios = [(0.0_f64, String::new()), (0.0, String::new())];
        for joint in legs.iter().flat_map(|leg| [leg.hip, leg.knee]) {
            let own = clips.iter().flat_map(|c| changes(c, joint, 0..c.frame_count()));
            let usual = quantile(own, 0.99).max(least);
            for (out, most) in outs.iter().zip(&mut ratios) {
                let ratio = quantile(changes(out, joint, seam.clone()), 1.0) / usual;
                if ratio > most.0 {
                    *most = (ratio, skeleton[joint].name.clone());
                }
            }
        }
        for (k, (ratio, _)) in ratios.iter().enumerate() {
            found.rough[k] += usize::from(*ratio > 3.0);
            found.rougher[k] += usize::from(*ratio > 1.5);
        }
        let line = format!("{name}: {}, as made {:.2}", ratios[1].1, ratios[0].0);
        found.worst.push((ratios[1].0, line));
        let options = ContactOptions { speed_m_s: SPEED_M_S, height_m: HEIGHT_M };
        let ground = facing.ground();
        let down = clips.map(|c| contacts(skeleton, c, ground, &legs, &options));
        let worlds = outs.map(|clip| WorldTracks::of(skeleton, clip));
        let sources = clips.map(|clip| WorldTracks::of(skeleton, clip));
        let fps = plain.clip.rate().fps();
        for (i, leg) in legs.iter().enumerate() {
            let heights = (0..2).flat_map(|c| {
                let sole = leg.sole();
                let of = &sources[c];
                (0..clips[c].frame_count()).map(move |f| ground.height_m(of.position_m(sole, f)))
            });
            let level = quantile(heights, 0.05);
            let is_down = |f: usize| {
                let other = (f + plain.second_first).checked_sub(plain.made.end);
                let own = down[0][i].get(f).copied();
                let other = other.and_then(|f| down[1][i].get(f).copied());
                own.unwrap_or(true) && other.unwrap_or(true) && (own.is_some() || other.is_some())
            };
            let step = |k: usize, f: usize| {
                let [a, b] = [f - 1, f].map(|f| worlds[k].position_m(leg.sole(), f));
                a.distance(b)
            };
            let stretch = |k: usize, f: usize| {
                let [hip, knee, ankle] =
                    [leg.hip, leg.knee, leg.ankle].map(|j| worlds[k].position_m(j, f));
                hip.distance(ankle) / (hip.distance(knee) + knee.distance(ankle))
            };
            for f in plain.made.clone() {
                if is_down(f) && is_down(f - 1) {
                    found.down += 1;
                    for k in 0..2 {
                        found.slide_m[k] += step(k, f);
                        found.slides[k] += usize::from(step(k, f) * fps > SPEED_M_S);
                    }
                }
                found.straight += usize::from(stretch(1, f) > 0.999 && stretch(0, f) < 0.998);
                if step(1, f) * fps < 0.1 && step(0, f) * fps > 0.2 {
                    let height = ground.height_m(worlds[1].position_m(leg.sole(), f));
                    found.heights_m.push(height - level);
                }
            }
            for f in [plain.made.start, plain.made.end - 1] {
                for joint in [leg.hip, leg.knee] {
                    let [a, b] = outs.map(|clip| clip.rotation(joint, at(f)));
                    found.ends_deg = found.ends_deg.max(a.distance(b).degrees());
                }
            }
        }
    }

    pub(crate) fn print(&mut self, all: bool) {
        for (name, found) in &mut self.0 {
            println!("{name}: {} seams", found.seams);
            let [plain, planted] = found.rough;
            let [plain_too, planted_too] = found.rougher;
            println!(
                "  knee or hip above 3 times its usual change of speed: {planted} (as made {plain}); above \
                 1.5: {planted_too} (as made {plain_too})"
            );
            found.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (ratio, line) in found.worst.iter().take(if all { 400 } else { 3 }) {
                println!("    {ratio:.2} {line}");
            }
            println!("  legs pulled straight in {} of {} made frames", found.straight, found.made);
            println!(
                "  feet down in both motions, {} frames: {} slide, {:.2} m (as made {}, {:.2} m); \
                 told: {} frames",
                found.down,
                found.slides[1],
                found.slide_m[1],
                found.slides[0],
                found.slide_m[0],
                found.told
            );
            let high = |least: f64| found.heights_m.iter().filter(|h| **h > least).count();
            println!(
                "  feet brought to rest in {} frames, {:.1} cm high at most; above 3 cm {}, above 5 cm {}",
                found.heights_m.len(),
                100.0 * quantile(found.heights_m.iter().copied(), 1.0),
                high(0.03),
                high(0.05)
            );
            println!("  in the first and last made frame a leg is off by {:.2}°", found.ends_deg);
        }
    }
}
