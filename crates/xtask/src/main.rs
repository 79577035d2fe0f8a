//! All automation of the repository, in Rust: `cargo xtask ci`, `check`, `bench`, `fuzz`.
//!
//! CI runs `make test`, which runs `cargo xtask ci`: the same at home and there.
//!
//! Why the steps are as they are: formatting first, since it is the cheapest. Lints for the library
//! and the binary apart from those for tests, since a test target may hide that something is used
//! by tests only. Documentation with warnings as errors, since a broken link is a broken promise.

mod fuzz;

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let steps: Vec<Step> = match task.as_str() {
        "ci" => [lints(), tests(), docs(), licences()].concat(),
        "check" => [lints(), unit_tests()].concat(),
        "bench" => bench(),
        "fuzz" => return fuzz::run(std::env::args().nth(2)),
        _ => {
            eprintln!("usage: cargo xtask ci | check | bench | fuzz [SECONDS]");
            return ExitCode::from(2);
        }
    };
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
            &["cargo", "deny", "--offline", "check", "licenses", "bans", "sources"],
        )
    }]
}

fn bench() -> Vec<Step> {
    vec![Step::new("benchmarks", &["cargo", "bench", "--package", "condyle"])]
}
