//! All automation of the repository, in Rust: `cargo xtask ci`, `check`, `bench`, `fuzz`, `tools`, `builds`,
//! `wasm`, `bless`.
//!
//! CI runs `make test`, which runs `cargo xtask ci`: the same at home and there.
//!
//! Why the steps are as they are: formatting first, since it is the cheapest. Lints for the library
//! and the binary apart from those for tests, since a test target may hide that something is used
//! by tests only. Documentation with warnings as errors, since a broken link is a broken promise.

mod bits;
mod fuzz;
mod tools;

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    if let Some(code) = bits::task(&task) {
        return code;
    }
    let steps: Vec<Step> = match task.as_str() {
        "ci" => [lints(), tests(), same_bits(), docs(), licences()].concat(),
        "check" => [lints(), unit_tests()].concat(),
        "bench" => return if bench() { ExitCode::SUCCESS } else { ExitCode::FAILURE },
        "fuzz" => {
            let mut more = std::env::args().skip(2);
            return fuzz::run(more.next(), &more.collect::<Vec<_>>());
        }
        "tools" => return tools::run(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            eprintln!(
                "usage: cargo xtask ci | check | bench | fuzz [SECONDS [TARGET…]] | tools [TOOL…] | builds | wasm | bless"
            );
            return ExitCode::from(2);
        }
    };
    if task == "ci" {
        tools::for_tests();
    }
    for step in steps {
        if !step.run() {
            return ExitCode::FAILURE;
        }
    }
    println!("xtask {task}: all steps done");
    ExitCode::SUCCESS
}

/// One command of a task.
#[derive(Clone)]
struct Step {
    what: &'static str,
    command: &'static [&'static str],
    /// Environment for this step.
    env: &'static [(&'static str, &'static str)],
    /// Whether the step is left out, and says so, where its tool is not installed.
    needs: Option<&'static [&'static str]>,
}

impl Step {
    const fn new(what: &'static str, command: &'static [&'static str]) -> Self {
        Self { what, command, env: &[], needs: None }
    }

    fn run(&self) -> bool {
        println!("== {}: {}", self.what, self.command.join(" "));
        if let Some(tool) = self.needs
            && !succeeds(tool)
        {
            println!("   skipped: `{}` is not installed", tool.join(" "));
            return true;
        }
        let start = Instant::now();
        let status = Command::new(self.command[0])
            .args(&self.command[1..])
            .envs(self.env.iter().copied())
            .status();
        let ok = status.is_ok_and(|s| s.success());
        let verdict = if ok { "ok" } else { "FAILED" };
        println!("   {verdict} after {:.1} s", start.elapsed().as_secs_f64());
        ok
    }
}

fn succeeds(command: &[&str]) -> bool {
    Command::new(command[0])
        .args(&command[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

fn lints() -> Vec<Step> {
    vec![
        Step::new("format", &["cargo", "fmt", "--all", "--check"]),
        Step::new(
            "lints of the product",
            &["cargo", "clippy", "--workspace", "--lib", "--bins", "--", "-D", "warnings"],
        ),
        Step::new(
            "lints of tests, examples and benchmarks",
            &["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        ),
    ]
}

fn unit_tests() -> Vec<Step> {
    vec![Step::new("unit tests", &["cargo", "test", "--workspace", "--lib", "--bins"])]
}

fn tests() -> Vec<Step> {
    vec![
        Step::new("unit and integration tests", &["cargo", "test", "--workspace", "--all-targets"]),
        Step::new("examples in the documentation", &["cargo", "test", "--workspace", "--doc"]),
        Step::new(
            "the example without a file",
            &["cargo", "run", "--quiet", "--package", "condyle", "--example", "where_is_the_hand"],
        ),
    ]
}

fn same_bits() -> Vec<Step> {
    vec![
        Step::new("the same bits in other builds", &["cargo", "xtask", "builds"]),
        Step::new("the same bits in WebAssembly", &["cargo", "xtask", "wasm"]),
    ]
}

fn docs() -> Vec<Step> {
    vec![Step {
        env: &[("RUSTDOCFLAGS", "-D warnings")],
        ..Step::new(
            "documentation",
            &["cargo", "doc", "--workspace", "--no-deps", "--document-private-items"],
        )
    }]
}

fn licences() -> Vec<Step> {
    vec![Step {
        needs: Some(&["cargo", "deny", "--version"]),
        ..Step::new(
            "licences, sources and duplicates of dependencies",
            &["cargo", "deny", "check", "licenses", "bans", "sources"],
        )
    }]
}

/// Runs the benchmarks, prints their figures, and appends them to a record with machine and commit.
fn bench() -> bool {
    let mut record =
        format!("\n## {}\n\n{}\n", output(&["git", "log", "-1", "--format=%cs %h %s"]), machine());
    for name in
        ["forward", "batch", "limits", "clamp", "limb", "maps", "estimate", "corpus", "read"]
    {
        println!("== {name}");
        let figures =
            output(&["cargo", "bench", "--quiet", "--package", "condyle", "--bench", name]);
        if figures.is_empty() {
            return false;
        }
        println!("{figures}");
        record.push_str(&format!("\n```text\n{figures}\n```\n"));
    }
    let count = instructions().unwrap_or_else(|| "not counted: valgrind is not at hand".to_owned());
    println!("instructions per byte, BVH into columns: {count}");
    record.push_str(&format!("\nInstructions per byte, BVH into columns: {count}.\n"));
    let path = "bench/record.md";
    let written = std::fs::OpenOptions::new().append(true).open(path);
    written.and_then(|mut f| f.write_all(record.as_bytes())).is_ok()
}

/// What a command prints, trimmed; empty if it fails. What it builds is built as users have it: code that
/// was compiled in pieces to save time is some 5 % slower.
fn output(command: &[&str]) -> String {
    let mut run = Command::new(command[0]);
    run.args(&command[1..]).env("CARGO_INCREMENTAL", "0").stderr(Stdio::inherit());
    let out = run.output();
    let good = out.ok().filter(|o| o.status.success());
    good.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}

/// The processor and how many of it.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or("");
    let model = model.trim_start_matches(['\t', ' ', ':']);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{}, {cores} cores, {}",
        if model.is_empty() { "unknown processor" } else { model },
        output(&["rustc", "--version"])
    )
}

/// Instructions per byte of the fast row reader, counted by callgrind on a small file.
fn instructions() -> Option<String> {
    if !succeeds(&["valgrind", "--version"]) {
        return None;
    }
    let built = output(&[
        "cargo",
        "bench",
        "--quiet",
        "--package",
        "condyle",
        "--bench",
        "read",
        "--no-run",
        "--message-format=json",
    ]);
    let program =
        built.lines().rev().find_map(|l| l.split("\"executable\":\"").nth(1)?.split('"').next())?;
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--toggle-collect=*bvh::rows::read_piece*", program, "--bench"])
        .envs([("READ_MB", "4"), ("READ_ONCE", "1")])
        .output()
        .ok()?;
    let bytes: f64 = String::from_utf8_lossy(&out.stdout).trim().parse().ok()?;
    let log = String::from_utf8_lossy(&out.stderr).into_owned();
    let count: f64 =
        log.lines().find_map(|l| l.split("Collected : ").nth(1))?.trim().parse().ok()?;
    Some(format!("{:.2}", count / bytes))
}
