//! Plain-text events, one line each: for replays in text, and for progress messages.
//!
//! A line shows only what is public at that moment: of a sealed seat its name and duration, never text,
//! length or tokens. Every line is safe for a terminal.

use std::fmt::Write as _;

use crate::ballot::Ballot;
use crate::history::{
    AgendaUpdated, AnswerRevealed, ApprovalGiven, ApprovalRequested, ArtifactRecorded, Event, IdeasMerged,
    Leak, MergedOption, RoundClosed, RoundOpened, SeatFailed, Session, SessionClosed, SessionOpened,
    StepFinished, StepStarted, Tally, Timestamp, WorkItemReturned,
};
use crate::insight::headline::rehearsal_mark;
use crate::insight::{
    close_reason, confidence, cut, format_duration, group_digits, headline, join_list, labels, pluralize,
    wording,
};
use crate::round::answer::Outcome;
use crate::sanitize::harmless_line;

/// Longest excerpt of an answer in a line, in characters.
const EXCERPT: usize = 100;

/// Formats one event; `None` if another line already covers it. `session` is the state after it.
pub fn event_line(event: &Event, at: Timestamp, session: &Session) -> Option<String> {
    let what = event_text(event, session)?;
    let clock: String = at.to_string().chars().skip(11).take(8).collect();
    Some(format!("{clock}  {}", harmless_line(&what)))
}

/// Returns the text after a mark; empty without text.
fn after(mark: &str, text: Option<&str>) -> String {
    text.map(|text| format!("{mark}{text}")).unwrap_or_default()
}

fn event_text(event: &Event, session: &Session) -> Option<String> {
    Some(match event {
        Event::SessionOpened(opened) => session_opened(opened, session),
        // The round's own line follows with more detail.
        Event::StepStarted(StepStarted { kind, .. }) if kind == "round" => return None,
        Event::StepStarted(StepStarted { step, kind, .. }) => format!("step {step} begins ({kind})"),
        Event::ContextChanged { text: Some(_) } => "CONTEXT.md is read".to_owned(),
        Event::ContextChanged { text: None } => "CONTEXT.md is gone".to_owned(),
        Event::RoundOpened(opened) => round_opened(opened),
        Event::WorkItemOffered(item) => format!("asked  {}  {}", item.participant, item.model),
        // The offer already has a line, and a renewed claim needs none.
        Event::WorkItemClaimed(claim) if claim.attempt == 1 => return None,
        Event::WorkItemClaimed(claim) => format!("asked  {}  try {}", claim.participant, claim.attempt),
        Event::WorkItemReturned(back) => work_returned(back),
        Event::ReviewRecorded(review) => format!("reviewed  {}  by {}", review.artifact, review.participant),
        Event::LinkRecorded { link, .. } => format!("linked  {} to {}", link.from_id, link.to_id),
        Event::BallotSealed(sealed) => {
            format!("sealed  {}  {}", sealed.participant, format_duration(sealed.elapsed_ms))
        }
        Event::SeatFailed(failed) => seat_failed(failed),
        Event::SeatExcused { participant, reason, .. } => format!("excused  {participant}: {reason}"),
        Event::SeatRetried { participant, model, .. } => seat_retried(participant, model.as_deref()),
        Event::SeatInvited(invited) => format!("invited  {}", invited.participant),
        Event::SeatJoined(joined) => format!("joined  {}", joined.participant),
        Event::EnvelopeRefused(refused) => format!("refused  {}: {}", refused.participant, refused.why),
        Event::LateAnswerRefused { round, participant, .. } => {
            format!("late  {participant}: answered after round {round} was closed; not counted")
        }
        Event::RoundClosed(closed) => round_closed(closed),
        Event::AnswerRevealed(answer) => revealed(answer, session),
        Event::KeyLost { round, participants, .. } => {
            format!("round {round}: key lost, answers of {} unreadable", join_list(participants))
        }
        Event::SeatsAskedAgain { participants, .. } => format!("asked again  {}", join_list(participants)),
        Event::LeaksFound { found, .. } => leaks_found(found),
        Event::TallyMade(tally) => tally_made(tally, session),
        Event::RoundRevised(revised) => format!("step {} revised for its next round", revised.step),
        Event::ArtifactRecorded(recorded) => artifact_recorded(recorded),
        Event::SynthesisRecorded { round, text, .. } => note_recorded(round, text),
        Event::DeadlineExtended { round, deadline_ms, .. } => {
            format!("round {round}: deadline extended to {}", format_duration(*deadline_ms))
        }
        Event::RoundAskedAgain { round, .. } => format!("round {round} will be repeated"),
        Event::SessionForked { session, at_seq, from } => {
            format!("session {session} begins, from event {at_seq} of {from}")
        }
        Event::StepFinished(result) => step_finished(result),
        Event::ApprovalRequested(asked) => approval_requested(asked),
        Event::ApprovalGiven(given) => approval_given(given),
        Event::IdeasMerged(merged) => ideas_merged(merged),
        change @ (Event::AgendaUpdated(_)
        | Event::ConflictOpened(_)
        | Event::ConflictResolved(_)
        | Event::QuestionOpened(_)
        | Event::QuestionAnswered { .. }) => return agenda_changed(change, session),
        Event::Warning { message, round, participant, .. } => {
            let whose = participant.as_ref().or(round.as_ref()).map(|whose| format!(" ({whose})"));
            format!("warning: {message}{}", whose.unwrap_or_default())
        }
        Event::SessionPaused { reason, .. } => format!("session paused: {reason}"),
        Event::SessionResumed { program, torn_bytes, .. } => resumed(program, *torn_bytes),
        Event::SessionClosed(closed) => session_closed(closed),
    })
}

fn seat_retried(participant: &str, model: Option<&str>) -> String {
    format!("retried  {participant}{}", after(", now ", model))
}

fn note_recorded(round: &str, text: &str) -> String {
    if text.trim().is_empty() {
        return format!("note on round {round} removed");
    }
    format!("note on round {round}: {text}")
}

fn session_opened(opened: &SessionOpened, session: &Session) -> String {
    let seats = pluralize(opened.participants.len(), "participant");
    let mark = rehearsal_mark(session);
    let mut line = format!("{mark}session {} opened: {}, {seats}", opened.session, opened.definition_file);
    for label in labels(session, None) {
        let _ = write!(line, ". {}", label.to_string().trim_end_matches('.'));
    }
    line
}

fn work_returned(back: &WorkItemReturned) -> String {
    let word = if back.error.is_some() { "failed" } else { "returned" };
    let took = format_duration(back.record.latency_ms);
    format!("{word}  {}  {took}{}", back.participant, after(": ", back.error.as_deref()))
}

fn session_closed(closed: &SessionClosed) -> String {
    format!("session {}{}", closed.status.name(), after(": ", closed.reason.as_deref()))
}

fn round_opened(opened: &RoundOpened) -> String {
    let rule = opened.rule.map_or_else(String::new, |rule| format!(", {}", rule.name()));
    format!(
        "round {} open: {}{rule}, quorum {}, snapshot {} bytes, about {} tokens a seat, sha256 {}…",
        opened.round,
        pluralize(opened.seats.len(), "seat"),
        opened.quorum,
        group_digits(opened.snapshot_bytes),
        group_digits(opened.estimated_tokens),
        opened.snapshot_sha256.chars().take(8).collect::<String>(),
    )
}

fn seat_failed(failed: &SeatFailed) -> String {
    let word = if failed.timed_out { "timed out" } else { "failed" };
    format!("{word}  {}  {}: {}", failed.participant, format_duration(failed.elapsed_ms), failed.reason)
}

fn round_closed(closed: &RoundClosed) -> String {
    let missing = join_list(&closed.missing);
    let missing = after("; missing: ", Some(&*missing).filter(|missing| !missing.is_empty()));
    format!("round {} closed: {}{missing}", closed.round, close_reason(closed.reason))
}

fn revealed(answer: &AnswerRevealed, session: &Session) -> String {
    let is_closed = session.round(&answer.round).is_some_and(|round| round.closed.is_some());
    if !is_closed {
        return format!("revealed {} before its round was closed: not shown", answer.participant);
    }
    let ballot = answer.ballot.as_ref();
    let what = match (answer.outcome, ballot.and_then(Ballot::phrase)) {
        (Outcome::Answered, Some(vote)) => vote + &after(" until: ", ballot.and_then(Ballot::minimum_change)),
        (Outcome::Answered, None) => {
            let position = answer.answer.get("position").and_then(|position| position.as_str());
            cut(position.unwrap_or("answered"), EXCERPT)
        }
        (Outcome::Abstained, _) => "abstains".to_owned(),
        (other, _) => other.name().replace('_', " "),
    };
    let reason = after(": ", answer.reason.as_deref());
    let confidence = confidence(answer).map(|given| format!(" (confidence {given})")).unwrap_or_default();
    format!("revealed {}: {what}{reason}{confidence}", answer.participant)
}

fn leaks_found(found: &[Leak]) -> String {
    let mut authors: Vec<&str> = found.iter().map(|leak| leak.participant.as_str()).collect();
    authors.dedup();
    let found = pluralize(found.len(), "finding");
    format!("leak scan: {found} in what {} said", join_list(&authors))
}

fn tally_made(tally: &Tally, session: &Session) -> String {
    let made = session.round(&tally.round).map(|round| headline(session, round, tally));
    let said = made.map(|made| made.whole()).unwrap_or_default();
    format!("tally {}: {said}", tally.round)
}

fn step_finished(result: &StepFinished) -> String {
    let error = result.error.as_deref().filter(|_| !result.success);
    let word = if error.is_some() { "failed" } else { "finished" };
    let took = format_duration(result.duration);
    format!("step {} {word} after {took}{}", result.step, after(": ", error))
}

fn approval_requested(asked: &ApprovalRequested) -> String {
    let mut line = format!("decision requested ({}): {}", asked.step, asked.message);
    if !asked.choices.is_empty() {
        let _ = write!(line, " [{}]", join_list(&asked.choices));
    }
    line
}

fn approval_given(given: &ApprovalGiven) -> String {
    let what = match (&given.choice, given.approved) {
        (Some(choice), _) => format!("chose {choice}"),
        (None, true) => "approved".to_owned(),
        (None, false) => "rejected".to_owned(),
    };
    let comment = after(": ", given.comment.as_deref());
    format!("{} {what} (by {}){comment}", given.step, given.approver())
}

fn ideas_merged(merged: &IdeasMerged) -> String {
    let option = |option: &MergedOption| format!("{} ({})", option.id, pluralize(option.from.len(), "idea"));
    let options: Vec<String> = merged.merge.options.iter().map(option).collect();
    let mut line =
        format!("ideas of round {} merged (by {}): {}", merged.round, merged.by, options.join(", "));
    if !merged.merge.set_aside.is_empty() {
        let _ = write!(line, "; {} set aside", merged.merge.set_aside.len());
    }
    line
}

fn agenda_changed(event: &Event, session: &Session) -> Option<String> {
    if let Event::AgendaUpdated(updated) = event {
        Some(agenda_updated(updated, session))
    } else if let Event::ConflictOpened(opened) = event {
        let who = after(", by ", opened.participant.as_deref());
        let change = after(", until: ", opened.minimum_change.as_deref());
        Some(format!("conflict {}: {}{who}{change}", opened.id, opened.title))
    } else if let Event::ConflictResolved(resolved) = event {
        let how = wording::settled(resolved.how.as_deref().unwrap_or_default());
        Some(format!("conflict {} resolved: {how}", resolved.id))
    } else if let Event::QuestionOpened(opened) = event {
        Some(format!("question {}: {}", opened.id, opened.title))
    } else if let Event::QuestionAnswered { id, answer, .. } = event {
        Some(format!("question {id} answered: {answer}"))
    } else {
        None
    }
}

fn agenda_updated(updated: &AgendaUpdated, session: &Session) -> String {
    let item = session.agenda.item(&updated.id);
    let (title, status) = item.map_or(("", ""), |item| (&item.title, &item.status));
    let reason = updated.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("agenda {} {title}: {status}{reason}", updated.id)
}

fn artifact_recorded(recorded: &ArtifactRecorded) -> String {
    let text = |key: &str| recorded.artifact.get(key).and_then(|value| value.as_str());
    let what = text("summary").or_else(|| text("title")).unwrap_or_default();
    format!("artifact {} by {}: {what}", text("id").unwrap_or_default(), recorded.by)
}

fn resumed(program: &str, torn_bytes: Option<u64>) -> String {
    let Some(torn_bytes) = torn_bytes else { return format!("session resumed by {program}") };
    format!("session resumed by {program}; {torn_bytes} bytes of a torn write were cut off and kept aside")
}
