//! Steps of a definition: keys and loaded form of each type.
//!
//! `step` has the keys that several types share, and reads steps of every type.

pub mod agent;
pub mod approval;
pub mod discussion;
pub mod flow;
pub mod review;
pub mod round;
pub mod step;
