//! A made file to ASF and AMC and back.

#![no_main]

use condyle_fuzz::fuzz::{made::Made, round_trip_acclaim};

libfuzzer_sys::fuzz_target!(|made: Made| round_trip_acclaim(&made));
