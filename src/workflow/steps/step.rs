//! The steps of a definition: what each type holds once it is loaded.
//!
//! Plain data. Expressions, templates and schemas have been read; they are worked out where they are
//! used.

use serde_json::Value;

use super::agent::Agent;
use super::approval::Approval;
use super::record::Record;
use super::review::Review;
use super::round::{Round, Selection};
use crate::workflow::keys::spec::{KeyType, enum_of_words, words};
use crate::workflow::lang::{Condition, Transform};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    pub id: String,
    pub description: Option<String>,
    pub label: Option<String>,
    pub next: Option<String>,
    pub on_error: Option<String>,
    pub on_undecided: Option<String>,
    pub max_runs: Option<u32>,
    pub on_exhausted: Option<String>,
    pub output: Option<String>,
    pub record: Option<Record>,
    pub input: Option<String>,
    pub task: Option<String>,
    pub requires: Vec<String>,
    pub brief: bool,
    pub completeness: Option<Completeness>,
    pub retry: Retry,
    /// Limit of one attempt, or of one seat of a round, in milliseconds.
    pub timeout_ms: Option<u64>,
    pub facilitator_directive: Option<String>,
    pub kind: StepKind,
    /// The steps inside it, in the order of the file.
    pub steps: Vec<Step>,
    pub place: (u64, u64),
    pub is_copy: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// Asks every chosen participant at once, blind.
    Round(Box<Round>),
    /// Asks the facilitator for a yes or no.
    Approval(Approval),
    /// Hands one work item to one agent.
    Agent(Box<Agent>),
    /// Runs its steps at once, none seeing another's result.
    Parallel {
        /// Number of steps that must succeed; all unless given.
        min_success: Option<usize>,
    },
    /// Runs its steps in order and leaves the result of the last one.
    Sequence {
        /// The item that it is a copy for, inside an `each`.
        item: Option<Item>,
    },
    /// Runs its steps once for each item of a list.
    Each(Box<Each>),
    Transform(Transform),
    Condition(Branch),
    Review(Review),
}

impl Default for StepKind {
    fn default() -> Self {
        Self::Sequence { item: None }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Each {
    pub of: Transform,
    pub item: String,
    pub concurrency: usize,
    /// One sequence an item, `ID.1`, `ID.2` …, from when the step begins and the list is there.
    pub copies: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    pub condition: Condition,
    pub then: Option<String>,
    pub otherwise: Option<String>,
}

/// One item of the list of an `each`.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub key: String,
    pub value: Value,
}

/// The most items of the list of an `each`.
pub const MOST_ITEMS: usize = 1_000;

/// The id that a step inside an `each` was written with: what follows the number of the item.
pub fn written_id(id: &str) -> &str {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = id.split('.').collect();
    match parts.iter().rposition(|part| is_number(part)) {
        Some(at) if at > 0 && at + 1 < parts.len() => {
            let after: usize = parts[at + 1..].iter().map(|part| part.len() + 1).sum();
            &id[id.len() + 1 - after..]
        }
        Some(_) | None => id,
    }
}

pub const COMPLETENESS: KeyType = words!(Completeness);

enum_of_words! {
    /// Check of the facilitator's words against the material.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Completeness {
        /// Whatever is found refuses the work item, guesses about language too.
        Strict = "strict",
        /// A certain finding refuses the work item, a possible one is a warning.
        #[default]
        Warn = "warn",
        /// It is not checked.
        Off = "off",
    }
}

/// Retries of a failed work item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retry {
    /// Tries after the first.
    pub max: u32,
    /// The wait before each, in milliseconds.
    pub delay_ms: u64,
}

impl Step {
    /// Copies the steps of an `each` for every item of its list.
    pub fn expand(&mut self, items: &[Value]) {
        let StepKind::Each(each) = &mut self.kind else { return };
        let ids: Vec<String> = self.steps.iter().flat_map(Self::own_ids).collect();
        let copy = |(item, number): (&Value, usize)| {
            let id = format!("{}.{number}", self.id);
            let mut steps = self.steps.clone();
            steps.iter_mut().for_each(|step| step.put_into(&id, &ids));
            let item = Item { key: each.item.clone(), value: item.clone() };
            let kind = StepKind::Sequence { item: Some(item) };
            Self { id, kind, steps, place: self.place, is_copy: true, ..Self::default() }
        };
        each.copies = items.iter().zip(1..).map(copy).collect();
    }

    /// Its id and those of the steps inside it; not of steps that are copied once more.
    fn own_ids(&self) -> Vec<String> {
        let inside: &[Self] = if let StepKind::Each(_) = self.kind { &[] } else { &self.steps };
        std::iter::once(self.id.clone()).chain(inside.iter().flat_map(Self::own_ids)).collect()
    }

    /// Makes it a copy inside the step `around`; `ids` are the steps that are copied with it.
    fn put_into(&mut self, around: &str, ids: &[String]) {
        self.rename_references(around, ids);
        if self.output.is_none() {
            self.output = Some(self.id.clone());
        }
        self.id = format!("{around}.{}", self.id);
        self.is_copy = true;
        // The steps of an `each` are copied once more.
        let is_each = matches!(self.kind, StepKind::Each(_));
        let put = if is_each { Self::rename_all_references } else { Self::put_into };
        self.steps.iter_mut().for_each(|step| put(step, around, ids));
    }

    fn rename_all_references(&mut self, around: &str, ids: &[String]) {
        self.rename_references(around, ids);
        self.steps.iter_mut().for_each(|step| step.rename_all_references(around, ids));
    }

    fn rename_references(&mut self, around: &str, ids: &[String]) {
        let references = match &mut self.kind {
            StepKind::Round(round) => [round.revises.as_mut(), None],
            StepKind::Approval(approval) => [approval.merges.as_mut(), approval.edits.as_mut()],
            StepKind::Agent(agent) => [agent.synthesis_of.as_mut(), None],
            StepKind::Review(review) => [Some(&mut review.of), None],
            _ => [None, None],
        };
        for id in references.into_iter().flatten().filter(|id| ids.contains(id)) {
            *id = format!("{around}.{id}");
        }
    }

    /// The id of what it makes: its key, which copies for several items share.
    pub fn made_id(&self) -> &str {
        if self.is_copy { &self.id } else { self.key() }
    }

    pub fn targets(&self) -> Vec<(&'static str, &str)> {
        let mut targets = vec![
            ("next", &self.next),
            ("on_error", &self.on_error),
            ("on_undecided", &self.on_undecided),
            ("on_exhausted", &self.on_exhausted),
        ];
        match &self.kind {
            StepKind::Approval(approval) => {
                targets.extend([("on_approve", &approval.on_approve), ("on_reject", &approval.on_reject)]);
            }
            StepKind::Review(review) => targets.push(("on_reject", &review.on_reject)),
            StepKind::Condition(condition) => {
                targets.extend([("then", &condition.then), ("else", &condition.otherwise)]);
            }
            _ => {}
        }
        targets.into_iter().filter_map(|(key, to)| Some((key, to.as_deref()?))).collect()
    }

    pub fn round(&self) -> Option<&Round> {
        if let StepKind::Round(round) = &self.kind { Some(round) } else { None }
    }

    pub fn agent(&self) -> Option<&Agent> {
        if let StepKind::Agent(agent) = &self.kind { Some(agent) } else { None }
    }

    /// The steps inside it; of an `each` those that are written, and once it has begun the copies.
    pub fn nested(&self) -> &[Self] {
        match &self.kind {
            StepKind::Each(each) if !each.copies.is_empty() => &each.copies,
            _ => &self.steps,
        }
    }

    fn nested_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let copies = if let StepKind::Each(each) = &mut self.kind { &mut *each.copies } else { &mut [] };
        self.steps.iter_mut().chain(copies)
    }

    /// This step and every one inside it, each right after the step it is in.
    pub fn all(&self) -> Vec<&Self> {
        let inside = self.nested().iter().flat_map(Self::all);
        std::iter::once(self).chain(inside).collect()
    }

    /// It has that id, or a step inside it has.
    pub fn holds(&self, id: &str) -> bool {
        self.id == id || self.nested().iter().any(|step| step.holds(id))
    }

    /// The step whose result it leaves: of a sequence its last one.
    pub fn last(&self) -> &Self {
        match &self.kind {
            StepKind::Sequence { .. } => self.steps.last().map_or(self, Self::last),
            _ => self,
        }
    }

    /// It asks participants, who get the facilitator's line.
    pub fn asks_seats(&self) -> bool {
        matches!(self.kind, StepKind::Round(_) | StepKind::Agent(_) | StepKind::Review(_))
    }

    /// It asks participants or the facilitator.
    pub fn asks_somebody(&self) -> bool {
        self.asks_seats() || matches!(self.kind, StepKind::Approval(_))
    }

    /// The key its result has in the context.
    pub fn key(&self) -> &str {
        self.output.as_deref().unwrap_or(&self.id)
    }

    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            StepKind::Round(_) => "round",
            StepKind::Approval(_) => "approval",
            StepKind::Agent(_) => "agent",
            StepKind::Parallel { .. } => "parallel",
            StepKind::Sequence { .. } => "sequence",
            StepKind::Each(_) => "each",
            StepKind::Transform(_) => "transform",
            StepKind::Condition(_) => "condition",
            StepKind::Review(_) => "review",
        }
    }

    /// Its result is in the context even if it failed: as an envelope of several.
    pub fn is_envelope(&self) -> bool {
        matches!(
            self.kind,
            StepKind::Round(_) | StepKind::Parallel { .. } | StepKind::Each(_) | StepKind::Review(_)
        )
    }

    pub fn agents(&self) -> Vec<&str> {
        match &self.kind {
            StepKind::Agent(agent) => vec![agent.agent.as_str()],
            StepKind::Review(Review { reviewers: Selection::Named(names), .. }) => {
                names.iter().map(String::as_str).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Puts an artifact before its rounds that choose theirs by name.
    pub fn show_artifact(&mut self, id: &str) {
        if let StepKind::Round(round) = &mut self.kind
            && let Selection::Named(names) = &mut round.artifacts
            && !names.iter().any(|name| name == id)
        {
            names.push(id.to_owned());
        }
        self.nested_mut().for_each(|step| step.show_artifact(id));
    }

    pub fn find_mut(&mut self, id: &str) -> Option<&mut Self> {
        if self.id == id {
            return Some(self);
        }
        self.nested_mut().find_map(|step| step.find_mut(id))
    }

    /// Leaves out of its rounds everyone who is not `seated`.
    pub fn keep_seats(&mut self, seated: &[String]) {
        if let StepKind::Round(round) = &mut self.kind
            && let Selection::Named(chosen) = &mut round.participants
        {
            chosen.retain(|name| seated.contains(name));
        }
        self.nested_mut().for_each(|step| step.keep_seats(seated));
    }
}
