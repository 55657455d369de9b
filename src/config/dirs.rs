//! Folders of the project, the user's configuration and the state. A `.s2s` counts only in the same
//! repository, and only if it belongs to the user or to root.

use std::path::{Path, PathBuf};

use super::path_policy::PathPolicy;
use super::read_file::read_text;
use crate::diagnostic::Diagnostic;
use crate::persona::is_name;
use crate::workflow::{STRATEGIES, Strategy};

/// A larger file of tasks is not read, in bytes.
pub const MAX_TASKS: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Dirs {
    /// The nearest folder upwards, in the same repository, that holds a `.s2s`; else the current one.
    pub project: PathBuf,
    pub has_s2s: bool,
    pub config: PathBuf,
    /// The user's state: keys of open rounds, sessions outside a project.
    pub state: PathBuf,
    pub notices: Vec<Diagnostic>,
}

impl Dirs {
    /// Finds them. `ROUNDTABLE_HOME`, if set, holds both `config` and `state`. A `.s2s` of another
    /// owner counts only where it is trusted.
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

    /// The project's `.s2s`, if it has one that counts.
    pub fn s2s(&self) -> Option<PathBuf> {
        self.has_s2s.then(|| self.project.join(".s2s"))
    }

    /// Returns the paths that the project may name, and those next to a definition if one is given.
    pub fn path_policy(&self, definition: Option<&str>) -> PathPolicy {
        PathPolicy::for_project(&self.project, definition)
    }

    /// New sessions are saved in the project if it has a `.s2s`, else in the user's state.
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

    /// A file of the project's `.s2s` as it is now; none where it is not there.
    pub fn of_project(&self, name: &str, limit: u64) -> Result<Option<String>, Diagnostic> {
        let Some(s2s) = self.s2s() else { return Ok(None) };
        let path = s2s.join(name);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        self.path_policy(None).check(&path)?;
        read_text(&path, limit).map(Some)
    }

    /// `CONTEXT.md` as it is now, its comments left out; `None` when absent or empty.
    pub fn context(&self) -> Result<Option<String>, Diagnostic> {
        let text = self.of_project("CONTEXT.md", 256 * 1024)?;
        text.map_or(Ok(None), |text| without_comments(&text))
    }

    /// A project's own strategy: `.s2s/strategies/NAME.yaml`.
    pub fn strategy(&self, name: &str) -> Result<Option<Strategy>, Diagnostic> {
        let text = self.strategy_text(name)?;
        text.map(|text| Strategy::parse(&text, name, &format!(".s2s/strategies/{name}.yaml"))).transpose()
    }

    /// The text of its file; `None` if the project has none of that name.
    pub fn strategy_text(&self, name: &str) -> Result<Option<String>, Diagnostic> {
        if is_name(name) { self.of_project(&format!("strategies/{name}.yaml"), 256 * 1024) } else { Ok(None) }
    }

    pub fn strategy_names(&self) -> Vec<String> {
        let entries = self.s2s().and_then(|s2s| std::fs::read_dir(s2s.join("strategies")).ok());
        let files = entries.into_iter().flatten().flatten();
        let names =
            files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".yaml").map(str::to_owned));
        // A built-in strategy of the same name is the one that is used.
        let is_own = |name: &String| is_name(name) && STRATEGIES.iter().all(|(known, _)| known != name);
        let mut names: Vec<String> = names.filter(is_own).collect();
        names.sort();
        names
    }

    /// The project's own tasks, links and reports, if it has some, and what trackers made of the tasks.
    pub fn tasks(&self) -> Result<(Option<String>, Option<String>), Diagnostic> {
        let tasks = self.of_project("tasks.yaml", MAX_TASKS)?;
        Ok((tasks, self.of_project("tasks.state.yaml", MAX_TASKS)?))
    }
}

/// A folder and those above it that are in the same repository; outside one, the folder alone.
fn in_repository(here: &Path) -> impl Iterator<Item = &Path> {
    let top = here.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()).unwrap_or(here);
    here.ancestors().take_while(move |dir| dir.starts_with(top))
}

/// A folder holds a `.s2s` that counts; one that does not is reported.
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

/// The file belongs neither to the user nor to root. Under `sudo` the user is the one who called it.
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

/// `~/.config` and `~/.local/state` as on Linux, on every Unix; the platform's own elsewhere.
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

/// The text without `<!-- … -->`, trimmed.
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
    fn comments_are_no_context() {
        let of = |text| without_comments(text).map_err(|problem| problem.message);
        assert_eq!(of("<!-- write here -->\n\n"), Ok(None));
        assert_eq!(of("A <!-- x --> B\r\nC\n"), Ok(Some("A  B\nC".to_owned())));
        let open = of("A\nUse `<!--` here\nNever redis");
        assert_eq!(open, Err("unclosed `<!--` in line 2 of `.s2s/CONTEXT.md`".to_owned()));
    }
}
