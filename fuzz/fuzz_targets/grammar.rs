//! Any bytes as `grammar` takes them; what must hold stands in `tests/integration/properties/grammar.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::grammar(data));
