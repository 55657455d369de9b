//! Participants: one file a provider behind one trait.
//!
//! A participant gets the parts of one prompt and returns text or a failure. It sees no other seat, no
//! session and no log, and never gets tools. `http.rs` alone speaks HTTP.

pub mod api;
pub mod external_program;
pub mod http;
pub mod human;
pub mod key_command;
pub mod programs;
pub mod progress;
pub mod purse;
pub mod recorded;
pub mod rehearsal;
pub mod scripted;
#[cfg(test)]
pub mod testing;
pub mod tracker;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{BoxFuture, ready};

pub use progress::lock;

pub use crate::round::answer::{Finish, Origin, TokenUsage};
pub use crate::round::prompt::Prompt;

use crate::ballot::{BallotForm, ReplySchema};
pub use crate::workflow::Task as TrackedTask;
use crate::workflow::{Effort, OutputSchema};

#[derive(Debug, Clone, Default)]
pub struct SeatRequest {
    pub seat: String,
    pub step: String,
    /// The round's id; the work item's, of an agent.
    pub round: String,
    /// The model's name without its provider.
    pub model: String,
    pub prompt: Prompt,
    /// When asked again: why the first reply could not be counted, ready to append to the prompt.
    pub again: Option<String>,
    /// One seat of each model goes first, so that the service's cache is filled for the others.
    pub warm_first: bool,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
    /// The most tokens of the reply, thinking included, where the seat says so.
    pub max_output_tokens: Option<u64>,
    /// The reply may be twice as long, since the one before ended with thinking and no answer.
    pub has_twice_the_room: bool,
    /// The form of a seat's answer, for those who do not read the prompt.
    pub ballot: Option<Arc<BallotForm>>,
    /// The JSON Schema of the answer, for a service that holds replies to one. No part of the prompt.
    pub schema: Option<Arc<ReplySchema>>,
    /// Limit of the whole call, retries and waits included.
    pub time_left: Option<Duration>,
    /// Limit in place of the configured timeout if its step has one: a moment more, since the caller gives up
    /// first and names the step.
    pub timeout: Option<Duration>,
    pub watch: progress::ProgressHandle,
    /// The share of the cost limit that it may still use.
    pub purse: purse::Purse,
    /// The work item of an agent; none for a seat.
    pub task: Option<Arc<WorkItemView>>,
}

impl SeatRequest {
    /// A request of no session: nobody watches it and nothing limits it.
    pub fn alone(name: &str, model: &str, prompt: Prompt) -> Self {
        Self {
            seat: name.to_owned(),
            step: name.to_owned(),
            round: name.to_owned(),
            model: model.to_owned(),
            prompt,
            ..Self::default()
        }
    }
}

/// A work item as those see it who answer without reading a prompt.
#[derive(Debug, Default)]
pub struct WorkItemView {
    pub input: serde_json::Map<String, serde_json::Value>,
    pub whole: String,
    pub schema: Option<OutputSchema>,
    /// An answer that fits the session and says nothing, where a discussion is led.
    pub placeholder: Option<serde_json::Value>,
    /// The tracker's tasks as they stand, where the tracker is asked.
    pub tasks: Arc<Vec<TrackedTask>>,
    /// The tasks of which evidence was asked for before.
    pub evidence_asked: Arc<HashSet<String>>,
    /// Placeholders did the work, and have no evidence.
    pub is_rehearsal: bool,
    pub ended: ExitNote,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramExit {
    /// Its exit status, in words; none of one that was given up.
    pub status: Option<String>,
    /// The last of its standard output.
    pub stdout: Vec<u8>,
    /// The last of its standard error.
    pub stderr: Vec<u8>,
    pub is_exit_data: bool,
}

pub type ExitNote = Mutex<ProgramExit>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    pub origin: Origin,
    /// The model that answered, as its service names it.
    pub served: Option<String>,
    pub finish: Finish,
    /// Tokens, if the service told.
    pub usage: Option<TokenUsage>,
    /// Requests it took, the successful one included.
    pub tries: u32,
    /// Number of attempts that the service declined for a parameter.
    pub declined: u32,
    /// Parameters that were left out, since the service does not take them.
    pub dropped: Vec<String>,
    /// The most tokens it could have, where it ended there.
    pub limit: Option<u32>,
    /// The context window in tokens that its server told after it had counted few tokens.
    pub window: Option<usize>,
}

impl Reply {
    pub fn own(origin: Origin, text: String) -> Self {
        Self { text, origin, tries: 1, ..Self::default() }
    }
}

/// The answer of a participant that waits for nothing: a text, or why there is none.
fn at_once(origin: Origin, answer: Result<String, String>) -> BoxFuture<'static, Result<Reply, Failure>> {
    let failed = |reason| Failure { origin: Some(origin), ..Failure::from(reason) };
    Box::pin(ready(answer.map(|text| Reply::own(origin, text)).map_err(failed)))
}

/// Why nothing came back: a fault of the way there, never of the answer's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// The error, fit to be shown while the round is open: no reply text, no key.
    pub reason: String,
    /// The reason in full where it quotes what may have been generated: sealed until the round closes.
    pub in_full: Option<String>,
    pub timed_out: bool,
    pub tries: u32,
    pub usage: Option<TokenUsage>,
    /// Who failed, if not who the seat's model says.
    pub origin: Option<Origin>,
}

impl Failure {
    /// Of a try that was given so much time.
    pub fn late(limit: Duration) -> Self {
        Self { timed_out: true, ..format!("timed out after {} ms", limit.as_millis()).into() }
    }

    /// The reason for whoever may read all of it.
    pub fn full_reason(&self) -> &str {
        self.in_full.as_deref().unwrap_or(&self.reason)
    }
}

impl From<String> for Failure {
    /// Of one try that used nothing.
    fn from(reason: String) -> Self {
        Self { reason, tries: 1, ..Self::default() }
    }
}

pub trait Participant: Send + Sync {
    /// Asks once. Dropping the future gives up the request.
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>>;

    /// It answers in a step only when a person is there.
    fn waits_for_person(&self, _step: &str) -> bool {
        false
    }

    /// Why it cannot answer in a step, where that is known before anything is sent.
    fn unavailable_reason(&self, _step: &str) -> Option<String> {
        None
    }
}
