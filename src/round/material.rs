//! What a facilitator puts on the table: artifacts, agenda, the rounds before.

use serde_json::Value;

/// One numbered piece of material.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Its number, such as `REQ-001`.
    pub id: String,
    /// One line; its title unless given.
    pub summary: String,
    /// What else is known of it, in the order it is shown; shown when `relevant`.
    pub details: Vec<(&'static str, Value)>,
    /// Whether the snapshot carries the details.
    pub relevant: bool,
}

impl Artifact {
    /// All of it, as a definition writes it.
    pub fn to_json(&self) -> Value {
        let mut all = serde_json::Map::new();
        all.insert("id".to_owned(), self.id.as_str().into());
        all.insert("summary".to_owned(), self.summary.as_str().into());
        all.extend(self.details.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        Value::Object(all)
    }
}

/// One line of the agenda.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgendaItem {
    pub id: String,
    pub title: String,
    /// `open`, `closed` or the facilitator's own word.
    pub status: String,
}

/// A closed round, as later rounds are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundSummary {
    /// Its number in the session, from 1.
    pub round: u32,
    /// What was asked.
    pub question: String,
    /// The facilitator's note on it, if there is one.
    pub synthesis: Option<String>,
    /// What its rule found, in a line, if there is one.
    pub outcome: Option<String>,
}

/// Everything a snapshot may hold; what is empty is left out of it.
#[derive(Debug, Clone, Default)]
pub struct SnapshotContent<'a> {
    /// The project in a few lines.
    pub project_summary: Option<&'a str>,
    /// What the session is for.
    pub goal: Option<&'a str>,
    /// What any outcome must respect.
    pub constraints: &'a [String],
    /// The round's number in the session, from 1.
    pub current_round: u32,
    /// What is asked.
    pub question: &'a str,
    /// Background to the question.
    pub exploration: Option<&'a str>,
    /// The form of an answer; left out for an open question.
    pub ballot: Option<&'a crate::ballot::BallotForm>,
    /// What is to be discussed.
    pub agenda: &'a [AgendaItem],
    /// The material of this round; the one key that stays when empty, as `[]`.
    pub artifacts: Vec<&'a Artifact>,
    /// Disagreements still open.
    pub open_conflicts: &'a [Value],
    /// Questions still open.
    pub open_questions: &'a [Value],
    /// The closed rounds before.
    pub recent_rounds: &'a [RoundSummary],
    /// Results of earlier steps, by their key.
    pub context: Option<&'a serde_json::Map<String, Value>>,
    /// Exact JSON on linked tasks.
    pub linked_tasks: Option<&'a str>,
}
