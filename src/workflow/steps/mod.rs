//! The steps of a definition, each with its keys, what it holds once loaded and how it is read.
//!
//! `step` has what all types share, `types` the table of types, `read` reads a step of any type.

pub mod agent;
pub mod approval;
pub mod discussion;
pub mod flow;
pub mod read;
pub mod record;
pub mod review;
pub mod round;
pub mod step;
pub mod types;
