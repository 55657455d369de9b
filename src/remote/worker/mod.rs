//! A worker: a machine that keeps its own keys to models, and answers for seats of sessions elsewhere.
//!
//! It takes offers from the queue, checks them, asks a model, seals and signs. What is sealed is on disk
//! before it is sent. The queue never sees an answer, and nobody sees the keys.

mod answer;
mod context;
mod money;
mod run;
mod spool;
#[cfg(test)]
mod tests;

pub use answer::{Answerer, WorkerModel};
pub use money::Money;
pub use run::{Worker, WorkerSettings};
pub use spool::Spool;
