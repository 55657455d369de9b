//! `discussion`: leads a topic through the rounds of a strategy. Loading a definition puts these rounds
//! in its place.

use super::round;
use crate::workflow::keys::spec::KeyType::{Text, Words};
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::strategy::strategy_names;

pub static TYPE: StepType = StepType {
    name: "discussion",
    what: "a discussion step",
    about: "Leads a topic through the rounds of a strategy; STRATEGIES.md describes them.",
    keys: &[
        key("topic", Text, REQUIRED, "The question that is discussed.", "\"How do we cache prices?\""),
        key("strategy", Words(strategy_names), "blind", "The rounds that it is led through.", "delphi"),
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
        round::ON_UNDECIDED,
        round::PARTICIPANTS,
        round::ARTIFACTS,
    ],
    shared: &[],
    rules: Vec::new,
};
