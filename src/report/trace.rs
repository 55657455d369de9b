//! The trace: for every work item exactly what was sent and what came back.
//!
//! While a round is open its work items show the prompt and whether the seat is sealed, no more.

use serde::Serialize;
use serde_json::Value;

use crate::handoff::whole_prompt;
use crate::history::{Event, LogEntry, SeatStatus, Session, Timestamp, WorkItemOffered};
use crate::identity::Leak;
use crate::insight::{finding, handling, is_revealed, shown_mask};
use crate::round::answer::Origin;
use crate::sanitize::harmless;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TraceEntry {
    /// The work item's id.
    pub id: String,
    /// The `seq` of the event that handed it over.
    pub seq: u64,
    /// The round, of a seat's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub round: String,
    pub from: &'static str,
    pub to: String,
    pub model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    pub sent_at: Timestamp,
    /// The system's part of an agent's prompt, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    pub prompt: String,
    /// The hash of the snapshot, or of an agent's input.
    pub context_sha256: String,
    /// When the answer was sealed or came back, or the seat failed.
    pub returned_at: Option<Timestamp>,
    /// Every reply as it came, with the reason where one was not counted; null while sealed.
    pub answer: Value,
    /// `asking`, `sealed`, `answered`, `invalid`, `failed` …
    pub status: String,
    /// What the answer gives away, and what of it is handed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaks: Option<Vec<Leak>>,
}

/// Every work item of a log, in order; `session` is the fold of all of it.
pub fn trace(lines: &[LogEntry], session: &Session) -> Vec<TraceEntry> {
    let readable: std::collections::HashSet<&str> =
        session.rounds.iter().filter(|run| is_revealed(run)).map(|run| run.opened.round.as_str()).collect();
    let mut entries: indexmap::IndexMap<(String, String), TraceEntry> = indexmap::IndexMap::new();
    for line in lines {
        let event = &line.stamped.event;
        let mut returned = |key: (String, String)| {
            if let Some(entry) = entries.get_mut(&key) {
                entry.returned_at = Some(line.stamped.at);
            }
        };
        if let Event::WorkItemReturned(back) = event {
            returned((back.item.clone(), String::new()));
        } else if let Event::BallotSealed(sealed) = event {
            returned((sealed.round.clone(), sealed.participant.clone()));
        } else if let Event::SeatFailed(failed) = event {
            returned((failed.round.clone(), failed.participant.clone()));
        } else if let Event::WorkItemOffered(item) = event {
            if item.task.is_some() {
                let key = (item.item.clone(), String::new());
                entries.insert(key, agent_hand_over(line, item, session));
                continue;
            }
            let Some(round) = session.round(&item.round) else { continue };
            let seat = round.seat(&item.participant).map(|seat| &seat.status);
            let may_be_read = readable.contains(item.round.as_str());
            let (status, answer) = what_became(seat, may_be_read);
            let origin = match seat {
                Some(SeatStatus::Revealed(answer, _)) if may_be_read => Some(answer.record.origin),
                _ => None,
            };
            let entry = TraceEntry {
                round: item.round.clone(),
                origin,
                prompt: session.prompt(round, item).text(),
                answer,
                leaks: leaks(session, &item.item).filter(|_| may_be_read),
                ..handed_over(line, item, status)
            };
            entries.insert((item.round.clone(), item.participant.clone()), entry);
        }
    }
    entries.into_values().collect()
}

/// What the answer to a work item gives away, as far as it is known yet.
fn leaks(session: &Session, item: &str) -> Option<Vec<Leak>> {
    let shown = |leak: &Leak| Leak { mask: shown_mask(session, leak).map(str::to_owned), ..leak.clone() };
    Some(session.leaks_of(item)?.iter().map(shown).collect())
}

/// An agent's work item: its replies are the answer, try by try.
fn agent_hand_over(line: &LogEntry, item: &WorkItemOffered, session: &Session) -> TraceEntry {
    let (system, prompt) = session.agent_prompt(item);
    let known = session.items.get(&item.item);
    let returned = known.map(|known| known.returned.as_slice()).unwrap_or_default();
    let mut replies = Vec::new();
    for (back, _) in returned {
        replies
            .extend(back.record.replies.iter().map(|reply| serde_json::to_value(reply).unwrap_or_default()));
    }
    let status = match returned.last().and_then(|(back, _)| back.error.as_deref()) {
        Some(error) => format!("failed: {error}"),
        None => known.map_or("offered", |known| known.state(session.last_at)).to_owned(),
    };
    TraceEntry {
        origin: returned.last().map(|(back, _)| back.record.origin),
        system: (!system.is_empty()).then_some(system),
        prompt,
        answer: if returned.is_empty() { Value::Null } else { replies.into() },
        leaks: leaks(session, &item.item),
        ..handed_over(line, item, status)
    }
}

/// What is known of a work item when it is handed over.
fn handed_over(line: &LogEntry, item: &WorkItemOffered, status: String) -> TraceEntry {
    TraceEntry {
        id: item.item.clone(),
        seq: line.seq,
        from: "facilitator",
        to: item.participant.clone(),
        model: item.model.clone(),
        sent_at: line.stamped.at,
        context_sha256: item.context_sha256.clone(),
        status,
        ..TraceEntry::default()
    }
}

fn what_became(status: Option<&SeatStatus>, may_be_read: bool) -> (String, Value) {
    let word = |text: &str| (text.to_owned(), Value::Null);
    match status {
        None | Some(SeatStatus::Waiting) => word("waiting"),
        Some(SeatStatus::Asking) => word("asking"),
        Some(SeatStatus::Sealed(_)) => word("sealed"),
        Some(SeatStatus::Revealed(..)) if !may_be_read => word("sealed"),
        Some(SeatStatus::Lost(_)) => word("lost with the round's key"),
        Some(SeatStatus::Failed(failed)) => word(&format!("failed: {}", failed.reason)),
        Some(SeatStatus::Excused(reason)) => word(&format!("excused: {reason}")),
        Some(SeatStatus::Missing) => word("missing"),
        Some(SeatStatus::Revealed(answer, _)) => {
            let replies = serde_json::to_value(&answer.record.replies).unwrap_or_default();
            (answer.outcome.name().to_owned(), replies)
        }
    }
}

/// A work item as plain text, safe to print.
pub fn text(entry: &TraceEntry) -> String {
    let mut out = format!(
        "=== {} · to {} ({}) · sent {} · {}\n\n{}",
        entry.id,
        entry.to,
        entry.origin.and_then(Origin::label).unwrap_or(&entry.model),
        entry.sent_at,
        entry.status,
        whole_prompt(entry.system.as_deref().unwrap_or_default(), &entry.prompt)
    );
    let replies = entry.answer.as_array().map(Vec::as_slice).unwrap_or_default();
    for reply in replies {
        let returned = entry.returned_at.map(|at| at.to_string()).unwrap_or_default();
        out.push_str(&format!(
            "\n--- returned {returned}\n\n{}\n",
            reply["text"].as_str().unwrap_or_default()
        ));
        if let Some(reason) = reply["reason"].as_str() {
            out.push_str(&format!("\n--- not counted: {reason}\n"));
        }
    }
    if let Some(found) = &entry.leaks {
        out.push_str(&format!("\n--- leak scan: {}\n", handling(found)));
        for leak in found {
            out.push_str(&format!("--- {}\n", finding(leak, leak.mask.as_deref())));
        }
    }
    harmless(&out).into_owned()
}
