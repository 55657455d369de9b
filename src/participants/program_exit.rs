//! What an external program printed, and how it ended.

use std::sync::Mutex;

/// What a program printed, and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramExit {
    /// Its exit status, in words; none of one that was given up.
    pub status: Option<String>,
    /// The last of its standard output.
    pub stdout: Vec<u8>,
    /// The last of its standard error.
    pub stderr: Vec<u8>,
    /// Whether its exit status is its answer.
    pub is_exit_data: bool,
}

/// Where that is noted, while the program runs.
pub type ExitNote = Mutex<ProgramExit>;
