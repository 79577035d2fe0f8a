//! Where in a document, in words: `joints.LeftArm.limit.swing.polygons[0][2]`.

use std::borrow::Cow;
use std::fmt;

use super::json::{Node, Value};

/// One step into a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step<'a> {
    Key(Cow<'a, str>),
    Index(usize),
    /// Not far enough to say.
    Nothing,
}

/// Steps from the root on, printed as a path.
pub(super) struct Steps<'s, 'a>(pub(super) &'s [Step<'a>]);

impl fmt::Display for Steps<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for step in self.0 {
            match step {
                Step::Nothing => continue,
                Step::Index(i) => write!(f, "[{i}]")?,
                Step::Key(key) if !is_plain(key) => write!(f, "[{key:?}]")?,
                Step::Key(key) => write!(f, "{}{key}", if first { "" } else { "." })?,
            }
            first = false;
        }
        Ok(())
    }
}

/// Whether a name can stand in a path as it is.
fn is_plain(key: &str) -> bool {
    !key.is_empty()
        && !key.contains(|c: char| {
            matches!(c, '.' | '[' | ']' | '"' | '\\') || c.is_whitespace() || c.is_control()
        })
}

/// The steps of a path as [`Steps`] prints it; what cannot be understood is left out.
fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let mut key = String::new();
            let mut escaped = false;
            let end = quoted.char_indices().find(|&(_, c)| {
                let ends = c == '"' && !escaped;
                let escapes = c == '\\' && !escaped;
                if !ends && !escapes {
                    key.push(c);
                }
                escaped = escapes;
                ends
            });
            let Some((end, _)) = end else { break };
            steps.push(Step::Key(Cow::Owned(key)));
            rest = quoted[end + 1..].strip_prefix(']').unwrap_or_default();
        } else if let Some(index) = rest.strip_prefix('[') {
            let Some((digits, after)) = index.split_once(']') else { break };
            let Ok(i) = digits.parse() else { break };
            steps.push(Step::Index(i));
            rest = after;
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name.find(['.', '[']).unwrap_or(name.len());
            if end == 0 {
                break;
            }
            steps.push(Step::Key(Cow::Borrowed(&name[..end])));
            rest = &name[end..];
        }
    }
    steps
}

/// Whether a path leads into the limit of a joint.
pub(super) fn is_in_limit(path: &str) -> bool {
    let steps = steps(path);
    let is = |i: usize, key: &str| steps.get(i) == Some(&Step::Key(key.into()));
    is(0, "joints") && is(2, "limit")
}

/// A path as it is shown: a long one without its middle, cut between steps where there are some.
pub(super) fn shortened(path: &str) -> Cow<'_, str> {
    const MOST: usize = 120;
    const HEAD: usize = 70;
    const TAIL: usize = 40;
    let length = path.chars().count();
    if length <= MOST {
        return Cow::Borrowed(path);
    }
    let byte = |n: usize| path.char_indices().nth(n).map_or(path.len(), |(at, _)| at);
    let (head, tail) = (&path[..byte(HEAD)], &path[byte(length - TAIL)..]);
    let head = head.rfind(['.', '[']).filter(|at| *at > 0).map_or(head, |at| &head[..at]);
    let tail = tail.find(['.', '[']).map_or(tail, |at| &tail[at..]);
    Cow::Owned(format!("{head}…{tail}"))
}

/// The byte of what a path leads to, or of the last part of the way that is there, and how many
/// steps that is.
pub(super) fn find(root: &Node<'_>, path: &str) -> (usize, usize) {
    let mut node = root;
    for (n, step) in steps(path).iter().enumerate() {
        let next = match (step, &node.value) {
            (Step::Key(key), Value::Object(_)) => node.get(key),
            (Step::Index(i), Value::Array(items)) => items.get(*i),
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return (node.at, n),
        }
    }
    (node.at, steps(path).len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_are_shown_without_their_middle() {
        let way = format!("joints.arm{}", "[0]".repeat(128));
        let shown = shortened(&way);
        assert!(shown.chars().count() <= 111, "{shown}");
        assert!(shown.starts_with("joints.arm[0][0]") && shown.contains("[0]…[0]"), "{shown}");
        assert!(shown.ends_with("[0][0]"), "{shown}");
        let name = "é".repeat(1_000_000);
        assert_eq!(shortened(&name).chars().count(), 111);
        let short = "joints.LeftArm.limit.swing.polygons[0][2]";
        assert_eq!(shortened(short), short);
    }

    #[test]
    fn paths_are_printed_and_understood() {
        let way = [
            Step::Key("joints".into()),
            Step::Key("mixamorig:Left \"Arm\".1\\".into()),
            Step::Key("limit".into()),
            Step::Index(0),
            Step::Index(12),
            Step::Key("Hand#2".into()),
        ];
        let path = Steps(&way).to_string();
        assert_eq!(path, r#"joints["mixamorig:Left \"Arm\".1\\"].limit[0][12].Hand#2"#);
        assert_eq!(steps(&path), way);
        assert!(is_in_limit(r#"joints["a b"].limit.swing"#) && !is_in_limit("joints.limit"));
        for odd in ["", ".", "..", "[", "[x]", "[\"", "a[", "[99999999999999999999]", "]"] {
            assert!(steps(odd).len() <= 1, "{odd}");
        }
    }
}
