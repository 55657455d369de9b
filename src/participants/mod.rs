//! Participants: one file per provider behind one trait.
//!
//! A participant gets one prompt and returns text or a failure. It sees no other seat, no session and no log.
//! Services never get tools; programs only if the definition or the configuration allows it. Only `http` uses
//! HTTP.

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
    /// Id of the round, or of an agent's work item.
    pub round: String,
    /// Model name without its provider.
    pub model: String,
    pub prompt: Prompt,
    /// For a re-ask: the reason why the first reply was invalid, ready to append to the prompt.
    pub again: Option<String>,
    /// One seat of each model asks first, which fills the service's cache for the others.
    pub warm_first: bool,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
    /// Limit of output tokens, thinking included, if the seat sets one.
    pub max_output_tokens: Option<u64>,
    /// Doubles the output limit, because the previous reply ended while thinking.
    pub has_twice_the_room: bool,
    /// Form of the seat's answer, for participants that do not read the prompt.
    pub ballot: Option<Arc<BallotForm>>,
    /// JSON Schema of the answer, for services that enforce one. Not part of the prompt.
    pub schema: Option<Arc<ReplySchema>>,
    /// Limit of the whole call, retries and waits included.
    pub time_left: Option<Duration>,
    /// Limit that replaces the configured timeout if the step sets one. Slightly longer than the step's, since
    /// the caller gives up first and names the step.
    pub timeout: Option<Duration>,
    pub watch: progress::ProgressHandle,
    /// Seat's share of the cost limit.
    pub purse: purse::Purse,
    /// Work item of an agent; `None` for a seat.
    pub task: Option<Arc<WorkItemView>>,
}

impl SeatRequest {
    /// Returns a request outside any session, without progress display or limits.
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

/// Work item for participants that do not read the prompt.
#[derive(Debug, Default)]
pub struct WorkItemView {
    pub input: serde_json::Map<String, serde_json::Value>,
    pub whole: String,
    pub schema: Option<OutputSchema>,
    /// Placeholder answer that suits a discussion step.
    pub placeholder: Option<serde_json::Value>,
    /// Current tasks, for the tracker.
    pub tasks: Arc<Vec<TrackedTask>>,
    /// Ids of the tasks whose evidence was requested earlier.
    pub evidence_asked: Arc<HashSet<String>>,
    /// Placeholders did the work, so there is no evidence.
    pub is_rehearsal: bool,
    pub ended: ExitNote,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramExit {
    /// Exit status as text; `None` if the program was given up.
    pub status: Option<String>,
    /// End of its standard output.
    pub stdout: Vec<u8>,
    /// End of its standard error.
    pub stderr: Vec<u8>,
    pub is_exit_data: bool,
}

pub type ExitNote = Mutex<ProgramExit>;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    pub origin: Origin,
    /// Model that answered, as the service names it.
    pub served: Option<String>,
    pub finish: Finish,
    pub usage: Option<TokenUsage>,
    /// Number of requests, the successful one included.
    pub tries: u32,
    /// Number of attempts that cannot have cost anything, such as refused ones.
    pub declined: u32,
    /// Parameters left out because the service does not accept them.
    pub dropped: Vec<String>,
    /// Limit of output tokens, if the reply reached it.
    pub limit: Option<u32>,
    /// Context window in tokens, reported by a server that counted far fewer tokens than were sent.
    pub window: Option<usize>,
}

impl Reply {
    pub fn own(origin: Origin, text: String) -> Self {
        Self { text, origin, tries: 1, ..Self::default() }
    }
}

/// Returns the result of a participant that answers without waiting.
fn ready_reply(origin: Origin, answer: Result<String, String>) -> BoxFuture<'static, Result<Reply, Failure>> {
    let failed = |reason| Failure { origin: Some(origin), ..Failure::from(reason) };
    Box::pin(ready(answer.map(|text| Reply::own(origin, text)).map_err(failed)))
}

/// Failure of a request in transport or at the service; never about an answer's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// Message that may be shown while the round is open: no reply text, no key.
    pub reason: String,
    /// Full message if it may quote generated text; sealed until the round closes.
    pub in_full: Option<String>,
    pub timed_out: bool,
    pub tries: u32,
    /// Number of attempts that cannot have cost anything, such as refused ones.
    pub declined: u32,
    pub usage: Option<TokenUsage>,
    /// Origin of the failure, if it is not the seat's model.
    pub origin: Option<Origin>,
}

impl Failure {
    /// Returns the failure of an attempt that exceeded `limit`.
    pub fn late(limit: Duration) -> Self {
        Self { timed_out: true, ..format!("timed out after {} ms", limit.as_millis()).into() }
    }

    /// Returns the full message, for readers who may see generated text.
    pub fn full_reason(&self) -> &str {
        self.in_full.as_deref().unwrap_or(&self.reason)
    }
}

impl From<String> for Failure {
    /// Returns the failure of one attempt without usage.
    fn from(reason: String) -> Self {
        Self { reason, tries: 1, ..Self::default() }
    }
}

pub trait Participant: Send + Sync {
    /// Asks once. Dropping the future cancels the request.
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>>;

    /// Returns true if only a person who is present can answer in this step.
    fn waits_for_person(&self, _step: &str) -> bool {
        false
    }

    /// Returns why it cannot answer in a step, if that is known before anything is sent.
    fn unavailable_reason(&self, _step: &str) -> Option<String> {
        None
    }
}
