//! Any bytes as `remote` takes them; what must hold stands in `tests/integration/properties/remote.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::remote(data));
