//! Answers from a saved session: the same work items, the same replies, no network.
//!
//! What a seat or an agent replied is replied again to the very same prompt. A prompt that has
//! changed gets no answer that was meant for another one: the difference is told instead.

use std::collections::HashMap;

use futures::future::BoxFuture;

use super::{Failure, Origin, Participant, Prompt, Reply, SeatRequest, at_once};
use crate::sanitize::harmless_line;

/// The shown part of a line, in characters.
const SHOWN: usize = 100;

#[derive(Debug, Clone)]
pub struct RecordedReply {
    pub prompt: Prompt,
    /// The replies, in the order they came.
    pub replies: Vec<String>,
}

/// The takes of a saved session, by round or work item and by who was asked.
pub struct RecordedTakes {
    pub takes: HashMap<(String, String), RecordedReply>,
}

impl RecordedTakes {
    fn reply(&self, ask: &SeatRequest) -> Result<String, String> {
        let take = self.takes.get(&(ask.round.clone(), ask.seat.clone()));
        let take = take
            .ok_or_else(|| format!("the recording holds no answer of `{}` in `{}`", ask.seat, ask.round))?;
        if take.prompt != ask.prompt {
            return Err(difference(&take.prompt.text(), &ask.prompt.text()));
        }
        let nth = usize::from(ask.again.is_some());
        let reply = take.replies.get(nth).or(take.replies.last());
        reply.cloned().ok_or_else(|| format!("the recording holds no reply of `{}`", ask.seat))
    }
}

fn difference(recorded: &str, now: &str) -> String {
    let same = recorded.lines().zip(now.lines()).take_while(|(before, after)| before == after).count();
    let shown = |text: &str| match text.lines().nth(same) {
        None => "nothing".to_owned(),
        Some(line) => format!("`{}`", harmless_line(&line.chars().take(SHOWN).collect::<String>())),
    };
    let (number, before, after) = (same + 1, shown(recorded), shown(now));
    format!("the prompt has changed since the recording: line {number} was {before} and is {after}")
}

impl Participant for RecordedTakes {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        at_once(Origin::Recorded, self.reply(ask))
    }
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn tells_the_first_line_that_differs() {
        let told = difference("a\nb\nc", "a\nx\u{1b}\nc");
        assert_eq!(told, "the prompt has changed since the recording: line 2 was `b` and is `x\\u{1b}`");
        assert!(difference("a", "a\nb").ends_with("line 2 was nothing and is `b`"));
        let long = "y".repeat(500);
        assert!(difference(&long, "").contains(&format!("`{}`", "y".repeat(100))));
    }
}
