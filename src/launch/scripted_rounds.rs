//! What the answers file says after rounds, by step: notes, as in `synthesis: {pick: "summary of the round"}`,
//! and changes of the agenda, as in `agenda: {pick: {questions: ["…"]}}`.

use super::scripted_answers::{Answers, used_up};
use super::scripted_entry::{AGENDA, SYNTHESIS, as_map, find, is_after_rounds, items};
use crate::core::{AgendaChange, agenda_changes};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{RoundRun, Session};
use crate::workflow::{Definition, as_text};
use crate::yaml::{Node, Value};

impl Answers {
    fn after_rounds(&self, key: &str, definition: &Definition) -> Option<&Node> {
        self.step(key).filter(|_| is_after_rounds(key, definition))
    }

    /// What the entry `key` says of the round that was counted last, and how many rounds its step had before.
    fn after_last<'a>(&'a self, key: &str, session: &'a Session) -> Option<(&'a RoundRun, &'a Node, usize)> {
        let node = self.after_rounds(key, session.definition.as_ref()?)?;
        let round = session.rounds.last()?;
        let step = &round.opened.step;
        let earlier = session.rounds.iter().filter(|round| round.opened.step == *step).count() - 1;
        Some((round, find(as_map(node)?, step)?, earlier))
    }

    /// The note on the round that was counted last and has none; its round and text. A list is used in
    /// turn, one for each round of the step.
    ///
    /// # Errors
    /// When the notes on the step are used up.
    pub fn note(&self, session: &Session) -> Result<Option<(String, String)>, String> {
        let Some((round, node, earlier)) = self.after_last(SYNTHESIS, session) else { return Ok(None) };
        if round.synthesis.is_some() {
            return Ok(None);
        }
        let written = match &node.value {
            Value::List(items) => items.get(earlier).ok_or_else(|| used_up(&round.opened.step))?,
            _ => node,
        };
        Ok(as_text(written).map(|text| (round.opened.round.clone(), text)))
    }

    /// The next change after the round that was counted last; a list serves in turn, one map for each round
    /// of the step.
    pub fn agenda_change(&self, session: &Session) -> Result<Option<AgendaChange>, String> {
        let Some((round, node, earlier)) = self.after_last(AGENDA, session) else { return Ok(None) };
        let maps = items(node);
        let Some(map) = maps.get(if maps.len() > 1 { earlier } else { 0 }) else { return Ok(None) };
        Ok(agenda_changes(&map.to_json())?.into_iter().nth(round.scripted_changes))
    }

    /// Adds a problem for everything that is no note or change, or is after no round.
    pub(super) fn check_after_rounds(&self, definition: &Definition, problems: &mut Vec<Diagnostic>) {
        self.check_entry(SYNTHESIS, NOTE_HINT, definition, problems, |step, item| {
            let message = format!("the synthesis of `{step}` must be text, found {}", item.kind());
            let problem = item.problem(&self.file, message).hint("write it in quotes");
            if as_text(item).is_none() { Some(problem) } else { None }
        });
        self.check_entry(AGENDA, AGENDA_HINT, definition, problems, |step, item| {
            let why = agenda_changes(&item.to_json()).err()?;
            Some(item.problem(&self.file, format!("`{AGENDA}` of `{step}`: {why}")).hint(AGENDA_HINT))
        });
    }

    fn check_entry(
        &self,
        name: &str,
        hint: &str,
        definition: &Definition,
        problems: &mut Vec<Diagnostic>,
        check: impl Fn(&str, &Node) -> Option<Diagnostic>,
    ) {
        let Some(node) = self.after_rounds(name, definition) else { return };
        let Some(steps) = as_map(node) else {
            let message = format!("`{name}` must be a map of rounds, found {}", node.kind());
            return problems.push(node.problem(&self.file, message).hint(hint));
        };
        let rounds = definition.all_steps().filter(|step| step.round().is_some());
        let rounds: Vec<&str> = rounds.map(|step| step.id.as_str()).collect();
        for (key, said) in steps {
            if !rounds.contains(&key.text.as_str()) {
                let message = format!("`{name}` names no round: `{}`", key.text);
                problems.push(node.problem(&self.file, message).hint(did_you_mean(&key.text, &rounds)));
            }
            problems.extend(items(said).iter().filter_map(|item| check(&key.text, item)));
        }
    }
}

const NOTE_HINT: &str = "write `pick: \"summary of the round\"`";
const AGENDA_HINT: &str =
    "write `agenda: {pick: {questions: [\"…\"], resolved: [{id: CONF-001, how: \"…\"}]}}`";
