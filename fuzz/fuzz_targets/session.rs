//! Any bytes as `session` takes them; what must hold stands in `tests/integration/properties/session.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::session(data));
