//! Session header: everything needed to replay the session without other files.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with_macros::skip_serializing_none;

use super::remote::RemoteSeat;
use crate::round::answer::TokenUsage;
use crate::workflow::Effort;

/// SHA-256, in hex, of the texts that this program writes into sessions, as listed in
/// `tests/fixtures/texts.txt`.
pub const TEXTS: &str = include_str!("../texts.sha256").trim_ascii();

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionOpened {
    pub session: String,
    pub format: u32,
    pub program: String,
    pub texts: String,
    pub definition_file: String,
    pub definition_sha256: String,
    /// Complete text of the definition, without byte-order mark.
    pub definition: String,
    pub input: Value,
    pub seed: Option<u64>,
    /// Placeholders replace all models, programs and people.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearse: bool,
    pub participants: Vec<SeatInfo>,
    pub personas: Vec<PersonaInfo>,
    /// Text of the project's tasks, links and reports (`.s2s/tasks.yaml`).
    pub tasks_file: Option<String>,
    /// Text of the companion file with the trackers' updates of the tasks.
    pub tasks_state: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked_sessions: Vec<LinkedSession>,
    /// Errors in the project's tasks and in linked sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Known prices of the session's models at its opening.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub prices: IndexMap<String, Price>,
    /// Public key for signatures of offers, in hex; `None` without remote seats.
    pub table_key: Option<String>,
    /// Seed of every random draw: the run's, else from the operating system.
    pub draw_seed: Option<u64>,
    pub pseudonyms: Option<PseudonymMap>,
}

/// Names by which participants know each other, drawn once per session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PseudonymMap {
    pub seed: u64,
    pub names: IndexMap<String, String>,
}

/// Model of a seat for which none is chosen.
pub const NO_MODEL: &str = "no model yet";

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatInfo {
    pub name: String,
    pub persona: String,
    /// `provider/model`, or `rehearsal`.
    pub model: String,
    pub weight: f64,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
    pub max_output_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripted: Vec<String>,
    /// The seat answers agent steps and takes no part in rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_only: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_tools: bool,
    pub wrapped: Option<Wrapped>,
    pub remote: Option<RemoteSeat>,
}

/// Measured requests of a program that takes a seat.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wrapped {
    pub program: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Bytes of text that the program sends before a prompt; `None` if declared and not measured.
    pub bytes_before: Option<u64>,
    /// Bytes of text that the program sends after a prompt.
    pub bytes_after: Option<u64>,
    pub requests: Option<u64>,
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

/// Prices in USD per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    /// For tokens that the provider read from its cache.
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

/// Saved session as a linked task: a frozen extract, pinned by hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkedSession {
    /// File as the definition writes it.
    pub id: String,
    pub session: String,
    pub sha256: String,
    pub title: String,
    pub status: String,
    pub created_at: String,
    pub reported_at: String,
    pub report: String,
}

impl LinkedSession {
    /// Returns the row among linked tasks; the session is the agent, its report the outcome.
    pub fn row(&self) -> Value {
        let mut row = json!({
            "id": self.id, "title": self.title, "status": self.status, "statusSince": self.reported_at,
            "priority": null, "estimate": null, "timeSpent": null, "createdAt": self.created_at,
            "labels": [], "languageCode": null,
        });
        if !self.report.trim().is_empty() {
            row["taskAgentId"] = self.session.as_str().into();
            row["latestTaskAgentReport"] = self.report.trim().into();
            row["latestTaskAgentReportCreatedAt"] = self.reported_at.as_str().into();
        }
        row
    }
}
