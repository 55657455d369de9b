//! The two request forms spoken here, and what their replies have in common.
//!
//! Pure encoding and decoding. What could not be read is named in own words: no message of this
//! file holds a text of the reply, so each may be shown while a round is open. It decides nothing
//! about retries beyond saying what the service's error was.

pub(crate) mod chat_completions;
mod chat_usage;
pub(crate) mod messages;
pub(crate) mod responses;
mod style;

pub(super) use style::ReplyStream;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::participants::SeatRequest;
use crate::sanitize::harmless_line;
use crate::workflow::Effort;

/// What some servers put before JSON.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The form of requests and replies a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiStyle {
    /// `POST {base}/chat/completions`, as `OpenAI` and all that are compatible with it.
    OpenAi,
    /// `POST {base}/v1/messages`, as Anthropic.
    Anthropic,
    /// `POST {base}/responses`, as `OpenAI` wants it of models that reason.
    Responses,
}

/// What a request holds beside the prompt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RequestOptions {
    /// The most tokens a reply may have, thinking included; as many as the service allows, if none.
    pub max_output_tokens: Option<u32>,
    /// Whether the field is called `max_completion_tokens`, as `OpenAI` itself wants it.
    pub completion_tokens: bool,
    /// Whether the reply is to come piece by piece.
    pub stream: ApiStream,
    /// Whether the answer's schema goes with the request.
    pub form: SchemaMode,
    pub seed: Option<u64>,
    pub temperature: Option<f64>,
    pub effort: Option<Effort>,
}

/// How a request states the form of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SchemaMode {
    /// In the rules of the table alone.
    #[default]
    InWords,
    /// By a JSON Schema beside them, which it holds the reply to.
    BySchema,
}

/// Whether a reply comes piece by piece.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApiStream {
    Off,
    Plain,
    /// By pieces, with the tokens counted at the end.
    #[default]
    WithUsage,
}

impl ApiStyle {
    pub fn takes_seed(self) -> bool {
        self == Self::OpenAi
    }

    pub fn max_temperature(self) -> f64 {
        if self == Self::Anthropic { 1.0 } else { 2.0 }
    }

    /// The path behind the base address.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "chat/completions",
            Self::Anthropic => "v1/messages",
            Self::Responses => "responses",
        }
    }

    /// The path under which a service lists its models.
    pub(super) fn models_path(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Responses => "models",
            Self::Anthropic => "v1/models",
        }
    }
}

/// Why a 200 is no reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DecodeError {
    /// What was not understood, without any text of the reply.
    pub reason: String,
    /// The same with what the service says of it.
    pub in_full: Option<String>,
    /// The status the service should have sent, if it says so inside the body.
    pub status: Option<u16>,
}

impl DecodeError {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), in_full: None, status: None }
    }

    /// A stream that ended before its reply did: worth another try, as a gateway's failure is.
    pub fn broken_off() -> Self {
        Self { status: Some(502), ..Self::new("the reply broke off before its end") }
    }
}

/// Reads the body of a 200 as `T`, or names why it is none.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, DecodeError> {
    let text = std::str::from_utf8(body).map_err(|_| DecodeError::new("the reply is not UTF-8"))?;
    match text.trim_start().chars().next() {
        None => return Err(DecodeError::new("the reply is empty")),
        Some('<') => {
            return Err(DecodeError::new("the reply is a web page, not JSON; is the address right?"));
        }
        Some(_) => {}
    }
    // Most replies hold no such word and are spared a second reading.
    if let Some(error) = text.contains(r#""error""#).then(|| ServiceError::find(text)).flatten() {
        let kind = error.known_kind().map(|kind| format!(" `{kind}`")).unwrap_or_default();
        let reason = format!("the service sent an error{kind} under status 200");
        let in_full = error.message.map(|message| format!("{reason}: {}", harmless_line(&message)));
        return Err(DecodeError { in_full, status: error.status, ..DecodeError::new(reason) });
    }
    serde_json::from_str(text).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Eof => "the reply is JSON that breaks off",
            serde_json::error::Category::Data => "the reply has not the form of this dialect",
            _ => "the reply is not JSON",
        };
        DecodeError::new(format!("{what} (line {}, column {})", error.line(), error.column()))
    })
}

/// What a service says about its own error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ServiceError {
    /// Its name for the error, if it looks like a name.
    pub kind: Option<String>,
    /// Its sentence about it, as it was sent: may be shown only when it cannot be about an answer.
    pub message: Option<String>,
    /// The status it names inside the body.
    pub status: Option<u16>,
    /// The account is used up: waiting cannot help.
    pub quota: bool,
    /// The prompt or the answer was held back by a content filter: a refusal.
    pub filtered: bool,
}

impl ServiceError {
    /// Reads an error body in any of the forms seen; anything else is an error without a name.
    pub fn read(body: &[u8]) -> Self {
        let body = body.strip_prefix(BOM).unwrap_or(body);
        std::str::from_utf8(body).ok().and_then(Self::find).unwrap_or_default()
    }

    fn find(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let value = value.get(0).unwrap_or(&value);
        let error = value.get("error").filter(|error| !error.is_null())?;
        let word = |key: &str| error.get(key).and_then(Value::as_str);
        let words = [word("code"), word("type"), word("status")];
        let message = word("message").or_else(|| error.as_str());
        let any = |known: &[&str]| words.iter().flatten().any(|word| known.contains(word));
        Some(Self {
            kind: words.iter().flatten().find(|word| is_name(word)).map(|word| (*word).to_owned()),
            status: error
                .get("code")
                .and_then(Value::as_u64)
                .and_then(|code| u16::try_from(code).ok())
                .or_else(|| words.iter().flatten().find_map(|word| status_of(word))),
            quota: any(&["insufficient_quota"]),
            filtered: any(&["content_filter", "content_policy_violation"])
                || message.is_some_and(|text| text.contains("content filtering policy")),
            message: message.map(str::to_owned),
        })
    }
}

impl ServiceError {
    /// The service's name for the error if it is one of those that services use: no text of an answer can
    /// stand in its place.
    pub fn known_kind(&self) -> Option<&str> {
        self.kind.as_deref().filter(|kind| KNOWN_KINDS.contains(kind))
    }
}

/// Names of errors that may be shown while a round is open.
const KNOWN_KINDS: [&str; 31] = [
    "api_error",
    "authentication_error",
    "bad_request",
    "billing_error",
    "content_filter",
    "context_length_exceeded",
    "DEADLINE_EXCEEDED",
    "exceed_context_size_error",
    "FAILED_PRECONDITION",
    "insufficient_quota",
    "INTERNAL",
    "internal_server_error",
    "INVALID_ARGUMENT",
    "invalid_prompt",
    "invalid_request_error",
    "json_validate_failed",
    "model_not_found",
    "not_found_error",
    "overloaded_error",
    "permission_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "request_too_large",
    "RESOURCE_EXHAUSTED",
    "server_error",
    "timeout_error",
    "tool_use_failed",
    "unavailable_error",
    "UNAVAILABLE",
    "unsupported_parameter",
    "unsupported_value",
];

/// The status that goes with a service's name for a passing error.
fn status_of(word: &str) -> Option<u16> {
    let known = [
        ("overloaded_error", 529),
        ("api_error", 500),
        ("timeout_error", 504),
        ("rate_limit_error", 429),
        ("rate_limit_exceeded", 429),
        ("server_error", 500),
        ("internal_server_error", 500),
    ];
    known.iter().find(|(name, _)| *name == word).map(|(_, status)| *status)
}

/// Whether a word of the service is short and plain enough to be its name for an error, and no
/// text of an answer.
fn is_name(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=48).contains(&word.len()) && word.chars().all(plain)
}

/// Writes `text` as JSON without the closing quote, so that more text can follow.
pub(super) fn open_string(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(Value::from(text).to_string().as_bytes());
    out.pop();
}

/// The schema that goes with a request, as JSON, if one does.
pub(super) fn schema(ask: &SeatRequest, limits: RequestOptions) -> Option<&str> {
    ask.schema.as_deref().filter(|_| limits.form == SchemaMode::BySchema)
}

/// What follows the snapshot within the user text, as JSON from inside a string to its end.
pub(super) fn close_string(ask: &SeatRequest) -> Vec<u8> {
    let text = match &ask.again {
        Some(again) => Cow::Owned(format!("{}\n{again}", ask.prompt.tail)),
        None => Cow::Borrowed(ask.prompt.tail.as_str()),
    };
    // What follows the text is short; a text in memory can always be written.
    let mut out = Vec::with_capacity(text.len() + text.len() / 16 + 512);
    let _ = serde_json::to_writer(&mut out, &*text);
    out.remove(0);
    out
}

pub(super) fn put(out: &mut Vec<u8>, key: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        out.extend_from_slice(format!(r#","{key}":{value}"#).as_bytes());
    }
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
    fn tells_a_used_up_quota_and_a_filter_from_the_rest() {
        let quota = ServiceError::read(br#"{"error":{"type":"insufficient_quota","code":"x"}}"#);
        assert!(quota.quota && !quota.filtered);
        let filter = ServiceError::read(br#"{"error":{"code":"content_filter","message":"held"}}"#);
        assert!(filter.filtered && !filter.quota);
        let filter = br#"{"error":{"type":"x","message":"Output blocked by content filtering policy"}}"#;
        assert!(ServiceError::read(filter).filtered);
    }

    #[test]
    fn names_what_is_no_reply_without_quoting_it() {
        let deep = "[".repeat(100_000);
        let cases: [(&[u8], &str, Option<u16>); 8] = [
            (b"", "the reply is empty", None),
            (b"  \n", "the reply is empty", None),
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
            let refused = parse::<Value>(body).expect_err(reason);
            assert_eq!((refused.reason.as_str(), refused.status), (reason, status));
        }
    }
}
