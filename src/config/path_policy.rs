//! Paths that a project may name: regular files and folders inside it or next to the definition, by a
//! relative path. Links are followed before they are judged; nothing in `.git` is read.
//!
//! Paths that a person gives on the command line are not judged here.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;

#[derive(Debug, Clone, Default)]
pub struct PathPolicy {
    /// The project, and the definition's folder.
    roots: Vec<PathBuf>,
}

impl PathPolicy {
    /// The bounds of a project, and of a definition's file if one is given; the folder of a bare name or of
    /// standard input is the current one.
    pub fn for_project(project: &Path, definition: Option<&str>) -> Self {
        let folder = definition.map(|file| Path::new(file).parent().unwrap_or(Path::new("")));
        let folder = folder.map(|folder| Path::new(".").join(folder));
        let roots = std::iter::once(project.to_owned()).chain(folder);
        Self { roots: roots.filter_map(|path| path.canonicalize().ok()).collect() }
    }

    /// A recording that leads out, where a file of the project names it as a model.
    pub fn check_recording(&self, model: &str) -> Option<Diagnostic> {
        self.check_named(Path::new(""), model.strip_prefix("recorded/")?).err()
    }

    /// As [`PathPolicy::check`], of a path in a folder as a file of the project writes it.
    pub fn check_named(&self, folder: &Path, name: &str) -> Result<(), Diagnostic> {
        self.check(&folder.join(name))?;
        if Path::new(name).is_absolute() {
            let message = format!("`{name}` is an absolute path, which a project must not name");
            return Err(Diagnostic::new(message).hint("write it relative"));
        }
        Ok(())
    }

    /// Refuses a path that leads out; what is not there leads nowhere.
    pub fn check(&self, path: &Path) -> Result<(), Diagnostic> {
        let Ok(real) = path.canonicalize() else { return Ok(()) };
        let Some(inside) = self.roots.iter().find_map(|root| real.strip_prefix(root).ok()) else {
            let message = format!("`{}` is outside the project", path.display());
            return Err(Diagnostic::new(message).hint("keep it in the project"));
        };
        if inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            let message = format!("`{}` leads into `.git`, which is not read", path.display());
            return Err(Diagnostic::new(message).hint("keep it elsewhere in the project"));
        }
        Ok(())
    }
}
