//! Steps of a model that facilitates a discussion.
//!
//! The model proposes; an approval accepts the proposal or shows it to a person.

use serde_json::{Value as Json, json};

use crate::workflow::steps::discussion::DiscussionKeys;
use crate::yaml::Node;

pub struct Lead {
    name: String,
    model: String,
    /// Condition for asking a person about a valid proposal; if absent, a person is always asked.
    ask_if: Option<String>,
}

impl Lead {
    /// Reads the facilitating model from a discussion's keys; `None` if a person facilitates.
    pub fn read(step: &Node, keys: DiscussionKeys) -> Option<Self> {
        let model = keys.facilitator.filter(|model| model != "human")?;
        let ask_if = (!keys.is_approved).then(|| "false".to_owned());
        Some(Self { name: format!("{}-facilitator", step.text("id")), model, ask_if })
    }

    /// Returns the model as a participant without a seat in rounds.
    pub fn participant(&self) -> Json {
        json!({ "name": self.name, "model": self.model, "persona": "facilitator", "agent_only": true })
    }

    fn agent(&self, id: &str, form: &str, about: &str, topic: &str, ok: &str) -> Json {
        let mut agent = json!({
            "id": id, "type": "agent", "agent": self.name, "form": form, "prompt": topic,
            "next": ok, "on_error": ok,
        });
        if !about.is_empty() {
            agent["synthesis_of"] = about.into();
        }
        agent
    }

    /// Returns the approval of the proposal of step `edits`.
    fn approval(&self, id: &str, edits: &str, message: &str, on_approve: &str) -> Json {
        let mut approval = json!({
            "id": id, "type": "approval", "edits": edits, "output": edits, "message": message,
            "on_approve": on_approve, "on_reject": edits,
        });
        if let Some(ask_if) = &self.ask_if {
            approval["ask_if"] = ask_if.as_str().into();
        }
        approval
    }

    pub fn open(&self, id: &str, topic: &str, then: &str) -> Vec<Json> {
        let ok = format!("{id}-ok");
        let mut agent = self.agent(id, "open", "", topic, &ok);
        (agent["max_runs"], agent["on_exhausted"]) = (2.into(), then.into());
        vec![agent, self.approval(&ok, id, "The facilitator proposes this question.", then)]
    }

    /// Returns the steps for the note on a round that runs at most `runs` times. It may lead to the `end`.
    pub fn note(&self, round: &str, topic: &str, then: &str, end: &str, runs: u64) -> Vec<Json> {
        let [id, ok, leave] = ["note", "note-ok", "leave"].map(|part| format!("{round}-{part}"));
        let mut agent = self.agent(&id, "synthesize", round, topic, &ok);
        (agent["max_runs"], agent["on_exhausted"]) = ((2 * runs).into(), then.into());
        let mut approval = self.approval(&ok, &id, "The facilitator proposes this note.", &leave);
        approval["record"] = json!({ "from": format!("context[\"{id}\"]") });
        vec![agent, approval, leaves(&leave, &id, end, then)]
    }

    pub fn merge(&self, round: &str, topic: &str, then: &str, end: &str) -> Vec<Json> {
        let [id, merge, leave] = ["note", "merge", "leave"].map(|part| format!("{round}-{part}"));
        let mut agent = self.agent(&id, "synthesize", round, topic, &merge);
        (agent["max_runs"], agent["on_exhausted"]) = (2.into(), merge.as_str().into());
        let message = format!(
            "The facilitator merges the ideas into these options{{{{#if context.[{id}].leave}}}} and leaves \
             the strategy: {{{{context.[{id}].leave}}}}{{{{else}}}}.{{{{/if}}}}"
        );
        let mut approval = self.approval(&merge, &id, &message, &leave);
        (approval["merges"], approval["output"]) = (round.into(), merge.as_str().into());
        approval["record"] = json!({ "from": format!("context[\"{merge}\"]") });
        vec![agent, approval, leaves(&leave, &id, end, then)]
    }

    /// Returns the steps that end the discussion or repeat its last round, at most `runs` times.
    pub fn conclude(&self, id: &str, topic: &str, again: &str, then: &str, runs: u64) -> Vec<Json> {
        let (ok, repeat) = (format!("{id}-ok"), format!("{id}-repeat"));
        let action = format!("context[\"{id}\"].action");
        let mut agent = self.agent(id, "conclude", again, topic, &ok);
        (agent["max_runs"], agent["on_exhausted"]) = ((2 * runs).into(), then.into());
        let mut approval = self.approval(&ok, id, "The facilitator proposes this end.", &repeat);
        if let Some(ask_if) = &self.ask_if {
            approval["ask_if"] = format!("{ask_if} || {action} === 'ask_person'").into();
        }
        let repeat = json!({
            "id": repeat, "type": "condition", "condition": format!("{action} === 'repeat'"),
            "then": again, "else": then,
        });
        vec![agent, approval, repeat]
    }
}

/// Returns the step that skips to the `end` of the discussion if the note with this key says so.
fn leaves(id: &str, note: &str, end: &str, then: &str) -> Json {
    json!({
        "id": id, "type": "condition", "condition": format!("context[\"{note}\"].leave !== undefined"),
        "then": end, "else": then,
    })
}

/// Returns a template: the step's value under a key, else `text`.
pub fn template_of(step: &str, key: &str, text: &str) -> String {
    let path = format!("context.[{step}].{key}");
    format!("{{{{#if {path}}}}}{{{{{path}}}}}{{{{else}}}}{text}{{{{/if}}}}")
}
