//! Inputs made to hang a reader or to exhaust its memory. `cargo run --release --example hostile`
//! reads them in full size and prints times; here the sizes are such that a debug build takes them.

use condyle::formats::{Format, ReadError, ReadErrorKind, ReadOptions, read};

#[path = "../../examples/hostile/inputs.rs"]
mod inputs;

/// Reads an input, and checks that memory stays within a small multiple of it.
fn refused(input: &inputs::Input) -> ReadError {
    let options = ReadOptions { format: input.format, ..ReadOptions::default() };
    let skeleton = input.skeleton.as_ref();
    let mut error = None;
    let info = allocation_counter::measure(|| {
        error = read(&input.bytes, skeleton, &options).err();
    });
    let allowed = 64 * input.bytes.len() as u64 + (1 << 20);
    assert!(info.bytes_max <= allowed, "{}: {} bytes of memory", input.what, info.bytes_max);
    error.unwrap_or_else(|| panic!("{}: read", input.what))
}

#[test]
fn hostile_inputs_get_the_right_error_within_bounded_memory() {
    for input in inputs::all(20_000_000) {
        let error = refused(&input);
        assert!((input.expected)(error.kind()), "{}: {error}", input.what);
    }
}

#[test]
fn blanks_alone_are_an_empty_file_in_every_format() {
    for format in [None, Some(Format::Bvh), Some(Format::Asf), Some(Format::Trc)] {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let error = read(&b" ".repeat(1_000_000), None, &options).unwrap_err();
        assert_eq!(*error.kind(), ReadErrorKind::Empty);
    }
}
