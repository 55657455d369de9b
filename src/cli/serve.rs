//! `serve`: a headless run whose `remote/link` seats vote in a browser, and whose `remote/inbox` agents poll.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;

use super::args::ServeArgs;
use super::console::{Console, is_on_terminal};
use super::link_door::{Access, LinkDoor, qr_code};
use crate::config::remote::RemoteConfig;
use crate::diagnostic::Diagnostic;
use crate::launch::environment::Environment;
use crate::launch::error::RunError;

pub struct ServedDoor<'a> {
    pub args: &'a ServeArgs,
    pub door: Arc<LinkDoor>,
}

/// Links to print once their invitations are on disk, and the file for them.
pub struct Links {
    pub access: IndexMap<String, Access>,
    file: Option<File>,
}

impl<'a> ServedDoor<'a> {
    /// Binds the address that is given, else that of the settings.
    pub fn bind(args: &'a ServeArgs, set_up: &Environment) -> Result<Self, Diagnostic> {
        let is_given = args.door != RemoteConfig::default();
        let asked = if is_given { args.door.clone() } else { set_up.config.remote.clone() };
        Ok(Self { args, door: Arc::new(LinkDoor::bind(asked, set_up.keys())?) })
    }

    /// Makes the file for links, before anybody is invited.
    pub fn links(&self, output: &Console) -> Result<Links, RunError> {
        let file = self.args.links.as_deref().map(new_file).transpose()?;
        self.door.notes.iter().for_each(|note| output.note(note));
        Ok(Links { access: IndexMap::new(), file })
    }
}

fn new_file(path: &Path) -> Result<File, Diagnostic> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| {
        let problem = Diagnostic::new(format!("cannot write the links: {error}"));
        problem.hint("--links never overwrites: choose another path").with_file(&path.display().to_string())
    })
}

impl Links {
    /// Prints the link of each seat, with its code for a phone's camera where a terminal shows it.
    pub fn print(self, output: &Console) {
        if let Some(mut file) = self.file {
            let lines = self.access.iter().map(|(seat, access)| format!("{seat} {}\n", access.text));
            if let Err(error) = file.write_all(lines.collect::<String>().as_bytes()) {
                output.warn(&Diagnostic::new(format!("cannot write the links: {error}")));
            }
        }
        for (seat, Access { text, is_agent }) in &self.access {
            if *is_agent {
                output.note(&format!("for agent {seat}:\n{}", text.replace(' ', "\n")));
                continue;
            }
            output.note(&format!("link of {seat}: {text}"));
            if let Some(code) = qr_code(text).filter(|_| is_on_terminal()) {
                output.note(&code);
            }
        }
        output.note("whoever has a link or token first is that seat: give each to one person or agent alone");
    }
}
