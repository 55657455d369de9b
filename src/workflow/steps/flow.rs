//! Steps that ask nobody: containers, transforms and conditions.
//!
//! The loader turns `use` into a sequence of the other definition's steps.

use crate::workflow::keys::spec::KeyType::{Steps, Text, Whole};
use crate::workflow::keys::spec::{KeySpec, REQUIRED, key};
use crate::workflow::lang::{Condition, Transform};
use crate::workflow::load::entries::{Entries, FromKey, keys};

pub const PARALLEL: &[KeySpec] = &[
    key("steps", REQUIRED, "The steps to run at once.", "[{id: a, question: \"Why?\"}]").with_type(Steps),
    key("min_success", "all", "The number of steps that must succeed.", "2").with_type(Whole(0, u64::MAX)),
];

pub const SEQUENCE: &[KeySpec] =
    &[key("steps", REQUIRED, "The steps to run in order.", "[{id: a, question: \"Why?\"}]").with_type(Steps)];

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Each {
        of: Transform =
            key("of", REQUIRED, "The list: a path to a result or into `input`.", "context.plan.files"),
        item: String as (Text) = key(
            "as",
            "item",
            "The key of the item in the context and in templates.",
            "file",
        ) => |entries: Entries<'_>| entries.text("as").unwrap_or_else(|| "item".to_owned()),
        concurrency: usize as (Whole(1, 1_000)) =
            key("concurrency", "1", "The number of items that run at the same time.", "4"),
    } also {
        key("steps", REQUIRED, "The steps for one item.", "[{id: a, type: agent, agent: coder}]").with_type(Steps),
    }
}

pub const USE: &[KeySpec] =
    &[key("definition", REQUIRED, "The file, relative to the one that uses it.", "panel.yaml")
        .with_type(Text)];

pub const TRANSFORM: &[KeySpec] =
    &[key("transform", REQUIRED, "A path.", "context.plan.files").with_type(Text)];

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Branch {
        condition: Condition =
            key("condition", REQUIRED, "The condition.", "\"context.tests.success === true\""),
        then: Option<String> = key("then", "`next`", "The next step if it is true.", "release"),
        otherwise: Option<String> = key("else", "`next`", "The next step if it is false.", "fix"),
    }
}

pub fn min_success(entries: Entries<'_>) -> Option<usize> {
    let (least, count) = (Option::<usize>::from_key(entries, &PARALLEL[1])?, entries.list("steps").len());
    if let Some(node) = entries.node("min_success").filter(|_| least > count) {
        let message = format!("`min_success` is {least}, and there are {count} steps");
        entries.refuse(node, message, "lower it, or add steps");
    }
    Some(least)
}
