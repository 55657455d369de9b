//! `sequence`: runs its steps in order.

use super::step::{Sequence, Step};
use crate::workflow::keys::rules;
use crate::workflow::keys::spec::KeyType::Steps;
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::load::entries::Entries;
use crate::yaml::Value;

pub static TYPE: StepType = StepType {
    name: "sequence",
    what: "a sequence step",
    about: "Runs its steps in order. Each sees the results before it; the last result is the sequence's.",
    keys: &[key("steps", Steps, REQUIRED, "The steps to run in order.", "[{id: a, question: \"Why?\"}]")],
    shared: &["input", "output", "record"],
    rules: rules::nested,
};

pub fn read(entries: Entries<'_>, steps: Vec<Step>) -> Sequence {
    if let Some(node) = entries.node("steps").filter(|node| node.value == Value::List(Vec::new())) {
        entries.refuse(node, "a sequence step has no `steps`", "add the steps to run in order");
    }
    Sequence { steps, item: None }
}
