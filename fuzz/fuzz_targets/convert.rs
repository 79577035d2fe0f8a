//! A made file to a format, and from there to another.

#![no_main]

use condyle_fuzz::fuzz::{convert, made::Made};

libfuzzer_sys::fuzz_target!(|made: Made| convert(&made));
