//! What `tools.txt` lists, and where it is. Tests that use a tool include this file as well.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where a tool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// The system's packages.
    Apt,
    /// The Python package index.
    Pip,
}

/// A tool, as its line of `tools.txt` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) from: From,
    pub(crate) package: String,
    pub(crate) version: String,
    /// Whether `make test` fills it.
    pub(crate) in_tests: bool,
    pub(crate) sha256: Option<String>,
}

/// The tools that a list has, or what is wrong with it.
pub(crate) fn parse(list: &str) -> Result<Vec<Tool>, String> {
    let mut tools: Vec<Tool> = Vec::new();
    let lines = list.lines().map(str::trim).enumerate();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let fault = |what: &str| Err(format!("tools.txt:{}: {what}: {line}", number + 1));
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, from, package, version, filled, sha256, _, ..] = words[..] else {
            return fault(
                "a tool has a name, where it is from, package, version, who fills it, sha256, and what it judges",
            );
        };
        let from = match from {
            "apt" => From::Apt,
            "pip" => From::Pip,
            _ => return fault("tools are from `apt` or `pip`"),
        };
        if !["test", "hand"].contains(&filled) {
            return fault("a tool is filled by `test` or by `hand`");
        }
        let is_hash = sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hash && (sha256 != "-" || from == From::Pip) {
            return fault("a package from pip has a sha256 of 64 digits");
        }
        let plain =
            |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
        if ![name, package, version].into_iter().all(plain) || name.starts_with('.') {
            return fault("names and versions are of letters, digits, `-`, `.` and `_`");
        }
        if tools.iter().any(|tool| tool.name == name) {
            return fault("a tool is listed twice");
        }
        tools.push(Tool {
            name: name.to_owned(),
            from,
            package: package.to_owned(),
            version: version.to_owned(),
            in_tests: filled == "test",
            sha256: is_hash.then(|| sha256.to_owned()),
        });
    }
    Ok(tools)
}

/// The folder of all tools, by what the environment says; `None` if it says nothing of where things are kept.
pub(crate) fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let beside = |cache: PathBuf| cache.join("condyle-tools");
    named("CONDYLE_TOOLS")
        .or_else(|| named("XDG_CACHE_HOME").map(beside))
        .or_else(|| named("HOME").map(|home| beside(home.join(".cache"))))
        .or_else(|| named("LOCALAPPDATA").map(beside))
}

/// Where in the folder a tool is. What is there is whole: it gets its name when it is.
pub(crate) fn place(folder: &Path, tool: &Tool) -> PathBuf {
    folder.join(format!("{}-{}", tool.name, tool.version))
}
