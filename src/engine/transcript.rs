//! What was read of the replies to one question, asked again or not: the same for a seat and an agent.

use crate::ballot::holds_no_answer;
use crate::participants::{Failure, Finish, Reply, SeatRequest, TokenUsage};
use crate::round::answer::{AnswerRecord, ReplyAttempt};
use crate::round::prompt;

impl AnswerRecord {
    pub(super) fn add(&mut self, reply: &Reply) {
        self.tries += reply.tries;
        self.declined += reply.declined;
        self.dropped.clone_from(&reply.dropped);
        self.origin = reply.origin;
        self.served.clone_from(&reply.served);
        self.add_usage(reply.usage);
        let limit = reply.limit.filter(|_| reply.finish == Finish::Length && holds_no_answer(&reply.text));
        let (text, finish) = (reply.text.clone(), reply.finish);
        self.replies.push(ReplyAttempt { text, finish, limit, reason: None });
    }

    /// Takes in a request that brought no reply.
    pub(super) fn add_failure(&mut self, failure: &Failure) {
        self.tries += failure.tries;
        self.add_usage(failure.usage);
    }

    fn add_usage(&mut self, usage: Option<TokenUsage>) {
        match (&mut self.tokens, usage) {
            (Some(sum), Some(usage)) => *sum += usage,
            (tokens, usage) => *tokens = tokens.or(usage),
        }
    }

    /// Turns the request into the one to make since the last reply does not count: with the reason, or,
    /// where the reply ended at its limit without an answer, the same with twice the room. Returns whether
    /// there is one: each is made once.
    pub(super) fn ask_again(&self, ask: &mut SeatRequest, reason: &str) -> bool {
        if self.replies.last().is_some_and(|last| last.limit.is_some()) {
            !std::mem::replace(&mut ask.has_twice_the_room, true)
        } else {
            ask.again.replace(prompt::reask_suffix(reason)).is_none()
        }
    }
}
