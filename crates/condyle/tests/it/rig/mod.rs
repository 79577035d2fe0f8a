//! The rig document from outside.

mod damage;
mod documents;
mod errors;
mod schema;
mod zoo;

use condyle::rig::Rig;

/// All that a rig says, to the bit.
fn contents(rig: &Rig) -> String {
    let text = format!(
        "{:?} {:?} {:?}",
        rig.skeleton.joints(),
        rig.skeleton.parents(),
        rig.joints.iter().collect::<Vec<_>>()
    );
    // Documents have no −0.
    [",", ")", "]", " "].iter().fold(text, |text, end| {
        text.replace(&format!("-0.0{end}"), &format!("0.0{end}")).replace("-0°", "0°")
    })
}

/// A text without the blanks between its words.
fn words(text: &str) -> String {
    let mut inside = false;
    let mut escaped = false;
    text.chars()
        .filter(|&c| {
            if inside {
                inside = escaped || c != '"';
                escaped = !escaped && c == '\\';
                true
            } else {
                inside = c == '"';
                !c.is_whitespace()
            }
        })
        .collect()
}

fn write(rig: &Rig) -> String {
    String::from_utf8(rig.write().unwrap()).unwrap()
}

/// A document with these entries, and no skeleton.
fn document(entries: &str) -> String {
    format!("{{\"condyle\": 1, \"skeleton\": {{\"joints\": []}}, \"joints\": {{\n{entries}}}}}")
}
