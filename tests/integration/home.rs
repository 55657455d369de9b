//! The program run as a person runs it, in a home of its own, against a service on loopback.
//!
//! Starts the built binary with a clean environment; knows folders and files, not what is in them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use roundtable::history::Session;
use roundtable::journal::{EventLog, fold, read_log};

use crate::cases;
use crate::patience::{Patient as _, SOON, wait_for};
use crate::server::{Request, Server};

pub struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Self {
        crate::patience::watch();
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).expect("written");
        self.path(name)
    }

    pub fn command(&self, program: &str, server: &Server) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("ROUNDTABLE_HOME", self.path("home"))
            .env("OPENAI_BASE_URL", server.url() + "/v1")
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&self, server: &Server, arguments: &[&str]) -> Child {
        let mut command = self.command(env!("CARGO_BIN_EXE_roundtable"), server);
        command.arg("--batch").args(arguments).start().expect("starts")
    }

    pub fn run(&self, server: &Server, arguments: &[&str]) -> Output {
        self.start(server, arguments).wait_with_output().expect("ends")
    }

    pub fn keys(&self) -> Vec<PathBuf> {
        let listed = std::fs::read_dir(self.path("home/state/keys")).into_iter().flatten();
        listed.map(|entry| entry.expect("listed").path()).collect()
    }

    pub fn log(&self, name: &str) -> EventLog {
        read_log(&std::fs::read(self.path(name)).expect("a file")).expect("readable")
    }

    pub fn session(&self, name: &str) -> Session {
        fold(&self.log(name))
    }

    /// The state in the file as soon as it is as wanted.
    pub fn wait_for(&self, name: &str, wanted: impl Fn(&Session) -> bool) -> Session {
        let path = self.path(name);
        wait_for("the wanted state of the session", || {
            let log = read_log(&std::fs::read(&path).ok()?).expect("readable");
            Some(fold(&log)).filter(|session| wanted(session))
        })
    }
}

/// What a promise of a second may take: a second where all cases run, on a machine that does nothing else.
pub fn a_second() -> Duration {
    cases(SOON, Duration::from_secs(1))
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a request asks, as its user message says.
pub struct Asked {
    pub seat: String,
    pub round: u32,
    pub shared: String,
}

pub fn asked(request: &Request) -> Asked {
    let body = request.json();
    let user = body["messages"][1]["content"].as_str().expect("a user message").to_owned();
    let (shared, rest) = user.split_once("  your_role: ").expect("an address");
    let seat = rest.lines().next().expect("a seat").trim_matches('"').to_owned();
    let round = shared.lines().find_map(|line| line.strip_prefix("  current_round: ")).expect("a round");
    Asked { seat, round: round.parse().expect("a number"), shared: shared.to_owned() }
}
