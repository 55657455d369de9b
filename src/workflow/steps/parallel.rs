//! `parallel`: runs its steps at once.

use super::step::{Parallel, Step};
use crate::workflow::keys::rules;
use crate::workflow::keys::spec::KeyType::Steps;
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::load::entries::Entries;
use crate::yaml::Value;

pub static TYPE: StepType = StepType {
    name: "parallel",
    what: "a parallel step",
    about: "Runs its steps at once; none sees another's result.",
    keys: &[key("steps", Steps, REQUIRED, "The steps to run at once.", "[{id: a, question: \"Why?\"}]")],
    shared: &["output", "min_success"],
    rules: rules::nested,
};

pub fn read(entries: Entries<'_>, steps: Vec<Step>) -> Parallel {
    if let Some(node) = entries.node("steps").filter(|node| node.value == Value::List(Vec::new())) {
        entries.refuse(node, "a parallel step has no `steps`", "add the steps to run at once");
    }
    let min_success = entries.count("min_success").map(|count| count as usize);
    if let (Some(node), Some(count)) = (entries.node("min_success"), min_success)
        && count > steps.len()
    {
        let message = format!("`min_success` is {count}, and there are {} steps", steps.len());
        entries.refuse(node, message, "lower it, or add steps");
    }
    Parallel { steps, min_success }
}
