//! Tools of others as judges: what `tools.txt` lists, where it is.

#[path = "../../../xtask/src/tools/list.rs"]
#[allow(dead_code, reason = "a test asks where a tool is, and no more")]
mod list;

use std::path::PathBuf;
use std::process::Command;

use super::Folder;

/// Where a tool is. Without it the test says that it was skipped.
fn tool(name: &str) -> Option<PathBuf> {
    let tools = list::parse(include_str!("../../../../tools.txt")).expect("the list is right");
    let tool = tools.iter().find(|tool| tool.name == name).expect("it is listed");
    let place = list::folder(|name| std::env::var_os(name)).map(|f| list::place(&f, tool));
    let place = place.filter(|place| place.is_dir());
    if place.is_none() {
        println!("skipped: there is no {name} {}; `cargo xtask tools` gets it", tool.version);
    }
    place
}

/// What the reader makes of a file: joints with their channels, and the numbers of all frames.
const READ: &str = "
import sys, bvh
with open(sys.argv[1]) as f:
    m = bvh.Bvh(f.read())
for j in m.get_joints():
    print('joint', j.name, *j['OFFSET'], *j['CHANNELS'])
print('frames', m.nframes, m.frame_time)
for f in m.frames:
    print('frame', *f)
";

#[test]
fn what_is_written_is_read_by_a_reader_of_others() {
    let Some(place) = tool("bvh") else { return };
    let folder = Folder::new("read_by_others");
    assert_eq!(folder.condyle("demo -o .").status.code(), Some(0));
    assert_eq!(folder.condyle("convert walk.bvh walk.amc").status.code(), Some(0));
    assert_eq!(folder.condyle("convert walk.asf walk.amc back.bvh").status.code(), Some(0));
    for name in ["walk.bvh", "back.bvh"] {
        let mut python = Command::new("python3");
        python.args(["-c", READ, name]).current_dir(&folder.0).env("PYTHONPATH", &place);
        let out = python.output().expect("python3 ran when the tool was filled");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let seen = String::from_utf8(out.stdout).unwrap();
        let text = folder.read(name);
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        // Joint by joint and row by row what stands in the file, by another reader.
        let mut expected = Vec::new();
        let lines: Vec<Vec<String>> = text.lines().map(words).collect();
        for (i, line) in lines.iter().enumerate() {
            if !line.first().is_some_and(|word| word == "ROOT" || word == "JOINT") {
                continue;
            }
            let after = |key: &str| {
                let line = lines[i..].iter().find(|l| l.first().is_some_and(|word| word == key));
                line.unwrap()[1..].to_vec()
            };
            let name = vec!["joint".to_owned(), line[1].clone()];
            expected.push([name, after("OFFSET"), after("CHANNELS")].concat());
        }
        let joints: Vec<Vec<String>> =
            seen.lines().filter(|l| l.starts_with("joint")).map(words).collect();
        assert!(joints.len() > 10 && joints == expected, "{name}: {joints:?}");
        let at = lines.iter().position(|l| l.first().is_some_and(|w| w == "Frame")).unwrap();
        let rows = &lines[at + 1..];
        let frames: Vec<Vec<String>> =
            seen.lines().filter(|l| l.starts_with("frame ")).map(words).collect();
        assert_eq!(frames.len(), rows.len(), "{name}");
        assert!(
            rows.len() > 10 && frames.iter().zip(rows).all(|(f, row)| f[1..] == row[..]),
            "{name}"
        );
        assert!(seen.contains(&format!("frames {} ", rows.len())), "{name}");
    }
}
