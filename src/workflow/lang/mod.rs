//! The small languages of a workflow: conditions, transforms, templates and output schemas.
//!
//! Each is read once, when the definition is loaded, and refuses what it does not know with the
//! place in its text. None evaluates code, reads anything or waits; all are limited in depth, size
//! and work, so that no text and no value can overflow the stack or run for ever.

mod condition;
mod lexer;
mod sample;
mod schema;
mod template;
mod transform;
mod value_path;

pub use condition::Condition;
pub use schema::OutputSchema;
pub use template::Template;
pub use transform::Transform;
pub use value_path::{depth, walk};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GrammarError {
    pub message: String,
    pub hint: Option<String>,
    /// The byte of the text it is wrong at.
    pub offset: usize,
}

impl GrammarError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, offset }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
