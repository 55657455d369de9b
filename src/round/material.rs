//! What a facilitator puts on the table: artifacts, agenda, the rounds before.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ballot::line_range;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Artifact {
    pub id: String,
    /// One line; its title unless given.
    pub summary: String,
    /// Further keys in the order of the snapshot; shown when `relevant`.
    pub details: Vec<(&'static str, Value)>,
    pub relevant: bool,
    /// The source that its content is read from before each round, if it is not in the definition.
    pub source: Option<EvidenceSource>,
}

/// The keys of an artifact beside id and summary, in the order a snapshot shows them.
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
/// Those that say where its content was read; the program writes them, and no definition.
pub const PROVENANCE: [&str; 4] = ["source", "commits", "bytes", "sha256"];
pub const EVIDENCE_KEYS: [&str; 6] = ["source", "lines", "commits", "bytes", "sha256", "content"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceSource {
    pub place: EvidencePlace,
    pub numbers: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EvidencePlace {
    /// A file of the project, or some of its lines, counted from 1.
    File { path: String, lines: Option<RangeInclusive<u32>> },
    /// Changes between two commits (`main...HEAD`), in some of the paths or in all.
    Diff { range: String, paths: Vec<String> },
}

impl EvidencePlace {
    /// A file as a person names it: `src/cache.rs`, or some lines of it, `src/cache.rs:10-80`.
    pub fn file(named: &str) -> Self {
        let cut = named.rsplit_once(':').and_then(|(path, lines)| Some((path, line_range(lines)?)));
        match cut {
            Some((path, lines)) => Self::File { path: path.to_owned(), lines: Some(lines) },
            None => Self::File { path: named.to_owned(), lines: None },
        }
    }

    /// Its name: `src/cache.rs:10-80`, or the range of a diff.
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

    /// Takes over what was read from its source; the rest of it stays.
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

/// Everything a snapshot may hold; what is empty is left out of it.
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
    /// The material of this round; the one key that stays when empty, as `[]`.
    pub artifacts: Vec<&'a Artifact>,
    pub open_conflicts: Vec<Value>,
    pub open_questions: Vec<Value>,
    /// Closed rounds, the earliest first: `{round, question, synthesis?, outcome?}`.
    pub recent_rounds: Vec<Value>,
    /// Reasons on options of a round that is revised, without authors: `{option?, for?, against?}`.
    pub earlier_reasons: Vec<Value>,
    pub earlier_counts: Option<Value>,
    pub context: Map<String, Value>,
    pub linked_tasks: String,
}
