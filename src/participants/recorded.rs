//! Answers from a saved session: the same seats, the same replies, no network.
//!
//! What a seat replied in a round of the recording is replied again in the round of the same id.

use std::collections::HashMap;

use futures::future::{BoxFuture, FutureExt as _, ready};

use super::{Ask, Failure, Finish, Participant, Reply};

/// The replies of a saved session, by round and seat, in the order they came.
pub struct Recorded {
    replies: HashMap<(String, String), Vec<String>>,
}

impl Recorded {
    /// A participant that knows these replies.
    pub fn new(replies: HashMap<(String, String), Vec<String>>) -> Self {
        Self { replies }
    }
}

impl Participant for Recorded {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Reply, Failure>> {
        let replies = self.replies.get(&(ask.round.clone(), ask.seat.clone()));
        let nth = usize::from(ask.again.is_some());
        let reply = match replies.and_then(|replies| replies.get(nth).or(replies.last())) {
            Some(text) => Ok(Reply { text: text.clone(), finish: Finish::Complete, usage: None, tries: 1 }),
            None => Err(Failure {
                reason: format!("the recording holds no answer of `{}` in round `{}`", ask.seat, ask.round),
                timed_out: false,
                tries: 1,
            }),
        };
        ready(reply).boxed()
    }
}
