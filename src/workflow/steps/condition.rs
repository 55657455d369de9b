//! `condition`: chooses the next step by the context.

use crate::workflow::keys::spec::KeyType::Text;
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::lang::Condition;
use crate::workflow::load::entries::Entries;
use crate::workflow::load::entries::parsed;

pub static TYPE: StepType = StepType {
    name: "condition",
    what: "a condition step",
    about: "Chooses the next step by the results so far.",
    keys: &[
        key("condition", Text, REQUIRED, "The condition.", "\"context.tests.success === true\""),
        key("then", Text, "`next`", "The next step if it is true.", "release"),
        key("else", Text, "`next`", "The next step if it is false.", "fix"),
    ],
    shared: &[],
};

#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    pub condition: Condition,
    pub then: Option<String>,
    pub otherwise: Option<String>,
}

pub fn read(entries: Entries<'_>) -> Option<Branch> {
    let text = entries.text("condition").filter(|text| !text.trim().is_empty())?;
    let condition = parsed(entries, "condition", Condition::parse(&text))?;
    Some(Branch { condition, then: entries.text("then"), otherwise: entries.text("else") })
}
