//! What files and arguments say is visible, and never obeyed by a terminal: the one place for it.

use std::borrow::Cow;

/// The most characters of a word, as of a name: no path that a person types has as many.
const WORD: usize = 250;

/// The most characters of a line of a message.
const LINE: usize = 4000;

/// What is left of that which is cut, at its beginning.
const LEFT: usize = 60;

/// Whether a terminal would do something else than show it: control characters; those that turn the
/// direction of writing about, so that a text seems to say something else; and those of no width, by which
/// two names differ and look the same (`Default_Ignorable_Code_Point` of Unicode 16, and annotations).
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}')
        || matches!(c, '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// A text of several lines without what a terminal would obey: `\u001b` stands for it, which in JSON says
/// the same as the character itself.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_obeyed(c))
}

fn escaped(text: &str, which: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&which) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match which(c) {
            // Above U+FFFF in two parts, as JSON has it.
            true => {
                for part in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{part:04x}"));
                }
            }
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The same of a name, or of a sentence with names: on one line, and words and lines that are absurdly
/// long are cut. A name may be as long as its file.
pub(crate) fn printable(text: &str) -> String {
    escaped(&cut_words(text), is_obeyed).into_owned()
}

/// The same of several lines.
pub(crate) fn message(text: &str) -> String {
    visible(&cut_words(text)).into_owned()
}

/// The same for scripts, which obey nothing.
pub(crate) fn cut_words(text: &str) -> Cow<'_, str> {
    if text.len() <= WORD {
        return Cow::Borrowed(text);
    }
    let line = |line: &str| {
        let words: Vec<Cow<'_, str>> = line.split(' ').map(|word| cut(word, WORD)).collect();
        cut(&words.join(" "), LINE).into_owned()
    };
    Cow::Owned(text.split('\n').map(line).collect::<Vec<_>>().join("\n"))
}

/// The beginning of what has more characters than it may, and how many there are.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most || text.chars().nth(most).is_none() {
        return Cow::Borrowed(text);
    }
    let left: String = text.chars().take(if most == LINE { LINE / 2 } else { LEFT }).collect();
    Cow::Owned(format!("{left}… ({} characters)", text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        let bad = "a\u{1b}[31mb\u{202e}c\u{7}\u{9b}2J\u{2066}\u{feff}\r\nd\te\u{7f}";
        let good = "a\\u001b[31mb\\u202ec\\u0007\\u009b2J\\u2066\\ufeff\\u000d\nd\\u0009e\\u007f";
        assert_eq!(visible(bad), good);
        assert_eq!(message(bad), good);
        assert_eq!(printable(bad), good.replace('\n', "\\u000a"));
        // Of no width, and tags.
        assert_eq!(message("a\u{200b}b\u{ad}c\u{2060}"), "a\\u200bb\\u00adc\\u2060");
        assert_eq!(message("\u{e0041}"), "\\udb40\\udc41");
        let plain = "LeftÄrm, 左腕, ⠿ → 3.5°\n  help: “so”";
        assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
        assert_eq!(message(plain), plain);
    }

    /// In JSON the escape is the character.
    #[test]
    fn json_stays_what_it_says() {
        let value = serde_json::json!({ "a\u{9b}\u{202e}\u{e0041}\u{200b}": "\u{1b}\"\\\n" });
        let text = visible(&value.to_string()).into_owned();
        assert!(!text.contains(is_obeyed));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn what_is_absurdly_long_is_cut() {
        let long = "N".repeat(20_000_000);
        assert_eq!(printable(&long), format!("{}… (20000000 characters)", "N".repeat(60)));
        let told = message(&format!("walk.bvh:3:1: joint \"{long}\" appears a second time"));
        assert!(told.len() < 200, "{}", told.len());
        assert!(told.starts_with("walk.bvh:3:1: joint \"NNN"), "{told}");
        assert!(told.ends_with("characters) appears a second time"), "{told}");
        let words = "word ".repeat(4_000_000);
        assert!(message(&words).len() < 3 * LINE);
        let path = "folder/".repeat(30);
        assert_eq!(message(&path), path);
    }
}
