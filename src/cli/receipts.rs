//! `--receipts`: a line of JSON for each answer, once its seal is on disk.
//!
//! Holds what the log shows of an open round anyway: seat, snapshot, commitment. A file that is there
//! already is never written to.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::console::Console;
use crate::diagnostic::Diagnostic;
use crate::history::{Event, Receipt, Session};

/// Where receipts go.
pub struct Receipts {
    /// Standard error where there is no file.
    file: Option<File>,
    path: PathBuf,
    /// Whether one could not be written, which is said once.
    failed: Mutex<bool>,
}

impl Receipts {
    /// Makes the file; `-` is standard error.
    ///
    /// # Errors
    /// When the file is there already, or cannot be made.
    pub fn create(path: &Path) -> Result<Self, Diagnostic> {
        if path.as_os_str() == "-" {
            return Ok(Self { file: None, path: "standard error".into(), failed: Mutex::new(false) });
        }
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let made = options.open(path).map_err(|error| {
            let problem = Diagnostic::new(format!("cannot write receipts: {error}"));
            let hint = match error.kind() {
                io::ErrorKind::AlreadyExists => "--receipts never overwrites: choose another path",
                _ => "check the folder, or give another path with --receipts",
            };
            problem.hint(hint).with_file(&path.display().to_string())
        });
        Ok(Self { file: Some(made?), path: path.to_owned(), failed: Mutex::new(false) })
    }

    /// Gives the receipt for an event that seals an answer; `session` is the state after it.
    pub fn give(&self, event: &Event, session: &Session, output: &mut Console) {
        let Event::BallotSealed(sealed) = event else { return };
        let Some(receipt) = Receipt::from_event(sealed, session) else { return };
        let line = crate::report::safe_json(&serde_json::to_value(receipt).unwrap_or_default()) + "\n";
        let written = match &self.file {
            Some(file) => (&*file).write_all(line.as_bytes()),
            None => io::stderr().lock().write_all(line.as_bytes()),
        };
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Err(error), false) = (written, *failed) {
            *failed = true;
            let hint = "the session goes on; each `ballot_sealed` of its file holds the same";
            let path = self.path.display();
            output.warn(
                &Diagnostic::new(format!("a receipt could not be written to {path}: {error}")).hint(hint),
            );
            output.loses();
        }
    }
}
