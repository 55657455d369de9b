//! One blind round: the snapshot, the prompt, the ballot form, reading a reply, the seal.
//!
//! Pure: time, randomness and keys come in as arguments.

pub mod ballot;
pub mod leak;
pub mod material;
pub mod prompt;
pub mod record;
pub mod reply;
pub mod seal;
pub mod snapshot;
