//! Seat that is answered by a program.
//!
//! The program runs in an empty folder, or in the project's folder if it may use tools. It has no terminal, and
//! its input ends after the prompt. When it has answered or is given up, it and everything it started are
//! killed.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

use super::program::SeatProgram;
use crate::handoff::whole_prompt;
use crate::participants::external_program::{last_line, prepare_command, run};
use crate::participants::{Failure, Origin, Participant, Reply, SeatRequest, lock};
use crate::round::answer::TokenUsage;
use crate::sanitize::harmless_line;

/// Variable with the path of the work item's JSON file.
const WORK_ITEM: &str = "ROUNDTABLE_WORK_ITEM";
/// Names in the temporary folder.
const ITEM: &str = "work-item.json";
const RULES: &str = "rules.md";
const WORK: &str = "work";
/// Output limit in bytes.
const MOST: u64 = 16 * 1024 * 1024;
const VERSION_PATIENCE: Duration = Duration::from_secs(10);
/// Limit of the program's reason in an error message, in characters.
const REASON: usize = 300;

pub struct ProgramSeat {
    program: SeatProgram,
    path: PathBuf,
    /// Working folder, if it is not an empty one.
    folder: Option<PathBuf>,
    timeout: Duration,
}

/// Creates a temporary folder that only its owner can read. It contains the program's files, the instructions,
/// an agent's work item and an empty working folder. It is deleted on drop.
fn workplace(program: &SeatProgram, ask: &SeatRequest) -> std::io::Result<TempDir> {
    let (mut builder, mut own) = (tempfile::Builder::new(), std::fs::File::options());
    own.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        std::os::unix::fs::OpenOptionsExt::mode(&mut own, 0o600);
    }
    let place = builder.prefix("roundtable-").tempdir()?;
    std::fs::create_dir(place.path().join(WORK))?;
    let given = program.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let item = ask.task.iter().map(|task| (ITEM, task.whole.as_str()));
    for (name, text) in given.chain([(RULES, &*ask.prompt.rules)]).chain(item) {
        let path = place.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(place.path()))?;
        own.open(path)?.write_all(text.as_bytes())?;
    }
    Ok(place)
}

impl ProgramSeat {
    pub fn new(program: SeatProgram, path: PathBuf, folder: Option<PathBuf>, timeout: Duration) -> Self {
        Self { program, path, folder, timeout }
    }

    async fn run(&self, ask: &SeatRequest, usage: &mut Option<TokenUsage>) -> Result<Reply, Failure> {
        let name = self.program.executable();
        let place = workplace(&self.program, ask)
            .map_err(|error| format!("no folder for `{name}` to work in: {error}"))?;
        let is_all = |printed: &[u8]| self.program.output.is_all(printed);
        let (words, input) = self.command(ask, place.path());
        let ran =
            run(words, input, MOST, Some(ask), &is_all).await.map_err(|why| format!("`{name}` {why}"))?;
        if ran.stdout.len() as u64 > MOST {
            return Err(format!("`{name}` printed more than {MOST} bytes").into());
        }
        let (printed, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let mut failed = ran.status.filter(|status| !status.success());
        let code = failed.and_then(|status| status.code());
        if code.is_some_and(|code| self.program.ok_exit.contains(&i64::from(code))) {
            if let Some(task) = &ask.task {
                lock(&task.ended).is_exit_data = true;
                let text = json!({ "exit": code, "stdout": printed, "stderr": stderr }).to_string();
                return Ok(Reply::own(Origin::Program, text));
            }
            failed = None;
        }
        let failed = failed.map(|status| format!("ended with {status}"));
        let output = self.program.output.read(&printed);
        *usage = output.usage;
        // Programs report failures on either stream.
        let failure =
            output.failure.or_else(|| self.program.output.read(&stderr).failure.filter(|_| failed.is_some()));
        if failed.is_none() && failure.is_none() {
            if matches!(printed, Cow::Owned(_)) {
                return Err(format!("`{name}` printed what is no UTF-8 text").into());
            }
            let text = output.reply.map_err(|why| format!("`{name}` gives no answer: {why}"))?;
            return Ok(Reply { usage: output.usage, ..Reply::own(Origin::Program, text) });
        }
        let said = failure.as_deref().or_else(|| last_line(&stderr)).or_else(|| last_line(&printed));
        let said = ran.in_error(said.unwrap_or_default());
        Err(self.failure(failed.as_deref().unwrap_or("gives no answer"), &said))
    }

    /// Describes why the program did not answer, and what to do if nobody is logged in.
    fn failure(&self, failed: &str, said: &str) -> Failure {
        let name = self.program.executable();
        let said: String = harmless_line(said).chars().take(REASON).collect();
        let low = said.to_lowercase();
        let is_logged_out = self.program.logged_out.iter().any(|phrase| low.contains(phrase));
        let (failed, cure) = match self.program.ignored_settings(is_logged_out) {
            Some(aside) => (failed, format!("; {aside}")),
            None if is_logged_out => ("is not logged in", "; run it once by itself and log in".to_owned()),
            None => (failed, String::new()),
        };
        let in_full = (!said.is_empty()).then(|| format!("`{name}` {failed}: {said}{cure}"));
        // The full reason stays sealed until the round closes, which may never happen.
        let way = if cure.is_empty() && in_full.is_some() { "; try it by itself" } else { "" };
        Failure { in_full, ..format!("`{name}` {failed}{cure}{way}").into() }
    }

    /// Returns the command and its standard input: the parts of the prompt that no argument contains.
    fn command(&self, ask: &SeatRequest, place: &Path) -> (Command, String) {
        let mut prompt = match &ask.task {
            _ if self.program.takes("{rules") => format!("{}{}", ask.prompt.snapshot, ask.prompt.tail),
            // An agent gets its prompt after its context.
            Some(_) => whole_prompt(&ask.prompt.rules, &ask.prompt.snapshot),
            None => ask.prompt.text(),
        };
        prompt += ask.again.as_deref().unwrap_or_default();
        let (files, rules) = (place.display().to_string(), place.join(RULES).display().to_string());
        let fill = [
            ("{rules_file}", &*rules),
            ("{rules}", &*ask.prompt.rules),
            ("{files}", &*files),
            ("{prompt}", &*prompt),
        ];
        let words = self.program.words(&ask.model, &fill);
        let mut command = prepare_command(&self.path, words.get(1..).unwrap_or_default(), &self.program.env);
        for (name, value) in &self.program.set {
            command.env(name, value.replace("{rules_file}", &rules).replace("{files}", &files));
        }
        command.envs(ask.task.iter().map(|_| (WORK_ITEM, place.join(ITEM))));
        command.current_dir(self.folder.clone().unwrap_or_else(|| place.join(WORK)));
        let input = if self.program.takes("{prompt}") { String::new() } else { prompt };
        (command, input)
    }
}

/// Returns the version of the program at `path`: the first line that it prints on either stream.
pub async fn version(program: &SeatProgram, path: &Path) -> Result<String, String> {
    let mut command = prepare_command(path, program.version.get(1..).unwrap_or_default(), &[]);
    command.current_dir(std::env::temp_dir());
    let run = async {
        let ran = run(command, String::new(), 4096, None, &|_| false).await?;
        let lines = [&ran.stdout, &ran.stderr].map(|printed| String::from_utf8_lossy(printed));
        let first = lines.iter().find_map(|printed| printed.lines().find(|line| !line.trim().is_empty()));
        let text: String = harmless_line(first.unwrap_or_default().trim()).chars().take(80).collect();
        if text.is_empty() { Err("it reports no version".to_owned()) } else { Ok(text) }
    };
    let late = |_| Err(format!("it reports no version within {} s", VERSION_PATIENCE.as_secs()));
    tokio::time::timeout(VERSION_PATIENCE, run).await.unwrap_or_else(late)
}

impl Participant for ProgramSeat {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        async move {
            let limit = ask.timeout.unwrap_or(self.timeout);
            let limit = ask.time_left.map_or(limit, |left| left.min(limit));
            let paid = ask.purse.pay(1)?;
            ask.watch.asked(1);
            let mut usage = None;
            let came = tokio::time::timeout(limit, self.run(ask, &mut usage)).await;
            if came.is_ok() {
                paid.settle(usage, true);
            }
            match came {
                Ok(came) => came.map_err(|failure| Failure { usage, ..failure }),
                Err(_) => Err(Failure::late(limit)),
            }
        }
        .boxed()
    }
}
