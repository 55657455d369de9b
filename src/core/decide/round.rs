//! Commands on a round: open, seal, close, reveal, count.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Map;

use super::agenda::conflicts_of;
use super::step::end_unheld;
use crate::ballot::BallotForm;
use crate::core::command::{DecideResult, Refusal, refuse_if};
use crate::core::tally_round::tally_round;
use crate::handoff::{Checked, CheckedRound, is_asked_again};
use crate::history::{
    AnswerRevealed, BallotSealed, CloseReason, Event, RoundClosed, RoundOpened, RoundRun, Seat, SeatFailed,
    SeatInfo, SeatStatus, Session, Timestamp, WorkItemOffered,
};
use crate::round::answer::{AnswerRecord, Outcome, Reading};
use crate::round::prompt::{self, PromptHash};
use crate::round::seal::{RoundKey, SealTo, SealedRecord, unseal};
use crate::round::snapshot::{AddressLines, address};
use crate::sanitize::group_digits;
use crate::tokens::estimated_tokens;
use crate::workflow::{Close, Round, Step};

/// Opens the waiting round; a round that cannot be opened ends its step.
pub fn open_round(
    session: &Session,
    summary: Option<&str>,
    seal: Option<SealTo>,
    now: Timestamp,
) -> DecideResult {
    let (step, round) = round_to_open(session)?;
    let definition = session.definition();
    let drafted = match session.checked_round(step, round, summary) {
        Ok(CheckedRound { checked: Checked { refusal: Some(why), .. }, .. }) | Err(why) => {
            return end_unheld(session, step, why, now);
        }
        Ok(drafted) => drafted,
    };
    refuse_if!(seal.as_ref().is_some_and(|seal| !seal.is_known()), "nobody can seal to this key");
    let opened = RoundOpened { seal, ..draft(session, step, &drafted)? };
    let of_round = drafted.checked.warnings.iter().map(|warning| format!("round `{}`: {warning}", step.id));
    let warnings = of_round.chain(session.linked(step).warnings);
    let warnings: Vec<Event> = warnings.map(|warning| Event::warning(&warning)).collect();
    let mut events = Vec::new();
    if definition.project_summary.is_none() && summary != session.context.as_deref() {
        events.push(Event::ContextChanged { text: summary.map(str::to_owned) });
    }
    let offers = offers(session, &opened)?;
    events.push(Event::RoundOpened(Arc::new(opened)));
    events.extend(warnings.into_iter().chain(offers));
    Ok(events)
}

/// Waiting round as it would be opened now.
pub struct RoundDraft {
    pub opened: RoundOpened,
    pub checked: Checked,
    /// Size in bytes of a snapshot that includes all earlier rounds and results.
    pub bytes_in_full: usize,
}

pub fn draft_round(session: &Session, summary: Option<&str>) -> Result<RoundDraft, Refusal> {
    let (step, round) = round_to_open(session)?;
    let drafted = session.checked_round(step, round, summary)?;
    let opened = draft(session, step, &drafted)?;
    let bytes_in_full = session.size_in_full(step, &drafted.asked.round, summary);
    Ok(RoundDraft { opened, checked: drafted.checked, bytes_in_full })
}

fn draft(session: &Session, step: &Step, drafted: &CheckedRound<'_>) -> Result<RoundOpened, Refusal> {
    let CheckedRound { asked, snapshot, .. } = drafted;
    let (definition, round) = (session.definition(), &*asked.round);
    let before = session.revised(step, round)?;
    let is_asked = |seat: &&SeatInfo| {
        let may_revise = |before: &RoundRun| before.seat(&seat.name).is_some_and(is_asked_again);
        seat.sits_in(definition, step) && before.is_none_or(may_revise)
    };
    let seats: Vec<String> = session.roster.values().filter(is_asked).map(|seat| seat.name.clone()).collect();
    let rules = prompt::rules(&round.ballot);
    Ok(RoundOpened {
        step: step.id.clone(),
        round: session.next_round_id(&step.id),
        number: session.next_round_number(),
        question: round.question.clone(),
        ballot: round.ballot.clone(),
        rule: round.rule,
        terms: round.terms.clone(),
        ties: round.ties,
        quorum: round.quorum.required_of(seats.len()),
        act_at: round.act_at,
        close: round.close,
        deadline_ms: round.deadline_ms,
        snapshot_bytes: snapshot.text.len(),
        estimated_tokens: estimated_tokens(&rules) + estimated_tokens(&snapshot.text),
        snapshot_sha256: snapshot.sha256.clone(),
        snapshot: Arc::clone(&snapshot.text),
        rules: rules.into(),
        seal: None,
        written: asked.written.clone(),
        directive: asked.directive.clone(),
        directives: round.directives.clone(),
        revises: before.map(|before| before.opened.round.clone()),
        seats,
    })
}

fn round_to_open(session: &Session) -> Result<(&Step, &Round), Refusal> {
    session
        .waiting_round()
        .filter(|_| session.open_round().is_none())
        .ok_or_else(|| "no round step waits to be opened".into())
}

fn offers(session: &Session, opened: &RoundOpened) -> DecideResult {
    let hash = PromptHash::new(&opened.rules, &opened.snapshot);
    let offer = |(index, name): (usize, &String)| {
        let seat = session.seat_info(name).ok_or_else(|| format!("`{name}` is not in the roster"))?;
        let (ballot, order) = (session.earlier_ballot(opened, name), session.option_order(opened, name));
        let address = address(AddressLines {
            role: seat.role.as_deref().unwrap_or(name),
            directive: opened.directive.as_deref(),
            own_directive: opened.directives.get(name).map(String::as_str),
            earlier_ballot: ballot.as_ref(),
            option_order: order.as_deref(),
        });
        let persona = session.persona(&seat.persona).map_or("", |persona| persona.text.as_str());
        Ok(Event::WorkItemOffered(Arc::new(WorkItemOffered {
            step: opened.step.clone(),
            round: opened.round.clone(),
            participant: name.clone(),
            item: format!("{}/{}", opened.round, index + 1),
            model: seat.label(&opened.step).to_owned(),
            available_skills: Vec::new(),
            persona: seat.persona.clone(),
            prompt_sha256: hash.with_tail(&prompt::tail(&address, persona)),
            address,
            context_sha256: opened.snapshot_sha256.clone(),
            task: None,
        })))
    };
    opened.seats.iter().enumerate().map(offer).collect()
}

pub fn the_open_round(session: &Session) -> Result<&RoundRun, Refusal> {
    session.open_round().ok_or_else(|| "no round is open".into())
}

pub fn fail_seat(session: &Session, failed: SeatFailed, now: Timestamp) -> DecideResult {
    let run = with_open_seat(session, &failed.round, &failed.participant)?;
    let (step, elapsed_ms) = (run.opened.step.clone(), now.since(run.opened_at));
    Ok(vec![Event::SeatFailed(SeatFailed { step, elapsed_ms, ..failed })])
}

pub fn excuse(session: &Session, participant: String, reason: String) -> DecideResult {
    let run = the_open_round(session)?;
    let status = &seat_of(run, &participant)?.status;
    let may_go = status.is_open() || matches!(status, SeatStatus::Failed(_));
    refuse_if!(!may_go, format!("`{participant}` is settled already"));
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    Ok(vec![Event::SeatExcused { step, round, participant, reason }])
}

pub fn seat_of<'a>(run: &'a RoundRun, name: &str) -> Result<&'a Seat, Refusal> {
    run.seat(name).ok_or_else(|| format!("`{name}` has no seat in round `{}`", run.opened.round).into())
}

fn with_open_seat<'a>(session: &'a Session, round: &str, name: &str) -> Result<&'a RoundRun, Refusal> {
    let run = session.open_round().filter(|run| run.opened.round == round);
    let run = run.ok_or_else(|| format!("round `{round}` is not open"))?;
    refuse_if!(!seat_of(run, name)?.status.is_open(), format!("`{name}` is settled already"));
    Ok(run)
}

pub fn seal_answer(
    session: &Session,
    round: &str,
    participant: String,
    seal: SealedRecord,
    now: Timestamp,
) -> DecideResult {
    // An answer after the close is rejected, and the rejection is an event.
    let is_missing =
        |run: &&RoundRun| run.seat(&participant).is_some_and(|seat| seat.status == SeatStatus::Missing);
    if let Some(run) = session.round(round).filter(is_missing) {
        let (step, round) = (run.opened.step.clone(), round.to_owned());
        return Ok(vec![Event::LateAnswerRefused { step, round, participant }]);
    }
    let run = with_open_seat(session, round, &participant)?;
    refuse_if!(session.seals_itself(&participant), format!("`{participant}` seals its ballot itself"));
    Ok(vec![Event::BallotSealed(BallotSealed {
        step: run.opened.step.clone(),
        round: round.to_owned(),
        elapsed_ms: now.since(run.opened_at),
        participant,
        seal: Arc::new(seal),
        signature: None,
    })])
}

pub fn close_round(session: &Session, reason: CloseReason, key: &RoundKey) -> DecideResult {
    let run = the_open_round(session)?;
    refuse_if!(!run.opens_with(key), "the key is not that of the round");
    let may = match reason {
        CloseReason::All => run.open_seats().next().is_none(),
        CloseReason::Quorum => run.opened.close == Close::Quorum && run.sealed() >= run.opened.quorum,
        CloseReason::Deadline => run.deadline_ms.or(session.definition().max_duration_ms).is_some(),
        CloseReason::Facilitator => true,
    };
    refuse_if!(!may, "the round does not close as its seats stand");
    let closed = Event::RoundClosed(RoundClosed {
        step: run.opened.step.clone(),
        round: run.opened.round.clone(),
        reason,
        missing: run.open_seats().map(|seat| seat.name.clone()).collect(),
        key: key.publish(),
    });
    // Each seat with a sealed record gets one event; a seal that does not open fails its seat.
    let reveal = |(seat, sealed): (&Seat, &SealedRecord)| match &seat.status {
        SeatStatus::Failed(failed) => Event::SeatFailed(with_full_reason(run, key, failed, sealed)),
        _ => match reveal_answer(session, run, key, &seat.name, sealed) {
            Ok(answer) => Event::AnswerRevealed(Arc::new(answer)),
            Err(reason) => Event::SeatFailed(SeatFailed {
                step: run.opened.step.clone(),
                round: run.opened.round.clone(),
                participant: seat.name.clone(),
                elapsed_ms: seat.elapsed_ms.unwrap_or(0),
                reason,
                ..SeatFailed::default()
            }),
        },
    };
    let mut events: Vec<Event> = std::iter::once(closed).chain(run.unrevealed().map(reveal)).collect();
    note_cut_prompts(run, &mut events, session.definition().cut_prompts_count);
    Ok(events)
}

/// Marks answers to prompts that the provider may have cut. A prompt counts as cut if it exceeds the
/// server's window, or if all seats of a model report the same low token count: their prompts differ, so the
/// server kept no more of any. A low count of one seat is only a hint.
fn note_cut_prompts(run: &RoundRun, events: &mut [Event], counts: bool) {
    let (form, estimated) = (&run.opened.ballot, run.opened.estimated_tokens);
    let mut low_counts: HashMap<String, Vec<Option<usize>>> = HashMap::new();
    for event in &*events {
        let Event::AnswerRevealed(answer) = event else { continue };
        let few = answer.record.few_tokens(estimated);
        low_counts.entry(answer.record.model.clone()).or_default().push(few);
    }
    for event in events {
        let Event::AnswerRevealed(answer) = event else { continue };
        let answer = Arc::make_mut(answer);
        let Some(few) = answer.record.few_tokens(estimated) else { continue };
        let of_model = &low_counts[&answer.record.model];
        let is_cut = of_model.len() > 1 && of_model.iter().all(|count| *count == Some(few))
            || answer.record.window.is_some_and(|window| window < estimated);
        let verb = if is_cut { "cut" } else { "may be cut" };
        let why =
            format!("prompt {verb} ({} of about {} tokens)", group_digits(few), group_digits(estimated));
        if is_cut && !counts && answer.ballot.take().is_some() {
            (answer.outcome, answer.reason, answer.answer) = (Outcome::Invalid, Some(why), Map::new());
            answer.may_block = may_block(form, &answer.record);
        } else {
            answer.flags.push(why);
        }
    }
}

/// Returns whether a reply that does not count may express a block.
fn may_block(form: &BallotForm, record: &AnswerRecord) -> bool {
    record.replies.iter().any(|reply| form.kind.spec().may_block(&reply.text))
}

/// Replaces a failure's reason by the full one, if its record opens.
fn with_full_reason(
    run: &RoundRun,
    key: &RoundKey,
    failed: &SeatFailed,
    sealed: &SealedRecord,
) -> SeatFailed {
    let opened = unseal(key, &run.binding(&failed.participant), sealed).ok();
    let record = opened.and_then(|opened| serde_json::from_str::<AnswerRecord>(&opened.record).ok());
    let reason = record.and_then(|record| record.failed).unwrap_or_else(|| failed.reason.clone());
    SeatFailed { reason, in_full: None, ..failed.clone() }
}

fn reveal_answer(
    session: &Session,
    run: &RoundRun,
    key: &RoundKey,
    who: &str,
    seal: &SealedRecord,
) -> Result<AnswerRevealed, String> {
    let opened = unseal(key, &run.binding(who), seal).map_err(|error| error.to_string())?;
    let record = serde_json::from_str::<AnswerRecord>(&opened.record).ok();
    if let Some(remote) = session.remote(who) {
        let (is_by_program, text) = (remote.is_by_program(), &*opened.record);
        let is_formed =
            |it: &AnswerRecord| if is_by_program { it.is_exactly(text) } else { it.is_from_person(text) };
        if !record.as_ref().is_some_and(is_formed) {
            let whose = if is_by_program { "a program's" } else { "one person's" };
            return Err(format!("the sealed record has not the form of {whose} answer"));
        }
    }
    let mut record = record.ok_or("the sealed record is no record")?;
    let form = &run.opened.ballot;
    let Reading { outcome, reason, ballot, answer, flags } = record.read(form);
    let may_block = matches!(outcome, Outcome::Invalid | Outcome::Refused) && may_block(form, &record);
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    let (participant, nonce) = (who.to_owned(), opened.nonce);
    Ok(AnswerRevealed {
        step,
        round,
        participant,
        outcome,
        reason,
        ballot,
        answer,
        flags,
        record,
        may_block,
        nonce,
    })
}

pub fn tally(session: &Session) -> DecideResult {
    let run = session.rounds.last().ok_or("there is no round")?;
    refuse_if!(run.unrevealed().next().is_some(), "not everything is revealed yet");
    let tally = tally_round(session, run);
    let mut events = Vec::new();
    if run.tally.is_none() {
        // Leaks must be recorded before the answers can be disclosed.
        events.extend(session.leaks_in_round(run));
        events.extend(conflicts_of(session, run, tally.quorum_met));
    }
    events.push(Event::TallyMade(Box::new(tally)));
    Ok(events)
}

pub fn record_key_loss(session: &Session) -> DecideResult {
    let run = the_open_round(session)?;
    let participants: Vec<String> = run.sealed_seats().map(|seat| seat.name.clone()).collect();
    refuse_if!(participants.is_empty(), "nothing is sealed under the lost key");
    Ok(vec![Event::KeyLost { step: run.opened.step.clone(), round: run.opened.round.clone(), participants }])
}

pub fn ask_again(session: &Session, seal: Option<SealTo>) -> DecideResult {
    let run = the_open_round(session)?;
    let participants = run.lost_seats();
    // A lost key under which nothing is sealed is only replaced.
    let is_replaced = seal.is_some() && seal != run.seal_to && run.sealed() == 0;
    refuse_if!(participants.is_empty() && !is_replaced, "no answer of the open round is lost");
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    Ok(vec![Event::SeatsAskedAgain { step, round, participants, seal }])
}
