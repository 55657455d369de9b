//! Parameters of a request that a model's service does not take.
//!
//! A request declined for a parameter is sent once more: without it, or with the limit of the reply under
//! the name or of the size that the service wants. What it takes then is remembered for that model for the
//! rest of the run. The prompt never changes. Nothing is asked twice for one parameter.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::participants::SeatRequest;
use crate::participants::api::{ApiStream, ApiStyle, RequestOptions, SchemaMode};

/// A part of a request that a service may not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Parameter {
    MaxOutputTokens,
    Temperature,
    Seed,
    Effort,
    /// The JSON Schema of the answer.
    Schema,
    /// The count of tokens at the end of a stream.
    StreamUsage,
    Stream,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Omit(Parameter),
    /// One that calls the limit of the reply by its other name.
    OtherName,
    Limit(u32),
}

impl Parameter {
    /// Everything but the limit, in the order in which a complaint is searched for it.
    pub const OPTIONAL: [Self; 6] =
        [Self::Temperature, Self::Seed, Self::Effort, Self::Schema, Self::StreamUsage, Self::Stream];

    /// Returns the word for it, in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxOutputTokens => "max_output_tokens",
            Self::Temperature => "temperature",
            Self::Seed => "seed",
            Self::Effort => "effort",
            Self::Schema => "schema",
            Self::StreamUsage => "stream_options",
            Self::Stream => "stream",
        }
    }

    /// Returns its names in requests of an API style, as errors give them.
    pub fn names(self, style: ApiStyle) -> &'static [&'static str] {
        match (self, style) {
            (Self::MaxOutputTokens, ApiStyle::OpenAi) => &["max_tokens", "max_completion_tokens"],
            (Self::MaxOutputTokens, ApiStyle::Responses) => &["max_output_tokens"],
            (Self::MaxOutputTokens, ApiStyle::Anthropic) => &["max_tokens"],
            (Self::Temperature, _) => &["temperature"],
            (Self::Seed, _) => &["seed"],
            (Self::Effort, ApiStyle::OpenAi) => &["reasoning_effort"],
            (Self::Effort, ApiStyle::Responses) => &["reasoning.effort", "reasoning"],
            (Self::Effort, ApiStyle::Anthropic) => &["output_config.effort", "effort", "output_config"],
            (Self::Schema, ApiStyle::OpenAi) => &["response_format", "json_schema"],
            (Self::Schema, ApiStyle::Responses) => &["text.format", "text"],
            (Self::Schema, ApiStyle::Anthropic) => &["output_config.format", "output_config"],
            (Self::StreamUsage, _) => &["stream_options", "include_usage"],
            (Self::Stream, _) => &["stream"],
        }
    }

    pub fn is_in(self, options: &RequestOptions) -> bool {
        match self {
            Self::MaxOutputTokens => options.max_output_tokens.is_some(),
            Self::Temperature => options.temperature.is_some(),
            Self::Seed => options.seed.is_some(),
            Self::Effort => options.effort.is_some(),
            Self::Schema => options.form != SchemaMode::InWords,
            Self::StreamUsage => options.stream == ApiStream::WithUsage,
            Self::Stream => options.stream != ApiStream::Off,
        }
    }
}

impl Change {
    pub fn parameter(self) -> Parameter {
        match self {
            Self::Omit(parameter) => parameter,
            Self::OtherName | Self::Limit(_) => Parameter::MaxOutputTokens,
        }
    }
}

/// Parameters that a model takes, as far as its service has said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Learned {
    omit: BTreeSet<Parameter>,
    /// The limit is called `max_completion_tokens`.
    completion_tokens: Option<bool>,
    max_output_tokens: Option<u32>,
    /// The model thinks, and needs room for it.
    pub thinks: bool,
}

impl Learned {
    /// Adds what a service made known by declining a request with these options.
    pub fn add(&mut self, change: Change, declined: &RequestOptions) {
        match change {
            Change::Omit(parameter) => drop(self.omit.insert(parameter)),
            Change::OtherName => self.completion_tokens = Some(!declined.completion_tokens),
            Change::Limit(limit) => self.max_output_tokens = Some(limit),
        }
    }

    /// Adds what another seat's requests made known.
    pub fn merge(&mut self, other: &Self) {
        self.omit.extend(&other.omit);
        self.completion_tokens = other.completion_tokens.or(self.completion_tokens);
        self.max_output_tokens = other.max_output_tokens.or(self.max_output_tokens);
        self.thinks |= other.thinks;
    }

    /// Returns the part that holds for other requests: a refused schema of a definition says nothing about
    /// theirs.
    pub fn of_model(&self, has_own_schema: bool) -> Self {
        let mut learned = self.clone();
        if has_own_schema {
            learned.omit.remove(&Parameter::Schema);
        }
        learned
    }

    /// Returns the options of a request that the model takes.
    pub fn apply(&self, wanted: RequestOptions) -> RequestOptions {
        let mut options = wanted;
        options.completion_tokens = self.completion_tokens.unwrap_or(wanted.completion_tokens);
        if let (Some(limit), Some(most)) = (&mut options.max_output_tokens, self.max_output_tokens) {
            *limit = most.min(*limit);
        }
        for parameter in &self.omit {
            match parameter {
                Parameter::MaxOutputTokens => options.max_output_tokens = None,
                Parameter::Temperature => options.temperature = None,
                Parameter::Seed => options.seed = None,
                Parameter::Effort => options.effort = None,
                Parameter::Schema => options.form = SchemaMode::InWords,
                Parameter::StreamUsage if options.stream == ApiStream::Off => {}
                Parameter::StreamUsage => options.stream = ApiStream::Plain,
                Parameter::Stream => options.stream = ApiStream::Off,
            }
        }
        options
    }
}

/// Names what a seat or its provider asks for and a request does not have.
pub(super) fn dropped(ask: &SeatRequest, wanted: &RequestOptions, sent: &RequestOptions) -> Vec<String> {
    let is_wanted = |parameter: Parameter| match parameter {
        // Not every style has one.
        Parameter::Seed => ask.seed.is_some(),
        Parameter::StreamUsage | Parameter::Stream => false,
        _ => parameter.is_in(wanted),
    };
    let left_out = Parameter::OPTIONAL.into_iter().filter(|of| is_wanted(*of) && !of.is_in(sent));
    left_out.map(|parameter| parameter.name().to_owned()).collect()
}

/// Findings about the models of one service, for the rest of the run.
#[derive(Debug, Default)]
pub(super) struct ParameterMemory(Mutex<HashMap<String, Learned>>);

impl ParameterMemory {
    pub fn of(&self, model: &str) -> Learned {
        self.lock().get(model).cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Learned>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a model was seen thinking.
    pub fn thinks(&self, model: &str) {
        self.lock().entry(model.to_owned()).or_default().thinks = true;
    }

    pub fn learn(&self, model: &str, learned: &Learned) {
        let mut models = self.lock();
        let known = models.entry(model.to_owned()).or_default();
        let before = known.clone();
        known.merge(learned);
        if *known != before {
            tracing::warn!(model, learned = ?known, "the service takes other parameters");
        }
    }
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

    #[test]
    fn what_a_model_takes_is_remembered_for_it_alone() {
        let memory = ParameterMemory::default();
        let mut learned = Learned::default();
        learned.add(Change::Omit(Parameter::Temperature), &SENT);
        learned.add(Change::OtherName, &SENT);
        learned.add(Change::Limit(4096), &SENT);
        memory.learn("m", &learned);
        let expected = RequestOptions {
            temperature: None,
            completion_tokens: true,
            max_output_tokens: Some(4096),
            ..SENT
        };
        assert_eq!(memory.of("m").apply(SENT), expected);
        assert_eq!(memory.of("n").apply(SENT), SENT);
    }
}
