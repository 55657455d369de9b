//! Adapts request parameters to what a model's service accepts.
//!
//! A request declined for a parameter is sent again: without it, or with the output limit renamed or lowered.
//! Each parameter is changed at most once per call. The accepted form is remembered for that model during the
//! run. The prompt never changes. The service's message is only searched for parameter names and numbers; none
//! of it is shown from here.

use super::service::Service;
use crate::ballot::ReplySchema;
use crate::participants::SeatRequest;
use crate::participants::api::{ApiStream, ApiStyle, RequestOptions, SchemaMode, ServiceError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    MaxOutputTokens,
    Temperature,
    Seed,
    Effort,
    Schema,
    /// Token counts at the end of a stream.
    StreamUsage,
    Stream,
}

const EFFORT: [&str; 8] = [
    "reasoning_effort",
    "reasoning.effort",
    "reasoning",
    "output_config.effort",
    "effort",
    "output_config",
    "thinking_level",
    "thinking",
];
const SCHEMA: [&str; 6] =
    ["response_format", "json_schema", "text.format", "text", "output_config.format", "output_config"];

impl Parameter {
    /// All but the output limit, in the order in which an error is searched for them.
    const OPTIONAL: [Self; 6] =
        [Self::Temperature, Self::Seed, Self::Effort, Self::Schema, Self::StreamUsage, Self::Stream];

    /// Returns the name in reports, and the names in errors of all API styles.
    fn words(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::MaxOutputTokens => {
                ("max_output_tokens", &["max_tokens", "max_completion_tokens", "max_output_tokens"])
            }
            Self::Temperature => ("temperature", &["temperature"]),
            Self::Seed => ("seed", &["seed"]),
            Self::Effort => ("effort", &EFFORT),
            Self::Schema => ("schema", &SCHEMA),
            Self::StreamUsage => ("stream_options", &["stream_options", "include_usage"]),
            Self::Stream => ("stream", &["stream"]),
        }
    }

    fn is_in(self, options: &RequestOptions) -> bool {
        let mut without = *options;
        ParameterChange::Omit(self).apply(&mut without);
        without != *options
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterChange {
    Omit(Parameter),
    /// Names the limit `max_completion_tokens` if true, else `max_tokens`.
    CompletionTokens(bool),
    Limit(u32),
}

impl ParameterChange {
    fn parameter(self) -> Parameter {
        match self {
            Self::Omit(parameter) => parameter,
            Self::CompletionTokens(_) | Self::Limit(_) => Parameter::MaxOutputTokens,
        }
    }

    fn apply(self, options: &mut RequestOptions) {
        match self {
            Self::CompletionTokens(is_wanted) => options.completion_tokens = is_wanted,
            Self::Limit(most) => {
                options.max_output_tokens = options.max_output_tokens.map(|limit| limit.min(most));
            }
            Self::Omit(Parameter::MaxOutputTokens) => options.max_output_tokens = None,
            Self::Omit(Parameter::Temperature) => options.temperature = None,
            Self::Omit(Parameter::Seed) => options.seed = None,
            Self::Omit(Parameter::Effort) => options.effort = None,
            Self::Omit(Parameter::Schema) => options.form = SchemaMode::InWords,
            Self::Omit(Parameter::StreamUsage) if options.stream == ApiStream::Off => {}
            Self::Omit(Parameter::StreamUsage) => options.stream = ApiStream::Plain,
            Self::Omit(Parameter::Stream) => options.stream = ApiStream::Off,
        }
    }
}

/// Facts about a model, learned from its service's replies.
#[derive(Debug, Clone, Default)]
pub(super) struct Learned {
    changes: Vec<ParameterChange>,
    /// The model thinks, and needs room for it.
    pub thinks: bool,
}

/// Parameters of a request: as wanted, and as the service accepts them.
pub(super) struct Parameters {
    wanted: RequestOptions,
    pub sent: RequestOptions,
    declined: Vec<ParameterChange>,
}

impl Parameters {
    /// Returns the parameters of a call, adapted to what is known about the service.
    pub fn new(service: &Service, ask: &SeatRequest, learned: &Learned) -> Self {
        let (style, usual) = (service.dialect, service.limits);
        let own = ask.max_output_tokens.map(|limit| u32::try_from(limit).unwrap_or(u32::MAX));
        let limit = own.or(usual.max_output_tokens);
        let limit = match service.thinking_room.filter(|_| own.is_none()) {
            Some(room) if ask.has_twice_the_room || learned.thinks => Some(room),
            _ if ask.has_twice_the_room => limit.map(|limit| limit.saturating_mul(2)),
            _ => limit,
        };
        // Anthropic accepts only schemas that close every object.
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
        let mut sent = wanted;
        learned.changes.iter().for_each(|change| change.apply(&mut sent));
        Self { wanted, sent, declined: Vec::new() }
    }

    /// Changes the parameters after a declined request. Returns true if a new attempt is worthwhile.
    pub fn adapt(&mut self, style: ApiStyle, complaint: Option<&ServiceError>, ask: &SeatRequest) -> bool {
        let change = complaint.and_then(|said| change(style, &self.sent, said, ask.purse.is_limited()));
        let is_new = |change: &ParameterChange| {
            self.declined.iter().all(|known| known.parameter() != change.parameter())
        };
        let Some(change) = change.filter(is_new) else { return false };
        self.declined.push(change);
        change.apply(&mut self.sent);
        true
    }

    /// Remembers the changes that were needed for an answer. Returns the names of wanted parameters that were
    /// left out.
    ///
    /// A doubled output limit reveals sealed content, so such a request is not remembered.
    pub fn settle(&self, learned: &mut Learned, ask: &SeatRequest) -> Vec<String> {
        // A rejected schema of a definition proves nothing about other schemas.
        let is_own = ask.schema.as_ref().is_some_and(|schema| !schema.is_strict);
        for change in self.declined.iter().filter(|_| !ask.has_twice_the_room) {
            let lasts = !(is_own && change.parameter() == Parameter::Schema);
            if lasts && !learned.changes.contains(change) {
                learned.changes.push(*change);
            }
        }
        let is_wanted = |parameter: Parameter| match parameter {
            // Not every API style has one.
            Parameter::Seed => ask.seed.is_some(),
            Parameter::StreamUsage | Parameter::Stream => false,
            _ => parameter.is_in(&self.wanted),
        };
        let left_out = Parameter::OPTIONAL.into_iter().filter(|of| is_wanted(*of) && !of.is_in(&self.sent));
        left_out.map(|parameter| parameter.words().0.to_owned()).collect()
    }

    /// Returns the names of the parameters in the last request.
    pub fn sent_names(&self) -> Vec<String> {
        let usual = [Parameter::StreamUsage, Parameter::Stream];
        let all = [Parameter::MaxOutputTokens].into_iter().chain(Parameter::OPTIONAL);
        let sent = all.filter(|parameter| parameter.is_in(&self.sent) && !usual.contains(parameter));
        sent.map(|parameter| parameter.words().0.to_owned()).collect()
    }

    pub fn declined(&self) -> u32 {
        u32::try_from(self.declined.len()).unwrap_or(u32::MAX)
    }
}

impl ServiceError {
    /// Returns true if the error has one of these names in `param`, else as a word of its messages.
    fn names(&self, names: &[&str]) -> bool {
        names.iter().any(|name| match &self.param {
            Some(param) => param
                .strip_prefix(name)
                .is_some_and(|rest| matches!(rest.chars().next(), None | Some('.' | '['))),
            None => self.words().any(|word| word.eq_ignore_ascii_case(name)),
        })
    }

    /// Returns true if a message has one of these names in quotes, or as a line's `name:`.
    fn quotes(&self, names: &[&str]) -> bool {
        let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | '“' | '”');
        let is_named = |name: &&str| {
            let mut found = self.sentences.match_indices(name);
            found.any(|(at, _)| {
                let (before, after) = (&self.sentences[..at], &self.sentences[at + name.len()..]);
                before.ends_with(is_quote) && after.starts_with(is_quote)
                    || (before.is_empty() || before.ends_with('\n')) && after.starts_with(':')
            })
        };
        names.iter().any(is_named)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let is_between = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        self.sentences.split(is_between).map(|word| word.trim_matches('.'))
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.sentences.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
    }
}

/// Returns the change to try after a declined request, if one may help. Omits the output limit only if no cost
/// limit depends on it.
fn change(
    style: ApiStyle,
    sent: &RequestOptions,
    complaint: &ServiceError,
    has_budget: bool,
) -> Option<ParameterChange> {
    let is_quoted = |of: Parameter| complaint.quotes(of.words().1);
    let mut all = [Parameter::MaxOutputTokens].into_iter().chain(Parameter::OPTIONAL);
    // If a name is in quotes, others are words of its sentence.
    let has_quoted = complaint.param.is_none() && all.any(is_quoted);
    let names = |of: Parameter| if has_quoted { is_quoted(of) } else { complaint.names(of.words().1) };
    let is_limit = names(Parameter::MaxOutputTokens);
    let is_named = |limit: &u32| complaint.numbers().any(|number| number == *limit);
    if let Some(limit) = sent.max_output_tokens.filter(is_named) {
        let is_context = complaint.sentences.contains("context");
        if is_context && style != ApiStyle::Anthropic && !has_budget {
            return Some(ParameterChange::Omit(Parameter::MaxOutputTokens));
        }
        if is_limit || is_context {
            return complaint
                .numbers()
                .filter(|number| (1..limit).contains(number))
                .max()
                .map(ParameterChange::Limit);
        }
    }
    if is_limit && sent.max_output_tokens.is_some() {
        return (style == ApiStyle::OpenAi)
            .then_some(ParameterChange::CompletionTokens(!sent.completion_tokens));
    }
    let found = Parameter::OPTIONAL.into_iter().find(|of| of.is_in(sent) && names(*of));
    let by_schema = || Some(Parameter::Schema).filter(|of| of.is_in(sent) && complaint.param.is_none());
    found.or_else(by_schema).map(ParameterChange::Omit)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    use Parameter::{Effort, MaxOutputTokens, Schema, Seed, StreamUsage, Temperature};
    use ParameterChange::{CompletionTokens, Limit, Omit};

    /// Errors of each API style, and the expected change.
    const CASES: [(ApiStyle, &str, Option<ParameterChange>); 20] = [
        (
            OpenAi,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            Some(CompletionTokens(true)),
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
        (
            OpenAi,
            r#"{"error":{"message":"'response_format' is not supported by a reasoning model."}}"#,
            Some(Omit(Schema)),
        ),
        (OpenAi, r#"{"message":"Unknown `seed`; known are max_tokens, temperature"}"#, Some(Omit(Seed))),
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
            r#"{"type":"error","error":{"message":"This model does not support the effort parameter."}}"#,
            Some(Omit(Effort)),
        ),
        (
            OpenAi,
            r#"[{"error":{"code":400,"message":"Thinking level is not supported for this model.","status":"INVALID_ARGUMENT"}}]"#,
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
    fn declined_requests_are_changed_as_the_error_asks() {
        for (style, body, expected) in CASES {
            assert_eq!(change(style, &SENT, &ServiceError::read(body.as_bytes()), false), expected, "{body}");
        }
        let long = br#"{"message":"maximum context length is 8192 tokens, 16384 requested"}"#;
        let bounded = change(OpenAi, &SENT, &ServiceError::read(long), true);
        assert_eq!(bounded, Some(Limit(8192)), "a budget needs a limit");
    }

    #[test]
    fn accepted_parameters_are_remembered_per_model() {
        let service = Service { limits: SENT, ..Service::new(OpenAi, "http://127.0.0.1") };
        let ask = SeatRequest { temperature: SENT.temperature, ..SeatRequest::default() };
        let mut learned = Learned::default();
        let wanted = Parameters::new(&service, &ask, &learned);
        let declined = vec![Omit(Temperature), CompletionTokens(true), Limit(4096)];
        let dropped = Parameters { declined, ..Parameters::new(&service, &ask, &learned) };
        dropped.settle(&mut learned, &ask);
        let sent = Parameters::new(&service, &ask, &learned).sent;
        let limit = Some(4096);
        let expected = RequestOptions {
            temperature: None,
            completion_tokens: true,
            max_output_tokens: limit,
            ..wanted.sent
        };
        assert_eq!(sent, expected);
    }
}
