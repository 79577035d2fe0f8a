//! Which joints of two skeletons are the same of the body.

use std::collections::BTreeMap;

use super::body::{Body, Part};
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
    /// A joint of the same name that is none of the body: it turns as that does, relative to rest.
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
    let names = unknown_by_name(source);
    for j in target.skeleton.indices().filter(|j| target.known[j.get()].is_none()) {
        let is_root = target.skeleton.parent(j).is_none();
        let hung = (target.above[j.get()].and_then(|a| target.part(a)), is_root);
        let key = (plain(&target.skeleton[j].name), hung);
        if let Some(s) = names.get(&key) {
            from[j.get()] = MotionFrom::Name(*s);
        }
    }
    from
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

/// A name without its namespace, in small letters.
fn plain(name: &str) -> String {
    name.rsplit(':').next().unwrap_or(name).to_lowercase()
}
