//! One blind round: the snapshot, the prompt, the record of a seat, the seal.
//!
//! Pure: time, randomness and keys come in as arguments.

pub mod envelope;
pub mod material;
pub mod offer;
pub mod prompt;
pub mod record;
pub mod seal;
pub mod snapshot;
