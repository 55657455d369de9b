//! `discussion` step, which the loader replaces by the rounds of its strategy.

use crate::workflow::keys::spec::KeyType::{Either, Text, Whole, Words};
use crate::workflow::keys::spec::{REQUIRED, key};
use crate::workflow::load::entries::keys;
use crate::workflow::strategy::strategy_names;

keys! {
    /// Keys of a discussion that rounds do not have.
    pub struct DiscussionKeys {
        topic: String =
            key("topic", REQUIRED, "The question that is discussed.", "\"How do we cache prices?\""),
        strategy: Option<String> as (Either(&[Words(strategy_names), Text])) = key(
            "strategy",
            "blind",
            "The rounds that it is led through; also one of the project's own in `.s2s/strategies`.",
            "delphi",
        ),
        facilitator: Option<String> = key(
            "facilitator",
            "human",
            "Who leads: a person, or a model that writes questions, notes and merges.",
            "anthropic/claude-sonnet-5",
        ),
        is_approved: bool as (Words(|| vec!["all", "none"])) =
            key("approve", "none", "Which proposals of the model a person sees first.", "all"),
        max_rounds: Option<u64> as (Whole(1, u64::MAX)) =
            key("max_rounds", "those of the strategy", "The most rounds.", "6"),
    }
}
