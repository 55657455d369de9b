//! The state: what a session is after the events so far.
//!
//! While a round is open the plaintext of its answers exists nowhere in here.

use std::sync::Arc;

use indexmap::IndexMap;

use super::agenda::Agenda;
use super::event::{
    AnswerRevealed, ApprovalGiven, Door, IdeasMerged, LinkRecorded, PauseReason, PersonaInfo, ReviewRecorded,
    RoundClosed, RoundOpened, SeatFailed, SeatInfo, SessionClosed, SessionOpened, StepFinished, Tally,
    WorkItemOffered, WorkItemReturned,
};
use super::step_run::{ApprovalRun, StepArtifact, StepRun};
use super::timestamp::Timestamp;
use super::work_item::WorkItem;
use crate::diagnostic::Diagnostic;
use crate::identity::Leak;
use crate::round::answer::Origin;
use crate::round::prompt::{Prompt, tail};
use crate::round::seal::{SealTo, SealedRecord};
use crate::workflow::{Definition, Source, Step, StepKind, Task, default_id, load, written_id};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// The session's id; empty before it is opened.
    pub id: String,
    pub header: Option<Arc<SessionOpened>>,
    pub roster: Arc<IndexMap<String, SeatInfo>>,
    pub definition: Option<Arc<Definition>>,
    pub opened_at: Timestamp,
    pub last_at: Timestamp,
    pub step: Option<StepRun>,
    /// The step that finished last; [`Session::next_step`] goes on from it.
    pub finished_step: Option<String>,
    pub iterations: u32,
    pub runs: IndexMap<String, u32>,
    /// Every work item handed to an agent so far, by its id.
    pub items: IndexMap<String, WorkItem>,
    pub made: IndexMap<String, StepArtifact>,
    /// The work items behind each step's last result.
    pub items_of: IndexMap<String, Vec<String>>,
    /// What was found in answers before they were handed on, by work item.
    pub leaks: IndexMap<String, Vec<Leak>>,
    pub merges: Vec<IdeasMerged>,
    pub agenda: Agenda,
    pub reviews: Vec<ReviewRecorded>,
    /// The tasks that are not deleted, each with the status the tracker gave it last.
    pub tasks: Arc<Vec<Task>>,
    /// What the tracker made of each task last, and whether it is in the file of the tasks.
    pub marks: IndexMap<String, (Arc<WorkItemReturned>, bool)>,
    pub links: Vec<LinkRecorded>,
    /// `CONTEXT.md` as the last round showed it.
    pub context: Option<String>,
    /// Every round so far; the last one may be open.
    pub rounds: Vec<RoundRun>,
    /// Rounds that come before and are left out, where a later round is looked at alone; else 0.
    pub rounds_left_out: u32,
    /// Round steps whose last run ended without their round having been opened.
    pub not_held: IndexMap<String, NotHeld>,
    /// Results by step, a re-run step in its old place.
    pub results: IndexMap<String, Arc<StepFinished>>,
    /// How long people were asked and the session rested, in milliseconds.
    pub waited_ms: u64,
    /// Until when the time people were asked is counted in that.
    pub asked_until: Timestamp,
    pub approvals: Vec<AnsweredQuestion>,
    /// What is asked of a step that has run as often as it may, until it is answered.
    pub exhausted: Option<ApprovalRun>,
    pub granted: IndexMap<String, u32>,
    /// Whether the session goes on from the last step as if that had succeeded: the facilitator took it.
    pub taken: bool,
    /// What the facilitator decided where a round had used up its runs, by step.
    pub chosen: IndexMap<String, AnsweredQuestion>,
    /// The step whose runs were used up when the facilitator stopped the session.
    pub stopped_at: Option<String>,
    /// Whether the step that finished last wrote a note on a round that is not on record.
    pub synthesis_due: bool,
    pub answered: IndexMap<String, usize>,
    pub invitations: IndexMap<String, Invitation>,
    /// Seats whose ballots came as plain text and were sealed for them, with how many.
    pub sealed_for: IndexMap<String, usize>,
    pub warnings: Vec<String>,
    /// Since when and why it rests, if it does.
    pub paused: Option<(Timestamp, PauseReason)>,
    pub closed: Option<SessionClosed>,
}

/// The invitation of a remote seat, and the key of who took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    pub invitation: String,
    pub expires: Timestamp,
    pub key: Option<String>,
    pub earlier_keys: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotHeld {
    pub why: String,
    /// How many rounds had been opened before.
    pub after: usize,
}

/// What a person was asked and said; the context that was shown stays in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredQuestion {
    pub message: String,
    /// The level options to choose from, if it was a tie.
    pub choices: Vec<String>,
    pub counted: usize,
    pub given: ApprovalGiven,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoundRun {
    pub opened: Arc<RoundOpened>,
    pub opened_at: Timestamp,
    /// The hash of the document that opened it; empty until that is on disk. Nobody is asked before.
    pub opened_sha256: String,
    /// What [`Session::waited_ms`] was when it opened.
    pub waited_before: u64,
    pub seats: IndexMap<String, Seat>,
    pub closed: Option<RoundClosed>,
    pub closed_at: Option<Timestamp>,
    pub tally: Option<Tally>,
    /// Seats whose answers were lost with an earlier key, whether asked again or not.
    pub key_lost: Vec<String>,
    pub tie_choice: Option<String>,
    /// The session it was opened in: its seals are bound to it.
    pub session: String,
    /// How long it may stay open, in milliseconds from its opening.
    pub deadline_ms: Option<u64>,
    pub synthesis: Option<String>,
    /// How often an answers file has changed the agenda since it was opened.
    pub scripted_changes: usize,
    /// What its answers are sealed to. A lost key is followed by another.
    pub seal_to: Option<SealTo>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seat {
    pub name: String,
    pub door: Option<Door>,
    pub signed_with: Option<String>,
    pub item: Option<Arc<WorkItemOffered>>,
    pub status: SeatStatus,
    /// From the round's opening to its seal or failure, in milliseconds.
    pub elapsed_ms: Option<u64>,
    pub retried: u32,
    pub refused: u32,
    pub retried_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum SeatStatus {
    #[default]
    Waiting,
    Asking,
    Sealed(Arc<SealedRecord>),
    /// Sealed under a key that is gone.
    Lost(Arc<SealedRecord>),
    Failed(SeatFailed),
    Excused(String),
    Missing,
    Revealed(Arc<AnswerRevealed>, Arc<SealedRecord>),
}

impl SeatStatus {
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Waiting | Self::Asking)
    }
}

pub(super) fn first_problem(problems: Vec<Diagnostic>) -> Diagnostic {
    problems.into_iter().next().unwrap_or_else(|| Diagnostic::new("unreadable"))
}

impl Session {
    pub fn definition_of(header: &SessionOpened) -> Result<Definition, Diagnostic> {
        let id = default_id(&header.definition_file);
        let source = Source { text: &header.definition, file: &header.definition_file, id };
        let definition = load(source).map_err(first_problem)?.definition;
        Ok(match &header.tasks_file {
            Some(text) => definition.with_tasks(text, header.tasks_state.as_deref()).definition,
            None => definition,
        })
    }

    pub fn seat_info(&self, name: &str) -> Option<&SeatInfo> {
        self.roster.get(name)
    }

    pub fn persona(&self, name: &str) -> Option<&PersonaInfo> {
        self.header.as_ref()?.personas.iter().find(|persona| persona.name == name)
    }

    pub fn last_round_of(&self, step: &str) -> Option<&RoundRun> {
        self.rounds.iter().rev().find(|round| round.opened.step == step)
    }

    pub fn round(&self, id: &str) -> Option<&RoundRun> {
        self.rounds.iter().rev().find(|round| round.opened.round == id)
    }

    pub fn open_round(&self) -> Option<&RoundRun> {
        self.rounds.last().filter(|round| round.closed.is_none())
    }

    pub fn rehearses(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.rehearse)
    }

    /// Whether it is to be told first that this is a rehearsal.
    pub fn is_rehearsal(&self) -> bool {
        let is_placeholder = |seat: &SeatInfo| seat.is_rehearsal() && seat.scripted.is_empty();
        let is_all = || self.rehearses() || self.roster.values().all(is_placeholder);
        self.has_rehearsal() && is_all()
            || self.rounds.iter().any(|round| round.tally.as_ref().is_some_and(|tally| tally.rehearsal))
    }

    pub fn has_rehearsal(&self) -> bool {
        let Some(definition) = &self.definition else { return false };
        self.roster.values().any(|seat| {
            let steps = definition.all_steps().filter(|step| seat.sits_in(definition, step));
            steps.into_iter().any(|step| self.origins(seat, &step.id).contains(&Origin::Placeholder))
        })
    }

    /// Who gave a seat's answers in a step; before there is one, who is to.
    pub fn origins(&self, seat: &SeatInfo, step: &str) -> Vec<Origin> {
        let rounds = self.rounds.iter().filter(|round| round.opened.step == step);
        let of_round = rounds.filter_map(|round| match &round.seat(&seat.name)?.status {
            SeatStatus::Revealed(answer, _) => Some(answer.record.origin),
            _ => None,
        });
        let items = self
            .items
            .values()
            .filter(|item| item.offered.step == step && item.offered.participant == seat.name);
        let of_items = items.flat_map(|item| &item.returned).map(|(back, _)| back.record.origin);
        let given: Vec<Origin> = of_round.chain(of_items).collect();
        if given.is_empty() { vec![seat.planned_origin(step)] } else { given }
    }

    /// The number that the next round to open has, from 1.
    pub fn next_round_number(&self) -> u32 {
        let first = self.definition.as_ref().map_or(1, |definition| definition.current_round);
        self.rounds_left_out + self.rounds.len() as u32 + first
    }

    /// The id of the round that a step opens next: the step's, with `.2`, `.3` … when it runs again; never
    /// one that another step's round has or will have.
    pub fn next_round_id(&self, definition: &Definition, step: &str) -> String {
        let before = self.rounds.iter().filter(|other| other.opened.step == step).count();
        if before == 0 {
            return step.to_owned();
        }
        let unused = |id: &String| self.round(id).is_none() && definition.step(id).is_none();
        let last = before + 1 + self.rounds.len() + definition.steps.len();
        (before + 1..=last).map(|n| format!("{step}.{n}")).find(unused).unwrap_or_default()
    }

    /// How long the session has run at `now`, in milliseconds: rests and questions left out.
    pub fn ran_ms(&self, now: Timestamp) -> u64 {
        now.since(self.opened_at).saturating_sub(self.waited_ms)
    }

    /// How long a round has been open at `now`, in milliseconds: rests left out.
    pub fn round_ran_ms(&self, round: &RoundRun, now: Timestamp) -> u64 {
        let waited = self.waited_ms.saturating_sub(round.waited_before);
        now.since(round.opened_at).saturating_sub(waited)
    }

    /// When a round's time is up, if it has a limit: rests put it off.
    pub fn deadline_at(&self, round: &RoundRun) -> Option<Timestamp> {
        let waited = self.waited_ms.saturating_sub(round.waited_before);
        let after = i64::try_from(round.deadline_ms?.saturating_add(waited)).ok()?;
        Some(Timestamp(round.opened_at.0.saturating_add(after)))
    }

    /// The prompt a seat was or will be handed, put together from its parts.
    pub fn prompt(&self, round: &RoundRun, item: &WorkItemOffered) -> Prompt {
        let persona = self.persona(&item.persona).map_or("", |persona| persona.text.as_str());
        Prompt {
            rules: Arc::clone(&round.opened.rules),
            snapshot: Arc::clone(&round.opened.snapshot),
            tail: tail(&item.address, persona),
        }
    }
}

impl SeatInfo {
    /// Whether a step asks it: as a seat of a round, as an agent or as a reviewer.
    pub fn sits_in(&self, definition: &Definition, step: &Step) -> bool {
        match &step.kind {
            StepKind::Round(round) => !self.agent_only && round.participants.holds(&self.name),
            StepKind::Agent(agent) => agent.agent == self.name,
            StepKind::Review(review) => definition.reviewers(review).contains(&self.name.as_str()),
            _ => false,
        }
    }

    pub fn has_no_model(&self) -> bool {
        self.model == crate::history::NO_MODEL
    }

    pub fn is_rehearsal(&self) -> bool {
        self.model.split('/').next() == Some("rehearsal")
    }

    pub fn planned_origin(&self, step: &str) -> Origin {
        if self.is_scripted(step) { Origin::Script } else { Origin::of_model(&self.model) }
    }

    /// Whether its answer in a step was scripted when the session began.
    pub fn is_scripted(&self, step: &str) -> bool {
        self.scripted.iter().any(|scripted| scripted == step || scripted == written_id(step))
    }

    /// What is shown for its model in a step: `scripted` where its answers are.
    pub fn label(&self, step: &str) -> &str {
        if self.is_scripted(step) { "scripted" } else { &self.model }
    }
}

impl Session {
    /// The work items that wait for their last try; those of steps that run.
    pub fn open_items(&self) -> impl Iterator<Item = &WorkItem> {
        let of_running = self.active_steps().flat_map(|run| &run.items);
        of_running.filter_map(|id| self.items.get(id)).filter(|item| item.outcome().is_none())
    }
}
