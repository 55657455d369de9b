//! The keys of a definition in one table, and what is made from it.
//!
//! Each key stands where its value is held: in the definition, in the step types of `steps`. `check` compares
//! a file with them, `schema` writes them as a JSON Schema and `reference` as `docs/DEFINITION.md`.

pub mod check;
mod reference;
mod schema;
pub mod spec;

pub use reference::definition_reference;
pub use schema::definition_schema_text;

#[cfg(test)]
mod tests;
