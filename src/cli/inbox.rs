//! The `inbox run` command: runs a command for each work item.
//!
//! It renews the claim while the command works. If a signal ends it, the claim expires and the item is offered
//! again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::InboxArgs;
use super::console::{Console, VerbResult};
use crate::config::read_file::read_text;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::environment::random;
use crate::launch::error::RunError;
use crate::launch::run::runtime;
use crate::participants::http::link::{LinkClient, LinkReply};
use crate::participants::programs::{ProgramSeat, SeatProgram};
use crate::participants::{Failure, Participant, Prompt, Reply, SeatRequest, WorkItemView};
use crate::remote::{LONGEST_REASON, LONGEST_WAIT};
use crate::round::prompt::reask_suffix;
use crate::round::snapshot::hex;
use crate::signals::Signals;

const PATIENCE: Duration = Duration::from_secs(24 * 3600);
const URL: &str = "ROUNDTABLE_URL";
const TOKEN: &str = "ROUNDTABLE_TOKEN";
const TRIES: u64 = 40;

struct InboxWorker<'a> {
    client: LinkClient,
    holder: String,
    program: ProgramSeat,
    /// Ballots that the command failed to answer, with their attempt.
    left: HashSet<(String, u64)>,
    output: &'a mut Console,
}

/// Works until the session ends, or until there was no work for the `--wait` time.
pub fn run(args: &InboxArgs, output: &mut Console) -> VerbResult {
    let client = client(args)?;
    let holder = format!("worker-{}", hex(&random::<4>()?));
    let program = program(&args.command);
    let mut worker = InboxWorker { client, holder, program, left: HashSet::new(), output };
    runtime()?.block_on(async {
        let mut signals = Signals::new().map_err(|error| Diagnostic::new(error.to_string()))?;
        tokio::select! {
            done = worker.work(args.wait) => done,
            signal = signals.any() => {
                worker.output.note("ended by a signal: what was claimed is offered again when its claim runs out");
                Ok(signal)
            }
        }
    })
}

fn client(args: &InboxArgs) -> Result<LinkClient, Diagnostic> {
    let value = |name: &str| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        let missing =
            || Diagnostic::new(format!("`{name}` is not set")).hint("set it as `roundtable serve` prints it");
        value.ok_or_else(missing)
    };
    let (url, token) = (value(URL)?, value(TOKEN)?);
    // Only links use the part after the dot.
    let token = token.split('.').next().unwrap_or_default();
    let root = args.cert.as_deref().map(|file| read_text(file, 1 << 20)).transpose()?;
    LinkClient::new(&url, token, root.as_deref())
}

/// Returns the user's command, which gets the whole environment except the token.
fn program(command: &[String]) -> ProgramSeat {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let env = names.filter(|name| name != TOKEN).collect();
    let program = SeatProgram { command: command.to_vec(), env, ..SeatProgram::default() };
    let path = program.executable().into();
    ProgramSeat::new(program, path, Some(".".into()), PATIENCE)
}

impl InboxWorker<'_> {
    async fn work(&mut self, wait: Option<u64>) -> VerbResult {
        let mut has_worked = false;
        let mut idle = tokio::time::Instant::now();
        loop {
            let left = wait.map_or(LONGEST_WAIT, |wait| wait.saturating_sub(idle.elapsed().as_secs()));
            let path = format!("/v1/inbox?wait={}", left.min(LONGEST_WAIT));
            let tries = wait.map_or(TRIES, |wait| TRIES.min(wait.saturating_add(1)));
            let found = done(&self.request(&path, None, tries).await?)?;
            let items = found["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            if let Some(next) = items.iter().find(|item| !self.left.contains(&attempt_of(item))) {
                if self.work_on(next).await? {
                    has_worked = true;
                    idle = tokio::time::Instant::now();
                }
                continue;
            }
            if found["over"] == true {
                return Ok(ExitCode::Finished);
            }
            if wait.is_some_and(|wait| idle.elapsed().as_secs() >= wait) {
                return Ok(if has_worked { ExitCode::Finished } else { ExitCode::Waiting });
            }
            if !items.is_empty() {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }

    /// Answers an offered work item, which is claimed first, or an offered ballot.
    /// Returns false if another worker of the agent claimed the item.
    async fn work_on(&mut self, offered: &Value) -> Result<bool, RunError> {
        let item = offered["item"].as_str().unwrap_or_default();
        let is_ballot = offered["kind"] == "ballot";
        let mut every = None;
        let ask = if is_ballot {
            request(offered)
        } else {
            let claim = self.post(item, "claim", json!({})).await?;
            if [404, 409].contains(&claim.status) {
                return Ok(false);
            }
            let taken = done(&claim)?;
            every = Some(Duration::from_secs(taken["lease_seconds"].as_u64().unwrap_or(300).max(3) / 3));
            let task = WorkItemView { whole: taken["work_item"].to_string(), ..WorkItemView::default() };
            SeatRequest { task: Some(Arc::new(task)), ..request(&taken) }
        };
        self.output.note(&format!("{item}: asked as {}", self.holder));
        let verb = if is_ballot { "answer" } else { "result" };
        match self.answer_by_command(item, ask, verb, every).await? {
            Ok(receipt) if is_ballot => {
                self.output.note(&format!("{item}: sealed"));
                self.output.line(&receipt.to_string());
            }
            Ok(_) => self.output.note(&format!("{item}: returned")),
            Err(Unanswered { why, by_command }) => {
                self.output.note(&format!("{item}: not answered: {why}"));
                let reason: String = why.chars().take(LONGEST_REASON).collect();
                let told = json!({ "holder": self.holder, "reason": reason });
                let path = format!("/v1/items/{}/fail", in_path(item));
                // The session may end because of this failure, before it replies; only work items are retried.
                let tries = if is_ballot { 1 } else { TRIES };
                let is_told = !by_command || self.request(&path, Some(&told), tries).await.is_ok();
                if is_ballot && is_told {
                    self.left.insert(attempt_of(offered));
                }
            }
        }
        Ok(true)
    }

    /// Runs the command and posts its output to `verb`; re-asks once if the output is invalid.
    /// Renews the claim at the interval `every` meanwhile.
    async fn answer_by_command(
        &self,
        item: &str,
        mut ask: SeatRequest,
        verb: &str,
        every: Option<Duration>,
    ) -> Result<Result<Value, Unanswered>, RunError> {
        let unanswered = |why: String, by_command: bool| Ok(Err(Unanswered { why, by_command }));
        loop {
            let came = tokio::select! {
                came = self.program.ask(&ask) => came,
                why = self.renew_claim(item, every) => return unanswered(why?, false),
            };
            let text = match came {
                Err(Failure { reason, in_full, .. }) => return unanswered(in_full.unwrap_or(reason), true),
                Ok(Reply { text, .. }) => text,
            };
            let reply = self.post(item, verb, json!({ verb: text, "again": ask.again.is_some() })).await?;
            if let Ok(receipt) = done(&reply) {
                return Ok(Ok(receipt));
            }
            let why = refusal(&reply);
            let is_unfit = [413, 422].contains(&reply.status);
            if !is_unfit || ask.again.is_some() {
                return unanswered(why, is_unfit);
            }
            self.output.note(&format!("{item}: {why}; asked once more"));
            ask.again = Some(reask_suffix(&why));
        }
    }

    /// Renews the claim; returns the reason if it is lost.
    async fn renew_claim(&self, item: &str, every: Option<Duration>) -> Result<String, RunError> {
        let Some(every) = every else { return std::future::pending().await };
        loop {
            tokio::time::sleep(every).await;
            let reply = self.post(item, "renew", json!({})).await?;
            if reply.status >= 300 {
                return Ok(refusal(&reply));
            }
        }
    }

    async fn post(&self, item: &str, verb: &str, mut value: Value) -> Result<LinkReply, RunError> {
        value["holder"] = self.holder.as_str().into();
        self.request(&format!("/v1/items/{}/{verb}", in_path(item)), Some(&value), TRIES).await
    }

    /// Sends a request until the session replies: at most `tries` times, one second apart.
    async fn request(&self, path: &str, body: Option<&Value>, tries: u64) -> Result<LinkReply, RunError> {
        let mut why = String::new();
        for tried in 0..tries {
            if tried > 0 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            let sent = match body {
                Some(body) => self.client.post(path, body.to_string().into_bytes()).await,
                None => self.client.get(path).await,
            };
            match sent {
                Ok(reply) if !reply.is_passing() => return Ok(reply),
                Ok(reply) => why = reply.word(),
                Err(cause) => why = cause,
            }
            if tried == 0 && tries > 1 {
                self.output.note(&format!("no answer from the session, trying {tries} times: {why}"));
            }
        }
        let hint = if why.contains("UnknownIssuer") {
            "the certificate is self-signed: pass its file with `--cert`"
        } else {
            "run the same command again"
        };
        let problem = Diagnostic::new(format!("the session cannot be reached: {why}")).hint(hint);
        Err(RunError { problems: vec![problem], exit: ExitCode::Unreachable })
    }
}

struct Unanswered {
    why: String,
    /// Whether the command failed or its answer was invalid; otherwise the claim was lost or is obsolete.
    by_command: bool,
}

fn request(item: &Value) -> SeatRequest {
    let of = |key: &str| item[key].as_str().unwrap_or_default();
    let prompt = Prompt { rules: "".into(), snapshot: of("prompt").into(), tail: String::new() };
    SeatRequest::alone(of("participant"), "", prompt)
}

fn attempt_of(item: &Value) -> (String, u64) {
    (item["item"].as_str().unwrap_or_default().to_owned(), item["attempt"].as_u64().unwrap_or_default())
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
