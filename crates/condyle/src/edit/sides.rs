//! Names of left and right joints.

/// What a joint on the other side may be called, the likeliest first: `LeftHand` and `RightHand`,
/// `Thumb_L` and `Thumb_R`, `lthumb` and `rthumb`. What is before a colon stays.
pub(super) fn other_side(name: &str) -> Vec<String> {
    let from = name.rfind(':').map_or(0, |at| at + 1);
    let (space, own) = name.split_at(from);
    let ways = [by_word(own), by_letter(own), by_first(own)];
    ways.into_iter().flatten().map(|own| format!("{space}{own}")).collect()
}

const WORDS: [[&str; 2]; 3] = [["Left", "Right"], ["left", "right"], ["LEFT", "RIGHT"]];

/// The first of the words exchanged.
fn by_word(name: &str) -> Option<String> {
    let both = WORDS.iter().flat_map(|[l, r]| [(l, r), (r, l)]);
    let found = both.filter_map(|(word, other)| Some((name.find(word)?, word, other)));
    let (at, word, other) = found.min_by_key(|(at, ..)| *at)?;
    Some(format!("{}{other}{}", &name[..at], &name[at + word.len()..]))
}

const fn other_letter(letter: char) -> Option<char> {
    match letter {
        'L' => Some('R'),
        'R' => Some('L'),
        'l' => Some('r'),
        'r' => Some('l'),
        _ => None,
    }
}

/// The first L or R exchanged that stands alone: at an end of the name or beside a sign, not both
/// sides of it letters or digits.
fn by_letter(name: &str) -> Option<String> {
    let alone = |at: usize, len: usize| {
        let before = name[..at].chars().next_back();
        let after = name[at + len..].chars().next();
        let open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        open(before) && open(after) && (before.is_some() || after.is_some())
    };
    let (at, letter) = name
        .char_indices()
        .find(|(at, c)| other_letter(*c).is_some() && alone(*at, c.len_utf8()))?;
    let other = other_letter(letter)?;
    Some(format!("{}{other}{}", &name[..at], &name[at + letter.len_utf8()..]))
}

/// The first letter exchanged.
fn by_first(name: &str) -> Option<String> {
    let mut rest = name.chars();
    let other = other_letter(rest.next()?)?;
    Some(format!("{other}{}", rest.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_kinds_have_another_side() {
        for (left, right) in [
            ("LeftHandIndex1", "RightHandIndex1"),
            ("mixamorig:LeftHandThumb2", "mixamorig:RightHandThumb2"),
            ("left_wrist", "right_wrist"),
            ("Toes_L", "Toes_R"),
            ("thumb.01.l", "thumb.01.r"),
            ("L_Thumb1", "R_Thumb1"),
            ("finger_L_02", "finger_R_02"),
            ("lthumb", "rthumb"),
            ("LHipJoint", "RHipJoint"),
            ("lMid1", "rMid1"),
        ] {
            assert_eq!(other_side(left)[0], right);
            assert_eq!(other_side(right)[0], left);
        }
        for none in ["Hips", "Spine1", "", ":", "Kopf", "Äl", "L:Hips"] {
            assert!(other_side(none).is_empty(), "{none}");
        }
    }
}
