//! Ballot kind `choice`: one of the options.

use serde_json::Value as Json;

use super::answer_schema::word_enum;
use super::kind::{FormField, KindInfo, KindSpec, RehearsalInput, one_of};
use super::model::{Ballot, BallotForm};
use super::parse::{AnswerParser, option_match};
use crate::tally::{CountableKind, Rule};
use crate::yaml::{Node, Value};

pub(super) struct ChoiceKind;

impl KindSpec for ChoiceKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["vote"],
            has_options: true,
            is_word: true,
            countable: Some(CountableKind::Choice),
            default_rule: Some(Rule::Plurality),
            example: "vote: <one option, exactly as spelled>\n",
            detail: "Vote for exactly one option.",
            instead_of: "your option",
            description: "a vote for one of the options, with its rationale",
            length: "one option",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, form: &BallotForm) -> Vec<Json> {
        vec![word_enum(form.options.iter().map(String::as_str).chain(["abstain"]))]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let option = answer.match_option(&answer.source_text(value))?;
        Ok((Ballot::Choice(option.clone()), option.into()))
    }

    fn is_bare(&self, form: &BallotForm, word: &str) -> bool {
        option_match::option(&form.options, word).is_ok()
    }

    /// Detects options joined by bars, unless an option is spelled that way.
    fn repeats_form(&self, form: &BallotForm, value: &Node) -> bool {
        let Value::Text(text) = &value.value else { return false };
        let names: Vec<_> = form.options.iter().map(String::as_str).collect();
        !option_match::is_exact(&form.options, text) && option_match::is_alternation(&names, text)
    }

    fn fields(&self, form: &BallotForm) -> Vec<FormField> {
        vec![one_of("vote", form.options.iter().map(String::as_str))]
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        let option = input.options.first().copied().unwrap_or_default();
        vec![("vote", option.into())]
    }
}
