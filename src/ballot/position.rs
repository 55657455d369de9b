//! Ballot kind `position`: a text answer to an open question; the default, not counted.

use serde_json::{Value, json};

use super::answer_schema::described;
use super::kind::{KindInfo, KindSpec};
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
            hint: "Your position, 2–3 sentences",
            is_text: true,
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
}
