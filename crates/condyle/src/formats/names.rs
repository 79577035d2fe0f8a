//! Joint names that are unique.

use std::collections::{HashMap, HashSet};

use super::error::WarningKind;

/// Hands out names, numbering those that were used before: `Hand`, `Hand#2`, `Hand#3`.
#[derive(Debug, Default)]
pub(crate) struct UniqueNames {
    used: HashSet<String>,
    next: HashMap<String, u32>,
}

impl UniqueNames {
    /// The name to use for a joint called `name` in the file (`index` from 0, for joints without
    /// one), and a warning if it is another.
    pub(crate) fn take(&mut self, name: &str, index: usize) -> (String, Option<WarningKind>) {
        let base = if name.is_empty() { format!("joint_{index}") } else { name.to_owned() };
        let mut unique = base.clone();
        if self.used.contains(&unique) {
            // Counting on from the last number keeps many equal names from taking quadratic time.
            let n = self.next.entry(base.clone()).or_insert(2);
            while self.used.contains(&unique) {
                unique = format!("{base}#{n}");
                *n += 1;
            }
        }
        self.used.insert(unique.clone());
        let warning = if name.is_empty() {
            Some(WarningKind::UnnamedJoint { renamed: unique.clone() })
        } else if unique != name {
            Some(WarningKind::RenamedJoint { name: name.to_owned(), renamed: unique.clone() })
        } else {
            None
        };
        (unique, warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_missing_names_are_numbered() {
        let mut names = UniqueNames::default();
        let mut take = |name: &str, i| names.take(name, i).0;
        assert_eq!(take("Hand", 0), "Hand");
        assert_eq!(take("Hand#2", 1), "Hand#2");
        assert_eq!(take("Hand", 2), "Hand#3");
        assert_eq!(take("Hand", 3), "Hand#4");
        assert_eq!(take("", 4), "joint_4");
    }
}
