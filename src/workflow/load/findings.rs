//! What loading a definition finds wrong, collected so that a person sees all at once.

use std::cell::RefCell;

use crate::diagnostic::Diagnostic;
use crate::yaml::Node;

/// What loading has found to say about a file.
pub struct Findings<'a> {
    pub file: &'a str,
    pub problems: RefCell<Vec<Diagnostic>>,
    pub warnings: RefCell<Vec<Diagnostic>>,
}

impl<'a> Findings<'a> {
    pub fn new(file: &'a str) -> Self {
        Self { file, problems: RefCell::default(), warnings: RefCell::default() }
    }

    /// Notes an error at `node`.
    pub fn refuse(&self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.borrow_mut().push(node.problem(self.file, message).hint(hint));
    }

    pub fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().push(warning);
    }
}
