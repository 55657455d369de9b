//! A session in one line: as JSON for scripts (`--json=result`), and in words for a person.
//!
//! The JSON has all of its keys, `null` where nothing is known. Keys may be added; none of them changes
//! its meaning under `"v": 1`. Its text is raw; print it through [`super::safe_json`].

use serde_json::{Map, Value, json};

use super::Decision;
use super::model::{Report, Reports, Source, people_money, session_status};
use crate::core::{Cost, Deciding, deciding};
use crate::history::{RoundOutcome, RoundRun, Session, Tally, round_outcome};
use crate::insight::headline::strength;
use crate::insight::round_view::{scripted, seats, tally};
use crate::insight::wording::first_names;
use crate::insight::{format_duration, independence};
use crate::round::answer::Outcome;
use crate::tally::{Rule, Tier};

/// The version of the line's keys.
const VERSION: u32 = 1;

/// The result of a session as one JSON object. `exit` is the code of the run, `file` the session's path as
/// it was given, `hash` its last hash.
pub fn result(session: &Session, exit: i32, file: &str, hash: &str) -> Value {
    let source = Source::default();
    let reports = Reports::new(session, &source);
    let only = reports.only();
    let run = only.and_then(|only| only.run);
    let found = run.and_then(|round| independence(session, round));
    let spent = session.spent(&|model| session.price(model));
    let mut line = empty();
    if let Some(only) = only {
        line.extend(of_part(only));
    }
    let several = only.is_none();
    let is_decided = reports.is_decided() && !session.is_rehearsal();
    let values = [
        ("session", session.id.as_str().into()),
        ("status", session_status(session).into()),
        ("exit", exit.into()),
        ("decided", is_decided.into()),
        ("rehearsal", session.is_rehearsal().into()),
        ("outcome", if several { Value::Null } else { json!(outcome(session)) }),
        ("headline", super::outcome(session).filter(|_| !several).into()),
        ("reason", reason(session, only.and_then(|only| only.tally)).into()),
        ("not_counted", run.map_or_else(|| json!({}), |round| not_counted(session, round))),
        ("models", found.as_ref().map(|found| found.models.len()).into()),
        ("makers", found.as_ref().map(|found| found.makers.len()).into()),
        ("same_answers", found.as_ref().map_or_else(|| json!([]), |found| json!(found.same_answers))),
        ("decisions", reports.parts.iter().filter(|part| part.decision.is_some()).map(part_line).collect()),
        ("usd", usd(&spent).into()),
        ("seconds", seconds(session).into()),
        ("file", file.into()),
        ("hash", hash.into()),
    ];
    line.extend(values.map(|(key, value)| (key.to_owned(), value)));
    Value::Object(line)
}

/// What one question came to, for the whole line.
fn of_part(part: &Report<'_>) -> Map<String, Value> {
    let winners = part.decision.as_ref().map(Decision::winners).unwrap_or_default();
    let winners = if part.is_decided() { winners } else { Vec::new() };
    let of_tally = |value: fn(&Tally) -> Value| part.tally.map_or(Value::Null, value);
    let dissent: Vec<&str> = part.dissenting();
    let values = [
        ("winner", winners.first().copied().into()),
        ("winners", json!(winners)),
        ("order", of_tally(|tally| json!(tally.verdict.order))),
        ("tier", of_tally(|tally| json!(tally.tier.map(Tier::name)))),
        ("votes", json!(winners.first().and_then(|winner| votes(part.tally?, winner)))),
        ("ballots", of_tally(|tally| tally.answered.into())),
        ("scripted", part.run.map(|round| scripted(part.session, round).0).into()),
        ("asked", of_tally(|tally| tally.asked.into())),
        ("rule", part.run.and_then(|round| round.opened.rule).map(Rule::name).into()),
        ("tied", of_tally(|tally| if tally.verdict.tie { json!(tally.verdict.winners) } else { json!([]) })),
        ("dissent", json!(dissent)),
        ("approved", part.session.approval_of(part.run).map(|asked| asked.given.approved).into()),
    ];
    values.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}

fn part_line(part: &Report<'_>) -> Value {
    let mut line = of_part(part);
    line.insert("question".to_owned(), part.title().into());
    line.insert("round".to_owned(), part.run.map(|run| run.opened.round.as_str()).into());
    line.insert("decided".to_owned(), (part.is_decided() && !part.session.is_rehearsal()).into());
    line.insert("headline".to_owned(), part.made.label.as_str().into());
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
    const KEYS: &str = "session status exit decided rehearsal outcome winner winners order tier headline votes ballots \
                        scripted asked rule reason tied dissent not_counted approved models makers same_answers decisions usd \
                        seconds file hash";
    let keys = KEYS.split(' ').map(|key| (key.to_owned(), Value::Null));
    std::iter::once(("v".to_owned(), VERSION.into())).chain(keys).collect()
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

/// Seats of a revealed round that brought no ballot, with what became of them.
fn not_counted(session: &Session, round: &RoundRun) -> Value {
    let without = seats(session, round).filter_map(|seat| Some((seat.name, seat.outcome()?)));
    let without = without.filter(|(_, outcome)| *outcome != Outcome::Answered);
    without.map(|(name, outcome)| (name.to_owned(), outcome.name().into())).collect::<Map<_, _>>().into()
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
    let source = Source::default();
    let reports = Reports::new(session, &source);
    if let Some(only) = reports.only() {
        parts.extend(
            only.tally.and_then(strength).map(|strength| strength.replacen("Strength", "strength", 1)),
        );
        match only.run.map_or((0, 0), |round| scripted(session, round)) {
            (0, _) => {}
            (count, all) => parts.push(format!("scripted: {count} of {all}")),
        }
        let dissent = only.dissenting();
        if !dissent.is_empty() {
            parts.push(format!("dissent: {}", first_names(&dissent, 8)));
        }
        if let Some(asked) = session.approval_of(only.run) {
            parts.push(if asked.given.approved { "approved" } else { "rejected" }.to_owned());
        }
    }
    let spent = session.spent(&|model| session.price(model));
    if spent.dollars > 0.0 {
        parts.push(people_money(&spent));
    }
    parts.push(format_duration(milliseconds(session)));
    Some(parts.join(" · "))
}
