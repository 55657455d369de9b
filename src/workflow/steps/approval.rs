//! `approval` step: asks the facilitator for a yes or no.

use crate::workflow::keys::spec::KeyType::{Either, Texts, Words};
use crate::workflow::keys::spec::{REQUIRED, key};
use crate::workflow::lang::Condition;
use crate::workflow::load::entries::{Entries, as_text, keys, texts};
use crate::yaml::Node;

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Approval {
        message: String = key("message", REQUIRED, "The question to the facilitator.", "\"Release it?\""),
        merges: Option<String> =
            key("merges", "", "The round of ideas or findings to merge into options.", "collect"),
        edits: Option<String> =
            key("edits", "", "The step with a `form` whose answer may be changed.", "note"),
        adopts: Option<Vec<String>> as (Either(&[Words(|| vec!["none"]), Texts])) = key(
            "adopts",
            "what was counted since the approval before",
            "The round steps whose result a yes adopts.",
            "[vote]",
        ) => |entries: Entries<'_>| entries.node("adopts").map(adopted),
        /// Condition for asking the facilitator about a valid proposal; if absent, always.
        ask_if: Option<Condition> =
            key("ask_if", "always", "The condition on which it is asked.", "\"rounds > 3\""),
        on_approve: Option<String> = key("on_approve", "`next`", "The next step after a yes.", "release"),
        on_reject: Option<String> =
            key("on_reject", "the session ends as rejected", "The next step after a no.", "fix"),
    }
}

fn adopted(node: &Node) -> Vec<String> {
    if as_text(node).is_some_and(|word| word == "none") { Vec::new() } else { texts(node) }
}

impl Approval {
    /// Returns whether a yes adopts the result of this round step; `None` asks for a session without
    /// rounds.
    pub fn adopts(&self, round: Option<&str>) -> bool {
        match (&self.adopts, round) {
            (Some(steps), round) => steps.iter().any(|step| Some(step.as_str()) == round),
            (None, _) => self.merges.is_none() && self.edits.is_none(),
        }
    }
}
