//! Thousands of damaged documents, the same on every machine: no panic, bounded memory, and what
//! still reads is written and read again.

use condyle::rig::Rig;
use condyle::synth::Rng;

use super::{contents, words, write, zoo};

/// Damaged documents.
const INPUTS: u64 = 6000;

/// Peak memory of reading: so many bytes per byte of the input, and so many besides. The smallest
/// value takes two bytes of text (`0,`) and some forty of the tree, twice that while its list grows;
/// the text is kept. Warnings are 1,000 at most. Measured: at most 54 bytes per byte.
const BYTES_PER_BYTE: u64 = 96;
const BYTES_BESIDES: u64 = 1 << 20;

const PIECES: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u12",
    "null",
    "true",
    "-",
    "1e999",
    "1e-999",
    "-0",
    "0.5",
    "180",
    "\"free\"",
    "\"all\"",
    "[0,0,0]",
    "{}",
    "[[[[[[[[",
    "\u{0}",
    "ä",
    "\"shape\":",
];

fn damaged(rng: &mut Rng, original: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.below(bytes.len());
        let some = (at + 1 + rng.below(20)).min(bytes.len());
        match rng.below(6) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => drop(bytes.splice(at..at, rng.choose(&PIECES).unwrap().bytes())),
            2 => drop(bytes.splice(at..some, rng.choose(&PIECES).unwrap().bytes())),
            3 => bytes.truncate(at),
            // A number becomes another.
            4 => {
                let digit = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'.' | b'e');
                let Some(n) = bytes[at..].iter().position(digit) else { continue };
                let start = at + n;
                let n = bytes[start..].iter().position(|b| !digit(b));
                let end = n.map_or(bytes.len(), |n| start + n);
                let number = *rng.choose(&["0", "1", "-7.5", "1e300", "1e-320", "359.5"]).unwrap();
                bytes.splice(start..end, number.bytes());
            }
            _ => {
                let from = rng.below(bytes.len());
                let piece = bytes[from..(from + 1 + rng.below(60)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

#[track_caller]
fn check_memory(bytes: &[u8]) -> f64 {
    let info = allocation_counter::measure(|| drop(Rig::read(bytes)));
    let allowed = BYTES_PER_BYTE * bytes.len() as u64 + BYTES_BESIDES;
    assert!(info.bytes_max <= allowed, "{info:?} for {} bytes", bytes.len());
    info.bytes_max as f64 / bytes.len().max(1) as f64
}

#[test]
fn damaged_rigs_are_read_or_refused() {
    let originals: Vec<String> = (0..40).map(|seed| write(&zoo::rig(seed))).collect();
    let mut read_at_all = 0;
    for i in 0..INPUTS {
        let mut rng = Rng::stream(11, i);
        let original = rng.choose(&originals).unwrap();
        let bytes = damaged(&mut rng, original.as_bytes());
        check_memory(&bytes);
        let Ok(read) = Rig::read(&bytes) else { continue };
        read_at_all += 1;
        let written = write(&read.rig);
        // Escapes may be spelt otherwise.
        let text = String::from_utf8(bytes).unwrap();
        if !text.contains('\\') {
            assert_eq!(words(&written), words(&text));
        }
        let again = Rig::read(written.as_bytes()).unwrap();
        assert_eq!(contents(&again.rig), contents(&read.rig));
        assert_eq!(again.warnings.len(), read.warnings.len());
        assert_eq!(write(&again.rig), written);
    }
    println!("{read_at_all} of {INPUTS} still read");
    assert!(read_at_all > INPUTS / 20 && read_at_all < INPUTS / 2, "{read_at_all}");
}

#[test]
fn memory_is_bounded_by_the_size_of_the_document() {
    let mut worst = 0.0_f64;
    for item in ["0", "[]", "{}", "\"\"", "[0]", "{\"a\":0}", "\"\\n\"", "[[0,0],[0,0]]"] {
        let text = format!("{{\"x\": [{}0]}}", format!("{item},").repeat(200_000));
        worst = worst.max(check_memory(text.as_bytes()));
    }
    let fields: String = (0..100_000).map(|i| format!("\"{i}\":0,")).collect();
    worst = worst.max(check_memory(format!("{{{fields}\"x\":0}}").as_bytes()));
    println!("at most {worst:.1} bytes per byte of the document");
}
