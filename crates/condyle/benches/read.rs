//! Reading a large BVH: megabytes per second, beside the `bvh_anim` crate and a bare loop that only
//! tokenises and parses, in the same run, interleaved, best of several.
//!
//! Then both as whole programs, this one once more for each, with a file to read: from start to end.
//!
//! `READ_MB` sets the size of the made-up file (default 100); with `READ_ONCE` it is read once and
//! its length printed, for counting instructions.

#![allow(unsafe_code, reason = "a file of its own is mapped, which nobody changes")]
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, and may stop"
)]

use std::fmt::Write;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use condyle::formats::{FilesStay, ReadOptions, acclaim, bvh, read, read_file};
use condyle::synth::Rng;

const JOINTS: usize = 31;
const RUNS: usize = 5;

/// A chain of joints, three turns each, the root with positions, six decimals.
fn made_up(megabytes: usize) -> String {
    let mut text = String::from("HIERARCHY\n");
    for j in 0..JOINTS {
        let (kind, channels) = if j == 0 {
            ("ROOT", "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation")
        } else {
            ("JOINT", "3 Zrotation Yrotation Xrotation")
        };
        writeln!(text, "{kind} j{j}\n{{\nOFFSET 0.0 10.0 0.0\nCHANNELS {channels}").unwrap();
    }
    text.push_str("End Site\n{\nOFFSET 0.0 5.0 0.0\n}\n");
    text.push_str(&"}\n".repeat(JOINTS));
    let channels = 3 * JOINTS + 3;
    let mut rng = Rng::new(1);
    let mut rows = String::new();
    let mut frames = 0;
    // Smooth curves of all sizes, so that numbers have one to three digits before the point.
    let mut values: Vec<f64> = (0..channels).map(|_| rng.between(-180.0, 180.0)).collect();
    while rows.len() < megabytes << 20 {
        for (c, value) in values.iter_mut().enumerate() {
            *value = (*value + rng.normal()).clamp(-180.0, 180.0);
            let end = if c + 1 == channels { '\n' } else { ' ' };
            write!(rows, "{value:.6}{end}").unwrap();
        }
        frames += 1;
    }
    writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: 0.008333").unwrap();
    text + &rows
}

/// The bare loop: blanks and numbers, exactly parsed, nothing kept but their sum.
fn bare(data: &[u8]) -> f64 {
    let mut sum = 0.0;
    let mut at = 0;
    while at < data.len() {
        if data[at] <= b' ' {
            at += 1;
            continue;
        }
        let (value, end) = condyle::formats::bare_number(data, at);
        sum += value;
        at = end;
    }
    sum
}

/// The same for AMC: names are skipped as words.
fn bare_amc(data: &[u8]) -> f64 {
    let mut sum = 0.0;
    let mut at = 0;
    while at < data.len() {
        match data[at] {
            0..=b' ' => at += 1,
            b'a'..=b'z' => {
                while data.get(at).is_some_and(|b| *b > b' ') {
                    at += 1;
                }
            }
            _ => {
                let (value, end) = condyle::formats::bare_number(data, at);
                sum += value;
                at = end;
            }
        }
    }
    sum
}

/// An AMC like those of the CMU data base: six significant digits, 29 bones, 62 values.
fn amc(megabytes: usize) {
    let mut asf = String::from(
        ":version 1.10\n:units\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n axis XYZ\n position 0 0 0\n orientation 0 0 0\n:bonedata\n",
    );
    let mut hierarchy = String::from(":hierarchy\n begin\n root");
    for b in 0..28 {
        writeln!(
            asf,
            "begin\nname bone{b}\ndirection 0 1 0\nlength 1\naxis 0 0 0 XYZ\ndof rx ry\nend"
        )
        .unwrap();
        write!(hierarchy, " bone{b}").unwrap();
    }
    let asf = asf + &hierarchy + "\n end\n";
    let mut text = String::from(":FULLY-SPECIFIED\n:DEGREES\n");
    let mut rng = Rng::new(2);
    let mut frame = 1;
    while text.len() < megabytes << 20 {
        writeln!(text, "{frame}").unwrap();
        let mut line = |name: &str, n: usize| {
            text.push_str(name);
            for _ in 0..n {
                let v = rng.between(-100.0, 100.0);
                write!(text, " {v:.4}").unwrap();
            }
            text.push('\n');
        };
        line("root", 6);
        (0..28).for_each(|b| line(&format!("bone{b}"), 2));
        frame += 1;
    }
    let bytes = text.as_bytes();
    let skeleton = read(asf.as_bytes(), None, &ReadOptions::default()).unwrap().file;
    let mut best = [f64::INFINITY; 2];
    for _ in 0..RUNS {
        let start = Instant::now();
        black_box(bare_amc(black_box(bytes)));
        best[0] = best[0].min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let columns = acclaim::read_columns(black_box(bytes), &skeleton, &ReadOptions::default());
        best[1] = best[1].min(start.elapsed().as_secs_f64());
        drop(black_box(columns.unwrap()));
    }
    let rate = |i: usize| bytes.len() as f64 / 1e6 / best[i];
    println!("AMC of {:.0} MB, best of {RUNS}:", bytes.len() as f64 / 1e6);
    println!("  bare loop                          {:7.0} MB/s", rate(0));
    println!(
        "  into columns, names matched        {:7.0} MB/s   {:5.2} x bare",
        rate(1),
        rate(1) / rate(0)
    );
}

/// Reads a file for [`whole_programs`], if that is what this program was started for.
fn is_a_reader_of_one_file() -> bool {
    let Ok(job) = std::env::var("READ_AS_PROGRAM") else { return false };
    let (reader, path) = job.split_once(' ').unwrap();
    if reader == "bvh_anim" {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        drop(black_box(bvh_anim::from_reader(file).unwrap()));
        return true;
    }
    // SAFETY: the file was made by `whole_programs`, which leaves it alone until this program ends.
    let map = (reader == "mapped").then(|| unsafe { FilesStay::promise() });
    let threads = if reader == "one" { 1 } else { 2 };
    let threads = NonZeroUsize::new(threads).unwrap();
    let options = ReadOptions { threads, map, ..ReadOptions::default() };
    drop(black_box(read_file(path.as_ref(), None, &options).unwrap()));
    true
}

/// From the start of a program to its end: reading a file with rotations, wall time.
fn whole_programs(text: &str) {
    let path = std::env::temp_dir().join(format!("condyle-read-{}.bvh", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let readers = [
        ("bvh_anim", "the bvh_anim crate"),
        ("one", "with rotations, one thread"),
        ("two", "with rotations, two threads"),
        ("mapped", "with rotations, two threads, mapped"),
    ];
    let mut best = [f64::INFINITY; 4];
    for _ in 0..RUNS {
        for ((reader, _), best) in readers.iter().zip(&mut best) {
            let mut program = std::process::Command::new(std::env::current_exe().unwrap());
            program.env("READ_AS_PROGRAM", format!("{reader} {}", path.display())).arg("--bench");
            let start = Instant::now();
            assert!(program.status().unwrap().success());
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    std::fs::remove_file(&path).unwrap();
    println!("whole programs, wall time, best of {RUNS}:");
    for ((_, what), time) in readers.iter().zip(best) {
        println!("  {what:36} {:6.0} ms   {:5.2} x bvh_anim", 1e3 * time, best[0] / time);
    }
}

fn main() {
    if is_a_reader_of_one_file() {
        return;
    }
    // `cargo test --all-targets` runs it, too, without this.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let megabytes = std::env::var("READ_MB").ok().and_then(|m| m.parse().ok()).unwrap_or(100);
    let text = made_up(megabytes);
    let bytes = text.as_bytes();
    let rows = &bytes[text.find("Frame Time").unwrap() + 20..];
    let one = ReadOptions::default();
    if std::env::var_os("READ_ONCE").is_some() {
        // For counting instructions: the file once, and how long it is.
        drop(black_box(bvh::read_document(black_box(bytes), &one).unwrap()));
        println!("{}", bytes.len());
        return;
    }
    let two = ReadOptions { threads: NonZeroUsize::new(2).unwrap(), ..one };
    let mut best = [f64::INFINITY; 6];
    // What is read is given back to the system outside the measured time.
    let mut time = |i: usize, f: &mut dyn FnMut() -> Box<dyn std::any::Any>| {
        let start = Instant::now();
        let result = black_box(f());
        best[i] = best[i].min(start.elapsed().as_secs_f64());
        drop(result);
    };
    for _ in 0..RUNS {
        time(0, &mut || Box::new(bare(black_box(rows))));
        time(1, &mut || Box::new(bvh::read_document(black_box(bytes), &one).unwrap()));
        time(2, &mut || Box::new(bvh::read_document(black_box(bytes), &two).unwrap()));
        time(3, &mut || Box::new(read(black_box(bytes), None, &one).unwrap()));
        time(4, &mut || Box::new(read(black_box(bytes), None, &two).unwrap()));
        time(5, &mut || Box::new(bvh_anim::from_bytes(black_box(bytes)).unwrap()));
    }
    let rate = |i: usize| bytes.len() as f64 / 1e6 / best[i];
    println!(
        "BVH of {:.0} MB, {} channels, best of {RUNS}:",
        bytes.len() as f64 / 1e6,
        3 * JOINTS + 3
    );
    for (i, what) in [
        "bare loop: tokenise and parse",
        "into channel columns, one thread",
        "into channel columns, two threads",
        "with rotations, one thread",
        "with rotations, two threads",
        "the bvh_anim crate",
    ]
    .iter()
    .enumerate()
    {
        let (bare, peer) = (rate(i) / rate(0), rate(i) / rate(5));
        println!("  {what:34} {:7.0} MB/s   {bare:5.2} x bare   {peer:5.2} x bvh_anim", rate(i));
    }
    let [columns, rotations] = [rate(2) / rate(1), rate(4) / rate(3)];
    println!(
        "  two threads / one, wall time: {columns:.2} into columns, {rotations:.2} with rotations"
    );
    whole_programs(&text);
    amc(megabytes);
}
