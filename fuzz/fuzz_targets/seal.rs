//! Any bytes as `seal` takes them; what must hold stands in `tests/integration/properties/seal.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::seal(data));
