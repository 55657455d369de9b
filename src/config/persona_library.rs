//! Personas on disk: the project's first, then the user's, then the built-in ones.
//!
//! Only Markdown files directly inside a persona folder are read, and none through a link that
//! leads out of it, nor in a folder of the project that is a link leading out of the project.

use std::path::{Path, PathBuf};

use super::dirs::Dirs;
use super::path_policy::PathPolicy;
use super::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::persona::{BUILTIN, MAX_PERSONA, Persona, builtin, is_name, unknown};

#[derive(Debug, Clone)]
pub struct PersonaEntry {
    pub persona: Persona,
    /// Its file, or `built-in`.
    pub from: String,
}

#[derive(Debug, Clone)]
pub struct PersonaLibrary {
    dirs: Vec<Dir>,
}

#[derive(Debug, Clone)]
struct Dir {
    path: PathBuf,
    /// Allowed places, if the folder is the project's.
    bounds: Option<PathPolicy>,
}

impl PersonaLibrary {
    /// The folders in which personas are looked for, first match first.
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
        if !is_name(name) {
            return Err(self.unknown(name));
        }
        for dir in &self.dirs {
            let path = dir.path.join(format!("{name}.md"));
            if path.is_file() {
                let found = load(dir, &path)?;
                if found.persona.name == name {
                    return Ok(found);
                }
            }
            let by_name = |found: &PersonaEntry| found.persona.name == name;
            if let Some(found) = files(dir).iter().filter_map(|p| load(dir, p).ok()).find(by_name) {
                return Ok(found);
            }
        }
        let persona = builtin(name).ok_or_else(|| self.unknown(name))?;
        Ok(PersonaEntry { persona, from: "built-in".to_owned() })
    }

    /// Every persona that can be found, the winner of each name; and files that do not parse.
    pub fn all(&self) -> (Vec<PersonaEntry>, Vec<Diagnostic>) {
        let (mut all, mut problems): (Vec<PersonaEntry>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
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
                all.extend(
                    builtin(name).map(|persona| PersonaEntry { persona, from: "built-in".to_owned() }),
                );
            }
        }
        (all, problems)
    }

    fn unknown(&self, name: &str) -> Diagnostic {
        let (all, problems) = self.all();
        let line = format!("name: {name}");
        let is_its_own = |problem: &Diagnostic| {
            let file = problem.place.as_ref().map(|place| Path::new(&*place.file));
            let text = file.and_then(|file| read_text(file, MAX_PERSONA as u64).ok()).unwrap_or_default();
            file.is_some_and(|file| file.file_stem().is_some_and(|stem| stem == name))
                || text.lines().any(|known| known.trim_end() == line)
        };
        if let Some(problem) = problems.into_iter().find(is_its_own) {
            let message = format!("persona `{name}` cannot be used: {}", problem.message);
            return Diagnostic { message, ..problem };
        }
        let names: Vec<&str> = all.iter().map(|found| found.persona.name.as_str()).collect();
        unknown(name, &names)
    }
}

fn files(dir: &Dir) -> Vec<PathBuf> {
    let leads_out = dir.bounds.as_ref().is_some_and(|bounds| bounds.check(&dir.path).is_err());
    let Some(Ok(entries)) = (!leads_out).then(|| std::fs::read_dir(&dir.path)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ext| ext == "md") && path.is_file())
        .collect();
    files.sort();
    files
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
    fn a_persona_of_the_project_says_that_it_replaces_a_built_in_one() {
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
        let (_, same) = BUILTIN.iter().find(|(name, _)| *name == "coder").unwrap();
        assert_eq!(notices("coder", same, &folders.project), Vec::<String>::new(), "it is the same");
    }
}
