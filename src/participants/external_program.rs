//! External programs: starting, reading and ending them.
//!
//! A program gets no shell and no terminal. Of the environment it gets [`PASSED`] and the variables named for
//! it. Its output is capped. When it is given up, it and everything it started are killed. Its exit status and
//! the end of its output are kept for the record.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::{ExitNote, ProgramExit, SeatRequest, lock};
use crate::sanitize::{LEAST_KEY, MASKED_KEY};

/// Variables that every program gets, as shown to the user.
pub const PASSED: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "TMPDIR", "LC_*", "TERM=dumb"];
/// Time that a program has to exit after its answer is complete.
const GRACE: Duration = Duration::from_secs(2);
/// Number of bytes kept from the end of each output stream.
const KEPT: usize = 64 * 1024;

pub(super) fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().find(|line| !line.trim().is_empty())
}

/// Result of a program: its output, and its exit status if it exited.
pub struct ProgramResult {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: Option<ExitStatus>,
    keys: Vec<Key>,
}

impl ProgramResult {
    /// Returns text for an error message: short keys are masked too.
    pub fn in_error(&self, said: &str) -> String {
        String::from_utf8_lossy(&mask(&mut said.into(), &self.keys, true)).into_owned()
    }
}

/// Value of a variable that is a key by its name.
type Key = Vec<u8>;

/// Runs a program: writes its input and reads both outputs concurrently, so that none blocks another.
///
/// Stops reading standard output a little beyond `most` bytes. Kills a program that keeps running after `is_all`
/// has accepted its output.
pub async fn run(
    mut command: Command,
    input: String,
    most: u64,
    ask: Option<&SeatRequest>,
    is_all: &(dyn Fn(&[u8]) -> bool + Sync),
) -> Result<ProgramResult, String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let keys = keys(&command);
    let long = &keys[..keys.partition_point(|key| key.len() >= LEAST_KEY)];
    let mut child = spawn_in_session(command).map_err(|error| format!("cannot be started: {error}"))?;
    let _group = ProcessGroup::new(&*child);
    let (own, task) = (ExitNote::default(), ask.and_then(|ask| ask.task.as_ref()));
    let note = task.map_or(&own, |task| &task.ended);
    *lock(note) = ProgramExit::default();
    let keep = |of: fn(&mut ProgramExit) -> &mut Vec<u8>, held: &mut Vec<u8>, keys: &[Key], piece: &[u8]| {
        held.extend_from_slice(piece);
        let piece = mask(held, keys, piece.is_empty());
        let mut noted = lock(note);
        let kept = of(&mut noted);
        kept.extend_from_slice(&piece);
        kept.drain(..kept.len().saturating_sub(KEPT));
        // The output of a seat is sealed while its round is open.
        if let (Some(ask), Some(_)) = (ask, task) {
            ask.watch.said(&String::from_utf8_lossy(&piece));
        }
    };
    let (mut of_out, mut of_err) = (Vec::new(), Vec::new());
    let (stdin, out, err) = (child.stdin().take(), child.stdout().take(), child.stderr().take());
    let feed = async move {
        if let Some(mut stdin) = stdin {
            // A program may exit without reading its input.
            let _ = stdin.write_all(input.as_bytes()).await;
            let _ = stdin.shutdown().await;
        }
    };
    let told = |piece: &[u8]| keep(|noted| &mut noted.stderr, &mut of_err, &keys, piece);
    let aside = async { tokio::join!(feed, read_pieces(err, u64::MAX, told, &|_| false)).1 };
    let told = |piece: &[u8]| keep(|noted| &mut noted.stdout, &mut of_out, long, piece);
    let stays = CancellationToken::new();
    let answer = async {
        let read = read_pieces(out, most, told, is_all).await;
        if matches!(read, Ok((_, true))) {
            stays.cancel();
        }
        read
    };
    let done = async {
        let (read, _) = tokio::join!(answer, stays.run_until_cancelled(aside));
        let (stdout, stays) = read?;
        let status = if stays { None } else { Some(child.wait().await?) };
        std::io::Result::Ok((stdout, status))
    };
    let (mut stdout, status) = done.await.map_err(|error| error.to_string())?;
    let stdout = mask(&mut stdout, long, true);
    let mut noted = lock(note);
    noted.status = status.map(|status| status.to_string());
    Ok(ProgramResult { stdout, stderr: noted.stderr.clone(), status, keys })
}

/// Returns true if a variable is a key by its name; `MAX_TOKENS` is not.
pub(super) fn names_key(name: &str) -> bool {
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| name.ends_with(word))
}

/// Returns the keys among a program's variables, the longest first.
fn keys(command: &Command) -> Vec<Key> {
    let named = command.as_std().get_envs().filter(|(name, _)| name.to_str().is_some_and(names_key));
    let held = named.filter_map(|(_, value)| Some(value?.as_encoded_bytes().to_vec()));
    let mut keys: Vec<Key> = held.filter(|key| !key.is_empty()).collect();
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    keys
}

/// Removes and returns what a program printed, with keys masked. Bytes that may begin a key stay until more
/// arrive, or until `ends`.
fn mask(printed: &mut Vec<u8>, keys: &[Key], ends: bool) -> Vec<u8> {
    if keys.is_empty() {
        return std::mem::take(printed);
    }
    let (mut masked, mut rest) = (Vec::with_capacity(printed.len()), &printed[..]);
    let may_begin = |rest: &[u8]| keys.iter().any(|key| key.len() > rest.len() && key.starts_with(rest));
    while !rest.is_empty() && (ends || !may_begin(rest)) {
        let key = keys.iter().find(|key| rest.starts_with(key));
        masked.extend_from_slice(key.map_or(&rest[..1], |_| MASKED_KEY.as_bytes()));
        rest = &rest[key.map_or(1, Vec::len)..];
    }
    *printed = rest.to_vec();
    masked
}

/// Runs a future to completion on its own thread and runtime, so that any caller may block on it.
pub fn run_on_own_thread<T: Send>(work: impl Future<Output = Result<T, String>> + Send) -> Result<T, String> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(work)
    };
    let done = std::thread::scope(|scope| scope.spawn(run).join());
    done.unwrap_or_else(|_| Err("an error of this program".to_owned()))
}

/// Returns a command with the program's few variables.
pub fn prepare_command(path: &Path, arguments: &[String], env: &[String]) -> Command {
    let mut command = Command::new(path);
    command.args(arguments).env_clear().env("TERM", "dumb").kill_on_drop(true);
    let is_passed = |name: &str| {
        PASSED.contains(&name) || name.starts_with("LC_") || env.iter().any(|named| named == name)
    };
    command.envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_passed)));
    command
}

/// Starts a program in a new session, without access to the user's terminal.
fn spawn_in_session(command: Command) -> std::io::Result<Box<dyn ChildWrapper>> {
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessSession);
    command.spawn()
}

/// Reads a stream and passes on each piece, an empty one at the end.
///
/// Stops beyond `most` bytes, and [`GRACE`] after `is_all` has accepted the bytes so far. Returns the bytes, and
/// true if it stopped although more may follow.
async fn read_pieces(
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
        told(&piece[..count]);
        if count == 0 || all.len() as u64 > most {
            return Ok((all, false));
        }
        if most < u64::MAX {
            all.extend_from_slice(&piece[..count]);
        }
    }
}

/// Program with all its child processes; killed when this is dropped.
pub(super) struct ProcessGroup {
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

#[cfg(unix)]
static RUNNING: Mutex<Vec<rustix::process::Pid>> = Mutex::new(Vec::new());

/// Kills every program that still runs, without waiting for the threads that use them.
pub fn end_all() {
    #[cfg(unix)]
    for id in lock(&RUNNING).drain(..) {
        // The program may have exited already.
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
}

impl ProcessGroup {
    #[cfg(unix)]
    pub(super) fn new(child: &dyn ChildWrapper) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(rustix::process::Pid::from_raw);
        lock(&RUNNING).extend(id);
        Self { id }
    }

    #[cfg(not(unix))]
    pub(super) fn new(_: &dyn ChildWrapper) -> Self {
        Self {}
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id {
            lock(&RUNNING).retain(|running| *running != id);
            // The program may have exited already.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(pieces: &[&str], keys: &[&str]) -> String {
        let keys: Vec<Key> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        let mut held = Vec::new();
        let mut told = String::new();
        for piece in pieces.iter().chain(&[""]) {
            held.extend_from_slice(piece.as_bytes());
            let piece = mask(&mut held, &keys, piece.is_empty());
            told += &String::from_utf8(piece).expect("text");
        }
        told
    }

    #[test]
    fn keys_are_recognized_by_variable_name() {
        let mut command = Command::new("true");
        command.env_clear();
        for name in ["OPENAI_API_KEY", "DB_PASSWORD", "MAX_THINKING_TOKENS", "TOKENIZERS_PARALLELISM"] {
            command.env(name, name);
        }
        assert_eq!(keys(&command), [b"OPENAI_API_KEY".to_vec(), b"DB_PASSWORD".to_vec()]);
    }

    #[test]
    fn keys_are_masked_across_pieces_and_in_one_pass() {
        assert_eq!(masked(&["my ab", "cd ", "ab"], &["abcd"]), "my (masked API key) ab");
        assert_eq!(masked(&["ab", "cd ab!"], &["abcd", "ab"]), "(masked API key) (masked API key)!");
        assert_eq!(masked(&["key ", MASKED_KEY], &[MASKED_KEY, "key"]), format!("{MASKED_KEY} {MASKED_KEY}"));
        let many = "0123456789abcdef".repeat(1 << 18);
        assert_eq!(masked(&[&many], &["0123456789abcdef"]).len(), many.len());
    }
}
