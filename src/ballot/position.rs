//! `position`: an open question, answered in text; the default. It is not counted.

use serde_json::{Value, json};

use super::answer_schema::described;
use super::kind::{FormField, Input, KindInfo, KindSpec, Stage};
use super::model::{Ballot, BallotForm};
use super::parse::AnswerParser;
use crate::yaml::Node;

pub(super) struct PositionKind;

impl KindSpec for PositionKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["position"],
            is_word: true,
            asks_more: true,
            example: "position: \"<your position in two or three sentences>\"\n",
            detail: "The position is required.",
            instead_of: "the position",
            description: "a position, with its rationale, trade-offs, concerns and suggestions",
            length: "2–3 sentences",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, _form: &BallotForm) -> Vec<Value> {
        vec![described(json!({"type": "string"}), "two or three sentences; `abstain` to abstain")]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Value), String> {
        Ok((Ballot::Position, answer.source_text(value).into()))
    }

    fn fields(&self, _form: &BallotForm) -> Vec<FormField> {
        let hint = "Your position, 2–3 sentences";
        vec![FormField { key: "position", hint, input: Input::Text(String::new()) }]
    }

    fn remarks(&self) -> &'static [&'static str] {
        &["rationale", "concerns", "suggestions"]
    }

    fn rehearse(&self, _stage: &Stage<'_>) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}
