//! `cargo xtask fuzz [SECONDS [TARGET…]]`: every fuzz target, or some, for so long, then a table.
//!
//! No part of `make test`: fuzzing needs nightly Rust and time, and finds what it finds by chance.
//! What it found before is replayed there.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::succeeds;

/// How long each target runs unless told otherwise.
const SECONDS: u32 = 600;

/// Executions per second that a target which reads a format has to reach. What works on made motion takes as
/// long as that work does.
const RATE: f64 = 1000.0;

/// The targets and the dictionary of their format; made files need none.
const TARGETS: [(&str, Option<&str>); 23] = [
    ("read_bvh", Some("bvh")),
    ("read_asf", Some("acclaim")),
    ("read_amc", Some("acclaim")),
    ("read_trc", Some("trc")),
    ("round_trip_bvh", None),
    ("round_trip_acclaim", None),
    ("round_trip_trc", None),
    ("convert", None),
    ("limits", None),
    ("read_rig", Some("rig")),
    ("read_summary", Some("cst")),
    ("read_goals", Some("goals")),
    ("ik", None),
    ("limb", None),
    ("read_dials", Some("dials")),
    ("fit_dials", None),
    ("clamp", None),
    ("estimate", None),
    ("couplings", None),
    ("edit", None),
    ("evaluated", None),
    ("pages", None),
    ("changing", None),
];

/// Every target, or some, for so many seconds each.
pub(crate) fn run(seconds: Option<String>, only: &[String]) -> ExitCode {
    let seconds = match seconds.map(|text| text.parse::<u32>()) {
        None => SECONDS,
        Some(Ok(seconds)) if seconds > 0 => seconds,
        Some(_) => {
            eprintln!("usage: cargo xtask fuzz [SECONDS [TARGET…]]");
            return ExitCode::from(2);
        }
    };
    for tool in [&["cargo", "+nightly", "--version"][..], &["cargo", "fuzz", "--version"]] {
        if !succeeds(tool) {
            println!("fuzz skipped: `{}` is not installed", tool[..2].join(" "));
            return ExitCode::SUCCESS;
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fuzz = root.join("fuzz");
    let mut table = format!("{:20} {:>12} {:>10}  fault\n", "target", "executions", "per second");
    let mut failed = false;
    if let Some(unknown) = only.iter().find(|name| !TARGETS.iter().any(|(t, _)| t == name)) {
        eprintln!("there is no fuzz target {unknown:?}");
        return ExitCode::from(2);
    }
    let chosen =
        |(target, _): &(&str, _)| only.is_empty() || only.iter().any(|name| name == target);
    for (target, dictionary) in TARGETS.into_iter().filter(chosen) {
        println!("== {target}, {seconds} s");
        let own = fuzz.join("corpus").join(target);
        if let Err(error) = fs::create_dir_all(&own) {
            eprintln!("{}: {error}", own.display());
            return ExitCode::FAILURE;
        }
        let mut command = Command::new("cargo");
        command.current_dir(&root);
        command.args(["+nightly", "fuzz", "run", "--sanitizer", "none", target]);
        // What is new goes to the first folder; the second is that of the repository.
        command.arg(&own);
        let kept = root.join("corpus/fuzz").join(target);
        if kept.is_dir() {
            command.arg(kept);
        }
        // Bytes become a figure with its motion: more of them make it larger, not different.
        let longest = if dictionary.is_some() { "-max_len=4096" } else { "-max_len=512" };
        command.args(["--", longest, "-timeout=10", "-rss_limit_mb=2048"]);
        command.args(["-print_final_stats=1", &format!("-max_total_time={seconds}")]);
        if let Some(dictionary) = dictionary {
            command
                .arg(format!("-dict={}", fuzz.join("dict").join(dictionary).display()) + ".dict");
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                eprintln!("{target}: {error}");
                return ExitCode::FAILURE;
            }
        };
        let text = String::from_utf8_lossy(&output.stderr);
        let count = text.lines().find_map(|l| l.strip_prefix("stat::number_of_executed_units:"));
        let count: f64 = count.and_then(|n| n.trim().parse().ok()).unwrap_or(0.0);
        // Of the time asked for, which leaves out reading the inputs that are there.
        let rate = count / f64::from(seconds);
        let fault = match text.lines().find(|l| l.contains("panicked at") || l.contains("ERROR:")) {
            _ if output.status.success() && (rate >= RATE || dictionary.is_none()) => "none",
            _ if output.status.success() => "slow",
            Some(line) => line,
            None => text.lines().last().unwrap_or("it did not run"),
        };
        failed |= fault != "none";
        let line = format!("{target:20} {count:12} {rate:10.0}  {fault}\n");
        print!("{line}");
        table += &line;
    }
    print!("\n{table}");
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
