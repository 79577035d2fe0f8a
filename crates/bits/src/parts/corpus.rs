//! The files that are read: made up, in all formats, and spelled as files of all origins are.

use std::fmt::Write as _;
use std::sync::OnceLock;

use condyle::formats::{Format, MotionFile, WriteOptions, write as write_motion};
use condyle::math::{Angle, EulerOrder};
use condyle::motion::{Clip, FrameRate, Interpolation};
use condyle::synth::{Exploration, Figure, Glitches, Keys, Options, Rng, Synth};

use crate::{Hash, How};

/// The bytes of files.
pub(super) struct Corpus {
    pub(super) bvh: Vec<Vec<u8>>,
    /// Skeletons and their motions.
    pub(super) acclaim: Vec<[Vec<u8>; 2]>,
    pub(super) trc: Vec<Vec<u8>>,
}

/// Numbers that are hard to round, or to hold: half-way between doubles, next to it, subnormal, too
/// small, with many digits.
const HARD: [&str; 18] = [
    "9007199254740993",
    "9007199254740993.00000000000000000000000000000000001",
    "1.00000000000000011102230246251565404236316680908203125",
    "1.00000000000000011102230246251565404236316680908203124",
    "1.00000000000000011102230246251565404236316680908203126",
    "0.1000000000000000055511151231257827021181583404541015625",
    "2.2250738585072011e-308",
    "2.2250738585072014E-308",
    "4.9406564584124654e-324",
    "2.4703282292062327e-324",
    "1e-400",
    "-0",
    "-0.0000",
    "123456789012345678901234567890e-27",
    "00000000000000000000000000000000017.25",
    "1e23",
    "8.41e+021",
    ".000000000000000000000000000000000000000000000000000000000000000001e66",
];

/// Made once: it is input, and what it is made of has its own parts.
pub(super) fn corpus() -> &'static Corpus {
    static CORPUS: OnceLock<Corpus> = OnceLock::new();
    CORPUS.get_or_init(|| make(&How::PLAIN))
}

/// Their seeds.
pub(super) const FIGURES: [u64; 4] = [0, 1, 2, 3];

/// Different figures, clean and spoilt, of lengths that no block size divides.
fn motion(seed: u64) -> (Synth, Options) {
    let figure = match seed {
        0 => Figure::human(),
        _ => {
            let joints = 5 + 6 * usize::try_from(seed).expect("small");
            Figure::random(joints, seed).expect("so many joints are possible")
        }
    };
    let plain = Options { frames: 61, ..Options::default() };
    let options = match seed {
        0 => plain,
        1 => Options {
            frames: 103,
            noise: Angle::from_degrees(0.3),
            glitches: Glitches { share: 0.05, ..Glitches::default() },
            sign_flips: 0.2,
            repeats: 0.1,
            exploration: Exploration::Partial { share: 0.4 },
            ..plain
        },
        2 => Options {
            keys: Keys::Sparse { count: 9, interpolation: Interpolation::Smooth },
            exploration: Exploration::Dwell,
            rate: FrameRate::from_frame_time(0.0333333).expect("a frame time"),
            ..plain
        },
        _ => Options { frames: 37, exploration: Exploration::Scatter, ..plain },
    };
    (Synth::generate(&figure, &options, seed).expect("the options are good"), options)
}

/// The motion as it was made.
pub(super) fn made(seed: u64) -> MotionFile {
    let (synth, _) = motion(seed);
    MotionFile::new(synth.skeleton, synth.clip)
}

/// The motion as a file would hold it: Euler angles, here and there with whole turns added.
fn as_file(seed: u64) -> MotionFile {
    let (synth, options) = motion(seed);
    let first = usize::try_from(seed).expect("small");
    let order = |j: condyle::skeleton::JointIndex| EulerOrder::ALL[(j.get() + first) % 6];
    let source = synth.channels(order, 0.1, seed).expect("the share is good");
    let clip = Clip::from_channels(&synth.skeleton, options.rate, source.channels);
    MotionFile::new(synth.skeleton, clip.expect("the channels are of this skeleton"))
}

fn make(how: &How) -> Corpus {
    let files = how.each(&FIGURES, |&seed| {
        let file = as_file(seed);
        let mut rng = Rng::stream(21, seed);
        let bytes = |format, options: &WriteOptions| -> Vec<Vec<u8>> {
            let written = write_motion(&file, format, options).expect("every format can hold it");
            written.parts.into_iter().map(|(_, bytes)| bytes).collect()
        };
        let options = WriteOptions { end_sites: seed % 2 == 0, ..WriteOptions::default() };
        let bvh = bytes(Format::Bvh, &options).remove(0);
        let [amc, asf]: [Vec<u8>; 2] =
            bytes(Format::Amc, &options).try_into().expect("a motion and its skeleton");
        let trc = bytes(Format::Trc, &options).remove(0);
        let odd_bvh = respelled(&bvh, "Frame Time:", " ", &mut rng);
        let odd_amc = respelled(&amc, ":DEGREES", " ", &mut rng);
        let odd_trc = respelled(&trc, "Frame#", "\t", &mut rng);
        ([bvh, odd_bvh], [[asf.clone(), amc], [asf, odd_amc]], [trc, odd_trc])
    });
    let mut corpus = Corpus { bvh: vec![hard_bvh()], acclaim: Vec::new(), trc: Vec::new() };
    for (bvh, acclaim, trc) in files {
        corpus.bvh.extend(bvh);
        corpus.acclaim.extend(acclaim);
        corpus.trc.extend(trc);
    }
    corpus
}

/// The hard numbers as positions and angles.
fn hard_bvh() -> Vec<u8> {
    let mut text = "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 6 Xposition Yposition Zposition \
                    Zrotation Xrotation Yrotation\n}\nMOTION\nFrames: 18\nFrame Time: .008333333\n"
        .to_owned();
    for i in 0..HARD.len() {
        let row: Vec<&str> = (0..6).map(|k| HARD[(i + 5 * k) % HARD.len()]).collect();
        writeln!(text, "{}", row.join("  ")).expect("a string takes everything");
    }
    text.into_bytes()
}

/// The same file with each broken number behind `start` in another notation, other line ends and
/// other blanks.
fn respelled(bytes: &[u8], start: &str, separator: &str, rng: &mut Rng) -> Vec<u8> {
    let text = str::from_utf8(bytes).expect("we write UTF-8");
    let start = text.find(start).expect("every such file has it");
    let start = start + text[start..].find('\n').expect("a line") + 1;
    let (header, rows) = text.split_at(start);
    let line_end = *rng.choose(&["\n", "\r\n", "\n"]).expect("three");
    let mut out = header.replace('\n', line_end);
    for line in rows.lines() {
        let words = line.split(separator).map(|word| match word.parse::<f64>() {
            Ok(value) if word.contains('.') => spelled(value, word, rng),
            _ => word.to_owned(),
        });
        out += &words.collect::<Vec<_>>().join(separator);
        out += line_end;
    }
    out.into_bytes()
}

/// A number in one of the notations of real files. Some have fewer digits: another number, but the
/// same one everywhere.
fn spelled(value: f64, word: &str, rng: &mut Rng) -> String {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", word),
    };
    match rng.below(10) {
        0 => format!("{}{digits}", if sign.is_empty() { "+" } else { sign }),
        1 => format!("{value:e}"),
        2 => {
            let text = format!("{value:.9E}");
            let (mantissa, exponent) = text.split_once('E').expect("an exponent");
            let exponent: i32 = exponent.parse().expect("a whole number");
            format!("{mantissa}E{exponent:+04}")
        }
        3 => format!("{value:.30}"),
        4 => format!("{sign}000{digits}"),
        5 => format!("{sign}{}", digits.trim_start_matches('0')),
        6 => format!("{value:.6}"),
        7 => format!("{value:.17}000000000000000000000"),
        8 => format!("{value:.0}."),
        _ => word.to_owned(),
    }
}

pub(super) fn synth(how: &How) -> Hash {
    let mut hash = Hash::default();
    hash.all(how.each(&FIGURES, |&seed| {
        let (synth, _) = motion(seed);
        let mut hash = Hash::default();
        for clip in [&synth.clip, &synth.clean] {
            super::clips::add_clip(&mut hash, clip);
        }
        super::clips::add_skeleton(&mut hash, &synth.skeleton);
        for track in synth.glitches.iter().chain(&synth.sign_flips).chain([&synth.repeats]) {
            hash.count(track.len());
            track.iter().for_each(|f| hash.count(f.get()));
        }
        hash
    }));
    hash
}

pub(super) fn write(how: &How) -> Hash {
    let corpus = make(how);
    let mut hash = Hash::default();
    let acclaim = corpus.acclaim.iter().flatten();
    corpus.bvh.iter().chain(acclaim).chain(&corpus.trc).for_each(|bytes| hash.bytes(bytes));
    hash
}
