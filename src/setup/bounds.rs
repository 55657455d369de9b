//! What a project may name on disk: what lies inside it, beside the definition, or where the user
//! allows it. Links are followed to where they lead before they are judged.
//!
//! It judges paths that files of a project name; what a person gives on the command line is theirs.

use std::path::{Path, PathBuf};

use super::folders::Folders;
use crate::problem::Problem;
use crate::workflow::ParticipantSpec;

/// The variable that names folders outside the project that its files may name.
pub const ALLOWED: &str = "ROUNDTABLE_OUTSIDE";

/// The folders a path may lead into.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    roots: Vec<PathBuf>,
}

impl Bounds {
    /// The bounds of a project, and of a definition's file if one is given.
    pub fn of(folders: &Folders, definition: Option<&str>) -> Self {
        let allowed = std::env::var_os(ALLOWED).unwrap_or_default();
        let mut roots = vec![folders.project.clone()];
        roots.extend(definition.map(|file| folder_of(Path::new(file))));
        roots.extend(std::env::split_paths(&allowed).filter(|path| path.is_absolute()));
        Self { roots: roots.iter().filter_map(|root| root.canonicalize().ok()).collect() }
    }

    /// A path of a participant that leads out: the folder its program runs in, or the recording it
    /// answers from, where a file of the project names its model.
    pub fn of_participant(&self, spec: &ParticipantSpec, model: Option<&String>) -> Option<Problem> {
        let folder = spec.command.as_ref().and_then(|program| program.cwd.as_deref());
        let model = model.filter(|_| spec.command.is_none());
        let recording = model.and_then(|model| model.strip_prefix("recorded/"));
        folder.into_iter().chain(recording).find_map(|path| self.check(Path::new(path)).err())
    }

    /// Refuses a path that leads out; what is not there leads nowhere.
    ///
    /// # Errors
    /// When it leads out of all of them.
    pub fn check(&self, path: &Path) -> Result<(), Problem> {
        match path.canonicalize() {
            Ok(real) if !self.roots.iter().any(|root| real.starts_with(root)) => {
                let message = format!("`{}` leads outside the project", path.display());
                let hint = format!("keep it in the project, or name its folder in {ALLOWED}");
                Err(Problem::new(message).hint(hint))
            }
            _ => Ok(()),
        }
    }
}

/// The folder a file is in; the current one for a bare name or standard input.
fn folder_of(file: &Path) -> PathBuf {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}
