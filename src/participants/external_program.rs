//! An external program that answers: the prompt on its standard input, the answer on its standard
//! output.
//!
//! It is started without a shell, in its folder, with nothing of the environment but what makes it
//! run and what is named. What it writes is capped; when it is given up, it and everything it started
//! are ended. How it ended and what it said on standard error is kept for the record.

use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::{ExitNote, ProgramExit};
use super::{Failure, Origin, Participant, Reply, SeatRequest};
use crate::handoff::whole_prompt;
use crate::round::snapshot::hex;
use crate::workflow::ProgramSpec;

/// What a program finds of the environment without being named.
pub const PASSED: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SystemRoot"];
/// How much a program may answer with, in bytes, unless the definition says otherwise.
const MAX_ANSWER: u64 = 4 * 1024 * 1024;
/// How much of each of its outputs is kept, in bytes: the last of it.
const KEPT: usize = 64 * 1024;

#[derive(Clone, Copy)]
enum OutputStream {
    Out,
    Err,
}

pub struct ExternalProgram {
    program: ProgramSpec,
    timeout: Duration,
}

impl ExternalProgram {
    /// A participant that runs `program` once an answer, for at most `timeout` unless a step says otherwise.
    pub fn new(program: ProgramSpec, timeout: Duration) -> Self {
        Self { program, timeout }
    }

    async fn run(&self, ask: &SeatRequest) -> Result<Reply, Failure> {
        let mut command = prepared(&self.program.command, &self.program.env)?;
        let name = &self.program.command[0];
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let item = ask.task.as_ref().map(|task| ItemFile::write(&task.whole)).transpose();
        let item = item.map_err(|error| format!("the work item cannot be written for `{name}`: {error}"))?;
        command.envs(item.iter().map(|file| (WORK_ITEM, file.path.as_os_str())));
        let mut child = started(command).map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        let _group = ProcessGroup::of(&*child);
        let of_seat = ExitNote::default();
        let note = ask.task.as_ref().map_or(&of_seat, |task| &task.ended);
        *lock(note) = ProgramExit::default();
        let answer = exchange(&mut *child, prompt(ask), MAX_ANSWER, ask, note).await;
        let answer = answer.map_err(|error| format!("`{name}`: {error}"))?;
        let status = child.wait().await.map_err(|error| format!("`{name}`: {error}"))?;
        self.check_exit(ask, name, answer, status, &mut lock(note))
    }

    fn check_exit(
        &self,
        ask: &SeatRequest,
        name: &str,
        answer: Vec<u8>,
        status: ExitStatus,
        ended: &mut ProgramExit,
    ) -> Result<Reply, Failure> {
        ended.status = Some(status.to_string());
        let reply = |text| Ok(Reply::own(Origin::Program, text));
        if answer.len() as u64 > MAX_ANSWER {
            return Err(format!("`{name}` answered with more than {MAX_ANSWER} bytes").into());
        }
        let is_ok = status.code().is_some_and(|code| self.program.ok_exit.contains(&i64::from(code)));
        if !status.success() && !is_ok {
            let stderr = String::from_utf8_lossy(&ended.stderr);
            let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
            let reason = format!("`{name}` ended with {status}");
            let in_full = last.map(|last| format!("{reason}: {last}"));
            return Err(Failure { in_full, ..reason.into() });
        }
        if !status.success() && ask.task.is_some() {
            ended.is_exit_data = true;
            let (stdout, stderr) = (String::from_utf8_lossy(&answer), String::from_utf8_lossy(&ended.stderr));
            let data = serde_json::json!({ "exit": status.code(), "stdout": stdout, "stderr": stderr });
            return reply(data.to_string());
        }
        match String::from_utf8(answer) {
            Ok(text) => reply(text),
            Err(_) => Err(format!("`{name}` answered with what is no UTF-8 text").into()),
        }
    }
}

/// Feeds the prompt in and reads both outputs at the same time, so that none blocks another. Of standard
/// output at most a little more than `most` bytes are read.
pub(super) async fn exchange(
    child: &mut dyn ChildWrapper,
    prompt: String,
    most: u64,
    ask: &SeatRequest,
    note: &ExitNote,
) -> std::io::Result<Vec<u8>> {
    let (stdin, stdout, stderr) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let feed = async move {
        if let Some(mut stdin) = stdin {
            // A program need not read its input.
            let _ = stdin.write_all(prompt.as_bytes()).await;
            let _ = stdin.shutdown().await;
        }
    };
    let keep = |stream: OutputStream, piece: &[u8]| {
        lock(note).keep(stream, piece);
        // What a seat of a round prints is nobody's to see while the round is open.
        if ask.task.is_some() {
            ask.watch.said(&String::from_utf8_lossy(piece));
        }
    };
    let ((), answer, errors) = tokio::join!(
        feed,
        follow(stdout, most, |piece| keep(OutputStream::Out, piece)),
        follow(stderr, u64::MAX, |piece| keep(OutputStream::Err, piece))
    );
    errors?;
    answer
}

/// A program to be started with nothing of the environment but what makes it run and what is named.
pub(super) fn prepared(program: &[String], env: &[String]) -> Result<Command, String> {
    let (name, arguments) = program.split_first().ok_or("there is no program to run")?;
    let mut command = Command::new(name);
    command.args(arguments).env_clear().kill_on_drop(true);
    for variable in PASSED.into_iter().chain(env.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(variable) {
            command.env(variable, value);
        }
    }
    Ok(command)
}

/// Starts a program in a session of its own: it has no terminal to ask at or to change.
pub(super) fn started(command: Command) -> std::io::Result<Box<dyn ChildWrapper>> {
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    command.spawn()
}

impl ProgramExit {
    fn keep(&mut self, stream: OutputStream, piece: &[u8]) {
        let kept = match stream {
            OutputStream::Out => &mut self.stdout,
            OutputStream::Err => &mut self.stderr,
        };
        kept.extend_from_slice(piece);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
}

pub(super) fn lock(note: &ExitNote) -> MutexGuard<'_, ProgramExit> {
    note.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The variable that names the file with a program's work item as JSON.
const WORK_ITEM: &str = "ROUNDTABLE_WORK_ITEM";

/// A file with a work item, readable by its owner alone, gone when the program has ended.
struct ItemFile {
    path: std::path::PathBuf,
}

impl ItemFile {
    fn write(whole: &str) -> std::io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        let path = std::env::temp_dir().join(format!("roundtable-{}.json", hex(&random)));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let item = Self { path };
        std::io::Write::write_all(&mut file, whole.as_bytes())?;
        Ok(item)
    }
}

impl Drop for ItemFile {
    fn drop(&mut self) {
        // Whoever cleared the folder has removed it already.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What a program gets: an agent's prompt after its context, or all of a seat's prompt.
fn prompt(ask: &SeatRequest) -> String {
    let again = ask.again.as_deref().unwrap_or_default();
    match &ask.task {
        Some(_) => format!("{}{again}", whole_prompt(&ask.prompt.rules, &ask.prompt.snapshot)),
        None => format!("{}{again}", ask.prompt.text()),
    }
}

/// Reads at most `most` bytes; what follows is not waited for.
pub(super) async fn read(from: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(most).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// Reads what comes, and tells of each piece as it comes; what follows `most` bytes is not waited for.
async fn follow(
    from: Option<impl AsyncRead + Unpin>,
    most: u64,
    mut told: impl FnMut(&[u8]),
) -> std::io::Result<Vec<u8>> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 8 * 1024]);
    let Some(mut from) = from else { return Ok(all) };
    loop {
        let count = from.read(&mut piece).await?;
        if count == 0 || all.len() as u64 > most {
            return Ok(all);
        }
        told(&piece[..count]);
        if most < u64::MAX {
            all.extend_from_slice(&piece[..count]);
        }
    }
}

/// A program with everything it started; ended when this is dropped, or when this program ends.
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

#[cfg(unix)]
static RUNNING: Mutex<Vec<rustix::process::Pid>> = Mutex::new(Vec::new());

/// Ends every program that still runs: what works for them on other threads is not waited for.
pub fn end_all() {
    #[cfg(unix)]
    for id in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // What has ended already cannot be ended again.
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
}

impl ProcessGroup {
    #[cfg(unix)]
    pub(super) fn of(child: &dyn ChildWrapper) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(rustix::process::Pid::from_raw);
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).extend(id);
        Self { id }
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &dyn ChildWrapper) -> Self {
        Self {}
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|running| *running != id);
            // What has ended already cannot be ended again.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

impl Participant for ExternalProgram {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        async move {
            let limit = ask.timeout.unwrap_or(self.timeout);
            let limit = ask.time_left.map_or(limit, |left| left.min(limit));
            // What a program uses it does not tell.
            let _paid = ask.purse.pay(1)?;
            tokio::time::timeout(limit, self.run(ask)).await.unwrap_or_else(|_| Err(Failure::late(limit)))
        }
        .boxed()
    }
}
