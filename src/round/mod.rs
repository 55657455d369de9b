//! One blind round: snapshot, prompt, answer and seal.
//!
//! Pure: time, randomness and keys are arguments.

pub mod answer;
pub mod envelope;
pub mod material;
pub mod offer;
pub mod prompt;
pub mod seal;
pub mod snapshot;
