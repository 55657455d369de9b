//! Whole program in a sandbox: a path, a home, a working folder.
//!
//! A [`Desk`] is one user's desk; its runs see nothing of the real machine. It checks nothing by itself.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use roundtable::history::Session;
use roundtable::journal::{EventLog, fold, read_log, verify};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::patience::{Patient as _, wait_for};
use crate::server::Server;

/// A working folder, and a home that is empty at first.
pub struct Desk {
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
    /// Whether runs without a screen are rehearsals.
    rehearses: bool,
}

#[derive(Debug, Clone)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        self.out.lines().map(parse).collect()
    }

    /// Fails unless the program ended with this code.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// Fails unless standard error contains these words.
    #[track_caller]
    pub fn tells(&self, words: &str) -> &Self {
        assert!(self.err.contains(words), "no `{words}` in the errors of {self:#?}");
        self
    }

    /// Fails unless one of the two streams contains these words.
    #[track_caller]
    pub fn says(&self, words: &str) -> &Self {
        assert!(self.out.contains(words) || self.err.contains(words), "no `{words}` in {self:#?}");
        self
    }

    /// Fails unless standard output contains these words.
    #[track_caller]
    pub fn shows(&self, words: &str) -> &Self {
        assert!(self.out.contains(words), "no `{words}` in the output of {self:#?}");
        self
    }
}

impl Desk {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("desk")).expect("a folder");
        Self { dir, env: Vec::new(), rehearses: false }.configured("model: rehearsal\n")
    }

    /// Returns a desk with this `decide.yaml`.
    pub fn with(definition: &str) -> Self {
        let desk = Self::new();
        desk.write("decide.yaml", definition);
        desk
    }

    /// Returns a desk with this `decide.yaml` whose runs are rehearsals.
    pub fn rehearsing(definition: &str) -> Self {
        Self { rehearses: true, ..Self::with(definition) }
    }

    /// Returns a desk whose seats have a model, for tests that ask nobody.
    pub fn modelled(definition: &str) -> Self {
        Self::with(definition).configured("model: human\n")
    }

    /// Replaces the user's configuration, by which seats without a model are placeholders.
    #[must_use]
    pub fn configured(self, config: impl AsRef<[u8]>) -> Self {
        self.write("../home/config/config.yaml", config);
        self
    }

    /// Sets a variable for all runs.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes the provider `lab` answer from this server, with a key.
    #[must_use]
    pub fn served_by(self, server: &Server) -> Self {
        let url = server.url();
        let config = format!(
            "model: rehearsal\nproviders:\n  lab: {{api: openai, base_url: \"{url}/v1\", key_env: LAB_KEY}}\n"
        );
        self.configured(config).set("LAB_KEY", KEY)
    }

    /// Appends to the user's configuration.
    pub fn configure(&self, more: &str) {
        let path = "../home/config/config.yaml";
        let before = fs::read_to_string(self.path(path)).unwrap_or_default();
        self.write(path, before + more);
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("desk").join(name)
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
        command.args(args).current_dir(self.path("")).env_clear();
        if self.rehearses && command.get_args().any(|arg| arg == "--batch") {
            command.arg("--rehearse");
        }
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("ROUNDTABLE_HOME", self.home());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Ran {
        run(&mut self.command(args))
    }

    /// Runs `decide.yaml` with these flags, saved as `s.s2s`, which must verify.
    #[track_caller]
    pub fn saves(&self, flags: &[&str]) -> Ran {
        let _ = fs::remove_file(self.path("s.s2s"));
        let ran = self.run([&["--batch", "decide.yaml", "--save", "s.s2s"], flags].concat());
        self.is_sound("s.s2s");
        ran
    }

    /// Fails unless this session verifies; a process would check the same in twice the time.
    #[track_caller]
    pub fn is_sound(&self, file: &str) {
        is_sound(&self.bytes(file));
    }

    /// Does the same with an answers file.
    #[track_caller]
    pub fn answered(&self, answers: impl Display, flags: &[&str]) -> Ran {
        self.write("answers.yaml", answers.to_string());
        self.saves(&[&["--answers", "answers.yaml"], flags].concat())
    }

    /// Runs the program with this standard input.
    pub fn pipe<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>, input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.start().expect("the program starts");
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        ran(child.wait_with_output().expect("the program ends"))
    }

    pub fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Child {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).start().expect("the program starts")
    }

    pub fn files(&self) -> Vec<PathBuf> {
        let mut files =
            [self.path(""), self.home()].iter().flat_map(|folder| files_in(folder)).collect::<Vec<_>>();
        files.sort();
        files
    }

    /// Returns a shell in this folder with the program's variables: `$0` is the program, `$@` are the arguments.
    pub fn shell(&self, script: &str, args: &[&str]) -> Command {
        let plain = self.command(args);
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).arg(plain.get_program()).args(plain.get_args());
        shell.current_dir(self.path("")).env_clear();
        shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        shell
    }

    #[track_caller]
    pub fn log(&self, file: &str) -> Vec<Value> {
        self.run(["replay", "--json", file]).code(0).lines()
    }

    #[track_caller]
    pub fn events(&self, name: &str) -> Vec<Value> {
        named(&self.log(&arg(&self.session())), name)
    }

    #[track_caller]
    pub fn report(&self, file: &str) -> Value {
        let report = self.run(["report", file, "--format", "json"]).code(0).out;
        serde_json::from_str(&report).expect("JSON")
    }

    /// Fails unless every saved session verifies.
    #[track_caller]
    pub fn verify(&self) {
        let sessions = self.sessions();
        assert!(!sessions.is_empty(), "nothing was saved");
        for session in sessions {
            self.is_sound(&arg(&session));
        }
    }

    pub fn sessions(&self) -> Vec<PathBuf> {
        let is_session = |path: &PathBuf| path.extension() == Some(OsStr::new("s2s"));
        self.files().into_iter().filter(is_session).collect()
    }

    #[track_caller]
    pub fn session(&self) -> PathBuf {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0].clone()
    }

    /// Returns a run whose model `openai/test` is this server.
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
        let listed = fs::read_dir(self.home().join("state/keys")).into_iter().flatten();
        let files = listed.map(|entry| entry.expect("listed").path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "key")).collect()
    }

    pub fn bytes(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).expect("a file")
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
        fold(&read_log(&fs::read(self.session()).expect("a file")).expect("readable"))
    }

    pub fn until(&self, file: &str, wanted: impl Fn(&Session) -> bool) -> Session {
        let path = self.path(file);
        wait_for("the wanted state of the session", || {
            let log = read_log(&fs::read(&path).ok()?).expect("readable");
            Some(fold(&log)).filter(|session| wanted(session))
        })
    }
}

pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let (mut todo, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { todo.push(path) } else { files.push(path) }
        }
    }
    files
}

/// Fails unless these bytes are a session that verifies.
#[track_caller]
pub fn is_sound(bytes: &[u8]) {
    assert_eq!(verify(bytes, None).findings, []);
}

/// Fails unless the text contains all these words.
#[track_caller]
pub fn has(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "no `{word}` in:\n{text}");
    }
}

/// Returns the rows of a text table whose two columns are separated by ` => `.
pub fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.split_once(" => ").expect("two columns"))
}

pub fn run(command: &mut Command) -> Ran {
    ran(command.output_soon().expect("the program starts"))
}

pub fn named(lines: &[Value], event: &str) -> Vec<Value> {
    lines.iter().filter(|line| line["event"] == event).cloned().collect()
}

/// The key that [`Desk::served_by`] sets.
pub const KEY: &str = "sk-lab-5up3r53cr3t";

#[track_caller]
pub fn ran(output: std::process::Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("ended by {}: {out}{err}", output.status));
    Ran { code, out, err }
}

pub fn arg(path: &Path) -> String {
    path.display().to_string()
}

pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
