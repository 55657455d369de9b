//! Any bytes as `yaml` takes them; what must hold stands in `tests/integration/properties/yaml.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| roundtable_fuzz::yaml(data));
