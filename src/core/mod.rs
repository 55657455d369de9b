//! The session core: commands go in, events come out, state is a fold of events.
//!
//! Three functions and nothing else: [`decide()`] says what a command would write,
//! [`apply`](crate::history::Session::apply)
//! folds what was written, [`next()`] says what must happen now. Pure: times, keys and texts are
//! arguments. What is live, what is replayed and what a report shows is this one state.

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
pub use decide::decide;
pub use decide::facilitator::FACILITATOR;
pub use decide::round::{RoundDraft, draft_round};
pub use decide::work_item::{RequestedEvidence, artifact_view};
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
