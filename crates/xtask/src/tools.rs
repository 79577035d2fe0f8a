//! `cargo xtask tools [NAME…]`: fills the cache of what judges condyle in tests, see `tools.txt`.

mod list;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::{output, succeeds};
use list::{From, Tool};

/// The list, as it was when this was built.
const LIST: &str = include_str!("../../../tools.txt");

/// The names that the browser goes by.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// All tools, or those that are named.
pub(crate) fn run(names: &[String]) -> ExitCode {
    let tools = list::parse(LIST).expect("the list of tools is right");
    if let Some(unknown) = names.iter().find(|name| !tools.iter().any(|t| t.name == **name)) {
        eprintln!("there is no tool {unknown:?} in tools.txt");
        return ExitCode::from(2);
    }
    let chosen = |tool: &&Tool| names.is_empty() || names.contains(&tool.name);
    // Each of them, also after one that cannot be filled.
    let missing = tools.iter().filter(chosen).filter(|tool| !fill(tool)).count();
    if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Those that tests want, where that is possible. What is missing is said here, and by the tests that it is for.
pub(crate) fn for_tests() {
    let tools = list::parse(LIST).expect("the list of tools is right");
    for tool in tools.iter().filter(|tool| tool.in_tests) {
        fill(tool);
    }
}

/// Fills one tool if it is missing, and says what became of it.
fn fill(tool: &Tool) -> bool {
    let told = match tool.from {
        From::Apt => from_apt(tool),
        From::Pip => match list::folder(|name| std::env::var_os(name)) {
            None => Err("no CONDYLE_TOOLS, no XDG_CACHE_HOME, no HOME".to_owned()),
            Some(folder) => filled(&list::place(&folder, tool), |into| from_pip(tool, into)),
        },
    };
    match &told {
        Ok(how) => println!("== tool {} {}: {how}", tool.name, tool.version),
        Err(why) => println!("== tool {} {}: skipped, {why}", tool.name, tool.version),
    }
    told.is_ok()
}

/// Makes a folder by filling another one beside it, which gets its name when it is whole: so one that was
/// stopped half-way is never taken for whole, and of two that fill at once one wins.
fn filled(
    place: &Path,
    fill: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<&'static str, String> {
    if place.is_dir() {
        return Ok("there");
    }
    let mut part = place.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = PathBuf::from(part);
    let in_place = |error: std::io::Error| format!("{}: {error}", part.display());
    fs::create_dir_all(&part).map_err(in_place)?;
    let done = fill(&part).and_then(|()| match fs::rename(&part, place) {
        // Another one was faster.
        Err(_) if place.is_dir() => Ok(()),
        renamed => renamed.map_err(in_place),
    });
    if part.exists() {
        fs::remove_dir_all(&part).map_err(in_place)?;
    }
    done.map(|()| "filled")
}

fn from_pip(tool: &Tool, into: &Path) -> Result<(), String> {
    let sha256 = tool.sha256.as_deref().unwrap_or_default();
    let wanted = into.join("wanted.txt");
    fs::write(&wanted, format!("{}=={} --hash=sha256:{sha256}\n", tool.package, tool.version))
        .map_err(|error| format!("{}: {error}", wanted.display()))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target"]);
    let out = pip.arg(into).arg("-r").arg(&wanted).output();
    let out = out.map_err(|error| format!("python3 -m pip: {error}"))?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    Err(format!("pip: {}", said.lines().last().unwrap_or("it failed")))
}

/// Whatever the system has, if it is new enough, else installed on machines where that may be done unasked.
fn from_apt(tool: &Tool) -> Result<&'static str, String> {
    let names: Vec<&str> =
        if tool.name == "chromium" { BROWSERS.to_vec() } else { vec![tool.name.as_str()] };
    let wanted = major(&tool.version).ok_or("tools.txt has no version of it")?;
    let there = || {
        let versions = names.iter().map(|name| output(&[name, "--version"]));
        versions.filter_map(|text| major(&text)).max()
    };
    if there().is_some_and(|version| version >= wanted) {
        return Ok("there");
    }
    let may = std::env::var("CI").as_deref() == Ok("true") || output(&["id", "-u"]) == "0";
    if !may {
        return Err(format!("install {} {} or newer", tool.package, tool.version));
    }
    let install =
        || succeeds(&["apt-get", "install", "-y", "--no-install-recommends", &tool.package]);
    let installed = install() || succeeds(&["apt-get", "update"]) && install();
    match there() {
        Some(version) if version >= wanted => Ok("installed"),
        Some(version) => Err(format!("the system has version {version} only")),
        None if installed => Err("it was installed, and does not start".to_owned()),
        None => Err("apt-get cannot install it".to_owned()),
    }
}

/// The first number of a text such as `Chromium 120.0.6099.71`.
fn major(text: &str) -> Option<u32> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn folder(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("condyle-tools-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn the_list_of_the_repository_is_right_and_faults_of_lists_have_a_line() {
        let tools = list::parse(LIST).unwrap();
        assert!(tools.iter().any(|t| t.name == "chromium" && t.in_tests && t.from == From::Apt));
        assert!(tools.iter().filter(|t| t.from == From::Pip).all(|t| t.sha256.is_some()));
        let hash = "0".repeat(64);
        let good = format!("a pip b 1.0 hand {hash} something\n");
        assert_eq!(list::parse(&good).unwrap()[0].sha256, Some(hash.clone()));
        for bad in [
            "a pip b 1.0 hand - something".to_owned(),
            "a apt b 1.0 hand -".to_owned(),
            "a npm b 1.0 hand - something".to_owned(),
            "a apt b 1.0 sometimes - something".to_owned(),
            "../a apt b 1.0 test - something".to_owned(),
            format!("{good}{good}"),
        ] {
            let error = list::parse(&format!("# what\n\n{bad}\n")).unwrap_err();
            assert!(
                error.starts_with("tools.txt:3: ") || error.starts_with("tools.txt:4: "),
                "{error}"
            );
        }
    }

    #[test]
    fn tools_are_where_the_environment_says_outside_of_the_build_tree() {
        let of = |set: &'static [(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(n, _)| *n == name);
            list::folder(|name| value(name).map(|(_, value)| OsString::from(value)))
        };
        let all = &[("HOME", "/h"), ("XDG_CACHE_HOME", "/x"), ("CONDYLE_TOOLS", "/t")];
        assert_eq!(of(all), Some("/t".into()));
        assert_eq!(of(&all[..2]), Some("/x/condyle-tools".into()));
        assert_eq!(
            of(&[("HOME", "/h"), ("CONDYLE_TOOLS", "")]),
            Some("/h/.cache/condyle-tools".into())
        );
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn what_is_there_is_whole_and_filled_once() {
        let folder = folder("filled");
        let place = folder.join("a-1");
        // One that fails leaves nothing.
        let failed = filled(&place, |into| {
            fs::write(into.join("half"), "x").unwrap();
            Err("no network".to_owned())
        });
        assert_eq!(failed, Err("no network".to_owned()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        let fill = |into: &Path| fs::write(into.join("whole"), "x").map_err(|e| e.to_string());
        assert_eq!(filled(&place, fill), Ok("filled"));
        assert!(place.join("whole").is_file());
        assert_eq!(filled(&place, |_| panic!("it is there")), Ok("there"));
        // Another one that was faster.
        let place = folder.join("b-1");
        let slow = filled(&place, |into| {
            fs::create_dir(&place).unwrap();
            fs::write(place.join("theirs"), "x").unwrap();
            fill(into)
        });
        assert_eq!(slow, Ok("filled"));
        assert!(place.join("theirs").is_file() && !place.join("whole").exists());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn versions_are_told_from_what_programs_say() {
        assert_eq!(major("Chromium 120.0.6099.71 built on Debian"), Some(120));
        assert_eq!(major("0.3"), Some(0));
        assert_eq!(major("none"), None);
    }
}
