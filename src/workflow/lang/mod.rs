//! Small languages of a workflow: conditions, transforms, templates and output schemas.
//!
//! Each text is parsed once, when the definition loads; errors name the place in the text. No language runs
//! code, does I/O or waits. Depth, size and work are limited, so no text or value can overflow the stack or
//! run forever.

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
    /// Byte offset of the error in the text.
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
