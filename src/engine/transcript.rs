//! What was read of the replies to one question, asked again or not: the same for a seat and an agent.

use crate::ballot::holds_no_answer;
use crate::participants::{Failure, Finish, Reply, SeatRequest, TokenUsage};
use crate::round::prompt;
use crate::round::record::ReplyAttempt;

/// The replies so far, and what they cost.
#[derive(Default)]
pub(super) struct Transcript {
    pub replies: Vec<ReplyAttempt>,
    pub usage: Option<TokenUsage>,
    pub tries: u32,
    /// Requests that the service declined for a parameter.
    pub declined: u32,
    /// What the last request was to be sent with and was not.
    pub dropped: Vec<String>,
}

impl Transcript {
    pub fn add(&mut self, reply: &Reply) {
        self.tries += reply.tries;
        self.declined += reply.declined;
        self.dropped.clone_from(&reply.dropped);
        self.add_usage(reply.usage);
        let limit = reply.limit.filter(|_| reply.finish == Finish::Length && holds_no_answer(&reply.text));
        self.replies.push(ReplyAttempt {
            text: reply.text.clone(),
            finish: reply.finish,
            limit,
            reason: None,
        });
    }

    /// Takes in a request that brought no reply.
    pub fn add_failure(&mut self, failure: &Failure) {
        self.tries += failure.tries;
        self.add_usage(failure.usage);
    }

    fn add_usage(&mut self, usage: Option<TokenUsage>) {
        if let Some(usage) = usage {
            match &mut self.usage {
                Some(sum) => *sum += usage,
                None => self.usage = Some(usage),
            }
        }
    }

    /// Turns the request into the one to make since the last reply does not count: with the reason, or,
    /// where the reply ended at its limit without an answer, the same with twice the room. Returns whether
    /// there is one: each is made once.
    pub fn ask_again(&self, ask: &mut SeatRequest, reason: &str) -> bool {
        if self.replies.last().is_some_and(|last| last.limit.is_some()) {
            !std::mem::replace(&mut ask.has_twice_the_room, true)
        } else {
            ask.again.replace(prompt::reask_suffix(reason)).is_none()
        }
    }

    /// Why the last reply did not count, if it did not.
    pub fn last_reason(&self) -> Option<&str> {
        self.replies.last()?.reason.as_deref()
    }

    /// Notes why the last reply does not count.
    pub fn reject_last(&mut self, reason: &str) {
        if let Some(last) = self.replies.last_mut() {
            last.reason = Some(reason.to_owned());
        }
    }
}
