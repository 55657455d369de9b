//! `discussion`: leads a topic through the rounds of a strategy. Loading a definition puts these rounds
//! in its place.

use super::round;
use crate::workflow::keys::spec::KeyType::{Either, Map, Text, Whole, Words};
use crate::workflow::keys::spec::{MapSpec, REQUIRED, StepType, key, map};
use crate::workflow::strategy::strategy_names;

pub static TYPE: StepType = StepType {
    name: "discussion",
    what: "a discussion step",
    about: "Leads a topic through the rounds of a strategy; TALLIES.md describes them.",
    keys: &[
        key("topic", Text, REQUIRED, "The question that is discussed.", "\"How do we cache prices?\""),
        key(
            "strategy",
            Either(&[Words(strategy_names), Text]),
            "blind",
            "The rounds that it is led through; also one of the project's own in `.s2s/strategies`.",
            "delphi",
        ),
        round::EXPLORATION,
        round::BALLOT,
        round::RULE,
        round::TIES,
        round::QUORUM,
        round::QUORUM_BALLOTS,
        round::ACT_AT,
        round::CLOSE,
        round::DEADLINE,
        round::ON_FAILED,
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
        round::ON_UNDECIDED,
        round::PARTICIPANTS,
        round::ARTIFACTS,
    ],
    shared: &["on_exhausted"],
};

const FACILITATOR: MapSpec = map(
    "facilitator",
    "`facilitator`",
    &[
        key("model", Text, REQUIRED, "The model.", "anthropic/claude-sonnet-5"),
        key("persona", Text, "facilitator", "Its persona.", "facilitator"),
    ],
);
