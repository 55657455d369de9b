//! The trait of a ballot kind: everything that differs from kind to kind.
//!
//! One file a kind implements it; `mod.rs` registers them.

use serde_json::{Number, Value};

use super::model::{Ballot, BallotForm};
use super::parse::AnswerParser;
use crate::tally::{CountableKind, Rule};
use crate::yaml::Node;

/// The form of a ballot kind and its reader.
pub trait KindSpec: Sync {
    fn info(&self) -> KindInfo;

    /// The JSON Schema of each of [`KindInfo::keys`], in their order.
    fn schemas(&self, form: &BallotForm) -> Vec<Value>;

    /// The same for a server whose models do not end by themselves, where they can say less.
    fn bounded_schemas(&self, form: &BallotForm) -> Vec<Value> {
        self.schemas(form)
    }

    /// Reads the value under the ballot key, which is neither empty nor an abstention; returns the ballot
    /// and the value that is kept in the answer. The error is fit to be sent to the participant.
    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Value), String>;

    /// Tells if a reply that is this word and nothing else is a ballot.
    fn is_bare(&self, _form: &BallotForm, _word: &str) -> bool {
        false
    }

    /// Tells if a value is what the form shows in its place, beyond placeholders alone.
    fn repeats_form(&self, _form: &BallotForm, _value: &Node) -> bool {
        false
    }

    /// Tells if a reply without a valid answer may be a veto.
    fn may_block(&self, _reply: &str) -> bool {
        false
    }

    /// The fields of the ballot, as a person fills them in.
    fn fields(&self, _form: &BallotForm) -> Vec<FormField> {
        let KindInfo { keys, hint, is_text, .. } = self.info();
        let input = if is_text { Input::Text(String::new()) } else { Input::Line(String::new()) };
        vec![FormField { key: keys[0], hint, input }]
    }

    /// The fields that a person is asked for beside the ballot, each a text with one item a line.
    fn remarks(&self) -> &'static [&'static str] {
        if self.info().asks_more { &["rationale", "concerns", "suggestions"] } else { &["rationale"] }
    }

    /// The value of what a person typed under the ballot key.
    fn typed(&self, text: &str) -> Value {
        text.into()
    }

    /// The keys and values of a placeholder ballot that fits the form; none where it has no ballot.
    fn rehearse(&self, _stage: &Stage<'_>) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// The fixed facts of a kind. The defaults are those of a kind that is read and not counted.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, Copy, Default)]
pub struct KindInfo {
    /// The keys of an answer that hold the ballot; the first is the ballot key.
    pub keys: &'static [&'static str],
    /// The form has `options`, two at least.
    pub has_options: bool,
    /// The form has `min` and `max`.
    pub scale: Scale,
    /// The form may have `cards`.
    pub has_cards: bool,
    /// The ballot is one word or text, which is unwrapped from a list of one before it is parsed.
    pub is_word: bool,
    /// Trade-offs, concerns, suggestions and references are asked for beside reasons and confidence.
    pub asks_more: bool,
    /// How a person fills in the only field, where there is one alone.
    pub hint: &'static str,
    /// That field takes several lines.
    pub is_text: bool,
    /// The ballots as the voting rules see them; `None` for a kind that is not counted.
    pub countable: Option<CountableKind>,
    /// The rule whose numbers are shown where a round has none.
    pub default_rule: Option<Rule>,
    /// The lines of the example that hold the ballot, every value a placeholder.
    pub example: &'static str,
    /// A sentence on how to fill them in.
    pub detail: &'static str,
    /// In place of what an abstention stands.
    pub instead_of: &'static str,
    /// The answer described, as agents read what they are expected to return.
    pub description: &'static str,
    pub length: &'static str,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scale {
    #[default]
    None,
    /// Each end may be given.
    Optional,
    /// Both ends are given, or these are taken.
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
    /// Several lines of text that begin as this.
    Text(String),
    OneOf(Vec<String>),
    AnyOf(Vec<String>),
}

/// The material of a placeholder ballot.
pub struct Stage<'a> {
    /// The options in an order drawn by lot.
    pub options: Vec<&'a str>,
    /// The lowest and the highest score or estimate.
    pub scale: (Option<f64>, Option<f64>),
    pub cards: &'a [String],
    /// The sentence that says that this is a placeholder.
    pub label: &'static str,
    /// Draws an index below a count; the name makes draws independent.
    pub lot: &'a dyn Fn(&str, usize) -> usize,
}

impl Stage<'_> {
    /// The ends of the scale; where one is missing, `from` and `span` above it.
    pub fn ends(&self, from: f64, span: f64) -> (f64, f64) {
        let low = self.scale.0.unwrap_or_else(|| self.scale.1.map_or(from, |high| high.min(from)));
        (low, self.scale.1.unwrap_or(low + span))
    }
}

/// A field with one of several words, or `abstain`.
pub(super) fn one_of<'a>(key: &'static str, words: impl IntoIterator<Item = &'a str>) -> FormField {
    let words = words.into_iter().chain(["abstain"]).map(str::to_owned).collect();
    FormField { key, hint: "← → to choose", input: Input::OneOf(words) }
}

/// A number where the text is one, else the text, which the parser rejects with its reason.
pub fn typed_number(text: &str) -> Value {
    text.parse::<Number>().map_or_else(|_| text.into(), Value::Number)
}

/// A number as JSON, a whole one without a decimal point.
pub(super) fn whole(value: f64) -> Value {
    value.to_string().parse::<i64>().map_or_else(|_| value.into(), Value::from)
}
