//! roundtable: blind rounds among AI participants.
pub mod participants;
pub mod persona;
pub mod problem;
pub mod round;
pub mod session;
pub mod tally;
pub mod text;
pub mod workflow;
pub mod yaml;
