//! Personas on disk: the project's first, then the user's, then the built-in ones.
//!
//! Only Markdown files directly inside a persona folder are read, and none through a link that
//! leads out of it.

use std::path::{Path, PathBuf};

use super::folders::{Folders, read_text};
use crate::persona::{BUILTIN, MAX_PERSONA, Persona, builtin, is_name, unknown};
use crate::problem::Problem;

/// A persona and where it was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The persona.
    pub persona: Persona,
    /// Its file, or `built-in`.
    pub from: String,
}

/// Where personas are looked for.
#[derive(Debug, Clone)]
pub struct Library {
    dirs: Vec<PathBuf>,
}

impl Library {
    /// The folders in which personas are looked for, first match first.
    pub fn new(folders: &Folders) -> Self {
        let project = &folders.project;
        Self {
            dirs: vec![
                folders.s2s().join("personas"),
                project.join("personas"),
                folders.config.join("personas"),
                project.join(".claude").join("agents"),
            ],
        }
    }

    /// The persona of that name.
    ///
    /// # Errors
    /// When there is none (the nearest name is suggested), or its file does not parse.
    pub fn find(&self, name: &str) -> Result<Found, Problem> {
        if !is_name(name) {
            return Err(self.unknown(name));
        }
        for dir in &self.dirs {
            let path = dir.join(format!("{name}.md"));
            if path.is_file() {
                let found = load(dir, &path)?;
                if found.persona.name == name {
                    return Ok(found);
                }
            }
            let by_name = |found: &Found| found.persona.name == name;
            if let Some(found) = files(dir).iter().filter_map(|p| load(dir, p).ok()).find(by_name) {
                return Ok(found);
            }
        }
        let persona = builtin(name).ok_or_else(|| self.unknown(name))?;
        Ok(Found { persona, from: "built-in".to_owned() })
    }

    /// Every persona that can be found, the winner of each name; and files that do not parse.
    pub fn all(&self) -> (Vec<Found>, Vec<Problem>) {
        let (mut all, mut problems): (Vec<Found>, Vec<Problem>) = (Vec::new(), Vec::new());
        for dir in &self.dirs {
            for path in files(dir) {
                match load(dir, &path) {
                    Ok(found) if all.iter().all(|known| known.persona.name != found.persona.name) => {
                        all.push(found);
                    }
                    Ok(_) => {}
                    Err(problem) => problems.push(problem),
                }
            }
        }
        for (name, _) in BUILTIN {
            if all.iter().all(|known| known.persona.name != name) {
                all.extend(builtin(name).map(|persona| Found { persona, from: "built-in".to_owned() }));
            }
        }
        (all, problems)
    }

    fn unknown(&self, name: &str) -> Problem {
        let (all, _) = self.all();
        let names: Vec<&str> = all.iter().map(|found| found.persona.name.as_str()).collect();
        unknown(name, &names)
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "md") && path.is_file())
        .collect();
    files.sort();
    files
}

fn load(dir: &Path, path: &Path) -> Result<Found, Problem> {
    let from = path.display().to_string();
    let inside = match (dir.canonicalize(), path.canonicalize()) {
        (Ok(dir), Ok(path)) => path.starts_with(dir),
        _ => false,
    };
    if !inside {
        return Err(Problem::new("leads out of the persona folder and is not read").in_file(&from));
    }
    let persona = Persona::parse(&read_text(path, MAX_PERSONA as u64)?, &from)?;
    Ok(Found { persona, from })
}
