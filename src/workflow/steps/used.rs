//! `use`: runs the steps of another definition. Loading a definition puts these steps in its place.

use crate::workflow::keys::spec::KeyType::Text;
use crate::workflow::keys::spec::{REQUIRED, StepType, key};

pub static TYPE: StepType = StepType {
    name: "use",
    what: "a use step",
    about: "Runs the steps of another definition in order; the last result is the step's.",
    keys: &[key("definition", Text, REQUIRED, "The file, relative to the one that uses it.", "panel.yaml")],
    shared: &["input", "output", "record"],
    rules: Vec::new,
};
