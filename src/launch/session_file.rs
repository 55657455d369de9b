//! Session files: opened for reading, or locked to be continued.

use std::path::Path;

use super::error::RunError;
use crate::config::read_file::unreadable;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::journal::{Damage, Disk, EventLog, Journal, OpenJournalError, OpenedJournal, read_log};

/// Limit of a session file, in bytes.
const MAX_SESSION: u64 = 4 << 30;

pub fn bytes_of(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    Disk::default().read(path, MAX_SESSION).map_err(|error| unreadable(path, &error.cause))
}

pub fn read_session(path: &Path) -> Result<EventLog, RunError> {
    let file = path.display().to_string();
    let log = read_log(&bytes_of(path)?).map_err(|damage| damaged(&damage, &file))?;
    if log.lines.is_empty() {
        return Err(Diagnostic::new("no complete header: the session is empty").with_file(&file).into());
    }
    Ok(log)
}

/// Opens and locks a session file to continue it.
pub fn open_session(path: &Path) -> Result<OpenedJournal, RunError> {
    let file = path.display().to_string();
    if !path.is_file() {
        bytes_of(path)?;
    }
    Journal::open(&Disk::default(), path).map_err(|error| match error {
        OpenJournalError::Disk(error) => match error.locked {
            Some(holder) => Diagnostic::new(format!("session locked by {holder}"))
                .hint("wait for it, or stop it")
                .with_file(&file)
                .into(),
            None => Diagnostic::new(error.to_string()).into(),
        },
        OpenJournalError::NothingRecorded => {
            let problem = Diagnostic::new(error.to_string()).with_file(&file);
            problem.hint("remove it and run the definition again").into()
        }
        OpenJournalError::Damage(damage) => damaged(&damage, &file),
    })
}

fn damaged(damage: &Damage, file: &str) -> RunError {
    let exit = if is_no_session(damage) { ExitCode::Usage } else { ExitCode::Damaged };
    RunError { problems: vec![damage_problem(damage, file)], exit }
}

/// Returns true if the file is not a session file at all, or has another format, rather than damaged.
pub fn is_no_session(damage: &Damage) -> bool {
    damage.other_format || damage.seq.is_none()
}

pub fn damage_problem(damage: &Damage, file: &str) -> Diagnostic {
    let what = match damage.seq {
        Some(seq) if !damage.other_format => {
            format!("damaged at document {seq}, byte {}: {}", damage.offset, damage.what)
        }
        _ => damage.what.clone(),
    };
    let problem = Diagnostic::new(what).at(file, damage.line, 1);
    if damage.other_format {
        return problem;
    }
    let hint = if damage.seq.is_none() {
        "give a `.s2s` file that roundtable has written"
    } else {
        "restore the file from a backup (it was not modified)"
    };
    problem.hint(hint)
}
