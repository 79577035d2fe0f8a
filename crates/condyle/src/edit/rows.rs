//! Which joints of two skeletons are the same of the body.

use std::collections::BTreeMap;

use super::body::{Body, Part};
use crate::anatomy::BodySide;
use crate::skeleton::JointIndex;

/// Where a joint has its motion from when motion of another skeleton is put on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotionFrom {
    /// The same joint of the body, or the one at the same place of a row: its segment is turned in the
    /// world as that of this joint.
    Joint(JointIndex),
    /// A row with another number of joints: its segment is turned as it is between those of two joints.
    Between {
        /// The one.
        from: JointIndex,
        /// The other, below it.
        to: JointIndex,
        /// How far from the one to the other, between 0 and 1.
        share: f64,
    },
    /// A joint of the same name, one of which at least is none of the body: it turns as that does, relative
    /// to rest.
    Name(JointIndex),
    /// Nothing; it is as at rest.
    Rest,
}

impl MotionFrom {
    /// The one joint that it has all its motion from.
    pub(super) const fn joint(self) -> Option<JointIndex> {
        match self {
            Self::Joint(j) | Self::Name(j) => Some(j),
            Self::Between { .. } | Self::Rest => None,
        }
    }
}

/// Where each joint of a target has its motion from.
pub(super) fn matched(source: &Body<'_>, target: &Body<'_>) -> Vec<MotionFrom> {
    let mut from = vec![MotionFrom::Rest; target.skeleton.len()];
    let mut parts: Vec<Part> = target.skeleton.indices().filter_map(|j| target.part(j)).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let row = target.row(part);
        for (j, found) in row.iter().zip(along(source, &source.row(part), row.len())) {
            from[j.get()] = found;
        }
    }
    left_over(source, target, &mut from);
    let names = unknown_by_name(source);
    for j in target.skeleton.indices().filter(|j| target.known[j.get()].is_none()) {
        if from[j.get()] != MotionFrom::Rest {
            continue;
        }
        let is_root = target.skeleton.parent(j).is_none();
        // What it hangs on, as the source calls it.
        let above = target.above[j.get()].and_then(|a| match from[a.get()] {
            MotionFrom::Joint(s) => source.part(s),
            _ => target.part(a),
        });
        let key = (plain(&target.skeleton[j].name), (above, is_root));
        if let Some(s) = names.get(&key) {
            from[j.get()] = MotionFrom::Name(*s);
        }
    }
    from
}

/// Joints that the tables of names call differently, or that one of them has not got: a hand is the wrist of
/// the one and the turning forearm of the other. What is left on both sides, below joints that have
/// been matched, is the same if it has the same name; else if it is the only one of its side there.
fn left_over(source: &Body<'_>, target: &Body<'_>, from: &mut [MotionFrom]) {
    // One within the other, as forearm, wrist, hand and fingers are.
    const DEEP: usize = 4;
    let mut names: BTreeMap<String, JointIndex> = BTreeMap::new();
    for s in source.skeleton.indices() {
        names.entry(letters(&source.skeleton[s].name)).or_insert(s);
    }
    for only_one in [false, true] {
        for _ in 0..DEEP {
            let (ours, theirs) = Left::of(source, target, from);
            let mut found: Vec<(JointIndex, JointIndex)> = Vec::new();
            if only_one {
                let (ours, theirs) = (ours.alone(source), theirs.alone(target));
                let same =
                    |(key, t): (_, &Option<_>)| Some(((*t)?, ours.get(key).copied().flatten()?));
                found.extend(theirs.iter().filter_map(same));
            } else {
                for t in target.skeleton.indices().filter(|t| theirs.below[t.get()].is_some()) {
                    let Some(s) = names.get(&letters(&target.skeleton[t].name)) else { continue };
                    let same = ours.below[s.get()] == theirs.below[t.get()];
                    let known = target.known[t.get()].is_some() || source.known[s.get()].is_some();
                    if same && known {
                        found.push((t, *s));
                    }
                }
            }
            if found.is_empty() {
                break;
            }
            let mut taken = vec![false; source.skeleton.len()];
            for (t, s) in found {
                if std::mem::replace(&mut taken[s.get()], true) {
                    continue;
                }
                let both = target.known[t.get()].is_some() && source.known[s.get()].is_some();
                from[t.get()] = if both { MotionFrom::Joint(s) } else { MotionFrom::Name(s) };
            }
        }
    }
}

/// For each joint of a skeleton that is not matched, the nearest one above it that is, as a joint of the
/// source.
struct Left {
    below: Vec<Option<JointIndex>>,
}

impl Left {
    /// Those of the source, and of the target.
    fn of(source: &Body<'_>, target: &Body<'_>, from: &[MotionFrom]) -> (Self, Self) {
        let used = used(source, from);
        let own = |s: JointIndex| used[s.get()].then_some(Some(s));
        let moved = |t: JointIndex| match from[t.get()] {
            MotionFrom::Rest => None,
            found => Some(found.joint()),
        };
        (Self::along(source, own), Self::along(target, moved))
    }

    /// `matched` gives what a joint is in the source, if it is matched; `Some(None)` if it is none joint of it.
    fn along(body: &Body<'_>, matched: impl Fn(JointIndex) -> Option<Option<JointIndex>>) -> Self {
        // The nearest at or above each; parents come first.
        let mut nearest: Vec<Option<JointIndex>> = Vec::with_capacity(body.skeleton.len());
        let mut below = Vec::with_capacity(body.skeleton.len());
        for j in body.skeleton.indices() {
            let above = body.skeleton.parent(j).and_then(|p| nearest[p.get()]);
            let own = matched(j);
            below.push(above.filter(|_| own.is_none()));
            nearest.push(own.unwrap_or(above));
        }
        Self { below }
    }

    /// Joints of the left or the right, by what they are below; `None` where there are several.
    fn alone(&self, body: &Body<'_>) -> BTreeMap<(JointIndex, BodySide), Option<JointIndex>> {
        let mut found = BTreeMap::new();
        for j in body.skeleton.indices() {
            let Some((_, side @ (BodySide::Left | BodySide::Right))) = body.known[j.get()] else {
                continue;
            };
            if let Some(above) = self.below[j.get()] {
                found.entry((above, side)).and_modify(|one| *one = None).or_insert(Some(j));
            }
        }
        found
    }
}

/// Which joints of the source any of the target has its motion from.
pub(super) fn used(source: &Body<'_>, from: &[MotionFrom]) -> Vec<bool> {
    let mut used = vec![false; source.skeleton.len()];
    for found in from {
        match *found {
            MotionFrom::Joint(j) | MotionFrom::Name(j) => used[j.get()] = true,
            MotionFrom::Between { from, to, .. } => {
                (used[from.get()], used[to.get()]) = (true, true);
            }
            MotionFrom::Rest => {}
        }
    }
    used
}

/// What each of `count` joints in a row gets of a row of the source.
fn along(source: &Body<'_>, row: &[JointIndex], count: usize) -> Vec<MotionFrom> {
    let Some(first) = row.first() else { return Vec::new() };
    let start = source.above[first.get()].unwrap_or(*first);
    let at = |k: usize| if k == 0 { start } else { row[k - 1] };
    let of = |k: usize| {
        // k / count of the way along row.len() steps, from the start.
        let (whole, left) = (k * row.len() / count, k * row.len() % count);
        if left == 0 {
            return MotionFrom::Joint(at(whole));
        }
        #[allow(clippy::cast_precision_loss, reason = "below the number of joints")]
        let share = left as f64 / count as f64;
        MotionFrom::Between { from: at(whole), to: at(whole + 1), share }
    };
    (1..=count).map(of).collect()
}

type Hung = (Option<Part>, bool);

/// The joints that are none of the body, by their names, what of the body they are below, and whether
/// they are roots. Of several the first.
fn unknown_by_name(body: &Body<'_>) -> BTreeMap<(String, Hung), JointIndex> {
    let mut names = BTreeMap::new();
    for j in body.skeleton.indices().filter(|j| body.known[j.get()].is_none()) {
        let hung =
            (body.above[j.get()].and_then(|a| body.part(a)), body.skeleton.parent(j).is_none());
        names.entry((plain(&body.skeleton[j].name), hung)).or_insert(j);
    }
    names
}

/// The letters and digits of a name without its namespace, in small letters.
fn letters(name: &str) -> String {
    plain(name).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A name without its namespace, in small letters.
fn plain(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_lowercase()
}
