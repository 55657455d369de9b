//! `approval`: asks the facilitator for a yes or no.

use crate::workflow::keys::spec::KeyType::{Either, Text, Texts, Words};
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::lang::Condition;
use crate::workflow::load::entries::{Entries, parsed};

pub static TYPE: StepType = StepType {
    name: "approval",
    what: "an approval step",
    about: "Asks the facilitator for a yes or no.",
    keys: &[
        key("message", Text, REQUIRED, "The question to the facilitator.", "\"Release it?\""),
        key("merges", Text, "", "The round of ideas or findings to merge into options.", "collect"),
        key("edits", Text, "", "The step with a `form` whose answer may be changed.", "note"),
        key(
            "adopts",
            Either(&[Words(|| vec!["none"]), Texts]),
            "what was counted since the approval before",
            "The round steps whose result a yes adopts.",
            "[vote]",
        ),
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
    pub merges: Option<String>,
    pub edits: Option<String>,
    /// The round steps whose results it adopts or rejects; what was counted since the last approval when
    /// absent.
    pub adopts: Option<Vec<String>>,
    /// When the facilitator is asked though there is a valid proposal; always when absent.
    pub ask_if: Option<Condition>,
    pub on_approve: Option<String>,
    /// Next step after a no; absent: the session ends as `rejected`.
    pub on_reject: Option<String>,
}

impl Approval {
    /// A yes adopts the result of a step's round; if absent, that of a session without one.
    pub fn adopts(&self, round: Option<&str>) -> bool {
        match (&self.adopts, round) {
            (Some(steps), round) => steps.iter().any(|step| Some(step.as_str()) == round),
            (None, _) => self.merges.is_none() && self.edits.is_none(),
        }
    }
}

pub fn read(entries: Entries<'_>) -> Approval {
    Approval {
        message: entries.text("message").unwrap_or_default(),
        merges: entries.text("merges"),
        edits: entries.text("edits"),
        adopts: match entries.text("adopts").as_deref() {
            Some("none") => Some(Vec::new()),
            _ => entries.has("adopts").then(|| entries.texts("adopts")),
        },
        ask_if: parsed(entries, "ask_if", Condition::parse),
        on_approve: entries.text("on_approve"),
        on_reject: entries.text("on_reject"),
    }
}
