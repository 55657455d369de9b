//! Lookup of built-in and configured programs for seats; it does not run them.

use std::path::{Path, PathBuf};

use super::need::{Need, NeedKind};
use super::settings::{Config, Provider};
use crate::diagnostic::Diagnostic;
use crate::participants::external_program::PASSED;
use crate::participants::programs::{PRESETS, SeatProgram, find_preset};
use crate::workflow::ProgramSpec;

/// Program for a seat, and the project's file that names it, if any.
pub struct ConfiguredProgram {
    pub program: SeatProgram,
    pub named_by: Option<String>,
    /// Working folder, if it may use tools.
    pub folder: Option<PathBuf>,
}

impl ConfiguredProgram {
    /// Returns the program of a participant's `command`, which runs in the user's current folder.
    pub fn of_command(command: &ProgramSpec, named_by: &str) -> Self {
        let ProgramSpec { command, env, ok_exit, .. } = command.clone();
        let program = SeatProgram { command, env, ok_exit, ..SeatProgram::default() };
        Self { program, named_by: Some(named_by.to_owned()), folder: Some(PathBuf::from(".")) }
    }

    pub fn need(&self) -> Need {
        let command = self.program.command.clone();
        let folder = self.folder.as_ref().filter(|folder| *folder != Path::new("."));
        let folder = folder.map(|folder| folder.display().to_string());
        let set = self.program.set.iter().map(|(name, value)| format!("{name}={value}"));
        let usual = PASSED.map(str::to_owned).into_iter();
        let env = usual.chain(set).chain(self.program.env.iter().cloned()).collect();
        Need { what: NeedKind::Program { command, folder, env }, named_by: self.named_by.clone() }
    }

    pub fn path(&self, config: &Config) -> Result<PathBuf, Diagnostic> {
        let name = self.program.executable();
        if self.program.provider.is_empty() {
            return Ok(PathBuf::from(name));
        }
        find(name, &config.project).ok_or_else(|| {
            let hint = "install it, or seat another model; folders of PATH inside the project are skipped";
            Diagnostic::new(format!("`{name}` is not on PATH")).hint(hint)
        })
    }
}

pub fn program(config: &Config, provider: &str) -> Option<ConfiguredProgram> {
    let Provider { own, project, named_by } = config.providers.get(provider).cloned().unwrap_or_default();
    if let Some(mut program) = find_preset(provider) {
        let added = own.program;
        program.command.extend(added.arguments.iter().cloned());
        program.tools_command.extend(added.arguments);
        let program = SeatProgram { env: added.env, allow_tools: added.allow_tools, ..program };
        return Some(ConfiguredProgram { program, named_by: None, folder: None });
    }
    let is_projects = !project.program.command.is_empty();
    let mut program = if is_projects { project.program } else { own.program };
    if program.command.is_empty() {
        return None;
    }
    if program.version.is_empty() {
        program.version = vec![program.executable().to_owned(), "--version".to_owned()];
    }
    Some(ConfiguredProgram { program, named_by: named_by.filter(|_| is_projects), folder: None })
}

/// Returns the built-in programs that are installed.
pub fn installed(config: &Config) -> Vec<&'static str> {
    let is_there =
        |provider: &&str| program(config, provider).is_some_and(|found| found.path(config).is_ok());
    PRESETS.iter().map(|(known, _)| *known).filter(is_there).collect()
}

/// Returns an executable by name or path. A name is searched in the absolute folders of `PATH`; folders inside
/// the project are skipped, unless the project is the user's home.
pub(super) fn find(name: &str, project: &Path) -> Option<PathBuf> {
    if name.contains(['/', '\\']) {
        return std::path::absolute(name).ok().filter(|path| is_executable(path));
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let home = std::env::var_os("HOME").map(|home| real(Path::new(&home)));
    let project = Some(real(project)).filter(|project| Some(project) != home.as_ref());
    let is_foreign = |folder: &PathBuf| {
        folder.is_absolute() && !project.as_ref().is_some_and(|project| real(folder).starts_with(project))
    };
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).filter(is_foreign).collect();
    let names = [name.to_owned(), format!("{name}{}", std::env::consts::EXE_SUFFIX)];
    let places = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    places.into_iter().find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
