//! A session in one line: as JSON for scripts (`--json=result`), and in words for a person.
//!
//! The JSON has all of its keys, `null` where nothing is known. Keys may be added; none of them changes
//! its meaning under `"v": 1`. Its text is raw; print it through [`super::safe_json`].

use serde_json::{Map, Value, json};

use super::json::status;
use super::model::people_money;
use crate::core::{Cost, Deciding, deciding};
use crate::history::{RoundOutcome, RoundRun, Session, Tally, round_outcome};
use crate::insight::headline::strength;
use crate::insight::round_view::{dissents, scripted, seats, tally, winners};
use crate::insight::wording::first_names;
use crate::insight::{format_duration, independence};
use crate::round::answer::Outcome;
use crate::tally::{Rule, Tier};

/// The version of the line's keys.
const VERSION: u32 = 1;

/// The result of a session as one JSON object. `exit` is the code of the run, `file` the session's path as
/// it was given, `hash` its last hash.
pub fn result(session: &Session, exit: i32, file: &str, hash: &str) -> Value {
    let round = decided_by(session);
    let counted = round.and_then(tally);
    let made = super::decision(session).filter(super::Decision::is_made);
    let winners = made.as_ref().map(super::Decision::winners).unwrap_or_default();
    let found = round.and_then(|round| independence(session, round));
    let spent = session.spent(&|model| session.price(model));
    let of_tally = |value: fn(&Tally) -> Value| counted.map_or(Value::Null, value);
    let mut line = empty();
    let values = [
        ("session", session.id.as_str().into()),
        ("status", status(session).into()),
        ("exit", exit.into()),
        ("decided", (made.is_some() && !session.is_rehearsal()).into()),
        ("rehearsal", session.is_rehearsal().into()),
        ("outcome", json!(outcome(session))),
        ("winner", winners.first().copied().into()),
        ("order", of_tally(|tally| json!(tally.verdict.order))),
        ("tier", of_tally(|tally| json!(tally.tier.map(Tier::name)))),
        ("headline", super::outcome(session).into()),
        ("votes", json!(winners.first().and_then(|winner| votes(counted?, winner)))),
        ("ballots", of_tally(|tally| tally.answered.into())),
        ("asked", of_tally(|tally| tally.asked.into())),
        ("rule", round.and_then(|round| round.opened.rule).map(Rule::name).into()),
        ("reason", reason(session, counted).into()),
        ("tied", of_tally(|tally| if tally.verdict.tie { json!(tally.verdict.winners) } else { json!([]) })),
        ("dissent", round.map_or_else(|| json!([]), |round| json!(dissent(session, round)))),
        ("not_counted", round.map_or_else(|| json!({}), |round| not_counted(session, round))),
        ("approved", approved(session).into()),
        ("models", found.as_ref().map(|found| found.models.len()).into()),
        ("makers", found.as_ref().map(|found| found.makers.len()).into()),
        ("same_answers", found.as_ref().map_or_else(|| json!([]), |found| json!(found.same_answers))),
        ("usd", usd(&spent).into()),
        ("seconds", seconds(session).into()),
        ("file", file.into()),
        ("hash", hash.into()),
    ];
    line.extend(values.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(line)
}

/// The line of a file that led to no session: what was wrong, and the exit code.
pub fn no_result(exit: i32, reason: &str, file: Option<&str>) -> Value {
    let mut line = empty();
    let values = [
        ("status", "error".into()),
        ("exit", exit.into()),
        ("decided", false.into()),
        ("reason", reason.into()),
        ("file", file.into()),
    ];
    line.extend(values.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(line)
}

/// Every key, in its order, nothing known yet.
fn empty() -> Map<String, Value> {
    const KEYS: [&str; 26] = [
        "session",
        "status",
        "exit",
        "decided",
        "rehearsal",
        "outcome",
        "winner",
        "order",
        "tier",
        "headline",
        "votes",
        "ballots",
        "asked",
        "rule",
        "reason",
        "tied",
        "dissent",
        "not_counted",
        "approved",
        "models",
        "makers",
        "same_answers",
        "usd",
        "seconds",
        "file",
        "hash",
    ];
    let keys = KEYS.map(|key| (key.to_owned(), Value::Null));
    std::iter::once(("v".to_owned(), VERSION.into())).chain(keys).collect()
}

/// The round that a session's decision, or the lack of one, is read from.
fn decided_by(session: &Session) -> Option<&RoundRun> {
    match deciding(session)? {
        Deciding::Round(round) | Deciding::Person(round, _) => Some(round),
        Deciding::NotHeld(..) | Deciding::NoneHeld => None,
    }
}

fn outcome(session: &Session) -> Option<RoundOutcome> {
    match deciding(session)? {
        Deciding::Round(round) => tally(round).map(round_outcome),
        Deciding::Person(..) => Some(RoundOutcome::Decided),
        Deciding::NotHeld(..) | Deciding::NoneHeld => Some(RoundOutcome::Failed),
    }
}

/// How many ballots, or how much of their weight, name an option; none for rules whose number counts no
/// ballots.
fn votes(tally: &Tally, option: &str) -> Option<Value> {
    let votes =
        tally.rule.filter(|rule| rule.counts_ballots()).and(tally.verdict.scores.get(option))?.as_f64();
    Some(if votes.fract() == 0.0 { json!(votes as u64) } else { json!(votes) })
}

fn reason(session: &Session, counted: Option<&Tally>) -> Option<String> {
    if let Some(reason) = session.closed.as_ref().and_then(|closed| closed.reason.clone()) {
        return Some(reason);
    }
    if let Some((_, reason)) = &session.paused {
        return Some(reason.to_string());
    }
    if let Some(Deciding::NotHeld(_, not_held)) = deciding(session) {
        return Some(not_held.why.clone());
    }
    let counted = counted?;
    counted.shortfall().map(|shortfall| shortfall.to_string()).or_else(|| counted.verdict.why())
}

/// The seats whose ballot differs from the result.
fn dissent<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<&'a str> {
    let winners = winners(session, round);
    seats(session, round).filter(|seat| dissents(seat, &winners)).map(|seat| seat.name).collect()
}

/// Seats of a revealed round that brought no ballot, with what became of them.
fn not_counted(session: &Session, round: &RoundRun) -> Value {
    let without = seats(session, round).filter_map(|seat| Some((seat.name, seat.outcome()?)));
    let without = without.filter(|(_, outcome)| *outcome != Outcome::Answered);
    without.map(|(name, outcome)| (name.to_owned(), outcome.name().into())).collect::<Map<_, _>>().into()
}

/// What the approval of the decision said; none where nobody was asked.
fn approved(session: &Session) -> Option<bool> {
    Some(session.approval_of(decided_by(session))?.given.approved)
}

/// What it cost in dollars; none where that is not known whole.
fn usd(spent: &Cost) -> Option<f64> {
    (!spent.is_unknown).then(|| (spent.dollars * 1e6).round() / 1e6)
}

/// How long it took, without the time it waited for people.
fn seconds(session: &Session) -> f64 {
    milliseconds(session) as f64 / 1000.0
}

fn milliseconds(session: &Session) -> u64 {
    session.last_at.since(session.opened_at).saturating_sub(session.waited_ms)
}

/// What a session came to, in one line for a person: outcome, strength, dissent, approval, money, time.
/// None where there is no outcome yet. Its text is raw.
pub fn in_one_line(session: &Session) -> Option<String> {
    let made = super::outcome_headline(session)?;
    let mut parts = vec![made.label];
    if !made.sentence.is_empty() {
        parts.push(made.sentence.trim_end_matches('.').to_owned());
    }
    if let Some(round) = decided_by(session) {
        if let Some(strength) = tally(round).and_then(strength) {
            parts.push(strength.replacen("Strength", "strength", 1));
        }
        match scripted(session, round) {
            (0, _) => {}
            (count, all) => parts.push(format!("scripted: {count} of {all}")),
        }
        let dissent = dissent(session, round);
        if !dissent.is_empty() {
            parts.push(format!("dissent: {}", first_names(&dissent, 8)));
        }
    }
    if let Some(approved) = approved(session) {
        parts.push(if approved { "approved" } else { "rejected" }.to_owned());
    }
    let spent = session.spent(&|model| session.price(model));
    if spent.dollars > 0.0 {
        parts.push(people_money(&spent));
    }
    parts.push(format_duration(milliseconds(session)));
    Some(parts.join(" · "))
}
