//! The steps of a definition: what each type holds once it is loaded.
//!
//! Plain data. Expressions, templates and schemas have been read; they are worked out where they are
//! used.

use super::agent::Agent;
use super::approval::Approval;
use super::condition::Branch;
use super::handover::{Completeness, Retry};
use super::review::Review;
use super::round::{Round, Selection};
use crate::workflow::lang::Transform;

/// One unit of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its id, unique in the file.
    pub id: String,
    /// A line about it.
    pub description: Option<String>,
    /// The stage's name.
    pub label: Option<String>,
    /// Where to go on success.
    pub next: Option<String>,
    /// Where to go on failure.
    pub on_error: Option<String>,
    /// Where to go when a round took place and did not decide.
    pub on_undecided: Option<String>,
    /// How often it may run.
    pub max_runs: Option<u32>,
    /// Where to go in its place when it has run that often; the facilitator is asked when absent.
    pub on_exhausted: Option<String>,
    /// The key its result has in the context, if it is not the id.
    pub output: Option<String>,
    /// The earlier result it is handed beside the context, by id or key.
    pub input: Option<String>,
    /// The task it works on, where that is said.
    pub task: Option<String>,
    /// What its work item must hold, as paths.
    pub requires: Vec<String>,
    /// Whether a prompt comes with a block on the session and the stage.
    pub brief: bool,
    /// How its work item is checked; as the definition says when absent.
    pub completeness: Option<Completeness>,
    /// How often a failed work item is tried again, and when.
    pub retry: Retry,
    /// How long one try, or one seat of a round, may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// A line for everyone who is handed this step.
    pub facilitator_directive: Option<String>,
    /// What it does.
    pub kind: StepKind,
    /// The line and column it stands at.
    pub place: (u64, u64),
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// Asks every chosen participant at once, blind.
    Round(Box<Round>),
    /// Asks the facilitator for a yes or no.
    Approval(Approval),
    /// Hands one work item to one agent.
    Agent(Box<Agent>),
    /// Runs its steps at once, none seeing another's result.
    Parallel(Parallel),
    /// Takes a value out of the context.
    Transform(Transform),
    /// Chooses the way by the context.
    Condition(Branch),
    /// Has what a step made reviewed by others.
    Review(Review),
}

/// Steps that run at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel {
    /// The steps, in the order of the file; never empty.
    pub steps: Vec<Step>,
    /// How many of them must succeed; all unless given.
    pub min_success: Option<usize>,
}

impl Step {
    /// Every step this one may lead to, with the key that says so.
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
            StepKind::Round(_) | StepKind::Agent(_) | StepKind::Parallel(_) | StepKind::Transform(_) => {}
        }
        targets.into_iter().filter_map(|(key, to)| Some((key, to.as_deref()?))).collect()
    }

    /// The round, if it is one.
    pub fn round(&self) -> Option<&Round> {
        if let StepKind::Round(round) = &self.kind { Some(round) } else { None }
    }

    /// The agent step, if it is one.
    pub fn agent(&self) -> Option<&Agent> {
        if let StepKind::Agent(agent) = &self.kind { Some(agent) } else { None }
    }

    /// The steps inside it; none unless it is a parallel.
    pub fn nested(&self) -> &[Step] {
        if let StepKind::Parallel(parallel) = &self.kind { &parallel.steps } else { &[] }
    }

    /// Whether it hands something to participants, who get the facilitator's line.
    pub fn asks_seats(&self) -> bool {
        matches!(self.kind, StepKind::Round(_) | StepKind::Agent(_) | StepKind::Review(_))
    }

    /// The key its result has in the context.
    pub fn key(&self) -> &str {
        self.output.as_deref().unwrap_or(&self.id)
    }

    /// Its type, as the definition writes it.
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            StepKind::Round(_) => "round",
            StepKind::Approval(_) => "approval",
            StepKind::Agent(_) => "agent",
            StepKind::Parallel(_) => "parallel",
            StepKind::Transform(_) => "transform",
            StepKind::Condition(_) => "condition",
            StepKind::Review(_) => "review",
        }
    }

    /// Whether its result stands in the context when it failed: as an envelope of several.
    pub fn is_envelope(&self) -> bool {
        matches!(self.kind, StepKind::Round(_) | StepKind::Parallel(_) | StepKind::Review(_))
    }

    /// Whom it hands work items to, by name.
    pub fn agents(&self) -> Vec<&str> {
        match &self.kind {
            StepKind::Agent(agent) => vec![agent.agent.as_str()],
            StepKind::Review(Review { reviewers: Selection::Named(names), .. }) => {
                names.iter().map(String::as_str).collect()
            }
            StepKind::Round(_)
            | StepKind::Approval(_)
            | StepKind::Parallel(_)
            | StepKind::Transform(_)
            | StepKind::Condition(_)
            | StepKind::Review(_) => Vec::new(),
        }
    }

    /// Puts an artifact before its rounds that choose theirs by name.
    pub fn show_artifact(&mut self, id: &str) {
        match &mut self.kind {
            StepKind::Round(round) => {
                if let Selection::Named(names) = &mut round.artifacts
                    && !names.iter().any(|name| name == id)
                {
                    names.push(id.to_owned());
                }
            }
            StepKind::Parallel(parallel) => {
                parallel.steps.iter_mut().for_each(|step| step.show_artifact(id));
            }
            StepKind::Approval(_)
            | StepKind::Agent(_)
            | StepKind::Transform(_)
            | StepKind::Condition(_)
            | StepKind::Review(_) => {}
        }
    }

    /// The step of that id, this one or one inside it.
    pub fn find_mut(&mut self, id: &str) -> Option<&mut Self> {
        if self.id == id {
            return Some(self);
        }
        if let StepKind::Parallel(parallel) = &mut self.kind {
            parallel.steps.iter_mut().find_map(|step| step.find_mut(id))
        } else {
            None
        }
    }

    /// Leaves out of its rounds everyone who is not `seated`.
    pub fn keep_seats(&mut self, seated: &[String]) {
        match &mut self.kind {
            StepKind::Round(round) => {
                if let Selection::Named(chosen) = &mut round.participants {
                    chosen.retain(|name| seated.contains(name));
                }
            }
            StepKind::Parallel(parallel) => {
                parallel.steps.iter_mut().for_each(|step| step.keep_seats(seated));
            }
            StepKind::Approval(_)
            | StepKind::Agent(_)
            | StepKind::Transform(_)
            | StepKind::Condition(_)
            | StepKind::Review(_) => {}
        }
    }
}
