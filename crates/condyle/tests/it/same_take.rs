//! The same take as AMC and as BVH: two readers, one motion.
//!
//! The BVH files are B. Hahne's 2010 conversion of the CMU data base. They have one frame more, a
//! T-pose in front, and the same unit. Where the conversion set an OFFSET to zero, the joint sits at
//! its parent's place, so its segment differs by a vector that is fixed in the parent.

use condyle::formats::{LengthUnit, MotionFile, ReadOptions, read_file};
use condyle::glam::DVec3;
use condyle::motion::WorldTracks;

use crate::shared::shared;

const TAKES: [(&str, &str, &str); 7] = [
    ("02.asf", "02_05.amc", "02_05.bvh"),
    ("49.asf", "49_08.amc", "49_08.bvh"),
    ("127.asf", "127_02.amc", "127_02.bvh"),
    ("02.asf", "02_01.amc", "02_01.bvh"),
    ("09.asf", "09_01.amc", "09_01.bvh"),
    ("16.asf", "16_35.amc", "16_35.bvh"),
    ("07-walk.asf", "07_01-walk.amc", "07_01.bvh"),
];

/// Bones that the conversion moved to where their parent is, by ASF name.
const ZEROED: [&str; 7] =
    ["lowerneck", "lclavicle", "lhand", "lthumb", "rclavicle", "rhand", "rthumb"];

/// Of the size of the figure. The BVH has four to six decimals.
const TOLERANCE: f64 = 2e-6;

pub(crate) fn takes() -> Vec<(MotionFile, MotionFile)> {
    let (Some(asf_amc), Some(bvh)) = (shared("asf-amc"), shared("bvh")) else { return Vec::new() };
    let options = ReadOptions::default();
    let cmu = ReadOptions { source_unit: Some(LengthUnit::CMU), ..options };
    TAKES
        .iter()
        .map(|(asf, amc, take)| {
            let asf = read_file(&asf_amc.join(asf), None, &options).unwrap().file;
            let amc = read_file(&asf_amc.join(amc), Some(&asf), &options).unwrap().file;
            (amc, read_file(&bvh.join(take), None, &cmu).unwrap().file)
        })
        .collect()
}

#[test]
fn segments_agree_and_zeroed_offsets_differ_by_a_constant_in_the_parent() {
    let mut worst = 0.0_f64;
    let mut worst_constant = 0.0_f64;
    for (amc, bvh) in takes() {
        let (a, b) = (amc.clip.as_ref().unwrap(), bvh.clip.as_ref().unwrap());
        assert_eq!(amc.skeleton.len(), bvh.skeleton.len());
        assert_eq!(a.frame_count() + 1, b.frame_count(), "a T-pose in front");
        let size = amc.skeleton.longest_path_m();
        let (wa, wb) = (WorldTracks::of(&amc.skeleton, a), WorldTracks::of(&bvh.skeleton, b));
        for j in amc.skeleton.indices() {
            let name = &amc.skeleton[j].name;
            let Some(p) = amc.skeleton.parent(j) else {
                for f in 0..a.frame_count() {
                    let gap = wa.position_m(j, f).distance(wb.position_m(j, f + 1));
                    assert!(gap < TOLERANCE * size, "root, frame {f}: {gap:e}");
                }
                continue;
            };
            assert_eq!(bvh.skeleton.parent(j), Some(p), "{name}: the same tree");
            let segment = |w: &WorldTracks, f| w.position_m(j, f) - w.position_m(p, f);
            let zeroed = bvh.skeleton[j].offset_m == DVec3::ZERO
                && amc.skeleton[j].offset_m.length() > TOLERANCE * size;
            let constant = wa.rotation(p, 0).inverse() * (segment(&wa, 0) - segment(&wb, 1));
            for f in 0..a.frame_count() {
                let gap = segment(&wa, f) - segment(&wb, f + 1);
                if zeroed {
                    let local = wa.rotation(p, f).inverse() * gap;
                    let moved = local.distance(constant) / size;
                    worst_constant = worst_constant.max(moved);
                    assert!(moved < TOLERANCE, "{name}, frame {f}: {moved:e}");
                } else {
                    worst = worst.max(gap.length() / size);
                    assert!(
                        gap.length() < TOLERANCE * size,
                        "{name}, frame {f}: {:e}",
                        gap.length() / size
                    );
                }
            }
            assert_eq!(zeroed, ZEROED.contains(&name.as_str()), "{name}");
        }
    }
    println!(
        "segments agree to {worst:.2e} of the size, zeroed ones are constant to {worst_constant:.2e}"
    );
}
