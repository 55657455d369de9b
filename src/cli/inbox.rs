//! `inbox run`: one work item after another, each by a command.
//!
//! The claim is renewed while the command works. When this program is ended by a signal, the claim runs out
//! and the item is offered again.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::InboxArgs;
use super::console::{Console, VerbResult};
use crate::config::read_file::{read_text, unreadable};
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::environment::random;
use crate::launch::error::RunError;
use crate::launch::run::runtime;
use crate::participants::external_program::ExternalProgram;
use crate::participants::http::link::{LinkClient, LinkReply};
use crate::participants::{Failure, Participant, Prompt, Reply, SeatRequest, WorkItemView};
use crate::round::prompt::reask_suffix;
use crate::round::snapshot::hex;
use crate::sanitize::harmless;
use crate::signals::Signals;
use crate::workflow::ProgramSpec;

/// The most characters of a reason that the session takes.
const LONGEST_REASON: usize = 4000;
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

struct InboxWorker<'a> {
    access: InboxAccess,
    holder: String,
    program: ExternalProgram,
    /// Ballots that the command has not answered, with the attempt.
    left: HashSet<(String, u64)>,
    output: &'a mut Console,
}

/// Works until the session is over, or there was nothing to do for `--wait` seconds.
pub fn run(args: &InboxArgs, output: &mut Console) -> VerbResult {
    let access = InboxAccess::of(args)?;
    let holder = format!("worker-{}", hex(&random::<4>()?));
    let program = ExternalProgram::new(program(&args.command), PATIENCE);
    let mut worker = InboxWorker { access, holder, program, left: HashSet::new(), output };
    runtime()?.block_on(async {
        let signals = Signals::new();
        let ended = async {
            match signals {
                Ok(mut signals) => signals.any().await,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            done = worker.work(args.wait) => done,
            signal = ended => {
                worker.output.note("ended by a signal: what was claimed is offered again when its claim runs out");
                Ok(signal)
            }
        }
    })
}

/// A command of the user's own: it finds the whole environment but the token.
fn program(command: &[String]) -> ProgramSpec {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    ProgramSpec {
        command: command.to_vec(),
        env: names.filter(|name| name != "ROUNDTABLE_TOKEN").collect(),
        ok_exit: Vec::new(),
        tool_less: false,
    }
}

impl InboxWorker<'_> {
    async fn work(&mut self, wait: Option<u64>) -> VerbResult {
        let mut has_worked = false;
        let mut idle = tokio::time::Instant::now();
        loop {
            let left = wait.map_or(LONGEST_WAIT, |wait| wait.saturating_sub(idle.elapsed().as_secs()));
            let (items, is_over) = self.access.poll(left).await?;
            let Some(next) = items.iter().find(|item| !self.left.contains(&attempt_of(item))) else {
                if is_over {
                    return Ok(ExitCode::Finished);
                }
                if wait.is_some_and(|wait| idle.elapsed().as_secs() >= wait) {
                    return Ok(if has_worked { ExitCode::Finished } else { ExitCode::Waiting });
                }
                if !items.is_empty() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                continue;
            };
            if next["kind"] == "ballot" {
                self.vote(next).await?;
            } else {
                let item = next["item"].as_str().unwrap_or_default();
                let claim = self.access.post_item(item, "claim", &json!({ "holder": self.holder })).await?;
                // Another worker of the agent may have been quicker.
                if [404, 409].contains(&claim.status) {
                    continue;
                }
                self.work_on(&done(&claim)?).await?;
            }
            has_worked = true;
            idle = tokio::time::Instant::now();
        }
    }

    async fn work_on(&mut self, taken: &Value) -> Result<(), RunError> {
        let item = taken["item"].as_str().unwrap_or_default();
        self.output.note(&format!("{}: claimed as {}", text(taken, "item"), self.holder));
        let task = WorkItemView { whole: taken["work_item"].to_string(), ..WorkItemView::default() };
        let ask = SeatRequest { task: Some(Arc::new(task)), ..request(taken) };
        let every = Duration::from_secs(taken["lease_seconds"].as_u64().unwrap_or(300).max(3) / 3);
        match self.answered(item, ask, "result", Some(every)).await? {
            Ok(_) => self.output.note(&format!("{item}: returned")),
            Err(Unanswered::Refused(why)) => self.given_up(item, &why),
            Err(Unanswered::Failed(why)) => {
                let reason: String = why.chars().take(LONGEST_REASON).collect();
                let failed = json!({ "holder": self.holder, "reason": reason });
                let reply = self.access.post_item(item, "fail", &failed).await?;
                self.output.note(&format!("{item}: failed: {reason}"));
                if reply.status >= 300 {
                    self.given_up(item, &refusal(&reply));
                }
            }
        }
        Ok(())
    }

    /// Gives a ballot; one that is not answered is left to others, unless the seat is asked again.
    async fn vote(&mut self, offered: &Value) -> Result<(), RunError> {
        let item = offered["item"].as_str().unwrap_or_default();
        self.output.note(&format!("{}: asked", text(offered, "item")));
        match self.answered(item, request(offered), "answer", None).await? {
            Ok(receipt) => {
                self.output.note(&format!("{item}: sealed"));
                self.output.line(&receipt.to_string());
            }
            Err(Unanswered::Failed(why) | Unanswered::Refused(why)) => {
                self.output.note(&format!("{}: not answered: {why}", text(offered, "item")));
                self.left.insert(attempt_of(offered));
            }
        }
        Ok(())
    }

    /// Runs the command, and sends what comes back as `verb`; asks once more where that does not fit. A claim
    /// is renewed `every` so often meanwhile.
    async fn answered(
        &self,
        item: &str,
        mut ask: SeatRequest,
        verb: &str,
        every: Option<Duration>,
    ) -> Result<Result<Value, Unanswered>, RunError> {
        loop {
            let came = tokio::select! {
                came = self.program.ask(&ask) => came,
                why = self.renewed(item, every) => return Ok(Err(Unanswered::Refused(why?))),
            };
            let text = match came {
                Err(Failure { reason, .. }) => return Ok(Err(Unanswered::Failed(reason))),
                Ok(Reply { text, .. }) => text,
            };
            let answer = json!({ "holder": self.holder, verb: text, "again": ask.again.is_some() });
            let reply = self.access.post_item(item, verb, &answer).await?;
            if let Ok(receipt) = done(&reply) {
                return Ok(Ok(receipt));
            }
            let why = refusal(&reply);
            if ![413, 422].contains(&reply.status) {
                return Ok(Err(Unanswered::Refused(why)));
            }
            if ask.again.is_some() {
                return Ok(Err(Unanswered::Failed(why)));
            }
            self.output.note(&format!("{item}: {why}; asked once more"));
            ask.again = Some(reask_suffix(&why));
        }
    }

    /// Keeps the claim; returns why it is lost.
    async fn renewed(&self, item: &str, every: Option<Duration>) -> Result<String, RunError> {
        let Some(every) = every else { return std::future::pending().await };
        loop {
            tokio::time::sleep(every).await;
            let held = json!({ "holder": self.holder });
            let reply = self.access.post_item(item, "renew", &held).await?;
            if let Err(refused) = done(&reply) {
                let why = refused.problems.first().map(ToString::to_string);
                return Ok(why.unwrap_or_default());
            }
        }
    }

    /// The item is another's now, or needed no more.
    fn given_up(&self, item: &str, why: &str) {
        self.output.note(&format!("{item}: not taken: {why}"));
    }
}

enum Unanswered {
    /// By the command, or with what does not fit.
    Failed(String),
    /// It is another's now, or needed no more.
    Refused(String),
}

fn request(item: &Value) -> SeatRequest {
    let of = |key: &str| item[key].as_str().unwrap_or_default();
    let prompt = Prompt { rules: "".into(), snapshot: of("prompt").into(), tail: String::new() };
    SeatRequest::alone(of("participant"), "", prompt)
}

fn attempt_of(item: &Value) -> (String, u64) {
    (item["item"].as_str().unwrap_or_default().to_owned(), item["attempt"].as_u64().unwrap_or_default())
}

const URL: &str = "ROUNDTABLE_URL";
const TOKEN: &str = "ROUNDTABLE_TOKEN";
/// The longest that the session lets one request wait for work, in seconds.
const LONGEST_WAIT: u64 = 30;
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_secs(1);

struct InboxAccess {
    client: LinkClient,
}

impl InboxAccess {
    fn of(args: &InboxArgs) -> Result<Self, Diagnostic> {
        let said = args.access.as_deref().map(private_text).transpose()?;
        let of = |name: &str| match &said {
            Some(text) => text.split_whitespace().find_map(|word| {
                let value = word.strip_prefix(name)?.strip_prefix('=')?;
                Some(value.to_owned())
            }),
            None => std::env::var(name).ok().filter(|value| !value.is_empty()),
        };
        if said.as_ref().is_some_and(|text| text.matches(TOKEN).count() > 1) {
            let problem = Diagnostic::new("the file holds the tokens of several agents");
            return Err(problem.hint("put the line of this agent into a file for it alone"));
        }
        let missing = |name: &str| {
            Diagnostic::new(format!("`{name}` is not set"))
                .hint("`roundtable serve` prints it; set it, or name a file that holds it with --access")
        };
        let (url, secret) = (of(URL).ok_or_else(|| missing(URL))?, of(TOKEN).ok_or_else(|| missing(TOKEN))?);
        // The second part is for links.
        let token = secret.split_once('.').map_or(&*secret, |(token, _)| token);
        let root = args.cert.as_deref().map(|file| read_text(file, 1 << 20)).transpose()?;
        Ok(Self { client: LinkClient::new(&url, token, root.as_deref())? })
    }

    /// Open work, waited for up to so many seconds; and whether the session is over.
    async fn poll(&self, wait: u64) -> Result<(Vec<Value>, bool), RunError> {
        let path = format!("/v1/inbox?wait={}", wait.min(LONGEST_WAIT));
        let found = done(&answered(|| self.client.get(&path)).await?)?;
        let items = found["items"].as_array().cloned().unwrap_or_default();
        Ok((items, found["over"] == true))
    }

    async fn post_item(&self, item: &str, verb: &str, value: &Value) -> Result<LinkReply, RunError> {
        let (path, bytes) = (format!("/v1/items/{}/{verb}", in_path(item)), value.to_string().into_bytes());
        answered(|| self.client.post(&path, bytes.clone())).await
    }
}

/// A text of the session's JSON, made harmless for a terminal.
fn text(value: &Value, key: &str) -> String {
    harmless(value[key].as_str().unwrap_or_default()).into_owned()
}

fn done(reply: &LinkReply) -> Result<Value, RunError> {
    if reply.status >= 300 {
        return Err(Diagnostic::new(refusal(reply)).into());
    }
    Ok(serde_json::from_slice(&reply.body).unwrap_or_default())
}

fn refusal(reply: &LinkReply) -> String {
    let said: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    match said["reason"].as_str() {
        Some(reason) => format!("{}: {reason}", reply.word()),
        None => reply.word(),
    }
}

fn in_path(item: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    item.bytes().map(encoded).collect()
}

/// A file that nobody else may read: it holds a token.
fn private_text(path: &Path) -> Result<String, Diagnostic> {
    #[cfg(unix)]
    {
        let meta = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if std::os::unix::fs::MetadataExt::mode(&meta) & 0o077 != 0 {
            let problem = Diagnostic::new("others may read this file, which holds a token");
            let path = path.display().to_string();
            return Err(problem.hint(format!("chmod 600 {path}")).with_file(&path));
        }
    }
    read_text(path, 64 * 1024)
}

/// Sends a request until the reply says something of it.
async fn answered<F>(send: impl Fn() -> F) -> Result<LinkReply, RunError>
where
    F: Future<Output = Result<LinkReply, String>>,
{
    let mut why = String::new();
    for _ in 0..TRIES {
        match send().await {
            Ok(reply) if !reply.is_passing() => return Ok(reply),
            Ok(reply) => why = reply.word(),
            Err(cause) => why = cause,
        }
        tokio::time::sleep(PAUSE).await;
    }
    let hint = if why.contains("UnknownIssuer") {
        "its certificate is made by itself: give the file of it with --cert"
    } else {
        "run the same command again"
    };
    let problem = Diagnostic::new(format!("the session cannot be reached: {why}")).hint(hint);
    Err(RunError { problems: vec![problem], exit: ExitCode::Unreachable })
}
