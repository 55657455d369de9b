//! Trace: the exact prompt and replies of every work item.
//!
//! While a round is open, its work items show only the prompt and whether the seat is sealed.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde::Serialize;

use crate::handoff::whole_prompt;
use crate::history::{Event, LogEntry, SeatStatus, Session, Timestamp, WorkItemOffered};
use crate::insight::is_revealed;
use crate::round::answer::{Origin, ReplyAttempt};
use crate::sanitize::harmless;

#[derive(Debug, Serialize)]
pub struct TraceEntry<'a> {
    /// Id of the work item.
    pub id: &'a str,
    /// `seq` of the event that offered it.
    pub seq: u64,
    /// Round of a seat's work item; empty for agents.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub round: &'a str,
    pub from: &'static str,
    pub to: &'a str,
    pub model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    pub sent_at: Timestamp,
    /// System message of an agent's prompt, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    pub prompt: String,
    /// Hash of the snapshot, or of an agent's input.
    pub context_sha256: &'a str,
    /// Time when the answer was sealed or returned, or the seat failed.
    pub returned_at: Option<Timestamp>,
    /// Raw replies, with the reason if one did not count; null while sealed.
    pub answer: Option<Vec<&'a ReplyAttempt>>,
    /// `asking`, `sealed`, `answered`, `invalid`, `failed` …
    pub status: String,
}

/// Answer to a work item, as far as it may be read.
struct TracedAnswer<'a> {
    status: String,
    origin: Option<Origin>,
    replies: Option<Vec<&'a ReplyAttempt>>,
}

/// Returns every work item of a log, in order. `session` is the state after all its events.
pub fn trace<'a>(lines: &'a [LogEntry], session: &'a Session) -> Vec<TraceEntry<'a>> {
    let revealed = session.rounds.iter().filter(|run| is_revealed(run));
    let readable: HashSet<&str> = revealed.map(|run| run.opened.round.as_str()).collect();
    // The key is an agent's item, or round and seat.
    let mut entries: IndexMap<(&str, &str), TraceEntry<'a>> = IndexMap::new();
    for line in lines {
        let key = if let Event::WorkItemReturned(back) = &line.stamped.event {
            (&*back.item, "")
        } else if let Event::BallotSealed(sealed) = &line.stamped.event {
            (&*sealed.round, &*sealed.participant)
        } else if let Event::SeatFailed(failed) = &line.stamped.event {
            (&*failed.round, &*failed.participant)
        } else if let Event::WorkItemOffered(item) = &line.stamped.event {
            let may_be_read = item.task.is_some() || readable.contains(item.round.as_str());
            let key =
                if item.task.is_some() { (&*item.item, "") } else { (&*item.round, &*item.participant) };
            entries.extend(entry(line, item, session, may_be_read).map(|entry| (key, entry)));
            continue;
        } else {
            continue;
        };
        if let Some(entry) = entries.get_mut(&key) {
            entry.returned_at = Some(line.stamped.at);
        }
    }
    entries.into_values().collect()
}

fn entry<'a>(
    line: &LogEntry,
    item: &'a WorkItemOffered,
    session: &'a Session,
    may_be_read: bool,
) -> Option<TraceEntry<'a>> {
    let (round, system, prompt, answered);
    if item.task.is_some() {
        (system, prompt) = session.agent_prompt(item);
        (round, answered) = ("", by_agent(session, item));
    } else {
        let run = session.round(&item.round)?;
        (system, prompt) = (String::new(), session.prompt(run, item).text());
        let seat = run.seat(&item.participant).map(|seat| &seat.status);
        (round, answered) = (item.round.as_str(), by_seat(seat, may_be_read));
    }
    Some(TraceEntry {
        id: &item.item,
        seq: line.seq,
        round,
        from: "facilitator",
        to: &item.participant,
        model: &item.model,
        origin: answered.origin,
        sent_at: line.stamped.at,
        system: Some(system).filter(|system| !system.is_empty()),
        prompt,
        context_sha256: &item.context_sha256,
        returned_at: None,
        answer: answered.replies,
        status: answered.status,
    })
}

/// Returns the replies of an agent from all attempts.
fn by_agent<'a>(session: &'a Session, item: &WorkItemOffered) -> TracedAnswer<'a> {
    let known = session.items.get(&item.item);
    let returned = known.map(|known| known.returned.as_slice()).unwrap_or_default();
    let last = returned.last().map(|(back, _)| back);
    let status = match last.and_then(|back| back.error.as_deref()) {
        Some(error) => format!("failed: {error}"),
        None => known.map_or("offered", |known| known.state(session.last_at)).to_owned(),
    };
    let replies = returned.iter().flat_map(|(back, _)| &back.record.replies).collect();
    TracedAnswer { status, origin: last.map(|back| back.record.origin), replies: last.map(|_| replies) }
}

fn by_seat(status: Option<&SeatStatus>, may_be_read: bool) -> TracedAnswer<'_> {
    let status = match status {
        Some(SeatStatus::Revealed(answer, _)) if may_be_read => {
            let replies = Some(answer.record.replies.iter().collect());
            let (status, origin) = (answer.outcome.name().to_owned(), Some(answer.record.origin));
            return TracedAnswer { status, origin, replies };
        }
        None | Some(SeatStatus::Waiting) => "waiting".to_owned(),
        Some(SeatStatus::Asking) => "asking".to_owned(),
        Some(SeatStatus::Sealed(_) | SeatStatus::Revealed(..)) => "sealed".to_owned(),
        Some(SeatStatus::Lost(_)) => "lost with the round's key".to_owned(),
        Some(SeatStatus::Failed(failed)) => format!("failed: {}", failed.reason),
        Some(SeatStatus::Excused(reason)) => format!("excused: {reason}"),
        Some(SeatStatus::Missing) => "missing".to_owned(),
    };
    TracedAnswer { status, origin: None, replies: None }
}

/// Formats a work item as plain text, safe for a terminal.
pub fn text(entry: &TraceEntry<'_>) -> String {
    let TraceEntry { id, to, sent_at, status, .. } = entry;
    let who = entry.origin.and_then(Origin::label).unwrap_or(entry.model);
    let prompt = whole_prompt(entry.system.as_deref().unwrap_or_default(), &entry.prompt);
    let mut out = format!("=== {id} · to {to} ({who}) · sent {sent_at} · {status}\n\n{prompt}");
    let returned = entry.returned_at.map(|at| at.to_string()).unwrap_or_default();
    for reply in entry.answer.iter().flatten() {
        out += &format!("\n--- returned {returned}\n\n{}\n", reply.text);
        if let Some(reason) = &reply.reason {
            out += &format!("\n--- not counted: {reason}\n");
        }
    }
    harmless(&out).into_owned()
}
