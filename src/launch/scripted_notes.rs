//! Notes on rounds from the answers file: `synthesis: {pick: "summary of the round"}`.

use super::scripted_answers::{Answers, used_up};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::workflow::Definition;
use crate::yaml::{Node, Value};

/// The key of the notes on rounds.
const SYNTHESIS: &str = "synthesis";

impl Answers {
    /// Whether an entry is the notes on rounds.
    pub(super) fn holds_notes(&self, key: &str, definition: &Definition) -> bool {
        key == SYNTHESIS && self.notes(definition).is_some()
    }

    /// The notes on rounds, by step, where no step has that name.
    fn notes(&self, definition: &Definition) -> Option<&Node> {
        if definition.step(SYNTHESIS).is_some() { None } else { self.step(SYNTHESIS) }
    }

    /// The note on the round that was counted last and has none; its round and text. A list is used in
    /// turn, one for each round of the step.
    pub fn note(&self, session: &Session) -> Result<Option<(String, String)>, String> {
        let Some(round) = session.rounds.last().filter(|round| round.synthesis.is_none()) else {
            return Ok(None);
        };
        let step = &round.opened.step;
        let notes = session.definition.as_ref().and_then(|definition| self.notes(definition));
        let Some(Value::Map(notes)) = notes.map(|node| &node.value) else { return Ok(None) };
        let Some((_, node)) = notes.iter().find(|(key, _)| key.text == *step) else { return Ok(None) };
        let nth = session.rounds.iter().filter(|round| round.opened.step == *step).count() - 1;
        let written = match &node.value {
            Value::List(items) => Some(items.get(nth).ok_or_else(|| used_up(step))?),
            _ => Some(node),
        };
        let text = written.and_then(crate::workflow::as_text);
        Ok(text.map(|text| (round.opened.round.clone(), text)))
    }

    /// Adds a problem for every note that is no text, or is on no round.
    pub(super) fn check_notes(&self, definition: &Definition, problems: &mut Vec<Diagnostic>) {
        let Some(node) = self.notes(definition) else { return };
        let Value::Map(notes) = &node.value else {
            let message = format!("`{SYNTHESIS}` must be a map of rounds, found {}", node.kind());
            return problems
                .push(node.problem(&self.file, message).hint("write `pick: \"summary of the round\"`"));
        };
        let rounds = definition.all_steps().filter(|step| step.round().is_some());
        let rounds: Vec<&str> = rounds.map(|step| step.id.as_str()).collect();
        for (key, note) in notes {
            if !rounds.contains(&key.text.as_str()) {
                let message = format!("`{SYNTHESIS}` names no round: `{}`", key.text);
                problems.push(node.problem(&self.file, message).hint(did_you_mean(&key.text, &rounds)));
            }
            let items = match &note.value {
                Value::List(items) => items.as_slice(),
                _ => std::slice::from_ref(note),
            };
            for item in items.iter().filter(|item| crate::workflow::as_text(item).is_none()) {
                let message = format!("the synthesis of `{}` must be text, found {}", key.text, item.kind());
                problems.push(item.problem(&self.file, message).hint("write it in quotes"));
            }
        }
    }
}
