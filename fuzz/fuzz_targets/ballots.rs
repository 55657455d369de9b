//! Any bytes as `ballots` takes them; what must hold stands in `tests/integration/properties/ballots.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::ballots(data));
