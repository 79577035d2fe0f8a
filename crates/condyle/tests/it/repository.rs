//! Rules of the repository, as tests: the module map, the conventions, the links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder with this extension.
fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut stack = vec![folder.to_owned()];
    while let Some(folder) = stack.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The table of `ARCHITECTURE.md`: each module and what it may use.
fn module_map() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let names = |cell: &str| -> BTreeSet<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    text.lines()
        .skip_while(|line| !line.starts_with("| module |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            (names(cells[1]).pop_first().unwrap(), names(cells[3]))
        })
        .collect()
}

/// The code of a file without its comments and its tests.
fn code_of(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// What follows each `prefix` in a text, as far as it is a name.
fn names_after<'a>(text: &'a str, prefix: &str) -> Vec<&'a str> {
    text.match_indices(prefix)
        .map(|(i, _)| {
            let rest = &text[i + prefix.len()..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            &rest[..end.unwrap_or(rest.len())]
        })
        .collect()
}

#[test]
fn modules_use_only_what_the_map_allows() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let map = module_map();
    for path in files_below(&source, "rs") {
        let inside = path.strip_prefix(&source).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        // Tests use what they like.
        let tests = inside.iter().any(|part| part == "tests" || part == "tests.rs");
        if module == "lib" || tests {
            continue;
        }
        let allowed = map.get(module).unwrap_or_else(|| panic!("{module} is not on the map"));
        for used in names_after(&code_of(&path), "crate::") {
            let known = used == module || allowed.contains(used);
            assert!(known, "{}: the map does not let `{module}` use `{used}`", inside.display());
        }
    }
    for module in map.keys() {
        let there = source.join(module).is_dir() || source.join(format!("{module}.rs")).is_file();
        assert!(there, "the map has `{module}`, the source has not");
    }
}

#[test]
fn formats_do_not_know_each_other() {
    let formats = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/formats");
    let each = ["acclaim", "bvh", "trc"];
    for format in each {
        for path in files_below(&formats.join(format), "rs") {
            if path.ends_with("tests.rs") {
                continue;
            }
            let code = code_of(&path);
            // However it is imported: another format's name before `::` is a use of it.
            for other in each.iter().filter(|o| **o != format) {
                let used = code.match_indices(&format!("{other}::")).any(|(i, _)| {
                    !code[..i].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                });
                assert!(!used, "{}: uses {other}", path.display());
            }
        }
    }
}

#[test]
fn every_convention_names_a_test_that_exists() {
    let text = fs::read_to_string(root().join("CONVENTIONS.md")).unwrap();
    let mut code = String::new();
    for path in files_below(&root().join("crates"), "rs") {
        code.push_str(&fs::read_to_string(path).unwrap());
    }
    let mut lines = 0;
    for line in text.lines().filter(|l| l.starts_with("- ")) {
        let (_, test) = line.rsplit_once("(`").unwrap_or_else(|| panic!("no test: {line}"));
        let test = test.trim_end_matches("`).");
        assert!(code.contains(&format!("fn {test}(")), "no such test: {test}");
        lines += 1;
    }
    assert!(lines > 10);
}

#[test]
fn links_inside_the_repository_lead_somewhere() {
    for path in files_below(&root(), "md") {
        let text = fs::read_to_string(&path).unwrap();
        for (i, _) in text.match_indices("](") {
            let target = text[i + 2..].split(')').next().unwrap();
            let target = target.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let there = path.parent().unwrap().join(target);
            assert!(there.exists(), "{}: {target} is not there", path.display());
        }
    }
}

#[path = "../../examples/shoulder.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod shoulder;

/// The example is compiled, so the page is right if it says the same.
#[test]
fn code_for_engine_programmers_is_that_of_the_example() {
    let example = fs::read_to_string(root().join("crates/condyle/examples/shoulder.rs")).unwrap();
    let example = example.replace("pub(crate) ", "");
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let section = readme.split("## For engine programmers\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks: Vec<&str> = section.split("```rust").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    let codes = blocks.iter().map(|b| b.split_once('\n').unwrap().1.split("```").next().unwrap());
    let codes: Vec<&str> = codes.collect();
    assert!(example.contains(codes[0]), "not in the example: {}", codes[0]);
    for line in codes[1].lines() {
        let there = example.lines().any(|l| l.trim() == line);
        assert!(there, "not in the example: {line}");
    }
    let lines: usize = codes.iter().map(|c| c.lines().count()).sum();
    assert!(lines <= 30, "{lines} lines");
}

#[test]
fn the_picture_of_the_shoulder_is_what_the_example_draws() {
    let limit = shoulder::shoulder().unwrap();
    let drawn = condyle::picture::of_limit("Left shoulder", &limit).unwrap();
    let kept = fs::read_to_string(root().join("docs/pictures/shoulder.svg")).unwrap();
    let how = "run: cargo run --example shoulder -- docs/pictures/shoulder.svg";
    assert!(drawn == kept, "the picture is out of date; {how}");
}
