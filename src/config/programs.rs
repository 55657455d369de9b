//! Programs that take a seat: those known by name, those of the configuration, and where they are.
//!
//! Nothing is run here but what prints a version.

use std::path::{Path, PathBuf};

use super::need::{Need, What, passed};
use super::settings::{Config, ProviderConfig, Setting};
use crate::diagnostic::Diagnostic;
use crate::participants::programs::{NAMED, PASSED, SeatProgram, named};

/// A program that takes a seat, and the file of the project that names it, if one does.
pub struct ConfiguredProgram {
    pub program: SeatProgram,
    pub named_by: Option<String>,
    /// The folder it works in, where it may use its tools.
    pub folder: Option<PathBuf>,
}

impl ConfiguredProgram {
    pub fn need(&self) -> Need {
        let command = self.program.command.clone();
        let folder = self.folder.as_ref().map(|folder| folder.display().to_string());
        let usual = passed(&PASSED).into_iter().chain(["LC_*", "TERM=dumb"].map(str::to_owned));
        let set = self.program.set.iter().map(|(name, value)| format!("{name}={value}"));
        let env = usual.chain(set).chain(self.program.env.iter().cloned()).collect();
        Need { what: What::Program { command, folder, env }, named_by: self.named_by.clone() }
    }

    /// Returns the program with its tools for a model, in the project's folder, where a file allows them; none
    /// where it is not known how.
    pub fn with_tools(&self, model: &str, file: &str, config: &Config) -> Option<Self> {
        let program = self.program.with_tools(model)?;
        Some(Self { program, named_by: Some(file.to_owned()), folder: Some(config.project.clone()) })
    }

    pub fn path(&self, config: &Config) -> Result<PathBuf, Diagnostic> {
        let name = self.program.executable();
        find(name, &config.project).ok_or_else(|| {
            let hint = "install it, or seat another model; folders of PATH inside the project are skipped";
            Diagnostic::new(format!("`{name}` is not on PATH")).hint(hint)
        })
    }
}

/// Returns the program behind a provider, if a program is.
pub fn program(config: &Config, provider: &str) -> Option<ConfiguredProgram> {
    let said = config.providers.get(provider);
    let own = said.and_then(|said| said.own.as_ref());
    if let Some(mut program) = named(provider) {
        let added = own.map(|own| own.value.program.clone()).unwrap_or_default();
        program.command.extend(added.arguments.iter().cloned());
        program.tools_command.extend(added.arguments);
        let program = SeatProgram { env: added.env, allow_tools: added.allow_tools, ..program };
        return Some(ConfiguredProgram { program, named_by: None, folder: None });
    }
    let project = said.and_then(|said| said.project.as_ref());
    let is_program = |setting: &&Setting<ProviderConfig>| !setting.value.program.command.is_empty();
    let by_project = project.filter(is_program);
    let setting = by_project.or(own.filter(is_program))?;
    let mut program = setting.value.program.clone();
    if program.version.is_empty() {
        program.version = vec![program.executable().to_owned(), "--version".to_owned()];
    }
    let named_by = by_project.map(|project| project.from.clone());
    Some(ConfiguredProgram { program, named_by, folder: None })
}

/// Returns the providers that are programs known by name and on the user's `PATH`.
pub fn found(config: &Config) -> Vec<&'static str> {
    let is_there =
        |provider: &&str| program(config, provider).is_some_and(|found| found.path(config).is_ok());
    NAMED.iter().map(|(known, _)| *known).filter(is_there).collect()
}

/// Returns an executable by its name: in the folders of `PATH` that are absolute and not inside the project,
/// unless that is the user's home; by its path where it has one.
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
