//! Report model: all facts of a session, computed once for every format.
//!
//! Texts are raw. A round contributes nothing before its answers are revealed.

mod blocks;
mod dissent;
mod document;
mod events;
mod facts;
mod options;
mod page;
mod question;
mod reasons;
mod record;
mod votes;

pub use blocks::Block;
pub use dissent::Dissenter;
pub use document::{Document, RoundNotHeld, Source};
pub use facts::{ApprovalFacts, Fact, Facts, date, people_money};
pub use page::Page;
pub use record::{RoundRecord, SeatRecord};
