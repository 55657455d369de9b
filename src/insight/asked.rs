//! The question that a waiting session asks a person: the ideas, the proposal, the blocks.

use serde_json::Value;

use super::round_view::{seats, tally};
use crate::ballot::{Ballot, Stance};
use crate::history::{ApprovalRequested, RoundOutcome, RoundRun, Session, round_outcome};

/// The open question of the step that runs.
pub fn asked(session: &Session) -> Option<&ApprovalRequested> {
    let approval = session.step.as_ref()?.approval.as_ref()?;
    approval.given.is_none().then_some(&approval.requested)
}

/// The round whose proposal is blocked, if it is the last one and a person may amend it.
pub fn blocked(session: &Session) -> Option<&RoundRun> {
    asked(session).filter(|asked| asked.proposal.is_none() && asked.choices.is_empty())?;
    let is_blocked = |round: &&RoundRun| tally(round).map(round_outcome) == Some(RoundOutcome::Blocked);
    session.rounds.last().filter(is_blocked)
}

/// The subjects of the open question, a line each; empty where its message says all.
pub fn asked_about(session: &Session) -> Vec<String> {
    let Some(asked) = asked(session) else { return Vec::new() };
    let mut lines: Vec<String> =
        asked.ideas.iter().map(|idea| format!("idea {}: {}", idea.id, idea.title)).collect();
    if let Some(Value::Object(parts)) = &asked.proposal {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let parts = parts.iter().filter(|(_, value)| !value.is_null());
        lines
            .extend(parts.map(|(key, value)| format!("proposed {}: {}", key.replace('_', " "), text(value))));
    }
    for seat in blocked(session).into_iter().flat_map(|round| seats(session, round)) {
        if seat.stance() == Some(Stance::Block) {
            let change = seat.ballot().and_then(Ballot::minimum_change);
            let change = change.map(|change| format!(", until: {change}")).unwrap_or_default();
            lines.push(format!("{} blocks{change}", seat.name));
        }
    }
    lines
}
