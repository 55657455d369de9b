//! Replies from a saved session, without a network.
//!
//! A reply is repeated only for exactly the same prompt. After a change of the prompt the seat fails.

use std::collections::HashMap;

use futures::future::BoxFuture;

use super::{Failure, Origin, Participant, Prompt, Reply, SeatRequest, ready_reply};

#[derive(Debug, Clone)]
pub struct RecordedTranscript {
    pub prompt: Prompt,
    /// Replies in their original order.
    pub replies: Vec<String>,
}

/// Replies of a saved session, by round or work item and by seat or agent.
pub struct Recording {
    pub transcripts: HashMap<(String, String), RecordedTranscript>,
}

impl Recording {
    fn reply(&self, ask: &SeatRequest) -> Result<String, String> {
        let transcript = self.transcripts.get(&(ask.round.clone(), ask.seat.clone()));
        let transcript = transcript.ok_or_else(|| {
            format!("the recording contains no answer of `{}` in `{}`", ask.seat, ask.round)
        })?;
        if transcript.prompt != ask.prompt {
            return Err("the prompt has changed since the recording".to_owned());
        }
        let nth = usize::from(ask.again.is_some());
        let reply = transcript.replies.get(nth).or(transcript.replies.last());
        reply.cloned().ok_or_else(|| format!("the recording contains no reply of `{}`", ask.seat))
    }
}

impl Participant for Recording {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        ready_reply(Origin::Recorded, self.reply(ask))
    }
}
