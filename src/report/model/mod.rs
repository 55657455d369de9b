//! The report model: what a session was, found once. JSON is it, and every format is a view of it.
//!
//! Texts are raw here. Nothing of a round is in it before the round is revealed.

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
