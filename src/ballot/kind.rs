//! Trait of a ballot kind: everything that differs between kinds.
//!
//! One file per kind implements it; `mod.rs` registers them.

use serde_json::{Number, Value};

use super::model::{Ballot, BallotForm};
use super::parse::AnswerParser;
use crate::tally::{CountableKind, Rule};
use crate::yaml::Node;

/// Form of a ballot kind and its parser.
pub trait KindSpec: Sync {
    fn info(&self) -> KindInfo;

    /// Returns the JSON Schema of each of [`KindInfo::keys`], in that order.
    fn schemas(&self, form: &BallotForm) -> Vec<Value>;

    /// Returns tighter schemas, if the kind has any, for servers whose models may never stop.
    fn bounded_schemas(&self, form: &BallotForm) -> Vec<Value> {
        self.schemas(form)
    }

    /// Parses the value under the ballot key, which is neither empty nor an abstention. Returns the ballot
    /// and the value to store in the answer. The error text is sent to the participant.
    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Value), String>;

    /// Checks if a reply that consists of this word alone is a ballot.
    fn is_bare(&self, _form: &BallotForm, _word: &str) -> bool {
        false
    }

    /// Checks if a value repeats the form in a way other than placeholders.
    fn repeats_form(&self, _form: &BallotForm, _value: &Node) -> bool {
        false
    }

    /// Checks if a reply without a valid answer may be a veto.
    fn may_block(&self, _reply: &str) -> bool {
        false
    }

    /// Returns the form fields in which a person fills in the ballot.
    fn fields(&self, _form: &BallotForm) -> Vec<FormField> {
        let KindInfo { keys, hint, is_text, .. } = self.info();
        let input = if is_text { Input::Text(String::new()) } else { Input::Line(String::new()) };
        vec![FormField { key: keys[0], hint, input }]
    }

    /// Returns the keys of a person's further fields, each a text with one item per line.
    fn remarks(&self) -> &'static [&'static str] {
        if self.info().asks_more { &["rationale", "concerns", "suggestions"] } else { &["rationale"] }
    }

    /// Converts a person's typed text to the value under the ballot key.
    fn typed(&self, text: &str) -> Value {
        text.into()
    }

    /// Returns keys and values of a placeholder ballot that fits the form; empty for open questions.
    fn rehearse(&self, _input: &RehearsalInput<'_>) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// Constant properties of a kind; the defaults fit a kind that is not counted.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Copy, Default)]
pub struct KindInfo {
    /// Keys of an answer that contain the ballot; the first is the ballot key.
    pub keys: &'static [&'static str],
    /// The form has `options`, at least two.
    pub has_options: bool,
    /// Whether the form has `min` and `max`.
    pub scale: Scale,
    /// The form may have `cards`.
    pub has_cards: bool,
    /// The ballot is one word or text; a list of one is unwrapped before parsing.
    pub is_word: bool,
    /// The form also asks for trade-offs, concerns, suggestions and references.
    pub asks_more: bool,
    /// Input hint for people, if the kind has one field.
    pub hint: &'static str,
    /// That field takes several lines.
    pub is_text: bool,
    /// Type of ballot that the voting rules see; `None` if the kind is not counted.
    pub countable: Option<CountableKind>,
    /// Rule that computes the displayed numbers of a round without a rule.
    pub default_rule: Option<Rule>,
    /// Ballot lines of the example, with placeholders as values.
    pub example: &'static str,
    /// Explains how to fill in the ballot lines.
    pub detail: &'static str,
    /// Part of the answer that an abstention replaces.
    pub instead_of: &'static str,
    /// Description of the expected answer, shown to agents.
    pub description: &'static str,
    pub length: &'static str,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    None,
    Optional,
    /// A form without any end gets these.
    Default(u64, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormField {
    pub key: &'static str,
    pub hint: &'static str,
    pub input: Input,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Line(String),
    /// Several lines of text, with this initial value.
    Text(String),
    OneOf(Vec<String>),
    AnyOf(Vec<String>),
}

/// Input for a placeholder ballot.
pub struct RehearsalInput<'a> {
    /// The options in random order.
    pub options: Vec<&'a str>,
    /// Lowest and highest score or estimate.
    pub scale: (Option<f64>, Option<f64>),
    pub cards: &'a [String],
    /// Sentence that marks the ballot as a placeholder.
    pub label: &'static str,
    /// Draws an index below a count; draws with different names are independent.
    pub lot: &'a dyn Fn(&str, usize) -> usize,
}

impl RehearsalInput<'_> {
    /// Returns the ends of the scale. A missing low end becomes `from`, or the high end if that is lower; a
    /// missing high end becomes the low end plus `span`.
    pub fn ends(&self, from: f64, span: f64) -> (f64, f64) {
        let low = self.scale.0.unwrap_or_else(|| self.scale.1.map_or(from, |high| high.min(from)));
        (low, self.scale.1.unwrap_or(low + span))
    }
}

/// Returns a field that offers these words and `abstain`.
pub(super) fn one_of<'a>(key: &'static str, words: impl IntoIterator<Item = &'a str>) -> FormField {
    let words = words.into_iter().chain(["abstain"]).map(str::to_owned).collect();
    FormField { key, hint: "← → to choose", input: Input::OneOf(words) }
}

/// Converts a text to a JSON number if it is one; the parser rejects any other text with a reason.
pub fn typed_number(text: &str) -> Value {
    text.parse::<Number>().map_or_else(|_| text.into(), Value::Number)
}

/// Converts a number to JSON, without a decimal point if it is whole.
pub(super) fn whole(value: f64) -> Value {
    value.to_string().parse::<i64>().map_or_else(|_| value.into(), Value::from)
}
