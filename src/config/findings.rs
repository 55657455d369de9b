//! Installed programs for seats, and measurements of their requests.
//!
//! A measurement is a file in the user's state per program, version and flags. A program that declares tools or
//! changes the snapshot gets no seat in a blind round.

use std::path::{Path, PathBuf};

use super::dirs::Dirs;
use super::participant_factory::ParticipantFactory;
use crate::diagnostic::Diagnostic;
use crate::history::Wrapped;
use crate::journal::Disk;
use crate::participants::external_program::run_on_own_thread;
use crate::participants::programs::{SeatProgram, WiretapFinding, fingerprint, measure, version};
use crate::round::snapshot::sha256_hex;

/// Limit of a measurement's file, in bytes.
const MOST: u64 = 64 * 1024;

/// Installed program that answers for a model.
pub struct InstalledProgram<'a> {
    model: &'a str,
    program: SeatProgram,
    pub path: PathBuf,
    pub version: String,
    /// `None` if this version was never measured.
    pub finding: Option<WiretapFinding>,
    /// File of the measurement in the user's state.
    file: PathBuf,
}

impl<'a> InstalledProgram<'a> {
    /// Finds a model's program, asks for its version and loads its measurement; `None` without a program.
    pub fn find(
        model: &'a str,
        catalog: &ParticipantFactory<'_>,
        folders: &Dirs,
    ) -> Result<Option<Self>, Diagnostic> {
        let (provider, name) = model.split_once('/').unwrap_or((model, ""));
        let Some(found) = catalog.seat_program(provider) else { return Ok(None) };
        let path = catalog.runnable(&found)?;
        let program = found.program;
        let version = run_on_own_thread(version(&program, &path)).map_err(|why| {
            let name = program.executable();
            Diagnostic::new(format!("`{name}` cannot be asked for its version: {why}"))
        })?;
        let file = findings(folders).join(prefix(&program, &version) + &fingerprint(&program, name));
        let kept = Disk::default().read_own(&file, MOST).ok();
        let finding = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Some(Self { model, program, path, version, finding, file }))
    }

    fn name(&self) -> &str {
        self.model.split_once('/').map_or("", |(_, name)| name)
    }

    /// Returns a notice about the user's settings that the seat ignores, if any.
    pub fn ignored_settings(&self) -> Option<Diagnostic> {
        let aside = self.program.ignored_settings(false)?;
        Some(Diagnostic::new(format!("`{}`: {aside}", self.model)))
    }

    /// Returns the program if its requests were neither measured nor declared.
    pub fn unknown(&self) -> Option<&SeatProgram> {
        let is_known = self.finding.is_some() || self.program.is_declared();
        (!is_known).then_some(&self.program)
    }

    pub fn measure(&mut self) -> Result<&WiretapFinding, Diagnostic> {
        let measured = run_on_own_thread(measure(&self.program, &self.path, self.name()));
        let finding = measured.map_err(|why| {
            Diagnostic::new(why).hint(match (self.program.is_measurable(), self.program.tool_less) {
                (true, _) => "try it by itself",
                (false, true) => "it takes a seat without a measurement: it is declared `tool_less`",
                (false, false) => "a program without tools can be declared with `tool_less: true`",
            })
        })?;
        let text = serde_json::to_vec(&finding).unwrap_or_default();
        let disk = Disk::default();
        let made = disk.make_own_dir(self.file.parent().unwrap_or(Path::new("")));
        // A measurement that cannot be stored is repeated next time.
        let _ = made.and_then(|()| disk.write_whole(&self.file, &text));
        Ok(self.finding.insert(finding))
    }

    /// Returns why the program gets no seat in a blind round, if a measurement shows a reason.
    pub fn refusal(&self) -> Option<Diagnostic> {
        let (model, program, finding) = (self.model, &self.program, self.finding.as_ref()?);
        if !finding.is_whole {
            let problem =
                Diagnostic::new(format!("`{model}` does not send the snapshot whole and unchanged"));
            return Some(problem.hint("seat another model; a blind round hands everyone the same bytes"));
        }
        let refused: Vec<String> =
            finding.tools.iter().filter(|tool| !program.allow_tools.contains(tool)).cloned().collect();
        if refused.is_empty() {
            return None;
        }
        let message =
            format!("`{model}` declares tools ({}); blind rounds allow no tools", refused.join(", "));
        Some(Diagnostic::new(message).hint(format!(
            "name another model, or for tools that read, run and fetch nothing set \
             `providers.{}.allow_tools` in your config.yaml",
            program.provider
        )))
    }

    pub fn wrapped(self) -> Wrapped {
        let program = self.program.executable().to_owned();
        let Some(found) = self.finding else {
            return Wrapped { program, version: self.version, ..Wrapped::default() };
        };
        Wrapped {
            program,
            version: self.version,
            tools: found.tools,
            bytes_before: Some(found.bytes_before),
            bytes_after: Some(found.bytes_after),
            requests: Some(found.requests),
            checked_at: Some(found.checked_at),
        }
    }
}

/// Describes whether a version of a program was measured, with any model.
pub fn measurement_status(program: &SeatProgram, version: &str, folders: &Dirs) -> String {
    let prefix = prefix(program, version);
    let mut kept = std::fs::read_dir(findings(folders)).into_iter().flatten().flatten();
    if kept.any(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
        "measured".to_owned()
    } else if program.is_declared() {
        "declared, not checked".to_owned()
    } else {
        format!("not measured in this version (`doctor --wiretap {}/MODEL`)", program.provider)
    }
}

fn findings(folders: &Dirs) -> PathBuf {
    folders.state.join("wiretaps")
}

/// Returns the common prefix of the measurement files of one program and version.
fn prefix(program: &SeatProgram, version: &str) -> String {
    let hash = sha256_hex(format!("{}\n{version}", program.provider));
    format!("{}-", hash.get(..16).unwrap_or_default())
}
