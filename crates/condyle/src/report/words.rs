//! Words of the page: text from files, ranges, counts.

use std::fmt;

use super::WrittenRange;
use crate::picture::dial::{range, range_of};
use crate::picture::svg::Escaped;
pub(super) use crate::picture::svg::Html;
use crate::picture::{Figures, SwingFigures};
use crate::rig::{JointKind, RigJoint};

/// The name of a joint, cut where it is longer than a table is wide.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        let end = self.0.char_indices().nth(LONGEST);
        match (self.0, end) {
            ("", _) => f.write_str("(no name)"),
            (text, Some((end, _))) => write!(f, "<bdi>{}…</bdi>", Escaped(&text[..end])),
            (text, None) => write!(f, "<bdi>{}</bdi>", Escaped(text)),
        }
    }
}

/// What a joint can do, and what the files have for its angles where that differs.
pub(super) fn limits(
    joint: &RigJoint,
    figures: &Figures,
    written: &[Option<WrittenRange>],
) -> String {
    if let Some(SwingFigures { x, y, .. }) = &figures.swing {
        let whole = |ends: &[crate::math::Angle; 2]| {
            let [low, high] = ends.map(|a| a.degrees().round().to_radians());
            range(low, high)
        };
        return format!(
            "swing {} about x, {} about y; twist {}",
            whole(x),
            whole(y),
            twist(figures)
        );
    }
    match (figures.arcs.as_slice(), joint.kind) {
        ([], JointKind::Free) => "moves freely".to_owned(),
        ([], _) if figures.shape == "locked" => "does not turn".to_owned(),
        ([], _) => "any turn".to_owned(),
        (arcs, _) => {
            let written = written.iter().copied().chain(std::iter::repeat(None));
            let each = arcs.iter().zip(written).map(|((_, arc), written)| match written {
                Some(WrittenRange { channel, ends: [low, high] }) => format!(
                    "{} <small>(file: {channel} {})</small>",
                    range_of(*arc),
                    range(low.radians(), high.radians())
                ),
                None => range_of(*arc),
            });
            each.collect::<Vec<_>>().join(" and ")
        }
    }
}

/// The twists of a ball joint. A range that turns with the swing may come to every twist.
fn twist(figures: &Figures) -> String {
    let Some(swing) = &figures.swing else { return String::new() };
    if swing.twist.is_full() && !swing.is_any_twist() {
        return format!("{:.0}° wide", swing.twist_width[1].degrees());
    }
    if swing.twist.is_full() || swing.twist.is_empty() {
        return range_of(swing.twist);
    }
    let [low, high] = swing.twist.ends_about_zero().map(|a| a.degrees().round().to_radians());
    range(low, high)
}

/// `1,234`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// `1 joint`, `3 joints`.
pub(super) fn counted(n: usize, what: &str) -> String {
    let number = count(n as u64);
    if n == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A share as a small bar and in percent.
pub(super) fn share_bar(share: f64) -> String {
    let percent = if share.is_finite() { (100.0 * share).clamp(0.0, 100.0) } else { 0.0 };
    format!(
        "<span class=\"nb\"><span class=\"bar\"><i style=\"width:{percent:.0}%\"></i></span> {percent:.0} %</span>"
    )
}

/// A confidence as a small bar and a number.
pub(super) fn confidence_bar(sure: f64) -> String {
    let sure = if sure.is_finite() { sure.clamp(0.0, 1.0) } else { 0.0 };
    let class = if sure < super::page::UNSURE { "bar low" } else { "bar" };
    format!("<span class=\"{class}\"><i style=\"width:{:.0}%\"></i></span> {sure:.2}", 100.0 * sure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_from_files_stay_in_their_place() {
        let odd = "</bdi><script>alert(1)</script>&\"'\u{202e}\u{0}";
        let text = Html(odd).to_string();
        assert_eq!(text.matches('<').count(), 2, "{text}");
        assert!(text.starts_with("<bdi>&lt;/bdi&gt;&lt;script&gt;") && !text.contains('\0'));
        let long = "é".repeat(5000);
        assert!(Html(&long).to_string().len() < 1300);
        assert_eq!(Name(&long).to_string().chars().count(), 60 + 1 + 11);
        assert_eq!(Name("").to_string(), "(no name)");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }
}
