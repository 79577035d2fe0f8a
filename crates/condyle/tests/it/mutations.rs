//! Thousands of damaged inputs per format, the same on every machine: no panic, no hang, bounded
//! memory, and what still reads holds every invariant.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use condyle::formats::{Format, Mode, MotionFile, ReadOptions, WriteOptions, read, write};
use condyle::math::EulerOrder;
use condyle::motion::Clip;
use condyle::synth::{Figure, Options, Rng, Synth};

use crate::fuzz::check::check_bytes;
use crate::fuzz::dials::read_dials;
use crate::fuzz::{ASF, MODES, TARGETS, read_rig, set_dials};

/// Damaged inputs per format.
const INPUTS: u64 = 3000;

/// All inputs of a format together get this long before the test is aborted: some hundred times
/// what they take, so only a hang gets there.
const HANG: Duration = Duration::from_secs(60);

/// Peak memory of reading: so many bytes per byte of the input, and so many besides. A value of
/// two bytes (`0 `) becomes a column's 8 bytes, and of three such values come the 32 of a rotation
/// or the 24 of a point with its own share; then there are warnings with their texts, 1,000 at
/// most. Measured: at most 0.06 of what these inputs are allowed.
const BYTES_PER_BYTE: u64 = 64;
const BYTES_BESIDES: u64 = 1 << 20;

/// Aborts the process if it is not dropped in time: a thread that hangs cannot be ended otherwise.
struct Watchdog(std::sync::Arc<AtomicBool>);

impl Watchdog {
    fn new(what: &'static str) -> Self {
        let done = std::sync::Arc::new(AtomicBool::new(false));
        let watched = done.clone();
        std::thread::spawn(move || {
            let start = Instant::now();
            while !watched.load(Ordering::Relaxed) {
                if start.elapsed() > HANG {
                    eprintln!("{what} hangs: not done after {} s", HANG.as_secs());
                    std::process::abort();
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        Self(done)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A synthetic take in a format, small: the figure has `joints` joints.
fn take(format: Format, joints: usize, seed: u64) -> (Vec<u8>, Option<MotionFile>) {
    let options = Options { frames: 6, ..Options::default() };
    let synth = Synth::generate(&Figure::random(joints, seed).unwrap(), &options, seed).unwrap();
    let source = synth.channels(|_| EulerOrder::ZXY, 0.1, seed).unwrap();
    let clip = Clip::from_channels(&synth.skeleton, options.rate, source.channels).unwrap();
    let file = MotionFile::new(synth.skeleton, clip);
    let mut written = write(&file, format, &WriteOptions::default()).unwrap();
    let skeleton = (format == Format::Amc).then(|| {
        let (_, asf) = written.parts.pop().unwrap();
        read(&asf, None, &ReadOptions::default()).unwrap().file
    });
    (written.parts.remove(0).1, skeleton)
}

/// What numbers are replaced by.
const NUMBERS: [&str; 16] = [
    "1e999",
    "-0",
    "NaN",
    "-inf",
    "1e308",
    "-1e308",
    "4e-324",
    "1000000000",
    "18446744073709551616",
    "",
    "-",
    ".",
    "0x10",
    "1.#QNAN",
    "1e-999999999",
    "9007199254740993.000000000000000000000000001",
];

/// Some bytes with one to four random faults.
fn damaged(rng: &mut Rng, original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=rng.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.below(bytes.len());
        match rng.below(8) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = *rng.choose(b"{}()#:-+.eE09 \t\r\n\0\xFF").unwrap(),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..(at + 1 + rng.below(30)).min(bytes.len()))),
            // A piece of it somewhere else.
            4 => {
                let from = rng.below(bytes.len());
                let piece = bytes[from..(from + 1 + rng.below(60)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            // A number becomes another.
            5 | 6 => {
                let digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'e');
                let Some(start) = bytes[at..].iter().position(digit).map(|n| at + n) else {
                    continue;
                };
                let n = bytes[start..].iter().position(|b| !digit(b));
                let end = n.map_or(bytes.len(), |n| start + n);
                bytes.splice(start..end, rng.choose(&NUMBERS).unwrap().bytes());
            }
            // A line twice, or often.
            _ => {
                let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |n| n + 1);
                let n = bytes[at..].iter().position(|b| *b == b'\n');
                let end = n.map_or(bytes.len(), |n| at + n + 1);
                let line = bytes[start..end].to_vec();
                let times = if rng.chance(0.1) { 200 } else { 1 };
                bytes.splice(start..start, line.repeat(times));
            }
        }
    }
    bytes
}

/// Reads in one mode and returns the peak of memory over what the input is allowed.
#[track_caller]
fn check_memory(bytes: &[u8], skeleton: Option<&MotionFile>, options: &ReadOptions) -> f64 {
    let info = allocation_counter::measure(|| drop(read(bytes, skeleton, options)));
    let asf = skeleton.map_or(0, |s| 2000 * s.skeleton.len() as u64);
    let allowed = BYTES_PER_BYTE * bytes.len() as u64 + BYTES_BESIDES + asf;
    assert!(
        info.bytes_max <= allowed,
        "{} bytes of memory for {} bytes of input: {:?}",
        info.bytes_max,
        bytes.len(),
        String::from_utf8_lossy(&bytes[..bytes.len().min(2000)])
    );
    info.bytes_max as f64 / allowed as f64
}

/// All inputs of one format. At least some of them have to read, or the test tests nothing.
#[track_caller]
fn check(format: Format, what: &'static str) {
    let _watchdog = Watchdog::new(what);
    let mut originals: Vec<_> = (2..6).map(|joints| take(format, joints, joints as u64)).collect();
    if format == Format::Asf {
        originals.push((ASF.as_bytes().to_vec(), None));
    }
    let (mut read_at_all, mut worst) = (0, 0.0_f64);
    for i in 0..INPUTS {
        let mut rng = Rng::stream(format as u64, i);
        let (original, skeleton) = rng.choose(&originals).unwrap();
        let bytes = damaged(&mut rng, original);
        let mode = MODES[rng.below(3)];
        let options = ReadOptions { mode, format: Some(format), ..ReadOptions::default() };
        worst = worst.max(check_memory(&bytes, skeleton.as_ref(), &options));
        read_at_all += usize::from(check_bytes(&bytes, format, skeleton.as_ref()) > 0);
    }
    println!("{what}: {read_at_all} of {INPUTS} still read; memory {worst:.3} of what is allowed");
    let share = read_at_all as f64 / INPUTS as f64;
    assert!((0.05..0.95).contains(&share), "{share} of the inputs read");
}

#[test]
fn damaged_bvh_is_read_or_refused() {
    check(Format::Bvh, "damaged BVH");
}

#[test]
fn damaged_asf_is_read_or_refused() {
    check(Format::Asf, "damaged ASF");
}

#[test]
fn damaged_amc_is_read_or_refused() {
    check(Format::Amc, "damaged AMC");
}

#[test]
fn damaged_trc_is_read_or_refused() {
    check(Format::Trc, "damaged TRC");
}

/// Joint maps: what is still read and fits the skeleton can be set to anything.
#[test]
fn damaged_models_are_refused_or_posed() {
    let _watchdog = Watchdog::new("damaged models");
    let originals: Vec<&[u8]> =
        ["shoulder", "knee"].iter().map(|m| condyle::models::text(m).unwrap().as_bytes()).collect();
    let mut posed = 0;
    for i in 0..INPUTS {
        let mut rng = Rng::stream(77, i);
        let original = originals[rng.below(2)];
        let bytes = damaged(&mut rng, original);
        read_rig(&bytes);
        let read = condyle::rig::Rig::read(&bytes);
        posed += usize::from(read.is_ok_and(|read| set_dials(&read.rig)));
    }
    println!("{posed} of {INPUTS} damaged models can still be posed");
    assert!(posed > INPUTS as usize / 50, "{posed}");
}

#[test]
fn any_bytes_are_refused_or_read_whatever_the_format() {
    let _watchdog = Watchdog::new("random bytes");
    let mut rng = Rng::new(1);
    let skeleton = take(Format::Amc, 3, 1).1;
    for _ in 0..2000 {
        let n = rng.below(200);
        let bytes: Vec<u8> = (0..n).map(|_| rng.bits() as u8).collect();
        for format in
            [None, Some(Format::Bvh), Some(Format::Asf), Some(Format::Trc), Some(Format::Amc)]
        {
            let options = ReadOptions { format, mode: Mode::Lenient, ..ReadOptions::default() };
            check_memory(&bytes, skeleton.as_ref(), &options);
        }
    }
}

/// Tables of dials: most are refused, and what is read is written as it was read.
#[test]
fn damaged_tables_of_dials_are_refused_or_read() {
    let _watchdog = Watchdog::new("damaged tables of dials");
    let table = b"time_s,a.bend_deg,\"b,\"\"c\"\"_deg\",d_m,e\n0,1,0.01,0.05,0.5\n0.1,-20,0,0,1\n0.2,3,0,0,0\n";
    read_dials(table);
    for i in 0..INPUTS {
        read_dials(&damaged(&mut Rng::stream(78, i), table));
    }
}

/// Figures, motion and settings made of random bytes: what the fuzzer does for hours, for a moment.
#[test]
fn work_on_motion_that_is_made_of_random_bytes_holds_what_it_promises() {
    let _watchdog = Watchdog::new("work on made motion");
    let times = [
        ("fit_dials", 3),
        ("clamp", 60),
        ("estimate", 30),
        ("couplings", 3),
        ("edit", 60),
        ("evaluated", 10),
        ("pages", 10),
        ("changing", 10),
    ];
    for (name, times) in times {
        let (_, run) = TARGETS.iter().find(|(target, _)| *target == name).expect("it is a target");
        for i in 0..times {
            let mut rng = Rng::stream(79, i);
            let n = 64 + rng.below(448);
            let bytes: Vec<u8> = (0..n).map(|_| rng.bits() as u8).collect();
            println!("{name} {i}");
            run(&bytes);
        }
    }
}
