//! Arguments and results of the tools; their JSON Schemas consist of these types and comments.

use std::time::Duration;

use rmcp::schemars::{self, JsonSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Arguments that are no texts, although assistants write some of them as texts.
const NO_TEXTS: [&str; 6] = ["options", "participants", "evidence", "max_usd", "deadline_s", "wait_s"];

/// Normalizes arguments as assistants write them. Null and an empty text are absent. Lists, maps and numbers
/// may be JSON in a text. Names may be separated by commas or line ends. Seconds may have a fraction.
pub fn normalized(given: Map<String, Value>) -> Value {
    let read = given.into_iter().map(|(key, value)| {
        let parsed = value.as_str().filter(|_| NO_TEXTS.contains(&&*key)).and_then(|text| parsed(&key, text));
        (key, parsed.unwrap_or(value))
    });
    let present = read.filter(|(_, value)| !value.is_null() && value != "");
    let fit = present.map(|(key, value)| {
        let seconds = value.as_f64().filter(|_| key.ends_with("_s")).map(Duration::try_from_secs_f64);
        (key, seconds.and_then(Result::ok).map_or_else(|| within(value), |time| time.as_secs().into()))
    });
    fit.collect()
}

fn parsed(key: &str, text: &str) -> Option<Value> {
    let text = text.trim();
    let is_list = ["options", "participants"].contains(&key) && text != "null" && !text.starts_with('[');
    let sign = if text.contains('\n') { '\n' } else { ',' };
    let names = text.split(sign).map(str::trim).filter(|name| !name.is_empty());
    if is_list { Some(names.collect()) } else { serde_json::from_str(text).ok() }
}

fn within(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(within).collect(),
        Value::Object(map) => normalized(map),
        other => other,
    }
}

/// Restricts a schema to keywords that every client supports: no `format`, no null, no list of types.
pub fn plain(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(map) => {
            map.remove("format");
            map.retain(|key, value| key != "default" || !value.is_null());
            if map.get("items") == Some(&Value::Bool(true)) {
                map.insert("items".to_owned(), Value::Object(Map::new()));
            }
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let Some(first) = types.first().cloned() {
                    map.insert("type".to_owned(), first);
                }
            }
            map.values_mut().for_each(plain);
        }
        _ => {}
    }
}

/// A panel to ask.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Convene {
    /// The whole question, neutral: each seat reads it, the evidence and the project's summary, and
    /// nothing of this conversation.
    pub question: String,
    /// The options to vote on. Without them each seat answers in its own words.
    #[serde(default)]
    pub options: Vec<String>,
    /// The kind of ballot: choice (default with options), approval, ranking, score, consent, estimate,
    /// findings, or position (default without options).
    pub ballot: Option<String>,
    /// The voting rule, such as majority (default for choice), plurality, approval, schulze, score,
    /// consent or median. It is fixed before the first ballot.
    pub rule: Option<String>,
    /// A discussion of several blind rounds instead of one, such as delphi or debate.
    pub strategy: Option<String>,
    /// Who is asked: models (provider/model), personas by name such as software-architect, qa-lead or skeptic,
    /// or maps {"persona": "qa-lead", "model": "openai/gpt-5-mini"}. Without them the user's panel.
    #[serde(default)]
    #[schemars(with = "Vec<Value>")]
    pub participants: Vec<SeatArgument>,
    /// The material the seats judge by, word for word. They have no tools: what is not here, they do not know.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// The most that the session may cost, in US dollars. Required unless every seat is free.
    pub max_usd: Option<f64>,
    /// The round closes after this many seconds with the answers so far.
    pub deadline_s: Option<u64>,
}

/// A seat of the panel.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a name, or a map of `name`, `persona` and `model`")]
pub enum SeatArgument {
    /// A model (provider/model), or a persona by name.
    Name(String),
    /// A seat with a persona and a model.
    Map(SeatMap),
}

/// A seat with a persona and a model.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeatMap {
    /// The seat's name (default: that of the persona).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its persona.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// Its model, as provider/model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A piece of evidence: a text, or a file of the project.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map of `id` and `text`, or of `id` and `file`")]
pub struct Evidence {
    /// Its id, by which answers refer to it, such as LOG-1.
    pub id: String,
    /// The text itself.
    pub text: Option<String>,
    /// The path of a file inside the project, in place of a text.
    pub file: Option<String>,
    /// The lines of the file, such as 10-80 (default: all).
    pub lines: Option<String>,
}

/// A session by its id.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfSession {
    /// The session's id, as `convene` returned it.
    pub session: String,
}

/// A session whose numbers are wanted.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfStatus {
    /// The session's id, as `convene` returned it.
    pub session: String,
    /// Wait up to this many seconds, 30 at most, for the session to close (default: 0).
    #[serde(default)]
    pub wait_s: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Numbers {
    pub session: String,
    pub state: SessionState,
    pub seats: usize,
    pub sealed: usize,
    /// Milliseconds to wait before asking again; 0 once nothing will change.
    pub poll_ms: u64,
    /// The reason of a pause or an error, and how the user continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Numbers {
    pub fn stop(&mut self, why: String) {
        (self.state, self.poll_ms, self.why) = (SessionState::Paused, 0, Some(why));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Seats are being asked.
    Open,
    /// Not running; `why` has the reason.
    Paused,
    /// The tool `result` shows the outcome.
    Closed,
}
