//! The definition a facilitator writes: its types, its loader and its checks.
//!
//! Pure: text goes in, a [`Definition`] or all its problems come out. The small languages of its
//! steps (conditions, transforms, templates, output schemas) live in `lang`.

mod check;
mod definition;
mod fields;
mod lang;
mod load;
mod load_ballot;
mod load_material;
mod load_rule;

pub use check::recheck;
pub use definition::{
    Approval, Close, Definition, ParticipantSpec, Quorum, Round, Selection, Step, StepKind,
};
pub use fields::{Fields, as_text};
pub use lang::{Condition, GrammarError, OutputSchema, PathUse, Template, Transform};
pub use load::{Loaded, MAX_DEFINITION, STANDARD_INPUT, Source, default_id, load, load_with};
pub use load_material::DEFAULT_PANEL;
pub use load_rule::unfit as unfit_threshold;
