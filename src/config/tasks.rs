//! Task file of a definition's tracker, and the state file next to it.
//!
//! The tasks are read once, when a session opens. Both files must be inside the project, and are never read or
//! written through a link. The state file is replaced atomically, under its lock.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::dirs::{Dirs, MAX_TASKS};
use super::path_policy::PathPolicy;
use super::read_file::{text_of, unreadable};
use crate::diagnostic::Diagnostic;
use crate::journal::{Disk, DiskError};
use crate::workflow::{TaskMark, state_file};

pub struct TaskFile {
    name: String,
    project: PathBuf,
    state_name: String,
    state_path: PathBuf,
    bounds: PathPolicy,
    /// Error if the file must not be read.
    ignored: Option<Diagnostic>,
}

impl TaskFile {
    /// Returns the task file with that name, relative to the project's folder.
    pub fn new(folders: &Dirs, name: &str) -> Self {
        let is_in_s2s = Path::new(name).components().any(|part| part == Component::Normal(".s2s".as_ref()));
        let ignored = (is_in_s2s && !folders.has_s2s).then(|| {
            let message =
                format!("`{name}` is not read: {} has no `.s2s` that counts", folders.project.display());
            Diagnostic::new(message)
                .hint("`roundtable init` makes one; run in the project's folder or below it")
        });
        let state_name = state_file(name);
        let (project, state_path) = (folders.project.clone(), folders.project.join(&state_name));
        let bounds = folders.path_policy(None);
        Self { name: name.to_owned(), project, state_name, state_path, bounds, ignored }
    }

    /// Refuses a file outside the project, or in a `.s2s` that does not count.
    fn check(&self) -> Result<(), Diagnostic> {
        if let Some(problem) = &self.ignored {
            return Err(problem.clone());
        }
        self.bounds.check_named(&self.project, &self.name)
    }

    pub fn read(&self) -> Result<String, Diagnostic> {
        self.check()?;
        let path = self.project.join(&self.name);
        text(&self.name, &path)?.ok_or_else(|| {
            let hint = "write it: `tasks:`, and below it the tasks as in a definition";
            Diagnostic::new(format!("there is no file `{}`", path.display())).hint(hint)
        })
    }

    pub fn read_state(&self) -> Result<Option<String>, Diagnostic> {
        text(&self.state_name, &self.state_path)
    }

    /// Writes a task's new mark to the state file, unless it is there already.
    pub fn mark(&self, mark: &TaskMark) -> Result<(), String> {
        self.check().map_err(|problem| problem.message)?;
        let failed = |error: DiskError| error.to_string();
        let disk = Disk::default();
        let opened = match disk.open_whole(&self.state_path) {
            Err(error) if error.cause.kind() == ErrorKind::NotFound => {
                // Another session may create the file, and write to it before this one has its lock.
                match disk.create_log(&self.state_path).map(drop) {
                    Err(error) if error.cause.kind() != ErrorKind::AlreadyExists => Err(error),
                    _ => disk.open_whole(&self.state_path),
                }
            }
            opened => opened,
        };
        let mut file = opened.map_err(failed)?;
        let bytes = file.read_all().map_err(failed)?;
        let text =
            text_of(Path::new(&self.state_name), MAX_TASKS, bytes).map_err(|problem| problem.message)?;
        match mark.put_into(&text, &self.state_name).map_err(|problem| problem.to_string())? {
            Some(marked) => file.replace(marked.as_bytes()).map_err(failed),
            None => Ok(()),
        }
    }
}

fn text(name: &str, path: &Path) -> Result<Option<String>, Diagnostic> {
    match Disk::default().read_own(path, MAX_TASKS + 1) {
        Ok(bytes) => text_of(Path::new(name), MAX_TASKS, bytes).map(Some),
        Err(error) if error.cause.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(Path::new(name), &error.cause)),
    }
}
