//! Policy for paths that a project may name.
//!
//! Allowed are relative paths in the project or next to the definition, except in `.git`. Links are resolved
//! before the check. Paths on the command line are not checked here.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;

#[derive(Debug, Clone, Default)]
pub struct PathPolicy {
    /// Project folder, and the definition's folder.
    roots: Vec<PathBuf>,
}

impl PathPolicy {
    /// Returns the policy of a project and a definition. A bare name and standard input mean the current folder.
    pub fn for_project(project: &Path, definition: Option<&str>) -> Self {
        let folder = definition.map(|file| Path::new(file).parent().unwrap_or(Path::new("")));
        let folder = folder.map(|folder| Path::new(".").join(folder));
        let roots = std::iter::once(project.to_owned()).chain(folder);
        Self { roots: roots.filter_map(|path| path.canonicalize().ok()).collect() }
    }

    /// Returns the error if a recording, named as a model by a project's file, is outside.
    pub fn check_recording(&self, model: &str) -> Option<Diagnostic> {
        self.check_named(Path::new(""), model.strip_prefix("recorded/")?).err()
    }

    /// Checks a path that a project's file names, relative to `folder`.
    pub fn check_named(&self, folder: &Path, name: &str) -> Result<(), Diagnostic> {
        self.check(&folder.join(name))?;
        if Path::new(name).is_absolute() {
            let message = format!("`{name}` is an absolute path, which a project must not name");
            return Err(Diagnostic::new(message).hint("write it relative"));
        }
        Ok(())
    }

    /// Refuses a path outside the allowed folders; a missing file passes.
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
