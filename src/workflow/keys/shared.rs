//! Keys that the definition and steps share.

use super::spec::KeyType::{Either, List, Text, Whole, Words};
use super::spec::{KeySpec, MapSpec, key, map, words};
use crate::workflow::recall::RecalledAnswers;

pub const PROMPT: KeySpec =
    key("prompt", Text, "the input as JSON", "The prompt, a Handlebars template.", "\"Plan {{input}}.\"");

/// The key `context` of the definition and of rounds.
pub static RECALL: MapSpec = map(
    "context",
    "`context`",
    &[
        key("answers", words!(RecalledAnswers), "full", "What is shown of the last answers.", "positions"),
        key("rounds", Whole(0, u64::MAX), "5", "The number of closed rounds that are shown.", "3"),
        key(
            "results",
            Either(&[Words(|| vec!["all", "none"]), List(&Text)]),
            "all",
            "The other steps whose results are shown.",
            "[plan]",
        ),
    ],
);
