//! Agenda changes by the facilitator, by consent blocks and by `record`.
//!
//! A `record` produces one event per entry, in the order of each list. A result of the wrong form, a
//! duplicate id or an unknown id fails the step, and nothing is recorded.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::ballot::{Ballot, BallotKind, Stance};
use crate::core::command::AgendaChange;
use crate::history::{
    Agenda, AgendaUpdated, AnswerRevealed, ArtifactRecorded, ConflictResolved, Event, Point,
    RECORDED_BY_STEP, RoundOpened, RoundRun, Session, StepFinished, TimedEvent, check_artifact, next_id,
};
use crate::workflow::{Definition, Recorded, Step};

/// Author (`by`) of conflicts that a tally opens or resolves.
pub const TALLY: &str = "tally";

pub fn event_for(
    agenda: &Agenda,
    change: AgendaChange,
    by: String,
    step: Option<String>,
) -> Result<Event, String> {
    Ok(match change {
        AgendaChange::Item { id, title, status, reason } => {
            check_item(agenda, &id, title.as_deref(), status.as_deref())?;
            Event::AgendaUpdated(AgendaUpdated { id, title, status, reason, step, by })
        }
        AgendaChange::OpenConflict { title, description, minimum_change } => {
            check_text("the title of a conflict", &title)?;
            let id = agenda.next_conflict();
            let opened = Point { id, title, description, minimum_change, step, by, ..Default::default() };
            Event::ConflictOpened(opened)
        }
        AgendaChange::ResolveConflict { id, how } => {
            check_open("conflict", "resolved", &agenda.conflicts, &id)?;
            check_text(&format!("how `{id}` is resolved"), &how)?;
            Event::ConflictResolved(ConflictResolved { id, how: Some(how), step, round: None, by })
        }
        AgendaChange::OpenQuestion { title, description } => {
            check_text("the title of a question", &title)?;
            let id = agenda.next_question();
            let opened = Point { id, title, description, step, by, ..Default::default() };
            Event::QuestionOpened(opened)
        }
        AgendaChange::AnswerQuestion { id, answer } => {
            check_open("question", "answered", &agenda.questions, &id)?;
            check_text(&format!("the answer to `{id}`"), &answer)?;
            Event::QuestionAnswered { id, answer, step, by }
        }
    })
}

fn check_item(agenda: &Agenda, id: &str, title: Option<&str>, status: Option<&str>) -> Result<(), String> {
    match agenda.item(id) {
        _ if id.trim().is_empty() => Err("an agenda item needs an id".to_owned()),
        None if title.is_none() => Err(format!("no agenda item `{id}`: a new one needs a title")),
        Some(_) if title.is_none() && status.is_none() => {
            Err(format!("nothing changes of agenda item `{id}`: give it a title or a status"))
        }
        Some(_) | None => {
            title.map_or(Ok(()), |title| check_text("the title of an agenda item", title))?;
            status.map_or(Ok(()), |status| check_text("the status of an agenda item", status))
        }
    }
}

fn check_text(what: &str, text: &str) -> Result<(), String> {
    if text.trim().is_empty() { Err(format!("{what} is empty")) } else { Ok(()) }
}

fn check_open(noun: &str, settled: &str, points: &[Point], id: &str) -> Result<(), String> {
    match points.iter().find(|point| point.id == id) {
        None => Err(format!("no {noun} `{id}`")),
        Some(point) if !point.is_open() => Err(format!("{noun} `{id}` is already {settled}")),
        Some(_) => Ok(()),
    }
}

/// Returns the conflict events of a counted consent round. Each block opens a conflict, or updates the open
/// one of its seat. A round without blocks that meets its quorum resolves the conflicts of its step.
pub fn conflicts_of(session: &Session, run: &RoundRun, quorum_met: bool) -> Vec<Event> {
    let opened = &run.opened;
    if opened.ballot.kind != BallotKind::Consent {
        return Vec::new();
    }
    let mut agenda = session.agenda.clone();
    let is_of_step =
        |point: &&Point| point.participant.is_some() && point.step.as_ref() == Some(&opened.step);
    let blocks: Vec<Point> = run.answers().filter_map(|answer| block(opened, answer)).collect();
    let mut events = Vec::new();
    if blocks.is_empty() && quorum_met {
        events.extend(agenda.open_conflicts().filter(is_of_step).map(|conflict| {
            Event::ConflictResolved(ConflictResolved {
                id: conflict.id.clone(),
                how: None,
                step: Some(opened.step.clone()),
                round: Some(opened.round.clone()),
                by: TALLY.to_owned(),
            })
        }));
    }
    for mut block in blocks {
        let is_theirs = |point: &&Point| is_of_step(point) && point.participant == block.participant;
        let before = agenda.open_conflicts().find(is_theirs);
        block.id = before.map_or_else(|| agenda.next_conflict(), |before| before.id.clone());
        let event = Event::ConflictOpened(block);
        agenda.apply(&event);
        events.push(event);
    }
    events
}

/// Longest excerpt of a question in a conflict's title, in characters.
const LONGEST_QUESTION: usize = 190;

/// Returns the conflict of a block, or of an unreadable reply that may be one. It has no id yet.
fn block(opened: &RoundOpened, answer: &AnswerRevealed) -> Option<Point> {
    let line = opened.question.lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST_QUESTION).collect();
    let cut = if short.len() < opened.question.len() { "…" } else { "" };
    let mut block = Point {
        title: format!("Blocked: {short}{cut}"),
        step: Some(opened.step.clone()),
        round: Some(opened.round.clone()),
        participant: Some(answer.participant.clone()),
        by: TALLY.to_owned(),
        ..Point::default()
    };
    if let Some(Ballot::Consent(Stance::Block, change)) = &answer.ballot {
        block.description = answer.answer.get("position").and_then(|text| text.as_str()).map(str::to_owned);
        block.minimum_change.clone_from(change);
    } else if !answer.may_block {
        return None;
    }
    Some(block)
}

/// Keys allowed for an artifact in a result; none makes the program read a file.
const ARTIFACT_KEYS: &str = "id summary title description kind status priority content acceptance relevant";
/// Id prefix of artifacts whose result sets no id.
const ARTIFACT: &str = "REQ";

/// Returns the events of a step's `record`; empty without a `record` or after a failure.
pub fn recorded(
    session: &Session,
    step: &Step,
    result: &StepFinished,
    leaks: &[Event],
) -> Result<Vec<Event>, String> {
    // A refused proposal records nothing.
    let has_result = result.success && result.data["approved"] != false;
    let Some(record) = step.record.as_ref().filter(|_| has_result) else { return Ok(Vec::new()) };
    let found = record.from.apply(&context_with(session, result, leaks))?;
    let definition = session.definition();
    let mut draft = AgendaDraft {
        agenda: session.agenda.clone(),
        artifacts: definition.artifacts.iter().map(|artifact| artifact.id.clone()).collect(),
        definition,
        step: &step.id,
    };
    let (path, what, words) = (record.from.text(), record.recorded(), Recorded::WORDS);
    if what.is_none() && words.iter().all(|(word, _)| found.get(word).is_none()) {
        return Err(format!("`{path}` has none of {}", words.map(|(word, _)| word).join(", ")));
    }
    let named = words.into_iter().filter(|_| what.is_none());
    let named = named.filter_map(|(word, list)| Some((list, format!(".{word}"), found.get(word)?)));
    let whole = what.map(|list| (list, String::new(), &found));
    let mut events = Vec::new();
    for (list, place, found) in whole.into_iter().chain(named.filter(|(_, _, found)| !found.is_null())) {
        let entries = found.as_array().ok_or_else(|| format!("`{path}`{place} is no list"))?;
        for (at, entry) in entries.iter().enumerate() {
            events.push(draft.event(list, entry).map_err(|why| format!("`{path}`{place}[{at}]: {why}"))?);
        }
    }
    Ok(events)
}

/// Returns the context as later steps will see it, with this step's result. Only the needed parts of the
/// session are copied; a full copy would get slower with every step.
fn context_with(session: &Session, result: &StepFinished, leaks: &[Event]) -> Map<String, Value> {
    let items = session.step.iter().flat_map(|run| &run.items);
    let items = items.filter_map(|id| Some((id.clone(), session.items.get(id)?.clone())));
    let mut after = Session {
        header: session.header.clone(),
        roster: session.roster.clone(),
        definition: session.definition.clone(),
        step: session.step.clone(),
        items: items.collect(),
        leaks: session.leaks.clone(),
        rounds: session.last_round_of(&result.step).cloned().into_iter().collect(),
        chosen: session.chosen.clone(),
        ..Session::default()
    };
    let finished = Event::StepFinished(Arc::new(result.clone()));
    for event in leaks.iter().cloned().chain([finished]) {
        after.apply(&TimedEvent { at: result.end_time, event });
    }
    let mut context = session.context();
    context.extend(after.context());
    context
}

/// Agenda and artifact ids after the events collected so far.
struct AgendaDraft<'a> {
    agenda: Agenda,
    artifacts: Vec<String>,
    definition: &'a Definition,
    step: &'a str,
}

impl AgendaDraft<'_> {
    fn event(&mut self, what: Recorded, entry: &Value) -> Result<Event, String> {
        if what == Recorded::Artifacts {
            return self.artifact(entry);
        }
        let change = change_of(what.word(), entry)?;
        let by = RECORDED_BY_STEP.to_owned();
        let event = event_for(&self.agenda, change, by, Some(self.step.to_owned()))?;
        self.agenda.apply(&event);
        Ok(event)
    }

    fn artifact(&mut self, entry: &Value) -> Result<Event, String> {
        let titled = titled(entry);
        let map = titled.as_object().ok_or("an artifact is a map or a text")?;
        if let Some(key) = map.keys().find(|key| !ARTIFACT_KEYS.split(' ').any(|known| known == *key)) {
            return Err(format!("an artifact of a result has no `{key}`"));
        }
        let id = match map.get("id").and_then(Value::as_str) {
            Some(id) => id.to_owned(),
            None => next_id(ARTIFACT, self.artifacts.iter().map(String::as_str)),
        };
        if self.artifacts.contains(&id) || self.definition.participants.iter().any(|seat| seat.name == id) {
            return Err(format!("the id `{id}` is taken"));
        }
        let mut artifact = Map::from_iter([("id".to_owned(), id.as_str().into())]);
        artifact.extend(map.clone().into_iter().filter(|(key, _)| key != "id"));
        check_artifact(&artifact).map_err(|problem| problem.message)?;
        self.artifacts.push(id);
        let (by, record_of) = (RECORDED_BY_STEP.to_owned(), Some(self.step.to_owned()));
        Ok(Event::ArtifactRecorded(ArtifactRecorded { artifact, by, record_of, ..Default::default() }))
    }
}

/// Converts an entry of the list `word` to an agenda change.
fn change_of(word: &str, entry: &Value) -> Result<AgendaChange, String> {
    let entry = if matches!(word, "conflicts" | "questions") { titled(entry) } else { entry.clone() };
    serde_json::from_value(json!({ word: entry })).map_err(|error| error.to_string())
}

fn titled(entry: &Value) -> Value {
    if entry.is_string() { json!({ "title": entry }) } else { entry.clone() }
}
