//! An external program that answers: the prompt on its standard input, the answer on its standard
//! output.
//!
//! It is started without a shell, in its folder, with nothing of the environment but what makes it
//! run and what is named. What it writes is capped; when it is given up, it and everything it started
//! are ended. How it ended and what it said on standard error is kept for the record.

use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FusedFuture as _, FutureExt as _};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use super::{ExitNote, ProgramExit};
use super::{Failure, Origin, Participant, Reply, SeatRequest};
use crate::handoff::whole_prompt;
use crate::workflow::ProgramSpec;

/// Variables that a program gets without being named.
pub const PASSED: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SystemRoot"];
/// The longest answer of a program in bytes, unless the definition sets another.
const MAX_ANSWER: u64 = 4 * 1024 * 1024;
/// A program that has answered must end within this time.
const GRACE: Duration = Duration::from_secs(2);
/// The kept end of each of its outputs, in bytes.
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
        let item = ask.task.as_ref().map(|task| item_file(&task.whole)).transpose();
        let item = item.map_err(|error| format!("the work item cannot be written for `{name}`: {error}"))?;
        command.envs(item.iter().map(|file| (WORK_ITEM, file.as_os_str())));
        let ran = run(command, prompt(ask), MAX_ANSWER, Some(ask), &|_| false).await;
        let ran = ran.map_err(|why| format!("`{name}` {why}"))?;
        self.check_exit(ask, name, ran)
    }

    fn check_exit(&self, ask: &SeatRequest, name: &str, ran: Ran) -> Result<Reply, Failure> {
        let reply = |text| Ok(Reply::own(Origin::Program, text));
        if ran.stdout.len() as u64 > MAX_ANSWER {
            return Err(format!("`{name}` answered with more than {MAX_ANSWER} bytes").into());
        }
        let code = ran.status.and_then(|status| status.code());
        let is_ok = code.is_some_and(|code| self.program.ok_exit.contains(&i64::from(code)));
        let failed = ran.status.filter(|status| !status.success());
        let stderr = String::from_utf8_lossy(&ran.stderr);
        if let Some(status) = failed.filter(|_| !is_ok) {
            let reason = format!("`{name}` ended with {status}");
            let in_full = last_line(&stderr).map(|last| format!("{reason}: {last}"));
            return Err(Failure { in_full, ..reason.into() });
        }
        if let (Some(_), Some(task)) = (failed, &ask.task) {
            lock(&task.ended).is_exit_data = true;
            let stdout = String::from_utf8_lossy(&ran.stdout);
            return reply(
                serde_json::json!({ "exit": code, "stdout": stdout, "stderr": stderr }).to_string(),
            );
        }
        match String::from_utf8(ran.stdout) {
            Ok(text) => reply(text),
            Err(_) => Err(format!("`{name}` answered with what is no UTF-8 text").into()),
        }
    }
}

pub(super) fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().find(|line| !line.trim().is_empty())
}

/// The output of a program, the end of its errors, and how it ended, if it did.
pub(super) struct Ran {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: Option<ExitStatus>,
}

/// Runs a program: the input goes in and both outputs are read at the same time, so that none blocks another.
/// Of standard output at most a little more than `most` bytes are read. One that goes on once what it printed
/// is all that is wanted is ended.
pub(super) async fn run(
    mut command: Command,
    input: String,
    most: u64,
    ask: Option<&SeatRequest>,
    is_all: &(dyn Fn(&[u8]) -> bool + Sync),
) -> Result<Ran, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = started(command).map_err(|error| format!("cannot be started: {error}"))?;
    let _group = ProcessGroup::of(&*child);
    let (own, task) = (ExitNote::default(), ask.and_then(|ask| ask.task.as_ref()));
    let note = task.map_or(&own, |task| &task.ended);
    *lock(note) = ProgramExit::default();
    let keep = |stream: OutputStream, piece: &[u8]| {
        lock(note).keep(stream, piece);
        // Nobody sees the output of a round's seat while the round is open.
        if let (Some(ask), Some(_)) = (ask, task) {
            ask.watch.said(&String::from_utf8_lossy(piece));
        }
    };
    let (stdin, out, err) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let aside = async {
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A program need not read its input.
                let _ = stdin.write_all(input.as_bytes()).await;
                let _ = stdin.shutdown().await;
            }
        };
        let told = |piece: &[u8]| keep(OutputStream::Err, piece);
        tokio::join!(feed, follow(err, u64::MAX, told, &|_| false)).1.map(drop)
    };
    let out = follow(out, most, |piece| keep(OutputStream::Out, piece), is_all);
    let mut aside = std::pin::pin!(aside.fuse());
    let mut out = std::pin::pin!(out.fuse());
    let unread = |error: std::io::Error| error.to_string();
    let (mut stdout, mut stays) = (None, false);
    while stdout.is_none() || !(stays || aside.is_terminated()) {
        tokio::select! {
            read = &mut out, if stdout.is_none() => {
                let (bytes, goes_on) = read.map_err(unread)?;
                (stdout, stays) = (Some(bytes), goes_on);
            }
            ended = &mut aside, if !aside.is_terminated() => ended.map_err(unread)?,
        }
    }
    let status = if stays { None } else { Some(child.wait().await.map_err(unread)?) };
    let mut noted = lock(note);
    noted.status = status.map(|status| status.to_string());
    Ok(Ran { stdout: stdout.unwrap_or_default(), stderr: noted.stderr.clone(), status })
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
fn started(command: Command) -> std::io::Result<Box<dyn ChildWrapper>> {
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

/// Writes a file with a work item, readable by its owner alone, gone when the program has ended.
fn item_file(whole: &str) -> std::io::Result<tempfile::TempPath> {
    let mut file = tempfile::Builder::new().prefix("roundtable-").suffix(".json").tempfile()?;
    std::io::Write::write_all(&mut file, whole.as_bytes())?;
    Ok(file.into_temp_path())
}

/// Returns an agent's prompt after its context, or all of a seat's prompt.
fn prompt(ask: &SeatRequest) -> String {
    let again = ask.again.as_deref().unwrap_or_default();
    match &ask.task {
        Some(_) => format!("{}{again}", whole_prompt(&ask.prompt.rules, &ask.prompt.snapshot)),
        None => format!("{}{again}", ask.prompt.text()),
    }
}

/// Reads what comes, and tells of each piece as it comes; what follows `most` bytes is not waited for, and
/// what follows all that is wanted not for long. Returns whether more may come.
async fn follow(
    from: Option<impl AsyncRead + Unpin>,
    most: u64,
    mut told: impl FnMut(&[u8]),
    is_all: &(dyn Fn(&[u8]) -> bool + Sync),
) -> std::io::Result<(Vec<u8>, bool)> {
    let (mut all, mut piece) = (Vec::new(), vec![0; 8 * 1024]);
    let Some(mut from) = from else { return Ok((all, false)) };
    loop {
        let patience = if is_all(&all) { GRACE } else { Duration::MAX };
        let Ok(count) = tokio::time::timeout(patience, from.read(&mut piece)).await else {
            return Ok((all, true));
        };
        let count = count?;
        if count == 0 || all.len() as u64 > most {
            return Ok((all, false));
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
        // The program may have ended already.
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
            // The program may have ended already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

impl Participant for ExternalProgram {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        async move {
            let limit = ask.timeout.unwrap_or(self.timeout);
            let limit = ask.time_left.map_or(limit, |left| left.min(limit));
            // A program does not report its usage.
            let _paid = ask.purse.pay(1)?;
            tokio::time::timeout(limit, self.run(ask)).await.unwrap_or_else(|_| Err(Failure::late(limit)))
        }
        .boxed()
    }
}
