//! Material of a round: artifacts, agenda and earlier rounds.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ballot::line_range;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Artifact {
    pub id: String,
    /// One line; by default the title.
    pub summary: String,
    /// Further keys in snapshot order; shown only if `relevant`.
    pub details: Vec<(&'static str, Value)>,
    pub relevant: bool,
    /// Source from which the content is read before each round; `None` if the definition contains it.
    pub source: Option<EvidenceSource>,
}

/// Artifact keys other than id and summary, in snapshot order.
pub const DETAILS: [&str; 12] = [
    "title",
    "kind",
    "status",
    "priority",
    "description",
    "source",
    "lines",
    "commits",
    "bytes",
    "sha256",
    "content",
    "acceptance",
];
/// Keys that state where the content was read. Only the program sets them, never a definition.
pub const PROVENANCE: [&str; 4] = ["source", "commits", "bytes", "sha256"];
pub const EVIDENCE_KEYS: [&str; 6] = ["source", "lines", "commits", "bytes", "sha256", "content"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceSource {
    pub place: EvidencePlace,
    pub numbers: bool,
    /// Line and column in the definition.
    pub written_at: (u64, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidencePlace {
    /// File of the project, or a range of its lines, counted from 1.
    File { path: String, lines: Option<RangeInclusive<u32>> },
    /// Changes between two commits (`main...HEAD`), in some paths or in all.
    Diff { range: String, paths: Vec<String> },
}

impl EvidencePlace {
    /// Parses a file name with an optional range of lines: `src/cache.rs`, `src/cache.rs:10-80`.
    pub fn file(named: &str) -> Self {
        let cut = named.rsplit_once(':').and_then(|(path, lines)| Some((path, line_range(lines)?)));
        match cut {
            Some((path, lines)) => Self::File { path: path.to_owned(), lines: Some(lines) },
            None => Self::File { path: named.to_owned(), lines: None },
        }
    }

    /// Returns the name: `src/cache.rs:10-80`, or the range of a diff.
    pub fn name(&self) -> String {
        match self {
            Self::File { path, lines: None } => path.clone(),
            Self::File { path, lines: Some(lines) } => format!("{path}:{}-{}", lines.start(), lines.end()),
            Self::Diff { range, .. } => range.clone(),
        }
    }
}

impl Artifact {
    pub fn detail(&self, key: &str) -> Option<&Value> {
        self.details.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// Replaces the content by that of `read`; all other keys stay.
    pub fn take_evidence(&mut self, read: Self) {
        self.details.retain(|(key, _)| !EVIDENCE_KEYS.contains(key));
        self.details.extend(read.details.into_iter().filter(|(key, _)| EVIDENCE_KEYS.contains(key)));
    }

    pub fn to_json(&self) -> Value {
        let mut all = Map::new();
        all.insert("id".to_owned(), self.id.as_str().into());
        all.insert("summary".to_owned(), self.summary.as_str().into());
        all.extend(self.details.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        Value::Object(all)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgendaItem {
    pub id: String,
    pub title: String,
    /// `open`, `done`, `closed`, `dropped` or the facilitator's own word.
    pub status: String,
    pub reason: Option<String>,
}

/// Content of a snapshot; empty parts are omitted.
#[derive(Debug, Clone, Default)]
pub struct SnapshotContent<'a> {
    pub project_summary: Option<&'a str>,
    pub goal: Option<&'a str>,
    pub constraints: &'a [String],
    pub current_round: u32,
    pub question: &'a str,
    pub exploration: Option<&'a str>,
    pub ballot: Option<&'a crate::ballot::BallotForm>,
    pub agenda: &'a [AgendaItem],
    /// Material of this round; the only key that is also written when empty, as `[]`.
    pub artifacts: Vec<&'a Artifact>,
    pub open_conflicts: Vec<Value>,
    pub open_questions: Vec<Value>,
    /// Closed rounds, earliest first: `{round, question, synthesis?, outcome?}`.
    pub recent_rounds: Vec<Value>,
    /// Anonymous reasons about options of the revised round: `{option?, for?, against?}`.
    pub earlier_reasons: Vec<Value>,
    pub earlier_counts: Option<Value>,
    pub context: Map<String, Value>,
    pub linked_tasks: String,
}
