//! Measurement of a program's requests, with a recorder in place of its service.
//!
//! Compares the prompt that arrives with the prompt sent. Keeps only tool names and byte counts.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::program::SeatProgram;
use super::recorder::{ANSWER, Recorder};
use super::seat::ProgramSeat;
use crate::participants::{Participant as _, Prompt, SeatRequest};
use crate::round::snapshot::sha256_hex;

pub const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiretapFinding {
    pub tools: Vec<String>,
    /// Number of requests to a model for one answer.
    pub requests: u64,
    /// Bytes of text before our prompt, in the request that contains it.
    pub bytes_before: u64,
    /// Bytes of text after our prompt.
    pub bytes_after: u64,
    pub is_whole: bool,
    pub checked_at: String,
}

/// Returns a prompt with every kind of text that a program might change.
fn sample() -> Prompt {
    let snapshot = "participant_context:\n  project_summary: |\n    A shop. @README.md /help !ls #note\n      deeper  \
                    and\ttabs, \u{fc}n\u{ef}code \u{1f469}\n\n    <system-reminder>text</system-reminder> {{x}} $HOME\n  \
                    question: \"Which cache first?\"\n  artifacts_snapshot: []\n";
    Prompt {
        rules: "You sit at a round table. Answer alone, in one word.\n".into(),
        snapshot: snapshot.into(),
        tail: "  your_role: \"qa-lead\"\n\nYou care for tests.\n".to_owned(),
    }
}

/// Returns a hash of everything but the version that affects what a program sends.
pub fn fingerprint(program: &SeatProgram, model: &str) -> String {
    let SeatProgram { command, with_model, set, env, files, .. } = program;
    sha256_hex(json!([command, with_model, set, env, files, model]).to_string())
}

/// Runs the program at `path` against a recorder.
///
/// # Errors
/// The program cannot be directed to a recorder, does not reach it, or does not return its answer.
pub async fn measure(program: &SeatProgram, path: &Path, model: &str) -> Result<WiretapFinding, String> {
    let name = program.executable();
    if !program.is_measurable() {
        return Err(format!("`{name}` cannot be pointed at a recorder for `{model}`"));
    }
    let recorder = Recorder::start().await.map_err(|error| format!("no recorder can be started: {error}"))?;
    let seat = ProgramSeat::new(program.pointed_at(&recorder.url()), path.to_owned(), None, PATIENCE);
    let prompt = sample();
    let ask = SeatRequest::alone("wiretap", model, prompt.clone());
    let reply = seat.ask(&ask).await;
    let requests = recorder.requests();
    let reply = match reply {
        Ok(reply) => reply.text,
        Err(failure) if requests.is_empty() => {
            return Err(format!("`{name}` sent the recorder nothing: {}", failure.full_reason()));
        }
        Err(failure) => failure.reason,
    };
    if requests.is_empty() {
        return Err(format!("`{name}` answered and sent the recorder nothing"));
    }
    if reply.trim() != ANSWER {
        return Err(format!("`{name}` does not give back what the recorder answered: {reply}"));
    }
    Ok(compared(&requests, &prompt, program.takes("{rules")))
}

fn compared(requests: &[Value], prompt: &Prompt, is_apart: bool) -> WiretapFinding {
    let (rules, user) = (&*prompt.rules, format!("{}{}", prompt.snapshot, prompt.tail));
    let ours = if is_apart { user } else { prompt.text() };
    let mut finding = WiretapFinding {
        requests: requests.len() as u64,
        checked_at: crate::clock::now().to_string(),
        ..WiretapFinding::default()
    };
    for request in requests {
        tools(request, &mut finding.tools);
        let texts = texts(request);
        // A program may trim white space at the end of the prompt.
        let candidates = [&*ours, ours.trim_end(), &*prompt.snapshot];
        let found = candidates.iter().find_map(|wanted| {
            let at = texts.iter().position(|text| text.contains(wanted))?;
            Some((at, texts[at].find(wanted)?, wanted.len()))
        });
        let count = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let Some((at, start, length)) = found else {
            if !finding.is_whole {
                finding.bytes_before = finding.bytes_before.max(count(&texts) as u64);
            }
            continue;
        };
        let apart = [rules, rules.trim_end()].into_iter().filter(|_| is_apart);
        let has = |rules: &&str| texts[..at].iter().any(|text| text.contains(rules));
        let before = count(&texts[..at]) + start - apart.into_iter().find(has).map_or(0, str::len);
        let after = count(&texts[at..]) - start - length;
        // The last request with the prompt is the one that is answered.
        finding.is_whole = true;
        (finding.bytes_before, finding.bytes_after) = (before as u64, after as u64);
    }
    finding
}

/// Keys under which requests list tools.
const TOOL_LISTS: [&str; 3] = ["tools", "functions", "mcp_servers"];

/// Adds the names of the tools that a request declares, at any depth.
fn tools(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| tools(item, names)),
        Value::Object(map) => {
            for (key, value) in map {
                if let (true, Value::Array(items)) = (TOOL_LISTS.contains(&key.as_str()), value) {
                    // An entry that contains a tool list is a group; its content is visited below.
                    let single =
                        items.iter().filter(|tool| TOOL_LISTS.iter().all(|key| !tool[key].is_array()));
                    let name = |tool: &Value| {
                        let given = [&tool["name"], &tool["function"]["name"], &tool["type"]];
                        let key = || tool.as_object()?.keys().next().map(String::as_str);
                        given.into_iter().find_map(Value::as_str).or_else(key).unwrap_or("unnamed").to_owned()
                    };
                    for name in single.map(name) {
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
                tools(value, names);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns all texts of a request in the order in which the model reads them.
fn texts(request: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for key in ["system", "instructions", "messages", "input"] {
        collect(&request[key], &mut found);
    }
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => {
            let parts = ["content", "text"].iter().filter_map(|key| map.get(*key));
            parts.for_each(|part| collect(part, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
