//! What a service says about a request that it declined, in any of the forms seen, and what to try then.
//!
//! Only the names of parameters and numbers are looked for in it; nothing of it is shown from here.

use serde_json::Value;

use super::parameters::{Change, Learned, Parameter, ParameterMemory, dropped};
use crate::ballot::ReplySchema;
use crate::participants::SeatRequest;
use crate::participants::api::{ApiStyle, RequestOptions, SchemaMode};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    pub param: Option<String>,
    /// Its sentences, one a line.
    text: String,
}

impl Complaint {
    /// Reads an error body; one that is no JSON is a sentence itself.
    pub fn read(body: &[u8]) -> Self {
        let mut complaint = Self::default();
        match serde_json::from_slice(body) {
            Ok(value) => complaint.collect(&value),
            Err(_) => complaint.text = String::from_utf8_lossy(body).into_owned(),
        }
        complaint
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(map) => {
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("param", Value::String(name)) => self.param = Some(name.clone()),
                        ("message" | "msg" | "detail" | "error" | "raw", Value::String(text)) => {
                            self.text.push_str(text);
                            self.text.push('\n');
                        }
                        ("loc", Value::Array(path)) => {
                            let last = path.iter().rev().find_map(Value::as_str).unwrap_or_default();
                            self.text.push_str(&format!("'{last}'\n"));
                        }
                        // The service may repeat the input here.
                        ("input", _) => {}
                        _ => self.collect(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The complaint is about one of these: as the parameter, or quoted, or before a colon at a line's
    /// beginning where no parameter is given.
    pub fn names(&self, names: &[&str]) -> bool {
        names.iter().any(|name| match &self.param {
            Some(param) => param
                .strip_prefix(name)
                .is_some_and(|rest| matches!(rest.chars().next(), None | Some('.' | '['))),
            None => self.quotes(name),
        })
    }

    fn quotes(&self, name: &str) -> bool {
        let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | '“' | '”');
        self.text.match_indices(name).any(|(at, _)| {
            let before = self.text[..at].chars().next_back();
            let after = self.text[at + name.len()..].chars().next();
            before.is_none_or(|c| c == '\n') && after == Some(':')
                || before.is_some_and(is_quote) && after.is_some_and(is_quote)
        })
    }

    pub fn has_word(&self, word: &str) -> bool {
        self.text.contains(word)
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
    }

    pub fn has_number(&self, number: u32) -> bool {
        self.numbers().any(|found| found == number)
    }

    pub fn largest_below(&self, number: u32) -> Option<u32> {
        self.numbers().filter(|found| (1..number).contains(found)).max()
    }
}

/// Parameters of a request: as wanted, and as the service takes them.
pub(super) struct Parameters {
    wanted: RequestOptions,
    pub sent: RequestOptions,
    learned: Learned,
    changed: Vec<Parameter>,
}

impl Parameters {
    /// Returns the parameters of a call, as far as the service has made known what it takes.
    pub fn of(
        style: ApiStyle,
        usual: RequestOptions,
        ask: &SeatRequest,
        learned: Learned,
        thinking_room: Option<u32>,
    ) -> Self {
        let own = ask.max_output_tokens.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        let limit = own.or(usual.max_output_tokens);
        let limit = match thinking_room.filter(|_| own.is_none()) {
            Some(room) if ask.has_twice_the_room || learned.thinks => Some(room),
            _ if ask.has_twice_the_room => limit.map(|limit| limit.saturating_mul(2)),
            _ => limit,
        };
        // One style takes no schema but those that close every object.
        let takes_schema = |schema: &ReplySchema| schema.is_strict || style != ApiStyle::Anthropic;
        let has_schema = ask.schema.as_deref().is_some_and(takes_schema);
        let wanted = RequestOptions {
            max_output_tokens: limit,
            form: if has_schema { usual.form } else { SchemaMode::InWords },
            seed: ask.seed.filter(|_| style.takes_seed()),
            temperature: ask.temperature,
            effort: ask.effort.or(usual.effort),
            ..usual
        };
        Self { wanted, sent: learned.apply(wanted), learned, changed: Vec::new() }
    }

    /// Takes in that a request was declined. Returns whether to try another one in its place: once for
    /// each parameter.
    pub fn adapt(&mut self, style: ApiStyle, declined: Option<&Complaint>, ask: &SeatRequest) -> bool {
        let change = declined.and_then(|found| change(style, &self.sent, found, ask.purse.is_limited()));
        let Some(change) = change.filter(|change| !self.changed.contains(&change.parameter())) else {
            return false;
        };
        self.changed.push(change.parameter());
        self.learned.add(change, &self.sent);
        self.sent = self.learned.apply(self.wanted);
        true
    }

    /// Takes in that a request was answered: what it took to get there is remembered. That a reply was
    /// given twice the room is content, and leaves no trace while the round is open.
    pub fn settle(&self, memory: &ParameterMemory, ask: &SeatRequest) -> Vec<String> {
        if !self.changed.is_empty() && !ask.has_twice_the_room {
            let has_own_schema = ask.schema.as_ref().is_some_and(|schema| !schema.is_strict);
            memory.learn(&ask.model, &self.learned.of_model(has_own_schema));
        }
        dropped(ask, &self.wanted, &self.sent)
    }

    /// Names the parameters of the last request as it was sent; the limit by the name it had.
    pub fn taken(&self, style: ApiStyle) -> Vec<String> {
        let is_sent = |parameter: &Parameter| {
            parameter.is_in(&self.sent) && !matches!(parameter, Parameter::Stream | Parameter::StreamUsage)
        };
        let names = Parameter::MaxOutputTokens.names(style);
        let limit = names.get(usize::from(self.sent.completion_tokens)).or(names.first()).copied();
        let limit = limit.filter(|_| self.sent.max_output_tokens.is_some());
        let others = Parameter::OPTIONAL.into_iter().filter(is_sent).map(Parameter::name);
        limit.into_iter().chain(others).map(str::to_owned).collect()
    }

    pub fn declined(&self) -> u32 {
        u32::try_from(self.changed.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the request to try after one that was declined, if another is worth trying. A limit is left out
/// only where nothing bounds what the reply may cost.
fn change(style: ApiStyle, sent: &RequestOptions, complaint: &Complaint, has_budget: bool) -> Option<Change> {
    let names = |parameter: Parameter| complaint.names(parameter.names(style));
    let is_limit = names(Parameter::MaxOutputTokens);
    if let Some(limit) = sent.max_output_tokens.filter(|limit| complaint.has_number(*limit)) {
        let is_context = complaint.has_word("context");
        if is_context && style != ApiStyle::Anthropic && !has_budget {
            return Some(Change::Omit(Parameter::MaxOutputTokens));
        }
        if is_limit || is_context {
            return complaint.largest_below(limit).map(Change::Limit);
        }
    }
    if is_limit && sent.max_output_tokens.is_some() {
        return (style == ApiStyle::OpenAi).then_some(Change::OtherName);
    }
    let found = Parameter::OPTIONAL.into_iter().find(|of| of.is_in(sent) && names(*of));
    let by_schema = || Some(Parameter::Schema).filter(|of| of.is_in(sent) && complaint.param.is_none());
    found.or_else(by_schema).map(Change::Omit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::participants::api::ApiStream;

    const SENT: RequestOptions = RequestOptions {
        max_output_tokens: Some(16_384),
        completion_tokens: false,
        stream: ApiStream::WithUsage,
        form: SchemaMode::BySchema,
        seed: Some(7),
        temperature: Some(0.2),
        effort: Some(crate::workflow::Effort::Low),
    };
    use ApiStyle::{Anthropic, OpenAi, Responses};
    use Change::{Limit, Omit, OtherName};
    use Parameter::{Effort, MaxOutputTokens, Schema, Seed, StreamUsage, Temperature};

    /// Complaints of each style, and the change that follows.
    const CASES: [(ApiStyle, &str, Option<Change>); 16] = [
        (
            OpenAi,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            Some(OtherName),
        ),
        (
            OpenAi,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}"#,
            Some(Omit(Temperature)),
        ),
        (
            OpenAi,
            r#"{"error":{"message":"max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384.","param":"max_tokens"}}"#,
            Some(Limit(4096)),
        ),
        (
            OpenAi,
            r#"{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 17000 tokens (616 in the messages, 16384 in the completion).","type":"BadRequestError","param":null,"code":400}"#,
            Some(Omit(MaxOutputTokens)),
        ),
        (
            OpenAi,
            r#"{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted'}]","code":400}"#,
            Some(Omit(Effort)),
        ),
        (
            OpenAi,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#,
            Some(Omit(StreamUsage)),
        ),
        (
            OpenAi,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unknown parameter: 'seed'.\"}}"}}}"#,
            Some(Omit(Seed)),
        ),
        (OpenAi, r#"{"error":{"message":"no json_schema here"}}"#, Some(Omit(Schema))),
        (OpenAi, r#"{"error":{"message":"Invalid model","param":"model"}}"#, None),
        (
            Anthropic,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#,
            Some(Omit(Temperature)),
        ),
        (
            Anthropic,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 16384 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307"}}"#,
            Some(Limit(4096)),
        ),
        (
            Anthropic,
            r#"{"type":"error","error":{"message":"output_config.effort: this model does not support effort"}}"#,
            Some(Omit(Effort)),
        ),
        (
            Anthropic,
            r#"{"type":"error","error":{"message":"The compiled grammar is too large"}}"#,
            Some(Omit(Schema)),
        ),
        (
            Responses,
            r#"{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model.","param":"reasoning.effort"}}"#,
            Some(Omit(Effort)),
        ),
        (Responses, r#"{"error":{"message":"bad schema","param":"text.format.schema"}}"#, Some(Omit(Schema))),
        (Responses, r#"{"error":{"message":"Missing 'temperature' chart","param":"input"}}"#, None),
    ];

    #[test]
    fn a_complaint_is_answered_by_the_request_it_asks_for() {
        for (style, body, expected) in CASES {
            assert_eq!(change(style, &SENT, &Complaint::read(body.as_bytes()), false), expected, "{body}");
        }
        let long = br#"{"message":"maximum context length is 8192 tokens, 16384 requested"}"#;
        let bounded = change(OpenAi, &SENT, &Complaint::read(long), true);
        assert_eq!(bounded, Some(Limit(8192)), "a budget needs a limit");
    }
}
