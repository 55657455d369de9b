//! What was read of the replies to one question, asked again or not: the same for a seat and an agent.

use crate::participants::{Reply, TokenUsage};
use crate::round::record::ReplyAttempt;

/// The replies so far, and what they cost.
#[derive(Default)]
pub(super) struct Transcript {
    pub replies: Vec<ReplyAttempt>,
    pub usage: Option<TokenUsage>,
    pub tries: u32,
}

impl Transcript {
    /// Takes in a reply.
    pub fn add(&mut self, reply: &Reply) {
        self.tries += reply.tries;
        if let Some(usage) = reply.usage {
            let sum = self.usage.get_or_insert_default();
            sum.input += usage.input;
            sum.output += usage.output;
            sum.cached += usage.cached;
        }
        self.replies.push(ReplyAttempt { text: reply.text.clone(), finish: reply.finish, reason: None });
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
