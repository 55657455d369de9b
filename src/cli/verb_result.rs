//! What a verb comes to: its exit code, or the problems that keep it from its work.

use crate::core::ExitCode;
use crate::launch::error::RunError;

pub type VerbResult = Result<ExitCode, RunError>;
