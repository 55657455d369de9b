//! One blind round: the snapshot, the prompt, the answer of a seat, the seal.
//!
//! Pure: time, randomness and keys come in as arguments.

pub mod answer;
pub mod envelope;
pub mod material;
pub mod offer;
pub mod prompt;
pub mod seal;
pub mod snapshot;
