//! Steps that run several: `parallel` at once, `sequence` in order, and `use`, which becomes a sequence of the
//! steps of another definition when the file is loaded.

use super::step::{Parallel, Sequence, Step};
use crate::workflow::keys::spec::KeyType::{Steps, Text};
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::load::entries::Entries;
use crate::yaml::Value;

pub static PARALLEL: StepType = StepType {
    name: "parallel",
    what: "a parallel step",
    about: "Runs its steps at once; none sees another's result.",
    keys: &[key("steps", Steps, REQUIRED, "The steps to run at once.", "[{id: a, question: \"Why?\"}]")],
    shared: &["output", "min_success"],
};

pub fn parallel(entries: Entries<'_>, steps: Vec<Step>) -> Parallel {
    refuse_none(entries, "parallel", "at once");
    let min_success = entries.count("min_success").map(|count| count as usize);
    if let (Some(node), Some(count)) = (entries.node("min_success"), min_success)
        && count > steps.len()
    {
        let message = format!("`min_success` is {count}, and there are {} steps", steps.len());
        entries.refuse(node, message, "lower it, or add steps");
    }
    Parallel { steps, min_success }
}

pub static SEQUENCE: StepType = StepType {
    name: "sequence",
    what: "a sequence step",
    about: "Runs its steps in order. Each sees the results before it; the last result is the sequence's.",
    keys: &[key("steps", Steps, REQUIRED, "The steps to run in order.", "[{id: a, question: \"Why?\"}]")],
    shared: &["input", "output", "record"],
};

pub fn sequence(entries: Entries<'_>, steps: Vec<Step>) -> Sequence {
    refuse_none(entries, "sequence", "in order");
    Sequence { steps, item: None }
}

pub static USE: StepType = StepType {
    name: "use",
    what: "a use step",
    about: "Runs the steps of another definition in order; the last result is the step's.",
    keys: &[key("definition", Text, REQUIRED, "The file, relative to the one that uses it.", "panel.yaml")],
    shared: &["input", "output", "record"],
};

fn refuse_none(entries: Entries<'_>, name: &str, how: &str) {
    if let Some(node) = entries.node("steps").filter(|node| node.value == Value::List(Vec::new())) {
        entries.refuse(node, format!("a {name} step has no `steps`"), format!("add the steps to run {how}"));
    }
}
