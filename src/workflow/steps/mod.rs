//! The steps of a definition, each with its keys, what it holds once loaded and how it is read.
//!
//! `step` has what all types share, and reads a step of any type.

pub mod agent;
pub mod approval;
pub mod discussion;
pub mod flow;
pub mod review;
pub mod round;
pub mod step;
