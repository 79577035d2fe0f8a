//! What the fuzz targets do with an input. The targets in `fuzz/` and the replay of past crashers
//! in the ordinary tests both include this module, so a crasher means the same in both.

#![allow(unreachable_pub, missing_docs, reason = "public for the fuzz targets, which include it")]

pub mod changing;
pub mod check;
pub mod dials;
pub mod ik;
pub mod limits;
pub mod made;
pub mod markup;
pub mod motions;
pub mod moving;
pub mod pages;

use arbitrary::{Arbitrary, Unstructured};
use condyle::formats::{Format, Mode, MotionFile, ReadOptions, read};

use check::{check_bytes, check_converts, check_written};
use made::Made;

/// A small skeleton for motions: every kind of freedom, names that need care.
pub const ASF: &str = "\
:version 1.10
:name small
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 1 0
  orientation 10 20 30
:bonedata
  begin
    id 1
    name a
    direction 0 1 0
    length 2
    axis 10 0 20 XYZ
    dof rx ry rz
    limits (-160 20)
           (-70 70)
           (-inf inf)
  end
  begin
    id 2
    name b
    direction 1 0 0
    length 1.5
    axis 0 0 0 ZYX
    dof rz l
  end
  begin
    id 3
    name c__d
    direction 0 0 1
    length 1
    axis 1 2 3 YZX
    dof tx ry
  end
  begin
    id 4
    name e
    direction 0 0 1
    length 0
    axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root a c__d
    a b
    c__d e
  end
";

/// What a target does with an input.
pub type Target = fn(&[u8]);

/// The targets by name, in the order they run.
pub const TARGETS: [(&str, Target); 23] = [
    ("read_bvh", read_bvh),
    ("read_asf", read_asf),
    ("read_amc", read_amc),
    ("read_trc", read_trc),
    ("round_trip_bvh", |data| made(data, |made| round_trip(made, Format::Bvh))),
    ("round_trip_acclaim", |data| made(data, round_trip_acclaim)),
    ("round_trip_trc", |data| made(data, |made| round_trip(made, Format::Trc))),
    ("convert", |data| made(data, convert)),
    ("limits", limits::check),
    ("read_rig", read_rig),
    ("read_summary", read_summary),
    ("read_goals", ik::read_goals),
    ("ik", ik::solve),
    ("limb", ik::limb),
    ("read_dials", dials::read_dials),
    ("fit_dials", dials::fit_dials),
    ("clamp", motions::clamp),
    ("estimate", motions::estimate),
    ("couplings", motions::couplings),
    ("edit", motions::edit),
    ("evaluated", motions::evaluated),
    ("pages", pages::pages),
    ("changing", changing::changing),
];

/// Any bytes as BVH.
pub fn read_bvh(data: &[u8]) {
    check_bytes(data, Format::Bvh, None);
}

/// Any bytes as ASF.
pub fn read_asf(data: &[u8]) {
    check_bytes(data, Format::Asf, None);
}

/// Any bytes as AMC on the fixed skeleton; where a NUL byte parts the input, what stands before it
/// as ASF and what follows as the AMC on that.
pub fn read_amc(data: &[u8]) {
    let options = ReadOptions { format: Some(Format::Asf), ..ReadOptions::default() };
    let fixed = read(ASF.as_bytes(), None, &options).expect("the fixed ASF is right").file;
    check_bytes(data, Format::Amc, Some(&fixed));
    if let Some(at) = data.iter().position(|b| *b == 0)
        && let Ok(own) = read(&data[..at], None, &options)
    {
        check_bytes(&data[at + 1..], Format::Amc, Some(&own.file));
    }
}

/// Any bytes as a rig document; what reads is written, and reads as the same. Joint maps that can be put
/// on the skeleton can be set to anything.
pub fn read_rig(data: &[u8]) {
    match condyle::rig::Rig::read(data) {
        Ok(read) => {
            set_dials(&read.rig);
            let written = read.rig.write().expect("what was read can be written");
            let again = condyle::rig::Rig::read(&written).expect("what was written can be read");
            assert_eq!(again.rig.write().expect("as before"), written);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Sets dials to the ends of their ranges, and beyond; says whether there were any.
pub fn set_dials(rig: &condyle::rig::Rig) -> bool {
    let network = match condyle::maps::Network::new(&rig.maps, &rig.skeleton) {
        Ok(network) => network,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let (mut state, mut pose) = (network.state(), condyle::motion::Pose::rest(&rig.skeleton));
    let sets: [fn(&condyle::maps::Dial) -> f64; 4] =
        [|d| d.range[0], |d| d.range[1], |_| f64::NAN, |_| 1e300];
    for set in sets {
        let dials: Vec<f64> = network.dials().iter().map(set).collect();
        network.evaluate(&dials, &mut state);
        network.write(&state, &mut pose);
        for (dial, value) in network.dials().iter().zip(state.dials()) {
            assert!(dial.range[0] <= *value && *value <= dial.range[1]);
        }
        for joint in rig.skeleton.indices().filter(|joint| network.moves(*joint)) {
            let (turn, place) = (pose.rotations[joint.get()], pose.translations_m[joint.get()]);
            assert!(turn.quat().is_finite() && (turn.quat().length() - 1.0).abs() < 1e-6);
            assert!(place.is_finite());
            let finite = |r: condyle::maps::Rate| r.turn.is_finite() && r.shift_m.is_finite();
            assert!(network.rates(&state, joint).all(|(_, rate)| finite(rate)));
        }
    }
    !network.dials().is_empty()
}

/// Any bytes as a summary, and what stands between its header and its checksum with both put right;
/// what reads is written as it was, and merges.
pub fn read_summary(data: &[u8]) {
    check_summary(data);
    let body = match data.strip_prefix(b"condylst") {
        Some(rest) if rest.len() >= 20 => &rest[12..rest.len() - 8],
        _ => data,
    };
    let mut sealed = b"condylst\x01\0\0\0".to_vec();
    sealed.extend((body.len() as u64 + 28).to_le_bytes());
    sealed.extend(body);
    // FNV-1a.
    let sum = sealed.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    sealed.extend(sum.to_le_bytes());
    check_summary(&sealed);
}

fn check_summary(data: &[u8]) {
    use condyle::estimate::{MergeError, Summary};
    let summary = match Summary::read(data) {
        Ok(summary) => summary,
        Err(error) => {
            assert!(error.byte() <= data.len() as u64 && !error.to_string().is_empty());
            return;
        }
    };
    assert!(summary.write() == data, "it is not written as it was read");
    assert_eq!(summary.skeleton().expect("joints are checked").len(), summary.len());
    let mut empty = Summary::default();
    assert_eq!(empty.merge(&summary), Ok(Vec::new()));
    assert!(empty.write() == data, "nothing more is something else");
    let mut twice = summary.clone();
    match twice.merge(&summary) {
        Ok(differ) => {
            assert!(differ.is_empty());
            let bytes = twice.write();
            assert!(Summary::read(&bytes).expect("what was written can be read").write() == bytes);
        }
        Err(error) => assert!(matches!(error, MergeError::TooManySamples { .. }), "{error}"),
    }
}

/// Any bytes as TRC.
pub fn read_trc(data: &[u8]) {
    check_bytes(data, Format::Trc, None);
}

/// A made file to one format and back.
pub fn round_trip(made: &Made, format: Format) {
    let file: MotionFile = made.file();
    check::check_file(&file);
    check_written(&file, format, &made.options(), made.is_plain());
}

/// A made file to ASF with AMC or, now and then, to ASF alone, and back.
pub fn round_trip_acclaim(made: &Made) {
    let alone = made.to()[0] == Format::Asf;
    round_trip(made, if alone { Format::Asf } else { Format::Amc });
}

/// A made file to a format, and what is read there to another.
pub fn convert(made: &Made) {
    let file = made.file();
    check::check_file(&file);
    check_converts(&file, made.to(), &made.options(), made.is_plain());
}

/// Runs a target on a made file, as the fuzzer would make it of these bytes.
fn made(data: &[u8], run: impl Fn(&Made)) {
    if let Ok(made) = Made::arbitrary(&mut Unstructured::new(data)) {
        run(&made);
    }
}

/// All modes, the strictest first.
pub const MODES: [Mode; 3] = [Mode::Strict, Mode::Repair, Mode::Lenient];
