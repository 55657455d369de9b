//! Session state after the events so far.
//!
//! It contains no plaintext of answers while their round is open.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::agenda::Agenda;
use super::event::{
    AnswerRevealed, ApprovalGiven, ApprovalRequested, ArtifactRecorded, Door, IdeasMerged, Leak, Link, Merge,
    PauseReason, PersonaInfo, ReviewRecorded, RoundClosed, RoundOpened, SeatFailed, SeatInfo, SessionClosed,
    SessionOpened, StepFinished, Tally, WorkItemOffered,
};
use super::timestamp::Timestamp;
use super::work_item::WorkItem;
use crate::diagnostic::Diagnostic;
use crate::round::answer::{Origin, Outcome};
use crate::round::prompt::{Prompt, tail};
use crate::round::seal::{RoundKey, SealHashes, SealTo, SealedRecord};
use crate::workflow::{Close, Definition, Source, Step, Task, default_id, load, written_id};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    pub id: String,
    pub header: Option<Arc<SessionOpened>>,
    pub roster: Arc<IndexMap<String, SeatInfo>>,
    /// Empty before the session is open.
    pub definition: Arc<Definition>,
    pub opened_at: Timestamp,
    pub last_at: Timestamp,
    pub step: Option<StepRun>,
    pub finished_step: Option<String>,
    pub iterations: u32,
    pub runs: IndexMap<String, u32>,
    pub items: IndexMap<String, WorkItem>,
    pub made: IndexMap<String, StepArtifact>,
    /// Work items of each step's last run.
    pub items_of: IndexMap<String, Vec<String>>,
    pub leaks: IndexMap<String, Vec<Leak>>,
    pub merges: Vec<IdeasMerged>,
    pub agenda: Agenda,
    pub reviews: Vec<ReviewRecorded>,
    /// Without deleted tasks; each has the tracker's latest status.
    pub tasks: Arc<Vec<Task>>,
    pub links: Vec<Link>,
    /// `CONTEXT.md` as the last round showed it.
    pub context: Option<String>,
    pub rounds: Vec<RoundRun>,
    /// Number of rounds before the first one here, if a later round is shown alone.
    pub rounds_left_out: u32,
    /// Round steps whose last run ended before their round was opened.
    pub not_held: IndexMap<String, NotHeld>,
    /// Results by step; a repeated step keeps its position.
    pub results: IndexMap<String, Arc<StepFinished>>,
    /// Time during which people were asked or the session was paused, in milliseconds.
    pub waited_ms: u64,
    /// End of the last question counted in `waited_ms`.
    pub asked_until: Timestamp,
    pub approvals: Vec<AnsweredQuestion>,
    pub exhausted: Option<ApprovalRun>,
    pub granted: IndexMap<String, u32>,
    /// The facilitator accepted the last step's result as if it had succeeded.
    pub is_result_accepted: bool,
    /// The facilitator leaves the strategy after the last round.
    pub leaves_strategy: bool,
    /// The facilitator's decisions for rounds that reached their `max_runs`, by step.
    pub chosen: IndexMap<String, AnsweredQuestion>,
    /// Step that had reached its `max_runs` when the facilitator stopped the session.
    pub stopped_at: Option<String>,
    /// The last finished step wrote a note on a round that is not in the log yet.
    pub synthesis_due: bool,
    pub answered: IndexMap<String, usize>,
    pub invitations: IndexMap<String, Invitation>,
    pub warnings: Vec<String>,
    pub paused: Option<(Timestamp, PauseReason)>,
    pub closed: Option<SessionClosed>,
}

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
    pub after: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredQuestion {
    pub message: String,
    pub choices: Vec<String>,
    pub counted: usize,
    pub given: ApprovalGiven,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoundRun {
    pub opened: Arc<RoundOpened>,
    pub opened_at: Timestamp,
    /// Hash of the entry that opened the round; empty until it is on disk. No seat is asked before.
    pub opened_sha256: String,
    /// [`Session::waited_ms`] at the opening.
    pub waited_before: u64,
    pub seats: IndexMap<String, Seat>,
    pub closed: Option<RoundClosed>,
    pub closed_at: Option<Timestamp>,
    pub tally: Option<Tally>,
    /// Seats whose answers were lost with an earlier key, whether asked again or not.
    pub key_lost: Vec<String>,
    pub tie_choice: Option<String>,
    /// Session in which the round was opened; its seals are bound to that id.
    pub session: String,
    /// Milliseconds from the opening.
    pub deadline_ms: Option<u64>,
    pub synthesis: Option<String>,
    /// Public key for the answers; a lost key is replaced.
    pub seal_to: Option<SealTo>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seat {
    pub name: String,
    pub door: Option<Door>,
    pub signed_with: Option<String>,
    pub item: Option<Arc<WorkItemOffered>>,
    pub status: SeatStatus,
    /// Time from the round's opening to the seat's seal or failure, in milliseconds.
    pub elapsed_ms: Option<u64>,
    pub retried: u32,
    pub refused: u32,
    pub retried_at: Option<Timestamp>,
    /// Requests before the last retry or excuse; one that was given up is `Missing`.
    pub earlier: Vec<(Arc<WorkItemOffered>, SeatStatus)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum SeatStatus {
    #[default]
    Waiting,
    Asking,
    Sealed(Arc<SealedRecord>),
    /// Sealed under a lost key.
    Lost(Arc<SealedRecord>),
    Failed(SeatFailed),
    Excused(String),
    Missing,
    Revealed(Arc<AnswerRevealed>, SealHashes),
}

impl SeatStatus {
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Waiting | Self::Asking)
    }

    /// Checks if an answer was sealed, readable or not.
    pub fn was_sealed(&self) -> bool {
        matches!(self, Self::Sealed(_) | Self::Lost(_) | Self::Revealed(..))
    }
}

impl Seat {
    /// Sets the status of a retried or excused seat.
    pub(super) fn give_up(&mut self, status: SeatStatus) {
        let last = match std::mem::replace(&mut self.status, status) {
            SeatStatus::Asking | SeatStatus::Lost(_) => SeatStatus::Missing,
            last => last,
        };
        self.earlier.extend(self.item.clone().map(|item| (item, last)));
    }

    /// Returns the content of the revealed answer or abstention.
    pub fn content(&self) -> Option<&Map<String, Value>> {
        let answer =
            self.answer().filter(|it| matches!(it.outcome, Outcome::Answered | Outcome::Abstained))?;
        Some(&answer.answer)
    }

    pub fn answer(&self) -> Option<&Arc<AnswerRevealed>> {
        if let SeatStatus::Revealed(answer, _) = &self.status { Some(answer) } else { None }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRun {
    pub id: String,
    pub started: Timestamp,
    /// Index into [`Session::rounds`], once the round is open.
    pub round: Option<usize>,
    pub approval: Option<ApprovalRun>,
    pub merge: Option<Merge>,
    pub items: Vec<String>,
    /// Runs of the steps inside this one, in start order.
    pub nested: Vec<Self>,
    pub result: Option<Arc<StepFinished>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRun {
    pub requested: ApprovalRequested,
    /// Number of rounds counted before the question.
    pub counted: usize,
    pub at: Timestamp,
    pub given: Option<ApprovalGiven>,
}

impl StepRun {
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

pub(super) fn first_problem(problems: Vec<Diagnostic>) -> Diagnostic {
    problems.into_iter().next().unwrap_or_else(|| Diagnostic::new("unreadable"))
}

impl Session {
    pub fn load_definition(header: &SessionOpened) -> Result<Definition, Diagnostic> {
        let id = default_id(&header.definition_file);
        let source = Source { text: &header.definition, file: &header.definition_file, id };
        let definition = load(source).map_err(first_problem)?;
        Ok(match &header.tasks_file {
            Some(text) => definition.with_tasks(text, header.tasks_state.as_deref()).definition,
            None => definition,
        })
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
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

    /// Checks if all output must be marked as a rehearsal: rules counted only placeholders.
    pub fn is_rehearsal(&self) -> bool {
        let is_placeholder = |seat: &SeatInfo| seat.is_rehearsal() && seat.scripted.is_empty();
        let is_all = || self.rehearses() || self.roster.values().all(is_placeholder);
        let counted = || self.rounds.iter().filter_map(|round| round.tally.as_ref());
        self.has_rehearsal() && is_all()
            || self.rehearses() && !self.definition().all_steps().any(Step::asks_seats)
            || counted().any(|tally| tally.rehearsal)
                && counted().all(|tally| tally.rehearsal || tally.rule.is_none())
    }

    pub fn has_rehearsal(&self) -> bool {
        let definition = self.definition();
        self.roster.values().any(|seat| {
            let mut steps = definition.all_steps().filter(|step| seat.sits_in(definition, step));
            steps.any(|step| self.origins(seat, &step.id).contains(&Origin::Placeholder))
        })
    }

    /// Returns the origins of a seat's answers in a step; before the first answer, the planned origin.
    pub fn origins(&self, seat: &SeatInfo, step: &str) -> Vec<Origin> {
        let given = self.origins_given(seat, step);
        if given.is_empty() { vec![seat.planned_origin(step)] } else { given }
    }

    pub fn origins_given(&self, seat: &SeatInfo, step: &str) -> Vec<Origin> {
        let rounds = self.rounds.iter().filter(|round| round.opened.step == step);
        let of_round = rounds.filter_map(|round| Some(round.seat(&seat.name)?.answer()?.record.origin));
        let is_own = |item: &&WorkItem| item.offered.step == step && item.offered.participant == seat.name;
        let items = self.items.values().filter(is_own);
        let of_items = items.flat_map(|item| &item.returned).map(|(back, _)| back.record.origin);
        of_round.chain(of_items).collect()
    }

    /// Returns the number of the next round, from 1.
    pub fn next_round_number(&self) -> u32 {
        self.rounds_left_out + self.rounds.len() as u32 + self.definition().current_round
    }

    /// Returns the id of the step's next round: the step's id, with `.2`, `.3` … when it runs again. It never
    /// equals the id of another round or step.
    pub fn next_round_id(&self, step: &str) -> String {
        let definition = self.definition();
        let before = self.rounds.iter().filter(|other| other.opened.step == step).count();
        if before == 0 {
            return step.to_owned();
        }
        let unused = |id: &String| self.round(id).is_none() && definition.step(id).is_none();
        let last = before + 1 + self.rounds.len() + definition.steps.len();
        (before + 1..=last).map(|n| format!("{step}.{n}")).find(unused).unwrap_or_default()
    }

    /// Returns the running time in milliseconds, without pauses and questions.
    pub fn ran_ms(&self, now: Timestamp) -> u64 {
        now.since(self.opened_at).saturating_sub(self.waited_ms)
    }

    pub fn round_ran_ms(&self, round: &RoundRun, now: Timestamp) -> u64 {
        let waited = self.waited_ms.saturating_sub(round.waited_before);
        now.since(round.opened_at).saturating_sub(waited)
    }

    /// Returns the round's deadline; pauses and questions postpone it.
    pub fn deadline_at(&self, round: &RoundRun) -> Option<Timestamp> {
        let waited = self.waited_ms.saturating_sub(round.waited_before);
        let after = i64::try_from(round.deadline_ms?.saturating_add(waited)).ok()?;
        Some(Timestamp(round.opened_at.0.saturating_add(after)))
    }

    pub fn prompt(&self, round: &RoundRun, item: &WorkItemOffered) -> Prompt {
        let persona = self.persona(&item.persona).map_or("", |persona| persona.text.as_str());
        Prompt {
            rules: Arc::clone(&round.opened.rules),
            snapshot: Arc::clone(&round.opened.snapshot),
            tail: tail(&item.address, persona),
        }
    }

    /// Returns the work items of running steps that have no outcome yet.
    pub fn open_items(&self) -> impl Iterator<Item = &WorkItem> {
        let of_running = self.active_steps().flat_map(|run| &run.items);
        of_running.filter_map(|id| self.items.get(id)).filter(|item| item.outcome().is_none())
    }

    /// Returns the open round if all seats are settled but only the facilitator can save a failed seat or close
    /// it.
    pub fn round_on_hold(&self) -> Option<&RoundRun> {
        let round = self.open_round().filter(|round| round.open_seats().next().is_none())?;
        let close = round.opened.close;
        let is_at_quorum = close == Close::Quorum && round.sealed() >= round.opened.quorum;
        let is_held = close == Close::Manual || round.failed_seats().next().is_some() && !is_at_quorum;
        is_held.then_some(round)
    }

    /// Returns the open round if failed seats make its quorum unreachable, unless its step closes it anyway.
    pub fn below_quorum(&self) -> Option<&RoundRun> {
        let round = self.open_round()?;
        let failed = round.failed_seats().count();
        let (may_seal, quorum) = (round.sealed() + round.open_seats().count(), round.opened.quorum);
        let step = self.definition().step(&round.opened.step)?.round()?;
        let is_below = may_seal < quorum && may_seal + failed >= quorum;
        (is_below && !step.closes_below_quorum).then_some(round)
    }
}

impl RoundRun {
    /// Returns the seats with a sealed answer or failure reason that is not revealed yet.
    pub fn unrevealed(&self) -> impl Iterator<Item = (&Seat, &SealedRecord)> {
        self.seats.values().filter_map(|seat| match &seat.status {
            SeatStatus::Sealed(seal) => Some((seat, &**seal)),
            SeatStatus::Failed(failed) => Some((seat, &**failed.in_full.as_ref()?)),
            _ => None,
        })
    }

    pub fn seat(&self, name: &str) -> Option<&Seat> {
        self.seats.get(name)
    }

    pub fn sealed(&self) -> usize {
        let sealed = |s: &&Seat| matches!(s.status, SeatStatus::Sealed(_) | SeatStatus::Revealed(..));
        self.seats.values().filter(sealed).count()
    }

    pub fn open_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| seat.status.is_open())
    }

    pub fn sealed_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
    }

    pub fn failed_seats(&self) -> impl Iterator<Item = &Seat> {
        self.seats.values().filter(|seat| matches!(seat.status, SeatStatus::Failed(_)))
    }

    pub fn lost_seats(&self) -> Vec<String> {
        let lost = |s: &&Seat| matches!(s.status, SeatStatus::Lost(_));
        self.seats.values().filter(lost).map(|seat| seat.name.clone()).collect()
    }

    pub fn answers(&self) -> impl Iterator<Item = &Arc<AnswerRevealed>> {
        self.seats.values().filter_map(Seat::answer)
    }

    pub fn opens_with(&self, key: &RoundKey) -> bool {
        self.seal_to.as_ref() == Some(&key.seal_to())
    }
}

impl SeatInfo {
    pub fn sits_in(&self, definition: &Definition, step: &Step) -> bool {
        definition.asks(step, &self.name, self.agent_only)
    }

    pub fn has_no_model(&self) -> bool {
        self.model == crate::history::NO_MODEL
    }

    pub fn is_rehearsal(&self) -> bool {
        self.model.split('/').next() == Some("rehearsal")
    }

    pub fn planned_origin(&self, step: &str) -> Origin {
        if self.is_scripted(step) { Origin::Script } else { Origin::from_model(&self.model) }
    }

    pub fn is_scripted(&self, step: &str) -> bool {
        self.scripted.iter().any(|scripted| scripted == step || scripted == written_id(step))
    }

    pub fn label(&self, step: &str) -> &str {
        if self.is_scripted(step) { "scripted" } else { &self.model }
    }
}
