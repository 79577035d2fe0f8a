//! Two reports beside each other. `crates/xtask` compiles this file too, since it must not wait for
//! the library.

/// The lines in which two reports differ, in words; `None` if there are none.
#[must_use]
pub fn difference(expected: &str, found: &str) -> Option<String> {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    let mut text = String::new();
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return (!text.is_empty()).then_some(text),
            (a, b) if a == b => {}
            (a, b) => {
                let (a, b) = (a.unwrap_or("nothing"), b.unwrap_or("nothing"));
                text += &format!("   expected {a}\n   found    {b}\n");
            }
        }
    }
}
