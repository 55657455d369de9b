//! What the fuzz targets call: the functions that `cargo test` runs over the corpus.

#[path = "../../tests/integration/properties/mod.rs"]
mod properties;

pub use properties::*;
