//! Key table of a definition, and its uses.
//!
//! Each key is declared at the struct that stores its value. `check` compares files with the table;
//! `schema` prints it as JSON Schema, `reference` as `docs/DEFINITION.md`.

pub mod check;
mod reference;
mod schema;
pub mod spec;

pub use reference::definition_reference;
pub use schema::definition_schema_text;

#[cfg(test)]
mod tests;
