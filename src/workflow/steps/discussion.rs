//! `discussion`: leads a topic through the rounds of a strategy. Loading a definition puts these rounds
//! in its place.

use crate::workflow::keys::spec::KeyType::{Either, Map, Text, Whole, Words};
use crate::workflow::keys::spec::{KeySpec, MapSpec, REQUIRED, key, map};
use crate::workflow::strategy::strategy_names;

/// Its own keys; it has many of a round, too.
pub const KEYS: &[KeySpec] = &[
    key("topic", Text, REQUIRED, "The question that is discussed.", "\"How do we cache prices?\""),
    key(
        "strategy",
        Either(&[Words(strategy_names), Text]),
        "blind",
        "The rounds that it is led through; also one of the project's own in `.s2s/strategies`.",
        "delphi",
    ),
    key(
        "facilitator",
        Either(&[Text, Map(&FACILITATOR)]),
        "human",
        "Who leads: a person, or a model that writes questions, notes and merges.",
        "anthropic/claude-sonnet-5",
    ),
    key(
        "approve",
        Either(&[Words(|| vec!["all", "none"]), Whole(1, u64::MAX)]),
        "none",
        "Which proposals of the model a person sees first: all, none, or those after so many rounds.",
        "all",
    ),
    key("max_rounds", Whole(1, u64::MAX), "those of the strategy", "The most rounds.", "6"),
];

const FACILITATOR: MapSpec = map(
    "facilitator",
    "`facilitator`",
    &[
        key("model", Text, REQUIRED, "The model.", "anthropic/claude-sonnet-5"),
        key("persona", Text, "facilitator", "Its persona.", "facilitator"),
    ],
);
