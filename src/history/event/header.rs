//! The header: everything a session needs to be replayed anywhere, alone.

use super::remote::RemoteSeat;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::history::linked_session::LinkedSession;
use crate::round::answer::TokenUsage;
use crate::workflow::Effort;

/// The SHA-256, in hex, of the texts that this program writes into sessions, as `tests/fixtures/texts.txt` lists them.
pub const TEXTS: &str = include_str!("../texts.sha256").trim_ascii();

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOpened {
    pub session: String,
    pub format: u32,
    pub program: String,
    pub texts: String,
    pub definition_file: String,
    pub definition_sha256: String,
    /// The definition's whole text, byte-order mark removed.
    pub definition: String,
    pub input: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether it is held as a rehearsal: placeholders stand for all models, programs and people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearse: bool,
    pub participants: Vec<SeatInfo>,
    pub personas: Vec<PersonaInfo>,
    /// The text of the project's own tasks, links and reports (`.s2s/tasks.yaml`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_file: Option<String>,
    /// The text of the file beside it that holds what trackers made of the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks_state: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked_sessions: Vec<LinkedSession>,
    /// What of the project's tasks and of linked sessions could not be read, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// What the models of its seats cost, as far as was known when it opened.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub prices: IndexMap<String, Price>,
    /// What the configuration says of the providers of its seats, where it says something.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub providers: IndexMap<String, ProviderSettings>,
    /// The public key that signs offers, in hex; none without remote seats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_key: Option<String>,
    /// What everything is drawn with, where something is to be drawn: the run's seed, else from the
    /// operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw_seed: Option<u64>,
    /// By what names participants are shown to each other, if not by their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pseudonyms: Option<PseudonymMap>,
}

/// What holds for the seats of a provider that say nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSettings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The most tokens of a reply, where that is not the usual number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
}

/// Names that participants have for each other, drawn once and the same to the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PseudonymMap {
    pub seed: u64,
    pub names: IndexMap<String, String>,
}

/// What stands for the model of a seat that has none: before one is chosen, and where a script gives its answers.
pub const NO_MODEL: &str = "no model yet";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatInfo {
    pub name: String,
    pub persona: String,
    /// `provider/model`, or `rehearsal`.
    pub model: String,
    /// What its ballot weighs: one of weight 2 counts as two.
    pub weight: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How much its model is to think, if the definition says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// The most tokens one of its replies may have, if the definition says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripted: Vec<String>,
    /// Whether it answers agent steps alone and takes no seat in rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_only: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// Words it is known by, where the definition gives some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_tools: bool,
    /// What the program that answers for it was seen to send, where a program does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrapped: Option<Wrapped>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteSeat>,
}

/// What a program that takes a seat was seen to send, when its session opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wrapped {
    pub program: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Bytes of text it adds to a prompt; none where it was declared and not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonaInfo {
    pub name: String,
    pub sha256: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub text: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    /// Of what of a prompt the service had in its cache.
    pub cached: f64,
    pub output: f64,
}

impl Price {
    pub fn is_nothing(&self) -> bool {
        self.input <= 0.0 && self.cached <= 0.0 && self.output <= 0.0
    }

    pub fn cost_usd(&self, tokens: TokenUsage) -> f64 {
        let uncached = tokens.input.saturating_sub(tokens.cached);
        let input = uncached as f64 * self.input + tokens.cached as f64 * self.cached;
        (input + tokens.output as f64 * self.output) / 1e6
    }
}
