//! Changes of the agenda from the answers file, after a round of a step: `agenda: {pick: {questions: ["…"]}}`.

use super::scripted_answers::Answers;
use crate::core::{AgendaChange, agenda_changes};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::workflow::Definition;
use crate::yaml::{Node, Value};

const AGENDA: &str = "agenda";

impl Answers {
    /// Whether an entry is the changes of the agenda.
    pub(super) fn holds_agenda(&self, key: &str, definition: &Definition) -> bool {
        key == AGENDA && self.agenda(definition).is_some()
    }

    /// The changes by step, where no step has that name.
    fn agenda(&self, definition: &Definition) -> Option<&Node> {
        if definition.step(AGENDA).is_some() { None } else { self.step(AGENDA) }
    }

    /// The next change after the round that was counted last; a list serves in turn, one map for each round
    /// of the step.
    pub fn agenda_change(&self, session: &Session) -> Result<Option<AgendaChange>, String> {
        let node = session.definition.as_ref().and_then(|definition| self.agenda(definition));
        let (Some(Value::Map(steps)), Some(round)) = (node.map(|node| &node.value), session.rounds.last())
        else {
            return Ok(None);
        };
        let step = &round.opened.step;
        let Some((_, node)) = steps.iter().find(|(key, _)| key.text == *step) else { return Ok(None) };
        let nth = session.rounds.iter().filter(|round| round.opened.step == *step).count() - 1;
        let Some(map) = maps(node).get(if maps(node).len() > 1 { nth } else { 0 }) else { return Ok(None) };
        Ok(agenda_changes(&map.to_json())?.into_iter().nth(round.scripted_changes))
    }

    /// Adds a problem for every change that is none, or is after no round.
    pub(super) fn check_agenda(&self, definition: &Definition, problems: &mut Vec<Diagnostic>) {
        let Some(node) = self.agenda(definition) else { return };
        let hint = "write `agenda: {pick: {questions: [\"…\"], resolved: [{id: CONF-001, how: \"…\"}]}}`";
        let Value::Map(steps) = &node.value else {
            let message = format!("`{AGENDA}` must be a map of rounds, found {}", node.kind());
            return problems.push(node.problem(&self.file, message).hint(hint));
        };
        let rounds = definition.all_steps().filter(|step| step.round().is_some());
        let rounds: Vec<&str> = rounds.map(|step| step.id.as_str()).collect();
        for (key, node) in steps {
            if !rounds.contains(&key.text.as_str()) {
                let message = format!("`{AGENDA}` names no round: `{}`", key.text);
                problems.push(node.problem(&self.file, message).hint(did_you_mean(&key.text, &rounds)));
            }
            for map in maps(node) {
                if let Err(why) = agenda_changes(&map.to_json()) {
                    let message = format!("`{AGENDA}` of `{}`: {why}", key.text);
                    problems.push(map.problem(&self.file, message).hint(hint));
                }
            }
        }
    }
}

fn maps(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
