//! Any bytes as `reply` takes them; what must hold stands in `tests/integration/properties/reply.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::reply(data));
