//! `approval`: asks the facilitator for a yes or no.

use crate::workflow::keys::spec::KeyType::{Either, Text, Texts, Words};
use crate::workflow::keys::spec::{REQUIRED, key};
use crate::workflow::lang::Condition;
use crate::workflow::load::entries::{Entries, keys};

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Approval {
        message: String =
            key("message", Text, REQUIRED, "The question to the facilitator.", "\"Release it?\""),
        merges: Option<String> =
            key("merges", Text, "", "The round of ideas or findings to merge into options.", "collect"),
        edits: Option<String> =
            key("edits", Text, "", "The step with a `form` whose answer may be changed.", "note"),
        adopts: Option<Vec<String>> = key(
            "adopts",
            Either(&[Words(|| vec!["none"]), Texts]),
            "what was counted since the approval before",
            "The round steps whose result a yes adopts.",
            "[vote]",
        ) => adopts,
        /// When the facilitator is asked though there is a valid proposal; always when absent.
        ask_if: Option<Condition> =
            key("ask_if", Text, "always", "The condition on which it is asked.", "\"rounds > 3\""),
        on_approve: Option<String> =
            key("on_approve", Text, "`next`", "The next step after a yes.", "release"),
        on_reject: Option<String> =
            key("on_reject", Text, "the session ends as rejected", "The next step after a no.", "fix"),
    }
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

fn adopts(entries: Entries<'_>) -> Option<Vec<String>> {
    match entries.text("adopts").as_deref() {
        Some("none") => Some(Vec::new()),
        _ => entries.has("adopts").then(|| entries.texts("adopts")),
    }
}
