//! The keys of a definition in one table, and what is made from it.
//!
//! `tables` has the maps of a definition, each file of `steps` those of its step type. `check` compares a
//! file with them, `schema` writes them as a JSON Schema and `reference` as `docs/DEFINITION.md`.

pub mod check;
pub mod material;
mod reference;
mod schema;
pub mod shared;
pub mod spec;
pub mod tables;

pub use reference::definition_reference;
pub use schema::definition_schema_text;

#[cfg(test)]
mod tests;
