//! YAML in and out, in one place: a reader that keeps lines and columns, and our own writer.
//!
//! The reader ([`Node`]) takes YAML 1.2 and JSON with comments, refuses duplicate keys, alias bombs
//! and deep nesting. The writer ([`Out`]) has a fixed style, so that the bytes of a snapshot or of a
//! session never depend on a library's version.

mod edit;
mod jsonc;
mod made;
mod own;
mod reader;
mod secret_fields;
mod write;

pub use edit::with_entry;
pub use jsonc::relaxed_json;
pub use made::{named, placed};
pub use own::read_own;
pub use reader::{Map, MapKey, Node, Value, read, read_json, read_large, read_yaml_or_json};
pub use secret_fields::literal_keys;
pub use write::{Out, Unwritable, is_plain, write_struct};
