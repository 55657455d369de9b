//! Steps that ask nobody: they run others, take a value out of the results, or choose the next step.
//!
//! `use` becomes a sequence of the steps of another definition when the file is loaded.

use crate::workflow::keys::spec::KeyType::{Steps, Text, Whole};
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::lang::{Condition, Transform};
use crate::workflow::load::entries::{Entries, keys};

pub static PARALLEL: StepType = StepType {
    name: "parallel",
    what: "a parallel step",
    about: "Runs its steps at once; none sees another's result.",
    keys: &[
        key("steps", Steps, REQUIRED, "The steps to run at once.", "[{id: a, question: \"Why?\"}]"),
        key("min_success", Whole(0, u64::MAX), "all", "The number of steps that must succeed.", "2"),
    ],
    shared: &["output"],
};

pub static SEQUENCE: StepType = StepType {
    name: "sequence",
    what: "a sequence step",
    about: "Runs its steps in order. Each sees the results before it; the last result is the sequence's.",
    keys: &[key("steps", Steps, REQUIRED, "The steps to run in order.", "[{id: a, question: \"Why?\"}]")],
    shared: &["input", "output", "record"],
};

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Each {
        of: Transform =
            key("of", Text, REQUIRED, "The list: a path to a result or into `input`.", "context.plan.files"),
        item: String =
            key("as", Text, "item", "The key of the item in the context and in templates.", "file")
            => |entries: Entries<'_>| entries.text("as").unwrap_or_else(|| "item".to_owned()),
        concurrency: usize =
            key("concurrency", Whole(1, 1_000), "1", "The number of items that run at the same time.", "4"),
    } also {
        key("steps", Steps, REQUIRED, "The steps for one item.", "[{id: a, type: agent, agent: coder}]"),
    }
}

pub static EACH: StepType = StepType {
    name: "each",
    what: "an each step",
    about: "Runs its steps in order, once for each item of a list; no item's steps see another's results.",
    keys: Each::KEYS,
    shared: &["output"],
};

pub static USE: StepType = StepType {
    name: "use",
    what: "a use step",
    about: "Runs the steps of another definition in order; the last result is the step's.",
    keys: &[key("definition", Text, REQUIRED, "The file, relative to the one that uses it.", "panel.yaml")],
    shared: &["input", "output", "record"],
};

pub static TRANSFORM: StepType = StepType {
    name: "transform",
    what: "a transform step",
    about: "Takes a value out of the results so far.",
    keys: &[key("transform", Text, REQUIRED, "A path.", "context.plan.files")],
    shared: &["output", "record"],
};

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Branch {
        condition: Condition =
            key("condition", Text, REQUIRED, "The condition.", "\"context.tests.success === true\""),
        then: Option<String> = key("then", Text, "`next`", "The next step if it is true.", "release"),
        otherwise: Option<String> = key("else", Text, "`next`", "The next step if it is false.", "fix"),
    }
}

pub static CONDITION: StepType = StepType {
    name: "condition",
    what: "a condition step",
    about: "Chooses the next step by the results so far.",
    keys: Branch::KEYS,
    shared: &[],
};

pub fn min_success(entries: Entries<'_>) -> Option<usize> {
    let (least, count) = (entries.count("min_success")? as usize, entries.list("steps").len());
    if let Some(node) = entries.node("min_success").filter(|_| least > count) {
        let message = format!("`min_success` is {least}, and there are {count} steps");
        entries.refuse(node, message, "lower it, or add steps");
    }
    Some(least)
}
