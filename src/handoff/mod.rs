//! Handoff: session content for participants and later steps.
//!
//! Pure; reads the history.

mod completeness;
mod context;
mod disclosure;
mod form;
mod linked_tasks;
mod names;
mod recall;
mod rendering;
mod review;
mod revision;
mod work_item_input;

pub use completeness::{Checked, CheckedRound};
pub use context::{is_no, parallel_data, round_data};
pub use disclosure::{fulfilled, rejected};
pub use form::FormFacts;
pub use linked_tasks::LinkedTasks;
pub use names::{gather_texts, options_named, plain_texts, words};
pub use rendering::Rendered;
pub(crate) use revision::is_asked_again;
pub use work_item_input::{WorkItemDraft, whole_prompt};
