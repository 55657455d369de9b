//! Folders of the project, the user's configuration and the state.
//!
//! A `.s2s` folder counts only within the current repository, and only if the user or root owns it.

use std::path::{Path, PathBuf};

use super::path_policy::PathPolicy;
use super::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::persona::is_name;
use crate::workflow::{STRATEGIES, Strategy};

/// Limit of a task file, in bytes.
pub const MAX_TASKS: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Dirs {
    /// Nearest folder upwards, in the repository, with a `.s2s`; else the current one.
    pub project: PathBuf,
    pub has_s2s: bool,
    pub config: PathBuf,
    /// User's state: keys of open rounds, and sessions outside a project.
    pub state: PathBuf,
    pub notices: Vec<Diagnostic>,
}

impl Dirs {
    /// Finds the folders. `ROUNDTABLE_HOME`, if set, contains both `config` and `state`. With `trusts_owner`, a
    /// `.s2s` of another user counts too.
    pub fn find(trusts_owner: bool) -> Result<Self, Diagnostic> {
        let here = std::env::current_dir()
            .map_err(|error| Diagnostic::new(format!("the current folder cannot be read: {error}")))?;
        let mut notices = Vec::new();
        let counts = |dir: &&Path| match holds_s2s(dir, trusts_owner) {
            Ok(is_there) => is_there,
            Err(problem) => {
                notices.push(problem);
                false
            }
        };
        let project = in_repository(&here).find(counts).map(Path::to_owned);
        let has_s2s = project.is_some();
        let (config, state) = match std::env::var_os("ROUNDTABLE_HOME").filter(|home| !home.is_empty()) {
            Some(home) => (PathBuf::from(&home).join("config"), PathBuf::from(&home).join("state")),
            None => user_folders()?,
        };
        Ok(Self { project: project.unwrap_or(here), has_s2s, config, state, notices })
    }

    /// Returns the project's `.s2s`, if it has one that counts.
    pub fn s2s(&self) -> Option<PathBuf> {
        self.has_s2s.then(|| self.project.join(".s2s"))
    }

    /// Returns the policy for paths that the project names, and for paths next to a definition.
    pub fn path_policy(&self, definition: Option<&str>) -> PathPolicy {
        PathPolicy::for_project(&self.project, definition)
    }

    /// Returns the folder for new sessions: in the project if it has a `.s2s`, else in the user's state.
    pub fn sessions(&self) -> PathBuf {
        self.s2s().unwrap_or_else(|| self.state.clone()).join("sessions")
    }

    pub fn sessions_to_write(&self) -> Result<PathBuf, Diagnostic> {
        let sessions = self.sessions();
        if self.has_s2s {
            self.path_policy(None).check(&sessions)?;
        }
        Ok(sessions)
    }

    pub fn keys(&self) -> PathBuf {
        self.state.join("keys")
    }

    pub fn drafts(&self) -> PathBuf {
        self.state.join("drafts")
    }

    /// Reads a file of the project's `.s2s`; `None` if it does not exist.
    pub fn read_project_file(&self, name: &str, limit: u64) -> Result<Option<String>, Diagnostic> {
        let Some(s2s) = self.s2s() else { return Ok(None) };
        let path = s2s.join(name);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        self.path_policy(None).check(&path)?;
        read_text(&path, limit).map(Some)
    }

    /// Reads `CONTEXT.md` without its comments; `None` if it is absent or empty.
    pub fn context(&self) -> Result<Option<String>, Diagnostic> {
        let text = self.read_project_file("CONTEXT.md", 256 * 1024)?;
        text.map_or(Ok(None), |text| without_comments(&text))
    }

    /// Reads a strategy of the project: `.s2s/strategies/NAME.yaml`.
    pub fn strategy(&self, name: &str) -> Result<Option<Strategy>, Diagnostic> {
        let text = self.strategy_text(name)?;
        text.map(|text| Strategy::parse(&text, name, &format!(".s2s/strategies/{name}.yaml"))).transpose()
    }

    /// Returns the text of a strategy's file; `None` if the project has none with that name.
    pub fn strategy_text(&self, name: &str) -> Result<Option<String>, Diagnostic> {
        if is_name(name) {
            self.read_project_file(&format!("strategies/{name}.yaml"), 256 * 1024)
        } else {
            Ok(None)
        }
    }

    pub fn strategy_names(&self) -> Vec<String> {
        let entries = self.s2s().and_then(|s2s| std::fs::read_dir(s2s.join("strategies")).ok());
        let files = entries.into_iter().flatten().flatten();
        let names =
            files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".yaml").map(str::to_owned));
        // Built-in strategies take precedence over the project's.
        let is_own = |name: &String| is_name(name) && STRATEGIES.iter().all(|(known, _)| known != name);
        let mut names: Vec<String> = names.filter(is_own).collect();
        names.sort();
        names
    }

    /// Returns the texts of the project's tasks and of their state, each if it exists.
    pub fn tasks(&self) -> Result<(Option<String>, Option<String>), Diagnostic> {
        let tasks = self.read_project_file("tasks.yaml", MAX_TASKS)?;
        Ok((tasks, self.read_project_file("tasks.state.yaml", MAX_TASKS)?))
    }
}

/// Returns a folder and its ancestors in the same repository; outside a repository, only the folder.
fn in_repository(here: &Path) -> impl Iterator<Item = &Path> {
    let top = here.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()).unwrap_or(here);
    here.ancestors().take_while(move |dir| dir.starts_with(top))
}

/// Returns true if a folder contains a `.s2s` that counts; one that does not count is an error.
fn holds_s2s(dir: &Path, trusts_owner: bool) -> Result<bool, Diagnostic> {
    let s2s = dir.join(".s2s");
    let Some(meta) = s2s.metadata().ok().filter(std::fs::Metadata::is_dir) else { return Ok(false) };
    let leads_out = match (dir.canonicalize(), s2s.canonicalize()) {
        (Ok(dir), Ok(s2s)) => !s2s.starts_with(&dir) || s2s.starts_with(dir.join(".git")),
        _ => true,
    };
    let ignored = |why: &str| Diagnostic::new(format!("`{}` {why}: it is ignored", s2s.display()));
    if leads_out {
        return Err(ignored("is outside the project").hint("make it a folder of the project"));
    }
    if !trusts_owner && is_anothers(&meta) {
        return Err(ignored("belongs to another user").hint("--trust accepts it for this run"));
    }
    Ok(true)
}

/// Returns true if neither the user nor root owns the file. Under `sudo` the user is the caller.
#[cfg(unix)]
fn is_anothers(meta: &std::fs::Metadata) -> bool {
    let own = rustix::process::geteuid();
    let caller = std::env::var("SUDO_UID").ok().filter(|_| own.is_root()).and_then(|id| id.parse().ok());
    let owner = std::os::unix::fs::MetadataExt::uid(meta);
    owner != 0 && owner != caller.unwrap_or(own.as_raw())
}

#[cfg(not(unix))]
fn is_anothers(_: &std::fs::Metadata) -> bool {
    false
}

/// Returns the folders of configuration and state: Linux paths on every Unix, the platform's own elsewhere.
fn user_folders() -> Result<(PathBuf, PathBuf), Diagnostic> {
    let missing =
        || Diagnostic::new("there is no home folder").hint("set ROUNDTABLE_HOME to a folder of your own");
    let base = directories::BaseDirs::new().ok_or_else(missing)?;
    if cfg!(windows) {
        let dirs = directories::ProjectDirs::from("", "", "roundtable").ok_or_else(missing)?;
        return Ok((dirs.config_dir().to_owned(), dirs.data_local_dir().to_owned()));
    }
    let xdg = |name: &str, default: &str| {
        let set = std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        set.unwrap_or_else(|| base.home_dir().join(default)).join("roundtable")
    };
    Ok((xdg("XDG_CONFIG_HOME", ".config"), xdg("XDG_STATE_HOME", ".local/state")))
}

/// Removes `<!-- … -->` and trims.
fn without_comments(text: &str) -> Result<Option<String>, Diagnostic> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        let line = text[..text.len() - after.len()].lines().count();
        let open = || Diagnostic::new(format!("unclosed `<!--` in line {line} of `.s2s/CONTEXT.md`"));
        (_, rest) = after.split_once("-->").ok_or_else(|| open().hint("end the comment with `-->`"))?;
    }
    out.push_str(rest);
    let out = out.trim().replace("\r\n", "\n");
    Ok((!out.is_empty()).then_some(out))
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_are_removed_from_the_context() {
        let of = |text| without_comments(text).map_err(|problem| problem.message);
        assert_eq!(of("<!-- write here -->\n\n"), Ok(None));
        assert_eq!(of("A <!-- x --> B\r\nC\n"), Ok(Some("A  B\nC".to_owned())));
        let open = of("A\nUse `<!--` here\nNever redis");
        assert_eq!(open, Err("unclosed `<!--` in line 2 of `.s2s/CONTEXT.md`".to_owned()));
    }
}
