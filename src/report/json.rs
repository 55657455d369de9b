//! The report as JSON: stable keys for scripts, each of them always there.
//!
//! What is not known, not given or still sealed is `null`; a seat without an outcome says where it
//! stands in `state`, a round whose key was lost names the seats in `key_lost`. Text is raw; print it
//! through [`super::terminal_safe_json`].

use serde_json::{Map, Value, json};

use super::model::{Reason, Report, Source};
use super::{Decision, decision, outcome};
use crate::ballot::Ballot;
use crate::core::{Cost, artifact_view};
use crate::history::{AnsweredQuestion, Point, RoundRun, Session, StepFinished, Tally};
use crate::identity::Leak;
use crate::insight::findings::grouped;
use crate::insight::references::Citable;
use crate::insight::{
    SeatView, VisibleState, agreement, independence, movement, round_view, shown_mask, slots,
};
use crate::round::answer::Outcome;
use crate::round::material::{AgendaItem, Artifact};
use crate::tally::{Backing, Rule};

pub fn json(session: &Session) -> Value {
    let source = Source::default();
    let shown = Report::new(session, &source);
    let artifacts = session.definition.iter().flat_map(|definition| &definition.artifacts);
    let made = session.made_in_order().map(|made| artifact_view(session, made));
    let mut report = json!({
        "session": session.id,
        "status": status(session),
        "outcome": outcome(session),
        "rehearsal": session.is_rehearsal(),
        "verdict": verdict(&shown),
        "task": task(&shown),
        "options": options(&shown),
        "missing": shown.missing(),
        "decision": decision(session).filter(Decision::is_made).map(|made| decided(&made)),
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

/// What the session came to, in the words of every format, with the facts beside it.
fn verdict(report: &Report<'_>) -> Value {
    let made = &report.made;
    let mut verdict = json!({
        "headline": made.name, "sentence": made.sentence, "label": made.label, "decided": report.is_decided(),
        "round": report.run.map(|run| run.opened.round.as_str()),
    });
    for fact in report.facts() {
        verdict[fact.name.to_lowercase()] = json!({ "value": fact.value, "note": fact.note });
    }
    verdict
}

/// What was asked: the task as the reports show it.
fn task(report: &Report<'_>) -> Value {
    let definition = report.session.definition.as_deref();
    json!({
        "title": report.title(),
        "goal": definition.and_then(|definition| definition.goal.as_deref()),
        "project_summary": definition.and_then(|definition| definition.project_summary.as_deref()),
        "constraints": report.constraints(),
    })
}

/// The options of the deciding round with the merged reasons for and against each.
fn options(report: &Report<'_>) -> Value {
    let reasons = |reasons: &[Reason]| {
        let said = reasons.iter().map(|reason| {
            json!({
                "text": reason.text, "participants": reason.seats, "models": reason.models, "rounds": reason.rounds,
                "left": reason.left,
            })
        });
        said.collect::<Value>()
    };
    let options = report.options().into_iter().map(|option| {
        json!({
            "name": option.place.map(|_| option.name.clone()),
            "letter": option.place.map(|_| option.letter.clone()),
            "description": option.description,
            "result": option.result,
            "votes": option.votes,
            "chosen": option.is_chosen,
            "for": reasons(&option.reasons.pro),
            "against": reasons(&option.reasons.con),
        })
    });
    options.collect()
}

pub(super) fn status(session: &Session) -> &'static str {
    match &session.closed {
        Some(closed) => closed.status.name(),
        None if session.paused.is_some() => "paused",
        None => "open",
    }
}

fn decided(made: &Decision<'_>) -> Value {
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
        "snapshot_sha256": round.opened.snapshot_sha256,
        "seats": round_view::seats(session, round).map(|view| seat(session, &view, &citable)).collect::<Value>(),
        "tally": round_view::tally(round).map(tally),
        "cost": total(round.spent(&|model| session.price(model))),
    });
    let beside = [
        ("agreement", agreement(session, round).map(|found| found.json())),
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

fn tally(tally: &Tally) -> Value {
    json!({
        "rule": tally.rule.map(Rule::name),
        "quorum_met": tally.quorum_met,
        "decided": tally.decided,
        "rehearsal": tally.rehearsal,
        "placeholders": tally.placeholders,
        "winners": tally.verdict.winners,
        "tier": tally.tier,
        "tier_because": tally.tier_because.as_ref().map(Backing::to_string),
        "act_at": tally.act_at,
        "tie": tally.verdict.tie,
        "order": tally.verdict.order,
        "order_by": tally.verdict.order_by,
        "reason": tally.verdict.why(),
        "quorum": tally.quorum,
        "quorum_ballots": tally.quorum_ballots,
        "asked": tally.asked,
        "sealed": tally.sealed,
        "answered": tally.answered,
        "abstained": tally.abstained,
        "invalid": tally.invalid,
        "refused": tally.refused,
        "failed": tally.failed,
        "missing": tally.missing,
        "excused": tally.excused,
        "scores": tally.verdict.scores,
        "steps": tally.verdict.steps,
        "terms": tally.terms,
        "trace": tally.verdict.trace,
    })
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
                "seats": group.seats(), "of": found.answered, "findings": findings.collect::<Value>(),
            })
        }).collect::<Vec<_>>()
    };
    session.rounds.iter().flat_map(of_round).collect()
}

fn approval(approved: &AnsweredQuestion) -> Value {
    json!({
        "step": approved.given.step,
        "message": approved.message,
        "choices": approved.choices,
        "approved": approved.given.approved,
        "choice": approved.given.choice,
        "edited": approved.given.edited,
        "comment": approved.given.comment,
        "by": approved.given.by,
        "name": approved.given.name,
        "at": approved.at.to_string(),
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
