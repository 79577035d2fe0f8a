//! False accepts over false rejects, drawn.

use std::f64::consts::{LN_2, LN_10};
use std::fmt::{self, Write as _};

use super::curve::{Point, at};

/// How a curve is drawn: its colour, one of Okabe and Ito's that the colour-blind tell apart, its
/// dashes, and its width.
const STYLES: [(&str, &str, f64); 8] = [
    ("#0072b2", "none", 3.2),
    ("#56b4e9", "9 3", 2.2),
    ("#000000", "2 3", 1.8),
    ("#d55e00", "none", 2.0),
    ("#d55e00", "5 4", 1.6),
    ("#009e73", "none", 2.0),
    ("#009e73", "5 4", 1.6),
    ("#0072b2", "5 4", 1.6),
];

/// The edges of the plot, in pixels.
const LEFT: f64 = 66.0;
const RIGHT: f64 = 546.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 392.0;

/// False rejects at the left edge, and how many times as many there are at the right one.
const LEAST: f64 = 0.001;
const TIMES: f64 = 50.0;

/// Pieces of a curve: a power of two, so that square roots give their ratio.
const PIECES: u32 = 128;

/// An SVG of curves with their names, on a white ground.
pub(crate) fn draw(curves: &[(&str, &[Point])], subject: &str) -> String {
    let mut svg = String::new();
    let _ = write(&mut svg, curves, subject);
    svg
}

fn write(svg: &mut String, curves: &[(&str, &[Point])], subject: &str) -> fmt::Result {
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"450\" \
         viewBox=\"0 0 800 450\" font-family=\"Helvetica,Arial,'Liberation Sans','DejaVu Sans',\
         sans-serif\" font-size=\"13\" fill=\"#1f2328\" role=\"img\">"
    )?;
    writeln!(svg, "<title>False accepts over false rejects</title>")?;
    writeln!(svg, "<rect width=\"800\" height=\"450\" fill=\"#ffffff\"/>")?;
    writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"26\" font-size=\"16\" font-weight=\"600\">Limits from other people: \
         what they get wrong</text>"
    )?;
    writeln!(svg, "<text x=\"{LEFT}\" y=\"46\" fill=\"#57606a\">{subject}</text>")?;

    // ln 50 = 2 ln 10 − ln 2.
    let whole = 2.0 * LN_10 - LN_2;
    let ticks = [
        ("0.1 %", 0.0),
        ("0.2 %", LN_2),
        ("0.5 %", LN_10 - LN_2),
        ("1 %", LN_10),
        ("2 %", LN_10 + LN_2),
        ("5 %", whole),
    ];
    for (name, log) in ticks {
        let x = LEFT + (RIGHT - LEFT) * log / whole;
        writeln!(
            svg,
            "<path d=\"M{x:.2} {TOP}V{BOTTOM}\" stroke=\"#d0d7de\"/>\
             <text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            BOTTOM + 18.0
        )?;
    }
    for share in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
        let y = height(share);
        writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.2}H{RIGHT}\" stroke=\"#d0d7de\"/>\
             <text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{:.0} %</text>",
            LEFT - 8.0,
            y + 4.5,
            100.0 * share
        )?;
    }
    writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">real frames of an unseen person outside \
         (log scale)</text>",
        0.5 * (LEFT + RIGHT),
        BOTTOM + 42.0
    )?;
    let middle = 0.5 * (TOP + BOTTOM);
    writeln!(
        svg,
        "<text x=\"18\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {middle})\">\
         implausible poses inside</text>"
    )?;

    let mut ratio = TIMES;
    for _ in 0..PIECES.ilog2() {
        ratio = ratio.sqrt();
    }
    for (i, (name, curve)) in curves.iter().enumerate() {
        let (colour, dashes, width) = STYLES[i % STYLES.len()];
        let line = format!(
            "fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-dasharray=\"{dashes}\" stroke-linejoin=\"round\""
        );
        let mut path = String::new();
        let mut rejects = LEAST;
        for piece in 0..=PIECES {
            let x = LEFT + (RIGHT - LEFT) * f64::from(piece) / f64::from(PIECES);
            if let Some(point) = at(curve, rejects) {
                let letter = if path.is_empty() { 'M' } else { 'L' };
                write!(path, "{letter}{x:.2} {:.2}", height(point.accepts))?;
            }
            rejects *= ratio;
        }
        writeln!(svg, "<path d=\"{path}\" {line}/>")?;
        let y = TOP + 14.0 + 26.0 * f64::from(u32::try_from(i).unwrap_or(0));
        writeln!(
            svg,
            "<path d=\"M{} {y}h34\" {line}/><text x=\"{}\" y=\"{}\">{name}</text>",
            RIGHT + 20.0,
            RIGHT + 62.0,
            y + 4.5
        )?;
    }
    writeln!(svg, "</svg>")
}

fn height(share: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * share
}
