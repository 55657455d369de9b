//! Sessions of the built program, with the model `openai/test` on loopback.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use roundtable::history::Session;
use roundtable::journal::{EventLog, fold, read_log, verify};

use crate::cases;
use crate::patience::{Patient as _, SOON, wait_for};
use crate::program::{Desk, Ran, run};
use crate::server::{Request, Server};

impl Desk {
    pub fn batch(&self, server: &Server, arguments: &[&str]) -> Command {
        let mut command = self.command([&["--batch"], arguments].concat());
        command.env("OPENAI_BASE_URL", server.url() + "/v1").stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn begin(&self, server: &Server, arguments: &[&str]) -> Child {
        self.batch(server, arguments).start().expect("starts")
    }

    pub fn hold(&self, server: &Server, arguments: &[&str]) -> Ran {
        run(&mut self.batch(server, arguments))
    }

    pub fn keys(&self) -> Vec<PathBuf> {
        let listed = std::fs::read_dir(self.home().join("state/keys")).into_iter().flatten();
        let files = listed.map(|entry| entry.expect("listed").path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "key")).collect()
    }

    pub fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.path(file)).expect("a file")
    }

    pub fn kept(&self, file: &str) -> EventLog {
        read_log(&self.bytes(file)).expect("readable")
    }

    pub fn state(&self, file: &str) -> Session {
        fold(&self.kept(file))
    }

    /// Returns the state of the only saved session.
    #[track_caller]
    pub fn saved(&self) -> Session {
        fold(&read_log(&std::fs::read(self.session()).expect("a file")).expect("readable"))
    }

    pub fn until(&self, file: &str, wanted: impl Fn(&Session) -> bool) -> Session {
        let path = self.path(file);
        wait_for("the wanted state of the session", || {
            let log = read_log(&std::fs::read(&path).ok()?).expect("readable");
            Some(fold(&log)).filter(|session| wanted(session))
        })
    }
}

/// Fails unless these bytes are a session that verifies.
#[track_caller]
pub fn is_sound(bytes: &[u8]) {
    assert_eq!(verify(bytes, None).findings, []);
}

/// Returns the limit for promises of "a second": one second in a full run, which has the machine to itself.
pub fn a_second() -> Duration {
    cases(SOON, Duration::from_secs(1))
}

pub struct Asked {
    pub seat: String,
    pub round: u32,
    /// Everything before the addressed lines.
    pub shared: String,
}

pub fn asked(request: &Request) -> Asked {
    let user = request.user_text();
    let (shared, rest) = user.split_once("  your_role: ").expect("an address");
    let seat = rest.lines().next().expect("a seat").trim_matches('"').to_owned();
    let round = shared.lines().find_map(|line| line.strip_prefix("  current_round: ")).expect("a round");
    Asked { seat, round: round.parse().expect("a number"), shared: shared.to_owned() }
}
