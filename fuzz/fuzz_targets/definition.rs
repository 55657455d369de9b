//! Any bytes as `definition` takes them; what must hold stands in `tests/integration/properties/definition.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::definition(data));
