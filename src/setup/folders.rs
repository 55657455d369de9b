//! Where things lie: the project's `.s2s`, the user's configuration and state.

use std::path::{Path, PathBuf};

use super::bounds::Bounds;
use crate::problem::Problem;

/// The folders of one run.
#[derive(Debug, Clone)]
pub struct Folders {
    /// The nearest folder upwards that holds a `.s2s`, else the current one.
    pub project: PathBuf,
    /// Whether the project has a `.s2s`.
    pub has_s2s: bool,
    /// The user's configuration.
    pub config: PathBuf,
    /// The user's state: keys of open rounds, sessions outside a project.
    pub state: PathBuf,
}

impl Folders {
    /// Finds them. `ROUNDTABLE_HOME`, if set, holds both `config` and `state`.
    ///
    /// # Errors
    /// When there is no home folder to put them in.
    pub fn find() -> Result<Self, Problem> {
        let here = std::env::current_dir()
            .map_err(|error| Problem::new(format!("the current folder cannot be read: {error}")))?;
        let project = here.ancestors().find(|dir| dir.join(".s2s").is_dir());
        let has_s2s = project.is_some();
        let (config, state) = match std::env::var_os("ROUNDTABLE_HOME").filter(|home| !home.is_empty()) {
            Some(home) => (PathBuf::from(&home).join("config"), PathBuf::from(&home).join("state")),
            None => user_folders()?,
        };
        Ok(Self { project: project.unwrap_or(&here).to_owned(), has_s2s, config, state })
    }

    /// The project's `.s2s`.
    pub fn s2s(&self) -> PathBuf {
        self.project.join(".s2s")
    }

    /// Where new sessions are saved: in the project if it has a `.s2s`, else in the user's state.
    pub fn sessions(&self) -> PathBuf {
        if self.has_s2s { self.s2s().join("sessions") } else { self.state.join("sessions") }
    }

    /// As [`Folders::sessions`], to write there.
    ///
    /// # Errors
    /// When the project's folder of sessions is a link that leads out of the project.
    pub fn sessions_to_write(&self) -> Result<PathBuf, Problem> {
        let sessions = self.sessions();
        if self.has_s2s {
            Bounds::of(self, None).check(&sessions)?;
        }
        Ok(sessions)
    }

    /// Where the keys of open rounds lie.
    pub fn keys(&self) -> PathBuf {
        self.state.join("keys")
    }

    /// Where what is typed is kept until it is handed in.
    pub fn drafts(&self) -> PathBuf {
        self.state.join("drafts")
    }

    /// `CONTEXT.md` as it is now, its comments left out; `None` when absent or empty.
    ///
    /// # Errors
    /// When it is there and cannot be read: a round must not be frozen without it.
    pub fn context(&self) -> Result<Option<String>, Problem> {
        let path = self.s2s().join("CONTEXT.md");
        if !path.exists() {
            return Ok(None);
        }
        Bounds::of(self, None).check(&path)?;
        read_text(&path, 256 * 1024).map(|text| without_comments(&text))
    }
}

impl Folders {
    /// The project's own tasks, links and reports, if it has some.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn tasks(&self) -> Result<Option<String>, Problem> {
        let path = self.s2s().join("tasks.yaml");
        if !path.exists() {
            return Ok(None);
        }
        Bounds::of(self, None).check(&path)?;
        read_text(&path, 4 * 1024 * 1024).map(Some)
    }
}

/// `~/.config` and `~/.local/state` as on Linux, on every Unix; the platform's own elsewhere.
fn user_folders() -> Result<(PathBuf, PathBuf), Problem> {
    let missing =
        || Problem::new("there is no home folder").hint("set ROUNDTABLE_HOME to a folder of your own");
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

/// What is said of a file that cannot be read.
pub fn unreadable(path: &Path, cause: &std::io::Error) -> Problem {
    let problem = match cause.kind() {
        std::io::ErrorKind::NotFound => Problem::new("there is no such file").hint("check the path"),
        std::io::ErrorKind::IsADirectory => {
            Problem::new("this is a folder").hint("give a file; the shell's `*.yaml` names several")
        }
        std::io::ErrorKind::PermissionDenied => {
            Problem::new("may not be read").hint("check the file's permissions")
        }
        _ => Problem::new(format!("cannot be read: {cause}")),
    };
    problem.in_file(&path.display().to_string())
}

/// Reads a text file of at most `limit` bytes.
///
/// # Errors
/// When it cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, Problem> {
    let name = path.display().to_string();
    let bytes = crate::journal::Disk::default()
        .read(path, limit.saturating_add(1))
        .map_err(|error| unreadable(path, &error.cause))?;
    if bytes.len() as u64 > limit {
        return Err(Problem::new(format!("is larger than {limit} bytes")).in_file(&name));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        Problem::new("is not UTF-8 text").hint("save the file as UTF-8").at(&name, line, 0)
    })
}

/// The text without `<!-- … -->`, trimmed.
fn without_comments(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    let out = out.trim().replace("\r\n", "\n");
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_are_no_context() {
        assert_eq!(without_comments("<!-- write here -->\n\n"), None);
        assert_eq!(without_comments("A <!-- x --> B\r\nC\n").as_deref(), Some("A  B\nC"));
    }
}
