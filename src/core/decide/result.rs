//! What a decision comes out as: events, or a refusal.

use crate::core::command::Refusal;
use crate::history::Event;

pub(crate) type DecideResult = Result<Vec<Event>, Refusal>;

pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}
