//! Personas on disk and built-in ones; the project's take precedence.
//!
//! Reads only Markdown files directly in a persona folder. Ignores links that lead out of it, and a project's
//! folder that is itself a link out of the project.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::dirs::Dirs;
use super::path_policy::PathPolicy;
use super::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::persona::{BUILTIN, MAX_PERSONA, Persona, builtin, is_name, unknown};

#[derive(Debug, Clone)]
pub struct PersonaEntry {
    pub persona: Persona,
    /// File, or `built-in`.
    pub from: String,
}

#[derive(Debug, Clone)]
pub struct PersonaLibrary {
    dirs: Vec<Dir>,
}

#[derive(Debug, Clone)]
struct Dir {
    path: PathBuf,
    /// Policy, if the folder is the project's.
    bounds: Option<PathPolicy>,
}

impl PersonaLibrary {
    /// Returns the library of the persona folders; the first match counts.
    pub fn new(folders: &Dirs) -> Self {
        let bounds = folders.path_policy(None);
        let of_project = |path| Dir { path, bounds: Some(bounds.clone()) };
        let project = &folders.project;
        let own = Dir { path: folders.config.join("personas"), bounds: None };
        let mut dirs: Vec<Dir> =
            folders.s2s().map(|s2s| of_project(s2s.join("personas"))).into_iter().collect();
        dirs.extend([
            of_project(project.join("personas")),
            own,
            of_project(project.join(".claude").join("agents")),
        ]);
        Self { dirs }
    }

    pub fn find(&self, name: &str) -> Result<PersonaEntry, Diagnostic> {
        let (mut known, mut problem) = (Vec::new(), None);
        for entry in self.entries(Some(name).filter(|name| is_name(name))) {
            match entry {
                Ok(found) if found.persona.name == name => return Ok(found),
                Ok(found) => known.push(found.persona.name),
                Err(found) if is_called(&found, name) => return Err(found),
                Err(found) => problem = problem.or_else(|| concerning(found, name)),
            }
        }
        if let Some(problem) = problem {
            return Err(problem);
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        Err(unknown(name, &known))
    }

    /// Returns the persona that each name selects, and the errors of files that do not parse.
    pub fn all(&self) -> (Vec<PersonaEntry>, Vec<Diagnostic>) {
        let (mut all, mut problems): (Vec<PersonaEntry>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
        let mut told = HashSet::new();
        for entry in self.entries(None) {
            match entry {
                Ok(found) if all.iter().all(|known| known.persona.name != found.persona.name) => {
                    all.push(found);
                }
                // Only an earlier folder may have the same name.
                Ok(found) => {
                    let folder = |entry: &PersonaEntry| Path::new(&entry.from).parent().map(Path::to_owned);
                    let is_same = |known: &&PersonaEntry| {
                        known.persona.name == found.persona.name && folder(known) == folder(&found)
                    };
                    problems.extend(all.iter().find(is_same).map(|known| {
                        let message =
                            format!("persona `{}` is already in {}", found.persona.name, known.from);
                        Diagnostic::new(message).with_file(&found.from).hint("rename or remove one of them")
                    }));
                }
                // A file reached twice, through a link, is one error.
                Err(problem) => {
                    if file_of(&problem).is_none_or(|file| told.insert(file)) {
                        problems.push(problem);
                    }
                }
            }
        }
        (all, problems)
    }

    /// Returns all personas in order of precedence, the files named `wanted` first in each folder.
    fn entries(&self, wanted: Option<&str>) -> impl Iterator<Item = Result<PersonaEntry, Diagnostic>> {
        let of_dir = move |dir| files(dir, wanted).into_iter().map(move |path| load(dir, &path));
        let built_in = BUILTIN.iter().filter_map(|(name, _)| builtin(name));
        let built_in = built_in.map(|persona| Ok(PersonaEntry { persona, from: "built-in".to_owned() }));
        self.dirs.iter().flat_map(of_dir).chain(built_in)
    }
}

fn file_of(problem: &Diagnostic) -> Option<PathBuf> {
    let file = PathBuf::from(&problem.place.as_ref()?.file);
    Some(file.canonicalize().unwrap_or(file))
}

fn is_called(problem: &Diagnostic, name: &str) -> bool {
    let stem = problem.place.as_ref().and_then(|place| Path::new(&place.file).file_stem());
    stem.is_some_and(|stem| stem == name)
}

/// Returns a file's error if the file names the persona `name`.
fn concerning(problem: Diagnostic, name: &str) -> Option<Diagnostic> {
    let file = Path::new(&problem.place.as_ref()?.file);
    let text = read_text(file, MAX_PERSONA as u64).ok()?;
    let message = format!("persona `{name}` cannot be used: {}", problem.message);
    let mut names = text.lines().filter_map(|line| line.strip_prefix("name:"));
    let is_named = names.any(|known| known.trim().trim_matches(['"', '\'']) == name);
    is_named.then_some(Diagnostic { message, ..problem })
}

fn files(dir: &Dir, wanted: Option<&str>) -> Vec<PathBuf> {
    let first = wanted.map(|name| dir.path.join(format!("{name}.md")));
    let leads_out = dir.bounds.as_ref().is_some_and(|bounds| bounds.check(&dir.path).is_err());
    let entries = if leads_out { None } else { std::fs::read_dir(&dir.path).ok() };
    let paths = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_other =
        |path: &PathBuf| path.extension().is_some_and(|ext| ext == "md") && first.as_ref() != Some(path);
    let mut others: Vec<PathBuf> = paths.filter(is_other).collect();
    others.sort();
    first.iter().cloned().chain(others).filter(|path| path.exists() && !path.is_dir()).collect()
}

fn load(dir: &Dir, path: &Path) -> Result<PersonaEntry, Diagnostic> {
    let from = path.display().to_string();
    let inside = match (dir.path.canonicalize(), path.canonicalize()) {
        (Ok(dir), Ok(path)) => path.starts_with(dir),
        _ => false,
    };
    if !inside {
        return Err(Diagnostic::new("leads out of the persona folder and is not read").with_file(&from));
    }
    if let Some(bounds) = &dir.bounds {
        bounds.check(path).map_err(|problem| problem.with_file(&from))?;
    }
    let mut persona = Persona::parse(&read_text(path, MAX_PERSONA as u64)?, &from)?;
    let replaced = builtin(&persona.name).filter(|own| dir.bounds.is_some() && own.text != persona.text);
    persona.notices.extend(replaced.map(|own| format!("it replaces the built-in persona `{}`", own.name)));
    Ok(PersonaEntry { persona, from })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_persona_reports_that_it_replaces_a_built_in_one() {
        let dir = tempfile::tempdir().unwrap();
        let folders = Dirs {
            project: dir.path().join("project"),
            has_s2s: false,
            config: dir.path().join("config"),
            state: dir.path().join("state"),
            notices: Vec::new(),
        };
        let notices = |persona: &str, text: &str, base: &Path| {
            let path = base.join("personas");
            std::fs::create_dir_all(&path).unwrap();
            std::fs::write(path.join(format!("{persona}.md")), text).unwrap();
            PersonaLibrary::new(&folders).find(persona).unwrap().persona.notices
        };
        let other = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nSay yes.\n");
        let told = notices("qa-lead", &other("qa-lead"), &folders.project);
        assert_eq!(told, ["it replaces the built-in persona `qa-lead`"]);
        assert_eq!(notices("new", &other("new"), &folders.project), Vec::<String>::new());
        assert_eq!(
            notices("skeptic", &other("skeptic"), &folders.config),
            Vec::<String>::new(),
            "the user's own"
        );
        std::fs::write(folders.project.join("personas/README.md"), "Begin so:\nname: tester\n").unwrap();
        std::fs::create_dir_all(folders.project.join(".claude")).unwrap();
        std::os::unix::fs::symlink("../personas", folders.project.join(".claude/agents")).unwrap();
        let library = PersonaLibrary::new(&folders);
        assert_eq!(library.all().1.len(), 1, "one file, reached twice");
        std::fs::write(folders.project.join("personas/other.md"), other("new")).unwrap();
        let problem = library.all().1.pop().unwrap();
        assert!(problem.message.starts_with("persona `new` is already in "), "{problem:?}");
        assert!(problem.place.unwrap().file.ends_with("other.md"));
        assert_eq!(library.find("tester").unwrap().from, "built-in", "a file that quotes its name is not it");
        let (_, same) = BUILTIN.iter().find(|(name, _)| *name == "coder").unwrap();
        assert_eq!(notices("coder", same, &folders.project), Vec::<String>::new(), "it is the same");
    }
}
