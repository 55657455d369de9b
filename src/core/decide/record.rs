//! What a step's `record` puts on the agenda: one event for each entry, in the order of the result.
//!
//! A result of another form, an id that is taken or one that is not there fails the step, and nothing of
//! it is recorded.

use serde_json::{Map, Value};

use super::agenda;
use crate::core::command::AgendaChange;
use crate::history::{
    Agenda, ArtifactRecorded, Event, RECORDED_BY_STEP, Session, StepFinished, TimedEvent, check_artifact,
    next_id,
};
use crate::workflow::{Definition, Record, Recorded, Step};

/// The keys that an artifact of a result may have: none that names a file to be read.
const ARTIFACT_KEYS: [&str; 10] = [
    "id",
    "summary",
    "title",
    "description",
    "kind",
    "status",
    "priority",
    "content",
    "acceptance",
    "relevant",
];
/// The prefix of an artifact's id, where the result gives none.
const ARTIFACT: &str = "REQ";

/// The events of a step's `record` that are not on record yet; none if it has no `record`, or failed.
pub fn recorded(
    session: &Session,
    definition: &Definition,
    step: &Step,
    result: &StepFinished,
    leaks: &[Event],
) -> Result<Vec<Event>, String> {
    // Of a refused proposal nothing is recorded.
    let has_result = result.success && result.data["approved"] != false;
    let Some(record) = step.record.as_ref().filter(|_| has_result) else { return Ok(Vec::new()) };
    let found = record.from.apply(&context_with(session, result, leaks))?;
    let done = session.running(&step.id).map_or(0, |run| run.recorded);
    let mut table = Table {
        agenda: session.agenda.clone(),
        artifacts: definition.artifacts.iter().map(|artifact| artifact.id.clone()).collect(),
        definition,
        step: &step.id,
    };
    entries(record, &found)?
        .into_iter()
        .skip(done)
        .map(|(what, place, entry)| {
            table.event(what, entry).map_err(|why| format!("`{}`{place}: {why}", record.from.text()))
        })
        .collect()
}

/// The context with the step's own result, as later steps will see it: of the session only what that result
/// shows goes on.
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
    let finished = Event::StepFinished(std::sync::Arc::new(result.clone()));
    for event in leaks.iter().cloned().chain([finished]) {
        after.apply(&TimedEvent { at: result.end_time, event });
    }
    let mut context = session.context();
    context.extend(after.context());
    context
}

/// What a list holds, where an entry stands in it, and the entry.
type Entry<'a> = (Recorded, String, &'a Value);

fn entries<'a>(record: &Record, found: &'a Value) -> Result<Vec<Entry<'a>>, String> {
    let of_list = |what: Recorded, place: &str, list: &'a Value| {
        let list = list.as_array().ok_or_else(|| format!("`{}`{place} is no list", record.from.text()))?;
        Ok::<Vec<Entry<'a>>, String>(
            list.iter().enumerate().map(|(at, entry)| (what, format!("{place}[{at}]"), entry)).collect(),
        )
    };
    if let Some(what) = record.what {
        return of_list(what, "", found);
    }
    let mut all = Vec::new();
    for (word, what) in Recorded::WORDS {
        if let Some(list) = found.get(word).filter(|list| !list.is_null()) {
            all.extend(of_list(what, &format!(".{word}"), list)?);
        }
    }
    let words = Recorded::WORDS.map(|(word, _)| word);
    let is_map = found.as_object().is_some_and(|map| words.iter().any(|word| map.contains_key(*word)));
    if is_map { Ok(all) } else { Err(format!("`{}` has none of {}", record.from.text(), words.join(", "))) }
}

/// The agenda and the artifacts' ids as the events so far leave them.
struct Table<'a> {
    agenda: Agenda,
    artifacts: Vec<String>,
    definition: &'a Definition,
    step: &'a str,
}

impl Table<'_> {
    fn event(&mut self, what: Recorded, entry: &Value) -> Result<Event, String> {
        if what == Recorded::Artifacts {
            return self.artifact(entry);
        }
        let change = change_of(what.word(), entry)?;
        let by = RECORDED_BY_STEP.to_owned();
        let event = agenda::change(&self.agenda, change, by, Some(self.step.to_owned()))?;
        self.agenda.apply(&event);
        Ok(event)
    }

    fn artifact(&mut self, entry: &Value) -> Result<Event, String> {
        let titled = titled(entry);
        let map = titled.as_object().ok_or("an artifact is a map or a text")?;
        if let Some(key) = map.keys().find(|key| !ARTIFACT_KEYS.contains(&key.as_str())) {
            return Err(format!("an artifact of a result has no `{key}`"));
        }
        let own = map.get("id").and_then(Value::as_str);
        let id =
            own.map_or_else(|| next_id(ARTIFACT, self.artifacts.iter().map(String::as_str)), str::to_owned);
        if self.artifacts.contains(&id) || self.definition.participants.iter().any(|seat| seat.name == id) {
            return Err(format!("the id `{id}` is taken"));
        }
        let mut artifact = Map::from_iter([("id".to_owned(), id.as_str().into())]);
        artifact.extend(
            map.iter().filter(|(key, _)| *key != "id").map(|(key, value)| (key.clone(), value.clone())),
        );
        check_artifact(&artifact).map_err(|problem| problem.message)?;
        self.artifacts.push(id);
        let (by, record_of) = (RECORDED_BY_STEP.to_owned(), Some(self.step.to_owned()));
        Ok(Event::ArtifactRecorded(ArtifactRecorded {
            artifact,
            by,
            record_of,
            ..ArtifactRecorded::default()
        }))
    }
}

/// The changes of a map of lists, as an answers file has them.
pub fn agenda_changes(found: &Value) -> Result<Vec<AgendaChange>, String> {
    let map = found.as_object().ok_or("not a map of lists")?;
    let is_known = |key: &str| Recorded::WORDS.iter().any(|(word, _)| *word == key && *word != "artifacts");
    if let Some(key) = map.keys().find(|key| !is_known(key)) {
        return Err(format!("no `{key}`: write conflicts, resolved, questions, answered or agenda"));
    }
    let mut changes = Vec::new();
    for (word, _) in Recorded::WORDS {
        let Some(list) = map.get(word) else { continue };
        let list = list.as_array().ok_or_else(|| format!("`{word}` is no list"))?;
        for (at, entry) in list.iter().enumerate() {
            changes.push(change_of(word, entry).map_err(|why| format!("{word}[{at}]: {why}"))?);
        }
    }
    Ok(changes)
}

/// The change that an entry of the list `word` stands for.
fn change_of(word: &str, entry: &Value) -> Result<AgendaChange, String> {
    let entry = if matches!(word, "conflicts" | "questions") { titled(entry) } else { entry.clone() };
    serde_json::from_value(serde_json::json!({ word: entry })).map_err(|error| error.to_string())
}

fn titled(entry: &Value) -> Value {
    if entry.is_string() { serde_json::json!({ "title": entry }) } else { entry.clone() }
}
