//! Names that may be meant by a name that is not there.

/// The names that are spelt nearly like one that is wanted, the nearest first: of which one is a part of
/// the other, or that differ by at most half of the letters, in capitals or not.
///
/// # Example
///
/// ```
/// use condyle::skeleton::names_near;
///
/// let names = ["Hips", "LeftArm", "RightArm"];
/// assert_eq!(names_near(names, "leftarn"), ["LeftArm"]);
/// assert!(names_near(names, "xyz").is_empty());
/// ```
#[must_use]
pub fn names_near<'a>(names: impl IntoIterator<Item = &'a str>, wanted: &str) -> Vec<&'a str> {
    // Longer names are nobody's, and the work is the product of both lengths.
    const LONGEST: usize = 200;
    let wanted: String = wanted.to_lowercase().chars().take(LONGEST).collect();
    let good = wanted.chars().count() / 2 + 1;
    let mut near: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| {
            let known: String = name.to_lowercase().chars().take(LONGEST).collect();
            let within = known.contains(&wanted) || wanted.contains(&known);
            (if within { 1 } else { distance(&known, &wanted) }, name)
        })
        .filter(|(edits, _)| *edits <= good)
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).collect()
}

/// How many characters to add, remove or replace to make one text of the other (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, n) in [
            ("", "", 0),
            ("arm", "arm", 0),
            ("arm", "", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(a, b), n, "{a} {b}");
            assert_eq!(distance(b, a), n, "{b} {a}");
        }
    }

    #[test]
    fn near_names_come_first() {
        let names = ["Hips", "LeftArm", "RightArm", "LeftForeArm"];
        assert_eq!(names_near(names, "leftarn"), ["LeftArm"]);
        assert_eq!(names_near(names, "Arm"), ["LeftArm", "LeftForeArm", "RightArm"]);
        assert!(names_near(names, "zzz").is_empty());
        assert!(names_near([], "x").is_empty());
        assert!(names_near(["x"], &"y".repeat(1_000_000)).is_empty());
    }
}
