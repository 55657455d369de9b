//! Any bytes as `persona` takes them; what must hold stands in `tests/integration/properties/persona.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::persona(data));
