//! Which file a mark is from.

use std::fmt::Write as _;

use super::Take;
use super::words::Html;

/// Colours of the first files, by their classes in the style sheet.
///
/// # Source
///
/// M. Okabe and K. Ito, Color universal design, 2008: colours that are told apart with and without
/// colour blindness; without the yellow, which is too light for lines on white.
const COLOURS: [&str; 7] = ["f0", "f1", "f2", "f3", "f4", "f5", "f6"];

/// That of all others.
const OTHERS: &str = "fo";

/// The class of marks that are from a file.
pub(super) fn colour_of(file: usize) -> &'static str {
    COLOURS.get(file).copied().unwrap_or(OTHERS)
}

/// Which colour is whose; nothing if there is only one file.
pub(super) fn key(takes: &[Take<'_>]) -> String {
    if takes.len() < 2 {
        return String::new();
    }
    let mut text = "<p class=\"key\">".to_owned();
    for (i, take) in takes.iter().take(COLOURS.len()).enumerate() {
        let _ = write!(text, "<span>{} {}</span> ", swatch(i), Html(&short(take.name)));
    }
    if takes.len() > COLOURS.len() {
        let more = takes.len() - COLOURS.len();
        let _ = write!(text, "<span>{} {more} others</span>", swatch(COLOURS.len()));
    }
    text.push_str("</p>\n");
    text
}

/// A spot in the colour of a file.
pub(super) fn swatch(file: usize) -> String {
    format!("<i class=\"spot {}\"></i>", colour_of(file))
}

/// The last part of a path, and of a long one its end, where names of clips differ.
fn short(name: &str) -> String {
    const MOST: usize = 40;
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match last.chars().count().checked_sub(MOST) {
        Some(more) if more > 0 => {
            let end: String = last.chars().skip(more + 1).collect();
            format!("…{end}")
        }
        _ => last.to_owned(),
    }
}
