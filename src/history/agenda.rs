//! Agenda: items with status, conflicts and open questions, folded from the events.
//!
//! It starts with the definition's entries. Snapshots, conditions, reports and the screen read it.
//! Artifacts belong to the definition; `artifact_recorded` changes them there.

use serde_json::{Map, Value, json};

use super::event::{Event, Point};
use crate::round::material::AgendaItem;
use crate::workflow::Definition;

pub const DONE: &str = "done";
pub const DROPPED: &str = "dropped";

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agenda {
    pub items: Vec<AgendaItem>,
    pub conflicts: Vec<Point>,
    pub questions: Vec<Point>,
}

impl Point {
    /// Creates a point from a definition's entry: a text, or a map with an optional id.
    fn from_definition(written: &Value) -> Self {
        let key = |key: &str| written.get(key).and_then(Value::as_str);
        let whole = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
        Self {
            id: key("id").unwrap_or(&whole).to_owned(),
            title: key("title").unwrap_or(&whole).to_owned(),
            description: key("description").map(str::to_owned),
            minimum_change: key("minimum_change").map(str::to_owned),
            round: key("round").map(str::to_owned),
            written: Some(written.clone()),
            ..Self::default()
        }
    }

    pub fn is_open(&self) -> bool {
        self.settled.is_none()
    }

    /// Returns the definition's entry as written, or builds one.
    pub fn to_json(&self) -> Value {
        if let Some(written) = &self.written {
            return written.clone();
        }
        let keys = [
            ("id", Some(&self.id)),
            ("title", Some(&self.title)),
            ("description", self.description.as_ref()),
            ("minimum_change", self.minimum_change.as_ref()),
            ("round", self.round.as_ref()),
        ];
        let keys = keys.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.as_str().into())));
        Value::Object(keys.collect::<Map<_, _>>())
    }
}

impl AgendaItem {
    /// Every status except `done`, `closed` and `dropped` is open.
    pub fn is_open(&self) -> bool {
        !matches!(self.status.as_str(), DONE | DROPPED | "closed")
    }
}

impl Agenda {
    pub(super) fn from_definition(definition: &Definition) -> Self {
        Self {
            items: definition.agenda.clone(),
            conflicts: definition.open_conflicts.iter().map(Point::from_definition).collect(),
            questions: definition.open_questions.iter().map(Point::from_definition).collect(),
        }
    }

    pub fn item(&self, id: &str) -> Option<&AgendaItem> {
        self.items.iter().find(|item| item.id == id)
    }

    pub fn open_conflicts(&self) -> impl Iterator<Item = &Point> {
        self.conflicts.iter().filter(|point| point.is_open())
    }

    pub fn open_questions(&self) -> impl Iterator<Item = &Point> {
        self.questions.iter().filter(|point| point.is_open())
    }

    /// Returns title and status of each item by id, and the number of `open` items.
    pub fn for_conditions(&self) -> Value {
        let item =
            |item: &AgendaItem| (item.id.clone(), json!({ "title": item.title, "status": item.status }));
        let mut seen: Map<String, Value> = self.items.iter().map(item).collect();
        seen.insert("open".to_owned(), self.items.iter().filter(|item| item.is_open()).count().into());
        Value::Object(seen)
    }

    pub fn next_conflict(&self) -> String {
        next_id("CONF", self.conflicts.iter().map(|point| point.id.as_str()))
    }

    pub fn next_question(&self) -> String {
        next_id("OQ", self.questions.iter().map(|point| point.id.as_str()))
    }

    /// Folds in one event; events that do not concern the agenda change nothing.
    pub fn apply(&mut self, event: &Event) {
        if let Event::AgendaUpdated(updated) = event {
            let known = self.items.iter_mut().find(|item| item.id == updated.id);
            if let Some(item) = known {
                item.title = updated.title.clone().unwrap_or_else(|| item.title.clone());
                if let Some(status) = &updated.status {
                    (item.status, item.reason) = (status.clone(), updated.reason.clone());
                }
            } else {
                self.items.push(AgendaItem {
                    id: updated.id.clone(),
                    title: updated.title.clone().unwrap_or_else(|| updated.id.clone()),
                    status: updated.status.clone().unwrap_or_else(|| "open".to_owned()),
                    reason: updated.reason.clone(),
                });
            }
        } else if let Event::ConflictOpened(opened) = event {
            put(&mut self.conflicts, opened);
        } else if let Event::ConflictResolved(resolved) = event {
            settle(&mut self.conflicts, &resolved.id, resolved.how.as_deref().unwrap_or_default());
        } else if let Event::QuestionOpened(opened) = event {
            put(&mut self.questions, opened);
        } else if let Event::QuestionAnswered { id, answer, .. } = event {
            settle(&mut self.questions, id, answer);
        }
    }
}

/// Returns the id after the highest number of a prefix, as in `CONF-001`.
pub fn next_id<'a>(prefix: &str, ids: impl Iterator<Item = &'a str>) -> String {
    let number = |id: &str| id.strip_prefix(prefix)?.strip_prefix('-')?.parse::<u64>().ok();
    let last = ids.filter_map(number).max().unwrap_or(0);
    format!("{prefix}-{:03}", last.saturating_add(1))
}

fn put(points: &mut Vec<Point>, point: &Point) {
    match points.iter_mut().find(|known| known.id == point.id) {
        Some(known) => known.clone_from(point),
        None => points.push(point.clone()),
    }
}

fn settle(points: &mut [Point], id: &str, how: &str) {
    if let Some(point) = points.iter_mut().find(|point| point.id == id) {
        point.settled = Some(how.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_id_is_the_next_free_number_of_its_prefix() {
        assert_eq!(next_id("OQ", [].into_iter()), "OQ-001");
        assert_eq!(next_id("OQ", ["OQ-2", "CONF-9", "OQ-x", "OQ-010"].into_iter()), "OQ-011");
    }
}
