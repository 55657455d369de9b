//! Steps that ask nobody: they run others, take a value out of the results, or choose the next step.
//!
//! `use` becomes a sequence of the steps of another definition when the file is loaded.

use crate::workflow::keys::spec::KeyType::{Steps, Text, Whole};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, key};
use crate::workflow::lang::{Condition, Transform};
use crate::workflow::load::entries::{Entries, keys};

pub const PARALLEL: &[KeySpec] = &[
    key("steps", Steps, REQUIRED, "The steps to run at once.", "[{id: a, question: \"Why?\"}]"),
    key("min_success", Whole(0, u64::MAX), "all", "The number of steps that must succeed.", "2"),
];

pub const SEQUENCE: &[KeySpec] =
    &[key("steps", Steps, REQUIRED, "The steps to run in order.", "[{id: a, question: \"Why?\"}]")];

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

pub const USE: &[KeySpec] =
    &[key("definition", Text, REQUIRED, "The file, relative to the one that uses it.", "panel.yaml")];

pub const TRANSFORM: &[KeySpec] = &[key("transform", Text, REQUIRED, "A path.", "context.plan.files")];

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Branch {
        condition: Condition =
            key("condition", Text, REQUIRED, "The condition.", "\"context.tests.success === true\""),
        then: Option<String> = key("then", Text, "`next`", "The next step if it is true.", "release"),
        otherwise: Option<String> = key("else", Text, "`next`", "The next step if it is false.", "fix"),
    }
}

pub fn min_success(entries: Entries<'_>) -> Option<usize> {
    let (least, count) = (entries.count("min_success")? as usize, entries.list("steps").len());
    if let Some(node) = entries.node("min_success").filter(|_| least > count) {
        let message = format!("`min_success` is {least}, and there are {count} steps");
        entries.refuse(node, message, "lower it, or add steps");
    }
    Some(least)
}
