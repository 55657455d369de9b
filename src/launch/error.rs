//! Error of a run that cannot start: its problems and exit code.

use std::io::{self, ErrorKind};

use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::journal::DiskError;

#[derive(Debug, Clone)]
pub struct RunError {
    pub problems: Vec<Diagnostic>,
    pub exit: ExitCode,
}

impl RunError {
    /// Returns the error of an unwritable file: [`ExitCode::Usage`] if due to its path, else
    /// [`ExitCode::Failure`].
    pub fn unwritable(problem: Diagnostic, cause: &io::Error) -> Self {
        let exit = match cause.kind() {
            ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename => ExitCode::Usage,
            _ => ExitCode::Failure,
        };
        Self { problems: vec![problem], exit }
    }

    pub fn first(self) -> Diagnostic {
        let first = self.problems.into_iter().next();
        first.unwrap_or_else(|| Diagnostic::new("the session cannot begin"))
    }
}

impl From<Vec<Diagnostic>> for RunError {
    fn from(problems: Vec<Diagnostic>) -> Self {
        Self { problems, exit: ExitCode::Usage }
    }
}

impl From<DiskError> for RunError {
    fn from(error: DiskError) -> Self {
        Self::unwritable(Diagnostic::new(error.to_string()), &error.cause)
    }
}

impl From<Diagnostic> for RunError {
    fn from(problem: Diagnostic) -> Self {
        vec![problem].into()
    }
}

pub fn each_once(problems: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for problem in problems {
        if !found.contains(&problem) {
            found.push(problem);
        }
    }
    found
}

/// Fails if there are problems, with duplicates removed.
pub fn no_problems(problems: Vec<Diagnostic>) -> Result<(), Vec<Diagnostic>> {
    if problems.is_empty() { Ok(()) } else { Err(each_once(problems)) }
}
