//! What a facilitator does while a session runs: revises the next round, adds material, notes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who records what was read from the project's files.
pub const PROJECT: &str = "project";

/// A round step as the facilitator wants it from its next opening on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRevised {
    pub step: String,
    /// The round's own keys, whole, as a definition writes them: `question`, `exploration`, `ballot`,
    /// `rule`, `ties`, `quorum`, `close`, `deadline`.
    pub form: String,
    /// Who is asked, by name; everyone when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participants: Option<Vec<String>>,
}

/// An artifact, new or in place of the one of its id; the next round sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRecorded {
    /// The artifact, as a definition writes one: `id`, `summary`, `title`, `description` …
    pub artifact: Map<String, Value>,
    pub by: String,
    /// The step that made it; none of what the facilitator adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Which of the step's it is, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_of: Option<String>,
}

/// The facilitator's note on a closed round; later snapshots carry it as the round's `synthesis`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SynthesisRecorded {
    pub step: String,
    pub round: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlineExtended {
    pub step: String,
    pub round: String,
    /// How long it may stay open in all, in milliseconds from its opening.
    pub deadline_ms: u64,
}

/// A seat of the open round that has sealed nothing is asked again; what it was asked before is given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatRetried {
    pub step: String,
    pub round: String,
    pub participant: String,
    /// The model that answers for it from now on, in later rounds too; the same as before when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionForked {
    pub session: String,
    pub from: String,
    pub at_seq: u64,
}
