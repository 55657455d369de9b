//! What the fuzz targets call: the functions that `cargo test` runs over the corpus.

#[path = "../../tests/integration/properties/mod.rs"]
mod properties;
#[path = "../../tests/integration/sitting.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod sitting;

pub use properties::*;
