//! An external program that answers: the prompt on its standard input, the answer on its standard
//! output.
//!
//! It is started without a shell, in its folder, with nothing of the environment but what makes it
//! run and what is named. What it writes is capped; when it is given up, it and everything it started
//! are ended. How it ended and what it said on standard error is kept for the record.

use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::{Ask, Failure, Finish, Participant, Reply};
use crate::workflow::Program;

/// What a program finds of the environment without being named.
pub const PASSED: [&str; 7] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "SystemRoot"];
/// How much a program may answer with, in bytes, unless the definition says otherwise.
const MAX_ANSWER: u64 = 4 * 1024 * 1024;
/// How much of its standard error is kept, in bytes.
const MAX_STDERR: u64 = 64 * 1024;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit status, in words.
    pub status: String,
    /// What it said on standard error.
    pub stderr: String,
}

/// Where the end of a program is noted.
pub type Note = Mutex<Option<Ended>>;

/// A participant that is a program.
pub struct External {
    program: Program,
    timeout: Duration,
}

impl External {
    /// A participant that runs `program` once an answer, for at most `timeout` unless a step says otherwise.
    pub fn new(program: Program, timeout: Duration) -> Self {
        Self { program, timeout }
    }

    async fn run(&self, ask: &Ask) -> Result<Reply, String> {
        let mut command = prepared(&self.program.command, &self.program.env)?;
        let name = &self.program.command[0];
        if let Some(folder) = &self.program.cwd {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        let _group = Group::of(&child);
        let said = self.talk(&mut child, &prompt(ask)).await;
        let (answer, stderr) = said.map_err(|error| format!("`{name}`: {error}"))?;
        let status = child.wait().await.map_err(|error| format!("`{name}`: {error}"))?;
        self.judge(ask, name, &answer, &stderr, status)
    }

    /// Feeds the prompt in and reads both outputs at the same time, so that none blocks another.
    async fn talk(&self, child: &mut Child, prompt: &str) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A program need not read what it is told.
                let _ = stdin.write_all(prompt.as_bytes()).await;
                let _ = stdin.shutdown().await;
            }
        };
        let most = self.program.max_bytes.unwrap_or(MAX_ANSWER);
        let ((), answer, errors) = tokio::join!(feed, read(stdout, most + 1), drain(stderr, MAX_STDERR));
        Ok((answer?, errors?))
    }

    fn judge(
        &self,
        ask: &Ask,
        name: &str,
        answer: &[u8],
        stderr: &[u8],
        status: ExitStatus,
    ) -> Result<Reply, String> {
        let stderr = String::from_utf8_lossy(stderr).into_owned();
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
        if let Some(note) = ask.task.as_ref().map(|task| &task.ended) {
            let mut note = note.lock().unwrap_or_else(PoisonError::into_inner);
            *note = Some(Ended { status: status.to_string(), stderr });
        }
        let most = self.program.max_bytes.unwrap_or(MAX_ANSWER);
        if answer.len() as u64 > most {
            return Err(format!("`{name}` answered with more than {most} bytes"));
        }
        if !status.success() {
            let said = if last.is_empty() { String::new() } else { format!(": {last}") };
            return Err(format!("`{name}` ended with {status}{said}"));
        }
        match String::from_utf8(answer.to_vec()) {
            Ok(text) => Ok(Reply { text, finish: Finish::Complete, usage: None, tries: 1 }),
            Err(_) => Err(format!("`{name}` answered with what is no UTF-8 text")),
        }
    }
}

/// A program to be started: in a group of its own, with nothing of the environment but what makes it run
/// and what is named.
pub(super) fn prepared(program: &[String], env: &[String]) -> Result<Command, String> {
    let (name, arguments) = program.split_first().ok_or("there is no program to run")?;
    let mut command = Command::new(name);
    command.args(arguments).env_clear().kill_on_drop(true);
    for variable in PASSED.into_iter().chain(env.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(variable) {
            command.env(variable, value);
        }
    }
    #[cfg(unix)]
    command.process_group(0);
    Ok(command)
}

/// What a program is told: an agent's prompt, or all of a seat's.
fn prompt(ask: &Ask) -> String {
    let again = ask.again.as_deref().unwrap_or_default();
    match &ask.task {
        Some(_) => format!("{}{}{again}", ask.prompt.snapshot, ask.prompt.tail),
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

/// Reads all and keeps at most `most` bytes of it.
async fn drain(from: Option<impl AsyncRead + Unpin>, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        (&mut from).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

/// A program with everything it started; ended when this is dropped.
pub(super) struct Group {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    pub(super) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self { id: id.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &Child) -> Self {
        Self {}
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            // What has ended already cannot be ended again.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

impl Participant for External {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Reply, Failure>> {
        async move {
            let limit = ask.timeout.unwrap_or(self.timeout);
            let limit = ask.time_left.map_or(limit, |left| left.min(limit));
            let failure = |reason: String, timed_out| Failure { reason, timed_out, tries: 1 };
            // What a program uses it does not tell.
            let _paid = ask.purse.pay().map_err(|why| failure(why, false))?;
            match tokio::time::timeout(limit, self.run(ask)).await {
                Ok(Ok(reply)) => Ok(reply),
                Ok(Err(reason)) => Err(failure(reason, false)),
                Err(_) => Err(failure(format!("timed out after {} ms", limit.as_millis()), true)),
            }
        }
        .boxed()
    }
}
