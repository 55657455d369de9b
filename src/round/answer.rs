//! Answer record: the data from which an answer is read.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::ballot::{Ballot, BallotForm, ONLY_THINKING, ParsedReply, read_reply};
use crate::sanitize::{MASKED_KEY, group_digits};

/// Characters kept of a reply that is too long.
const KEPT_OF_REPLY: usize = 1000;

pub const TOO_LONG: &str = "the reply is too long to be kept: answer more briefly";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    Answered,
    Abstained,
    /// No reply fits the form.
    Invalid,
    Refused,
    Failed,
    TimedOut,
    /// Still open when the round closed.
    Missing,
    Excused,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Prompt tokens, including cached ones.
    pub input: u64,
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    pub cached: u64,
    /// Reply tokens spent on thinking, if the provider reports them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thinking: u64,
    /// Cost reported by a program or provider, in billionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
}

/// Returns whether a provider counted less than half of a longer prompt, as when it drops the beginning.
pub fn is_few(counted: usize, estimated: usize) -> bool {
    const LEAST: usize = 1000;
    estimated >= LEAST && counted > 0 && counted * 2 < estimated
}

pub fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.thinking += other.thinking;
        let costs = self.cost_nano_usd.zip(other.cost_nano_usd);
        self.cost_nano_usd = costs.map(|(one, more)| one.saturating_add(more));
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    #[default]
    Complete,
    Length,
    Refusal,
    ToolCall,
    /// Reply too long for a record; only its beginning is kept.
    TooLong,
    Repeats,
    /// The service sent thinking, and an empty reply after it.
    Thinking,
}

impl Finish {
    /// Returns why a reply that ended this way is no answer.
    pub fn problem(self) -> Option<&'static str> {
        match self {
            Self::Complete => None,
            Self::Length => Some("the reply was cut off at its length limit; be shorter"),
            Self::TooLong => Some(TOO_LONG),
            Self::Thinking => Some(ONLY_THINKING),
            Self::Repeats => Some("the reply repeats itself and was ended"),
            Self::ToolCall => Some("the reply tried to call a tool; there are none"),
            Self::Refusal => Some("the model or its service declined to answer"),
        }
    }
}

/// Raw reply, and why it did not count.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyAttempt {
    pub text: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub finish: Finish,
    /// Token limit, if the reply reached it while thinking and has no answer.
    pub limit: Option<u32>,
    /// Reason for the re-ask, or for an invalid answer.
    pub reason: Option<String>,
}

/// Source of an answer, from which its labels are derived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    #[default]
    Model,
    /// Local or remote program.
    Program,
    Person,
    /// Answers file, or the definition's own answers.
    Script,
    Recorded,
    Tracker,
    /// Built-in placeholder, which votes at random.
    Placeholder,
}

impl Origin {
    /// Returns the label of an answer that no model gave.
    pub fn label(self) -> Option<&'static str> {
        match self {
            Self::Model | Self::Person | Self::Program => None,
            Self::Script => Some("scripted, not a model"),
            Self::Recorded => Some("recorded earlier"),
            Self::Tracker => Some("the built-in tracker"),
            Self::Placeholder => Some("placeholder, not a model"),
        }
    }

    pub fn may_cost(self) -> bool {
        matches!(self, Self::Model | Self::Program)
    }

    /// Returns the origin implied by a model's name.
    pub fn from_model(model: &str) -> Self {
        match model.split('/').next().unwrap_or_default() {
            "rehearsal" => Self::Placeholder,
            "recorded" => Self::Recorded,
            "human" => Self::Person,
            "command" | "remote" => Self::Program,
            "tracker" => Self::Tracker,
            _ => Self::Model,
        }
    }
}

/// Answer as received: sealed by a seat or returned by an agent. The order of its keys is fixed.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRecord {
    pub origin: Origin,
    pub model: String,
    /// Model that the provider reports, if its name differs.
    pub served: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<ReplyAttempt>,
    pub failed: Option<String>,
    /// Number of requests, or of program starts.
    pub tries: u32,
    /// Time from the first request to the last byte, in milliseconds.
    pub latency_ms: u64,
    pub tokens: Option<TokenUsage>,
    /// Parameters that the provider rejected, so they were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Attempts that cannot have cost anything, such as refused ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub declined: u32,
    /// Context window in tokens, requested from the server after a low token count.
    pub window: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub outcome: Outcome,
    pub reason: Option<String>,
    pub ballot: Option<Ballot>,
    pub answer: Map<String, Value>,
    /// Keys that were ignored, and other remarks.
    pub flags: Vec<String>,
}

impl AnswerRecord {
    /// Returns the model that answered: the reported one, unless it is only a version of the requested one.
    pub fn answered_by(&self) -> &str {
        let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        // `-2025-08-07`, `-0613` and `-002` are versions; `.1`, `-1` and `0` are other models.
        let is_dated = |rest: &str| {
            let mut digits = rest.strip_prefix(['-', '@', ':']).unwrap_or("x").split('-');
            let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            digits.next().is_some_and(|first| first.len() >= 3 && is_number(first)) && digits.all(is_number)
        };
        let is_version = |served: &str| {
            let (served, asked) = (last(served), last(&self.model));
            let rest = served.strip_prefix(asked.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest == ":latest" || is_dated(rest))
        };
        self.served.as_deref().filter(|served| !is_version(served)).unwrap_or(&self.model)
    }

    /// Returns the requested model, and the one that answered if it differs.
    pub fn who(&self) -> String {
        match self.answered_by() {
            served if served == self.model => served.to_owned(),
            served => format!("{}, answered by {served}", self.model),
        }
    }

    /// Returns the token count of one prompt if it is less than half of the estimate.
    pub fn few_tokens(&self, estimated: usize) -> Option<usize> {
        let input = self.tokens.filter(|_| self.origin == Origin::Model)?.input;
        let each = usize::try_from(input).ok()? / self.replies.len().max(1);
        is_few(each, estimated).then_some(each)
    }

    /// Returns the number of possibly charged attempts whose usage is unknown.
    pub fn unreported_requests(&self) -> u32 {
        if !self.origin.may_cost() {
            return 0;
        }
        let reported = self.tokens.map_or(0, |_| self.replies.len() as u32);
        self.tries.saturating_sub(self.declined).saturating_sub(reported)
    }

    pub fn is_exactly(&self, text: &str) -> bool {
        serde_json::to_string(self).is_ok_and(|own| own == text)
    }

    /// Returns whether `text` is exactly this record, in the form that a person's browser seals: one reply,
    /// without provider data.
    pub fn is_from_person(&self, text: &str) -> bool {
        let [reply] = self.replies.as_slice() else { return false };
        let plain = Self {
            origin: Origin::Person,
            model: "human/browser".to_owned(),
            replies: vec![ReplyAttempt { text: reply.text.clone(), ..ReplyAttempt::default() }],
            tries: 1,
            latency_ms: self.latency_ms,
            ..Self::default()
        };
        *self == plain && self.is_exactly(text)
    }

    /// Reads the replies; the first answer or refusal counts. A block without its minimum change counts if
    /// no ballot follows. Sets the reason of each reply that does not count.
    pub fn read(&mut self, form: &BallotForm) -> Reading {
        let (mut counts, mut block) = (None, None);
        for reply in &mut self.replies {
            reply.reason = None;
            match reply.read(form) {
                ParsedReply::Invalid(reason) => reply.reason = Some(reason),
                ParsedReply::BareBlock(answer, reason) => {
                    reply.reason = Some(reason);
                    block = Some(answer);
                }
                reading => {
                    counts = Some(reading);
                    break;
                }
            }
        }
        if !matches!(counts, Some(ParsedReply::Answered(_))) {
            counts = block.map(ParsedReply::Answered).or(counts);
        }
        let (outcome, reason) = match counts {
            Some(ParsedReply::Answered(answer)) => {
                let abstains = answer.ballot == Ballot::Abstain;
                let mut flags = answer.flags;
                if self.replies.iter().any(|reply| reply.text.contains(MASKED_KEY)) {
                    flags.push("the reply held the API key, which is masked".to_owned());
                }
                return Reading {
                    outcome: if abstains { Outcome::Abstained } else { Outcome::Answered },
                    reason: None,
                    ballot: Some(answer.ballot),
                    answer: answer.content,
                    flags,
                };
            }
            Some(ParsedReply::Refused(reason)) => (Outcome::Refused, reason),
            _ => {
                let last = self.replies.last().and_then(|reply| reply.reason.clone()).unwrap_or_default();
                let again = self.failed.as_ref().map(|failed| format!("; asked again: {failed}"));
                (Outcome::Invalid, last + again.as_deref().unwrap_or_default())
            }
        };
        Reading { outcome, reason: Some(reason), ballot: None, answer: Map::new(), flags: Vec::new() }
    }
}

impl ReplyAttempt {
    /// Keeps only the beginning of a reply that is too long.
    pub fn cut(&mut self) {
        self.text = self.text.chars().take(KEPT_OF_REPLY).collect();
        self.finish = Finish::TooLong;
    }

    /// Returns the reason if the reply reached its token limit without an answer.
    pub fn without_answer(&self) -> Option<String> {
        self.limit.map(|limit| format!("all {} tokens went into thinking", group_digits(limit as usize)))
    }

    pub fn read(&self, form: &BallotForm) -> ParsedReply {
        let problem = self.without_answer().or_else(|| self.finish.problem().map(str::to_owned));
        match problem {
            Some(reason) if self.finish == Finish::Refusal => ParsedReply::Refused(reason),
            Some(reason) => ParsedReply::Invalid(reason),
            None => read_reply(form, &self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AnswerRecord, Origin, ReplyAttempt, TokenUsage};

    #[test]
    fn low_token_counts_are_detected() {
        let record = |input: u64, tries: usize, origin| AnswerRecord {
            origin,
            tokens: Some(TokenUsage { input, ..TokenUsage::default() }),
            replies: vec![ReplyAttempt::default(); tries],
            ..AnswerRecord::default()
        };
        assert_eq!(record(4102, 2, Origin::Model).few_tokens(14_370), Some(2051));
        for (record, estimated) in [
            (record(7185, 1, Origin::Model), 14_370),
            (record(0, 1, Origin::Model), 14_370),
            (record(7, 1, Origin::Model), 999),
            (record(7, 1, Origin::Program), 14_370),
            (AnswerRecord::default(), 14_370),
        ] {
            assert_eq!(record.few_tokens(estimated), None);
        }
    }

    #[test]
    fn only_a_version_of_the_model_asked_is_that_model() {
        let is_same = |asked: &str, served: &str| {
            let (model, served) = (asked.to_owned(), Some(served.to_owned()));
            let record = AnswerRecord { model, served, ..AnswerRecord::default() };
            record.answered_by() == asked
        };
        for (asked, served) in [
            ("openai/gpt-5", "gpt-5"),
            ("openai/gpt-5", "gpt-5-2025-08-07"),
            ("openai/gpt-4", "gpt-4-0613"),
            ("openrouter/google/gemini-1.5-pro", "google/gemini-1.5-pro-002"),
            ("vertex/claude-opus-4", "Claude-Opus-4@20250514"),
            ("ollama/llama3.2", "llama3.2:latest"),
        ] {
            assert!(is_same(asked, served), "{asked} {served}");
        }
        for (asked, served) in [
            ("openai/gpt-5", "gpt-5-mini"),
            ("openai/gpt-4", "gpt-4.1"),
            ("openai/gpt-5", "gpt-50"),
            ("anthropic/claude-opus-4", "claude-opus-4-1-20250805"),
            ("ollama/llama3.2", "llama3.2:3b"),
        ] {
            assert!(!is_same(asked, served), "{asked} {served}");
        }
    }
}
