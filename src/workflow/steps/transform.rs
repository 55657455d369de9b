//! `transform`: takes a value out of the context.

use crate::workflow::keys::spec::KeyType::Text;
use crate::workflow::keys::spec::{REQUIRED, StepType, key};
use crate::workflow::lang::Transform;
use crate::workflow::load::entries::Entries;
use crate::workflow::load::entries::parsed;

pub static TYPE: StepType = StepType {
    name: "transform",
    what: "a transform step",
    about: "Takes a value out of the results so far.",
    keys: &[key("transform", Text, REQUIRED, "A path.", "context.plan.files")],
    shared: &["output", "record"],
};

pub fn read(entries: Entries<'_>) -> Option<Transform> {
    let text = entries.text("transform").filter(|text| !text.trim().is_empty())?;
    parsed(entries, "transform", Transform::parse(&text))
}
