//! Environment of a run: folders, settings, the user's consent, randomness.

use crate::config::dirs::Dirs;
use crate::config::findings::InstalledProgram;
use crate::config::participant_factory::ParticipantFactory;
use crate::config::settings::Config;
use crate::config::trust::Trust;
use crate::diagnostic::Diagnostic;
use crate::journal::{Disk, KeyStore};

pub const PROGRAM: &str = concat!("roundtable ", env!("CARGO_PKG_VERSION"));

pub struct Environment {
    pub folders: Dirs,
    pub config: Config,
    /// Consent to what the project's files start or redirect.
    pub trust: Trust,
}

impl Environment {
    /// Finds the folders and reads the configuration. With `trusts`, the project may name anything.
    pub fn find(trusts: bool) -> Result<Self, Vec<Diagnostic>> {
        let folders = Dirs::find(trusts)?;
        let config = Config::load(&folders)?;
        let trust = Trust::open(&folders, trusts);
        Ok(Self { folders, config, trust })
    }

    /// Returns warnings about the project's folder and configuration.
    pub fn notices(&self) -> impl Iterator<Item = &Diagnostic> {
        self.folders.notices.iter().chain(&self.config.notices)
    }

    pub fn keys(&self) -> KeyStore {
        KeyStore::new(Disk::default(), &self.folders.keys())
    }

    pub fn catalog(&self) -> ParticipantFactory<'_> {
        ParticipantFactory::new(&self.config, &self.trust)
    }

    /// Returns the installed program that answers for a model, if any.
    pub fn installed<'a>(&self, model: &'a str) -> Result<Option<InstalledProgram<'a>>, Diagnostic> {
        InstalledProgram::find(model, &self.catalog(), &self.folders)
    }
}

pub fn random<const N: usize>() -> Result<[u8; N], Diagnostic> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Diagnostic::new(format!("the operating system gives no randomness: {error}")))?;
    Ok(bytes)
}
