//! Session core: pure functions from commands to events and from events to state.
//!
//! - [`decide()`] checks a command and returns the events it produces. It changes nothing.
//! - [`apply`](crate::history::Session::apply) folds one event into the state.
//! - [`next()`] returns the next action of a session.
//!
//! No I/O, clock or randomness: times, keys and texts are arguments. Live sessions, replays and reports
//! share this state.

pub mod alike;
mod command;
mod cost;
mod decide;
mod ending;
mod next;
mod proposal;
mod questions;
mod roster;
mod tally_round;
#[cfg(test)]
pub(crate) mod testing;

pub use command::{AgendaChange, Command, ItemHolder, Refusal};
pub use cost::{Cost, PriceLookup, ReplyLimits, is_free};
pub use decide::agenda::TALLY;
pub use decide::facilitator::FACILITATOR;
pub use decide::round::{RoundDraft, draft_round};
pub use decide::work_item::{RequestedEvidence, artifact_view};
pub use decide::{decide, run_ahead};
pub use ending::{Deciding, ExitCode, deciding, exit_code, failing_rounds, out_of_time, session_exit};
pub use next::{NextAction, Question, QuestionKind, next, next_of};
pub use proposal::Proposal;
pub use questions::{
    AskedQuestion, decided_by_person, discussion_of, earlier_rounds, is_within, question_asked, questions,
    record_of,
};
pub use roster::ROLE_WITHOUT_PERSONA;
pub use tally_round::{decides_nothing, is_persons, is_placeholder, is_scripted, profile};

pub use crate::history::{LEASE_MS, exhausted_key};
