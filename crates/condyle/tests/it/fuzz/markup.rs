//! Whether what is written for a browser is well formed, and has numbers where it draws.

/// Whether a text is XML as far as we write it: elements closed in order, attributes quoted and not
/// repeated, no stray markup. Returns the number of elements.
#[track_caller]
pub fn well_formed(text: &str) -> usize {
    let mut open: Vec<&str> = Vec::new();
    let mut count = 0;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        check_text(before);
        assert!(!open.is_empty() || before.trim().is_empty(), "text outside: {before:?}");
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
            continue;
        }
        let (inside, alone) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let name = inside.split(' ').next().unwrap();
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()), "{name:?}");
        attributes(&inside[name.len()..]);
        count += 1;
        assert!(count == 1 || !open.is_empty(), "one root");
        if !alone {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    count
}

fn attributes(mut text: &str) {
    let mut names = Vec::new();
    while !text.trim().is_empty() {
        let (name, value) = text.strip_prefix(' ').unwrap().split_once("=\"").unwrap();
        assert!(!names.contains(&name), "{name} twice");
        names.push(name);
        let (value, after) = value.split_once('"').unwrap();
        assert!(!value.contains('<'));
        check_text(value);
        text = after;
    }
}

fn check_text(text: &str) {
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
    for part in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;"];
        assert!(known.iter().any(|k| part.starts_with(k)), "{part:?}");
    }
}

/// Whether a page is one: all of it XML but for style and script, which stand in its head or at its end, and
/// numbers in all attributes that draw.
#[track_caller]
pub fn check_page(page: &str) {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").expect("a page");
    let mut xml = String::new();
    // What stands in them is no markup.
    while let Some((before, from)) =
        ["style", "script"].iter().filter_map(|what| raw(rest, what)).min_by_key(|(b, _)| b.len())
    {
        xml.push_str(before);
        rest = from;
    }
    xml.push_str(rest);
    // What has no end in HTML has one here.
    for alone in ["meta", "link", "br", "hr", "input", "img"] {
        let start = format!("<{alone} ");
        let mut parts = xml.split(&start);
        let mut closed = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (inside, after) = part.split_once('>').expect("a tag ends");
            closed += &format!("{start}{}/>{after}", inside.trim_end_matches('/'));
        }
        xml = closed.replace(&format!("<{alone}>"), &format!("<{alone}/>"));
    }
    assert!(well_formed(&xml) > 4);
    for tag in xml.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').expect("it is well formed");
        let drawn =
            ["d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "points", "width", "height"];
        for attribute in inside.split("\" ") {
            let Some((name, value)) = attribute.split_once("=\"") else { continue };
            let name = name.rsplit(' ').next().unwrap_or(name);
            let odd = value.contains("NaN") || value.contains("inf");
            assert!(!(odd && drawn.contains(&name)), "<{inside}");
        }
    }
}

/// What stands before an element whose content is no markup, and after it.
fn raw<'a>(text: &'a str, what: &str) -> Option<(&'a str, &'a str)> {
    let at = text.find(&format!("<{what}"))?;
    let end = format!("</{what}>");
    let close = text[at..].find(&end).expect("it is closed");
    Some((&text[..at], &text[at + close + end.len()..]))
}
