//! The table of step types, and the keys of a step of each.

use super::record::RECORD;
use super::step::COMPLETENESS;
use super::{agent, approval, discussion, flow, review, round};
use crate::workflow::keys::spec::KeyType::{Duration, Map, Text, Texts, Whole, Words};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, StepType, key};
use crate::workflow::load::map_reader::as_text;
use crate::yaml::{Node, Value};

pub static TYPES: [&StepType; 11] = [
    &agent::TYPE,
    &round::TYPE,
    &flow::PARALLEL,
    &flow::SEQUENCE,
    &flow::EACH,
    &flow::USE,
    &flow::TRANSFORM,
    &flow::CONDITION,
    &approval::TYPE,
    &review::TYPE,
    &discussion::TYPE,
];

pub static STEP_KEYS: [KeySpec; 8] = [
    key("id", Text, REQUIRED, "The step's id, unique in the file.", "pick"),
    key("type", Words(type_names), "round, if there is a `question`", "The step's type.", "agent"),
    key("description", Text, "", "A line about the step.", "\"the release plan\""),
    key("label", Text, "", "The name of the stage.", "Planning"),
    key("next", Text, "the next, if no step names one", "The next step after a success.", "review"),
    key("on_error", Text, "`next`", "The next step after a failure.", "repair"),
    key("max_runs", Whole(1, u64::MAX), "no limit", "The most runs of the step.", "3"),
    key("on_exhausted", Text, "the facilitator is asked", "The next step after `max_runs`.", "escalate"),
];

pub static SHARED_KEYS: [KeySpec; 12] = [
    key("input", Text, "", "The step or key whose result is handed over in addition to the context.", "plan"),
    key("output", Text, "the step's id", "The key of the result in the context.", "files"),
    key("brief", Words(|| vec!["full", "none"]), "full", "Whether the brief precedes the prompt.", "none"),
    key("record", Map(&RECORD), "", "What it records from a result.", "{from: context.synth.artifacts}"),
    key("task", Text, "", "The task that the step works on.", "APP-15"),
    key("requires", Texts, "", "Paths that the input must contain.", "[issue.issue_id]"),
    key("completeness", COMPLETENESS, "the definition's", "How its work item is checked.", "strict"),
    key("max_retries", Whole(0, u64::MAX), "0", "The number of retries after a failure.", "2"),
    key("retry_delay", Duration, "none", "The time before each retry.", "1s"),
    key("timeout", Duration, "the configured one", "The limit of one attempt.", "5m"),
    key("facilitator_directive", Text, "", "A line for everyone who is asked in this step.", "\"Be brief.\""),
    key("min_success", Whole(0, u64::MAX), "all", "The number of nested steps that must succeed.", "2"),
];

pub fn type_names() -> Vec<&'static str> {
    TYPES.iter().map(|of| of.name).collect()
}

/// The type of a step; `None` if it is not known.
pub fn type_of(step: &Node) -> Option<&'static StepType> {
    if !matches!(step.value, Value::Map(_)) {
        return None;
    }
    let value = |key: &str| step.get(key).filter(|node| node.value != Value::Null);
    let name = match value("type") {
        Some(node) => as_text(node)?,
        None if value("question").is_some() => "round".to_owned(),
        None => return None,
    };
    TYPES.iter().find(|of| of.name == name).copied()
}

impl StepType {
    pub fn has_steps(&self) -> bool {
        self.keys.iter().any(|key| key.name == "steps")
    }

    pub fn has(&self, key: &str) -> bool {
        let own = STEP_KEYS.iter().chain(self.keys).any(|known| known.name == key);
        own || self.shared.contains(&key)
    }
}

/// The keys of a step of a type; of a step whose type is not known, those of all types.
pub fn step_keys(of: Option<&'static StepType>) -> Vec<&'static KeySpec> {
    let is_shared = |key: &&KeySpec| of.is_none_or(|of| of.shared.contains(&key.name));
    let shared = SHARED_KEYS.iter().filter(is_shared);
    let own = TYPES.iter().filter(|known| of.is_none_or(|of| of.name == known.name));
    STEP_KEYS.iter().chain(own.flat_map(|of| of.keys)).chain(shared).collect()
}
