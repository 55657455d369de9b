//! `inbox`: an agent's work in a session that is served somewhere.

mod access;
mod ballot;
mod worker;

use std::io::Read as _;
use std::path::Path;

use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use super::args::{InboxArgs, InboxVerb};
use super::console::Console;
use super::verb_result::VerbResult;
use crate::config::read_file::read_text;
use crate::core::ExitCode;
use crate::diagnostic::Diagnostic;
use crate::launch::error::RunError;
use crate::launch::run::runtime;
use access::{Access, LONGEST_WAIT, MAX_DATA, done, text};

/// Said where no work will come any more.
const OVER: &str = "the session is over";

/// Does what is asked with an agent's work.
pub fn run(args: &InboxArgs, output: &mut Console) -> VerbResult {
    let access = Access::of(args)?;
    let holder = args.holder.as_deref();
    let work = async {
        match &args.verb {
            InboxVerb::Poll { wait, json } => poll(&access, *wait, *json, output).await,
            InboxVerb::Take { item, wait, json } => {
                let taken = match item {
                    Some(item) => {
                        Some(done(&access.post_item(item, "claim", &json!({ "holder": holder })).await?)?)
                    }
                    None => take(&access, holder, *wait, output).await?,
                };
                Ok(taken.map_or(ExitCode::Waiting, |taken| show(&taken, *json, output)))
            }
            InboxVerb::Renew { item } => {
                let held = done(&access.post_item(item, "renew", &json!({ "holder": holder })).await?)?;
                output.note(&format!("until {}", text(&held, "until")));
                Ok(ExitCode::Finished)
            }
            InboxVerb::Return { item, data } => {
                let answer = json!({ "holder": holder, "result": read(data)? });
                done(&access.post_item(item, "result", &answer).await?)?;
                Ok(ExitCode::Finished)
            }
            InboxVerb::Answer { item, data } => {
                let answer = json!({ "holder": holder, "answer": read(data)? });
                output.line(&done(&access.post_item(item, "answer", &answer).await?)?.to_string());
                Ok(ExitCode::Finished)
            }
            InboxVerb::Fail { item, data } => {
                let reason = json!({ "holder": holder, "reason": read(data)?.trim() });
                let left = done(&access.post_item(item, "fail", &reason).await?)?;
                output.note(&format!("{item} is {} now", text(&left, "state")));
                Ok(ExitCode::Finished)
            }
            InboxVerb::Run { wait, command } => worker::run(&access, holder, *wait, command, output).await,
        }
    };
    runtime()?.block_on(work)
}

async fn poll(access: &Access, wait: u64, json: bool, output: &mut Console) -> VerbResult {
    let items = wait_for_work(access, wait, output).await?;
    for item in &items {
        if json {
            output.line(&item.to_string());
        } else {
            let stage = text(&item["work_item"]["stage_context"], "stage_description");
            let about = if item["kind"] == "ballot" { text(item, "question") } else { stage };
            let [item, at] = ["item", "offered_at"].map(|key| text(item, key));
            output.line(&format!("{item}\t{at}\t{}", about.replace('\n', " ")));
        }
    }
    Ok(if items.is_empty() { ExitCode::Waiting } else { ExitCode::Finished })
}

async fn take(
    access: &Access,
    holder: Option<&str>,
    wait: u64,
    output: &mut Console,
) -> Result<Option<Value>, RunError> {
    let end = Instant::now() + Duration::from_secs(wait);
    loop {
        // Another worker may be faster.
        let (taken, is_over) = access.take(holder).await?;
        if taken.is_some() {
            return Ok(taken);
        }
        let left = end.saturating_duration_since(Instant::now());
        if is_over {
            output.note(OVER);
        }
        if is_over || left.is_zero() || wait_for_work(access, left.as_secs() + 1, output).await?.is_empty() {
            return Ok(None);
        }
    }
}

/// Open work, as soon as there is some; none when the time is up or the session is over, which is told.
async fn wait_for_work(access: &Access, wait: u64, output: &mut Console) -> Result<Vec<Value>, RunError> {
    let end = Instant::now() + Duration::from_secs(wait);
    loop {
        let left = end.saturating_duration_since(Instant::now()).as_secs_f64().ceil();
        let (items, is_over) = access.poll((left as u64).min(LONGEST_WAIT)).await?;
        if is_over && items.is_empty() {
            output.note(OVER);
        }
        if !items.is_empty() || is_over || Instant::now() >= end {
            return Ok(items);
        }
    }
}

fn show(taken: &Value, json: bool, output: &mut Console) -> ExitCode {
    output.note(&format!("claimed {} until {}", text(taken, "item"), text(taken, "until")));
    if json {
        output.line(&taken.to_string());
    } else {
        output.line(&text(taken, "prompt"));
    }
    ExitCode::Finished
}

fn read(path: &Path) -> Result<String, Diagnostic> {
    if path != Path::new("-") {
        return read_text(path, MAX_DATA);
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_DATA + 1).read_to_string(&mut text);
    read.map_err(|error| Diagnostic::new(format!("stdin cannot be read: {error}")))?;
    if text.len() as u64 > MAX_DATA {
        return Err(Diagnostic::new(format!("stdin holds more than {MAX_DATA} bytes")));
    }
    Ok(text)
}
