//! The steps of a model that leads a discussion: it proposes, and an approval takes the proposal or puts
//! it to a person.

use serde_json::{Value as Json, json};

use crate::workflow::steps::discussion::DiscussionKeys;
use crate::yaml::Node;

pub struct Lead {
    name: String,
    model: String,
    /// When a person is asked though a proposal is valid; always when absent.
    ask_if: Option<String>,
}

impl Lead {
    /// The model that leads, by the keys of a discussion; `None` if a person does.
    pub fn read(step: &Node, keys: DiscussionKeys) -> Option<Self> {
        let model = keys.facilitator.filter(|model| model != "human")?;
        let ask_if = (!keys.is_approved).then(|| "false".to_owned());
        Some(Self { name: format!("{}-facilitator", step.text("id")), model, ask_if })
    }

    /// It as a participant that sits in no round.
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

    /// The approval of what the step `edits` proposes.
    fn approval(&self, id: &str, edits: &str, message: &str, on_approve: &str) -> Json {
        let mut approval = json!({
            "id": id, "type": "approval", "edits": edits, "message": message,
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
        let mut approval = self.approval(&ok, id, "The facilitator proposes this question.", then);
        approval["output"] = id.into();
        vec![agent, approval]
    }

    /// The note on a round, and what follows from it; the round may be held `runs` times.
    pub fn note(&self, round: &str, topic: &str, then: &str, runs: u64) -> Vec<Json> {
        let (id, ok) = (format!("{round}-note"), format!("{round}-note-ok"));
        let mut agent = self.agent(&id, "synthesize", round, topic, &ok);
        (agent["max_runs"], agent["on_exhausted"]) = ((2 * runs).into(), then.into());
        let mut approval = self.approval(&ok, &id, "The facilitator proposes this note.", then);
        approval["output"] = id.as_str().into();
        approval["record"] = json!({ "from": format!("context[\"{id}\"]") });
        vec![agent, approval]
    }

    pub fn merge(&self, round: &str, topic: &str, then: &str) -> Vec<Json> {
        let (id, merge) = (format!("{round}-note"), format!("{round}-merge"));
        let mut agent = self.agent(&id, "synthesize", round, topic, &merge);
        (agent["max_runs"], agent["on_exhausted"]) = (2.into(), merge.as_str().into());
        let message = "The facilitator merges the ideas into these options.";
        let mut approval = self.approval(&merge, &id, message, then);
        approval["merges"] = round.into();
        approval["record"] = json!({ "from": format!("context[\"{merge}\"]") });
        vec![agent, approval]
    }

    /// Ends the discussion, or holds its last round once more, `runs` times at most.
    pub fn conclude(&self, id: &str, topic: &str, again: &str, then: &str, runs: u64) -> Vec<Json> {
        let (ok, repeat) = (format!("{id}-ok"), format!("{id}-repeat"));
        let action = format!("context[\"{id}\"].action");
        let mut agent = self.agent(id, "conclude", again, topic, &ok);
        (agent["max_runs"], agent["on_exhausted"]) = ((2 * runs).into(), then.into());
        let mut approval = self.approval(&ok, id, "The facilitator proposes this end.", &repeat);
        approval["output"] = id.into();
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

/// A template: what a step made under a key, else `text`.
pub fn made_by(step: &str, key: &str, text: &str) -> String {
    let path = format!("context.[{step}].{key}");
    format!("{{{{#if {path}}}}}{{{{{path}}}}}{{{{else}}}}{text}{{{{/if}}}}")
}
