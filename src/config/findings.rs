//! Measurements of programs in the user's state: a file for each program, version and flags.

use std::path::{Path, PathBuf};

use super::dirs::Dirs;
use super::programs::ConfiguredProgram;
use crate::diagnostic::Diagnostic;
use crate::journal::{Disk, DiskError};
use crate::participants::external_program::apart;
use crate::participants::programs::{WiretapFinding, fingerprint, measure, version};
use crate::round::snapshot::sha256_hex;

/// A finding is no larger, in bytes.
const MOST: u64 = 64 * 1024;

pub struct WiretapFindings {
    folder: PathBuf,
}

/// A program that is there, and what is known of what it sends.
pub struct Measured {
    pub version: String,
    /// Why there is none: never measured, or not in this version.
    pub finding: Option<WiretapFinding>,
}

impl WiretapFindings {
    pub fn of(folders: &Dirs) -> Self {
        Self { folder: folders.state.join("wiretaps") }
    }

    fn path(&self, found: &ConfiguredProgram, version: &str, model: &str) -> PathBuf {
        self.folder.join(prefix(found, version) + &fingerprint(&found.program, model))
    }

    pub fn in_words(&self, found: &ConfiguredProgram, version: &str) -> String {
        let prefix = prefix(found, version);
        let mut kept = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        if kept.any(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)) {
            "measured".to_owned()
        } else if found.program.is_declared("") {
            "declared, not checked".to_owned()
        } else {
            format!("not measured in this version (`doctor --wiretap {}/MODEL`)", found.program.provider)
        }
    }

    /// Asks a program at `path` for its version, and returns what was found of it.
    pub fn of_program(
        &self,
        found: &ConfiguredProgram,
        path: &Path,
        model: &str,
    ) -> Result<Measured, Diagnostic> {
        let name = found.program.executable();
        let version = apart(version(&found.program, path))
            .map_err(|why| Diagnostic::new(format!("`{name}` cannot be asked for its version: {why}")))?;
        let kept = Disk::default().read_own(&self.path(found, &version, model), MOST).ok();
        let finding = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(Measured { version, finding })
    }

    pub fn measure(
        &self,
        found: &ConfiguredProgram,
        path: &Path,
        version: &str,
        model: &str,
    ) -> Result<WiretapFinding, Diagnostic> {
        let finding = apart(measure(&found.program, path, model)).map_err(|why| {
            let hint = "try it by itself; a program without tools can be declared with `tool_less: true`";
            Diagnostic::new(why).hint(hint)
        })?;
        let text = serde_json::to_vec(&finding).unwrap_or_default();
        let keep = || -> Result<(), DiskError> {
            let disk = Disk::default();
            disk.make_own_dir(&self.folder)?;
            disk.write_whole(&self.path(found, version, model), &text)
        };
        // A finding that is not kept is measured again.
        let _ = keep();
        Ok(finding)
    }
}

/// The common beginning of the names of all findings of one program and version.
fn prefix(found: &ConfiguredProgram, version: &str) -> String {
    let hash = sha256_hex(format!("{}\n{version}", found.program.provider));
    format!("{}-", hash.get(..16).unwrap_or_default())
}
