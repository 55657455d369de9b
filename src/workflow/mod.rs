//! Definition that a facilitator writes: types, loader and checks.
//!
//! Pure: takes text, returns a [`Definition`] or all its problems. `lang` has the small languages of steps:
//! conditions, transforms, templates and output schemas.

mod agent_answer;
mod chosen;
mod definition;
mod discussion;
mod import;
pub(crate) mod keys;
mod lang;
pub(crate) mod load;
mod participants;
mod paths;
mod steps;
mod strategy;
mod task;
mod task_state;
mod used;
mod validate;

pub use agent_answer::{DEEPEST_ANSWER, read_answer};
pub use chosen::{LINK, split_participants};
pub use definition::{Definition, LeakAction, StepIndex};
pub use discussion::WITH_OPTIONS;
pub use import::import;
pub use keys::{definition_reference, definition_schema_text};
pub use lang::{Condition, GrammarError, OutputSchema, Template, Transform, depth, walk};
pub use load::ballot::OptionsFrom;
pub use load::entries::{as_text, parse_duration};
pub use load::material::recorded_artifact;
pub use load::{
    CheckedDefinition, MAX_DEFINITION, NO_OTHER, OtherFiles, STANDARD_INPUT, Source, default_id, examine,
    load,
};
pub use participants::{DEFAULT_PANEL, Effort, ParticipantSpec, ProgramSpec, SeatTools, is_model_text};
pub use paths::TALLY_KEYS;
pub use steps::agent::{Agent, ExpectedOutput, FacilitatorForm};
pub use steps::approval::Approval;
pub use steps::review::{RejectWhen, Review, VERDICT, is_blank, is_feedback};
pub use steps::round::{
    Close, Feedback, Quorum, RECENT_ROUNDS, Recall, RecallKeys, RecalledAnswers, Round, Selection,
    unfit as unfit_threshold,
};
pub use steps::step::{Completeness, MOST_ITEMS, Record, Recorded, Step, StepKind, written_id};
pub use strategy::{STRATEGIES, Strategy, strategies};
pub use task::{LinkDefinition, Report, TRACKER, Task, TrackerFile, priority_of, with_written_names};
pub use task_state::{TASKS_FILE, TaskMark, Tasks, state_file};
pub use validate::{needs_screen, recheck, unknown_tasks};
