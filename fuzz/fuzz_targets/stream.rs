//! Any bytes as `stream` takes them; what must hold stands in `tests/integration/properties/stream.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::stream(data));
