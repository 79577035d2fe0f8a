//! Joints of the body by the words in their names, for skeletons that no table has.
//!
//! Exporters and riggers name the same joint `thigh.L`, `Bip01 L Thigh`, `lThighBend`, `UpLeg_L` or
//! `LeftUpperLeg`. A name is taken apart into words, one of which tells the side and one the segment;
//! where a word has two meanings (`shoulder`, `leg`, `foot`, `hand`), what is above and below decides.
//! A skeleton whose two legs are not found in full is not taken for that of a person.

use crate::rig::name_table::{BodyJoint, BodySide, NameTable};
use crate::skeleton::{JointIndex, Skeleton};

use super::names::Names;

/// What a word says a joint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    /// Surely this joint of the body.
    Sure(BodyJoint),
    /// `hip`: the joint of the thigh with a side, the pelvis without.
    Hip,
    /// `leg`: the shank below a thigh, else the thigh.
    Leg,
    /// `shoulder`: the clavicle above an upper arm, else the upper arm.
    Shoulder,
    /// `arm`: the forearm below an upper arm, else the upper arm.
    Arm,
    /// `foot`: the toes below an ankle, else the ankle.
    Foot,
    /// `hand`: none below a wrist, else the wrist.
    Hand,
    /// A part of the spine that no word places: lumbar or thoracic by its place in the row.
    Spine,
}

/// Words, and pairs of words that are one, with what they say. The longest that fits counts.
const WORDS: &[(&str, Segment)] = &[
    ("pelvis", Segment::Sure(BodyJoint::Pelvis)),
    ("hips", Segment::Sure(BodyJoint::Pelvis)),
    ("hip", Segment::Hip),
    ("upleg", Segment::Sure(BodyJoint::Hip)),
    ("upperleg", Segment::Sure(BodyJoint::Hip)),
    ("thigh", Segment::Sure(BodyJoint::Hip)),
    ("thighbend", Segment::Sure(BodyJoint::Hip)),
    ("femur", Segment::Sure(BodyJoint::Hip)),
    ("leg", Segment::Leg),
    ("lowleg", Segment::Sure(BodyJoint::Knee)),
    ("loleg", Segment::Sure(BodyJoint::Knee)),
    ("lowerleg", Segment::Sure(BodyJoint::Knee)),
    ("shin", Segment::Sure(BodyJoint::Knee)),
    ("shank", Segment::Sure(BodyJoint::Knee)),
    ("calf", Segment::Sure(BodyJoint::Knee)),
    ("tibia", Segment::Sure(BodyJoint::Knee)),
    ("knee", Segment::Sure(BodyJoint::Knee)),
    ("ankle", Segment::Sure(BodyJoint::Ankle)),
    ("foot", Segment::Foot),
    ("toe", Segment::Sure(BodyJoint::Toes)),
    ("toes", Segment::Sure(BodyJoint::Toes)),
    ("toebase", Segment::Sure(BodyJoint::Toes)),
    ("ball", Segment::Sure(BodyJoint::Toes)),
    ("clavicle", Segment::Sure(BodyJoint::Clavicle)),
    ("scapula", Segment::Sure(BodyJoint::Clavicle)),
    ("collar", Segment::Sure(BodyJoint::Clavicle)),
    ("collarbone", Segment::Sure(BodyJoint::Clavicle)),
    ("shoulder", Segment::Shoulder),
    ("shldr", Segment::Sure(BodyJoint::Shoulder)),
    ("shldrbend", Segment::Sure(BodyJoint::Shoulder)),
    ("upperarm", Segment::Sure(BodyJoint::Shoulder)),
    ("uparm", Segment::Sure(BodyJoint::Shoulder)),
    ("uarm", Segment::Sure(BodyJoint::Shoulder)),
    ("humerus", Segment::Sure(BodyJoint::Shoulder)),
    ("arm", Segment::Arm),
    ("forearm", Segment::Sure(BodyJoint::Elbow)),
    ("forearmbend", Segment::Sure(BodyJoint::Elbow)),
    ("farm", Segment::Sure(BodyJoint::Elbow)),
    ("lowerarm", Segment::Sure(BodyJoint::Elbow)),
    ("lowarm", Segment::Sure(BodyJoint::Elbow)),
    ("loarm", Segment::Sure(BodyJoint::Elbow)),
    ("elbow", Segment::Sure(BodyJoint::Elbow)),
    ("radius", Segment::Sure(BodyJoint::Elbow)),
    ("wrist", Segment::Sure(BodyJoint::Wrist)),
    ("hand", Segment::Hand),
    ("spine", Segment::Spine),
    ("back", Segment::Spine),
    ("torso", Segment::Spine),
    ("ab", Segment::Sure(BodyJoint::Lumbar)),
    ("abdomen", Segment::Sure(BodyJoint::Lumbar)),
    ("belly", Segment::Sure(BodyJoint::Lumbar)),
    ("stomach", Segment::Sure(BodyJoint::Lumbar)),
    ("waist", Segment::Sure(BodyJoint::Lumbar)),
    ("lumbar", Segment::Sure(BodyJoint::Lumbar)),
    ("lowerback", Segment::Sure(BodyJoint::Lumbar)),
    ("chest", Segment::Sure(BodyJoint::Thoracic)),
    ("thorax", Segment::Sure(BodyJoint::Thoracic)),
    ("upperback", Segment::Sure(BodyJoint::Thoracic)),
    ("neck", Segment::Sure(BodyJoint::Neck)),
    ("head", Segment::Sure(BodyJoint::Neck)),
];

/// Words of joints that help a segment along or mark its end, and are none.
const HELPERS: &[&str] = &[
    "twist",
    "roll",
    "end",
    "nub",
    "tip",
    "top",
    "site",
    "ik",
    "fk",
    "pole",
    "target",
    "ctrl",
    "control",
    "helper",
    "effector",
    "eff",
    "attach",
    "prop",
    "weapon",
    "finger",
    "fingers",
    "thumb",
    "index",
    "middle",
    "ring",
    "pinky",
    "pinkie",
    "little",
    "mid",
    "eye",
    "eyes",
    "jaw",
    "brow",
    "tongue",
    "ear",
    "hair",
    "metacarpal",
    "metatarsal",
    "socket",
    "joint0",
    "muscle",
];

/// Takes a skeleton for that of a person by the words in the names of its joints. `None` if two legs are
/// not found in full, each with thigh, shank and foot, or nothing above the pelvis.
pub(super) fn guess(skeleton: &Skeleton) -> Option<(NameTable, Names)> {
    // MakeHuman's __UpLeg_L leads to UpLeg_L, and does not move.
    let leads = |name: &str| {
        let bare = name.trim_start_matches('_');
        bare.len() < name.len() && skeleton.find(bare).is_some()
    };
    let said = |name: &str| if leads(name) { None } else { segment(name) };
    let said: Vec<Option<(Segment, BodySide)>> =
        skeleton.joints().iter().map(|joint| said(&joint.name)).collect();
    let names = Resolver { skeleton, said: &said }.names();
    is_person(skeleton, &names).then(|| {
        let joints = skeleton.joints().iter().zip(&names).filter_map(|(joint, name)| {
            let (what, side) = (*name)?;
            Some((joint.name.clone(), what, side))
        });
        let source = "the words in the names of the joints, and what hangs on what";
        (NameTable::of("the words in the names", source, joints), names)
    })
}

/// The words of a name in lower case: `LeftUpLeg`, `thigh.L`, `lThighBend`, `Bip01 L Thigh`.
fn words(name: &str) -> Vec<String> {
    let bare = name.rsplit([':', '|']).next().unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut letters = bare.chars().peekable();
    while let Some(c) = letters.next() {
        let next_is_small = letters.peek().is_some_and(|n| n.is_lowercase());
        let starts = c.is_alphabetic()
            && (!before.is_alphabetic()
                || (c.is_uppercase() && (before.is_lowercase() || next_is_small)));
        let starts = starts || (c.is_ascii_digit() && !before.is_ascii_digit());
        if starts {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

/// What a name says of its joint, and on which side.
fn segment(name: &str) -> Option<(Segment, BodySide)> {
    let words = words(name);
    let is_number = |w: &&String| w.chars().all(|c| c.is_ascii_digit());
    let mut side = BodySide::Middle;
    let mut rest: Vec<&str> = Vec::new();
    let count = words.len();
    for (k, word) in words.iter().enumerate() {
        // T12 and L5 are vertebrae: a letter and a number that are the whole name.
        let alone = count == 2 && words.get(k + 1).as_ref().is_some_and(is_number);
        match word.as_str() {
            "left" => side = BodySide::Left,
            "right" => side = BodySide::Right,
            "l" if !alone => side = BodySide::Left,
            "r" if !alone => side = BodySide::Right,
            _ if is_number(&word) => {}
            word => rest.push(word),
        }
    }
    if let ([letter], true) = (rest.as_slice(), count == 2) {
        let spine = match *letter {
            "l" => Some(BodyJoint::Lumbar),
            "t" => Some(BodyJoint::Thoracic),
            "c" => Some(BodyJoint::Neck),
            _ => None,
        };
        if let Some(what) = spine {
            return Some((Segment::Sure(what), BodySide::Middle));
        }
    }
    if rest.iter().any(|word| HELPERS.contains(word)) {
        return None;
    }
    let said = |word: &str| WORDS.iter().find(|(w, _)| *w == word).map(|(_, s)| *s);
    // lfemur, rtibia, LUArm, thighleft: a side without a border, where the rest is a word.
    if side == BodySide::Middle {
        let whole = rest.concat();
        for (letter, word, side) in [("l", "left", BodySide::Left), ("r", "right", BodySide::Right)]
        {
            let rests =
                [whole.strip_prefix(word), whole.strip_suffix(word), whole.strip_prefix(letter)];
            if let Some(found) = rests.into_iter().flatten().find_map(said) {
                return Some((found, side));
            }
        }
    }
    // Two words that are one first: upper leg, fore arm, lower back.
    let pairs = rest.windows(2).rev().find_map(|pair| said(&pair.concat()));
    let found = pairs.or_else(|| rest.iter().rev().find_map(|word| said(word)));
    found.map(|found| (found, side))
}

/// Settles words with two meanings by what is above and below.
struct Resolver<'a> {
    skeleton: &'a Skeleton,
    said: &'a [Option<(Segment, BodySide)>],
}

/// Which joints of the body: one bit for each with its side.
#[derive(Clone, Copy, Default)]
struct Parts(u64);

impl Parts {
    const fn of(what: BodyJoint, side: BodySide) -> Self {
        Self(1 << (what as u32 * 3 + side as u32))
    }

    const fn has(self, what: BodyJoint, side: BodySide) -> bool {
        self.0 & Self::of(what, side).0 != 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Resolver<'_> {
    fn names(&self) -> Names {
        let count = self.skeleton.len();
        let below = self.below();
        let mut names: Names = vec![None; count];
        // What is above each joint, and whether a head is; parents come first.
        let mut above: Vec<(Parts, bool)> = Vec::with_capacity(count);
        for j in self.skeleton.indices() {
            let (over, under_head) = self.skeleton.parent(j).map_or_else(Default::default, |p| {
                let (over, head) = above[p.get()];
                let own = names[p.get()].map_or(Parts::default(), |(w, s)| Parts::of(w, s));
                (over.with(own), head || (names[p.get()].is_some() && self.is_head(p)))
            });
            above.push((over, under_head));
            let Some((said, side)) = self.said[j.get()] else { continue };
            let is_above = |what| over.has(what, side);
            let is_below = |what| below[j.get()].has(what, side);
            use BodyJoint as B;
            let what = match said {
                Segment::Sure(what) => Some(what),
                Segment::Hip if side == BodySide::Middle => Some(B::Pelvis),
                // CMU's LHipJoint is between pelvis and thigh.
                Segment::Hip if is_below(B::Hip) => None,
                Segment::Hip => Some(B::Hip),
                Segment::Leg if is_below(B::Knee) => Some(B::Hip),
                Segment::Leg if is_above(B::Hip) => Some(B::Knee),
                Segment::Leg => Some(B::Hip),
                Segment::Shoulder if is_below(B::Shoulder) => Some(B::Clavicle),
                Segment::Shoulder => Some(B::Shoulder),
                Segment::Arm if is_above(B::Shoulder) => Some(B::Elbow),
                Segment::Arm => Some(B::Shoulder),
                Segment::Foot if is_above(B::Ankle) => Some(B::Toes),
                Segment::Foot => Some(B::Ankle),
                Segment::Hand if is_above(B::Wrist) => None,
                Segment::Hand => Some(B::Wrist),
                // Of a row of spines that no word places the first is lumbar, the others are thoracic.
                Segment::Spine if is_above(B::Lumbar) || is_above(B::Thoracic) => Some(B::Thoracic),
                Segment::Spine => Some(B::Lumbar),
            };
            let Some(what) = what.filter(|w| w.is_paired() == (side != BodySide::Middle)) else {
                continue;
            };
            // A thigh in two pieces: the upper one turns in the hip. Below a head there are eyes and hats.
            let again = what.is_paired() && is_above(what);
            let neck_under_head = what == B::Neck && under_head;
            if !again && !neck_under_head {
                names[j.get()] = Some((what, side));
            }
        }
        self.find_pelvis(&mut names);
        self.keep_one(&mut names);
        names
    }

    /// Of a limb with several joints of one name side by side, the first counts; of several toes none does, since
    /// no one of them carries the foot.
    fn keep_one(&self, names: &mut Names) {
        for j in self.skeleton.indices() {
            let Some(part @ (what, _)) = names[j.get()].filter(|(what, _)| what.is_paired()) else {
                continue;
            };
            let others = self.skeleton.indices().skip(j.get() + 1);
            let others: Vec<_> = others.filter(|k| names[k.get()] == Some(part)).collect();
            if !others.is_empty() && what == BodyJoint::Toes {
                names[j.get()] = None;
            }
            others.iter().for_each(|k| names[k.get()] = None);
        }
    }

    /// The thighs, the knees and the upper arms that are below each joint, by words that say nothing else.
    fn below(&self) -> Vec<Parts> {
        let mut below = vec![Parts::default(); self.skeleton.len()];
        for j in self.skeleton.indices().rev() {
            let own = match self.said[j.get()] {
                Some((Segment::Sure(BodyJoint::Hip), side)) => Parts::of(BodyJoint::Hip, side),
                Some((Segment::Hip, side)) if side != BodySide::Middle => {
                    Parts::of(BodyJoint::Hip, side)
                }
                Some((Segment::Sure(BodyJoint::Knee), side)) => Parts::of(BodyJoint::Knee, side),
                Some((Segment::Leg, side)) if below[j.get()].has(BodyJoint::Knee, side) => {
                    Parts::of(BodyJoint::Hip, side)
                }
                Some((Segment::Sure(BodyJoint::Shoulder) | Segment::Arm, side)) => {
                    Parts::of(BodyJoint::Shoulder, side)
                }
                _ => Parts::default(),
            };
            if let Some(p) = self.skeleton.parent(j) {
                below[p.get()] = below[p.get()].with(below[j.get()]).with(own);
            }
        }
        below
    }

    fn is_head(&self, j: JointIndex) -> bool {
        words(&self.skeleton[j].name).iter().any(|word| word == "head")
    }

    /// The one pelvis: the nearest of that name that both thighs hang on; where no joint is called so, the
    /// nearest joint that they do.
    fn find_pelvis(&self, names: &mut Names) {
        let hip =
            |side| self.skeleton.indices().find(|j| names[j.get()] == Some((BodyJoint::Hip, side)));
        let (Some(left), Some(right)) = (hip(BodySide::Left), hip(BodySide::Right)) else { return };
        let ancestors = |j| {
            std::iter::successors(self.skeleton.parent(j), |p: &JointIndex| {
                self.skeleton.parent(*p)
            })
        };
        let mut is_above_right = vec![false; self.skeleton.len()];
        ancestors(right).for_each(|a| is_above_right[a.get()] = true);
        let common = || ancestors(left).filter(|a| is_above_right[a.get()]);
        let pelvis = Some((BodyJoint::Pelvis, BodySide::Middle));
        let Some(chosen) = common().find(|a| names[a.get()] == pelvis).or_else(|| common().next())
        else {
            return;
        };
        for name in names.iter_mut().filter(|name| **name == pelvis) {
            *name = None;
        }
        names[chosen.get()] = pelvis;
    }
}

/// Whether both legs are there in full, one segment below the next, and something above the pelvis.
fn is_person(skeleton: &Skeleton, names: &Names) -> bool {
    let find = |what, side| skeleton.indices().find(|j| names[j.get()] == Some((what, side)));
    let hangs = |low: JointIndex, high: JointIndex| {
        std::iter::successors(skeleton.parent(low), |p| skeleton.parent(*p)).any(|a| a == high)
    };
    let leg = |side| {
        let row = [BodyJoint::Hip, BodyJoint::Knee, BodyJoint::Ankle].map(|what| find(what, side));
        let [Some(hip), Some(knee), Some(ankle)] = row else { return false };
        hangs(ankle, knee) && hangs(knee, hip)
    };
    let both = |what| find(what, BodySide::Left).is_some() && find(what, BodySide::Right).is_some();
    let top = find(BodyJoint::Neck, BodySide::Middle).is_some() || both(BodyJoint::Shoulder);
    leg(BodySide::Left) && leg(BodySide::Right) && top && {
        names.contains(&Some((BodyJoint::Pelvis, BodySide::Middle)))
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::skeleton::Joint;

    /// A skeleton of names, each with the number of its parent; the first is the root.
    fn skeleton(joints: &[(&str, usize)]) -> Skeleton {
        let mut s = Skeleton::new();
        for (k, (name, parent)) in joints.iter().enumerate() {
            let joint = Joint::new(*name, DVec3::Y);
            let added = match k {
                0 => s.add_root(joint),
                _ => s.add(JointIndex::new(*parent), joint),
            };
            added.unwrap();
        }
        s
    }

    /// A person with these names: pelvis, spine, head, and of both sides clavicle, upper arm, forearm, hand,
    /// thigh, shank, foot, toes.
    fn person(middle: [&str; 3], limb: impl Fn(&'static str, usize) -> String) -> Skeleton {
        let mut joints: Vec<(String, usize)> = middle
            .iter()
            .enumerate()
            .map(|(k, n)| ((*n).to_owned(), k.saturating_sub(1)))
            .collect();
        for side in ["l", "r"] {
            for k in 0..8 {
                let parent = match k {
                    0 => 1,
                    4 => 0,
                    _ => joints.len() - 1,
                };
                joints.push((limb(side, k), parent));
            }
        }
        let joints: Vec<(&str, usize)> = joints.iter().map(|(n, p)| (n.as_str(), *p)).collect();
        skeleton(&joints)
    }

    #[test]
    fn names_of_many_exporters_are_read_by_their_words() {
        const NAMES: [[&str; 8]; 7] = [
            ["Clavicle", "UpperArm", "Forearm", "Hand", "Thigh", "Calf", "Foot", "Toe0"],
            ["shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"],
            ["clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball"],
            ["Shoulder", "UArm", "FArm", "Hand", "Thigh", "Shin", "Foot", "Toe"],
            ["Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "ToeBase"],
            ["Collar", "ShldrBend", "ForearmBend", "Hand", "ThighBend", "Shin", "Foot", "Toe"],
            ["Collar", "Shoulder", "Elbow", "Wrist", "Hip", "Knee", "Ankle", "Toe"],
        ];
        use BodyJoint as B;
        const WHAT: [BodyJoint; 8] =
            [B::Clavicle, B::Shoulder, B::Elbow, B::Wrist, B::Hip, B::Knee, B::Ankle, B::Toes];
        let spell: [fn(&str, &str) -> String; 7] = [
            |side, word| format!("Bip01 {} {word}", side.to_uppercase()),
            |side, word| format!("{word}.{}", side.to_uppercase()),
            |side, word| format!("{word}_{side}"),
            |side, word| format!("{}{word}", side.to_uppercase()),
            |side, word| format!("ns:{}{word}", if side == "l" { "Left" } else { "Right" }),
            |side, word| format!("{side}{word}"),
            |side, word| format!("{word}{}", if side == "l" { "Left" } else { "Right" }),
        ];
        for (names, spell) in NAMES.iter().zip(spell) {
            let s = person(["Hips", "Spine", "Head"], |side, k| spell(side, names[k]));
            let (table, found) = guess(&s).unwrap_or_else(|| panic!("{names:?}"));
            for j in s.indices().skip(3) {
                let k = (j.get() - 3) % 8;
                let side = if j.get() < 11 { BodySide::Left } else { BodySide::Right };
                assert_eq!(found[j.get()], Some((WHAT[k], side)), "{}", s[j].name);
                assert_eq!(table.find(&s[j].name), found[j.get()], "{}", s[j].name);
            }
            assert_eq!(found[0], Some((B::Pelvis, BodySide::Middle)));
            assert_eq!(found[2], Some((B::Neck, BodySide::Middle)));
        }
    }

    #[test]
    fn helpers_vertebrae_and_joints_without_a_side_are_told_apart() {
        use BodyJoint as B;
        for (name, said) in [
            ("upperarm_twist_01_l", None),
            ("L5", Some((B::Lumbar, BodySide::Middle))),
            ("T12", Some((B::Thoracic, BodySide::Middle))),
            ("C7", Some((B::Neck, BodySide::Middle))),
            ("lfemur", Some((B::Hip, BodySide::Left))),
            ("rtibia", Some((B::Knee, BodySide::Right))),
            ("LeftHandThumb1", None),
            ("ball_joint_of_a_lamp", Some((B::Toes, BodySide::Middle))),
            ("wheel", None),
        ] {
            let said = said.map(|(what, side)| (Segment::Sure(what), side));
            assert_eq!(segment(name), said, "{name}");
        }
    }

    #[test]
    fn what_has_no_two_legs_is_no_person() {
        assert!(guess(&skeleton(&[("lamp", 0), ("arm", 0), ("head", 1)])).is_none());
        let names = [("Hips", 0), ("Spine", 0), ("Head", 1), ("LeftUpLeg", 0), ("LeftLeg", 3)];
        assert!(guess(&skeleton(&names)).is_none());
        assert!(guess(&Skeleton::new()).is_none());
    }

    #[test]
    fn a_thigh_in_two_pieces_turns_in_the_hip_and_a_root_without_a_name_is_the_pelvis() {
        let s = skeleton(&[
            ("root", 0),
            ("pelvis.L", 0),
            ("upperleg01.L", 1),
            ("upperleg02.L", 2),
            ("lowerleg01.L", 3),
            ("lowerleg02.L", 4),
            ("foot.L", 5),
            ("pelvis.R", 0),
            ("upperleg01.R", 7),
            ("upperleg02.R", 8),
            ("lowerleg01.R", 9),
            ("lowerleg02.R", 10),
            ("foot.R", 11),
            ("spine05", 0),
            ("spine04", 13),
            ("head", 14),
        ]);
        let (_, names) = guess(&s).unwrap();
        let named = |j: usize| names[j].map(|(what, _)| what);
        assert_eq!(named(0), Some(BodyJoint::Pelvis));
        assert_eq!(named(2), Some(BodyJoint::Hip));
        assert_eq!(named(3), None);
        assert_eq!(named(4), Some(BodyJoint::Knee));
        assert_eq!(named(5), None);
        assert_eq!(named(13), Some(BodyJoint::Lumbar));
        assert_eq!(named(14), Some(BodyJoint::Thoracic));
    }
}
