//! The definition a facilitator writes: its types, its loader and its checks.
//!
//! Pure: text goes in, a [`Definition`] or all its problems come out. The small languages of its
//! steps (conditions, transforms, templates, output schemas) live in `lang`.

mod answer;
mod check;
mod completeness;
mod definition;
mod envelope;
mod fields;
mod lang;
mod load;
mod load_ballot;
mod load_material;
mod load_participants;
mod load_rule;
mod load_step;
mod load_task;
mod mark;
mod recall;
mod schema;
mod spread;
mod step;
mod task;
mod verdict;

pub use answer::{DEEPEST_ANSWER, depth, read_answer};
pub use check::{needs_screen, recheck, unknown_tasks};
pub use completeness::{Finding, Held, ReferencedContent, findings, format_1::lack, is_held, looks_like_id};
pub use definition::{
    Close, Definition, LeakAction, ParticipantSpec, ProgramSpec, PseudonymSetting, Quorum, Round, Selection,
    StructuredAnswers, WarmFirst,
};
pub use envelope::TALLY_KEYS;
pub use fields::{Fields, as_text, parse_duration};
pub use lang::{Condition, GrammarError, OutputSchema, PathUse, Template, Transform};
pub use load::{
    Loaded, MAX_DEFINITION, STANDARD_INPUT, Source, default_id, load, load_of_format_1, load_with,
};
pub use load_participants::DEFAULT_PANEL;
pub use load_rule::unfit as unfit_threshold;
pub use load_task::{TASKS_FILE, Tasks};
pub use mark::TaskMark;
pub use recall::{Answers, RECENT_ROUNDS, Recall, RecallKeys, Results};
pub use schema::definition_schema;
pub use step::{
    Agent, Approval, Branch, Completeness, ExpectedOutput, Parallel, RejectWhen, Retry, Review, Step,
    StepKind,
};
pub use task::{LinkDefinition, ROW_KEYS, Report, Task, TrackerFile, priority_of, with_written_names};
pub use verdict::{VERDICT, is_blank, is_feedback};
