//! The file that a definition keeps its tracker's tasks in: read once when a session opens, and marked.
//!
//! It lies in the project, or in a folder that the user allows. It is never read or written through a
//! link, and what is written is put into the file as it is then: under its lock, whole or not at all.

use std::path::{Component, Path, PathBuf};

use super::dirs::{Dirs, MAX_TASKS};
use super::path_policy::PathPolicy;
use super::read_file::{text_of, unreadable};
use crate::diagnostic::Diagnostic;
use crate::journal::{Disk, DiskError};
use crate::workflow::TaskMark;

/// The file of the tasks, as a definition names it.
pub struct TaskFile {
    name: String,
    path: PathBuf,
    bounds: PathPolicy,
    /// Why nothing of that name is read, if so.
    ignored: Option<Diagnostic>,
}

impl TaskFile {
    /// The file of that name, from the project's folder on.
    pub fn of(folders: &Dirs, name: &str) -> Self {
        let is_in_s2s = Path::new(name).components().any(|part| part == Component::Normal(".s2s".as_ref()));
        let ignored = (is_in_s2s && !folders.has_s2s).then(|| {
            let message =
                format!("`{name}` is not read: {} has no `.s2s` that counts", folders.project.display());
            Diagnostic::new(message)
                .hint("`roundtable init` makes one; run in the project's folder or below it")
        });
        let (path, bounds) = (folders.project.join(name), folders.path_policy(None));
        Self { name: name.to_owned(), path, bounds, ignored }
    }

    /// Refuses a file that leads out, or is in a folder that does not count.
    fn check(&self) -> Result<(), Diagnostic> {
        if let Some(problem) = &self.ignored {
            return Err(problem.clone());
        }
        if Path::new(&self.name).is_absolute() {
            self.bounds.check_named(Path::new(&self.name))
        } else {
            self.bounds.check(&self.path)
        }
    }

    /// Its text as it is now.
    ///
    /// # Errors
    /// When it leads out, is a link, is not there or cannot be read.
    pub fn read(&self) -> Result<String, Diagnostic> {
        self.check()?;
        let bytes = Disk::default().read_own(&self.path, MAX_TASKS + 1).map_err(|error| {
            if is_missing(&error) {
                let hint = "write it: `tasks:`, and below it the tasks as in a definition";
                return Diagnostic::new(self.missing()).hint(hint);
            }
            unreadable(Path::new(&self.name), &error.cause)
        })?;
        text_of(Path::new(&self.name), MAX_TASKS, bytes)
    }

    fn missing(&self) -> String {
        format!("there is no file `{}`", self.path.display())
    }

    /// Puts what the tracker made of a task into it, unless that stands there already.
    ///
    /// # Errors
    /// Why not, in words; the file is as it was then.
    pub fn mark(&self, mark: &TaskMark) -> Result<(), String> {
        self.check().map_err(|problem| problem.message)?;
        let failed = |error: DiskError| if is_missing(&error) { self.missing() } else { error.to_string() };
        let mut file = Disk::default().open_whole(&self.path).map_err(failed)?;
        let bytes = file.read_all().map_err(failed)?;
        let text = text_of(Path::new(&self.name), MAX_TASKS, bytes).map_err(|problem| problem.message)?;
        match mark.put_into(&text, &self.name)? {
            Some(marked) => file.replace(marked.as_bytes()).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }
}

fn is_missing(error: &DiskError) -> bool {
    error.cause.kind() == std::io::ErrorKind::NotFound
}
