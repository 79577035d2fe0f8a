//! A made file to TRC and back.

#![no_main]

use condyle::formats::Format;
use condyle_fuzz::fuzz::{made::Made, round_trip};

libfuzzer_sys::fuzz_target!(|made: Made| round_trip(&made, Format::Trc));
