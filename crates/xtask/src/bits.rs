//! The same bits in every build: `cargo xtask builds`, `wasm`, `bless` (docs/determinism.md).
//!
//! Each builds the program of `crates/bits` in some way, runs it, and compares what it prints with
//! `crates/bits/golden.txt`. So all builds are compared with each other, on this machine and with
//! those of everyone before.

#[path = "../../bits/src/difference.rs"]
#[allow(unreachable_pub, reason = "the library that owns the file exports it")]
mod difference;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use difference::difference;

const PACKAGE: &str = "condyle-bits";
const GOLDEN: &str = "crates/bits/golden.txt";
const WASM: &str = "wasm32-unknown-unknown";

/// What went wrong, in words.
type Outcome<T = ()> = Result<T, String>;

/// Runs one of the tasks of this module; `None` if it is not one.
pub(crate) fn task(name: &str) -> Option<ExitCode> {
    let task = match name {
        "builds" => builds,
        "wasm" => wasm,
        "bless" => bless,
        _ => return None,
    };
    // Paths here are those of the repository, wherever the task was called.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let there = std::env::set_current_dir(&root).map_err(|e| format!("{}: {e}", root.display()));
    Some(match there.and_then(|()| task()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("xtask {name}: {what}");
            ExitCode::FAILURE
        }
    })
}

/// A native build: its name, flags of cargo, environment.
type Build = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

/// Optimisation over the borders of crates takes a third of the time to build. What is released has
/// it; builds that differ from that in something else do without.
const NO_LTO: (&str, &str) = ("CARGO_PROFILE_RELEASE_LTO", "off");

/// Native builds that must agree.
const BUILDS: [Build; 3] = [
    // Its dependencies too, with the checks of a debug build.
    ("opt-level 0", &["--profile", "unoptimised"], &[]),
    ("release", &["--release"], &[]),
    (
        "release, native CPU",
        // Another folder, so that the flags do not throw away the other builds.
        &["--release", "--target-dir", "target/native"],
        &[("RUSTFLAGS", "-C target-cpu=native"), NO_LTO],
    ),
];

fn builds() -> Outcome {
    let golden = read_golden()?;
    // All of them, since which ones differ says where to look.
    let mut errors = String::new();
    for (name, flags, env) in BUILDS {
        let mut command = cargo();
        command.args(["run", "--quiet", "--package", PACKAGE]).args(flags);
        let outcome = compare(name, &golden, command.envs(env.iter().copied()), Instant::now());
        errors.extend(outcome.err());
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn wasm() -> Outcome {
    if output(Command::new("node").arg("--version")).is_err() {
        println!("   skipped: WebAssembly is not compared, since Node is not installed");
        return Ok(());
    }
    let Some(mut build) = wasm_build() else {
        println!(
            "   skipped: WebAssembly is not compared, since there is no standard library for it.\n   \
             `rustup target add {WASM}` gets it; where rustup cannot, on Debian,\n   \
             `apt-get install --no-install-recommends rustc-web cargo-web rust-web-src`"
        );
        return Ok(());
    };
    let folder = "target/wasm";
    build.args(["--quiet", "--release", "--package", PACKAGE, "--lib", "--crate-type", "cdylib"]);
    build.args(["--target", WASM, "--target-dir", folder]).envs([NO_LTO]);
    let start = Instant::now();
    output(&mut build)?;
    let wasm = Path::new(folder).join(WASM).join("release/condyle_bits.wasm");
    let golden = read_golden()?;
    compare(WASM, &golden, Command::new("node").arg("crates/bits/wasm.mjs").arg(wasm), start)
}

/// `cargo rustc` that can build for WebAssembly: the usual one, else Debian's.
fn wasm_build() -> Option<Command> {
    if !has_wasm_library() {
        println!("   no standard library for {WASM} yet: asking rustup");
        let _ = output(Command::new("rustup").args(["target", "add", WASM]));
    }
    if has_wasm_library() {
        let mut command = cargo();
        command.arg("rustc");
        return Some(command);
    }
    debian_wasm_build()
}

fn has_wasm_library() -> bool {
    let folder = output(Command::new("rustc").args(["--print", "target-libdir", "--target", WASM]));
    folder.is_ok_and(|folder| {
        let entries = std::fs::read_dir(folder.trim()).into_iter().flatten().flatten();
        entries.into_iter().any(|e| e.file_name().to_string_lossy().starts_with("libstd-"))
    })
}

/// Debian has a compiler and the source of its standard library, which is built along: some three
/// minutes the first time. Packages are installed unasked only where nobody sits: in CI, as root.
fn debian_wasm_build() -> Option<Command> {
    const PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];
    let installed =
        || PACKAGES.iter().all(|p| output(Command::new("dpkg").args(["-L", p])).is_ok());
    if !installed() && std::env::var_os("CI").is_some() {
        println!("   rustup has none: installing {}", PACKAGES.join(", "));
        let mut install = Command::new("apt-get");
        install.args(["install", "-y", "--no-install-recommends"]).args(PACKAGES);
        let _ = output(install.env("DEBIAN_FRONTEND", "noninteractive"));
    }
    if !installed() {
        return None;
    }
    let mut command = Command::new(file_of("cargo-web", "/bin/cargo")?);
    command.env("RUSTC", file_of("rustc-web", "/bin/rustc")?);
    // Building the standard library is an unstable flag of a stable compiler.
    command.env("RUSTC_BOOTSTRAP", "1").args(["rustc", "-Zbuild-std=std,panic_abort"]);
    // Debian's compiler comes without a linker for WebAssembly; that of rustup serves.
    if let Some(linker) = rust_lld() {
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    Some(command)
}

/// The file of a Debian package whose path ends so.
fn file_of(package: &str, end: &str) -> Option<String> {
    let files = output(Command::new("dpkg").args(["-L", package])).ok()?;
    files.lines().find(|line| line.ends_with(end)).map(str::to_owned)
}

fn rust_lld() -> Option<PathBuf> {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"])).ok()?;
    let host = output(Command::new("rustc").args(["--print", "host-tuple"])).ok()?;
    let folder = Path::new(sysroot.trim()).join("lib/rustlib").join(host.trim());
    Some(folder.join("bin/rust-lld")).filter(|path| path.exists())
}

fn bless() -> Outcome {
    let before = read_golden().unwrap_or_default();
    let found = output(cargo().args(["run", "--quiet", "--package", PACKAGE]))?;
    match difference(&before, &found) {
        None => println!("{GOLDEN} is as it was"),
        Some(difference) => {
            std::fs::write(GOLDEN, &found).map_err(|e| format!("{GOLDEN}: {e}"))?;
            println!("{GOLDEN} is new; say in the changelog why:\n{difference}");
        }
    }
    Ok(())
}

fn read_golden() -> Outcome<String> {
    std::fs::read_to_string(GOLDEN).map_err(|e| format!("{GOLDEN}: {e}"))
}

/// Runs a program and compares what it prints with what is expected; `start` is when its build did.
fn compare(name: &str, golden: &str, program: &mut Command, start: Instant) -> Outcome {
    let found = output(program)?;
    if let Some(difference) = difference(golden, &found) {
        return Err(format!("other bits in the build {name:?} than in {GOLDEN}:\n{difference}"));
    }
    let all = found.lines().last().and_then(|l| l.split_whitespace().last()).unwrap_or_default();
    let (parts, seconds) = (found.lines().count() - 1, start.elapsed().as_secs_f64());
    println!("   {name:<22} {all}, {parts} parts the same, {seconds:.1} s");
    Ok(())
}

/// What a program prints, or why there is nothing.
fn output(command: &mut Command) -> Outcome<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|e| format!("{name}: {e}"))?;
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{name} failed ({}):\n{errors}", done.status));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn cargo() -> Command {
    Command::new("cargo")
}
