//! The steps that run: one at the top, and inside a parallel as many as it has.

use std::sync::Arc;

use super::event::{ApprovalGiven, ApprovalRequested, ArtifactRecorded, Merge, StepFinished};
use super::timestamp::Timestamp;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRun {
    pub id: String,
    pub started: Timestamp,
    /// The index of its round, once that is open.
    pub round: Option<usize>,
    /// What a person is asked in it, and what was answered.
    pub approval: Option<ApprovalRun>,
    pub merge: Option<Merge>,
    /// How much its `record` has put on record.
    pub recorded: usize,
    /// The work items it has handed out, by id.
    pub items: Vec<String>,
    /// The steps that run or ran inside it, in the order of the definition.
    pub nested: Vec<Self>,
    /// Its result, once it has one and the step around it still runs.
    pub result: Option<Arc<StepFinished>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRun {
    pub requested: ApprovalRequested,
    /// How many rounds were counted when it was asked.
    pub counted: usize,
    pub at: Timestamp,
    pub given: Option<ApprovalGiven>,
}

impl StepRun {
    pub fn new(id: &str, started: Timestamp) -> Self {
        Self { id: id.to_owned(), started, ..Self::default() }
    }

    pub fn find(&self, id: &str) -> Option<&Self> {
        if self.id == id { Some(self) } else { self.nested.iter().find_map(|run| run.find(id)) }
    }

    pub fn find_mut(&mut self, id: &str) -> Option<&mut Self> {
        if self.id == id { Some(self) } else { self.nested.iter_mut().find_map(|run| run.find_mut(id)) }
    }

    pub fn all(&self) -> Vec<&Self> {
        let mut all = vec![self];
        all.extend(self.nested.iter().flat_map(Self::all));
        all
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct StepArtifact {
    pub recorded: ArtifactRecorded,
    pub at: Timestamp,
}

impl StepArtifact {
    pub(crate) fn id(&self) -> &str {
        self.recorded.artifact.get("id").and_then(|id| id.as_str()).unwrap_or_default()
    }

    pub(crate) fn item(&self) -> &str {
        self.recorded.item.as_deref().unwrap_or_default()
    }
}
