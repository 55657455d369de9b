//! Encoding and decoding of the three API styles.
//!
//! Pure. The `reason` of a [`DecodeError`] contains no reply text, so it may be shown while a round is open. The
//! service's own messages may quote a reply. Retries are decided elsewhere, by the status reported here.

mod chat_completions;
mod messages;
mod responses;
mod style;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::participants::{Finish, Reply, SeatRequest, TokenUsage};
use crate::sanitize::harmless_line;
use crate::workflow::Effort;

/// Placeholder for the user text in a body. The rules, which precede it, are never this text.
const PLACE: &str = "\0";
/// Byte order mark, which some servers send before JSON.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApiStyle {
    /// `POST {base}/chat/completions`: `OpenAI` and compatible services.
    #[default]
    OpenAi,
    /// `POST {base}/v1/messages`: Anthropic.
    Anthropic,
    /// `POST {base}/responses`: `OpenAI`, for reasoning models.
    #[serde(rename = "openai-responses")]
    Responses,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RequestOptions {
    /// Limit of output tokens, thinking included; `None` leaves it to the service.
    pub max_output_tokens: Option<u32>,
    /// Names the limit `max_completion_tokens`, as `OpenAI` requires.
    pub completion_tokens: bool,
    pub stream: ApiStream,
    pub form: SchemaMode,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
}

/// Description of the answer's form in a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SchemaMode {
    /// Only in the prompt instructions.
    #[default]
    InWords,
    /// Also as a JSON Schema, which the service enforces.
    BySchema,
    /// Also as a JSON Schema with length bounds, because small models may not stop by themselves.
    Bounded,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApiStream {
    Off,
    Plain,
    /// Streamed, with token counts at the end.
    #[default]
    WithUsage,
}

impl RequestOptions {
    fn is_streamed(&self) -> Option<bool> {
        (self.stream != ApiStream::Off).then_some(true)
    }
}

impl ApiStyle {
    pub fn takes_seed(self) -> bool {
        self == Self::OpenAi
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "chat/completions",
            Self::Anthropic => "v1/messages",
            Self::Responses => "responses",
        }
    }

    pub(super) fn models_path(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses => "models",
            Self::Anthropic => "v1/models",
        }
    }
}

/// Reason why a body with status 200 is not a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    /// Cause, without any text of the reply.
    pub reason: String,
    /// Message of the service, unchanged.
    pub said: Option<String>,
    /// Status that the body reports instead of 200.
    pub status: Option<u16>,
}

impl DecodeError {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), said: None, status: None }
    }

    /// Returns the error of a stream that ended too early. It may be retried, like a gateway's failure.
    pub fn broken_off() -> Self {
        Self { status: Some(502), ..Self::new("the reply broke off before its end") }
    }
}

/// Parses the body of a 200, or one event of it. Fails if it is not JSON or reports an error.
pub(super) fn parse(body: &[u8]) -> Result<Value, DecodeError> {
    let text = std::str::from_utf8(body).map_err(|_| DecodeError::new("the reply is not UTF-8"))?;
    match text.trim_start().chars().next() {
        None => return Err(DecodeError { status: Some(502), ..DecodeError::new("the reply is empty") }),
        Some('<') => {
            return Err(DecodeError::new("the reply is a web page, not JSON; is the address right?"));
        }
        Some(_) => {}
    }
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let what = if error.is_eof() { "the reply is JSON that breaks off" } else { "the reply is not JSON" };
        DecodeError::new(format!("{what} (line {}, column {})", error.line(), error.column()))
    })?;
    refuse_error(&value)?;
    Ok(value)
}

fn refuse_error(value: &Value) -> Result<(), DecodeError> {
    if value.get(0).unwrap_or(value)["error"].is_null() {
        return Ok(());
    }
    let error = ServiceError::from_json(value);
    let kind = error.known_kind().map(|kind| format!(" `{kind}`")).unwrap_or_default();
    let reason = format!("the service sent an error{kind} under status 200");
    Err(DecodeError { said: error.message, status: error.status, ..DecodeError::new(reason) })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// Maps the finish reasons of all API styles and of servers that imitate them. docs/PROVIDERS.md, "How a reply
/// ends", lists them together with [`is_whole`].
fn finish(word: Option<&str>) -> Result<Finish, DecodeError> {
    let Some(word) = word else { return Err(DecodeError::new("the reply does not say why it ended")) };
    match word.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "completed" => Ok(Finish::Complete),
        "length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded" => Ok(Finish::Length),
        "tool_calls" | "function_call" | "tool_use" | "pause_turn" => Ok(Finish::ToolCall),
        "content_filter" | "refusal" | "safety" | "recitation" => Ok(Finish::Refusal),
        "error" | "failed" => Err(DecodeError {
            status: Some(502),
            ..DecodeError::new("the service ended the reply with an error")
        }),
        _ => Err(DecodeError::new("the reply ended for a reason unknown here")),
    }
}

/// Returns true if the text is a complete JSON object, or ends with closed fenced blocks.
fn is_whole(text: &str) -> bool {
    let text = text.trim();
    let fences = text.lines().filter(|line| line.trim_start().starts_with("```")).count();
    let is_closed = fences > 0 && fences % 2 == 0 && text.ends_with("```");
    is_closed || text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Reply received so far.
#[derive(Default)]
pub(super) struct ReplyStream {
    style: ApiStyle,
    pub text: String,
    /// The service sent thinking outside the text.
    thought: bool,
    /// The service announced the end.
    pub is_done: bool,
    refusal: String,
    called: bool,
    reason: Option<String>,
    usage: Option<TokenUsage>,
    /// Token counts, which arrive in several events.
    counts: Map<String, Value>,
    served: Option<String>,
}

impl ReplyStream {
    fn served_by(&mut self, model: &Value) {
        self.served = model.as_str().map(str::to_owned).or(self.served.take());
    }

    fn ended_by(&mut self, reason: &Value) {
        let reason = reason.as_str().filter(|reason| !reason.is_empty());
        self.reason = reason.map(str::to_owned).or(self.reason.take());
    }

    pub fn end(self) -> Result<Reply, DecodeError> {
        let breaks_off = self.called && self.style == ApiStyle::Anthropic || self.text.trim().is_empty();
        let finish = match self.reason {
            // Without a finish reason, an announced end or a complete answer must show that nothing is missing.
            None if !breaks_off && (self.is_done || is_whole(&self.text)) => Finish::Complete,
            None => return Err(DecodeError::broken_off()),
            reason => finish(reason.as_deref())?,
        };
        let has_thought = self.thought || self.usage.is_some_and(|usage| usage.thinking > 0);
        let finish = match finish {
            Finish::Complete if self.called => Finish::ToolCall,
            Finish::Complete if !self.refusal.is_empty() => Finish::Refusal,
            Finish::Complete if self.text.trim().is_empty() && has_thought => Finish::Thinking,
            finish => finish,
        };
        let text = if self.text.is_empty() { self.refusal } else { self.text };
        Ok(Reply { text, served: self.served, finish, usage: self.usage, ..Reply::default() })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServiceError {
    /// Service's name for the error, if it looks like a name.
    pub kind: Option<String>,
    /// Service's message, unchanged. It may be shown only if it cannot quote an answer.
    pub message: Option<String>,
    /// Status reported in the body.
    pub status: Option<u16>,
    /// The account has no quota left, so waiting does not help.
    pub quota: bool,
    /// A content filter withheld prompt or answer; counts as a refusal.
    pub filtered: bool,
    pub wait: Option<Duration>,
    /// The body is a web page.
    pub is_page: bool,
    /// Request parameter that caused the error.
    pub param: Option<String>,
    /// All messages of the body, one per line.
    pub sentences: String,
}

impl ServiceError {
    /// Reads an error body in any known form; a body that is not JSON is the message.
    pub fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body.strip_prefix(BOM).unwrap_or(body));
        let text = text.trim();
        match serde_json::from_str(text) {
            _ if text.starts_with('<') => Self { is_page: true, ..Self::default() },
            Ok(Value::String(text)) => Self::from_json(&json!({ "message": text })),
            Ok(value) => Self::from_json(&value),
            Err(_) if text.starts_with(['{', '[']) => Self::default(),
            Err(_) => Self::from_json(&json!({ "message": text })),
        }
    }

    fn from_json(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let error = [&body["error"], &body["fault"]].into_iter().find(|error| !error.is_null());
        let error = error.unwrap_or(body);
        let word = |key: &str| error.get(key).and_then(Value::as_str);
        let words = || [word("code"), word("type"), word("status")].into_iter().flatten();
        let mut read = Self { message: word("message").map(str::to_owned), ..Self::default() };
        read.collect(body);
        let message = read.message.filter(|text| !text.trim().is_empty());
        let said = message.as_deref().unwrap_or_default();
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            kind: words().find(|word| is_name(word)).map(str::to_owned),
            status: code.or_else(|| words().find_map(status_of)),
            quota: words().any(|word| word == "insufficient_quota"),
            filtered: words().any(|word| ["content_filter", "content_policy_violation"].contains(&word))
                || said.contains("content filtering policy"),
            wait: read.wait.or_else(|| wait_in_words(said)),
            message,
            ..read
        }
    }

    /// Collects messages, parameter and wait at any depth; the first message is the fallback.
    fn collect(&mut self, value: &Value) {
        items(value).for_each(|item| self.collect(item));
        for (key, value) in value.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("param", Value::String(name)) => self.param = Some(name.clone()),
                ("retryDelay", Value::String(text)) => self.wait = self.wait.or_else(|| duration(text)),
                (
                    "message" | "Message" | "msg" | "detail" | "error" | "faultstring" | "raw",
                    Value::String(text),
                ) => {
                    self.message.get_or_insert_with(|| text.clone());
                    self.sentences += &format!("{text}\n");
                }
                ("loc", Value::Array(path)) => {
                    let last = path.iter().rev().find_map(Value::as_str).unwrap_or_default();
                    self.sentences += &format!("'{last}'\n");
                }
                // The service may repeat the input here.
                ("input", _) => {}
                _ => self.collect(value),
            }
        }
    }

    /// Returns the service's error name if it is a well-known one, and so cannot be answer text.
    pub fn known_kind(&self) -> Option<&str> {
        self.kind.as_deref().filter(|kind| KNOWN_KINDS.iter().any(|(known, _)| known == kind))
    }

    /// Returns true if the message contains one of these lower-case phrases.
    pub fn says(&self, words: &[&str]) -> bool {
        let message = self.message.as_deref().unwrap_or_default().to_lowercase();
        words.iter().any(|word| message.contains(word))
    }
}

/// Reads the wait in a message such as "Please try again in 1m26.4s" or "retry in 5 seconds".
fn wait_in_words(text: &str) -> Option<Duration> {
    let low = text.to_lowercase();
    let rest =
        ["try again in ", "retry in ", "retry after "].iter().find_map(|words| low.split_once(words))?.1;
    duration(rest)
}

/// Parses a duration such as `7s`, `1m26.4s`, `250ms` or `5 seconds`; without a unit, in seconds. An unknown unit
/// ends it. Saturates at `Duration::MAX`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let (mut rest, mut sum) = (text.trim(), None);
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..end].trim_end_matches('.').parse::<f64>() else { return sum };
        let behind = rest[end..].trim_start();
        let unit_end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let seconds = match &behind[..unit_end] {
            "ms" | "millisecond" | "milliseconds" => 1e-3,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            _ => return sum,
        };
        let more = Duration::try_from_secs_f64(number * seconds).unwrap_or(Duration::MAX);
        sum = Some(sum.unwrap_or(Duration::ZERO).saturating_add(more));
        rest = &behind[unit_end..];
    }
}

/// Returns a message as one safe line of at most 200 characters.
pub(super) fn first_line(text: &str) -> String {
    const LONGEST: usize = 200;
    let line = harmless_line(text.trim());
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Error names that may be shown while a round is open, each with the status it implies, or 0. Errors whose
/// message is shown in full need no entry.
const KNOWN_KINDS: [(&str, u16); 27] = [
    ("api_error", 500),
    ("bad_request", 0),
    ("content_filter", 0),
    ("context_length_exceeded", 0),
    ("DEADLINE_EXCEEDED", 0),
    ("exceed_context_size_error", 0),
    ("FAILED_PRECONDITION", 0),
    ("insufficient_quota", 0),
    ("INTERNAL", 0),
    ("internal_server_error", 500),
    ("INVALID_ARGUMENT", 0),
    ("invalid_prompt", 0),
    ("invalid_request_error", 0),
    ("json_validate_failed", 0),
    ("model_not_found", 0),
    ("overloaded_error", 529),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("RESOURCE_EXHAUSTED", 0),
    ("server_error", 500),
    ("server_is_overloaded", 503),
    ("slow_down", 429),
    ("timeout_error", 504),
    ("tool_use_failed", 0),
    ("UNAVAILABLE", 0),
    ("unsupported_parameter", 0),
    ("unsupported_value", 0),
];

/// Returns the status that an error name implies.
fn status_of(word: &str) -> Option<u16> {
    KNOWN_KINDS.iter().find(|(name, status)| *name == word && *status > 0).map(|(_, status)| *status)
}

/// Returns true if the word is short and plain enough to be an error name and not answer text.
fn is_name(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=48).contains(&word.len()) && word.chars().all(plain)
}

/// Returns the JSON Schema to send, if any.
fn schema(ask: &SeatRequest, options: RequestOptions) -> Option<&Value> {
    let schema = ask.schema.as_deref()?;
    match options.form {
        SchemaMode::InWords => None,
        SchemaMode::BySchema => Some(&schema.plain),
        SchemaMode::Bounded => Some(&schema.bounded),
    }
}

/// Returns the schema in the envelope that `OpenAI` requires.
fn named_schema(ask: &SeatRequest, options: RequestOptions) -> Option<Value> {
    let is_strict = ask.schema.as_ref().is_some_and(|schema| schema.is_strict);
    schema(ask, options).map(|schema| json!({"name": "answer", "strict": is_strict, "schema": schema}))
}

/// Reads token counts at these JSON pointers; `None` unless both input and output are present.
fn usage(told: &Value, [input, output, cached, thinking]: [&str; 4]) -> Option<TokenUsage> {
    let count = |place: &str| told.pointer(place).and_then(Value::as_u64);
    let (input, output) = (count(input)?, count(output)?);
    let (cached, thinking) = (count(cached).unwrap_or(0), count(thinking).unwrap_or(0));
    Some(TokenUsage { input, output, cached, thinking, ..TokenUsage::default() })
}

fn without_nulls(mut body: Value) -> Value {
    if let Value::Object(fields) = &mut body {
        fields.retain(|_, value| !value.is_null());
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_errors_of_many_services() {
        let cases = [
            (
                r#"{"error":{"message":"Slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
                Some("rate_limit_exceeded"),
                Some("Slow down"),
                Some(429),
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Some("overloaded_error"),
                Some("Overloaded"),
                Some(529),
            ),
            (r#"{"error":"model not found"}"#, None, Some("model not found"), None),
            (
                r#"[{"error":{"code":400,"message":"Bad key","status":"INVALID_ARGUMENT"}}]"#,
                Some("INVALID_ARGUMENT"),
                Some("Bad key"),
                Some(400),
            ),
            (
                r#"{"object":"error","message":"no such model","code":404}"#,
                None,
                Some("no such model"),
                Some(404),
            ),
            (r#"{"detail":"Not Found"}"#, None, Some("Not Found"), None),
            (r#"{"detail":[{"loc":["body"],"msg":"Field required"}]}"#, None, Some("Field required"), None),
            (r#"{"fault":{"faultstring":"Invalid ApiKey"}}"#, None, Some("Invalid ApiKey"), None),
            ("no healthy upstream", None, Some("no healthy upstream"), None),
            ("\"Unauthorized\"", None, Some("Unauthorized"), None),
            ("null", None, None, None),
            (r#"{"error":{"code":"a sentence of an answer","message":1}}"#, None, None, None),
            (r#"{"error":null}"#, None, None, None),
            ("<html>", None, None, None),
            ("", None, None, None),
        ];
        for (body, kind, message, status) in cases {
            let read = ServiceError::read(body.as_bytes());
            assert_eq!((read.kind.as_deref(), read.message.as_deref(), read.status), (kind, message, status));
        }
    }

    #[test]
    fn wait_is_found_in_details_and_messages() {
        let details = r#"{"error":{"details":[{"@type":"x"},{"retryDelay":"4.2s"}]}}"#;
        let told = |text: &str| ServiceError::read(text.as_bytes()).wait.map(|wait| wait.as_millis());
        assert_eq!(told(details), Some(4200));
        for (text, ms) in [
            ("Please try again in 1m26.4s.", Some(86_400)),
            ("Rate limit. Try again in 250ms", Some(250)),
            ("Please retry in 5 seconds, or less", Some(5000)),
            ("try again in 99999999999999999999999 hours", Some(Duration::MAX.as_millis())),
            ("try again in a while", None),
            ("try again in 1e9", None),
            ("retry in 3 days", Some(259_200_000)),
            ("retry in 2 mins", Some(120_000)),
            ("try again", None),
        ] {
            assert_eq!(told(text), ms, "{text}");
        }
    }

    #[test]
    fn quota_and_filter_errors_are_recognized() {
        let quota = ServiceError::read(br#"{"error":{"type":"insufficient_quota","code":"x"}}"#);
        assert!(quota.quota && !quota.filtered);
        let filter = ServiceError::read(br#"{"error":{"code":"content_filter","message":"held"}}"#);
        assert!(filter.filtered && !filter.quota);
        let filter = br#"{"error":{"type":"x","message":"Output blocked by content filtering policy"}}"#;
        assert!(ServiceError::read(filter).filtered);
    }

    #[test]
    fn invalid_replies_are_described_without_quotes() {
        let deep = "[".repeat(100_000);
        let cases: [(&[u8], &str, Option<u16>); 8] = [
            (b"", "the reply is empty", Some(502)),
            (b"  \n", "the reply is empty", Some(502)),
            (b"<!doctype html><p>secret", "the reply is a web page, not JSON; is the address right?", None),
            (b"\xff{}", "the reply is not UTF-8", None),
            (b"secret", "the reply is not JSON (line 1, column 1)", None),
            (b"{\"secret\":", "the reply is JSON that breaks off (line 1, column 10)", None),
            (deep.as_bytes(), "the reply is not JSON (line 1, column 128)", None),
            (
                br#"{"error":{"code":502,"message":"secret"}}"#,
                "the service sent an error under status 200",
                Some(502),
            ),
        ];
        for (body, reason, status) in cases {
            let refused = parse(body).expect_err(reason);
            assert_eq!((refused.reason.as_str(), refused.status), (reason, status));
        }
    }
}
