//! The report as JSON: stable keys for scripts, each of them always there.
//!
//! What is not known, not given or still sealed is `null`; a seat without an outcome says where it
//! stands in `state`, a round whose key was lost names the seats in `key_lost`. Text is raw; print it
//! through [`super::terminal_safe_json`].

use serde_json::{Map, Value, json};

use super::model::{Report, Reports, background};
use super::outcome;
use crate::ballot::Ballot;
use crate::core::{Cost, artifact_view, session_exit};
use crate::history::{AnsweredQuestion, Point, RoundRun, Session, StepFinished, Tally};
use crate::identity::Leak;
use crate::insight::findings::grouped;
use crate::insight::references::Citable;
use crate::insight::what_if::{WhatIf, what_if_all};
use crate::insight::{
    Headline, SeatView, VisibleState, independence, movement, round_view, shown_mask, slots,
};
use crate::round::answer::Outcome;
use crate::round::material::{AgendaItem, Artifact};
use crate::tally::{Backing, RuleOptions};

pub fn json(reports: &Reports<'_>) -> Value {
    let (session, source) = (reports.session, reports.source);
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    let made = session.made_in_order().map(|made| artifact_view(session, made));
    let decisions: Vec<Value> =
        reports.parts.iter().filter(|part| part.decision.is_some()).map(decision).collect();
    let mut report = json!({
        "session": session.id,
        "status": status(session),
        "exit_code": session_exit(session) as i32,
        "opened_at": session.opened_at.to_string(),
        "last_at": session.last_at.to_string(),
        "file": source.file,
        "entries": source.entries,
        "last_hash": source.last_hash,
        "outcome": outcome(session),
        "rehearsal": session.is_rehearsal(),
        "verdict": verdict(reports),
        "task": task(reports),
        "options": reports.only().map(|only| json!(only.options())),
        "missing": reports.head().missing(),
        "decision": reports.only().filter(|only| only.is_decided()).map(|only| decided(only)),
        "decisions": decisions,
        "first_page": reports.only().map(|only| json!(only.blocks())),
        "dissent": session.rounds.iter().flat_map(|run| dissent(session, run)).collect::<Value>(),
        "rounds": session.rounds.iter().map(|run| round(session, run)).collect::<Value>(),
        "not_held": session.not_held.iter().map(|(step, not_held)| {
            json!({ "step": step, "reason": not_held.why })
        }).collect::<Value>(),
        "artifacts": artifacts.map(artifact).chain(made).collect::<Value>(),
        "agenda": session.agenda.items.iter().map(agenda_item).collect::<Value>(),
        "conflicts": session.agenda.conflicts.iter().map(point).collect::<Value>(),
        "questions": session.agenda.questions.iter().map(point).collect::<Value>(),
        "merges": session.merges,
        "findings": findings(session),
        "approvals": session.approvals.iter().map(approval).collect::<Value>(),
        "steps": session.results.values().map(|result| step(session, result)).collect::<Value>(),
        "cost": total(session.spent(&|model| session.price(model))),
        "prices": session.header.as_ref().map(|header| &header.prices),
    });
    // The pseudonyms are resolved when nobody is asked any more.
    if let Some(names) = session.pseudonyms().filter(|_| session.closed.is_some()) {
        report["pseudonyms"] = names.iter().map(|(name, shown)| (name.as_str(), shown.as_str())).collect();
    }
    report
}

fn decision(part: &Report<'_>) -> Value {
    let moves: Value =
        part.rounds.iter().filter_map(|run| Some(movement(part.session, run)?.json())).collect();
    let mut value = decided(part);
    value["question"] = part.title().into();
    value["rounds"] = part.rounds.iter().map(|run| run.opened.round.as_str()).collect();
    value["verdict"] = facts(part, &part.made);
    value["options"] = json!(part.options());
    value["dissent"] = part.run.map(|run| dissent(part.session, run)).unwrap_or_default().into();
    value["movement"] = moves;
    value["first_page"] = json!(part.blocks());
    value["approval"] = part.approval().map(|said| approval(said.asked)).into();
    value
}

fn agenda_item(item: &AgendaItem) -> Value {
    json!({ "id": item.id, "title": item.title, "status": item.status, "reason": item.reason })
}

/// A conflict or a question; `settled` is null while it is open, and empty if nobody blocks any more.
fn point(point: &Point) -> Value {
    json!({
        "id": point.id, "title": point.title, "description": point.description,
        "minimum_change": point.minimum_change, "round": point.round, "participant": point.participant,
        "settled": point.settled,
    })
}

/// What the session came to, in the words of every format, with the facts beside it where it is one decision.
fn verdict(reports: &Reports<'_>) -> Value {
    let Some(only) = reports.only() else {
        let Headline { name, sentence, label, .. } = &reports.made;
        return json!({
            "headline": name, "sentence": sentence, "label": label, "decided": reports.is_decided(), "round": null,
        });
    };
    facts(only, &reports.made)
}

fn facts(part: &Report<'_>, made: &Headline) -> Value {
    let mut verdict = json!({
        "headline": made.name, "sentence": made.sentence, "label": made.label, "decided": part.is_decided(),
        "round": part.run.map(|run| run.opened.round.as_str()),
    });
    for fact in part.facts() {
        verdict[fact.name.to_lowercase()] = json!({ "value": fact.value, "note": fact.note });
    }
    verdict
}

fn task(reports: &Reports<'_>) -> Value {
    let definition = reports.session.definition.as_deref();
    json!({
        "title": reports.title(),
        "goal": definition.and_then(|definition| definition.goal.as_deref()),
        "project_summary": definition.and_then(|definition| definition.project_summary.as_deref()),
        "constraints": reports.head().constraints(),
    })
}

pub(super) fn status(session: &Session) -> &'static str {
    match &session.closed {
        Some(closed) => closed.status.name(),
        None if session.paused.is_some() => "paused",
        None => "open",
    }
}

fn decided(part: &Report<'_>) -> Value {
    let Some(made) = &part.decision else { return Value::Null };
    let mut decided =
        json!({ "round": made.round.opened.round, "rule": made.rule.name(), "winners": made.winners() });
    if made.by_person.is_some() {
        decided["by"] = "facilitator".into();
    }
    decided
}

/// What dissenting seats said, word for word; of one that gave no valid answer its last reply.
fn dissent(session: &Session, round: &RoundRun) -> Vec<Value> {
    let winners = round_view::winners(session, round);
    let seats = round_view::seats(session, round).filter(|seat| round_view::dissents(seat, &winners));
    let said = |seat: SeatView<'_>| {
        let answer = seat.answer();
        let reply = answer.filter(|answer| answer.may_block).and_then(|answer| answer.record.replies.last());
        json!({
            "participant": seat.name,
            "round": round.opened.round,
            "vote": seat.ballot().and_then(Ballot::phrase),
            "answer": answer.filter(|answer| !answer.answer.is_empty()).map(|answer| &answer.answer),
            "reply": reply.map(|reply| reply.text.as_str()),
        })
    };
    seats.map(said).collect()
}

fn round(session: &Session, round: &RoundRun) -> Value {
    let citable = Citable::of_round(round);
    let mut report = json!({
        "id": round.opened.round,
        "number": round.opened.number,
        "question": round.opened.question,
        "exploration": background(round),
        "ballot": round.opened.ballot,
        "opened_at": round.opened_at.to_string(),
        "closed_at": round.closed_at.map(|at| at.to_string()),
        "close_reason": round.closed.as_ref().map(|closed| closed.reason),
        "snapshot_bytes": round.opened.snapshot_bytes,
        "what_if": what_if_all(session, round, &RuleOptions::default()).iter().map(WhatIf::json).collect::<Value>(),
        "snapshot_sha256": round.opened.snapshot_sha256,
        "seats": round_view::seats(session, round).map(|view| seat(session, &view, &citable)).collect::<Value>(),
        "tally": round_view::tally(round).map(tally),
        "cost": total(round.spent(&|model| session.price(model))),
    });
    let beside = [
        ("option_order", slots(session, round).map(|found| found.json())),
        ("movement", movement(session, round).map(|found| found.json())),
        ("independence", independence(session, round).map(|found| found.json())),
    ];
    for (key, value) in beside {
        report[key] = value.unwrap_or_default();
    }
    if !round.key_lost.is_empty() {
        report["key_lost"] = round.key_lost.as_slice().into();
    }
    report
}

fn seat(session: &Session, view: &SeatView<'_>, citable: &Citable) -> Value {
    let answer = view.answer();
    let (tries, tokens) = match view.standing {
        VisibleState::Failed(failed) => (Some(failed.tries), failed.tokens),
        _ => (answer.map(|answer| answer.record.tries), answer.and_then(|answer| answer.record.tokens)),
    };
    let mut seat = json!({
        "participant": view.name,
        "origin": view.origin,
        "model": view.model,
        "served": answer.and_then(|answer| answer.record.served.as_ref()),
        "outcome": view.outcome().map(Outcome::name),
        "reason": view.reason(),
        "tries": tries,
        "latency_ms": answer.map(|answer| answer.record.latency_ms),
        "tokens": tokens,
        "cost": view.spent.map(cost),
        "seed": view.info.and_then(|info| info.seed),
        "temperature": view.info.and_then(|info| info.temperature),
        "effort": view.info.and_then(|info| info.effort),
        "dropped": answer.map_or(&[][..], |answer| &answer.record.dropped),
        "weight": view.info.map(|info| info.weight),
        "answer": answer.filter(|answer| !answer.answer.is_empty()).map(|answer| &answer.answer),
        "ballot": answer.and_then(|answer| answer.ballot.as_ref()),
        "unresolved_references": answer.map(|answer| citable.unresolved(answer)).unwrap_or_default(),
        "flags": answer.map_or(&[][..], |answer| &answer.flags),
    });
    if let VisibleState::Unread(state) = view.standing {
        seat["state"] = state.into();
    }
    if let Some(wrapped) = view.info.and_then(|info| info.wrapped.as_ref()) {
        seat["wrapped"] = json!(wrapped);
    }
    if view.info.is_some_and(|info| info.without_tools) {
        seat["without_tools"] = true.into();
    }
    if let Some(found) = view.leaks {
        seat["leaks"] = leaks(session, found);
    }
    seat
}

/// Money; none where it is not known.
fn cost(spent: Cost) -> Value {
    let is_known = !spent.is_unknown || spent.dollars > 0.0;
    json!({
        "usd": is_known.then(|| rounded(spent.dollars)),
        "saved_usd": is_known.then(|| rounded(spent.saved)),
    })
}

/// Money and tokens of several, if any service told of tokens; whether that is all of it, or the least it cost.
fn total(spent: Cost) -> Value {
    if !spent.is_told() && !spent.is_unknown {
        return Value::Null;
    }
    let mut total = cost(spent);
    total["tokens"] = json!(spent.tokens);
    total["complete"] = (!spent.is_unknown).into();
    total
}

/// To a ten-thousandth of a cent.
fn rounded(dollars: f64) -> f64 {
    (dollars * 1e6).round() / 1e6
}

/// What an answer gives away, and what stands for it in what is handed on.
fn leaks(session: &Session, found: &[Leak]) -> Value {
    let entry = |leak: &Leak| json!({ "kind": leak.kind, "place": leak.place, "text": leak.text, "as": shown_mask(session, leak) });
    found.iter().map(entry).collect()
}

/// The count under its own names, with every key.
fn tally(tally: &Tally) -> Value {
    const UNSET: [&str; 10] = [
        "rule",
        "quorum_ballots",
        "tier",
        "tier_because",
        "act_at",
        "trace",
        "order_by",
        "placeholders",
        "rehearsal",
        "terms",
    ];
    let Ok(Value::Object(mut entries)) = serde_json::to_value(tally) else { return Value::Null };
    for key in UNSET {
        entries.entry(key).or_insert(Value::Null);
    }
    for key in ["step", "round", "same_answers"] {
        entries.shift_remove(key);
    }
    let own = [
        ("tier_because", json!(tally.tier_because.as_ref().map(Backing::to_string))),
        ("reason", json!(tally.verdict.why())),
        ("order", json!(tally.verdict.order)),
        ("placeholders", tally.placeholders.into()),
        ("rehearsal", tally.rehearsal.into()),
        ("terms", json!(tally.terms)),
    ];
    entries.extend(own.map(|(key, value)| (key.to_owned(), value)));
    entries.into()
}

fn artifact(artifact: &Artifact) -> Value {
    let mut entries = Map::new();
    entries.insert("id".to_owned(), artifact.id.as_str().into());
    entries.insert("summary".to_owned(), artifact.summary.as_str().into());
    for (key, value) in &artifact.details {
        entries.insert((*key).to_owned(), value.clone());
    }
    Value::Object(entries)
}

fn findings(session: &Session) -> Value {
    let of_round = |run: &RoundRun| {
        let found = grouped(session, run);
        let round = run.opened.round.clone();
        found.groups.into_iter().map(move |group| {
            let findings = group.findings.iter().map(|(seat, finding)| {
                let mut shown = json!({ "participant": seat });
                if let (Some(shown), Ok(Value::Object(parts))) = (shown.as_object_mut(), serde_json::to_value(finding)) {
                    shown.extend(parts);
                }
                shown
            });
            json!({
                "round": round, "file": group.file(), "lines": group.lines(), "severity": group.severity(),
                "title": group.title, "set_aside": group.set_aside,
                "not_in_evidence": group.not_in_evidence,
                "seats": group.seats(), "of": found.answered, "findings": findings.collect::<Value>(),
            })
        }).collect::<Vec<_>>()
    };
    session.rounds.iter().flat_map(of_round).collect()
}

fn approval(asked: &AnsweredQuestion) -> Value {
    let given = &asked.given;
    json!({
        "step": given.step, "message": asked.message, "choices": asked.choices, "approved": given.approved,
        "choice": given.choice, "edited": given.edited, "comment": given.comment, "by": given.by, "name": given.name,
        "at": asked.at.to_string(),
    })
}

/// A step's result under its own names; the event's `step` says the same as `stepId`.
fn step(session: &Session, result: &StepFinished) -> Value {
    let of_step = session.items.values().filter(|item| item.offered.step == result.step);
    let found: Vec<Value> = of_step
        .filter_map(|item| {
            let found = leaks(session, session.leaks_of(&item.offered.item)?);
            Some(json!({ "participant": item.offered.participant, "found": found }))
        })
        .collect();
    let mut result = serde_json::to_value(result).unwrap_or_default();
    if let Some(entries) = result.as_object_mut() {
        entries.shift_remove("step");
        if !found.is_empty() {
            entries.insert("leaks".to_owned(), found.into());
        }
    }
    result
}
