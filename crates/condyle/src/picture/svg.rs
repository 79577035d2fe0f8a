//! Text of SVG documents: numbers, names, paths, and the colours of every picture.

use std::fmt::{self, Write as _};

use glam::DVec2;

/// Colours and lines, for light and for dark surroundings. Plain classes and no variables, because
/// many viewers outside of browsers know the former only. Every text has a contrast of at least 4.5
/// to what is below it.
pub(crate) const STYLE: &str = "\
.cl{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;\
font-size:11px}
.cl-back{fill:#ffffff}
.cl-card{fill:none;stroke:#d0d7de}
.cl-ink{fill:#1f2328}
.cl-name{fill:#1f2328;font-size:15px;font-weight:600}
.cl-note{fill:#57606a}
.cl-small{fill:#57606a;font-size:10px}
.cl-halo{fill:#1f2328;stroke:#ffffff;stroke-width:3px;paint-order:stroke;stroke-linejoin:round}
.cl-disc{fill:#f6f8fa;stroke:#8c959f}
.cl-grid{fill:none;stroke:#ccd3da}
.cl-tick{fill:none;stroke:#8c959f}
.cl-area{fill:#0969da;fill-opacity:.24;fill-rule:evenodd}
.cl-edge{fill:none;stroke:#0550ae;stroke-width:1.8px;stroke-linejoin:round;stroke-linecap:round}
.cl-far{fill:none;stroke:#0550ae;stroke-opacity:.65;stroke-dasharray:3 3}
.cl-dot{fill:#0550ae;stroke:#ffffff}
.cl-rim{fill:#ffffff;fill-opacity:.75;stroke:#8c959f;stroke-width:.8px}
.cl-twist{fill:#d4700a;fill-opacity:.75;stroke:#9a4a00;stroke-width:.8px;stroke-linejoin:round}
.cl-zero{fill:none;stroke:#1f2328;stroke-width:1.4px;stroke-linecap:round}
.cl-rest{fill:none;stroke:#1f2328;stroke-width:1.6px}
@media (prefers-color-scheme:dark){
.cl-back{fill:#0d1117}
.cl-card{stroke:#3d444d}
.cl-ink,.cl-name{fill:#e6edf3}
.cl-note,.cl-small{fill:#9aa4af}
.cl-halo{fill:#e6edf3;stroke:#0d1117}
.cl-disc{fill:#161b22;stroke:#7d8590}
.cl-grid{stroke:#424a53}
.cl-tick{stroke:#7d8590}
.cl-area{fill:#4493f8;fill-opacity:.3}
.cl-edge,.cl-far{stroke:#79c0ff}
.cl-dot{fill:#79c0ff;stroke:#0d1117}
.cl-rim{fill:#0d1117;stroke:#7d8590}
.cl-twist{fill:#f0883e;stroke:#ffb77c}
.cl-zero,.cl-rest{stroke:#e6edf3}
}
";

/// A number with up to two decimals: a hundredth of a pixel is finer than anyone sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = if self.0.is_finite() { self.0 } else { 0.0 };
        let text = format!("{x:.2}");
        let short = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if short == "-0" { "0" } else { short })
    }
}

/// Text as XML has it. Characters that XML forbids become U+FFFD.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\u{FFFE}' | '\u{FFFF}' => f.write_char('\u{FFFD}')?,
                c if c.is_control() => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A text from a file: it cannot leave its place, nor turn the text after it around, and is not longer
/// than anyone reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Html<'a>(pub(crate) &'a str);

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 600;
        let end = self.0.char_indices().nth(LONGEST);
        match end {
            Some((end, _)) => write!(f, "<bdi>{}…</bdi>", Escaped(&self.0[..end])),
            None => write!(f, "<bdi>{}</bdi>", Escaped(self.0)),
        }
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// The inside of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Canvas {
    text: String,
}

impl Canvas {
    fn add(&mut self, element: fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{element}");
    }

    pub(crate) fn text(&mut self, class: &str, at: DVec2, anchor: Anchor, text: &str) {
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>",
            Number(at.x),
            Number(at.y),
            anchor.as_str(),
            Escaped(text)
        ));
    }

    pub(crate) fn circle(&mut self, class: &str, at: DVec2, radius: f64) {
        self.add(format_args!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            Number(at.x),
            Number(at.y),
            Number(radius)
        ));
    }

    pub(crate) fn line(&mut self, class: &str, from: DVec2, to: DVec2) {
        self.path(class, &[vec![from, to]], false);
    }

    pub(crate) fn rectangle(&mut self, class: &str, at: DVec2, size: DVec2, round: f64) {
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            Number(at.x),
            Number(at.y),
            Number(size.x),
            Number(size.y),
            Number(round)
        ));
    }

    /// A rectangle in a colour of its own.
    pub(crate) fn filled(&mut self, colour: &str, at: DVec2, size: DVec2) {
        self.add(format_args!(
            "<rect fill=\"{colour}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            Number(at.x),
            Number(at.y),
            Number(size.x),
            Number(size.y)
        ));
    }

    /// A bitmap, by its address; its pixels stay as they are.
    pub(crate) fn image(&mut self, at: DVec2, size: DVec2, address: &str) {
        self.add(format_args!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"{}\"/>",
            Number(at.x),
            Number(at.y),
            Number(size.x),
            Number(size.y),
            Escaped(address)
        ));
    }

    /// Lines as one path; nothing if there are none.
    pub(crate) fn path(&mut self, class: &str, lines: &[Vec<DVec2>], closed: bool) {
        let mut data = String::new();
        for line in lines {
            for (i, p) in line.iter().enumerate() {
                let command = match i {
                    0 => "M",
                    1 => "L",
                    _ => " ",
                };
                let _ = write!(data, "{command}{} {}", Number(p.x), Number(p.y));
            }
            if closed && !line.is_empty() {
                data.push('Z');
            }
        }
        self.data(class, &data);
    }

    /// A path by its data.
    pub(crate) fn data(&mut self, class: &str, data: &str) {
        if !data.is_empty() {
            self.add(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
        }
    }

    /// Dots as one path: lines of no length, whose round ends are seen. To tenths of a pixel.
    pub(crate) fn dots(&mut self, class: &str, points: &[DVec2]) {
        let mut data = String::new();
        for p in points.iter().filter(|p| p.is_finite()) {
            let _ = write!(data, "M{:.1} {:.1}h0", p.x, p.y);
        }
        self.data(class, &data);
    }

    /// As a part of a page that has the [`STYLE`].
    pub(crate) fn embedded(&self, size: DVec2, name: &str) -> String {
        let (w, h) = (Number(size.x), Number(size.y));
        format!(
            "<svg class=\"cl\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             aria-label=\"{}\">\n{}</svg>\n",
            Escaped(name),
            self.text
        )
    }

    /// Elements that belong together and have a name.
    pub(super) fn group(&mut self, name: &str, at: DVec2, inside: &Self) {
        self.add(format_args!(
            "<g role=\"img\" aria-label=\"{}\" transform=\"translate({} {})\">\n<title>{}</title>",
            Escaped(name),
            Number(at.x),
            Number(at.y),
            Escaped(name)
        ));
        self.text.push_str(&inside.text);
        self.text.push_str("</g>\n");
    }

    /// The whole document. `name` and `description` are what is read aloud.
    pub(super) fn document(&self, size: DVec2, name: &str, description: &str) -> String {
        let (w, h) = (Number(size.x), Number(size.y));
        let id = identifier(name);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"cl\" width=\"{w}\" height=\"{h}\" \
             viewBox=\"0 0 {w} {h}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"cl-back\" width=\"{w}\" height=\"{h}\"/>\n{}</svg>\n",
            Escaped(name),
            Escaped(description),
            self.text
        )
    }
}

/// A name as an identifier of XML, so that several pictures fit into one page.
fn identifier(name: &str) -> String {
    let mut id = "cl-".to_owned();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => id.push(c),
            '-' => id.push('-'),
            c => {
                let _ = write!(id, "_{:x}", u32::from(c));
            }
        }
    }
    id
}

/// How wide a text is, about; fonts differ.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    // Names are short; a count above 2⁵³ is none.
    let count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    0.53 * size * f64::from(count)
}

/// A text that fits into a width, cut if it has to be.
pub(crate) fn fitted(text: &str, size: f64, width: f64) -> String {
    if width_of(text, size) <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        if width_of(&cut, size) + 1.6 * size > width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_minus_zero() {
        let shown = [0.0, -0.0, -0.001, 1.0, 10.0, 2.345_6, -7.5, f64::NAN, f64::INFINITY]
            .map(|x| Number(x).to_string());
        assert_eq!(shown, ["0", "0", "0", "1", "10", "2.35", "-7.5", "0", "0"]);
    }

    #[test]
    fn names_cannot_leave_their_place() {
        let text = Escaped("</text>&\"\u{1}\u{FFFE}").to_string();
        assert_eq!(text, "&lt;/text&gt;&amp;&quot;\u{FFFD}\u{FFFD}");
        assert_ne!(identifier("a b"), identifier("a_b"));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(fitted("short", 10.0, 100.0), "short");
        let cut = fitted(&"long ".repeat(30), 10.0, 100.0);
        assert!(cut.ends_with('…') && width_of(&cut, 10.0) <= 100.0, "{cut}");
    }
}
