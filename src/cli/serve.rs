//! `serve`: a headless run whose `remote/link` seats vote in a browser, and whose `remote/inbox` agents poll.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use indexmap::IndexMap;

use super::args::ServeArgs;
use super::console::{Console, is_on_terminal};
use super::link_door::DoorInputs;
use super::link_door::{Access, LinkDoor, qr_code};
use crate::config::Config;
use crate::config::dirs::Dirs;
use crate::config::remote::RemoteConfig;
use crate::diagnostic::Diagnostic;
use crate::engine::RemoteSeats;
use crate::history::Session;
use crate::launch::error::RunError;

pub struct ServedDoor<'a> {
    args: &'a ServeArgs,
    door: LinkDoor,
    /// Links that are told once their invitations are on disk, and the file that they go to.
    untold: Mutex<Option<Links>>,
}

struct Links {
    access: IndexMap<String, Access>,
    file: Option<File>,
}

impl<'a> ServedDoor<'a> {
    /// Binds the address that is given, else that of the settings.
    pub fn bind(args: &'a ServeArgs) -> Result<Self, RunError> {
        let mut asked = args.door.clone();
        if asked == RemoteConfig::default() {
            asked = Config::load(&Dirs::find(args.common.trust.trust)?)?.remote;
        }
        Ok(Self { args, door: LinkDoor::bind(asked)?, untold: Mutex::new(None) })
    }

    pub fn open(&self, of: &DoorInputs<'_>, output: &mut Console) -> Result<RemoteSeats, RunError> {
        let file = self.args.links.as_deref().map(new_file).transpose()?;
        let opened = self.door.open(of)?;
        self.door.notes().iter().for_each(|note| output.note(note));
        if let Ok(mut untold) = self.untold.lock() {
            *untold = Some(Links { access: opened.access, file });
        }
        Ok(opened.remote)
    }

    /// Shows the state after a write to disk, and prints the links once they work.
    pub fn see(&self, session: &Session, output: &mut Console) {
        self.door.see(session);
        let untold = self.untold.lock().ok().and_then(|mut untold| untold.take());
        if let Some(links) = untold {
            links.print(output);
        }
    }

    /// The options with which the same links work again, each with a space before it.
    pub fn options(&self) -> String {
        self.door.options()
    }

    pub fn linger(&self) -> u64 {
        self.args.linger
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
    fn print(self, output: &mut Console) {
        if let Some(mut file) = self.file {
            let lines = self.access.iter().map(|(seat, access)| format!("{seat} {}\n", access.text()));
            if let Err(error) = file.write_all(lines.collect::<String>().as_bytes()) {
                output.warn(&Diagnostic::new(format!("cannot write the links: {error}")));
            }
        }
        for (seat, access) in &self.access {
            let text = access.text();
            if matches!(access, Access::Agent { .. }) {
                output.note(&format!("for agent {seat}:\n{}", text.replace(' ', "\n")));
                continue;
            }
            output.note(&format!("link of {seat}: {text}"));
            if let Some(code) = qr_code(&text).filter(|_| is_on_terminal()) {
                output.note(&code);
            }
        }
        output.note("whoever has a link or token first is that seat: give each to one person or agent alone");
    }
}
