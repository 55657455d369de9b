//! `approval`: asks the facilitator for a yes or no.

use crate::workflow::keys::spec::KeyType::Text;
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::lang::Condition;
use crate::workflow::load::entries::Entries;
use crate::workflow::load::entries::parsed;

pub static TYPE: StepType = StepType {
    name: "approval",
    what: "an approval step",
    about: "Asks the facilitator for a yes or no.",
    keys: &[
        key("message", Text, REQUIRED, "The question to the facilitator.", "\"Release it?\""),
        key("merges", Text, "", "The round of ideas or findings to merge into options.", "collect"),
        key("edits", Text, "", "The step with a `form` whose answer may be changed.", "note"),
        key("ask_if", Text, "always", "The condition on which it is asked.", "\"rounds > 3\""),
        key("on_approve", Text, "`next`", "The next step after a yes.", "release"),
        key("on_reject", Text, "the session ends as rejected", "The next step after a no.", "fix"),
    ],
    shared: &["output", "record"],
};

/// A yes or no from the facilitator.
#[derive(Debug, Clone, PartialEq)]
pub struct Approval {
    pub message: String,
    /// The step of the round whose ideas are merged into options.
    pub merges: Option<String>,
    /// The agent step whose answer is the proposal.
    pub edits: Option<String>,
    /// When the facilitator is asked though there is a valid proposal; always when absent.
    pub ask_if: Option<Condition>,
    pub on_approve: Option<String>,
    /// Where no leads; the end, as `rejected`, when absent.
    pub on_reject: Option<String>,
}

pub fn read(entries: Entries<'_>) -> Approval {
    Approval {
        message: entries.text("message").unwrap_or_default(),
        merges: entries.text("merges"),
        edits: entries.text("edits"),
        ask_if: entries.text("ask_if").and_then(|text| parsed(entries, "ask_if", Condition::parse(&text))),
        on_approve: entries.text("on_approve"),
        on_reject: entries.text("on_reject"),
    }
}
