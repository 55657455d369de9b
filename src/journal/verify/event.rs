//! Each event against the rules: what the core decides alone must be what the file says.

use super::Verifier;
use crate::core::{AgendaChange, Command, decide};
use crate::history::{
    AgendaUpdated, ApprovalGiven, ArtifactRecorded, CloseReason, ConflictOpened, ConflictResolved,
    EnvelopeRefused, Event, LogEntry, QuestionAnswered, QuestionOpened, RECORDED_BY_STEP, RoundClosed,
    RoundOpened, Session, SessionClosed, Status,
};
use crate::round::seal::{RoundKey, SealFormat, SealTo};
use crate::round::snapshot::sha256_hex;
use crate::tokens::estimated_tokens;
use crate::workflow::Close;

impl Verifier {
    /// Checks one event against the state before it, then folds it in.
    pub(super) fn line(&mut self, line: &LogEntry) {
        if self.session.closed.is_some() {
            self.find(line, "event after session_closed");
        }
        self.in_turn(line);
        self.event(line);
        self.after(line);
        self.session.apply(&line.stamped);
        if matches!(line.stamped.event, Event::RoundOpened(_)) {
            self.expect_items(line);
        }
    }

    fn event(&mut self, line: &LogEntry) {
        match &line.stamped.event {
            Event::SessionOpened(opened) => self.opened(line, opened),
            Event::RoundOpened(opened) => self.round_opened(line, opened),
            Event::WorkItemOffered(item) => match &item.task {
                Some(task) => self.item_offered(line, item, task),
                None => self.offered(line, item),
            },
            Event::WorkItemClaimed(claim) => self.item_claimed(line, claim),
            Event::WorkItemReturned(back) => self.item_returned(line, back),
            Event::BallotSealed(sealed) => self.sealed(line, sealed),
            Event::SeatFailed(failed) => self.failed(line, failed),
            Event::AnswerRevealed(answer) => self.revealed(line, answer),
            Event::RoundClosed(closed) => self.closed(line, closed),
            late @ Event::LateAnswerRefused { .. } => self.late(line, late),
            Event::Warning { message, step, participant, .. } => {
                self.warning(line, message, step.as_deref(), participant.as_deref());
            }
            Event::SessionPaused { step: Some(step), .. } if !self.waits_at(step) => {
                self.find(line, format!("it rests at step `{step}`, which does not run"));
            }
            Event::SeatsAskedAgain { seal, .. } if !self.has_its_seal(seal.as_ref()) => {
                self.find(line, "the seats that are asked again do not get the key to seal to");
            }
            Event::SessionForked(forked) if forked.at_seq + 1 != line.seq => {
                self.find(line, "it does not say where the other session's events end");
            }
            decided @ (Event::StepStarted { .. }
            | Event::StepFinished(_)
            | Event::TallyMade(_)
            | Event::LeaksFound(_)
            | Event::KeyLost { .. }
            | Event::SeatsAskedAgain { .. }
            | Event::SeatExcused { .. }
            | Event::SeatRetried(_)
            | Event::SeatInvited(_)
            | Event::SeatJoined(_)
            | Event::EnvelopeRefused(_)
            | Event::RoundRevised(_)
            | Event::RoundAskedAgain { .. }
            | Event::ArtifactRecorded(_)
            | Event::ReviewRecorded(_)
            | Event::LinkRecorded(_)
            | Event::TaskWritten(_)
            | Event::SynthesisRecorded(_)
            | Event::DeadlineExtended(_)
            | Event::ApprovalRequested(_)
            | Event::ApprovalGiven(_)
            | Event::IdeasMerged(_)
            | Event::AgendaUpdated(_)
            | Event::ConflictOpened(_)
            | Event::ConflictResolved(_)
            | Event::QuestionOpened(_)
            | Event::QuestionAnswered(_)
            | Event::SessionForked(_)
            | Event::SessionPaused { .. }
            | Event::SessionResumed { .. }
            | Event::SessionClosed(_)) => self.check_recomputed(line, command_of(decided)),
        }
    }

    fn round_opened(&mut self, line: &LogEntry, opened: &RoundOpened) {
        let round = &opened.round;
        if sha256_hex(&*opened.snapshot) != opened.snapshot_sha256 {
            self.find(line, format!("the snapshot of round `{round}` does not have its hash"));
        }
        if !self.has_its_seal(opened.seal.as_ref()) {
            self.find(line, format!("round `{round}` does not say what it is sealed to, or need not"));
        }
        if self.session.open_round().is_some() {
            self.find(line, "a round is opened while another is open");
        } else if !is_as_defined(&self.session, line, opened) {
            self.find(line, format!("round `{round}` is not opened as its definition says"));
        } else if self.warned < self.session.opening_warnings().len() {
            self.find(line, format!("what is to be said of round `{round}` before it opens is not said"));
        }
    }

    /// Whether there is a public key exactly where the session is sealed to one.
    fn has_its_seal(&self, seal_to: Option<&SealTo>) -> bool {
        match (self.session.seal_format(), seal_to) {
            (SealFormat::One, None) => true,
            (SealFormat::Two, Some(seal_to)) => seal_to.is_known(),
            (SealFormat::One, Some(_)) | (SealFormat::Two, None) => false,
        }
    }

    /// From here on the round's work items must follow, each as the core makes it of the round.
    fn expect_items(&mut self, line: &LogEntry) {
        let offers = decide(&self.session, Command::OfferRest, line.stamped.at).unwrap_or_default();
        self.due = offers
            .into_iter()
            .filter_map(|event| if let Event::WorkItemOffered(item) = event { Some(item) } else { None })
            .collect();
    }

    fn closed(&mut self, line: &LogEntry, closed: &RoundClosed) {
        let what = match self.session.round(&closed.round).filter(|round| round.closed.is_none()) {
            None => Some("closes and is not open"),
            Some(round) => {
                let missing: Vec<&str> = round.open_seats().map(|seat| seat.name.as_str()).collect();
                let by_definition = self.session.definition.as_ref();
                let has_limit = round.deadline_ms.is_some()
                    || by_definition.is_some_and(|definition| definition.max_duration_ms.is_some());
                let may = match closed.reason {
                    CloseReason::All => missing.is_empty(),
                    CloseReason::Quorum => {
                        round.opened.close == Close::Quorum && round.sealed() >= round.opened.quorum
                    }
                    CloseReason::Deadline => has_limit,
                    CloseReason::Facilitator => true,
                };
                if round.opened.step != closed.step {
                    Some("closes in another step than its own")
                } else if missing != closed.missing || !may {
                    Some("does not close as its seats stand")
                } else if round.seats.values().any(|seat| seat.item.is_none()) {
                    Some("closes with seats that were never handed a work item")
                } else if let Some(seal_to) = &round.seal_to {
                    let key = RoundKey::from_hex(&closed.key).filter(|key| key.seal_to() == *seal_to);
                    key.is_none().then_some("publishes another key than that of its public key")
                } else if RoundKey::from_hex(&closed.key).is_none() {
                    Some("publishes no key")
                } else {
                    None
                }
            }
        };
        if let Some(what) = what {
            self.find(line, format!("round `{}` {what}", closed.round));
        }
    }

    /// An event that the core decides alone must be the one it decides.
    pub(super) fn check_recomputed(&mut self, line: &LogEntry, command: Command) {
        let decided = decide(&self.session, command, line.stamped.at).unwrap_or_default();
        // What else a command writes follows as an event of its own.
        if decided.first() != Some(&line.stamped.event) {
            self.find(line, "event differs from the recomputed one");
        }
    }
}

/// Whether everything about a round but its texts is what the definition gives. The texts are
/// covered by hashes and not made again: their wording belongs to the version that wrote them.
fn is_as_defined(session: &Session, line: &LogEntry, opened: &RoundOpened) -> bool {
    let command = Command::OpenRound { project_summary: None, seal: opened.seal.clone() };
    let events = decide(session, command, line.stamped.at).unwrap_or_default();
    let Some(Event::RoundOpened(derived)) = events.into_iter().next() else { return false };
    let expected = RoundOpened {
        rules: opened.rules.clone(),
        snapshot: opened.snapshot.clone(),
        snapshot_sha256: opened.snapshot_sha256.clone(),
        snapshot_bytes: opened.snapshot.len(),
        estimated_tokens: estimated_tokens(&opened.rules) + estimated_tokens(&opened.snapshot),
        ..(*derived).clone()
    };
    expected == *opened && has_its_texts(session, opened)
}

/// Whether question and background stand in the snapshot as they are rendered now.
fn has_its_texts(session: &Session, opened: &RoundOpened) -> bool {
    let Some(definition) = &session.definition else { return false };
    let step = definition.step(&opened.step);
    let Some((step, round)) = step.and_then(|step| Some((step, step.round()?))) else { return false };
    let Ok(asked) = session.rendered_round(definition, step, round) else { return false };
    let Ok(snapshot) = crate::yaml::read(&opened.snapshot, "snapshot") else { return false };
    let frozen = &snapshot.to_json()["participant_context"];
    let background = asked.round.exploration.as_deref().or(step.description.as_deref());
    let written = session.render_snapshot(step, &asked.round, None);
    let written = crate::yaml::read(&written.text, "snapshot").map(|node| node.to_json()).unwrap_or_default();
    let is_as_drawn = |key: &str| frozen[key] == written["participant_context"][key];
    ["agenda", "open_conflicts", "open_questions", "earlier_reasons", "earlier_counts"]
        .into_iter()
        .all(is_as_drawn)
        && frozen["question"] == *asked.round.question
        && frozen["exploration"].as_str() == background.filter(|text| !text.is_empty())
}

/// The command whose only event this is, or which a step's `record` led to.
fn command_of(event: &Event) -> Command {
    let taken = if let Event::IdeasMerged(merged) = event { Some(merged) } else { None };
    let taken = taken.filter(|merged| merged.by == RECORDED_BY_STEP).map(|merged| merged.step.as_str());
    event
        .record_of()
        .or(taken)
        .map_or_else(|| own_command(event), |step| Command::FinishStep { step: step.to_owned() })
}

fn own_command(event: &Event) -> Command {
    match event.clone() {
        Event::StepStarted { .. } => Command::StartStep,
        Event::StepFinished(result) => Command::FinishStep { step: result.step.clone() },
        Event::TallyMade(_) => Command::Tally,
        Event::LeaksFound(found) if !found.round.is_empty() => Command::Tally,
        Event::LeaksFound(found) => Command::FinishStep { step: found.step.clone() },
        Event::KeyLost { .. } => Command::LoseKey,
        Event::SeatsAskedAgain { seal, .. } => Command::AskAgain { seal },
        Event::RoundRevised(revised) => Command::ReviseRound(revised),
        Event::ArtifactRecorded(ArtifactRecorded { step: Some(step), .. }) => Command::RecordResult { step },
        Event::ReviewRecorded(review) => Command::RecordReview { item: review.item },
        Event::TaskWritten(written) => Command::RecordTask { item: written.item, error: written.error },
        Event::LinkRecorded(link) => Command::RecordReview { item: link.link.from_id },
        Event::ArtifactRecorded(ArtifactRecorded { artifact, by, .. }) => {
            Command::RecordArtifact { artifact, by }
        }
        Event::SynthesisRecorded(note) => Command::RecordSynthesis { round: note.round, text: note.text },
        Event::DeadlineExtended(extended) => Command::ExtendDeadline { deadline_ms: extended.deadline_ms },
        Event::RoundAskedAgain { .. } => Command::AskRoundAgain,
        Event::SessionForked(forked) => Command::Fork { session: forked.session, at_seq: forked.at_seq },
        Event::ApprovalRequested(asked) => Command::AskPerson { step: asked.step },
        Event::ApprovalGiven(given) => answer_command(given),
        // The comment stands on the yes that follows.
        Event::IdeasMerged(merged) => {
            Command::Merge { step: merged.step, merge: merged.merge, comment: None, by: merged.by }
        }
        change @ (Event::AgendaUpdated(_)
        | Event::ConflictOpened(_)
        | Event::ConflictResolved(_)
        | Event::QuestionOpened(_)
        | Event::QuestionAnswered(_)) => agenda_command(change),
        Event::SeatExcused { round, participant, reason, .. } => {
            Command::Excuse { round, participant, reason }
        }
        Event::SeatRetried(retried) => {
            Command::Retry { round: retried.round, participant: retried.participant, model: retried.model }
        }
        Event::SeatInvited(invited) => Command::Invite(invited),
        Event::SeatJoined(joined) => Command::Join(joined),
        Event::EnvelopeRefused(EnvelopeRefused { round, participant, why, commitment, .. }) => {
            Command::RefuseEnvelope { round, participant, why, commitment }
        }
        Event::SessionPaused { reason, step } => Command::Pause { reason, step },
        Event::SessionResumed { program, torn_bytes } => Command::Resume { program, torn_bytes },
        Event::SessionClosed(SessionClosed { status: Status::Stopped, reason, .. }) => {
            Command::Stop { reason: reason.unwrap_or_default() }
        }
        // All but the first are checked on their own, and no command is asked of them.
        Event::SessionClosed(_)
        | Event::SessionOpened(_)
        | Event::RoundOpened(_)
        | Event::WorkItemOffered(_)
        | Event::WorkItemClaimed(_)
        | Event::WorkItemReturned(_)
        | Event::BallotSealed(_)
        | Event::SeatFailed(_)
        | Event::AnswerRevealed(_)
        | Event::RoundClosed(_)
        | Event::LateAnswerRefused { .. }
        | Event::Warning { .. } => Command::Close,
    }
}

fn answer_command(given: ApprovalGiven) -> Command {
    let ApprovalGiven { step, approved, choice, comment, edited, by } = given;
    Command::Answer { step, approved, choice, comment, edited, by }
}

/// The command behind a change of the agenda: a count, or an order of the facilitator.
fn agenda_command(event: Event) -> Command {
    let (change, by) =
        if let Event::AgendaUpdated(AgendaUpdated { id, title, status, reason, by, .. }) = event {
            (AgendaChange::Item { id, title, status, reason }, by)
        } else if let Event::ConflictOpened(opened) = event {
            let ConflictOpened { title, description, minimum_change, round: None, by, .. } = *opened else {
                return Command::Tally;
            };
            (AgendaChange::OpenConflict { title, description, minimum_change }, by)
        } else if let Event::ConflictResolved(ConflictResolved { id, how, by, .. }) = event {
            let Some(how) = how else { return Command::Tally };
            (AgendaChange::ResolveConflict { id, how }, by)
        } else if let Event::QuestionOpened(QuestionOpened { title, description, by, .. }) = event {
            (AgendaChange::OpenQuestion { title, description }, by)
        } else if let Event::QuestionAnswered(QuestionAnswered { id, answer, by, .. }) = event {
            (AgendaChange::AnswerQuestion { id, answer }, by)
        } else {
            return Command::Tally;
        };
    Command::ChangeAgenda { change, by }
}
