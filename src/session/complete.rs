//! The completeness of a hand-over: the facilitator's words against what is handed over.
//!
//! Of a template only what the facilitator wrote counts, and the ids that stand in its places: never
//! an answer or an artifact.

use serde_json::{Map, Value};

use super::hand_over::as_json;
use super::state::Session;
use crate::workflow::{
    Completeness, Definition, Named, Round, Step, StepKind, Template, lack, looks_like_id,
};

impl Session {
    /// Why a round's hand-over is incomplete, if it is and that matters.
    pub fn round_lack(&self, definition: &Definition, step: &Step, round: &Round) -> Option<String> {
        if step.completeness == Completeness::Off {
            return None;
        }
        let context = self.context();
        let mut known = known(definition, &context);
        // An artifact of the round is in its snapshot, with its summary at least.
        known.retain(|thing| {
            !definition.artifacts.iter().any(|a| a.id == thing.id && round.artifacts.holds(&a.id))
        });
        let sent = format!("{}\n{}", round.exploration.as_deref().unwrap_or_default(), as_json(&context));
        let directive = step.facilitator_directive.as_ref().or(definition.facilitator_directive.as_ref());
        let held = |text: &str| format!("{text}\n{}\n{sent}", round.question);
        let texts = [Some(&round.question), round.exploration.as_ref(), directive];
        texts.into_iter().flatten().find_map(|text| lack(text, &held(text), &known))
    }

    /// Why an agent's hand-over is incomplete; `sent` is all that it is handed.
    pub(super) fn agent_lack(
        &self,
        definition: &Definition,
        step: &Step,
        template: Option<(&Template, &Value)>,
        input: &Map<String, Value>,
        sent: &str,
    ) -> Option<String> {
        let is_tracker = match &step.kind {
            StepKind::Agent(agent) => {
                self.seat_info(&agent.agent).is_some_and(|seat| seat.model == super::TRACKER)
            }
            _ => false,
        };
        if step.completeness == Completeness::Off || is_tracker {
            return None;
        }
        let known = known(definition, input);
        let said = template.map(|(template, scope)| own_words(template.text(), scope));
        let directive = step.facilitator_directive.as_ref().or(definition.facilitator_directive.as_ref());
        said.iter().chain(directive).find_map(|text| lack(text, sent, &known))
    }
}

/// Everything with an id that the definition or the results know, and what it says.
fn known(definition: &Definition, input: &Map<String, Value>) -> Vec<Named> {
    let tasks = definition.tasks.iter().map(|task| (&task.id, task.description.clone()));
    let artifacts = definition.artifacts.iter().map(|artifact| {
        let description = artifact.details.iter().find(|(key, _)| *key == "description");
        let text = description.and_then(|(_, value)| value.as_str()).unwrap_or(&artifact.summary);
        (&artifact.id, text.to_owned())
    });
    let mut known: Vec<Named> = tasks
        .chain(artifacts)
        .map(|(id, content)| Named { id: id.clone(), content: Some(content) })
        .collect();
    input.values().for_each(|value| gather(value, &mut known));
    known
}

/// Things in a value that have an id and a description.
fn gather(value: &Value, known: &mut Vec<Named>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| gather(item, known)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            if let (Some(id), Some(content)) = (text("issue_id").or_else(|| text("id")), text("description"))
                && looks_like_id(id)
            {
                known.push(Named { id: id.to_owned(), content: Some(content.to_owned()) });
            }
            map.values().for_each(|value| gather(value, known));
        }
        _ => {}
    }
}

/// A template with its places left blank, but for the ids that stand in them.
fn own_words(template: &str, scope: &Value) -> String {
    let mut words = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        words.push_str(before);
        let (tag, behind) = after.split_once("}}").unwrap_or((after, ""));
        rest = behind.strip_prefix('}').unwrap_or(behind);
        let value = Template::parse(&format!("{{{{{}}}}}", tag.trim_matches(['{', '~', ' '])))
            .ok()
            .and_then(|tag| tag.render(scope).ok())
            .unwrap_or_default();
        words.push_str(if looks_like_id(value.trim()) { value.trim() } else { "…" });
    }
    words.push_str(rest);
    words
}
